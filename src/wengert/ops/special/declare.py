"""How special functions are declared: on real numbers, and with derivatives of every order."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from wengert.engine.tensor import Tensor
from wengert.ops.families import ANYWHERE, Domain, Operation, Rule, elementwise, sample

WIDE: Domain = (-3.0, 3.0)
POSITIVE: Domain = (0.3, 3.0)
UNIT: Domain = (0.1, 0.9)


def ones_where(xp: Any, mask: Any, x: Any) -> Any:
    """Return x with 1 where the mask holds, so that a logarithm or a quotient has a value."""
    return xp.where(mask, xp.ones_like(x), x)


def real_function(name: str, *rules: Rule | None, **how: Any) -> Operation[Tensor]:
    """Declare ``special.name`` on real numbers, as `elementwise` does."""
    return elementwise(f"special.{name}", *rules, kinds="f", **how)


def with_derivatives(
    name: str,
    orders: Sequence[int] = (1, 2),
    *,
    doc: str,
    domain: Domain = ANYWHERE,
    beyond: Domain = ANYWHERE,
    kinds: str = "f",
    rounding: float = 10.0,
) -> tuple[Operation[Tensor], Operation[Tensor]]:
    """Declare ``special.name``, and its derivatives as an operation with the parameter `order`.

    Tests compare derivatives of some `orders` with formulas, on numbers from `beyond`, where these
    do not cancel too much.
    """
    full = f"{name}_derivative"
    chosen = zip(((2, 3), (), (3,), (0, 2)), itertools.cycle(orders), strict=False)
    function = elementwise(
        f"special.{name}",
        lambda xp, g, x: g * getattr(xp.special, full)(x, order=1),
        domain=domain,
        kinds=kinds,
        doc=doc,
    )
    return function, elementwise(
        f"special.{full}",
        lambda xp, g, x, order: g * getattr(xp.special, full)(x, order=order + 1),
        params=("order",),
        samples=[sample(shape, order=order) for shape, order in chosen],
        domain=beyond,
        kinds=kinds,
        rounding=rounding,
    )
