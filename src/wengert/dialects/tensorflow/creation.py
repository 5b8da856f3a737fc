"""Constants and new arrays, dtypes and what shapes are, by TensorFlow's names."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Argument, Kind, Quick
from wengert.dialects.tensorflow import dtypes, errors
from wengert.dialects.tensorflow import kinds as K
from wengert.dialects.tensorflow import tensors as eager
from wengert.dialects.tensorflow.dtypes import any_dtype, as_dtype, of_numpy
from wengert.dialects.tensorflow.errors import UnimplementedError, as_is, invalid, mistake
from wengert.dialects.tensorflow.slices import Composite
from wengert.dialects.tensorflow.table import absent, offered, plain, put
from wengert.dialects.tensorflow.tensor_shape import TensorShape
from wengert.dialects.tensorflow.tensors import Native, ns, wrap
from wengert.ops.indexing import getitem

absent({
    "broadcast_static_shape": "np.broadcast_shapes(x, y)",
    "histogram_fixed_width": "np.histogram(x, bins, range)",
    "histogram_fixed_width_bins": "np.digitize(x, edges)",
    "is_symbolic_tensor": "False: there are no graphs",
    "parallel_stack": "tf.stack(values)",
    "shape_n": "[tf.shape(x) for x in tensors]",
    "unravel_index": "np.unravel_index(indices, dims)",
    "truncatediv": "tf.cast(x / y, x.dtype), of whole numbers",
    "truncatemod": "x - y * tf.cast(x / y, x.dtype), of whole numbers",
})  # fmt: skip


# -- constants, and names of dtypes, shapes and errors ---------------------------------------------

for _name in (
    "float16", "half", "float32", "float64", "double", "int8", "int16", "int32", "int64", "uint8",
    "uint16", "uint32", "uint64", "complex64", "complex128", "bfloat16",
):  # fmt: skip
    put((_name, f"dtypes.{_name}"), getattr(dtypes, _name))
for _name in ("float8_e4m3fn", "float8_e5m2"):
    put((f"dtypes.experimental.{_name}",), dtypes.EXTENDED[_name])
put(("bool", "dtypes.bool"), dtypes.bool_)
put(("string", "dtypes.string"), dtypes.string)
put(("DType", "dtypes.DType"), dtypes.DType)
put(("as_dtype", "dtypes.as_dtype"), any_dtype)
put(("TensorShape",), TensorShape)
put(("Tensor",), eager.Tensor)
put(("is_tensor",), eager.is_like_tensor)
put(("newaxis",), None)
put(("__version__", "version.VERSION"), "2.21.0")
for _name, _value in vars(errors).items():
    if isinstance(_value, type) and issubclass(_value, errors.OpError):
        put((f"errors.{_name}",), _value)


@offered("constant", raises=(ValueError, TypeError), recorded=False)
def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = "Const") -> Any:
    """Return a tensor of numbers or strings; one alone fills the `shape`, if there is one."""
    kind = None if dtype is None else any_dtype(dtype)
    if isinstance(value, (list, tuple)) and eager._holds_tensor(value):
        raise ValueError(
            "tf.constant: got a list with tensors inside; write tf.stack(values), which "
            "derivatives go through"
        )
    tensor = eager.data_of(value, None if eager.is_tensor(value) else kind)
    if eager.is_variable(value):
        tensor = wrap(tensor._raw)  # its value now, as numbers
    if kind is not None and of_numpy(tensor.dtype) != kind:
        raise TypeError(
            f"tf.constant: {eager.outward(tensor)!s:.80} is of {of_numpy(tensor.dtype)!r}, not "
            f"{kind!r}; write tf.cast(x, dtype)"
        )
    if shape is None:
        return value if isinstance(value, eager.Tensor) else tensor
    wanted = tuple(eager.static(shape))
    if tensor.size == 1 and tensor.shape != wanted:
        return ns.broadcast_to(ns.reshape(tensor, ()), wanted)
    if tensor.shape != wanted:
        if tensor.size != math.prod(wanted):
            raise mistake(TypeError, "tf.constant: shape", shape, f"{tensor.size} elements")
        return ns.reshape(tensor, wanted)
    return tensor


@plain("executing_eagerly")
def executing_eagerly() -> bool:
    """Return True: operations are done when they are called."""
    return True


# -- dtypes ----------------------------------------------------------------------------------------


def _cast_at_once(x: Any, dtype: Any) -> Any:
    """Return a tensor or a variable that is of the dtype already, and the most usual numbers."""
    if not eager.is_tensor(x):
        return eager.number_at_once(x, dtype)
    return (
        x if x.dtype is dtype or (type(dtype) is str and x.dtype.name == dtype) else NotImplemented
    )


@offered(
    "cast", "dtypes.cast", raises=(TypeError, ValueError), quick=Quick(_cast_at_once, None, {}, 2)
)
def cast(x: Any, dtype: Any) -> Any:
    """Return x in another dtype; of numbers with fractions, whole numbers are cut off."""
    wanted = any_dtype(dtype)
    if isinstance(x, Composite):
        return x.with_values(eager.outward(_cast(eager.convert(x.values), wanted)))
    if eager.is_tensor(x) and x.dtype == wanted:
        return x  # a variable too
    if wanted is dtypes.string or eager.holds_strings(x):
        text = "cast: write tf.strings.as_string(numbers) or tf.strings.to_number(strings)"
        raise UnimplementedError(None, None, text)
    found = eager.convert(x)
    return found if found.dtype == wanted._numpy else _cast(found, wanted)


@offered("bitcast", raises=(TypeError,))
def bitcast(input: K.Array, type: K.Dtype) -> Native:
    """Return the bytes of a tensor as numbers of another dtype."""
    ratio = input.itemsize / type.itemsize
    if "b" in (input.dtype.kind, type.kind) or (ratio < 1 and input.shape[-1:] != (1 / ratio,)):
        raise invalid(
            f"bitcast: {input.dtype.name} of shape {list(input.shape)} to {type.name}; the last "
            "axis must have as many numbers as one of the other dtype has bytes for"
        )
    found = np.ascontiguousarray(input[..., None] if ratio >= 1 else input).view(type)
    return wrap(found if ratio > 1 else found[..., 0])


def _cast(x: Native, dtype: dtypes.DType) -> Native:
    if x.dtype.kind == "c" and not dtype.is_complex:
        x = ns.real(x)
    made: Native = ns.astype(x, dtype._numpy)
    return made


@offered("saturate_cast", "dtypes.saturate_cast", raises=(TypeError, ValueError))
def saturate_cast(value: K.Input, dtype: Any) -> Native:
    """Return a value in another dtype, with numbers that it cannot hold at its limits."""
    x, wanted = value, as_dtype(dtype)
    if x.dtype.kind == "c" and not wanted.is_complex:
        x = ns.real(x)
    mine = of_numpy(x.dtype)
    if mine.is_complex or wanted.is_complex or "b" in (x.dtype.kind, wanted._numpy.kind):
        return _cast(x, wanted)
    if mine.min < wanted.min:
        low = _inner_limit(wanted.min, wanted, x.dtype)
        x = ns.where(x < low, low, x)
    if mine.max > wanted.max:
        high = _inner_limit(wanted.max, wanted, x.dtype)
        x = ns.where(x > high, high, x)
    return _cast(x, wanted)


def _inner_limit(limit: Any, wanted: dtypes.DType, dtype: np.dtype) -> Any:
    """Return the number of a dtype that is next to a limit of another, on its inner side."""
    near = dtype.type(limit)
    beyond = abs(int(near)) > abs(int(limit)) if wanted.is_integer else abs(near) > abs(limit)
    return np.nextafter(near, dtype.type(0)) if beyond else near


# -- what a shape is -------------------------------------------------------------------------------


def _shape_of(input: Any) -> tuple[int, ...]:
    if isinstance(input, Composite):
        return tuple(int(n) for n in input.shape)
    return tuple(eager.data_of(input).shape)


@offered("shape", raises=(ValueError, TypeError), recorded=False)
def shape(input: Any, out_type: K.Dtype | None = None) -> Native:
    """Return the length of each axis, as a tensor."""
    return wrap(np.asarray(_shape_of(input), np.int32 if out_type is None else out_type))


@offered("size", raises=(ValueError, TypeError), recorded=False)
def size(input: Any, out_type: K.Dtype | None = None) -> Native:
    """Return the number of elements, as a tensor."""
    count = math.prod(_shape_of(input))
    return wrap(np.asarray(count, np.int32 if out_type is None else out_type))


@offered("rank", raises=(ValueError, TypeError), recorded=False)
def rank(input: Any) -> Native:
    """Return the number of axes, as a tensor."""
    return wrap(np.asarray(len(_shape_of(input)), np.int32))


@offered("broadcast_dynamic_shape", raises=(ValueError, TypeError), named=False)
def broadcast_dynamic_shape(shape_x: K.Pair, shape_y: K.Pair) -> Native:
    """Return the shape that arrays of two shapes broadcast to, as a tensor."""
    x, y = (tuple(v.numpy().tolist()) for v in (shape_x, shape_y))
    try:
        return wrap(np.asarray(np.broadcast_shapes(x, y), shape_x.dtype))
    except ValueError as error:
        raise invalid(f"the shapes {x} and {y} do not broadcast") from error


@offered("ensure_shape", raises=(ValueError, TypeError))
def ensure_shape(x: K.Data, shape: Any) -> Native:
    """Return x, which must have a shape; None stands for any length."""
    wanted = TensorShape(shape)
    if not TensorShape(x.shape).is_compatible_with(wanted):
        raise invalid(f"the tensor has shape {x.shape}; expected {wanted}")
    return eager.alias(x)


@offered("identity", "guarantee_const", raises=(ValueError, TypeError))
def identity(input: Any) -> Any:
    """Return the same values as another tensor."""
    return input if isinstance(input, Composite) else eager.alias(eager.data_of(input))


@offered("identity_n", raises=(ValueError, TypeError))
def identity_n(input: Any) -> list[Native]:
    """Return the same values as other tensors, each of a list."""
    return [eager.alias(eager.convert(x)) for x in input]


# -- new arrays ------------------------------------------------------------------------------------


def _read_new_shape(value: Any, at: Argument, x: Any = None) -> tuple[int, ...]:
    if value is None:
        eager.convert(value)  # raises
    found = eager.static(value)
    found = found if isinstance(found, list) else [found]
    if any(type(n) is not int for n in found):
        kind = ValueError if None in found else TypeError
        raise as_is(kind(f"{at} is {value!r}; give whole numbers"))
    return K.lengths(found, at)


#: The shape of a new array, which may be one integer.
_NewShape = Annotated[tuple[int, ...], Kind(_read_new_shape)]


def _new_arrays(what: str, made: Any) -> None:
    """Offer `zeros` and `zeros_like`, or the same of ones."""

    @offered(what, doc=f"Return {what} in a shape.")
    def new(
        shape: _NewShape, dtype: K.Dtype = dtypes.float32, name: Any = None, layout: Any = None
    ) -> Native:
        return wrap(made(shape, dtype))

    @offered(f"{what}_like", doc=f"Return {what} in the shape and dtype of a tensor.")
    def like(
        input: K.Input, dtype: K.Dtype | None = None, name: Any = None, layout: Any = None
    ) -> Native:
        return wrap(made(input.shape, input.dtype if dtype is None else dtype))


_new_arrays("zeros", np.zeros)
_new_arrays("ones", np.ones)


@offered("fill", raises=(TypeError,))
def fill(dims: K.Integers, value: K.Data, name: Any = None, layout: Any = None) -> Native:
    """Return a tensor filled with one number, whose derivative it takes."""
    if value.size != 1 or value.ndim > 1:
        raise invalid(f"fill: the value has shape {value.shape}; give one number, without axes")
    whole = K.lengths(dims if isinstance(dims, list) else [dims], "dims")
    return ns.broadcast_to(ns.reshape(value, ()), whole)


@offered("eye", "linalg.eye", raises=(TypeError,))
def eye(
    num_rows: K.Count, num_columns: K.Count | None = None, batch_shape: Any = None,
    dtype: K.Dtype = dtypes.float32,
) -> Native:  # fmt: skip
    """Return a matrix with ones on its diagonal, or a batch of them."""
    if isinstance(batch_shape, int):
        raise TypeError(f"batch_shape is {batch_shape}; expected a list")
    columns = num_rows if num_columns is None else num_columns
    batch = () if batch_shape is None else K.lengths(batch_shape, "batch_shape")
    one = np.eye(num_rows, columns, dtype=dtype)
    return wrap(np.broadcast_to(one, (*batch, *one.shape)).copy())


_RANGE_ORDER = ("int32", "int64", "float32", "float64")


@offered("range", raises=(TypeError, ValueError))
def range_(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Native:
    """Return numbers from `start` (or 0) up to but without `limit`, in steps of `delta`."""
    if limit is None:
        start, limit = 0, start
    wanted = None if dtype is None else as_dtype(dtype)
    ends = [eager.convert(v, None if eager.is_tensor(v) else wanted) for v in (start, limit, delta)]
    if any(e.size != 1 or e.ndim > 1 for e in ends):
        raise invalid("start, limit and delta of range must be scalars")
    ends = [ns.reshape(e, ()) for e in ends]
    if wanted is None:
        names = [e.dtype.name for e in ends]
        wanted = as_dtype(
            max(names, key=_RANGE_ORDER.index) if set(names) <= set(_RANGE_ORDER) else names[1]
        )
    first, last, step = (e.numpy().astype(wanted._numpy)[()] for e in ends)
    if step == 0:
        raise invalid("delta is 0; expected a step")
    if (last - first) * np.sign(step) < 0:
        raise invalid(f"steps of {step} do not lead from {first} to {last}")
    return wrap(_steps(first, last, step, wanted._numpy))


def _steps(first: Any, last: Any, step: Any, dtype: np.dtype) -> np.ndarray:
    if dtype.kind in "iu":
        return np.arange(int(first), int(last), int(step)).astype(dtype)
    count = math.ceil(abs((last - first) / step))  # in the precision that is asked for
    return (first + np.arange(count).astype(dtype) * step).astype(dtype)


@offered("linspace", raises=(TypeError, ValueError))
def linspace(start: K.Input, stop: Any, num: K.Count, name: Any = None, axis: int = 0) -> Native:
    """Return `num` numbers from `start` to `stop`, evenly spaced; whole numbers become float64."""
    first, last, count = start, eager.convert(stop, of_numpy(start.dtype)), num
    if first.dtype.kind in "iu":
        first, last = ns.astype(first, np.float64), ns.astype(last, np.float64)
    first, last = ns.broadcast_arrays(first, last)
    where = K.in_range(axis, first.ndim + 1, "linspace()")
    line = ns.expand_dims(first, axis=where)
    end = ns.expand_dims(last, axis=where)
    shape = [1] * line.ndim
    shape[where] = max(count - 2, 0)
    steps = wrap(np.arange(1, max(count, 2) - 1).astype(first.dtype).reshape(shape))
    inner = line + (end - line) / max(count - 1, 1) * steps
    whole = ns.concat([line, inner, end], axis=where)
    return getitem(whole, (*[slice(None)] * where, slice(0, count)))


@offered("meshgrid", raises=(TypeError, ValueError))
def meshgrid(*args: Any, indexing: str = "xy") -> list[Native]:
    """Return a list of grids of coordinates, one for each vector of values along an axis."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is {indexing!r}; expected 'xy' or 'ij'")
    tensors = [eager.convert(a) for a in args]
    if not tensors:
        return []
    eager.check_dtypes("Mul", *tensors)
    lines = [ns.reshape(x, (-1,)) for x in tensors]
    return list(ns.meshgrid(*lines, indexing=indexing))
