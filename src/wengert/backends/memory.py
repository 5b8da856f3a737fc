"""How much memory there is: to say beforehand that an array cannot be had."""

from __future__ import annotations

import os

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
