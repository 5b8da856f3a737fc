"""Products kept as products: cotangents of matrices that are sums of products of factors.

The gradient of a weight by way of ``x @ w`` is a product of ``x`` and a cotangent. A sweep need
not multiply each of many small products out: it keeps the factors, and multiplies the factors of
many steps at once. A program that asks with ``dense=False`` gets the factors themselves. The
gradient of a bias that was added to rows is a sum of rows, and waits in the same way.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import backends
from wengert.backends.numpy_kernels import total
from wengert.engine.cotangents import Deferred
from wengert.engine.node import Node
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import ShapeError

#: Products of so few terms wait for more: to add matrices up takes longer than to multiply them.
FEW = 64
#: How many numbers may wait in factors before they are multiplied out: some megabytes.
_MANY = 1 << 20
#: How many arrays that were put together are kept for other weights of the same step.
_KEPT = 4
#: A product of so few numbers does not wait if its factors have more.
_SMALL = 1 << 11


class Products(Deferred):
    """The sum of products ``rows.T @ columns`` of pairs, and perhaps of a matrix, in a sweep.

    Without `rows`, it is the sum of the rows of NumPy's arrays `columns`.
    """

    __slots__ = ("base", "can_wait", "count", "dtype", "most", "pairs", "shape")

    def __init__(self, rows: Any, columns: Any) -> None:
        shape = columns.shape
        self.count = count = shape[0]  # each element is the sum of so many products
        self.shape = shape[1:] if rows is None else (rows.shape[1], shape[1])
        self.dtype = columns.dtype
        self.pairs = [(rows, columns)]
        self.base: Any = None  # what has been multiplied out
        self.can_wait = count <= FEW and type(columns) is not Tensor
        self.most = _MANY // (sum(self.shape) or 1)

    def multiply_out(self) -> None:
        """Have the sum of all products so far in place of their factors."""
        self.base, self.pairs, self.count = self.todense(), [], 0

    @property
    def T(self) -> Products:
        """The transpose."""
        if len(self.shape) < 2:
            return self
        turned = self._copy()
        turned.shape = self.shape[::-1]
        turned.pairs = [(columns, rows) for rows, columns in self.pairs]
        turned.base = None if self.base is None else self.base.T
        return turned

    def _copy(self) -> Products:
        copy = object.__new__(Products)
        for name in self.__slots__:
            setattr(copy, name, getattr(self, name))
        copy.pairs = [*self.pairs]
        return copy

    def __iadd__(self, other: Any) -> Any:
        if type(other) is not Products:
            return self.todense() + other
        if other.base is not None:
            self.base = other.base if self.base is None else self.base + other.base
        self.pairs += other.pairs
        self.count += other.count
        if self.count > self.most:
            self.multiply_out()
        return self

    def __add__(self, other: Any) -> Any:
        total = self._copy()
        total += other
        return total

    def __radd__(self, other: Any) -> Any:
        return other + self.todense()

    def __getitem__(self, key: Any) -> Any:
        if self.base is not None or len(key) < 2 or not all(type(k) is slice for k in key):
            return self.todense()[key]
        part = self._copy()
        part.pairs = [(rows[:, key[0]], columns[:, key[1]]) for rows, columns in self.pairs]
        return part.todense()

    def todense(self, xp: Any = None, joined: dict[Any, Any] | None = None) -> Any:
        """Return the matrix; `joined` has the factors that others have put together."""
        if not self.pairs:
            return self.base
        rows, columns = self._factors({} if joined is None else joined)
        if rows is None:
            product = total(columns, axis=0)
        else:
            product = rows.T.dot(columns) if type(rows) is np.ndarray else rows.T @ columns
        return product if self.base is None else self.base + product

    def _factors(self, joined: dict[Any, Any]) -> tuple[Any, Any]:
        if len(self.pairs) == 1:
            return self.pairs[0]
        rows, columns = zip(*self.pairs, strict=True)
        return None if rows[0] is None else _together(rows, joined), _together(columns, joined)

    def answer(self) -> Any:
        """Return the factors, if they have fewer numbers than the matrix, else the matrix."""
        if self.base is not None or self.count * sum(self.shape) >= math.prod(self.shape):
            return self.todense()
        rows, columns = self._factors({})
        return Factored(rows.T, columns)


def carried(rows: Any, columns: Any, parent: Node, sweep: Any) -> Any:
    """Return ``rows.T @ columns`` as a cotangent of a node; None if it was added to what waits.

    Without `rows`, it is the sum of the rows of `columns`. NotImplemented if the node's shape or
    dtype is another. A small product with fewer numbers than its factors is computed at once.
    """
    (count, m), dtype = columns.shape, parent.dtype
    if rows is None:
        shape: tuple[int, ...] = (m,)
    else:
        shape = n, _ = rows.shape[1], m
        if rows.dtype is not columns.dtype and rows.dtype != columns.dtype:
            return NotImplemented
    if shape != parent.shape or (columns.dtype is not dtype and columns.dtype != dtype):
        return NotImplemented
    held = sweep.waiting(parent)
    if type(held) is Products and count <= FEW:
        held.pairs.append((rows, columns))
        held.count += count
        if held.count > held.most:
            held.multiply_out()
        return None
    if type(rows) is np.ndarray and n * m <= _SMALL and n * m <= count * (n + m):
        return rows.T.dot(columns)
    return Products(rows, columns)


def _together(arrays: tuple[Any, ...], joined: dict[Any, Any]) -> Any:
    """Return arrays as one; what the cotangent of a sum brought to two weights is joined once."""
    found = joined.get(key := tuple(map(id, arrays)))
    if found is None:  # with the arrays, or others could come to have their ids
        found = joined[key] = _namespace(arrays[0]).concat(arrays, axis=0), arrays
        if len(joined) > _KEPT:
            del joined[next(iter(joined))]
    return found[0]


class Factored:
    """A matrix that is the product ``left @ right``, which nobody has multiplied out.

    It is what a tape answers with `dense=False` for the gradient of a weight in a product, if the
    factors have fewer numbers than the weight. Slices, the transpose, sums of two, multiples,
    products with arrays and the norm are computed from the factors.

    Parameters
    ----------
    left, right
        Matrices of shapes (n, k) and (k, m) and of one dtype: tensors, or arrays of any library.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> w = wg.Variable(np.ones((4096, 4096)))
    >>> with wg.GradientTape() as tape:
    ...     loss = wg.sum(wg.ones(4096) @ w)
    >>> g = tape.gradient(loss, w, dense=False)
    >>> g
    Factored(shape=(4096, 4096), terms=1, nbytes=65536)
    >>> g.norm()
    Tensor(4096., dtype=float64)
    """

    __slots__ = ("left", "right")
    ndim = 2

    def __init__(self, left: Any, right: Any) -> None:
        if not len(left.shape) == len(right.shape) == 2 or left.shape[1] != right.shape[0]:
            raise ShapeError(
                f"Factored: got factors of shapes {tuple(left.shape)} and {tuple(right.shape)}; "
                "expected matrices (n, k) and (k, m)"
            )
        self.left, self.right = left, right

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return (self.left.shape[0], self.right.shape[1])

    @property
    def dtype(self) -> Any:
        """The dtype of the numbers."""
        return self.left.dtype

    @property
    def size(self) -> int:
        """The number of elements of the matrix."""
        return self.shape[0] * self.shape[1]

    @property
    def terms(self) -> int:
        """How many products each element is the sum of: the matrix has at most this rank."""
        return self.right.shape[0]

    @property
    def nbytes(self) -> int:
        """The memory that the factors take."""
        return sum(int(getattr(f, "_raw", f).nbytes) for f in (self.left, self.right))

    @property
    def T(self) -> Factored:
        """The transpose, from the transposes of the factors."""
        return Factored(self.right.T, self.left.T)

    def todense(self) -> Any:
        """Return the matrix."""
        return self.left @ self.right

    def norm(self) -> Any:
        """Return the Euclidean norm of all elements."""
        return _namespace(self.left).sqrt(self.square())

    def square(self) -> Any:
        """Return the sum of the squares of all elements' absolute values."""
        xp = _namespace(self.left)
        if self.terms == 1:
            return _square(xp, self.left) * _square(xp, self.right)
        if self.terms * sum(self.shape) >= self.size:
            return _square(xp, self.todense())
        rows = self.left.T @ xp.conj(self.left)
        columns = self.right @ xp.conj(self.right.T)
        square = xp.sum(xp.real(rows * columns))
        return xp.where(square > 0, square, xp.zeros_like(square))  # it may have rounded below 0

    def __getitem__(self, key: Any) -> Any:
        keys = key if type(key) is tuple else (key,)
        if len(keys) > 2 or not all(isinstance(k, (slice, int)) for k in keys):
            return self.todense()[key]
        rows, columns = (*keys, slice(None), slice(None))[:2]
        left, right = self.left[rows], self.right[:, columns]
        return Factored(left, right) if len(left.shape) == len(right.shape) == 2 else left @ right

    def __matmul__(self, other: Any) -> Any:
        return self.left @ (self.right @ other)

    def __rmatmul__(self, other: Any) -> Any:
        return (other @ self.left) @ self.right

    def __mul__(self, factor: Any) -> Factored:
        return NotImplemented if _has_axes(factor) else Factored(self.left * factor, self.right)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Factored:
        return NotImplemented if _has_axes(divisor) else Factored(self.left / divisor, self.right)

    def __neg__(self) -> Factored:
        return Factored(-self.left, self.right)

    def __add__(self, other: Any) -> Any:
        if tuple(getattr(other, "shape", ())) != self.shape:
            return NotImplemented
        if type(other) is not Factored:
            return self.todense() + (other.todense() if hasattr(other, "todense") else other)
        xp = _namespace(self.left)
        left = xp.concat([self.left, other.left], axis=1)
        return Factored(left, xp.concat([self.right, other.right], axis=0))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    __array_ufunc__ = None  # NumPy's operators leave the answer to ours

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.todense(), dtype=dtype)

    def __wengert_wrapped__(self) -> Factored:
        """Return the same with tensors for factors."""
        if type(self.left) is Tensor:
            return self
        return Factored(wrap(self.left), wrap(self.right))

    def __repr__(self) -> str:
        return f"Factored(shape={self.shape}, terms={self.terms}, nbytes={self.nbytes})"


def _namespace(array: Any) -> Any:
    return array._namespace if type(array) is Tensor else backends.namespace_of(array)


def _square(xp: Any, x: Any) -> Any:
    return xp.sum(xp.real(x * xp.conj(x)) if xp.isdtype(x.dtype, "complex floating") else x * x)


def _has_axes(value: Any) -> bool:
    return bool(getattr(value, "shape", ()))
