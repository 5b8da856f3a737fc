"""vspace: the space that a value lives in, with its zeros, ones and products."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from wengert.dialects.autograd.borders import values
from wengert.engine.errors import DtypeError
from wengert.trees import flatten, map_leaves, paths


class VSpace:
    """The space of an array, a number, or a nest of them in lists, tuples and dicts.

    `shape` and `dtype` are those of the array; for a nest, nests of them.
    """

    def __init__(self, value: Any) -> None:
        value = values(value)
        leaves, self._rebuild = flatten(value)
        self._leaves = [np.asarray(leaf) for leaf in leaves]
        for array, leaf in zip(self._leaves, leaves, strict=True):
            if array.dtype.kind not in "fciu" or type(leaf) in (bool, int):
                raise DtypeError(
                    f"vspace: got {type(leaf).__name__} {leaf!r}; expected floating or complex "
                    "numbers, arrays, or nests of them"
                )
        self._paths = paths(value)
        self.shape = self._rebuild([a.shape for a in self._leaves])
        self.dtype = self._rebuild([a.dtype for a in self._leaves])

    @property
    def ndim(self) -> int:
        """The number of axes, of an array."""
        return len(self.shape)

    @property
    def iscomplex(self) -> bool:
        """Whether there are complex numbers."""
        return any(a.dtype.kind == "c" for a in self._leaves)

    @property
    def size(self) -> int:
        """The number of real dimensions: two for a complex number."""
        return sum(a.size * (2 if a.dtype.kind == "c" else 1) for a in self._leaves)

    def zeros(self) -> Any:
        """Return the zero."""
        return self._rebuild([np.zeros_like(a) for a in self._leaves])

    def ones(self) -> Any:
        """Return ones; 1 + 1j where numbers are complex."""
        return self._rebuild([np.full_like(a, _one(a)) for a in self._leaves])

    def randn(self) -> Any:
        """Return normal random numbers from NumPy's global generator."""
        return self._rebuild([_normal(a) for a in self._leaves])

    def standard_basis(self) -> Iterator[Any]:
        """Yield the vectors of a basis; for a complex number there are two, 1 and 1j."""
        for k, array in enumerate(self._leaves):
            for index in np.ndindex(*array.shape):
                for unit in (1, 1j) if array.dtype.kind == "c" else (1,):
                    vector = [np.zeros_like(a) for a in self._leaves]
                    vector[k][index] = unit
                    yield self._rebuild(vector)

    def add(self, x: Any, y: Any) -> Any:
        """Return x + y."""
        return self._rebuild([a + b for a, b in zip(flatten(x)[0], flatten(y)[0], strict=True)])

    def mut_add(self, x: Any, y: Any) -> Any:
        """Return x + y; x may be None for zero. Unlike in `autograd`, x is not written to."""
        return self.add(self.zeros() if x is None else x, y)

    def scalar_mul(self, x: Any, a: Any) -> Any:
        """Return x times a number."""
        return map_leaves(lambda leaf: leaf * a, x)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """Return the real inner product."""
        pairs = zip(flatten(x)[0], flatten(y)[0], strict=True)
        return sum(np.real(np.sum(np.conj(a) * b)) for a, b in pairs)

    def covector(self, x: Any) -> Any:
        """Return the vector as a covector, and back: its conjugate."""
        return map_leaves(lambda leaf: np.conj(leaf) if np.iscomplexobj(leaf) else leaf, x)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, VSpace)
            and self._paths == other._paths
            and [(a.shape, a.dtype) for a in self._leaves]
            == [(a.shape, a.dtype) for a in other._leaves]
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"VSpace(shape={self.shape}, dtype={self.dtype})"

    @classmethod
    def register(cls, value_type: type, vspace_maker: Any = None) -> NoReturn:
        """Raise: a class takes part in nests by being a dataclass, or through `optree`."""
        raise TypeError(
            f"VSpace.register({value_type.__name__}): make the class a dataclass, or register it "
            "as a nest with optree.register_pytree_node"
        )


def _one(array: np.ndarray) -> complex:
    return 1 + 1j if array.dtype.kind == "c" else 1


def _normal(array: np.ndarray) -> Any:
    drawn: Any = np.asarray(np.random.randn(*array.shape))
    if array.dtype.kind == "c":
        drawn = drawn + 1j * np.asarray(np.random.randn(*array.shape))
    return drawn.astype(array.dtype)


def vspace(value: Any) -> VSpace:
    """Return the space that a value lives in.

    Examples
    --------
    >>> from wengert.autograd.extend import vspace
    >>> vspace([1.0, 2j]).ones()
    [array(1.), array(1.+1.j)]
    """
    return VSpace(value)
