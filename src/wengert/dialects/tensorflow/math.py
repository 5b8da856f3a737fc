"""tf.math: functions of each element, and of two tensors element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.tensorflow import conventions, operators
from wengert.dialects.tensorflow.dtypes import bool_, of_numpy
from wengert.dialects.tensorflow.errors import (
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    as_is,
    invalid,
)
from wengert.dialects.tensorflow.slices import IndexedSlices
from wengert.dialects.tensorflow.table import offered, plain, put
from wengert.dialects.tensorflow.tensors import (
    Tensor,
    check_dtypes,
    check_kind,
    convert,
    converted_like,
    is_like_tensor,
    is_tensor,
    noticed,
    of_one,
    of_two,
    outward,
    pair,
    tensor_of,
)
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap
from wengert.ops import elementwise, rounding, special
from wengert.transforms.gradients import stop_gradient

ns = Native._namespace


# -- one tensor ---------------------------------------------------------------------------------

#: TensorFlow's name, the operation, and the kinds of numbers that it takes.
_ONE = {
    "abs": (conventions.absolute, "ifc"), "acos": (elementwise.acos, "fc"),
    "acosh": (elementwise.acosh, "fc"), "asin": (elementwise.asin, "fc"),
    "asinh": (elementwise.asinh, "fc"), "atan": (elementwise.atan, "fc"),
    "atanh": (elementwise.atanh, "fc"), "ceil": (elementwise.ceil, "f"),
    "cos": (elementwise.cos, "fc"), "cosh": (elementwise.cosh, "fc"),
    "exp": (elementwise.exp, "fc"), "expm1": (elementwise.expm1, "fc"),
    "floor": (elementwise.floor, "f"), "is_finite": (elementwise.isfinite, "f"),
    "is_inf": (elementwise.isinf, "f"), "is_nan": (elementwise.isnan, "f"),
    "log": (elementwise.log, "fc"), "log1p": (elementwise.log1p, "fc"),
    "negative": (elementwise.negative, "ifc"),
    "rint": (elementwise.round_, "f"), "round": (elementwise.round_, "iuf"),
    "sin": (elementwise.sin, "fc"),
    "sinh": (elementwise.sinh, "fc"), "sqrt": (conventions.sqrt, "fc"),
    "square": (elementwise.square, "iufc"), "tan": (elementwise.tan, "fc"),
    "tanh": (elementwise.tanh, "fc"),
}  # fmt: skip
#: Functions that are not elementary.
_HIGHER = {
    "digamma": special.digamma, "erf": special.erf, "erfc": special.erfc,
    "erfcinv": special.erfcinv, "erfinv": special.erfinv, "lgamma": special.gammaln,
    "log_sigmoid": special.log_expit, "ndtri": special.ndtri,
}  # fmt: skip
#: Functions that are in `tf.math.special`, and some of them in `tf.math`.
_SPECIAL = {
    "bessel_i0": special.i0, "bessel_i0e": special.i0e, "bessel_i1": special.i1,
    "bessel_i1e": special.i1e, "bessel_j0": special.j0, "bessel_j1": special.j1,
    "bessel_k0": special.k0, "bessel_k0e": special.k0e, "bessel_k1": special.k1,
    "bessel_k1e": special.k1e, "bessel_y0": special.y0, "bessel_y1": special.y1,
    "dawsn": special.dawsn, "expint": special.expi, "fresnel_cos": special.fresnel_cos,
    "fresnel_sin": special.fresnel_sin, "spence": special.spence,
}  # fmt: skip
#: What is also directly in `tf`.
_TOP = {
    "abs", "acos", "acosh", "add", "add_n", "asin", "asinh", "atan", "atan2", "atanh", "cos",
    "cosh", "divide", "equal", "exp", "floor", "greater", "greater_equal", "less", "less_equal",
    "logical_and", "logical_not", "logical_or", "maximum", "minimum", "multiply", "negative",
    "not_equal", "pow", "round", "scalar_mul", "sigmoid", "sign", "sin", "sinh", "sqrt", "square",
    "subtract", "tan", "tanh", "truediv",
}  # fmt: skip


def _names(name: str) -> tuple[str, ...]:
    return (f"math.{name}", name) if name in _TOP else (f"math.{name}",)


def _in_single(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes in single precision what is in half precision."""

    def call(x: Any, name: str | None = None) -> Any:
        tensor = x if type(x) is Tensor else outward(convert(x))
        if tensor._raw.dtype != np.float16:
            return function(tensor)
        found = function(outward(ns.astype(convert(tensor), np.float32)))
        return outward(ns.astype(convert(found), np.float16))

    call.__name__ = call.__qualname__ = function.__name__
    return call


_REAL_ONLY = "takes real numbers only"
for _name, (_op, _kinds) in _ONE.items():
    put(_names(_name), of_one(_op, _name.title(), _kinds))
_AT_ZERO = {
    "digamma": "is -inf at 0, and not NaN",
    "lgamma": "has the gradient -inf at 0, and not NaN",
    "bessel_i1": "has the gradient 0.5 at 0, as it is, and not 1",
}
for _name, _op in _HIGHER.items():
    put(_names(_name), _in_single(of_one(_op, _name.title(), "f")), _AT_ZERO.get(_name, ""))
for _name, _op in _SPECIAL.items():
    _both = (f"math.special.{_name}", *((f"math.{_name}",) if _name.startswith("bessel_i") else ()))
    put(_both, _in_single(of_one(_op, _name.title(), "f")), _AT_ZERO.get(_name, ""))


_sign = of_one(conventions.sign, "Sign", "if")


@plain("math.sign", "sign")
def sign(x: Any, name: str | None = None) -> Any:
    """Return -1, 0 or 1; of complex numbers x / abs(x), and 0 at 0."""
    try:
        return _sign(x)
    except InvalidArgumentError:
        if (tensor := convert(x)).dtype.kind == "c":
            return outward(elementwise.sign(tensor))
        raise


_reciprocal = of_one(conventions.reciprocal, "Reciprocal", "fc")


@plain("math.reciprocal")
def reciprocal(x: Any, name: str | None = None) -> Any:
    """Return 1 / x."""
    try:
        return _reciprocal(x)
    except InvalidArgumentError as error:
        if convert(x).dtype.kind == "i":  # the class that TensorFlow raises
            raise NotFoundError(None, None, str(error)) from None
        raise


_sigmoid = _in_single(of_one(special.expit, "Sigmoid", "f"))


@plain("math.sigmoid", "sigmoid")
def sigmoid(x: Any, name: str | None = None) -> Any:
    """Return 1 / (1 + exp(-x))."""
    try:
        return _sigmoid(x)
    except InvalidArgumentError:
        if (tensor := convert(x)).dtype.kind == "c":
            return outward(1 / (1 + ns.exp(-tensor)))
        raise


@offered("math.rsqrt")
def rsqrt(x: Any, name: str | None = None) -> Any:
    """Return 1 / sqrt(x)."""
    tensor = convert(x)
    check_kind(tensor, "fc", "Rsqrt")
    return conventions.rsqrt(tensor)


@offered("math.reciprocal_no_nan")
def reciprocal_no_nan(x: Any, name: str | None = None) -> Any:
    """Return 1 / x, and 0 where x is 0."""
    tensor = _numeric(x)
    check_kind(tensor, "fc", "DivNoNan")
    return _quotient_or_zero(ns.ones_like(tensor), tensor, tensor == 0)


def _quotient_or_zero(x: Any, y: Any, zero: Any) -> Any:
    """Return x / y, and 0 where a mask says so; no derivative is NaN there."""
    one, nothing = (np.asarray(v, y.dtype) for v in (1, 0))
    return ns.where(zero, nothing, ns.where(zero, nothing, x) / ns.where(zero, one, y))


def _numeric(x: Any) -> Native:
    tensor = convert(x)
    if tensor.dtype.kind == "b":
        raise as_is(
            TypeError("booleans are given where numbers are expected; write tf.cast(x, tf.float32)")
        )
    return tensor


@offered("math.real")
def real(input: Any, name: str | None = None) -> Any:
    """Return the real part; of real numbers, themselves."""
    x = _numeric(input)
    return ns.real(x) if x.dtype.kind == "c" else tensor_of(input)


@offered("math.imag")
def imag(input: Any, name: str | None = None) -> Any:
    """Return the imaginary part; of real numbers, zeros."""
    x = convert(input)
    return ns.imag(x) if x.dtype.kind == "c" else ns.zeros_like(x)


@offered("math.conj")
def conj(x: Any, name: str | None = None) -> Any:
    """Return the complex conjugate; of real numbers, themselves."""
    tensor = _numeric(x)
    return ns.conj(tensor) if tensor.dtype.kind == "c" else tensor_of(x)


@offered("math.angle")
def angle(input: Any, name: str | None = None) -> Any:
    """Return the angle in the plane: of real numbers, 0 or pi."""
    x = convert(input)
    if x.dtype.kind == "c":
        return elementwise.angle(x)
    if x.dtype.kind != "f":
        raise as_is(
            TypeError(f"an angle of {of_numpy(x.dtype).name}; write tf.cast(x, tf.float32)")
        )
    return ns.where(x < 0, np.asarray(np.pi, x.dtype), ns.zeros_like(x))


@offered("math.logical_not", "logical_not")
def logical_not(x: Any, name: str | None = None) -> Any:
    """Return not x."""
    tensor = _boolean(x)
    check_kind(tensor, "b", "LogicalNot")
    return elementwise.logical_not(tensor)


def _boolean(x: Any) -> Native:
    """Return a tensor as it is, and other values as booleans."""
    return convert(x) if is_like_tensor(x) else convert(x, bool_)


# -- two tensors --------------------------------------------------------------------------------


def _one_by_one(x: Any, y: Any, name: str) -> tuple[Native, Native]:
    """Return operands of which the first gets no dtype from the second."""
    first = convert(x)
    second = convert(y, None, first.dtype)
    check_dtypes(name, first, second)
    return first, second


def _first_alone(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a function whose first operand becomes a tensor without regard to the second."""
    return lambda x, y: function(x if type(x) is Tensor else outward(convert(x)), y)


def _both_in_single(function: Callable[[Any, Any], Any], name: str) -> Callable[[Any, Any], Any]:
    """Return a function that computes in single precision what is in half precision."""

    def call(x: Any, y: Any) -> Any:
        first, second = pair(x, y, name)
        if first.dtype != np.float16:
            return function(outward(first), outward(second))
        found = function(*(outward(ns.astype(t, np.float32)) for t in (first, second)))
        return outward(ns.astype(convert(found), np.float16))

    return call


def _not_half(x: Any, y: Any, name: str) -> tuple[Native, Native]:
    """Return operands that are not in half precision."""
    first, second = pair(x, y, name)
    _check_single(first, name)
    return first, second


def _check_single(x: Native, name: str) -> None:
    if x.dtype == np.float16:
        raise invalid(f"{name} of float16; write tf.cast(x, tf.float32)")


def _booleans(x: Any, y: Any, name: str) -> tuple[Native, Native]:
    first, second = _boolean(x), _boolean(y)
    check_dtypes(name, first, second)
    return first, second


#: TensorFlow's name, and the function of two tensors.
_TWO = {
    "add": _first_alone(of_two(elementwise.add, "AddV2", paired=_one_by_one)),
    "subtract": operators.subtract,
    "multiply": of_two(elementwise.multiply, "Mul"),
    "divide": operators.divide,
    "truediv": _first_alone(operators.divide),
    "floordiv": operators.floor_divide,
    "floormod": operators.remainder,
    "mod": operators.remainder,
    "pow": operators.power,
    "maximum": of_two(conventions.maximum, "Maximum", "iuf"),
    "minimum": of_two(conventions.minimum, "Minimum", "iuf"),
    "less": operators.less,
    "less_equal": operators.less_equal,
    "greater": operators.greater,
    "greater_equal": operators.greater_equal,
    "equal": operators.equal_to,
    "not_equal": operators.not_equal_to,
    "logical_and": of_two(elementwise.logical_and, "LogicalAnd", "b", paired=_booleans),
    "logical_or": of_two(elementwise.logical_or, "LogicalOr", "b", paired=_booleans),
    "xlogy": _both_in_single(of_two(conventions.xlogy, "Xlogy", "f"), "Xlogy"),
    "xlog1py": _both_in_single(of_two(conventions.xlog1py, "Xlog1py", "f"), "Xlog1py"),
}
_BITS = {
    "bitwise_and": elementwise.bitwise_and, "bitwise_or": elementwise.bitwise_or,
    "bitwise_xor": elementwise.bitwise_xor, "left_shift": elementwise.bitwise_left_shift,
    "right_shift": elementwise.bitwise_right_shift,
}  # fmt: skip


def _of_x_and_y(function: Callable[[Any, Any], Any], title: str) -> Callable[..., Any]:
    """Return a function that also takes its operands, and the name of its result, by name."""

    def call(x: Any, y: Any, name: str | None = None) -> Any:
        return function(x, y)

    call.__name__ = call.__qualname__ = title
    return call


for _name, _function in _TWO.items():
    _differs = _REAL_ONLY if _name in ("xlogy", "xlog1py") else ""
    put(_names(_name), _of_x_and_y(_function, _name), _differs)
for _name, _op in _BITS.items():
    put((f"bitwise.{_name}",), _of_x_and_y(of_two(_op, _name, "iu"), _name))
put(("bitwise.invert",), of_one(elementwise.bitwise_invert, "Invert", "iu"))
put(("realdiv",), _of_x_and_y(of_two(elementwise.divide, "RealDiv", "fc"), "realdiv"))

_atan2 = of_two(conventions.atan2, "Atan2", "f")
_logical_xor = of_two(elementwise.logical_xor, "LogicalXor", "b", paired=_booleans)
_igamma = of_two(special.gammainc, "Igamma", "f")
_igammac = of_two(special.gammaincc, "Igammac", "f")
_zeta = of_two(special.zeta_pair, "Zeta", "f")
_nextafter = of_two(conventions.nextafter, "NextAfter", "f")
_multiply_no_nan = of_two(conventions.multiply_no_nan, "MulNoNan", "fc")


@plain("math.atan2", "atan2")
def atan2(y: Any, x: Any, name: str | None = None) -> Any:
    """Return the angle of the point (x, y)."""
    return _atan2(y, x)


@plain("math.logical_xor")
def logical_xor(x: Any, y: Any, name: str | None = "LogicalXor") -> Any:
    """Return whether just one of two holds."""
    return _logical_xor(x, y)


@plain("math.igamma")
def igamma(a: Any, x: Any, name: str | None = None) -> Any:
    """Return the lower regularised incomplete gamma function."""
    return _igamma(*map(outward, _not_half(a, x, "Igamma")))


@plain("math.igammac")
def igammac(a: Any, x: Any, name: str | None = None) -> Any:
    """Return the upper regularised incomplete gamma function."""
    return _igammac(*map(outward, _not_half(a, x, "Igammac")))


@plain("math.zeta")
def zeta(x: Any, q: Any, name: str | None = None) -> Any:
    """Return the Hurwitz zeta function."""
    first, second = _not_half(x, q, "Zeta")
    return noticed(_zeta(outward(stop_gradient(first)), outward(second)), (x, q))


@plain("math.nextafter")
def nextafter(x1: Any, x2: Any, name: str | None = None) -> Any:
    """Return the number after x1 towards x2."""
    return _nextafter(x1, x2)


@plain("math.multiply_no_nan")
def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x * y, and 0 where y is 0, also if x is not finite."""
    first = convert(x)
    second = converted_like(y, first)
    return _multiply_no_nan(outward(first), outward(convert(second, of_numpy(first.dtype))))


@offered("math.polygamma")
def polygamma(a: Any, x: Any, name: str | None = None) -> Any:
    """Return the a-th derivative of digamma."""
    order, tensor = pair(a, x, "Polygamma")
    check_kind(tensor, "f", "Polygamma")
    _check_single(tensor, "Polygamma")
    orders = np.broadcast_arrays(order._raw, tensor._raw)[0]
    tensor = ns.broadcast_to(tensor, orders.shape)
    total = ns.full(orders.shape, np.nan, dtype=tensor.dtype)
    for n in np.unique(orders[np.isfinite(orders)]):
        if n >= 0 and n == int(n):
            total = ns.where(orders == n, special.polygamma(int(n), tensor), total)
    return total


@offered("math.betainc")
def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Any:
    """Return the regularised incomplete beta function, with a derivative in x only."""
    known = next((convert(v).dtype for v in (a, b, x) if is_like_tensor(v)), None)
    tensors = [convert(v, None, known) for v in (a, b, x)]
    check_dtypes("Betainc", *tensors)
    check_kind(tensors[0], "f", "Betainc")
    _check_single(tensors[0], "Betainc")
    return special.betainc(stop_gradient(tensors[0]), stop_gradient(tensors[1]), tensors[2])


@offered("math.squared_difference")
def squared_difference(x: Any, y: Any, name: str | None = None) -> Any:
    """Return (x - y) squared; of complex numbers, of their distance."""
    first, second = pair(x, y, "SquaredDifference")
    check_kind(first, "ifc", "SquaredDifference")
    difference = first - second
    return difference * ns.conj(difference) if first.dtype.kind == "c" else ns.square(difference)


@offered("math.divide_no_nan")
def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x / y, and 0 where y is 0."""
    first, second = operators.same(x, y, "DivNoNan")
    if first.dtype.kind in "iu":
        first, second = operators.floating(first, second)
    return _quotient_or_zero(first, second, second == 0)


@offered("math.xdivy")
def xdivy(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x / y, and 0 where x is 0."""
    first, second = pair(x, y, "Xdivy")
    check_kind(first, "fc", "Xdivy")
    return _quotient_or_zero(first, second, first == 0)


@offered("truncatediv")
def truncatediv(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x / y, rounded towards zero."""
    first, second = pair(x, y, "TruncateDiv")
    check_kind(first, "iuf", "TruncateDiv")
    if first.dtype.kind == "f":
        return ns.trunc(first / second)
    if not second._raw.all():
        raise InternalError(
            None, None, "whole numbers are divided by 0; write tf.math.divide_no_nan(x, y)"
        )
    return wrap(whole_quotient(first._raw, second._raw))


def whole_quotient(x: Any, y: Any) -> np.ndarray:
    """Return the quotient of NumPy's whole numbers, rounded towards zero."""
    return np.asarray((x - np.fmod(x, y)) // y)


@offered("truncatemod")
def truncatemod(x: Any, y: Any, name: str | None = None) -> Any:
    """Return what is left of x divided by y with the quotient rounded towards zero."""
    first, second = pair(x, y, "TruncateMod")
    check_kind(first, "if", "TruncateMod")
    if first.dtype.kind == "i" and not second._raw.all():
        raise invalid("whole numbers are divided by 0")
    both = first, second
    return conventions.without_rule("truncatemod", rounding.fmod(*both), both)


@offered("complex", "dtypes.complex")
def complex_(real: Any, imag: Any, name: str | None = None) -> Any:
    """Return real + 1j * imag."""
    first, second = convert(real), convert(imag)
    kinds = first.dtype, second.dtype
    if kinds not in (2 * (np.dtype("float32"),), 2 * (np.dtype("float64"),)):
        shown = [of_numpy(k).name for k in kinds]
        raise as_is(
            TypeError(
                f"real and imag have types {shown[0]} and {shown[1]}; expected float32 or float64 "
                "for both; write tf.cast"
            )
        )
    return elementwise.complex_(first, second)


# -- several tensors ----------------------------------------------------------------------------


@offered("math.add_n", "add_n", raises=(ValueError,))
def add_n(inputs: Any, name: str | None = None) -> Any:
    """Return the sum of tensors of one shape."""
    listed = list(inputs) if isinstance(inputs, (list, tuple)) or is_tensor(inputs) else [inputs]
    if not listed:
        raise ValueError("tf.add_n of nothing; expected a list of tensors of one shape and dtype")
    total = _total([convert(t) for t in listed], "AddN")
    return tensor_of(listed[0]) if len(listed) == 1 else total


def _total(tensors: list[Native], name: str) -> Native:
    check_dtypes(name, *tensors)
    check_kind(tensors[0], "iufc", name)
    total = tensors[0]
    for other in tensors[1:]:
        if other.shape != total.shape:
            raise invalid(f"{name}: a sum of shapes {list(total.shape)} and {list(other.shape)}")
        total = total + other
    return total


@offered("math.accumulate_n", raises=(ValueError, TypeError))
def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Any:
    """Return the sum of tensors of one shape."""
    problem = "expected a list, not empty, of tensors of one shape and dtype"
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(problem)
    tensors = [convert(t) for t in inputs]
    if any(t.dtype != tensors[0].dtype for t in tensors):
        raise ValueError(problem)
    if any(t.shape != tensors[0].shape for t in tensors):
        shapes = " and ".join(str(t.shape) for t in tensors)
        raise ValueError(f"a sum of shapes {shapes}; expected one shape")
    if tensor_dtype is not None and tensor_dtype != of_numpy(tensors[0].dtype):
        raise TypeError(f"tensor_dtype={tensor_dtype} for tensors of {tensors[0].dtype.name}")
    total = _total(tensors, "AccumulateNV2")
    return tensor_of(inputs[0]) if len(inputs) == 1 else total


@offered("math.scalar_mul", "scalar_mul", raises=(ValueError, AttributeError))
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """Return a number times a tensor or `tf.IndexedSlices`."""
    if not hasattr(x, "dtype"):
        raise AttributeError(f"'{type(x).__name__}' object has no attribute 'dtype'")
    factor = convert(scalar, x.dtype)
    if factor.ndim:
        raise as_is(ValueError(f"the factor has shape {factor.shape}; expected one number"))
    if isinstance(x, IndexedSlices):
        values = outward(factor * convert(x.values))
        return IndexedSlices(values, x.indices, x.dense_shape)
    return factor * convert(x)


@offered("math.polyval", raises=(ValueError,))
def polyval(coeffs: Any, x: Any, name: str | None = None) -> Any:
    """Return a polynomial's value; the coefficient of the highest power is first."""
    if not isinstance(coeffs, list):
        raise as_is(ValueError(f"coeffs is of {type(coeffs)}; expected a list"))
    tensor = convert(x)
    if not coeffs:
        return ns.zeros_like(tensor)
    parts = [c if is_like_tensor(c) else convert(c, None, tensor.dtype) for c in coeffs]
    if len(parts) == 1:
        return tensor_of(parts[0])
    total = convert(parts[0])
    for part in parts[1:]:
        check_dtypes("AddV2", total, tensor, convert(part))
        total = convert(part) + total * tensor
    return total


@offered("math.lbeta")
def lbeta(x: Any, name: str | None = None) -> Any:
    """Return log(abs(beta(x))) along the last axis."""
    tensor = convert(x)
    check_kind(tensor, "f", "Lgamma")
    wide = ns.astype(tensor, np.float32) if tensor.dtype == np.float16 else tensor
    log_of_sum = special.gammaln(ns.sum(wide, axis=-1))
    found = ns.sum(special.gammaln(wide), axis=-1) - log_of_sum
    return ns.astype(found, tensor.dtype, copy=False)


@offered("math.is_non_decreasing")
def is_non_decreasing(x: Any, name: str | None = None) -> Any:
    """Return whether no element is less than the one before it."""
    return _in_order(x, np.greater_equal)


@offered("math.is_strictly_increasing")
def is_strictly_increasing(x: Any, name: str | None = None) -> Any:
    """Return whether each element is more than the one before it."""
    return _in_order(x, np.greater)


def _in_order(x: Any, ufunc: np.ufunc) -> Native:
    tensor = _numeric(x)
    check_kind(tensor, "iuf", "LessEqual")
    flat = tensor._raw.reshape(-1)
    return wrap(np.asarray(ufunc(flat[1:], flat[:-1]).all()))
