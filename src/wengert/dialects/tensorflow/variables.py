"""Variables as TensorFlow has them."""

from __future__ import annotations

import enum
import itertools
import operator
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.dialects.quiet import Quiet
from wengert.dialects.tensorflow import operators
from wengert.dialects.tensorflow.dtypes import DType, as_dtype, of_numpy
from wengert.dialects.tensorflow.errors import invalid, mistake
from wengert.dialects.tensorflow.settings import ignore
from wengert.dialects.tensorflow.slices import IndexedSlices
from wengert.dialects.tensorflow.table import plain, put
from wengert.dialects.tensorflow.tensor_shape import TensorShape
from wengert.dialects.tensorflow.tensors import (
    WORDS,
    Tensor,
    convert,
    numpy_text,
    outward,
    tensor_of,
)
from wengert.engine.op import leaf
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap
from wengert.errors import ShapeError
from wengert.ops.variable import VARIABLE
from wengert.ops.variable import Variable as NativeVariable

#: The numbers by which variables are told apart.
_numbers = itertools.count()
#: What names of variables made now begin with, see `tf.name_scope`.
scope: ContextVar[str] = ContextVar("scope", default="")


VariableAggregation = enum.Enum(
    "VariableAggregation", ["NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"], start=0
)
VariableSynchronization = enum.Enum(
    "VariableSynchronization", ["AUTO", "NONE", "ON_WRITE", "ON_READ"], start=0
)
put(("VariableAggregation",), VariableAggregation)
put(("VariableSynchronization",), VariableSynchronization)


class _Absent:
    """An attribute of Wengert's variables that TensorFlow's do not have."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        raise AttributeError("TensorFlow's variables do not have this attribute")


def _refused(why: str, wrong: type[Exception] = TypeError) -> Any:
    """Return a method in the place of one of Wengert's that TensorFlow's variables do not have."""

    def method(*args: Any) -> Any:
        raise wrong(why)

    return method


@plain("Variable")
class Variable(NativeVariable):
    """A tensor that can be assigned to, and that tapes watch when it is read."""

    __wengert_words__ = WORDS
    _declared: TensorShape
    constraint: Any
    aggregation: VariableAggregation
    synchronization: VariableSynchronization
    initializer = None
    __array_priority__ = 100

    def __init__(
        self, initial_value: Any = None, trainable: bool | None = None, *, name: str | None = None,
        dtype: Any = None, constraint: Any = None, synchronization: Any = None,
        aggregation: Any = None, shape: Any = None, **ignored: Any,
    ) -> None:  # fmt: skip
        ignore(
            "Variable", ignored, "validate_shape", "caching_device", "variable_def", "import_scope"
        )
        if callable(initial_value):
            initial_value = initial_value()
        if initial_value is None:
            raise ValueError("tf.Variable: give a value; write tf.Variable(initial_value)")
        value = convert(initial_value, None if dtype is None else as_dtype(dtype))
        declared = TensorShape(value.shape if shape is None else shape)
        if not declared.is_compatible_with(value.shape):
            raise mistake(ValueError, "tf.Variable: shape", shape, f"one that fits {value.shape}")
        self._declared = declared
        name = f"{scope.get()}{name or 'Variable'}:0"
        if trainable is None:
            trainable = synchronization is not VariableSynchronization.ON_READ
        super().__init__(value, bool(trainable), name=name)
        self._unique_id = f"{next(_numbers)}"
        self.constraint = constraint
        self.aggregation = aggregation or VariableAggregation.NONE
        self.synchronization = synchronization or VariableSynchronization.AUTO

    @property
    def shape(self) -> TensorShape:  # type: ignore[override]
        """The length of each axis; None where `shape` left it open."""
        return self._declared

    @property
    def dtype(self) -> DType:
        """The kind of numbers."""
        return of_numpy(self._value.dtype)

    device: Any = Tensor.device
    get_shape: Any = Tensor.get_shape
    ref: Any = Tensor.ref
    experimental_ref: Any = Tensor.ref

    def set_shape(self, shape: Any) -> None:
        """Raise unless the variable has this shape."""
        self._declared = self._declared.merge_with(shape)

    @property
    def initial_value(self) -> Any:
        """An error: values are not kept once they are replaced."""
        raise RuntimeError("the initial value is not kept; keep tf.identity(v) yourself")

    def is_initialized(self, name: str | None = None) -> Any:
        """Return True, as a tensor."""
        return outward(wrap(np.array(True)))

    def numpy(self) -> Any:
        """Return a copy as a NumPy array; of one number, a NumPy scalar."""
        return outward(self._value).numpy()

    def value(self) -> Any:
        """Return the value as a tensor."""
        return tensor_of(self)

    read_value = value

    # -- assignment -------------------------------------------------------------------------------

    def assign(
        self, value: Any, use_locking: Any = False, name: Any = None, read_value: bool = True
    ) -> Any:
        """Replace the value."""
        tensor = convert(value, self.dtype)
        if not self._declared.is_compatible_with(tensor.shape):
            raise ValueError(
                f"assign: the variable {self.name!r} has shape {self.shape}, and the value "
                f"{tensor.shape}; for other shapes write tf.Variable(x, shape=tf.TensorShape(None))"
            )
        if tensor.shape != self._value.shape:
            self._leaf = leaf(tensor.shape, tensor.dtype)
            self._leaf.op = VARIABLE
            self._value = self._holding(tensor._raw)
        super().assign(tensor)
        return self if read_value else None

    def assign_add(
        self, delta: Any, use_locking: Any = False, name: Any = None, read_value: bool = True
    ) -> Any:
        """Add to the value."""
        return self.assign(self._with(delta, operator.add), read_value=read_value)

    def assign_sub(
        self, delta: Any, use_locking: Any = False, name: Any = None, read_value: bool = True
    ) -> Any:
        """Subtract from the value."""
        return self.assign(self._with(delta, operator.sub), read_value=read_value)

    def _with(self, delta: Any, changed: Any) -> Native:
        """Return the value changed by another of its shape."""
        value, change = _plain(self._value), _plain(convert(delta, self.dtype))
        if change.shape != value.shape:
            raise invalid(
                f"the variable has shape {list(value.shape)}, and what is to be added "
                f"{list(change.shape)}; they must be equal, so write v.assign(v + x)"
            )
        with Quiet():
            return changed(value, change)

    def _updated(self, key: tuple[Any, ...], values: Any, how: str) -> Any:
        """Change elements at index arrays, having checked that they fit."""
        shape, values = self._value.shape, convert(values, self.dtype)
        for where, n in zip(key, shape, strict=False):
            if where.size and (where.min() < 0 or where.max() >= n):
                raise invalid(f"indices {where.tolist()} are not in [0, {n})")
        expected = (*key[0].shape, *shape[len(key) :]) if key else shape
        if values.shape not in ((), expected):
            raise invalid(f"updates of shape {values.shape}; expected {expected}")
        with Quiet():
            changed = getattr(_plain(self._value).at[key], how)(_plain(values))
        return self.assign(changed)

    def __getitem__(self, key: Any) -> Any:
        part = operators.index(self.value(), key)
        if getattr(key, "dtype", None) != "bool":
            part._part = (self, key)
        return part

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError("a tf.Variable takes no v[key] = value; write v[key].assign(value)")

    def _assign_part(self, key: Any, value: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        place = _plain(self._value).at[tuple(operators._part(p) for p in parts)]
        try:
            return self.assign(place.set(_plain(convert(value, self.dtype))))
        except ShapeError as error:
            raise invalid(str(error)) from error

    def __iter__(self) -> Any:
        return iter(self.value())

    def __contains__(self, value: Any) -> bool:
        return any(value is element or value == element for element in self)

    __len__ = _refused("a variable has no len(); write v.shape[0]")
    __index__ = _refused("a variable is no index; write int(v)")
    __pos__ = _refused("a variable has no unary +; write v.value()")
    __lshift__ = __rshift__ = _refused("write tf.bitwise.left_shift(v, n) or right_shift")
    __rlshift__ = __rrshift__ = __lshift__
    # NumPy takes the value as an array, and leaves operators to this class
    __array_ufunc__ = __array_function__ = __array_namespace__ = _Absent()
    __dlpack__ = __dlpack_device__ = T = mT = real = imag = _Absent()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'tf.Variable' object has no attribute {name!r}")

    def __repr__(self) -> str:
        values = numpy_text(self.numpy())
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, {values}>"

    __str__ = __repr__
    __format__ = object.__format__

    def __reduce__(self) -> Any:
        return _rebuilt, (self._value._raw, self.trainable, self.name.removesuffix(":0"))

    def __copy__(self) -> Variable:
        return self

    def __deepcopy__(self, memo: Any) -> Variable:
        rebuild, arguments = self.__reduce__()
        return rebuild(*arguments)


def _rebuilt(raw: Any, trainable: bool, name: str) -> Variable:
    return Variable(raw, trainable, name=name)


def _plain(tensor: Native) -> Native:
    """Return the same values as a constant."""
    return wrap(tensor._raw)


operators.install(Variable)


def _of_no_none(compared: Any) -> Any:
    """Return a comparison that takes None for a mistake: variables compare with numbers only."""
    return lambda v, other: compared(v, convert(other) if other is None else other)


for _name in ("__eq__", "__ne__"):
    setattr(Variable, _name, _of_no_none(getattr(Variable, _name)))
Variable.__hash__ = _refused("a variable is no key of a dict or set; write v.ref()")  # type: ignore[method-assign]
_in_place = _refused("v += x is no variable; write v.assign_add(x), or y = v + x", RuntimeError)
for _name in ("__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__"):
    setattr(Variable, _name, _in_place)


def _of_rows(how: str) -> Any:
    def scatter(
        self: Variable, sparse_delta: Any, use_locking: Any = False, name: Any = None
    ) -> Any:
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"got {sparse_delta!r:.80}; expected tf.IndexedSlices(values, indices)")
        return self._updated((np.asarray(sparse_delta.indices),), sparse_delta.values, how)

    return scatter


def _of_elements(how: str) -> Any:
    def scatter_nd(self: Variable, indices: Any, updates: Any, name: Any = None) -> Any:
        where = np.asarray(convert(indices)._raw)
        key = tuple(where[..., k] for k in range(where.shape[-1]))
        return self._updated(key, updates, how)

    return scatter_nd


#: How values are changed: TensorFlow's word, that of `x.at`, and what is said of it.
for _name, _how, _doc in (
    ("add", "add", "Add to {} of the value."), ("sub", "subtract", "Subtract from its {}."),
    ("update", "set", "Replace {} of the value."), ("mul", "multiply", "Multiply {} of the value."),
    ("div", "divide", "Divide {} of the value."), ("max", "max", "Raise {} to the larger numbers."),
    ("min", "min", "Lower {} to the smaller numbers."),
):  # fmt: skip
    for _prefix, _method, _what in (
        ("scatter", _of_rows(_how), "rows"), ("scatter_nd", _of_elements(_how), "elements")
    ):  # fmt: skip
        if _prefix == "scatter" or _name not in ("mul", "div"):
            _method.__name__, _method.__doc__ = f"{_prefix}_{_name}", _doc.format(_what)
            setattr(Variable, _method.__name__, _method)


def _first_read(name: str) -> Any:
    return lambda self, *args, **options: getattr(self.value(), name)(*args, **options)


for _name in ("__float__", "__int__", "__complex__", "__bool__", "__array__"):
    setattr(Variable, _name, _first_read(_name))
