"""The expression that a frame evaluates, read off the program's text, for messages.

This runs only when an error or a warning is being made. Where there is no text (a program that was
typed in, or a file that has changed), messages do without it.
"""

from __future__ import annotations

import ast
import itertools
import linecache
from types import CodeType, FrameType
from typing import Any, NamedTuple


class Expression(NamedTuple):
    """An expression of a program, the statement it is part of, and how both are written."""

    node: ast.AST
    statement: ast.stmt
    lines: list[str]

    def text(self, node: ast.AST | None = None) -> str:
        """Return the text of the expression, or of a part of it, in one line."""
        part = self.node if node is None else node
        found = ast.get_source_segment("".join(self.lines), part) or ast.unparse(part)
        return " ".join(found.split())


def parsed(path: str, names: dict[str, Any] | None = None) -> tuple[ast.Module, list[str]] | None:
    """Return the syntax tree and the lines of a file; None if there are none.

    `names` are the globals of the module, which may know how to get its text.
    """
    lines = linecache.getlines(path, names)
    try:
        return (ast.parse("".join(lines)), lines) if lines else None
    except (SyntaxError, ValueError, RecursionError):  # the file is no Python any more
        return None


def expression_of(frame: FrameType) -> Expression | None:
    """Return the call, the operator or the target of an assignment that a frame is at."""
    return expression_at(frame.f_code, frame.f_lasti, frame.f_globals)


def expression_at(
    code: CodeType, last: int, names: dict[str, Any] | None = None
) -> Expression | None:
    """Return the expression that an instruction of a program evaluates."""
    found = parsed(code.co_filename, names)
    if found is None:
        return None
    tree, lines = found
    line, end_line, column, end_column = _position(code, last)
    if line is None or end_line is None or column is None or end_column is None:
        return None
    best: tuple[int, Expression] | None = None
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt) or not _holds(statement, line, end_line):
            continue
        for node in _own_parts(statement):
            end: Any = (getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None))
            if end != (end_line, end_column):
                continue
            # Python has a method's call begin where the name of the method stands
            away = abs(node.lineno - line) * 1000 + abs(node.col_offset - column)  # type: ignore[attr-defined]
            if best is None or away < best[0]:
                best = away, Expression(node, statement, lines)
    return None if best is None else best[1]


def _position(code: CodeType, last: int) -> tuple[int | None, int | None, int | None, int | None]:
    """Return where an instruction stands in its file."""
    return next(itertools.islice(code.co_positions(), last // 2, None), (None,) * 4)


def _holds(statement: ast.stmt, line: int, end_line: int) -> bool:
    return statement.lineno <= line and end_line <= (statement.end_lineno or statement.lineno)


def _own_parts(statement: ast.stmt) -> list[ast.AST]:
    """Return the expressions of a statement, and not those of statements inside of it."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = [statement]
    while pending:
        for child in ast.iter_child_nodes(pending.pop()):
            if isinstance(child, ast.stmt):
                continue
            pending.append(child)
            if isinstance(child, (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript)):
                found.append(child)
    if isinstance(statement, ast.AugAssign):
        found.append(statement)
    return found
