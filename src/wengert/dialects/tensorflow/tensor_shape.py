"""TensorShape: a shape that compares with lists, and knows about unknown lengths."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

from wengert.dialects.tensorflow.errors import mistake


def _length(value: Any) -> int:
    """Return one length, which is whole and not negative."""
    try:
        length = operator.index(value)
    except TypeError:
        raise mistake(TypeError, "a length", value, "a whole number or None") from None
    if length < 0:
        raise mistake(ValueError, "a length", length, "0 or more")
    return length


class TensorShape:
    """The length of each axis; None for one that is not known, and for all of them."""

    __slots__ = ("_dims",)

    def __init__(self, dims: Any) -> None:
        if isinstance(dims, TensorShape):
            self._dims: tuple[int | None, ...] | None = dims._dims
        elif dims is None:
            self._dims = None
        elif hasattr(dims, "__index__") and not hasattr(dims, "__iter__"):
            self._dims = (_length(dims),)
        else:
            self._dims = tuple(None if d is None else _length(d) for d in dims)

    @classmethod
    def of(cls, shape: tuple[int, ...]) -> TensorShape:
        """Return the shape of an array, whose lengths need no check."""
        found = cls.__new__(cls)
        found._dims = tuple(shape)
        return found

    @property
    def rank(self) -> int | None:
        """The number of axes."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[int | None] | None:
        """The lengths, as a list."""
        return None if self._dims is None else list(self._dims)

    def as_list(self) -> list[int | None]:
        """Return the lengths as a list."""
        return list(self._known("as_list: how many axes there are is not known"))

    def num_elements(self) -> int | None:
        """Return the number of elements, if all lengths are known."""
        if not self.is_fully_defined():
            return None
        return math.prod(n or 0 for n in self._dims or ())

    def is_fully_defined(self) -> bool:
        """Return whether all lengths are known."""
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether a tensor could have both shapes."""
        mine, theirs = self._dims, TensorShape(other)._dims
        if mine is None or theirs is None or mine == theirs:
            return True
        return len(mine) == len(theirs) and all(
            a is None or b is None or a == b for a, b in zip(mine, theirs, strict=True)
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise unless a tensor could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"the shapes {self} and {TensorShape(other)} do not fit")

    def assert_is_fully_defined(self) -> None:
        """Raise unless all lengths are known."""
        if not self.is_fully_defined():
            raise ValueError(f"the shape {self} has lengths that are not known")

    def with_rank(self, rank: int) -> TensorShape:
        """Return the shape, which must have `rank` axes."""
        if self.rank not in (None, rank):
            raise mistake(ValueError, "a shape", self, f"{rank} axes")
        return TensorShape([None] * rank) if self._dims is None else self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return the shape, which must have `rank` axes or more."""
        if self._dims is not None and len(self._dims) < rank:
            raise mistake(ValueError, "a shape", self, f"{rank} axes or more")
        return self

    def merge_with(self, other: Any) -> TensorShape:
        """Return the shape with what either of two knows."""
        other = TensorShape(other)
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        self.assert_is_compatible_with(other)
        return TensorShape(
            [a if b is None else b for a, b in zip(self._dims, other._dims, strict=True)]
        )

    def concatenate(self, other: Any) -> TensorShape:
        """Return the axes of this shape, then those of another."""
        other = TensorShape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    __add__ = concatenate

    def _known(self, message: str) -> tuple[int | None, ...]:
        if self._dims is None:
            raise ValueError(message)
        return self._dims

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __len__(self) -> int:
        return len(self._known("len: how many axes there are is not known"))

    def __iter__(self) -> Iterator[int | None]:
        return iter(self._known("how many axes there are is not known"))

    def __getitem__(self, key: Any) -> Any:
        dims = self._known("A shape of unknown rank has no axes to look up.")
        return TensorShape(dims[key]) if isinstance(key, slice) else dims[key]

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == TensorShape(other)._dims
        except (TypeError, ValueError):
            return False

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)

    def __reduce__(self) -> Any:
        return TensorShape, (self._dims,)
