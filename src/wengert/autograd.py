"""Programs written for HIPS autograd, on Wengert: ``from wengert.autograd import grad``.

Names, conventions and habits are autograd's; derivatives are Wengert's. What is offered, and what
differs, is in docs/from-autograd.md.
"""

import importlib
import sys
import types

from wengert.dialects import autograd, facade

_HERE = __name__


def _submodule(name: str) -> types.ModuleType | None:
    if not name.startswith(f"{_HERE}."):
        return None
    real = autograd.__name__ + name.removeprefix(_HERE)
    try:
        return facade.Alias(name, importlib.import_module(real))
    except ModuleNotFoundError as error:
        if error.name != real:
            raise
        return None


sys.meta_path.append(facade.Finder(_submodule))
sys.modules[_HERE] = facade.Alias(_HERE, autograd)
