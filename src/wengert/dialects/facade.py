"""Modules made of a table of dotted names, with an answer for names that are not in it."""

from __future__ import annotations

import difflib
import importlib
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any


class Facade:
    """The names of a dialect as a module and its submodules.

    Parameters
    ----------
    module
        The name of the module that users import, such as "wengert.tensorflow".
    short
        What programs call it, such as "tf".
    names
        Returns the table: dotted names and what they are.
    parts
        Modules whose import fills in the table. Those in `late`, a dict from the first part of a name
        to modules, are imported when such a name is looked up.
    where
        The page that lists all names.
    """

    def __init__(
        self,
        module: str,
        short: str,
        names: dict[str, Any],
        parts: Sequence[str],
        late: Mapping[str, Sequence[str]],
        where: str,
    ) -> None:
        self.module, self.short, self.names = module, short, names
        self.where, self.late = where, dict(late)  # what is loaded is dropped
        for part in parts:
            importlib.import_module(part)

    def look_up(self, path: str) -> Any:
        """Return what a dotted name is: a function, a class, a value or a module."""
        if path not in self.names:
            self._load(path)
        if path in self.names:
            return self.names[path]
        if any(name.startswith(f"{path}.") for name in self.names):
            return self._submodule(path)
        raise AttributeError(self._missing(path))

    def _load(self, path: str) -> None:
        for first in (path, path.partition(".")[0]):
            for part in self.late.pop(first, ()):
                importlib.import_module(part)

    def load_all(self) -> None:
        """Import everything that is imported late."""
        for first in list(self.late):
            self._load(first)

    def _submodule(self, path: str) -> types.ModuleType:
        name = f"{self.module}.{path}"
        if name not in sys.modules:
            made = types.ModuleType(name, f"The names {self.short}.{path}.*")
            self.give(made, path)
            sys.modules[name] = made
        return sys.modules[name]

    def give(self, module: types.ModuleType, path: str = "") -> None:
        """Have a module answer for the names under a path."""
        start = f"{path}." if path else ""
        module.__getattr__ = self._getter(start)  # type: ignore[method-assign]
        module.__dir__ = lambda: self._children(start)  # type: ignore[method-assign]
        module.__path__ = []

    def _getter(self, start: str) -> Callable[[str], Any]:
        def get(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return self.look_up(start + name)

        return get

    def _children(self, start: str) -> list[str]:
        self.load_all()
        found = {n[len(start) :].partition(".")[0] for n in self.names if n.startswith(start)}
        return sorted(found)

    def _missing(self, path: str) -> str:
        self.load_all()
        near = difflib.get_close_matches(path, self.names, 3, 0.6)
        last = path.rpartition(".")[2]
        near += [n for n in self.names if n.rpartition(".")[2] == last and n not in near]
        hint = (
            f"; did you mean {' or '.join(f'{self.short}.{n}' for n in near[:4])}?" if near else ""
        )
        return f"{self.short}.{path} is not offered by {self.module}{hint} All names are in {self.where}"
