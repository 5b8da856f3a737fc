"""autograd.misc: flatten; the modules optimizers and fixed_points."""

from wengert.dialects.autograd.misc.flatten import flatten

__all__ = ["fixed_points", "flatten", "optimizers"]

ABSENT = {
    "const_graph": "operations are recorded anew in each call; write the function itself",
    "tracers": "operations are recorded anew in each call; there is no graph to keep",
}
