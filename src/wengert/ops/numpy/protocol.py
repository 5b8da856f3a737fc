"""NumPy's own functions on tensors: np.sin(x), np.sum(x, axis=0), array + x.

NumPy asks a tensor, by `__array_ufunc__` and `__array_function__`, to do what its function
would do. The answer is in two tables: `ufuncs` and `functions`. What is in
neither is refused, because NumPy's own would go on with values and lose the derivative.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.engine.tensor import Tensor
from wengert.errors import NoRuleError
from wengert.ops import special_ufuncs
from wengert.ops.numpy.ufuncs import METHODS, UFUNCS, Function, in_dtype, is_tensor, numpy_dtype
from wengert.ops.shapes import tensor
from wengert.ops.variable import Variable

#: Parameters that may have any value, because they say how to compute and not what.
_SETTINGS = {
    "assume_unique", "device", "kind", "like", "optimize", "order", "overwrite_input", "subok",
}  # fmt: skip
#: What to write where there is no rule, if it is known.
_INSTEAD = {
    "clip": "np.clip(a, low, high), the function in place of the method",
    "histogram": "np.bincount(np.digitize(x.numpy(), edges), weights)",
    "intersect1d": "x[np.isin(x, y)]",
    "setdiff1d": "x[~np.isin(x, y)]",
    "union1d": "np.unique(np.concatenate([x, y]))",
    **dict.fromkeys(
        ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"),
        "y = x.at[key].set(values), which leaves x as it is",
    ),
    "at": "y = x.at[key].add(values), or another method of x.at[key]",
}


def _no_rule(function: Any, method: str = "__call__") -> NoRuleError:
    plain = function.__name__
    module = (getattr(function, "__module__", None) or "numpy").replace("numpy", "np", 1)
    is_numpy = not isinstance(function, np.ufunc) or getattr(np, plain, None) is function
    name = f"{module}.{plain}" if is_numpy else f"the ufunc {plain}"
    if not is_numpy and special_ufuncs.is_special(function):
        name = f"scipy.special.{plain}"
    if method != "__call__":
        plain, name = method, f"{name}.{method}"
    return NoRuleError(
        f"{name}: wengert has no rule for it on tensors. Write "
        f"{_INSTEAD.get(plain, 'a composition of other functions')}, or give it a gradient with "
        f"wg.custom_gradient; if no derivative is needed, call it on x.numpy()"
    )


def _refuse_out(name: str, out: Any) -> None:
    if any(map(is_tensor, out if isinstance(out, tuple) else (out,))):
        raise TypeError(
            f"{name}: out= is a tensor, whose array is never written to; write y = {name}(...)"
        )
    raise TypeError(
        f"{name}: out= would write a tensor's values into an array, where derivatives do not "
        f"follow; write y = {name}(...). `a += x` on an array a is such a call: write a = a + x"
    )


# -- ufuncs -----------------------------------------------------------------------------------


def _array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **params: Any) -> Any:
    if not all(map(_is_known, inputs)):
        return NotImplemented
    if method == "__call__" and not params and ufunc in UFUNCS:
        return UFUNCS[ufunc](*inputs)
    special = special_ufuncs.answer(ufunc)
    home = "np" if special is None else "scipy.special"
    name = f"{home}.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
    if params.get("out") is not None:
        _refuse_out(name, params["out"])
    if method == "__call__" and special is not None:
        return _with_settings(name, special, inputs, params)
    if ufunc not in METHODS.get(method, ()):
        raise _no_rule(ufunc, method)
    return _with_settings(name, METHODS[method][ufunc], inputs, params)


def _is_known(value: Any) -> bool:
    """Whether wengert computes with a value; if not, its own __array_ufunc__ gets its turn."""
    kind = type(value)
    if kind in (Tensor, np.ndarray, float, int) or not hasattr(kind, "__array_ufunc__"):
        return True
    if isinstance(value, np.ndarray):
        return kind.__array_ufunc__ is np.ndarray.__array_ufunc__
    return is_tensor(value) or backends.namespace_of(value) is not None


def _with_settings(name: str, function: Function, inputs: Any, params: dict[str, Any]) -> Any:
    """Call a function with keywords: its own, and those that every ufunc takes."""
    own = inspect.signature(function).parameters
    defaults = {"out": None, "casting": "same_kind", "order": "K", "subok": True, "where": True}
    for keyword in [k for k in params if k not in own]:
        value = params.pop(keyword)
        if keyword == "dtype":
            inputs = [_cast(name, x, value) for x in inputs]
        elif keyword == "where" and value is not True:
            raise TypeError(
                f"{name}: where= leaves elements as they happen to be in memory; write "
                f"np.where(mask, {name}(...), other)"
            )
        elif keyword not in defaults or not _equal(value, defaults[keyword]):
            raise TypeError(
                f"{name}: {keyword}={value!r} is not supported on tensors; leave it out"
            )
    return function(*inputs, **params)


def _cast(name: str, x: Any, dtype: Any) -> Any:
    """Return an input in the dtype that a ufunc is asked to compute in."""
    if dtype is None or type(x) in (bool, int, float, complex):
        return x
    given = numpy_dtype(tensor(x, name))
    if not np.can_cast(given, dtype, "same_kind"):
        raise TypeError(f"{name}: dtype={dtype!r} for an input of {given}; write wg.astype first")
    return in_dtype(x, dtype)


# -- functions --------------------------------------------------------------------------------


def _array_function(self: Any, function: Any, types: Any, args: Any, params: Any) -> Any:
    if not all(map(_is_known_type, types)):
        return NotImplemented
    ours = functions().get(function)
    if ours is None:
        raise _no_rule(function)
    known = _parameters(function, ours)
    if known is None or (len(args) == 1 and not params):
        return ours(*args, **params)
    given = dict(zip(known.order, args, strict=False))  # NumPy has checked that they fit
    given.update(params)
    positional = [given.pop(name) for name in known.first if name in given]
    positional.extend(args[len(known.order) :])
    named: dict[str, Any] = {}
    cast = None
    for name, value in given.items():
        default = known.defaults.get(name, known)  # `known` is no value that anyone gives
        if value is default or (name == "where" and value is True):
            continue
        if name == "out":
            _refuse_out(f"np.{function.__name__}", value)
        elif known.names is None or name in known.names:
            named[name] = value
        elif name == "dtype":
            cast = value
        elif name not in _SETTINGS and not _equal(value, default):
            raise TypeError(
                f"np.{function.__name__}: {name}={value!r} is not supported on tensors; leave it "
                "out, or call the function on x.numpy() if no derivative is needed"
            )
    result = ours(*positional, **named)
    return result if cast is None else in_dtype(result, cast)


@functools.cache
def functions() -> dict[Any, Function]:
    """Return the table of functions, which is loaded when the first of them is called."""
    from wengert.ops.numpy.functions import FUNCTIONS

    return FUNCTIONS


def _is_known_type(kind: Any) -> bool:
    if issubclass(kind, np.ndarray):
        return kind.__array_function__ is np.ndarray.__array_function__
    return kind is Tensor or hasattr(kind, "__wengert_tensor__")


def _equal(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


class _Parameters(NamedTuple):
    """How to call a function of ours with what NumPy's was called with."""

    order: tuple[str, ...]  # what NumPy takes by position
    first: tuple[str, ...]  # which of these ours takes by position
    names: set[str] | None  # which ours takes by name; None if any
    defaults: dict[str, Any]  # NumPy's


@functools.cache
def _parameters(numpy_function: Any, ours: Any) -> _Parameters | None:
    """Return how to call; None for functions in C, of which older NumPys know no signature."""
    try:
        theirs = list(inspect.signature(numpy_function).parameters.values())
    except ValueError:
        return None
    mine = list(inspect.signature(ours).parameters.values())
    order = tuple(p.name for p in theirs if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
    count = max(sum(p.kind is p.POSITIONAL_ONLY for p in side) for side in (mine, theirs))
    names = {p.name for p in mine if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    any_name = any(p.kind is p.VAR_KEYWORD for p in mine)
    defaults = {p.name: p.default for p in theirs}
    return _Parameters(order, order[:count], None if any_name else names, defaults)


def install() -> None:
    """Make NumPy's functions call ours."""
    classes: tuple[Any, ...] = (Tensor, Variable)
    for cls in classes:
        cls.__array_ufunc__ = _array_ufunc
        cls.__array_function__ = _array_function
