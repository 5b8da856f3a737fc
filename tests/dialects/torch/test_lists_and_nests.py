"""torch._foreach_*, one operation on each tensor of a list, and torch.utils._pytree."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import pytest

import wengert.torch as ours
from tests.dialects.parity import Programs
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity
program = PROGRAMS = Programs()
Point = namedtuple("Point", "x y")


def tensors(torch: Any) -> Any:
    return [torch.tensor([1.0, 4.0]), torch.tensor([[0.5, 9.0]])]


PROGRAMS |= {
    name: lambda torch, what=what: what(torch, tensors(torch))
    for name, what in {
        "add": lambda torch, x: [torch._foreach_add(x, 2.0), torch._foreach_add(x, [1.0, 2.0])],
        "add with alpha": lambda torch, x: torch._foreach_add(x, x, alpha=3),
        "sub": lambda torch, x: torch._foreach_sub(x, x, alpha=2),
        "mul by a tensor": lambda torch, x: torch._foreach_mul(x, torch.tensor(2.0)),
        "div": lambda torch, x: torch._foreach_div(x, 2),
        "pow": lambda torch, x: torch._foreach_pow(x, 2),
        "maximum": lambda torch, x: [torch._foreach_maximum(x, 2), torch._foreach_maximum(x, x)],
        "minimum": lambda torch, x: torch._foreach_minimum(x, [2.0, 1.0]),
        "one argument": lambda torch, x: [
            getattr(torch, f"_foreach_{name}")(x)
            for name in ("abs", "sqrt", "exp", "neg", "log", "sign", "reciprocal", "tanh")
        ],
        "addcmul": lambda torch, x: torch._foreach_addcmul(x, x, x, value=0.5),
        "addcdiv": lambda torch, x: torch._foreach_addcdiv(x, x, x, [0.5, 2.0]),
        "addcdiv by name": lambda torch, x: torch._foreach_addcdiv(x, x, x, scalars=[0.5, 2.0]),
        "lerp": lambda torch, x: torch._foreach_lerp(x, [y * 2 for y in x], 0.25),
        "unequal numbers": lambda torch, x: torch._foreach_add(x, x[:1]),
        "too few": lambda torch, x: torch._foreach_add(x),
    }.items()
}


@program
def in_place(torch):
    x = tensors(torch)
    view = x[0][1:]
    found = [torch._foreach_add_(x, 1), torch._foreach_mul_(x, x), torch._foreach_sqrt_(x)]
    torch._foreach_addcdiv_(x, x, [y + 1 for y in x], 2.0)
    torch._foreach_maximum_(x, 3.5)
    return found, x, view


@program
def gradients(torch):
    x = [y.requires_grad_() for y in tensors(torch)]
    found = torch._foreach_addcmul(torch._foreach_sqrt(x), x, torch._foreach_maximum(x, 1.5))
    sum(y.sum() for y in found).backward()
    return [y.grad for y in x]


def nest() -> Any:
    counted = defaultdict(int, k=7)
    return {"b": [1, (2, None)], "a": Point(3, deque([4], 5)), "c": OrderedDict(z=5, y=counted)}


@program
def leaves_and_containers(torch):
    tree = torch.utils._pytree
    leaves, spec = tree.tree_flatten(nest())
    again = tree.tree_unflatten([str(leaf) for leaf in leaves], spec)
    kinds = [type(again[k]).__name__ for k in again], again["a"].y.maxlen, again["c"]["y"]["new"]
    return leaves, kinds, spec.num_nodes, spec.num_leaves, spec.num_children


@program
def places(torch):
    tree = torch.utils._pytree
    found = []
    for path, leaf in tree.tree_flatten_with_path(nest())[0]:
        names = [getattr(k, "idx", getattr(k, "key", getattr(k, "name", None))) for k in path]
        found.append((names, [type(k).__name__ for k in path], leaf))
    return found


PROGRAMS |= {
    f"nest: {name}": lambda torch, what=what: what(torch.utils._pytree)
    for name, what in {
        "map": lambda t: t.tree_map(lambda x: x * 2, [1, {"a": (2, 3)}]),
        "map two": lambda t: t.tree_map(lambda x, y: [x, y], {"a": 1, "b": 2}, {"b": 3, "a": []}),
        "map with leaves": lambda t: t.tree_map(
            len, [(1, 2), (3,)], is_leaf=lambda x: type(x) is tuple
        ),
        "map of numbers only": lambda t: t.tree_map_only(int, lambda x: -x, [1, "a", (2,)]),
        "other lengths": lambda t: t.tree_map(max, [1, 2], [1]),
        "other containers": lambda t: t.tree_map(max, [1, 2], (1, 2)),
        "other keys": lambda t: t.tree_map(max, {"a": 1}, {"b": 1}),
        "too many leaves": lambda t: t.tree_unflatten([1, 2], t.tree_flatten([1])[1]),
        "leaves": lambda t: t.tree_leaves({"a": [1, None]}),
        "is a leaf": lambda t: [t.tree_structure(x).is_leaf() for x in (1, [], None, [1])],
        "equal": lambda t: t.tree_structure([1, (2,)]) == t.tree_structure(["a", ("b",)]),
    }.items()
}  # fmt: skip


@program
def a_class_of_the_program(torch):
    tree = torch.utils._pytree

    class Pair:
        def __init__(self, *parts):
            self.parts = parts

    tree.register_pytree_node(Pair, lambda p: (list(p.parts), None), lambda parts, _: Pair(*parts))
    found = tree.tree_map(lambda x: x + 1, {"p": Pair(1, [2])})
    return found["p"].parts, tree._get_node_type(found["p"]) in tree.SUPPORTED_NODES


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name])


def test_a_dtype_that_is_only_a_name():
    assert ours.complex32.is_complex and ours.complex32.itemsize == 4
    with pytest.raises(TypeError, match="complex64"):
        ours.zeros(2, dtype=ours.complex32)
