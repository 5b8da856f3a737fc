"""The points at which variants differ: what each says there, by the convention in its name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.ops import conventions, gates, rounding
from wengert.ops.neural import steps

NAN, INF = math.nan, math.inf


def slopes(function: Any, *args: float, g: float = 1.0) -> list[float | None]:
    """Return the derivatives at a point, times g; None where nothing leads to an argument."""
    tensors = [wg.asarray(x) for x in args]
    with wg.GradientTape() as tape:
        tape.watch(tensors)
        y = function(*tensors)
    found = tape.gradient(y, tensors, output_gradients=np.asarray(g))
    return [None if part is None else float(part) for part in found]


#: A variant, a point, and its derivatives there.
POINTS: dict[str, tuple[Any, tuple[float, ...], list[float | None]]] = {
    "maximum(ties=first)": (conventions.maximum_first, (2.0, 2.0), [1.0, 0.0]),
    "minimum(ties=first)": (conventions.minimum_first, (2.0, 2.0), [1.0, 0.0]),
    "maximum(nan=both)": (conventions.maximum_nan_both, (NAN, 2.0), [1.0, 1.0]),
    "maximum(nan=both), a tie": (conventions.maximum_nan_both, (2.0, 2.0), [0.5, 0.5]),
    "minimum(nan=both)": (conventions.minimum_nan_both, (NAN, 2.0), [1.0, 1.0]),
    "clip(bound=x)": (conventions.clip_inclusive, (1.0, 1.0, 2.0), [1.0, 0.0, 0.0]),
    "clip_above(bound=x)": (conventions.clip_above_inclusive, (1.0, 1.0), [1.0, 0.0]),
    "clip_below(bound=x)": (conventions.clip_below_inclusive, (1.0, 1.0), [1.0, 0.0]),
    "floor(slope=0)": (rounding.floor_flat, (1.5,), [0.0]),
    "floor_divide(slope=0)": (rounding.floor_divide_flat, (1.5, 1.0), [0.0, 0.0]),
    "sign(slope=0, nan=0)": (rounding.sign_of_nan_0, (NAN,), [0.0]),
    "sqrt(at 0=0)": (conventions.sqrt_flat_at_0, (0.0,), [0.0]),
    "sqrt(0 times inf=0)": (conventions.sqrt_or_0, (0.0,), [INF]),
    "divide(of 0=0)": (conventions.divide_or_0, (0.0, 2.0), [0.5, 0.0]),
    "multiply(by 0=0)": (conventions.multiply_no_nan, (INF, 0.0), [0.0, INF]),
    "pow(at 0=0)": (conventions.power_flat_at_0, (0.0, 0.0), [0.0, 0.0]),
    "pow(at 0=formula)": (conventions.power_by_formula, (0.0, 0.0), [NAN, 0.0]),
    "abs(sign=flat, nan=0)": (conventions.abs_nan_0, (NAN,), [0.0]),
    "abs(sign=flat)": (conventions.abs_flat, (0.0,), [0.0]),
    "copysign(second=0)": (conventions.copysign_flat, (0.0, -1.0), [0.0, 0.0]),
    "nextafter(second=0)": (conventions.nextafter_flat, (1.0, 1.0), [1.0, 0.0]),
    "nextafter(equal=0)": (conventions.nextafter_unless_equal, (1.0, 1.0), [0.0, 0.0]),
    "hypot(at 0=nan)": (conventions.hypot_nan_at_0, (0.0, 0.0), [NAN, NAN]),
    "atan2(at 0=nan)": (conventions.atan2_nan_at_0, (0.0, 0.0), [NAN, NAN]),
    "logit(outside=nan)": (conventions.logit_within, (1.5,), [NAN]),
    "xlogy(at 0=0)": (conventions.xlogy_flat_at_0, (0.0, 2.0), [0.0, 0.0]),
    "xlogy(second=formula)": (conventions.xlogy_by_formula, (0.0, 0.0), [0.0, NAN]),
    "relu(second=0)": (steps.relu, (NAN,), [1.0]),
    "relu(second=0), at 0": (steps.relu, (0.0,), [0.0]),
}


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.filterwarnings("ignore:::numpy")
def test_derivatives_where_variants_differ(name: str) -> None:
    function, point, expected = POINTS[name]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(slopes(function, *point), expected)


def test_zero_times_an_infinite_slope() -> None:
    with np.errstate(all="ignore"):
        for function in (
            conventions.sqrt_or_0,
            conventions.reciprocal_or_0,
            conventions.rsqrt_or_0,
        ):
            assert slopes(function, 0.0, g=0.0) == [0.0]
        assert np.isnan(slopes(wg.sqrt, 0.0, g=0.0)[0])


def test_values_of_variants_that_compute_otherwise() -> None:
    assert float(rounding.floor_of_quotient(1.0, 0.1)) == 10.0
    assert float(conventions.multiply_no_nan(INF, 0.0)) == 0.0
    assert float(conventions.divide_or_0(0.0, 0.0)) == 0.0
    with np.errstate(all="ignore"):
        powers = conventions.power_flat_at_0(
            wg.asarray([1, -1, -1, 2]), wg.asarray([-1, -1, -2, -1])
        )
    assert powers.numpy().tolist() == [1, -1, 1, 0]
    assert float(rounding.sign_of_nan_0(NAN)) == 0.0


@pytest.mark.parametrize(
    "function", [conventions.read, steps.relu, lambda x: conventions.unmoved(2 * x, x)]
)
def test_second_derivatives_are_zeros_and_not_nothing(function: Any) -> None:
    x = wg.asarray(2.0)
    with wg.GradientTape() as outer:
        outer.watch(x)
        with wg.GradientTape() as inner:
            inner.watch(x)
            y = function(x)
        slope = inner.gradient(y, x)
    assert float(outer.gradient(slope, x)) == 0.0


# -- gates ------------------------------------------------------------------------------------


def test_a_refusal_keeps_values_and_raises_in_a_sweep() -> None:
    x = wg.asarray([1.5, 2.5])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = gates.refused(wg.floor(x), [x], LookupError, "no derivative of floor")
    assert y.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(LookupError, match="no derivative of floor"):
        tape.gradient(y, x)


def test_a_refusal_goes_through_vmap() -> None:
    x = wg.asarray([[1.5, 2.5], [3.5, 4.5]])
    refused = wg.vmap(lambda row: gates.refused(wg.floor(row), [row], LookupError, "no"))(x)
    assert refused.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_scaled_derivative() -> None:
    assert slopes(lambda x: gates.scaled(x, wg.asarray(0.25)), 3.0) == [0.25]
