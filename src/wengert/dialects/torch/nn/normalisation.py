"""torch.nn.functional: normalisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import backends
from wengert.backends.numpy_fused import moments_once
from wengert.dialects.kernel.functions import Argument
from wengert.dialects.torch import conventions
from wengert.dialects.torch.kinds import READERS, Input, Int, NamedAxes
from wengert.dialects.torch.memory import overwrite, write
from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.nn.arguments import Floats, Ints, functional, is_batched, misfit, wrong
from wengert.dialects.torch.norms import vector_norm
from wengert.dialects.torch.tensors import Native, astype, convert, ns, static, wrap_native
from wengert.engine.record import apply
from wengert.ops.batching import constant
from wengert.ops.neural import normalisation, pooling

# -- by channels -----------------------------------------------------------------------------------


def _check_channels(name: str, channels: int, **given: Native | None) -> None:
    for what, x in given.items():
        if x is not None and (x.ndim != 1 or x.shape[0] != channels):
            raise RuntimeError(f"{name}: {what} has shape {list(x.shape)}; give {channels} numbers")


_PLAIN = (np.dtype(np.float32), np.dtype(np.float64))


def _move(running: Any, own: Native, momentum: float, noted: bool) -> None:
    """Write a running statistic, moved towards a new one, to its memory.

    PyTorch does not count a write by `batch_norm` as a new version.
    """
    if running is None:
        return
    raw, new = running._raw, own._raw
    if not noted and type(raw) is np.ndarray is type(new) and raw.dtype == new.dtype in _PLAIN:
        write(raw, raw * (1 - momentum) + new * momentum, noted=False)
        return
    with no_grad():
        old = convert(running)
        new = astype(old * (1 - momentum) + astype(own, old._raw.dtype) * momentum, old._raw.dtype)
        if noted or is_batched(running) or is_batched(new):
            overwrite(running, new)
        else:
            write(running._raw, new._raw, noted=False)


def _move_towards(running: tuple[Any, Any], x: Native, axes: Ints, momentum: float) -> None:
    """Move running statistics towards the mean and the variance over some axes, and the batch."""
    if running[0] is None and running[1] is None:
        return
    for kept, own in zip(running, normalisation.moments(x, axes), strict=True):
        # those of each instance are averaged
        _move(kept, ns.mean(own, axis=0) if own.ndim > 1 else own, momentum, noted=own.ndim > 1)


def _by_channels(
    name: str, x: Native, running_mean: Any, running_var: Any, weight: Native | None,
    bias: Native | None, training: bool, momentum: Any, eps: float,
) -> Native:  # fmt: skip
    if x.ndim < 2:
        raise RuntimeError(f"{name}: input has shape {list(x.shape)}; expected batch and channels")
    mean, variance = (None if v is None else convert(v) for v in (running_mean, running_var))
    given = {"weight": weight, "bias": bias}
    _check_channels(name, x.shape[1], running_mean=mean, running_var=variance, **given)
    kind = x._raw.dtype
    w, b = (None if v is None else astype(v, kind) for v in (weight, bias))
    if not training:
        if mean is None or variance is None:
            raise RuntimeError(f"{name}: give running_mean and running_var, or write training=True")
        # copies: later training changes the statistics, and not what a node has kept
        mean, variance = (astype(ns.copy(constant(v)), kind) for v in (mean, variance))
        return normalisation.batch_norm(x, mean, variance, w, b, eps=float(eps))
    with moments_once():
        y = normalisation.by_channel(x, w, b, eps=float(eps), name=name)
        _move_towards((running_mean, running_var), x, (0, *range(2, x.ndim)), float(momentum))
    return y


def _check_several(x: Native, count: int) -> None:
    if count == 1:
        raise misfit("norm", "more than one number, or call model.eval()", wrong, input=x)


@functional(label="NativeBatchNormBackward0")
def batch_norm(
    input: Floats, running_mean: Any, running_var: Any, weight: Input | None = None,
    bias: Input | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Native:  # fmt: skip
    """Return x normalised for each channel; in training, running statistics move in place."""
    if training:
        _check_several(input, math.prod((*input.shape[:1], *input.shape[2:])))
    return _by_channels(
        "batch_norm", input, running_mean, running_var, weight, bias, training, momentum, eps
    )


@functional(label="ViewBackward0")
def instance_norm(
    input: Floats, running_mean: Any = None, running_var: Any = None, weight: Input | None = None,
    bias: Input | None = None, use_input_stats: bool = True, momentum: float = 0.1,
    eps: float = 1e-5,
) -> Native:  # fmt: skip
    """Return x normalised for each channel of each instance."""
    if not use_input_stats:
        return _by_channels(
            "instance_norm", input, running_mean, running_var, weight, bias, False, momentum, eps
        )
    _check_several(input, math.prod(input.shape[2:]))
    _check_channels("instance_norm", input.shape[1], weight=weight, bias=bias)
    running = running_mean, running_var
    _move_towards(running, input, tuple(range(2, input.ndim)), float(momentum))
    return normalisation.instance_norm(input, weight, bias, eps=float(eps))


@functional("group_norm", label="NativeGroupNormBackward0")
def group_norm(
    input: Floats, num_groups: Int, weight: Input | None = None, bias: Input | None = None,
    eps: float = 1e-5,
) -> Native:  # fmt: skip
    """Return x normalised over each of some groups of channels."""
    if input.ndim < 2 or num_groups < 1 or input.shape[1] % num_groups:
        raise misfit("group_norm", "groups that divide channels", input=input, groups=num_groups)
    _check_several(input, input.shape[0] * math.prod(input.shape[1:]) // num_groups)
    _check_channels("group_norm", input.shape[1], weight=weight, bias=bias)
    return normalisation.group_norm(input, num_groups, weight, bias, eps=float(eps))


# -- by the last axes ------------------------------------------------------------------------------


def _last_axes(name: str, x: Native, normalized_shape: Any, **given: Native | None) -> Ints:
    """Return the axes whose lengths are given, which must be the last ones."""
    sizes = static(normalized_shape)
    if not isinstance(sizes, (list, tuple)):
        raise TypeError(
            f"{name}(): normalized_shape is a {type(sizes).__name__}; give a tuple of lengths"
        )
    lengths = READERS.integers(sizes, Argument(name, "normalized_shape"))
    if not lengths:
        raise RuntimeError("normalized_shape is empty; give the length of one axis at least")
    if x.shape[x.ndim - len(lengths) :] != lengths or len(lengths) > x.ndim:
        raise misfit(name, "the lengths of the last axes", input=x, normalized_shape=lengths)
    for what, v in given.items():
        if v is not None and v.shape != lengths:
            raise misfit(name, f"shape {list(lengths)}", **{what: v})
    return tuple(range(x.ndim - len(lengths), x.ndim))


@functional("layer_norm", label="NativeLayerNormBackward0")
def layer_norm(
    input: Floats, normalized_shape: Any, weight: Input | None = None, bias: Input | None = None,
    eps: float = 1e-5, cudnn_enable: bool = True,
) -> Native:  # fmt: skip
    """Return x normalised over its last axes."""
    axes = _last_axes("layer_norm", input, normalized_shape, weight=weight, bias=bias)
    kind = input._raw.dtype
    w, b = (None if v is None else astype(v, kind) for v in (weight, bias))
    return normalisation.layer_norm(input, w, b, axis=axes, eps=float(eps))


@functional("rms_norm", label="FusedRmsNormBackward0")
def rms_norm(
    input: Floats, normalized_shape: Any, weight: Input | None = None, eps: float | None = None
) -> Native:
    """Return x over the root of the mean of its squares over its last axes."""
    axes = _last_axes("rms_norm", input, normalized_shape, weight=weight)
    kind = input._raw.dtype
    least = np.finfo(np.float32 if backends.is_narrow(kind) else kind).eps if eps is None else eps
    return normalisation.rms_norm(input, weight, axis=axes, eps=float(least))


# -- by neighbours, and by length ------------------------------------------------------------------


@functional(label="DivBackward0")
def local_response_norm(
    input: Floats, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Native:
    """Return x over a power of the mean of squares of neighbouring channels."""
    shape = input.shape
    if len(shape) < 3:
        raise wrong(f"local_response_norm: the input has {len(shape)} axes; give 3 or more")
    if not math.prod(shape):
        return input
    squares = ns.reshape(input * input, (shape[0], 1, shape[1], math.prod(shape[2:])))
    around = ((size // 2, (size - 1) // 2), (0, 0))
    means = pooling.avg_pool2d(squares, (size, 1), stride=1, padding=around)
    power = (ns.reshape(means, shape) * alpha + k) ** beta
    return apply(conventions.divide.op, (input, power), {})


@functional(label="DivBackward0")
def normalize(input: Input, p: float = 2.0, dim: NamedAxes = 1, eps: float = 1e-12) -> Native:
    """Return x over its p-norm along an axis, or over eps where that is more."""
    length = vector_norm(input, float(p), dim, True)
    least = wrap_native(np.array(eps, length._raw.dtype))
    length = apply(conventions.clamp_min.op, (length, least), {})
    return apply(conventions.divide.op, (input, length), {})
