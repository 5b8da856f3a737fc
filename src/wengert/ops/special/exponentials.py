"""softmax, logsumexp and their logarithms."""

from __future__ import annotations

import math
from typing import Any, Never

import numpy as np

from wengert import backends
from wengert.engine.batching import Level
from wengert.engine.op import Op
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import batching, creation, shapes
from wengert.ops import elementwise as ew
from wengert.ops.checks import real
from wengert.ops.families import Operation, Rule, joint, linewise, reduction, sample
from wengert.ops.families import axes as normalised
from wengert.ops.special.declare import POSITIVE, ones_where
from wengert.other_names import answers, unexpected


def _shifted(xp: Any, x: Any, axis: tuple[int, ...]) -> Any:
    """Return x less its largest element over the axes, as a new array."""
    return xp.asarray(x - xp.max(x, axis=axis, keepdims=True))


def _softmax_values(xp: Any, x: Any, axis: tuple[int, ...]) -> Any:
    if 0 in x.shape:
        return +x
    y = _shifted(xp, x, axis)
    if xp is backends.NUMPY:  # nobody else has seen y
        np.exp(y, out=y)
        y /= xp.sum(y, axis=axis, keepdims=True)
        return y
    y = xp.exp(y)
    return y / xp.sum(y, axis=axis, keepdims=True)


def _log_softmax_values(xp: Any, x: Any, axis: tuple[int, ...]) -> Any:
    if 0 in x.shape:
        return +x
    y = _shifted(xp, x, axis)
    if xp is backends.NUMPY:
        y -= np.log(xp.sum(np.exp(y), axis=axis, keepdims=True))
        return y
    return y - xp.log(xp.sum(xp.exp(y), axis=axis, keepdims=True))


def _softmax_rule(xp: Any, g: Any, y: Any, axis: tuple[int, ...]) -> Any:
    part = g * y
    return part - y * xp.sum(part, axis=axis, keepdims=True)


_ROWS = [
    sample((2, 3), axis=(1,)),
    sample((3, 2, 2), axis=(0, 2)),
    sample((4,), axis=(0,)),
    sample((), axis=()),
    sample((0, 2), axis=(0,)),
    sample((2, 0), axis=(0,)),
]


def _on_lines(name: str, rule: Rule, compute: Any) -> Operation[Tensor]:
    full = f"special.{name}"
    return linewise(full, rule, params=("axis",), compute=compute, samples=_ROWS, kinds="f")


_softmax = _on_lines("softmax", _softmax_rule, _softmax_values)
_log_softmax = _on_lines(
    "log_softmax",
    lambda xp, g, y, axis: g - xp.exp(y) * xp.sum(g, axis=axis, keepdims=True),
    _log_softmax_values,
)


def softmax(x: Any, /, *, axis: Any = None) -> Tensor:
    """Return exp(x) / sum(exp(x)) over `axis`: an axis, several, or all.

    `wg.special.softmax([0.0, 1.0])` is `[0.268941, 0.731059]`.
    """
    x = real(x, "softmax")
    return _softmax(x, axis=normalised(axis, x.ndim, "softmax"))


def log_softmax(x: Any, /, *, axis: Any = None) -> Tensor:
    """Return log(softmax(x)), stably. `wg.special.log_softmax([0.0, 1e3])` is `[-1000.0, 0.0]`."""
    x = real(x, "log_softmax")
    return _log_softmax(x, axis=normalised(axis, x.ndim, "log_softmax"))


def _finite_top(xp: Any, x: Any, axis: tuple[int, ...]) -> Any:
    """Return the largest element over the axes, and 0 where that is infinite."""
    top = xp.max(x, axis=axis, keepdims=True)
    return xp.where(xp.isfinite(top), top, xp.zeros_like(top))


def _log_of_size(xp: Any, total: Any) -> Any:
    """Return log(abs(total)), and without a warning -inf for 0."""
    nothing = total == 0
    y = xp.log(ones_where(xp, nothing, xp.abs(total)))
    return xp.where(nothing, xp.full_like(y, -math.inf), y)


def _logsumexp_values(xp: Any, x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    if any(x.shape[a] == 0 for a in axis):
        kept = tuple(1 if i in axis else n for i, n in enumerate(x.shape))
        y = xp.full(kept, -math.inf, dtype=x.dtype)
    else:
        top = _finite_top(xp, x, axis)
        y = _log_of_size(xp, xp.sum(_exp_of(xp, x - top), axis=axis, keepdims=True)) + top
    return y if keepdims else xp.squeeze(y, axis=axis)


def _exp_of(xp: Any, x: Any) -> Any:
    """Return exp(x) of what nobody else holds, so that NumPy may write to it."""
    return np.exp(x, out=x) if type(x) is np.ndarray else xp.exp(x)


def _shares(xp: Any, x: Any, y: Any, weight: Any, axis: tuple[int, ...]) -> Any:
    """Return exp(x - y); elements equal to an infinite y share it by their weights, or evenly."""
    if xp is backends.NUMPY and np.isfinite(y).all():  # a look at values stops a jit
        return _exp_of(xp, x - y)
    weight = xp.ones_like(x) if weight is None else weight
    known = (x == y) & xp.isinf(y)
    nothing = xp.zeros_like(x)
    share = xp.exp(xp.where(known, nothing, x) - xp.where(known, nothing, y))
    total = xp.sum(xp.where(known, weight, nothing), axis=axis, keepdims=True)
    return share / xp.where(known & (total != 0), total, xp.ones_like(x))


logsumexp_over = reduction(
    "special.logsumexp",
    lambda xp, g, x, y, axis: g * _shares(xp, x, y, None, axis),
    compute=_logsumexp_values,
    kinds="f",
    reference=lambda x, axis, keepdims: np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims)),
)


def _weighted_values(xp: Any, x: Any, b: Any, axis: tuple[int, ...]) -> tuple[Any, Any]:
    """Return log(abs(sum(b exp(x)))) and the sign of the sum, with the axes kept."""
    if 0 in x.shape:
        total = top = xp.sum(x, axis=axis, keepdims=True)
    else:
        unused = xp.full_like(x, -math.inf)
        x = xp.where(b == 0, unused, x)
        top = _finite_top(xp, x, axis)
        total = xp.sum(
            xp.where(b == 0, xp.zeros_like(x), b * xp.exp(x - top)), axis=axis, keepdims=True
        )
    return _log_of_size(xp, total) + top, xp.sign(total)


def _weighted_rule(xp: Any, g: Any, y: Any, x: Any, b: Any, axis: tuple[int, ...]) -> Any:
    size, sign = y
    part = g[0] * sign * _shares(xp, x, size, b * sign, axis)
    return part * b, part


def _weighted_batch(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    both = [batching.full(a, m, level) for a, m in zip(arrays, mapped, strict=True)]
    return batching.along_axes(op, level, both, (True, True), params)


_weighted = joint(
    "special.weighted_logsumexp",
    _weighted_rule,
    args=("x", "b"),
    params=("axis",),
    compute=_weighted_values,
    batch=_weighted_batch,
    kinds="f",
    samples=[
        sample((2, 3), (2, 3), axis=(1,)),
        sample((2, 3), (2, 3), axis=(0, 1)),
        sample((), (), axis=()),
        sample((2, 0), (2, 0), axis=(0,)),
    ],
    domain=((-2.0, 2.0), POSITIVE),
)


@answers
def logsumexp(
    x: Any,
    /,
    *,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    **others: Never,
) -> Any:
    """Return log(sum(b * exp(x))) over `axis`, without overflow; b is 1 if it is not given.

    A negative sum has no logarithm, and gives NaN. With `return_sign` the result is a pair: the
    logarithm of its absolute value, and its sign. `wg.special.logsumexp([1e3, 1e3])` is `1000.69`.
    """
    if others:
        raise unexpected(logsumexp, others)
    x = real(x, "logsumexp")
    if b is None and not return_sign:
        return logsumexp_over(x, axis=normalised(axis, x.ndim, "logsumexp"), keepdims=keepdims)
    x, b = shapes.broadcast_arrays(x, creation.ones_like(x) if b is None else real(b, "logsumexp"))
    axis = normalised(axis, x.ndim, "logsumexp")
    y, sign = _weighted(x, b, axis=axis)
    if not keepdims:
        y, sign = (shapes.squeeze(part, axis=axis) for part in (y, sign))
    return (y, sign) if return_sign else ew.where(ew.less(sign, 0.0), math.nan, y)


def logsumexp_complex(x: Tensor, /, *, axis: Any, total: Any, **options: Any) -> Tensor:
    """Return the logarithm of a sum of complex exponentials over axes, without overflow.

    `total` is the function that sums, with its options, and keeps the axes.
    With `total=wg.sum` and axis 0, that of `[1e3 + 1j]` is `1000 + 1j`.
    """
    top = wrap(x._raw.real.max(axis=axis, keepdims=True, initial=-math.inf))
    return ew.log(total(ew.exp(x - top), axis=axis, **options)) + top


__all__ = ["log_softmax", "logsumexp", "logsumexp_over", "softmax"]
