"""The recorder: what a program computes, kept so that it can be asked about afterwards.

A program's own tapes give up what they recorded once a gradient was asked for, and variables move
on. So the recorder keeps a copy of each node, on a tape of its own that is never used up, and the
value of each result. Of a program that repeats itself, as training does, it keeps the last round:
what one tape recorded goes when another begins at the same line.
"""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert.backends.host import to_numpy
from wengert.engine.cotangents import Block
from wengert.engine.node import Node, Token, new_node
from wengert.engine.op import Op
from wengert.engine.tape import part_of_tape
from wengert.engine.tensor import Tensor, wrap
from wengert.explain.ledger import Ledger
from wengert.explain.lines import Instruction, here, instruction_of
from wengert.explain.watchers import tensors_in
from wengert.ops.families.factored import Factored
from wengert.transforms.tape import GradientTape
from wengert.trees import flatten


class Asked(NamedTuple):
    """A gradient that the program asked for: copies of nodes, and the line."""

    targets: tuple[Node, ...]
    sources: tuple[Node, ...]
    line: Instruction


class TrainingStep(NamedTuple):
    """The gradient of one number: seconds since the start, the number, and norms by source."""

    seconds: float
    loss: float
    norms: dict[str, float]


class Round:
    """What one tape recorded. Nodes are copies."""

    def __init__(self, token: Token, first: Instruction | None) -> None:
        self.token, self.first = token, first
        self.is_asked = False
        self.seconds: dict[Node, float] = {}
        #: the program's own tensors: their values, and their nodes for explanations
        self.tensors: dict[Node, Tensor] = {}
        #: nodes whose values nobody kept
        self.others: list[Node] = []
        self.asked: list[Asked] = []


#: What a ledger knows of a program.
_OF_LEDGERS = vars(Ledger()).keys()


class Recorder(Ledger):
    """Keeps nodes, values and times of a program's last round, and the norms of its gradients.

    Attributes
    ----------
    tape
        The tape that the copies of nodes are on.
    names
        What the program's variables are called, by copies of their nodes.
    training
        A `TrainingStep` for each gradient of one number that the program asked for.
    """

    #: how many steps of training are kept
    MOST_STEPS = 20_000

    def __init__(self) -> None:
        super().__init__()
        self.tape = GradientTape(persistent=True)
        with self.tape:
            pass  # a tape that was never entered says so when it is asked why
        self._tokens = frozenset({self.tape._token})
        self._copies: weakref.WeakKeyDictionary[Node, Node] = weakref.WeakKeyDictionary()
        #: the last value of each leaf
        self._read: weakref.WeakKeyDictionary[Node, Any] = weakref.WeakKeyDictionary()
        self._rounds: dict[Any, Round] = {}
        self._round_of: dict[Token, tuple[Any, Round]] = {}
        self._spent = 0.0
        self._began = time.perf_counter()
        self.names: weakref.WeakKeyDictionary[Node, str] = weakref.WeakKeyDictionary()
        self.training: list[TrainingStep] = []

    @property
    def rounds(self) -> list[Round]:
        """What is kept."""
        return list(self._rounds.values())

    # -- what is seen ----------------------------------------------------------------------------

    def computing(self, op: Op) -> Callable[..., Any]:
        """Return what computes an operation, and takes the time."""
        compute = super().computing(op)

        def timed(*args: Any, **params: Any) -> Any:
            start = time.perf_counter()
            try:
                return compute(*args, **params)
            finally:
                self._spent = time.perf_counter() - start

        return timed

    def made(
        self, op: Op, result: Any, raws: list[Any], nodes: list[Node | None], params: dict[str, Any]
    ) -> None:
        """Keep an operation: its node, its value, and those of its arguments."""
        super().made(op, result, raws, nodes, params)
        found = [tensor for tensor in tensors_in(result) if tensor._node is not None]
        if not found:
            return
        leaves = dict(
            self._leaf(node, raw)
            for raw, node in zip(raws, nodes, strict=True)
            if node is not None and node.parent is None
        )
        for tensor in found:
            self._keep(tensor, self._spent / len(found), leaves)

    def noted(self, name: str, result: Any, *arguments: Any, follows: bool = False) -> None:
        """Keep the result of a function with a rule of its own."""
        super().noted(name, result, *arguments, follows=follows)
        for tensor in tensors_in(result) if follows else ():
            if tensor._node is not None:
                self._keep(tensor, 0.0, {})

    def asked(self, target: Any, sources: list[Any], answers: list[Any]) -> None:
        """Keep which gradient was asked for, and its norms."""
        super().asked(target, sources, answers)
        targets = [part_of_tape(t, "target") for t in flatten(target)[0]]
        given = [None if s is None else part_of_tape(s, "source") for s in sources]
        self._note_step([t.tensor for t in targets], sources, answers)
        nodes = [t.node for t in targets if t.node is not None]
        tokens = {token for node in nodes for token in node.tokens}
        ends = tuple(self._copies[node] for node in nodes if node in self._copies)
        starts = [p.node for p in given if p is not None and p.node in self._copies]
        found = Asked(ends, tuple(self._copies[n] for n in starts if n is not None), here())
        for token in tokens & self._round_of.keys():
            this = self._round_of[token][1]
            this.is_asked = True
            this.asked.append(found)

    def _note_step(self, targets: list[Tensor], sources: list[Any], answers: list[Any]) -> None:
        if len(targets) != 1 or targets[0].size != 1 or len(self.training) == self.MOST_STEPS:
            return
        pairs = enumerate(zip(sources, answers, strict=True))
        norms = {_called(source, k): _norm(answer) for k, (source, answer) in pairs}
        loss = float(np.real(to_numpy(targets[0]._raw)).reshape(()))
        self.training.append(TrainingStep(time.perf_counter() - self._began, loss, norms))

    def adopt(
        self, nodes: list[Node], token: Token, values: dict[Node, Any], known: Ledger | None
    ) -> None:
        """Take over what a tape recorded, oldest first, as far as its values are still known."""
        if known is not None:
            self.__dict__.update({k: v for k, v in known.__dict__.items() if k in _OF_LEDGERS})
        if not nodes:
            return
        this = self._rounds[token] = Round(token, None)
        for node in nodes:
            copy = self.copy_of(node)
            if node in values:
                this.tensors[copy] = wrap(values[node], node)
            else:
                this.others.append(copy)
        for variable in token.variables.values():
            if variable._leaf in self._copies:
                self.names[self._copies[variable._leaf]] = variable.name

    # -- keeping ---------------------------------------------------------------------------------

    def _leaf(self, node: Node, raw: Any) -> tuple[Node, Tensor]:
        """Return the copy of a leaf, a new one where its value is new, as a variable's may be."""
        copy, known = self._copies.get(node), self._read.get(node)
        if copy is None or not (known is raw or (_may_change(node) and _are_equal(known, raw))):
            copy = self._copies[node] = self._copied(node)
            known = self._read[node] = _kept(raw) if _may_change(node) else raw
            for variable in (v for token in node.tokens for v in token.variables.values()):
                if variable._leaf is node:
                    self.names[copy] = variable.name
        return copy, wrap(known, node)

    def _keep(self, tensor: Any, seconds: float, leaves: dict[Node, Tensor]) -> None:
        node = tensor._node
        copy = self.copy_of(node)
        raw = _kept(tensor._raw) if _may_change(node) else tensor._raw
        for token in node.tokens:
            this = self._round(token, instruction_of(node))
            this.tensors.update(leaves)
            this.tensors[copy] = wrap(raw, node)
            this.seconds[copy] = seconds

    def _round(self, token: Token, line: Instruction | None) -> Round:
        """Return the round that a tape is in; a new one replaces the last that began alike."""
        key, this = self._round_of.get(token, ((token.transform, line), None))
        if this is None or (this.is_asked and this.first == line):
            old = self._rounds.pop(key, None)
            if old is not None:
                self._round_of.pop(old.token, None)
            this = self._rounds[key] = Round(token, line)
            self._round_of[token] = key, this
        return this

    def copy_of(self, node: Node) -> Node:
        """Return the copy of a node on the recorder's tape, which leads to those of its parents."""
        pending = [node]
        while pending:
            last = pending[-1]
            missing = [parent for parent, _, _ in last.edges if parent not in self._copies]
            if missing and last not in self._copies:
                pending += missing
                continue
            pending.pop()
            if last not in self._copies:
                self._copies[last] = self._copied(last)
        return self._copies[node]

    def known_copy(self, node: Node) -> Node | None:
        """Return the copy of a node; None for one that was not seen."""
        return self._copies.get(node)

    def _copied(self, node: Node) -> Node:
        edges = [(self._copies[p], argument, values) for p, argument, values in node.edges]
        if _may_change(node):
            edges = [(parent, argument, _kept(values)) for parent, argument, values in edges]
        first, argument, values = edges[0] if edges else (None, 0, ())
        rest, shape, dtype = tuple(edges[1:]), node.shape, node.dtype
        copy: Node = new_node(node.op, first, argument, values, rest, self._tokens, shape, dtype)
        copy.order = node.order
        line = instruction_of(node)
        if line is not None:
            copy.code, copy.last = line
        label = getattr(node, "label", "")
        if label:
            copy.label = label
        return copy


def _may_change(node: Node) -> bool:
    """Return whether the program may write to what a node keeps: tensors of PyTorch's change."""
    modes: Any = sys.modules.get("wengert.dialects.torch.modes")
    return modes is not None and modes.GRAD in node.tokens


def _kept(value: Any) -> Any:
    """Return an array, or arrays in tuples, as they are now."""
    if type(value) in (tuple, list):
        return type(value)(map(_kept, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def _are_equal(one: Any, other: Any) -> bool:
    return one is not None and np.array_equal(one, other, equal_nan=True)


def _called(source: Any, position: int) -> str:
    name = getattr(source, "name", None)
    return name if isinstance(name, str) and name != "variable" else f"source {position}"


def _norm(gradient: Any) -> float:
    if gradient is None:
        return float("nan")
    if type(gradient) is Factored:  # of bare factors: no tape is to record this
        bare = Factored(gradient.left._raw, gradient.right._raw)
        return float(to_numpy(bare.norm()))
    values = gradient.values if type(gradient) is Block else gradient
    flat = np.asarray(to_numpy(values._raw)).reshape(-1)
    return float(np.sqrt(np.vdot(flat, flat).real))
