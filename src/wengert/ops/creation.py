"""Making tensors: from data, from shapes, and from nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.node import watching
from wengert.engine.record import SCALARS, holds_tensor, lift
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import ShapeError
from wengert.ops import elementwise, joining, shapes
from wengert.ops.families import documented


def asarray(
    obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None
) -> Tensor:
    """Return `obj` as a Tensor.

    `obj` is a number, nested lists of numbers or tensors, an array of any Array API
    library, or a tensor. An array that its owner could still write to is copied, so that
    no write can reach a recorded value; `copy=False` asks for no copy, and takes an array
    that is read-only.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.asarray([[1.0, 2.0], [3.0, 4.0]])
    Tensor([[1., 2.],
            [3., 4.]], dtype=float64)
    """
    if isinstance(obj, (list, tuple)) and holds_tensor(obj):
        if copy is False:
            raise ValueError("asarray: joining tensors makes a copy; write copy=None")
        tensor = joining.stack([asarray(part) for part in obj])
    elif type(obj) is Tensor or hasattr(type(obj), "__wengert_tensor__"):
        tensor = lift(obj, "asarray")
    else:
        tensor = _from_data(obj, dtype, device, copy)
        if (watcher := watching.get()) is not None:
            watcher.noted("asarray", tensor, obj)
        return tensor
    if dtype is not None and tensor.dtype != dtype:
        if copy is False:
            raise ValueError(f"asarray: {tensor.dtype} to {dtype} needs a copy; write copy=None")
        return elementwise.astype(tensor, dtype)
    if copy and tensor._node is None:
        return wrap(backends.namespace_of(tensor._raw).copy(tensor._raw))
    return elementwise.positive(tensor) if copy else tensor


def _check_device(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f"device {device!r}: new arrays are NumPy's, which live on 'cpu'")


def _from_data(obj: Any, dtype: Any, device: Any, copy: bool | None) -> Tensor:
    xp = backends.namespace_of(obj)
    if xp is None:
        if copy is False:
            raise ValueError(
                f"asarray: a {type(obj).__name__} has no memory to share; write copy=None"
            )
        _check_device(device)
        try:
            raw = np.array(obj, dtype=dtype)
        except ValueError as error:
            raise ShapeError(f"asarray: {error}; nested lists must have equal lengths") from error
        if backends.kind_of(raw.dtype) not in "biufc":
            raise TypeError(
                f"asarray: got {type(obj).__name__} of dtype {raw.dtype}; expected numbers, nested "
                "lists of numbers of equal lengths, or an array"
            )
        return wrap(raw)
    raw = backends.protected(obj)
    if copy is False and raw is not obj:
        raise ValueError(
            "asarray: copy=False shares memory, which must not change behind a tape; write "
            "array.flags.writeable = False first, or copy=None"
        )
    if xp is backends.NUMPY:
        _check_device(device)
    elif device is not None:
        raw = xp.asarray(raw, device=device)
    if dtype is not None and raw.dtype != dtype:
        if copy is False:
            raise ValueError(f"asarray: {raw.dtype} to {dtype} needs a copy; write copy=None")
        raw = xp.astype(np.asarray(raw) if xp is backends.NUMPY else raw, dtype)
    elif copy and raw is obj:
        raw = xp.copy(raw)
    return wrap(raw)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Return a Tensor from any object with `__dlpack__`, copied unless it is a tensor.

    `wg.from_dlpack(np.ones(2))` is `[1.0, 1.0]`.
    """
    if type(x) is Tensor or hasattr(type(x), "__wengert_tensor__"):
        return asarray(x, copy=copy)
    if copy is False:
        raise ValueError(
            "from_dlpack: the other library could write to shared memory behind a tape; write "
            "copy=None"
        )
    return wrap(np.array(backends.to_numpy(x)))


def _like(name: str) -> Callable[..., Tensor]:
    def make(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
        raw = shapes.tensor(x, name)._raw
        xp: Any = backends.namespace_of(raw)
        return wrap(getattr(xp, name)(raw, dtype=dtype))

    return documented(make, name)


zeros_like, ones_like, empty_like = map(_like, ("zeros_like", "ones_like", "empty_like"))


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return an array in the shape and dtype of x, filled with one number.

    `wg.full_like([1.0, 2.0], 7)` is `[7.0, 7.0]`.
    """
    if not isinstance(fill_value, SCALARS):
        x = shapes.tensor(x, "full_like")
        return full(x.shape, fill_value, dtype=dtype or x.dtype)
    raw = shapes.tensor(x, "full_like")._raw
    xp: Any = backends.namespace_of(raw)
    return wrap(xp.full_like(raw, fill_value, dtype=dtype))


def _filled(name: str) -> Callable[..., Tensor]:
    def make(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
        _check_device(device)
        return wrap(getattr(np, name)(shape, dtype=dtype or np.float64))

    return documented(make, name)


zeros, ones, empty = map(_filled, ("zeros", "ones", "empty"))


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return an array filled with a number, or a one-element tensor, which gets the gradient.

    `wg.full(2, 7.0)` is `[7.0, 7.0]`.
    """
    _check_device(device)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if isinstance(fill_value, SCALARS):
        return wrap(np.full(shape, fill_value, dtype=dtype))
    return shapes.broadcast_to(asarray(fill_value, dtype=dtype), shape)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """Return start, start + step, ... below `stop`. `wg.arange(1, 10, 3)` is `[1, 4, 7]`."""
    _check_device(device)
    if stop is None:
        start, stop = 0, start
    return wrap(np.arange(start, stop, step, dtype=dtype))


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Tensor:
    """Return `num` evenly spaced numbers from `start` to `stop`; these may be tensors.

    `wg.linspace(0, 1, 3)` is `[0.0, 0.5, 1.0]`.
    """
    if isinstance(start, SCALARS) and isinstance(stop, SCALARS):
        return wrap(np.linspace(start, stop, num, dtype=dtype, endpoint=endpoint))
    ends = [e if isinstance(e, SCALARS) else asarray(e) for e in (start, stop)]
    given = [e for e in ends if type(e) is Tensor]
    exact = next((e.dtype for e in given if backends.is_inexact(e.dtype)), np.dtype(float))
    rank = len(shapes.broadcast_shapes(*(e.shape for e in given)))
    steps = np.linspace(0.0, 1.0, num, endpoint=endpoint)
    xp = backends.namespace_of(given[0]._raw)
    column = wrap(xp.asarray(steps.reshape((num,) + (1,) * rank), dtype=exact))
    line = ends[0] * (1 - column) + ends[1] * column
    return line if dtype is None else elementwise.astype(line, dtype)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Tensor:
    """Return a matrix with ones on its k-th diagonal. `wg.eye(2)` is `[[1.0, 0.0], [0.0, 1.0]]`."""
    _check_device(device)
    return wrap(np.eye(n_rows, n_cols, k=k, dtype=dtype or np.float64))


def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Return coordinate grids, one for each array of values along an axis.

    `wg.meshgrid([1, 2], [3, 4])` is `([[1, 2], [1, 2]], [[3, 3], [4, 4]])`.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing {indexing!r}; expected 'xy' or 'ij'")
    tensors = [shapes.tensor(x, "meshgrid") for x in arrays]
    rank = len(tensors)
    position = [1, 0, *range(2, rank)] if indexing == "xy" and rank > 1 else list(range(rank))
    lines = [
        shapes.reshape(x, (1,) * position[i] + (-1,) + (1,) * (rank - 1 - position[i]))
        for i, x in enumerate(tensors)
    ]
    return shapes.broadcast_arrays(*lines)


__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like",
    "linspace", "meshgrid", "ones", "ones_like", "zeros", "zeros_like",
]  # fmt: skip
