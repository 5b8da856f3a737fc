"""Elementwise functions of one, two and three tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.dialects.torch import conventions, dtypes
from wengert.dialects.torch.operators import (
    answer,
    no_zero,
    not_implemented,
    offer_both,
    one,
    way_to_power,
)
from wengert.dialects.torch.return_types import results
from wengert.dialects.torch.table import DIFFERENCES, NAMES, offered, put
from wengert.dialects.torch.tensors import (
    Forms,
    Tensor,
    astype,
    check_kind,
    convert,
    mark,
    ns,
    of_one,
    of_two,
    only_tensor,
    promoted,
)
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import elementwise, rounding, special

_NUMBERS = (bool, int, float, complex)


def _labelled(result: Native, label: str) -> Native:
    """Return a tensor whose node has a name that depends on the arguments."""
    if result._node is not None:
        mark(result._node, label)
    return result


# -- one tensor ------------------------------------------------------------------------------------

#: Names, the operation, and PyTorch's name of its node, for functions of real numbers.
_REAL: dict[tuple[str, ...], tuple[Any, str]] = {
    ("erf", "special.erf"): (special.erf, ""),
    ("erfc", "special.erfc"): (special.erfc, ""),
    ("erfinv", "special.erfinv"): (special.erfinv, ""),
    ("lgamma", "special.gammaln"): (special.gammaln, "LgammaBackward0"),
    ("digamma", "special.digamma", "special.psi"): (special.digamma, ""),
    ("i0", "special.i0"): (special.i0, "I0Backward0"),
}
for _names, (_operation, _label) in _REAL.items():
    one(_names, _operation, _label, kinds="biuf")
one(("deg2rad",), elementwise.deg2rad, "Deg2RadBackward0", kinds="biuf", refusal=RuntimeError)
one(("rad2deg",), elementwise.rad2deg, "Rad2DegBackward0", kinds="biuf", refusal=RuntimeError)
one(("floor",), conventions.floor, "", False, "iuf")
one(("ceil",), conventions.ceil, "", False, "iuf")
one(("trunc", "fix"), conventions.trunc, "", False, "iuf")
one(("frac",), rounding.frac, "", False, "f")
one(("sign",), conventions.sign, "", False, "biuf")
_square = of_one(elementwise.square, "PowBackward0", False, "iufc")
one(("logical_not",), elementwise.logical_not, "", False)
for _name, _kinds in {
    "isnan": "biufc", "isinf": "biufc", "isfinite": "biufc", "isposinf": "biuf",
    "isneginf": "biuf", "isreal": "biufc", "signbit": "biuf",
}.items():  # fmt: skip
    one(
        (_name,), getattr(elementwise, _name), "", False, _kinds,
        NotImplementedError if _name == "signbit" else RuntimeError, in_place=False,
    )  # fmt: skip


def _squared(input: Any, *, out: Any = None) -> Any:
    """Return input * input."""
    only_tensor(input, "square")
    if input._raw.dtype.kind == "b":
        return NAMES["pow"](input, 2, out=out)
    return answer(_square.within(input), out, "square", input)


offer_both(("square",), _squared)
_rounded = of_one(conventions.round_, "RoundBackward0", False, "iuf")


@offered("round", "special.round", in_place=True)
def round_(input: Any, *, decimals: int = 0) -> Any:
    """Return the nearest numbers with so many decimals; of two as near, the even one."""
    x = only_tensor(input, "round")
    if decimals == 0:
        return convert(_rounded.within(input))
    check_kind("round", x._raw.dtype, "f")
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return _labelled(apply(conventions.round_.op, (x * scale,), {}) / scale, "RoundBackward1")
    return _labelled(apply(conventions.round_.op, (x / scale,), {}) * scale, "RoundBackward1")


@offered("sgn", in_place=True)
def sgn(input: Any) -> Any:
    """Return -1, 0 or 1; of complex numbers x / abs(x), and 0 at 0."""
    x = only_tensor(input, "sgn")
    if x._raw.dtype.kind == "c":
        return elementwise.sign(x)
    return _labelled(conventions.sign(x), "SgnBackward0")


@offered("angle")
def angle(input: Any) -> Any:
    """Return the angle in the plane: of real numbers, 0 or pi."""
    x = only_tensor(input, "angle")
    if x._raw.dtype.kind == "c":
        return elementwise.angle(x)
    return rounding.angle_of_real(astype(x, dtypes.floating(x._raw.dtype)))


def _itself_if_real(function: Any) -> Any:
    """Return a function that gives back a tensor of real numbers as it is."""

    def call(input: Any) -> Any:
        if only_tensor(input, "conj")._raw.dtype.kind != "c":
            return input
        return function(input)

    return call


put(
    ("conj", "Tensor.conj"),
    _itself_if_real(of_one(elementwise.conj, "ConjBackward0", False).within),
    "a copy, where PyTorch has a view of complex numbers",
)
_conj = of_one(elementwise.conj, "ConjPhysicalBackward0", False)


def _conj_physical(input: Any, *, out: Any = None) -> Any:
    """Return complex conjugates; real numbers as they are."""
    if only_tensor(input, "conj_physical")._raw.dtype.kind != "c":
        return answer(input, out, "conj_physical")
    return answer(_conj.within(input), out, "conj_physical")


offer_both(("conj_physical",), _conj_physical)


@offered("logit", "special.logit", in_place=True)
def logit(input: Any, eps: float | None = None) -> Any:
    """Return log(x / (1 - x)), of x moved between eps and 1 - eps if that is given."""
    x = only_tensor(input, "logit")
    check_kind("logit", x._raw.dtype, "biuf")
    x = astype(x, dtypes.floating(x._raw.dtype))
    if eps is not None:
        low, high = (np.array(v, x._raw.dtype) for v in (eps, 1 - eps))
        x = apply(conventions.clamp.op, (x, low, high), {})
    return astype(apply(conventions.logit.op, (x,), {}), x._raw.dtype)


@offered("nan_to_num", in_place=True)
def nan_to_num(
    input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """Return numbers in place of NaN and infinities; the largest ones if none are given."""
    x = only_tensor(input, "nan_to_num")
    kind = x._raw.dtype
    if kind.kind in "biu":
        return x
    if kind.kind == "c":
        return elementwise.complex_(
            *(nan_to_num(part, nan, posinf, neginf) for part in (ns.real(x), ns.imag(x)))
        )
    most = np.finfo(kind).max
    for places, value in (
        (ns.isnan(x), 0.0 if nan is None else nan),
        (x == math.inf, most if posinf is None else posinf),
        (x == -math.inf, -most if neginf is None else neginf),
    ):
        x = apply(conventions.where.op, (places, wrap_native(np.array(value, kind)), x), {})
    return x


@offered("mvlgamma", "special.multigammaln", in_place=True)
def mvlgamma(input: Any, p: int) -> Any:
    """Return the logarithm of the gamma function of p dimensions."""
    x = only_tensor(input, "mvlgamma")
    check_kind("mvlgamma", x._raw.dtype, "biuf")
    if p < 1:
        raise RuntimeError(f"mvlgamma: p is {p}; give 1 or more")
    x = astype(x, dtypes.floating(x._raw.dtype))
    total = special.gammaln(x)
    for j in range(1, p):
        total = total + special.gammaln(x - j / 2)
    return total + p * (p - 1) / 4 * math.log(math.pi)


@offered("polygamma", "special.polygamma", method=False)
def polygamma(n: int, input: Any) -> Any:
    """Return the n-th derivative of digamma."""
    x = only_tensor(input, "polygamma")
    if isinstance(n, float) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"polygamma(): n is a {type(n).__name__}; give a whole number")
    if n < 0:
        raise RuntimeError(f"polygamma(): n is {n}; give 0 or more")
    check_kind("polygamma", x._raw.dtype, "biuf")
    return special.polygamma(int(n), astype(x, dtypes.floating(x._raw.dtype)))


@offered("Tensor.polygamma", in_place=True)
def _polygamma_of(input: Any, n: int) -> Any:
    """Return the n-th derivative of digamma."""
    return convert(NAMES["polygamma"](n, input))


_mantissa = results("frexp", "mantissa", "exponent")


@offered("frexp")
def frexp(input: Any) -> Any:
    """Return numbers from 0.5 to 1, and the powers of 2 that they are to be multiplied with."""
    from wengert.ops.numpy import ufuncs

    x = only_tensor(input, "frexp")
    check_kind("frexp", x._raw.dtype, "f", RuntimeError)
    mantissa, exponent = ufuncs.frexp(x)
    return _mantissa(mantissa, astype(exponent, np.dtype(np.int32)))


# -- two tensors -----------------------------------------------------------------------------------


def two(
    names: tuple[str, ...],
    function: Any,
    label: str = "",
    floating: bool = False,
    kinds: str = "biuf",
    refusal: type[Exception] = NotImplementedError,
    numbers: str = "",
    in_place: bool = True,
    check: Any = None,
) -> Forms:
    """Offer an operation of two tensors under some names, as methods too and with underscores."""
    label = label or f"{names[0].capitalize()}Backward0"
    forms = of_two(function, label, floating, kinds, refusal, numbers, check)
    offer_both(names, forms.function, in_place)
    return forms


def _same_dtype(one: Any, two: Any, common: np.dtype) -> None:
    if one._raw.dtype != two._raw.dtype:
        raise RuntimeError(
            f"expected tensors of one dtype, got {dtypes.of_numpy(one._raw.dtype)} and "
            f"{dtypes.of_numpy(two._raw.dtype)}; write y.to(x.dtype)"
        )


two(("atan2", "arctan2"), elementwise.atan2, floating=True)
two(("hypot",), conventions.hypot, kinds="f")
two(("nextafter",), conventions.nextafter, kinds="f")
two(("logaddexp",), conventions.logaddexp, kinds="fc", in_place=False)
two(("logaddexp2",), elementwise.logaddexp2, kinds="f", in_place=False)
two(("maximum",), conventions.maximum, refusal=RuntimeError, in_place=False)
two(("minimum",), conventions.minimum, refusal=RuntimeError, in_place=False)
two(("fmax",), elementwise.fmax, refusal=RuntimeError, in_place=False)
two(("fmin",), elementwise.fmin, refusal=RuntimeError, in_place=False)
two(("igamma", "special.gammainc"), special.gammainc, kinds="f")
two(("igammac", "special.gammaincc"), special.gammaincc, kinds="f")
for _name in ("igamma", "igammac", "special.gammainc", "special.gammaincc", "special.zeta"):
    DIFFERENCES[_name] = "has a derivative in its first argument too"
two(("gcd",), elementwise.gcd, kinds="iu")
two(("lcm",), elementwise.lcm, kinds="iu")
for _name in ("logical_and", "logical_or", "logical_xor"):
    two((_name,), getattr(elementwise, _name), kinds="biufc")
_heaviside = of_two(
    elementwise.heaviside, "NotImplemented", False, "biuf", RuntimeError, "", _same_dtype
)


def _step(input: Any, values: Any, *, out: Any = None) -> Any:
    """Return 0 below 0, 1 above, and the values at 0."""
    only_tensor(input, "heaviside"), only_tensor(values, "heaviside", "values")
    found = not_implemented("aten::heaviside", _heaviside.within(input, values), input, values)
    return answer(found, out, "heaviside", input, values)


offer_both(("heaviside",), _step)


def with_numbers(
    names: tuple[str, ...],
    function: Any,
    labels: tuple[str, ...],
    floating: bool = False,
    kinds: str = "biuf",
    check: Any = None,
    in_place: bool = True,
) -> None:
    """Offer an operation of two tensors, of which one may be a number, under some names.

    `labels` are what PyTorch calls its node for two tensors, for a number that is second, and for
    one that is first, where that may be.
    """
    short = names[0].rpartition(".")[2]
    forms = [of_two(function, label, floating, kinds, check=check) for label in labels]

    def call(input: Any, other: Any, *, out: Any = None) -> Any:
        """Return the function of each pair of elements."""
        if isinstance(input, (Tensor, Native)):
            form = forms[1] if isinstance(other, _NUMBERS) else forms[0]
        elif len(forms) > 2 and isinstance(input, _NUMBERS):
            only_tensor(other, short, "other")
            form = forms[2]
        else:
            only_tensor(input, short)
        return answer(form.within(input, other), out, short, input, other)

    call.__name__ = call.__qualname__ = short
    offer_both(names, call, in_place)


with_numbers(("fmod",), rounding.fmod, ("FmodBackward1", "FmodBackward0"), False, "iuf", no_zero)
with_numbers(("copysign",), conventions.copysign, ("CopysignBackward0", "CopysignBackward1"), True)
with_numbers(
    ("xlogy", "special.xlogy"),
    conventions.xlogy,
    tuple(f"XlogyBackward{k}" for k in (0, 2, 1)),
    True,
)


@offered("ldexp", in_place=True)
def ldexp(input: Any, other: Any) -> Any:
    """Return input * 2 ** other."""
    only_tensor(input, "ldexp"), only_tensor(other, "ldexp", "other")
    x, y = promoted(input, other, floating=True)
    return x * apply(conventions.exp2.op, (y,), {})


def _in_double(value: Any) -> Any:
    if isinstance(value, _NUMBERS):
        return complex(value) if isinstance(value, complex) else float(value)
    raw = only_tensor(value, "float_power")._raw
    kind = np.dtype(np.complex128 if raw.dtype.kind == "c" else np.float64)
    return NAMES["Tensor.to"](value, dtypes.of_numpy(kind))


def _float_power(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """Return input to the power of exponent, in double precision."""
    if isinstance(input, _NUMBERS):
        only_tensor(exponent, "float_power", "exponent")
    function, operands = way_to_power(_in_double(input), _in_double(exponent))
    return answer(function(*operands), out, "float_power", input, exponent)


put(("float_power", "Tensor.float_power"), _float_power)


def _float_power_in_place(self: Any, exponent: Any) -> Any:
    """Give a tensor of double precision the value of `float_power`."""
    needed = np.complex128 if isinstance(exponent, complex) else np.float64
    if self._raw.dtype not in (needed, np.complex128):
        raise RuntimeError(
            f"float_power_ computes {dtypes.of_numpy(np.dtype(needed))}, which does not fit into "
            f"a base of {self.dtype}; write x.double()"
        )
    return NAMES["Tensor.pow_"](self, exponent)


put(("Tensor.float_power_",), _float_power_in_place)


# -- three tensors ---------------------------------------------------------------------------------


def _bounds(low: Any, high: Any) -> str:
    """Return PyTorch's name of the node of clamp, having checked the bounds."""
    if low is None and high is None:
        raise RuntimeError("clamp: no bound was given; give min, max or both")
    given = [b for b in (low, high) if b is not None]
    tensors = [isinstance(b, (Tensor, Native)) for b in given]
    if any(tensors) != all(tensors) or not all(
        t or isinstance(b, (*_NUMBERS, np.generic)) for t, b in zip(tensors, given, strict=True)
    ):
        kinds = " and ".join(type(b).__name__ for b in given)
        raise TypeError(
            f"clamp(): expected two tensors or two numbers as bounds, got {kinds}; write "
            "torch.tensor(x)"
        )
    return "ClampBackward0" if all(tensors) else "ClampBackward1"


def _clamped(input: Any, low: Any, high: Any) -> Any:
    x = only_tensor(input, "clamp")
    given = [v for v in (low, high) if v is not None]
    if x._raw.dtype.kind == "f" and all(type(v) in (int, float) for v in given):
        operands = [x, *(wrap_native(np.array(v, x._raw.dtype)) for v in given)]
    else:
        operands = promoted(input, *given)
        check_kind("clamp", operands[0]._raw.dtype, "biuf")
    if len(operands) == 3:
        return apply(conventions.clamp.op, tuple(operands), {})
    bound = conventions.clamp_max if low is None else conventions.clamp_min
    return apply(bound.op, tuple(operands), {})


@offered("clamp", in_place=True)
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Return the numbers, moved between two bounds."""
    label = _bounds(min, max)
    return _labelled(_clamped(input, min, max), label)


@offered("clip", in_place=True)
def clip(input: Any, min: Any = None, max: Any = None) -> Any:
    """Return the numbers, moved between two bounds."""
    label = _bounds(min, max)
    return _labelled(_clamped(input, min, max), label)


@offered("clamp_min", in_place=True)
def clamp_min(input: Any, min: Any) -> Any:
    """Return the numbers, and a bound for those below it."""
    _bounds(min, None)
    return _labelled(_clamped(input, min, None), f"ClampMinBackward{int(isinstance(min, Tensor))}")


@offered("clamp_max", in_place=True)
def clamp_max(input: Any, max: Any) -> Any:
    """Return the numbers, and a bound for those above it."""
    _bounds(None, max)
    return _labelled(_clamped(input, None, max), f"ClampMaxBackward{int(isinstance(max, Tensor))}")


@offered("lerp", in_place=True)
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """Return input + weight * (end - input)."""
    x, y = only_tensor(input, "lerp"), only_tensor(end, "lerp", "end")
    _same_dtype(x, y, x._raw.dtype)
    check_kind("lerp", x._raw.dtype, "fc")
    if isinstance(weight, _NUMBERS):
        return _labelled(x + (y - x) * np.array(weight, x._raw.dtype), "LerpBackward0")
    w = only_tensor(weight, "lerp", "weight")
    if w._raw.dtype != x._raw.dtype and w.shape:
        raise RuntimeError(
            f"lerp: the weight has dtype {dtypes.of_numpy(w._raw.dtype)}, and the ends have "
            f"{dtypes.of_numpy(x._raw.dtype)}; write w.to(x.dtype)"
        )
    return _labelled(x + (y - x) * astype(w, x._raw.dtype), "LerpBackward1")


def _three(
    name: str, input: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Native, Native, Native, Any]:
    """Return the three tensors and the factor of addcmul or addcdiv."""
    value = options.get("value", 1)
    if len(args) == 3:  # (input, value, tensor1, tensor2), as it was before value had a name
        value, *args = args  # type: ignore[assignment]
    named_ = dict(zip(("tensor1", "tensor2"), args, strict=False))
    given = {**named_, **{k: v for k, v in options.items() if k != "value"}}
    if set(given) != {"tensor1", "tensor2"}:
        raise TypeError(f"{name}() takes (input, tensor1, tensor2, *, value=1)")
    for what, tensor in (("input", input), *given.items()):
        only_tensor(tensor, name, what)
    x, first, second = promoted(input, given["tensor1"], given["tensor2"])
    if x._raw.dtype.kind in "iu":
        value = int(value)
    return x, first, second, np.array(value).astype(x._raw.dtype)


@offered("addcmul", in_place=True)
def addcmul(input: Any, *args: Any, **options: Any) -> Any:
    """Return input + value * tensor1 * tensor2."""
    x, first, second, value = _three("addcmul", input, args, options)
    product = first * second
    return x + (product if value == 1 else product * value)


@offered("addcdiv", in_place=True)
def addcdiv(input: Any, *args: Any, **options: Any) -> Any:
    """Return input + value * tensor1 / tensor2."""
    x, first, second, value = _three("addcdiv", input, args, options)
    divided = [v for v in (*args, *options.values()) if isinstance(v, (Tensor, Native))]
    if all(v._raw.dtype.kind in "biu" for v in divided):
        raise RuntimeError(
            "addcdiv does not divide whole numbers by whole numbers; write x.float() first, or "
            "torch.div with rounding_mode"
        )
    quotient = first / second
    return x + (quotient if value == 1 else quotient * value)
