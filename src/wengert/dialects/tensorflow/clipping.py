"""Numbers and norms kept within limits, by TensorFlow's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.tensorflow import tensors
from wengert.dialects.tensorflow.conventions import maximum, select, sqrt
from wengert.dialects.tensorflow.dtypes import of_numpy
from wengert.dialects.tensorflow.errors import as_is
from wengert.dialects.tensorflow.kinds import integers
from wengert.dialects.tensorflow.slices import IndexedSlices
from wengert.dialects.tensorflow.table import offered
from wengert.dialects.tensorflow.tensors import check_dtypes, convert, is_tensor, outward, pair
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap

ns = Native._namespace


def _values(t: Any) -> Native:
    return convert(t.values if isinstance(t, IndexedSlices) else t)


def _like(t: Any, values: Native) -> Any:
    """Return values as a tensor, or as those of slices at the same rows."""
    is_part = isinstance(t, IndexedSlices)
    return IndexedSlices(outward(values), t.indices, t.dense_shape) if is_part else outward(values)


@offered("clip_by_value", raises=(TypeError,))
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    """Return values no less than one limit and no greater than another, which may be arrays."""
    x = _values(t)
    shown = outward(x)
    _, most = pair(shown, clip_value_max, "Minimum")
    _, least = pair(shown, clip_value_min, "Maximum")
    for limit in (most, least):
        if ns.broadcast_shapes(x.shape, limit.shape) != x.shape:
            raise as_is(ValueError(f"a limit of shape {limit.shape} for values of shape {x.shape}"))
    below = select(x > most, most, x)  # a tie, and NaN, is x
    return _like(t, select(below < least, least, below))


@offered("clip_by_norm", raises=(TypeError,))
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None) -> Any:
    """Return values scaled down, if need be, to a norm of at most `clip_norm`, or 0 if negative."""
    x = _values(t)
    tensors.check_kind(x, "fc", "Sqrt")
    real = of_numpy(np.empty(0, x.dtype).real.dtype)
    most = convert(clip_norm, None if is_tensor(clip_norm) else real)
    tensors.check_kind(most, "iuf", "Maximum")
    most = ns.astype(maximum(most, ns.zeros_like(most)), x.dtype)
    along = None if axes is None else integers(axes, "axes")
    along = tuple(along) if isinstance(along, list) else along
    squares = ns.sum(x * ns.conj(x), axis=along, keepdims=True)
    some = ns.real(squares) > 0
    length = ns.where(some, ns.sqrt(ns.where(some, squares, 1)), squares)
    scaled = x * most
    if scaled.shape != x.shape:
        raise as_is(ValueError(f"clip_norm makes of shape {x.shape} the shape {scaled.shape}"))
    return _like(t, scaled / ns.where(length < most, most, length))


def _listed(t_list: Any) -> list[Any]:
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"t_list is of {type(t_list)}; expected a list of tensors")
    return list(t_list)


@offered("linalg.global_norm", raises=(TypeError,))
def global_norm(t_list: Any) -> Any:
    """Return the norm of all tensors of a list together; None is none."""
    squares = [ns.sum(ns.square(_values(t))) for t in _listed(t_list) if t is not None]
    if not squares:
        return wrap(np.zeros((), np.float32))
    check_dtypes("Pack", *squares)
    return sqrt(ns.sum(ns.stack(squares)))


@offered("clip_by_global_norm", raises=(TypeError,))
def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None) -> Any:
    """Return tensors scaled down, if need be, to a norm together of at most `clip_norm`, and it."""
    given = _listed(t_list)
    total = convert(global_norm(t_list) if use_norm is None else use_norm)
    most = convert(clip_norm, None if is_tensor(clip_norm) else of_numpy(total.dtype))
    check_dtypes("RealDiv", total, most)
    by = 1.0 / total
    scale = most * ns.where(by > 1.0 / most, 1.0 / most, by)
    # a norm that is not finite makes all values NaN
    scale = ns.where(ns.isfinite(total), scale, np.asarray(np.nan, total.dtype))
    clipped = [
        None if t is None else _like(t, _values(t) * ns.astype(scale, _values(t).dtype))
        for t in given
    ]
    return clipped, outward(total)
