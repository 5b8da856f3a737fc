"""How samples become a batch: numbers and arrays as tensors, in the nests of one sample."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from wengert.dialects.torch.creation import as_tensor, tensor
from wengert.dialects.torch.dtypes import float64
from wengert.dialects.torch.joining import stack
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Tensor

#: Kinds of NumPy's arrays that cannot become tensors: texts and objects.
_NO_NUMBERS = "SUOVa"


def _refusal(kind: Any) -> str:
    return (
        f"samples are of {kind}, which batches are not made of; give tensors, NumPy's arrays, "
        "numbers, texts, or dicts and lists of them, or write collate_fn="
    )


def default_collate(batch: Any) -> Any:
    """Return samples as a batch: tensors with an axis more, in the nests of one sample."""
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(batch, 0)
    if isinstance(first, np.ndarray):
        if first.dtype.kind in _NO_NUMBERS:
            raise TypeError(_refusal(first.dtype))
        return stack([as_tensor(array) for array in batch], 0)
    if isinstance(first, (np.bool_, np.number)):
        return as_tensor(batch)
    if isinstance(first, (float, int)):
        return tensor(batch, dtype=float64 if isinstance(first, float) else None)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _like(
            first, {key: default_collate([sample[key] for sample in batch]) for key in first}
        )
    if not isinstance(first, Sequence):
        raise TypeError(_refusal(type(first)))
    if not hasattr(first, "_fields") and any(len(sample) != len(first) for sample in batch):
        raise RuntimeError(
            f"samples are sequences of lengths {sorted({len(s) for s in batch})}; give one length "
            "to all, or write collate_fn="
        )
    return _like(first, [default_collate(parts) for parts in zip(*batch, strict=False)])


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


def default_convert(data: Any) -> Any:
    """Return a sample with NumPy's arrays and numbers as tensors, and all else as it is."""
    if isinstance(data, (np.ndarray, np.generic)) and not isinstance(data, (str, bytes)):
        return data if data.dtype.kind in _NO_NUMBERS else as_tensor(data)
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like(data, [default_convert(part) for part in data])
    return data


for _function in (default_collate, default_convert):
    _name = _function.__name__
    _places = ("utils.data", "utils.data.dataloader", "utils.data._utils.collate")
    put(tuple(f"{place}.{_name}" for place in _places), _function)
