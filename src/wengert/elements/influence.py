"""Derivatives of single elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.engine.cotangents import Block
from wengert.engine.tape import Tape
from wengert.engine.tensor import Tensor
from wengert.errors import ShapeError, cuts_shown, name_of
from wengert.ops.creation import asarray
from wengert.regions import whole


def influence(fun: Callable[..., Any], x: Any, *args: Any, of: Any, **params: Any) -> Block:
    """Return the gradient of the sum of ``fun(x, ...)[of]`` with respect to x, as a `Block`.

    The block's `index` is the receptive field of the elements, and `values` is the gradient there.
    This costs one call of the function, and a sweep over what lies between.

    Examples
    --------
    >>> import numpy as np
    >>> import wengert as wg
    >>> block = wg.influence(lambda x: x[1:] * x[:-1], np.arange(5.0), of=2)
    >>> block
    Block(shape=(5,), nonzero=[2:4], values=Tensor([3., 2.], dtype=float64))
    """
    x = asarray(x)
    inner = Tensor()
    inner._raw, inner._node = x._raw, None
    with Tape() as tape, cuts_shown:
        tape._token.transform = f"influence({name_of(fun)})"
        tape.watch(inner)
        y = fun(inner, *args, **params)
    if type(y) is not Tensor:
        raise ShapeError(f"influence: the function returned {type(y).__name__}; expected a tensor")
    found = tape.gradient(y.at[of], inner, unconnected_gradients="zero", dense=False)
    if type(found) is Block:
        return found
    return Block(x.shape, whole(x.shape), found if type(found) is Tensor else found.todense())
