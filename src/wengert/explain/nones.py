"""Gradients that are None: kept in mind, so that who is given one can say why, and told."""

from __future__ import annotations

import sys
import warnings
import weakref
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from wengert.engine.tape import Tape, part_of_tape
from wengert.engine.tensor import wrap
from wengert.errors import NoGradientWarning, caller_depth
from wengert.explain.explanation import Explanation, Reason
from wengert.explain.lines import Instruction, here
from wengert.explain.report import reports
from wengert.explain.why import Names, ledger, names_of, why
from wengert.ops.variable import Variable
from wengert.trees import flatten


class _Asked(NamedTuple):
    """A gradient that was None: of what, by what, and the line that asked."""

    source: Any
    tape: Any
    node: Any
    raw: Any
    line: Instruction


#: The last gradients that were None.
_nones: deque[_Asked] = deque(maxlen=64)


def _remember(tape: Tape, target: Any, source: Any) -> None:
    """Keep in mind that a gradient was None, so that who is given it can say why."""
    tensor = part_of_tape(target, "target").tensor
    small = np.zeros(()) if tensor.size > 1000 else tensor._raw
    node = None if tensor._node is None else weakref.ref(tensor._node)
    asked = _Asked(weakref.ref(source), weakref.ref(tape), node, small, here())
    _nones.append(asked)


def tell_nones(tape: Tape, target: Any, sources: list[tuple[int, Any]]) -> None:
    """Keep in mind that gradients are None, and warn under `wg.debug()` and ``python -X dev``.

    Sources come with their positions among those that were asked for.
    """
    targets = flatten(target)[0]
    if len(targets) != 1:
        return
    says = sys.flags.dev_mode or ledger() is not None
    for position, source in sources:
        if hasattr(source, "_leaf"):
            _remember(tape, targets[0], source)
        if says:
            tell(why(tape, targets[0], source, _names(source, position), True))


def tell_custom(source: Any, position: int) -> None:
    """Say, under `wg.debug()`, that a gradient is None because a custom rule answered that."""
    book = ledger()
    if book is None:
        return
    part = part_of_tape(source, "source")
    uses = book.uses(book.steps_of(part.tensor, part.node))
    step = next((s for s in uses if s.kind == "custom"), None)
    line = None if step is None else step.line
    name = "a custom function" if step is None else step.name
    tell(
        Explanation(
            Reason.CUSTOM_NONE,
            f"The rule of {name} answered None for {_names(source, position).source}",
            "Return a gradient of the argument's shape, zeros where it is constant",
            None if line is None else line.location,
            "" if line is None else line.text,
        )
    )


def _names(source: Any, position: int) -> Names:
    """Return what the program calls target and source; a variable in a nest has its own name."""
    names = names_of(here(), position)
    name = getattr(source, "name", None) if hasattr(source, "_leaf") else None
    unknown = names.source == "the source" or (position and not names.is_listed)
    return names._replace(source=name) if name and unknown else names


def tell(explanation: Explanation) -> None:
    """Warn at the user's line that a gradient is None, or put it in the report that is kept."""
    if reports:
        reports[-1].nones.append((here(), explanation))
        return
    text = f"the gradient is None: {explanation}"
    warnings.warn(text, NoGradientWarning, stacklevel=caller_depth())


def why_none(source: Any) -> Explanation | None:
    """Return why the last gradient by a variable was None; None if none was."""
    for asked in reversed(_nones):
        tape = asked.tape()
        if asked.source() is source and tape is not None:
            node = None if asked.node is None else asked.node()
            target = wrap(asked.raw, node)
            return why(tape, target, source, names_of(asked.line), is_none=True)
    return None


def _said_of(self: Variable) -> str:
    """Return why the last gradient by a variable was None, as the end of a message."""
    found = why_none(self)
    return "" if found is None else f". The gradient is None because: {found}"


Variable._why_none = _said_of  # type: ignore[method-assign]
