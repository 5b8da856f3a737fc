"""autograd.misc: flatten; the modules optimizers and fixed_points."""

from typing import Any

from wengert.dialects.autograd.borders import late
from wengert.dialects.autograd.misc.flatten import flatten

__all__ = ["fixed_points", "flatten", "optimizers"]
_ABSENT = {
    "const_graph": "operations are recorded anew in each call; write the function itself",
    "tracers": "operations are recorded anew in each call; there is no graph to keep",
}


def __getattr__(name: str) -> Any:
    return late(__name__, name, __all__, _ABSENT.get(name, ""))
