"""The user's line: which instruction of a program led to a call, and what stands there."""

from __future__ import annotations

import linecache
from types import CodeType
from typing import NamedTuple

from wengert.errors import users_frame
from wengert.explain.expressions import Expression, expression_at


class Instruction(NamedTuple):
    """An instruction of a program. To remember one costs little; its line is looked up later."""

    code: CodeType
    last: int

    @property
    def line(self) -> int | None:
        """The number of the line."""
        for start, end, line in self.code.co_lines():
            if start <= self.last < end:
                return line
        return None

    @property
    def location(self) -> str:
        """The line as "file:line"."""
        line = self.line
        return self.code.co_filename if line is None else f"{self.code.co_filename}:{line}"

    @property
    def text(self) -> str:
        """What stands in the line; "" where that cannot be read."""
        return linecache.getline(self.code.co_filename, self.line or 0).strip()

    @property
    def expression(self) -> Expression | None:
        """The expression that is evaluated; None where that cannot be read."""
        return expression_at(self.code, self.last)


def here() -> Instruction:
    """Return the instruction of the user's own code that led here."""
    frame = users_frame()
    return Instruction(frame.f_code, frame.f_lasti)


def instruction_of(node: object) -> Instruction | None:
    """Return the instruction that made a node, if that was noted."""
    code = getattr(node, "code", None)
    return None if code is None else Instruction(code, node.last)  # type: ignore[attr-defined]
