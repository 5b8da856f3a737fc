"""NumPy's floating-point warnings, given at the user's line and with the operation's name.

NumPy would name a line of ours, and once for all of a program: it counts warnings by line. In a
sweep the line is that of the operation whose rule computes, where a node knows it.
"""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

from wengert.backends.float_errors import LOCATED
from wengert.engine.node import Node
from wengert.engine.op import Op
from wengert.engine.sweep import reverse
from wengert.errors import caller_depth, is_between
from wengert.explain.lines import instruction_of

#: The code of the sweep's loop, in whose frame `node` is the one whose rule computes.
_SWEEP = reverse.__code__


def tell(kind: str) -> None:
    """Warn about a floating-point error of the operation that computes now."""
    op, node = _computing()
    name = "" if op is None else f" in {op.name}"
    instruction = instruction_of(node)
    if node is not None:
        name = f" in the derivative of {node.op.name}"
    if instruction is None:
        warnings.warn(f"{kind} encountered{name}", RuntimeWarning, stacklevel=caller_depth())
        return
    warnings.warn_explicit(
        f"{kind} encountered{name}",
        RuntimeWarning,
        instruction.code.co_filename,
        instruction.line or 1,
    )


def _computing() -> tuple[Op | None, Node | None]:
    """Return the operation that computes in this thread, or the node whose rule does."""
    frame: FrameType | None = sys._getframe(2)
    found: Op | None = None
    while frame is not None and is_between(frame):
        if frame.f_code is _SWEEP:  # whose rules may compute by operations
            return None, frame.f_locals.get("node")
        op: Any = frame.f_globals.get("_op", frame.f_locals.get("op"))
        if found is None and isinstance(op, Op):
            found = op
        frame = frame.f_back
    return found, None


LOCATED.tell = tell
