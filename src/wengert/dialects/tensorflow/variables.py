"""Variables as TensorFlow has them."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.dialects.tensorflow import operators
from wengert.dialects.tensorflow.dtypes import DType, as_dtype, of_numpy
from wengert.dialects.tensorflow.shapes import TensorShape
from wengert.dialects.tensorflow.slices import IndexedSlices
from wengert.dialects.tensorflow.table import plain
from wengert.dialects.tensorflow.tensors import Reference, convert, number_text, outward
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap
from wengert.engine.variable import Variable as NativeVariable

#: What names of variables made now begin with, see `tf.name_scope`.
scope: ContextVar[str] = ContextVar("scope", default="")


@plain("Variable")
class Variable(NativeVariable):
    """A tensor that can be assigned to, and that tapes watch when it is read."""

    __slots__ = ("constraint",)
    __array_priority__ = 100

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        if callable(initial_value):
            initial_value = initial_value()
        if initial_value is None:
            raise ValueError("The `initial_value` arg to `tf.Variable` must be specified.")
        value = convert(initial_value, None if dtype is None else as_dtype(dtype))
        name = f"{scope.get()}{name or 'Variable'}:0"
        super().__init__(value, trainable is None or bool(trainable), name=name)
        self.constraint = constraint

    @property
    def shape(self) -> TensorShape:  # type: ignore[override]
        """The length of each axis."""
        return TensorShape(self._value.shape)

    @property
    def dtype(self) -> DType:
        """The kind of numbers."""
        return of_numpy(self._value.dtype)

    @property
    def device(self) -> str:
        """Where the numbers are."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    def get_shape(self) -> TensorShape:
        """Return the length of each axis."""
        return self.shape

    def numpy(self) -> Any:
        """Return a copy as a NumPy array; of one number, a NumPy scalar."""
        return outward(self._value).numpy()

    def value(self) -> Any:
        """Return the value as a tensor."""
        return outward(self.__wengert_tensor__())

    read_value = value

    def ref(self) -> Reference:
        """Return something that can be a key of a dict."""
        return Reference(self)

    experimental_ref = ref

    # -- assignment -------------------------------------------------------------------------------

    def _taken(self, value: Any) -> Any:
        """Return what is to be assigned, which must have the variable's dtype."""
        return convert(value, self.dtype)

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Replace the value."""
        tensor = self._taken(value)
        if tensor.shape != self._value.shape:
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch. The variable shape "
                f"{self.shape}, and the assigned value shape {tensor.shape} are incompatible."
            )
        super().assign(tensor)
        return self if read_value else None

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Add to the value."""
        return self.assign(_plain(self._value) + _plain(self._taken(delta)), read_value=read_value)

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtract from the value."""
        return self.assign(_plain(self._value) - _plain(self._taken(delta)), read_value=read_value)

    def _scattered(self, slices: IndexedSlices, how: str) -> Any:
        if not isinstance(slices, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {slices!r}")
        where = np.asarray(slices.indices)
        values = _plain(convert(slices.values, self.dtype))
        place = _plain(self._value).at[where]
        return self.assign(getattr(place, how)(values))

    def scatter_add(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Add IndexedSlices to the value."""
        return self._scattered(sparse_delta, "add")

    def scatter_sub(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Subtract IndexedSlices from the value."""
        return self._scattered(-sparse_delta, "add")

    def scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replace rows of the value."""
        return self._scattered(sparse_delta, "set")

    def scatter_mul(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Multiply rows of the value."""
        return self._scattered(sparse_delta, "multiply")

    def scatter_div(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Divide rows of the value."""
        return self._scattered(sparse_delta, "divide")

    def scatter_max(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replace rows of the value by the larger numbers."""
        return self._scattered(sparse_delta, "max")

    def scatter_min(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replace rows of the value by the smaller numbers."""
        return self._scattered(sparse_delta, "min")

    def _scattered_nd(self, indices: Any, updates: Any, how: str) -> Any:
        where = tuple(np.moveaxis(np.asarray(indices), -1, 0))
        values = _plain(convert(updates, self.dtype))
        return self.assign(getattr(_plain(self._value).at[where], how)(values))

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Add to elements of the value."""
        return self._scattered_nd(indices, updates, "add")

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtract from elements of the value."""
        return self._scattered_nd(indices, outward(-_plain(convert(updates, self.dtype))), "add")

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replace elements of the value."""
        return self._scattered_nd(indices, updates, "set")

    def __getitem__(self, key: Any) -> Any:
        part = operators.index(self.value(), key)
        part._part = (self, key)
        return part

    def _assign_part(self, key: Any, value: Any, how: str) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        place = _plain(self._value).at[tuple(operators._part(p) for p in parts)]
        return self.assign(getattr(place, how)(_plain(self._taken(value))))

    def __iter__(self) -> Any:
        return iter(self.value())

    def __len__(self) -> int:
        return len(self.value())

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'tf.Variable' object has no attribute {name!r}")

    def __repr__(self) -> str:
        value = self.numpy()
        text = repr(value) if self._value.ndim else number_text(value)
        gap = "\n" if self._value.ndim > 1 and "\n" in text else ""
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, "
            f"numpy={gap}{text}>"
        )

    __str__ = __repr__

    def __reduce__(self) -> Any:
        return _rebuilt, (self._value._raw, self.trainable, self.name.removesuffix(":0"))

    def __deepcopy__(self, memo: Any) -> Variable:
        return _rebuilt(self._value._raw, self.trainable, self.name.removesuffix(":0"))


def _rebuilt(raw: Any, trainable: bool, name: str) -> Variable:
    return Variable(raw, trainable=trainable, name=name)


def _plain(tensor: Native) -> Native:
    """Return the same values as a constant."""
    return wrap(tensor._raw)


_hash = Variable.__hash__
operators.install(Variable, index=False)
Variable.__hash__ = _hash  # type: ignore[method-assign]


def _first_read(name: str) -> Any:
    return lambda self, *args: getattr(self.value(), name)(*args)


for _name in (
    "__float__",
    "__int__",
    "__complex__",
    "__index__",
    "__bool__",
    "__array__",
    "__format__",
):
    setattr(Variable, _name, _first_read(_name))
