"""tf.data.Dataset as far as loops over batches need it: elements made one after the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.dataset_elements import (
    ElementIterator,
    called,
    groups,
    interleaved,
    like,
    mapped,
    padded,
    shuffled,
    stacked,
    windows,
)
from wengert.dialects.tensorflow.dataset_elements import tensors as as_tensors
from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.structures import TensorSpec, flatten, pack_sequence_as
from wengert.dialects.tensorflow.table import plain, put
from wengert.dialects.tensorflow.tensors import convert, is_tensor, made, outward

put(("data.AUTOTUNE", "data.experimental.AUTOTUNE"), -1)
_OTHERWISE = "elements are computed when they are asked for, in Python"


@plain("data.Dataset", differs=f"{_OTHERWISE}; `shuffle` draws other orders")
class Dataset:
    """Elements, each a tensor or a nest of them, as often as asked."""

    def __init__(self, elements: Callable[[], Iterator[Any]], length: float | None) -> None:
        self._elements = elements
        #: how many there are: infinity, or None if not known
        self._length = length

    # -- from values ------------------------------------------------------------------------------

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """Return the elements of tensors along their first axes."""
        nest = as_tensors(tensors)
        leaves = flatten(nest)
        if any(not leaf.ndim for leaf in leaves):
            raise ValueError("from_tensor_slices: a tensor is one number; expected a first axis")
        lengths = list(dict.fromkeys(len(leaf) for leaf in leaves))
        if len(lengths) != 1:
            raise ValueError(f"from_tensor_slices: first axes of several lengths: {lengths}")

        def elements() -> Iterator[Any]:
            for i in range(lengths[0]):
                yield pack_sequence_as(nest, [leaf[i] for leaf in leaves])

        return Dataset(elements, lengths[0])

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """Return one element."""
        nest = as_tensors(tensors)
        return Dataset(lambda: iter([nest]), 1)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Return what a generator yields."""
        kinds = output_types if output_signature is None else output_signature

        def elements() -> Iterator[Any]:
            for element in generator(*(args or ())):
                yield like(kinds, element, _of_kind)

        return Dataset(elements, None)

    @staticmethod
    def range(*args: Any, output_type: Any = "int64", name: str | None = None) -> Dataset:
        """Return whole numbers, as Python's range does."""
        numbers = np.arange(*map(int, args), dtype=np.int64)
        return Dataset.from_tensor_slices(numbers.astype(getattr(output_type, "name", output_type)))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Return the elements of several datasets side by side, as many as all have."""
        nest = datasets if datasets is not None else args[0] if len(args) == 1 else args
        parts = flatten(nest)
        lengths = [p._length for p in parts]
        return Dataset(
            lambda: (pack_sequence_as(nest, list(row)) for row in zip(*parts, strict=False)),
            None if None in lengths else min(lengths),
        )

    # -- from other datasets ----------------------------------------------------------------------

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        **options: Any,
    ) -> Dataset:
        """Return what a function returns for each element."""
        return Dataset(
            lambda: (as_tensors(called(map_func, e)) for e in self._elements()), self._length
        )

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Return the elements for which a condition holds."""
        return Dataset(lambda: (e for e in self._elements() if called(predicate, e)), None)

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Return each so many elements as one, with a further first axis."""
        size = int(batch_size)
        return Dataset(
            lambda: map(stacked, groups(self._elements(), size, drop_remainder)),
            _rounded(self._length, size, drop_remainder),
        )

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Return each so many elements as one, filled up to the longest."""
        size = int(batch_size)
        return Dataset(
            lambda: (
                padded(rows, padded_shapes, padding_values)
                for rows in groups(self._elements(), size, drop_remainder)
            ),
            _rounded(self._length, size, drop_remainder),
        )

    def rebatch(
        self, batch_size: Any, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """Return the elements of each element along its first axis, in other batches."""
        return self.unbatch().batch(batch_size, drop_remainder)

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Return datasets of so many elements, of which each begins `shift` after another."""
        n, step = int(size), int(stride)
        ahead = n if shift is None else int(shift)

        def elements() -> Iterator[Any]:
            for rows in windows(self._elements(), n, ahead, step, drop_remainder):
                yield _columns(rows)

        return Dataset(elements, None)

    def unbatch(self, name: str | None = None) -> Dataset:
        """Return the elements of each element along its first axis."""
        return self.flat_map(lambda *e: Dataset.from_tensor_slices(e if len(e) > 1 else e[0]))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """Return the elements of the datasets that a function returns."""
        return Dataset(
            lambda: itertools.chain.from_iterable(called(map_func, e) for e in self._elements()),
            None,
        )

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Return the elements in an order drawn anew each time, among `buffer_size` at a time."""
        again = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        start = np.random.default_rng(seed).integers(2**32)
        generator = np.random.default_rng(start)

        return Dataset(
            lambda: shuffled(
                self._elements(),
                int(buffer_size),
                generator if again else np.random.default_rng(start),
            ),
            self._length,
        )

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Return the elements of the datasets that a function returns, of several in turn."""
        several, block = int(cycle_length or 1), int(block_length or 1)
        return Dataset(
            lambda: interleaved((called(map_func, e) for e in self._elements()), several, block),
            None,
        )

    def scan(
        self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None
    ) -> Dataset:
        """Return what a function of a state and an element returns besides the next state."""

        def elements() -> Iterator[Any]:
            state = as_tensors(initial_state)
            for element in self._elements():
                state, answer = map(as_tensors, scan_func(state, element))
                yield answer

        return Dataset(elements, self._length)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Return the elements up to the first for which a condition does not hold."""
        return Dataset(
            lambda: itertools.takewhile(lambda e: called(predicate, e), self._elements()), None
        )

    def unique(self, name: str | None = None) -> Dataset:
        """Return each element once."""

        def elements() -> Iterator[Any]:
            seen = set()
            for element in self._elements():
                key = np.asarray(element).item()
                if key not in seen:
                    seen.add(key)
                    yield element

        return Dataset(elements, None)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Return every so many-th element, from one on."""
        n, first = int(num_shards), int(index)
        if not 0 <= first < n:
            raise invalid(f"shard: index={first}; expected one of {n} shards, from 0 on")
        known = self._length
        rest = known if known in (None, math.inf) else max(known - first, 0)
        return Dataset(
            lambda: itertools.islice(self._elements(), first, None, n), _rounded(rest, n, False)
        )

    def apply(self, transformation_func: Callable[[Any], Any], name: str | None = None) -> Any:
        """Return a function of the dataset."""
        return transformation_func(self)

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """Return the elements so many times over; without a number, for ever."""
        endless = count is None or int(count) < 0
        rounds = itertools.repeat(0) if endless else None

        def elements() -> Iterator[Any]:
            for _ in rounds or itertools.repeat(0, int(count)):
                yield from self._elements()

        length = math.inf if endless else self._length and self._length * int(count)
        return Dataset(elements, length)

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """Return the first elements."""
        n = None if int(count) < 0 else int(count)
        known = self._length if n is None or self._length is None else min(self._length, n)
        return Dataset(lambda: itertools.islice(self._elements(), n), known)

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """Return the elements after the first."""
        n = int(count)
        known = None if self._length is None else max(self._length - n, 0)
        return Dataset(lambda: itertools.islice(self._elements(), n, None), known)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """Return the elements, then those of another dataset."""
        lengths = (self._length, dataset._length)
        known = None if None in lengths else sum(lengths)  # type: ignore[arg-type]
        return Dataset(lambda: itertools.chain(self._elements(), dataset._elements()), known)

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Return (number, element) for each element."""
        return Dataset(
            lambda: (
                (made(np.asarray(i, np.int64)), e)
                for i, e in enumerate(self._elements(), int(start))
            ),
            self._length,
        )

    def prefetch(self, buffer_size: Any = None, name: str | None = None) -> Dataset:
        """Return the dataset itself."""
        return self

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """Return the dataset itself."""
        return self

    def with_options(self, options: Any, name: str | None = None) -> Dataset:
        """Return the dataset itself."""
        return self

    def reduce(
        self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """Return what a function of a state and an element makes of all elements."""
        state = as_tensors(initial_state)
        for element in self._elements():
            state = as_tensors(reduce_func(state, element))
        return state

    # -- asking -----------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        return ElementIterator(iter(self._elements()))

    def get_single_element(self, name: str | None = None) -> Any:
        """Return the one element."""
        first = list(itertools.islice(self._elements(), 2))
        if len(first) != 1:
            told = "none" if not first else "more"
            raise invalid(f"get_single_element: the dataset has {told}; expected one element")
        return first[0]

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Return the elements as NumPy arrays."""
        return (mapped(lambda t: t.numpy() if is_tensor(t) else t, e) for e in self._elements())

    def cardinality(self) -> Any:
        """Return how many elements there are: -1 for no end, -2 if that is not known."""
        n = -2 if self._length is None else -1 if self._length == math.inf else int(self._length)
        return made(np.asarray(n, np.int64))

    def __len__(self) -> int:
        if self._length is None:
            raise TypeError("len: how many elements there are is not known before they are made")
        if self._length == math.inf:
            raise TypeError("len: the dataset has no end; write dataset.take(n)")
        return int(self._length)

    def __bool__(self) -> bool:
        return True

    @property
    def element_spec(self) -> Any:
        """The shape and dtype of the first element."""
        return mapped(TensorSpec.from_tensor, next(iter(self)))


def _rounded(length: float | None, size: int, down: bool) -> float | None:
    """Return how many batches there are."""
    if length is None or length == math.inf:
        return length
    return length // size if down else -(-length // size)


def _of_kind(kind: Any, value: Any) -> Any:
    return outward(convert(value, kind.dtype if isinstance(kind, TensorSpec) else kind))


def _columns(rows: list[Any]) -> Any:
    """Return the elements of a window: a dataset for each part of them."""
    parts = list(zip(*map(flatten, rows), strict=True))
    columns = [Dataset(lambda part=part: iter(part), len(part)) for part in parts]  # type: ignore[misc]
    return pack_sequence_as(rows[0], columns)
