"""autograd.tracer: nodes and boxes for tracers that a program writes."""

from wengert.dialects.autograd.boxes import (
    Box,
    Node,
    getval,
    isbox,
    new_box,
    register_notrace,
    trace,
    trace_stack,
)
from wengert.dialects.autograd.extend import notrace_primitive, primitive
from wengert.dialects.autograd.numpy import boxes as _arrays  # noqa: F401  boxes of arrays
from wengert.dialects.autograd.util import subvals, toposort

__all__ = [
    "Box", "Node", "getval", "isbox", "new_box", "notrace_primitive", "primitive",
    "register_notrace", "subvals", "toposort", "trace", "trace_stack",
]  # fmt: skip
