"""autograd.misc: flatten, and the modules optimizers and fixed_points."""

from typing import Any

from wengert.dialects.autograd.borders import late
from wengert.dialects.autograd.misc.flatten import flatten

__all__ = ["fixed_points", "flatten", "optimizers"]
_WHY = "derive a class from Node of wengert.autograd.tracer, and keep in it what a call did"
ABSENT = dict.fromkeys(("const_graph", "tracers"), _WHY)


def __getattr__(name: str) -> Any:
    return late(__name__, name, __all__, ABSENT.get(name, ""))
