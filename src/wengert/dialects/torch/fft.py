"""torch.fft, short-time transforms, and the windows that go with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import Argument, Kind, named
from wengert.dialects.torch import conventions, dtypes
from wengert.dialects.torch import kinds as K
from wengert.dialects.torch.axes import kind_of, labelled, misfit
from wengert.dialects.torch.creation import creates
from wengert.dialects.torch.table import offered
from wengert.dialects.torch.tensors import Native, astype, ns, promoted, wrap_native
from wengert.ops import fft as native
from wengert.ops.segments import overlap_add

# -- transforms --------------------------------------------------------------------------------


def _precise(x: Native) -> Native:
    if backends.is_narrow(x._raw.dtype):
        raise RuntimeError(f"Fourier transforms do not take {x._raw.dtype}; write x.float()")
    return K.floating(x)


def _complex(x: Native) -> Native:
    x = _precise(x)
    return astype(x, np.dtype(np.result_type(x._raw.dtype, np.complex64)))


def _read_norm(value: Any, at: Argument, x: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f'{at} is a {type(value).__name__}; give a string, such as "ortho"')
    norm: str = K.READERS.one_of("backward", "ortho", "forward")(value, at)
    return norm


def _read_axes(value: Any, at: Argument, x: Any) -> tuple[int, ...]:
    if not x.ndim and value != ():
        raise IndexError(f"{at} is {value}, and a single number has no axes; write x.reshape(1)")
    return K.READERS.named_axes(value, at, x)


Norm = Annotated[str, Kind(_read_norm)]
Transformed = Annotated[Any, Kind(_read_axes)]
#: Signals: any numbers, real ones, and any numbers as complex ones.
_SIGNALS = {
    "fc": Annotated[Native, K.tensor(become=_precise)],
    "f": Annotated[Native, K.tensor("biuf", become=_precise)],
    "c": Annotated[Native, K.tensor(become=_complex)],
}


def _transform(name: str, kinds: str, labels: tuple[str, str], what: str) -> None:
    """Offer a transform along one axis, over two and over any number of axes.

    `labels` are what PyTorch calls its nodes along one axis and over several.
    """
    compute: Callable[..., Native] = getattr(native, f"{name}n")
    halved = name in ("irfft", "hfft")

    def over(x: Native, sizes: Any, axes: tuple[int, ...], norm: str | None) -> Native:
        own = [x.shape[a] for a in axes]
        if halved and own:  # the last axis has half of a transform
            own[-1] = 2 * (own[-1] - 1)
        if sizes is not None and len(sizes) != len(axes):
            raise RuntimeError("s and dim have different lengths; give one length for each axis")
        given = own if sizes is None else sizes
        sizes = [o if n == -1 else n for n, o in zip(given, own, strict=True)]
        return compute(x, s=sizes, axes=axes, norm=norm or "backward")

    def along(
        input: Any, n: K.Int | None = None, dim: K.Axis = -1, norm: Norm | None = None
    ) -> Native:
        if not input.ndim:
            raise IndexError(f"a single number has no axis {dim}; write x.reshape(1)")
        y = over(input, None if n is None else (max(n, 0),), (dim,), norm)
        return labelled(y, labels[0] if kind_of(input) == "f" or halved else "FftC2CBackward0")

    def over_two(
        input: Any, s: K.Ints | None = None, dim: Transformed = (-2, -1), norm: Norm | None = None
    ) -> Native:
        return over(input, s, dim, norm)

    def over_any(
        input: Any, s: K.Ints | None = None, dim: Transformed | None = None,
        norm: Norm | None = None,
    ) -> Native:  # fmt: skip
        if dim is None:
            count = input.ndim if s is None else len(s)
            if count > input.ndim:
                raise RuntimeError(f"s has {count} lengths for {input.ndim} axes; give less")
            dim = tuple(range(input.ndim - count, input.ndim))
        return over(input, s, dim, norm)

    rows = (("", along, "an axis"), ("2", over_two, "the last two axes"), ("n", over_any, "axes"))
    for end, body, where in rows:
        body.__name__ = body.__qualname__ = f"fft_{name}{end}"
        body.__doc__ = f"Return {what} over {where}."
        body.__annotations__["input"] = _SIGNALS[kinds]
        offered(f"fft.{name}{end}", method=False, label=labels[1])(body)


for _name, _kinds, _labels, _what in (
    ("fft", "fc", "R2C C2C", "the Fourier transform"),
    ("ifft", "fc", "Conj C2C", "the inverse of fft"),
    ("rfft", "f", "R2C R2C", "the half of the fft of real numbers that tells all"),
    ("irfft", "c", "C2R C2R", "the inverse of rfft, which is real,"),
    ("hfft", "c", "C2R C2R", "the fft of what half of it tells, which is real,"),
    ("ihfft", "f", "Conj C2C", "the inverse of hfft"),
):
    _one, _several = (f"Fft{label}Backward0" for label in _labels.split())
    _transform(_name, _kinds, (_one.replace("FftConj", "Conj"), _several), _what)


# -- frequencies -------------------------------------------------------------------------------


def _frequencies(name: str, positions: Callable[[int], np.ndarray]) -> None:
    @creates(f"fft.{name}")
    @named(name, f"Return the frequencies of an {name.removesuffix('freq')} of n samples.")
    def create(n: K.Int, d: K.Number = 1.0, *, dtype: K.Dtype | None = None) -> np.ndarray:
        kind = dtypes.default().numpy if dtype is None else dtype
        if backends.kind_of(kind) != "f":
            error = NotImplementedError if kind.kind == "c" else RuntimeError
            raise error(f"{name}: dtype={dtype} has no fractions; write dtype=torch.float32")
        if n < 0:
            raise RuntimeError(f"{name}: n is {n}; give 0 or more")
        with np.errstate(all="ignore"):
            return (positions(n).astype(kind) / np.asarray(n * d, kind)).astype(kind)


_frequencies("fftfreq", lambda n: np.fft.ifftshift(np.arange(n) - n // 2))
_frequencies("rfftfreq", lambda n: np.arange(n // 2 + 1))


def _shift(name: str, where: str) -> None:
    @offered(f"fft.{name}", method=False, label="RollBackward0")
    @named(f"fft_{name}", f"Return x with the zero frequency moved to the {where}.")
    def shift(input: K.Input, dim: K.NamedAxes | None = None) -> Native:
        if not input.ndim or dim == ():
            raise RuntimeError(f"{name}: dim is empty; name one axis at least")
        return getattr(native, name)(input, axes=dim)


_shift("fftshift", "middle")
_shift("ifftshift", "start")


# -- short-time transforms ---------------------------------------------------------------------

_PADDING = {"reflect": "reflect", "constant": "constant", "replicate": "edge", "circular": "wrap"}


def _at_ends(x: Native, before: int, after: int, **options: Any) -> Native:
    """Return x with more elements before and after those on its last axis."""
    return ns.pad(x, [(0, 0)] * (x.ndim - 1) + [(before, after)], **options)


def _window(
    window: Native | None, size: int, hop_length: int | None, win_length: int | None, x: Native
) -> tuple[Native, int, int]:
    """Return a window with zeros around it, how far it hops, and its length without zeros."""
    hop = size // 4 if hop_length is None else hop_length
    length = size if win_length is None else win_length
    if hop <= 0 or not 0 < length <= size:
        raise misfit("stft", f"1 or more, and up to {size}", hop_length=hop, win_length=length)
    if window is None:
        window = wrap_native(np.ones(length, np.empty(0, x._raw.dtype).real.dtype))
    if window.shape != (length,):
        raise misfit("stft", f"a vector of win_length={length}", window=window)
    left = (size - length) // 2
    return _at_ends(window, left, size - length - left), hop, length


def _check_sides(onesided: bool | None, is_complex: bool) -> None:
    if onesided and is_complex:
        raise RuntimeError("onesided=True is for real signals and windows; write onesided=False")


@offered("stft", label="SqueezeBackward4")
def stft(
    input: K.Inexact, n_fft: K.Int, hop_length: K.Int | None = None,
    win_length: K.Int | None = None, window: K.Input | None = None, center: K.Bool = True,
    pad_mode: Any = "reflect", normalized: K.Bool = False, onesided: K.Bool | None = None,
    return_complex: K.Bool | None = None,
) -> Native:  # fmt: skip
    """Return Fourier transforms of pieces of a signal, as columns."""
    x = input
    is_complex = kind_of(x) == "c" or (window is not None and kind_of(window) == "c")
    if return_complex is None and not is_complex:
        raise RuntimeError("stft: the signal is real; write return_complex=True")
    _check_sides(onesided, is_complex)
    if x.ndim not in (1, 2):
        raise RuntimeError(f"stft: the signal has shape {list(x.shape)}; give a vector, or rows")
    x = _padded(x, n_fft // 2, pad_mode) if center else x
    if not 0 < n_fft <= x.shape[-1]:
        raise RuntimeError(f"stft: n_fft={n_fft} for a signal of length {x.shape[-1]}; give less")
    weights, hop, _ = _window(window, n_fft, hop_length, win_length, x)
    starts = np.arange(0, x.shape[-1] - n_fft + 1, hop)
    pieces = ns.multiply(*promoted(x[..., starts[:, None] + np.arange(n_fft)], weights))
    transform = native.fft if is_complex or onesided is False else native.rfft
    y = ns.matrix_transpose(transform(pieces, norm="ortho" if normalized else "backward"))
    return y if return_complex is not False else ns.stack([ns.real(y), ns.imag(y)], axis=-1)


def _padded(x: Native, width: int, mode: str) -> Native:
    if mode not in _PADDING:
        raise NotImplementedError(f"pad_mode is {mode}; write one of {[*_PADDING]}")
    limit = {"reflect": x.shape[-1] - 1, "circular": x.shape[-1]}.get(mode, width)
    if width > limit:
        raise misfit("stft", f"{width} elements to reflect, or a smaller n_fft", input=x)
    x = conventions.read(x) if mode in ("reflect", "replicate") else x
    return _at_ends(x, width, width, mode=_PADDING[mode])


@offered("istft", label="SqueezeBackward1")
def istft(
    input: K.Complex, n_fft: K.Int, hop_length: K.Int | None = None,
    win_length: K.Int | None = None, window: K.Input | None = None, center: K.Bool = True,
    normalized: K.Bool = False, onesided: K.Bool | None = None, length: K.Int | None = None,
    return_complex: K.Bool = False,
) -> Native:  # fmt: skip
    """Return the signal of which these are Fourier transforms of pieces."""
    x = input
    if not x.size or x.ndim not in (2, 3):
        raise RuntimeError(f"istft: got shape {list(x.shape)}; give frequencies by frames")
    complex_window = window is not None and kind_of(window) == "c"
    if complex_window and not return_complex:
        raise RuntimeError("istft: the window is complex; write return_complex=True")
    _check_sides(onesided, return_complex or complex_window)
    rows = x.shape[-2]
    half = (rows != n_fft and not return_complex) if onesided is None else onesided
    if rows != (n_fft // 2 + 1 if half else n_fft):
        raise RuntimeError(f"istft: {rows} frequencies do not fit n_fft={n_fft}, onesided={half}")
    weights, hop, width = _window(window, n_fft, hop_length, win_length, x)
    if hop > width:
        raise RuntimeError(f"istft: hop_length={hop}; give a number from 1 to win_length")
    norm = "ortho" if normalized else "backward"
    columns = ns.matrix_transpose(x)
    if return_complex:
        pieces = native.ifft(columns, norm=norm)
    else:  # of both sides, one is read
        pieces = native.irfft(columns[..., : n_fft // 2 + 1], n=n_fft, norm=norm)
    total = overlap_add(ns.multiply(*promoted(pieces, weights)), step=hop)
    squares = ns.broadcast_to(ns.square(weights), pieces.shape[-2:])
    return _cut(total, overlap_add(squares, step=hop), n_fft // 2 if center else 0, length)


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
    return _at_ends(ns.divide(*promoted(total, weights)), 0, missing)


# -- windows ---------------------------------------------------------------------------------------


def _of_cosines(name: str, length: int, periodic: bool, dtype: Any, *parts: Any) -> np.ndarray:
    """Return the sum of parts[k] * cos(k * t), where t goes once round."""
    kind = dtypes.or_default(dtype)
    if backends.kind_of(kind) != "f" or length < 0:
        raise misfit(name, "0 or more, and fractions", length=length, dtype=kind.name)
    turns = 2 * np.pi * np.arange(length) / max(length - (not periodic), 1)
    waves = [a * np.cos(k * turns) for k, a in enumerate(parts if length > 1 else (1.0,))]
    return sum(waves[1:], waves[0]).astype(kind)


def _plain_window(name: str, *parts: float) -> None:
    """Offer a window that takes no further numbers."""

    @creates(name)
    @named(name, f"Return a {name.removesuffix('_window').capitalize()} window.")
    def window(
        window_length: K.Int, periodic: K.Bool = True, *, dtype: K.Dtype | None = None
    ) -> np.ndarray:
        return _of_cosines(name, window_length, periodic, dtype, *parts)


_plain_window("hann_window", 0.5, -0.5)
_plain_window("blackman_window", 0.42, -0.5, 0.08)


@creates("hamming_window")
def hamming_window(
    window_length: K.Int, periodic: K.Bool = True, alpha: K.Number = 0.54, beta: K.Number = 0.46, *,
    dtype: K.Dtype | None = None,
) -> np.ndarray:  # fmt: skip
    """Return a Hamming window."""
    return _of_cosines("hamming_window", window_length, periodic, dtype, alpha, -beta)
