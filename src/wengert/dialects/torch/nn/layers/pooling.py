"""Pooling as modules."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch.nn.layers.calls import Call, offer, several


class _Windows(Call):
    """A pooling whose windows lie side by side, unless there is a stride."""

    def _init_with(self, **options: Any) -> None:
        if options["stride"] is None:
            options["stride"] = options["kernel_size"]
        super()._init_with(**options)


def _by_axes(options: dict[str, Any], axes: int) -> dict[str, Any]:
    """Return options with one number for each axis, but flags and None as they are."""
    return {
        name: value if value is None or isinstance(value, bool) else several(value, axes)
        for name, value in options.items()
    }


# -- the largest -----------------------------------------------------------------------------------


class _MaxPoolNd(
    _Windows,
    takes="kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False",
    shown="kernel_size=, stride=, padding=, dilation=, ceil_mode=",
):
    pass


class MaxPool1d(_MaxPoolNd, function="max_pool1d"):
    """The largest number of each window along one axis."""


class MaxPool2d(_MaxPoolNd, function="max_pool2d"):
    """The largest number of each window of images."""


class MaxPool3d(_MaxPoolNd, function="max_pool3d"):
    """The largest number of each window of volumes."""


class _MaxUnpoolNd(
    _Windows,
    takes="kernel_size, stride=None, padding=0",
    inputs="input, indices, output_size",
    shown="kernel_size=, stride=, padding=",
):
    def _init_with(self, **options: Any) -> None:
        super()._init_with(**_by_axes(options, self.axes))


class MaxUnpool1d(_MaxUnpoolNd, function="max_unpool1d", axes=1):
    """The numbers that MaxPool1d found, at their places."""


class MaxUnpool2d(_MaxUnpoolNd, function="max_unpool2d", axes=2):
    """The numbers that MaxPool2d found, at their places."""


class MaxUnpool3d(_MaxUnpoolNd, function="max_unpool3d", axes=3):
    """The numbers that MaxPool3d found, at their places."""


# -- means -----------------------------------------------------------------------------------------


class _AvgPoolNd(_Windows, shown="kernel_size=, stride=, padding="):
    pass


class AvgPool1d(
    _AvgPoolNd,
    function="avg_pool1d",
    takes="kernel_size, stride, padding, ceil_mode, count_include_pad",
):
    """The mean of each window along one axis."""

    def _init_with(self, **options: Any) -> None:
        super()._init_with(**_by_axes(options, 1))


class AvgPool2d(
    _AvgPoolNd,
    function="avg_pool2d",
    takes="kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override",
):
    """The mean of each window of images."""


class AvgPool3d(
    _AvgPoolNd,
    function="avg_pool3d",
    takes="kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override",
):
    """The mean of each window of volumes."""


class _LPPoolNd(
    Call,
    takes="norm_type, kernel_size, stride=None, ceil_mode=False",
    shown="norm_type=, kernel_size=, stride=, ceil_mode=",
):
    pass


class LPPool1d(_LPPoolNd, function="lp_pool1d"):
    """The norm of each window along one axis."""


class LPPool2d(_LPPoolNd, function="lp_pool2d"):
    """The norm of each window of images."""


class LPPool3d(_LPPoolNd, function="lp_pool3d"):
    """The norm of each window of volumes."""


# -- to a size -------------------------------------------------------------------------------------


class _AdaptiveMaxPoolNd(Call, takes="output_size, return_indices=False", shown="output_size="):
    pass


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd, function="adaptive_max_pool1d"):
    """The largest numbers of windows along one axis, so many as are wanted."""


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd, function="adaptive_max_pool2d"):
    """The largest numbers of windows of images, so many as are wanted."""


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd, function="adaptive_max_pool3d"):
    """The largest numbers of windows of volumes, so many as are wanted."""


class _AdaptiveAvgPoolNd(Call, takes="output_size", shown="output_size="):
    pass


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd, function="adaptive_avg_pool1d"):
    """The means of windows along one axis, so many as are wanted."""


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd, function="adaptive_avg_pool2d"):
    """The means of windows of images, so many as are wanted."""


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd, function="adaptive_avg_pool3d"):
    """The means of windows of volumes, so many as are wanted."""


offer(
    "pooling", _MaxPoolNd, _MaxUnpoolNd, _AvgPoolNd, _LPPoolNd, _AdaptiveMaxPoolNd,
    _AdaptiveAvgPoolNd, MaxPool1d, MaxPool2d, MaxPool3d, MaxUnpool1d, MaxUnpool2d, MaxUnpool3d,
    AvgPool1d, AvgPool2d, AvgPool3d, LPPool1d, LPPool2d, LPPool3d, AdaptiveMaxPool1d,
    AdaptiveMaxPool2d, AdaptiveMaxPool3d, AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d,
)  # fmt: skip
