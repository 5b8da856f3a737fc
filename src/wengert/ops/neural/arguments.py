"""What the functions for networks share: checks of arguments, and how losses are reduced."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from wengert.engine.tensor import Tensor
from wengert.ops import reductions
from wengert.ops.checks import check_option, misfit
from wengert.ops.families import elementwise

#: An elementwise operation of real numbers.
real_elementwise = partial(elementwise, kinds="f")
REDUCTIONS = ("mean", "sum", "none")


def number(value: Any, name: str, what: str, low: float, high: float = math.inf) -> float:
    """Return a Python number, which must be from `low` on and below `high`."""
    value = float(value)
    if not low <= value < high:
        bounds = f"at least {low:g}" + (f" and below {high:g}" if high < math.inf else "")
        raise ValueError(f"{name}: {what} is {value:g}; expected {bounds}")
    return value


def positive(value: Any, name: str, what: str) -> float:
    """Return a Python number, which must be above 0."""
    value = float(value)
    if not 0 < value < math.inf:
        raise ValueError(f"{name}: {what} is {value:g}; expected a number above 0")
    return value


def same_shapes(name: str, **arrays: Any) -> None:
    """Raise unless all arrays have one shape; broadcasting would hide a mistake in a loss."""
    if len({x.shape for x in arrays.values()}) > 1:
        raise misfit(name, "equal shapes (wg.reshape or wg.broadcast_to makes them so)", **arrays)


def check_reduction(reduction: str, name: str) -> None:
    """Raise unless losses can be reduced by this name."""
    if reduction not in REDUCTIONS:
        check_option(name, "reduction", reduction, REDUCTIONS)


def reduced(losses: Any, reduction: str, name: str) -> Tensor:
    """Return the mean or the sum of losses, or the losses themselves."""
    check_reduction(reduction, name)
    if reduction == "none":
        return losses
    return reductions.mean(losses) if reduction == "mean" else reductions.sum(losses)
