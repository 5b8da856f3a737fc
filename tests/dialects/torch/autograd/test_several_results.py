"""Operations of several results are one node: what programs and hooks see of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "unbind": lambda torch, x: x.unbind(0),
    "unbind_columns": lambda torch, x: x.unbind(1),
    "iterated": lambda torch, x: list(x),
    "split": lambda torch, x: x.split(2),
    "split_sizes": lambda torch, x: x.split([1, 3]),
    "split_columns": lambda torch, x: x.split(3, 1),
    "split_with_sizes": lambda torch, x: torch.split_with_sizes(x, [1, 3]),
    "chunk": lambda torch, x: x.chunk(2),
    "chunk_columns": lambda torch, x: x.chunk(3, 1),
    "tensor_split": lambda torch, x: x.tensor_split(2),
    "hsplit": lambda torch, x: x.hsplit(2),
    "vsplit": lambda torch, x: x.vsplit(2),
    "max": lambda torch, x: x.max(0),
    "median": lambda torch, x: x.median(0),
    "mode": lambda torch, x: x.mode(0),
    "kthvalue": lambda torch, x: x.kthvalue(2),
    "topk": lambda torch, x: x.topk(2),
    "sort": lambda torch, x: x.sort(),
    "cummax": lambda torch, x: x.cummax(0),
    "std_mean": lambda torch, x: torch.std_mean(x),
    "var_mean": lambda torch, x: torch.var_mean(x, dim=0),
    "qr": lambda torch, x: torch.linalg.qr(x),
    "eigh": lambda torch, x: torch.linalg.eigh(x),
    "svd": lambda torch, x: torch.linalg.svd(x),
    "slogdet": lambda torch, x: torch.linalg.slogdet(x),
    "lu": lambda torch, x: torch.linalg.lu(x),
    "lu_factor": lambda torch, x: torch.linalg.lu_factor(x),
    "triangular_solve": lambda torch, x: torch.triangular_solve(x * 2, x),
    "lu_unpack": lambda torch, x: torch.lu_unpack(*torch.linalg.lu_factor(x)),
}
#: What the gradients themselves are is another matter: a sign has none, a basis may have either
#: sign, and triangular_solve, which PyTorch has given up, takes its arguments in another order.
UNLIKE = ("slogdet", "svd", "eigh", "triangular_solve")
HOOKED = [name for name in CALLS if name not in UNLIKE]


def matrix(torch: Any) -> Any:
    x = torch.eye(4, dtype=torch.float64) * 3 + torch.arange(16.0).reshape(4, 4) / 10
    return (x @ x.T).requires_grad_()


def results_of(torch: Any, name: str) -> tuple[Any, list[Any]]:
    """Return a leaf, and the results of a call that have a node."""
    leaf = matrix(torch)
    return leaf, [r for r in CALLS[name](torch, leaf * 1) if r.grad_fn is not None]


@pytest.mark.parametrize("name", CALLS)
def test_results_have_one_node(name: str) -> None:
    def program(torch: Any) -> Any:
        _, results = results_of(torch, name)
        first = results[0].grad_fn
        behind = [[(f.name(), nr) for f, nr in r.grad_fn.next_functions] for r in results]
        after = [(r * 1).grad_fn.next_functions[0] for r in results]
        seen = [(node is r.grad_fn, nr) for (node, nr), r in zip(after, results, strict=True)]
        same = [r.grad_fn is first for r in results]
        return (
            [r.grad_fn.name() for r in results],
            [r.output_nr for r in results],
            same,
            behind,
            seen,
        )

    compare(program)


@pytest.mark.parametrize("used", ["first", "last", "both"])
@pytest.mark.parametrize("name", HOOKED)
def test_hooks_see_the_gradients_of_all_results(name: str, used: str) -> None:
    def program(torch: Any) -> Any:
        leaf, results = results_of(torch, name)
        seen: list[Any] = []
        node = results[0].grad_fn
        node.register_prehook(lambda given: seen.append(("before", given)))
        node.register_hook(lambda found, given: seen.append(("after", found, given)))
        results[-1].register_hook(lambda g: seen.append(("last", g)))
        chosen = {"first": [results[0]], "last": [results[-1]], "both": [results[0], results[-1]]}
        sum((r * (k + 2)).sum() for k, r in enumerate(chosen[used])).backward()
        return seen, leaf.grad, results[-1].grad_fn is results[0].grad_fn

    compare(program, rtol=1e-9)


@pytest.mark.parametrize("name", ["split", "unbind", "std_mean", "qr", "triangular_solve"])
def test_second_derivatives_go_through_a_node_with_hooks(name: str) -> None:
    def program(torch: Any) -> Any:
        leaf, results = results_of(torch, name)
        results[0].grad_fn.register_hook(lambda found, given: (found[0] * 2,))
        total = sum((r**3).sum() for r in results)
        (g,) = torch.autograd.grad(total, leaf, create_graph=True)
        return g, torch.autograd.grad((g * g).sum(), leaf)

    compare(program, rtol=1e-8)


ANSWERS: dict[str, Callable[[Any, Any], Any]] = {
    "all": lambda torch, g: tuple(t * 10 for t in g),
    "one_of_two": lambda torch, g: (g[0] * 10,),
    "none_for_one": lambda torch, g: (g[0] * 10, None),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_hook_before_the_node_replaces_gradients(name: str) -> None:
    def program(torch: Any) -> Any:
        leaf, (one, other) = results_of(torch, "split")
        one.grad_fn.register_prehook(lambda g: ANSWERS[name](torch, g))
        (one.sum() + 3 * other.sum()).backward()
        return leaf.grad

    compare(program)


def test_a_hook_takes_gradients_away() -> None:
    def program(torch: Any) -> Any:
        x, y, z = (torch.ones(2, requires_grad=True) for _ in range(3))
        one, other, third = x * 1, y * z, z * 3
        one.grad_fn.register_prehook(lambda g: (None,))
        other.grad_fn.register_hook(lambda found, g: (None, found[1] * 5))
        third.grad_fn.register_prehook(lambda g: None)
        (one + other + third).sum().backward()
        return x.grad, y.grad, z.grad

    compare(program)


@pytest.mark.parametrize("on", ["node", "result"])
def test_a_hook_makes_no_gradient_of_none(on: str) -> None:
    def program(torch: Any) -> Any:
        _, (one, other) = results_of(torch, "split")
        if on == "node":
            one.grad_fn.register_prehook(lambda g: (g[0], torch.ones_like(g[0])))
        else:
            other.register_hook(lambda g: torch.ones(2, 4, dtype=torch.float64))
        one.sum().backward()

    compare(program)


def test_a_hook_that_is_registered_after_a_sweep_finds_it_out() -> None:
    def program(torch: Any) -> Any:
        _, (one, other) = results_of(torch, "qr")
        (one.sum() + other.sum()).backward()
        one.grad_fn.register_hook(lambda found, given: None)
        (one.sum() + other.sum()).backward()

    compare(program)


def test_a_hook_sees_what_is_swept_again() -> None:
    def program(torch: Any) -> Any:
        leaf, (one, other) = results_of(torch, "std_mean")
        seen: list[Any] = []
        one.backward(retain_graph=True)
        one.grad_fn.register_hook(lambda found, given: seen.append((found, given)))
        one.backward(retain_graph=True)
        (one * other).backward()
        return seen, leaf.grad

    compare(program)


def test_saved_tensors_hooks_go_with_it() -> None:
    def program(torch: Any) -> Any:
        seen: list[Any] = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t):
            leaf, (one, other) = results_of(torch, "std_mean")
        one.grad_fn.register_hook(lambda found, given: seen.append((found, given)))
        (one * other).backward()
        return seen, leaf.grad

    compare(program)


def test_a_result_that_is_dropped() -> None:
    def program(torch: Any) -> Any:
        leaf, results = results_of(torch, "split")
        seen: list[Any] = []
        node = results.pop(0).grad_fn
        node.register_hook(lambda found, given: seen.append((found, given)))
        results[0].sum().backward()
        return seen, leaf.grad, results[0].grad_fn is node, results[0].output_nr

    compare(program)


def test_functions_of_several_results() -> None:
    def program(torch: Any) -> Any:
        class Both(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):  # type: ignore[no-untyped-def]
                return x * 2, x * 3

            @staticmethod
            def backward(ctx, g, h):  # type: ignore[no-untyped-def]
                return 2 * g + 3 * h

        leaf = matrix(torch)
        one, other = Both.apply(leaf)
        seen: list[Any] = []
        other.register_hook(lambda g: seen.append(("other", g)))
        one.grad_fn.register_prehook(lambda g: seen.append(("before", g)))
        one.sum().backward()
        return seen, leaf.grad, one.grad_fn is other.grad_fn, other.output_nr

    compare(program)


COMPOSED: dict[str, Callable[[Any, Any], Any]] = {
    "smooth_l1_loss": lambda torch, x: torch.nn.functional.smooth_l1_loss(x, x * 2),
    "linear": lambda torch, x: torch.nn.functional.linear(x, x, x[0]),
    "gelu": lambda torch, x: torch.nn.functional.gelu(x),
    "logsumexp": lambda torch, x: x.logsumexp(0),
    "var": lambda torch, x: x.var(),
    "norm": lambda torch, x: x.norm(),
    "cat": lambda torch, x: torch.cat([x, x]),
    "product": lambda torch, x: x * x,
}


@pytest.mark.parametrize("name", COMPOSED)
def test_a_node_of_several_operations_is_one_to_hooks(name: str) -> None:
    def program(torch: Any) -> Any:
        leaf = matrix(torch)
        y = COMPOSED[name](torch, leaf * 1)
        seen: list[Any] = []
        y.grad_fn.register_hook(lambda found, given: seen.append((found, given)))
        y.sum().backward()
        return seen, leaf.grad

    compare(program, rtol=1e-9)
