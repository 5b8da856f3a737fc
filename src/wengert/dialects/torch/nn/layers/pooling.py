"""Pooling as modules."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch.nn.layers.calls import Call, family, offer, several


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


class _MaxPoolNd(
    _Windows,
    takes="kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False",
    shown="kernel_size=, stride=, padding=, dilation=, ceil_mode=",
):
    pass


class _MaxUnpoolNd(
    _Windows,
    takes="kernel_size, stride=None, padding=0",
    inputs="input, indices, output_size",
    shown="kernel_size=, stride=, padding=",
):
    def _init_with(self, **options: Any) -> None:
        super()._init_with(**_by_axes(options, self.axes))


class _AvgPoolNd(
    _Windows,
    takes="kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, "
    "divisor_override=None",
    shown="kernel_size=, stride=, padding=",
):
    pass


class AvgPool1d(
    _AvgPoolNd,
    function="avg_pool1d",
    takes="kernel_size, stride, padding, ceil_mode, count_include_pad",
):
    """The mean of each window along one axis."""

    def _init_with(self, **options: Any) -> None:
        super()._init_with(**_by_axes(options, 1))


class _AdaptiveMaxPoolNd(Call, takes="output_size, return_indices=False", shown="output_size="):
    pass


class _AdaptiveAvgPoolNd(Call, takes="output_size", shown="output_size="):
    pass


_largest, _mean = "The largest number of each window {}.", "The mean of each window {}."
offer(
    "pooling",
    *(_MaxPoolNd, _MaxUnpoolNd, _AvgPoolNd, _AdaptiveMaxPoolNd, _AdaptiveAvgPoolNd),
    *family("MaxPool", _MaxPoolNd, _largest, "max_pool"),
    *family("MaxUnpool", _MaxUnpoolNd, "Largest numbers {}, put back.", "max_unpool"),
    AvgPool1d,
    *family("AvgPool", _AvgPoolNd, _mean, "avg_pool", axes=(2, 3)),
    *family("AdaptiveMaxPool", _AdaptiveMaxPoolNd, _largest, "adaptive_max_pool"),
    *family("AdaptiveAvgPool", _AdaptiveAvgPoolNd, _mean, "adaptive_avg_pool"),
)
