"""tf.math: functions of each element, and of two tensors element by element."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Kind
from wengert.dialects.tensorflow import conventions, errors, operators
from wengert.dialects.tensorflow import kinds as K
from wengert.dialects.tensorflow import tensors as eager
from wengert.dialects.tensorflow.dtypes import of_numpy
from wengert.dialects.tensorflow.errors import as_is, invalid, unfit, value_error
from wengert.dialects.tensorflow.operators import of_one, of_two
from wengert.dialects.tensorflow.slices import IndexedSlices
from wengert.dialects.tensorflow.table import absent, offered, put, quick_call, row
from wengert.dialects.tensorflow.tensors import Native, ns
from wengert.ops import elementwise, special
from wengert.ops.families.narrow import in_single
from wengert.transforms.gradients import stop_gradient

absent(
    {
        "accumulate_n": "tf.add_n(tensors)",
        "polyval": "Horner's rule: (a * x + b) * x + c",
        "is_non_decreasing": "tf.reduce_all(x[1:] >= x[:-1])",
        "is_strictly_increasing": "tf.reduce_all(x[1:] > x[:-1])",
        "zero_fraction": "tf.reduce_mean(tf.cast(x == 0, tf.float32))",
    },
    "math.",
)

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


_REAL_ONLY = "takes real numbers only"


for _name, (_op, _kinds) in _ONE.items():
    put(_names(_name), of_one(_op, _name.title(), _kinds))


def _special(names: tuple[str, ...], operation: Any) -> None:
    """Offer a function that is not elementary."""
    name = names[0].rpartition(".")[2]
    row(
        " ".join(names), operation, f"{name} of x", quick=quick_call(operation, {}, "f"),
        differs=_AT_ZERO.get(name, ""), x=K.Floating,
    )  # fmt: skip


_AT_ZERO = {
    "digamma": "is -inf at 0, and not NaN",
    "lgamma": "has the gradient -inf at 0, and not NaN",
    "bessel_i1": "has the gradient 0.5 at 0, as it is, and not 1",
}
for _name, _op in _HIGHER.items():
    _special(_names(_name), _op)
for _name, _op in _SPECIAL.items():
    _also = (f"math.{_name}",) if _name.startswith("bessel_i") else ()
    _special((f"math.special.{_name}", *_also), _op)
_Signed = Annotated[Native, K.tensor("ifc")]


@offered("math.sign", "sign", quick=quick_call(conventions.sign, {}, "f"))
def sign(x: _Signed) -> Native:
    """Return -1, 0 or 1; of complex numbers x / abs(x), and 0 at 0."""
    return elementwise.sign(x) if x.dtype.kind == "c" else conventions.sign(x)


@offered("math.reciprocal", quick=quick_call(conventions.reciprocal))
def reciprocal(x: _Signed) -> Native:
    """Return 1 / x."""
    if x.dtype.kind == "i":
        raise errors.NotFoundError(
            None, None, "reciprocal of whole numbers; write tf.cast(x, tf.float32)"
        )
    return conventions.reciprocal(x)


@offered("math.sigmoid", "sigmoid", quick=quick_call(special.expit, {}, "f"))
def sigmoid(x: K.Inexact) -> Native:
    """Return 1 / (1 + exp(-x))."""
    return 1 / (1 + ns.exp(-x)) if x.dtype.kind == "c" else special.expit(x)


row("math.rsqrt", conventions.rsqrt, "1 / sqrt(x)", x=K.Inexact)


@offered("math.reciprocal_no_nan")
def reciprocal_no_nan(x: _Numeric) -> Native:
    """Return 1 / x, and 0 where x is 0."""
    eager.check_kind(x, "fc", "DivNoNan")
    return _quotient_or_zero(ns.ones_like(x), x, x == 0)


def _quotient_or_zero(x: Any, y: Any, zero: Any) -> Any:
    """Return x / y, and 0 where a mask says so; no derivative is NaN there."""
    one, nothing = (np.asarray(v, y.dtype) for v in (1, 0))
    return ns.where(zero, nothing, ns.where(zero, nothing, x) / ns.where(zero, one, y))


#: Numbers, where booleans are a TypeError; such with fractions.
_NUMERIC = K.tensor("iufc", TypeError)
_Numeric = Annotated[Native, _NUMERIC]
_Fractions = Annotated[Native, K.tensor("fc", TypeError)]


@offered("math.imag")
def imag(input: K.Input) -> Native:
    """Return the imaginary part; of real numbers, zeros."""
    return ns.imag(input) if input.dtype.kind == "c" else ns.zeros_like(input)


def _unless_real(function: Any) -> Any:
    """Return a function of complex numbers that returns real ones as they are given."""
    return lambda both: function(both[0]) if both[0].dtype.kind == "c" else eager.tensor_of(both[1])


_AndGiven = Annotated[Any, Kind(lambda value, at, x: (_NUMERIC.read(value, at), value))]
row("math.real", _unless_real(ns.real), "the real part; real numbers as they are", input=_AndGiven)
row("math.conj", _unless_real(ns.conj), "the conjugate; real numbers as they are", x=_AndGiven)


@offered("math.angle")
def angle(input: _Fractions) -> Native:
    """Return the angle in the plane: of real numbers, 0 or pi."""
    if input.dtype.kind == "c":
        return elementwise.angle(input)
    return ns.where(input < 0, np.asarray(np.pi, input.dtype), ns.zeros_like(input))


row("math.logical_not logical_not", elementwise.logical_not, "not x", x=K.Booleans)


# -- two tensors --------------------------------------------------------------------------------


def _of_x_and_y(names: tuple[str, ...], function: Callable[[Any, Any], Any]) -> None:
    """Offer a function that also takes its operands, and the name of its result, by name."""

    def call(x: Any, y: Any, name: str | None = None) -> Any:
        return function(x, y)

    call.__name__ = call.__qualname__ = names[0].rpartition(".")[2]
    put(names, call)


def _first_alone(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a function whose first operand becomes a tensor without regard to the second."""
    return lambda x, y: function(
        x if type(x) is eager.Tensor else eager.outward(eager.convert(x)), y
    )


_add = of_two(elementwise.add, "AddV2", read=operators.one_by_one)
for _name, _function in {
    "add": _first_alone(_add), "subtract": operators.subtract,
    "multiply": of_two(elementwise.multiply, "Mul"), "divide": operators.divide,
    "truediv": _first_alone(operators.divide), "floordiv": operators.floor_divide,
    "floormod": operators.remainder, "mod": operators.remainder, "pow": operators.power,
    "maximum": of_two(conventions.maximum, "Maximum", "iuf"),
    "minimum": of_two(conventions.minimum, "Minimum", "iuf"),
    "less": operators.less, "less_equal": operators.less_equal, "greater": operators.greater,
    "greater_equal": operators.greater_equal, "equal": operators.equal_to,
    "not_equal": operators.not_equal_to,
}.items():  # fmt: skip
    _of_x_and_y(_names(_name), _function)
for _name, _op in {
    "bitwise_and": elementwise.bitwise_and, "bitwise_or": elementwise.bitwise_or,
    "bitwise_xor": elementwise.bitwise_xor, "left_shift": elementwise.bitwise_left_shift,
    "right_shift": elementwise.bitwise_right_shift,
}.items():  # fmt: skip
    _of_x_and_y((f"bitwise.{_name}",), of_two(_op, _name, "iu"))
put(("bitwise.invert",), of_one(elementwise.bitwise_invert, "Invert", "iu"))
_of_x_and_y(("realdiv",), of_two(elementwise.divide, "RealDiv", "fc"))

#: Two tensors of one dtype: with fractions; the same but for half precision; and others.
_Floats = Annotated[Native, K.together("f")]
_Singles = Annotated[Native, K.together("f", single=True)]
_Complex = Annotated[Native, K.together("fc")]
_Differing = Annotated[Native, K.together("ifc")]


for _name, _op in (
    ("and", elementwise.logical_and), ("or", elementwise.logical_or),
    ("xor", elementwise.logical_xor),
):  # fmt: skip
    _both = " ".join(_names(f"logical_{_name}"))
    row(_both, _op, f"x {_name} y, of booleans", x=K.Booleans, y=K.Booleans)
row(
    "math.xlogy", conventions.xlogy, "x * log(y), and 0 where x is 0",
    differs=_REAL_ONLY, x=_Floats, y=_Floats,
)  # fmt: skip
row(
    "math.xlog1py", conventions.xlog1py, "x * log(1 + y), and 0 where x is 0",
    differs=_REAL_ONLY, x=_Floats, y=_Floats,
)  # fmt: skip
row("math.atan2 atan2", conventions.atan2, "the angle of the point (x, y)", y=_Floats, x=_Floats)
row("math.igamma", special.gammainc, "the lower regularised gamma function", a=_Singles, x=_Singles)
row(
    "math.igammac",
    special.gammaincc,
    "the upper regularised gamma function",
    a=_Singles,
    x=_Singles,
)
row(
    "math.zeta", lambda x, q: special.zeta_pair(stop_gradient(x), q), "the Hurwitz zeta function",
    x=_Singles, q=_Singles,
)  # fmt: skip
row(
    "math.nextafter",
    conventions.nextafter,
    "the number after x1 towards x2",
    x1=_Floats,
    x2=_Floats,
)
row(
    "math.xdivy", lambda x, y: _quotient_or_zero(x, y, x == 0), "x / y, and 0 where x is 0",
    x=_Complex, y=_Complex,
)  # fmt: skip
row(
    "math.betainc", lambda a, b, x: special.betainc(stop_gradient(a), stop_gradient(b), x),
    "the regularised incomplete beta function, with a derivative in x only",
    a=_Singles, b=_Singles, x=_Singles,
)  # fmt: skip


@offered("math.multiply_no_nan")
def multiply_no_nan(x: K.Input, y: Any) -> Native:
    """Return x * y, and 0 where y is 0, also if x is not finite."""
    factor = eager.convert(eager.converted_like(y, x), of_numpy(x.dtype))
    eager.check_kind(x, "fc", "multiply_no_nan")
    return conventions.multiply_no_nan(x, factor)


@offered("math.polygamma")
def polygamma(a: _Singles, x: _Singles) -> Native:
    """Return the a-th derivative of digamma."""
    orders = np.broadcast_arrays(a._raw, x._raw)[0]
    x = ns.broadcast_to(x, orders.shape)
    total = ns.full(orders.shape, np.nan, dtype=x.dtype)
    for n in np.unique(orders[np.isfinite(orders)]):
        if n >= 0 and n == int(n):
            total = ns.where(orders == n, special.polygamma(int(n), x), total)
    return total


@offered("math.squared_difference")
def squared_difference(x: _Differing, y: _Differing) -> Native:
    """Return (x - y) squared; of complex numbers, of their distance."""
    difference = x - y
    return difference * ns.conj(difference) if x.dtype.kind == "c" else ns.square(difference)


@offered("math.divide_no_nan")
def divide_no_nan(x: Any, y: Any) -> Native:
    """Return x / y, and 0 where y is 0."""
    first, second = operators.same(x, y, "DivNoNan")
    if first.dtype.kind in "iu":
        first, second = operators.floating(first, second)
    return _quotient_or_zero(first, second, second == 0)


def whole_quotient(x: Any, y: Any) -> np.ndarray:
    """Return the quotient of NumPy's whole numbers, rounded towards zero."""
    return np.asarray((x - np.fmod(x, y)) // y)


@offered("complex", "dtypes.complex")
def complex_(real: K.Input, imag: K.Input) -> Native:
    """Return real + 1j * imag."""
    if real.dtype != imag.dtype or real.dtype not in (np.float32, np.float64):
        shown = {"real": real.dtype.name, "imag": imag.dtype.name}
        raise as_is(unfit("float32 or float64 for both: write tf.cast", TypeError, **shown))
    return elementwise.complex_(real, imag)


# -- several tensors ----------------------------------------------------------------------------


@offered("math.add_n", "add_n", raises=(ValueError,))
def add_n(inputs: Any) -> Any:
    """Return the sum of tensors of one shape."""
    listed = (
        list(inputs) if isinstance(inputs, (list, tuple)) or eager.is_tensor(inputs) else [inputs]
    )
    if not listed:
        raise ValueError("tf.add_n of nothing; expected a list of tensors of one shape and dtype")
    tensors = [eager.convert(t) for t in listed]
    eager.check_dtypes("AddN", *tensors)
    eager.check_kind(tensors[0], "iufc", "AddN")
    shapes = {t.shape for t in tensors}
    if len(shapes) > 1:
        raise invalid(f"add_n: a sum of tensors of shapes {shapes}; expected one shape")
    return eager.tensor_of(listed[0]) if len(listed) == 1 else functools.reduce(ns.add, tensors)


@offered("math.scalar_mul", "scalar_mul", raises=(ValueError, AttributeError))
def scalar_mul(scalar: Any, x: Any) -> Any:
    """Return a number times a tensor or `tf.IndexedSlices`."""
    if not hasattr(x, "dtype"):
        raise AttributeError(f"'{type(x).__name__}' object has no attribute 'dtype'")
    factor = eager.convert(scalar, x.dtype)
    if factor.ndim:
        raise value_error(f"the factor has shape {factor.shape}; expected one number")
    if isinstance(x, IndexedSlices):
        values = eager.outward(factor * eager.convert(x.values))
        return IndexedSlices(values, x.indices, x.dense_shape)
    return factor * eager.convert(x)


def _log_beta(x: Native) -> Native:
    return ns.sum(special.gammaln(x), axis=-1) - special.gammaln(ns.sum(x, axis=-1))


row("math.lbeta", in_single(_log_beta), "log(abs(beta(x))) along the last axis", x=K.Floating)
