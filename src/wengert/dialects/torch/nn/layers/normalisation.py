"""Layers that bring numbers to mean 0 and variance 1."""

from __future__ import annotations

import warnings
from typing import Any

from wengert.dialects.torch.nn import init
from wengert.dialects.torch.nn.layers.calls import F, offer, parameter
from wengert.dialects.torch.nn.module import Module
from wengert.dialects.torch.table import NAMES


def _set_affine(
    layer: Any, shape: tuple[int, ...], weight: bool, bias: bool, device: Any, dtype: Any
) -> None:
    """Give a layer scales and offsets, or None in their place."""
    for name, wanted in (("weight", weight), ("bias", bias)):
        value = parameter(*shape, device=device, dtype=dtype) if wanted else None
        layer.register_parameter(name, value)


def _reset_affine(layer: Any) -> None:
    if layer.weight is not None:
        init.ones_(layer.weight)
    if getattr(layer, "bias", None) is not None:
        init.zeros_(layer.bias)


# -- by channels -----------------------------------------------------------------------------------


class _NormBase(Module):
    """Scales and offsets for each channel, and means and variances that are kept."""

    _version = 2

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        _set_affine(self, (num_features,), affine, affine and bias, device, dtype)
        kept: list[Any] = [None, None, None]
        if track_running_stats:
            options = {"device": device, "dtype": dtype}
            zeros, ones = NAMES["zeros"], NAMES["ones"]
            kept = [zeros(num_features, **options), ones(num_features, **options)]
            kept.append(zeros((), dtype=NAMES["int64"], device=device))
        for name, value in zip(
            ("running_mean", "running_var", "num_batches_tracked"), kept, strict=True
        ):
            self.register_buffer(name, value)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the means and variances that were kept."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Give all tensors their first values."""
        self.reset_running_stats()
        _reset_affine(self)

    def _check_input_dim(self, input: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no _check_input_dim")

    def extra_repr(self) -> str:
        """Return the options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any
    ) -> None:
        key = f"{prefix}num_batches_tracked"
        if self.track_running_stats and (local_metadata.get("version") or 0) < 2:
            state_dict.setdefault(key, self.num_batches_tracked)  # there was none in the beginning
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


def _check_dims(input: Any, dims: tuple[int, ...]) -> None:
    if input.ndim not in dims:
        expected = " or ".join(f"{n}D" for n in dims)
        raise ValueError(f"the input has {input.ndim} axes; this layer takes {expected}")


class _BatchNorm(_NormBase):
    """Numbers over their mean and deviation in a batch; those kept from training in evaluation."""

    def forward(self, input: Any) -> Any:
        """Return the numbers of each channel, normalised."""
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        tracks = self.training and self.track_running_stats
        if tracks and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        used = tracks or not self.training
        return F.batch_norm(
            input, self.running_mean if used else None, self.running_var if used else None,
            self.weight, self.bias, by_batch, momentum, self.eps,
        )  # fmt: skip


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of vectors, or of channels along one axis."""

    def _check_input_dim(self, input: Any) -> None:
        _check_dims(input, (2, 3))


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of the channels of images."""

    def _check_input_dim(self, input: Any) -> None:
        _check_dims(input, (4,))


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of the channels of volumes."""

    def _check_input_dim(self, input: Any) -> None:
        _check_dims(input, (5,))


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over several processes, of which there is one."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.ndim < 2:
            raise ValueError(f"the input has {input.ndim} axes; give batch and channels at least")


class _InstanceNorm(_NormBase):
    """The numbers of each example and channel over their mean and deviation."""

    #: how many axes one example has
    axes: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _check_input_dim(self, input: Any) -> None:
        _check_dims(input, (self.axes, self.axes + 1))

    def _check_channels(self, input: Any) -> None:
        axis = input.ndim - self.axes
        if input.shape[axis] != self.num_features:
            message = (
                f"axis {axis} of the input has {input.shape[axis]} elements, and the layer was "
                f"made for {self.num_features}"
            )
            if self.affine:
                raise ValueError(message)
            warnings.warn(message, stacklevel=4)

    def forward(self, input: Any) -> Any:
        """Return the numbers of each example and channel, normalised."""
        self._check_input_dim(input)
        self._check_channels(input)
        if input.ndim == self.axes:
            return self._normalised(input.unsqueeze(0)).squeeze(0)
        return self._normalised(input)

    def _normalised(self, input: Any) -> Any:
        return F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation along one axis."""

    axes = 2


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of images."""

    axes = 3


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of volumes."""

    axes = 4


class GroupNorm(Module):
    """The numbers of each example and group of channels over their mean and deviation."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"{num_channels} channels are not divisible into {num_groups} groups")
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        _set_affine(self, (num_channels,), affine, affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Make scales 1 and offsets 0."""
        _reset_affine(self)

    def forward(self, input: Any) -> Any:
        """Return the numbers of each group, normalised."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the options."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


# -- by the last axes ------------------------------------------------------------------------------


class LayerNorm(Module):
    """The numbers along the last axes over their mean and deviation."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape = tuple(shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        affine = elementwise_affine
        _set_affine(self, self.normalized_shape, affine, affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Make scales 1 and offsets 0."""
        _reset_affine(self)

    def forward(self, input: Any) -> Any:
        """Return the numbers along the last axes, normalised."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """The numbers along the last axes over the root of the mean of their squares."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape = tuple(shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        weight = (
            parameter(*self.normalized_shape, device=device, dtype=dtype)
            if elementwise_affine
            else None
        )
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Make scales 1."""
        _reset_affine(self)

    def forward(self, x: Any) -> Any:
        """Return the numbers along the last axes, normalised."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return the options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class LocalResponseNorm(Module):
    """The numbers of each channel over a mean of the squares of those beside it."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Any) -> Any:
        """Return the numbers, normalised across channels."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


offer("batchnorm", _NormBase, _BatchNorm, BatchNorm1d, BatchNorm2d, BatchNorm3d, SyncBatchNorm)
offer("instancenorm", _InstanceNorm, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d)
offer("normalization", GroupNorm, LayerNorm, RMSNorm, LocalResponseNorm)
