"""Padding as modules."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch.nn.layers.calls import Call, F, offer, several


class _PadNd(Call, takes="padding", shown="padding"):
    """Numbers beside those along the last axes."""

    mode: str  # as torch.nn.functional.pad calls it

    def _init_with(self, **options: Any) -> None:
        super()._init_with(**{**options, "padding": several(options["padding"], 2 * self.axes)})

    def forward(self, input: Any) -> Any:
        """Return the numbers with others beside them."""
        return F.pad(input, self.padding, self.mode)


class _ConstantPadNd(_PadNd, takes="padding, value", shown="padding=, value="):
    def _init_with(self, **options: Any) -> None:
        super()._init_with(**{"value": 0.0, **options})

    def forward(self, input: Any) -> Any:
        """Return the numbers with one number beside them."""
        return F.pad(input, self.padding, "constant", self.value)


class ConstantPad1d(_ConstantPadNd, axes=1):
    """One number beside those along an axis."""


class ConstantPad2d(_ConstantPadNd, axes=2):
    """One number around images."""


class ConstantPad3d(_ConstantPadNd, axes=3):
    """One number around volumes."""


class ZeroPad1d(ConstantPad1d, takes="padding", shown="padding"):
    """Zeros beside the numbers along an axis."""


class ZeroPad2d(ConstantPad2d, takes="padding", shown="padding"):
    """Zeros around images."""


class ZeroPad3d(ConstantPad3d, takes="padding", shown="padding"):
    """Zeros around volumes."""


class _ReflectionPadNd(_PadNd):
    mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd, axes=1):
    """Mirror images beside the numbers along an axis."""


class ReflectionPad2d(_ReflectionPadNd, axes=2):
    """Mirror images around images."""


class ReflectionPad3d(_ReflectionPadNd, axes=3):
    """Mirror images around volumes."""


class _ReplicationPadNd(_PadNd):
    mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd, axes=1):
    """The outermost numbers again, along an axis."""


class ReplicationPad2d(_ReplicationPadNd, axes=2):
    """The outermost numbers again, around images."""


class ReplicationPad3d(_ReplicationPadNd, axes=3):
    """The outermost numbers again, around volumes."""


class _CircularPadNd(_PadNd):
    mode = "circular"

    def forward(self, input: Any) -> Any:
        """Return the numbers with those of the other side beside them."""
        if input.ndim not in (self.axes + 1, self.axes + 2):
            raise ValueError(
                f"the input has {input.ndim} axes; give {self.axes + 1} or {self.axes + 2}"
            )
        return super().forward(input)


class CircularPad1d(_CircularPadNd, axes=1):
    """The numbers of the other side, along an axis."""


class CircularPad2d(_CircularPadNd, axes=2):
    """The numbers of the other side, around images."""


class CircularPad3d(_CircularPadNd, axes=3):
    """The numbers of the other side, around volumes."""


offer(
    "padding", _ConstantPadNd, _ReflectionPadNd, _ReplicationPadNd, _CircularPadNd,
    ConstantPad1d, ConstantPad2d, ConstantPad3d, ZeroPad1d, ZeroPad2d, ZeroPad3d, ReflectionPad1d,
    ReflectionPad2d, ReflectionPad3d, ReplicationPad1d, ReplicationPad2d, ReplicationPad3d,
    CircularPad1d, CircularPad2d, CircularPad3d,
)  # fmt: skip
