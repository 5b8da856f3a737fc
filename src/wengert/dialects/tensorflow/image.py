"""tf.image: images (rows, columns, channels), or a batch of them, by TensorFlow's names."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.tensorflow.dtypes import as_dtype, of_numpy
from wengert.dialects.tensorflow.errors import FailedPreconditionError, invalid, mistake
from wengert.dialects.tensorflow.kinds import Array, Floating, Input, Shape, one_of
from wengert.dialects.tensorflow.random import global_generator
from wengert.dialects.tensorflow.table import absent, offered, put, row
from wengert.dialects.tensorflow.tensors import Native, check_dtypes, convert, ns, static
from wengert.ops.neural import colours, projections, resizing, unfolding
from wengert.ops.neural import images as measures
from wengert.ops.neural.windows import fitting_windows

_offered = functools.partial(offered, raises=(ValueError, TypeError))
absent(
    {
        **dict.fromkeys(
            ("rgb_to_yuv", "yuv_to_rgb", "rgb_to_yiq", "yiq_to_rgb"),
            "tf.tensordot(images, matrix, 1)",
        ),
        "adjust_brightness": "image + delta",
        "adjust_gamma": "gain * image**gamma",
        "grayscale_to_rgb": "tf.repeat(images, 3, axis=-1)",
        "image_gradients": "images[:, 1:] - images[:, :-1], and the same along columns",
        "transpose": "tf.transpose of the axes of rows and columns",
        "rot90": "tf.transpose, and tf.image.flip_left_right or flip_up_down",
        **dict.fromkeys(
            ("crop_to_bounding_box", "central_crop"),
            "images[..., top : top + height, left : left + width, :]",
        ),
        **dict.fromkeys(
            ("pad_to_bounding_box", "resize_with_crop_or_pad", "resize_with_pad"),
            "tf.pad, after tf.image.resize or a slice of the image",
        ),
    },
    "image.",
)


# -- arguments ----------------------------------------------------------------------------------


def _images(*ranks: int) -> Callable[..., Native]:
    """Return what reads images with one of some numbers of axes; without numbers, 3 or more."""

    def read(value: Any, argument: Argument, _: Any = None) -> Native:
        x = convert(value)
        if x.ndim not in ranks if ranks else x.ndim < 3:
            raise mistake(ValueError, f"{argument}.shape", x.shape, "(rows, columns, channels)")
        return x

    return read


_one_or_several = _images(3, 4)
Images = Annotated[Native, Kind(_images(), tensor=True)]
Image = Annotated[Native, Kind(_one_or_several, tensor=True)]
Batch = Annotated[Native, Kind(_images(4), tensor=True)]


# -- sizes --------------------------------------------------------------------------------------

_METHODS = {
    name.upper(): name
    for name in ("bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
}
_METHODS["NEAREST_NEIGHBOR"] = "nearest"
for _name, _value in _METHODS.items():
    put((f"image.ResizeMethod.{_name}",), _value)
_KERNELS = {"bilinear": "linear", "bicubic": "cubic", "mitchellcubic": "mitchell"}


def _wanted_size(size: Any, x: Native, preserve_aspect_ratio: bool) -> list[int]:
    given = np.asarray(static(size))
    if given.shape != (2,) or given.dtype.kind not in "iu":
        raise ValueError(f"size={size!r}; expected two whole numbers, (rows, columns)")
    wanted = [int(n) for n in given]
    if preserve_aspect_ratio:
        scale = min(n / m for n, m in zip(wanted, x.shape[-3:-1], strict=True))
        wanted = [round(scale * m) for m in x.shape[-3:-1]]
    if min(wanted) < 1:
        raise invalid(f"size={wanted}; expected at least 1 row and 1 column")
    return wanted


def _taps(method: str, length: int, size: int, antialias: bool) -> Any:
    if method == "area":
        return resizing.overlap_taps(length, size)
    grid = 1024 if method == "bicubic" and not antialias else 0  # a table of weights there
    return resizing.kernel_taps(length, size, _KERNELS.get(method, method), antialias, grid)


@_offered("image.resize")
def resize(
    images: Image, size: Any, method: Any = "bilinear", preserve_aspect_ratio: Any = False,
    antialias: Any = False,
) -> Any:  # fmt: skip
    """Return images in another size."""
    x, wanted = images, _wanted_size(size, images, preserve_aspect_ratio)
    axes = {x.ndim - 3: wanted[0], x.ndim - 2: wanted[1]}
    if method not in _METHODS.values():
        raise ValueError(f"method={method!r}; expected one of {', '.join(_METHODS.values())}")
    if method == "nearest":
        for axis, m in axes.items():
            n = x.shape[axis]
            indices = np.minimum(((2 * np.arange(m) + 1) * n) // (2 * m), n - 1)
            x = x if n == m else ns.take(x, indices, axis=axis)
        return x
    if backends.kind_of(x.dtype) not in "iuf":
        raise invalid(f"images of {of_numpy(x.dtype).name}; expected real numbers")
    x = ns.astype(x, np.float32)
    if list(x.shape[-3:-1]) == wanted:
        return x
    taps = {axis: _taps(method, x.shape[axis], m, antialias) for axis, m in axes.items()}
    return resizing.resize_axes(x, taps)


@_offered("image.extract_patches")
def extract_patches(images: Input, sizes: Any, strides: Any, rates: Any, padding: str) -> Any:
    """Return windows of images, each laid flat in the place of its channels."""
    if images.ndim != 4 or padding not in ("SAME", "VALID"):
        raise invalid(
            f"images of shape {images.shape} and padding={padding!r}; expected (batch, rows, "
            "columns, channels) and 'SAME' or 'VALID'"
        )
    kernel, steps, gaps = (tuple(static(v)[1:3]) for v in (sizes, strides, rates))
    x = ns.moveaxis(images, -1, 1)
    places, geometry, _ = fitting_windows(
        "extract_patches", x.shape[2:], kernel, steps, padding.lower(), gaps
    )
    windows = unfolding.unfold_windows(x, kernel=kernel, size=places, geometry=geometry)
    flat = ns.permute_dims(windows, (0, 4, 5, 2, 3, 1))
    return ns.reshape(flat, (*flat.shape[:3], math.prod(flat.shape[3:])))


# -- turns --------------------------------------------------------------------------------------


for _name, _axis, _lines in (("left_right", -2, "columns"), ("up_down", -3, "rows")):
    row(
        f"image.flip_{_name}", lambda image, axis=_axis: ns.flip(image, axis=axis),
        f"an image with its {_lines} in reverse", raises=(ValueError, TypeError), image=Images,
    )  # fmt: skip


# -- colours ------------------------------------------------------------------------------------


def _as_dtype(x: Native, dtype: Any, saturate: bool = False) -> Native:
    """Return an image in another dtype; floating numbers go from 0 to 1, whole ones to the most."""
    kind, own = as_dtype(dtype)._numpy, x.dtype
    if kind == own:
        return x
    if backends.kind_of(own) == backends.kind_of(kind) == "f":
        return ns.astype(x, kind)
    if backends.kind_of(kind) == "f":
        return ns.astype(x, kind) * (1.0 / np.iinfo(own).max)
    if backends.kind_of(own) == "f":
        most = np.iinfo(kind).max
        scaled = x * (most + 0.5)
        limits = np.iinfo(kind)
        top = np.nextafter(own.type(limits.max), own.type(0)) if limits.bits > 16 else limits.max
        return ns.astype(ns.clip(scaled, limits.min, top) if saturate else scaled, kind)
    most, own_most = np.iinfo(kind).max, np.iinfo(own).max
    if own_most > most:
        return ns.astype(x // ((own_most + 1) // (most + 1)), kind)
    return ns.astype(x, kind) * ((most + 1) // (own_most + 1))


@_offered("image.convert_image_dtype")
def convert_image_dtype(image: Input, dtype: Any, saturate: bool = False) -> Any:
    """Return an image in another dtype, scaled to its range."""
    return _as_dtype(image, dtype, saturate)


@_offered("image.rgb_to_grayscale")
def rgb_to_grayscale(images: Input) -> Any:
    """Return the weighted sum of red, green and blue."""
    if images.shape[-1:] != (3,):
        raise invalid(f"images of shape {images.shape}; expected red, green, blue on the last axis")
    weights = ns.asarray(np.array([0.2989, 0.5870, 0.1140], np.float32))
    gray = ns.sum(_as_dtype(images, np.float32) * weights, axis=-1, keepdims=True)
    return _as_dtype(gray, images.dtype)


def _coloured(name: str, compute: Callable[[Native], Native], doc: str, differs: str = "") -> None:
    """Offer a function of colours on the last axis."""

    def body(images: Floating) -> Native:
        if images.shape[-1:] != (3,):
            told = f"{name}: images of shape {images.shape}; expected 3 on the last axis"
            raise FailedPreconditionError(None, None, told)
        return compute(images)

    _offered(name, doc=doc, differs=differs)(body)


_coloured(
    "image.rgb_to_hsv",
    colours.hsv_from_rgb,
    "Return hue, saturation and value.",
    "of equal colours, each has a share of the gradient",
)
_coloured("image.hsv_to_rgb", colours.rgb_from_hsv, "Return red, green and blue.", "has a gradient")


@_offered(
    "raw_ops.ImageProjectiveTransformV3",
    differs="the gradient is that of what is computed; TensorFlow's is found with inverse maps",
)
def project(
    images: Batch, transforms: Array, output_shape: Shape, fill_value: Any,
    interpolation: Annotated[str, one_of("NEAREST", "BILINEAR")],
    fill_mode: Annotated[str, one_of("CONSTANT", "NEAREST", "REFLECT", "WRAP")] = "CONSTANT",
) -> Native:  # fmt: skip
    """Return images seen through projective maps of 8 numbers."""
    if transforms.ndim != 2 or transforms.shape[1] != 8 or len(output_shape) != 2:
        raise invalid(
            f"transforms of shape {transforms.shape} and output_shape={output_shape}; expected "
            "(1 or the number of images, 8), and (rows, columns)"
        )
    how = interpolation.lower(), fill_mode.lower(), float(static(fill_value))
    rows, columns = output_shape
    return projections.project(images, transforms, (rows, columns), *how)


@_offered("image.adjust_contrast", differs="it has a gradient")
def adjust_contrast(images: Input, contrast_factor: Any) -> Any:
    """Return an image with the distance of each colour from its mean multiplied."""
    kind = images.dtype if images.dtype in (np.float16, np.float32) else np.dtype(np.float32)
    x, factor = _as_dtype(images, kind), ns.astype(convert(contrast_factor), kind)
    mean = ns.mean(x, axis=(-3, -2), keepdims=True)
    return _as_dtype((x - mean) * factor + mean, images.dtype, saturate=True)


@_offered("image.per_image_standardization")
def per_image_standardization(image: Images) -> Any:
    """Return images, each of mean 0 and variance 1."""
    narrow = image.dtype in (np.float16, np.float32)
    return measures.standardised(image if narrow else ns.astype(image, np.float32))


# -- measures -----------------------------------------------------------------------------------


@_offered("image.total_variation")
def total_variation(images: Image) -> Any:
    """Return the sum of distances of neighbouring pixels, for each image."""
    down = ns.sum(ns.abs(images[..., 1:, :, :] - images[..., :-1, :, :]), axis=(-3, -2, -1))
    across = ns.abs(images[..., 1:, :] - images[..., :-1, :])
    return down + ns.sum(across, axis=(-3, -2, -1))


row(
    "image.sobel_edges", measures.sobel_edges, "differences down and across, as a new last axis",
    raises=(ValueError, TypeError), image=Input,
)  # fmt: skip


def _two(a: Any, b: Any, max_val: Any) -> tuple[Native, Native, Any]:
    """Return two images, and the most that a pixel may be, as floating numbers."""
    first = convert(a)
    second = convert(b, None, first.dtype)
    check_dtypes("Sub", first, second)
    if first.shape[-3:] != second.shape[-3:]:
        raise ValueError(f"images of shapes {first.shape} and {second.shape}; they must agree")
    most = _as_dtype(ns.astype(convert(max_val), first.dtype), np.float32)
    return _as_dtype(first, np.float32), _as_dtype(second, np.float32), most


@_offered("image.psnr")
def psnr(a: Any, b: Any, max_val: Any) -> Any:
    """Return the ratio of the most to the mean squared difference, in decibels."""
    first, second, most = _two(a, b, max_val)
    error = ns.mean((first - second) ** 2, axis=(-3, -2, -1))
    return (20 / math.log(10)) * ns.log(most) - (10 / math.log(10)) * ns.log(error)


@_offered("image.ssim")
def ssim(
    img1: Any, img2: Any, max_val: Any, filter_size: int = 11, filter_sigma: float = 1.5,
    k1: float = 0.01, k2: float = 0.03, return_index_map: bool = False,
) -> Any:  # fmt: skip
    """Return how alike in structure two images are, by means around each pixel."""
    x, y, most = _two(img1, img2, max_val)
    if min(x.shape[-3:-1]) < filter_size:
        raise invalid(f"images of shape {x.shape} are smaller than filter_size {filter_size}")
    lead = ns.broadcast_shapes(x.shape[:-3], y.shape[:-3])
    x, y = (ns.reshape(ns.broadcast_to(v, (*lead, *v.shape[-3:])), (-1, *v.shape[-3:]))
            for v in (x, y))  # fmt: skip
    c1, c2 = (k1 * most) ** 2, (k2 * most) ** 2
    index = measures.structural_similarity(x, y, c1, c2, filter_size, filter_sigma)
    if return_index_map:
        found = ns.mean(index, axis=-1)
        return ns.reshape(found, (*lead, *found.shape[1:]))
    return ns.reshape(ns.mean(ns.mean(index, axis=(-3, -2)), axis=-1), lead)


# -- by chance ----------------------------------------------------------------------------------

#: A seed, as which the body gets a generator.
Seed = Annotated[Any, Kind(lambda seed, *_: global_generator(seed))]
_by_chance = functools.partial(_offered, differs="other random numbers than TensorFlow's")


def _flips(name: str, axis: int, lines: str) -> None:
    """Offer flips by chance."""
    doc = f"Return each image with its {lines} in reverse or not, by chance."

    @_by_chance(f"image.random_flip_{name}", doc=doc)
    def flipped(image: Image, seed: Seed = None) -> Any:
        chosen = np.asarray(seed.random(image.shape[:-3]) < 0.5)
        return ns.where(ns.asarray(chosen[..., None, None, None]), ns.flip(image, axis=axis), image)


_flips("left_right", -2, "columns")
_flips("up_down", -3, "rows")


@_by_chance("image.random_crop")
def random_crop(value: Input, size: Any, seed: Seed = None) -> Any:
    """Return a part of an array, of a size, at a random place."""
    wanted = [int(n) for n in static(size)]
    if len(wanted) != value.ndim or any(map(int.__gt__, wanted, value.shape)):
        raise invalid(f"size={wanted} does not crop a value of shape {value.shape}")
    starts = [int(seed.integers(m - n + 1)) for n, m in zip(wanted, value.shape, strict=True)]
    return value[tuple(slice(s, s + n) for s, n in zip(starts, wanted, strict=True))]
