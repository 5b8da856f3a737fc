"""autograd.wrap_util: operators on functions of one argument, for functions of many."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from wengert.dialects.autograd.differential_operators import of_arguments as unary_to_nary


def wraps(
    fun: Any, namestr: str = "{fun}", docstr: str = "{doc}", **kwargs: Any
) -> Callable[[Any], Any]:
    """Return a decorator that names and describes a function after another one."""
    name, doc = getattr(fun, "__name__", "[unknown name]"), getattr(fun, "__doc__", "")

    def named(f: Any) -> Any:
        with contextlib.suppress(AttributeError, KeyError, ValueError, IndexError):
            f.__name__ = namestr.format(fun=name, **kwargs)
            f.__doc__ = docstr.format(fun=name, doc=doc, **kwargs)
        return f

    return named


__all__ = ["unary_to_nary", "wraps"]
