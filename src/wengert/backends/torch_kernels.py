"""Kernels that the standard lacks, for PyTorch's arrays on any of its devices.

None of them reads a value on the host, so that they run on a GPU without waiting for it, and on
the device "meta", which has no values. NumPy arrays in keys become tensors of the device.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from array_api_compat import torch as base


def tensor(value: Any, device: Any) -> Any:
    """Return a NumPy array or a nested list as a tensor of a device."""
    if isinstance(value, torch.Tensor):
        return value if value.device == device else value.to(device)
    return torch.from_numpy(np.array(value)).to(device)


# -- keys -------------------------------------------------------------------------------------


def _parts(key: Any, ndim: int) -> list[Any]:
    """Return a key as a list with one part for each axis or new axis, without an ellipsis."""
    parts = list(key) if isinstance(key, tuple) else [key]
    taken = sum(_axes(p) for p in parts)
    places = [i for i, p in enumerate(parts) if p is Ellipsis]
    rest = [slice(None)] * (ndim - taken)
    if places:
        parts[places[0] : places[0] + 1] = rest
        return parts
    return parts + rest


def _axes(part: Any) -> int:
    """Return how many axes a part of a key takes."""
    if part is None or part is Ellipsis:
        return 0
    is_mask = hasattr(part, "dtype") and str(part.dtype).rpartition(".")[2] == "bool"
    return part.ndim if is_mask else 1


def _key(parts: list[Any], device: Any) -> tuple[Any, ...]:
    """Return a key of PyTorch: index arrays on the device."""
    found: list[Any] = []
    for part in parts:
        if isinstance(part, list):
            part = np.asarray(part)
        if isinstance(part, np.ndarray) and part.dtype.kind == "b" and part.ndim:
            found += [tensor(positions, device) for positions in np.nonzero(part)]
        elif isinstance(part, (np.ndarray, np.generic)) and not part.ndim:
            found.append(part.item())
        elif isinstance(part, (np.ndarray, torch.Tensor)):
            found.append(tensor(part, device))
        else:
            found.append(part)
    return tuple(found)


def _ahead(part: slice, length: int) -> slice:
    """Return the slice of a turned axis that has what a slice that goes back has."""
    r = range(length)[part]
    return slice(length - 1 - r[0], length - r[-1], -r.step) if r else slice(0, 0)


def _turned(x: Any, key: Any) -> tuple[list[int], Any]:
    """Return the axes that a key goes back along, and the key of x turned around along them."""
    parts, axis, turned = _parts(key, x.ndim), 0, []
    for i, part in enumerate(parts):
        if isinstance(part, slice) and (part.step or 1) < 0:
            turned.append(axis)
            parts[i] = _ahead(part, x.shape[axis])
        axis += _axes(part)
    return turned, _key(parts, x.device)


def index(x: Any, key: Any) -> Any:
    """Return x[key] for any key that NumPy takes."""
    turned, own = _turned(x, key)
    return (torch.flip(x, turned) if turned else x)[own]


def _written(x: Any, values: Any, key: Any, how: str = "set") -> Any:
    """Write to x, an array of ours, or combine it with values; return what it becomes."""
    turned, own = _turned(x, key)
    values = values if isinstance(values, torch.Tensor) else torch.as_tensor(values)
    values = values.to(device=x.device, dtype=x.dtype)
    target = torch.flip(x, turned) if turned else x
    if how == "set":
        target[own] = values
    else:
        places = torch.arange(target.numel(), device=x.device).reshape(target.shape)[own]
        values = torch.broadcast_to(values, places.shape).reshape(-1)
        flat, places = target.reshape(-1), places.reshape(-1)
        if how == "add":
            flat = flat.index_add(0, places, values)
        elif x.is_complex():
            flat = _multiplied(flat, places, values)
        else:
            flat = flat.scatter_reduce(0, places, values, how)
        target = flat.reshape(x.shape)
    return torch.flip(target, turned) if turned else target


def _put_by(how: str) -> Any:
    """Return the kernel of a copy of an array with values at a key; duplicates go one by one."""
    return lambda x, values, key: _written(_own(x), values, key, how)


def _multiplied(flat: Any, places: Any, values: Any) -> Any:
    """Return complex numbers times all values at their places, by sizes and angles.

    PyTorch has no such product of complex numbers.
    """
    size = torch.abs(flat).scatter_reduce(0, places, torch.abs(values), "prod")
    angle = torch.angle(flat).index_add(0, places, torch.angle(values))
    return torch.polar(size, angle)


def _own(x: Any) -> Any:
    return x.clone(memory_format=torch.contiguous_format)


def embed(values: Any, shape: tuple[int, ...], key: tuple[slice, ...]) -> Any:
    """Return zeros of `shape` with `values` at the slices `key`."""
    return _written(values.new_zeros(shape), values, key)


def scatter(values: Any, shape: tuple[int, ...], key: Any) -> Any:
    """Return zeros of `shape` with `values` added at `key`; duplicates add up."""
    rows = key[0] if isinstance(key, tuple) and len(key) == 1 else None
    out = values.new_zeros(tuple(shape))
    if isinstance(rows, (np.ndarray, torch.Tensor)) and rows.ndim == 1:
        rows = tensor(rows, values.device)
        if rows.dtype != torch.bool and shape[0]:
            return out.index_add(0, torch.where(rows < 0, rows + shape[0], rows), values)
    return _written(out, values, key, "add")


def scatter_flat(values: Any, shape: tuple[int, ...], positions: Any) -> Any:
    """Return zeros of `shape` with `values` added at flat positions; negative ones are dropped."""
    size = math.prod(shape)
    places = tensor(positions, values.device).reshape(-1).to(torch.int64)
    out = values.new_zeros(size + 1)  # those to be dropped go to the last
    places = torch.where(places < 0, size, places)
    return out.index_add(0, places, values.reshape(-1))[:size].reshape(tuple(shape))


def gather_flat(x: Any, shape: tuple[int, ...], positions: Any) -> Any:
    """Return the elements of x at flat positions, as `shape`; 0 at negative positions."""
    places = tensor(positions, x.device).to(torch.int64)
    if not x.numel():
        return x.new_zeros(tuple(shape))
    taken = x.reshape(-1)[torch.clamp(places, min=0)]
    return torch.where(places < 0, torch.zeros((), dtype=x.dtype, device=x.device), taken).reshape(
        tuple(shape)
    )


# -- contractions and frames ------------------------------------------------------------------


def einsum(subscripts: str, *operands: Any) -> Any:
    """Return sums of products by subscripts, in the dtype of the mixture."""
    dtype = base.result_type(*operands)
    return torch.einsum(subscripts, *(x.to(dtype) for x in operands))


def _read(mode: str, places: np.ndarray, n: int) -> np.ndarray:
    """Return which elements of an axis of length n NumPy's modes of padding put at places."""
    if mode == "edge":
        return np.clip(places, 0, n - 1)
    if mode == "wrap":
        return places % n
    period = 2 * n - 2 if mode == "reflect" else 2 * n
    folded = places % max(period, 1)
    return np.where(folded < n, folded, period - folded - (mode == "symmetric"))


def pad(x: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
    """Return x with `pad_width` = ((before, after), ...) more elements on each axis."""
    widths = [tuple(map(int, pair)) for pair in pad_width]
    if mode == "constant":
        shape = tuple(n + lo + hi for n, (lo, hi) in zip(x.shape, widths, strict=True))
        out = torch.full(shape, constant_values, dtype=x.dtype, device=x.device)
        inner = tuple(slice(lo, lo + n) for n, (lo, _) in zip(x.shape, widths, strict=True))
        out[inner] = x
        return out
    for axis, (lo, hi) in enumerate(widths):
        if lo or hi:
            n = x.shape[axis]
            places = _read(mode, np.arange(-lo, n + hi), n)
            x = torch.index_select(x, axis, tensor(places, x.device))
    return x


# -- functions of the standard that PyTorch's compatible namespace lacks in full ---------------


def sign(x: Any) -> Any:
    """Return -1, 0 or 1, and NaN of NaN, without a look at the values."""
    y = torch.sgn(x)
    return torch.where(torch.isnan(x), x, y) if x.is_floating_point() else y


def var(x: Any, *, axis: Any = None, correction: float = 0, keepdims: bool = False) -> Any:
    """Return variances, also with a correction that is no integer."""
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    dims = tuple(axes)
    if not dims:
        return torch.zeros_like(x) if correction == 0 else torch.zeros_like(x) / (1 - correction)
    count = math.prod(x.shape[a] for a in dims)
    found = torch.var(x, dim=dims, correction=0, keepdim=keepdims)
    if correction == 0:
        return found
    return found * (count / (count - correction) if count > correction else math.nan)


def std(x: Any, *, axis: Any = None, correction: float = 0, keepdims: bool = False) -> Any:
    """Return standard deviations, also with a correction that is no integer."""
    return torch.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


# -- functions of the standard without the promotion of dtypes that is rarely needed -----------


def matmul(x1: Any, x2: Any) -> Any:
    """Return products of matrices."""
    if x1.dtype is not x2.dtype:
        dtype = torch.promote_types(x1.dtype, x2.dtype)
        x1, x2 = x1.to(dtype), x2.to(dtype)
    return torch.matmul(x1, x2)


def where(condition: Any, x1: Any, x2: Any) -> Any:
    """Return elements of x1 where a condition holds, else of x2."""
    if getattr(x1, "dtype", None) is getattr(x2, "dtype", 0):
        return torch.where(condition, x1, x2)
    return base.where(condition, x1, x2)


def total(x: Any, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Return sums of floats along axes."""
    own = x.dtype
    if axis is None or axis == () or dtype not in (None, own) or not own.is_floating_point:
        return base.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)
    return torch.sum(x, dim=axis, keepdim=keepdims)


def mean(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Return means of floats along axes."""
    if axis is None or axis == () or not x.dtype.is_floating_point:
        return base.mean(x, axis=axis, keepdims=keepdims)
    return torch.mean(x, dim=axis, keepdim=keepdims)


SHORTCUTS: dict[str, Any] = {
    "astype": lambda x, dtype: x.to(dtype),
    "broadcast_to": lambda x, shape: torch.broadcast_to(x, shape),
    "matmul": matmul,
    "matrix_transpose": lambda x: x.mT,
    "mean": mean,
    "permute_dims": lambda x, axes: torch.permute(x, axes),
    "reshape": lambda x, shape: torch.reshape(x, shape),
    "sum": total,
    "where": where,
}
KERNELS: dict[str, Any] = {
    "copy": lambda x: x.clone(),
    "diagonal": lambda x, *, offset=0, axis1=0, axis2=1: torch.diagonal(x, offset, axis1, axis2),
    "keep": lambda x, mask: torch.where(mask, x, 0),
    "put": _put_by("set"),
    "put_add": _put_by("add"),
    "put_max": _put_by("amax"),
    "put_min": _put_by("amin"),
    "put_multiply": _put_by("prod"),
    "index": index,
    "embed": embed,
    "scatter": scatter,
    "scatter_flat": scatter_flat,
    "gather_flat": gather_flat,
    "einsum": einsum,
    "pad": pad,
    "sign": sign,
    "std": std,
    "var": var,
    "cumulative_sum": lambda x, axis: torch.cumsum(x, axis, dtype=x.dtype),
    "cumulative_prod": lambda x, axis: torch.cumprod(x, axis, dtype=x.dtype),
    "gcd": torch.gcd,
    "lcm": torch.lcm,
}
