"""Elementwise functions of one, two and three tensors."""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated, Any

import numpy as np

from wengert import backends
from wengert.dialects.torch import conventions
from wengert.dialects.torch.axes import check_same, kind_of, labelled
from wengert.dialects.torch.kinds import Input, Int, Number, floating, tensor
from wengert.dialects.torch.kinds import TensorOrNumber as Bound
from wengert.dialects.torch.operators import (
    NUMBERS,
    answer,
    no_zero,
    of_one,
    of_two,
    offer_both,
    one,
)
from wengert.dialects.torch.table import NAMES, offered, plain
from wengert.dialects.torch.tensors import Native, Tensor, astype, ns, promoted, wrap_native
from wengert.ops import elementwise, rounding
from wengert.ops.families.narrow import in_single

#: Real numbers with fractions, as which others are taken; and numbers that can be rounded.
RealFractions = Annotated[Native, tensor("biuf", NotImplementedError, floating)]
Rounded = Annotated[Native, tensor("iuf", NotImplementedError)]


# -- one tensor ------------------------------------------------------------------------------------

one(("deg2rad",), elementwise.deg2rad, "Deg2RadBackward0", kinds="biuf", refusal=RuntimeError)
one(("rad2deg",), elementwise.rad2deg, "Rad2DegBackward0", kinds="biuf", refusal=RuntimeError)
one(("floor",), conventions.floor, "", False, "iuf")
one(("ceil",), conventions.ceil, "", False, "iuf")
one(("trunc", "fix"), conventions.trunc, "", False, "iuf")
one(("frac",), rounding.frac, "", False, "f")
one(("sign",), conventions.sign, "", False, "biuf")
one(("logical_not",), elementwise.logical_not, "", False)
one(("signbit",), elementwise.signbit, "", False, "biuf", in_place=False)
for _name, _kinds in {
    "isnan": "biufc", "isinf": "biufc", "isfinite": "biufc", "isposinf": "biuf",
    "isneginf": "biuf", "isreal": "biufc",
}.items():  # fmt: skip
    one((_name,), getattr(elementwise, _name), "", False, _kinds, RuntimeError, in_place=False)
_square = of_one(elementwise.square, "PowBackward0", False, "iufc")


def _squared(input: Any, *, out: Any = None) -> Any:
    """Return input * input."""
    if isinstance(input, Tensor) and input._raw.dtype.kind == "b":
        return NAMES["pow"](input, 2, out=out)
    return answer(_square, out, input)


offer_both(("square",), _squared)


@offered("round", "special.round", in_place=True)
def round_(input: Rounded, *, decimals: Int = 0) -> Native:
    """Return the nearest numbers with so many decimals; of two as near, the even one."""
    if decimals == 0:
        return conventions.round_(input)
    if kind_of(input) != "f":
        raise NotImplementedError("round: whole numbers have no decimals; write x.float()")
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return labelled(conventions.round_(input * scale) / scale, "RoundBackward1")
    return labelled(conventions.round_(input / scale) * scale, "RoundBackward1")


@offered("sgn", in_place=True)
def sgn(input: Input) -> Native:
    """Return -1, 0 or 1; of complex numbers x / abs(x), and 0 at 0."""
    return (elementwise if kind_of(input) == "c" else conventions).sign(input)


@offered("angle")
def angle(input: Input) -> Native:
    """Return the angle in the plane: of real numbers, 0 or pi."""
    if kind_of(input) == "c":
        return elementwise.angle(input)
    return rounding.angle_of_real(floating(input))


_conj = of_one(elementwise.conj, "ConjBackward0", False)


@plain("conj", "Tensor.conj", differs="a copy, where PyTorch has a view of complex numbers")
def conj(input: Any, *, out: Any = None) -> Any:
    """Return complex conjugates; real numbers as they are."""
    if out is None and isinstance(input, Tensor) and input._raw.dtype.kind != "c":
        return input
    return answer(_conj, out, input)


def _clipped(x: Native, low: Any, high: Any) -> Native:
    """Return numbers moved between bounds of their dtype."""
    given = [v if isinstance(v, Native) else wrap_native(np.array(v, x.dtype))
             for v in (low, high) if v is not None]  # fmt: skip
    if len(given) == 2:
        return conventions.clamp(x, *given)
    return (conventions.clamp_max if low is None else conventions.clamp_min)(x, *given)


@offered("logit", "special.logit", in_place=True)
def logit(input: RealFractions, eps: Number | None = None) -> Native:
    """Return log(x / (1 - x)), of x moved between eps and 1 - eps if that is given."""
    x = input if eps is None else _clipped(input, eps, 1 - eps)
    return astype(conventions.logit(x), input.dtype)


@offered("nan_to_num", in_place=True)
def nan_to_num(
    input: Input, nan: Number | None = None, posinf: Number | None = None,
    neginf: Number | None = None,
) -> Native:  # fmt: skip
    """Return numbers in place of NaN and infinities; the largest ones if none are given."""
    return _finite(input, nan, posinf, neginf)


def _finite(x: Native, *given: Any) -> Native:
    if kind_of(x) == "c":
        return elementwise.complex_(*(_finite(part, *given) for part in (ns.real(x), ns.imag(x))))
    if kind_of(x) != "f":
        return x
    most = backends.finfo(x.dtype).max
    strange = ns.isnan(x), x == math.inf, x == -math.inf
    for where, value, default in zip(strange, given, (0.0, most, -most), strict=True):
        number = wrap_native(np.array(default if value is None else value, x.dtype))
        x = conventions.where(where, number, x)
    return x


# -- two tensors -----------------------------------------------------------------------------------


def two(
    names: tuple[str, ...], function: Any, label: str = "", floating: bool = False,
    kinds: str = "biuf", refusal: type[Exception] = NotImplementedError, in_place: bool = True,
    **options: Any,
) -> None:  # fmt: skip
    """Offer an operation of two tensors under some names, as methods too and with underscores."""
    label = label or f"{names[0].capitalize()}Backward0"
    forms = of_two(function, label, floating, kinds, refusal, "", **options)
    offer_both(names, forms.function, in_place)


two(("atan2", "arctan2"), elementwise.atan2, floating=True)
two(("hypot",), conventions.hypot, kinds="f")
two(("nextafter",), conventions.nextafter, kinds="f")
two(("logaddexp",), conventions.logaddexp, kinds="fc", in_place=False)
two(("logaddexp2",), elementwise.logaddexp2, kinds="f", in_place=False)
_ordered = partial(two, refusal=RuntimeError, in_place=False)
_ordered(("maximum",), conventions.maximum)
_ordered(("minimum",), conventions.minimum)
_ordered(("fmax",), elementwise.fmax)
_ordered(("fmin",), elementwise.fmin)
two(("gcd",), elementwise.gcd, kinds="iu")
two(("lcm",), elementwise.lcm, kinds="iu")
for _name in ("logical_and", "logical_or", "logical_xor"):
    two((_name,), getattr(elementwise, _name), kinds="biufc")
two(
    ("heaviside",), elementwise.heaviside, "NotImplemented", refusal=RuntimeError,
    check=lambda x, y, common: check_same(x, y, name="heaviside"), refused="aten::heaviside",
)  # fmt: skip


def with_numbers(
    names: tuple[str, ...], function: Any, labels: tuple[str, ...], floating: bool = False,
    kinds: str = "biuf", check: Any = None,
) -> None:  # fmt: skip
    """Offer an operation of two tensors, of which one may be a number, under some names.

    `labels` are what PyTorch calls its node for two tensors, for a number that is second, and for
    one that is first, where that may be.
    """
    forms = [
        of_two(function, label, floating, kinds, numbers=numbers, check=check)
        for label, numbers in zip(labels, ("", "2", "1"), strict=False)
    ]

    def call(input: Any, other: Any, *, out: Any = None) -> Any:
        """Return the function of each pair of elements."""
        first = len(forms) > 2 and isinstance(input, NUMBERS)
        form = forms[2] if first else forms[isinstance(other, NUMBERS)]
        return answer(form, out, input, other)

    call.__name__ = call.__qualname__ = names[0].rpartition(".")[2]
    offer_both(names, call)


with_numbers(("fmod",), rounding.fmod, ("FmodBackward1", "FmodBackward0"), False, "iuf", no_zero)
with_numbers(("copysign",), conventions.copysign, ("CopysignBackward0", "CopysignBackward1"), True)
with_numbers(
    ("xlogy", "special.xlogy"),
    conventions.xlogy,
    tuple(f"XlogyBackward{k}" for k in (0, 2, 1)),
    True,
)


@offered("ldexp", in_place=True)
def ldexp(input: Input, other: Input) -> Native:
    """Return input * 2 ** other."""
    x, y = promoted(input, other, floating=True)
    return x * conventions.exp2(y)


# -- three tensors ---------------------------------------------------------------------------------


def _clamped(input: Native, low: Any, high: Any) -> Native:
    """Return numbers moved between bounds, which are two tensors or two numbers."""
    given = [b for b in (low, high) if b is not None]
    if not given:
        raise RuntimeError("clamp: no bound was given; give min, max or both")
    if len({isinstance(b, Native) for b in given}) == 2:
        raise TypeError("clamp(): one bound is a tensor and one a number; write torch.tensor(x)")
    if kind_of(input) == "f" and all(type(b) in (int, float) for b in given):
        return _clipped(input, low, high)
    x, *bounds = promoted(input, *given)
    if kind_of(x) == "c":
        raise NotImplementedError("clamp: complex numbers have no order; write x.real")
    return _clipped(x, None if low is None else bounds[0], None if high is None else bounds[-1])


@offered("clamp", in_place=True)
def clamp(input: Input, min: Bound | None = None, max: Bound | None = None) -> Native:
    """Return the numbers, moved between two bounds."""
    bounded = any(isinstance(b, Native) for b in (min, max))
    return labelled(_clamped(input, min, max), f"ClampBackward{int(not bounded)}")


offer_both(("clip",), clamp)


@offered("clamp_min", in_place=True)
def clamp_min(input: Input, min: Bound) -> Native:
    """Return the numbers, and a bound for those below it."""
    return labelled(_clamped(input, min, None), f"ClampMinBackward{int(isinstance(min, Native))}")


@offered("clamp_max", in_place=True)
def clamp_max(input: Input, max: Bound) -> Native:
    """Return the numbers, and a bound for those above it."""
    return labelled(_clamped(input, None, max), f"ClampMaxBackward{int(isinstance(max, Native))}")


@offered("lerp", in_place=True)
@in_single
def lerp(input: Input, end: Input, weight: Bound) -> Native:
    """Return input + weight * (end - input)."""
    check_same(input, end, name="lerp")
    if kind_of(input) not in "fc":
        raise NotImplementedError("lerp: whole numbers have no fractions; write x.float()")
    if not isinstance(weight, Native):
        weight, label = np.array(weight, input.dtype), "LerpBackward0"
    else:
        if weight.ndim:
            check_same(input, weight, name="lerp")
        weight, label = astype(weight, input.dtype), "LerpBackward1"
    return labelled(input + (end - input) * weight, label)


def _three(
    name: str, input: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Native, Native, Native, Any]:
    """Return the three tensors and the factor of addcmul or addcdiv."""
    value = options.get("value", 1)
    if len(args) == 3:  # (input, value, tensor1, tensor2), as it was before value had a name
        value, *args = args  # type: ignore[assignment]
    given = dict(zip(("tensor1", "tensor2"), args, strict=False)) | options
    given.pop("value", None)
    if set(given) != {"tensor1", "tensor2"}:
        raise TypeError(f"{name}() takes (input, tensor1, tensor2, *, value=1)")
    tensors = [input, given["tensor1"], given["tensor2"]]
    if not all(isinstance(v, (Tensor, Native)) for v in tensors):
        raise TypeError(f"{name}(): expected three tensors; write torch.tensor(x)")
    if name == "addcdiv" and all(v._raw.dtype.kind in "biu" for v in tensors[1:]):
        raise RuntimeError(
            "addcdiv does not divide whole numbers by whole numbers; write x.float() first, or "
            "torch.div with rounding_mode"
        )
    x, first, second = promoted(*tensors)
    value = int(value) if kind_of(x) in "iu" else value
    if not backends.is_narrow(x._raw.dtype):  # where a number is as exact as float32
        value = np.array(value).astype(x._raw.dtype)
    return x, first, second, value


@in_single
def _plus(x: Native, of: Any, first: Native, second: Native, value: Any) -> Native:
    term: Native = of(first, second)
    return x + (term if value == 1 else term * value)


@offered("addcmul", in_place=True)
def addcmul(input: Any, *args: Any, **options: Any) -> Any:
    """Return input + value * tensor1 * tensor2."""
    x, first, second, value = _three("addcmul", input, args, options)
    return _plus(x, ns.multiply, first, second, value)


@offered("addcdiv", in_place=True)
def addcdiv(input: Any, *args: Any, **options: Any) -> Any:
    """Return input + value * tensor1 / tensor2."""
    x, first, second, value = _three("addcdiv", input, args, options)
    return _plus(x, ns.divide, first, second, value)
