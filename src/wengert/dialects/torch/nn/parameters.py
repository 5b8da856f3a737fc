"""Parameter and Buffer: tensors that a module keeps by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.torch import dtypes
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import (
    Tensor,
    WithLateMethods,
    check_differentiable,
    check_normal,
    leaf,
    made,
)


class Parameter(Tensor):
    """A tensor that a module learns."""

    shown = "torch.nn.parameter.Parameter"

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        """Return a leaf with the memory of a tensor."""
        parameter = object.__new__(cls)
        parameter._raw = _array_of(data, "Parameter")
        parameter._node = None
        if requires_grad:  # also under no_grad
            check_differentiable(parameter._raw.dtype)
            check_normal(data)
            parameter._node = leaf(parameter)
        return parameter

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(made(self._raw.copy("K")), self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self._raw, self.requires_grad)


def _rebuilt(cls: Any, raw: np.ndarray, requires_grad: bool) -> Any:
    return cls(made(raw), requires_grad)


def _array_of(data: Any, name: str) -> Any:
    if data is None:
        return np.empty(0, dtypes.default().numpy)
    if not isinstance(data, Tensor):
        raise AttributeError(
            f"{name}() takes a tensor, and a '{type(data).__name__}' object has no attribute "
            "'detach'; write torch.tensor(x)"
        )
    return data._raw


class _BufferMeta(WithLateMethods):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a module keeps and does not learn; `persistent` if it is saved with it."""

    shown = "torch.nn.parameter.Buffer"

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        """Return a plain tensor with the memory of another, known as a buffer."""
        buffer: Any = made(_array_of(data, "Buffer"))
        if data is not None and data.requires_grad:
            buffer.requires_grad_()
        buffer.persistent, buffer._is_buffer = persistent, True
        return buffer


put(("nn.Parameter", "nn.parameter.Parameter"), Parameter)
put(("nn.Buffer", "nn.parameter.Buffer"), Buffer)
