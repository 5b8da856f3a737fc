"""Where a program cut the path to a value, read off its text.

Nothing is recorded of values that have no derivative. So the program is read: from the line that
failed back through the assignments that led to its value, to an expression that no gradient goes
through. This runs only when an error is about to be raised.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import types
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from wengert.explain.expressions import parsed

#: Functions of Python whose results are numbers.
_NUMBERS = ("float", "int", "bool", "complex")


class Step(NamedTuple):
    """An expression on the way to a value, and the context in which it is not recorded, if any."""

    names: set[str]
    value: ast.AST
    paused: Cut | None


class Cut(NamedTuple):
    """What no gradient goes through, and its line."""

    name: str
    path: str
    line: int

    @property
    def location(self) -> str:
        """The line as "file:line"."""
        return f"{self.path}:{self.line}"

    @property
    def text(self) -> str:
        """What stands in the line."""
        return linecache.getline(self.path, self.line).strip()

    def __str__(self) -> str:
        return f"{self.name} at {self.location}"


class Cuts(NamedTuple):
    """What cuts a path in the programs of a dialect, by names.

    Attributes
    ----------
    functions
        Functions and methods whose results no gradient goes through.
    makers
        Those that make arrays of numbers, or in the shape of others.
    attributes
        Attributes that no gradient goes through.
    modes
        Contexts, and decorators, under which nothing is recorded.
    is_live
        Returns whether a value is, or has inside, what gradients come from.
    """

    functions: Collection[str]
    makers: Collection[str]
    attributes: Collection[str]
    modes: Collection[str]
    is_live: Callable[[Any], bool]

    def found_at(self, frame: types.FrameType, value: Any) -> Cut | None:
        """Return what cut the path to a value, and the line; None where that is not found."""
        try:
            return self._cut_before(frame, value)
        except RecursionError:  # an expression of many thousand terms
            return None

    def _cut_before(self, frame: types.FrameType, value: Any) -> Cut | None:
        scope = _scope(frame.f_code)
        if scope is None:
            return None
        path, known = frame.f_code.co_filename, {**frame.f_globals, **frame.f_locals}
        failing = _statement_at(scope, frame.f_lineno)
        start = {name for name, local in frame.f_locals.items() if local is value}
        steps = list(self._steps(scope.body, path, None))
        chain = [Step(set(), failing, None), *_leading_to(start or _names(failing), steps)]
        cut = self._first(
            chain, path, lambda node: any(self.is_live(known.get(n)) for n in _names(node))
        )
        for step in chain if cut is None else ():
            for function in _called(step.value, known):
                cut = cut or self._inside(function)
        return cut or self._first(chain, path, self._is_no_maker)  # names may be bound anew

    def _steps(self, body: list[ast.stmt], path: str, paused: Cut | None) -> Iterator[Step]:
        """Yield the assignments of a scope in their order, not those of functions in it."""
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)):
                value = statement.iter if isinstance(statement, ast.For) else statement.value
                targets = getattr(statement, "targets", None) or [statement.target]  # type: ignore[union-attr]
                if value is not None:
                    yield Step(set().union(*map(_names, targets)), value, paused)
            within = paused
            if isinstance(statement, (ast.With, ast.AsyncWith)):
                modes = [self._mode(item.context_expr, path) for item in statement.items]
                within = next(filter(None, modes), paused)
            for part in ("body", "orelse", "finalbody"):
                yield from self._steps(getattr(statement, part, []), path, within)

    def _first(self, chain: list[Step], path: str, counts: Callable[[ast.AST], bool]) -> Cut | None:
        """Return the cut that is nearest on the way, among those of expressions that count."""
        for step in chain:
            if step.paused is not None and counts(step.value):
                return step.paused
            nodes = [node for node in _flowing(step.value) if counts(node)]
            cuts = [cut for cut in (self._cutting(node, path) for node in nodes) if cut]
            if cuts:
                return cuts[-1]  # the innermost one is computed first
        return None

    def _cutting(self, node: ast.AST, path: str) -> Cut | None:
        """Return what no gradient goes through, if an expression is such."""
        if isinstance(node, ast.Compare):
            return Cut("a comparison", path, node.lineno)
        if isinstance(node, ast.Attribute) and node.attr in self.attributes:
            return Cut(f".{node.attr}", path, node.end_lineno or node.lineno)
        if isinstance(node, ast.Call):
            name = _called_name(node.func)
            is_plain = isinstance(node.func, ast.Name)
            if name in (_NUMBERS if is_plain else {*self.functions, *self.makers}):
                return Cut(f"{name}()", path, node.func.end_lineno or node.lineno)
        return None

    def _mode(self, expression: ast.expr, path: str) -> Cut | None:
        """Return the context in which nothing is recorded, if an expression is one."""
        name = _called_name(expression.func if isinstance(expression, ast.Call) else expression)
        return Cut(f"{name}()", path, expression.lineno) if name in self.modes else None

    def _inside(self, function: Any) -> Cut | None:
        """Return what cuts a path in a function: its decorator, or what its value comes from."""
        path, scope = function.__code__.co_filename, _scope(function.__code__)
        if scope is None:
            return None
        modes = [self._mode(decorator, path) for decorator in scope.decorator_list]
        ends = [node for node in ast.walk(scope) if isinstance(node, ast.Return)]
        chain = [Step(set(), end, None) for end in ends]
        steps = list(self._steps(scope.body, path, None))
        chain += _leading_to(set().union(*map(_names, ends)), steps)
        return next(filter(None, modes), None) or self._first(chain, path, self._is_no_maker)

    def _is_no_maker(self, node: ast.AST) -> bool:
        """Return whether an expression is more than the making of an array, which has no path."""
        return not (isinstance(node, ast.Call) and _called_name(node.func) in self.makers)


def _scope(code: types.CodeType) -> Any:
    """Return the function, or the module, that code was compiled from; None without its text."""
    found = parsed(code.co_filename)
    if found is None:
        return None
    tree, _ = found
    if code.co_name == "<module>":
        return tree
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


def _statement_at(scope: Any, line: int) -> ast.AST:
    """Return the innermost statement at a line."""
    statements = [node for node in ast.walk(scope) if isinstance(node, ast.stmt)]
    around = [s for s in statements if s.lineno <= line <= (s.end_lineno or s.lineno)]
    inside = [s for s in around if s is not scope]
    return inside[-1] if inside else ast.Pass()


def _leading_to(names: set[str], steps: list[Step]) -> Iterator[Step]:
    """Yield the steps that names got their values by, the nearest first."""
    pending, known = sorted(names), set(names)
    given: set[int] = set()
    while pending:
        name = pending.pop(0)
        for step in reversed(steps):
            if name in step.names and id(step) not in given:
                given.add(id(step))
                yield step
                more = _names(step.value) - known
                known |= more
                pending += sorted(more)


def _flowing(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of an expression that its value comes from: not conditions and indices."""
    yield node
    for name, field in ast.iter_fields(node):
        if name in ("test", "slice") or isinstance(node, (ast.Lambda, ast.FunctionDef)):
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.AST):
                yield from _flowing(child)


def _called_name(expression: ast.AST) -> str:
    return getattr(expression, "attr", getattr(expression, "id", ""))


def _called(expression: ast.AST, names: dict[str, Any]) -> Iterator[Callable[..., Any]]:
    """Yield the program's own functions that an expression calls, such as modules' `forward`."""
    for node in ast.walk(expression):
        if not isinstance(node, ast.Call):
            continue
        owner: Any = None
        if isinstance(node.func, ast.Name):
            owner = names.get(node.func.id)
            owner = getattr(type(owner), "forward", owner)
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            held = names.get(node.func.value.id)
            kind = held if isinstance(held, types.ModuleType) else type(held)
            owner = inspect.getattr_static(kind, node.func.attr, None)
        function = inspect.unwrap(owner) if callable(owner) else None
        if isinstance(function, types.FunctionType) and not function.__module__.startswith(
            __name__.partition(".")[0]
        ):
            yield function


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
