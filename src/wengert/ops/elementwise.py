"""Functions of each element: a line for each, with its partial derivatives.

A rule returns ``g * partial``. Where the mathematics leaves a choice (a kink, a tie), the
rule takes the one in the table of conventions: the subgradient of least norm, and ties
that share evenly.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.backends import numpy_kernels
from wengert.backends.numpy_kernels import summed_product, twice
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor
from wengert.ops.families import Operation, elementwise, sample, zero

INSIDE = (-0.9, 0.9)
ABOVE_ONE = (1.1, 3.0)
POSITIVE = (0.2, 3.0)
LN2, LN10 = math.log(2), math.log(10)

# -- arithmetic ---------------------------------------------------------------------------

add = elementwise("add", lambda xp, g: g, lambda xp, g: g)
subtract = elementwise("subtract", lambda xp, g: g, lambda xp, g: -g)
multiply = elementwise(
    "multiply", lambda xp, g, x2: g * x2, lambda xp, g, x1: g * x1, summed=summed_product
)
divide = elementwise(
    "divide",
    lambda xp, g, x2: g / x2,
    lambda xp, g, y, x2: -(g * y) / x2,
    domain=(ANY := (-2.0, 2.0), POSITIVE),
)
negative = elementwise("negative", lambda xp, g: -g)
positive = elementwise("positive", lambda xp, g: g)
square = elementwise("square", lambda xp, g, x: _twice(g) * x)
reciprocal = elementwise("reciprocal", lambda xp, g, y: -g * (y * y), domain=POSITIVE)
remainder = elementwise(
    "remainder",
    lambda xp, g: g,
    lambda xp, g, x1, x2: -g * xp.floor(x1 / x2),
    domain=((2.1, 2.7), (0.91, 1.0)),
    kinds="f",
)
hypot = elementwise(
    "hypot",
    lambda xp, g, y, x1: g * _over(xp, x1, y),
    lambda xp, g, y, x2: g * _over(xp, x2, y),
    kinds="f",
)
sqrt = elementwise("sqrt", lambda xp, g, y: g / (y + y), domain=POSITIVE)
rsqrt = elementwise(
    "rsqrt",
    lambda xp, g, y: -0.5 * g * (y * y * y),
    compute=lambda xp, x: 1 / xp.sqrt(x),
    domain=POSITIVE,
    reference=lambda x: 1 / np.sqrt(x),
    doc="Return 1 / sqrt(x).",
)


def _twice(g: Any) -> Any:
    return twice(g) if type(g) is np.ndarray else g + g


def _over(xp: Any, x: Any, y: Any) -> Any:
    """Return x / y, and 0 without a slope where y is 0: the least subgradient at a tip."""
    tip = y == 0
    return xp.keep(x / xp.where(tip, xp.ones_like(y), y), xp.logical_not(tip))


def _pow_base(xp: Any, g: Any, x1: Any, x2: Any) -> Any:
    flat = (x1 == 0) & (x2 == 0)  # x**0 is flat, also at 0
    return g * x2 * xp.pow(x1, xp.where(flat, xp.ones_like(x2), x2 - 1))


def _pow_exponent(xp: Any, g: Any, y: Any, x1: Any) -> Any:
    at_zero = x1 == 0
    log = xp.log(xp.where(at_zero, xp.ones_like(x1), x1))  # 0**p is flat in p > 0 ...
    fall = at_zero & xp.logical_not(xp.isfinite(y))  # ... and falls from infinity in p < 0
    return g * y * xp.where(fall, -xp.ones_like(log), log)


pow_ = elementwise("pow", _pow_base, _pow_exponent, domain=(POSITIVE, ANY))


def _pow_number(xp: Any, x: Any, exponent: Any) -> Any:
    if exponent == 2:
        return x * x
    if exponent == 3:
        return x * x * x
    if exponent == 1:
        return +x
    if exponent == 0.5:
        return xp.sqrt(x)
    if exponent in (-1, -2) and backends.is_inexact(x.dtype):
        return 1 / (x if exponent == -1 else x * x)
    return x**exponent


def _pow_number_rule(xp: Any, g: Any, x: Any, exponent: Any) -> Any:
    if exponent == 0:
        return xp.zeros_like(g)
    if exponent == 1:
        return g
    if exponent == 2:
        return _twice(g) * x
    return g * (exponent * x ** (exponent - 1))


pow_number = elementwise(
    "pow_number",
    _pow_number_rule,
    compute=_pow_number,
    params=("exponent",),
    samples=[sample((2, 3), exponent=p) for p in (-1, -2, 0, 0.5, 1, 2, 3, -2.5)],
    domain=POSITIVE,
    reference=lambda x, exponent: x**exponent,
    doc="Return x to the power of a Python number, which needs no array of exponents.",
)

# -- exponentials and logarithms ----------------------------------------------------------

exp = elementwise("exp", lambda xp, g, y: g * y)


def _expm1(xp: Any, x: Any) -> Any:
    y = xp.expm1(x)
    if xp is not backends.NUMPY or not is_complex(x):
        return y
    # at 0 and where a part is not finite, NumPy's signs and infinities are not the standard's
    special = (x == 0) | ~np.isfinite(x)
    return np.where(special, np.exp(np.where(special, x, 0)) - 1, y) if special.any() else y


expm1 = elementwise("expm1", lambda xp, g, y: g * (y + 1), compute=_expm1, reference=np.expm1)
log = elementwise("log", lambda xp, g, x: g / x, domain=POSITIVE)
log1p = elementwise("log1p", lambda xp, g, x: g / (1 + x), domain=INSIDE)
log2 = elementwise("log2", lambda xp, g, x: g / (x * LN2), domain=POSITIVE)
log10 = elementwise("log10", lambda xp, g, x: g / (x * LN10), domain=POSITIVE)
logaddexp = elementwise(
    "logaddexp",
    lambda xp, g, y, x1, x2: g * _share(xp, x1, x2, y),
    lambda xp, g, y, x1, x2: g * _share(xp, x2, x1, y),
    kinds="f",
)


def _share(xp: Any, mine: Any, other: Any, y: Any) -> Any:
    """Return exp(mine - y), which is known where both are the same infinity."""
    both = (mine == other) & xp.isinf(mine)
    known = both | (mine == y)
    nothing = xp.zeros_like(y)
    share = xp.exp(xp.where(known, nothing, mine) - xp.where(known, nothing, y))
    return xp.where(both, share / 2, share)


logaddexp2 = elementwise(
    "logaddexp2",
    lambda xp, g, x1, x2: g / (1 + xp.exp((x2 - x1) * LN2)),
    lambda xp, g, x1, x2: g / (1 + xp.exp((x1 - x2) * LN2)),
    compute=lambda xp, x1, x2: xp.logaddexp(x1 * LN2, x2 * LN2) / LN2,
    numpy=np.logaddexp2,
    kinds="f",
    doc="Return log2(2**x1 + 2**x2), which does not overflow.",
)


# -- trigonometric and hyperbolic ---------------------------------------------------------

sin = elementwise("sin", lambda xp, g, x: g * xp.cos(x))
cos = elementwise("cos", lambda xp, g, x: -g * xp.sin(x))
tan = elementwise("tan", lambda xp, g, y: g * (1 + y * y), domain=(-1.2, 1.2))
asin = elementwise("asin", lambda xp, g, x: g / xp.sqrt(1 - x * x), domain=INSIDE)
acos = elementwise("acos", lambda xp, g, x: -g / xp.sqrt(1 - x * x), domain=INSIDE)
atan = elementwise("atan", lambda xp, g, x: g / (1 + x * x))
atan2 = elementwise(
    "atan2",
    lambda xp, g, x1, x2: g * _over(xp, x2, x1 * x1 + x2 * x2),
    lambda xp, g, x1, x2: -g * _over(xp, x1, x1 * x1 + x2 * x2),
    kinds="f",
)
sinh = elementwise("sinh", lambda xp, g, x: g * xp.cosh(x))
cosh = elementwise("cosh", lambda xp, g, x: g * xp.sinh(x))
tanh = elementwise("tanh", lambda xp, g, y: g * (1 - y * y))
asinh = elementwise("asinh", lambda xp, g, x: g / xp.sqrt(x * x + 1))
acosh = elementwise(
    "acosh", lambda xp, g, x: g / (xp.sqrt(x - 1) * xp.sqrt(x + 1)), domain=ABOVE_ONE
)
atanh = elementwise("atanh", lambda xp, g, x: g / (1 - x * x), domain=INSIDE)

_DEGREE = math.pi / 180
deg2rad = elementwise(
    "deg2rad",
    lambda xp, g: g * _DEGREE,
    compute=lambda xp, x: x * _DEGREE,
    kinds="f",
    doc="Return angles in radians, given in degrees.",
)
rad2deg = elementwise(
    "rad2deg",
    lambda xp, g: g / _DEGREE,
    compute=lambda xp, x: x / _DEGREE,
    kinds="f",
    doc="Return angles in degrees, given in radians.",
)

# -- magnitude, sign and the parts of complex numbers -------------------------------------


def abs_rule(xp: Any, g: Any, x: Any) -> Any:
    """Return g times the derivative of abs: the sign, or x / abs(x) and 0 at 0."""
    if backends.kind_of(x.dtype) == "c":
        return g * _over(xp, x, xp.astype(xp.abs(x), x.dtype))
    return g * xp.sign(x)


abs_ = elementwise("abs", abs_rule)
real = elementwise("real", lambda xp, g: g, transposed=True, kinds="c")
imag = elementwise("imag", lambda xp, g: g * 1j, transposed=True, kinds="c")
conj = elementwise("conj", lambda xp, g: xp.conj(g), transposed=True, kinds="c")


def _as_complex(xp: Any, x1: Any, x2: Any) -> Any:
    kind = xp.complex64 if xp.result_type(x1, x2) == xp.float32 else xp.complex128
    if xp is not backends.NUMPY:
        return x1 + x2 * xp.asarray(1j, dtype=kind)
    y = np.empty(np.broadcast_shapes(x1.shape, x2.shape), kind)
    y.real, y.imag = x1, x2  # a product with 1j makes NaN of what is not finite
    return y


complex_ = elementwise(
    "complex",
    lambda xp, g: xp.real(g),
    lambda xp, g: xp.imag(g),
    compute=_as_complex,
    transposed=True,
    kinds="f",
    reference=lambda x1, x2: x1 + 1j * x2,
    doc="Return x1 + 1j * x2 of real arrays. `wg.complex([1.0, 0.0], 2.0)` is `[1 + 2j, 2j]`.",
)
copysign = elementwise(
    "copysign",
    lambda xp, g, x1, x2: g * (xp.sign(x1) * xp.copysign(xp.ones_like(x2), x2)),
    None,
    kinds="f",
)
nextafter = elementwise("nextafter", lambda xp, g: g, None, kinds="f")
real_sign = zero("sign")


def sign(x: Any, /) -> Tensor:
    """Return -1, 0 or 1; for complex numbers x / abs(x), 0 at 0. `wg.sign(-3.0)` is `-1.0`."""
    if backends.kind_of(getattr(x, "dtype", None)) != "c":
        return real_sign(x)
    size = abs_(x)
    zero = equal(size, 0.0)
    return where(zero, 0.0, divide(x, where(zero, 1.0, size)))


def angle(x: Any, /) -> Tensor:
    """Return atan2(imag(x), real(x)) of complex numbers. `wg.angle(1j)` is `1.5708`."""
    return atan2(imag(x), real(x))


_astype = elementwise(
    "astype",
    lambda xp, g: g,  # the engine casts a cotangent to its argument's dtype
    params=("dtype",),
    compute=lambda xp, x, dtype: _cast(xp, x, dtype),
    transposed=True,
    samples=[sample((2, 3), dtype="float64"), sample((), dtype="complex128")],
    reference=lambda x, dtype: x.astype(dtype),
)


def _cast(xp: Any, x: Any, dtype: Any) -> Any:
    """Return x in another dtype; for a real one, without the imaginary part."""
    if xp is not backends.NUMPY and isinstance(dtype, (str, np.dtype)):
        dtype = getattr(xp, np.dtype(dtype).name)
    if is_complex(x) and backends.kind_of(dtype) != "c":
        x = xp.real(x)
    return xp.astype(x, dtype)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """Return x cast to `dtype`; gradients flow through floating and complex dtypes.

    `wg.astype([1.7, -2.0], wg.int64)` is `[1, -2]`.
    """
    if type(x) is Tensor and not copy and x.dtype == dtype:
        return x
    return _astype(x, dtype=dtype)


def is_complex(x: Any) -> bool:
    """Return whether an array holds complex numbers."""
    return backends.kind_of(x.dtype) == "c"


# -- choices ------------------------------------------------------------------------------


keep = elementwise(
    "keep",
    lambda xp, g, mask: xp.keep(g, _truth(mask)),
    None,
    args=("x", "mask"),
    chosen=(lambda xp, mask: _truth(mask), None),
    compute=lambda xp, x, mask: xp.keep(x, _truth(mask)),
    reference=lambda x, mask: np.where(mask != 0, x, 0),
    doc="Return x where the mask holds, else 0; what a rule uses in place of a product.",
)


def _truth(condition: Any) -> Any:
    """Return a condition as booleans."""
    return condition if backends.kind_of(condition.dtype) == "b" else condition != 0


def _wins(xp: Any, g: Any, mine: Any, other: Any) -> Any:
    """Return g where mine > other, half of it where they tie, else 0."""
    won, ties = xp.keep(g, mine > other), mine == other
    if xp is backends.NUMPY and not ties.any():  # the usual case; a look at values stops a jit
        return won
    return won + xp.keep(g / 2, ties)


maximum = elementwise(
    "maximum",
    lambda xp, g, x1, x2: _wins(xp, g, x1, x2),
    lambda xp, g, x1, x2: _wins(xp, g, x2, x1),
    chosen=(lambda xp, x1, x2: x1 >= x2, lambda xp, x1, x2: x2 >= x1),
    kinds="f",
)
minimum = elementwise(
    "minimum",
    lambda xp, g, x1, x2: _wins(xp, g, x2, x1),
    lambda xp, g, x1, x2: _wins(xp, g, x1, x2),
    chosen=(lambda xp, x1, x2: x1 <= x2, lambda xp, x1, x2: x2 <= x1),
    kinds="f",
)


maximum.op.numpy_function = numpy_kernels.maximum
minimum.op.numpy_function = numpy_kernels.minimum


def _ignoring_nan(name: str, word: str, wins: Callable[[Any, Any], Any]) -> Operation[Tensor]:
    """Declare fmax or fmin; `wins` says whether the first is better than the second, or equal."""

    def first(xp: Any, x1: Any, x2: Any) -> Any:
        return wins(x1, x2) | xp.isnan(x2)

    return elementwise(
        name,
        lambda xp, g, x1, x2: xp.keep(g, first(xp, x1, x2)),
        lambda xp, g, x1, x2: xp.keep(g, xp.logical_not(first(xp, x1, x2))),
        compute=lambda xp, x1, x2: xp.where(first(xp, x1, x2), x1, x2),
        numpy=getattr(np, name),
        kinds="f",
        doc=f"Return the {word} of two numbers, of which one may be NaN; the first of equal ones.",
    )


fmax = _ignoring_nan("fmax", "larger", operator.ge)
fmin = _ignoring_nan("fmin", "smaller", operator.le)
where = elementwise(
    "where",
    None,
    lambda xp, g, condition: xp.keep(g, _truth(condition)),
    lambda xp, g, condition: xp.keep(g, xp.logical_not(_truth(condition))),
    args=("condition", "x1", "x2"),
    chosen=(
        None,
        lambda xp, condition: _truth(condition),
        lambda xp, condition: xp.logical_not(_truth(condition)),
    ),
    compute=lambda xp, condition, x1, x2: xp.where(_truth(condition), x1, x2),
    reference=lambda condition, x1, x2: np.where(condition != 0, x1, x2),
    doc="Return x1 where the condition is true, else x2. `wg.where([1, 0], 3, 4)` is `[3, 4]`.",
)


clip_between = elementwise(
    "clip",
    lambda xp, g, x, low, high: xp.keep(g, (low < x) & (x < high)),
    lambda xp, g, x, low, high: xp.keep(g, (x <= low) & (low <= high)),
    lambda xp, g, x, low, high: xp.keep(g, (high <= x) & (low < x) | (high < low)),
    args=("x", "low", "high"),
    chosen=(
        lambda xp, x, low, high: (low < x) & (x < high),
        lambda xp, x, low, high: (x <= low) & (low <= high),
        lambda xp, x, low, high: (high <= x) & (low < x) | (high < low),
    ),
    domain=((-2.0, 2.0), (-1.0, -0.2), (0.2, 1.0)),
    compute=lambda xp, x, low, high: xp.clip(x, low, high),
    kinds="f",
)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Tensor:
    """Return x limited to the interval from `min` to `max`.

    At a bound the bound takes the derivative and x gets 0, as for relu at 0.
    `wg.clip([-3.0, 0.5, 3.0], -1.0, 1.0)` is `[-1.0, 0.5, 1.0]`.
    """
    if min is None and max is None:
        return positive(x)
    if min is None:
        return apply(clip_below.op, (x, max), {})
    if max is None:
        return apply(clip_above.op, (x, min), {})
    return clip_between(x, min, max)


clip_below = elementwise(
    "clip_below",
    lambda xp, g, x, high: xp.keep(g, x < high),
    lambda xp, g, x, high: xp.keep(g, x >= high),
    args=("x", "high"),
    chosen=(lambda xp, x, high: x < high, lambda xp, x, high: x >= high),
    compute=lambda xp, x, high: xp.clip(x, None, high),
    kinds="f",
    reference=np.minimum,
)
clip_above = elementwise(
    "clip_above",
    lambda xp, g, x, low: xp.keep(g, x > low),
    lambda xp, g, x, low: xp.keep(g, x <= low),
    args=("x", "low"),
    chosen=(lambda xp, x, low: x > low, lambda xp, x, low: x <= low),
    compute=lambda xp, x, low: xp.clip(x, low, None),
    kinds="f",
    reference=np.maximum,
)

# -- no derivative ------------------------------------------------------------------------


def _rounding(name: str) -> Any:
    def compute(xp: Any, x: Any) -> Any:
        return (
            xp.asarray(x, copy=True) if backends.kind_of(x.dtype) in "biu" else getattr(xp, name)(x)
        )

    # NumPy 2.0 makes floats of integers
    return zero(name, compute=compute if np.lib.NumpyVersion(np.__version__) < "2.1.0" else None)


floor, ceil, trunc, round_ = map(_rounding, ("floor", "ceil", "trunc", "round"))
isfinite, isinf, isnan = (zero(name, kinds="fc") for name in ("isfinite", "isinf", "isnan"))
signbit = zero("signbit")
isposinf = zero("isposinf", compute=lambda xp, x: x == math.inf, numpy=np.isposinf)
isneginf = zero("isneginf", compute=lambda xp, x: x == -math.inf, numpy=np.isneginf)
isreal = zero(
    "isreal",
    compute=lambda xp, x: xp.imag(x) == 0 if is_complex(x) else xp.equal(x, x) | xp.isnan(x),
    numpy=np.isreal,
    kinds="fc",
)
_TWO_ARGS = ("x1", "x2")
equal, not_equal = (zero(name, args=_TWO_ARGS, kinds="fc") for name in ("equal", "not_equal"))
less, less_equal, greater, greater_equal = (
    zero(name, args=_TWO_ARGS) for name in ("less", "less_equal", "greater", "greater_equal")
)
floor_divide = zero("floor_divide", args=_TWO_ARGS, domain=(ANY, POSITIVE))
heaviside = zero(
    "heaviside",
    args=_TWO_ARGS,
    compute=lambda xp, x1, x2: xp.where(x1 == 0, x2, xp.astype(x1 > 0, x1.dtype)),
    doc="Return 0 where x1 is negative, 1 where it is positive, and x2 where it is 0.",
)
logical_and, logical_or, logical_xor = (
    zero(name, args=_TWO_ARGS, kinds="b") for name in ("logical_and", "logical_or", "logical_xor")
)
logical_not = zero("logical_not", kinds="b")
bitwise_and, bitwise_or, bitwise_xor = (
    zero(name, args=_TWO_ARGS, kinds="i", domain=(0, 9))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
)
bitwise_left_shift, bitwise_right_shift = (
    zero(name, args=_TWO_ARGS, kinds="i", domain=(0, 9))
    for name in ("bitwise_left_shift", "bitwise_right_shift")
)
bitwise_invert = zero("bitwise_invert", kinds="i", domain=(0, 9))


def _on_host(function: Any) -> Any:
    """Return what computes by a library's own function of this name, or by NumPy's."""
    name = function.__name__

    def compute(xp: Any, *arrays: Any) -> Any:
        own = getattr(xp, name, None)
        if own is not None:
            return own(*arrays)
        return xp.asarray(function(*(backends.to_host(a, name) for a in arrays)))

    return compute


gcd, lcm = (
    zero(
        name,
        args=_TWO_ARGS,
        compute=_on_host(getattr(np, name)),
        numpy=getattr(np, name),
        kinds="i",
        domain=(0, 9),
    )
    for name in ("gcd", "lcm")
)


def power(x1: Any, x2: Any, /) -> Tensor:
    """Return x1 to the power x2; as a Python number, x2 takes no array of exponents.

    `wg.pow([2.0, 3.0], 2)` is `[4.0, 9.0]`.
    """
    if type(x2) in (int, float) and not isinstance(x1, (int, float)):
        dtype = getattr(x1, "dtype", None)
        if dtype is not None and backends.is_inexact(dtype):
            return pow_number(x1, exponent=x2)
    return pow_(x1, x2)


__all__ = [
    "acos", "acosh", "add", "angle", "asin", "asinh", "astype", "atan", "atan2", "atanh",
    "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "ceil", "clip", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp",
    "expm1", "floor", "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite",
    "isinf", "isnan", "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp",
    "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply",
    "negative", "nextafter", "not_equal", "positive", "real", "reciprocal", "remainder", "sign",
    "signbit", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc", "where",
]  # fmt: skip
