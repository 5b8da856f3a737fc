"""Where the path to a tensor was cut, for the error that no gradient can start from it.

Nothing is recorded of tensors that do not require gradients, so the answer is read off the program:
from the line that failed back through the assignments that led to its tensor, to an expression that
no gradient goes through. This runs only when an error is about to be raised.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from wengert.dialects.torch.tensors import Tensor
from wengert.explain.expressions import parsed

#: Methods and functions of tensors whose results no gradient goes through.
_CUTS = {
    "detach", "detach_", "item", "tolist", "numpy", "argmax", "argmin", "argsort", "argwhere",
    "nonzero", "long", "int", "bool", "byte", "short", "char", "eq", "ne", "lt", "le", "gt", "ge",
    "equal", "greater", "greater_equal", "less", "less_equal", "not_equal", "isclose", "allclose",
    "isnan", "isinf", "isfinite", "logical_and", "logical_or", "logical_not", "logical_xor",
    "bincount", "searchsorted", "bucketize", "histc", "one_hot", "multinomial", "bernoulli",
    "count_nonzero", "any", "all",
}  # fmt: skip
#: Those that make tensors of numbers, or of others' shapes.
_MAKERS = {
    "zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "tensor",
    "from_numpy",
}  # fmt: skip
#: Functions of Python whose results are numbers.
_NUMBERS = ("float", "int", "bool", "complex")
#: Contexts, and decorators, under which nothing is recorded.
_MODES = ("no_grad", "inference_mode", "set_grad_enabled")


class _Step(NamedTuple):
    """An expression on the way to a tensor, and the context in which it is not recorded, if any."""

    names: set[str]
    value: ast.AST
    paused: str | None


def found_at(frame: types.FrameType, tensor: Tensor) -> str:
    """Return what cut the path to a tensor, and the line; "" where that is not found."""
    try:
        return _cut_before(frame, tensor) or ""
    except RecursionError:  # an expression of many thousand terms
        return ""


def _cut_before(frame: types.FrameType, tensor: Tensor) -> str | None:
    scope = _scope(frame.f_code)
    if scope is None:
        return None
    path, names = frame.f_code.co_filename, {**frame.f_globals, **frame.f_locals}
    failing = _statement_at(scope, frame.f_lineno)
    start = {name for name, value in frame.f_locals.items() if value is tensor}
    steps = list(_steps(scope.body, path, None))
    chain = [_Step(set(), failing, None), *_leading_to(start or _names(failing), steps)]
    cut = _first(chain, path, lambda node: _is_live(node, names))
    for step in chain if cut is None else ():
        for function in _called(step.value, names):
            cut = cut or _inside(function)
    return cut or _first(chain, path, _is_no_maker)  # names may have been bound anew since


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


def _steps(body: list[ast.stmt], path: str, paused: str | None) -> Iterator[_Step]:
    """Yield the assignments of a scope in their order, not those of functions in it."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)):
            value = statement.iter if isinstance(statement, ast.For) else statement.value
            targets = getattr(statement, "targets", None) or [statement.target]  # type: ignore[union-attr]
            if value is not None:
                yield _Step(set().union(*map(_names, targets)), value, paused)
        within = paused
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            modes = [_mode(item.context_expr, path) for item in statement.items]
            within = next(filter(None, modes), paused)
        for part in ("body", "orelse", "finalbody"):
            yield from _steps(getattr(statement, part, []), path, within)


def _leading_to(names: set[str], steps: list[_Step]) -> Iterator[_Step]:
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


def _first(chain: list[_Step], path: str, counts: Callable[[ast.AST], bool]) -> str | None:
    """Return the cut that is nearest on the way, among those of expressions that count."""
    for step in chain:
        if step.paused is not None and counts(step.value):
            return step.paused
        nodes = [node for node in _flowing(step.value) if counts(node)]
        cuts = [cut for cut in (_cutting(node, path) for node in nodes) if cut]
        if cuts:
            return cuts[-1]  # the innermost one is computed first
    return None


def _flowing(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of an expression that its value comes from: not conditions and indices."""
    yield node
    for name, field in ast.iter_fields(node):
        if name in ("test", "slice") or isinstance(node, (ast.Lambda, ast.FunctionDef)):
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.AST):
                yield from _flowing(child)


def _cutting(node: ast.AST, path: str) -> str | None:
    """Return what no gradient goes through, if an expression is such."""
    if isinstance(node, ast.Compare):
        return f"a comparison at {path}:{node.lineno}"
    if isinstance(node, ast.Attribute) and node.attr == "data":
        return f".data at {path}:{node.end_lineno}"
    if isinstance(node, ast.Call):
        name = _called_name(node.func)
        if name in (_NUMBERS if isinstance(node.func, ast.Name) else _CUTS | _MAKERS):
            return f"{name}() at {path}:{node.func.end_lineno}"
    return None


def _mode(expression: ast.expr, path: str) -> str | None:
    """Return the context in which nothing is recorded, if an expression is one."""
    name = _called_name(expression.func if isinstance(expression, ast.Call) else expression)
    return f"{name}() at {path}:{expression.lineno}" if name in _MODES else None


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


def _inside(function: Any) -> str | None:
    """Return what cuts a path in a function: how it is decorated, or what its value comes from."""
    path, scope = function.__code__.co_filename, _scope(function.__code__)
    if scope is None:
        return None
    modes = [_mode(decorator, path) for decorator in scope.decorator_list]
    ends = [node for node in ast.walk(scope) if isinstance(node, ast.Return)]
    chain = [_Step(set(), end, None) for end in ends]
    chain += _leading_to(set().union(*map(_names, ends)), list(_steps(scope.body, path, None)))
    return next(filter(None, modes), None) or _first(chain, path, _is_no_maker)


def _is_no_maker(node: ast.AST) -> bool:
    """Return whether an expression is more than the making of a tensor, which has no path to it."""
    return not (isinstance(node, ast.Call) and _called_name(node.func) in _MAKERS)


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _is_live(node: ast.AST, names: dict[str, Any]) -> bool:
    """Return whether an expression has names of what requires gradients."""
    return any(_requires_grad(names.get(name)) for name in _names(node))


def _requires_grad(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.requires_grad
    if isinstance(value, (list, tuple)):
        return any(isinstance(v, Tensor) and v.requires_grad for v in value)
    if hasattr(type(value), "named_parameters"):
        return any(p.requires_grad for p in value.parameters())
    return False
