"""Discrete Fourier transforms: the standard's extension, and NumPy's two-dimensional ones.

Four operations do the work: transforms of whole axes, forward and inverse, and those between
real numbers and the half of their transform that tells all. Padding, cutting and moving are
other operations. The transpose of each is another one of the four, with the other norm: where
one divides by n, its transpose must as well.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import DtypeError
from wengert.ops import batching, shapes
from wengert.ops import elementwise as ew
from wengert.ops.families import Operation, composite, linear, one_axis, sample
from wengert.ops.families import axes as normalised

#: The norm of the transform in the other direction that divides by the same.
OTHER_NORM = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _complex_dtype(xp: Any, dtype: Any) -> Any:
    return xp.complex64 if dtype == xp.float32 else xp.complex128


# -- the four operations ------------------------------------------------------------------------


def _transform(name: str) -> Callable[..., Any]:
    """Return a transform of real or complex arrays; the standard's takes only complex ones."""

    def compute(xp: Any, x: Any, axes: tuple[int, ...], norm: str) -> Any:
        if xp is backends.NUMPY and len(axes) == 1:
            return getattr(np.fft, name)(x, axis=axes[0], norm=norm)
        if xp is not backends.NUMPY and backends.kind_of(x.dtype) != "c":
            x = xp.astype(x, _complex_dtype(xp, x.dtype))
        return getattr(xp.fft, f"{name}n")(x, axes=axes, norm=norm)

    return compute


_WHOLE = [
    sample((5,), axes=(0,), norm="backward"),
    sample((2, 4), axes=(1,), norm="ortho"),
    sample((2, 3, 2), axes=(0, 2), norm="forward"),
    sample((0, 3), axes=(1,), norm="backward"),
]


def _whole(name: str, forth: str, back: str) -> Operation[Tensor]:
    """Declare a transform of whole axes, by NumPy's names of it and of its inverse."""
    return linear(
        f"fft.{name}",
        lambda xp, g, axes, norm: getattr(xp.fft, f"{back}n")(g, axes=axes, norm=OTHER_NORM[norm]),
        params=("axes", "norm"),
        batch=batching.along_axes,
        compute=_transform(forth),
        samples=_WHOLE,
        reference=lambda x, axes, norm: getattr(np.fft, f"{forth}n")(x, axes=axes, norm=norm),
    )


_forward, _inverse = _whole("forward", "fft", "ifft"), _whole("inverse", "ifft", "fft")


def _middle_times(xp: Any, x: Any, factor: float, n: int, axis: int) -> Any:
    """Return half a transform of n real numbers with all frequencies but the real ones scaled.

    Those are 0 and, for even n, n / 2; each other one stands for its conjugate as well.
    """
    before = (slice(None),) * axis
    end = (n + 1) // 2
    first, middle, last = (
        x[(*before, part, ...)] for part in (slice(0, 1), slice(1, end), slice(end, None))
    )
    return xp.concat([first, middle * factor, last], axis=axis)


def _from_real_transpose(xp: Any, g: Any, x_shape: tuple[int, ...], axis: int, norm: str) -> Any:
    n = x_shape[axis]
    half = _middle_times(xp, g, 0.5, n, axis)
    return xp.fft.irfft(half, n=n, axis=axis, norm=OTHER_NORM[norm])


def _to_real_transpose(xp: Any, g: Any, n: int, axis: int, norm: str) -> Any:
    half = xp.fft.rfft(g, axis=axis, norm=OTHER_NORM[norm])
    return _middle_times(xp, half, 2.0, n, axis)


_from_real = linear(
    "fft.from_real",
    _from_real_transpose,
    params=("axis", "norm"),
    batch=batching.along_axes,
    compute=lambda xp, x, axis, norm: xp.fft.rfft(x, axis=axis, norm=norm),
    samples=[
        sample((5,), axis=0, norm="backward"),
        sample((2, 4), axis=1, norm="ortho"),
        sample((2, 3), axis=0, norm="forward"),
        sample((1, 2), axis=0, norm="backward"),
        sample((0, 3), axis=1, norm="backward"),
    ],
    kinds="f",
    reference=np.fft.rfft,
)
_to_real = linear(
    "fft.to_real",
    _to_real_transpose,
    params=("n", "axis", "norm"),
    batch=batching.along_axes,
    compute=lambda xp, x, n, axis, norm: xp.fft.irfft(x, n=n, axis=axis, norm=norm),
    samples=[
        sample((3,), n=5, axis=0, norm="backward"),
        sample((2, 3), n=4, axis=1, norm="ortho"),
        sample((2, 3), n=2, axis=0, norm="forward"),
        sample((1, 2), n=1, axis=0, norm="backward"),
        sample((0, 2), n=3, axis=1, norm="backward"),
    ],
    kinds="c",
    reference=np.fft.irfft,
)

# -- what they are given ------------------------------------------------------------------------


def _library(x: Tensor) -> Any:
    return backends.namespace_of(x._raw)


def _complex_tensor(x: Tensor) -> Tensor:
    if backends.kind_of(x.dtype) == "c":
        return x
    return ew.astype(x, _complex_dtype(_library(x), x.dtype))


def _numbers(x: Any, name: str, kinds: str) -> Tensor:
    """Return a tensor of real ("f") or complex ("c") numbers, or as it is if it may be both."""
    x = shapes.tensor(x, name)
    kind = backends.kind_of(x.dtype)
    if kind not in "fc":
        x, kind = ew.astype(x, _library(x).float64), "f"
    if kind in kinds:
        return x
    if kind == "c":
        raise DtypeError(
            f"{name}: got {x.dtype}; expected real numbers: write wg.real(x), or "
            f"fft.{name.replace('rfft', 'fft').replace('ihfft', 'ifft')} for complex ones"
        )
    return _complex_tensor(x)


def _known_norm(norm: Any, name: str) -> str:
    norm = "backward" if norm is None else norm
    if norm not in OTHER_NORM:
        raise ValueError(f"{name}: norm {norm!r}; expected 'backward', 'ortho' or 'forward'")
    return str(norm)


def _length(n: Any, name: str, axis: int | None = None) -> int:
    where = "" if axis is None else f" for axis {axis}"
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError(
            f"{name}: length {n!r}{where}; expected an integer, or None for the axis's own"
            if where
            else f"{name}: length {n!r}; expected an integer"
        ) from None
    if n < 1:
        raise ValueError(f"{name}: length {n}{where}; expected at least 1")
    return n


def _fitted(x: Tensor, n: int, axis: int) -> Tensor:
    """Return x cut, or filled up with zeros, to n elements along an axis."""
    have = x.shape[axis]
    if have > n:
        return x[(*(slice(None),) * axis, slice(0, n), ...)]
    if have < n:
        return shapes.pad(x, [(0, n - have if a == axis else 0) for a in range(x.ndim)])
    return x


def _sizes(
    x: Tensor, s: Any, axes: Any, name: str, real_to: bool = False
) -> tuple[tuple[int, ...], list[int]]:
    """Return the axes to transform and the length of each; all axes, or the last ones of `s`.

    With `real_to`, the length of the last axis is that of the real result.
    """
    if s is not None and not isinstance(s, Sequence):
        raise TypeError(f"{name}: s is {s!r}; expected a length for each axis, such as (8, 8)")
    if axes is None:
        count = x.ndim if s is None else len(s)
        if count > x.ndim:
            raise ValueError(f"{name}: s has {count} lengths for {x.ndim} axes")
        axes = tuple(range(x.ndim - count, x.ndim))
    axes = normalised(axes, x.ndim, name)
    if s is not None and len(s) != len(axes):
        raise ValueError(f"{name}: s has {len(s)} lengths for the {len(axes)} axes {axes}")
    own = [x.shape[a] for a in axes]
    if real_to and own:
        own[-1] = 2 * (own[-1] - 1)
    given = own if s is None else [o if n == -1 else n for n, o in zip(s, own, strict=True)]
    return axes, [_length(n, name, a) for n, a in zip(given, axes, strict=True)]


def _one(x: Any, n: Any, axis: Any, name: str, kinds: str, real_to: bool = False) -> Any:
    """Return x as a tensor, the length of a transform along one axis, and that axis."""
    x = _numbers(x, name, kinds)
    axis = one_axis(axis, x.ndim, name)
    if n is None:
        n = 2 * (x.shape[axis] - 1) if real_to else x.shape[axis]
    return x, _length(n, name, axis), axis


def _over_axes(op: Any, x: Tensor, axes: tuple[int, ...], sizes: list[int], norm: str) -> Any:
    for a, n in zip(axes, sizes, strict=True):
        x = _fitted(x, n, a)
    return op(x, axes=axes, norm=norm) if axes else _complex_tensor(x)


# -- one axis -----------------------------------------------------------------------------------

_LENGTHS = [
    sample((4,)),
    sample((2, 5), n=3),
    sample((3, 2), n=6, axis=0, norm="ortho"),
    sample((2, 2), n=4, norm="forward"),
]


@composite("fft.fft", samples=_LENGTHS)
def fft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Return the sums of x[j] exp(-2 pi i j k / n) along an axis, cut or zero-padded to n elements.

    `wg.fft.fft([1.0, 2.0, 3.0, 4.0])` is `[10 + 0j, -2 + 2j, -2 + 0j, -2 - 2j]`.
    """
    x, n, axis = _one(x, n, axis, "fft", "fc")
    return _forward(_fitted(x, n, axis), axes=(axis,), norm=_known_norm(norm, "fft"))


@composite("fft.ifft", samples=_LENGTHS)
def ifft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Return the inverse of fft along an axis. `wg.fft.ifft([2.0, 0.0])` is `[1 + 0j, 1 + 0j]`."""
    x, n, axis = _one(x, n, axis, "ifft", "fc")
    return _inverse(_fitted(x, n, axis), axes=(axis,), norm=_known_norm(norm, "ifft"))


@composite("fft.rfft", samples=_LENGTHS, kinds="f")
def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Return the fft of real numbers up to frequency n / 2; the rest is its conjugate.

    `wg.fft.rfft([1.0, 2.0, 3.0, 4.0])` is `[10 + 0j, -2 + 2j, -2 + 0j]`.
    """
    x, n, axis = _one(x, n, axis, "rfft", "f")
    return _from_real(_fitted(x, n, axis), axis=axis, norm=_known_norm(norm, "rfft"))


@composite("fft.irfft", samples=[*_LENGTHS, sample((1, 2), n=1, axis=0), sample((3,), n=5)])
def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Return the inverse of rfft, n real numbers; by default n is even.

    `wg.fft.irfft([10.0, -2 + 2j, -2.0])` is `[1.0, 2.0, 3.0, 4.0]`.
    """
    x, n, axis = _one(x, n, axis, "irfft", "c", real_to=True)
    x = _fitted(x, n // 2 + 1, axis)
    return _to_real(x, n=n, axis=axis, norm=_known_norm(norm, "irfft"))


@composite("fft.hfft", samples=[*_LENGTHS, sample((3,), n=5)])
def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Return the fft, n real numbers, of a Hermitian signal given by its first half.

    `wg.fft.hfft([1.0, 2.0, 3.0])` is `[8.0, -2.0, 0.0, -2.0]`.
    """
    x, n, axis = _one(x, n, axis, "hfft", "c", real_to=True)
    x = ew.conj(_fitted(x, n // 2 + 1, axis))
    return _to_real(x, n=n, axis=axis, norm=OTHER_NORM[_known_norm(norm, "hfft")])


@composite("fft.ihfft", samples=_LENGTHS, kinds="f")
def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Return the inverse of hfft: the first half of a Hermitian signal.

    `wg.fft.ihfft([1.0, 2.0, 3.0, 4.0])` is `[2.5 + 0j, -0.5 - 0.5j, -0.5 + 0j]`.
    """
    x, n, axis = _one(x, n, axis, "ihfft", "f")
    norm = OTHER_NORM[_known_norm(norm, "ihfft")]
    return ew.conj(_from_real(_fitted(x, n, axis), axis=axis, norm=norm))


# -- several axes -------------------------------------------------------------------------------

_MANY = [
    sample((2, 3)),
    sample((2, 3, 2), s=(3, 4), axes=(0, 2), norm="ortho"),
    sample((3, 3), axes=(0,), norm="forward"),
]
_TWO = [sample((2, 3)), sample((3, 2, 2), s=(2, 3), axes=(2, 0), norm="ortho")]


@composite("fft.fftn", samples=_MANY)
def fftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Tensor:
    """Return the Fourier transform over several axes, cut or zero-padded to the lengths s.

    `wg.fft.fftn([[1.0, 2.0], [3.0, 4.0]])` is `[[10 + 0j, -2 + 0j], [-4 + 0j, 0j]]`.
    """
    x = _numbers(x, "fftn", "fc")
    axes, sizes = _sizes(x, s, axes, "fftn")
    return _over_axes(_forward, x, axes, sizes, _known_norm(norm, "fftn"))


@composite("fft.ifftn", samples=_MANY)
def ifftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Tensor:
    """Return the inverse of fftn. `wg.fft.ifftn([[2.0, 0.0]])` is `[[1 + 0j, 1 + 0j]]`."""
    x = _numbers(x, "ifftn", "fc")
    axes, sizes = _sizes(x, s, axes, "ifftn")
    return _over_axes(_inverse, x, axes, sizes, _known_norm(norm, "ifftn"))


@composite("fft.rfftn", samples=_MANY, kinds="f")
def rfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Tensor:
    """Return the fftn of real numbers, with the last axis as in rfft.

    `wg.fft.rfftn([[1.0, 2.0], [3.0, 4.0]])` is `[[10 + 0j, -2 + 0j], [-4 + 0j, 0j]]`.
    """
    x = _numbers(x, "rfftn", "f")
    axes, sizes = _sizes(x, s, axes, "rfftn")
    _at_least_one(axes, "rfftn")
    norm = _known_norm(norm, "rfftn")
    y = _from_real(_fitted(x, sizes[-1], axes[-1]), axis=axes[-1], norm=norm)
    return _over_axes(_forward, y, axes[:-1], sizes[:-1], norm)


@composite("fft.irfftn", samples=_MANY)
def irfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Tensor:
    """Return the inverse of rfftn: real numbers.

    `wg.fft.irfftn([[10.0, -2.0], [-4.0, 0.0]])` is `[[1.0, 2.0], [3.0, 4.0]]`.
    """
    x = _numbers(x, "irfftn", "c")
    axes, sizes = _sizes(x, s, axes, "irfftn", real_to=True)
    _at_least_one(axes, "irfftn")
    norm = _known_norm(norm, "irfftn")
    *_, n = sizes
    x = _over_axes(_inverse, _fitted(x, n // 2 + 1, axes[-1]), axes[:-1], sizes[:-1], norm)
    return _to_real(x, n=n, axis=axes[-1], norm=norm)


def hfftn(x: Tensor, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Tensor:
    """Return the fftn, which is real, of a Hermitian signal given by half of its last axis.

    `hfftn(wg.asarray([[1.0, 2.0]]))` is `[[3.0, -1.0]]`.
    """
    return irfftn(ew.conj(x), s=s, axes=axes, norm=OTHER_NORM[_known_norm(norm, "hfftn")])


def ihfftn(x: Tensor, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Tensor:
    """Return the inverse of hfftn. `ihfftn(wg.asarray([[3.0, -1.0]]))` is `[[1 + 0j, 2 + 0j]]`."""
    return ew.conj(rfftn(x, s=s, axes=axes, norm=OTHER_NORM[_known_norm(norm, "ihfftn")]))


def _at_least_one(axes: tuple[int, ...], name: str) -> None:
    if not axes:
        raise ValueError(f"{name}: no axis to transform; expected at least one")


def _over_two(name: str, many: Callable[..., Tensor], last: int, kinds: str = "fc") -> Any:
    """Return a transform over the last two axes, which makes `last` of 4 elements."""

    @composite(
        f"fft.{name}",
        samples=_TWO,
        kinds=kinds,
        doc=f"Return {many.__name__} over the last two axes, unless `axes` says otherwise. "
        f"`wg.fft.{name}(np.ones((3, 2, 4))).shape` is `(3, 2, {last})`.",
    )
    def transform(
        x: Any, /, *, s: Any = None, axes: Any = (-2, -1), norm: str = "backward"
    ) -> Tensor:
        return many(x, s=s, axes=axes, norm=norm)

    return transform


fft2, ifft2 = _over_two("fft2", fftn, 4), _over_two("ifft2", ifftn, 4)
rfft2, irfft2 = _over_two("rfft2", rfftn, 3, kinds="f"), _over_two("irfft2", irfftn, 6)


# -- frequencies --------------------------------------------------------------------------------


def _frequencies(values: np.ndarray, dtype: Any, device: Any, name: str) -> Tensor:
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    if dtype.kind != "f":
        raise DtypeError(f"{name}: dtype={dtype}; expected a real floating dtype")
    if device not in (None, "cpu"):
        raise ValueError(f"{name}: device {device!r}; frequencies are made on 'cpu'")
    return wrap(values.astype(dtype))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """Return the frequencies of an fft of n samples with spacing d.

    `wg.fft.fftfreq(4, d=0.5)` is `[0.0, 0.5, -1.0, -0.5]`.
    """
    n = _length(n, "fftfreq")
    return _frequencies(np.fft.fftfreq(n, d), dtype, device, "fftfreq")


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """Return the frequencies of an rfft of n samples with spacing d.

    `wg.fft.rfftfreq(4, d=0.5)` is `[0.0, 0.5, 1.0]`.
    """
    n = _length(n, "rfftfreq")
    return _frequencies(np.fft.rfftfreq(n, d), dtype, device, "rfftfreq")


_SHIFTS = [sample((5,)), sample((2, 3), axes=(1,)), sample((4, 3), axes=0)]


@composite("fft.fftshift", samples=_SHIFTS)
def fftshift(x: Any, /, *, axes: Any = None) -> Tensor:
    """Return x with frequency 0, its first element, moved to the middle of each axis.

    `wg.fft.fftshift([0, 1, 2, -2, -1])` is `[-2, -1, 0, 1, 2]`.
    """
    return _rolled(x, axes, "fftshift", lambda n: n // 2)


@composite("fft.ifftshift", samples=_SHIFTS)
def ifftshift(x: Any, /, *, axes: Any = None) -> Tensor:
    """Return the inverse of fftshift; they differ for axes of odd length.

    `wg.fft.ifftshift([-2, -1, 0, 1, 2])` is `[0, 1, 2, -2, -1]`.
    """
    return _rolled(x, axes, "ifftshift", lambda n: -(n // 2))


def _rolled(x: Any, axes: Any, name: str, shift: Callable[[int], int]) -> Tensor:
    x = shapes.tensor(x, name)
    axes = normalised(axes, x.ndim, name)
    return shapes.roll(x, tuple(shift(x.shape[a]) for a in axes), axis=axes)


__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip
