"""Memory that nobody has written to starts as NaN, or as a large odd integer.

Memory from `np.empty` is often zero by luck, so a program that reads it is right on one machine
and wrong on the next. Inside of `poisoned()` it is never right.

What it reaches: `np.empty` and `np.empty_like`, as names of NumPy and under any name that a module
of ours has given them. Buffers that NumPy's own functions make inside are not reached.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np

_EMPTY, _EMPTY_LIKE = np.empty, np.empty_like


def fill(array: Any) -> Any:
    """Return an array with what it holds replaced by numbers that nothing should be."""
    if isinstance(array, np.ndarray) and array.dtype.kind in "fciumM":
        if array.dtype.kind in "fc":
            array.fill(complex(np.nan, np.nan) if array.dtype.kind == "c" else np.nan)
        elif array.dtype.kind in "iu":
            array.fill(np.iinfo(array.dtype).max - 12)  # odd: the largest number is odd
    elif isinstance(array, np.ndarray) and array.dtype.kind == "b":
        array.fill(True)
    return array


@wraps(_EMPTY)  # its documentation, too: numpy.ma reads that when it is imported
def empty(*args: Any, like: Any = None, **kwargs: Any) -> Any:
    if like is not None:  # NumPy would hand on the function that is called np.empty now
        return like.__array_function__(_EMPTY, (type(like),), args, kwargs)
    return fill(_EMPTY(*args, **kwargs))


@wraps(_EMPTY_LIKE)
def empty_like(*args: Any, **kwargs: Any) -> Any:
    return fill(_EMPTY_LIKE(*args, **kwargs))


#: What NumPy's own functions are, by the ones that stand in for them.
ORIGINALS: dict[Any, Any] = {empty: _EMPTY, empty_like: _EMPTY_LIKE}


def _names(package: str) -> Iterator[tuple[Any, str, Any]]:
    """Yield (module, name, poisoned function) for each name of the two functions."""
    for name, module in list(sys.modules.items()):
        if module is not None and name.partition(".")[0] == package:
            for key, value in list(vars(module).items()):
                if value is _EMPTY or value is _EMPTY_LIKE:
                    yield module, key, empty if value is _EMPTY else empty_like


@contextmanager
def poisoned(package: str = "wengert") -> Iterator[None]:
    """Poison new memory, for NumPy and for modules of a package that hold its functions."""
    if np.empty is empty:  # it is on already
        yield
        return
    places = [(np, "empty", empty), (np, "empty_like", empty_like), *_names(package)]
    for namespace in _namespaces():  # looks a name up once, in a library that has its own copy
        places += [(namespace, "empty", empty), (namespace, "empty_like", empty_like)]
    kept = [(place, name, getattr(place, name)) for place, name, _ in places]
    for place, name, function in places:
        setattr(place, name, function)
    try:
        yield
    finally:
        for place, name, function in kept:
            setattr(place, name, function)


def _namespaces() -> list[Any]:
    """Return the namespaces that look functions of NumPy up by name."""
    backends = sys.modules.get("wengert.backends")
    return [] if backends is None else [backends.NUMPY]
