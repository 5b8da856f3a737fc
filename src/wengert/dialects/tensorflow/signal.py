"""tf.signal: Fourier and cosine transforms, frames and windows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow.conventions import maximum, minimum
from wengert.dialects.tensorflow.dtypes import as_dtype, of_numpy
from wengert.dialects.tensorflow.errors import as_is, invalid
from wengert.dialects.tensorflow.table import offered
from wengert.dialects.tensorflow.tensors import check_kind, convert, outward, static
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap
from wengert.ops import fft as native
from wengert.ops import segments, special

ns = Native._namespace


# -- Fourier transforms -------------------------------------------------------------------------


def _numbers(x: Any, kinds: str, axes: int, name: str, like: Any = None) -> Native:
    """Return numbers of some kinds; NumPy's arrays become of the dtype `like`."""
    tensor = convert(x, None, like)
    check_kind(tensor, kinds, name)
    if tensor.ndim < axes:
        raise invalid(f"{name}: shape {tensor.shape}; expected {axes} axes or more")
    return tensor


def _complex_transform(name: str, function: Any, axes: int) -> None:
    """Offer a transform from complex numbers to complex numbers."""

    def transform(input: Any, name: str | None = None) -> Any:
        x = _numbers(input, "c", axes, "FFT", np.dtype("complex64"))
        return function(x, axes=tuple(range(-axes, 0)))

    transform.__doc__ = (
        f"Return the Fourier transform of complex numbers over the last {axes} axes."
    )
    transform.__name__ = transform.__qualname__ = name
    offered(f"signal.{name}")(transform)


def _real_transform(title: str, function: Any, axes: int, kinds: str) -> None:
    """Offer a transform from real numbers, or to real numbers."""

    def transform(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
        like = np.dtype("float32" if kinds == "f" else "complex64")
        x = _numbers(input_tensor, "iufc", axes, "RFFT", like)
        if x.dtype.kind != kinds or x.dtype == np.float16:
            raise as_is(
                ValueError(
                    f"tf.signal.{title} requires {'real' if kinds == 'f' else 'complex'} floating "
                    f"numbers as input, got {of_numpy(x.dtype)!r}; write tf.cast(x, dtype)"
                )
            )
        sizes = None if fft_length is None else static(fft_length)
        if isinstance(sizes, int) or (sizes is not None and len(sizes) != axes):
            raise as_is(
                ValueError(f"fft_length is {fft_length!r}; expected a list of {axes} lengths")
            )
        return function(x, s=sizes, axes=tuple(range(-axes, 0)))

    transform.__doc__ = f"Return the Fourier transform of real numbers over the last {axes} axes."
    transform.__name__ = transform.__qualname__ = title
    offered(f"signal.{title}")(transform)


for _axes, _end in ((1, ""), (2, "2d"), (3, "3d")):
    _complex_transform(f"fft{_end}", native.fftn, _axes)
    _complex_transform(f"ifft{_end}", native.ifftn, _axes)
    _real_transform(f"rfft{_end}", native.rfftn, _axes, "f")
    _real_transform(f"irfft{_end}", native.irfftn, _axes, "c")


def _shifted_axes(axes: Any) -> Any:
    given = static(axes)
    return tuple(given) if isinstance(given, list) else given


@offered("signal.fftshift")
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """Return x with the zero frequency moved to the middle."""
    return native.fftshift(convert(x), axes=_shifted_axes(axes))


@offered("signal.ifftshift")
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """Return x with the zero frequency moved from the middle to the start."""
    return native.ifftshift(convert(x), axes=_shifted_axes(axes))


# -- cosine transforms --------------------------------------------------------------------------


def _check_dct(type: int, norm: Any, axis: int) -> None:
    if axis != -1:
        raise as_is(NotImplementedError(f"axis is {axis}; expected -1"))
    if type not in (1, 2, 3, 4):
        raise as_is(ValueError(f"type is {type}; expected 1, 2, 3 or 4"))
    if norm not in (None, "ortho"):
        raise as_is(ValueError(f"norm is {norm!r}; expected None or 'ortho'"))
    if type == 1 and norm == "ortho":
        raise as_is(ValueError("norm='ortho' is for types 2 to 4, not 1"))


def _dct(x: Native, type: int, norm: str | None) -> Native:
    """Return a cosine transform over the last axis, by Fourier's."""
    n = x.shape[-1]
    if type == 1:
        if n < 2:
            raise as_is(ValueError("type 1 is of 2 numbers or more"))
        return ns.real(native.rfft(ns.concat([x, ns.flip(x[..., 1:-1], axis=-1)], axis=-1)))
    if type == 4:
        found = _second(x, 2 * n)[..., 1::2]
        return found * math.sqrt(0.5 / n) if norm else found
    if type == 2:
        scale = np.full(n, math.sqrt(0.5 / n), x.dtype)
        scale[:1] = math.sqrt(0.25 / n)
        found = _second(x, n)
        return found * scale if norm else found
    weights = np.full(n, math.sqrt(0.5 * n), x.dtype)
    weights[:1] = math.sqrt(n)
    half = ns.astype(x * weights if norm else x * n, _complex_of(x))
    turned = half * (2 * np.exp(0.5j * np.pi * np.arange(n) / n)).astype(half.dtype)
    return native.irfft(turned, n=2 * n)[..., :n]


def _complex_of(x: Native) -> Any:
    return np.complex128 if x.dtype == np.float64 else np.complex64


def _second(x: Native, n: int) -> Native:
    """Return the cosine transform of type II of x with zeros after it, of length n."""
    waves = native.rfft(x, n=2 * n)[..., :n]
    return ns.real(waves * (2 * np.exp(-0.5j * np.pi * np.arange(n) / n)).astype(waves.dtype))


@offered("signal.dct", raises=(NotImplementedError,))
def dct(
    input: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """Return the cosine transform over the last axis, cut or extended by zeros to length n."""
    _check_dct(type, norm, axis)
    return _dct(_of_length(_numbers(input, "f", 1, "DCT"), n), type, norm)


def _of_length(x: Native, n: Any) -> Native:
    """Return the last axis cut, or extended by zeros, to length n."""
    if n is None:
        return x
    length = int(static(n))
    if length < 1:
        raise as_is(ValueError(f"n is {n}; expected 1 or more"))
    x = x[..., :length]
    padded: Native = ns.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, length - x.shape[-1])])
    return padded


@offered("signal.idct", raises=(NotImplementedError,))
def idct(
    input: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """Return the inverse cosine transform; without norm="ortho", times twice the length."""
    _check_dct(type, norm, axis)
    x = _of_length(_numbers(input, "f", 1, "DCT"), n)
    return _dct(x, {1: 1, 2: 3, 3: 2, 4: 4}[type], norm)


# -- frames -------------------------------------------------------------------------------------


def _frames(
    x: Native, length: int, step: int, pad_end: bool = False, pad_value: Any = 0, axis: int = -1
) -> Native:
    if not -x.ndim <= axis < x.ndim:
        raise as_is(IndexError(f"axis {axis} is not one of the {x.ndim} of shape {x.shape}"))
    axis %= x.ndim
    size = x.shape[axis]
    if pad_end:
        count = -(-size // step)
        missing = max(0, length + step * (count - 1) - size)
        widths = [(0, missing if a == axis else 0) for a in range(x.ndim)]
        x = ns.pad(x, widths, constant_values=pad_value)
    else:
        count = max(0, 1 + (size - length) // step)
    places = np.arange(count)[:, None] * step + np.arange(length)
    return x[(slice(None),) * axis + (places,)]


@offered("signal.frame")
def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: Any = -1,
    name: str | None = None,
) -> Any:
    """Return pieces of `frame_length` that begin every `frame_step` places along an axis."""
    x = convert(signal)
    if not x.ndim:
        raise as_is(ValueError("the signal is one number; give a tensor of one axis at least"))
    length, step = int(static(frame_length)), int(static(frame_step))
    return _frames(x, length, step, pad_end, static(pad_value), int(static(axis)))


@offered("signal.overlap_and_add")
def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Any:
    """Return the sum of frames, each placed `frame_step` after the one before it."""
    x = convert(signal)
    if x.ndim < 2:
        raise as_is(ValueError(f"frames of shape {x.shape}; expected 2 axes or more"))
    step = int(static(frame_step))
    return _overlapped(x, step)


def _overlapped(x: Native, step: int) -> Native:
    *lead, count, length = x.shape
    places = (np.arange(count)[:, None] * step + np.arange(length)).reshape(-1)
    flat = ns.moveaxis(ns.reshape(x, (*lead, count * length)), -1, 0)
    total = segments.segment_sum(flat, places, num_segments=(count - 1) * step + length)
    return ns.moveaxis(ns.astype(total, x.dtype, copy=False), 0, -1)


# -- windows ------------------------------------------------------------------------------------


def _window(values: np.ndarray, dtype: Any) -> Native:
    return wrap(values.astype(as_dtype(dtype)._numpy))


def _floating(dtype: Any) -> dtypes.DType:
    kind = as_dtype(dtype)
    if not kind.is_floating:
        raise as_is(ValueError(f"a window of {kind.name}; expected floating numbers"))
    return kind


def _cosines(length: Any, periodic: Any, dtype: Any, a: float) -> Native:
    n = int(static(length))
    _floating(dtype)
    if n == 1:
        return _window(np.ones(1), dtype)
    even = 1 - n % 2
    period = n + bool(static(periodic)) * even - 1
    return _window(a - (1 - a) * np.cos(2 * np.pi * np.arange(n) / period), dtype)


@offered("signal.hann_window")
def hann_window(
    window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: str | None = None
) -> Any:
    """Return Hann's window."""
    return _cosines(window_length, periodic, dtype, 0.5)


@offered("signal.hamming_window")
def hamming_window(
    window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: str | None = None
) -> Any:
    """Return Hamming's window."""
    return _cosines(window_length, periodic, dtype, 0.54)


@offered("signal.kaiser_window", differs="of a negative beta, the window is that of -beta")
def kaiser_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = dtypes.float32, name: str | None = None
) -> Any:
    """Return Kaiser's window, which is the same for `beta` and -`beta`."""
    return _kaiser(int(static(window_length)), beta, dtype)


def _kaiser(n: int, beta: Any, dtype: Any) -> Native:
    kind = _floating(dtype)._numpy
    if n == 1:
        return ns.ones(1, dtype=kind)
    width = ns.abs(ns.astype(convert(beta), kind))
    heights = width * np.sqrt(np.maximum(1 - np.linspace(-1, 1, n) ** 2, 0.0)).astype(kind)
    # i0(heights) / i0(width), neither of which is finite for a large width
    window: Native = ns.exp(heights - width) * (special.i0e(heights) / special.i0e(width))
    return window


@offered(
    "signal.kaiser_bessel_derived_window",
    differs="of a negative beta, the window is that of -beta",
)
def kaiser_bessel_derived_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = dtypes.float32, name: str | None = None
) -> Any:
    """Return the window whose square is a running sum of Kaiser's."""
    sums = ns.cumulative_sum(_kaiser(int(static(window_length)) // 2 + 1, beta, dtype))
    half = ns.sqrt(sums[:-1] / sums[-1])
    return ns.concat([half, half[::-1]])


@offered("signal.vorbis_window")
def vorbis_window(window_length: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
    """Return the window of the Vorbis format."""
    n = int(static(window_length))
    return _window(np.sin(np.pi / 2 * np.sin(np.pi / n * (np.arange(n) + 0.5)) ** 2), dtype)


# -- short-time Fourier transforms ----------------------------------------------------------------


def _lengths(frame_length: Any, frame_step: Any, fft_length: Any) -> tuple[int, int, int]:
    """Return three lengths; the last is by default the next power of 2."""
    length, step = int(static(frame_length)), int(static(frame_step))
    size = 2 ** math.ceil(math.log2(length)) if fft_length is None else int(static(fft_length))
    return length, step, size


@offered("signal.stft")
def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Any:
    """Return Fourier transforms of frames of a signal."""
    x = _numbers(signals, "f", 1, "RFFT")
    length, step, size = _lengths(frame_length, frame_step, fft_length)
    frames = _frames(x, length, step, pad_end)
    if window_fn is not None:
        frames = frames * convert(window_fn(length, dtype=of_numpy(x.dtype)))
    return native.rfft(frames, n=size)


@offered("signal.inverse_stft")
def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    name: str | None = None,
) -> Any:
    """Return a signal of which these are the Fourier transforms of frames."""
    x = _numbers(stfts, "c", 2, "IRFFT")
    length, step, size = _lengths(frame_length, frame_step, fft_length)
    frames = native.irfft(x, n=size)[..., :length]
    if size < length:
        frames = ns.pad(frames, [(0, 0)] * (frames.ndim - 1) + [(0, length - size)])
    if window_fn is not None:
        frames = frames * convert(window_fn(length, dtype=of_numpy(frames.dtype)))
    return _overlapped(frames, step)


@offered("signal.inverse_stft_window_fn")
def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Callable[..., Any] = hann_window, name: str | None = None
) -> Any:
    """Return a window for `inverse_stft` with which it undoes `stft`."""
    step = int(static(frame_step))

    def window(frame_length: Any, dtype: Any) -> Any:
        length = int(static(frame_length))
        forward = np.asarray(forward_window_fn(length, dtype=dtype))
        squares = np.square(forward)
        overlaps = -(-length // step)
        padded = np.pad(squares, (0, overlaps * step - length)).reshape(overlaps, step)
        total = np.tile(padded.sum(axis=0), overlaps)[:length]
        return outward(wrap(np.asarray(forward / total, forward.dtype)))

    return window


# -- cosine transforms of frames that overlap by half --------------------------------------------


def _halved(frames: Native, length: int, window_fn: Callable[..., Any] | None) -> Native:
    """Return frames by a window whose squares, a half further on, add up to 1."""
    if window_fn is None:
        return frames * np.asarray(math.sqrt(0.5), frames.dtype)
    return frames * convert(window_fn(length, dtype=of_numpy(frames.dtype)))


@offered("signal.mdct")
def mdct(
    signals: Any,
    frame_length: Any,
    window_fn: Callable[..., Any] | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """Return the modified cosine transform of frames, half a frame apart."""
    x = _numbers(signals, "f", 1, "MDCT")
    length = int(static(frame_length))
    if length % 4:
        raise as_is(ValueError(f"frame_length is {length}; expected a multiple of 4"))
    frames = _halved(_frames(x, length, length // 2, pad_end), length, window_fn)
    quarter = length // 4
    a, b, c, d = (frames[..., k * quarter : (k + 1) * quarter] for k in range(4))
    folded = ns.concat([-ns.flip(c, axis=-1) - d, a - ns.flip(b, axis=-1)], axis=-1)
    _check_dct(4, norm, -1)
    return _dct(folded, 4, norm)


@offered("signal.inverse_mdct")
def inverse_mdct(
    mdcts: Any,
    window_fn: Callable[..., Any] | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """Return a signal of which these are the modified cosine transforms of frames."""
    x = _numbers(mdcts, "f", 2, "MDCT")
    half = x.shape[-1]
    _check_dct(4, norm, -1)
    folded = _dct(x, 4, norm)
    if norm is None:
        folded = folded * np.asarray(0.5 / half, x.dtype)
    first, second = folded[..., : half // 2], folded[..., half // 2 :]
    back = ns.flip(first, axis=-1)
    frames = ns.concat([second, -ns.flip(second, axis=-1), -back, -first], axis=-1)
    return _overlapped(_halved(frames, 2 * half, window_fn), half)


# -- the scale of hearing --------------------------------------------------------------------------


def _mel(hertz: Any) -> Any:
    return 1127.0 * ns.log1p(hertz / 700.0)


@offered("signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins: Any = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: Any = 125.0,
    upper_edge_hertz: Any = 3800.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """Return the matrix by which a spectrogram becomes one of triangles, evenly apart in mel."""
    bins, waves = int(static(num_mel_bins)), int(static(num_spectrogram_bins))
    rate, low, high = (float(static(v)) for v in (sample_rate, lower_edge_hertz, upper_edge_hertz))
    kind = as_dtype(dtype)
    if bins <= 0 or rate <= 0 or not 0 <= low < high <= rate / 2 or not kind.is_floating:
        raise as_is(
            ValueError(
                f"{bins} bins from {low} to {high} Hz of a signal of {rate} Hz, as {kind.name}; "
                "expected bins, and edges in order up to half the rate, as floating numbers"
            )
        )
    first, last = (_mel(convert(edge, kind)) for edge in (lower_edge_hertz, upper_edge_hertz))
    edges = first + (last - first) * np.linspace(0.0, 1.0, bins + 2, dtype=kind._numpy)
    places = _mel(ns.asarray(np.linspace(0.0, rate / 2, waves, dtype=kind._numpy)[1:, None]))
    rising = (places - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - places) / (edges[2:] - edges[1:-1])
    weights = minimum(rising, falling)
    weights = maximum(ns.zeros_like(weights), weights)
    return ns.pad(weights, ((1, 0), (0, 0)))


@offered("signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Any:
    """Return the cosine transforms of logarithms of spectrograms on the mel scale."""
    x = _numbers(log_mel_spectrograms, "f", 1, "DCT")
    if not x.shape[-1]:
        raise as_is(ValueError(f"no bins in spectrograms of shape {x.shape}"))
    return _dct(x, 2, None) * np.asarray(1 / math.sqrt(2 * x.shape[-1]), x.dtype)
