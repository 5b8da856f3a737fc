"""NumPy's choices between values on tensors: where, select, choose, piecewise, and interp.

`functions` says how these are called.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.engine.batching import Batched
from wengert.ops import batching
from wengert.ops.checks import check_option, misfit
from wengert.ops.numpy.shapes import flat
from wengert.ops.numpy.ufuncs import Function, by_name, double, floating, in_line, is_tensor, wg
from wengert.ops.shapes import tensor


def _where(condition: Any, /, *choices: Any) -> Any:
    if len(choices) == 1:
        raise ValueError("np.where: got one choice; expected two, or none for np.nonzero")
    return wg.where(condition, *choices) if choices else wg.nonzero(condition)


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    y = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        y = wg.where(condition, choice, y)
    return y


def _choose(a: Any, choices: Any, mode: str = "raise") -> Any:
    check_option("np.choose", "mode", mode, ("raise", "wrap", "clip"))
    a, *parts = wg.broadcast_arrays(tensor(a, "choose"), *(tensor(c, "choose") for c in choices))
    count = len(parts)
    if mode == "raise":
        chosen = batching.all_values(a._raw)
        if not np.all((chosen >= 0) & (chosen < count)):
            raise ValueError(
                f"np.choose: {count} choices, and a number that is not from 0 to {count - 1}; "
                "write mode='wrap' or mode='clip' if that is meant"
            )
    a = in_line(lambda v: v % count if mode == "wrap" else np.clip(v, 0, count - 1), a)
    return wg.take_along_axis(wg.stack(parts), wg.expand_dims(a, axis=0), axis=0)[0]


# -- piecewise --------------------------------------------------------------------------------


def _piecewise(x: Any, condlist: Any, funclist: Any, /, *args: Any, **kw: Any) -> Any:
    x = tensor(x, "piecewise")
    conditions = _conditions(x, condlist)
    pieces = list(funclist)
    if len(pieces) == len(conditions) + 1:  # the last one is for the rest
        covered = conditions[0]
        for condition in conditions[1:]:
            covered = wg.logical_or(covered, condition)
        conditions.append(wg.logical_not(covered))
    if len(pieces) != len(conditions):
        raise ValueError(
            f"np.piecewise: {len(pieces)} functions for {len(conditions)} conditions; give one for "
            "each, or one more for the rest"
        )
    line = flat(x)
    y = wg.zeros_like(line)
    for condition, piece in zip(conditions, pieces, strict=True):
        mask = flat(wg.broadcast_to(condition, x.shape))
        if type(mask._raw) is Batched:  # each example has elements of its own
            part = piece(line, *args, **kw) if callable(piece) else piece
            y = wg.where(mask, wg.astype(tensor(part, "piecewise"), x.dtype), y)
        elif not callable(piece):
            y = wg.where(mask, wg.astype(tensor(piece, "piecewise"), x.dtype), y)
        elif bool(wg.any(mask)):  # as NumPy does: a function may not like to have nothing
            part = tensor(piece(line[mask], *args, **kw), "piecewise")
            y = y.at[mask].set(wg.astype(part, x.dtype))
    return wg.reshape(y, x.shape)


def _conditions(x: Any, condlist: Any) -> list[Any]:
    """Return the conditions; one that is not in a list stands for itself."""
    if is_tensor(condlist) or isinstance(condlist, np.ndarray):
        several = condlist.ndim > (1 if x.ndim else 0)
    else:
        first = condlist[0] if isinstance(condlist, (list, tuple)) and condlist else condlist
        several = x.ndim == 0 or is_tensor(first) or isinstance(first, (list, np.ndarray))
    return [tensor(c, "piecewise") != 0 for c in (condlist if several else [condlist])]


# -- interp -----------------------------------------------------------------------------------


def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """Return values on the line through points. At a point the slope is that to the right."""
    x, xp, fp = (double(floating(part)) for part in (x, xp, fp))  # as NumPy computes it
    if xp.ndim != 1 or fp.shape != xp.shape or not xp.size:
        raise misfit("np.interp", "two of one length, and at least one point", xp=xp, fp=fp)
    if period is not None:
        left = right = None
        x, xp, fp = _unrolled(x, xp, fp, period)
    last = xp.shape[0] - 1
    where = wg.searchsorted(xp, x, side="right")
    i = in_line(lambda v: np.clip(v - 1, 0, max(last - 1, 0)), where)
    j = in_line(lambda v: np.minimum(v + 1, last), i)
    x0, x1, y0, y1 = (wg.take(part, k, axis=0) for part in (xp, fp) for k in (i, j))
    y = y0 + (y1 - y0) / (x1 - x0) * (x - x0) if last else y0 + 0 * x
    y = wg.where(x >= xp[-1], fp[-1], y)
    y = wg.where(x > xp[-1], fp[-1] if right is None else right, y)
    y = wg.where(x < xp[0], fp[0] if left is None else left, y)
    return wg.where(wg.isnan(x), x, y)


def _unrolled(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """Return points of a periodic function in one period, and one more at each of its ends."""
    period = wg.abs(double(floating(period)))
    if np.any(batching.all_values(period._raw) == 0):
        raise ValueError("np.interp: period is 0; leave it out for a function without one")
    x, xp = wg.remainder(x, period), wg.remainder(xp, period)
    order = wg.argsort(xp)
    xp, fp = wg.take(xp, order, axis=0), wg.take(fp, order, axis=0)
    xp = wg.concat([xp[-1:] - period, xp, xp[:1] + period])
    return x, xp, wg.concat([fp[-1:], fp, fp[:1]])


FUNCTIONS: dict[str, Function] = {
    **by_name(_choose, _interp, _piecewise, _select, _where),
}
