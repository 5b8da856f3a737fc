"""torch.special: functions with names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.rules import operation
from wengert.dialects.torch import conventions
from wengert.dialects.torch.math import with_numbers
from wengert.dialects.torch.operators import one
from wengert.dialects.torch.table import NAMES, put
from wengert.ops import special

#: Functions with derivatives: Wengert's operation, and PyTorch's name of the entry.
_SMOOTH = {
    "entr": (special.entr, "SpecialEntrBackward0"),
    "erfcx": (special.erfcx, "SpecialErfcxBackward0"),
    "i0e": (special.i0e, "SpecialI0EBackward0"),
    "i1": (special.i1, "SpecialI1Backward0"),
    "i1e": (special.i1e, "SpecialI1EBackward0"),
    "log_ndtr": (special.log_ndtr, "SpecialLogNdtrBackward0"),
    "ndtr": (special.ndtr, "MulBackward1"),
    "ndtri": (special.ndtri, "SpecialNdtriBackward0"),
}
for _name, (_operation, _label) in _SMOOTH.items():
    one((f"special.{_name}",), _operation, _label, kinds="biuf")

#: Functions for which PyTorch has no derivative: their results require no gradients.
_CONSTANT: dict[str, Callable[[Any, Any], Any]] = {
    "airy_ai": lambda xp, x: xp.special.airy(x)[0],
    "bessel_j0": lambda xp, x: xp.special.j0(x),
    "bessel_j1": lambda xp, x: xp.special.j1(x),
    "bessel_y0": lambda xp, x: xp.special.y0(x),
    "bessel_y1": lambda xp, x: xp.special.y1(x),
    "modified_bessel_i0": lambda xp, x: xp.special.i0(x),
    "modified_bessel_i1": lambda xp, x: xp.special.i1(x),
    "modified_bessel_k0": lambda xp, x: xp.special.k0(x),
    "modified_bessel_k1": lambda xp, x: xp.special.k1(x),
    "scaled_modified_bessel_k0": lambda xp, x: xp.special.k0e(x),
    "scaled_modified_bessel_k1": lambda xp, x: xp.special.k1e(x),
    "spherical_bessel_j0": lambda xp, x: xp.special.spherical_jn(0, x).astype(x.dtype),
}
for _name, _values in _CONSTANT.items():
    one((f"special.{_name}",), operation(f"special.{_name}", None, compute=_values), kinds="biuf")


# -- polynomials -----------------------------------------------------------------------------------

Step = Callable[[Any, Any, Any, int], Any]
Values = Callable[[Any, Any, Any], Any]


def _polynomial(first: Callable[[Any], Any], step: Step) -> Values:
    """Return values of polynomials of NumPy arrays x and degrees n by a recurrence.

    ``first(x)`` is the polynomial of degree 1; ``step(x, p, q, k)`` is the one of degree k + 1, of
    those of degrees k and k - 1.
    """

    def values(xp: Any, x: Any, n: Any) -> Any:
        x, degrees = np.broadcast_arrays(x, np.trunc(n))
        before, now = np.ones_like(x), first(x)
        y = np.where(degrees == 0, before, np.where(degrees == 1, now, np.zeros_like(x)))
        most = int(np.max(degrees[np.isfinite(degrees)], initial=0))
        for k in range(1, most):
            before, now = now, step(x, now, before, k)
            y = np.where(degrees == k + 1, now, y)
        return y.astype(x.dtype)

    return values


def _chebyshev(x: Any, p: Any, q: Any, k: int) -> Any:
    return 2 * x * p - q


_CHEBYSHEV: dict[str, Callable[[Any], Any]] = {
    "t": lambda x: x,
    "u": lambda x: 2 * x,
    "v": lambda x: 2 * x - 1,
    "w": lambda x: 2 * x + 1,
}
_POLYNOMIALS = {
    "hermite_polynomial_h": _polynomial(lambda x: 2 * x, lambda x, p, q, k: 2 * x * p - 2 * k * q),
    "hermite_polynomial_he": _polynomial(lambda x: x, lambda x, p, q, k: x * p - k * q),
    "laguerre_polynomial_l": _polynomial(
        lambda x: 1 - x, lambda x, p, q, k: ((2 * k + 1 - x) * p - k * q) / (k + 1)
    ),
    "legendre_polynomial_p": _polynomial(
        lambda x: x, lambda x, p, q, k: ((2 * k + 1) * x * p - k * q) / (k + 1)
    ),
}


def _shifted(values: Values) -> Values:
    """Return polynomials of 2 x - 1."""
    return lambda xp, x, n: values(xp, 2 * x - 1, n)


for _letter, _first in _CHEBYSHEV.items():
    _POLYNOMIALS[f"chebyshev_polynomial_{_letter}"] = _polynomial(_first, _chebyshev)
    _POLYNOMIALS[f"shifted_chebyshev_polynomial_{_letter}"] = _shifted(
        _polynomial(_first, _chebyshev)
    )
for _name, _of_degree in _POLYNOMIALS.items():
    with_numbers(
        (f"special.{_name}",),
        operation(f"special.{_name}", None, None, compute=_of_degree),
        ("", "", ""),
        floating=True,
    )

# -- two tensors -----------------------------------------------------------------------------------

with_numbers(
    ("special.xlog1py",),
    conventions.xlog1py,
    tuple(f"SpecialXlog1PyBackward{k}" for k in (0, 2, 1)),
    floating=True,
)
with_numbers(
    ("special.zeta",),
    special._zeta,
    tuple(f"SpecialZetaBackward{k}" for k in (0, 2, 1)),
    floating=True,
)


# -- along an axis ---------------------------------------------------------------------------------


def _elsewhere(name: str) -> Any:
    """Return a function that another module offers, under its name there."""

    def call(*args: Any, **options: Any) -> Any:
        if name not in NAMES:
            from wengert.dialects.torch.front import facade

            facade.look_up(name)
        return NAMES[name](*args, **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return torch.{name} of the arguments."
    return call


for _name in ("softmax", "log_softmax", "logsumexp"):
    put((f"special.{_name}",), _elsewhere(_name))
