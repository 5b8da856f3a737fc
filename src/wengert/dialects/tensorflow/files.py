"""tf.io.gfile: files and folders of this machine, by Python's own functions."""

from __future__ import annotations

import glob as globs
import os
import shutil
from collections.abc import Callable, Iterator
from functools import wraps
from types import SimpleNamespace
from typing import Any

from wengert.dialects.tensorflow.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    UnimplementedError,
    invalid,
)
from wengert.dialects.tensorflow.table import put

_CLASSES = {
    FileNotFoundError: NotFoundError,
    NotADirectoryError: NotFoundError,
    FileExistsError: AlreadyExistsError,
    IsADirectoryError: FailedPreconditionError,
    PermissionError: PermissionDeniedError,
}


def _offer(body: Callable[..., Any], differs: str = "") -> None:
    """Offer a function of paths, whose errors become TensorFlow's."""

    @wraps(body)
    def call(path: Any, *args: Any, **options: Any) -> Any:
        if not isinstance(path, (str, bytes, os.PathLike, list, tuple)):
            raise TypeError(f"got {path!r:.80}; expected a path, as str, bytes or os.PathLike")
        if "://" in os.fsdecode(path if not isinstance(path, (list, tuple)) else ""):
            text = f"{path!r} is on another machine; only files of this one are offered"
            raise UnimplementedError(None, None, text)
        try:
            return body(path, *args, **options)
        except OSError as error:
            found: type[OpError] = _CLASSES.get(type(error), FailedPreconditionError)
            raise found(None, None, f"{path!r:.200}: {error.strerror}") from None

    put((f"io.gfile.{body.__name__}",), call, differs)


def exists(path: Any) -> bool:
    """Return whether there is such a file or folder."""
    return os.path.exists(path)


def isdir(path: Any) -> bool:
    """Return whether there is such a folder."""
    return os.path.isdir(path)


def listdir(path: Any) -> list[str]:
    """Return the names of what is in a folder."""
    return sorted(os.listdir(os.fsdecode(path)))


def glob(pattern: Any) -> list[str]:
    """Return the paths that match a pattern, or any of several."""
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    return [path for one in patterns for path in sorted(globs.glob(os.fsdecode(one)))]


def mkdir(path: Any) -> None:
    """Make a folder, if there is none."""
    if not os.path.isdir(path):
        os.mkdir(path)


def makedirs(path: Any) -> None:
    """Make a folder and those that it is in, if there are none."""
    os.makedirs(path, exist_ok=True)


def remove(path: Any) -> None:
    """Remove a file."""
    os.remove(path)


def rmtree(path: Any) -> None:
    """Remove a folder, with all that is in it."""
    shutil.rmtree(path)


def _free(path: Any, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise AlreadyExistsError(None, None, f"{path!r} is there already; write overwrite=True")


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file."""
    _free(dst, overwrite)
    shutil.copyfile(src, dst)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Give a file or a folder another name."""
    _free(dst, overwrite)
    os.replace(src, dst)


def stat(path: Any) -> Any:
    """Return the length of a file, when it was changed, and whether it is a folder."""
    found, folder = os.stat(path), os.path.isdir(path)
    return SimpleNamespace(length=found.st_size, mtime_nsec=found.st_mtime_ns, is_directory=folder)


def walk(top: Any, topdown: bool = True, onerror: Any = None) -> Iterator[Any]:
    """Return an iterator of folders: their path, the folders and the files in each."""
    return os.walk(os.fsdecode(top), topdown, onerror)


def GFile(name: Any, mode: str = "r") -> Any:
    """Return an open file."""
    if mode.replace("b", "") not in ("r", "w", "a", "r+", "w+", "a+"):
        raise invalid(f"mode is {mode!r}; expected 'r', 'w' or 'a', maybe with 'b' or '+'")
    return open(name, mode, encoding=None if "b" in mode else "utf-8")


put(("io.gfile.join",), os.path.join)
for _body in (
    exists, isdir, listdir, glob, mkdir, makedirs, remove, rmtree, copy, rename, stat, walk,
):  # fmt: skip
    _offer(_body)
_offer(GFile, "is Python's file, opened at once")
