"""One call of a function under a tape, with results and derivatives as HIPS autograd has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.autograd.borders import conjugated, settled, tensor_of
from wengert.engine.tensor import Tensor, wrap
from wengert.transforms import gradients
from wengert.trees import flatten, map_leaves

Function = Callable[..., Any]


class Call(gradients.Call):
    """One call of `fun` at x, whose results are tensors."""

    def __init__(
        self, fun: Function, x: Any, what: str, has_aux: bool = False, again: bool = False
    ) -> None:
        super().__init__(fun, 0, has_aux, (x,), {}, what, persistent=again)
        self.result = map_leaves(lambda leaf: _floating(leaf, self.what), self.result)

    def leaves(self) -> list[Any]:
        """Return the arrays of the result."""
        return flatten(self.result)[0]

    def pulled(self, weights: Any = None) -> Any:
        """Return the cotangents of x, for those of the result, which are ones by default."""
        given = None if weights is None else conjugated(weights)
        return settled(conjugated(self.gradients(given)))

    def answer(self) -> Any:
        """Return the result."""
        return settled(self.outward(self.result))

    def more(self) -> Any:
        """Return what the function gave beside its result."""
        return settled(self.outward(self.aux))


def _floating(leaf: Any, what: str) -> Tensor:
    tensor = tensor_of(leaf, what)
    if backends.is_inexact(tensor.dtype):
        return tensor
    return wrap(np.asarray(tensor.numpy(), dtype=np.float64))
