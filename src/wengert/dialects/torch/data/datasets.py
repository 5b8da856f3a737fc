"""Datasets: samples by number or one after the other, joined, stacked and split."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from wengert.dialects.kernel.functions import warn
from wengert.dialects.torch.generators import default_generator
from wengert.dialects.torch.random import randperm
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Tensor

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Samples that are had by number: a class of yours with `__getitem__` and `__len__`."""

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError(
            f"{type(self).__name__} has no samples; write its method __getitem__(self, index)"
        )

    def __add__(self, other: Dataset[Any]) -> Any:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Samples that come one after the other: a class of yours with `__iter__`."""


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """The rows of tensors of one length, as tuples."""

    def __init__(self, *tensors: Any) -> None:
        _check_equal("TensorDataset", [t.size(0) for t in tensors], AssertionError)
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple([tensor[index] for tensor in self.tensors])

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class ConcatDataset(Dataset[T_co]):
    """The samples of one dataset, then those of the next."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets or any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError(
                "ConcatDataset takes one dataset or more whose samples have numbers, not an "
                "IterableDataset; write itertools.chain in an __iter__ of yours"
            )
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    def __getitem__(self, idx: Any) -> T_co:
        count = len(self)
        if idx < -count:
            raise ValueError(f"index {idx} is out of range for a dataset of {count} samples")
        idx = idx + count if idx < 0 else idx
        part = bisect.bisect_right(self.cumulative_sizes, idx)
        found: T_co = self.datasets[part][idx - self.cumulative_sizes[part - 1] if part else idx]
        return found

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class Subset(Dataset[T_co]):
    """The samples of a dataset that have given numbers."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        mine = type(self)
        one, many = mine.__getitem__, mine.__getitems__
        if one is not Subset.__getitem__ and many is Subset.__getitems__:
            raise NotImplementedError(
                f"{mine.__name__} has a __getitem__ of its own, and a DataLoader asks for many "
                "samples at once; write __getitems__(self, indices) too"
            )
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[k] for k in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[Any]) -> list[T_co]:
        """Return samples, which a dataset that has this method gives at once."""
        return samples_of(self.dataset, [self.indices[k] for k in indices])

    def __len__(self) -> int:
        return len(self.indices)


def samples_of(dataset: Any, indices: Iterable[Any]) -> Any:
    """Return samples by number: at once if a dataset has a method for that."""
    if callable(at_once := getattr(dataset, "__getitems__", None)):
        return at_once(indices)
    return [dataset[k] for k in indices]


def rows_of(dataset: Any, indices: Iterable[Any]) -> list[Tensor] | None:
    """Return rows of tensors at once: what `default_collate` makes of them; None for others."""
    if type(dataset) is Subset:
        return rows_of(dataset.dataset, [dataset.indices[k] for k in indices])
    if type(dataset) is not TensorDataset or {type(k) for k in indices} != {int}:
        return None
    if any(t.requires_grad or not t.is_contiguous() for t in dataset.tensors):
        return None
    return [tensor[list(indices)] for tensor in dataset.tensors]


def _check_equal(name: str, lengths: list[int], error: type[Exception]) -> None:
    if len(set(lengths)) > 1:
        raise error(f"{name} got lengths {lengths}; give one length to all")


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Any = default_generator
) -> list[Subset[Any]]:
    """Return parts of a dataset, of given lengths or fractions, with samples drawn at random."""
    count, total = len(dataset), sum(lengths)
    if math.isclose(total, 1) and total <= 1:
        lengths = _of_fractions(count, lengths)
    if sum(lengths) != count:
        raise ValueError(
            f"random_split: lengths {list(lengths)} add up to {sum(lengths)}, and the dataset has "
            f"{count} samples; give lengths of that sum, or fractions of sum 1"
        )
    order = randperm(count, generator=generator).tolist()
    ends = [int(end) for end in itertools.accumulate(lengths)]
    return [Subset(dataset, order[a:b]) for a, b in itertools.pairwise([0, *ends])]


def _of_fractions(count: int, fractions: Sequence[float]) -> list[int]:
    """Return whole lengths; what rounding leaves goes to the parts in turn, from the first on."""
    if any(not 0 <= part <= 1 for part in fractions):
        raise ValueError(f"random_split: fractions {list(fractions)}; give numbers from 0 to 1")
    lengths = [math.floor(count * part) for part in fractions]
    for k in range(count - sum(lengths)):
        lengths[k % len(lengths)] += 1
    for k, length in enumerate(lengths):
        if not length:
            warn(f"random_split: part {k} of {count} samples is empty")
    return lengths


for _made in (
    Dataset, IterableDataset, TensorDataset, ConcatDataset, Subset,
    random_split,
):  # fmt: skip
    put((f"utils.data.{_made.__name__}", f"utils.data.dataset.{_made.__name__}"), _made)
