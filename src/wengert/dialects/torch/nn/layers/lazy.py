"""Layers that find out the size of their arguments when they are first called."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.torch import dtypes
from wengert.dialects.torch.nn.layers import convolutions, linear, normalisation
from wengert.dialects.torch.nn.layers.calls import offer
from wengert.dialects.torch.nn.module import Module
from wengert.dialects.torch.nn.parameters import Parameter
from wengert.dialects.torch.table import NAMES, put
from wengert.dialects.torch.tensors import made


class UninitializedParameter(Parameter):
    """A parameter whose shape is not known yet."""

    shown = "torch.nn.parameter.UninitializedParameter"

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        """Return a parameter without a shape."""
        kind = dtypes.default().numpy if dtype is None else dtypes.to_numpy(dtype)
        return Parameter.__new__(cls, made(np.empty(0, kind)), requires_grad)

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        pass

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give it a shape, and make it an ordinary parameter."""
        kind = self.dtype if dtype is None else dtype
        self.data = NAMES["empty"](shape, device=device, dtype=kind)
        self.__class__ = Parameter  # type: ignore[assignment]

    @property
    def shape(self) -> Any:
        """Raise: there is none yet."""
        raise RuntimeError("this parameter or buffer has no shape yet; call the module once")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, None, self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.requires_grad, None, self.dtype)


def is_lazy(param: Any) -> bool:
    """Return whether a parameter has no shape yet."""
    return isinstance(param, UninitializedParameter)


class LazyModuleMixin(Module):
    """Goes before a module's class: parameters get their shapes from the first argument."""

    #: what the module is afterwards
    cls_to_become: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._starts = self.register_forward_pre_hook(_start)

    def has_uninitialized_params(self) -> bool:
        """Return whether some parameter has no shape yet."""
        return any(map(is_lazy, self._parameters.values()))

    def initialize_parameters(self, input: Any) -> None:
        """Give parameters their shapes; a subclass says how."""
        raise NotImplementedError(f"{type(self).__name__} has no initialize_parameters")

    def _set_size(self, name: str, size: int) -> None:
        """Have a size be known, and draw all parameters."""
        setattr(self, name, size)
        for parameter, shape in self._shapes().items():
            held = self._parameters[parameter]
            if held is not None:
                held.materialize(shape)
        self.reset_parameters()

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        raise NotImplementedError

    def _make_lazy(self, bias: bool, device: Any, dtype: Any) -> None:
        for name, wanted in (("weight", True), ("bias", bias)):
            self._parameters[name] = (
                UninitializedParameter(device=device, dtype=dtype) if wanted else None
            )


def _start(module: Any, args: tuple[Any, ...]) -> None:
    """Give a module's parameters their shapes before its first call, and be gone."""
    module.initialize_parameters(*args)
    module._starts.remove()
    del module._starts
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become


class LazyLinear(LazyModuleMixin, linear.Linear):
    """A Linear that finds out `in_features`."""

    cls_to_become = linear.Linear

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False, device, dtype)
        self.out_features = out_features
        self._make_lazy(bias, device, dtype)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.out_features, self.in_features), "bias": (self.out_features,)}

    def initialize_parameters(self, input: Any) -> None:
        """Give parameters their shapes."""
        if self.has_uninitialized_params():
            self._set_size("in_features", input.shape[-1])

    def reset_parameters(self) -> None:
        """Draw weights and biases, once there are some."""
        if self.in_features and not self.has_uninitialized_params():
            super().reset_parameters()


class _LazyConv(LazyModuleMixin):
    """A convolution that finds out `in_channels`."""

    axes: int

    def _finish(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.out_channels = out_channels
        self._make_lazy(bias, device, dtype)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        most, fewer = self.out_channels, self.in_channels // self.groups
        if self.transposed:
            most, fewer = self.in_channels, self.out_channels // self.groups
        return {"weight": (most, fewer, *self.kernel_size), "bias": (self.out_channels,)}

    def initialize_parameters(self, input: Any) -> None:
        """Give parameters their shapes."""
        if not self.has_uninitialized_params():
            return
        if input.ndim not in (self.axes + 1, self.axes + 2):
            raise RuntimeError(
                f"{type(self).__name__}: got shape {list(input.shape)}; give {self.axes + 2} "
                f"axes (batch, channels and space), or {self.axes + 1} without a batch"
            )
        channels = input.shape[-self.axes - 1]
        if channels % self.groups:
            raise ValueError(f"{channels} channels are not divisible into {self.groups} groups")
        self._set_size("in_channels", channels)

    def reset_parameters(self) -> None:
        """Draw weights and biases, once there are some."""
        if self.in_channels and not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]


class _LazyForward(_LazyConv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype
        )
        self._finish(out_channels, bias, device, dtype)


class LazyConv1d(_LazyForward, convolutions.Conv1d):
    """A Conv1d that finds out `in_channels`."""

    cls_to_become = convolutions.Conv1d


class LazyConv2d(_LazyForward, convolutions.Conv2d):
    """A Conv2d that finds out `in_channels`."""

    cls_to_become = convolutions.Conv2d


class LazyConv3d(_LazyForward, convolutions.Conv3d):
    """A Conv3d that finds out `in_channels`."""

    cls_to_become = convolutions.Conv3d


class _LazyTransposed(_LazyConv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation,
            padding_mode, device, dtype,
        )  # fmt: skip
        self._finish(out_channels, bias, device, dtype)


class LazyConvTranspose1d(_LazyTransposed, convolutions.ConvTranspose1d):
    """A ConvTranspose1d that finds out `in_channels`."""

    cls_to_become = convolutions.ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposed, convolutions.ConvTranspose2d):
    """A ConvTranspose2d that finds out `in_channels`."""

    cls_to_become = convolutions.ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposed, convolutions.ConvTranspose3d):
    """A ConvTranspose3d that finds out `in_channels`."""

    cls_to_become = convolutions.ConvTranspose3d


class _LazyNorm(LazyModuleMixin):
    """A normalisation that finds out `num_features`; statistics have no numbers until then."""

    affine: bool

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, track_running_stats, device, dtype)
        self.affine = affine
        if affine:
            self._make_lazy(bias, device, dtype)
        self._begun = False

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(("weight", "bias"), (self.num_features,))

    def initialize_parameters(self, input: Any) -> None:
        """Give parameters and statistics their shapes."""
        if self._begun:
            return
        self._begun = True
        self.num_features = input.shape[1]
        for name in ("running_mean", "running_var"):
            if self.track_running_stats:
                self._buffers[name] = self._buffers[name].new_empty(self.num_features)
        self._set_size("num_features", self.num_features)

    def reset_parameters(self) -> None:
        """Give all tensors their first values, once there are some."""
        if self.num_features and not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]


class LazyBatchNorm1d(_LazyNorm, normalisation.BatchNorm1d):
    """A BatchNorm1d that finds out `num_features`."""

    cls_to_become = normalisation.BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, normalisation.BatchNorm2d):
    """A BatchNorm2d that finds out `num_features`."""

    cls_to_become = normalisation.BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, normalisation.BatchNorm3d):
    """A BatchNorm3d that finds out `num_features`."""

    cls_to_become = normalisation.BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, normalisation.InstanceNorm1d):
    """An InstanceNorm1d that finds out `num_features`."""

    cls_to_become = normalisation.InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, normalisation.InstanceNorm2d):
    """An InstanceNorm2d that finds out `num_features`."""

    cls_to_become = normalisation.InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, normalisation.InstanceNorm3d):
    """An InstanceNorm3d that finds out `num_features`."""

    cls_to_become = normalisation.InstanceNorm3d


put(("nn.UninitializedParameter", "nn.parameter.UninitializedParameter"), UninitializedParameter)
put(("nn.parameter.is_lazy",), is_lazy)
put(("nn.modules.lazy.LazyModuleMixin",), LazyModuleMixin)
offer("linear", LazyLinear)
offer(
    "conv", LazyConv1d, LazyConv2d, LazyConv3d, LazyConvTranspose1d, LazyConvTranspose2d,
    LazyConvTranspose3d,
)  # fmt: skip
offer("batchnorm", LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d)
offer("instancenorm", LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d)
