"""autograd.misc: flatten and const_graph; the modules optimizers, fixed_points and tracers."""

from typing import Any

from wengert.dialects.autograd.borders import late
from wengert.dialects.autograd.misc.flatten import flatten
from wengert.dialects.autograd.misc.tracers import const_graph

__all__ = ["const_graph", "fixed_points", "flatten", "optimizers", "tracers"]


def __getattr__(name: str) -> Any:
    return late(__name__, name, __all__)
