"""Layers that change shapes, compare vectors, or make images larger."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch.nn.layers.calls import Call, F, layer, offer


class Flatten(Call, takes="start_dim=1, end_dim=-1", shown="start_dim=, end_dim="):
    """Several axes as one; by default all but the first."""

    def forward(self, input: Any) -> Any:
        """Return the same numbers with fewer axes."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Call, takes="dim, unflattened_size", shown="dim=, unflattened_size="):
    """One axis as several."""

    def _init_with(self, **options: Any) -> None:
        super()._init_with(**options)
        if not isinstance(self.dim, int):
            raise TypeError(f"dim is {self.dim!r}; give a number: axes have no names")
        sizes = self.unflattened_size
        if not isinstance(sizes, (tuple, list)) or not all(isinstance(n, int) for n in sizes):
            raise TypeError(f"unflattened_size is {sizes!r}; give a tuple of lengths")

    def forward(self, input: Any) -> Any:
        """Return the same numbers with more axes."""
        return input.unflatten(self.dim, self.unflattened_size)


class PairwiseDistance(Call, function="pairwise_distance", takes="p=2.0, eps, keepdim"):
    """The distance between vectors."""

    def _init_with(self, **options: Any) -> None:
        super()._init_with(norm=options.pop("p"), **options)

    def forward(self, x1: Any, x2: Any) -> Any:
        """Return the distances."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class Upsample(
    Call,
    function="interpolate",
    takes="size, scale_factor, mode, align_corners, recompute_scale_factor",
):
    """Larger images."""

    def _init_with(self, **options: Any) -> None:
        factor = options["scale_factor"]
        if isinstance(factor, tuple):
            options["scale_factor"] = tuple(map(float, factor))
        else:
            options["scale_factor"] = float(factor) if factor else None
        super()._init_with(name=type(self).__name__, **options)

    def extra_repr(self) -> str:
        """Return the size or the factor, and how."""
        what = "size" if self.scale_factor is None else "scale_factor"
        return f"{what}={getattr(self, what)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Larger images, each pixel several times."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """Larger images, with straight lines between pixels."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


offer("flatten", Flatten, Unflatten)
_windows = "kernel_size, dilation, padding, stride"
offer(
    "fold",
    layer("Fold", function="fold", takes=f"output_size, {_windows}"),
    layer("Unfold", function="unfold", takes=_windows),
)
offer(
    "pixelshuffle",
    layer("PixelShuffle", function="pixel_shuffle", takes="upscale_factor"),
    layer("PixelUnshuffle", function="pixel_unshuffle", takes="downscale_factor"),
)
offer(
    "distance",
    PairwiseDistance,
    layer("CosineSimilarity", function="cosine_similarity", takes="dim, eps", shown=""),
)
offer("upsampling", Upsample, UpsamplingNearest2d, UpsamplingBilinear2d)
