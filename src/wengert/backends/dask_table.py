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
from wengert.backends.libraries import Table
from wengert.errors import BackendError

da: Any = dask.array  # of which some functions have types
_delayed: Any = dask.delayed


def _check_known(x: Any, name: str) -> None:
    if any(math.isnan(n) for n in x.shape):
        raise BackendError(
            f"{name}: got a dask array of shape {x.shape}, whose chunks have sizes that are not "
            "known before it is computed; write x.compute_chunk_sizes() first"
        )


def keep(x: Any, mask: Any) -> Any:
    """Return x where the mask holds, else 0."""
    return da.where(mask, x, x.dtype.type(0))


def by_chunks(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return an elementwise kernel of NumPy's that computes each chunk by itself."""

    @functools.wraps(kernel)
    def call(*args: Any, **params: Any) -> Any:
        given = [da.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
        ones = [np.ones((1,) * a.ndim, a.dtype) if isinstance(a, da.Array) else a for a in given]
        with np.errstate(all="ignore"):
            dtype = np.asarray(kernel(*ones, **params)).dtype
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
    if any(isinstance(part, da.Array) for part in parts):
        raise BackendError(
            "index: the key is a dask array, whose values are not known, so neither is the shape "
            "of the result; write wg.where(mask, x, 0.0), or compute the key first"
        )
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


def put(x: Any, values: Any, key: Any) -> Any:
    """Return x with `values` at `key`."""
    return _as_one(numpy_kernels.put, x.shape, x.dtype, x, values, key)


def put_add(x: Any, values: Any, key: Any) -> Any:
    """Return x with `values` added at `key`; duplicates add up."""
    return _as_one(numpy_kernels.put_add, x.shape, x.dtype, x, values, key)


def scatter(values: Any, shape: tuple[int, ...], key: Any) -> Any:
    """Return zeros of `shape` with `values` added at `key`; duplicates add up."""
    return _as_one(numpy_kernels.scatter, shape, values.dtype, values, tuple(shape), key)


def scatter_flat(values: Any, shape: tuple[int, ...], positions: Any) -> Any:
    """Return zeros of `shape` with `values` added at flat positions; negative ones are dropped."""
    kernel = numpy_kernels.scatter_flat
    return _as_one(kernel, shape, values.dtype, values, tuple(shape), positions)


def gather_flat(x: Any, shape: tuple[int, ...], positions: Any) -> Any:
    """Return the elements of x at flat positions, as `shape`; 0 at negative positions."""
    return _as_one(numpy_kernels.gather_flat, shape, x.dtype, x, tuple(shape), positions)


def pad(x: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
    """Return x with `pad_width` = ((before, after), ...) more elements on each axis."""
    options = {"constant_values": constant_values} if mode == "constant" else {}
    return da.pad(x, pad_width, mode=mode, **options)


def diagonal(x: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the diagonals of the matrices on two axes, as a new last axis."""
    return da.diagonal(x, offset, axis1, axis2)


def _triangle(lower: bool) -> Callable[..., Any]:
    def triangle(x: Any, /, *, k: int = 0) -> Any:
        rows, columns = x.shape[-2:]
        mask = np.tri(rows, columns, k if lower else k - 1, dtype=bool)
        return keep(x, da.asarray(mask if lower else ~mask))

    return triangle


def _special(name: str) -> Any:
    kernel = getattr(numpy_special, name, None)
    return None if kernel is None else by_chunks(kernel)


TABLE = Table(
    {
        "copy": lambda x: x,
        "cumulative_prod": lambda x, axis: da.cumprod(x, axis=axis, dtype=x.dtype),
        "cumulative_sum": lambda x, axis: da.cumsum(x, axis=axis, dtype=x.dtype),
        "diagonal": diagonal,
        "einsum": da.einsum,
        "embed": embed,
        "gather_flat": gather_flat,
        "index": index,
        "keep": keep,
        "pad": pad,
        "put": put,
        "put_add": put_add,
        "reshape": reshape,
        "scatter": scatter,
        "scatter_flat": scatter_flat,
        "tril": _triangle(lower=True),
        "triu": _triangle(lower=False),
    },
    {"special": _special},
    immutable=True,
)
