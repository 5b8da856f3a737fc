"""torch.nn.functional: resizing, sampling at grids, pixels as channels, and padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.kernel.functions import named, warn
from wengert.dialects.torch import conventions
from wengert.dialects.torch.axes import kind_of, unable
from wengert.dialects.torch.kinds import Input, Int, Ints
from wengert.dialects.torch.nn.arguments import Alike, F, functional, misfit, wrong
from wengert.dialects.torch.repeating import border_pairs, cropped, padded
from wengert.dialects.torch.table import NAMES, plain
from wengert.dialects.torch.tensors import Native, ns, static
from wengert.ops.neural import grids, resampling

# -- other sizes -----------------------------------------------------------------------------------

_AXES = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
_ANY = ("nearest", "nearest-exact", "area")


def _check_mode(x: Native, mode: str) -> None:
    spatial = x.ndim - 2
    known = mode in _ANY or mode in _AXES
    if spatial not in (1, 2, 3) or not known or _AXES.get(mode, spatial) != spatial:
        raise NotImplementedError(
            f"interpolate: an input of {x.ndim} axes with mode={mode}; give 'linear' 3 axes, "
            "'bilinear' and 'bicubic' 4, 'trilinear' 5, and the other modes 3, 4 or 5"
        )


def _sizes(x: Native, size: Any, scale_factor: Any) -> tuple[list[int] | None, Any]:
    """Return the size for each axis, or the factor for each."""
    spatial = x.ndim - 2
    if (size is None) == (scale_factor is None):
        raise wrong("interpolate: give one of size and scale_factor, and leave the other out")
    given = static(scale_factor if size is None else size)
    many = list(given) if isinstance(given, (list, tuple)) else [given] * spatial
    if len(many) != spatial:
        raise misfit(
            "interpolate", "a number for each axis, or one for all", wrong, input=x, given=given
        )
    if size is None:
        return None, many
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in many):
        raise TypeError(f"interpolate: size is {size!r}; give a whole number, or a tuple of them")
    return many, None


@functional(label="UpsampleBackward0")
def interpolate(
    input: Input, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:  # fmt: skip
    """Return images (batch, channels, *spatial) in another size, or times a factor."""
    x = input
    if mode in _ANY and align_corners is not None:
        raise wrong(
            "interpolate: this mode has no corners to align; leave align_corners out, or choose "
            "'linear', 'bilinear', 'bicubic' or 'trilinear'"
        )
    sizes, factors = _sizes(x, size, scale_factor)
    if recompute_scale_factor and sizes is not None:
        raise wrong("interpolate: recompute_scale_factor needs scale_factor")
    if antialias:
        raise NotImplementedError(
            "interpolate: antialias=True is not offered; write F.avg_pool2d before, or leave it out"
        )
    _check_mode(x, mode)
    if factors is not None and (recompute_scale_factor or mode == "area"):
        sizes = [int(n * f) for n, f in zip(x.shape[2:], factors, strict=True)]
        factors = None
    if mode == "area":
        return NAMES[f"{F}adaptive_avg_pool{x.ndim - 2}d"](x, sizes)
    if x._raw.dtype == np.uint8 and mode in _ANY:
        return ns.astype(interpolate(ns.astype(x, np.float32), size, scale_factor, mode), np.uint8)
    if kind_of(x) != "f":
        raise unable("interpolate", x)
    return resampling.interpolate(
        x, sizes, scale_factor=factors, mode=mode, align_corners=bool(align_corners)
    )


def _old(name: str, mode: str, align_corners: bool | None = None) -> None:
    """Offer `interpolate` by an old name."""

    @plain(F + name)
    @named(name, "Return `interpolate` of the arguments.")
    def upsample(
        input: Any, size: Any = None, scale_factor: Any = None, mode: str = mode,
        align_corners: bool | None = align_corners,
    ) -> Any:  # fmt: skip
        warn(f"nn.functional.{name} is the old name; write nn.functional.interpolate")
        return interpolate(input, size, scale_factor, mode, align_corners)


_old("upsample", "nearest")
_old("upsample_nearest", "nearest")
_old("upsample_bilinear", "bilinear", True)


# -- grids ----------------------------------------------------------------------------------------


def _corners(align_corners: Any) -> bool:
    if align_corners is None:
        warn(
            "align_corners was not given and is False; write align_corners=False, or True for "
            "grids whose -1 and 1 are the centres of the outermost pixels"
        )
    return bool(align_corners)


@functional(label="GridSampler2DBackward0")
def grid_sample(
    input: Alike, grid: Alike, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Native:  # fmt: skip
    """Return the elements of images at the points of a grid, whose coordinates are -1 to 1."""
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise wrong(f"grid_sample: mode is '{mode}'; give 'bilinear', 'nearest' or 'bicubic'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise misfit(
            "grid_sample", "'zeros', 'border' or 'reflection'", wrong, padding_mode=padding_mode
        )
    corners, spatial = _corners(align_corners), input.ndim - 2
    expected = "images or volumes, and coordinates for each axis of space on the last axis"
    fits = spatial in (2, 3) and grid.ndim == input.ndim and grid.shape[-1] == spatial
    if not fits or input.shape[0] != grid.shape[0] or 0 in input.shape[2:]:
        raise misfit("grid_sample", expected, input=input, grid=grid)
    if mode == "bicubic" and spatial == 3:
        raise RuntimeError("grid_sample: mode='bicubic' is for images, not volumes")
    if kind_of(input) != "f":
        raise unable("grid_sampler", input)
    return grids.grid_sample(input, grid, mode, padding_mode, corners)


@functional(label="AffineGridGeneratorBackward0")
def affine_grid(theta: Input, size: Ints, align_corners: bool | None = None) -> Native:
    """Return the grid of points that affine maps take the centres of pixels to."""
    corners, t, sizes = _corners(align_corners), theta, size
    if kind_of(t) != "f":
        raise wrong(f"affine_grid: theta has dtype {t.dtype}; write theta.float()")
    if len(sizes) not in (4, 5):
        raise misfit("affine_grid", "4 or 5 lengths", NotImplementedError, size=sizes)
    spatial = len(sizes) - 2
    if t.ndim != 3 or t.shape[1:] != (spatial, spatial + 1):
        raise misfit(
            "affine_grid", f"(batch, {spatial}, {spatial + 1})", wrong, theta=t, size=sizes
        )
    if min(sizes) <= 0:
        raise wrong(f"affine_grid: size is {sizes}; give 1 or more for each axis")
    return grids.affine_grid(t, sizes[2:], corners)


# -- channels and pixels ---------------------------------------------------------------------------


@functional("pixel_shuffle")
def pixel_shuffle(input: Input, upscale_factor: Int) -> Native:
    """Return images r times as high and wide, from r * r channels for each of theirs."""
    return resampling.pixel_shuffle(input, upscale_factor)


@functional("pixel_unshuffle")
def pixel_unshuffle(input: Input, downscale_factor: Int) -> Native:
    """Return images with r * r channels for each one, 1 / r as high and wide."""
    return resampling.pixel_unshuffle(input, downscale_factor)


# -- borders ---------------------------------------------------------------------------------------

_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _check_borders(x: Native, count: int, pairs: Any, mode: str) -> None:
    """Raise unless PyTorch has this padding, which it has for one to three last axes."""
    if count not in (1, 2, 3) or x.ndim not in (count + 1, count + 2):
        raise NotImplementedError(
            f"pad: {count} axes of an input with {x.ndim} axes; the other modes than 'constant' "
            "pad the last 1, 2 or 3 axes, after batch and channels"
        )
    for n, pair in zip(x.shape[-count:], pairs[-count:], strict=True):
        limit = {"reflect": n - 1, "circular": n}.get(mode, max(pair))
        if max(pair) > limit or n + sum(pair) < 1:
            raise misfit("pad", f"less for mode {mode!r}", length=n, pad=pair)


@functional(label="ConstantPadNdBackward0")
def pad(input: Input, pad: Ints, mode: str = "constant", value: Any = None) -> Native:
    """Return a tensor with numbers beside those along its last axes, or without some."""
    if mode == "constant":
        return padded(input, pad, 0 if value is None else static(value))
    x, pairs = input, border_pairs(pad, input)
    if mode not in _MODES:
        raise misfit("pad", f"'constant' or one of {list(_MODES)}", NotImplementedError, mode=mode)
    if value:
        raise RuntimeError(f'pad: mode "{mode}" copies elements and uses no value; leave value out')
    _check_borders(x, len(pad) // 2, pairs, mode)
    wide = [(max(b, 0), max(a, 0)) for b, a in pairs]
    if mode == "circular":  # around what is left
        return ns.pad(cropped(x, pairs), wide, _MODES[mode])
    x = conventions.read(x)
    return cropped(ns.pad(x, wide, _MODES[mode]), [(min(b, 0), min(a, 0)) for b, a in pairs])
