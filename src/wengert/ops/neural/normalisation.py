"""Normalisation: numbers shifted to mean 0 and scaled to variance 1, over some axes."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.backends import numpy_fused as fused
from wengert.engine.batching import Level, plain_namespace
from wengert.engine.cotangents import Block, part_of
from wengert.engine.node import Edges, Node
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import elementwise as ew
from wengert.ops import reductions, shapes
from wengert.ops.batching import constant, full, widened
from wengert.ops.checks import misfit, real
from wengert.ops.families import (
    JointLinewise,
    Tests,
    axes,
    declared,
    joint,
    linewise,
    one_axis,
    reduction,
    sample,
)
from wengert.ops.families.narrow import in_single
from wengert.ops.neural.arguments import number, positive


def _centred(xp: Any, x: Any, axis: tuple[int, ...], eps: float) -> tuple[Any, Any]:
    """Return x less its mean, and 1 / sqrt(its variance + eps)."""
    centred = x - xp.mean(x, axis=axis, keepdims=True)
    variance = xp.mean(centred * centred, axis=axis, keepdims=True)
    return centred, 1 / xp.sqrt(variance + eps)


def _pulled(xp: Any, g: Any, y: Any, scale: Any, axis: tuple[int, ...]) -> Any:
    """Return the cotangent of x, given that of y = (x - mean) * scale."""
    mean = xp.mean(g, axis=axis, keepdims=True)
    along = xp.mean(g * y, axis=axis, keepdims=True)
    return scale * (g - mean - y * along)


def _standard_values(xp: Any, x: Any, axis: tuple[int, ...], eps: float) -> Any:
    centred, scale = _centred(xp, x, axis, eps)
    return centred * scale


def _standard_rule(xp: Any, g: Any, x: Any, axis: tuple[int, ...], eps: float) -> Any:
    centred, scale = _centred(xp, x, axis, eps)
    return _pulled(xp, g, centred * scale, scale, axis)


standard = linewise(
    "nn.standard",
    _standard_rule,
    params=("axis", "eps"),
    compute=_standard_values,
    samples=[
        sample((2, 4), axis=(1,), eps=1e-2),
        sample((3, 2, 2), axis=(0, 2), eps=1e-2),
        sample((0, 3), axis=(1,), eps=1e-2),
    ],
    kinds="f",
    doc="Return x shifted to mean 0 and scaled to variance 1 over the axes.",
)

# -- layer norm -------------------------------------------------------------------------------


def _layer_values(xp: Any, x: Any, weight: Any, bias: Any, eps: float) -> Any:
    if xp is backends.NUMPY and fused.suits(x, weight, bias):
        return fused.layer_norm(x, weight, bias, eps)
    return _standard_values(xp, x, (-1,), eps) * weight + bias


def _layer_rule(xp: Any, g: Any, x: Any, weight: Any, eps: float) -> Any:
    if xp is backends.NUMPY and fused.suits(x, weight, g):
        return fused.layer_norm_pull(x, weight, eps, g)
    centred, scale = _centred(xp, x, (-1,), eps)
    y = centred * scale
    leading = tuple(range(len(x.shape) - 1))
    by_weight, by_bias = xp.sum(g * y, axis=leading), xp.sum(g, axis=leading)
    return _pulled(xp, g * weight, y, scale, (-1,)), by_weight, by_bias


def _layer_of_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    if mapped == [True, False, False]:
        return apply(op, tuple(arrays), params)
    (x, *each), ndim = arrays, arrays[0].ndim - mapped[0]
    weight, bias = (widened(v, ndim) if m else v for v, m in zip(each, mapped[1:], strict=True))
    return standard(x, axis=(x.ndim - 1,), **params) * weight + bias


_layer_norm = joint(
    "nn.layer_norm",
    _layer_rule,
    args=("x", "weight", "bias"),
    params=("eps",),
    lines=True,
    compute=_layer_values,
    batch=_layer_of_examples,
    samples=[
        sample((2, 4), (4,), (4,), eps=1e-2),
        sample((2, 2, 3), (3,), (3,), eps=1e-1),
        sample((0, 3), (3,), (3,), eps=1e-2),
        sample((3,), (3,), (3,), eps=1e-2),
    ],
    kinds="f",
)


def layer_norm(
    x: Any, weight: Any = None, bias: Any = None, *, axis: Any = -1, eps: float = 1e-5
) -> Tensor:
    """Return (x - mean) / sqrt(variance + eps) over `axis`, times weight, plus bias.

    `axis` is one or several; `weight` and `bias` have the lengths of x along them, in the
    order of x. `wg.nn.layer_norm([1.0, 3.0])` is `[-0.999995, 0.999995]`.
    """
    x, eps = real(x, "layer_norm"), number(eps, "layer_norm", "eps", 0)
    shape = x._raw.shape
    if axis == -1 and type(weight) is type(bias) is Tensor and len(shape):  # the usual case
        mine, one, two = x._raw, weight._raw, bias._raw
        if one.shape == two.shape == shape[-1:] and mine.dtype is one.dtype is two.dtype:
            return _layer_norm(x, weight, bias, eps=eps)
    over = axes(axis, len(shape), "layer_norm")
    if len(over) > 1:
        over = tuple(sorted(over))
    sizes = shape[-1:] if axis == -1 else tuple([shape[a] for a in over])
    parts = (
        _of_shape(weight, sizes, "layer_norm", "weight", like=x, fill=1.0),
        _of_shape(bias, sizes, "layer_norm", "bias", like=x, fill=0.0),
    )
    if over == (len(shape) - 1,):
        return _layer_norm(x, *parts, eps=eps)
    others = tuple(a for a in range(x.ndim) if a not in over)
    count = math.prod(sizes)
    order = (*others, *over)
    in_place = order == tuple(range(x.ndim))
    moved = x if in_place else shapes.permute_dims(x, order)
    kept = moved.shape
    if len(over) == 1:
        y = _layer_norm(moved, *parts, eps=eps)
    else:
        flat = shapes.reshape(moved, (*kept[: len(others)], count))
        y = _layer_norm(flat, *(shapes.reshape(p, (count,)) for p in parts), eps=eps)
        y = shapes.reshape(y, kept)
    return y if in_place else shapes.permute_dims(y, [order.index(a) for a in range(x.ndim)])


def _of_shape(
    v: Any, shape: tuple[int, ...], name: str, what: str, like: Tensor, fill: float
) -> Tensor:
    """Return an argument of just this shape; where it is None, a constant."""
    if v is None:
        xp: Any = backends.namespace_of(like._raw)
        return wrap(xp.full(shape, fill, dtype=like.dtype))
    v = real(v, name, what)
    if v._raw.shape != shape:
        raise misfit(name, f"{shape}, for x of shape {like.shape}", **{what: v})
    return v


@in_single
def rms_norm(x: Any, weight: Any = None, *, axis: Any = -1, eps: float = 1e-6) -> Tensor:
    """Return x / sqrt(mean(x**2) + eps), the mean being over `axis`, times weight.

    `wg.nn.rms_norm([3.0, 4.0])` is `[0.848528, 1.131371]`.
    """
    x, eps = real(x, "rms_norm"), number(eps, "rms_norm", "eps", 0)
    over = tuple(sorted(axes(axis, x.ndim, "rms_norm")))
    y = x / ew.sqrt(reductions.mean(x * x, axis=over, keepdims=True) + eps)
    return affine(y, weight, None, over, "rms_norm")


def affine(y: Any, weight: Any, bias: Any, over: tuple[int, ...], name: str) -> Tensor:
    """Return y * weight + bias, whose lengths are those of y along the axes `over`."""
    sizes = tuple(y.shape[a] for a in over)
    wide = tuple(n if a in over else 1 for a, n in enumerate(y.shape))
    if weight is not None:
        y = y * shapes.reshape(_of_shape(weight, sizes, name, "weight", y, 1.0), wide)
    if bias is not None:
        y = y + shapes.reshape(_of_shape(bias, sizes, name, "bias", y, 0.0), wide)
    return y


# -- channels ---------------------------------------------------------------------------------


def _channel_values(
    xp: Any, x: Any, weight: Any, bias: Any, axis: tuple[int, ...], eps: float
) -> Any:
    if xp is backends.NUMPY and fused.suits_channels(x, weight, bias):
        return fused.batch_norm(x, weight, bias, eps)
    wide = (-1, *(1 for _ in x.shape[2:]))
    y = _standard_values(xp, x, axis, eps)
    return y * xp.reshape(weight, wide) + xp.reshape(bias, wide)


def _channel_rule(xp: Any, g: Any, x: Any, weight: Any, axis: tuple[int, ...], eps: float) -> Any:
    if xp is backends.NUMPY and fused.suits_channels(x, weight, g):
        return fused.batch_norm_pull(x, weight, eps, g)
    centred, scale = _centred(xp, x, axis, eps)
    y = centred * scale
    by_weight, by_bias = xp.sum(g * y, axis=axis), xp.sum(g, axis=axis)
    weight = xp.reshape(weight, (-1, *(1 for _ in x.shape[2:])))
    return _pulled(xp, g * weight, y, scale, axis), by_weight, by_bias


def _channels_of_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    x, *each = arrays
    ones = (1,) * (x.ndim - mapped[0] - 2)
    weight, bias = (
        shapes.reshape(v, (level.size, 1, v.shape[-1], *ones) if m else (v.shape[-1], *ones))
        for v, m in zip(each, mapped[1:], strict=True)
    )
    over = tuple(a + mapped[0] for a in params["axis"])
    return standard(x, axis=over, eps=params["eps"]) * weight + bias


class ByChannel(JointLinewise):
    """Lines are channels, each with a weight and a bias of its own."""

    def pull(self, xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Sequence[Any]:
        """Return the rule's answers for the channels that g touches."""
        if type(g) is not Block:
            return super().pull(xp, g, node, edges, sweep)
        region, wide, (x, weight, *others) = self._lines(xp, g, node, 0, edges[0][2])
        regions = region, region[1:2], region[1:2]
        found = self._answers(xp, wide, (x, part_of(weight, region[1:2]), *others))
        return [Block(parent.shape, regions[k], found[k]) for parent, k, _ in edges]


_batch_norm: Any = declared(
    ByChannel(
        "nn.batch_norm", ("x", "weight", "bias"), _channel_values, [_channel_rule] * 3,
        ("axis", "eps"),
    ),
    Tests(
        batch=_channels_of_examples,
        samples=[
            sample((4, 3), (3,), (3,), axis=(0,), eps=1e-2),
            sample((2, 3, 2), (3,), (3,), axis=(0, 2), eps=1e-1),
            sample((2, 2, 3, 2), (2,), (2,), axis=(0, 2, 3), eps=1e-2),
        ],
        kinds="f",
    ),
)  # fmt: skip


def _trained_values(
    xp: Any, x: Any, weight: Any, bias: Any, axis: tuple[int, ...], eps: float
) -> Any:
    y = _channel_values(xp, x, weight, bias, axis, eps)
    return y, xp.mean(x, axis=axis), xp.var(x, axis=axis, correction=1)


def _trained_rule(xp: Any, g: Any, x: Any, weight: Any, axis: tuple[int, ...], eps: float) -> Any:
    by_y, by_mean, by_variance = g
    wide = (-1, *(1 for _ in x.shape[2:]))
    count = math.prod(x.shape[a] for a in axis)
    found = [None, None, None]
    if by_y is not None:
        found = [*_channel_rule(xp, by_y, x, weight, axis, eps)]
    parts = [] if by_y is None else [found[0]]
    if by_mean is not None:
        parts.append(xp.broadcast_to(xp.reshape(by_mean / count, wide), x.shape))
    if by_variance is not None:
        centred = x - xp.mean(x, axis=axis, keepdims=True)
        parts.append(centred * xp.reshape(by_variance * (2 / (count - 1)), wide))
    return functools.reduce(operator.add, parts), *found[1:]


def _trained_of_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    x, over = arrays[0], tuple(a + mapped[0] for a in params["axis"])
    y = _channels_of_examples(op, level, arrays, mapped, params)
    both = reductions.mean(x, axis=over), reductions.var(x, axis=over, correction=1.0)
    return full(y, True, level), *(full(v, mapped[0], level) for v in both)


#: Of a library with a kernel that has the moments as well, one operation for these and the result.
_with_moments: Any = joint(
    "nn.batch_norm_with_moments",
    _trained_rule,
    args=("x", "weight", "bias"),
    params=("axis", "eps"),
    compute=_trained_values,
    batch=_trained_of_examples,
    samples=[
        sample((4, 3), (3,), (3,), axis=(0,), eps=1e-2),
        sample((2, 2, 3, 2), (2,), (2,), axis=(0, 2, 3), eps=1e-2),
    ],
    kinds="f",
    doc="Return x normalised for each channel, their means, and their unbiased variances.",
)
_with_moments.op.sees_unused = True


def by_channel(x: Any, weight: Any, bias: Any, *, eps: float, name: str) -> Tensor:
    """Return x, with channels on axis 1, each normalised, times weight, plus bias."""
    parts = _channel_parameters(x, weight, bias, name)
    return _batch_norm(x, *parts, axis=(0, *range(2, x.ndim)), eps=eps)


def _channel_parameters(x: Tensor, weight: Any, bias: Any, name: str) -> list[Tensor]:
    """Return a weight and a bias for each channel."""
    return [
        _of_shape(v, x.shape[1:2], name, what, like=x, fill=fill)
        for v, what, fill in ((weight, "weight", 1.0), (bias, "bias", 0.0))
    ]


def moments(x: Any, axis: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Return the mean over some axes, and the variance without a bias; no derivatives follow."""
    numbers = constant(x)
    if fused.suits_channels(numbers._raw) and axis == (0, *range(2, x.ndim)):
        mean, variance = fused.channel_moments(numbers._raw)
        count = x.size // x.shape[1]
        return wrap(mean), wrap(variance * x.dtype.type(count / (count - 1)))
    return reductions.mean(numbers, axis=axis), reductions.var(numbers, axis=axis, correction=1.0)


@in_single
def batch_norm(
    x: Any,
    mean: Any = None,
    variance: Any = None,
    weight: Any = None,
    bias: Any = None,
    *,
    axis: int = 1,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Return (x - mean) / sqrt(variance + eps) for each channel, which are on `axis`.

    Without `training`, by the given `mean` and `variance`: returns y. In training by the mean
    and variance of x itself: returns ``(y, mean, variance)``, where the last two have moved
    from those given towards x's own (without a bias) by `momentum`, or are x's own if None was
    given. No derivatives follow through them.
    `wg.nn.batch_norm([[3.0]], [1.0], [4.0])` is `[[0.999999]]`.
    """
    x, eps = real(x, "batch_norm"), number(eps, "batch_norm", "eps", 0)
    channel = one_axis(axis, x.ndim, "batch_norm")
    others = tuple(a for a in range(x.ndim) if a != channel)
    sizes = (x.shape[channel],)
    wide = tuple(n if a == channel else 1 for a, n in enumerate(x.shape))
    old = [
        None if v is None else _of_shape(v, sizes, "batch_norm", what, x, 0.0)
        for v, what in ((mean, "mean"), (variance, "variance"))
    ]
    if not training:
        if old[0] is None or old[1] is None:
            raise ValueError(
                "batch_norm: needs mean and variance unless training=True, which takes x's own"
            )
        centred = x - shapes.reshape(old[0], wide)
        y = centred / ew.sqrt(shapes.reshape(old[1], wide) + eps)
        return affine(y, weight, bias, (channel,), "batch_norm")
    momentum = number(momentum, "batch_norm", "momentum", 0, 1 + 1e-12)
    count = math.prod(x.shape[a] for a in others)
    if count < 2:
        raise misfit("batch_norm", "two numbers or more for each channel, to train with", x=x)
    own: Any
    if channel == 1 and _with_moments.op.name in plain_namespace(x._raw).own:
        parts = _channel_parameters(x, weight, bias, "batch_norm")
        y, *both = _with_moments(x, *parts, axis=others, eps=eps)
        own = map(constant, both)
    elif channel == 1:
        with fused.moments_once():
            y = by_channel(x, weight, bias, eps=eps, name="batch_norm")
            own = moments(x, others)
    else:
        y = affine(standard(x, axis=others, eps=eps), weight, bias, (channel,), "batch_norm")
        own = moments(x, others)
    moved = [
        new if before is None else constant(before + momentum * (new - before))
        for before, new in zip(old, own, strict=True)
    ]
    return y, *moved


@in_single
def group_norm(
    x: Any, groups: int, weight: Any = None, bias: Any = None, *, eps: float = 1e-5
) -> Tensor:
    """Return x, with channels on axis 1, normalised over each of `groups` of channels.

    `weight` and `bias` have a number for each channel.
    `wg.nn.group_norm([[1.0, 3.0]], 1)` is `[[-0.999995, 0.999995]]`.
    """
    return _grouped(x, groups, weight, bias, eps, "group_norm")


@in_single
def instance_norm(x: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-5) -> Tensor:
    """Return x, with channels on axis 1, normalised over each channel of each instance.

    `wg.nn.instance_norm([[[1.0, 3.0]]])` is `[[[-0.999995, 0.999995]]]`.
    """
    x = real(x, "instance_norm")
    if x.ndim < 3:
        raise misfit("instance_norm", "instances, channels and further axes", x=x)
    return _grouped(x, max(1, x.shape[1]), weight, bias, eps, "instance_norm")


def _grouped(x: Any, groups: int, weight: Any, bias: Any, eps: float, name: str) -> Tensor:
    x, eps = real(x, name), number(eps, name, "eps", 0)
    if x.ndim < 2:
        raise misfit(name, "instances and channels", x=x)
    channels = x.shape[1]
    if groups < 1 or channels % groups:
        raise ValueError(f"{name}: {groups} groups of {channels} channels; expected a divisor")
    size = math.prod(x.shape[1:]) // groups
    y = standard(shapes.reshape(x, (x.shape[0], groups, size)), axis=(2,), eps=eps)
    return affine(shapes.reshape(y, x.shape), weight, bias, (1,), name)


# -- lengths ----------------------------------------------------------------------------------

length = reduction(
    "nn.length",
    lambda xp, g, x, y: g * (x / xp.where(y == 0, xp.ones_like(y), y)),
    compute=lambda xp, x, axis, keepdims: xp.sqrt(xp.sum(x * x, axis=axis, keepdims=keepdims)),
    kinds="f",
    reference=lambda x, axis, keepdims: np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims)),
    doc="Return the square root of the sum of squares; its derivative at 0 is 0.",
)


@in_single
def normalize(x: Any, /, *, axis: Any = -1, eps: float = 1e-12) -> Tensor:
    """Return x divided by its length along `axis`, or by `eps` where that is larger.

    `wg.nn.normalize([3.0, 4.0])` is `[0.6, 0.8]`.
    """
    x, eps = real(x, "normalize"), positive(eps, "normalize", "eps")
    over = axes(axis, x.ndim, "normalize")
    return x / ew.clip(length(x, axis=over, keepdims=True), eps, None)


__all__ = [
    "batch_norm", "group_norm", "instance_norm", "layer_norm", "normalize", "rms_norm",
]  # fmt: skip
