"""Tensors' attributes and methods that belong to autograd."""

from __future__ import annotations

import weakref
from typing import Any

from wengert.dialects.torch import grad_fns, gradients, memory
from wengert.dialects.torch.table import plain, put
from wengert.dialects.torch.tensors import Leaf, Tensor, made
from wengert.explain.watchers import noted

put(("Tensor.grad_fn",), property(grad_fns.grad_fn))
put(("Tensor.output_nr",), property(grad_fns.output_nr))
put(("Tensor.retain_grad",), gradients.retain_grad)
put(("autograd.grad",), gradients.grad)
put(("autograd.backward",), gradients.backward)
put(("Tensor._version",), property(memory.version))


@plain("Tensor.backward")
def backward(
    self: Tensor, gradient: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, inputs: Any = None,
) -> None:  # fmt: skip
    """Add the gradients of this tensor to the leaves that it was computed from."""
    gradients.backward(self, gradient, retain_graph, create_graph, inputs=inputs)


@plain("detach", "Tensor.detach")
def detach(input: Tensor) -> Tensor:
    """Return a tensor of the same memory that was not computed from anything."""
    if not isinstance(input, Tensor):
        raise TypeError(f"detach(): input is a {type(input).__name__}; give a tensor")
    shared = made(input._raw)
    base = memory.base_of(input)
    shared._origin = base._origin or weakref.ref(base)
    if base._inference:
        shared._inference = True
    return noted("detach", shared, input)


def _data(self: Tensor) -> Tensor:
    """Return the same memory in a tensor that nothing is recorded for; its writes go unseen."""
    return noted(".data", made(memory.unlinked(self._raw)), self)


def _set_data(self: Tensor, value: Tensor) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f".data takes a tensor, and a {type(value).__name__} was given")
    self._raw = value._raw
    if value._inference or self._inference:
        self._inference = value._inference
    if type(self._node) is Leaf:
        self._node.shape, self._node.dtype = self._raw.shape, self._raw.dtype


put(("Tensor.data",), property(_data, _set_data))


@plain("detach_", "Tensor.detach_")
def detach_(input: Tensor) -> Tensor:
    """Have a tensor forget what it was computed from, and return it."""
    if input._base is not None:
        raise RuntimeError("detach_() of a view would change its base too; write x.detach()")
    input._node = None
    return input


put(("Tensor.retains_grad",), property(lambda self: self._retains and self.requires_grad))


@plain("Tensor._is_view")
def _is_view(self: Tensor) -> bool:
    """Return whether it shares a tensor's memory and history; inference tensors have none."""
    return self._base is not None and not self._base._inference
