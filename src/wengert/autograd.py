"""Programs written for HIPS autograd, on Wengert: ``from wengert.autograd import grad``.

Names, conventions and habits are autograd's; derivatives are Wengert's. See docs/autograd.md.
"""

import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import Any as _Any

from wengert.dialects import autograd as _autograd
from wengert.dialects.autograd import *  # noqa: F403
from wengert.dialects.autograd import __all__  # noqa: F401
from wengert.dialects.facade import Finder as _Finder

__path__: list[str] = []


def _submodule(name: str) -> _ModuleType | None:
    if not name.startswith(f"{__name__}."):
        return None
    return _import_module(_autograd.__name__ + name.removeprefix(__name__))


def __getattr__(name: str) -> _Any:
    return getattr(_autograd, name)


_sys.meta_path.append(_Finder(_submodule))
