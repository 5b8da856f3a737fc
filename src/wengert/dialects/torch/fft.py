"""torch.fft, and short-time transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.torch import conventions, dtypes
from wengert.dialects.torch.axes import axis_of, kind_of, labelled, truth, type_name
from wengert.dialects.torch.creation import new
from wengert.dialects.torch.table import offered, plain
from wengert.dialects.torch.tensors import Tensor, astype, convert, ns, promoted, static, store
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import fft as native
from wengert.ops import segments

# -- what transforms are given -----------------------------------------------------------------


def _numbers(input: Any, kinds: str, name: str) -> Native:
    """Return a tensor of real ("f") or complex ("c") numbers, or of both."""
    x = convert(input)
    if x._raw.dtype == np.float16:
        raise RuntimeError(f"{name} does not take float16; write x.float()")
    x = astype(x, dtypes.floating(x._raw.dtype))
    if kind_of(x) not in kinds:
        if kinds == "f":
            raise RuntimeError(
                f"{name} transforms real numbers, and this is a {type_name(x)}; write x.real"
            )
        x = astype(x, np.dtype(np.result_type(x._raw.dtype, np.complex64)))
    return x


def _norm(norm: Any) -> str:
    if norm is not None and not isinstance(norm, str):
        raise TypeError(f'norm is a {type(norm).__name__}; give a string, such as "ortho"')
    if norm not in (None, "backward", "ortho", "forward"):
        raise RuntimeError(f'norm is "{norm}"; write "backward", "ortho" or "forward"')
    return norm or "backward"


def _axis(dim: Any, ndim: int) -> int:
    if not ndim:
        raise IndexError(f"a single number has no axis {dim}; write x.reshape(1)")
    return axis_of(dim, ndim)


def _length(n: Any, name: str = "n") -> int:
    given = static(n)
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)):
        raise TypeError(f"{name}: got a value of type {type(n).__name__}; give a whole number")
    return int(given)


def _points(n: int) -> int:
    if n < 1:
        raise RuntimeError(f"the transform has length {n}; give 1 or more")
    return n


def _several(x: Native, s: Any, dim: Any, halved: bool) -> tuple[tuple[int, ...], list[int]]:
    """Return the axes to transform and the length of each; a length of -1 is the axis's own.

    With `halved` the last axis has half of a transform, and a length of what that is of.
    """
    sizes = None
    if s is not None:
        sizes = [_length(n, "s") for n in (s if isinstance(s, (tuple, list)) else (s,))]
    if dim is None:
        count = x.ndim if sizes is None else len(sizes)
        if count > x.ndim:
            raise RuntimeError(
                f"s has {count} lengths for {x.ndim} axes; give one for each axis at most"
            )
        axes = tuple(range(x.ndim - count, x.ndim))
    else:
        given = dim if isinstance(dim, (tuple, list)) else (dim,)
        axes = tuple([_axis(d, x.ndim) for d in given])
    if len(set(axes)) < len(axes):
        raise RuntimeError(f"dim={dim} has an axis twice; name each axis once")
    if sizes is not None and len(sizes) != len(axes):
        raise RuntimeError("s and dim have different lengths; give one length for each axis")
    own = [x.shape[a] for a in axes]
    if halved and own:
        own[-1] = 2 * (own[-1] - 1)
    if sizes is None:
        sizes = own
    return axes, [_points(o if n == -1 else n) for n, o in zip(sizes, own, strict=True)]


# -- one axis ----------------------------------------------------------------------------------


def _one(name: str, kinds: str, label: str, doc: str) -> None:
    function: Callable[..., Any] = getattr(native, name)
    halved = name in ("irfft", "hfft")

    def transform(input: Any, n: Any = None, dim: int = -1, norm: Any = None) -> Any:
        x = _numbers(input, kinds, name)
        axis, kind = _axis(dim, x.ndim), _norm(norm)
        own = x.shape[axis]
        size = _points((2 * (own - 1) if halved else own) if n is None else _length(n))
        real = kind_of(x) == "f"
        y = function(x, n=size, axis=axis, norm=kind)
        return labelled(y, label if real or halved else "FftC2CBackward0")

    transform.__name__ = transform.__qualname__ = f"fft_{name}"
    transform.__doc__ = doc
    offered(f"fft.{name}", method=False)(transform)


_one("fft", "fc", "FftR2CBackward0", "Return the Fourier transform along an axis.")
_one("ifft", "fc", "ConjBackward0", "Return the inverse of fft.")
_one("rfft", "f", "FftR2CBackward0", "Return the half of the fft of real numbers that tells all.")
_one("irfft", "c", "FftC2RBackward0", "Return the inverse of rfft: n real numbers.")
_one("hfft", "c", "FftC2RBackward0", "Return the fft of what half of it tells: n real numbers.")
_one("ihfft", "f", "ConjBackward0", "Return the inverse of hfft.")


# -- several axes ------------------------------------------------------------------------------


def _hfftn(x: Native, s: Any, axes: Any, norm: str) -> Native:
    turned = ns.conj(x)
    return native.irfftn(turned, s=s, axes=axes, norm=native.OTHER_NORM[norm])


def _ihfftn(x: Native, s: Any, axes: Any, norm: str) -> Native:
    return ns.conj(native.rfftn(x, s=s, axes=axes, norm=native.OTHER_NORM[norm]))


def _many(name: str, function: Callable[..., Any], kinds: str, label: str, doc: str) -> None:
    halved = name in ("irfft", "hfft")

    def computed(input: Any, s: Any, dim: Any, norm: Any) -> Any:
        x = _numbers(input, kinds, f"{name}n")
        kind = _norm(norm)
        axes, sizes = _several(x, s, dim, halved)
        if not axes and kinds != "fc":
            raise RuntimeError(f"{name}n: dim is empty; name one axis at least")
        return labelled(function(x, s=sizes, axes=axes, norm=kind), label)

    def over_two(input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None) -> Any:
        return computed(input, s, dim, norm)

    def over_any(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
        return computed(input, s, dim, norm)

    for end, transform, which in (("2", over_two, "the last two axes"), ("n", over_any, "axes")):
        transform.__name__ = transform.__qualname__ = f"fft_{name}{end}"
        transform.__doc__ = doc.format(which)
        offered(f"fft.{name}{end}", method=False)(transform)


_many("fft", native.fftn, "fc", "FftC2CBackward0", "Return the Fourier transform over {}.")
_many("ifft", native.ifftn, "fc", "FftC2CBackward0", "Return the inverse transform over {}.")
_many("rfft", native.rfftn, "f", "FftR2CBackward0", "Return rfft on the last of {}, fft on others.")
_many("irfft", native.irfftn, "c", "FftC2RBackward0", "Return the inverse of rfft over {}.")
_many("hfft", _hfftn, "c", "FftC2RBackward0", "Return hfft on the last of {}, and fft on others.")
_many("ihfft", _ihfftn, "f", "FftC2CBackward0", "Return the inverse of hfft over {}.")


# -- frequencies -------------------------------------------------------------------------------


def _frequencies(name: str, places: Callable[[int], np.ndarray]) -> None:
    def create(
        n: Any,
        d: Any = 1.0,
        *,
        out: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
    ) -> Tensor:
        count = _length(n)
        kind = dtypes.default().numpy if dtype is None else dtypes.to_numpy(dtype)
        if kind.kind != "f":
            error = NotImplementedError if kind.kind == "c" else RuntimeError
            raise error(
                f"{name}: dtype={dtype} has no fractions; write dtype=torch.float32 or leave it out"
            )
        if count < 0:
            raise RuntimeError(f"n is {count}; give 0 or more")
        with np.errstate(all="ignore"):
            raw = places(count).astype(kind) / np.asarray(count * static(d), kind)
        found = new(raw.astype(kind), layout, device, requires_grad)
        return found if out is None else store(found, out)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = f"Return the frequencies of an {name.removesuffix('freq')} of n samples."
    plain(f"fft.{name}")(create)


_frequencies("fftfreq", lambda n: np.fft.ifftshift(np.arange(n) - n // 2))
_frequencies("rfftfreq", lambda n: np.arange(n // 2 + 1))


def _shift(name: str, function: Callable[..., Any], doc: str) -> None:
    def shift(input: Any, dim: Any = None) -> Any:
        x = convert(input)
        given = range(x.ndim) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
        axes = tuple([axis_of(d, x.ndim) for d in given])
        if not axes or not x.ndim:
            raise RuntimeError(f"{name}: dim is empty; name one axis at least")
        return function(x, axes=axes)

    shift.__name__ = shift.__qualname__ = f"fft_{name}"
    shift.__doc__ = doc
    offered(f"fft.{name}", method=False, label="RollBackward0")(shift)


_shift("fftshift", native.fftshift, "Return x with the zero frequency moved to the middle.")
_shift("ifftshift", native.ifftshift, "Return x with the zero frequency moved to the start.")


# -- short-time transforms ---------------------------------------------------------------------

_PADDING = {"reflect": "reflect", "constant": "constant", "replicate": "edge", "circular": "wrap"}


def _window(
    window: Any, n_fft: int, hop_length: Any, win_length: Any, x: Native, name: str
) -> tuple[Native, int]:
    """Return a window, with zeros around it to the length of transforms, and how far it hops."""
    hop = n_fft // 4 if hop_length is None else _length(hop_length, "hop_length")
    length = n_fft if win_length is None else _length(win_length, "win_length")
    if hop <= 0:
        raise RuntimeError(f"{name}: hop_length={hop}; give 1 or more")
    if not 0 < length <= n_fft:
        raise RuntimeError(
            f"{name}: win_length={length} for n_fft={n_fft}; give a length from 1 to n_fft"
        )
    if window is None:
        shape = wrap_native(np.ones(length, np.empty(0, x._raw.dtype).real.dtype))
    else:
        shape = convert(window, what="window")
    if shape.shape != (length,):
        raise RuntimeError(
            f"{name}: the window has shape {list(shape.shape)}; give a vector of "
            f"win_length={length} numbers"
        )
    left = (n_fft - length) // 2
    if length < n_fft:
        shape = ns.pad(shape, [(left, n_fft - length - left)])
    return shape, hop


def _one_sided(onesided: Any, is_complex: bool) -> bool:
    if onesided and is_complex:
        raise RuntimeError("onesided=True is for real signals and windows; write onesided=False")
    return not is_complex if onesided is None else truth(onesided, "onesided")


@offered("stft", label="SqueezeBackward4")
def stft(
    input: Any,
    n_fft: Any,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """Return Fourier transforms of pieces of a signal, as columns."""
    x = convert(input)
    size = _length(n_fft, "n_fft")
    if center and align_to_window is not None:
        raise RuntimeError("stft: align_to_window needs center=False; leave one of them out")
    is_complex = kind_of(x) == "c" or (window is not None and window.dtype.is_complex)
    if return_complex is None and not is_complex:
        raise RuntimeError(
            "stft: a real signal was given without return_complex; write return_complex=True"
        )
    if kind_of(x) not in "fc":
        raise RuntimeError(f"stft: the signal is a {type_name(x)}; write x.float()")
    if x.ndim not in (1, 2):
        raise RuntimeError(f"stft: the signal has shape {list(x.shape)}; give a vector, or rows")
    if center:
        x = _padded(x, size // 2, pad_mode)
    if not 0 < size <= x.shape[-1]:
        raise RuntimeError(
            f"stft: n_fft={size} for a signal of length {x.shape[-1]}; give 1 to that"
        )
    shape, hop = _window(window, size, hop_length, win_length, x, "stft")
    starts = range(0, x.shape[-1] - size + 1, hop)
    if align_to_window:  # the last pieces have less beyond the window
        extra = size - (size if win_length is None else win_length)
        x = ns.pad(x, [(0, 0)] * (x.ndim - 1) + [(extra // 2, extra - extra // 2)])
        starts = range(0, x.shape[-1] - size + 1, hop)
    places = np.asarray(starts)[:, None] + np.arange(size)
    pieces = ns.multiply(*promoted(x[..., places], shape))
    transform = native.rfft if _one_sided(onesided, is_complex) else native.fft
    y = ns.matrix_transpose(transform(pieces, norm="ortho" if normalized else "backward"))
    return y if return_complex is not False else ns.stack([ns.real(y), ns.imag(y)], axis=-1)


def _padded(x: Native, width: int, mode: str) -> Native:
    if mode not in _PADDING:
        raise NotImplementedError(f"pad_mode is {mode}; write one of {[*_PADDING]}")
    limit = {"reflect": x.shape[-1] - 1, "circular": x.shape[-1]}.get(mode, width)
    if width > limit:
        raise RuntimeError(
            f"padding {(width, width)} reflects more of the last axis than there is in shape "
            f"{list(x.shape)}; give a longer signal, or a smaller n_fft"
        )
    x = conventions.read(x) if mode in ("reflect", "replicate") else x
    return ns.pad(x, [(0, 0)] * (x.ndim - 1) + [(width, width)], mode=_PADDING[mode])


def _overlapped(pieces: Native, hop: int) -> Native:
    """Return the sum of pieces, each a hop after the one before it."""
    *lead, count, length = pieces.shape
    places = (np.arange(count)[:, None] * hop + np.arange(length)).reshape(-1)
    flat = ns.moveaxis(ns.reshape(pieces, (*lead, count * length)), -1, 0)
    total = segments.segment_sum(flat, places, num_segments=(count - 1) * hop + length)
    return ns.moveaxis(astype(total, pieces._raw.dtype), 0, -1)


@offered("istft", label="SqueezeBackward1")
def istft(
    input: Any,
    n_fft: Any,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """Return the signal of which these are Fourier transforms of pieces."""
    x = convert(input)
    size = _length(n_fft, "n_fft")
    if kind_of(x) != "c":
        raise RuntimeError(
            "istft inverts a complex spectrogram; write stft(..., return_complex=True), or "
            "torch.view_as_complex(x)"
        )
    if not x.size:
        raise RuntimeError("istft: the spectrogram has no elements")
    if x.ndim not in (2, 3):
        raise RuntimeError(f"istft: got shape {list(x.shape)}; give frequencies by frames")
    complex_window = window is not None and window.dtype.is_complex
    if complex_window and not return_complex:
        raise RuntimeError("istft: the window is complex; write return_complex=True")
    half = _halved(onesided, return_complex, complex_window, x, size)
    shape, hop = _window(window, size, hop_length, win_length, x, "istft")
    if hop > (size if win_length is None else win_length):
        raise RuntimeError(f"istft: hop_length={hop}; give a number from 1 to win_length")
    norm = "ortho" if normalized else "backward"
    columns = ns.matrix_transpose(x)
    if return_complex:
        pieces = native.ifft(columns, norm=norm)
    else:  # of both sides, one is read
        columns = columns if half else columns[..., : size // 2 + 1]
        pieces = native.irfft(columns, n=size, norm=norm)
    total = _overlapped(ns.multiply(*promoted(pieces, shape)), hop)
    weights = _overlapped(ns.broadcast_to(ns.square(shape), (pieces.shape[-2], size)), hop)
    return _cut(total, weights, size // 2 if center else 0, length)


def _halved(onesided: Any, return_complex: Any, window: bool, x: Native, size: int) -> bool:
    """Return whether transforms have one side only, which their number of frequencies must fit."""
    if onesided and (return_complex or window):
        raise RuntimeError("onesided=True is for real signals and windows; write onesided=False")
    rows = x.shape[-2]
    half = (rows != size and not return_complex) if onesided is None else bool(onesided)
    expected = size // 2 + 1 if half else size
    if rows != expected:
        raise RuntimeError(
            f"istft: {rows} frequencies; with n_fft={size} and onesided={half} there are {expected}"
        )
    return half


def _cut(total: Native, weights: Native, start: int, length: int | None) -> Native:
    """Return a signal by its weights, without what is before `start`, and of some length."""
    end = total.shape[-1] - start if length is None else start + length
    missing = max(end - total.shape[-1], 0)
    total, weights = total[..., start:end], weights[start:end]
    raw = weights._raw
    if type(raw) is np.ndarray and raw.size and not np.abs(raw).min() > 1e-11:
        raise RuntimeError(
            "istft: the windows leave out some elements, which cannot be known; write "
            "center=True, or another window"
        )
    y = ns.divide(*promoted(total, weights))
    return ns.pad(y, [(0, 0)] * (y.ndim - 1) + [(0, missing)]) if missing else y
