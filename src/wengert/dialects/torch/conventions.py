"""Operations with PyTorch's choices where mathematics leaves one: at kinks, ties and zeros.

Operations whose derivative is zero wherever there is one (floor, sign) give zeros in PyTorch, where
Wengert has no path.
"""

from __future__ import annotations

from typing import Any

from wengert.dialects.rules import with_rules
from wengert.ops import elementwise


def _none(xp: Any, g: Any) -> Any:
    return xp.zeros_like(g)


def flat(function: Any) -> Any:
    """Return an operation of one tensor whose derivative is zero."""
    return with_rules(function, _none)


def _where_zero(xp: Any, condition: Any, y: Any) -> Any:
    return xp.where(condition, xp.zeros_like(y), y)


#: x ** y: its derivative in x is 0 where y is 0; in y it is 0 where x is 0 and y is not negative.
power = with_rules(
    elementwise.pow_,
    lambda xp, g, x1, x2: _where_zero(
        xp, xp.broadcast_to(x2 == 0, g.shape), g * xp.conj(x2 * xp.pow(x1, x2 - 1))
    ),
    lambda xp, g, y, x1, x2: _where_zero(
        xp, xp.logical_and(x1 == 0, xp.real(x2) >= 0), g * xp.conj(y * xp.log(x1))
    ),
)
floor_divide = with_rules(elementwise.floor_divide, None, None)
truncated_divide = with_rules(
    elementwise.divide,
    _none,
    _none,
    compute=lambda xp, x1, x2: xp.astype(xp.trunc(x1 / x2), x1.dtype),
)
