"""Bessel functions and the Airy function."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from wengert.engine.tensor import Tensor
from wengert.errors import DtypeError
from wengert.ops.checks import real
from wengert.ops.families import Domain, Operation, Rule, sample
from wengert.ops.special.declare import POSITIVE, WIDE, ones_where, real_function

_KINDS = {
    "i": "modified Bessel function of the first kind",
    "j": "Bessel function of the first kind",
    "k": "modified Bessel function of the second kind",
    "y": "Bessel function of the second kind",
}
_SCALES = {"i": "exp(-abs(x)) times the ", "k": "exp(x) times the "}


def _bessel(
    name: str, rule: Rule, domain: Domain = WIDE, at_one: float | None = None
) -> Operation[Tensor]:
    """Declare a Bessel function; its name is its letter, its order, and "e" if it is scaled."""
    scale = _SCALES[name[0]] if name.endswith("e") else "the "
    example = "" if at_one is None else f" `wg.special.{name}(1.0)` is `{at_one}`."
    doc = f"Return {scale}{_KINDS[name[0]]} of order {name[1]}.{example}"
    return real_function(name, rule, domain=domain, doc=doc)


def _over_x(xp: Any, y: Any, x: Any, at_zero: float) -> Any:
    """Return y / x, and its limit where x is 0."""
    zero = x == 0
    return xp.where(zero, xp.full_like(x, at_zero), y / ones_where(xp, zero, x))


i0 = _bessel("i0", lambda xp, g, x: g * xp.special.i1(x), at_one=1.26607)
i1 = _bessel(
    "i1", lambda xp, g, x: g * ((xp.special.i0(x) + xp.special.iv(2, x)) / 2), at_one=0.565159
)
i0e = _bessel("i0e", lambda xp, g, x, y: g * (xp.special.i1e(x) - xp.sign(x) * y), at_one=0.465760)
i1e = _bessel(
    "i1e",
    lambda xp, g, x, y: g * ((xp.special.i0e(x) + xp.special.ive(2, x)) / 2 - xp.sign(x) * y),
    at_one=0.207910,
)
j0 = _bessel("j0", lambda xp, g, x: -g * xp.special.j1(x), at_one=0.765198)
j1 = _bessel(
    "j1", lambda xp, g, x, y: g * (xp.special.j0(x) - _over_x(xp, y, x, 0.5)), at_one=0.440051
)
y0 = _bessel("y0", lambda xp, g, x: -g * xp.special.y1(x), POSITIVE, at_one=0.0882570)
y1 = _bessel("y1", lambda xp, g, x, y: g * (xp.special.y0(x) - y / x), POSITIVE, at_one=-0.781213)
k0 = _bessel("k0", lambda xp, g, x: -g * xp.special.k1(x), POSITIVE)
k1 = _bessel("k1", lambda xp, g, x, y: -g * (xp.special.k0(x) + y / x), POSITIVE)
k0e = _bessel("k0e", lambda xp, g, x, y: g * (y - xp.special.k1e(x)), POSITIVE)
k1e = _bessel("k1e", lambda xp, g, x, y: g * (y - xp.special.k0e(x) - y / x), POSITIVE)


def _of_order(
    name: str, rule: Rule, orders: tuple[float, ...] = (0.0, 1.5, 2.0, 1.0)
) -> Operation[Tensor]:
    """Declare a Bessel function whose order v is a parameter."""
    return real_function(
        name,
        rule,
        compute=lambda xp, x, v: getattr(xp.special, name)(v, x),
        params=("v",),
        samples=[
            sample(shape, v=v) for shape, v in zip(((2, 3), (3,), (), (0, 2)), orders, strict=True)
        ],
        domain=POSITIVE,
    )


_iv = _of_order(
    "iv", lambda xp, g, x, v: g * ((xp.special.iv(v - 1, x) + xp.special.iv(v + 1, x)) / 2)
)
_ive = _of_order(
    "ive",
    lambda xp, g, x, y, v: (
        g * ((xp.special.ive(v - 1, x) + xp.special.ive(v + 1, x)) / 2 - xp.sign(x) * y)
    ),
)


_jv = _of_order(
    "jv", lambda xp, g, x, v: g * ((xp.special.jv(v - 1, x) - xp.special.jv(v + 1, x)) / 2)
)
_yn = _of_order(
    "yn",
    lambda xp, g, x, v: g * ((xp.special.yn(v - 1, x) - xp.special.yn(v + 1, x)) / 2),
    orders=(0, 3, 2, 1),
)


def _order(v: Any, name: str) -> float:
    try:
        return operator.index(v)
    except TypeError:
        if isinstance(v, (float, np.floating)):
            return float(v)
    raise DtypeError(
        f"{name}: the order v is {type(v).__name__} {v!r}; expected one Python number: there is no "
        "derivative with respect to it"
    )


def iv(v: float, x: Any, /) -> Tensor:
    """Return the modified Bessel function of the first kind, of one real order v.

    `wg.special.iv(0.5, 1.0)` is `0.937675`.
    """
    return _iv(real(x, "iv"), v=_order(v, "iv"))


def ive(v: float, x: Any, /) -> Tensor:
    """Return exp(-abs(x)) iv(v, x), without overflow. `wg.special.ive(0.5, 1e3)` is `0.0126157`."""
    return _ive(real(x, "ive"), v=_order(v, "ive"))


def jv(v: float, x: Any, /) -> Tensor:
    """Return the Bessel function of the first kind, of one real order v; it is `jn`, too.

    `[wg.special.jv(0.5, 1.0), wg.special.jn(2, 1.0)]` is `[0.671397, 0.114903]`.
    """
    return _jv(real(x, "jv"), v=_order(v, "jv"))


jn = jv


def yn(n: int, x: Any, /) -> Tensor:
    """Return the Bessel function of the second kind, of one integer order n.

    `wg.special.yn(2, 1.0)` is `-1.65068`.
    """
    order = _order(n, "yn")
    if order != int(order):
        raise DtypeError(f"yn: the order n is {n!r}; expected one integer, such as 2")
    return _yn(real(x, "yn"), v=int(order))


airy_ai = real_function(
    "airy_ai",
    lambda xp, g, x: g * xp.special.airy_ai_derivative(x),
    domain=WIDE,
    doc="Return the Airy function Ai.",
)
airy_ai_derivative = real_function(
    "airy_ai_derivative",
    lambda xp, g, x: g * (x * xp.special.airy_ai(x)),
    domain=WIDE,
)

__all__ = [
    "airy_ai", "airy_ai_derivative", "i0", "i0e", "i1", "i1e", "iv", "ive", "j0", "j1", "jn", "jv",
    "k0", "k0e", "k1", "k1e", "y0", "y1", "yn",
]  # fmt: skip
