"""What a program calls its tensors: by its variables, and by what its lines assign to."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import Any

from wengert.engine.node import Node
from wengert.explain.expressions import parsed
from wengert.explain.ledger import is_tensor
from wengert.explain.lines import Instruction

#: How many elements of a list or a dictionary of tensors are looked at.
_MOST = 256


def tensors_of(names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the tensors and variables among a program's names, with those in lists and dicts."""
    for name, value in names.items():
        if not name.startswith("_"):
            yield from _inside(name, value, 2)


def _inside(name: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if is_tensor(value) or hasattr(type(value), "__wengert_tensor__"):
        yield name, value
    elif depth and hasattr(value, "named_parameters") and not isinstance(value, type):
        for key, each in itertools.islice(value.named_parameters(), _MOST):  # a module of PyTorch's
            yield f"{name}.{key}", each
    elif depth and type(value) in (list, tuple):
        for k, each in enumerate(value[:_MOST]):
            yield from _inside(f"{name}[{k}]", each, depth - 1)
    elif depth and type(value) is dict:
        for key, each in itertools.islice(value.items(), _MOST):
            yield from _inside(f"{name}[{key!r}]", each, depth - 1)


class Assignments:
    """Which name each line of a program assigns its value to."""

    def __init__(self) -> None:
        self._files: dict[str, dict[Any, str]] = {}
        self._known: dict[tuple[int, int], str] = {}

    def names(self, nodes: list[Node]) -> dict[Node, str]:
        """Return the names of nodes, oldest first, that a line of the program gave to a variable.

        Where one call recorded several operations, the name is that of the last.
        """
        found: dict[Node, str] = {}
        for node in nodes:
            code = getattr(node, "code", None)
            if code is None:
                continue
            # the hash of a code reads all of it; its address does, while the node holds it
            place = id(code), node.last
            name = self._known.get(place)
            if name is None:
                name = self._known[place] = self._name_at(Instruction(code, node.last))
            if name:
                found[node] = name
                for parent, _, _ in node.edges:
                    if (getattr(parent, "code", None), getattr(parent, "last", None)) == (
                        code,
                        node.last,
                    ):
                        found.pop(parent, None)
        return found

    def _name_at(self, line: Instruction) -> str:
        path = line.code.co_filename
        if path not in self._files:
            self._files[path] = _assigned(path)
        where = next(itertools.islice(line.code.co_positions(), line.last // 2, None), None)
        if where is None:
            return ""
        start, end, column, end_column = where
        return self._files[path].get((start, column, end, end_column), "")


def _assigned(path: str) -> dict[Any, str]:
    """Return the names that a file assigns to, by where the assigned expression stands."""
    found: dict[Any, str] = {}
    program = parsed(path)
    for statement in ast.walk(program[0]) if program is not None else ():
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target: ast.expr = statement.targets[0]
        elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
            target = statement.target
        else:
            continue
        value = statement.value
        if not isinstance(target, ast.Name) or value is None:
            continue
        # an augmented assignment is an instruction of its own, and so is that of its value
        whole: Any = statement if isinstance(statement, ast.AugAssign) else value
        line, column = whole.lineno, whole.col_offset
        method = whole.func if isinstance(whole, ast.Call) else None
        if isinstance(method, ast.Attribute) and method.end_lineno != line:
            # Python has the call begin where the name of the method stands
            line, column = method.end_lineno, (method.end_col_offset or 0) - len(method.attr)
        found[line, column, whole.end_lineno, whole.end_col_offset] = target.id
    return found
