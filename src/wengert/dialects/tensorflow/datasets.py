"""tf.data.Dataset as far as loops over batches need it: elements made one after the other.

A stage is a function of an iterator over elements that returns another one, in `dataset_elements`;
`_stage` makes a method of it.
"""

from __future__ import annotations

import enum
import functools
import inspect
import itertools
import math
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.dialects.tensorflow import dataset_elements as stages
from wengert.dialects.tensorflow.dataset_elements import (
    ElementIterator,
    OptionalSpec,
    like,
    mapped,
    spec_of,
)
from wengert.dialects.tensorflow.dataset_elements import tensors as as_tensors
from wengert.dialects.tensorflow.dtypes import any_dtype
from wengert.dialects.tensorflow.errors import invalid, mistake
from wengert.dialects.tensorflow.settings import ignore
from wengert.dialects.tensorflow.slices import Composite
from wengert.dialects.tensorflow.structures import TensorSpec, flatten, pack_sequence_as
from wengert.dialects.tensorflow.table import plain, put
from wengert.dialects.tensorflow.tensors import data_of, is_tensor, made, outward

put(("data.AUTOTUNE", "data.experimental.AUTOTUNE"), -1)
put(("data.INFINITE_CARDINALITY", "data.experimental.INFINITE_CARDINALITY"), -1)
put(("data.UNKNOWN_CARDINALITY", "data.experimental.UNKNOWN_CARDINALITY"), -2)
for _name, _members in (
    ("AutoShardPolicy", "OFF AUTO FILE DATA HINT"),
    ("ExternalStatePolicy", "WARN IGNORE FAIL"),
):
    put((f"data.experimental.{_name}",), enum.Enum(_name, _members, start=0))
_OTHERWISE = "elements are computed when they are asked for, in Python"
#: What to write in the place of methods that are not offered.
_INSTEAD = {
    "interleave": "flat_map(function)",
    "scan": "map(function), with the state in a tf.Variable",
    "take_while": "filter(function), or a loop with break", "unique": "filter(function)",
}  # fmt: skip
_IGNORED = ("num_parallel_calls", "deterministic", "name")


def _stage(
    function: Callable[..., Iterator[Any]], length: Callable[..., float] | None = None
) -> Any:
    """Return a method that returns a dataset: what a stage makes of the elements.

    Its arguments are those of the stage after the elements; where these are annotated with `int`,
    tensors become numbers. `length` is a function of how many elements there are, if that is
    known, and of the arguments; without it, how many there will be is not known.
    """
    signature = inspect.signature(function)
    whole = [p.name for p in signature.parameters.values() if str(p.annotation).startswith("int")]

    @functools.wraps(function)
    def method(self: Dataset, *args: Any, **options: Any) -> Dataset:
        own = {key: options.pop(key) for key in list(options) if key in signature.parameters}
        count = len(signature.parameters) - 1
        options |= dict(zip(_IGNORED, args[count:], strict=False))
        ignore(function.__name__, options, *_IGNORED)
        bound = signature.bind(None, *args[:count], **own)
        bound.apply_defaults()
        given = {key: value for key, value in bound.arguments.items() if key != "elements"}
        given |= {key: int(given[key]) for key in whole if given[key] is not None}
        unknown = length is None or self._length is None
        known = None if unknown else length(self._length, **given)  # type: ignore[misc]
        equal = function not in (stages.take, stages.skip, stages.keep) or self._whole
        equal = equal and bool(given.get("drop_remainder", True))
        return Dataset(lambda: function(self._elements(), **given), known, equal)

    return method


def _same(length: float, **arguments: Any) -> float:
    return length


def _batches(length: float, batch_size: int, drop_remainder: Any = False, **_: Any) -> float:
    """Return how many batches there are."""
    if length == math.inf:
        return length
    return length // batch_size if drop_remainder else -(-length // batch_size)


@plain("data.Options", differs="has no effect")
class Options:
    """How elements are made ready and distributed, which is of no concern in one process."""

    def __init__(self) -> None:
        for part in (
            "autotune",
            "experimental_distribute",
            "experimental_optimization",
            "threading",
        ):
            setattr(self, part, types.SimpleNamespace())


class Kind:
    """What datasets are; Keras looks for the name and the module of it."""


Kind.__name__, Kind.__module__ = "DatasetV2", "tensorflow.python.data.ops.dataset_ops"


@plain("data.Dataset", differs=f"{_OTHERWISE}; `shuffle` draws other orders")
class Dataset(Kind):
    """Elements, each a tensor or a nest of them, as often as asked."""

    def __init__(
        self, elements: Callable[[], Iterator[Any]], length: float | None, whole: bool = True
    ) -> None:
        self._elements = elements
        #: how many there are: infinity, or None if not known
        self._length = length
        #: whether all are as long as the first one: the last of several batches may be shorter
        self._whole = whole

    # -- from values ------------------------------------------------------------------------------

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """Return the elements of tensors along their first axes."""
        nest = as_tensors(tensors)
        leaves = flatten(nest)
        lengths = list(dict.fromkeys(len(leaf) if leaf.ndim else None for leaf in leaves))
        if len(lengths) != 1 or lengths[0] is None:
            raise mistake(ValueError, "from_tensor_slices: lengths", lengths, "one length for all")
        count = lengths[0]

        def elements() -> Iterator[Any]:
            for i in range(count):
                yield pack_sequence_as(nest, [leaf[i] for leaf in leaves])

        return Dataset(elements, count)

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """Return one element."""
        nest = as_tensors(tensors)
        return Dataset(lambda: iter([nest]), 1)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any], output_types: Any = None, output_shapes: Any = None,
        args: Any = (), output_signature: Any = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Return what a generator yields."""
        kinds = output_types if output_signature is None else output_signature

        def elements() -> Iterator[Any]:
            made = generator(*(args or ()))
            return stages.generated(like(kinds, element, _of_kind) for element in made)

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

    map = _stage(stages.map_each, _same)
    filter = _stage(stages.keep)
    enumerate = _stage(stages.number, _same)
    batch = _stage(stages.batch, _batches)
    padded_batch = _stage(stages.padded_batch, _batches)
    flat_map = _stage(stages.flat_map)
    take = _stage(stages.take, lambda n, count: n if count < 0 else min(n, count))
    skip = _stage(stages.skip, lambda n, count: max(n - count, 0))

    def window(self, *args: Any, **options: Any) -> Dataset:
        """Return datasets of so many elements, of which each begins `shift` after another."""
        return _windows(self, *args, **options)._then(_columns)

    def _then(self, function: Callable[[Any], Any]) -> Dataset:
        return Dataset(lambda: map(function, self._elements()), self._length)

    def rebatch(self, batch_size: Any, drop_remainder: Any = False, name: Any = None) -> Dataset:
        """Return the elements of each element along its first axis, in other batches."""
        return self.unbatch().batch(batch_size, drop_remainder)

    def unbatch(self, name: str | None = None) -> Dataset:
        """Return the elements of each element along its first axis."""
        return self.flat_map(lambda *e: Dataset.from_tensor_slices(e if len(e) > 1 else e[0]))

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = None,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Return the elements in an order drawn anew each time, among `buffer_size` at a time."""
        size, start = int(buffer_size), np.random.default_rng(seed).integers(2**32)
        generator = np.random.default_rng(start)

        def elements() -> Iterator[Any]:
            again = reshuffle_each_iteration is None or reshuffle_each_iteration
            draw = generator if again else np.random.default_rng(start)
            return stages.shuffled(self._elements(), size, draw)

        return Dataset(elements, self._length, self._whole)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Return every so many-th element, from one on."""
        n, first = int(num_shards), int(index)
        if not 0 <= first < n:
            raise invalid(f"shard: index={first}; expected one of {n} shards, from 0 on")
        known = self._length
        return Dataset(
            lambda: itertools.islice(self._elements(), first, None, n),
            None if known is None else _batches(max(known - first, 0), n),
            self._whole,
        )

    def apply(self, transformation_func: Callable[[Any], Any], name: str | None = None) -> Any:
        """Return a function of the dataset."""
        return transformation_func(self)

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """Return the elements so many times over; without a number, for ever."""
        rounds = math.inf if count is None or int(count) < 0 else int(count)

        def elements() -> Iterator[Any]:
            for _ in itertools.count() if rounds == math.inf else range(int(rounds)):
                yield from self._elements()

        known = rounds if rounds == math.inf else self._length and self._length * rounds
        return Dataset(elements, known, self._whole)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """Return the elements, then those of another dataset."""
        first, second = self._length, dataset._length
        known = None if first is None or second is None else first + second
        both = self._whole and dataset._whole
        return Dataset(lambda: itertools.chain(self._elements(), dataset._elements()), known, both)

    def prefetch(self, *args: Any, **options: Any) -> Dataset:
        """Return the dataset itself."""
        return self

    cache = with_options = prefetch

    def reduce(self, initial_state: Any, reduce_func: Any, name: str | None = None) -> Any:
        """Return what a function of a state and an element makes of all elements."""
        state = as_tensors(initial_state)
        for element in self._elements():
            state = as_tensors(reduce_func(state, element))
        return state

    # -- asking -----------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        return ElementIterator(self._elements)

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

    def __getattr__(self, name: str) -> Any:
        instead = f"; write dataset.{_INSTEAD[name]}" if name in _INSTEAD else ""
        raise AttributeError(f"a dataset has no attribute {name!r}{instead}")

    @property
    def element_spec(self) -> Any:
        """The shape and dtype of elements, None for the length of batches that may differ."""
        return mapped(lambda value: spec_of(value, self._whole), next(iter(self)))


_windows = _stage(stages.window)


@plain("data.TextLineDataset", differs=_OTHERWISE)
class TextLineDataset(Dataset):
    """The lines of text files, as strings without their ends."""

    def __init__(self, filenames: Any, compression_type: Any = None, **ignored: Any) -> None:
        ignore("TextLineDataset", ignored, "buffer_size", "num_parallel_reads", "name")
        if compression_type:
            raise mistake(
                ValueError, "compression_type", compression_type, "none: write gzip.open(path)"
            )
        names = np.ravel(data_of(filenames)._raw).tolist()
        super().__init__(lambda: stages.lines_of(names), None)


def _of_kind(kind: Any, value: Any) -> Any:
    """Return what a generator yielded as a tensor of the kind that was said."""
    if kind is None or isinstance(kind, OptionalSpec):
        return value
    if not isinstance(kind, TensorSpec):
        return outward(data_of(value, any_dtype(kind)))
    tensor = value if isinstance(value, Composite) else outward(data_of(value, kind.dtype))
    if not kind.shape.is_compatible_with(tensor.shape):
        raise mistake(TypeError, "from_generator: shape", tensor.shape, f"{kind.shape}")
    return tensor


def _columns(rows: list[Any]) -> Any:
    """Return the elements of a window: a dataset for each part of them."""
    parts = list(zip(*map(flatten, rows), strict=True))
    columns = [Dataset(functools.partial(iter, part), len(part)) for part in parts]
    return pack_sequence_as(rows[0], columns)
