"""Programs written for HIPS autograd, on Wengert: ``from wengert.autograd import grad``.

Names, conventions and habits are autograd's; derivatives are Wengert's. What is offered, and what
differs, is in docs/from-autograd.md.
"""

import importlib
import sys
import types
from typing import Any

from wengert.dialects import autograd, facade
from wengert.dialects.autograd.borders import missing

_HERE = __name__


class _Module(facade.Alias):
    """A module of the dialect under the name that programs import.

    It imports its submodules when they are first used. Of a name that is not offered it says why,
    or which names are near.
    """

    def __getattr__(self, name: str) -> Any:
        names = vars(self._real)
        if name in names and not isinstance(names[name], types.ModuleType):
            return names[name]
        if not name.startswith("_") and _submodule(f"{self.__name__}.{name}") is not None:
            return importlib.import_module(f"{self.__name__}.{name}")
        if name in names or "__getattr__" in names:
            return getattr(self._real, name)
        raise missing(self.__name__, name, self.__all__, names.get("ABSENT", {}).get(name, ""))


def _submodule(name: str) -> types.ModuleType | None:
    if not name.startswith(f"{_HERE}."):
        return None
    real = autograd.__name__ + name.removeprefix(_HERE)
    try:
        return _Module(name, importlib.import_module(real))
    except ModuleNotFoundError as error:
        if error.name != real:
            raise
        return None


sys.meta_path.append(facade.Finder(_submodule))
sys.modules[_HERE] = _Module(_HERE, autograd)
