"""The unmodified package `keras`, whose own TensorFlow backend imports Wengert's dialect.

Where a module of `keras` says `import tensorflow`, now or later, it gets `wengert.tensorflow`. The
imports of all other modules are left alone, so that the real TensorFlow can be in the same process.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.machinery
import os
import sys
import types
from typing import Any

_OURS = "wengert.tensorflow"
#: The variable by which Keras is told its backend, and the module where it keeps it.
_CHOICE, _BACKEND = "KERAS_BACKEND", "keras.src.backend"


def _import(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> Any:
    """Return what `import` returns in modules of Keras: for TensorFlow, Wengert's dialect."""
    if level or name.partition(".")[0] != "tensorflow":
        return builtins.__import__(name, globals, locals, fromlist, level)
    found = importlib.import_module(f"wengert.{name}")
    return found if fromlist else sys.modules[_OURS]


_BUILTINS = {**vars(builtins), "__import__": _import}


class Finder:
    """What `import` asks for modules of Keras: found as ever, they are run with `_import`."""

    def find_spec(
        self, fullname: str, path: Any, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return how to load a module of Keras; None for one of another package."""
        if fullname.partition(".")[0] != "keras":
            return None
        others = [finder for finder in sys.meta_path if not isinstance(finder, Finder)]
        specs = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next(filter(None, specs), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
        return spec


class _Loader:
    """What loads a module of Keras as another loader does, and has it import by `_import`."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the module."""
        vars(module)["__builtins__"] = _BUILTINS
        self._loader.exec_module(module)
        if "LazyModule" in vars(module):
            _redirect(module)
        if module.__name__ == _BACKEND and _chosen(module) == "tensorflow":
            specs = importlib.import_module(f"{__package__}.specs")
            vars(module)["compute_output_spec"] = specs.compute_output_spec


def _redirect(module: types.ModuleType) -> None:
    """Have the modules that Keras imports by name, when first used, be Wengert's."""
    for value in vars(module).values():
        if isinstance(value, module.LazyModule) and value.name.startswith("tensorflow"):
            value.name = f"wengert.{value.name}"


def package() -> types.ModuleType:
    """Return `tf.keras`: the package `keras`, imported if need be, on this dialect."""
    loaded = sys.modules.get(_BACKEND)
    if loaded is None:
        return _loaded()
    if vars(loaded).get("__builtins__") is not _BUILTINS:
        raise ImportError(
            f"tf.keras: the package keras was imported before, with the backend "
            f"{_chosen(loaded)!r}, and holds one backend in a process; write "
            "`import wengert.tensorflow as tf; tf.keras` before anything else imports keras or "
            "tensorflow"
        )
    return _checked(loaded)


def _loaded() -> types.ModuleType:
    before = os.environ.get(_CHOICE)
    os.environ[_CHOICE] = before or "tensorflow"
    finder = Finder()
    sys.meta_path.insert(0, finder)
    try:
        importlib.import_module("keras")
    except ModuleNotFoundError as error:
        sys.meta_path.remove(finder)
        if error.name != "keras":
            raise
        raise ImportError(
            "tf.keras is the package keras, which is not installed; run "
            "pip install 'wengert[keras]'",
            name="keras",
        ) from None
    finally:
        del os.environ[_CHOICE]
        os.environ |= {} if before is None else {_CHOICE: before}
    return _checked(sys.modules[_BACKEND])


def _checked(backend: types.ModuleType) -> types.ModuleType:
    """Return `tf.keras`; raise if Keras runs on another backend than TensorFlow's."""
    if _chosen(backend) != "tensorflow":
        raise ImportError(
            f"tf.keras: Keras runs with the backend {_chosen(backend)!r}, which {_CHOICE} says; "
            f"set {_CHOICE}=tensorflow before the program starts"
        )
    return importlib.import_module("keras._tf_keras.keras")


def _chosen(backend: types.ModuleType) -> str:
    """Return the name of the backend that Keras has."""
    return str(backend.backend())
