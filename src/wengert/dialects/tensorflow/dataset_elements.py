"""Elements of datasets: nests of tensors, and stages that choose, change and batch them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.errors import (
    NotFoundError,
    OutOfRangeError,
    UnimplementedError,
    UnknownError,
    invalid,
)
from wengert.dialects.tensorflow.structures import (
    Opaque,
    TensorSpec,
    TypeSpec,
    flatten,
    pack_sequence_as,
)
from wengert.dialects.tensorflow.table import plain
from wengert.dialects.tensorflow.tensors import Native, data_of, made, outward


def mapped(function: Callable[[Any], Any], nest: Any) -> Any:
    """Return a nest of tuples and dicts with a function applied; a list is a tensor's."""
    if isinstance(nest, dict):
        return type(nest)((key, mapped(function, value)) for key, value in nest.items())
    if isinstance(nest, tuple):
        parts = [mapped(function, part) for part in nest]
        return type(nest)(*parts) if hasattr(nest, "_fields") else tuple(parts)
    return function(nest)


def tensors(nest: Any) -> Any:
    """Return a nest of tensors; None and a dataset in it, as `window` makes them, stay."""
    return mapped(lambda v: v if _stays(v) else outward(data_of(v)), nest)


def _stays(value: Any) -> bool:
    return value is None or isinstance(value, Opaque) or hasattr(value, "as_numpy_iterator")


def generated(generator: Iterator[Any]) -> Iterator[Any]:
    """Return what a generator yields; its errors become TensorFlow's, which name them."""
    try:
        yield from generator
    except (TypeError, ValueError) as error:
        raise invalid(f"{type(error).__name__}: {error}") from error
    except NotImplementedError as error:
        raise UnimplementedError(None, None, f"NotImplementedError: {error}") from error
    except Exception as error:
        raise UnknownError(None, None, f"{type(error).__name__}: {error}") from error


def like(kinds: Any, value: Any, function: Callable[[Any, Any], Any]) -> Any:
    """Return a nest of the form of `kinds`, with function(kind, value) for each of its leaves."""
    if isinstance(kinds, dict):
        return {key: like(kind, value[key], function) for key, kind in kinds.items()}
    if isinstance(kinds, tuple):
        return tuple(like(k, v, function) for k, v in zip(kinds, value, strict=True))
    return function(kinds, value)


def called(function: Callable[..., Any], element: Any) -> Any:
    """Return a function of an element; one of several parts is several arguments."""
    return function(*element) if type(element) is tuple else function(element)


def stacked(rows: list[Any]) -> Any:
    """Return some elements as one, with a further first axis."""
    columns = zip(*map(flatten, rows), strict=True)
    try:
        leaves = [outward(Native._namespace.stack([data_of(v) for v in c])) for c in columns]
    except ValueError as error:
        raise invalid(f"batch: elements have several shapes: {error}") from error
    return pack_sequence_as(rows[0], leaves)


def padded(rows: list[Any], shapes: Any, values: Any) -> Any:
    """Return some elements as one, filled up at the end of each axis."""
    columns = list(zip(*map(flatten, rows), strict=True))
    wanted: Any = [None] * len(columns)
    if shapes is not None:
        wanted = [shapes] if len(columns) == 1 and not isinstance(shapes, tuple) else list(shapes)
    fills = flatten(values) if isinstance(values, (tuple, dict)) else [values] * len(columns)
    parts = zip(columns, wanted, fills, strict=True)
    leaves = [_filled_up([v.numpy() for v in c], shape, fill) for c, shape, fill in parts]
    return pack_sequence_as(rows[0], leaves)


def _filled_up(arrays: list[Any], shape: Any, fill: Any) -> Any:
    longest = np.max([np.shape(a) for a in arrays], axis=0).astype(int).tolist()
    asked = [None] * len(longest) if shape is None else list(shape)
    lengths = [n if a in (None, -1) else int(a) for n, a in zip(longest, asked, strict=True)]
    if any(n > m for n, m in zip(longest, lengths, strict=True)):
        raise invalid(f"padded_batch: an element has shape {longest}, more than {lengths}")
    kind = np.asarray(arrays[0]).dtype
    usual = b"" if kind.kind in "OS" else 0
    whole = np.full((len(arrays), *lengths), usual if fill is None else np.asarray(fill))
    whole = whole.astype(object if usual == b"" else kind)
    for row, array in zip(whole, arrays, strict=True):
        row[tuple(map(slice, np.shape(array)))] = array
    return made(whole)


# -- stages: functions of an iterator over elements ------------------------------------------------


def lines_of(names: list[bytes]) -> Iterator[Any]:
    """Return the lines of files, one after the other."""
    for name in names:
        try:
            with open(name, "rb") as file:
                for line in file:
                    yield outward(data_of(line.removesuffix(b"\n").removesuffix(b"\r")))
        except FileNotFoundError:
            text = f"there is no file {name.decode()!r}"
            raise NotFoundError(None, None, text) from None


def map_each(elements: Iterator[Any], map_func: Callable[..., Any]) -> Iterator[Any]:
    """Return what a function returns for each element."""
    return (tensors(called(map_func, e)) for e in elements)


def keep(elements: Iterator[Any], predicate: Callable[..., Any]) -> Iterator[Any]:
    """Return the elements for which a condition holds."""
    return (e for e in elements if called(predicate, e))


def number(elements: Iterator[Any], start: int = 0) -> Iterator[Any]:
    """Return (number, element) for each element."""
    return ((made(np.asarray(i, np.int64)), e) for i, e in enumerate(elements, start))


def take(elements: Iterator[Any], count: int) -> Iterator[Any]:
    """Return the first elements; with a negative number, all."""
    return itertools.islice(elements, None if count < 0 else count)


def skip(elements: Iterator[Any], count: int) -> Iterator[Any]:
    """Return the elements after the first."""
    return itertools.islice(elements, count, None)


def _groups(elements: Iterator[Any], size: int, whole: bool) -> Iterator[list[Any]]:
    """Return lists of so many elements; the last may be shorter, unless `whole`."""
    while rows := list(itertools.islice(elements, size)):
        if len(rows) == size or not whole:
            yield rows


def batch(elements: Iterator[Any], batch_size: int, drop_remainder: Any = False) -> Iterator[Any]:
    """Return each so many elements as one, with a further first axis."""
    return map(stacked, _groups(elements, batch_size, drop_remainder))


def padded_batch(
    elements: Iterator[Any], batch_size: int, padded_shapes: Any = None, padding_values: Any = None,
    drop_remainder: Any = False,
) -> Iterator[Any]:  # fmt: skip
    """Return each so many elements as one, filled up to the longest."""
    groups = _groups(elements, batch_size, drop_remainder)
    return (padded(rows, padded_shapes, padding_values) for rows in groups)


def window(
    elements: Iterator[Any], size: int, shift: int | None = None, stride: int = 1,
    drop_remainder: Any = False,
) -> Iterator[list[Any]]:  # fmt: skip
    """Return lists of elements `stride` apart, whose beginnings are `shift` apart."""
    shift = size if shift is None else shift
    held: list[Any] = []
    span = (size - 1) * stride + 1
    passed = 0
    while True:
        passed -= len(list(itertools.islice(elements, passed)))
        held += itertools.islice(elements, span - len(held))
        if not held or (drop_remainder and len(held) < span):
            return
        yield held[::stride]
        passed = max(shift - len(held), 0)
        held = held[shift:]


def flat_map(elements: Iterator[Any], map_func: Callable[..., Any]) -> Iterator[Any]:
    """Return the elements of the datasets that a function returns."""
    return itertools.chain.from_iterable(called(map_func, e) for e in elements)


def shuffled(
    elements: Iterator[Any], held_at_once: int, draw: np.random.Generator
) -> Iterator[Any]:
    """Return elements in a random order, drawn among so many at a time."""
    held = list(itertools.islice(elements, held_at_once))
    for fresh in elements:
        at = int(draw.integers(len(held)))
        yield held[at]
        held[at] = fresh
    for i in draw.permutation(len(held)):
        yield held[i]


@plain("data.Iterator")
class ElementIterator(Iterator[Any]):
    """What iter(dataset) gives: elements, and how many of them there were, to go on from there."""

    def __init__(self, elements: Callable[[], Iterator[Any]]) -> None:
        self._begin = elements
        self.move_to(0)

    def move_to(self, position: int) -> None:
        """Go on after so many elements of a new round."""
        self._elements = iter(self._begin())
        self.position = sum(1 for _ in itertools.islice(self._elements, position))

    def __next__(self) -> Any:
        element = next(self._elements)
        self.position += 1
        return element

    def get_next(self) -> Any:
        """Return the next element; at the end, raise OutOfRangeError."""
        for element in self:
            return element
        raise OutOfRangeError(None, None, "get_next: the dataset has no further element")

    def get_next_as_optional(self) -> Optional:
        """Return the next element, if there is one."""
        return Optional(list(itertools.islice(self, 1)))


@plain("experimental.Optional", "data.experimental.Optional")
class Optional(Opaque):
    """A value, or none."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    @classmethod
    def empty(cls, element_spec: Any) -> Optional:
        """Return one without a value."""
        return cls([])

    @classmethod
    def from_value(cls, value: Any) -> Optional:
        """Return one with a value."""
        return cls([value])

    def has_value(self, name: str | None = None) -> Any:
        """Return whether there is a value."""
        return made(np.asarray(bool(self._values)))

    def get_value(self, name: str | None = None) -> Any:
        """Return the value; raise InvalidArgumentError if there is none."""
        if not self._values:
            raise invalid("get_value: there is no value; ask has_value() first")
        return self._values[0]

    @property
    def element_spec(self) -> Any:
        """The shape and dtype of the value; None if there is none."""
        return mapped(spec_of, self._values[0]) if self._values else None


@plain("OptionalSpec")
class OptionalSpec(TypeSpec):
    """What is said of an `Optional`: what its value is, if there is one."""

    def __init__(self, element_spec: Any) -> None:
        self.element_spec = element_spec


def spec_of(value: Any, whole: bool = True) -> Any:
    """Return what is said of an element's part: for None, nothing; `whole` as in `Dataset`."""
    if isinstance(value, Optional):
        return OptionalSpec(value.element_spec)
    if value is None or hasattr(value, "_type_spec"):
        return getattr(value, "_type_spec", None)
    lengths = value.shape.as_list()
    return TensorSpec(lengths if whole or not lengths else [None, *lengths[1:]], value.dtype)
