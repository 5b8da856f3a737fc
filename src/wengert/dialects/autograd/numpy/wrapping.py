"""How a function of NumPy becomes one that also takes lists with recorded numbers inside.

NumPy asks tensors that are arguments what to do, and Wengert answers. It does not look into lists,
so a list with tensors inside is made one tensor first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from wengert.dialects.autograd import boxes
from wengert.dialects.autograd.borders import has_tensor, joined, missing

#: Functions of a list of arrays, in which NumPy looks for tensors itself.
_OF_LISTS = frozenset(
    {"block", "column_stack", "concat", "concatenate", "dstack", "hstack", "lexsort", "multi_dot",
     "select", "stack", "vstack"}
)  # fmt: skip
#: Functions that say what an array is like, and are called on values.
_OF_VALUES = frozenset({"iscomplexobj", "isrealobj", "ndim", "result_type", "shape", "size"})
_UFUNC_ATTRIBUTES = (
    "accumulate", "at", "identity", "nargs", "nin", "nout", "outer", "reduce", "reduceat", "types",
)  # fmt: skip


def _parts_joined(value: Any) -> Any:
    return [joined(part) for part in value] if type(value) in (list, tuple) else value


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy that takes lists with tensors inside."""
    name = function.__name__
    prepared = _parts_joined if name in _OF_LISTS else joined

    @functools.wraps(function)
    def call(*args: Any, **params: Any) -> Any:
        if boxes.trace_stack.running and boxes.holds_box((args, params)):
            if name in _OF_VALUES:
                return function(*map(boxes.getval, args), **params)
            return boxes.record(call, args, params)
        return function(*map(prepared, args), **{k: prepared(v) for k, v in params.items()})

    if isinstance(function, np.ufunc):
        for attribute in _UFUNC_ATTRIBUTES:
            setattr(call, attribute, getattr(function, attribute))
    return call


def _of_values(kind: type) -> type:
    """Return a class of integers that takes the values of recorded arrays: indices, for example."""
    made = {"__new__": lambda cls, *args: kind(*map(boxes.getval, args))}
    return type(kind.__name__, (kind,), made)


def dispatching(theirs: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is `theirs` on plain arrays and `ours` on recorded ones."""

    @functools.wraps(theirs)
    def call(*args: Any, **params: Any) -> Any:
        if boxes.trace_stack.running and boxes.holds_box((args, params)):
            return boxes.record(call, args, params)
        if not has_tensor((*args, *params.values())):
            return theirs(*args, **params)
        return ours(*map(joined, args), **{k: joined(v) for k, v in params.items()})

    return call


def offering(
    module: ModuleType, names: dict[str, Any], wrap: Callable[..., Any] = wrapped
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a module that offers one of NumPy's.

    Functions are wrapped when they are first used, and kept among the names of the module.
    """

    def get(name: str) -> Any:
        if not hasattr(module, name) or (name.startswith("__") and name not in module.__all__):
            raise missing(names["__name__"], name, (*dir(module), *names))
        value = getattr(module, name)
        if isinstance(value, type) and issubclass(value, np.integer):
            names[name] = _of_values(value)
            return names[name]
        is_function = callable(value) and not isinstance(value, type) and hasattr(value, "__name__")
        names[name] = wrap(value) if is_function else value
        return names[name]

    return get, lambda: list(names["__all__"])
