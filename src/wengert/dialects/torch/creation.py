"""Tensors made from Python's values and from nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.torch import dtypes
from wengert.dialects.torch.devices import (
    as_format,
    check_device,
    check_layout,
    read_length,
    read_sizes,
)
from wengert.dialects.torch.table import as_view, offered, plain, put
from wengert.dialects.torch.tensors import Tensor, convert, made, ns, store
from wengert.engine.tensor import Tensor as Native
from wengert.ops import elementwise

_SEQUENCES = (list, tuple, range)


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


# -- from Python's values --------------------------------------------------------------------------


def array_of(data: Any, dtype: Any = None) -> np.ndarray:
    """Return a new array of what a program gives as data."""
    kind = None if dtype is None else dtypes.to_numpy(dtype)
    if isinstance(data, Tensor):
        return np.array(data._raw) if kind is None else cast(data._raw, kind)
    if isinstance(data, np.generic):
        dtypes.of_numpy(data.dtype)
        return np.array(data) if kind is None else cast(np.array(data), kind)
    if isinstance(data, np.ndarray):
        check_array(data)
        return np.array(data) if kind is None else cast(data, kind)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): '{type(data).__name__}' is no number; give numbers")
    shape = _shape(data)
    values: list[Any] = []
    if not shape:
        values.append(data)
    elif shape[-1]:
        _flatten(data, shape, 0, values)
    if kind is None:
        kind = _kind_of(values)
    return _filled(values, kind).reshape(shape)


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
    if raw.dtype.kind == "f" and kind.kind == "u":
        with np.errstate(all="ignore"):  # by way of whole numbers with signs, which wrap around
            return raw.astype(np.int64).astype(kind)
    with np.errstate(all="ignore"):
        return raw.astype(kind)


def _shape(data: Any) -> tuple[int, ...]:
    """Return the lengths of a nest along its first elements."""
    lengths = []
    while isinstance(data, (*_SEQUENCES, np.ndarray)):
        if len(data) and isinstance(data[0], str):
            raise ValueError("a str is no number; give numbers, or nested lists of them")
        lengths.append(len(data))
        if not len(data):
            break
        data = data[0]
    return tuple(lengths)


def _flatten(data: Any, shape: tuple[int, ...], depth: int, values: list[Any]) -> None:
    """Append the values of a nest to a list, or raise if it is not as regular as it should be."""
    if not isinstance(data, (*_SEQUENCES, np.ndarray)):
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
    found = None
    for value in {type(v): v for v in values if not isinstance(v, Tensor)}.values():
        kind = _kind_of_one(value)
        found = kind if found is None else dtypes.joined(found, kind)
    for value in values:
        if isinstance(value, Tensor):
            kind = value._raw.dtype
            found = kind if found is None else dtypes.joined(found, kind)
    return dtypes.default().numpy if found is None else found


def _kind_of_one(value: Any) -> np.dtype:
    if isinstance(value, (np.generic, np.ndarray)):
        return dtypes.of_numpy(value.dtype).numpy
    if isinstance(value, (bool, int, float, complex)):
        return dtypes.of_number(value)
    if isinstance(value, (str, bytes)):
        raise TypeError(f"new(): '{type(value).__name__}' is no number; give numbers")
    if isinstance(value, _SEQUENCES):
        raise TypeError(f"'{type(value).__name__}' object beside numbers in a sequence")
    raise RuntimeError(f"a {type(value).__name__} has no dtype; give numbers")


def _filled(values: list[Any], kind: np.dtype) -> np.ndarray:
    """Return an array of Python's numbers, or raise if they are none or do not fit."""
    if kind.kind == "b":
        return np.array([bool(v) for v in values], kind)
    if kind.kind in "fc":
        number: Any = float if kind.kind == "f" else complex
        if {type(v) for v in values} - {float}:
            values = [number(v) for v in values]
        with np.errstate(all="ignore"):
            return np.array(values, kind.kind + str(8 if kind.kind == "f" else 16)).astype(kind)
    bits = 8 * kind.itemsize
    whole = [_whole(v, kind) % 2**bits for v in values]
    return np.array(whole, f"u{kind.itemsize}").astype(kind)


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
    if isinstance(number, complex) and kind.kind != "c":
        if number.imag:
            raise RuntimeError(f"the number is out of the range of {kind}; choose a wider dtype")
        number = number.real
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        least = -int(limits.max) if kind.kind == "u" else int(limits.min)
        most = int(limits.max) + (kind == np.int64 and isinstance(number, float))  # 2.0**63 wraps
        if not math.isfinite(number) or not least <= int(number) <= most:
            raise RuntimeError(f"the number is out of the range of {kind}; choose a wider dtype")
    if kind == np.float16 and math.isfinite(abs(number)) and abs(number) > 65504:
        raise RuntimeError("the number is out of the range of float16; choose a wider dtype")


@plain("tensor")
def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Return a tensor with a copy of some numbers."""
    return new(array_of(data, dtype), None, device, requires_grad)


@plain("as_tensor")
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Return data as a tensor that shares its memory where that is possible."""
    check_device(device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtypes.to_numpy(dtype) == data.dtype):
        return from_numpy(data)
    return made(array_of(data, dtype))


@plain("asarray")
def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return data as a tensor; `copy` says whether its memory must, or must not, be its own."""
    check_device(device)
    if isinstance(obj, (bytes, bytearray, memoryview)):
        obj = np.frombuffer(obj, dtypes.to_numpy(dtype or dtypes.default()))
    shares = isinstance(obj, (Tensor, np.ndarray))
    if copy is False and not shares:
        raise ValueError("a list has no memory that a tensor could share; leave copy=False away")
    if copy is False and dtype is not None and dtypes.to_numpy(dtype) != obj._raw.dtype:
        raise ValueError(f"{obj.dtype} cannot be shared as {dtype}; leave copy=False away")
    if copy and isinstance(obj, Tensor):
        result = obj.to(obj.dtype if dtype is None else dtype, copy=True)
    else:
        result = made(array_of(obj, dtype)) if copy else as_tensor(obj, dtype)
    return result.requires_grad_() if requires_grad else result


@plain("from_numpy")
def from_numpy(ndarray: np.ndarray, /) -> Tensor:
    """Return a tensor with the memory of a NumPy array."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy: got a {type(ndarray).__name__}; give a NumPy array")
    check_array(ndarray)
    return made(ndarray.view(np.ndarray))


@plain("frombuffer")
def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """Return a tensor with the memory of a Python buffer."""
    return new(
        np.frombuffer(buffer, dtypes.to_numpy(dtype), count, offset), requires_grad=requires_grad
    )


@plain("from_dlpack", "utils.dlpack.from_dlpack")
def from_dlpack(ext_tensor: Any) -> Tensor:
    """Return a tensor with the memory of another library's array."""
    if isinstance(ext_tensor, Tensor):
        return made(ext_tensor._raw)
    return from_numpy(np.from_dlpack(ext_tensor))


# -- of one number ---------------------------------------------------------------------------------


def number(value: Any, name: str) -> Any:
    """Return a number that may be given as NumPy's or as a tensor without axes."""
    if isinstance(value, Tensor) and not value._raw.shape and not value.requires_grad:
        return value._raw.item()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (bool, int, float, complex)):
        return value
    raise TypeError(f"{name}: got a value of type {type(value).__name__}; give a number")


def _target(dtype: Any, out: Tensor | None) -> np.dtype | None:
    """Return the dtype that `dtype` and `out` ask for."""
    if out is None:
        return None if dtype is None else dtypes.to_numpy(dtype)
    kind: np.dtype = out._raw.dtype
    if dtype is not None and dtypes.to_numpy(dtype) != kind:
        raise RuntimeError(f"dtype={dtype} and out= of {out.dtype} differ; give one of them")
    return kind


def _given(result: Tensor, out: Tensor | None) -> Tensor:
    return result if out is None else store(result, out)


def _sized(name: str, make: Callable[[tuple[int, ...], np.dtype], np.ndarray]) -> None:
    """Offer a function that makes a tensor of a size, and the method that does so like another."""

    def create(
        *args: Any,
        size: Any = None,
        out: Tensor | None = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        kind = _target(dtype, out) or dtypes.default().numpy
        raw = as_format(make(read_sizes(name, args, size), kind), memory_format)
        return _given(new(raw, layout, device, requires_grad), out)

    def like(
        self: Tensor,
        *args: Any,
        size: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
    ) -> Tensor:
        kind = self._raw.dtype if dtype is None else dtypes.to_numpy(dtype)
        raw = make(read_sizes(f"new_{name}", args, size), kind)
        return new(raw, layout, device, requires_grad)

    for function, its in ((create, name), (like, f"new_{name}")):
        function.__name__ = function.__qualname__ = its
        function.__doc__ = f"Return a tensor of a size: {name}."
    put((name,), create)
    put((f"Tensor.new_{name}",), like)


_sized("zeros", np.zeros)
_sized("ones", np.ones)
_sized("empty", np.empty)


def _full(size: Any, fill_value: Any, kind: np.dtype | None, name: str) -> np.ndarray:
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"{name}(): the size is a {type(size).__name__}; give whole numbers, as (2, 3)"
        )
    fill = number(fill_value, "fill_value")
    if kind is None:
        kind = dtypes.of_number(fill)
    check_fits(fill, kind)
    return np.full(read_sizes(name, (size,)), cast(np.array(fill), kind))


@plain("full")
def full(
    size: Any,
    fill_value: Any,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor of a size with one number in all places."""
    raw = _full(size, fill_value, _target(dtype, out), "full")
    return _given(new(raw, layout, device, requires_grad), out)


@plain("Tensor.new_full")
def new_full(
    self: Tensor,
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor of this one's dtype with one number in all places."""
    kind = self._raw.dtype if dtype is None else dtypes.to_numpy(dtype)
    return new(_full(size, fill_value, kind, "new_full"), layout, device, requires_grad)


@plain("scalar_tensor")
def scalar_tensor(
    s: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor without axes, of the default dtype if none is given."""
    kind = dtypes.default().numpy if dtype is None else dtypes.to_numpy(dtype)
    return new(_full((), s, kind, "scalar_tensor"), layout, device, requires_grad)


def empty_like_array(input: Any, dtype: Any, memory_format: Any, name: str) -> np.ndarray:
    """Return an array for what will be like a tensor, its axes in the same order in memory."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}(): input is a {type(input).__name__}; give a tensor")
    kind = input._raw.dtype if dtype is None else dtypes.to_numpy(dtype)
    raw = input._raw
    found = np.empty_like(raw, kind) if type(raw) is np.ndarray else np.empty(raw.shape, kind)
    return as_format(found, memory_format)


def _like(name: str, value: int | None) -> None:
    def create(
        input: Tensor,
        *,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        raw = empty_like_array(input, dtype, memory_format, name)
        if value is not None:
            raw.fill(value)
        return new(raw, layout, device, requires_grad)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = f"Return a tensor of another's shape and dtype: {name.removesuffix('_like')}."
    put((name,), create)


_like("zeros_like", 0)
_like("ones_like", 1)
_like("empty_like", None)


@plain("full_like")
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Return a tensor of another's shape and dtype with one number in all places."""
    raw = empty_like_array(input, dtype, memory_format, "full_like")
    raw[...] = _full((), fill_value, raw.dtype, "full_like")
    return new(raw, layout, device, requires_grad)


@plain("empty_strided")
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Return a tensor without values whose axes lie in memory in given steps."""
    kind = dtypes.default().numpy if dtype is None else dtypes.to_numpy(dtype)
    shape = read_sizes("empty_strided", (size,))
    steps = tuple(read_length("empty_strided", s) for s in stride)
    if len(steps) != len(shape):
        raise RuntimeError(f"strides {steps} do not fit shape {shape}; give one for each axis")
    needed = 1 + sum((n - 1) * s for n, s in zip(shape, steps, strict=True) if n)
    memory = np.empty(0 if 0 in shape else needed, kind)
    raw = np.ndarray(shape, kind, memory, 0, tuple(s * kind.itemsize for s in steps))
    return new(raw, layout, device, requires_grad)


@plain("Tensor.new_empty_strided")
def new_empty_strided(self: Tensor, size: Any, stride: Any, **options: Any) -> Tensor:
    """Return a tensor of this one's dtype whose axes lie in memory in given steps."""
    return empty_strided(size, stride, **{"dtype": self.dtype, **options})


@plain("empty_permuted")
def empty_permuted(size: Any, physical_layout: Any, **options: Any) -> Tensor:
    """Return a tensor without values whose axes lie in memory in a given order."""
    shape = read_sizes("empty_permuted", (size,))
    order = tuple(physical_layout)
    if sorted(order) != list(range(len(shape))):
        raise RuntimeError(f"physical_layout is {order}; name each axis once")
    steps, step = [0] * len(shape), 1
    for axis in reversed(order):
        steps[axis], step = step, step * shape[axis]
    return empty_strided(shape, steps, **options)


@plain("Tensor.new_tensor")
def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Return a tensor with a copy of some numbers, of this one's dtype."""
    return new(array_of(data, self.dtype if dtype is None else dtype), None, device, requires_grad)


# -- ranges ----------------------------------------------------------------------------------------


def _real(value: Any, name: str) -> Any:
    found = number(value, name)
    if isinstance(found, complex):
        raise RuntimeError("got a complex number where a real one is needed; write number.real")
    return int(found) if isinstance(found, bool) else found


def _steps(start: Any, end: Any, step: Any, closed: bool) -> int:
    """Return how many numbers there are from start to end, with end itself if `closed`."""
    if step == 0:
        raise RuntimeError("the step is 0; give another")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"the range from {start} to {end} has no length; give finite numbers")
    if (end - start) * step < 0:
        raise RuntimeError("the step leads away from the end; change its sign")
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return (end - start) // step + 1 if closed else -((start - end) // step)
    found = (end - start) / step
    return math.floor(found) + 1 if closed else math.ceil(found)


def _range(start: Any, step: Any, count: int, kind: np.dtype) -> np.ndarray:
    if kind.kind in "iu":
        return cast(start + step * np.arange(count), kind)
    return cast(float(start) + float(step) * np.arange(count), kind)


@plain("arange")
def arange(
    *args: Any,
    start: Any = None,
    end: Any = None,
    step: Any = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Return numbers from start to end, without end."""
    if len(args) > 3:
        raise TypeError(f"arange() takes from 1 to 3 positional arguments, got {len(args)}")
    if len(args) == 1 and end is None:
        end = args[0]
    else:
        names = dict(zip(("start", "end", "step"), args, strict=False))
        start, end, step = (
            names.get(k, v) for k, v in (("start", start), ("end", end), ("step", step))
        )
    if end is None:
        raise TypeError("arange() needs an end; write torch.arange(end)")
    bounds = [
        _real(v, k)
        for k, v in (
            ("start", 0 if start is None else start),
            ("end", end),
            ("step", 1 if step is None else step),
        )
    ]
    kind = _target(dtype, out)
    if kind is None:
        whole = all(isinstance(b, int) for b in bounds)
        kind = np.dtype(np.int64) if whole else dtypes.default().numpy
    if kind.kind in "bc":
        raise NotImplementedError(
            f"arange does not count in {dtypes.of_numpy(kind)}; give another dtype"
        )
    if kind.kind in "iu" and all(map(math.isfinite, bounds)):
        cut = [int(b) for b in bounds]
        if bounds[2] and not cut[2]:
            raise ValueError(f"the step {bounds[2]} is 0 in {kind}; give another")
        bounds = cut
    raw = _range(bounds[0], bounds[2], _steps(bounds[0], bounds[1], bounds[2], closed=False), kind)
    return _given(new(raw, layout, device, requires_grad), out)


@plain("range")
def range_(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return numbers from start to end, with end."""
    if end is None:
        start, end = 0, start
    first, last, by = (_real(v, k) for k, v in (("start", start), ("end", end), ("step", step)))
    kind = _target(dtype, out) or dtypes.default().numpy
    raw = _range(first, by, _steps(first, last, by, closed=True), kind)
    return _given(new(raw, layout, device, requires_grad), out)


def _ends(name: str, start: Any, end: Any, steps: Any) -> tuple[Any, Any, int]:
    if isinstance(steps, (bool, float)):
        raise TypeError(f"{name}(): steps is a {type(steps).__name__}; give a whole number")
    for value in (start, end):
        if isinstance(value, Tensor) and value._raw.ndim:
            raise RuntimeError(
                f"{name}: start and end must be single numbers, and one has {value._raw.ndim} "
                "axes; write x.item()"
            )
    count = read_length(name, steps)
    if count < 0:
        raise RuntimeError("{name}: the number of steps is negative; give 0 or more")
    first, last = (
        v._raw.item() if isinstance(v, Tensor) else number(v, "start") for v in (start, end)
    )
    return first, last, count


def _ramp(start: Any, end: Any, count: int) -> np.ndarray:
    """Return evenly spaced numbers, the same from either end."""
    if count == 1:
        return np.array([start])
    step = (end - start) / (count - 1)
    places = np.arange(count)
    return np.where(places < count // 2, start + step * places, end - step * (count - 1 - places))


def _whole_ends(start: Any, end: Any, kind: np.dtype) -> tuple[Any, Any]:
    """Return the ends of a ramp, which are whole numbers if its elements are."""
    return (int(start), int(end)) if kind.kind in "iu" else (start, end)


def _ramp_kind(dtype: Any, out: Tensor | None, *ends: Any) -> np.dtype:
    kind = _target(dtype, out)
    if kind is not None:
        return kind
    default = dtypes.default()
    return (default.to_complex() if any(isinstance(e, complex) for e in ends) else default).numpy


@plain("linspace")
def linspace(
    start: Any,
    end: Any,
    steps: Any,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Return evenly spaced numbers from start to end, with end."""
    first, last, count = _ends("linspace", start, end, steps)
    kind = _ramp_kind(dtype, out, first, last)
    raw = cast(_ramp(*_whole_ends(first, last, kind), count), kind)
    return _given(new(raw, layout, device, requires_grad), out)


@plain("logspace")
def logspace(
    start: Any,
    end: Any,
    steps: Any,
    base: Any = 10.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Return powers of a base whose exponents are evenly spaced."""
    first, last, count = _ends("logspace", start, end, steps)
    kind = _ramp_kind(dtype, out, first, last)
    with np.errstate(all="ignore"):
        raw = cast(float(base) ** _ramp(*_whole_ends(first, last, kind), count), kind)
    return _given(new(raw, layout, device, requires_grad), out)


@plain("eye")
def eye(
    n: Any,
    m: Any = None,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Return a matrix with ones on its diagonal."""
    rows = read_length("eye", n)
    columns = rows if m is None else read_length("eye", m)
    if rows < 0 or columns < 0:
        raise RuntimeError(f"got {rows} rows and {columns} columns; neither may be negative")
    kind = _target(dtype, out) or dtypes.default().numpy
    raw = np.eye(rows, columns, dtype=kind)
    return _given(new(raw, layout, device, requires_grad), out)


# -- windows ---------------------------------------------------------------------------------------


def _window(name: str, values: Callable[..., np.ndarray], *further: str) -> None:
    """Offer a window of signal processing; further parameters have defaults in `values`."""

    def create(
        window_length: Any,
        periodic: bool = True,
        *args: Any,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        **options: Any,
    ) -> Tensor:
        length = read_length(name, window_length)
        kind = dtypes.default().numpy if dtype is None else dtypes.to_numpy(dtype)
        if kind.kind != "f":
            raise RuntimeError(f"{name}: dtype={dtype} has no fractions; leave it out")
        if length < 0:
            raise RuntimeError(f"{name}: a window of length {length}; give 0 or more")
        options |= dict(zip(further, args, strict=False))
        if length < 2:
            return new(np.ones(length, kind), layout, device, requires_grad)
        span = length if periodic else length - 1
        raw = values(np.arange(length) / span, **options).astype(kind)
        return new(raw, layout, device, requires_grad)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = f"Return a {name.removesuffix('_window').capitalize()} window."
    put((name,), create)


def _kaiser(x: np.ndarray, beta: float = 12.0) -> np.ndarray:
    return np.i0(beta * np.sqrt(np.maximum(1 - (2 * x - 1) ** 2, 0))) / np.i0(beta)


_window("hann_window", lambda x: 0.5 - 0.5 * np.cos(2 * np.pi * x))
_window(
    "hamming_window",
    lambda x, alpha=0.54, beta=0.46: alpha - beta * np.cos(2 * np.pi * x),
    "alpha",
    "beta",
)
_window(
    "blackman_window",
    lambda x: 0.42 - 0.5 * np.cos(2 * np.pi * x) + 0.08 * np.cos(4 * np.pi * x),
)
_window("bartlett_window", lambda x: 1 - np.abs(2 * x - 1))
_window("kaiser_window", _kaiser, "beta")


# -- complex numbers -------------------------------------------------------------------------------


def _parts(first: Any, second: Any, names: tuple[str, str]) -> list[Native]:
    for value, name in zip((first, second), names, strict=True):
        if not isinstance(value, Tensor):
            raise TypeError(f"{name}: got a value of type {type(value).__name__}; give a tensor")
        if value._raw.dtype.kind != "f":
            raise RuntimeError(
                f"complex: a part has dtype {value.dtype}; give floating tensors, as x.float()"
            )
    if first._raw.dtype != second._raw.dtype:
        raise RuntimeError(f"parts of {first.dtype} and {second.dtype}; give both in one dtype")
    return [convert(first), convert(second)]


@offered("complex", method=False, label="ComplexBackward0")
def complex_(real: Any, imag: Any) -> Any:
    """Return complex numbers of their parts."""
    return elementwise.complex_(*_parts(real, imag, ("real", "imag")))


@offered("polar", method=False, label="PolarBackward0")
def polar(abs: Any, angle: Any) -> Any:
    """Return complex numbers of their lengths and angles."""
    length, turn = _parts(abs, angle, ("abs", "angle"))
    return elementwise.complex_(
        ns.multiply(length, ns.cos(turn)), ns.multiply(length, ns.sin(turn))
    )


# -- the old constructors --------------------------------------------------------------------------


def _legacy(kind: np.dtype, args: tuple[Any, ...], device: Any, strict: bool) -> Any:
    """Return what an old constructor makes: an array of sizes or data, or the tensor given."""
    check_device(device)
    if not args:
        return np.empty(0, kind)
    first = args[0]
    if len(args) == 1:
        if isinstance(first, Tensor) and (first._raw.ndim or strict):
            if strict and first._raw.dtype != kind:
                raise TypeError(
                    f"got a tensor of {first.dtype} for one of {dtypes.of_numpy(kind)}; write "
                    "x.to(dtype)"
                )
            return first
        if type(first).__name__ == "Size":
            return np.empty(first, kind)
        if isinstance(first, (*_SEQUENCES, np.ndarray)):
            return array_of(first, dtypes.of_numpy(kind))
        if isinstance(first, (str, bytes)):
            raise TypeError(f"new(): got a '{type(first).__name__}'; give a size or numbers")
        if not isinstance(first, (int, np.integer, Tensor)):
            raise TypeError(f"new(): got a {type(first).__name__}; give a size or numbers")
    return np.empty(read_sizes("new", args), kind)


def legacy_tensor(cls: Any, *args: Any, device: Any = None) -> Any:
    """Return what `torch.Tensor(...)` makes: of sizes, or of data."""
    found = _legacy(dtypes.default().numpy, args, device, strict=False)
    result = object.__new__(cls)
    if isinstance(found, Tensor):
        result.__dict__.update(_alias(found).__dict__)
    else:
        result._raw, result._node = found, None
    return result


#: The same numbers in the same memory.
_alias = as_view(lambda x: ns.reshape(x, tuple(x.shape)), "AliasBackward0")


class _OfDtype(type):
    """The class of `torch.FloatTensor` and the like, whose instances are tensors of one dtype."""

    kind: dtypes.dtype

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        found = _legacy(cls.kind.numpy, args, device, strict=True)
        return found if isinstance(found, Tensor) else made(found)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value._raw.dtype == cls.kind.numpy

    @property
    def dtype(cls) -> dtypes.dtype:
        """The kind of numbers."""
        return cls.kind


#: What PyTorch calls tensors of a dtype.
TYPES = {
    "float16": "Half", "float32": "Float", "float64": "Double", "int8": "Char", "int16": "Short",
    "int32": "Int", "int64": "Long", "uint8": "Byte", "bool": "Bool", "uint16": "UInt16",
    "uint32": "UInt32", "uint64": "UInt64", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}  # fmt: skip
for _kind in dtypes.DTYPES.values():
    if _kind.numpy.kind != "c" and _kind.name not in ("uint16", "uint32", "uint64"):
        _name = f"{TYPES[_kind.name]}Tensor"
        put((_name,), _OfDtype(_name, (), {"kind": _kind, "__module__": "torch"}))


@plain("Tensor.new")
def new_(self: Tensor, *args: Any, device: Any = None) -> Tensor:
    """Return a tensor of this one's dtype, of sizes or of data."""
    found = _legacy(self._raw.dtype, args, device, strict=True)
    return found if isinstance(found, Tensor) else made(found)


@plain("set_default_tensor_type")
def set_default_tensor_type(t: Any, /) -> None:
    """Set the dtype that Python's floating numbers get, by the class of tensors of it."""
    from wengert.dialects.torch.table import NAMES

    found = NAMES.get(t.removeprefix("torch.")) if isinstance(t, str) else t
    if not isinstance(found, _OfDtype):
        raise TypeError(f"{t!r} is no type of tensors; write torch.set_default_dtype")
    dtypes.set_default(found.kind)
