"""torch.nn.functional: images in other sizes and places, and what is around them."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import numpy as np

from wengert.dialects.torch import conventions
from wengert.dialects.torch.axes import kind_of
from wengert.dialects.torch.nn.arguments import (
    F,
    functional,
    real,
    whole,
    wrong,
)
from wengert.dialects.torch.table import NAMES, guarded, put
from wengert.dialects.torch.tensors import ns, only_tensor, static
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops.neural import resampling, resizing

# -- other sizes -----------------------------------------------------------------------------------

_AXES = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
_ANY = ("nearest", "nearest-exact", "area")


def _check_mode(x: Native, mode: str, antialias: bool) -> None:
    spatial = x.ndim - 2
    known = mode in _ANY or mode in _AXES or mode == "lanczos"
    if spatial not in (1, 2, 3) or not known:
        raise NotImplementedError(
            f"interpolate: an input of {x.ndim} axes with mode={mode}; give 'linear' 3 axes, "
            "'bilinear' and 'bicubic' 4, 'trilinear' 5, and the other modes 3, 4 or 5"
        )
    wanted = 2 if mode == "lanczos" else _AXES.get(mode, spatial)
    if wanted != spatial:
        raise NotImplementedError(
            f"mode {mode} takes {wanted + 2} axes, and the input has {x.ndim}"
        )


def _sizes(x: Native, size: Any, scale_factor: Any) -> tuple[list[int] | None, Any]:
    """Return the size for each axis, or the factor for each."""
    spatial = x.ndim - 2
    if (size is None) == (scale_factor is None):
        raise wrong(
            "interpolate: size and scale_factor were both given; leave one of them out"
            if size is not None
            else "interpolate: neither size nor scale_factor was given; give one of them"
        )
    given = static(scale_factor if size is None else size)
    many = list(given) if isinstance(given, (list, tuple)) else [given] * spatial
    if len(many) != spatial:
        raise wrong(
            f"interpolate: {given} was given for the axes {list(x.shape[2:])}; give one number "
            "for each of them, or one for all"
        )
    if size is None:
        return None, many
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in many):
        raise TypeError(f"interpolate: size is {size!r}; give a whole number, or a tuple of them")
    return many, None


_KERNELS = {"bilinear": "linear", "bicubic": "cubic", "lanczos": "lanczos3"}


@functional(label="UpsampleBackward0")
def interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:  # fmt: skip
    """Return images (batch, channels, *spatial) in another size, or times a factor."""
    x = only_tensor(input, "interpolate")
    if mode in _ANY and align_corners is not None:
        raise wrong(
            "interpolate: this mode has no corners to align; leave align_corners out, or choose "
            "'linear', 'bilinear', 'bicubic' or 'trilinear'"
        )
    sizes, factors = _sizes(x, size, scale_factor)
    if recompute_scale_factor and sizes is not None:
        raise wrong("interpolate: recompute_scale_factor needs scale_factor")
    if antialias and not (mode in _KERNELS and x.ndim == 4):
        raise wrong(
            "interpolate: antialias=True is for images (4 axes) and the modes 'bilinear', "
            "'bicubic' and 'lanczos'; leave it out"
        )
    _check_mode(x, mode, antialias)
    if factors is not None and (recompute_scale_factor or mode == "area"):
        sizes = [int(n * f) for n, f in zip(x.shape[2:], factors, strict=True)]
        factors = None
    if mode == "area":
        return NAMES[f"{F}adaptive_avg_pool{x.ndim - 2}d"](x, sizes)
    if x._raw.dtype == np.uint8 and mode in _ANY:
        return ns.astype(interpolate(ns.astype(x, np.float32), size, scale_factor, mode), np.uint8)
    x = real(x, "interpolate")
    if sizes is not None and min(sizes) < 1:
        raise RuntimeError(
            f"interpolate: from shape {list(x.shape)} to {sizes}; each axis needs 1 element or more"
        )
    if mode == "lanczos" and not antialias:
        raise wrong("interpolate: mode='lanczos' needs antialias=True")
    if antialias:
        return _smoothed(x, sizes, factors, mode, bool(align_corners))
    return resampling.interpolate(
        x, sizes, scale_factor=factors, mode=mode, align_corners=bool(align_corners)
    )


def _smoothed(x: Native, sizes: Any, factors: Any, mode: str, align_corners: bool) -> Any:
    """Return images resized by a kernel that is as wide as needed."""
    if align_corners:
        raise RuntimeError("interpolate: align_corners=True with antialias=True is not offered")
    if sizes is None:
        sizes = [math.floor(n * f) for n, f in zip(x.shape[2:], factors, strict=True)]
    kernel = _KERNELS[mode]
    taps = {
        2 + a: resizing.kernel_taps(n, m, kernel, True)
        for a, (n, m) in enumerate(zip(x.shape[2:], sizes, strict=True))
        if n != m
    }
    return resizing.resize_axes(x, taps)


def _deprecated(name: str, instead: str) -> None:
    warnings.warn(
        f"nn.functional.{name} is the old name; write nn.functional.{instead}",
        stacklevel=3,
    )


def upsample(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None,
) -> Any:  # fmt: skip
    """Return `interpolate` of the arguments."""
    _deprecated("upsample", "interpolate")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """Return `interpolate` of the arguments, with the nearest element."""
    _deprecated("upsample_nearest", "interpolate")
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """Return `interpolate` of the arguments, linearly, with corners in place."""
    _deprecated("upsample_bilinear", "interpolate")
    return interpolate(input, size, scale_factor, "bilinear", True)


for _function in (upsample, upsample_nearest, upsample_bilinear):
    put((F + _function.__name__,), _function)


# -- other places ----------------------------------------------------------------------------------


def _corners(align_corners: Any) -> bool:
    if align_corners is None:
        warnings.warn(
            "align_corners was not given and is False; write align_corners=False, or True for "
            "grids whose -1 and 1 are the centres of the outermost pixels",
            stacklevel=4,
        )
    return bool(align_corners)


def _unnormalised(x: Native, length: int, align_corners: bool) -> Native:
    """Return places among elements for coordinates from -1 to 1."""
    if align_corners:
        return (x + 1) * ((length - 1) / 2)
    return ((x + 1) * length - 1) / 2


def _clipped(x: Native, length: int) -> Native:
    """Return places within an axis; at its ends there is no derivative."""
    bounds = [wrap_native(np.array(v, x.dtype)) for v in (0, length - 1)]
    inside = ns.greater(x, bounds[0]) & ns.less(x, bounds[1])
    return ns.where(inside, x, ns.clip(wrap_native(x._raw), *bounds))


def _reflected(x: Native, low: float, high: float) -> Native:
    """Return places reflected at both ends, until they are between them."""
    span = high - low
    if span == 0:
        return x * 0
    shifted = x - low
    away = apply(conventions.absolute.op, (shifted,), {})
    folds = np.floor(away._raw / span)
    rest = away - wrap_native((folds * span).astype(x.dtype))
    back = wrap_native(folds % 2 == 1)
    return ns.where(back, span - rest, rest) + low


def _places(x: Native, length: int, padding_mode: str, align_corners: bool) -> Native:
    """Return places with those outside moved to where `padding_mode` takes them."""
    if padding_mode == "border":
        return _clipped(x, length)
    if padding_mode == "reflection":
        ends = (0, length - 1) if align_corners else (-0.5, length - 0.5)
        return _clipped(_reflected(x, *ends), length)
    return x


def _picked(flat: Native, index: list[np.ndarray], lengths: tuple[int, ...]) -> Native:
    """Return the elements at some places of each image, and 0 outside."""
    inside = np.ones(index[0].shape, bool)
    position = np.zeros(index[0].shape, np.int64)
    for i, n in zip(index, lengths, strict=True):
        inside &= (i >= 0) & (i < n)
        position = position * n + np.clip(i, 0, n - 1).astype(np.int64)
    shape = (*flat.shape[:2], *position.shape[1:])
    where = np.broadcast_to(position[:, None], shape)
    found = ns.take_along_axis(flat, wrap_native(np.ascontiguousarray(where)), axis=2)
    return ns.keep(found, wrap_native(np.broadcast_to(inside[:, None], shape)))


def _linear_weights(t: Native) -> list[Native]:
    return [1 - t, t]


def _cubic_weights(t: Native) -> list[Native]:
    """Return the weights of four neighbours, by the kernel whose slope at distance 1 is -3/4."""
    a = -0.75

    def near(d: Native) -> Native:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: Native) -> Native:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _sampled(x: Native, grid: Native, mode: str, padding_mode: str, align_corners: bool) -> Any:
    size, image = grid.shape[1:-1], x.shape[2:]
    count = math.prod(size)
    flat = ns.reshape(x, (*x.shape[:2], math.prod(image)))
    points = ns.reshape(grid, (grid.shape[0], count, len(image)))
    axes = [
        _unnormalised(points[:, :, k], n, align_corners)
        for k, n in zip(reversed(range(len(image))), image, strict=True)
    ]
    if mode != "bicubic":
        axes = [
            _places(p, n, padding_mode, align_corners) for p, n in zip(axes, image, strict=True)
        ]
    if mode == "nearest":
        y = _picked(flat, [np.rint(p._raw) for p in axes], image)
        nothing = ns.sum(ns.stack([p * 0 for p in axes]), axis=0)
        y = y + ns.expand_dims(nothing, axis=1)  # a derivative that is zero
    else:
        y = _combined(flat, axes, image, mode, padding_mode, align_corners)
    return ns.reshape(y, (*x.shape[:2], *size))


def _combined(
    flat: Native, axes: list[Native], image: Any, mode: str, padding_mode: str, align_corners: bool
) -> Native:
    """Return sums of neighbours by weights, which are products of one for each axis."""
    first = [np.floor(p._raw) for p in axes]
    fractions = [p - wrap_native(f) for p, f in zip(axes, first, strict=True)]
    cubic = mode == "bicubic"
    weights = [_cubic_weights(t) if cubic else _linear_weights(t) for t in fractions]
    reach = range(-1, 3) if cubic else range(2)
    total: Any = None
    for taps in itertools.product(range(len(reach)), repeat=len(axes)):
        index = [f + reach[k] for f, k in zip(first, taps, strict=True)]
        if cubic:
            index = [
                _places(wrap_native(i), n, padding_mode, align_corners)._raw
                for i, n in zip(index, image, strict=True)
            ]
        weight = math.prod((w[k] for w, k in zip(weights[1:], taps[1:], strict=True)),
                           start=weights[0][taps[0]])  # fmt: skip
        part = _picked(flat, index, image) * ns.expand_dims(weight, axis=1)
        total = part if total is None else total + part
    return total


@functional(label="GridSampler2DBackward0")
def grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:  # fmt: skip
    """Return the elements of images at the places of a grid, whose coordinates are -1 to 1."""
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise wrong(f"grid_sample: mode is '{mode}'; give 'bilinear', 'nearest' or 'bicubic'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise wrong(
            f"grid_sample: padding_mode is '{padding_mode}'; give 'zeros', 'border' or 'reflection'"
        )
    corners = _corners(align_corners)
    x, g = only_tensor(input, "grid_sampler"), only_tensor(grid, "grid_sampler", "grid")
    if x._raw.dtype != g._raw.dtype:
        raise RuntimeError(
            f"grid_sample: the input has dtype {x.dtype} and the grid {g.dtype}; convert one"
        )
    spatial = x.ndim - 2
    if spatial not in (2, 3) or g.ndim != x.ndim or g.shape[-1] != spatial:
        raise RuntimeError(
            f"grid_sample: an input of shape {list(x.shape)} with a grid of shape "
            f"{list(g.shape)}; give images of 4 axes or volumes of 5, and a grid of as many, "
            "whose last axis has one coordinate for each axis of space"
        )
    if x.shape[0] != g.shape[0] or 0 in x.shape[2:]:
        raise RuntimeError(
            f"grid_sample: an input of shape {list(x.shape)} with a grid of shape "
            f"{list(g.shape)}; give both one batch size, and images with elements"
        )
    if mode == "bicubic" and spatial == 3:
        raise RuntimeError("grid_sample: mode='bicubic' is for images, not volumes")
    return _sampled(real(x, "grid_sampler"), g, mode, padding_mode, corners)


@functional(label="AffineGridGeneratorBackward0")
def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """Return the grid of places that affine maps take the centres of pixels to."""
    corners = _corners(align_corners)
    t = only_tensor(theta, "affine_grid", "theta")
    sizes = [whole(n, "affine_grid", "size") for n in static(list(size))]
    if kind_of(t) != "f":
        raise wrong(f"affine_grid: theta has dtype {t.dtype}; write theta.float()")
    if len(sizes) not in (4, 5):
        raise NotImplementedError(
            f"affine_grid: size is {sizes}; give 4 lengths for images, or 5 for volumes"
        )
    spatial = len(sizes) - 2
    if t.ndim != 3 or t.shape[1:] != (spatial, spatial + 1):
        raise wrong(
            f"affine_grid: theta has shape {list(t.shape)} for size {sizes}; give one matrix of "
            f"{spatial} rows and {spatial + 1} columns for each example"
        )
    if min(sizes) <= 0:
        raise wrong(f"affine_grid: size is {sizes}; give 1 or more for each axis")
    ticks = []
    for n in sizes[2:]:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        ticks.append(line if corners else line * (n - 1) / n)
    planes = np.meshgrid(*ticks, indexing="ij")
    base = np.stack([*reversed(planes), np.ones_like(planes[0])], axis=-1)
    points = wrap_native(base.reshape(-1, spatial + 1).astype(t._raw.dtype))
    moved = ns.matmul(points, ns.matrix_transpose(t))
    return ns.reshape(moved, (t.shape[0], *sizes[2:], spatial))


# -- channels and pixels ---------------------------------------------------------------------------


@functional("pixel_shuffle")
def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """Return images r times as high and wide, from r * r channels for each of theirs."""
    r = whole(upscale_factor, "pixel_shuffle", "upscale_factor")
    return resampling.pixel_shuffle(only_tensor(input, "pixel_shuffle"), r)


@functional("pixel_unshuffle")
def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """Return images with r * r channels for each one, 1 / r as high and wide."""
    r = whole(downscale_factor, "pixel_unshuffle", "downscale_factor")
    return resampling.pixel_unshuffle(only_tensor(input, "pixel_unshuffle"), r)


@functional(
    "channel_shuffle",
    f"{F}native_channel_shuffle",
    "native_channel_shuffle",
    label="NativeChannelShuffleBackward0",
)
def channel_shuffle(input: Any, groups: int) -> Any:
    """Return channels in another order: the first of each group, the second of each, and so on."""
    x, count = only_tensor(input, "channel_shuffle"), whole(groups, "channel_shuffle", "groups")
    if x.ndim < 3:
        raise RuntimeError(f"channel_shuffle: got shape {list(x.shape)}; give 3 axes or more")
    if count < 1 or x.shape[1] % count:
        raise RuntimeError(
            f"channel_shuffle: {x.shape[1]} channels are not divisible into {count} groups"
        )
    parts = ns.reshape(x, (x.shape[0], count, x.shape[1] // count, *x.shape[2:]))
    return ns.reshape(ns.swapaxes(parts, 1, 2), x.shape)


# -- borders ---------------------------------------------------------------------------------------

_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _pairs(pad: Any, x: Native) -> list[tuple[int, int]]:
    """Return (before, after) for each axis; programs give them from the last axis on."""
    given = [whole(n, "pad", "pad") for n in static(list(pad))]
    if len(given) % 2:
        raise RuntimeError("pad: got an odd number of widths; give two for each axis")
    if len(given) // 2 > x.ndim:
        raise RuntimeError(
            f"pad: {len(given)} widths for an input of {x.ndim} axes; give two for each axis at "
            "most"
        )
    pairs = [(0, 0)] * (x.ndim - len(given) // 2)
    return pairs + [(given[k], given[k + 1]) for k in range(len(given) - 2, -1, -2)]


def _cropped(x: Native, pairs: list[tuple[int, int]]) -> Native:
    """Return x without what negative numbers take away."""
    if min(min(p) for p in pairs) >= 0:
        return x
    for (before, after), n in zip(pairs, x.shape, strict=True):
        if n + min(before, 0) + min(after, 0) < 0 or n + before + after < 0:
            raise RuntimeError(
                f"pad: input of shape {list(x.shape)} has not enough elements to take away {pairs}"
            )
    key = tuple(
        slice(max(-before, 0), n - max(-after, 0))
        for (before, after), n in zip(pairs, x.shape, strict=True)
    )
    return x[key]


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
            raise RuntimeError(
                f"pad: {pair} is too much for an axis of length {n} with mode {mode!r}; give less"
            )


def _bordered(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    x = only_tensor(input, "pad")
    pairs = _pairs(pad, x)
    if mode == "constant":
        fill = 0 if value is None else static(value)
        if not pairs:
            return ns.copy(x)
        wide = [(max(b, 0), max(a, 0)) for b, a in pairs]
        inner = _cropped(x, pairs)
        return ns.pad(inner, wide, constant_values=np.array(fill).astype(x._raw.dtype)[()].item())
    if mode not in _MODES:
        raise NotImplementedError(
            f"pad: mode is {mode}; give 'constant', 'reflect', 'replicate' or 'circular'"
        )
    if value:
        raise RuntimeError(f'pad: mode "{mode}" copies elements and uses no value; leave value out')
    _check_borders(x, len(static(list(pad))) // 2, pairs, mode)
    wide = [(max(b, 0), max(a, 0)) for b, a in pairs]
    if mode == "circular":  # around what is left
        return ns.pad(_cropped(x, pairs), wide, _MODES[mode])
    x = conventions.read(x)
    return _cropped(ns.pad(x, wide, _MODES[mode]), [(min(b, 0), min(a, 0)) for b, a in pairs])


put((F + "pad",), guarded(_bordered, "ConstantPadNdBackward0"))
