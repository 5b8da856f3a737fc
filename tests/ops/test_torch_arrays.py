"""Every operation on PyTorch's arrays: as on NumPy's on a CPU, and without a look at values.

The device "meta" has shapes and dtypes, but no values: whatever reads one there raises, as it
would wait for the device on a GPU.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import scipy.special

import wengert as wg
from tests.ops.exemptions import TORCH
from tests.ops.op_cases import (
    CASES,
    Case,
    as_numpy,
    assert_near,
    ids,
    leaves,
    weights_like,
)
from wengert import backends
from wengert.errors import BackendError
from wengert.extend import REGISTRY

torch: Any = pytest.importorskip("torch")
TorchDispatchMode: Any = pytest.importorskip("torch.utils._python_dispatch").TorchDispatchMode
pytestmark = pytest.mark.peers

#: How exact PyTorch's special functions are, where that is less than rounding.
LESS_EXACT: dict[str, float] = {}
#: Far beyond the samples, where formulas change over: functions, and the ends of a grid.
GRIDS = {
    **dict.fromkeys(("j0", "j1"), (-60.0, 60.0)),
    **dict.fromkeys(("y0", "y1", "gammaln"), (0.01, 60.0)),
    **dict.fromkeys(("i0e", "i1e", "dawsn", "erfc", "ndtr", "log_ndtr"), (-20.0, 20.0)),
    **dict.fromkeys(("gamma", "rgamma", "digamma"), (-5.3, 20.0)),
    **dict.fromkeys(("erfinv", "cbrt", "exprel", "sinc"), (-0.999, 0.999)),
    **dict.fromkeys(("erfcinv", "ndtri", "logit"), (0.001, 0.999)),
}


def on(array: Any, device: str) -> Any:
    """Return a NumPy array as a tensor around one of PyTorch's."""
    return wg.asarray(torch.asarray(np.array(array)).to(device))


def derivatives(function: Any, tensors: list[Any], weights: list[Any], order: int) -> list[Any]:
    """Return results, gradients and, of order 2, gradients of a weighted sum of these."""
    sources = [t for t in tensors if backends.is_inexact(t.data.dtype)]

    def first() -> tuple[list[Any], list[Any]]:
        with wg.GradientTape() as tape:
            tape.watch(sources)
            results = leaves(function(*tensors))
        return results, tape.gradient(
            results, sources, output_gradients=weights, unconnected_gradients="zero"
        )

    if order == 1:
        results, gradients = first()
        return [*results, *gradients]
    with wg.GradientTape() as outer:
        outer.watch(sources)
        results, gradients = first()
    again = [_cosines(g) for g in gradients]
    seconds = outer.gradient(
        gradients, sources, output_gradients=again, unconnected_gradients="zero"
    )
    return [*results, *gradients, *seconds]


def _cosines(like: Any) -> Any:
    values = np.cos(np.arange(like.size)).reshape(like.shape)
    return backends.namespace_of(like.data).asarray(values, dtype=like.data.dtype)


def computed(case: Case, kind: str, device: str, order: int) -> tuple[list[Any], list[Any]]:
    """Return what there is on a device, and the same of NumPy arrays."""
    arrays = case.arrays(kind)
    tensors, hosted = [on(a, device) for a in arrays], list(map(wg.asarray, arrays))
    if case.entry.family == "zero":
        return leaves(case.function(*tensors)), leaves(case.function(*hosted))
    weights = weights_like(case.function(*hosted))
    placed = [torch.asarray(w).to(device) for w in weights]
    expected = derivatives(case.function, hosted, weights, order)
    return derivatives(case.function, tensors, placed, order), expected


def raw_of(result: Any) -> Any:
    return result.values._raw if isinstance(result, wg.Block) else result._raw


@pytest.mark.parametrize("order", [1, 2], ids=["first order", "second order"])
@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_agrees_with_numpy(case: Case, order: int) -> None:
    for kind in case.kinds:
        got, expected = computed(case, kind, "cpu", order)
        rtol = LESS_EXACT.get(case.name, 1e-12) * case.entry.rounding
        for mine, theirs in zip(got, expected, strict=True):
            assert isinstance(raw_of(mine), torch.Tensor)
            assert_near(as_numpy(mine), theirs, kind, rtol=rtol)


@pytest.mark.parametrize("name", GRIDS)
def test_special_functions_far_out(name: str) -> None:
    x = np.linspace(*GRIDS[name], 2001)
    got = getattr(wg.special, name)(on(x, "cpu"))
    np.testing.assert_allclose(as_numpy(got), getattr(scipy.special, name)(x), 1e-12, 1e-13)


def check_on_meta(case: Case) -> None:
    for kind in case.kinds:
        for order in (1, 2):
            got, expected = computed(case, kind, "meta", order)
            for mine, theirs in zip(got, expected, strict=True):
                assert raw_of(mine).device.type == "meta"
                assert tuple(mine.shape) == tuple(theirs.shape)


STAYING = [case for case in CASES if case.name not in TORCH]


@pytest.mark.parametrize("case", STAYING, ids=ids(STAYING))
def test_no_value_is_read_on_a_device(case: Case) -> None:
    check_on_meta(case)


@pytest.mark.parametrize("name", TORCH)
def test_what_needs_the_host_says_so(name: str) -> None:
    with pytest.raises(BackendError, match="allow_host_fallback"):
        for case in CASES:
            if case.name == name:
                check_on_meta(case)


def test_few_operations_need_the_host() -> None:
    assert set(TORCH) <= set(REGISTRY)
    assert len(TORCH) <= 0.05 * len(REGISTRY)


def test_a_tensor_that_pytorch_records_is_refused() -> None:
    x = torch.ones(3, requires_grad=True)
    for function in (wg.asarray, wg.sin, lambda x: wg.ones(3) * x):
        with pytest.raises(TypeError, match=r"x\.detach\(\)"):
            function(x)
    assert wg.sum(wg.asarray(x.detach())).item() == 3.0


def test_two_devices_do_not_mix() -> None:
    with pytest.raises(BackendError, match="torch and of torch on meta"):
        wg.add(wg.asarray(torch.ones(2)), wg.asarray(torch.ones(2, device="meta")))


# -- narrow floats ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", ["sin", "log1p", "sum", "mean", "var", "cumulative_sum"])
def test_narrow_floats_are_rounded_once(name: str, dtype: Any) -> None:
    raw = torch.linspace(-0.5, 1.0, 12, dtype=torch.float32).to(dtype)
    how = {"axis": 0} if name == "cumulative_sum" else {}

    def gradient(x: Any) -> tuple[Any, Any]:
        with wg.GradientTape() as tape:
            tape.watch(x)
            y = getattr(wg, name)(x, **how)
        return y.data, tape.gradient(y, x).data

    value, slope = gradient(wg.asarray(raw))
    exact, exact_slope = gradient(wg.asarray(raw.to(torch.float32)))
    assert value.dtype == slope.dtype == dtype
    assert torch.equal(value, exact.to(dtype))
    few = 4 * torch.finfo(dtype).eps  # a rule is a few operations, each of which rounds
    torch.testing.assert_close(slope, exact_slope.to(dtype), rtol=few, atol=few)


def test_products_of_narrow_floats_are_computed_as_such() -> None:
    seen: list[Any] = []

    class Products(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), options: Any = None
        ):  # type: ignore[no-untyped-def]
            if function is torch.ops.aten.mm.default:
                seen.append(args[0].dtype)
            return function(*args, **(options or {}))

    raw = [torch.ones(2, 3, dtype=torch.bfloat16), torch.ones(3, 2, dtype=torch.bfloat16)]
    a, b = map(wg.asarray, raw)
    with Products(), wg.GradientTape() as tape:
        tape.watch([a, b])
        y = wg.matmul(a, b)
        gradients = tape.gradient(y, [a, b])
    assert {t.data.dtype for t in (y, *gradients)} == {torch.bfloat16}
    assert seen == [torch.bfloat16] * 3


def test_a_narrow_array_beside_a_wide_one_is_widened() -> None:
    y = wg.matmul(wg.asarray(torch.ones(2, 3, dtype=torch.bfloat16)), wg.asarray(torch.ones(3, 2)))
    assert y.data.dtype == torch.float32


class Other:
    """An object with operators of its own."""

    def __radd__(self, other: Any) -> str:
        return f"after {type(other).__name__}"

    def __rmatmul__(self, other: Any) -> str:
        return f"after {type(other).__name__}"


def test_operators_leave_objects_with_their_own_to_these() -> None:
    x = wg.asarray(torch.ones(2, 2))
    assert x + Other() == x @ Other() == "after Tensor"
    with pytest.raises(TypeError, match="unsupported operand"):
        x * Other()


def test_numbers_and_arrays_of_devices_take_turns() -> None:
    """A function is written for each device, and found again by the device of an argument."""
    for _ in range(2):
        for device in ("cpu", "meta"):
            x = wg.asarray(torch.ones(3, device=device))
            for y in (x * 2.0, 2.0 * x, x + x, wg.sin(x), wg.concat([x, x]), 1 - x):
                assert y._raw.device.type == device
                assert y._raw.dtype is torch.float32
            counted = wg.asarray(torch.ones(3, dtype=torch.int64, device=device))
            assert (counted * 2)._raw.dtype is torch.int64
    two = [wg.asarray(torch.ones(2, device=device)) for device in ("cpu", "meta")]
    for function in (lambda a, b: a * b, wg.maximum, lambda a, b: wg.concat([a, b])):
        for a, b in (two, two[::-1]):
            with pytest.raises(BackendError, match="torch on meta"):
                function(a, b)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
@pytest.mark.parametrize("key", ["rows", "columns", "runs", "overlapping runs"])
def test_parts_of_an_array_add_up(order: tuple[int, ...], key: str) -> None:
    keys: dict[str, list[Any]] = {
        "rows": [0, 1, 2],
        "columns": [(slice(None), k) for k in range(3)],
        "runs": [slice(0, 1), slice(1, 2), slice(2, 4)],
        "overlapping runs": [slice(0, 2), slice(1, 3), slice(2, 4)],
    }
    parts = [keys[key][k] for k in order]

    def f(x: Any) -> Any:
        return sum(wg.sum(wg.sin(x[part]) * (k + 1.0)) for k, part in enumerate(parts))

    given = np.linspace(-1, 1, 12).reshape(4, 3)
    for g in (wg.grad(f), wg.grad(lambda x: wg.sum(wg.grad(f)(x) ** 2))):
        assert_near(g(torch.asarray(given)).numpy(), g(given), rtol=1e-12)


@pytest.mark.parametrize("shapes", [((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((0, 2, 3), (3, 4)),
                                    ((5, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4))])  # fmt: skip
def test_products_of_which_one_factor_is_watched(shapes: Any) -> None:
    random = np.random.default_rng(1)
    arrays = [random.standard_normal(shape) for shape in shapes]
    tensors = list(map(torch.asarray, arrays))
    for k in (0, 1):
        f = wg.grad(lambda *xs: wg.sum(wg.sin(xs[0] @ xs[1])), argnums=k)
        assert_near(f(*tensors).numpy(), f(*arrays), rtol=1e-12)


def test_second_derivatives_of_a_slice_that_goes_back() -> None:
    def cubes(x: Any) -> Any:
        return wg.sum(x[::-2] ** 3)

    x = torch.arange(5, dtype=torch.float64)
    product = wg.grad(lambda x: wg.sum(wg.grad(cubes)(x) * x))(x)
    assert torch.equal(product, torch.tensor([0.0, 0, 36, 0, 144], dtype=torch.float64))


def test_cotangents_of_parts_are_joined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.linspace(-1.0, 1.0, 12, dtype=torch.float64).reshape(3, 4)
    xp: Any = backends.namespace_of(x)
    joins: list[int] = []

    def concat(arrays: Any, axis: int = 0) -> Any:
        joins.append(len(arrays))
        return torch.concat(list(arrays), dim=axis)

    monkeypatch.setattr(xp, "concat", concat)
    g = wg.grad(lambda x: wg.sum(x[0] * wg.sin(x[1]) * x[2]))(x)
    assert joins == [3]
    q, k, v = x
    expected = torch.stack([torch.sin(k) * v, q * torch.cos(k) * v, q * torch.sin(k)])
    assert_near(g.numpy(), expected.numpy(), rtol=1e-14)


def test_a_part_of_the_cotangents_of_parts() -> None:
    x = torch.linspace(-1.0, 1.0, 16, dtype=torch.float64).reshape(4, 4)
    with wg.GradientTape() as tape:
        a = wg.asarray(x)
        tape.watch(a)
        z = wg.sum(wg.sin(a[0]) * a[1])
    block = tape.gradient(z, a, dense=False)
    assert block.region == (range(2), range(4))
    assert copy.copy(block).shape == (4, 4)
    assert_near(
        block.values.numpy(),
        torch.stack([torch.cos(x[0]) * x[1], torch.sin(x[0])]).numpy(),
        rtol=1e-14,
    )
