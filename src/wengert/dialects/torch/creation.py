"""Tensors made from Python's values and from nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.torch import dtypes
from wengert.dialects.torch.table import plain
from wengert.dialects.torch.tensors import Tensor, made


def array_of(data: Any, dtype: Any = None) -> np.ndarray:
    """Return a new array of what a program gives as data."""
    kind = None if dtype is None else dtypes.to_numpy(dtype)
    if isinstance(data, Tensor):
        return np.array(data._raw, kind)
    if isinstance(data, (np.ndarray, np.generic)):
        found = np.array(data, kind)
        dtypes.of_numpy(found.dtype)
        return found
    found = _listed(data)
    if kind is None:
        kind = found.dtype
        if not _holds_arrays(data):
            kind = {"f": dtypes.default().numpy, "c": dtypes.default().to_complex().numpy}.get(
                kind.kind, kind
            )
        if not found.size and found.dtype == np.float64:
            kind = dtypes.default().numpy
    return found.astype(kind)


def _holds_arrays(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return any(_holds_arrays(d) for d in data)
    return isinstance(data, (np.ndarray, np.generic))


def _listed(data: Any) -> np.ndarray:
    def plain_value(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value._raw.tolist()
        if isinstance(value, (list, tuple, range)):
            return [plain_value(v) for v in value]
        return value

    try:
        found = np.array(plain_value(data))
    except ValueError as error:
        raise ValueError(
            "expected sequences of one length at each depth, got a ragged nest of them"
        ) from error
    if found.dtype.kind not in "biufc":
        raise TypeError(
            f"torch.tensor: got {type(data).__name__} with values of type {found.dtype}; expected "
            "numbers, nests of them, or arrays"
        )
    return found


@plain("tensor")
def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Return a tensor with a copy of some numbers."""
    result = made(array_of(data, dtype))
    return result.requires_grad_() if requires_grad else result


def legacy_tensor(cls: Any, *args: Any, **options: Any) -> Any:
    """Return what `torch.Tensor(...)` makes: of sizes, or of data."""
    made_of = object.__new__(cls)
    if len(args) == 1 and isinstance(args[0], Tensor):
        made_of._raw = args[0]._raw
    elif len(args) == 1 and isinstance(args[0], (list, tuple, np.ndarray)):
        made_of._raw = array_of(args[0], dtypes.default())
    else:
        made_of._raw = np.empty(args, dtypes.default().numpy)
    made_of._node = None
    return made_of
