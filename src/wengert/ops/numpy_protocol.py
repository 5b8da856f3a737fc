"""NumPy's own functions on tensors: np.sin(x), np.sum(x, axis=0), array + x."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.engine.errors import NoRuleError
from wengert.engine.tensor import Tensor
from wengert.engine.variable import Variable
from wengert.ops.namespace import PUBLIC

_UFUNCS: dict[Any, Any] = {
    getattr(np, name): function
    for name, function in PUBLIC.items()
    if isinstance(getattr(np, name, None), np.ufunc)
}


def _array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    function = _UFUNCS.get(ufunc)
    if function is None or method != "__call__" or kwargs:
        raise NoRuleError(f"np.{ufunc.__name__}: no rule")
    return function(*inputs)


def install() -> None:
    """Make NumPy's functions call ours."""
    for cls in (Tensor, Variable):
        cls.__array_ufunc__ = _array_ufunc  # type: ignore[attr-defined]
