"""What the functions for networks share: checks of arguments, and how losses are reduced."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.errors import DtypeError
from wengert.engine.tensor import Tensor
from wengert.ops import elementwise as ew
from wengert.ops import reductions, shapes
from wengert.ops.batching import all_values, rebatched
from wengert.ops.checks import check_option, misfit
from wengert.ops.families import elementwise

#: An elementwise operation of real numbers.
real_elementwise = partial(elementwise, kinds="f")
REDUCTIONS = ("mean", "sum", "none")


def real(x: Any, name: str, what: str = "x") -> Tensor:
    """Return an argument as a tensor of real numbers; integers become floating."""
    x = shapes.tensor(x, name)
    kind = backends.kind_of(x.dtype)
    if kind == "f":
        return x
    if kind not in "biu":
        raise DtypeError(f"{name}: {what} has dtype {x.dtype}; expected real numbers")
    xp: Any = backends.namespace_of(x._raw)
    return ew.astype(x, xp.float64)


def inexact(x: Any, name: str) -> Tensor:
    """Return an argument as a tensor of floating or complex numbers; integers become floating."""
    x = shapes.tensor(x, name)
    if backends.is_inexact(x.dtype):
        return x
    return ew.astype(x, backends.namespace_of(x._raw).float64)


def integers(indices: Any, name: str, what: str) -> Any:
    """Return indices as a NumPy array of integers that nobody else can write to.

    Those that differ between the examples of a vmap are a `Batched` of such an array.
    """
    where = indices if type(indices) is np.ndarray else shapes.tensor(indices, what)._raw
    if backends.kind_of(where.dtype) not in "iu":
        raise DtypeError(
            f"{name}: {what} of {where.dtype}; expected integers (astype makes them, or argmax)"
        )
    return rebatched(all_values(where).astype(np.intp), where)


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
