"""torch.save and torch.load: PyTorch's own files, without code from them ever being run.

A file is an archive of the zip format without compression. Its record `data.pkl` is a pickle of
protocol 2; a record `data/0` holds the bytes of a storage, which several tensors may share.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from pickle import PicklingError, UnpicklingError
from typing import Any, NamedTuple

import numpy as np

from wengert.dialects.torch import dtypes, memory
from wengert.dialects.torch.devices import Size, check_device, device
from wengert.dialects.torch.nn.parameters import Parameter
from wengert.dialects.torch.pickled import Call, Function, Reader, Stored, Writer, name_of
from wengert.dialects.torch.python import stride
from wengert.dialects.torch.table import plain
from wengert.dialects.torch.tensors import Tensor, made

_FOLDER = "archive"
#: Records of bytes begin at multiples of this.
_ALIGNMENT = 64
_FIXED = {".format_version": b"1", ".storage_alignment": b"64", "byteorder": b"little"}
#: Dtypes that PyTorch has no class of storage for.
_UNTYPED = {"uint16", "uint32", "uint64", *dtypes.EXTENDED} - {"bfloat16"}
_NAMES = {kind.name: kind for kind in dtypes.DTYPES.values()} | dtypes.EXTENDED
#: What programs may have set on a tensor themselves, and PyTorch on a buffer.
_BUFFER = "_is_buffer"

# -- writing ---------------------------------------------------------------------------------------


@plain("save", "serialization.save", differs="modules themselves are not saved")
def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write tensors, numbers, texts and nests of them to a file that PyTorch can load.

    Parameters
    ----------
    obj
        What to save, such as a `state_dict()`. Modules themselves are not saved: a file holds no
        code, and is read without running any.
    f
        A path, or a file that is open for writing.
    """
    if not _use_new_zipfile_serialization:
        raise NotImplementedError("files are written in the zip format of PyTorch 1.6 and later")
    described = _Described()
    pickled = io.BytesIO()  # all errors of values come before the file is opened
    Writer(pickled, described).dump(obj)
    with _opened(f, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        records: dict[str, Any] = {"data.pkl": pickled.getvalue(), **_FIXED}
        records |= {f"data/{k}": raw for k, raw in enumerate(described.storages)}
        for name, data in {**records, "version": b"3\n"}.items():
            _put(archive, f"{_FOLDER}/{name}", data)


def _put(archive: zipfile.ZipFile, name: str, data: Any) -> None:
    info = zipfile.ZipInfo(name)  # with a date that is always the same
    assert archive.fp is not None
    begin = archive.fp.tell() + 30 + len(name) + 4
    info.extra = struct.pack("<2sH", b"FB", -begin % _ALIGNMENT) + bytes(-begin % _ALIGNMENT)
    archive.writestr(info, data)


class _Described:
    """Describes tensors and the like for a pickle, and collects their storages."""

    def __init__(self) -> None:
        self.storages: list[np.ndarray] = []
        self._numbers: dict[int, tuple[int, np.dtype]] = {}
        self._alive: list[Any] = []

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if isinstance(value, Tensor):
            return self._tensor(value)
        if kind is dtypes.dtype:
            return name_of("torch", value.name)
        if kind is Size:
            return Call(name_of("torch", "Size"), (tuple(value),))
        if kind is device:
            index = () if value.index is None else (value.index,)
            return Call(name_of("torch", "device"), (value.type, *index))
        instead = (
            "save what its state_dict() returns"
            if hasattr(value, "state_dict")
            else (
                "save tensors, numbers, texts, and lists, tuples and dicts of them: x.item() of a "
                "NumPy number, torch.from_numpy(x) of an array"
            )
        )
        raise PicklingError(f"a {kind.__module__}.{kind.__qualname__} is not saved; {instead}")

    def _tensor(self, tensor: Tensor) -> Any:
        raw = tensor._raw
        if type(raw) is not np.ndarray:
            raise RuntimeError("a tensor inside of vmap is many tensors at once; save it outside")
        if type(tensor) not in (Tensor, Parameter):
            raise PicklingError(
                f"a tensor of class {type(tensor).__qualname__} is not saved; write "
                "x.as_subclass(torch.Tensor)"
            )
        is_parameter = type(tensor) is Parameter
        requires, state = tensor.requires_grad, _attributes(tensor)
        found = self._rebuild(raw, requires and not is_parameter)
        if is_parameter:
            name = "_rebuild_parameter_with_state" if state else "_rebuild_parameter"
            further = (state,) if state else ()
            return Call(name_of("torch._utils", name), (found, requires, OrderedDict(), *further))
        if state:
            args = (found.function, name_of("torch", "Tensor"), found.args, state)
            return Call(name_of("torch._tensor", "_rebuild_from_type_v2"), args)
        return found

    def _rebuild(self, raw: np.ndarray, requires_grad: bool) -> Call:
        kind, item = dtypes.of_numpy(raw.dtype), raw.dtype.itemsize
        whole = memory.owner(raw)
        offset = raw.ctypes.data - whole.ctypes.data if raw.size else 0
        if not (whole.flags.c_contiguous or whole.flags.f_contiguous) or any(
            n < 0 or n % item for n in (offset, whole.nbytes, *raw.strides)
        ):  # PyTorch cannot say where in that memory it is
            raw, offset = raw.copy("C"), 0
            whole = raw
        number, held = self._numbers.setdefault(id(whole), (len(self.storages), raw.dtype))
        if number == len(self.storages):
            self.storages.append(whole.ravel(order="K").view(np.uint8))
            self._alive.append(whole)
        if held != raw.dtype:
            raise RuntimeError(
                f"tensors of {dtypes.of_numpy(held)} and {kind} share memory; save a clone() of one"
            )
        untyped = kind.name in _UNTYPED
        storage = name_of("torch.storage", "UntypedStorage")
        if not untyped:
            storage = name_of("torch", f"{dtypes.TYPES[kind.name]}Storage")
        count = whole.nbytes // (1 if untyped else item)
        stored = Stored(("storage", storage, str(number), "cpu", count))
        place = offset // item, raw.shape, stride(made(raw))
        args: tuple[Any, ...] = (stored, *place, requires_grad, OrderedDict())
        if untyped:
            return Call(
                name_of("torch._utils", "_rebuild_tensor_v3"), (*args, name_of("torch", kind.name))
            )
        return Call(name_of("torch._utils", "_rebuild_tensor_v2"), args)


def _attributes(tensor: Tensor) -> dict[str, Any]:
    """Return what a program has set on a tensor."""
    return {name: v for name, v in vars(tensor).items() if _is_attribute(name)}


def _is_attribute(name: Any) -> bool:
    return type(name) is str and (name[:1] != "_" or name == _BUFFER)


@contextlib.contextmanager
def _opened(f: Any, mode: str) -> Iterator[Any]:
    if isinstance(f, (str, os.PathLike)):
        with open(f, mode) as file:
            yield file
        return
    for method in ("write",) if mode == "wb" else ("read", "seek", "tell"):
        if not hasattr(f, method):
            raise AttributeError(
                f"a {type(f).__name__} has no '{method}'; give a path, or a file opened with "
                f"mode '{mode}', or io.BytesIO(data)"
            )
    yield f


# -- reading ---------------------------------------------------------------------------------------


@plain("load", "serialization.load", differs="weights_only=False is refused")
def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Return what `torch.save` has written to a file, here or in PyTorch.

    Nothing that a file says is run: tensors and plain values are read, and all else is an error.

    Parameters
    ----------
    f
        A path, or a file that is open for reading.
    map_location
        "cpu", a device, a dict of devices or a function: tensors of files from other devices come
        to the CPU. Without it, such a file is an error.
    """
    if weights_only is False or pickle_module is not None:
        raise NotImplementedError(
            "weights_only=False would run whatever code a file holds, and is not offered; save "
            "model.state_dict(), and load that into a model that the program makes"
        )
    if isinstance(map_location, (str, device)):
        check_device(map_location)
    with _opened(f, "rb") as file:
        return _Archive(file, map_location).value()


class _Kind(NamedTuple):
    """A class of storage: the dtype of its numbers; None if tensors say it."""

    dtype: dtypes.dtype | None


class _Bytes(NamedTuple):
    """A storage that was read."""

    raw: np.ndarray
    dtype: np.dtype | None


class _Archive:
    """A file of PyTorch's that is being read."""

    def __init__(self, file: Any, map_location: Any) -> None:
        self._map_location = map_location
        self._read: dict[str, np.ndarray] = {}
        first = file.read(4)
        if not first:
            raise EOFError("the file is empty; give one that torch.save has written")
        if first[:2] != b"PK":
            raise UnpicklingError(
                "the file is not of the zip format that PyTorch writes since version 1.6; load "
                "it with PyTorch, and save it anew"
            )
        with _damage():
            self._zip = zipfile.ZipFile(file)
            self._folder = self._zip.namelist()[0].partition("/")[0] + "/"
            length = file.seek(0, io.SEEK_END)
        held = sum(i.file_size for i in self._zip.infolist())
        if held > length or any(i.compress_type for i in self._zip.infolist()):
            raise RuntimeError(
                f"a file of {length} bytes says that it holds {held}, or is compressed; PyTorch's "
                "files are not"
            )

    def value(self) -> Any:
        """Return what is saved."""
        order = self._folder + "byteorder"
        if order in self._zip.namelist() and self._record(order).tobytes() != b"little":
            raise RuntimeError("the file is of a machine with another order of bytes")
        data = self._record(f"{self._folder}data.pkl").tobytes()
        return Reader(data, _named, self._storage).read()

    def _record(self, name: str) -> np.ndarray:
        """Return the bytes of a record, which are as many as the file really has."""
        with _damage():
            info = self._zip.getinfo(name)
            found = np.empty(info.file_size, np.uint8)
            with self._zip.open(info) as record:
                at = 0
                while part := record.read(2**20):
                    found[at : at + len(part)] = np.frombuffer(part, np.uint8)
                    at += len(part)
            if at != len(found):
                raise EOFError(f"record {name!r:.60} ends too early")
            return found

    def _storage(self, description: Any) -> _Bytes:
        kinds = [type(part) for part in description] if type(description) is tuple else []
        if kinds != [str, _Kind, str, str, int] or description[0] != "storage":
            raise UnpicklingError("the file describes a storage in another way than PyTorch does")
        _, kind, key, location, count = description
        if location != "cpu" and not self._is_mapped(location):
            raise RuntimeError(
                f"the file has tensors of device {location!r:.40}; write map_location='cpu'"
            )
        if key not in self._read:
            self._read[key] = self._record(f"{self._folder}data/{key}")
        raw, item = self._read[key], 1 if kind.dtype is None else kind.dtype.itemsize
        if count * item != raw.size:
            raise UnpicklingError(f"a storage of {raw.size} bytes is said to have another size")
        return _Bytes(raw, kind.dtype and kind.dtype.numpy)

    def _is_mapped(self, location: Any) -> bool:
        where = self._map_location
        return location in where if isinstance(where, dict) else where is not None


@contextlib.contextmanager
def _damage() -> Iterator[None]:
    """Return a context in which a damaged archive is PyTorch's error."""
    try:
        yield
    except (
        zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError,
        OSError, ValueError, IndexError, KeyError, OverflowError, struct.error,
    ) as error:  # fmt: skip
        raise RuntimeError(f"the zip archive is damaged or no file of PyTorch's: {error}") from None


# -- what a file may ask for -----------------------------------------------------------------------


def _tensor(storage: Any, *place: Any) -> Tensor:
    """Return a tensor of numbers that lie in a storage."""
    return _placed(storage, storage.dtype if type(storage) is _Bytes else None, *place)


def _untyped_tensor(storage: Any, *place: Any) -> Tensor:
    """Return a tensor in a storage of bytes: the last value or the one before says its dtype."""
    kind = place[5]
    if type(kind) is not dtypes.dtype:
        raise UnpicklingError("a tensor has no dtype")
    return _placed(storage, kind.numpy, *place[:5], *place[6:])


def _placed(
    storage: Any, kind: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any,
    metadata: Any = None,
) -> Tensor:  # fmt: skip
    if type(storage) is not _Bytes or kind is None:
        raise UnpicklingError("a tensor has no storage of numbers")
    _check_hooks(hooks)
    if metadata is not None and (type(metadata) is not dict or metadata):
        raise UnpicklingError("a tensor is a conjugate; save x.resolve_conj().resolve_neg()")
    if type(size) is not tuple or type(stride) is not tuple or len(size) != len(stride):
        raise UnpicklingError("a tensor has no strides for its shape")
    for number in (offset, *size, *stride):
        if type(number) is not int or not 0 <= number < 2**62:
            raise UnpicklingError("an offset, a length or a stride is negative, or beyond reason")
    if math.prod(size) * kind.itemsize >= 2**62:
        raise UnpicklingError(f"a tensor has shape {list(size)!r:.80}")
    if 0 in size:
        result = made(np.empty(size, kind))
    else:
        steps = [n * kind.itemsize for n in stride]
        # NumPy raises a ValueError for what is not within the storage
        result = made(np.ndarray(size, kind, storage.raw, offset * kind.itemsize, steps))
    return result.requires_grad_() if requires_grad is True else result


def _check_hooks(hooks: Any) -> None:
    """Raise if there are hooks. No value is asked anything: what it is, the file says."""
    if type(hooks) is not OrderedDict or hooks:
        raise UnpicklingError("a tensor has hooks")


def _parameter(data: Any, requires_grad: Any, hooks: Any, state: Any = None) -> Parameter:
    _check_hooks(hooks)
    if type(data) is not Tensor or type(requires_grad) is not bool:
        raise UnpicklingError("a parameter has no tensor")
    return _with_attributes(Parameter(data, requires_grad), {} if state is None else state)


def _of_type(function: Any, kind: Any, args: Any, state: Any) -> Any:
    """Return a tensor with attributes that a program has set."""
    if not (function is _V2 or function is _V3) or kind is not Tensor or type(args) is not tuple:
        raise UnpicklingError("a tensor is of a class of its own; save x.detach()")
    return _with_attributes(function.call(*args), state)


def _with_attributes(tensor: Any, state: Any) -> Any:
    if type(state) is not dict or not all(_is_attribute(name) for name in state):
        raise UnpicklingError("a tensor has attributes that programs do not set")
    vars(tensor).update(state)
    return tensor


def _size(lengths: Any) -> Size:
    if type(lengths) is not tuple or any(type(n) is not int for n in lengths):
        raise UnpicklingError("a torch.Size is of whole numbers")
    return Size(lengths)


def _device(kind: Any, index: Any = None) -> device:
    if type(kind) is not str or not (index is None or type(index) is int):
        raise UnpicklingError("a device has a name and perhaps a number")
    return device(kind, index)


_V2, _V3 = Function(_tensor, 4), Function(_untyped_tensor, 4)
_NAMED: dict[str, Any] = {
    "torch._utils._rebuild_tensor_v2": _V2,
    "torch._utils._rebuild_tensor_v3": _V3,
    "torch._utils._rebuild_parameter": Function(_parameter, 4),
    "torch._utils._rebuild_parameter_with_state": Function(_parameter, 4),
    "torch._tensor._rebuild_from_type_v2": Function(_of_type, 4),
    "torch.Tensor": Tensor,
    "torch.Size": Function(_size),
    "torch.device": Function(_device),
    "torch.storage.UntypedStorage": _Kind(None),
    **{f"torch.{name}": kind for name, kind in _NAMES.items()},
    **{
        f"torch.{shown}Storage": _Kind(_NAMES[name])
        for name, shown in dtypes.TYPES.items()
        if name not in _UNTYPED
    },
}


def _named(name: str) -> Any:
    """Return what a file may ask for; None for all else."""
    if name not in _NAMED and name.startswith("torch.") and name.endswith("Storage"):
        raise UnpicklingError(
            f"the file has tensors of a dtype that is not offered ({name:.60}); write x.float() "
            "before they are saved"
        )
    return _NAMED.get(name)
