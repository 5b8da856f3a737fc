"""tf.signal: Fourier transforms, frames and windows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.tensorflow.dtypes import DType, as_dtype, float32, of_numpy
from wengert.dialects.tensorflow.errors import as_is, invalid
from wengert.dialects.tensorflow.kinds import Axes, Input, Int
from wengert.dialects.tensorflow.table import absent, offered
from wengert.dialects.tensorflow.tensors import check_kind, convert, outward, static
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap
from wengert.ops import fft as native
from wengert.ops import special
from wengert.ops.segments import overlap_add

ns = Native._namespace
_MATRIX = "a product with its matrix, tf.matmul(x, m, transpose_b=True) with m = "
absent(
    {
        "dct": f"{_MATRIX}scipy.fft.dct(np.eye(n), axis=0)",
        "idct": f"{_MATRIX}2 * n * scipy.fft.idct(np.eye(n), axis=0)",
        "linear_to_mel_weight_matrix": "tf.constant of the matrix, made by NumPy or librosa",
        "vorbis_window": "tf.sin(np.pi / 2 * tf.sin(np.pi / n * (tf.range(n) + 0.5)) ** 2)",
    },
    "signal.",
)


# -- arguments ----------------------------------------------------------------------------------


def _reader(kinds: str, axes: int, dtype: str | None = None) -> Callable[..., Native]:
    """Return what reads numbers of some kinds; NumPy's arrays become of a dtype."""
    like = None if dtype is None else np.dtype(dtype)

    def read(value: Any, argument: Argument, _: Any = None) -> Native:
        x = convert(value, None, like)
        check_kind(x, kinds, argument.function)
        if x.ndim < axes:
            raise invalid(f"{argument} has shape {x.shape}; expected {axes} axes or more")
        return x

    return read


def _read_floating(value: Any, argument: Argument, _: Any = None) -> DType:
    kind = as_dtype(value)
    if not kind.is_floating:
        raise _wrong(f"{argument} is {kind.name}; expected floating numbers")
    return kind


def _wrong(message: str) -> Exception:
    return as_is(ValueError(message))


Signal = Annotated[Native, Kind(_reader("f", 1), tensor=True)]
Waves = Annotated[Native, Kind(_reader("c", 2), tensor=True)]
FloatingDtype = Annotated[DType, Kind(_read_floating)]
Window = Callable[..., Any] | None


# -- Fourier transforms -------------------------------------------------------------------------


def _transform(name: str, function: Any, axes: int, kind: str) -> None:
    """Offer a Fourier transform over the last axes; one from or to real numbers has lengths."""
    last = tuple(range(-axes, 0))

    def whole(input: Any) -> Any:
        return function(input, axes=last)

    def half(input_tensor: Any, fft_length: Any = None) -> Any:
        x = input_tensor
        if x.dtype.kind != kind or x.dtype == np.float16:
            wanted = "real" if kind == "f" else "complex"
            raise _wrong(f"{name} takes {wanted} floating numbers, and got {of_numpy(x.dtype)!r}")
        sizes = None if fft_length is None else static(fft_length)
        if isinstance(sizes, int) or (sizes is not None and len(sizes) != axes):
            raise _wrong(f"fft_length is {fft_length!r}; expected a list of {axes} lengths")
        return function(x, s=sizes, axes=last)

    is_half = "r" in name
    body: Any = half if is_half else whole
    dtype = "float32" if kind == "f" else "complex64"
    read = _reader("iufc" if is_half else "c", axes, dtype)
    first = "input_tensor" if is_half else "input"
    body.__annotations__ = {first: Annotated[Native, Kind(read, tensor=True)]}
    body.__doc__ = f"Return the Fourier transform {name} over the last {axes} axes."
    offered(f"signal.{name}")(body)


for _axes, _end in ((1, ""), (2, "2d"), (3, "3d")):
    _transform(f"fft{_end}", native.fftn, _axes, "c")
    _transform(f"ifft{_end}", native.ifftn, _axes, "c")
    _transform(f"rfft{_end}", native.rfftn, _axes, "f")
    _transform(f"irfft{_end}", native.irfftn, _axes, "c")


@offered("signal.fftshift")
def fftshift(x: Input, axes: Axes | None = None) -> Any:
    """Return x with the zero frequency moved to the middle."""
    return native.fftshift(x, axes=axes)


@offered("signal.ifftshift")
def ifftshift(x: Input, axes: Axes | None = None) -> Any:
    """Return x with the zero frequency moved from the middle to the start."""
    return native.ifftshift(x, axes=axes)


# -- frames -------------------------------------------------------------------------------------


def _frames(
    x: Native, length: int, step: int, pad_end: bool, pad_value: Any = 0, axis: int = -1
) -> Native:
    if not -x.ndim <= axis < x.ndim:
        raise as_is(IndexError(f"axis {axis} is not one of the {x.ndim} of shape {x.shape}"))
    axis %= x.ndim
    size = x.shape[axis]
    count = -(-size // step) if pad_end else max(0, 1 + (size - length) // step)
    if pad_end:
        missing = max(0, length + step * (count - 1) - size)
        widths = [(0, missing if a == axis else 0) for a in range(x.ndim)]
        x = ns.pad(x, widths, constant_values=pad_value)
    indices = np.arange(count)[:, None] * step + np.arange(length)
    return x[(slice(None),) * axis + (indices,)]


@offered("signal.frame")
def frame(
    signal: Input, frame_length: Int, frame_step: Int, pad_end: Any = False,
    pad_value: Any = 0, axis: Int = -1,
) -> Any:  # fmt: skip
    """Return pieces of `frame_length` that begin every `frame_step` elements along an axis."""
    if not signal.ndim:
        raise _wrong("the signal is one number; give a tensor of one axis at least")
    return _frames(signal, frame_length, frame_step, pad_end, static(pad_value), axis)


@offered("signal.overlap_and_add")
def overlap_and_add(signal: Input, frame_step: Int) -> Any:
    """Return the sum of frames, each placed `frame_step` after the one before it."""
    if signal.ndim < 2:
        raise _wrong(f"frames of shape {signal.shape}; expected 2 axes or more")
    return overlap_add(signal, step=frame_step)


# -- windows ------------------------------------------------------------------------------------


def _cosines(name: str, a: float) -> Any:
    """Return a window that is a - (1 - a) cos, having offered it."""

    def window(window_length: Int, periodic: Any = True, dtype: FloatingDtype = float32) -> Any:
        n = window_length
        period = n + bool(static(periodic)) * (1 - n % 2) - 1
        values = np.ones(1) if n == 1 else a - (1 - a) * np.cos(2 * np.pi * np.arange(n) / period)
        return wrap(values.astype(dtype._numpy))

    window.__doc__ = f"Return {name.title()}'s window."
    return offered(f"signal.{name}_window")(window)


hann_window = _cosines("hann", 0.5)
_cosines("hamming", 0.54)


@offered("signal.kaiser_window", differs="of a negative beta, the window is that of -beta")
def kaiser_window(window_length: Int, beta: Any = 12.0, dtype: FloatingDtype = float32) -> Any:
    """Return Kaiser's window, which is the same for `beta` and -`beta`."""
    n, kind = window_length, dtype._numpy
    if n == 1:
        return ns.ones(1, dtype=kind)
    width = ns.abs(ns.astype(convert(beta), kind))
    heights = width * np.sqrt(np.maximum(1 - np.linspace(-1, 1, n) ** 2, 0.0)).astype(kind)
    # i0(heights) / i0(width), neither of which is finite for a large width
    return ns.exp(heights - width) * (special.i0e(heights) / special.i0e(width))


# -- short-time Fourier transforms ----------------------------------------------------------------


def _windowed(frames: Native, length: int, window_fn: Window) -> Native:
    if window_fn is None:
        return frames
    return frames * convert(window_fn(length, dtype=of_numpy(frames.dtype)))


def _transform_length(fft_length: Any, frame_length: int) -> int:
    """Return a length that was given, or the next power of 2."""
    return 2 ** math.ceil(math.log2(frame_length)) if fft_length is None else int(fft_length)


@offered("signal.stft")
def stft(
    signals: Signal, frame_length: Int, frame_step: Int, fft_length: Any = None,
    window_fn: Window = hann_window, pad_end: Any = False,
) -> Any:  # fmt: skip
    """Return Fourier transforms of frames of a signal."""
    size = _transform_length(fft_length, frame_length)
    frames = _frames(signals, frame_length, frame_step, pad_end)
    return native.rfft(_windowed(frames, frame_length, window_fn), n=size)


@offered("signal.inverse_stft")
def inverse_stft(
    stfts: Waves, frame_length: Int, frame_step: Int, fft_length: Any = None,
    window_fn: Window = hann_window,
) -> Any:  # fmt: skip
    """Return a signal of which these are the Fourier transforms of frames."""
    size = _transform_length(fft_length, frame_length)
    frames = native.irfft(stfts, n=size)[..., :frame_length]
    if size < frame_length:
        frames = ns.pad(frames, [(0, 0)] * (frames.ndim - 1) + [(0, frame_length - size)])
    return overlap_add(_windowed(frames, frame_length, window_fn), step=frame_step)


@offered("signal.inverse_stft_window_fn")
def inverse_stft_window_fn(frame_step: Int, forward_window_fn: Any = hann_window) -> Any:
    """Return a window for `inverse_stft` with which it undoes `stft`."""

    def window(frame_length: Any, dtype: Any) -> Any:
        length = int(static(frame_length))
        forward = np.asarray(forward_window_fn(length, dtype=dtype))
        overlaps = -(-length // frame_step)
        padded = np.pad(np.square(forward), (0, overlaps * frame_step - length))
        total = np.tile(padded.reshape(overlaps, frame_step).sum(axis=0), overlaps)[:length]
        return outward(wrap(np.asarray(forward / total, forward.dtype)))

    return window
