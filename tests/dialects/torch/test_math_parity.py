"""Elementwise functions and operators of the PyTorch dialect beside PyTorch itself."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

#: Points where functions have kinks, zeros, poles and ends of domains.
REAL = [-2.5, -1.0, -0.5, 0.0, 0.3, 0.5, 1.0, 1.7, 3.0]
VALUES: dict[str, list[Any]] = {
    "float32": REAL,
    "float64": REAL,
    "int64": [-3, -1, 0, 1, 2, 5],
    "uint8": [0, 1, 2, 5],
    "bool": [True, False],
    "complex64": [1 + 2j, -0.5 + 0.3j, 0.2 - 1j, 2 + 0j],
}
Program = Callable[[Any], Any]


def leaf(torch: Any, values: Any, kind: str = "float32") -> Any:
    """Return a tensor of numbers of a kind, which requires gradients if it can."""
    x = torch.tensor(np.array(values, dtype=kind))
    return x.requires_grad_() if kind[0] in "fc" else x


def name_of(tensor: Any) -> str | None:
    """Return what an entry is called."""
    return None if tensor.grad_fn is None else tensor.grad_fn.name().rpartition("::")[2]


def orders(torch: Any, y: Any, *leaves: Any) -> list[Any]:
    """Return a result, the name of its entry, its gradients, and theirs."""
    found = [y, name_of(y)]
    wanted = [x for x in leaves if x.requires_grad]
    if not wanted or not y.requires_grad:
        return found
    first = torch.autograd.grad(y, wanted, torch.ones_like(y), create_graph=True, allow_unused=True)
    found += [g + 0 if g is not None else None for g in first]
    if first[0] is not None and first[0].requires_grad:
        second = torch.autograd.grad(first[0], wanted, torch.ones_like(first[0]), allow_unused=True)
        found += [g + 0 if g is not None else None for g in second]
    return found


# -- one tensor ------------------------------------------------------------------------------------

_ONE = """
    abs absolute acos arccos angle asin arcsin asinh arcsinh atan arctan atanh arctanh bitwise_not
    ceil conj cos cosh deg2rad erf erfc exp exp2 expm1 fix floor frac log log10 log1p
    log2 logical_not logit nan_to_num neg negative positive rad2deg reciprocal round rsqrt sigmoid
    sign sgn signbit sin sinh sqrt square tan tanh trunc relu isfinite isinf isposinf isneginf isnan
    isreal special.entr special.erfcx special.i0e special.i1 special.i1e special.log_ndtr
    special.ndtr special.ndtri special.expit special.exp2 special.log1p special.expm1 special.erf
    special.erfc
"""
ONE = _ONE.split()
#: What differs, by name and dtype, and why.
DIFFERENT = {
    ("nan_to_num", "complex64"): "has a derivative here",
    ("relu", "bool"): "NotImplementedError is a RuntimeError too",
    ("special.ndtri", "float64"): "PyTorch's has nine digits",
}


def called(torch: Any, name: str) -> Any:
    """Return the function with a dotted name."""
    for part in name.split("."):
        torch = getattr(torch, part)
    return torch


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_tensor(name: str, kind: str) -> None:
    if (name, kind) in DIFFERENT:
        pytest.skip(DIFFERENT[name, kind])

    def program(torch: Any) -> Any:
        x = leaf(torch, VALUES[kind], kind)
        return orders(torch, called(torch, name)(x), x)

    compare(program, 1e-9 if kind == "float64" else None)


METHODS = [name for name in ONE if "." not in name]


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_one_tensor(name: str) -> None:
    compare(lambda torch: getattr(leaf(torch, [0.3, 0.5]), name)())
    compare(lambda torch: getattr(torch.tensor(2), name)())
    compare(lambda torch: getattr(leaf(torch, np.ones((2, 0))), name)())


IN_PLACE = sorted(
    set(METHODS) - {"angle", "conj", "positive", "signbit", "asinh", "arcsinh", "atanh", "arctanh"}
    - {name for name in METHODS if name.startswith("is")} - {"logical_not"}
)  # fmt: skip


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_forms(name: str) -> None:
    def program(torch: Any) -> Any:
        x = leaf(torch, [0.3, 0.5])
        y = x * 1
        same = getattr(y, f"{name}_")()
        return [same is y, *orders(torch, y, x)]

    compare(program)
    compare(lambda torch: getattr(torch.tensor([1, 2]), f"{name}_")())
    compare(lambda torch: getattr(leaf(torch, [0.3]), f"{name}_")())


POSITIVE = [0.3, 0.5, 1.0, 1.7, 3.0]


@pytest.mark.parametrize(
    "name",
    [
        "acosh", "arccosh", "lgamma", "digamma", "special.gammaln", "special.psi",
        "special.digamma", "i0", "special.i0",
    ],
)  # fmt: skip
def test_functions_of_positive_numbers(name: str) -> None:
    def program(torch: Any) -> Any:
        x = leaf(torch, np.array(POSITIVE) + 1, "float64")
        return orders(torch, called(torch, name)(x), x)

    compare(program, 1e-9)


def test_erfinv_and_sinc() -> None:
    points = [-0.7, -0.2, 0.1, 0.5]

    def program(torch: Any, name: str) -> Any:
        x = leaf(torch, points)
        return orders(torch, getattr(torch, name)(x), x)

    compare(lambda torch: program(torch, "erfinv"))
    compare(lambda torch: program(torch, "sinc"))


# -- two tensors -----------------------------------------------------------------------------------

_TWO = """
    add sub subtract mul multiply div divide true_divide floor_divide remainder fmod bitwise_and
    bitwise_or bitwise_xor heaviside nextafter logaddexp logaddexp2 logical_and logical_or
    logical_xor maximum minimum fmax fmin gcd lcm eq ne lt le gt ge less less_equal greater
    greater_equal not_equal clamp_min clamp_max
"""
TWO = _TWO.split()
PAIRS = [
    ("float32", "float32"), ("float32", "float64"), ("int64", "float32"), ("float32", "int64"),
    ("int64", "int64"), ("uint8", "uint8"), ("bool", "bool"), ("bool", "int64"),
    ("complex64", "complex64"),
]  # fmt: skip


def grid(torch: Any, kinds: tuple[str, str], without_zero: bool = False) -> list[Any]:
    """Return two tensors with all pairs of values."""
    values = [VALUES[kind] for kind in kinds]
    if without_zero:
        values[1] = [v for v in values[1] if v]
    pairs = [(a, b) for a in values[0] for b in values[1]]
    return [leaf(torch, [p[k] for p in pairs], kinds[k]) for k in (0, 1)]


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_tensors(name: str, kinds: tuple[str, str]) -> None:
    def program(torch: Any, without_zero: bool) -> Any:
        x, y = grid(torch, kinds, without_zero)
        return orders(torch, getattr(torch, name)(x, y), x, y)

    compare(lambda torch: program(torch, True), 3e-5)
    compare(lambda torch: program(torch, False), 3e-5)


@pytest.mark.parametrize("number", [2, 2.5, 0, -1, True])
@pytest.mark.parametrize("name", TWO)
def test_functions_of_a_tensor_and_a_number(name: str, number: Any) -> None:
    if name.startswith("clamp") and number is True:
        pytest.skip("bool tensors and bool bounds are clamped here")
    for kind in ("float32", "int64", "bool"):

        def program(torch: Any, first: bool, kind: str = kind) -> Any:
            x = leaf(torch, VALUES[kind], kind)
            operands = (x, number) if first else (number, x)
            return orders(torch, getattr(torch, name)(*operands), x)

        compare(lambda torch, run=program: run(torch, True))
        compare(lambda torch, run=program: run(torch, False))


OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "divmod": divmod,
}  # fmt: skip
AUGMENTED = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv,
    "//=": operator.ifloordiv, "%=": operator.imod, "**=": operator.ipow, "&=": operator.iand,
    "|=": operator.ior, "^=": operator.ixor, "<<=": operator.ilshift, ">>=": operator.irshift,
}  # fmt: skip


@pytest.mark.parametrize("number", [2, 2.5, True])
@pytest.mark.parametrize("symbol", OPERATORS)
def test_operators_with_numbers_on_both_sides(symbol: str, number: Any) -> None:
    if symbol in ("<<", ">>") and number == 2.5:
        pytest.skip("shifts by fractions")
    function = OPERATORS[symbol]
    for kind in ("float32", "int64", "bool"):

        def program(torch: Any, first: bool, kind: str = kind) -> Any:
            x = leaf(torch, [v for v in VALUES[kind] if kind == "bool" or v > 0], kind)
            y = function(x, number) if first else function(number, x)
            return orders(torch, y, x)

        compare(lambda torch, run=program: run(torch, True))
        compare(lambda torch, run=program: run(torch, False))


@pytest.mark.parametrize("symbol", AUGMENTED)
def test_augmented_assignment(symbol: str) -> None:
    function = AUGMENTED[symbol]

    def program(torch: Any, kind: str, other: Any) -> Any:
        x = leaf(torch, [3, 2, 5], kind)
        y = x * 1
        before = y
        y = function(y, other)
        return [y is before, *orders(torch, y, x)]

    for kind in ("float32", "int64"):
        compare(lambda torch, kind=kind: program(torch, kind, 2))
        compare(lambda torch, kind=kind: program(torch, kind, 1.5) if "<" not in symbol else 0)
        compare(lambda torch, kind=kind: program(torch, kind, torch.tensor([1, 2, 1])))
        compare(lambda torch, kind=kind: program(torch, kind, torch.tensor([1.0, 2.0, 1.0])))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, -1, -2, 0.5, -0.5, 2.5, True])
def test_powers(exponent: Any) -> None:
    positive = [0.3, 0.5, 1.0, 1.7, 3.0]

    def program(torch: Any, kind: str, form: Callable[[Any], Any]) -> Any:
        x = leaf(torch, positive if kind[0] in "fc" else [1, 2, 5], kind)
        return orders(torch, form(x), x)

    for kind in ("float32", "float64", "int64"):
        compare(lambda torch, kind=kind: program(torch, kind, lambda x: x**exponent))
        compare(lambda torch, kind=kind: program(torch, kind, lambda x: x.pow(exponent)))
        compare(lambda torch, kind=kind: program(torch, kind, lambda x: torch.pow(x, exponent)))
    if exponent and exponent is not True:  # of 0 ** x PyTorch's second derivative is NaN
        compare(lambda torch: program(torch, "float32", lambda x: exponent**x))
    compare(lambda torch: program(torch, "complex64", lambda x: x**exponent))


def test_powers_of_tensors_at_zero() -> None:
    def program(torch: Any) -> Any:
        x = leaf(torch, [0.0, 0.0, 0.0, 2.0, -2.0])
        y = leaf(torch, [0.0, 1.0, 2.0, 0.0, 2.0])
        z = x**y
        return [z, *torch.autograd.grad(z, [x, y], torch.ones_like(z))]

    compare(program)


@pytest.mark.parametrize(
    "name", ["atan2", "arctan2", "hypot", "copysign", "xlogy", "special.xlogy"]
)
def test_functions_of_two_real_tensors(name: str) -> None:
    def program(torch: Any, kinds: tuple[str, str]) -> Any:
        x = leaf(torch, [0.5, -1.0, 2.0, 0.7], kinds[0])
        y = leaf(torch, [1.5, 0.3, 1.0, 3.0], kinds[1])
        return orders(torch, called(torch, name)(x, y), x, y)

    for kinds in (("float32", "float32"), ("float32", "float64"), ("int64", "float32")):
        compare(lambda torch, kinds=kinds: program(torch, kinds), 1e-6)
    compare(lambda torch: program(torch, ("int64", "int64")))
    compare(lambda torch: program(torch, ("complex64", "complex64")))


def test_gradients_at_the_origin() -> None:
    def program(torch: Any, name: str) -> Any:
        x, y = leaf(torch, [0.0, 1.0]), leaf(torch, [0.0, 0.0])
        return torch.autograd.grad(getattr(torch, name)(x, y).sum(), [x, y])

    for name in ("atan2", "hypot", "xlogy", "copysign", "maximum", "minimum", "fmax", "fmin"):
        compare(lambda torch, name=name: program(torch, name))


# -- programs --------------------------------------------------------------------------------------

NAN, INF = math.nan, math.inf


def gradient(torch: Any, function: Callable[[Any], Any], values: Any) -> Any:
    """Return a function's value and its gradient."""
    x = leaf(torch, values)
    y = function(x)
    y.backward(torch.ones_like(y))
    return [y, name_of(y), x.grad]


PROGRAMS: dict[str, Program] = {
    "add with alpha": lambda t: gradient(t, lambda x: t.add(x, x, alpha=3), [1.0, 2.0]),
    "sub with alpha": lambda t: gradient(t, lambda x: x.sub(x * x, alpha=0.5), [1.0, 2.0]),
    "add of numbers": lambda t: t.add(2, t.tensor([1.0])),
    "add in the old order": lambda t: t.tensor([1.0]).add_(2, t.tensor([3.0])),
    "whole alpha for whole numbers": lambda t: t.tensor([1]).add(t.tensor([2]), alpha=2),
    "fractional alpha": lambda t: t.tensor([1]).add(t.tensor([2]), alpha=1.5),
    "alpha of truth values": lambda t: t.tensor([True]).add(t.tensor([False]), alpha=2),
    "bool minus bool": lambda t: t.tensor([True]) - t.tensor([False]),
    "1 minus bool": lambda t: 1 - t.tensor([True]),
    "minus bool": lambda t: -t.tensor([True]),
    "plus bool": lambda t: +t.tensor([True]),
    "not of numbers": lambda t: ~t.tensor([1, -2]),
    "not of fractions": lambda t: ~t.tensor([1.5]),
    "plus is the same": lambda t: (lambda x: +x is x)(t.tensor([1.0])),
    "conj is the same": lambda t: (lambda x: x.conj() is x)(t.tensor([1.0])),
    "add a list": lambda t: t.tensor([1.0]) + [1],  # noqa: RUF005
    "add a string": lambda t: t.tensor([1.0]) + "a",
    "add None": lambda t: t.tensor([1.0]) + None,
    "equal to None": lambda t: t.tensor([1.0]) == None,  # noqa: E711
    "less than None": lambda t: t.tensor([1.0]) < None,
    "eq with None": lambda t: t.eq(t.tensor([1.0]), None),
    "add NumPy's array": lambda t: t.tensor([1.0, 2.0]) + np.array([1.0, 2.0]),
    "mul NumPy's number": lambda t: t.tensor([1.0, 2.0]) * np.float32(2),
    "sin of a number": lambda t: t.sin(2.0),
    "sin of a list": lambda t: t.sin([2.0]),
    "maximum with a number": lambda t: t.maximum(t.tensor([1.0]), 2),
    "atan2 with a number": lambda t: t.atan2(t.tensor([1.0]), 2.0),
    "zero division": lambda t: t.tensor([1]) // 0,
    "zero remainder": lambda t: t.tensor([1]) % t.tensor([0]),
    "zero fmod": lambda t: t.fmod(t.tensor([1]), 0),
    "zero div trunc": lambda t: t.div(t.tensor([1]), 0, rounding_mode="trunc"),
    "negative power": lambda t: t.tensor([2]) ** -1,
    "negative powers": lambda t: t.pow(t.tensor([1, -1, 2, -1]), t.tensor([-1, -1, -1, -2])),
    "uint8 wraps": lambda t: t.tensor([1], dtype=t.uint8) - 2,
    "uint8 wraps numbers": lambda t: t.tensor([1], dtype=t.uint8) + 300,
    "float into int": lambda t: t.tensor([1]).add_(1.5),
    "quotient into int": lambda t: t.tensor([1]).div_(2),
    "int into bool": lambda t: t.tensor([True]).add_(1),
    "complex into float": lambda t: t.tensor([1.0]).mul_(1j),
    "double into float": lambda t: t.tensor([1.0]).mul_(t.tensor([2.0], dtype=t.float64)),
    "wide into narrow": lambda t: t.tensor([1.0]).add_(t.tensor([1.0, 2.0])),
    "in place on a leaf": lambda t: leaf(t, [1.0]).mul_(2),
    "in-place comparison": lambda t: t.tensor([1.0, 3.0]).lt_(2),
    "in-place abs of complex": lambda t: t.tensor([1j]).abs_(),
    "complex comparison": lambda t: t.tensor([1j]) < 1,
    "shapes that do not fit": lambda t: t.tensor([1.0, 2.0]) + t.tensor([1.0, 2.0, 3.0]),
    "broadcast": lambda t: gradient(t, lambda x: x * t.tensor([[1.0], [2.0]]), [1.0, 2.0, 3.0]),
    "0-d and 1-d": lambda t: t.tensor(2.0, dtype=t.float64) * t.tensor([1.0]),
    "0-d int and float": lambda t: t.tensor([1, 2]) * t.tensor(2.5),
    "out": lambda t: t.sin(t.tensor([1.0, 2.0]), out=t.tensor([0.0, 0.0])),
    "out of another shape": lambda t: t.add(t.tensor([1.0, 2.0]), 1, out=t.tensor([])),
    "out of a wrong dtype": lambda t: t.sin(t.tensor([1.0]), out=t.tensor([1])),
    "out with gradients": lambda t: t.mul(leaf(t, [1.0]), 2, out=t.tensor([0.0])),
    "keywords": lambda t: t.pow(input=t.tensor([3.0]), exponent=2),
    "keywords of a method": lambda t: t.tensor([3.0]).mul(other=2),
    "div floor": lambda t: gradient(t, lambda x: t.div(x, 0.3, rounding_mode="floor"), [1.0, -2.0]),
    "div trunc": lambda t: gradient(t, lambda x: x.div(0.3, rounding_mode="trunc"), [1.0, -2.0]),
    "div trunc of ints": lambda t: t.tensor([-7, 7]).div(2, rounding_mode="trunc"),
    "div otherwise": lambda t: t.div(t.tensor([1.0]), 2, rounding_mode="up"),
    "floor_divide backward": lambda t: gradient(t, lambda x: x // 2, [1.0]),
    "number modulo tensor": lambda t: gradient(t, lambda x: 2 % x, [1.5]),
    "remainder of infinity": lambda t: t.tensor([5.5, -5.5]) % t.tensor(INF),
    "clamp": lambda t: gradient(t, lambda x: t.clamp(x, -1, 2), [-2.0, -1.0, 0.0, 2.0, 3.0, NAN]),
    "clamp min": lambda t: gradient(t, lambda x: x.clamp(min=0), [-2.0, 0.0, 1.0]),
    "clamp max": lambda t: gradient(t, lambda x: x.clamp(max=0), [-2.0, 0.0, 1.0]),
    "clamp crossed": lambda t: gradient(t, lambda x: x.clamp(3, 1), [0.0, 2.0, 4.0]),
    "clamp without bounds": lambda t: t.clamp(t.tensor([1.0])),
    "clamp by both kinds": lambda t: t.clamp(t.tensor([1.0]), t.tensor([0.0]), 2),
    "clamp of ints": lambda t: t.clamp(t.tensor([1, 5]), 2, 4),
    "clamp of ints by floats": lambda t: t.clamp(t.tensor([1, 5]), 2.5),
    "clamp of bools": lambda t: t.clamp(t.tensor([True, False]), 0, 1),
    "clamp of complex": lambda t: t.clamp(t.tensor([1j]), 0),
    "clamp_": lambda t: gradient(t, lambda x: (x * 1).clamp_(0, 1), [-1.0, 0.5, 2.0]),
    "clip": lambda t: gradient(t, lambda x: t.clip(x, 0, 1), [-1.0, 0.0, 0.5, 2.0]),
    "clip method": lambda t: t.tensor([1, 5]).clip(max=3),
    "clamp_min of tensors": lambda t: gradient(
        t, lambda x: t.clamp_min(x, t.tensor([1.0, 1.0])), [0.0, 1.0]
    ),
    "relu": lambda t: gradient(t, lambda x: x.relu(), [-1.0, 0.0, 1.0, NAN]),
    "relu_": lambda t: gradient(t, lambda x: t.relu_(x * 1), [-1.0, 0.0, 1.0]),
    "saturated sigmoid": lambda t: gradient(t, t.sigmoid, [-100.0, -20.0, 20.0, 100.0]),
    "sqrt at 0": lambda t: gradient(t, t.sqrt, [0.0, 4.0, -1.0]),
    "log at 0": lambda t: gradient(t, t.log, [0.0, 1.0, -1.0]),
    "reciprocal at 0": lambda t: gradient(t, t.reciprocal, [0.0, 2.0]),
    "1 over 0": lambda t: gradient(t, lambda x: 1 / x, [0.0, 2.0]),
    "abs and sign of NaN": lambda t: [gradient(t, t.abs, [NAN, -0.0]), t.sign(t.tensor([NAN]))],
    "rounding": lambda t: t.round(t.tensor([0.5, 1.5, 2.5, -1.25])),
    "rounding to decimals": lambda t: gradient(
        t, lambda x: t.round(x, decimals=1), [1.26, -1.24, 0.0]
    ),
    "rounding to tens": lambda t: t.round(t.tensor([125.0, -135.0]), decimals=-1),
    "rounding whole numbers": lambda t: t.round(t.tensor([1]), decimals=1),
    "logit with eps": lambda t: gradient(
        t, lambda x: t.logit(x, eps=0.1), [0.0, 0.1, 0.5, 0.95, 2.0]
    ),
    "logit": lambda t: gradient(t, t.special.logit, [0.0, 0.5, 1.0, 2.0]),
    "nan_to_num": lambda t: gradient(t, t.nan_to_num, [NAN, INF, -INF, 1.0]),
    "nan_to_num with numbers": lambda t: gradient(
        t, lambda x: x.nan_to_num(1.0, posinf=2.0, neginf=3.0), [NAN, INF, -INF, 1.0]
    ),
    "nan_to_num of complex": lambda t: t.nan_to_num(t.tensor([complex(NAN, 1)])),
    "mvlgamma": lambda t: gradient(t, lambda x: t.mvlgamma(x, 2), [2.0, 3.5]),
    "multigammaln": lambda t: t.special.multigammaln(t.tensor([2.0, 3.5]), p=3),
    "mvlgamma without dimensions": lambda t: t.mvlgamma(t.tensor([2.0]), 0),
    "polygamma": lambda t: gradient(t, lambda x: t.polygamma(1, x), [0.5, 2.0]),
    "polygamma of 0": lambda t: t.special.polygamma(0, t.tensor([0.5, 2.0])),
    "polygamma below 0": lambda t: t.polygamma(-1, t.tensor([0.5])),
    "polygamma between": lambda t: t.polygamma(1.5, t.tensor([0.5])),
    "ldexp": lambda t: gradient(t, lambda x: x.ldexp(t.tensor([1, 2])), [1.5, -2.0]),
    "heaviside": lambda t: t.heaviside(t.tensor([-1.0, 0.0, 2.0, NAN]), t.tensor(0.5)),
    "heaviside backward": lambda t: gradient(t, lambda x: t.heaviside(x, x), [1.0]),
    "heaviside of two dtypes": lambda t: t.heaviside(t.tensor([1.0]), t.tensor([1])),
    "lerp": lambda t: gradient(t, lambda x: t.lerp(x, x * x, 0.3), [1.0, 2.0]),
    "lerp by tensors": lambda t: gradient(
        t, lambda x: x.lerp(t.tensor([5.0, 6.0]), t.tensor([0.1, 0.9])), [1.0, 2.0]
    ),
    "lerp in its weight": lambda t: gradient(
        t, lambda w: t.lerp(t.tensor([1.0, 2.0]), t.tensor([5.0, 6.0]), w), [0.1, 0.9]
    ),
    "lerp_": lambda t: gradient(
        t, lambda x: (x * 1).lerp_(t.tensor([5.0, 6.0]), 0.5), [1.0, 2.0]
    ),
    "lerp of ints": lambda t: t.lerp(t.tensor([1]), t.tensor([2]), 0.5),
    "lerp of two dtypes": lambda t: t.lerp(t.tensor([1.0]), t.tensor([2.0]).double(), 0.5),
    "lerp to a number": lambda t: t.lerp(t.tensor([1.0]), 2.0, 0.5),
    "addcmul": lambda t: gradient(t, lambda x: t.addcmul(x, x, x * x, value=0.5), [1.0, 2.0]),
    "addcdiv": lambda t: gradient(t, lambda x: t.addcdiv(x, x, x + 1, value=2), [1.0, 2.0]),
    "addcmul_": lambda t: gradient(
        t, lambda x: (x * 1).addcmul_(x, t.tensor([3.0, 4.0])), [1.0, 2.0]
    ),
    "addcdiv_ in the old order": lambda t: t.tensor([1.0]).addcdiv_(
        2, t.tensor([3.0]), t.tensor([4.0])
    ),
    "addcmul of ints": lambda t: t.addcmul(t.tensor([1]), t.tensor([2]), t.tensor([3]), value=2),
    "addcdiv of ints": lambda t: t.addcdiv(t.tensor([1.0]), t.tensor([2]), t.tensor([3])),
    "addcmul of numbers": lambda t: t.addcmul(t.tensor([1.0]), t.tensor([2.0]), 3.0),
    "xlogy of numbers": lambda t: [
        gradient(t, lambda x: t.xlogy(x, 2), [0.0, 1.0]),
        gradient(t, lambda x: t.xlogy(2, x), [0.5, 1.0]),
    ],
    "fmod": lambda t: gradient(t, lambda x: t.fmod(x, 2), [5.5, -5.5]),
    "fmod of tensors": lambda t: gradient(t, lambda x: t.fmod(t.tensor(5.5), x), [2.0, -1.5]),
    "copysign of a number": lambda t: gradient(t, lambda x: x.copysign(-0.0), [1.0, 0.0]),
    "angle": lambda t: t.angle(t.tensor([-1.0, 0.0, -0.0, 2.0, NAN])),
    "signbit": lambda t: t.signbit(t.tensor([-0.0, 1.0, -2.0])),
    "isreal": lambda t: t.isreal(t.tensor([1 + 0j, 1j])),
    "isinf of infinities": lambda t: [
        getattr(t, name)(t.tensor([INF, -INF, NAN, 1.0]))
        for name in ("isinf", "isposinf", "isneginf", "isfinite", "isnan")
    ],
    "igamma": lambda t: gradient(t, lambda x: t.igamma(t.tensor([0.5, 2.0]), x), [0.5, 3.0]),
    "igammac": lambda t: gradient(
        t, lambda x: t.special.gammaincc(t.tensor([0.5, 2.0]), x), [0.5, 3.0]
    ),
    "igamma of ints": lambda t: t.igamma(t.tensor([1]), t.tensor([2])),
    "logaddexp of infinities": lambda t: t.logaddexp(t.tensor([-INF, 1.0]), t.tensor([-INF, INF])),
    "complex product": lambda t: orders_of_complex(t, lambda z: z * z.conj()),
    "complex quotient": lambda t: orders_of_complex(t, lambda z: 1 / z),
    "complex exp": lambda t: orders_of_complex(t, lambda z: t.exp(z) * 1j),
    "complex abs": lambda t: orders_of_complex(t, lambda z: z.abs()),
    "complex abs at 0": lambda t: gradient_of_complex(t, t.abs),
    "complex sgn": lambda t: gradient_of_complex(t, t.sgn),
    "complex angle": lambda t: orders_of_complex(t, t.angle),
    "complex sigmoid": lambda t: orders_of_complex(t, t.sigmoid),
    "complex square": lambda t: orders_of_complex(t, t.square),
    "real and complex": lambda t: gradient(t, lambda x: (x * 1j).abs(), [1.0, -2.0]),
    "float and complex number": lambda t: t.tensor([1.0]) + 2j,
    "double and complex number": lambda t: t.tensor([1.0], dtype=t.float64) + 2j,
    "default dtype": lambda t: (
        t.set_default_dtype(t.float64), t.tensor([1]) / 2, t.sin(t.tensor([1])),
        t.tensor([1]) + 0.5,
    )[1:],
    "no_grad": lambda t: [under_no_grad(t, lambda x: x.mul_(2).add_(1))],
    "twice through add": lambda t: twice(t, lambda x: x + 1),
    "twice through mul": lambda t: twice(t, lambda x: x * 2),
    "twice through exp": lambda t: twice(t, t.exp),
    "several uses": lambda t: gradient(t, lambda x: (x * x + 3 * x - x / 2) ** 2, [1.0, 2.0]),
}  # fmt: skip


def orders_of_complex(torch: Any, function: Callable[[Any], Any]) -> Any:
    """Return a function of complex numbers, and its derivatives."""
    z = leaf(torch, [1 + 2j, -0.5 + 0.3j], "complex64")
    return orders(torch, function(z), z)


def gradient_of_complex(torch: Any, function: Callable[[Any], Any]) -> Any:
    """Return a function of complex numbers, also at 0, and its gradient."""
    z = leaf(torch, [1 + 2j, 0j], "complex64")
    y = function(z)
    return torch.autograd.grad(y, z, torch.ones_like(y))


def under_no_grad(torch: Any, function: Callable[[Any], Any]) -> Any:
    """Return a leaf that was changed where nothing is recorded."""
    x = leaf(torch, [1.0, 2.0])
    with torch.no_grad():
        function(x)
    return x


def twice(torch: Any, function: Callable[[Any], Any]) -> Any:
    """Return the gradient that two sweeps add up, if a second one can be."""
    x = leaf(torch, [1.0])
    y = function(x)
    y.backward(torch.ones_like(y))
    y.backward(torch.ones_like(y))
    return x.grad


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
def test_programs(program: Program) -> None:
    compare(program)
