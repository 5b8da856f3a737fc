"""NumPy's own functions on tensors: np.sin(x), np.sum(x, axis=0), array + x.

NumPy asks a tensor, by `__array_ufunc__` and `__array_function__`, to do what its function
would do. The answer is in two tables: `numpy_ufuncs` and `numpy_functions`. What is in
neither is refused, because NumPy's own would go on with values and lose the derivative.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.errors import NoRuleError
from wengert.engine.tensor import Tensor
from wengert.engine.variable import Variable
from wengert.ops.numpy_functions import FUNCTIONS
from wengert.ops.numpy_ufuncs import METHODS, UFUNCS, Function, in_dtype, is_tensor
from wengert.ops.shapes import tensor

#: Parameters that may have any value, because they say how to compute and not what.
_SETTINGS = {
    "assume_unique", "device", "kind", "like", "optimize", "order", "overwrite_input", "subok",
}  # fmt: skip
#: What to write where there is no rule, if it is known.
_INSTEAD = {
    "apply_along_axis": "np.stack([f(part) for part in x])",
    "choose": "np.select or np.take_along_axis",
    "clip": "np.clip(a, low, high), the function in place of the method",
    "geomspace": "np.exp(np.linspace(np.log(a), np.log(b), n))",
    "insert": "np.concatenate of the parts",
    "piecewise": "np.where or np.select",
    "vander": "x[:, None] ** np.arange(n)",
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
    if method != "__call__":
        plain, name = method, f"{name}.{method}"
    return NoRuleError(
        f"{name}: wengert has no rule for it on tensors. Write "
        f"{_INSTEAD.get(plain, 'a composition of other functions')}, or give it a gradient with "
        f"wg.custom_gradient; if no derivative is needed, call it on x.numpy()"
    )


def _refuse_out(name: str, out: Any) -> None:
    if any(map(is_tensor, out if isinstance(out, tuple) else (out,))):
        raise TypeError(f"{name}: out= is a tensor, which is immutable; write y = {name}(...)")
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
    name = f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
    if params.get("out") is not None:
        _refuse_out(name, params["out"])
    if ufunc not in METHODS.get(method, ()):
        raise _no_rule(ufunc, method)
    return _with_settings(name, METHODS[method][ufunc], inputs, params)


def _is_known(value: Any) -> bool:
    """Whether wengert computes with a value; if not, it may have its own __array_ufunc__."""
    kind = type(value)
    if kind in (Tensor, np.ndarray, float, int) or not hasattr(kind, "__array_ufunc__"):
        return True
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
    given = tensor(x, name).numpy().dtype
    if not np.can_cast(given, dtype, "same_kind"):
        raise TypeError(f"{name}: dtype={dtype!r} for an input of {given}; write wg.astype first")
    return in_dtype(x, dtype)


# -- functions --------------------------------------------------------------------------------


def _array_function(self: Any, function: Any, types: Any, args: Any, params: Any) -> Any:
    if not all(_is_known_type(t) for t in types):
        return NotImplemented
    if function not in FUNCTIONS:
        raise _no_rule(function)
    ours = FUNCTIONS[function]
    signature, first, names = _parameters(function, ours)
    if signature is None or (len(args) == 1 and not params):
        return ours(*args, **params)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    cast = None
    for name, value in signature.bind(*args, **params).arguments.items():
        parameter = signature.parameters[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional.extend(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(value)
        elif name in first:
            positional.append(value)
        elif value is parameter.default or (name == "where" and value is True):
            continue
        elif name == "out":
            _refuse_out(f"np.{function.__name__}", value)
        elif names is None or name in names:
            named[name] = value
        elif name == "dtype":
            cast = value
        elif name not in _SETTINGS and not _equal(value, parameter.default):
            raise TypeError(
                f"np.{function.__name__}: {name}={value!r} is not supported on tensors; leave it "
                f"at {parameter.default!r}, or call it on x.numpy() if no derivative is needed"
            )
    result = ours(*positional, **named)
    return result if cast is None else in_dtype(result, cast)


def _is_known_type(kind: type) -> bool:
    return kind is Tensor or issubclass(kind, np.ndarray) or hasattr(kind, "__wengert_tensor__")


def _equal(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


@functools.cache
def _parameters(
    numpy_function: Any, ours: Any
) -> tuple[inspect.Signature | None, set[str], set[str] | None]:
    """Return NumPy's signature, which of its parameters go by position, and the names we take.

    The names are None where every name will do. Older versions of NumPy know no signature of
    their functions in C; those are called as the user did.
    """
    mine = inspect.signature(ours).parameters.values()
    names = {p.name for p in mine if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    every = any(p.kind is p.VAR_KEYWORD for p in mine)
    try:
        signature = inspect.signature(numpy_function)
    except ValueError:
        return None, set(), names
    theirs = signature.parameters.values()
    count = max(sum(p.kind is p.POSITIONAL_ONLY for p in side) for side in (mine, theirs))
    first = {p.name for p in list(theirs)[:count]}
    return signature, first, None if every else names


def install() -> None:
    """Make NumPy's functions call ours."""
    classes: tuple[Any, ...] = (Tensor, Variable)
    for cls in classes:
        cls.__array_ufunc__ = _array_ufunc
        cls.__array_function__ = _array_function
