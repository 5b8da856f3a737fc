"""How much memory there is, to say beforehand that an array cannot be had; and who shares it."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

_INFO = "/proc/meminfo"
_GROUP = "/sys/fs/cgroup"


def available() -> int | None:
    """Return how many bytes this process can still get; None if the system does not say."""
    known = [n for n in (_of_machine(), _of_group()) if n is not None]
    return min(known, default=None)


def _read(path: str) -> str:
    with open(path) as file:
        return file.read()


def _of_machine() -> int | None:
    try:
        for line in _read(_INFO).splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):  # not Linux; no such name; not a Unix
        return None


def _of_group() -> int | None:
    """Return what is left of the limit of a container, if there is one."""
    try:
        return int(_read(f"{_GROUP}/memory.max")) - int(_read(f"{_GROUP}/memory.current"))
    except (OSError, ValueError):  # no such group, or "max": no limit
        return None


def owner_of(array: Any) -> tuple[int, int]:
    """Return a number that names the memory which an array is a view of, and its size in bytes.

    The number is good as long as something refers to the array.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.zeros((4, 5))
    >>> owner_of(x.T[0]) == owner_of(x), owner_of(x)[1]
    (True, 160)
    """
    if hasattr(array, "untyped_storage"):  # PyTorch
        storage = array.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    base = getattr(array, "base", None)
    while hasattr(base, "nbytes"):  # NumPy and CuPy
        array, base = base, getattr(base, "base", None)
    size = getattr(array, "nbytes", None)
    if size is None:  # the standard does not say
        size = math.prod(array.shape) * np.dtype(str(array.dtype).rpartition(".")[2]).itemsize
    return id(array if base is None else base), int(size)
