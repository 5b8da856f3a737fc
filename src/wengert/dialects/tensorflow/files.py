"""tf.io.gfile: files and folders of this machine, by Python's own functions."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Callable
from functools import partial
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


def _offer(name: str, function: Callable[..., Any], doc: str, differs: str = "") -> None:
    """Offer a function of paths, whose errors become TensorFlow's."""

    def call(path: Any, *args: Any, **options: Any) -> Any:
        if not isinstance(path, (str, bytes, os.PathLike, list, tuple)):
            raise TypeError(f"got {path!r:.80}; expected a path, as str, bytes or os.PathLike")
        if "://" in os.fsdecode(path if not isinstance(path, (list, tuple)) else ""):
            text = f"{path!r} is on another machine; only files of this one are offered"
            raise UnimplementedError(None, None, text)
        try:
            return function(path, *args, **options)
        except OSError as error:
            found: type[OpError] = _CLASSES.get(type(error), FailedPreconditionError)
            raise found(None, None, f"{path!r:.200}: {error.strerror}") from None

    call.__name__, call.__doc__ = name, doc
    put((f"io.gfile.{name}",), call, differs)


def _matching(pattern: Any) -> list[str]:
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    return [path for one in patterns for path in sorted(glob.glob(os.fsdecode(one)))]


def _unless_there(function: Callable[..., Any]) -> Callable[..., None]:
    """Return a function of two paths that leaves alone what is there, unless it is told not to."""

    def call(src: Any, dst: Any, overwrite: bool = False) -> None:
        if not overwrite and os.path.exists(dst):
            raise AlreadyExistsError(None, None, f"{dst!r} is there already; write overwrite=True")
        function(src, dst)

    return call


def _stat(path: Any) -> Any:
    found, folder = os.stat(path), os.path.isdir(path)
    return SimpleNamespace(length=found.st_size, mtime_nsec=found.st_mtime_ns, is_directory=folder)


def _opened(name: Any, mode: str = "r") -> Any:
    if mode.replace("b", "") not in ("r", "w", "a", "r+", "w+", "a+"):
        raise invalid(f"mode is {mode!r}; expected 'r', 'w' or 'a', maybe with 'b' or '+'")
    return open(name, mode, encoding=None if "b" in mode else "utf-8")


put(("io.gfile.join",), os.path.join)
for _name, _function, _doc in (
    ("exists", os.path.exists, "Return whether there is such a file or folder."),
    ("isdir", os.path.isdir, "Return whether there is such a folder."),
    ("listdir", lambda path: sorted(os.listdir(os.fsdecode(path))), "Return what is in a folder."),
    ("glob", _matching, "Return the paths that match a pattern, or any of several."),
    ("mkdir", lambda path: None if os.path.isdir(path) else os.mkdir(path), "Make a folder."),
    ("makedirs", partial(os.makedirs, exist_ok=True), "Make a folder and those that it is in."),
    ("remove", os.remove, "Remove a file."),
    ("rmtree", shutil.rmtree, "Remove a folder, with all that is in it."),
    ("copy", _unless_there(shutil.copyfile), "Copy a file."),
    ("rename", _unless_there(os.replace), "Give a file or a folder another name."),
    ("stat", _stat, "Return the length of a file, when it was changed, and if it is a folder."),
    ("walk", lambda top, *how: os.walk(os.fsdecode(top), *how), "Return an iterator of folders."),
):  # fmt: skip
    _offer(_name, _function, _doc)
_offer("GFile", _opened, "Return an open file.", "is Python's file, opened at once")
