"""torch.nn.functional: normalisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.dialects.torch import conventions
from wengert.dialects.torch.axes import axis_of
from wengert.dialects.torch.memory import overwrite, write
from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.nn.arguments import (
    Ints,
    functional,
    is_batched,
    optional,
    real,
    whole,
    wrong,
)
from wengert.dialects.torch.norms import vector_norm
from wengert.dialects.torch.table import offered
from wengert.dialects.torch.tensors import astype, convert, ns, only_tensor, static
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops.batching import constant
from wengert.ops.neural import normalisation, pooling

# -- by channels -----------------------------------------------------------------------------------


def _check_channels(name: str, channels: int, **given: Native | None) -> None:
    for what, x in given.items():
        if x is not None and (x.ndim != 1 or x.shape[0] != channels):
            raise RuntimeError(f"{name}: {what} has shape {list(x.shape)}; give {channels} numbers")


def _move(running: Any, own: Native, momentum: float, noted: bool) -> None:
    """Write a running statistic, moved towards a new one, to its memory.

    PyTorch does not count a write by `batch_norm` as a new version.
    """
    if running is None:
        return
    with no_grad():
        old = convert(running)
        new = astype(old * (1 - momentum) + astype(own, old._raw.dtype) * momentum, old._raw.dtype)
        if noted or is_batched(running) or is_batched(new):
            overwrite(running, new)
        else:
            write(running._raw, new._raw, noted=False)


def _own(x: Native, channel: int) -> tuple[Native, Native]:
    """Return the mean and the variance of each channel, as constants."""
    others = tuple(a for a in range(x.ndim) if a != channel)
    numbers = constant(x)
    return ns.mean(numbers, axis=others), ns.var(numbers, axis=others, correction=1.0)


def _by_channels(
    name: str, input: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any,
    training: bool, momentum: Any, eps: float,
) -> Any:  # fmt: skip
    x = real(input, name)
    if x.ndim < 2:
        raise RuntimeError(f"{name}: input has shape {list(x.shape)}; expected batch and channels")
    mean, variance = (
        optional(running_mean, name, "running_mean"),
        optional(running_var, name, "running_var"),
    )
    w, b = optional(weight, name, "weight"), optional(bias, name, "bias")
    _check_channels(name, x.shape[1], running_mean=mean, running_var=variance, weight=w, bias=b)
    kind = x._raw.dtype
    w, b = (None if v is None else astype(v, kind) for v in (w, b))
    if not training:
        if mean is None or variance is None:
            raise RuntimeError(f"{name}: give running_mean and running_var, or write training=True")
        # copies: later training changes the statistics, and not what a node has kept
        mean, variance = (astype(ns.copy(constant(v)), kind) for v in (mean, variance))
        return normalisation.batch_norm(x, mean, variance, w, b, eps=float(eps))
    others = (0, *range(2, x.ndim))
    y = normalisation.standardised(x, axis=others, eps=float(eps))
    y = normalisation.affine(y, w, b, (1,), name)
    if running_mean is not None or running_var is not None:
        for running, own in zip((running_mean, running_var), _own(x, 1), strict=True):
            _move(running, own, float(momentum), noted=False)
    return y


@functional(label="NativeBatchNormBackward0")
def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Return x normalised for each channel; in training, running statistics move in place."""
    if training:
        shape = only_tensor(input, "batch_norm").shape
        if math.prod((*shape[:1], *shape[2:])) == 1:
            raise wrong(
                f"one number in each channel of shape {shape}; give more, or call model.eval()"
            )
    return _by_channels(
        "batch_norm", input, running_mean, running_var, weight, bias, training, momentum, eps
    )


@offered("batch_norm", method=False, label="NativeBatchNormBackward0")
def _batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
    momentum: float, eps: float, cudnn_enabled: bool = True,
) -> Any:  # fmt: skip
    """Return x normalised for each channel; arguments are in torch.batch_norm's order."""
    return _by_channels(
        "batch_norm", input, running_mean, running_var, weight, bias, training, momentum, eps
    )


@functional(label="ViewBackward0")
def instance_norm(
    input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None,
    bias: Any = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Return x normalised for each channel of each instance."""
    x = only_tensor(input, "instance_norm")
    if use_input_stats and math.prod(x.shape[2:]) == 1:
        raise wrong(
            f"one number in each channel of shape {x.shape}; give more, or call model.eval()"
        )
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "instance_norm: use_input_stats=False needs running_mean and running_var; give both"
            )
        return _by_channels(
            "instance_norm", x, running_mean, running_var, weight, bias, False, momentum, eps
        )
    x = real(x, "instance_norm")
    w, b = optional(weight, "instance_norm", "weight"), optional(bias, "instance_norm", "bias")
    _check_channels("instance_norm", x.shape[1], weight=w, bias=b)
    if running_mean is not None or running_var is not None:
        places = tuple(range(2, x.ndim))
        numbers = constant(x)
        each = ns.mean(numbers, axis=places), ns.var(numbers, axis=places, correction=1.0)
        for running, own in zip((running_mean, running_var), each, strict=True):
            _move(running, ns.mean(own, axis=0), float(momentum), noted=True)
    return normalisation.instance_norm(x, w, b, eps=float(eps))


@offered("instance_norm", method=False, label="ViewBackward0")
def _instance_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any,
    use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool = True,
) -> Any:  # fmt: skip
    """Return x normalised for each channel of each instance, in torch.instance_norm's order."""
    return instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def _grouped(input: Any, num_groups: Any, weight: Any, bias: Any, eps: float) -> Any:
    x, groups = real(input, "group_norm"), whole(num_groups, "group_norm", "num_groups")
    if x.ndim < 2:
        raise RuntimeError(f"group_norm: the input has {x.ndim} axes; give 2 or more")
    w, b = optional(weight, "group_norm", "weight"), optional(bias, "group_norm", "bias")
    if groups < 1 or x.shape[1] % groups:
        raise RuntimeError(
            f"group_norm: the channels of an input of shape {list(x.shape)} are not divisible "
            f"into num_groups={groups}"
        )
    _check_channels("group_norm", x.shape[1], weight=w, bias=b)
    return normalisation.group_norm(x, groups, w, b, eps=float(eps))


@functional(label="NativeGroupNormBackward0")
def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Return x normalised over each of some groups of channels."""
    x = only_tensor(input, "group_norm")
    if x.ndim >= 2 and num_groups > 0:
        size = x.shape[0] * x.shape[1] // num_groups * math.prod(x.shape[2:])
        if size == 1:
            raise wrong(f"one number in each group of shape {list(x.shape)}; give more")
    return _grouped(x, num_groups, weight, bias, eps)


@offered("group_norm", method=False, label="NativeGroupNormBackward0")
def _group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Any:  # fmt: skip
    """Return x normalised over each of some groups of channels."""
    return _grouped(input, num_groups, weight, bias, eps)


# -- by the last axes ------------------------------------------------------------------------------


def _last_axes(name: str, x: Native, normalized_shape: Any, **given: Native | None) -> Ints:
    """Return the axes whose lengths are given, which must be the last ones."""
    sizes = static(normalized_shape)
    if not isinstance(sizes, (list, tuple)):
        raise TypeError(
            f"{name}(): normalized_shape is a {type(sizes).__name__}; give a tuple of lengths"
        )
    lengths = tuple(whole(n, name, "normalized_shape") for n in sizes)
    if not lengths:
        raise RuntimeError("normalized_shape is empty; give the length of one axis at least")
    if x.shape[x.ndim - len(lengths) :] != lengths or len(lengths) > x.ndim:
        raise RuntimeError(
            f"normalized_shape={list(lengths)} does not end the input's shape {list(x.shape)}; "
            "give the lengths of its last axes"
        )
    for what, v in given.items():
        if v is not None and v.shape != lengths:
            raise RuntimeError(
                f"{what} has shape {list(v.shape)}; give normalized_shape={list(lengths)}"
            )
    return tuple(range(x.ndim - len(lengths), x.ndim))


def _layer(input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    x = real(input, "layer_norm")
    w, b = optional(weight, "layer_norm", "weight"), optional(bias, "layer_norm", "bias")
    axes = _last_axes("layer_norm", x, normalized_shape, weight=w, bias=b)
    kind = x._raw.dtype
    w, b = (None if v is None else astype(v, kind) for v in (w, b))
    return normalisation.layer_norm(x, w, b, axis=axes, eps=float(eps))


@functional(label="NativeLayerNormBackward0")
def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Return x normalised over its last axes."""
    return _layer(input, normalized_shape, weight, bias, eps)


@offered("layer_norm", method=False, label="NativeLayerNormBackward0")
def _layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:  # fmt: skip
    """Return x normalised over its last axes."""
    return _layer(input, normalized_shape, weight, bias, eps)


@functional("rms_norm", label="FusedRmsNormBackward0")
def rms_norm(
    input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None
) -> Any:
    """Return x over the root of the mean of its squares over its last axes."""
    x, w = real(input, "rms_norm"), optional(weight, "rms_norm", "weight")
    axes = _last_axes("rms_norm", x, normalized_shape, weight=w)
    least = float(np.finfo(x._raw.dtype).eps) if eps is None else float(eps)
    return normalisation.rms_norm(x, w, axis=axes, eps=least)


# -- by neighbours, and by length ------------------------------------------------------------------


@functional(label="DivBackward0")
def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Return x over a power of the mean of squares of neighbouring channels."""
    x = real(input, "local_response_norm")
    if x.ndim < 3:
        raise wrong(f"local_response_norm: the input has {x.ndim} axes; give 3 or more")
    if not math.prod(x.shape):
        return x
    squares = ns.reshape(x * x, (x.shape[0], 1, x.shape[1], math.prod(x.shape[2:])))
    around = ((size // 2, (size - 1) // 2), (0, 0))
    means = pooling.avg_pool2d(squares, (size, 1), stride=1, padding=around)
    power = (ns.reshape(means, x.shape) * alpha + k) ** beta
    return apply(conventions.divide.op, (x, power), {})


@functional(label="DivBackward0")
def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Any:
    """Return x over its p-norm along an axis, or over eps where that is more."""
    x = only_tensor(input, "normalize")
    axes = tuple(axis_of(d, x.ndim) for d in (dim if isinstance(dim, (list, tuple)) else (dim,)))
    length = vector_norm(x, float(p), axes if x.ndim else (), True)
    least = wrap_native(np.array(eps, length._raw.dtype))
    length = apply(conventions.clamp_min.op, (length, least), {})
    return apply(conventions.divide.op, (x, length), {})
