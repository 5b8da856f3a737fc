"""tf.experimental.numpy: NumPy's functions on tensors, with NumPy's dtypes.

NumPy itself is called, and asks Wengert's tensors to compute. Where TensorFlow's derivatives at
kinks and ties are its own, its function is called on operands of the dtype that NumPy gives them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.quiet import Quiet
from wengert.dialects.tensorflow import nn
from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.table import ABSENT, NAMES, put
from wengert.dialects.tensorflow.tensor_shape import TensorShape
from wengert.dialects.tensorflow.tensors import Tensor, convert, is_like_tensor, made, outward
from wengert.engine.tensor import Tensor as Native

_HERE = "experimental.numpy"
ABSENT[f"{_HERE}.random"] = (
    "tf.experimental.numpy.random is not offered; write tf.random.normal(shape, dtype='float64')"
)
ABSENT[f"{_HERE}.experimental_enable_numpy_behavior"] = (
    "tensors do not get NumPy's methods and promotion of dtypes; write tnp.reshape(x, shape), "
    "tnp.add(x, y), or NumPy's own functions on wg.asarray(x)"
)


def _inward(value: Any) -> Any:
    if is_like_tensor(value):
        return convert(value)
    if type(value) not in (list, tuple):
        return value
    if value and isinstance(value[0], str):
        raise invalid(f"{value!r:.60} is of strings, and numbers are expected")
    return type(value)(map(_inward, value))


def _outward(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic, bool)):
        return made(np.asarray(value))
    return list(map(_outward, value)) if type(value) in (list, tuple) else outward(value)


def _as_numpy_does(name: str) -> Callable[..., Any]:
    """Return NumPy's function of a name, which takes and returns TensorFlow's tensors."""
    function = getattr(np, name)

    def call(*args: Any, **options: Any) -> Any:
        args = tuple(map(_inward, args))
        options = {key: _inward(value) for key, value in options.items()}
        if "dtype" in options:
            options["dtype"] = getattr(options["dtype"], "as_numpy_dtype", options["dtype"])
        with Quiet():
            return _outward(function(*args, **options))

    call.__doc__ = f"Return what numpy.{name} returns, as tensors."
    return call


_OF_NUMPY = (
    "add all allclose angle any append arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh "
    "argmax argmin argsort around array_equal atleast_1d atleast_2d atleast_3d average "
    "broadcast_arrays broadcast_to cbrt ceil concatenate conj conjugate cos cosh count_nonzero "
    "cross cumprod cumsum deg2rad diag diagflat diagonal diff divide dot dsplit dstack einsum "
    "equal exp exp2 expand_dims expm1 eye fix flip fliplr flipud floor floor_divide full full_like "
    "geomspace greater greater_equal hsplit hstack hypot identity imag inner isclose isfinite "
    "isinf isnan kron less less_equal linspace log log10 log1p log2 logaddexp logical_and "
    "logical_not logical_or logical_xor logspace matmul mean meshgrid moveaxis multiply negative "
    "nonzero not_equal ones ones_like outer pad polyval positive prod rad2deg ravel real "
    "reciprocal remainder repeat reshape roll rot90 sign sin sinc sinh sort split sqrt square "
    "squeeze stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile trace "
    "transpose tri tril triu true_divide vander var vdot vsplit vstack where zeros zeros_like"
)
for _name in _OF_NUMPY.split():
    put((f"{_HERE}.{_name}",), _as_numpy_does(_name))
put((f"{_HERE}.ndarray",), Tensor)
_VALUES = (
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 "
    "complex128 bool_ int_ inexact pi e inf newaxis finfo iinfo issubdtype isscalar"
)
for _name in _VALUES.split():
    put((f"{_HERE}.{_name}",), getattr(np, _name))


# -- arrays ----------------------------------------------------------------------------------------


def array(val: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """Return a value as a tensor, of the dtype that NumPy gives it."""
    found = _inward(val)
    if type(found) is not Native:
        parts = isinstance(found, (list, tuple)) and any(type(v) is Native for v in found)
        found = np.stack(found) if parts else np.array(found)
    wanted = getattr(dtype, "as_numpy_dtype", dtype)
    found = found if wanted is None else found.astype(wanted)
    while found.ndim < ndmin:
        found = found[None]
    return _outward(found)


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """Return a value as a tensor; a tensor of that dtype as it is."""
    kept = type(a) is Tensor and (dtype is None or a.dtype == dtype)
    return a if kept else array(a, dtype)


def shape(a: Any) -> TensorShape:
    """Return the length of each axis."""
    return asarray(a).shape


def ndim(a: Any) -> int:
    """Return the number of axes."""
    return asarray(a).ndim


def size(x: Any, axis: int | None = None) -> Any:
    """Return the number of elements, or the length of an axis."""
    lengths = np.asarray(shape(x).as_list(), np.int64)
    return lengths.prod() if axis is None else lengths[axis]


# -- kinks and ties as TensorFlow has them ---------------------------------------------------------


def _of_tensorflow(name: str) -> Callable[..., Any]:
    """Return TensorFlow's function on operands of the dtype that NumPy would compute in."""

    def call(*operands: Any) -> Any:
        kinds = [v.dtype if isinstance(v, Native) else v for v in map(_inward, operands)]
        dtype = np.result_type(*kinds)
        return NAMES[name](*[NAMES["cast"](array(v), dtype) for v in operands])

    call.__doc__ = f"Return what tf.{name} returns, of operands in NumPy's dtype."
    return call


minimum = _of_tensorflow("minimum")
_larger = _of_tensorflow("maximum")


def maximum(x1: Any, x2: Any) -> Any:
    """Return the larger of two numbers, for each element; of x and 0, what tf.nn.relu returns."""
    for x, other in ((x1, x2), (x2, x1)):
        if is_like_tensor(x) and type(other) in (int, float) and other == 0:
            return nn.relu(x)
    return _larger(x1, x2)


def clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    """Return a tensor whose elements are not outside of two limits."""
    lower = a if a_min is None else _larger(a, a_min)
    return asarray(lower) if a_max is None else minimum(lower, a_max)


def _extreme(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, keepdims: bool | None = None) -> Any:
        return NAMES[f"reduce_{name}"](asarray(a), axis, bool(keepdims))

    call.__doc__ = f"Return the {name}imum over all axes or some."
    return call


for _names, _value in {
    "array": array, "asarray asanyarray ascontiguousarray copy": asarray, "shape": shape,
    "ndim": ndim, "size": size, "maximum": maximum, "minimum": minimum, "clip": clip,
    "abs absolute fabs": _of_tensorflow("abs"), "power": _of_tensorflow("pow"),
    "max amax": _extreme("max"), "min amin": _extreme("min"),
}.items():  # fmt: skip
    put(tuple(f"{_HERE}.{_name}" for _name in _names.split()), _value)
