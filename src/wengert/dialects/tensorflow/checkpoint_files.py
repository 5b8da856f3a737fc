"""Checkpoints in files: NumPy's .npz, with the arrays of variables and a graph of objects in JSON.

The file is a zip archive that is not compressed. Each variable is an array in NumPy's format, and
`index.json` says which object holds which. Reading takes arrays of numbers only and runs no code;
no more memory is used than the file is long.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import threading
import zipfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.tensorflow.errors import DataLossError, NotFoundError

_INDEX, _FORMAT, _VERSION = "index.json", "wengert.tensorflow checkpoint", 1
#: What is read of a file that somebody damaged, or made to do damage.
_DAMAGED = (
    zipfile.BadZipFile, ValueError, KeyError, TypeError, IndexError, EOFError, NotImplementedError,
    RuntimeError, OSError,
)  # fmt: skip
#: The start of an array of numbers in NumPy's format, version 1.0, as NumPy writes it.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([<>|][biufc]\d+)', 'fortran_order': (True|False), "
    rb"'shape': \(([\d, ]*)\), \} *\n",
    re.DOTALL,
)


@dataclass
class SavedObject:
    """An object of the graph: its parts, as numbers of other objects, and its array, if any."""

    children: dict[str, int] = field(default_factory=dict)
    array: str | None = None


@dataclass
class Saved:
    """What a checkpoint holds: objects, of which the first is the root, and arrays by name."""

    objects: list[SavedObject]
    arrays: dict[str, np.ndarray]


def path_of(prefix: str) -> str:
    """Return the name of the file of a checkpoint."""
    return f"{prefix}.npz"


def replace_file(path: str, data: Any) -> None:
    """Write a file by a function of it, in one go: who reads it sees the old or the new one."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    part = f"{path}.{os.getpid()}-{threading.get_ident()}.part"
    try:
        with open(part, "w+b") as file:
            data(file)
        os.replace(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def write(prefix: str, saved: Saved) -> None:
    """Write a checkpoint."""
    for name, array in saved.arrays.items():
        if backends.kind_of(array.dtype) not in "biufc":
            raise TypeError(f"{name} is of {array.dtype}; checkpoints hold numbers and booleans")
    objects = [
        {"children": o.children} | ({} if o.array is None else {"array": o.array})
        for o in saved.objects
    ]
    index = json.dumps({"format": _FORMAT, "version": _VERSION, "objects": objects}, indent=1)

    def fill(file: Any) -> None:
        np.savez(file, **saved.arrays)  # type: ignore[arg-type]
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr(_INDEX, index)

    replace_file(path_of(prefix), fill)


def read(prefix: str) -> Saved:
    """Return a checkpoint; a missing one is a NotFoundError, a damaged one a DataLossError."""
    path = path_of(prefix)
    if not os.path.isfile(path):
        theirs = os.path.exists(f"{prefix}.index")
        why = "; there is one in TensorFlow's own format, which is not read here" if theirs else ""
        raise NotFoundError(None, None, f"there is no checkpoint {path!r}{why}")
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _contents(archive, os.path.getsize(path))
        except _DAMAGED as error:
            text = f"{path!r} is damaged, or no checkpoint that was written here: {error!s:.200}"
            raise DataLossError(None, None, text) from error


def _contents(archive: zipfile.ZipFile, size: int) -> Saved:
    members = archive.infolist()
    if any(m.compress_type != zipfile.ZIP_STORED for m in members):
        raise ValueError("its parts are compressed")
    if sum(m.file_size for m in members) > size:
        raise ValueError("its parts are longer than the file")
    index = json.loads(archive.read(_INDEX))
    if index["format"] != _FORMAT or index["version"] != _VERSION:
        raise ValueError(f"it is of the format {index['format']!r}, version {index['version']!r}")
    objects = [SavedObject(dict(o["children"]), o.get("array")) for o in index["objects"]]
    if not objects:
        raise ValueError("it has no objects")
    for found in objects:
        if not all(type(n) is int and 0 <= n < len(objects) for n in found.children.values()):
            raise ValueError("an object has parts that are not there")
    names = {o.array for o in objects if o.array is not None}
    return Saved(objects, {name: _array(archive.read(f"{name}.npy")) for name in names})


def _array(data: bytes) -> np.ndarray:
    """Return the array in NumPy's format that some bytes are, of numbers and no other objects."""
    header = _HEADER.match(data)
    if header is None:
        raise ValueError("an array is not in NumPy's format, or not of numbers")
    dtype, by_columns = np.dtype(header[1].decode()), header[2] == b"True"
    shape = tuple(map(int, header[3].replace(b",", b" ").split()))
    count = len(data) - header.end()
    if math.prod(shape) * dtype.itemsize != count:
        raise ValueError(f"an array of {dtype} and shape {shape!s:.80} has {count} bytes")
    flat = np.frombuffer(data, dtype, offset=header.end()).astype(dtype.newbyteorder("="))
    return flat.reshape(shape, order="F" if by_columns else "C")
