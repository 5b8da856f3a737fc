"""autograd.misc.flatten: nests of arrays as one vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import trees
from wengert.dialects.autograd.borders import joined
from wengert.dialects.autograd.boxes import opened


def flatten(value: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return the numbers of a nest of arrays as one vector, and a function that makes a nest of it.

    Lists and tuples are taken in order, dicts by their sorted keys.

    Examples
    --------
    >>> import numpy as np
    >>> from wengert.autograd.misc import flatten
    >>> vector, unflatten = flatten({"b": 3.0, "a": np.ones((2, 1))})
    >>> vector
    array([1., 1., 3.])
    >>> unflatten(vector * 2)
    {'b': array(6.), 'a': array([[2.],
           [2.]])}
    """
    leaves, rebuild = trees.flatten(opened(value))
    if any(leaf is None for leaf in leaves):
        raise TypeError("flatten: there is a None in the nest; expected arrays and numbers")
    shapes = [np.shape(leaf) for leaf in leaves]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes], dtype=int)
    vector = np.concatenate([np.ravel(leaf) for leaf in leaves]) if leaves else np.array([])

    def unflatten(vector: Any) -> Any:
        vector = joined(vector)
        total = int(ends[-1]) if len(ends) else 0
        if np.shape(vector) != (total,):
            raise ValueError(f"unflatten: shape {np.shape(vector)}; expected ({total},)")
        starts = [0, *map(int, ends[:-1])]
        parts = [vector[i:j] for i, j in zip(starts, map(int, ends), strict=False)]
        return rebuild([np.reshape(p, s) for p, s in zip(parts, shapes, strict=True)])

    return vector, unflatten


def flatten_func(
    func: Callable[..., Any], example: Any
) -> tuple[Callable[..., Any], Callable[[Any], Any], Any]:
    """Return func as a function of vectors, the function from vectors to nests, and the vector."""
    vector, unflatten = flatten(example)

    def of_vectors(x: Any, *args: Any) -> Any:
        return flatten(func(unflatten(x), *args))[0]

    return of_vectors, unflatten, vector


__all__ = ["flatten", "flatten_func"]
