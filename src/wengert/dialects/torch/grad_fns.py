"""What a program sees of the tape: grad_fn, next_functions, saved values."""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.dialects.torch import memory
from wengert.dialects.torch.gradients import Handle, Hooked
from wengert.dialects.torch.nodes import (
    Freed,
    Packed,
    Results,
    as_unpacked,
    freed_error,
    is_shown,
    join,
)
from wengert.dialects.torch.tensors import Leaf, Tensor, label_of, made
from wengert.engine.fastpath import CONSTANTS
from wengert.engine.node import Edge, Node, meet, new_node
from wengert.engine.op import OUTPUT
from wengert.ops.families import REGISTRY
from wengert.ops.shapes import permuted

#: What PyTorch calls the second array that a node saves, where it is not "other".
_SECOND = {"PowBackward0": "exponent", "MmBackward0": "mat2", "BmmBackward0": "mat2"}
#: What it calls arrays of operations that have other arguments first.
_NAMED = {
    "WhereBackward0": {"condition": "condition"},
    "AddmmBackward0": {"x": "mat1", "weight": "mat2"},
}
#: What it calls our shapes.
_PARAMETERS = {"x_shape": "self_sym_sizes"}
#: The exponents of powers that are operations of their own.
_EXPONENTS = {"square": 2, "sqrt": 0.5, "reciprocal": -1}
#: Nodes of operations with a number for an argument, which lead to the tensors only.
_ONE = (
    "PowBackward0", "PowBackward2", "RsubBackward1", "ClampBackward1", "RemainderBackward0",
)  # fmt: skip


class GradFn:
    """A node, as programs see it in `grad_fn` and `next_functions`."""

    def __init__(self, node: Node, label: str) -> None:
        self._node = node
        self._label = label
        #: what joins the nodes of single results, where there are several
        self._group: Results | None = None

    def name(self) -> str:
        """Return what PyTorch calls it."""
        inner = type(self._node) is Leaf or self._label == "CopySlices"
        return f"torch::autograd::{self._label}" if inner else self._label

    @property
    def _inner(self) -> Node:
        """The node itself, behind hooks."""
        node = self._node
        if type(node) is not Leaf and type(node.op) is Hooked and node.parent is not None:
            node = node.parent
        if node.op.name == "nn.linear_by_rows":
            _turn_first(node)
        return node

    @property
    def next_functions(self) -> tuple[tuple[GradFn | None, int], ...]:
        """The nodes that the result was computed from, and which of their results."""
        node = self._inner
        if type(node) is Leaf:
            return ()
        if node.op.name == "nn.linear" and self._label == "AddmmBackward0":
            return tuple(_shown(parent) for parent in _of_affine_map(node))
        if all(is_shown(parent) for parent, _, _ in node.edges):
            parents = {argument: parent for parent, argument, _ in node.edges}
            if self._label in _ONE:
                return tuple(map(_shown, parents.values()))
            count = max(len(node.op.args), max(parents, default=-1) + 1)
            first = 1 if self._label == "WhereBackward0" else 0  # the condition is none of them
            return tuple(_shown(parents.get(k)) for k in range(first, count))
        return tuple(dict.fromkeys(_shown(parent) for parent in _shown_behind(node)))

    @property
    def variable(self) -> Tensor | None:
        """Of a leaf's node, the leaf."""
        if type(self._node) is not Leaf:
            raise AttributeError(f"{self.name()} has no variable; only leaves have one")
        leaf: Tensor | None = self._node.owner()
        return leaf

    @property
    def requires_grad(self) -> bool:
        """Whether gradients go through: always, or there would be no node."""
        return True

    def register_hook(self, hook: Callable[[Any, Any], Any]) -> Handle:
        """Have a function called with the gradients of arguments and results."""
        return self._hooks("after", hook)

    def register_prehook(self, hook: Callable[[Any], Any]) -> Handle:
        """Have a function called with the gradients of results before they go on."""
        return self._hooks("before", hook)

    def _hooks(self, when: str, hook: Callable[..., Any]) -> Handle:
        from wengert.dialects.torch.node_hooks import hooks_of

        whole = self.joined()
        return Handle.of(getattr(hooks_of(self._node, whole), when), hook)

    def joined(self) -> Node:
        """Return the node itself, behind hooks; it is one from now on if there were several."""
        if self._group is not None:
            self._node, self._group = join(self._group), None
            _ANSWERS[id(self._node)] = self
        return self._inner

    def __getattr__(self, name: str) -> Any:
        node = self.__dict__.get("_node")
        if node is not None:
            if name.startswith("_saved_"):
                return _saved(self._inner, name, self._label)
            context = getattr(self._inner.op, "context", None)
            if context is not None:
                return context.seen_from(self._inner, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __repr__(self) -> str:
        module = "torch.autograd.function." if hasattr(self._inner.op, "context") else ""
        return f"<{module}{self._label} object at {id(self._node):#x}>"


@functools.cache
def _kind(label: str) -> type[GradFn]:
    """Return the class of nodes with a name, whose name programs read."""
    return type(label, (GradFn,), {})


#: By the identity of nodes, so that two questions have one answer.
_ANSWERS: weakref.WeakValueDictionary[int, GradFn] = weakref.WeakValueDictionary()


def seen(node: Node) -> tuple[GradFn, int]:
    """Return what a program sees of a node, and which result of it that is."""
    if type(node) is Leaf:
        return _answer(node, "AccumulateGrad"), 0
    if hasattr(node, "results"):
        return _answer_of_several(node, node.results)
    inner = node.parent if type(node.op) is Hooked and node.parent is not None else node
    if inner.op is not OUTPUT or inner.parent is None:
        return _answer(node, label_of(node)), 0
    return _answer(inner.parent, label_of(node)), inner.argument


def _answer(node: Node, label: str) -> GradFn:
    shown = _ANSWERS.get(id(node))
    if shown is None or shown._node is not node:
        shown = _ANSWERS[id(node)] = _kind(label)(node, label)
    return shown


def _answer_of_several(node: Node, results: Results) -> tuple[GradFn, int]:
    shown = None if results.shown is None else results.shown()
    if shown is None:
        label = label_of(node)
        shown = _kind(label)(node, label)
        shown._group, results.shown = results, weakref.ref(shown)
    return shown, results.position(node)


def _shown(node: Node | None) -> tuple[GradFn | None, int]:
    return (None, 0) if node is None else seen(node)


def _of_affine_map(node: Node) -> tuple[Node | None, ...]:
    """Return what the bias, the rows and the turned weight of an affine map were computed by."""
    parents = {argument: parent for parent, argument, _ in node.edges}
    turned = parents.get(1)
    if turned is not None and not is_shown(turned):
        turned.label = "TBackward0"
    return parents.get(2), parents.get(0), turned


def _turn_first(node: Node) -> None:
    """Have the node of an affine map lead to one that turns its weight, as PyTorch's does."""
    affine = REGISTRY["nn.linear"].op
    assert affine is not None
    edges: list[Edge] = []
    for parent, argument, values in node.edges:
        if type(values) is tuple:  # else it was freed
            *arrays, (x, weight, bias) = values
            turned = [a.T for a in arrays] if argument == 0 else arrays
            values = (*turned, (x, weight[::-1], bias))
        if argument == 1:
            known, shape = meet(parent.tokens, node.tokens), parent.shape[::-1]
            parent = new_node(permuted.op, parent, 0, ((1, 0),), (), known, shape, parent.dtype)
            parent.order = node.order - 0.5
        edges.append((parent, argument, values))
    node.op = affine
    if edges:
        (node.parent, node.argument, node.values), *others = edges
        node.others = tuple(others)


def _shown_behind(node: Node) -> Iterator[Node]:
    """Yield the nodes of the program's operations that lead to a node."""
    for parent, _, _ in node.edges:
        if is_shown(parent):
            yield parent
        else:
            yield from _shown_behind(parent)


def grad_fn(tensor: Tensor) -> GradFn | None:
    """Return the node of a tensor that was computed; None for others."""
    return None if tensor.is_leaf or tensor._node is None else seen(tensor._node)[0]


def output_nr(tensor: Tensor) -> int:
    """Return which result of its operation a tensor is."""
    return 0 if tensor.is_leaf or tensor._node is None else seen(tensor._node)[1]


# -- what a node keeps ---------------------------------------------------------------------------


def is_constant(array: np.ndarray) -> bool:
    """Return whether an array stands for a Python number of the program."""
    if array.ndim or array.dtype not in CONSTANTS:
        return False
    return CONSTANTS[array.dtype].get(array.item()) is array


def _tensor_of(array: np.ndarray, node: Node | None) -> Tensor:
    """Return a tensor of an array that was saved: the program's own, if it still has it.

    Nodes hold arrays and no tensors, so it is looked for among all objects: this is for people who
    look at a graph, and no sweep does it.
    """
    owners = []
    for holder in gc.get_referrers(array):
        if type(holder) is dict and holder.get("_raw") is array:  # a tensor's attributes
            owners += gc.get_referrers(holder)
        else:
            owners.append(holder)
    found = [t for t in owners if isinstance(t, Tensor) and _has(t, array, node)]
    # what a tensor was detached from comes before it
    return min(found, key=lambda t: t._origin is not None, default=as_saved(array, node))


def _has(tensor: Tensor, array: np.ndarray, node: Node | None) -> bool:
    known = tensor.__dict__
    held = known["_held"][0] if known.get("_held") else known.get("_node")
    return known.get("_raw") is array and held is node


def as_saved(array: np.ndarray, node: Node | None) -> Tensor:
    """Return a tensor of an array that was saved: a leaf itself, if it is one's."""
    if type(node) is Leaf:
        owner: Tensor | None = node.owner()
        if owner is not None and owner._raw is array:
            return owner
    return made(array, node)


def _saved(node: Node, name: str, label: str) -> Any:
    """Return a value that a node keeps, by PyTorch's name of it."""
    if type(node.values) is Freed:
        raise freed_error(node)
    memory.check_unwritten([node])
    tensor_of = as_saved if type(node.values) is Packed else _tensor_of
    with as_unpacked(node):
        saved = dict(_kept(node, label, tensor_of))
    short = name.removeprefix("_saved_")
    if short not in saved:
        raise AttributeError(
            f"{label} has no attribute {name}; what it has is "
            f"{', '.join(f'_saved_{n}' for n in saved) or 'none'}"
        )
    return saved[short]


def _kept(
    node: Node, label: str, tensor_of: Callable[[np.ndarray, Node | None], Tensor]
) -> Iterator[tuple[str, Any]]:
    """Yield what a node keeps by PyTorch's names; None where no argument's gradient needs it."""
    op = node.op
    if label == "PowBackward0" and op.name in _EXPONENTS:
        yield "exponent", _EXPONENTS[op.name]
    parents = {argument: parent for parent, argument, _ in node.edges}
    names = dict(zip(op.args, ("self", _SECOND.get(label, "other")), strict=False))
    names |= _NAMED.get(label, {})
    needed = {read for reads in op.reads for read in reads or ()}
    yield from ((shown, None) for read, shown in names.items() if read in needed)
    for _, argument, values in node.edges:
        for read, value in zip(
            op.reads[0 if op.variadic else argument] or (), values, strict=False
        ):
            if type(value) is not np.ndarray:
                yield names.get(read) or _PARAMETERS.get(read, read), value
            elif names.get(read) == "exponent" and not value.ndim:
                number = value.item()
                yield "exponent", int(number) if number == number // 1 else number
            elif read == "y":
                yield "result", made(value, node)
            else:
                parent = parents.get(op.args.index(read)) if read in op.args else None
                yield names.get(read, read), tensor_of(value, parent)
