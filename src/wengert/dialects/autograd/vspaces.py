"""vspace: the space that a value lives in, with its zeros, ones and products."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NoReturn

import numpy as np

from wengert import backends
from wengert.dialects.autograd.borders import values
from wengert.dialects.autograd.boxes import boxed, getval
from wengert.errors import DtypeError
from wengert.trees import flatten, map_leaves, paths


class VSpace:
    """A space of values. That of a program's own class is derived from it.

    Such a class has the methods `zeros`, `_add` and `_scalar_mul`, and others as they are needed.
    """

    mappings: ClassVar[dict[type, Callable[[Any], VSpace]]] = {}
    iscomplex: Any = False

    def __init__(self, value: Any) -> None:
        """Take what the space needs to know of a value."""

    def _lacks(self, name: str) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} has no method {name}; write one")

    def zeros(self) -> Any:
        """Return the zero."""
        self._lacks("zeros")

    def ones(self) -> Any:
        """Return ones."""
        self._lacks("ones")

    def randn(self) -> Any:
        """Return random numbers."""
        self._lacks("randn")

    def standard_basis(self) -> Iterator[Any]:
        """Yield the vectors of a basis."""
        self._lacks("standard_basis")

    def add(self, x: Any, y: Any) -> Any:
        """Return x + y."""
        return _add(self, x, y)

    def mut_add(self, x: Any, y: Any) -> Any:
        """Return x + y; x may be None for zero. Unlike in `autograd`, x is not written to."""
        return _add(self, self.zeros() if x is None else x, y)

    def scalar_mul(self, x: Any, a: Any) -> Any:
        """Return x times a number."""
        return _scalar_mul(self, x, a)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """Return the real inner product."""
        return _inner_prod(self, x, y)

    def covector(self, x: Any) -> Any:
        """Return the vector as a covector, and back."""
        return _covector(self, x)

    def _add(self, x: Any, y: Any) -> Any:
        return x + y

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return x * a

    def _inner_prod(self, x: Any, y: Any) -> Any:
        self._lacks("_inner_prod")

    def _covector(self, x: Any) -> Any:
        return x

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({vars(self)})"

    @classmethod
    def register(cls, value_type: type, vspace_maker: Any = None) -> None:
        """Have values of a class be in spaces of this class, or in what `vspace_maker` returns."""
        VSpace.mappings[value_type] = vspace_maker or cls


@boxed
def _add(space: VSpace, x: Any, y: Any) -> Any:
    return space._add(x, y)


@boxed
def _scalar_mul(space: VSpace, x: Any, a: Any) -> Any:
    return space._scalar_mul(x, a)


@boxed
def _inner_prod(space: VSpace, x: Any, y: Any) -> Any:
    return space._inner_prod(x, y)


@boxed
def _covector(space: VSpace, x: Any) -> Any:
    return space._covector(x)


#: Cotangents of arguments, for spaces of a program's own.
_add.pulls = {1: lambda g, *_: g, 2: lambda g, *_: g}
_scalar_mul.pulls = {
    1: lambda g, space, x, a: space.covector(space.scalar_mul(space.covector(g), a)),
    2: lambda g, space, x, a: space.inner_prod(g, space.covector(x)),
}
_inner_prod.pulls = {
    1: lambda g, space, x, y: space.covector(space.scalar_mul(y, g)),
    2: lambda g, space, x, y: space.covector(space.scalar_mul(x, g)),
}
_covector.pulls = {1: lambda g, space, x: space.covector(g)}
for _function in (_add, _scalar_mul, _inner_prod, _covector):
    _function.__name__ = _function.__name__.removeprefix("_")


class NestVSpace(VSpace):
    """The space of an array, a number, or a nest of them in lists, tuples and dicts.

    `shape` and `dtype` are those of the array; for a nest, nests of them.
    """

    def __init__(self, value: Any) -> None:
        value = values(value)
        leaves, self._rebuild = flatten(value)
        self._leaves = [np.asarray(leaf) for leaf in leaves]
        for array, leaf in zip(self._leaves, leaves, strict=True):
            if backends.kind_of(array.dtype) not in "fciu" or type(leaf) in (bool, int):
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

    def _add(self, x: Any, y: Any) -> Any:
        return self._rebuild([a + b for a, b in zip(flatten(x)[0], flatten(y)[0], strict=True)])

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return map_leaves(lambda leaf: leaf * a, x)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        pairs = zip(flatten(x)[0], flatten(y)[0], strict=True)
        return sum(np.real(np.sum(np.conj(a) * b)) for a, b in pairs)

    def _covector(self, x: Any) -> Any:
        return map_leaves(lambda leaf: np.conj(leaf) if np.iscomplexobj(leaf) else leaf, x)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, NestVSpace)
            and self._paths == other._paths
            and [(a.shape, a.dtype) for a in self._leaves]
            == [(a.shape, a.dtype) for a in other._leaves]
        )

    __hash__ = None

    def __repr__(self) -> str:
        return f"VSpace(shape={self.shape}, dtype={self.dtype})"


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
    value = getval(value)
    make = VSpace.mappings.get(type(value), NestVSpace)
    return make(value)
