"""The ledger: what a program did with tensors, also where no tape recorded it.

A tape's graph knows the paths that exist. To say why there is none, one must know what happened
where it ends: an operation without a derivative, a conversion to plain numbers, a tape that was
not open. While `wg.debug()` is on, each such step is noted with its line and with the steps that
its arguments came from. Steps are numbers, not references: the ledger keeps no tensor alive.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched
from wengert.engine.node import NOBODY, Node, Token, Tokens, active, next_order
from wengert.engine.op import Op
from wengert.engine.tensor import Tensor
from wengert.explain.lines import Instruction, here, instruction_of
from wengert.explain.watchers import Watcher, tensors_in

#: How many steps are remembered.
MOST = 200_000


class Step(NamedTuple):
    """One thing that a program did with tensors.

    Attributes
    ----------
    kind
        "call" for an operation, "custom" for a function with a rule of its own, "input" for a
        tensor that nothing noted was computed from, and else what was done: "left" for a value
        that was taken out, "stop_gradient", "assign" and the like.
    parents
        The steps of its arguments, and whether derivatives could go on to each.
    recorded, recording
        The tapes that recorded it, and those that were open.
    """

    serial: int
    kind: str
    name: str
    line: Instruction | None
    parents: tuple[tuple[int, bool], ...]
    recorded: Tokens
    recording: Tokens
    is_inexact: bool
    shape: Any


class Ledger(Watcher):
    """Notes each step while it is on."""

    def __init__(self) -> None:
        self.steps: OrderedDict[int, Step] = OrderedDict()
        self._count = 0
        self._since = next_order()
        self._of_nodes: weakref.WeakKeyDictionary[Node, list[int]] = weakref.WeakKeyDictionary()
        self._of_arrays: dict[int, tuple[Any, int]] = {}
        #: the step at which an array was handed out, by its identity
        self._left: dict[int, int] = {}
        #: the last conversion, until the next operation, which made it if it has the same line
        self._last_left: tuple[int, Instruction] | None = None
        #: nodes whose rules answered None
        self.silent: weakref.WeakSet[Node] = weakref.WeakSet()
        #: when a tape was told not to record, and to record again
        self._pauses: weakref.WeakKeyDictionary[Token, list[tuple[int, bool]]] = (
            weakref.WeakKeyDictionary()
        )

    # -- what is seen --------------------------------------------------------------------------

    def made(
        self, op: Op, result: Any, raws: list[Any], nodes: list[Node | None], params: dict[str, Any]
    ) -> None:
        """Note an operation."""
        super().made(op, result, raws, nodes, params)
        line = here()
        given = [
            (self._step_of(raw, node), op.picks[0 if op.variadic else k] is not None)
            for k, (raw, node) in enumerate(zip(raws, nodes, strict=True))
            if hasattr(raw, "shape")
        ]
        given += [(self._step_of(array, None), False) for array in _arrays_in(params.values())]
        if self._last_left is not None and self._last_left[1] == line:  # such as an index
            given.append((self._last_left[0], False))
        self._last_left = None
        self._add("call", op.name, line, given, result)

    def noted(self, name: str, result: Any, *arguments: Any, follows: bool = False) -> None:
        """Note what is no operation."""
        super().noted(name, result, *arguments, follows=follows)
        steps = [self.step_of(a) if hasattr(a, "_raw") else self._handed_out(a) for a in arguments]
        given = [(step, follows) for step in steps if step is not None]
        self._add("custom" if follows else name, name, here(), given, result)

    def finished(self, name: str, result: Any, given: Sequence[Any]) -> None:
        """Note what a function made by itself, which no derivative goes through."""
        super().finished(name, result, given)
        for tensor in _tensors_among([result]):
            known = tensor._node in self._of_nodes if tensor._node is not None else False
            if known or self._is_known(tensor):
                continue
            parents = [(self.step_of(a), False) for a in _tensors_among(given)]
            if parents:
                self._add("call", name, here(), parents, tensor)

    def pulling(self, op: Op) -> Callable[..., Any]:
        """Return what answers for an operation in a sweep, and notes answers that are None."""
        inner = super().pulling(op)

        def pull(xp: Any, g: Any, node: Node, edges: Any, sweep: Any = None) -> Any:
            parts = list(inner(xp, g, node, edges, sweep))
            if any(part is None for part in parts):
                self.silent.add(node)
            return parts

        return pull

    def left(self, tensor: Any, how: str) -> None:
        """Note a conversion to plain numbers, which what is made of them may be traced to."""
        super().left(tensor, how)
        if tensor._node is None and not self._is_known(tensor):
            return
        serial = self._new("left", how, here(), [(self.step_of(tensor), False)], NOBODY, tensor)
        self._last_left = serial, here()
        raw = _plain(tensor._raw)
        if isinstance(raw, np.ndarray):
            self._left[id(raw)] = serial

    def paused(self, token: Token, on: bool) -> None:
        """Note that a tape does not record from now on, or records again."""
        super().paused(token, on)
        self._pauses.setdefault(token, []).append((self._count, on))

    # -- what is asked --------------------------------------------------------------------------

    def step_of(self, tensor: Any) -> int:
        """Return the step that made a tensor, or one that stands for it."""
        return self._step_of(tensor._raw, tensor._node)

    def steps_of(self, tensor: Any, node: Node | None) -> set[int]:
        """Return all steps that a tensor or a variable was known by."""
        found = set(self._of_nodes.get(node, ())) if node is not None else set()
        known = self._of_arrays.get(id(_plain(tensor._raw)))
        if known is not None and known[0]() is _plain(tensor._raw):
            step = self.steps.get(known[1])
            # a tensor may have been used before it was watched; what is known is no detached one
            if not found or (step is not None and step.kind == "input"):
                found.add(known[1])
        return found

    def knows_all_uses(self, node: Node | None) -> bool:
        """Return whether a node was made since the ledger is on, so that no use of it is missed."""
        return node is not None and node.order > self._since

    def steps_of_node(self, node: Node) -> set[int]:
        """Return all steps that a node was known by."""
        return set(self._of_nodes.get(node, ()))

    def was_paused(self, token: Token, serial: int) -> bool:
        """Return whether a tape was told not to record when a step was made."""
        before = [on for count, on in self._pauses.get(token, ()) if count < serial]
        return bool(before) and before[-1]

    def first_seen(self, token: Token) -> Step | None:
        """Return the first step that was made while a tape recorded."""
        return next((s for s in self.steps.values() if token in s.recording), None)

    def path(self, start: set[int], end: set[int]) -> list[Step]:
        """Return the steps from one of `start` to one of `end`, by the fewest; none if there are.

        It begins with the first step after `start`.
        """
        came_from: dict[int, int] = dict.fromkeys(end, -1)
        pending = sorted(end, reverse=True)
        for serial in pending:  # grows while it is read
            if serial in start:
                found = []
                while serial not in end:
                    serial = came_from[serial]
                    found.append(self.steps[serial])
                return found
            step = self.steps.get(serial)
            for parent, _ in step.parents if step is not None else ():
                if parent not in came_from:
                    came_from[parent] = serial
                    pending.append(parent)
        return []

    def back_from(self, end: set[int], token: Token) -> Iterator[tuple[Step, bool]]:
        """Yield the steps that led to one of `end`, nearest first; whether a tape knew an argument.

        What a tape recorded is not gone beyond.
        """
        pending, seen = sorted(end, reverse=True), set(end)
        for serial in pending:  # grows while it is read
            step = self.steps.get(serial)
            if step is None or token in step.recorded:
                continue
            parents = [self.steps[p] for p, _ in step.parents if p in self.steps]
            yield step, any(self._is_recorded(p, token) for p in parents)
            pending += [p.serial for p in parents if p.serial not in seen]
            seen.update(p.serial for p in parents)

    def _is_recorded(self, step: Step, token: Token) -> bool:
        """Return whether a tape knows what a step made: it recorded the step, or watches it."""
        if token in step.recorded:
            return True
        nodes = [n for n, serials in self._of_nodes.items() if step.serial in serials]
        return any(token in node.tokens for node in nodes)

    def newest_input(self, end: set[int]) -> int:
        """Return the last step that led to one of `end` and came from nowhere; 0 for none."""
        pending, seen, newest = list(end), set(end), 0
        for serial in pending:  # grows while it is read
            step = self.steps.get(serial)
            if step is None or not step.parents:
                newest = max(newest, serial)
                continue
            parents = [p for p, _ in step.parents if p not in seen]
            seen.update(parents)
            pending += parents
        return newest

    def conversions(self, start: set[int] | None, before: int) -> list[Step]:
        """Return the conversions of what was computed from `start`, or of all, before a step."""
        reached = set() if start is None else set(start)
        found = []
        for serial, step in self.steps.items():
            if serial >= before:
                break
            if start is None or any(parent in reached for parent, _ in step.parents):
                reached.add(serial)
                if step.kind == "left":
                    found.append(step)
        return found

    def uses(self, serials: set[int]) -> Iterator[Step]:
        """Yield the steps that took what one of the given steps made."""
        for step in self.steps.values():
            if any(parent in serials for parent, _ in step.parents):
                yield step

    # -- keeping ---------------------------------------------------------------------------------

    def _step_of(self, raw: Any, node: Node | None) -> int:
        while type(raw) is Batched:
            raw, node = raw.values._raw, raw.values._node
        if node is not None and node in self._of_nodes:
            return self._of_nodes[node][-1]
        known = self._of_arrays.get(id(raw))
        if known is not None and known[0]() is raw:
            if node is not None:
                self._register(node, known[1])
            return known[1]
        left = self._handed_out(raw)
        if left is not None:
            return left
        serial = self._new("input", "", None, [], NOBODY, None, getattr(raw, "shape", ()))
        self._register_array(raw, serial)
        if node is not None:
            self._register(node, serial)
        return serial

    def _handed_out(self, array: Any) -> int | None:
        """Return the step that handed out the array that this one is a view of, if it is one."""
        base = array
        while isinstance(base, np.ndarray):
            known = self._of_arrays.get(id(base)) if id(base) in self._left else None
            if known is not None and known[0]() is base and base is not array:
                return self._left[id(base)]
            base = base.base
        return None

    def _is_known(self, tensor: Any) -> bool:
        known = self._of_arrays.get(id(_plain(tensor._raw)))
        return known is not None and known[0]() is _plain(tensor._raw)

    def _add(
        self,
        kind: str,
        name: str,
        line: Instruction,
        given: list[tuple[int, bool]],
        result: Any,
    ) -> None:
        for tensor in tensors_in(result):
            node = tensor._node
            tokens = NOBODY if node is None else node.tokens
            serial = self._new(kind, name, line, given, tokens, tensor)
            self._register_array(_plain(tensor._raw), serial)
            if node is not None:
                self._register(node, serial)
                if instruction_of(node) is None:
                    node.code, node.last = line

    def _new(
        self,
        kind: str,
        name: str,
        line: Instruction | None,
        given: list[tuple[int, bool]],
        recorded: Tokens,
        tensor: Any,
        shape: Any = (),
    ) -> int:
        self._count += 1
        inexact = tensor is None or backends.is_inexact(tensor._raw.dtype)
        shape = shape if tensor is None else tensor.shape
        step = Step(
            self._count, kind, name, line, tuple(given), recorded, active.get(), inexact, shape
        )
        self.steps[self._count] = step
        if len(self.steps) > MOST:
            self.steps.popitem(last=False)
        return self._count

    def _register(self, node: Node, serial: int) -> None:
        known = self._of_nodes.setdefault(node, [])
        if serial not in known:
            known.append(serial)

    def _register_array(self, raw: Any, serial: int) -> None:
        try:
            reference = weakref.ref(raw, self._forgetting(id(raw)))
        except TypeError:  # which no array is, but for numbers
            return
        self._of_arrays[id(raw)] = reference, serial

    def _forgetting(self, key: int) -> Callable[[Any], None]:
        arrays, left = self._of_arrays, self._left

        def forget(reference: Any) -> None:
            if key in arrays and arrays[key][0] is reference:
                del arrays[key]
                left.pop(key, None)

        return forget


def _tensors_among(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the tensors among values, those that variables hold, and those in lists."""
    for value in values:
        if hasattr(value, "_leaf"):
            yield value._value
        elif hasattr(value, "_raw"):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors_among(value)


def _arrays_in(values: Iterable[Any]) -> Iterator[np.ndarray]:
    """Yield the arrays among an operation's parameters, such as those of a key."""
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            yield from _arrays_in(value)


def _plain(raw: Any) -> Any:
    while type(raw) is Batched:
        raw = raw.values._raw
    return raw


def is_tensor(value: Any) -> bool:
    """Return whether a value is a tensor of ours or of a dialect."""
    return isinstance(value, Tensor) or (hasattr(value, "_raw") and hasattr(value, "_node"))
