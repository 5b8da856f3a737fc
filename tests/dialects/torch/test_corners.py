"""Programs that once had other results than PyTorch's, found by comparing random ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity
Program = Callable[[Any], Any]

# -- tangents and gradients of places that are named twice -----------------------------------------


def _written(torch: Any, x: Any, values: Any) -> Any:
    y = x.clone()
    y[torch.tensor([0, 0, 2])] = values
    return y


#: Ways to write values at places, one of which is named twice.
WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "setitem": _written,
    "index_put": lambda torch, x, v: x.index_put((torch.tensor([0, 0, 2]),), v),
    "index_copy": lambda torch, x, v: x.index_copy(0, torch.tensor([0, 0, 2]), v),
    "scatter": lambda torch, x, v: x.scatter(0, torch.tensor([0, 0, 2]), v),
    "index_fill": lambda torch, x, v: x.index_fill(0, torch.tensor([0, 0, 2]), v.sum()),
    "setitem of a number": lambda torch, x, v: _written(torch, x, v.sum()),
}


@pytest.mark.parametrize("way", WRITES)
def test_tangents_of_places_named_twice(way: str) -> None:
    def program(torch: Any) -> Any:
        x, v = torch.arange(4.0), torch.tensor([1.0, 2.0, 3.0])
        found = [torch.func.jvp(lambda x, v: WRITES[way](torch, x, v), (x, v), (x + 1, 10 * v))]
        found += [torch.func.jvp(lambda v: WRITES[way](torch, x, v), (v,), (10 * v,))]
        found += [torch.func.jvp(lambda x: WRITES[way](torch, x, v), (x,), (x + 1,))]
        return found

    compare(program)


@pytest.mark.parametrize("way", WRITES)
def test_gradients_of_places_named_twice(way: str) -> None:
    def program(torch: Any) -> Any:
        x = torch.arange(4.0, requires_grad=True)
        v = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        WRITES[way](torch, x, v).backward(torch.tensor([1.0, 2.0, 4.0, 8.0]))
        return x.grad, v.grad

    compare(program)


def _index_fill(index: list[int], value: Any) -> Program:
    def program(torch: Any) -> Any:
        return torch.zeros(3).index_fill(0, torch.tensor(index, dtype=torch.int64), value)

    return program


def _unpooled(torch: Any) -> Any:
    x = torch.tensor([[[1.0, 2.0, 3.0]]], requires_grad=True)
    places = torch.tensor([[[0, 0, 3]]])
    y = torch.nn.functional.max_unpool1d(x, places, 2)
    y.backward(torch.arange(6.0).reshape(1, 1, 6) + 1)
    return y, x.grad


def _tied(name: str, include_self: bool) -> Program:
    def program(torch: Any) -> Any:
        x = torch.zeros(3, requires_grad=True)
        values = torch.tensor([0.0, 0.0, -1.0, 2.0], requires_grad=True)
        y = x.scatter_reduce(0, torch.tensor([0, 0, 0, 1]), values, name, include_self=include_self)
        y.backward(torch.tensor([1.0, 10.0, 100.0]))
        return y, x.grad, values.grad

    return program


def _bag_of_equals(torch: Any) -> Any:
    rows = torch.tensor([[1.0, 2.0], [1.0, 3.0], [0.0, 3.0]], requires_grad=True)
    index = torch.tensor([[0, 1], [1, 2]])
    y = torch.nn.functional.embedding_bag(index, rows, mode="max")
    y.backward(torch.tensor([[1.0, 2.0], [4.0, 8.0]]))
    return y, rows.grad


def _deviation_of_equals(torch: Any) -> Any:
    x = torch.tensor([[1.0, 1.0, 1.0], [1.0, 2.0, 4.0]], requires_grad=True)
    (g,) = torch.autograd.grad(x.std(1), x, torch.tensor([3.0, 5.0]), create_graph=True)
    return torch.autograd.grad(g, x, torch.arange(6.0).reshape(2, 3))


# -- results that a program writes to --------------------------------------------------------------

#: Functions whose results may be written to before backward.
REWRITTEN: dict[str, Callable[[Any, Any], Any]] = {
    "quotient": lambda torch, x: x / (x * x + 1),
    "number over": lambda torch, x: 2 / (x * x + 1),
    "max_pool2d": lambda torch, x: torch.nn.functional.max_pool2d(x, 2),
    "max_pool2d without a batch": lambda torch, x: torch.nn.functional.max_pool2d(x[0], 2),
    "adaptive_max_pool2d": lambda torch, x: torch.nn.functional.adaptive_max_pool2d(x, 2),
    "max_pool1d": lambda torch, x: torch.nn.functional.max_pool1d(x[0], 2),
    "gelu": lambda torch, x: torch.nn.functional.gelu(x),
    "softsign": lambda torch, x: torch.nn.functional.softsign(x),
    "normalize": lambda torch, x: torch.nn.functional.normalize(x),
    "local_response_norm": lambda torch, x: torch.nn.functional.local_response_norm(x, 2),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_results_may_be_written_to(name: str) -> None:
    def program(torch: Any) -> Any:
        x = ((torch.arange(32.0) * 7 % 11 - 5) / 4).reshape(1, 2, 4, 4).requires_grad_()
        y = REWRITTEN[name](torch, x * 1)
        torch.relu_(y)
        y += 1
        (y * y).sum().backward()
        return y, x.grad

    compare(program)


def _inverse_of_what_changes(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = 3 / y
    y.add_(1)
    z.sum().backward()
    return z, x.grad


# -- hooks where gradients are differentiated ------------------------------------------------------

#: Functions whose rules read results, which hooks are on.
READ_BACK: dict[str, Callable[[Any, Any], Any]] = {
    "exp": lambda torch, x: x.exp(),
    "tanh": lambda torch, x: x.tanh(),
    "softmax": lambda torch, x: x.softmax(0),
    "logsumexp": lambda torch, x: x.logsumexp(0),
    "norm": lambda torch, x: x.norm(),
    "hypot": lambda torch, x: torch.hypot(x, 2 * x),
}


@pytest.mark.parametrize("name", READ_BACK)
def test_hooks_see_derivatives_of_gradients(name: str) -> None:
    def program(torch: Any) -> Any:
        x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
        y, seen = READ_BACK[name](torch, x), []
        y.retain_grad()
        y.register_hook(lambda g: seen.append(g.detach().clone()))
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad((g**3).sum(), x, retain_graph=True)
        return seen, y.grad.detach(), second, torch.autograd.grad((g**3).sum(), y)

    compare(program, rtol=1e-9)


# -- further ones ----------------------------------------------------------------------------------


def _weighted(targets: str, **options: Any) -> Program:
    def program(torch: Any) -> Any:
        x = torch.tensor([[1.0, 2.0], [0.5, -1.0]], requires_grad=True)
        weight = torch.tensor([1.0, 3.0], requires_grad=True)
        t = torch.tensor([0, 1]) if targets == "index" else torch.tensor([[0.2, 0.8], [1.0, 0.0]])
        torch.nn.functional.cross_entropy(x, t, weight=weight, **options).backward()
        return x.grad, weight.grad

    return program


def _weights_of(name: str, argument: str = "weight") -> Program:
    def program(torch: Any) -> Any:
        x = torch.tensor([[0.1, 0.2], [0.5, 0.9]])
        given = {argument: torch.ones(2, requires_grad=True)}
        return getattr(torch.nn.functional, name)(x, x.clone(), **given)

    return program


def _circular(*pad: int) -> Program:
    return lambda torch: torch.nn.functional.pad(
        torch.arange(16.0).reshape(1, 1, 4, 4), pad, "circular"
    )


def _raveled(torch: Any) -> Any:
    x = torch.arange(12.0).reshape(2, 6)[:, ::2][:1]
    y = x.ravel()
    y[0] = 50
    return x, y


def _same_product(torch: Any) -> Any:
    (row,) = [torch.arange(3.0)]
    torch.cartesian_prod(row)[0] = 7
    return row


def _useless_view(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    first = y.unbind()[0]
    y.mul_(2)
    return first.requires_grad, first.grad, first.detach()


def _curvature(make: Callable[..., Any], *shape: int) -> Program:
    """Return a program whose second derivative is zero, and not nothing."""

    def program(torch: Any) -> Any:
        x = torch.linspace(-2, 3, math.prod(shape)).sin().reshape(shape).requires_grad_()
        (first,) = torch.autograd.grad(make(torch, x).sum(), x, create_graph=True)
        return first, torch.autograd.grad(first.sum(), x)

    return program


def _pooled(name: str, spatial: int) -> Program:
    def make(torch: Any, x: Any) -> Any:
        return getattr(torch.nn.functional, f"{name}_pool{spatial}d")(x, 2)

    return _curvature(make, 1, 2, *[4] * spatial)


def _with_border(mode: str, spatial: int) -> Program:
    def make(torch: Any, x: Any) -> Any:
        return torch.nn.functional.pad(x, (1, 1) * spatial, mode)

    return _curvature(make, 1, 2, *[4] * spatial)


def _random_in_vmap(make: Callable[..., Any], randomness: str) -> Program:
    def program(torch: Any) -> Any:
        torch.manual_seed(3)
        examples = torch.arange(12.0).reshape(4, 3) / 7 + 0.1
        mapped = torch.func.vmap(lambda x: make(torch, x), randomness=randomness)
        return mapped(examples), torch.rand(2)

    return program


RANDOM: dict[str, Callable[..., Any]] = {
    "rand": lambda torch, x: x + torch.rand(3),
    "randn": lambda torch, x: torch.randn(2, 2),
    "rand_like": lambda torch, x: torch.rand_like(x),
    "randint": lambda torch, x: torch.randint(0, 9, (3,)),
    "randint_like": lambda torch, x: torch.randint_like(x, 9),
    "randperm": lambda torch, x: torch.randperm(4),
    "bernoulli": lambda torch, x: torch.bernoulli(x / 2),
    "bernoulli of a number": lambda torch, x: torch.bernoulli(x, 0.5),
    "normal": lambda torch, x: torch.normal(x, 1.0),
    "normal of tensors": lambda torch, x: torch.normal(x, x),
    "normal of numbers": lambda torch, x: torch.normal(0.0, 1.0, (3,)),
    "multinomial": lambda torch, x: torch.multinomial(x, 2),
    "multinomial with return": lambda torch, x: torch.multinomial(x, 4, True),
    "multinomial of rows": lambda torch, x: torch.multinomial(torch.stack([x, x + 1]), 2),
    "multinomial of what is the same": lambda torch, x: torch.multinomial(torch.ones(3), 2),
    "uniform_": lambda torch, x: x.clone().uniform_(),
    "normal_": lambda torch, x: x.clone().normal_(),
    "bernoulli_": lambda torch, x: x.clone().bernoulli_(0.5),
    "random_": lambda torch, x: x.clone().random_(7),
    "uniform_ of what is the same for all": lambda torch, x: torch.zeros(3).uniform_(),
}

PROGRAMS: dict[str, Program] = {
    "masked_scatter in vmap": lambda torch: torch.func.vmap(lambda x: x.masked_scatter(x > 1, -x))(
        torch.arange(6.0).reshape(3, 2) / 2
    ),
    "histc in vmap": lambda torch: torch.func.vmap(lambda x: torch.histc(x, 3, 0, 1))(
        torch.arange(6.0).reshape(3, 2) / 4
    ),
    "curvature of nll_loss": _curvature(
        lambda torch, x: torch.nn.functional.nll_loss(x, torch.tensor([0, 2])), 2, 3
    ),
    "curvature of prelu": _curvature(
        lambda torch, x: torch.nn.functional.prelu(x, torch.tensor([0.25])), 2, 3
    ),
    "index_fill beyond": _index_fill([3], 1.0),
    "index_fill before": _index_fill([-4], 1.0),
    "index_fill from behind": _index_fill([-1, 2], 1.0),
    "index_fill nowhere": _index_fill([], 1.0),
    "index_fill without axes": lambda torch: torch.index_fill(
        torch.tensor(1.0), 0, torch.tensor([0]), torch.tensor(2.0)
    ),
    "index_select of a truth value": lambda torch: torch.tensor(True).index_select(
        0, torch.tensor([0])
    ),
    "max_unpool1d with a place twice": _unpooled,
    "embedding_bag of equal rows": _bag_of_equals,
    "curvature of std of equals": _deviation_of_equals,
    "inverse of what changes": _inverse_of_what_changes,
    "weight of probabilities": _weighted("probabilities", reduction="sum"),
    "weight of probabilities, smoothed": _weighted("probabilities", label_smoothing=0.1),
    "weight of indices": _weighted("index"),
    "weight of indices, smoothed": _weighted("index", label_smoothing=0.1),
    "weight of binary_cross_entropy": _weights_of("binary_cross_entropy"),
    "weight of logits": _weights_of("binary_cross_entropy_with_logits"),
    "pos_weight of logits": _weights_of("binary_cross_entropy_with_logits", "pos_weight"),
    "circular pad, cropped": _circular(-1, 1, -2, 1),
    "circular pad, cropped behind": _circular(2, -1, 1, 0),
    "linspace of whole numbers": lambda torch: torch.linspace(4.3, 50, 50, dtype=torch.int64),
    "linspace down": lambda torch: torch.linspace(2.7, -3.9, 5, dtype=torch.int32),
    "logspace of whole numbers": lambda torch: torch.logspace(0, 1.2, 4, 5.0, dtype=torch.int64),
    "gradient without spacing": lambda torch: torch.gradient(torch.arange(4.0) ** 2, spacing=None),
    "ravel of a part": _raveled,
    "a product of one": _same_product,
    "a view of no more use": _useless_view,
}
PROGRAMS |= {
    f"{name} of ties, {'with' if included else 'without'} itself": _tied(name, included)
    for name in ("amax", "amin")
    for included in (False, True)
}


PROGRAMS |= {
    f"curvature of {name}_pool{n}d": _pooled(name, n)
    for name in ("max", "avg", "adaptive_max", "adaptive_avg")
    for n in (1, 2, 3)
}
PROGRAMS |= {
    f"curvature of {mode} pad, {n}": _with_border(mode, n)
    for mode in ("reflect", "replicate")
    for n in (1, 2, 3)
}
PROGRAMS |= {
    f"{name} in vmap, {randomness}": _random_in_vmap(make, randomness)
    for name, make in RANDOM.items()
    for randomness in ("error", "different", "same")
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
