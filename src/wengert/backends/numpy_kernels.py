"""What rules need of NumPy beyond the Array API standard."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

# Memory that arrays leave is kept for the next ones. The C library gives it back to the system
# beyond twice the largest array that it has seen go, up to this size, and each page that then comes
# again costs as much as five passes over it. Nothing is written to this memory, so none is taken.
np.empty(33_000_000, np.uint8)

_WHOLE = slice(None)
#: Arrays of fewer numbers take no longer to compute than to think about.
_FEW = 1 << 12
#: A row of so many numbers takes NumPy far longer than the step to the next, and stays in cache.
_ROW = 1 << 13
_BITS = {np.dtype("float32"): np.int32, np.dtype("float64"): np.int64}


def keep(x: np.ndarray, mask: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Return x where the mask holds, else 0, perhaps in `out`.

    A product of numbers would make NaN of 0 * inf, and np.where takes ten times as long on
    a mask whose next element cannot be guessed. A product of bits does neither. The mask is made
    numbers first, which NumPy would do in pieces.
    """
    bits = _BITS.get(x.dtype)
    if bits is not None and out is None and type(mask) is np.ndarray and mask.shape == x.shape:
        numbers = mask.astype(bits)
        return np.multiply(x.view(bits), numbers, out=numbers).view(x.dtype)
    if bits is not None:
        there = None if out is None else out.view(bits)
        return np.multiply(x.view(bits), mask, out=there).view(x.dtype)
    found = np.where(mask, x, x.dtype.type(0))
    if out is not None:
        out[...] = found
    return found


def index(x: np.ndarray, key: Any) -> np.ndarray:
    """Return x[key] for any key that NumPy takes.

    Of a list of positions along a later axis, NumPy makes an array whose axes are not in order in
    memory, which products take long to read.
    """
    axis = _listed_axis(key)
    if axis:
        return x.take(key[axis], axis=axis)
    return x[key]


def _listed_axis(key: Any) -> int | None:
    """Return which part of a key is a list of positions, if all before and after it are whole."""
    if type(key) is not tuple:
        return None
    found = None
    for axis, part in enumerate(key):
        if type(part) is slice and part == _WHOLE:
            continue
        if found is not None or type(part) is not np.ndarray:
            return None
        if part.ndim != 1 or part.dtype.kind not in "iu":
            return None
        found = axis
    return found


def embed(values: np.ndarray, shape: tuple[int, ...], key: tuple[slice, ...]) -> np.ndarray:
    """Return zeros of `shape` with `values` at the slices `key`."""
    out = np.zeros(shape, values.dtype)
    out[key] = values
    return out


def put(x: np.ndarray, values: Any, key: Any) -> np.ndarray:
    """Return a copy of x with `values` at `key`."""
    out = np.array(x, order="C")
    out[key] = values
    return out


def put_add(x: np.ndarray, values: Any, key: Any) -> np.ndarray:
    """Return a copy of x with `values` added at `key`; duplicates add up."""
    out = np.array(x, order="C")
    np.add.at(out, key, values)
    return out


def _put_by(name: str, ufunc: Any) -> Any:
    """Return the kernel that combines values with elements at a key by a ufunc."""

    def kernel(x: np.ndarray, values: Any, key: Any) -> np.ndarray:
        out = np.array(x, order="C")
        with np.errstate(invalid="ignore"):  # maximum.at warns of NaN, as maximum does not
            ufunc.at(out, key, values)
        return out

    kernel.__name__ = name
    return kernel


put_max, put_min, put_multiply = (
    _put_by(f"put_{name}", ufunc)
    for name, ufunc in (("max", np.maximum), ("min", np.minimum), ("multiply", np.multiply))
)


def scatter(values: np.ndarray, shape: tuple[int, ...], key: Any) -> np.ndarray:
    """Return zeros of `shape` with `values` added at `key`; duplicates add up."""
    out = np.zeros(shape, values.dtype)
    axis = _listed_axis(key)
    if axis is not None and values.ndim > 1 and len(key[axis]) > 64 and values.shape[axis]:
        rows = key[axis]
        order = np.argsort(rows, kind="stable")  # much faster than add.at on whole rows
        found, starts = np.unique(rows[order], return_index=True)
        sums = np.add.reduceat(values.take(order, axis=axis), starts, axis=axis)
        out[(*key[:axis], found)] = sums
    else:
        np.add.at(out, key, values)
    return out


def scatter_flat(values: np.ndarray, shape: tuple[int, ...], positions: np.ndarray) -> np.ndarray:
    """Return zeros of `shape` with `values` added at flat positions; negative ones are dropped."""
    values, positions = np.ravel(values), np.ravel(positions)
    if positions.size and positions.min() < 0:
        keep = positions >= 0
        values, positions = values[keep], positions[keep]
    return scatter(values, (math.prod(shape),), positions).reshape(shape)


def gather_flat(x: np.ndarray, shape: tuple[int, ...], positions: np.ndarray) -> np.ndarray:
    """Return the elements of x at flat positions, as `shape`; 0 at negative positions."""
    taken = np.ravel(x)[np.maximum(positions, 0)] if x.size else np.zeros(positions.shape, x.dtype)
    return np.where(positions < 0, x.dtype.type(0), taken).reshape(shape)


def einsum(subscripts: str, *operands: np.ndarray) -> np.ndarray:
    """Return np.einsum along the cheapest order of contractions."""
    return np.einsum(subscripts, *operands, optimize=len(operands) > 1)


#: A sum of more terms than this is made pairwise, which einsum does not do.
_TERMS = 1 << 16
#: Of rows of so few numbers einsum begins a loop for each, which takes longer than two passes.
_NARROW = 16


def summed_product(g: np.ndarray, x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return g * x summed over the axes along which `shape` was repeated to give g.shape.

    The product itself, which is larger than what is asked for, is not made if that can be helped.
    """
    lead = g.ndim - len(shape)
    kept = [i for i in range(lead, g.ndim) if shape[i - lead] != 1]
    few = kept[-1:] == [g.ndim - 1] and g.shape[-1] <= _NARROW and g.shape == x.shape
    if few or g.size > _TERMS * math.prod(shape) or x.dtype != g.dtype:
        summed = tuple(i for i in range(g.ndim) if i not in kept)
        return total(g * x, axis=summed).reshape(shape)
    before = g.ndim - x.ndim
    long = [i for i in range(x.ndim) if x.shape[i] != 1]
    x = x.reshape([x.shape[i] for i in long])
    terms = np.einsum(g, list(range(g.ndim)), x, [before + i for i in long], kept)
    return np.asarray(terms).reshape(shape)


def twice(g: np.ndarray) -> np.ndarray:
    """Return g + g; of a view that repeats numbers, such a view again."""
    if g.size < _FEW or 0 not in g.strides:
        return g + g
    once = g[tuple([slice(0, 1) if step == 0 else _WHOLE for step in g.strides])]
    return np.broadcast_to(once + once, g.shape)


def pad(x: np.ndarray, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
    """Return x with `pad_width` = ((before, after), ...) more elements on each axis."""
    options = {"constant_values": constant_values} if mode == "constant" else {}
    return np.pad(x, pad_width, mode=mode, **options)  # type: ignore[call-overload]


def diagonal(x: np.ndarray, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> np.ndarray:
    """Return the diagonals of the matrices on two axes, as a new last axis."""
    return np.diagonal(x, offset, axis1, axis2)


def cumulative_sum(x: np.ndarray, axis: int) -> np.ndarray:
    """Return running sums along one axis, in x's own dtype."""
    return np.cumsum(x, axis=axis, dtype=x.dtype)


def cumulative_prod(x: np.ndarray, axis: int) -> np.ndarray:
    """Return running products along one axis, in x's own dtype."""
    return np.cumprod(x, axis=axis, dtype=x.dtype)


def _reduction(ufunc: Any) -> Any:
    """Return NumPy's reduction without the wrapper around it, which takes as long again."""

    def reduce(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        return ufunc.reduce(x, axis=axis, dtype=dtype, keepdims=keepdims)

    return reduce


_SINGLE, _DOUBLE = np.dtype("float32"), np.dtype("float64")
_added: Any = np.add.reduce
#: Lines of up to so many numbers are short: a ufunc takes longer to begin with one than to add.
_SHORT = 256
_ONES = {dtype: np.ones(_SHORT, dtype) for dtype in (_SINGLE, _DOUBLE)}


def total(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Return the sum over some axes; of many short lines, by a product with ones.

    A ufunc begins anew with each line in memory that it adds up, or adds to another. Of lines of
    three numbers, BLAS takes a tenth of the time.
    """
    kind = x.dtype
    if (kind is _DOUBLE or kind is _SINGLE) and x.size > _SHORT and (dtype or kind) is kind:
        lines = _sum_of_lines(x, axis, keepdims)
        if lines is not None:
            return lines
    return _added(x, axis=axis, dtype=dtype, keepdims=keepdims)


def sum_of_rows(x: np.ndarray) -> np.ndarray:
    """Return the sum of the rows of a matrix, as a product with ones where BLAS has one."""
    ones = _ONES.get(x.dtype) if len(x) <= _SHORT else np.ones(len(x), x.dtype)
    return _added(x, axis=0) if ones is None else ones[: len(x)].dot(x)


def _sum_of_lines(x: np.ndarray, axis: Any, keepdims: bool) -> np.ndarray | None:
    """Return sums over neighbouring axes by products, if the lines in memory are short."""
    if not x.flags.c_contiguous:
        return None
    shape = x.shape
    ndim = len(shape)
    if type(axis) is not int and not axis:
        return None
    axes: Any = (axis,) if type(axis) is int else axis
    first, number = axes[0] % ndim, len(axes)
    after = first + number
    if number > 1 and [a % ndim for a in axes] != list(range(first, after)):
        return None
    count = shape[first] if number == 1 else math.prod(shape[first:after])
    if after < ndim and count < 32:
        return None
    inner = math.prod(shape[after:])
    outer = x.size // (count * inner)
    if inner == 1 < outer and 1 < count <= _SHORT:
        sums = x.reshape(outer, count).dot(_ONES[x.dtype][:count])
    elif 1 < inner <= _SHORT // 2 and outer == 1:
        ones = _ONES[x.dtype][:count] if count <= _SHORT else np.ones(count, x.dtype)
        sums = ones.dot(x.reshape(count, inner))
    elif 1 < inner <= _SHORT // 2 and count >= 64:
        sums = np.matmul(np.ones(count, x.dtype), x.reshape(outer, count, inner))
    else:
        return None
    if ndim == 2 and number == 1 and not keepdims:
        return sums
    kept = (*shape[:first], *(1,) * (number if keepdims else 0), *shape[after:])
    return sums.reshape(kept)


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the mean as NumPy computes it, without the wrapper."""
    if x.dtype not in _BITS or not x.size:
        return np.mean(x, axis=axis, keepdims=keepdims)
    sums = total(x, axis=axis, keepdims=keepdims)
    return sums / x.dtype.type(x.size // (sums.size or 1))


def reshape(x: Any, /, shape: Any) -> Any:
    """Return x in another shape, in a third of the time of the wrapper."""
    return x.reshape(shape)


def permute_dims(x: Any, /, axes: Any) -> Any:
    """Return x with its axes in another order."""
    return x.transpose(axes)


def matrix_transpose(x: Any, /) -> Any:
    """Return matrices with rows and columns exchanged."""
    return x.swapaxes(-1, -2)


def astype(x: Any, dtype: Any) -> np.ndarray:
    """Return x in another dtype; NumPy's function refuses scalars in its early versions."""
    return np.asarray(x).astype(dtype)


def copy(x: np.ndarray) -> np.ndarray:
    """Return a new array that shares nothing with x."""
    return np.array(x)


_NAMES = """
    copy cumulative_prod cumulative_sum diagonal einsum embed gather_flat index keep pad put put_add
    put_max put_min put_multiply scatter scatter_flat
"""
KERNELS: dict[str, Any] = {name: globals()[name] for name in _NAMES.split()}


def _extreme(function: np.ufunc) -> Callable[[Any, Any], Any]:
    """Return np.maximum or np.minimum, which take three times as long with a number as with a row.

    So many numbers have a row of it beside them, long enough for NumPy not to wait at its ends.
    """

    def call(x1: Any, x2: Any) -> Any:
        x, number = (x1, x2) if getattr(x2, "shape", ()) == () else (x2, x1)
        if type(x) is not np.ndarray or getattr(number, "shape", None) != () or x.size < _FEW:
            return function(x1, x2)
        if not x.flags.c_contiguous:
            return function(x, np.full(x.shape[-1], number, number.dtype))
        row = 1
        for n in reversed(x.shape):
            while n % 2 == 0 and row * n >= 2 * _ROW:
                n //= 2  # a part of the axis will do
            if row >= _ROW or (row > 1 and row * n > 8 * _ROW):
                break
            row *= n
        numbers = np.full(row, number, number.dtype)
        return function(x.reshape(-1, row), numbers).reshape(x.shape)

    return call


maximum, minimum = _extreme(np.maximum), _extreme(np.minimum)

#: Functions of the standard that NumPy itself has in a faster form.
SHORTCUTS = {
    "astype": astype,
    "matrix_transpose": matrix_transpose,
    "mean": mean,
    "permute_dims": permute_dims,
    "reshape": reshape,
    "sum": total,
    "prod": _reduction(np.multiply),
    "max": _reduction(np.maximum),
    "min": _reduction(np.minimum),
}
