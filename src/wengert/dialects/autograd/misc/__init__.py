"""autograd.misc: flatten; the modules optimizers and fixed_points."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from wengert.dialects.autograd.borders import missing
from wengert.dialects.autograd.misc.flatten import flatten

__all__ = ["fixed_points", "flatten", "optimizers"]
_LATE = ("fixed_points", "optimizers")
_GONE = {
    "const_graph": "operations are recorded anew in each call; write the function itself",
    "tracers": "operations are recorded anew in each call; there is no graph to keep",
}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return import_module(f"{__name__}.{name}")
    raise missing(__name__, name, __all__, _GONE.get(name, ""))
