"""Dask's arrays: chunks of a computation that has not run yet, and that nothing here runs."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import dask
import dask.array
import numpy as np

from wengert.backends import numpy_kernels, numpy_special
from wengert.backends.dask_whole import whole
from wengert.backends.libraries import Table
from wengert.backends.strided_kernels import common
from wengert.errors import BackendError

da: Any = dask.array  # of which some functions have types
_delayed: Any = dask.delayed


def _check_known(x: Any, name: str) -> None:
    if any(math.isnan(n) for n in x.shape):
        raise BackendError(
            f"{name}: got a dask array of shape {x.shape}, whose chunks have sizes that are not "
            "known before it is computed; write x.compute_chunk_sizes() first"
        )


_COMMON = common(da)


def by_chunks(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return an elementwise kernel of NumPy's that computes each chunk by itself."""

    @functools.wraps(kernel)
    def call(*args: Any, **params: Any) -> Any:
        given = [da.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
        ones = [np.ones((1,) * a.ndim, a.dtype) if isinstance(a, da.Array) else a for a in given]
        with np.errstate(all="ignore"):
            try:
                dtype = np.asarray(kernel(*ones, **params)).dtype
            except ValueError:  # 1 is outside of the domain
                large = [10_000 * a if isinstance(a, np.ndarray) else a for a in ones]
                dtype = np.asarray(kernel(*large, **params)).dtype
        return da.map_blocks(kernel, *given, dtype=dtype, **params)

    return call


def _as_one(kernel: Callable[..., Any], shape: Any, dtype: Any, *args: Any) -> Any:
    """Return what a kernel of NumPy's makes of whole arrays, in one task and one chunk."""
    for x in args:
        if isinstance(x, da.Array):
            _check_known(x, kernel.__name__)
    return da.from_delayed(_delayed(kernel)(*args), tuple(shape), dtype)


def reshape(x: Any, /, shape: Any) -> Any:
    """Return x in another shape; chunks are joined where they do not lie in lines of it."""
    _check_known(x, "reshape")
    try:
        return da.reshape(x, shape)
    except (NotImplementedError, ValueError):
        return da.reshape(x.rechunk(-1), shape)


def index(x: Any, key: Any) -> Any:
    """Return x[key] for any key that NumPy takes, if its values are known."""
    _check_known(x, "index")
    parts = key if isinstance(key, tuple) else (key,)
    lazy = [part for part in parts if isinstance(part, da.Array)]
    if any(part.dtype.kind not in "iu" for part in lazy):
        raise BackendError(
            "index: the key is a dask array, whose values are not known, so neither is the shape "
            "of the result; write wg.where(mask, x, 0.0), or compute the key first"
        )
    if lazy:
        zeros = [np.zeros(p.shape, int) if isinstance(p, da.Array) else p for p in parts]
        shape = np.broadcast_to(np.int8(0), x.shape)[tuple(zeros)].shape if x.size else None
        if shape is not None:
            return _as_one(numpy_kernels.index, shape, x.dtype, x, parts)
        key = tuple(zeros)
    if all(p is None or p is Ellipsis or isinstance(p, (int, slice, np.integer)) for p in parts):
        return x[key]
    positions = np.arange(x.size).reshape(x.shape)[key]
    flat = reshape(x, (-1,))[positions.reshape(-1)]
    return reshape(flat, positions.shape)


def embed(values: Any, shape: tuple[int, ...], key: tuple[slice, ...]) -> Any:
    """Return zeros of `shape` with `values` at the slices `key`."""
    ranges = [range(*k.indices(n)) for k, n in zip(key, shape, strict=False)]
    if len(ranges) == values.ndim == len(shape) and all(r.step == 1 and len(r) for r in ranges):
        widths = [(r.start, n - r.stop) for r, n in zip(ranges, shape, strict=True)]
        return da.pad(values, widths, mode="constant") if any(map(any, widths)) else values
    return _as_one(numpy_kernels.embed, shape, values.dtype, values, tuple(shape), key)


def gather_flat(x: Any, shape: tuple[int, ...], positions: Any) -> Any:
    """Return the elements of x at flat positions, as `shape`; 0 at negative positions."""
    return _as_one(numpy_kernels.gather_flat, shape, x.dtype, x, tuple(shape), positions)


def _triangle(lower: bool) -> Callable[..., Any]:
    def triangle(x: Any, /, *, k: int = 0) -> Any:
        rows, columns = x.shape[-2:]
        mask = np.tri(rows, columns, k if lower else k - 1, dtype=bool)
        return _COMMON["keep"](x, da.asarray(mask if lower else ~mask))

    return triangle


def _special(name: str) -> Any:
    kernel = getattr(numpy_special, name, None)
    return None if kernel is None else by_chunks(kernel)


def take(x: Any, indices: Any, /, *, axis: Any = None) -> Any:
    """Return the elements of x at indices along an axis."""
    axis = 0 if axis is None else axis % x.ndim
    if isinstance(indices, da.Array) and x.dtype.kind == "c":  # of which Dask warns
        return index(x, (*(slice(None),) * axis, indices))
    return da.take(x, indices, axis=axis)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """Return the elements of x at indices along an axis."""
    shape = np.broadcast_shapes(
        *(
            tuple(1 if i == axis % x.ndim else n for i, n in enumerate(a.shape))
            for a in (x, indices)
        )
    )
    shape = tuple(indices.shape[i] if i == axis % x.ndim else n for i, n in enumerate(shape))
    return _as_one(np.take_along_axis, shape, x.dtype, x, indices, axis)


_PUTS = ("put", "put_add", "put_max", "put_min", "put_multiply")


def _put_by(name: str) -> Callable[..., Any]:
    kernel = numpy_kernels.KERNELS[name]
    return lambda x, values, key: _as_one(kernel, x.shape, x.dtype, x, values, key)


def _scattered(name: str, values: Any, shape: Any, where: Any) -> Any:
    kernel = numpy_kernels.KERNELS[name]
    return _as_one(kernel, shape, values.dtype, values, tuple(shape), where)


def _extreme(name: str) -> Callable[..., Any]:
    """Return a reduction that Dask does not have of arrays without elements."""

    def reduce(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if 0 in x.shape:
            found = getattr(np, name)(np.zeros(x.shape, x.dtype), axis=axis, keepdims=keepdims)
            return da.asarray(found)
        return getattr(da, name)(x, axis=axis, keepdims=keepdims)

    return reduce


def _fft(name: str) -> Any:
    """Return a transform of Dask's along axes whose chunks are joined first."""
    own = getattr(da.fft, name, None)
    if own is None or "fft" not in name or name.endswith(("freq", "shift")):
        return None

    def transform(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        return own(x.rechunk({axis % x.ndim: -1}), n=n, axis=axis, norm=norm)

    def transform_several(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
        axes = tuple(range(x.ndim)) if axes is None else tuple(axes)
        return own(x.rechunk({a % x.ndim: -1 for a in axes}), s=s, axes=axes, norm=norm)

    return transform_several if name.endswith(("n", "2")) else transform


TABLE = Table(
    {
        **_COMMON,
        "copy": lambda x: x,
        "einsum": da.einsum,
        "embed": embed,
        "gather_flat": gather_flat,
        "gcd": by_chunks(np.gcd),
        "index": index,
        "lcm": by_chunks(np.lcm),
        "max": _extreme("max"),
        "min": _extreme("min"),
        **{name: _put_by(name) for name in _PUTS},
        "reshape": reshape,
        "scatter": lambda values, shape, key: _scattered("scatter", values, shape, key),
        "scatter_flat": lambda values, shape, positions: _scattered(
            "scatter_flat", values, shape, positions
        ),
        "take": take,
        "take_along_axis": take_along_axis,
        "tril": _triangle(lower=True),
        "triu": _triangle(lower=False),
    },
    {"fft": _fft, "linalg": whole("linalg"), "nn": whole("nn"), "special": _special},
    immutable=True,
)
