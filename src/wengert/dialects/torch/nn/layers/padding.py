"""Padding as modules."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch.nn.layers.calls import F, offer, several
from wengert.dialects.torch.nn.module import Module


class _PadNd(Module):
    """Numbers beside those along the last axes."""

    axes: int
    mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = several(padding, 2 * self.axes)

    def forward(self, input: Any) -> Any:
        """Return the numbers with others beside them."""
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        """Return how many there are on each side."""
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        """Return the numbers with one number beside them."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """Return how many there are on each side, and which number."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """One number beside those along an axis."""

    axes = 1


class ConstantPad2d(_ConstantPadNd):
    """One number around images."""

    axes = 2


class ConstantPad3d(_ConstantPadNd):
    """One number around volumes."""

    axes = 3


class ZeroPad1d(ConstantPad1d):
    """Zeros beside the numbers along an axis."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    extra_repr = _PadNd.extra_repr


class ZeroPad2d(ConstantPad2d):
    """Zeros around images."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    extra_repr = _PadNd.extra_repr


class ZeroPad3d(ConstantPad3d):
    """Zeros around volumes."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    extra_repr = _PadNd.extra_repr


class _ReflectionPadNd(_PadNd):
    mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Mirror images beside the numbers along an axis."""

    axes = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Mirror images around images."""

    axes = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Mirror images around volumes."""

    axes = 3


class _ReplicationPadNd(_PadNd):
    mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """The outermost numbers again, along an axis."""

    axes = 1


class ReplicationPad2d(_ReplicationPadNd):
    """The outermost numbers again, around images."""

    axes = 2


class ReplicationPad3d(_ReplicationPadNd):
    """The outermost numbers again, around volumes."""

    axes = 3


class _CircularPadNd(_PadNd):
    mode = "circular"

    def forward(self, input: Any) -> Any:
        """Return the numbers with those of the other side beside them."""
        if input.ndim not in (self.axes + 1, self.axes + 2):
            raise ValueError(
                f"the input has {input.ndim} axes; give {self.axes + 1} or {self.axes + 2}"
            )
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """The numbers of the other side, along an axis."""

    axes = 1


class CircularPad2d(_CircularPadNd):
    """The numbers of the other side, around images."""

    axes = 2


class CircularPad3d(_CircularPadNd):
    """The numbers of the other side, around volumes."""

    axes = 3


offer(
    "padding", _ConstantPadNd, _ReflectionPadNd, _ReplicationPadNd, _CircularPadNd,
    ConstantPad1d, ConstantPad2d, ConstantPad3d, ZeroPad1d, ZeroPad2d, ZeroPad3d, ReflectionPad1d,
    ReflectionPad2d, ReflectionPad3d, ReplicationPad1d, ReplicationPad2d, ReplicationPad3d,
    CircularPad1d, CircularPad2d, CircularPad3d,
)  # fmt: skip
