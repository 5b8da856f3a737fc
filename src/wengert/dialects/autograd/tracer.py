"""autograd.tracer: nodes and boxes for tracers that a program writes."""

from wengert.dialects.autograd import boxes as _boxes
from wengert.dialects.autograd.boxes import *  # noqa: F403
from wengert.dialects.autograd.extend import notrace_primitive, primitive
from wengert.dialects.autograd.numpy import boxes as _arrays  # noqa: F401  boxes of arrays
from wengert.dialects.autograd.util import subvals, toposort

__all__ = ["notrace_primitive", "primitive", "subvals", "toposort"]
__all__ += _boxes.__all__
