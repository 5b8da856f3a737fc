"""What a function of Keras's symbolic tensors returns: found by calling it on arrays of two sizes.

Keras's TensorFlow backend traces a graph in which some lengths are not known. Here there are no
graphs. A length that is not known is one number in a first call and another in a second one; where
lengths of results differ, they are not known either.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.settings import RAGGED, SPARSE
from wengert.dialects.tensorflow.tensors import is_like_tensor, made

#: What the first axis is in the two calls, usually a batch, and other axes: enough for windows.
_FIRST, _OTHER = (5, 7), (83, 89)


def compute_output_spec(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return what a function returns for symbolic tensors, with symbolic tensors for tensors."""
    backend = importlib.import_module("keras.src.backend")
    tree = importlib.import_module("keras.src.tree")
    kind, given = backend.KerasTensor, tree.flatten((args, kwargs))
    with backend.StatelessScope(), backend.SymbolicScope():
        found = []
        for sizes in zip(_FIRST, _OTHER, strict=True):
            leaves = [_zeros(x, *sizes) if isinstance(x, kind) else x for x in given]
            some_args, options = tree.pack_sequence_as((args, kwargs), leaves)
            found.append(fn(*some_args, **options))
            if all(None not in x.shape for x in given if isinstance(x, kind)):
                found = found * 2
                break
        pairs = zip(*map(tree.flatten, found), strict=True)
        return tree.pack_sequence_as(found[0], [_symbolic(kind, *pair) for pair in pairs])


def _zeros(x: Any, first: int, other: int) -> Any:
    """Return a tensor of a symbolic one's dtype, with lengths for those that are not known."""
    if x.sparse or x.ragged:
        raise NotImplementedError(f"{x}: {SPARSE if x.sparse else RAGGED}")
    shape = [first if n is None else n for n in x.shape[:1]]
    shape += [other if n is None else n for n in x.shape[1:]]
    if x.dtype == "string":
        return made(np.full(shape, b"", object))
    return made(np.broadcast_to(np.zeros((), x.dtype), shape))


def _symbolic(kind: Any, one: Any, other: Any) -> Any:
    """Return what two results of a function have in common, if they are tensors."""
    if is_like_tensor(one):
        lengths = list(_lengths(one.shape, other.shape))
        return kind(lengths, one.dtype.name)
    if type(one) is int and one != other:
        return kind((), "int32")
    return one


def _lengths(one: Any, other: Any) -> Iterator[int | None]:
    if len(one) != len(other):
        raise ValueError(
            f"a function returned tensors of shapes {tuple(one)} and {tuple(other)} for inputs of "
            "two lengths; the number of axes must not depend on a length"
        )
    return (n if n == m else None for n, m in zip(one, other, strict=True))
