"""Dtypes, shapes, errors and constants by TensorFlow's names."""

from __future__ import annotations

import math
from typing import Any

from wengert.dialects.tensorflow import dtypes, errors, tensors
from wengert.dialects.tensorflow.errors import mistake
from wengert.dialects.tensorflow.table import offered, plain, put
from wengert.dialects.tensorflow.tensor_shape import TensorShape
from wengert.dialects.tensorflow.tensors import Tensor, convert, is_tensor, outward, static
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap

ns = Native._namespace
for _name in (
    "float16", "half", "float32", "float64", "double", "int8", "int16", "int32", "int64", "uint8",
    "uint16", "uint32", "uint64", "complex64", "complex128",
):  # fmt: skip
    put((_name, f"dtypes.{_name}"), getattr(dtypes, _name))
put(("bool", "dtypes.bool"), dtypes.bool_)
put(("DType", "dtypes.DType"), dtypes.DType)
put(("as_dtype", "dtypes.as_dtype"), dtypes.as_dtype)
put(("TensorShape",), TensorShape)
put(("Tensor",), Tensor)
put(("is_tensor",), tensors.is_like_tensor)
put(("newaxis",), None)
put(("__version__", "version.VERSION"), "2.21.0")
for _name, _value in vars(errors).items():
    if isinstance(_value, type) and issubclass(_value, errors.OpError):
        put((f"errors.{_name}",), _value)


@offered("constant", raises=(ValueError, TypeError), recorded=False)
def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = "Const") -> Any:
    """Return a tensor of numbers, filled up with the last one if `shape` says so."""
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, (list, tuple)) and tensors._holds_tensor(value):
        raise ValueError(
            "tf.constant: got a list with tensors inside; write tf.stack(values), which "
            "derivatives go through"
        )
    tensor = convert(value) if is_tensor(value) else convert(value, kind)
    if tensors.is_variable(value):
        tensor = wrap(tensor._raw)  # its value now, as numbers
    if kind is not None and dtypes.of_numpy(tensor.dtype) != kind:
        raise TypeError(
            f"tf.constant: {outward(tensor)!s:.80} is of {dtypes.of_numpy(tensor.dtype)!r}, not "
            f"{kind!r}; write tf.cast(x, dtype)"
        )
    if shape is None:
        return value if type(value) is Tensor else tensor
    wanted = tuple(static(shape))
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
