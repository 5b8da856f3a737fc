"""Pooling as modules."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch.nn.layers.calls import F, offer, several
from wengert.dialects.torch.nn.module import Module


class _Pool(Module):
    """A pooling along some axes."""

    axes: int
    function: str

    def _call(self, *args: Any, **options: Any) -> Any:
        return getattr(F, f"{self.function}{self.axes}d")(*args, **options)


# -- the largest -----------------------------------------------------------------------------------


class _MaxPoolNd(_Pool):
    function = "max_pool"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Any) -> Any:
        """Return the largest number of each window."""
        return self._call(
            input, self.kernel_size, self.stride, self.padding, self.dilation,
            ceil_mode=self.ceil_mode, return_indices=self.return_indices,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the options."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest number of each window along one axis."""

    axes = 1


class MaxPool2d(_MaxPoolNd):
    """The largest number of each window of images."""

    axes = 2


class MaxPool3d(_MaxPoolNd):
    """The largest number of each window of volumes."""

    axes = 3


class _MaxUnpoolNd(_Pool):
    function = "max_unpool"

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = several(kernel_size, self.axes)
        self.stride = several(kernel_size if stride is None else stride, self.axes)
        self.padding = several(padding, self.axes)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        """Return numbers at the places where a pooling found them, and zeros elsewhere."""
        return self._call(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """The numbers that MaxPool1d found, at their places."""

    axes = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """The numbers that MaxPool2d found, at their places."""

    axes = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """The numbers that MaxPool3d found, at their places."""

    axes = 3


# -- means -----------------------------------------------------------------------------------------


class _AvgPoolNd(_Pool):
    function = "avg_pool"
    divisor_override: int | None

    def extra_repr(self) -> str:
        """Return the options."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window along one axis."""

    axes = 1

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = several(kernel_size, 1)
        self.stride = several(kernel_size if stride is None else stride, 1)
        self.padding = several(padding, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Any) -> Any:
        """Return the mean of each window."""
        return self._call(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip


class AvgPool2d(_AvgPoolNd):
    """The mean of each window of images."""

    axes = 2

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Any) -> Any:
        """Return the mean of each window."""
        return self._call(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )  # fmt: skip


class AvgPool3d(AvgPool2d):
    """The mean of each window of volumes."""

    axes = 3


class _LPPoolNd(_Pool):
    function = "lp_pool"

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Any) -> Any:
        """Return the norm of each window."""
        return self._call(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        """Return the options."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The norm of each window along one axis."""

    axes = 1


class LPPool2d(_LPPoolNd):
    """The norm of each window of images."""

    axes = 2


class LPPool3d(_LPPoolNd):
    """The norm of each window of volumes."""

    axes = 3


# -- to a size -------------------------------------------------------------------------------------


class _AdaptiveMaxPoolNd(_Pool):
    function = "adaptive_max_pool"

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Any) -> Any:
        """Return the largest number of each window, with windows for so many results."""
        return self._call(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        """Return the size."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest numbers of windows along one axis, so many as are wanted."""

    axes = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest numbers of windows of images, so many as are wanted."""

    axes = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest numbers of windows of volumes, so many as are wanted."""

    axes = 3


class _AdaptiveAvgPoolNd(_Pool):
    function = "adaptive_avg_pool"

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        """Return the mean of each window, with windows for so many results."""
        return self._call(input, self.output_size)

    def extra_repr(self) -> str:
        """Return the size."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The means of windows along one axis, so many as are wanted."""

    axes = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The means of windows of images, so many as are wanted."""

    axes = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The means of windows of volumes, so many as are wanted."""

    axes = 3


class _FractionalMaxPoolNd(_Pool):
    function = "fractional_max_pool"

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        self.kernel_size = several(kernel_size, self.axes)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else several(output_size, self.axes)
        self.output_ratio = None if output_ratio is None else several(output_ratio, self.axes)
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{type(self).__name__}: neither output_size nor output_ratio was given; give "
                "one of them"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("output_size and output_ratio were both given; leave one of them out")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio is {output_ratio}; give a number between 0 and 1")

    def forward(self, input: Any) -> Any:
        """Return the largest number of windows at random places."""
        return self._call(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
            _random_samples=self._random_samples,
        )  # fmt: skip


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest numbers of windows of images, whose places are drawn."""

    axes = 2


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest numbers of windows of volumes, whose places are drawn."""

    axes = 3


offer(
    "pooling", _MaxPoolNd, _MaxUnpoolNd, _AvgPoolNd, _LPPoolNd, _AdaptiveMaxPoolNd,
    _AdaptiveAvgPoolNd, MaxPool1d, MaxPool2d, MaxPool3d, MaxUnpool1d, MaxUnpool2d, MaxUnpool3d,
    AvgPool1d, AvgPool2d, AvgPool3d, LPPool1d, LPPool2d, LPPool3d, AdaptiveMaxPool1d,
    AdaptiveMaxPool2d, AdaptiveMaxPool3d, AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d,
    FractionalMaxPool2d, FractionalMaxPool3d,
)  # fmt: skip
