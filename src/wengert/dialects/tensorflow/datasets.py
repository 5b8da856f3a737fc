"""tf.data.Dataset as far as loops over batches need it: elements made one after the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.structures import TensorSpec, flatten, pack_sequence_as
from wengert.dialects.tensorflow.table import plain, put
from wengert.dialects.tensorflow.tensors import convert, is_tensor, made, outward
from wengert.engine.tensor import Tensor as Native

put(("data.AUTOTUNE", "data.experimental.AUTOTUNE"), -1)
_OTHERWISE = "elements are computed when they are asked for, in Python"


def _mapped(function: Callable[[Any], Any], nest: Any) -> Any:
    """Return a nest of tuples and dicts with a function applied; a list is a tensor's."""
    if isinstance(nest, dict):
        return type(nest)((key, _mapped(function, value)) for key, value in nest.items())
    if isinstance(nest, tuple):
        parts = [_mapped(function, part) for part in nest]
        return type(nest)(*parts) if hasattr(nest, "_fields") else tuple(parts)
    return function(nest)


def _tensors(nest: Any) -> Any:
    return _mapped(lambda v: outward(convert(v)), nest)


def _called(function: Callable[..., Any], element: Any) -> Any:
    return function(*element) if type(element) is tuple else function(element)


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
        nest = _tensors(tensors)
        leaves = flatten(nest)
        if any(not leaf.ndim for leaf in leaves):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        lengths = list(dict.fromkeys(len(leaf) for leaf in leaves))
        if len(lengths) != 1:
            raise ValueError(f"Dimensions {lengths[0]} and {lengths[1]} are not compatible")

        def elements() -> Iterator[Any]:
            for i in range(lengths[0]):
                yield pack_sequence_as(nest, [leaf[i] for leaf in leaves])

        return Dataset(elements, lengths[0])

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """Return one element."""
        nest = _tensors(tensors)
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
            dtypes = [k.dtype if isinstance(k, TensorSpec) else k for k in flatten(kinds)]
            for element in generator(*(args or ())):
                parts = flatten(element) if isinstance(kinds, (tuple, dict)) else [element]
                made_ = [outward(convert(p, d)) for p, d in zip(parts, dtypes, strict=True)]
                yield pack_sequence_as(kinds, made_)

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
            lambda: (_tensors(_called(map_func, e)) for e in self._elements()), self._length
        )

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Return the elements for which a condition holds."""
        return Dataset(lambda: (e for e in self._elements() if _called(predicate, e)), None)

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

        def elements() -> Iterator[Any]:
            source = self._elements()
            while rows := list(itertools.islice(source, size)):
                if len(rows) == size or not drop_remainder:
                    yield _stacked(rows)

        count = self._length and self._length / size
        rounded = (
            count if count in (None, math.inf) else count // 1 if drop_remainder else -(-count // 1)
        )
        return Dataset(elements, rounded)

    def unbatch(self, name: str | None = None) -> Dataset:
        """Return the elements of each element along its first axis."""
        return self.flat_map(lambda *e: Dataset.from_tensor_slices(e if len(e) > 1 else e[0]))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """Return the elements of the datasets that a function returns."""
        return Dataset(
            lambda: itertools.chain.from_iterable(_called(map_func, e) for e in self._elements()),
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

        def elements() -> Iterator[Any]:
            draw = generator if again else np.random.default_rng(start)
            source = self._elements()
            held = list(itertools.islice(source, int(buffer_size)))
            for fresh in source:
                at = int(draw.integers(len(held)))
                yield held[at]
                held[at] = fresh
            for i in draw.permutation(len(held)):
                yield held[i]

        return Dataset(elements, self._length)

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
        state = _tensors(initial_state)
        for element in self._elements():
            state = _tensors(reduce_func(state, element))
        return state

    # -- asking -----------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        return iter(self._elements())

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Return the elements as NumPy arrays."""
        return (_mapped(lambda t: t.numpy() if is_tensor(t) else t, e) for e in self._elements())

    def cardinality(self) -> Any:
        """Return how many elements there are: -1 for no end, -2 if that is not known."""
        n = -2 if self._length is None else -1 if self._length == math.inf else int(self._length)
        return made(np.asarray(n, np.int64))

    def __len__(self) -> int:
        if self._length is None:
            raise TypeError("The dataset length is unknown.")
        if self._length == math.inf:
            raise TypeError("The dataset is infinite.")
        return int(self._length)

    def __bool__(self) -> bool:
        return True

    @property
    def element_spec(self) -> Any:
        """The shape and dtype of the first element."""
        return _mapped(TensorSpec.from_tensor, next(iter(self)))


def _stacked(rows: list[Any]) -> Any:
    from wengert.dialects.tensorflow.errors import invalid

    columns = zip(*map(flatten, rows), strict=True)
    try:
        leaves = [outward(Native._namespace.stack([convert(v) for v in c])) for c in columns]
    except ValueError as error:
        raise invalid(f"Cannot batch tensors with different shapes: {error}") from error
    return pack_sequence_as(rows[0], leaves)
