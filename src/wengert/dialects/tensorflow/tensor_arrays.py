"""TensorArray: a list of tensors that a loop writes to."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.dtypes import as_dtype, of_numpy
from wengert.dialects.tensorflow.errors import InvalidArgumentError, OutOfRangeError, mistake
from wengert.dialects.tensorflow.settings import ignore
from wengert.dialects.tensorflow.structures import Opaque
from wengert.dialects.tensorflow.table import guarded, plain
from wengert.dialects.tensorflow.tensor_shape import TensorShape
from wengert.dialects.tensorflow.tensors import alias, convert, is_variable, made, outward, static
from wengert.engine.tensor import Tensor as Native

ns = Native._namespace


def _outside(index: int, size: int) -> Exception:
    message = f"TensorArray: index {index} of an array of size {size}"
    return OutOfRangeError(None, None, f"{message}; for one that grows write dynamic_size=True")


@plain("TensorArray")
class TensorArray(Opaque):
    """A list of tensors that a loop writes to."""

    def __init__(
        self, dtype: Any, size: Any = None, dynamic_size: Any = None, clear_after_read: Any = None,
        *, infer_shape: bool = True, element_shape: Any = None, **ignored: Any,
    ) -> None:  # fmt: skip
        if size is None or ignored.pop("handle", None) is not None:
            raise ValueError("TensorArray: give a size, and no handle: write size=0 for an empty")
        names = ("tensor_array_name", "flow", "colocate_with_first_write_call", "name")
        ignore("TensorArray", ignored, *names)
        self._dtype = as_dtype(dtype)
        self._grows = bool(dynamic_size)
        self._clears = clear_after_read is None or bool(clear_after_read)
        self._infers = infer_shape
        self._shape = TensorShape(element_shape)
        self._values: list[Native | None] = [None] * int(size)
        #: which elements were forgotten once they had been read
        self._read: set[int] = set()

    dtype = property(attrgetter("_dtype"), doc="The kind of numbers.")
    element_shape = property(attrgetter("_shape"), doc="The shape of an element, if it is known.")
    dynamic_size = property(attrgetter("_grows"), doc="Whether writing past the end adds to it.")

    def size(self, name: str | None = None) -> Any:
        """Return the number of elements."""
        return made(np.asarray(len(self._values), np.int32))

    def _put(self, index: Any, value: Any) -> None:
        at, size = int(index), len(self._values)
        if at < 0 or (at >= size and not self._grows):
            raise _outside(at, size)
        tensor = self._element(value)
        if not self._shape.is_compatible_with(tensor.shape):
            expected = f"{self._shape}; else write infer_shape=False"
            raise mistake(ValueError, "shape of an element", tensor.shape, expected)
        if self._infers:
            self._shape = self._shape.merge_with(tensor.shape)
        self._values += [None] * (at + 1 - size)
        self._values[at] = tensor

    def _element(self, value: Any) -> Native:
        tensor = convert(value, None, self._dtype._numpy)
        if is_variable(value):
            tensor = alias(tensor)  # a read of its own
        if tensor.dtype != self._dtype._numpy:
            dtype = of_numpy(tensor.dtype)
            raise mistake(InvalidArgumentError, "dtype of an element", dtype, repr(self._dtype))
        return tensor

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Return the array with a tensor at one place."""
        self._put(index, value)
        return self

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Return the array with the elements of a tensor at some places."""
        tensor = convert(value, None, self._dtype._numpy)
        for i, at in enumerate(static(indices)):
            self._put(at, tensor[i])
        return self

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Return the array with the elements of a tensor."""
        tensor = convert(value, None, self._dtype._numpy)
        if not tensor.ndim:
            raise ValueError("TensorArray.unstack: got one number; expected a first axis")
        if tensor.shape[0] > len(self._values) and not self._grows:
            raise mistake(
                ValueError, "unstack: elements", len(tensor), f"{len(self._values)} at most"
            )
        self._values = [tensor[i] for i in range(tensor.shape[0])]
        return self

    def read(self, index: Any, name: str | None = None) -> Any:
        """Return the tensor at one place, which is then forgotten unless `clear_after_read`."""
        at = int(index)
        if not 0 <= at < len(self._values):
            raise _outside(at, len(self._values))
        if self._values[at] is None and at in self._read:
            raise InvalidArgumentError(
                f"element {at} was read; to read it twice write clear_after_read=False"
            )
        value = self._filled(at)
        if self._clears:
            self._values[at] = None
            self._read.add(at)
        return outward(value)

    def _filled(self, at: int) -> Native:
        """Return an element; one that was not written to is zero."""
        value = self._values[at]
        if value is None:
            if not self._shape.is_fully_defined():
                raise ValueError(f"element {at} is not written to; give element_shape=shape")
            value = ns.zeros(tuple(self._shape), dtype=self._dtype._numpy)
            self._values[at] = value
        return value

    @guarded("TensorArray", ValueError)
    def stack(self) -> Any:
        """Return all elements as one tensor; what was not written to is zero."""
        if not self._values:
            rest = tuple(self._shape) if self._shape.is_fully_defined() else ()
            return ns.zeros((0, *rest), dtype=self._dtype._numpy)
        return ns.stack([self._filled(i) for i in range(len(self._values))])

    @guarded("TensorArray", ValueError, IndexError)
    def gather(self, indices: Any) -> Any:
        """Return some elements as one tensor."""
        return ns.stack([self._filled(i) for i in static(indices)])

    @guarded("TensorArray", ValueError)
    def concat(self) -> Any:
        """Return all elements one after the other along their first axes."""
        values = [self._filled(i) for i in range(len(self._values))]
        if any(not v.ndim for v in values):
            raise InvalidArgumentError(
                "TensorArray.concat: an element is one number; write stack()"
            )
        return ns.concat(values)

    def identity(self) -> TensorArray:
        """Return the array itself."""
        return self

    def close(self, name: str | None = None) -> None:
        """Forget all elements."""
        self._values = []
