"""Why a gradient is None: what the tape's graph, the ledger and the program's text say.

The graph answers at once where there is a path, and where the source was never watched. Where a
path was cut, the graph ends. Then the ledger of `wg.debug()` knows the step and its line; without
it, the program's text is read from the line that asks.
"""

from __future__ import annotations

import ast
import linecache
import re
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.engine.node import NOBODY, Node, Token, Tokens, watching
from wengert.engine.op import OUTPUT
from wengert.engine.sweep import ancestors, reverse
from wengert.engine.tape import Part, part_of_tape
from wengert.engine.tensor import Tensor
from wengert.errors import users_frame
from wengert.explain import native_cuts, structural_zeros
from wengert.explain.explanation import Explanation, Reason
from wengert.explain.ledger import Ledger, Step
from wengert.explain.lines import Instruction, here, instruction_of
from wengert.explain.saved_values import saved_values
from wengert.explain.watchers import Watcher

#: How many operations of a path are shown.
_SHOWN = 12
_DEBUG = "run again under wg.debug() for the line"
#: What to write in place of a step that cuts a path, by its kind or by the operation's name.
_INSTEAD = {
    "argmax": "use wg.nn.softmax as a smooth choice, or take the elements at the index: x[index]",
    "argmin": "use wg.nn.softmax(-x) as a smooth choice, or take the elements at the index",
    "round": "leave it out of what is differentiated, or give a rule with wg.custom_gradient",
    "floor": "leave it out of what is differentiated, or give a rule with wg.custom_gradient",
    "ceil": "leave it out of what is differentiated, or give a rule with wg.custom_gradient",
    "trunc": "leave it out of what is differentiated, or give a rule with wg.custom_gradient",
    "sign": "multiply by a smooth function such as wg.tanh(k * x), or give a rule of your own",
}
#: Kinds of steps that make a constant of a tensor.
_DETACHING = ("stop_gradient", "detach", ".data")
_COMPARISON = "choose values with wg.where(condition, a, b), or compare with a smooth function"


class Names(NamedTuple):
    """What a message calls the target, the source and the tape."""

    target: str
    source: str
    tape: str = "tape"
    #: whether the source is one of a list that is written out
    is_listed: bool = False


def why(
    tape: Any, target: Any, source: Any, names: Names | None = None, is_none: bool = False
) -> Explanation:
    """Return why the gradient of `target` by `source` on a tape is what it is.

    `is_none` says that it was asked for and is None, so that it is not the tape's being used up.
    """
    try:
        called = names or names_of(here())
        question = Question(tape, target, source, called)
        return question.spoken(question.answer(is_none))
    except Exception as error:  # to explain must not raise
        return Explanation(Reason.UNSEEN, f"this cannot be explained ({error!r})")


def names_of(line: Instruction, position: int = 0) -> Names:
    """Return what a call names as target, and as one of the sources by its position."""
    expression = line.expression
    if expression is None or not isinstance(expression.node, ast.Call):
        return Names("the target", "the source")
    call = expression.node
    given = {k.arg: k.value for k in call.keywords}
    parts = [*call.args[:2], given.get("target"), given.get("source", given.get("sources"))]
    parts = [part for part in parts if part is not None]
    listed = len(parts) == 2 and isinstance(parts[1], (ast.List, ast.Tuple))
    if listed:
        elements: Any = parts[1]
        parts[1] = dict(enumerate(elements.elts)).get(position, elements)
    texts = [text if len(text := expression.text(part)) <= 40 else None for part in parts]
    tape = expression.text(call.func.value) if isinstance(call.func, ast.Attribute) else "tape"
    pair = [*texts, None, None][:2]
    return Names(pair[0] or "the target", pair[1] or "the source", tape, listed)


def ledger() -> Ledger | None:
    """Return the ledger that is kept now, if there is one."""
    watcher = watching.get()
    while watcher is not None and not isinstance(watcher, Ledger):
        watcher = watcher.outer
    return watcher


class Question:
    """One question of why: the parts, the tape, and what is known.

    A dialect overrides what its programs call things.
    """

    #: the tapes that record where none is open
    always: Tokens = NOBODY

    def __init__(self, tape: Any, target: Any, source: Any, names: Names) -> None:
        self.tape, self.given, self.names = tape, (target, source), names
        self.token: Token = tape._token
        self.ledger = ledger()

    def spoken(self, explanation: Explanation) -> Explanation:
        """Return an explanation with the names that the program's dialect has for ours."""
        words = getattr(type(self.given[1]), "__wengert_words__", {})
        if not words:
            return explanation
        ours = "|".join(map(re.escape, words))
        return replace(explanation, advice=re.sub(ours, lambda m: words[m[0]], explanation.advice))

    def answer(self, is_none: bool) -> Explanation:
        """Return the first answer that applies."""
        parts = []
        for value, name in zip(self.given, self.names[:2], strict=True):
            try:
                parts.append(part_of_tape(value, name))
            except TypeError:
                return self._no_tensor(value, name)
        self.target, self.source = parts
        for part, name in zip(parts, self.names[:2], strict=True):
            if type(part.tensor) is Tensor and part.tensor.dtype.kind in "iub":
                return Explanation(
                    Reason.INTEGER,
                    f"{name} has dtype {part.tensor.dtype}, which has no derivative",
                    "Compute it in floating point: write wg.astype(x, wg.float64)",
                )
        found = self._on_the_graph() or self._of_the_tape() or self._of_the_source()
        found = found or self._of_the_steps() or (None if is_none else self._spent())
        return found or self.of_the_text() or self._unseen()

    def _no_tensor(self, value: Any, name: str) -> Explanation:
        what = "None" if value is None else f"a {type(value).__name__}"
        message = f"{name} is {what}, which is not a tensor; a tape knows only tensors"
        advice = "Compute with tensors: write x = wg.asarray(x) before the computation, and ask "
        advice += "for the gradient by that x"
        if isinstance(value, (int, float, complex, np.generic)):
            advice = "Go on with the tensor itself, which functions of wg and np take as a number"
        if isinstance(value, (list, tuple, dict)):
            message = f"{name} is {what}; this is about one target and one source"
            advice = "Ask for each of them: tape.why(target, source)"
        return Explanation(Reason.NOT_A_TENSOR, message, advice)

    # -- what the graph says -----------------------------------------------------------------------

    def _on_the_graph(self) -> Explanation | None:
        start, end = self.source.node, self.target.node
        if end is None or start is None:
            return None
        if self.token in end.tokens:
            nodes = ancestors([end], self.token)
            if start in nodes:
                return self._connected(nodes)
        recorded = self.token in start.tokens and start is not end
        if not recorded or end not in ancestors([start], self.token):
            return None
        n = self.names
        return Explanation(
            Reason.SWAPPED,
            f"{n.source} was computed from {n.target}, and not the other way round",
            f"Swap them: write {n.tape}.gradient({n.source}, {n.target})",
            *_at(instruction_of(start)),
        )

    def _connected(self, nodes: list[Node]) -> Explanation:
        n = self.names
        route = _route(nodes, self.target.node, self.source.node)
        silent = self._silent(nodes, route)
        if silent is not None:
            return silent
        is_zero = structural_zeros.misses(self.token, self.target, self.source)
        chain = [*map(_described, route)]
        if len(chain) > _SHOWN:
            half = _SHOWN // 2
            chain[half:-half] = [f"... {len(chain) - 2 * half} more operations ..."]
        if is_zero:
            by = structural_zeros.first_missing(self.token, route, self.source)
            selection = "the selection of the target" if by is None else by.op.name
            return Explanation(
                Reason.ZERO,
                f"{n.target} is computed from {n.source}, but not from the elements that are asked "
                f"for: {selection} selects others, so the derivative is zero",
                "Ask for elements that the selection contains",
                *_at(instruction_of(by)),
                chain=tuple(chain),
            )
        end = _at(instruction_of(self.target.node))
        message = f"A path leads from {n.source} to {n.target}"
        if not route:
            message = f"{n.source} and {n.target} are the same tensor"
        return Explanation(Reason.CONNECTED, message, "", *end, chain=tuple(chain))

    def _silent(self, nodes: list[Node], route: list[Node]) -> Explanation | None:
        """Return the custom rule that answered None where the only paths lead, if there is one."""
        if not any(node.op.captures for node in nodes):
            return None
        known = set() if self.ledger is None else {n for n in route if n in self.ledger.silent}
        if known:
            return self._answered_none(next(n for n in route if n in known))
        silent = _Silent()
        silent.start()
        try:
            end: Any = self.target.node
            xp = _namespace(self.target)
            seed = {end: xp.ones(end.shape, dtype=end.dtype)}
            ends = self.token.starts
            reverse(xp, nodes, seed, {self.source.node}, False, None, None, ends)  # type: ignore[arg-type]
        finally:
            silent.stop()
        cut = next((node for node in route if node in silent.found), None)
        return None if cut is None else self._answered_none(cut)

    def _answered_none(self, node: Node) -> Explanation:
        return Explanation(
            Reason.CUSTOM_NONE,
            f"The rule of {node.op.name} answered None for the argument that leads to "
            f"{self.names.source}",
            "Return a cotangent of the argument's shape from the rule, zeros where it is constant",
            *_at(instruction_of(node)),
        )

    def _spent(self) -> Explanation | None:
        where, end = self.tape._spent, self.target.node
        if where is None or end is None or self.token not in end.tokens:
            return None
        nodes = ancestors([end], self.token)
        if not any(node.parent is None and _is_operation(node) for node in nodes):
            return None
        return Explanation(
            Reason.SPENT,
            f"{self.names.tape}.gradient() was called before, and freed what the tape recorded",
            "Write wg.GradientTape(persistent=True) to ask more than once, or ask for all sources "
            "in one call",
            where,
            _text_at(where),
        )

    # -- what the tape and the source say ----------------------------------------------------------

    def _of_the_tape(self) -> Explanation | None:
        n = self.names
        if not getattr(self.tape, "_was_entered", False):
            return Explanation(
                Reason.NEVER_ENTERED,
                f"{n.tape} was never entered, so it recorded nothing",
                f"Compute inside of `with wg.GradientTape() as {n.tape}:`",
            )
        former = getattr(self.tape, "_former", ())
        tokens = frozenset() if self.target.node is None else self.target.node.tokens
        if any(token in tokens for token in former):
            return Explanation(
                Reason.RESET,
                f"{n.tape}.reset() forgot what was recorded before it, {n.target} too",
                f"Compute {n.target} after the reset, or do not reset",
                *_at(getattr(self.tape, "_reset_at", None)),
            )
        if tokens and self.token not in tokens and self._is_watched():
            return Explanation(
                Reason.OTHER_TAPE,
                f"{n.target} was recorded by another tape and not by {n.tape}",
                f"Ask the tape that was open when {n.target} was computed, or watch {n.source} "
                f"with {n.tape} before",
                *_at(instruction_of(self.target.node)),
            )
        return None

    def _is_watched(self) -> bool:
        node = self.source.node
        return node is not None and self.token in node.tokens

    def _of_the_source(self) -> Explanation | None:
        if self._is_watched():
            return None
        n, given = self.names, self.given[1]
        twin = self._twin()
        if twin is not None:
            return twin
        owner = getattr(given, "_leaf", None)
        location = self._first_use()
        if owner is not None and not getattr(given, "trainable", True):
            advice = f"Make it trainable, or write {n.tape}.watch({n.source}) inside of the tape"
            return Explanation(
                Reason.NOT_WATCHED,
                f"{n.source} is a variable with trainable=False, which tapes do not watch by "
                "themselves",
                advice,
                *location,
            )
        if owner is not None and not self.token.watches_read:
            return Explanation(
                Reason.NOT_WATCHED,
                f"{n.tape} has watch_accessed_variables=False and was not told to watch {n.source}",
                f"Write {n.tape}.watch({n.source}) inside of the tape",
                *location,
            )
        if owner is not None:
            cut = self._of_the_steps()
            return cut or Explanation(
                Reason.UNSEEN if self.ledger is None else Reason.UNRELATED,
                f"{n.source} was not read while {n.tape} recorded",
                f"Compute {n.target} from {n.source} inside of the tape",
            )
        return Explanation(Reason.NOT_WATCHED, *self.not_watched(), *location)

    def not_watched(self) -> tuple[str, str]:
        """Return what is said of a source that is not watched, and what to write."""
        n = self.names
        return (
            f"{n.tape} does not watch {n.source}, so nothing computed from it was recorded",
            f"Write {n.tape}.watch({n.source}) inside of `with ... as {n.tape}:`, before it is "
            f"used, or make it a variable: wg.Variable({n.source})",
        )

    def _first_use(self) -> tuple[str | None, str]:
        """Return the line where a tape that is open first meets the source, or was entered."""
        if self.ledger is None:
            return None, ""
        serials = self.ledger.steps_of(self.source.tensor, self.source.node)
        for step in self.ledger.uses(serials):
            if self.token in (step.recording or self.always) and step.line is not None:
                return _at(step.line)
        first = self.ledger.first_seen(self.token)
        return (None, "") if first is None else _at(first.line)

    def _twin(self) -> Explanation | None:
        """Return that another tensor with the source's values is what the target comes from."""
        end = self.target.node
        if end is None or self.token not in end.tokens:
            return None
        nodes = ancestors([end], self.token)
        values = saved_values(nodes)
        for token_variable in self.token.variables.values():
            values.setdefault(token_variable._leaf, token_variable._value._raw)
        mine = self.source.tensor._raw
        for node in nodes:
            known = values.get(node)
            if node.parent is not None or known is None or known is mine:
                continue
            if _same_values(known, mine):
                line = None
                if self.ledger is not None:
                    found = self.ledger.steps_of(self.source.tensor, self.source.node)
                    steps = [self.ledger.steps[s] for s in found if s in self.ledger.steps]
                    line = next((s.line for s in steps if s.line is not None), None)
                n = self.names
                return Explanation(
                    Reason.OTHER_OBJECT,
                    f"{n.source} has the values of what {n.target} was computed from, but it is "
                    "another object, made anew",
                    f"Ask for the gradient by the very tensor that was watched and used, not by a "
                    f"copy of it, or watch {n.source} and compute from it",
                    *_at(line),
                )
        return None

    # -- what was noted step by step ---------------------------------------------------------------

    def _of_the_steps(self) -> Explanation | None:
        if self.ledger is None:
            return None
        book, n = self.ledger, self.names
        start = book.steps_of(self.source.tensor, self.source.node)
        end = book.steps_of(self.target.tensor, self.target.node)
        if not end or not (start or book.knows_all_uses(self.source.node)):
            return None
        path = book.path(start, end)
        for step in path:
            cut = self.cut_at(step, start)
            if cut is not None:
                return cut
        if path:
            steps = {step.serial for step in path}
            silent = [n for n in book.silent if book.steps_of_node(n) & steps]
            return self._answered_none(silent[0]) if silent else None
        newest = book.newest_input(end)
        left = [s for s in book.conversions(start, newest) if _is_used(s.line)]
        # what is converted under another tape is another question's
        left = [s for s in left if not s.recording or self.token in s.recording]
        if left:
            kept = [s for s in left if _is_kept(s.line)]
            way = book.path(start, {(kept or left)[-1].serial})
            return next(filter(None, (self.cut_at(step, start) for step in way)))
        return Explanation(
            Reason.UNRELATED,
            f"{n.target} was not computed from {n.source}",
            f"Look for the place where {n.source} should have been used",
            *_at(book.steps[max(end)].line if max(end) in book.steps else None),
        )

    def cut_at(self, step: Step, start: set[int]) -> Explanation | None:
        """Return what is said of a step on the way, if it is there that the path ends."""
        if self.token in step.recorded:
            return None
        where = _at(step.line)
        n = self.names
        if step.kind == "left":
            return self._converted(step)
        if step.kind == "astype":
            return self._cast(step)
        if step.kind == "assign":
            return Explanation(
                Reason.ASSIGNED,
                "A value was assigned to a variable, and derivatives do not follow assignment",
                "Compute with the value itself, and assign after the gradient",
                *where,
            )
        if step.kind in _DETACHING:
            return Explanation(
                Reason.DETACHED,
                f"{step.name} made a constant of what was computed from {n.source}",
                f"Leave {step.name} out of what is differentiated",
                *where,
            )
        if self.token not in (step.recording or self.always):
            return self.outside(step)
        if step.name == "astype" or (not step.is_inexact and step.name in ("asarray", "copy")):
            return self._cast(step)
        if all(not follows for _, follows in step.parents) or not step.is_inexact:
            advice = _INSTEAD.get(step.name, "Leave it out of what is differentiated")
            if not step.is_inexact and step.name not in _INSTEAD:
                advice = _COMPARISON
            return Explanation(
                Reason.ZERO_DERIVATIVE,
                f"{step.name} has no derivative: its result does not change with small changes of "
                "its argument",
                advice[0].upper() + advice[1:],
                *where,
            )
        blocked = {p for p, follows in step.parents if not follows}
        if blocked and self._comes_by(step, blocked, start):
            return Explanation(
                Reason.ZERO_DERIVATIVE,
                f"{step.name} has no derivative by the argument that was computed from {n.source}",
                "Use another argument for what is differentiated, or give a rule of your own with "
                "wg.custom_gradient",
                *where,
            )
        if any(parent in start for parent, _ in step.parents) and self._is_watched():
            return Explanation(
                Reason.WATCHED_LATE,
                f"{n.tape} was told to watch {n.source} after {n.source} was used; what was "
                "computed before that was not recorded",
                f"Move {n.tape}.watch({n.source}) before this line",
                *where,
            )
        return None

    def _cast(self, step: Step) -> Explanation:
        return Explanation(
            Reason.INTEGER,
            "A value was cast to a dtype that has no derivative",
            "Keep floating point on the way, and cast what is not differentiated",
            *_at(step.line),
        )

    def _comes_by(self, step: Step, blocked: set[int], start: set[int]) -> bool:
        book = self.ledger
        return book is not None and any(p in start or book.path(start, {p}) for p in blocked)

    def outside(self, step: Step) -> Explanation:
        """Return what is said of a step that was computed while the tape did not record."""
        book, n = self.ledger, self.names
        first = None if book is None else book.first_seen(self.token)
        if book is not None and book.was_paused(self.token, step.serial):
            reason, when = Reason.PAUSED, f"while {n.tape} did not record (stop_recording)"
        elif first is not None and first.serial < step.serial:
            reason, when = Reason.AFTER, f"after {n.tape} was left"
        else:
            reason, when = Reason.BEFORE, f"before {n.tape} was entered"
        return Explanation(
            reason,
            f"What {n.target} depends on was computed {when}",
            f"Move this line into `with ... as {n.tape}:`",
            *_at(step.line),
        )

    def _converted(self, step: Step) -> Explanation:
        name, what = step.name, None
        expression = None if step.line is None else step.line.expression
        if expression is not None and isinstance(expression.node, ast.Call):
            what = expression.text(expression.node.func)
            name = f"{what}(...)" if not what.endswith((".numpy", ".item", ".tolist")) else what
            name = f"{name}()" if name == what else name
        return Explanation(
            Reason.CONVERTED,
            f"{name} took plain numbers from a tensor, and derivatives do not follow them",
            "Go on with the tensor itself: functions of wg and np take it as it is",
            *_at(step.line),
        )

    # -- what the program's text says --------------------------------------------------------------

    def of_the_text(self) -> Explanation | None:
        """Return what cuts the path by the program's text, read from the line that asks."""
        cut = native_cuts.found_at(users_frame(), self.given[0])
        if cut is None:
            return None
        reason, message, advice = native_cuts.meaning(cut)
        return Explanation(reason, message, advice, cut.location, cut.text)

    def _unseen(self) -> Explanation:
        n = self.names
        node = self.target.node
        if node is not None and self.token in node.tokens:
            message = f"{n.target} was recorded, but no path leads from {n.source} to it: the path "
            message += f"is cut, or {n.target} was not computed from {n.source}"
        else:
            message = f"{n.target} was not recorded by {n.tape}: it was computed outside of the "
            message += "tape, or from values that the tape does not know"
        advice = "Look for float(x), .numpy(), integer dtypes, stop_gradient, or operations such "
        advice += f"as floor and argmax on the way{'' if self.ledger else f'; {_DEBUG}'}"
        return Explanation(Reason.UNSEEN, message, advice)


# -- helpers of the graph -------------------------------------------------------------------------


class _Silent(Watcher):
    """Finds the nodes whose rules answer None."""

    def __init__(self) -> None:
        self.found: set[Node] = set()

    def pulling(self, op: Any) -> Any:
        """Return what answers, and notes the node of an answer that is None."""

        def pull(xp: Any, g: Any, node: Node, edges: Any, sweep: Any = None) -> Any:
            parts = list(op.pull(xp, g, node, edges, sweep))
            if any(part is None for part in parts):
                self.found.add(node)
            return parts

        return pull


def _is_operation(node: Node) -> bool:
    return bool(node.op.args)


def _namespace(part: Part) -> Any:
    return backends.namespace_of(part.tensor._raw)


def _text_at(location: str) -> str:
    """Return what stands at "file:line"."""
    path, _, line = location.rpartition(":")
    return linecache.getline(path, int(line)).strip()


def _at(line: Instruction | None) -> tuple[str | None, str]:
    return (None, "") if line is None else (line.location, line.text)


def _is_used(line: Instruction | None) -> bool:
    """Return whether the value of an expression may be computed with: not if it is only shown."""
    expression = None if line is None else line.expression
    statement = None if expression is None else expression.statement
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return not isinstance(statement.value.func, ast.Name)  # print(x), but numbers.append(x)
    return not isinstance(statement, (ast.If, ast.While, ast.Assert))


def _is_kept(line: Instruction | None) -> bool:
    """Return whether the value of an expression is given a name, or returned."""
    expression = None if line is None else line.expression
    kept = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)
    return expression is not None and isinstance(expression.statement, kept)


def _same_values(a: Any, b: Any) -> bool:
    if tuple(a.shape) != tuple(b.shape) or a.dtype != b.dtype:
        return False
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)


def _route(nodes: list[Node], target: Any, source: Any) -> list[Node]:
    """Return the nodes of the shortest path, from the one after the source to the target."""
    known = set(nodes)
    came_from: dict[Node, Node | None] = {target: None}
    pending = [target]
    for node in pending:  # grows while it is read
        if node is source:
            break
        for parent, _, _ in node.edges:
            if parent in known and parent not in came_from:
                came_from[parent] = node
                pending.append(parent)
    route: list[Node] = []
    node = came_from.get(source)
    while node is not None:
        route.append(node)
        node = came_from[node]
    return [n for n in route if n.op is not OUTPUT]


def _described(node: Node) -> str:
    line = instruction_of(node)
    shape = tuple(node.shape) if type(node.shape) is not list else "several"
    where = "" if line is None else f"  {line.location}: {line.text}"
    return f"{node.op.name} -> {shape}{where}"
