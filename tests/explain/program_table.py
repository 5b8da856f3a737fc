"""A table of programs that go wrong: what is expected of each stands in the program itself.

A program is a function. The line that an explanation is to name ends in ``# here``; where no line
ends so, none is to be named.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple

MARK = "# here"


class Program(NamedTuple):
    """A program that goes wrong, what is expected of it, and the line of its mark."""

    name: str
    run: Callable[[], Any]
    expected: Any
    location: str | None

    @property
    def text(self) -> str:
        """What stands in the function, without its mark, as a script."""
        lines, _ = inspect.getsourcelines(self.run)
        start = next(i for i, line in enumerate(lines) if line.startswith("def ")) + 1
        return textwrap.dedent("".join(lines[start:])).replace(f"  {MARK}", "")


class Table(dict[str, Program]):
    """Programs by their names."""

    def put(self, expected: Any) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
        """Return a decorator that puts a program into the table."""

        def decorate(program: Callable[[], Any]) -> Callable[[], Any]:
            lines, first = inspect.getsourcelines(program)
            marked = [first + i for i, line in enumerate(lines) if line.rstrip().endswith(MARK)]
            assert len(marked) <= 1, f"{program.__name__} has two marks"
            assert program.__name__ not in self, f"two programs {program.__name__}"
            where = f"{program.__code__.co_filename}:{marked[0]}" if marked else None
            self[program.__name__] = Program(program.__name__, program, expected, where)
            return program

        return decorate
