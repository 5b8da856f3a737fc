"""Tensors' attributes and methods that belong to autograd and to Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.torch import gradients, memory
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Tensor, made

put(("Tensor.grad_fn",), property(gradients.grad_fn))
put(("Tensor.register_hook",), gradients.register_hook)
put(("autograd.grad",), gradients.grad)
put(("autograd.backward",), gradients.backward)
put(("Tensor._version",), property(memory.version))


def _method(function: Any) -> Any:
    put((f"Tensor.{function.__name__}",), function)
    return function


@_method
def backward(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of this tensor to the leaves that it was computed from."""
    gradients.backward(self, gradient, retain_graph, create_graph, inputs)


@_method
def detach(self: Tensor) -> Tensor:
    """Return a tensor of the same memory that was not computed from anything."""
    return made(self._raw)


@_method
def numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
    """Return the memory as a NumPy array."""
    if self.requires_grad and not force:
        raise RuntimeError(
            "can't call numpy() on a Tensor that requires grad; write x.detach().numpy()"
        )
    found: np.ndarray = self._raw
    return found


@_method
def item(self: Tensor) -> Any:
    """Return the only number, as Python's."""
    if self._raw.size != 1:
        raise RuntimeError(
            f"a Tensor with {self._raw.size} elements cannot be converted to Scalar; write "
            "x.tolist(), or x[index].item()"
        )
    return self._raw.item()
