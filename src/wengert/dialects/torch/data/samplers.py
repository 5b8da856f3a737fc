"""In which order samples come: by their number, at random, by weight, in batches."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import numpy as np

from wengert.dialects.torch.creation import as_tensor
from wengert.dialects.torch.dtypes import float64
from wengert.dialects.torch.generators import Generator, default_generator
from wengert.dialects.torch.random import multinomial, randint, randperm
from wengert.dialects.torch.table import put

T_co = TypeVar("T_co", covariant=True)
#: How many numbers are drawn at a time where they may come again.
_AT_ONCE = 32


def drawn_seed(generator: Generator | None) -> int:
    """Return a seed for another generator, drawn as PyTorch draws it."""
    rng = default_generator if generator is None else generator
    return int(rng.pairs(1)[0] % np.uint64(2**63))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


class Sampler(Generic[T_co]):
    """The numbers of samples in some order: a class of yours with `__iter__`, perhaps `__len__`."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} has no order; write its __iter__(self)")


class SequentialSampler(Sampler[int]):
    """All samples, in their order."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Samples in a random order, each once or drawn anew each time."""

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement is {replacement!r}; give True or False")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"RandomSampler: {self.num_samples} samples; give 1 or more")

    @property
    def num_samples(self) -> int:
        """How many samples there are to be: by default, as many as there are."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count, generator = len(self.data_source), self.generator
        if generator is None:
            generator = Generator().manual_seed(drawn_seed(None))
        step = _AT_ONCE if self.replacement else count
        rounds, rest = divmod(self.num_samples, step)
        sizes = itertools.chain(itertools.repeat(step, rounds), (rest,))
        for size in sizes:  # a rest of 0 is drawn too, as in PyTorch
            if self.replacement:
                yield from randint(count, (size,), generator=generator).tolist()
            else:
                yield from randperm(count, generator=generator).tolist()[:size]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Samples of given numbers, in a random order."""

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for k in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[k]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Samples drawn with chances in proportion to their weights."""

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        if not _is_count(num_samples) or not isinstance(replacement, bool):
            raise ValueError(
                f"WeightedRandomSampler: num_samples={num_samples!r}, replacement={replacement!r}; "
                "give 1 or more, and True or False"
            )
        self.weights = as_tensor(weights, dtype=float64)
        if len(self.weights.shape) != 1:
            raise ValueError(f"weights have shape {list(self.weights.shape)}; give one axis")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of so many numbers of another sampler; `drop_last` if the last may be left away."""

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool) -> None:
        if not _is_count(batch_size):
            raise ValueError(f"batch_size is {batch_size!r}; give a whole number of 1 or more")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last is {drop_last!r}; give True or False")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        while batch := list(itertools.islice(numbers, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return (count if self.drop_last else count + self.batch_size - 1) // self.batch_size


for _made in (
    Sampler, SequentialSampler, RandomSampler, SubsetRandomSampler, WeightedRandomSampler,
    BatchSampler,
):  # fmt: skip
    put((f"utils.data.{_made.__name__}", f"utils.data.sampler.{_made.__name__}"), _made)
