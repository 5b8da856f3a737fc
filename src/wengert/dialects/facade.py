"""Modules made of a table of dotted names, with an answer for names that are not in it."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any


def close_to(name: str, names: Iterable[str]) -> list[str]:
    """Return up to three names that are spelled like another."""
    import difflib  # which is slow to import, and only errors need it

    return difflib.get_close_matches(name, list(names), 3)


def did_you_mean(names: Sequence[str]) -> str:
    """Return the end of a sentence that proposes names; "" for none."""
    return f"; did you mean {' or '.join(names)}?" if names else ""


class Finder:
    """What `import` asks for modules that are made elsewhere: a finder and a loader.

    Parameters
    ----------
    look_up
        Takes a module's name. Returns the module, or None if the name is none of this finder's.
    """

    def __init__(self, look_up: Callable[[str], types.ModuleType | None]) -> None:
        self._look_up = look_up

    def find_spec(
        self, fullname: str, path: Any, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return how to load a module; None for one of somebody else's."""
        if self._look_up(fullname) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Leave the making of a blank module to Python."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Put the module that was made elsewhere in the place of a new one."""
        found = self._look_up(module.__name__)
        assert found is not None
        sys.modules[module.__name__] = found


class Alias(types.ModuleType):
    """A module under another name, which has the same attributes."""

    def __init__(self, name: str, real: types.ModuleType) -> None:
        super().__init__(name, real.__doc__)
        vars(self).update(_real=real, __path__=[])
        vars(self)["__all__"] = getattr(real, "__all__", [n for n in dir(real) if n[0] != "_"])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __setattr__(self, name: str, value: Any) -> None:
        # `import a.b` sets b of a, which must not hide a function of that name
        if not (isinstance(value, types.ModuleType) and hasattr(self._real, name)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return dir(self._real)


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
        Modules whose import fills in the table. Those in `late`, a dict from the first part of a
        name to modules, are imported when such a name is looked up.
    where
        The page that lists all names.
    absent
        What is said of names that are not offered on purpose, and of those under them.
    elsewhere
        Names that another package has, and functions that return what they are. They are called
        when such a name is looked up, and by nothing else.
    """

    def __init__(
        self, module: str, short: str, names: dict[str, Any], parts: Sequence[str],
        late: Mapping[str, Sequence[str]], where: str, absent: Mapping[str, str] | None = None,
        elsewhere: Mapping[str, Callable[[], Any]] | None = None,
    ) -> None:  # fmt: skip
        self.module, self.short, self.names = module, short, names
        self.elsewhere = {} if elsewhere is None else elsewhere
        self.absent = {} if absent is None else absent
        self.where, self.late = where, dict(late)  # what is loaded is dropped
        self._submodules: dict[str, types.ModuleType] = {}
        for part in parts:
            importlib.import_module(part)
        sys.meta_path.append(Finder(self._submodule_named))

    def look_up(self, path: str) -> Any:
        """Return what a dotted name is: a function, a class, a value or a module."""
        first, _, rest = path.partition(".")
        if first in self.elsewhere:
            found = self.elsewhere[first]()
            return attrgetter(rest)(found) if rest else found
        if path not in self.names:
            self.load(path)
        if path in self.names:
            return self.names[path]
        if any(name.startswith(f"{path}.") for name in self.names):
            return self._submodule(path)
        if self.late and path not in self.absent:
            self.load_all()
            return self.look_up(path)
        raise AttributeError(self._missing(path))

    def _submodule_named(self, name: str) -> types.ModuleType | None:
        """Return a submodule for `import`, which may be asked for before it is looked up."""
        if not name.startswith(f"{self.module}."):
            return None
        try:
            found = self.look_up(name.removeprefix(f"{self.module}."))
        except AttributeError as error:
            raise ImportError(str(error), name=name) from None
        return found if isinstance(found, types.ModuleType) else None

    def load(self, path: str) -> None:
        """Import the modules that offer a name, if that is done late."""
        for first in (path, path.partition(".")[0]):
            for part in self.late.pop(first, ()):
                importlib.import_module(part)

    def load_all(self) -> None:
        """Import everything that is imported late."""
        for first in list(self.late):
            self.load(first)

    def _submodule(self, path: str) -> types.ModuleType:
        if path not in self._submodules:
            name = f"{self.module}.{path}"
            made = types.ModuleType(name, f"The names {self.short}.{path}.*")
            self.give(made, path)
            self._submodules[path] = sys.modules[name] = made
        return self._submodules[path]

    def give(self, module: types.ModuleType, path: str = "") -> None:
        """Have a module answer for the names under a path."""
        start = f"{path}." if path else ""
        module.__getattr__ = self._getter(module, start)  # type: ignore[method-assign]
        module.__dir__ = lambda: self._children(start)  # type: ignore[method-assign]
        module.__path__ = []

    def _getter(self, module: types.ModuleType, start: str) -> Callable[[str], Any]:
        def get(name: str) -> Any:
            if name.startswith("__") and not self._knows(start + name):
                raise AttributeError(name)
            found = self.look_up(start + name)
            setattr(module, name, found)  # from now on Python finds it by itself
            return found

        return get

    def _knows(self, start: str) -> bool:
        """Return whether any name begins like this, of those so far and those to be loaded."""
        return any(name.startswith(start) for name in (*self.names, *self.late))

    def _children(self, start: str) -> list[str]:
        self.load_all()
        names = (*self.names, *self.elsewhere)
        return sorted({n[len(start) :].partition(".")[0] for n in names if n.startswith(start)})

    def _missing(self, path: str) -> str:
        for name, why in self.absent.items():
            if f"{path}.".startswith(f"{name}."):
                return why
        self.load_all()
        near = close_to(path, self.names)
        last = path.rpartition(".")[2]
        near += [n for n in self.names if n.rpartition(".")[2] == last and n not in near]
        hint = did_you_mean([f"{self.short}.{n}" for n in near[:4]])
        return (
            f"{self.short}.{path} is not offered by {self.module}{hint} All names are in "
            f"{self.where}"
        )
