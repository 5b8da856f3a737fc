"""Tensors made from Python's values and from nothing."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np

from wengert import backends
from wengert.dialects import quiet
from wengert.dialects.kernel.functions import Argument, Dialect, Function, Kind, function, named
from wengert.dialects.kernel.readers import shown
from wengert.dialects.torch import dtypes
from wengert.dialects.torch import kinds as K
from wengert.dialects.torch.axes import check_same
from wengert.dialects.torch.devices import check_device, check_layout
from wengert.dialects.torch.table import DIRECT, direct, offered, plain, put
from wengert.dialects.torch.tensors import Native, Tensor, made, ns
from wengert.dialects.torch.viewing import viewed
from wengert.ops import elementwise

_SEQUENCES = (list, tuple, range)
_NESTS = (*_SEQUENCES, np.ndarray)


def new(
    raw: np.ndarray, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Return a tensor around a new array, as the options of a function that makes one say."""
    check_device(device)
    check_layout(layout)
    if not isinstance(requires_grad, bool):
        raise TypeError(f"requires_grad is a {type(requires_grad).__name__}; give True or False")
    result = made(raw)
    return result.requires_grad_() if requires_grad else result


def _finish(raw: Any, layout: Any, device: Any, _: Any, requires_grad: Any) -> Tensor:
    if layout is device is None and requires_grad is False:
        return made(raw)
    return new(raw, layout, device, requires_grad)


#: Of functions whose tensors have the arrays that their bodies return.
_CREATING = Dialect(
    finish=_finish,
    options={"layout": None, "device": None, "pin_memory": False, "requires_grad": False},
    aliases=DIRECT.aliases,
)


def creates(*names: str, new: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that offers a function whose tensor has the array that a body returns.

    The function takes the options that all functions take that make tensors. With `new` there is
    a method as well, such as `Tensor.new_zeros`, for a tensor of the same dtype.
    """

    def declare(body: Callable[..., Any]) -> Callable[..., Any]:
        call = function(Function(body, body.__name__.strip("_"), _CREATING))
        put(names, call)
        if new:
            _put_method(names[0], call)
        return call

    return declare


def _put_method(name: str, call: Callable[..., Any]) -> None:
    @plain(f"Tensor.new_{name}")
    @named(f"new_{name}", f"Return what torch.{name} does, with this tensor's dtype.")
    def method(self: Tensor, *args: Any, dtype: Any = None, **options: Any) -> Tensor:
        return call(*args, dtype=self.dtype if dtype is None else dtype, **options)


# -- from Python's values --------------------------------------------------------------------------


def array_of(data: Any, kind: np.dtype | None = None) -> np.ndarray:
    """Return a new array of what a program gives as data."""
    if type(data) in (list, tuple) and {*map(type, data)} == {float}:  # quickly
        kind = dtypes.or_default(kind)
        return (_rounded if kind.kind in "fc" else _filled)(data, kind)
    if isinstance(data, Tensor):
        return np.array(data._raw) if kind is None else cast(data._raw, kind)
    if isinstance(data, (np.ndarray, np.generic)):
        data = np.asarray(data)
        check_array(data)
        return np.array(data) if kind is None else cast(data, kind)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): '{type(data).__name__}' is no number; give numbers")
    shape = _shape(data)
    values: list[Any] = [] if shape else [data]
    if shape and shape[-1]:
        _flatten(data, shape, 0, values)
    return _filled(values, _kind_of(values) if kind is None else kind).reshape(shape)


def check_array(array: np.ndarray) -> None:
    """Raise unless a NumPy array may become a tensor."""
    if not array.dtype.isnative:
        raise ValueError(
            "the array's bytes are in the other order than this machine's; write "
            "array.astype(array.dtype.newbyteorder('='))"
        )
    dtypes.of_numpy(array.dtype)
    if any(s < 0 for s in array.strides):
        raise ValueError(
            "the array runs backwards along an axis, and a tensor cannot share such memory; "
            "write array.copy()"
        )


def cast(raw: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Return a new array of another dtype, with nothing said of what does not fit."""
    if raw.dtype.kind == "c" and kind.kind not in "cb":
        raw = raw.real
    if backends.kind_of(raw.dtype) == "f" and backends.kind_of(kind) == "u":
        with np.errstate(all="ignore"):  # by way of whole numbers with signs, which wrap around
            return raw.astype(np.int64).astype(kind)
    with np.errstate(all="ignore"):
        return raw.astype(kind)


def _shape(data: Any) -> tuple[int, ...]:
    """Return the lengths of a nest along its first elements."""
    lengths = []
    while isinstance(data, _NESTS):
        if len(data) and isinstance(data[0], str):
            raise ValueError("a str is no number; give numbers, or nested lists of them")
        lengths.append(len(data))
        if not len(data):
            break
        data = data[0]
    return tuple(lengths)


def _flatten(data: Any, shape: tuple[int, ...], depth: int, values: list[Any]) -> None:
    """Append the values of a nest to a list, or raise if it is not as regular as it should be."""
    if not isinstance(data, _NESTS):
        raise TypeError(f"a {type(data).__name__} beside a list; give nested lists of one depth")
    if len(data) != shape[depth]:
        raise ValueError(
            f"a list of {len(data)} at depth {depth}, beside lists of {shape[depth]}; give one "
            "length"
        )
    if depth == len(shape) - 1:
        values.extend(data)
    else:
        for part in data:
            _flatten(part, shape, depth + 1, values)


def _kind_of(values: list[Any]) -> np.dtype:
    """Return the dtype of some numbers together."""
    some = {v._raw.dtype if isinstance(v, Tensor) else type(v): v for v in values}
    kinds = [_kind_of_one(v) for v in some.values()]
    return functools.reduce(dtypes.joined, kinds) if kinds else dtypes.default().numpy


def _kind_of_one(value: Any) -> np.dtype:
    if isinstance(value, Tensor):
        return value._raw.dtype
    if isinstance(value, (np.generic, np.ndarray)):
        return dtypes.of_numpy(value.dtype).numpy
    if isinstance(value, (bool, int, float, complex)):
        return dtypes.of_number(value)
    error = TypeError if isinstance(value, (str, bytes, *_SEQUENCES)) else RuntimeError
    raise error(f"a {type(value).__name__} has no dtype; give numbers, or lists of one depth")


def _filled(values: Sequence[Any], kind: np.dtype) -> np.ndarray:
    """Return an array of Python's numbers, or raise if they are none or do not fit."""
    if kind.kind == "b":
        return np.array([bool(v) for v in values], kind)
    if backends.is_inexact(kind):
        number: Any = float if backends.kind_of(kind) == "f" else complex
        if {*map(type, values)} != {float}:
            values = [number(v) for v in values]
        return _rounded(values, kind)
    limits = np.iinfo(kind)
    if {*map(type, values)} == {int} and limits.min <= min(values) <= max(values) <= limits.max:
        return np.array(values, kind)
    bits = 8 * kind.itemsize
    whole = [_whole(v, kind) % 2**bits for v in values]
    return np.array(whole, f"u{kind.itemsize}").astype(kind)


def _rounded(values: Sequence[Any], kind: np.dtype) -> np.ndarray:
    token = quiet.enter()
    try:
        if kind.kind in "fc":
            return np.array(values, kind)
        return np.array(values, np.float64).astype(kind)
    finally:
        quiet.leave(token)


def _whole(value: Any, kind: np.dtype) -> int:
    if type(value) is int or isinstance(value, (bool, np.bool_)):
        found = int(value)
        most = 2**64 if kind == np.uint64 else 2**63
        if not -(2**63) <= found < most:
            raise ValueError(f"{found} does not fit into 64 bits")
        check_fits(found, kind)
        return found
    if isinstance(value, (complex, np.complexfloating, *_SEQUENCES)):
        raise TypeError(f"got a value of type '{type(value).__name__}'; give a whole number")
    if isinstance(value, Tensor) and value._raw.dtype.kind in "iub":
        return value.__index__()
    number = int(value) if isinstance(value, np.integer) else float(value)
    check_fits(number, kind)
    return int(number)


def check_fits(number: Any, kind: np.dtype) -> None:
    """Raise unless a dtype has a number; negative ones wrap around if the dtype has no sign."""
    if isinstance(number, complex) and not number.imag:
        number = number.real
    if kind.kind in "iu" and not isinstance(number, complex):
        limits = np.iinfo(kind)
        least = -int(limits.max) if kind.kind == "u" else int(limits.min)
        most = int(limits.max) + (kind == np.int64 and isinstance(number, float))  # 2.0**63 wraps
        fits = math.isfinite(number) and least <= int(number) <= most
    else:
        fits = kind.kind == "c" or not isinstance(number, complex)
        if backends.is_narrow(kind) and fits:
            fits = abs(number) <= backends.finfo(kind).max or not math.isfinite(abs(number))
    if not fits:
        raise RuntimeError(f"{number} is out of the range of {kind}; choose a wider dtype")


@creates("tensor", new=True)
def tensor(data: Any, *, dtype: K.Dtype | None = None) -> np.ndarray:
    """Return a tensor with a copy of some numbers."""
    return array_of(data, dtype)


@direct("as_tensor")
def as_tensor(data: Any, dtype: K.Dtype | None = None, device: Any = None) -> Tensor:
    """Return data as a tensor that shares its memory where that is possible."""
    check_device(device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtypes.of_numpy(dtype))
    if isinstance(data, np.ndarray) and (dtype is None or dtype == data.dtype):
        return from_numpy(data)
    return made(array_of(data, dtype))


@direct("asarray")
def asarray(
    obj: Any, *, dtype: K.Dtype | None = None, device: Any = None, copy: K.Bool | None = None,
    requires_grad: K.Bool = False,
) -> Tensor:  # fmt: skip
    """Return data as a tensor; `copy` says whether its memory must, or must not, be its own."""
    if isinstance(obj, (bytes, bytearray, memoryview)):
        obj = np.frombuffer(obj, dtypes.or_default(dtype))
    if copy is False:
        kind = getattr(getattr(obj, "_raw", obj), "dtype", None)
        if kind is None or (dtype is not None and dtype != kind):
            raise ValueError(
                f"a {type(obj).__name__} has no memory that a tensor could share with this dtype; "
                "leave copy=False away"
            )
    named = None if dtype is None else dtypes.of_numpy(dtype)
    if copy and isinstance(obj, Tensor):
        result = obj.to(named or obj.dtype, copy=True)
    else:
        result = as_tensor(array_of(obj, dtype) if copy else obj, named, device)
    return result.requires_grad_() if requires_grad else result


@plain("from_numpy")
def from_numpy(ndarray: np.ndarray, /) -> Tensor:
    """Return a tensor with the memory of a NumPy array."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy: got a {type(ndarray).__name__}; give a NumPy array")
    check_array(ndarray)
    return made(ndarray.view(np.ndarray))


@direct("frombuffer")
def frombuffer(
    buffer: Any,
    *,
    dtype: K.Dtype,
    count: K.Int = -1,
    offset: K.Int = 0,
    requires_grad: K.Bool = False,
) -> Tensor:
    """Return a tensor with the memory of an object that has bytes."""
    found = from_numpy(np.frombuffer(buffer, dtype, count, offset))
    return found.requires_grad_() if requires_grad else found


@plain("from_dlpack", "utils.dlpack.from_dlpack")
def from_dlpack(ext_tensor: Any) -> Tensor:
    """Return a tensor with the memory of another library's array."""
    if isinstance(ext_tensor, Tensor):
        return made(ext_tensor._raw)
    return from_numpy(np.from_dlpack(ext_tensor))


# -- of a size -------------------------------------------------------------------------------------


def _read_scalar(value: Any, at: Argument, x: Any = None) -> Any:
    if isinstance(value, (bool, int, float, complex)):
        return value
    if isinstance(value, Tensor) and not value._raw.shape and not value.requires_grad:
        return value._raw.item()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{at} is {shown(value)}; give a number")


def _read_real(value: Any, at: Argument, x: Any = None) -> Any:
    found = _read_scalar(value, at)
    if isinstance(found, complex):
        raise RuntimeError(f"{at} is a complex number; give a real one, as number.real")
    return int(found) if isinstance(found, bool) else found


#: A number that may be given as NumPy's or as a tensor without axes; one that is real.
Scalar = Annotated[Any, Kind(_read_scalar)]
Real = Annotated[Any, Kind(_read_real, "type({0}) is int")]


def like(x: Tensor, dtype: np.dtype | None) -> np.ndarray:
    """Return an empty array like a tensor, with its axes in the same order in memory."""
    kind, raw = x._raw.dtype if dtype is None else dtype, x._raw
    return np.empty_like(raw, kind) if type(raw) is np.ndarray else np.empty(raw.shape, kind)


def _sized(name: str, make: Callable[..., np.ndarray], value: int | None) -> None:
    """Offer a function that makes a tensor of a size, a method, and a function of a tensor."""

    def of_size(
        *size: K.Lengths, dtype: K.Dtype | None = None, memory_format: Any = None
    ) -> np.ndarray:
        return make(size, dtypes.or_default(dtype))

    def of_tensor(
        input: K.Given, *, dtype: K.Dtype | None = None, memory_format: Any = None
    ) -> np.ndarray:
        raw = like(input, dtype)
        if value is not None:
            raw.fill(value)
        return raw

    of_size.__name__, of_tensor.__name__ = name, f"{name}_like"
    of_size.__doc__ = of_tensor.__doc__ = f"Return a tensor of a size, or of another's: {name}."
    creates(name, new=True)(of_size)
    creates(f"{name}_like")(of_tensor)


_sized("zeros", np.zeros, 0)
_sized("ones", np.ones, 1)
_sized("empty", np.empty, None)


def _full(size: tuple[int, ...], fill: Any, kind: np.dtype | None) -> np.ndarray:
    kind = dtypes.of_number(fill) if kind is None else kind
    check_fits(fill, kind)
    return np.full(size, cast(np.array(fill), kind))


@creates("full", new=True)
def full(size: K.Size, fill_value: Scalar, *, dtype: K.Dtype | None = None) -> np.ndarray:
    """Return a tensor of a size, all of whose elements are one number."""
    return _full(size, fill_value, dtype)


@creates("full_like")
def full_like(
    input: K.Given, fill_value: Scalar, *, dtype: K.Dtype | None = None, memory_format: Any = None
) -> np.ndarray:
    """Return a tensor of another's shape and dtype, all of whose elements are one number."""
    raw = like(input, dtype)
    raw[...] = _full((), fill_value, raw.dtype)
    return raw


@creates("eye")
def eye(n: K.Int, m: K.Int | None = None, *, dtype: K.Dtype | None = None) -> np.ndarray:
    """Return a matrix with ones on its diagonal."""
    columns = n if m is None else m
    if n < 0 or columns < 0:
        raise RuntimeError(f"got {n} rows and {columns} columns; neither may be negative")
    return np.eye(n, columns, dtype=dtypes.or_default(dtype))


# -- ranges ----------------------------------------------------------------------------------------


_BOUND = Argument("arange", "a bound")


@creates("arange")
def arange(
    *args: Any, start: Real | None = None, end: Real | None = None, step: Real | None = None,
    dtype: K.Dtype | None = None,
) -> np.ndarray:  # fmt: skip
    """Return numbers from start to end, without end."""
    given = [_read_real(v, _BOUND) for v in args]
    if len(given) == 1 and end is None:  # arange(end)
        given = [0, *given]
    bounds = [*given, *(start, end, step)[len(given) :]]
    if len(bounds) > 3 or bounds[1] is None:
        raise TypeError(f"arange() of {len(args)} numbers; write arange(end), or start, end, step")
    bounds = [default if b is None else b for b, default in zip(bounds, (0, 0, 1), strict=True)]
    whole = all(isinstance(b, int) for b in bounds)
    if dtype is None:
        dtype = np.dtype(np.int64) if whole else dtypes.default().numpy
    if dtype.kind in "bc":
        raise NotImplementedError(f"arange does not count in {dtype}; give another dtype")
    if dtype.kind in "iu" and not whole and all(map(math.isfinite, bounds)):
        if bounds[2] and not int(bounds[2]):
            raise ValueError(f"the step {bounds[2]} is 0 in {dtype}; give another")
        bounds, whole = [int(b) for b in bounds], True
    first, last, by = bounds
    if by == 0 or not (math.isfinite(first) and math.isfinite(last)) or (last - first) * by < 0:
        raise RuntimeError(
            f"there is no range from {first} to {last} in steps of {by}; give finite numbers, and "
            "a step that leads from the one to the other"
        )
    count = -((first - last) // by) if whole else math.ceil((last - first) / by)
    if backends.kind_of(dtype) == "f":
        first, by = float(first), float(by)
    return cast(first + by * np.arange(count), dtype)


def _read_end(value: Any, at: Argument, x: Any = None) -> Any:
    if not isinstance(value, Tensor):
        return _read_scalar(value, at)
    if value._raw.shape:
        raise RuntimeError(f"{at} has {len(value._raw.shape)} axes; give a single number")
    return value._raw.item()


#: An end of evenly spaced numbers, which may require gradients.
End = Annotated[Any, Kind(_read_end)]


def _ramp(start: Any, end: Any, count: int, kind: np.dtype | None) -> tuple[Any, np.dtype]:
    """Return evenly spaced numbers, the same from either end, and the dtype for them."""
    if count < 0:
        raise RuntimeError(f"the number of steps is {count}; give 0 or more")
    if kind is None:
        kind = dtypes.result_type(start, end, 1.0)
    if kind.kind in "iu":
        start, end = int(start), int(end)
    step = (end - start) / max(count - 1, 1)
    k = np.arange(count)
    return np.where(2 * k < max(count, 2), start + step * k, end - step * (count - 1 - k)), kind


@creates("linspace")
def linspace(start: End, end: End, steps: K.Int, *, dtype: K.Dtype | None = None) -> np.ndarray:
    """Return evenly spaced numbers from start to end, with end."""
    return cast(*_ramp(start, end, steps, dtype))


@creates("logspace")
def logspace(
    start: End, end: End, steps: K.Int, base: K.Number = 10.0, *, dtype: K.Dtype | None = None
) -> np.ndarray:
    """Return powers of a base whose exponents are evenly spaced."""
    exponents, kind = _ramp(start, end, steps, dtype)
    with np.errstate(all="ignore"):
        return cast(float(base) ** exponents, kind)


# -- complex numbers -------------------------------------------------------------------------------


@offered("complex", method=False)
def complex_(real: K.Floating, imag: K.Floating) -> Native:
    """Return complex numbers of their parts."""
    check_same(real, imag, name="complex")
    return elementwise.complex_(real, imag)


@offered("polar", method=False)
def polar(abs: K.Floating, angle: K.Floating) -> Native:
    """Return complex numbers of their lengths and angles."""
    check_same(abs, angle, name="polar")
    return elementwise.complex_(ns.multiply(abs, ns.cos(angle)), ns.multiply(abs, ns.sin(angle)))


# -- the old constructors --------------------------------------------------------------------------


def _legacy(kind: np.dtype, args: tuple[Any, ...], device: Any, strict: bool) -> Tensor:
    """Return what an old constructor makes: a tensor of sizes or data, or the tensor given."""
    check_device(device)
    if len(args) == 1:
        first = args[0]
        if isinstance(first, Tensor) and (first._raw.ndim or strict):
            if strict and first._raw.dtype != kind:
                raise TypeError(
                    f"got a tensor of {first.dtype} for one of {dtypes.of_numpy(kind)}; write "
                    "x.to(dtype)"
                )
            return first
        if type(first).__name__ != "Size" and isinstance(first, (*_SEQUENCES, np.ndarray)):
            return made(array_of(first, kind))
        if not isinstance(first, (int, np.integer, Tensor, tuple)):
            raise TypeError(f"new(): got a {type(first).__name__}; give a size or numbers")
    shape = K.read_lengths(args, Argument("new", "size")) if args else (0,)
    return made(np.empty(shape, kind))


def legacy_tensor(cls: Any, *args: Any, device: Any = None) -> Any:
    """Return what `torch.Tensor(...)` makes: of sizes, or of data."""
    found = _legacy(dtypes.default().numpy, args, device, strict=False)
    result = object.__new__(cls)
    result.__dict__.update((found if not args or found is not args[0] else _alias(found)).__dict__)
    return result


def _alias(input: Tensor) -> Tensor:
    """Return the same numbers in the same memory."""
    return viewed(input, lambda x: ns.reshape(x, x.shape), "AliasBackward0")


class _OfDtype(type):
    """The class of `torch.FloatTensor` and the like, whose instances are tensors of one dtype."""

    kind: dtypes.dtype

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        return _legacy(cls.kind.numpy, args, device, strict=True)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value._raw.dtype == cls.kind.numpy

    @property
    def dtype(cls) -> dtypes.dtype:
        """The kind of numbers."""
        return cls.kind


for _kind in (*dtypes.DTYPES.values(), dtypes.bfloat16):
    if not _kind.is_complex and _kind.name not in ("uint16", "uint32", "uint64"):
        _name = f"{dtypes.TYPES[_kind.name]}Tensor"
        put((_name,), _OfDtype(_name, (), {"kind": _kind, "__module__": "torch"}))


@plain("Tensor.new")
def new_(self: Tensor, *args: Any, device: Any = None) -> Tensor:
    """Return a tensor of this one's dtype, of sizes or of data."""
    return _legacy(self._raw.dtype, args, device, strict=True)
