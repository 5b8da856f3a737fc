"""How samples become a batch: numbers and arrays as tensors, in the nests of one sample."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from wengert.dialects.torch.creation import as_tensor, tensor
from wengert.dialects.torch.dtypes import float64
from wengert.dialects.torch.joining import stack
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Tensor

#: Kinds of NumPy's arrays that cannot become tensors: texts and objects.
_NO_NUMBERS = "SUOVa"


def _of_arrays(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    if batch[0].dtype.kind in _NO_NUMBERS:
        raise TypeError(_refusal(batch[0].dtype))
    return collate([as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


#: What is done with samples of a class, by class or tuple of classes.
default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    Tensor: lambda batch, *, collate_fn_map=None: stack(batch, 0),
    np.ndarray: _of_arrays,
    (np.bool_, np.number, np.object_): lambda batch, *, collate_fn_map=None: as_tensor(batch),
    float: lambda batch, *, collate_fn_map=None: tensor(batch, dtype=float64),
    int: lambda batch, *, collate_fn_map=None: tensor(batch),
    str: lambda batch, *, collate_fn_map=None: batch,
    bytes: lambda batch, *, collate_fn_map=None: batch,
}


def _refusal(kind: Any) -> str:
    return (
        f"samples are of {kind}, which batches are not made of; give tensors, NumPy's arrays, "
        "numbers, texts, or dicts and lists of them, or write collate_fn="
    )


def collate(batch: Any, *, collate_fn_map: Mapping[Any, Callable[..., Any]] | None = None) -> Any:
    """Return a batch of samples, by a table of what is done with which class."""
    first, table = batch[0], collate_fn_map or {}
    found = table.get(type(first)) or next(
        (join for kinds, join in table.items() if isinstance(first, kinds)), None
    )
    if found is not None:
        return found(batch, collate_fn_map=collate_fn_map)

    def join(parts: Any) -> Any:
        return collate(parts, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return _like(first, {key: join([sample[key] for sample in batch]) for key in first})
    if not isinstance(first, Sequence):
        raise TypeError(_refusal(type(first)))
    if not hasattr(first, "_fields") and any(len(sample) != len(first) for sample in batch):
        raise RuntimeError(
            f"samples are sequences of lengths {sorted({len(s) for s in batch})}; give one length "
            "to all, or write collate_fn="
        )
    return _like(first, [join(parts) for parts in zip(*batch, strict=False)])


def _like(first: Any, made: Any) -> Any:
    """Return a container like another with other values; a tuple becomes a list, as in PyTorch."""
    if isinstance(first, tuple):
        return type(first)(*made) if hasattr(first, "_fields") else made
    try:
        if isinstance(first, MutableMapping):
            new: Any = copy.copy(first)
            new.update(made)
            return new
        if isinstance(first, MutableSequence):
            new = copy.copy(first)
            for k, value in enumerate(made):
                new[k] = value
            return new
        return type(first)(made)
    except TypeError:  # as of a range
        return made


def default_collate(batch: Any) -> Any:
    """Return samples as a batch: tensors with an axis more, in the nests of one sample."""
    return collate(batch, collate_fn_map=default_collate_fn_map)


def default_convert(data: Any) -> Any:
    """Return a sample with NumPy's arrays and numbers as tensors, and all else as it is."""
    if isinstance(data, (np.ndarray, np.generic)) and not isinstance(data, (str, bytes)):
        return data if data.dtype.kind in _NO_NUMBERS else as_tensor(data)
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like(data, [default_convert(part) for part in data])
    return data


_OFFERED: dict[str, Any] = {
    "collate": collate,
    "default_collate": default_collate,
    "default_convert": default_convert,
    "default_collate_fn_map": default_collate_fn_map,
}
for _name, _value in _OFFERED.items():
    put((f"utils.data._utils.collate.{_name}",), _value)
for _name in ("default_collate", "default_convert"):
    put((f"utils.data.{_name}", f"utils.data.dataloader.{_name}"), _OFFERED[_name])
