"""Padding as modules."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch.nn.layers.calls import Call, F, family, offer, several


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


class _ZeroPadNd(_ConstantPadNd, takes="padding", shown="padding"):
    pass


class _ReflectionPadNd(_PadNd):
    mode = "reflect"


class _ReplicationPadNd(_PadNd):
    mode = "replicate"


class _CircularPadNd(_PadNd):
    mode = "circular"

    def forward(self, input: Any) -> Any:
        """Return the numbers with those of the other side beside them."""
        if input.ndim not in (self.axes + 1, self.axes + 2):
            raise ValueError(
                f"the input has {input.ndim} axes; give {self.axes + 1} or {self.axes + 2}"
            )
        return super().forward(input)


offer(
    "padding",
    *(_ConstantPadNd, _ReflectionPadNd, _ReplicationPadNd, _CircularPadNd),
    *family("ConstantPad", _ConstantPadNd, "Numbers {} with one number around them."),
    *family("ZeroPad", _ZeroPadNd, "Numbers {} with zeros around them."),
    *family("ReflectionPad", _ReflectionPadNd, "Numbers {} with mirror images around them."),
    *family("ReplicationPad", _ReplicationPadNd, "Numbers {} with the outermost ones repeated."),
    *family("CircularPad", _CircularPadNd, "Numbers {} with those of the other side around them."),
)
