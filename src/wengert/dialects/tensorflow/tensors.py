"""Tensors as TensorFlow has them: what becomes of Python values, operators, and how they print.

A tensor is a raw array and at most one node of the tape, like Wengert's own, so that operations
on it are recorded by the same tapes; the class differs in what users see.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow.dtypes import DType, as_dtype, of_numpy
from wengert.dialects.tensorflow.errors import as_is, invalid, type_error, value_error
from wengert.dialects.tensorflow.tensor_shape import TensorShape
from wengert.engine import tensor as engine
from wengert.engine.node import Node, Tokens, active, meet, next_order, watching
from wengert.engine.op import ALIAS, leaf
from wengert.engine.record import apply
from wengert.ops.variable import Variable as NativeVariable

#: Wengert's tensors, what makes one of an array, and functions that take and return them.
Native = engine.Tensor
wrap = engine.wrap
ns = Native._namespace
#: NumPy's limits for what a list of Python's whole numbers becomes.
_INT32 = np.iinfo(np.int32)
#: Whole numbers below this one are floats of 32 bits as well.
_EXACT = 1 << 24


class Kind:
    """What tensors are, and Keras's variables; Keras looks for the name and the module of it."""

    __slots__ = ()

    def __wengert_tensor__(self) -> Native:
        return convert(self.__tf_tensor__())  # type: ignore[attr-defined]


Kind.__name__, Kind.__module__ = "Tensor", "tensorflow.python.types.core"


#: What explanations call things in programs of TensorFlow.
WORDS = {
    "wg.asarray": "tf.constant", "wg.astype(x, wg.float64)": "tf.cast(x, tf.float32)",
    "of wg and np": "of tf", "wg.debug": "wg.debug", "wg.": "tf.",
}  # fmt: skip


def _show_left(tensor: Any) -> None:
    """Show who watches that a tensor's values are taken out."""
    watcher = watching.get()
    if watcher is not None:
        watcher.left(tensor, "x.numpy()")


class Tensor(Kind):
    """An array of numbers. Make one with `tf.constant`."""

    __slots__ = ("__dict__", "__weakref__", "_node", "_part", "_raw")
    __wengert_words__ = WORDS
    _raw: Any
    _node: Node | None
    #: of a part of a variable, the variable and the key
    _part: tuple[Any, Any]
    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 100

    def __wengert_tensor__(self) -> Native:
        return wrap(self._raw, self._node)

    @staticmethod
    def __wengert_like__(tensor: Native) -> Tensor:
        return made(tensor._raw, tensor._node)

    @property
    def shape(self) -> TensorShape:
        """The length of each axis."""
        return TensorShape.of(self._raw.shape)

    @property
    def dtype(self) -> DType:
        """The kind of numbers."""
        return of_numpy(self._raw.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._raw.shape)

    @property
    def device(self) -> str:
        """Where the numbers are."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    @property
    def name(self) -> str:
        """An error: eager tensors have no names."""
        raise AttributeError("tensors have no names; variables have")

    def get_shape(self) -> TensorShape:
        """Return the length of each axis."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Raise unless the tensor has this shape."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"set_shape: the tensor has shape {self.shape}, not {shape}; write tf.reshape"
            )

    def numpy(self) -> Any:
        """Return a copy as a NumPy array; of one number, a NumPy scalar."""
        _show_left(self)
        array = np.array(backends.to_numpy(self._raw))
        return array[()] if not array.shape else array

    def ref(self) -> Reference:
        """Return something that can be a key of a dict."""
        return Reference(self)

    experimental_ref = ref

    def cpu(self) -> Tensor:
        """Return the tensor, which is there already."""
        return self

    def _rank(self) -> int:
        return self.ndim

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        _show_left(self)
        return np.array(backends.to_numpy(self._raw), dtype=dtype)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of one number; it needs a first axis")
        return int(self._raw.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim:
            raise TypeError("iteration over one number; it needs a first axis")
        tensor: Any = self
        return (tensor[i] for i in range(len(tensor)))

    def __bool__(self) -> bool:
        array = np.asarray(self)
        return bool(array.size and array)

    def __float__(self) -> float:
        return float(np.asarray(self))

    def __int__(self) -> int:
        return int(np.asarray(self))

    def __complex__(self) -> complex:
        return complex(np.asarray(self))

    def __index__(self) -> int:
        return int(self.numpy().__index__())

    def __format__(self, spec: str) -> str:
        return format(self.numpy() if self.ndim else np.asarray(self).item(), spec)

    def __round__(self, digits: int | None = None) -> Any:
        raise AttributeError(  # the class that TensorFlow raises
            "round(x) of a tensor; write tf.round(x), or round(float(x), digits)"
        )

    def __repr__(self) -> str:
        return (
            f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, {numpy_text(self.numpy())}>"
        )

    def __str__(self) -> str:
        values = str(self.numpy())
        gap = "\n" if "\n" in values else ""
        return f"tf.Tensor({gap}{values}, shape={self.shape}, dtype={self.dtype.name})"

    def __copy__(self) -> Tensor:
        return made(self._raw, self._node)

    def __deepcopy__(self, memo: Any) -> Tensor:
        return made(self._raw, self._node)

    def __reduce__(self) -> Any:
        return made, (self._raw,)

    def __getattr__(self, name: str) -> Any:
        if name == "assign":
            return self._assign_part()
        if name in NUMPYS:
            raise AttributeError(
                f"a tensor has no attribute {name!r}, which is NumPy's; write tf.{NUMPYS[name]}"
            )
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")

    def _assign_part(self) -> Callable[..., Any]:
        """Return the function that replaces this part of a variable: ``v[0].assign(1.0)``."""
        try:
            owner, key = object.__getattribute__(self, "_part")
        except AttributeError:
            raise AttributeError(
                "'Tensor' object has no attribute 'assign': only variables, and parts v[key] of "
                "them, are assigned to; write tf.Variable(x), or tf.tensor_scatter_nd_update"
            ) from None

        def assign(value: Any, name: str | None = None, read_value: bool = True) -> Any:
            return owner._assign_part(key, value)

        return assign


#: What NumPy's methods are in TensorFlow, for messages.
NUMPYS = {
    "T": "transpose(x)", "astype": "cast(x, dtype)", "reshape": "reshape(x, shape)",
    "sum": "reduce_sum(x)", "mean": "reduce_mean(x)", "max": "reduce_max(x)",
    "min": "reduce_min(x)", "ravel": "reshape(x, [-1])", "tolist": "constant(x).numpy().tolist()",
    "size": "size(x)", "data": "constant(x).numpy()", "item": "constant(x).numpy().item()",
}  # fmt: skip


class StringTensor(Tensor):
    """An array of strings, as bytes: plain data without a derivative, which few functions take."""

    __slots__ = ()

    def __wengert_tensor__(self) -> Native:
        raise invalid(
            f"{self!r:.100} is of strings, and numbers are expected; write tf.strings.to_number(x)"
        )


class Reference:
    """A key for a tensor or a variable, equal to itself only."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def deref(self) -> Any:
        """Return what this refers to."""
        return self._of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._of is other._of

    def __hash__(self) -> int:
        return id(self._of)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._of!r}>"


def numpy_text(value: Any) -> str:
    """Return how TensorFlow prints values: an array as NumPy does, a number as Python does."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    gap = "\n" if "\n" in text else ""
    return f"numpy={gap}{text}"


def made(raw: Any, node: Node | None = None) -> Tensor:
    """Return a tensor around a raw array and a node."""
    raw = raw if type(raw) is np.ndarray or not isinstance(raw, np.generic) else np.array(raw)
    strings = raw.dtype.kind in "OS"
    tensor = StringTensor() if strings else Tensor()
    tensor._raw = raw.astype(object) if strings else raw
    tensor._node = node
    return tensor


def outward(value: Any, since: float = 0) -> Any:
    """Return Wengert's tensors, in tuples and lists too, as TensorFlow's.

    With `since`, from `call_start`, those that were there before are under nodes of their own:
    what an operation returns is a tensor of its own, even where it changes nothing.
    """
    if type(value) is Native:
        node = value._node
        if node is not None and node.order < since:
            value = alias(value)
        return made(value._raw, value._node)
    if type(value) in (tuple, list):
        return type(value)(outward(v, since) for v in value)
    return value


def noticed(found: Any, args: Any) -> Any:
    """Return what an operation made of its arguments, so that a tape that watches one has it.

    A result without a derivative, such as floor(x), has no node. In TensorFlow a tape records it
    all the same, so that there are derivatives with respect to it.
    """
    recording = active.get()
    if recording and type(found) is Tensor and found._node is None:
        if backends.is_inexact(found._raw.dtype):
            tokens = meet(_tokens(args), recording)
            if tokens:
                found._node = leaf(tuple(found._raw.shape), found._raw.dtype)
                found._node.tokens = tokens
    elif recording and type(found) in (tuple, list):
        for part in found:
            noticed(part, args)
    return found


def _tokens(values: Any) -> Tokens:
    """Return the tapes that care about any of some values."""
    nodes = [
        value._leaf if is_variable(value) else value._node
        for value in _flat(values)
        if type(value) in (Tensor, Native) or is_variable(value)
    ]
    return frozenset().union(*(node.tokens for node in nodes if node is not None))


def call_start() -> float:
    """Return the `since` for what a call that starts now returns."""
    return next_order() if active.get() else math.inf


def alias(x: Native) -> Native:
    """Return the same values under another node."""
    found: Native = apply(ALIAS, (x,), {})
    return found


def tensor_of(value: Any) -> Any:
    """Return a tensor as it is, and another value as a tensor; a variable is read."""
    if isinstance(value, Tensor):
        return value
    return outward(value) if type(value) is Native else outward(data_of(value), call_start())


# -- what values become ---------------------------------------------------------------------------


def convert(value: Any, dtype: Any = None, like: Any = None) -> Native:
    """Return a value as Wengert's tensor, of the dtype that TensorFlow gives it.

    `dtype` is required; `like`, NumPy's dtype of another operand, is what Python's numbers and
    NumPy's arrays take if they can. Nested lists of tensors are packed.
    """
    kind = type(value)
    if kind is Tensor:
        tensor = wrap(value._raw, value._node)
    elif kind is Native:
        tensor = value
    elif hasattr(kind, "__wengert_tensor__"):
        tensor = value.__wengert_tensor__()
    elif isinstance(value, (list, tuple)) and _holds_tensor(value):
        tensor = _packed(value, dtype)
    else:
        return wrap(array_of(value, dtype, like))
    if dtype is not None and of_numpy(tensor.dtype) != dtype:
        kinds = of_numpy(tensor.dtype).name, as_dtype(dtype).name
        shown = f"{outward(tensor)!r:.200}"
        raise value_error(f"{shown} is of {kinds[0]}, not {kinds[1]}; write tf.cast(x, dtype)")
    return tensor


def number_at_once(value: Any, dtype: Any) -> Any:
    """Return one of Python's numbers as a tensor of float32, if that is wanted and nobody looks."""
    wanted = dtypes.BY_NAME.get(dtype) if type(dtype) is str else dtype
    usual = (type(value) is float or type(value) is int) and -_EXACT < value < _EXACT
    if usual and wanted is dtypes.float32 and watching.get() is None:
        return made(np.array(value, np.float32))
    return NotImplemented


def array_of(value: Any, dtype: Any = None, like: Any = None) -> np.ndarray:
    """Return Python's numbers, lists of them, or an array of any library, as a NumPy array."""
    if type(value) is float and dtype is None:  # the most usual of all
        return np.array(
            value, like if like is not None and backends.is_inexact(like) else np.float32
        )
    if value is None:
        raise value_error("got None for a tensor; was a gradient None, or a return forgotten?")
    wanted = None if dtype is None else as_dtype(dtype)._numpy
    given = isinstance(value, (np.ndarray, np.generic)) or backends.namespace_of(value) is not None
    try:
        array = backends.to_numpy(value) if given else np.array(value)
    except (ValueError, TypeError) as error:
        if isinstance(value, (list, tuple)):
            message = f"the rows of {value!r:.80} are of several lengths"
            raise value_error(message) from error
        raise as_is(error) from None
    if backends.kind_of(array.dtype) not in "biufc":
        if wanted is None and all(isinstance(v, (str, bytes)) for v in _flat([value])):
            raise invalid(f"{value!r:.60} is of strings, and numbers are expected")
        strings = array.dtype.kind in "SU" and wanted is not None
        kind: Any = TypeError if strings else ValueError
        raise as_is(
            kind(
                f"got {value!r:.60} of {type(value)}, which is no tensor; expected numbers, "
                "booleans or arrays of them"
            )
        )
    if given:
        if wanted is not None and array.dtype.kind == "c" and wanted.kind != "c":
            array = array.real
        hint = wanted if wanted is not None else like
        if hint is not None and (array.dtype.kind != "c" or hint.kind == "c"):
            array = array.astype(hint)
        return np.array(array, array.dtype.newbyteorder("="))
    if wanted is None:
        _check_mixture(value, array)
    usual = _usual(value, array)
    if not array.size and (wanted is not None or like is not None):
        return array.astype(like if wanted is None else wanted)
    if wanted is not None:
        if not _fits(backends.kind_of(array.dtype), backends.kind_of(wanted)):
            raise type_error(f"{value!r:.80} cannot be a tensor of {wanted.name}; write tf.cast")
        return array.astype(wanted)
    if like is not None and _fits(backends.kind_of(array.dtype), backends.kind_of(like)):
        return array.astype(like)
    return array.astype(usual)


def data_of(value: Any, dtype: Any = None) -> Native:
    """Return a value as Wengert's tensor, where strings are taken too, as arrays of bytes."""
    if not (dtype is dtypes.string or (dtype is None and holds_strings(value))):
        return convert(value, dtype)
    array = np.array(_bytes_of(value, dtype), object)
    if not all(type(element) is bytes for element in array.flat):
        raise value_error(f"the rows of {value!r:.80} are of several lengths")
    return wrap(array)


def holds_strings(value: Any) -> bool:
    """Return whether a value is strings: a tensor of them, Python's, NumPy's, or lists of them."""
    first = _first(value)
    if isinstance(first, (np.ndarray, np.generic)):
        return first.dtype.kind in "SUO"
    return isinstance(first, (str, bytes, StringTensor))


def _bytes_of(value: Any, dtype: Any) -> Any:
    """Return strings, in lists or arrays, as bytes in lists."""
    if isinstance(value, (list, tuple)):
        return [_bytes_of(part, dtype) for part in value]
    if isinstance(value, (StringTensor, np.ndarray)):
        return _bytes_of(np.asarray(value).tolist(), dtype)
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return bytes(value)
    wrong = f"{value!r:.80} of {type(value)} is no string; write tf.strings.as_string(x)"
    raise value_error(wrong) if dtype is None or is_like_tensor(value) else type_error(wrong)


def _first(value: Any) -> Any:
    """Return the first value in nested lists."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return value


def _check_mixture(value: Any, array: np.ndarray) -> None:
    """Raise if the first number of a list does not say what the others are."""
    first = _first(value)
    mixed = array.dtype.kind == "c" and not isinstance(first, (complex, np.complexfloating))
    if isinstance(first, (bool, np.bool_)) and array.dtype.kind != "b":
        mixed = True
    if mixed and not isinstance(first, (np.ndarray, list, tuple)):
        raise value_error(f"a list of several kinds of values: {value!r:.80}")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and not isinstance(first, np.uint64):
        raise value_error(f"a whole number in {value!r:.80} is larger than int64 holds")


def _usual(value: Any, array: np.ndarray) -> np.dtype:
    """Return the dtype that Python's numbers have by default; NumPy's first one keeps its own."""
    if backends.kind_of(array.dtype) == "f":
        first = _first(value)
        if isinstance(first, (np.floating, np.ndarray)) and backends.kind_of(first.dtype) == "f":
            return first.dtype
        return dtypes.float32._numpy
    if array.dtype.kind in "iu":
        small = not array.size or (array.min() >= _INT32.min and array.max() <= _INT32.max)
        return dtypes.int32._numpy if small else dtypes.int64._numpy
    return array.dtype


def _fits(given: str, wanted: str) -> bool:
    """Return whether Python's numbers of one kind can be of another kind."""
    if "b" in (given, wanted):
        return given == "b"
    order = "iufc".index
    return (given in "iu" and wanted in "iufc") or order(given) <= order(wanted)


def _holds_tensor(value: Any) -> bool:
    return any(
        is_like_tensor(v) or (isinstance(v, (list, tuple)) and _holds_tensor(v)) for v in value
    )


def _packed(values: Any, dtype: Any = None) -> Native:
    """Return nested lists of tensors and numbers as one tensor; derivatives follow."""
    found = next(v for v in _flat(values) if is_like_tensor(v))
    wanted = convert(found).dtype if dtype is None else as_dtype(dtype)._numpy

    def pack(value: Any) -> Native:
        if isinstance(value, (list, tuple)):
            parts = [pack(v) for v in value]
            check_dtypes("Pack", *parts)
            if len({p.shape for p in parts}) > 1:
                raise invalid(f"parts of several shapes: {[p.shape for p in parts]}")
            stacked: Native = ns.stack(parts)
            return stacked
        if not is_like_tensor(value):
            return convert(value, of_numpy(wanted))
        tensor = convert(value)
        return tensor if dtype is None else ns.astype(tensor, wanted)

    return pack(values)


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value


def is_like_tensor(value: Any) -> bool:
    """Return whether a value is a tensor or takes the place of one."""
    return type(value) in (Tensor, Native) or hasattr(type(value), "__wengert_tensor__")


def alike(values: Sequence[Any], name: str = "", strings: bool = False) -> list[Native]:
    """Return tensors of the dtype that the first tensor decides, or the first value.

    With the `name` of a function, those of another dtype are an InvalidArgumentError; with
    `strings`, it takes these too.
    """
    if not values:
        return []
    if strings and any(map(holds_strings, values)):
        found = [data_of(v) for v in values]
        check_dtypes(name, *found)
        return found
    first = convert(next((v for v in values if is_like_tensor(v)), values[0]))
    found = [converted_like(v, first) for v in values]
    if name:
        check_dtypes(name, *found)
    return found


def data_pair(x: Any, y: Any, name: str) -> tuple[Native, Native]:
    """Return two operands as tensors of one dtype, where strings are taken too."""
    if not (holds_strings(x) and holds_strings(y)):
        return pair(x, y, name)
    first, second = alike((x, y), name, strings=True)
    return first, second


def pair(x: Any, y: Any, name: str) -> tuple[Native, Native]:
    """Return two operands as tensors of one dtype, which the first tensor of them decides."""
    if is_like_tensor(x) and is_like_tensor(y):
        first, second = convert(x), convert(y)
        check_dtypes(name, first, second)
    else:
        first, second = alike((x, y), name)
    return first, second


def converted_like(value: Any, other: Native) -> Native:
    """Return an operand; Python's numbers must, and NumPy's arrays do, take another's dtype."""
    if is_like_tensor(value):
        return convert(value)
    is_array = isinstance(value, (np.ndarray, np.generic))
    return convert(value, None if is_array else of_numpy(other.dtype), other.dtype)


def check_dtypes(name: str, *tensors: Native) -> None:
    """Raise unless all tensors have the dtype of the first."""
    first = tensors[0].dtype
    for position, other in enumerate(tensors[1:], 1):
        if other.dtype != first:
            raise invalid(
                f"{name}: argument {position} is of {other.dtype.name}, and argument 0 of "
                f"{first.name}; dtypes are not converted, so write tf.cast(x, tf.{first.name})"
            )


def check_kind(x: Native, kinds: str, name: str) -> None:
    """Raise unless a tensor holds numbers of a kind that an operation takes."""
    if backends.kind_of(x.dtype) not in kinds:
        wanted = ", ".join(v for k, v in _KINDS.items() if k in kinds)
        raise invalid(
            f"{name} takes {wanted}, and got {of_numpy(x.dtype).name}; write tf.cast(x, dtype)"
        )


_KINDS = {"f": "float32, float64", "i": "int32, int64", "c": "complex64, complex128", "b": "bool"}


def is_variable(value: Any) -> bool:
    """Return whether a value is a variable."""
    return isinstance(value, NativeVariable)


def held(value: Any) -> Any:
    """Return the variable that a variable of another library, such as Keras, holds."""
    return value.value if hasattr(type(value), "_should_act_as_resource_variable") else value


def is_tensor(x: Any) -> bool:
    """Return whether a value is a tensor or a variable."""
    return isinstance(x, (Tensor, NativeVariable))


def static(value: Any) -> Any:
    """Return a shape, an axis or the like, which may be given as tensors, as Python's integers."""
    if isinstance(value, TensorShape):
        return [int(n) for n in value.as_list()]  # type: ignore[arg-type]
    if is_tensor(value) or isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value).tolist()
    if isinstance(value, (list, tuple)):
        return [static(v) for v in value]
    return value
