"""What optimisers do with the leaves of a tree: match them, name them, read and return them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import optree

from wengert import backends
from wengert.elements.selections import Selection
from wengert.engine import batching
from wengert.engine.cotangents import Block
from wengert.engine.record import SCALARS
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import DtypeError, ShapeError
from wengert.ops.variable import Variable
from wengert.regions import sizes
from wengert.transforms.gradients import is_traced
from wengert.trees import is_record, is_setting


def counted(number: Any) -> Any:
    """Return a count as Python's number; as an array where a program is compiled."""
    array = number._raw if type(number) is Tensor else number
    return array if is_compiled(array) else int(number)


def is_compiled(value: Any) -> bool:
    """Whether a value is an array of a program that is being compiled."""
    return backends.namespace_of(value) is not None and batching.is_traced(value)


def matcher(tree: Any) -> Callable[[Any, tuple[str, str]], list[Any]]:
    """Return a function from another tree to its parts at the leaves of `tree`, in their order.

    Its second argument names the two in an error. A part may be None, also in a dataclass.
    """
    leaves, spec = optree.tree_flatten(tree, none_is_leaf=True)
    has_records = any(map(is_record, leaves))

    def match(other: Any, names: tuple[str, str]) -> list[Any]:
        try:
            parts = spec.flatten_up_to(other)
        except ValueError as error:
            raise _mismatch(tree, other, names) from error
        if not has_records:
            return parts
        found: list[Any] = []
        for leaf, part in zip(leaves, parts, strict=True):
            if not is_record(leaf):
                found.append(part)
            elif type(part) is type(leaf):
                fields = _fields(leaf)
                twin = {name: getattr(part, name) for name in fields}
                found += matcher(fields)(twin, names)
            else:
                raise _mismatch(tree, other, names)
        return found

    return match


def _fields(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that hold leaves."""
    values = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    return {name: value for name, value in values.items() if not is_setting(value)}


def labels(tree: Any, name: str) -> list[str]:
    """Return how to write each leaf of a tree in Python, as in ``params['layers'][0]``."""
    accessors, leaves, _ = optree.tree_flatten_with_accessor(tree, none_is_leaf=True)
    found = []
    for accessor, leaf in zip(accessors, leaves, strict=True):
        code = accessor.codify(name)
        if is_record(leaf):
            fields = sorted(_fields(leaf).items())
            found += [part for field, value in fields for part in labels(value, f"{code}.{field}")]
        else:
            found.append(code)
    return found


def _mismatch(tree: Any, other: Any, names: tuple[str, str]) -> ShapeError:
    ours, theirs = labels(tree, ""), labels(other, "")
    missing = [f"{names[0]}{path}" for path in ours if not any(_within(t, path) for t in theirs)]
    extra = [
        f"{names[1]}{path}" for path in theirs if path and not any(_within(path, o) for o in ours)
    ]
    found = [f"nothing for {_first_few(missing)}"] if missing else []
    found += [f"{_first_few(extra)}, which {names[0]} has not"] if extra else []
    found = found or ["a tuple, list or dataclass of another type"]
    return ShapeError(
        f"{names[1]} has {' and has '.join(found)}; give it the structure of {names[0]}"
    )


def _first_few(names: list[str]) -> str:
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(names[:4]) + more


def _within(label: str, other: str) -> bool:
    """Whether one label is another, or goes on from it."""
    return label.startswith(other) and label[len(other) : len(other) + 1] in ("", ".", "[")


def for_each(
    caller: str, tree: Any, name: str, function: Callable[..., Any], *columns: Any
) -> list[Any]:
    """Return function(*row) for each leaf of a tree; an error names the caller and the leaf."""
    results = []
    for i, row in enumerate(zip(*columns, strict=True)):
        try:
            results.append(function(*row))
        except (TypeError, ValueError) as error:
            error.args = (f"{caller}: {labels(tree, name)[i]}: {error}",)
            raise
    return results


def traced(value: Any) -> bool:
    """Whether a tape records a tensor now."""
    if type(value) is np.ndarray:
        return False
    if type(value) is Block:
        value = value.values
    if isinstance(value, Selection):
        value = value.get()
    return type(value) is Tensor and is_traced(value)


def raw(value: Any) -> Any:
    """Return the raw array of a leaf, which is not to be written to."""
    if type(value) is np.ndarray:
        return value
    if isinstance(value, Selection):
        value = value.get()
    if isinstance(value, Variable):
        value = value._value  # not .value(): to a tape, that would be a read
    if type(value) is Tensor:
        return value._raw
    if backends.namespace_of(value) is not None:
        return backends.plain(value)
    if type(value) in SCALARS:
        return np.asarray(value)
    raise TypeError(f"got {type(value).__name__}; expected a tensor, an array or a variable")


def tensor(value: Any) -> Tensor:
    """Return a leaf as a tensor, to be recorded."""
    if isinstance(value, Selection):
        return value.get()
    return value if type(value) is Tensor else wrap(backends.protected(raw(value)))


def each_once(g: Block) -> Block:
    """Return the block with each position once, its values added up."""
    axis = g.rows
    if axis is None:
        return g
    rows, index = np.unique(g.region[axis], return_inverse=True)
    if len(rows) == len(index):
        return g
    values = g.values
    xp: Any = values._namespace if type(values) is Tensor else backends.namespace_of(values)
    region = (*g.region[:axis], rows, *g.region[axis + 1 :])
    key = (slice(None),) * axis + (index,)
    return Block(g.shape, region, xp.scatter(values, shape=sizes(region), key=key))


def check_inexact(array: Any) -> None:
    """Raise if an array is of numbers that have no derivative."""
    if not backends.is_inexact(array.dtype):
        raise DtypeError(
            f"got {array.dtype} of shape {tuple(array.shape)}; derivatives exist for floating and "
            "complex numbers, so write wg.astype(x, wg.float64)"
        )


def like(result: Any, given: Any) -> Any:
    """Return a raw array that nobody else holds as the kind of array that was given."""
    if type(result) is Tensor:  # recorded
        return result
    if type(given) is Tensor or isinstance(given, (Variable, Selection)):
        return wrap(result)
    if isinstance(given, np.ndarray):
        return np.asarray(result)
    is_number = isinstance(given, np.generic) or backends.namespace_of(given) is None
    return result[()] if is_number else result
