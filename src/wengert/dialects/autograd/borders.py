"""Where programs of HIPS autograd meet Wengert: what goes in, what comes out, what is missing.

All that `autograd` does differently from Wengert, and that its programs would notice, is here:
results are plain NumPy arrays and scalars; cotangents of complex numbers are the conjugates of
Wengert's; functions of NumPy and SciPy are their own unless an argument is recorded.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from wengert.engine.batching import Batched
from wengert.engine.record import holds_tensor
from wengert.engine.tensor import Tensor
from wengert.ops.creation import asarray
from wengert.ops.numpy.ufuncs import is_tensor
from wengert.transforms.gradients import as_tensor, is_traced
from wengert.trees import map_leaves

#: What needs no search for arrays inside.
_LEAVES = frozenset({Tensor, np.ndarray, np.float64, float, complex})


def _each(function: Callable[[Any], Any], tree: Any) -> Any:
    return function(tree) if type(tree) in _LEAVES else map_leaves(function, tree)


def settled(tree: Any) -> Any:
    """Return results as `autograd` returns them: NumPy's arrays, and scalars where no axes are.

    Tensors that a tape around this one cares about stay what they are.
    """
    return _each(_settled, tree)


def _settled(leaf: Any) -> Any:
    if type(leaf) is Tensor:
        if is_traced(leaf) or type(leaf._raw) is Batched:
            return leaf
        leaf = np.array(leaf.numpy())
    return leaf[()] if isinstance(leaf, np.ndarray) and not leaf.shape else leaf


def values(tree: Any) -> Any:
    """Return what recorded numbers are, as NumPy arrays and scalars."""
    return _each(_value, tree)


def _value(leaf: Any) -> Any:
    if not is_tensor(leaf):
        return leaf
    array = asarray(leaf).numpy()
    return array if array.shape else array[()]


def tensor_of(leaf: Any, what: str) -> Tensor:
    """Return a function's result, an array or a number, as a tensor."""
    if leaf is None or isinstance(leaf, (str, bytes)):
        raise TypeError(
            f"{what}: the function returned {leaf!r}; expected arrays or numbers, in any nest of "
            "lists, tuples and dicts"
        )
    return as_tensor(leaf, what)


def is_complex(leaf: Any) -> bool:
    """Return whether an array or a number is complex."""
    dtype = getattr(leaf, "dtype", None)
    return np.iscomplexobj(leaf) if dtype is None else np.dtype(dtype).kind == "c"


def conjugated(tree: Any) -> Any:
    """Return cotangents between the two conventions: conjugates, of what is complex.

    For a real function L of z = a + ib, `autograd` returns dL/da - i dL/db and Wengert
    dL/da + i dL/db. For a holomorphic step w = f(z), g becomes g f'(z) there and g conj(f'(z))
    here.
    """
    return _each(lambda leaf: np.conj(leaf) if is_complex(leaf) else leaf, tree)


def joined(value: Any) -> Any:
    """Return lists with tensors inside as one tensor; anything else as it is."""
    if type(value) in (list, tuple) and holds_tensor(value):
        return asarray(value)
    return value


def has_tensor(arguments: Iterable[Any]) -> bool:
    """Return whether an argument is a tensor, or a list with one inside."""
    return any(
        is_tensor(a) or (isinstance(a, (list, tuple)) and holds_tensor(a)) for a in arguments
    )


def missing(module: str, name: str, names: Iterable[str], why: str = "") -> AttributeError:
    """Return an error for a name that is not there, with the nearest that are."""
    module = module.replace(".dialects.", ".")  # the name by which programs import it
    near = difflib.get_close_matches(name, [n for n in names if not n.startswith("_")], n=3)
    nearest = f"; the nearest there are: {', '.join(near)}" if near else ""
    return AttributeError(
        f"module {module!r} has no attribute {name!r}{f'; {why}' if why else nearest}"
    )


def late(package: str, name: str, names: Iterable[str], why: str = "") -> Any:
    """Return a module of a package, which is imported when it is first used."""
    if name in names:
        return importlib.import_module(f"{package}.{name}")
    raise missing(package, name, names, why)
