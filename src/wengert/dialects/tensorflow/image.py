"""tf.image: images (rows, columns, channels), or a batch of them, by TensorFlow's names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.dtypes import as_dtype, of_numpy
from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.random import global_generator, of_seed
from wengert.dialects.tensorflow.table import offered, put
from wengert.dialects.tensorflow.tensors import check_dtypes, convert, static, tensor_of
from wengert.engine.tensor import Tensor as Native
from wengert.ops.neural import convolutions, resizing, unfolding
from wengert.ops.neural.windows import fitting_windows

ns = Native._namespace
_CHECKS: Any = (ValueError, TypeError)
_OTHERS = "other random numbers than TensorFlow's"


def _image(value: Any, name: str = "image", most: int = 99) -> Native:
    x = convert(value)
    if not 3 <= x.ndim <= most:
        raise ValueError(f"{name} of shape {x.shape}; expected (rows, columns, channels)")
    return x


def _batch(value: Any, name: str = "images") -> tuple[Native, bool]:
    """Return images with a batch axis, and whether they had one."""
    x = convert(value)
    if x.ndim not in (3, 4):
        raise ValueError(
            f"{name} of shape {x.shape}; expected (rows, columns, channels), or a batch of such"
        )
    return (x, True) if x.ndim == 4 else (ns.expand_dims(x, axis=0), False)


def _of_batch(x: Native, had_batch: bool) -> Native:
    return x if had_batch else x[0]


def _number(value: Any, what: str) -> int:
    number = static(value)
    if not isinstance(number, int):
        raise TypeError(f"{what} is {value!r}; expected a whole number")
    return number


# -- sizes --------------------------------------------------------------------------------------

_METHODS = {
    "BILINEAR": "bilinear", "NEAREST_NEIGHBOR": "nearest", "BICUBIC": "bicubic", "AREA": "area",
    "LANCZOS3": "lanczos3", "LANCZOS5": "lanczos5", "GAUSSIAN": "gaussian",
    "MITCHELLCUBIC": "mitchellcubic",
}  # fmt: skip
for _name, _value in _METHODS.items():
    put((f"image.ResizeMethod.{_name}",), _value)
_KERNELS = {"bilinear": "linear", "bicubic": "cubic", "mitchellcubic": "mitchell"}


def _wanted_size(size: Any, x: Native, preserve_aspect_ratio: bool) -> tuple[int, int]:
    given = np.asarray(static(size))
    if given.shape != (2,):
        raise ValueError(f"size={size!r}; expected two numbers, (rows, columns)")
    if given.dtype.kind not in "iu":
        raise ValueError(f"size={size!r}; expected whole numbers")
    wanted = [int(n) for n in given]
    if preserve_aspect_ratio:
        scale = min(n / m for n, m in zip(wanted, x.shape[1:3], strict=True))
        wanted = [round(scale * m) for m in x.shape[1:3]]
    if min(wanted) < 1:
        raise invalid(f"size={wanted}; expected at least 1 row and 1 column")
    return wanted[0], wanted[1]


def _taps(method: str, length: int, size: int, antialias: bool) -> Any:
    if method == "area":
        return resizing.overlap_taps(length, size)
    grid = 1024 if method == "bicubic" and not antialias else 0  # a table of weights there
    return resizing.kernel_taps(length, size, _KERNELS.get(method, method), antialias, grid)


@offered("image.resize", raises=_CHECKS)
def resize(
    images: Any, size: Any, method: str = "bilinear", preserve_aspect_ratio: bool = False,
    antialias: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return images in another size."""
    x, had_batch = _batch(images)
    wanted = _wanted_size(size, x, preserve_aspect_ratio)
    if method not in _METHODS.values():
        raise ValueError(f"method={method!r}; expected one of {', '.join(_METHODS.values())}")
    if method == "nearest":
        for axis, (n, m) in enumerate(zip(x.shape[1:3], wanted, strict=True), 1):
            places = np.minimum(((2 * np.arange(m) + 1) * n) // (2 * m), n - 1)
            x = x if n == m else ns.take(x, places, axis=axis)
        return _of_batch(x, had_batch)
    if x.dtype.kind not in "iuf":
        raise invalid(f"images of {of_numpy(x.dtype).name}; expected real numbers")
    x = ns.astype(x, np.float32)
    if x.shape[1:3] == wanted:
        return _of_batch(x, had_batch)
    taps = {
        axis: _taps(method, n, m, antialias)
        for axis, (n, m) in enumerate(zip(x.shape[1:3], wanted, strict=True), 1)
    }
    return _of_batch(resizing.resize_axes(x, taps), had_batch)


def _cropped(x: Native, top: int, left: int, height: int, width: int) -> Native:
    return x[:, top : top + height, left : left + width]


@offered("image.crop_to_bounding_box", raises=_CHECKS)
def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """Return a rectangle of an image."""
    x, had_batch = _batch(image, "image")
    top, left = _number(offset_height, "offset_height"), _number(offset_width, "offset_width")
    height, width = _number(target_height, "target_height"), _number(target_width, "target_width")
    if min(top, left) < 0:
        raise ValueError(f"offsets {top} and {left}; expected at least 0")
    if min(height, width) <= 0:
        raise ValueError(f"a target of {height} rows and {width} columns; expected at least 1")
    if top + height > x.shape[1]:
        raise ValueError(f"rows {top} to {top + height} of an image that has {x.shape[1]}")
    if left + width > x.shape[2]:
        raise ValueError(f"columns {left} to {left + width} of an image that has {x.shape[2]}")
    return _of_batch(_cropped(x, top, left, height, width), had_batch)


def _padded(x: Native, top: int, left: int, height: int, width: int) -> Native:
    below, right = height - top - x.shape[1], width - left - x.shape[2]
    return ns.pad(x, ((0, 0), (top, below), (left, right), (0, 0)))


@offered("image.pad_to_bounding_box", raises=_CHECKS)
def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """Return an image with zeros around it."""
    x, had_batch = _batch(image, "image")
    top, left = _number(offset_height, "offset_height"), _number(offset_width, "offset_width")
    height, width = _number(target_height, "target_height"), _number(target_width, "target_width")
    if top < 0 or left < 0:
        raise ValueError(f"offsets {top} and {left}; expected at least 0")
    if height - top < x.shape[1]:
        raise ValueError(f"{x.shape[1]} rows from row {top} on do not fit in {height}")
    if width - left < x.shape[2]:
        raise ValueError(f"{x.shape[2]} columns from column {left} on do not fit in {width}")
    return _of_batch(_padded(x, top, left, height, width), had_batch)


@offered("image.resize_with_crop_or_pad", raises=_CHECKS)
def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """Return an image cut or padded at its borders, evenly, to another size."""
    x, had_batch = _batch(image, "image")
    height, width = _number(target_height, "target_height"), _number(target_width, "target_width")
    if min(height, width) <= 0:
        raise ValueError(f"a target of {height} rows and {width} columns; expected at least 1")
    cut = [max(n - m, 0) // 2 for n, m in zip(x.shape[1:3], (height, width), strict=True)]
    x = _cropped(x, cut[0], cut[1], min(height, x.shape[1]), min(width, x.shape[2]))
    add = [max(m - n, 0) // 2 for n, m in zip(x.shape[1:3], (height, width), strict=True)]
    return _of_batch(_padded(x, add[0], add[1], height, width), had_batch)


@offered("image.resize_with_pad", raises=_CHECKS)
def resize_with_pad(
    image: Any, target_height: Any, target_width: Any, method: str = "bilinear",
    antialias: bool = False,
) -> Any:  # fmt: skip
    """Return an image resized with its aspect ratio, and zeros around it."""
    x, had_batch = _batch(image, "image")
    height, width = _number(target_height, "target_height"), _number(target_width, "target_width")
    if min(height, width) <= 0:
        raise ValueError(f"a target of {height} rows and {width} columns; expected at least 1")
    ratio = max(x.shape[1] / height, x.shape[2] / width)
    size = [math.floor(n / ratio) for n in x.shape[1:3]]
    gaps = [
        max(0, math.floor((m - n / ratio) / 2))
        for n, m in zip(x.shape[1:3], (height, width), strict=False)
    ]
    small = convert(resize(x, size, method, antialias=antialias))
    return _of_batch(_padded(small, gaps[0], gaps[1], height, width), had_batch)


@offered("image.central_crop", raises=_CHECKS)
def central_crop(image: Any, central_fraction: Any) -> Any:
    """Return the middle of an image."""
    fraction = float(static(central_fraction))
    if not 0 < fraction <= 1:
        raise ValueError(f"central_fraction={fraction}; expected more than 0 and at most 1")
    if fraction == 1:
        return tensor_of(image)
    x, had_batch = _batch(image, "image")
    starts = [int((n - n * fraction) / 2) for n in x.shape[1:3]]
    sizes = [n - 2 * start for n, start in zip(x.shape[1:3], starts, strict=True)]
    return _of_batch(_cropped(x, starts[0], starts[1], sizes[0], sizes[1]), had_batch)


@offered("image.extract_patches", raises=_CHECKS)
def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Any:
    """Return windows of images, each laid flat in the place of its channels."""
    x = convert(images)
    if x.ndim != 4:
        raise invalid(f"images of shape {x.shape}; expected (batch, rows, columns, channels)")
    kernel, steps, gaps = (tuple(static(v)[1:3]) for v in (sizes, strides, rates))
    if padding not in ("SAME", "VALID"):
        raise invalid(f"padding={padding!r}; expected 'SAME' or 'VALID'")
    x = ns.moveaxis(x, -1, 1)
    places, geometry, _ = fitting_windows(
        "extract_patches", x.shape[2:], kernel, steps, padding.lower(), gaps
    )
    windows = unfolding.unfold_windows(x, kernel=kernel, size=places, geometry=geometry)
    flat = ns.permute_dims(windows, (0, 4, 5, 2, 3, 1))
    return ns.reshape(flat, (*flat.shape[:3], math.prod(flat.shape[3:])))


# -- turns --------------------------------------------------------------------------------------


@offered("image.flip_left_right", raises=_CHECKS)
def flip_left_right(image: Any) -> Any:
    """Return an image with its columns in reverse."""
    return ns.flip(_image(image), axis=-2)


@offered("image.flip_up_down", raises=_CHECKS)
def flip_up_down(image: Any) -> Any:
    """Return an image with its rows in reverse."""
    return ns.flip(_image(image), axis=-3)


@offered("image.transpose", raises=_CHECKS)
def transpose(image: Any, name: str | None = None) -> Any:
    """Return an image with rows and columns swapped."""
    return ns.swapaxes(_image(image), -3, -2)


@offered("image.rot90", raises=_CHECKS)
def rot90(image: Any, k: Any = 1, name: str | None = None) -> Any:
    """Return an image turned by k right angles, counter-clockwise."""
    x, turns = _image(image), _number(k, "k") % 4
    if turns == 2:
        return ns.flip(x, axis=(-3, -2))
    if not turns:
        return tensor_of(image)
    turned = ns.swapaxes(x, -3, -2)
    return ns.flip(turned, axis=-3 if turns == 1 else -2)


# -- colours ------------------------------------------------------------------------------------


def _as_dtype(x: Native, dtype: Any, saturate: bool = False) -> Native:
    """Return an image in another dtype; floating numbers go from 0 to 1, whole ones to the most."""
    kind, own = as_dtype(dtype)._numpy, x.dtype
    if kind == own:
        return x
    if own.kind == kind.kind == "f":
        return ns.astype(x, kind)
    if kind.kind == "f":
        return ns.astype(x, kind) * (1.0 / np.iinfo(own).max)
    if own.kind == "f":
        most = np.iinfo(kind).max
        scaled = x * (most + 0.5)
        limits = np.iinfo(kind)
        top = np.nextafter(own.type(limits.max), own.type(0)) if limits.bits > 16 else limits.max
        return ns.astype(ns.clip(scaled, limits.min, top) if saturate else scaled, kind)
    most, own_most = np.iinfo(kind).max, np.iinfo(own).max
    if own_most > most:
        return ns.astype(x // ((own_most + 1) // (most + 1)), kind)
    return ns.astype(x, kind) * ((most + 1) // (own_most + 1))


@offered("image.convert_image_dtype", raises=_CHECKS)
def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Any:
    """Return an image in another dtype, scaled to its range."""
    return _as_dtype(convert(image), dtype, saturate)


def _in_floats(x: Native) -> Native:
    """Return an image in a dtype that colours are computed in."""
    return x if x.dtype in (np.float16, np.float32) else _as_dtype(x, np.float32)


@offered("image.rgb_to_grayscale", raises=_CHECKS)
def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """Return the weighted sum of red, green and blue."""
    x = convert(images)
    if not x.ndim or x.shape[-1] != 3:
        raise invalid(f"images of shape {x.shape}; expected red, green and blue on the last axis")
    weights = np.array([0.2989, 0.5870, 0.1140], np.float32)
    gray = ns.sum(_as_dtype(x, np.float32) * ns.asarray(weights), axis=-1, keepdims=True)
    return _as_dtype(gray, x.dtype)


@offered("image.grayscale_to_rgb", raises=_CHECKS)
def grayscale_to_rgb(images: Any, name: str | None = None) -> Any:
    """Return the same channel three times."""
    x = convert(images)
    if not x.ndim or x.shape[-1] != 1:
        raise ValueError(f"images of shape {x.shape}; expected one channel on the last axis")
    return ns.broadcast_to(x, (*x.shape[:-1], 3))


def _matrix(name: str, rows: list[list[float]]) -> None:
    """Offer a change of colours that is a product with a matrix."""
    kernel = np.array(rows)

    def change(images: Any) -> Any:
        x = convert(images)
        return ns.tensordot(x, ns.asarray(kernel.astype(x.dtype)), axes=1)

    change.__name__ = change.__qualname__ = name
    change.__doc__ = f"Return colours changed, {name.replace('_', ' ')}."
    offered(f"image.{name}", raises=_CHECKS)(change)


_matrix("rgb_to_yiq", [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617],
                       [0.114, -0.32134392, 0.31119955]])  # fmt: skip
_matrix("yiq_to_rgb", [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021],
                       [0.6208248, -0.64720424, 1.70423049]])  # fmt: skip
_matrix("rgb_to_yuv", [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512],
                       [0.114, 0.43601035, -0.10001026]])  # fmt: skip
_matrix("yuv_to_rgb", [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]])


def _adjusted(image: Any, how: Any) -> Native:
    """Return an image changed as floating numbers, in its own dtype."""
    x = convert(image)
    return _as_dtype(how(_in_floats(x)), x.dtype, saturate=True)


@offered("image.adjust_brightness", raises=_CHECKS)
def adjust_brightness(image: Any, delta: Any) -> Any:
    """Return an image with a number added to all colours."""
    return _adjusted(image, lambda x: x + ns.astype(convert(delta), x.dtype))


@offered("image.adjust_contrast", raises=_CHECKS, differs="it has a gradient")
def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Return an image with the distance of each colour from its mean multiplied."""

    def change(x: Native) -> Native:
        mean = ns.mean(x, axis=(-3, -2), keepdims=True)
        return (x - mean) * ns.astype(convert(contrast_factor), x.dtype) + mean

    return _adjusted(images, change)


@offered("image.adjust_gamma", raises=_CHECKS)
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """Return gain * image ** gamma."""
    if type(gamma) in (int, float) and gamma < 0:
        raise ValueError(f"gamma={gamma}; expected at least 0")

    def change(x: Native) -> Native:
        return ns.astype(convert(gain), x.dtype) * x ** ns.astype(convert(gamma), x.dtype)

    return _adjusted(image, change)


@offered("image.per_image_standardization", raises=_CHECKS)
def per_image_standardization(image: Any) -> Any:
    """Return images, each of mean 0 and variance 1."""
    x = _image(image)
    x = x if x.dtype in (np.float16, np.float32) else ns.astype(x, np.float32)
    mean = ns.mean(x, axis=(-3, -2, -1), keepdims=True)
    variance = ns.mean((x - mean) ** 2, axis=(-3, -2, -1), keepdims=True)
    least = 1.0 / math.sqrt(math.prod(x.shape[-3:]))
    deviation = ns.sqrt(ns.where(variance > least**2, variance, least**2))
    return (x - mean) / deviation


# -- measures -----------------------------------------------------------------------------------


@offered("image.total_variation", raises=_CHECKS)
def total_variation(images: Any, name: str | None = None) -> Any:
    """Return the sum of distances of neighbouring pixels, for each image."""
    x, had_batch = _batch(images)
    down = ns.sum(ns.abs(x[:, 1:] - x[:, :-1]), axis=(1, 2, 3))
    return _of_batch(down + ns.sum(ns.abs(x[:, :, 1:] - x[:, :, :-1]), axis=(1, 2, 3)), had_batch)


@offered("image.image_gradients", raises=_CHECKS)
def image_gradients(image: Any) -> Any:
    """Return differences to the next row and to the next column; 0 at the end."""
    x = convert(image)
    if x.ndim != 4:
        raise ValueError(f"image of shape {x.shape}; expected (batch, rows, columns, channels)")
    none = (0, 0)
    down = ns.pad(x[:, 1:] - x[:, :-1], (none, (0, 1), none, none))
    return down, ns.pad(x[:, :, 1:] - x[:, :, :-1], (none, none, (0, 1), none))


def _each_channel(x: Native, kernel: np.ndarray) -> Native:
    """Return the convolution of every channel of (batch, rows, columns, channels) with a kernel."""
    channels = x.shape[-1]
    weight = np.broadcast_to(kernel.astype(x.dtype), (channels, 1, *kernel.shape))
    y = convolutions.conv2d(ns.moveaxis(x, -1, 1), ns.asarray(np.array(weight)), groups=channels)
    return ns.moveaxis(y, 1, -1)


@offered("image.sobel_edges", raises=_CHECKS)
def sobel_edges(image: Any) -> Any:
    """Return Sobel's differences down and across, as a new last axis; borders are reflected."""
    x = convert(image)
    padded = ns.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="reflect")
    across = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    return ns.stack([_each_channel(padded, k) for k in (across.T, across)], axis=-1)


def _two(a: Any, b: Any, max_val: Any) -> tuple[Native, Native, Any]:
    """Return two images, and the most that a pixel may be, as floating numbers."""
    first = convert(a)
    second = convert(b, None, first.dtype)
    check_dtypes("Sub", first, second)
    if first.shape[-3:] != second.shape[-3:]:
        raise ValueError(f"images of shapes {first.shape} and {second.shape}; they must agree")
    most = _as_dtype(ns.astype(convert(max_val), first.dtype), np.float32)
    return _as_dtype(first, np.float32), _as_dtype(second, np.float32), most


@offered("image.psnr", raises=_CHECKS)
def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Any:
    """Return the ratio of the most to the mean squared difference, in decibels."""
    first, second, most = _two(a, b, max_val)
    error = ns.mean((first - second) ** 2, axis=(-3, -2, -1))
    return (20 / math.log(10)) * ns.log(most) - (10 / math.log(10)) * ns.log(error)


@offered("image.ssim", raises=_CHECKS)
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
    line = np.exp(-((np.arange(filter_size) - (filter_size - 1) / 2) ** 2) / (2 * filter_sigma**2))
    kernel = np.outer(line, line) / line.sum() ** 2
    mean_x, mean_y = _each_channel(x, kernel), _each_channel(y, kernel)
    product, squares = 2.0 * mean_x * mean_y, mean_x**2 + mean_y**2
    c1, c2 = (k1 * most) ** 2, (k2 * most) ** 2
    luminance = (product + c1) / (squares + c1)
    covariance = 2.0 * _each_channel(x * y, kernel) - product
    spread = _each_channel(x * x + y * y, kernel) - squares
    index = luminance * (covariance + c2) / (spread + c2)
    if return_index_map:
        found = ns.mean(index, axis=-1)
        return ns.reshape(found, (*lead, *found.shape[1:]))
    return ns.reshape(ns.mean(ns.mean(index, axis=(-3, -2)), axis=-1), lead)


# -- by chance ----------------------------------------------------------------------------------


Chance = np.random.Generator


def _flipped_by_chance(image: Any, rng: Chance, axis: int) -> Native:
    x = _image(image, most=4)
    lead = x.shape[:-3]
    chosen = rng.random(lead) < 0.5
    return ns.where(
        ns.asarray(np.asarray(chosen).reshape(*lead, 1, 1, 1)), ns.flip(x, axis=axis), x
    )


def _brightened_by_chance(image: Any, max_delta: float, rng: Chance) -> Any:
    if max_delta < 0:
        raise ValueError(f"max_delta={max_delta}; expected at least 0")
    return adjust_brightness(image, float(rng.uniform(-max_delta, max_delta)))


def _contrasted_by_chance(image: Any, lower: float, upper: float, rng: Chance) -> Any:
    if upper <= lower:
        raise ValueError(f"lower={lower} and upper={upper}; expected the second to be larger")
    if lower < 0:
        raise ValueError(f"lower={lower}; expected at least 0")
    return adjust_contrast(image, float(rng.uniform(lower, upper)))


def _cropped_by_chance(value: Any, size: Any, rng: Chance) -> Native:
    x, wanted = convert(value), [int(n) for n in static(size)]
    if len(wanted) != x.ndim or any(n > m for n, m in zip(wanted, x.shape, strict=True)):
        raise invalid(f"size={wanted} does not crop a value of shape {x.shape}")
    starts = [int(rng.integers(m - n + 1)) for n, m in zip(wanted, x.shape, strict=True)]
    return x[tuple(slice(s, s + n) for s, n in zip(starts, wanted, strict=True))]


@offered("image.random_flip_left_right", raises=_CHECKS, differs=_OTHERS)
def random_flip_left_right(image: Any, seed: Any = None) -> Any:
    """Return each image flipped or not, by chance."""
    return _flipped_by_chance(image, global_generator(seed), -2)


@offered("image.random_flip_up_down", raises=_CHECKS, differs=_OTHERS)
def random_flip_up_down(image: Any, seed: Any = None) -> Any:
    """Return each image flipped or not, by chance."""
    return _flipped_by_chance(image, global_generator(seed), -3)


@offered("image.random_brightness", raises=_CHECKS, differs=_OTHERS)
def random_brightness(image: Any, max_delta: float, seed: Any = None) -> Any:
    """Return an image with a random number added."""
    return _brightened_by_chance(image, max_delta, global_generator(seed))


@offered("image.random_contrast", raises=_CHECKS, differs=_OTHERS)
def random_contrast(image: Any, lower: float, upper: float, seed: Any = None) -> Any:
    """Return an image with its contrast changed by a random factor."""
    return _contrasted_by_chance(image, lower, upper, global_generator(seed))


@offered("image.random_crop", raises=_CHECKS, differs=_OTHERS)
def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Any:
    """Return a part of an array, of a size, at a random place."""
    return _cropped_by_chance(value, size, global_generator(seed))


@offered("image.stateless_random_flip_left_right", raises=_CHECKS, differs=_OTHERS)
def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
    """Return each image flipped or not, the same ones for the same seed."""
    return _flipped_by_chance(image, of_seed(seed), -2)


@offered("image.stateless_random_flip_up_down", raises=_CHECKS, differs=_OTHERS)
def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
    """Return each image flipped or not, the same ones for the same seed."""
    return _flipped_by_chance(image, of_seed(seed), -3)


@offered("image.stateless_random_brightness", raises=_CHECKS, differs=_OTHERS)
def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> Any:
    """Return an image with a random number added, the same one for the same seed."""
    return _brightened_by_chance(image, max_delta, of_seed(seed))


@offered("image.stateless_random_contrast", raises=_CHECKS, differs=_OTHERS)
def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> Any:
    """Return an image with its contrast changed by a factor that the seed says."""
    return _contrasted_by_chance(image, lower, upper, of_seed(seed))


@offered("image.stateless_random_crop", raises=_CHECKS, differs=_OTHERS)
def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Any:
    """Return a part of an array, of a size, at a place that the seed says."""
    return _cropped_by_chance(value, size, of_seed(seed))
