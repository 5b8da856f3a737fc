"""Tensors as Python and NumPy see them: sizes, dtypes, numbers out, conversions, copies."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import named
from wengert.dialects.torch import devices, dtypes, memory
from wengert.dialects.torch.axes import misfit
from wengert.dialects.torch.copies import copied
from wengert.dialects.torch.creation import cast, from_numpy
from wengert.dialects.torch.devices import check_device, sized
from wengert.dialects.torch.kinds import Bool, Given, Input, Number, axis_of
from wengert.dialects.torch.modes import is_grad_enabled
from wengert.dialects.torch.table import NAMES, both, direct, guarded, offered, plain, put
from wengert.dialects.torch.tensors import Native, Tensor, ns, values_of, wrap_native
from wengert.engine.node import watching
from wengert.ops.numpy.ufuncs import in_line


def _method(function: Any) -> Any:
    put((f"Tensor.{function.__name__}",), function)
    return function


def _both(function: Any) -> Any:
    """Offer a function of a tensor, and a method."""
    return direct(*both(function.__name__))(function)


# -- sizes -----------------------------------------------------------------------------------------

put(("Tensor.shape",), property(devices.shape_of, doc="The length of each axis."))


def _along(values: Any, dim: Any, self: Tensor) -> Any:
    """Return the value of one axis, or those of all for None."""
    if dim is None:
        return values
    axis = axis_of(dim, self)
    if not values:
        raise IndexError("a single number has no axis 0; write x.reshape(1) first")
    return values[axis]


@_method
def size(self: Tensor, dim: Any = None) -> Any:
    """Return the length of each axis, or of one."""
    shape = self._raw.shape
    if type(dim) is int and -(count := len(shape)) <= dim < count:  # quickly
        return shape[dim]
    return _along(sized(shape), dim, self)


def _array(tensor: Tensor, what: str = ".item() and the like need") -> np.ndarray:
    """Return a tensor's array, which there is not one of inside a vmap."""
    raw = tensor._raw
    if type(raw) is not np.ndarray:
        raise RuntimeError(
            f"vmap: {what} the numbers of a tensor, and inside of vmap there are many tensors at "
            "once; write it with torch's functions, such as torch.where, or outside of the vmap"
        )
    return raw


@_method
def stride(self: Tensor, dim: Any = None) -> Any:
    """Return how many elements in memory one step along each axis goes, or along one."""
    raw = _array(self)
    steps = tuple(s // raw.itemsize for s in raw.strides)
    if 0 in raw.shape:  # for NumPy all steps are 0 then
        lengths = [max(n, 1) for n in raw.shape]
        steps = tuple(math.prod(lengths[k + 1 :]) for k in range(raw.ndim))
    return _along(steps, dim, self)


@plain("Tensor.dim", "Tensor.ndimension")
def _ndim(self: Tensor) -> int:
    """Return the number of axes."""
    return len(self._raw.shape)


put(("Tensor.ndim",), property(_ndim))


@direct("numel", "Tensor.numel", "Tensor.nelement")
def numel(input: Given) -> int:
    """Return the number of elements."""
    return math.prod(input._raw.shape)


@_method
def element_size(self: Tensor) -> int:
    """Return the number of bytes of an element."""
    return int(self._raw.dtype.itemsize)


put(("Tensor.itemsize",), property(element_size))
put(("Tensor.nbytes",), property(lambda self: numel(self) * element_size(self)))


@_method
def is_contiguous(self: Tensor, memory_format: Any = devices.contiguous_format) -> bool:
    """Return whether elements lie in memory one after the other, in the order of their indices."""
    return memory_format is devices.contiguous_format and _array(self).flags.c_contiguous


@_method
def data_ptr(self: Tensor) -> int:
    """Return the address of the first element."""
    return int(_array(self).ctypes.data) if self._raw.size else 0


@_method
def storage_offset(self: Tensor) -> int:
    """Return the position of the first element in the memory that it shares."""
    raw = _array(self)
    if not raw.size:
        return 0
    return int(raw.ctypes.data - memory.owner(raw).ctypes.data) // raw.itemsize


class Storage:
    """The memory of tensors, all of whose elements, or bytes, are in a row."""

    def __init__(self, raw: np.ndarray, kind: np.dtype | None = None) -> None:
        self._whole = memory.owner(raw)
        self._row = self._whole.ravel(order="K").view(kind or raw.dtype)

    def data_ptr(self) -> int:
        """Return the address."""
        return int(self._whole.ctypes.data)

    def nbytes(self) -> int:
        """Return the number of bytes."""
        return int(self._whole.nbytes)

    def tolist(self) -> list[Any]:
        """Return the elements."""
        return self._row.tolist()

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> Storage:
        """Return the bytes of a file, mapped to memory; `shared` if writes go to the file."""
        return cls(np.memmap(filename, np.uint8, "r+" if shared else "c", shape=(nbytes,)))

    def untyped(self) -> Storage:
        """Return the same memory as bytes."""
        return Storage(self._whole, np.dtype(np.uint8))

    def __getitem__(self, key: Any) -> Any:
        return self._row[key] if isinstance(key, slice) else self._row[key].item()

    def __len__(self) -> int:
        return len(self._row)

    size = __len__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Storage) and other._whole is self._whole

    def __hash__(self) -> int:
        return id(self._whole)


put(("UntypedStorage",), Storage)
put(("Tensor.storage", "Tensor._typed_storage"), lambda self: Storage(_array(self)))
put(("Tensor.untyped_storage",), lambda self: Storage(_array(self), np.dtype(np.uint8)))


# -- dtypes and devices ----------------------------------------------------------------------------


def _fact(name: str, kinds: str, what: str) -> None:
    """Offer a function that says whether a tensor's numbers are of some kinds."""

    @_both
    @named(name, f"Return whether {what}.")
    def fact(input: Given) -> bool:
        return backends.kind_of(input._raw.dtype) in kinds


_fact("is_floating_point", "f", "numbers are real and have fractions")
_fact("is_complex", "c", "numbers are complex")
_fact("is_signed", "ifc", "numbers may be negative")
_fact("is_conj", "", "conjugation was put off: it never is")


put(("Tensor.is_shared", "Tensor.is_pinned"), lambda self, *args: False)
for _name in (
    "is_cuda", "is_sparse", "is_sparse_csr", "is_quantized", "is_meta", "is_mps", "is_mkldnn",
    "is_xla", "is_xpu", "is_nested", "volatile",
):  # fmt: skip
    put((f"Tensor.{_name}",), property(lambda self: False))
put(("Tensor.is_cpu",), property(lambda self: True))
put(("Tensor.device",), property(lambda self: devices.CPU))
put(("Tensor.layout",), property(lambda self: devices.strided))
put(("Tensor.name",), property(lambda self: None))
put(("Tensor.get_device", "get_device"), lambda input: -1)
put(("Tensor.resolve_conj", "resolve_conj"), lambda input: input)
put(("Tensor.resolve_neg", "resolve_neg"), lambda input: input)


# -- other dtypes ----------------------------------------------------------------------------------


def _cast(input: Input, kind: Any) -> Native:
    source, x = input._raw.dtype, input
    if source == kind:
        return copied(x)
    if source.kind == "c" and kind.kind not in "cb":
        x = ns.real(x)
    if (
        type(x._raw) is np.ndarray
        and backends.is_inexact(source)
        and backends.kind_of(kind) in "iub"
    ):
        return wrap_native(cast(x._raw, kind))
    with np.errstate(all="ignore"):
        return ns.astype(x, kind)


_copied = guarded(_cast, "ToCopyBackward0")


def as_dtype(tensor: Tensor, kind: np.dtype, copied: bool = False) -> Tensor:
    """Return a tensor with another dtype, or itself if it has that and no copy is asked for."""
    if tensor._raw.dtype == kind and not copied:
        return tensor
    return _copied(tensor, kind)


@_method
def to(
    self: Tensor, *args: Any, device: Any = None, dtype: Any = None, non_blocking: bool = False,
    copy: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Return a tensor with another dtype, or on another device, or like another tensor."""
    given = list(args)
    if given and isinstance(given[0], Tensor):
        device, dtype = None, given.pop(0).dtype
    else:
        if given and (given[0] is None or isinstance(given[0], (str, devices.device, int))):
            device = given.pop(0)
        if given and not isinstance(given[0], bool):
            dtype = given.pop(0)
    if len(given) > 1:
        copy = bool(given[1])
    if any(not isinstance(g, bool) for g in given):
        raise TypeError(f"to(): got {args!r:.100}; give a device, a dtype or a tensor")
    check_device(device)
    kind = self._raw.dtype if dtype is None else dtypes.to_numpy(dtype)
    return as_dtype(self, kind, copy)


def _to_kind(name: str, kind: dtypes.dtype) -> None:
    @_method
    @named(name, f"Return a tensor with dtype {kind}.")
    def method(self: Tensor, memory_format: Any = None) -> Tensor:
        return as_dtype(self, kind.numpy)


for _name, _kind in dtypes.ALIASES.items():
    _to_kind(_name, _kind)
for _name, _kind in {
    "char": dtypes.int8, "byte": dtypes.uint8, "bool": dtypes.bool_, "bfloat16": dtypes.bfloat16,
}.items():  # fmt: skip
    _to_kind(_name, _kind)


@direct("Tensor.type_as")
def type_as(self: Given, other: Given) -> Tensor:
    """Return a tensor with another's dtype."""
    return as_dtype(self, other._raw.dtype)


@plain("Tensor.type")
def _type(self: Tensor, dtype: Any = None, non_blocking: bool = False, **options: Any) -> Any:
    """Return what PyTorch calls tensors like this one, or a tensor with another dtype."""
    if dtype is None:
        return f"torch.{dtypes.TYPES[self._raw.dtype.name]}Tensor"
    if isinstance(dtype, str):
        found = NAMES.get(dtype.removeprefix("torch."))
        if found is None or not hasattr(found, "kind"):
            raise ValueError(f"there is no type '{dtype}'; write torch.float32 or the like")
        dtype = found
    kind = getattr(dtype, "kind", dtype)
    return as_dtype(self, dtypes.to_numpy(kind))


@_method
def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, **options: Any) -> Tensor:
    """Raise, as a PyTorch without CUDA does."""
    check_device("cuda")
    return self


@_method
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Raise, as a PyTorch without an accelerator does."""
    raise RuntimeError("memory is pinned for accelerators; leave pin_memory away")


put(("Tensor.cpu",), lambda self, memory_format=None: self)
put(("Tensor.share_memory_",), lambda self: self)
put(("Tensor.to_dense",), lambda self, dtype=None: self if dtype is None else to(self, dtype))


@_method
def as_subclass(self: Tensor, cls: Any) -> Any:
    """Return a tensor of another class with the same memory and node."""
    result = object.__new__(cls)
    result.__dict__.update(self.__dict__)
    return result


# -- numbers out -----------------------------------------------------------------------------------


def _show_left(tensor: Tensor) -> None:
    """Show who watches that a tensor's numbers are taken out."""
    watcher = watching.get()
    if watcher is not None:
        watcher.left(tensor, "x.item()")


def _only(self: Tensor, error: type[Exception] = ValueError, instead: str = "x.tolist()") -> Any:
    """Return the only number."""
    _show_left(self)
    raw = _array(self)
    if raw.size != 1:
        raise error(f"a tensor of shape {list(raw.shape)} is no single number; write {instead}")
    return raw.item()


@_method
def item(self: Tensor) -> Any:
    """Return the only number, as Python's."""
    _show_left(self)
    raw = self._raw
    return raw.item() if type(raw) is np.ndarray and raw.size == 1 else _only(self, RuntimeError)


@_method
def tolist(self: Tensor) -> Any:
    """Return the numbers as lists of Python's."""
    _show_left(self)
    return _array(self).tolist()


@_method
def numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
    """Return the memory as a NumPy array."""
    _show_left(self)
    if self.requires_grad and not force and is_grad_enabled():
        raise RuntimeError("numpy() would lose the gradient; write x.detach().numpy()")
    return _array(self)


@_method
def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    if dtype is None and not copy:
        return numpy(self)
    return np.array(numpy(self), dtype, copy=copy or None)


@_method
def __array_wrap__(
    self: Tensor, array: np.ndarray, context: Any = None, return_scalar: bool = False
) -> Tensor:
    if array.dtype == bool:
        array = array.astype(np.uint8)
    return from_numpy(np.asarray(array))


@_method
def __dlpack__(self: Tensor, **options: Any) -> Any:
    if self.requires_grad:
        raise BufferError("another library would lose the gradient; write x.detach()")
    return _array(self).__dlpack__(**options)


@_method
def __dlpack_device__(self: Tensor) -> Any:
    return _array(self).__dlpack_device__()


def _real_number(self: Tensor) -> Any:
    found = _only(self)
    if isinstance(found, complex):
        if found.imag:
            raise RuntimeError("a complex number is no float; write x.real")
        return found.real
    return found


put(("Tensor.__float__",), lambda self: float(_real_number(self)))
put(("Tensor.__int__", "Tensor.__long__"), lambda self: int(_real_number(self)))
put(("Tensor.__complex__",), lambda self: complex(_only(self)))


@_method
def __index__(self: Tensor) -> int:
    if self._raw.dtype.kind not in "iub":
        raise TypeError("an index must be a single whole number; write int(x)")
    return int(_only(self, TypeError))


@plain("Tensor.__bool__", "Tensor.__nonzero__")
def _truth(self: Tensor) -> bool:
    _array(self, "data-dependent control flow needs")
    return bool(_only(self, RuntimeError, "x.any() or x.all()"))


@_method
def __len__(self: Tensor) -> int:
    if not self._raw.shape:
        raise TypeError("a single number has no length; write x.numel(), or x.reshape(1)")
    return int(self._raw.shape[0])


@_method
def __iter__(self: Tensor) -> Iterator[Any]:
    if not self._raw.shape:
        raise TypeError("a single number has no elements to iterate over; write x.reshape(1)")
    return iter(self.unbind(0))


@_method
def __contains__(self: Tensor, element: Any) -> bool:
    if not isinstance(element, (Tensor, bool, int, float, complex, np.generic)):
        raise RuntimeError(f"x in tensor: x is a {type(element)}; give a tensor or a number")
    other = element._raw if isinstance(element, Tensor) else element
    return bool((_array(self) == other).any())


@_method
def __reversed__(self: Tensor) -> Any:
    return self.flip(0) if self._raw.shape else self


@_method
def __repr__(self: Tensor) -> str:
    from wengert.dialects.torch.printing import text

    return text(self)


@_method
def __format__(self: Tensor, spec: str) -> str:
    if not self._raw.shape and type(self) is Tensor:
        return format(item(self), spec)
    return object.__format__(self, spec)


# -- copies ----------------------------------------------------------------------------------------

#: Attributes that say what a tensor is to the engine; a copy has its own.
_INNER = {
    "_raw", "_node", "_grad", "_base", "_path", "_turns", "_turned", "_among", "_blind", "_held",
    "_seen", "_views", "_origin", "_retains", "_after", "_inference",
}  # fmt: skip


def _further(tensor: Tensor) -> dict[str, Any]:
    """Return the attributes that a program gave a tensor."""
    return {k: v for k, v in tensor.__dict__.items() if k not in _INNER}


def _rebuilt(cls: Any, raw: np.ndarray, requires_grad: bool, further: dict[str, Any]) -> Any:
    tensor = object.__new__(cls)
    tensor._raw, tensor._node = raw, None
    tensor.__dict__.update(further)
    if requires_grad:
        Tensor.requires_grad_(tensor)
    return tensor


@_method
def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Any:
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "a tensor that was computed is not copied by deepcopy, which would lose its "
            "gradient; write x.detach() or x.clone()"
        )
    result = _rebuilt(
        type(self), _array(self).copy(order="K"), self.requires_grad,
        copy.deepcopy(_further(self), memo),
    )  # fmt: skip
    memo[id(self)] = result
    if self._grad is not None:
        result._grad = copy.deepcopy(self._grad, memo)
    return result


@_method
def __copy__(self: Tensor) -> Any:
    return _rebuilt(type(self), _array(self), self.requires_grad, _further(self))


@_method
def __reduce_ex__(self: Tensor, protocol: Any) -> Any:
    further = (type(self), values_of(self), self.requires_grad, _further(self))
    return _rebuilt, further


put(("Tensor.__reduce__",), lambda self: __reduce_ex__(self, 2))


# -- the same numbers ------------------------------------------------------------------------------


@direct(*both("equal"))
def equal(input: Given, other: Given) -> bool:
    """Return whether two tensors have the same shape and the same numbers."""
    return bool(np.array_equal(_array(input), _array(other)))


@offered("isclose")
def isclose(
    input: Input, other: Input, rtol: Number = 1e-05, atol: Number = 1e-08, equal_nan: Bool = False
) -> Native:
    """Return where two tensors are equal up to an absolute and a relative difference."""
    if input.dtype != other.dtype or rtol < 0 or atol < 0:
        given = {"dtypes": (input.dtype, other.dtype), "rtol": rtol, "atol": atol}
        raise misfit("isclose", "one dtype, and tolerances of 0 or more", **given)
    return in_line(lambda x, y: np.isclose(x, y, rtol, atol, equal_nan), input, other)


@plain(*both("allclose"))
def allclose(*args: Any, **options: Any) -> bool:
    """Return whether two tensors are equal up to an absolute and a relative difference."""
    return bool(_array(isclose(*args, **options)).all())
