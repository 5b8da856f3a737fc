"""Elements by their place: brackets, gather, scatter, index_*, masked_*, where."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.torch.memory import change
from wengert.dialects.torch.table import as_view, guarded, put
from wengert.dialects.torch.tensors import Tensor, convert, values_of
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops.indexing import getitem


def _key(key: Any) -> tuple[Any, ...]:
    parts = key if isinstance(key, tuple) else (key,)
    return tuple(values_of(p) if isinstance(p, (Tensor, list)) else p for p in parts)


def _get(input: Native, key: Any) -> Any:
    found = getitem(input, key)
    raw = input._raw
    if type(raw) is np.ndarray and not found._raw.shape and not any(map(np.ndim, key)):
        # NumPy makes a number of one element, and here it is a view
        rest = () if any(part is Ellipsis for part in key) else (...,)
        return wrap_native(raw[(*key, *rest)], found._node)
    return found


_read = as_view(_get, "SelectBackward0")


def _getitem(self: Tensor, key: Any) -> Any:
    return _read(self, _key(key))


def _put(input: Any, key: Any, value: Any) -> Any:
    tensor = convert(input)
    return tensor.at[key].set(convert(value, tensor._raw.dtype))


_written = guarded(_put, "CopySlices")


def _setitem(self: Tensor, key: Any, value: Any) -> None:
    change(self, _written, _key(key), value)


put(("Tensor.__getitem__",), _getitem)
put(("Tensor.__setitem__",), _setitem)
