"""A piece of a program that JAX compiles, and its derivatives by our own rules.

Inside of a compiled program a function runs once, on arrays that stand for others. A `Piece` is
such a function, with the recorded tensors that it reads beside its arguments. Its derivatives are
sweeps over what one run of it recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from wengert import backends
from wengert.engine.batching import Level, highest, is_traced, levels, plain_namespace
from wengert.engine.cotangents import Block
from wengert.engine.forward import forward
from wengert.engine.node import NOBODY, Edges, Node, Tokens, active, new_node
from wengert.engine.op import ALIAS, leaf
from wengert.engine.record import interested, output_node
from wengert.engine.sweep import ancestors
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import CompileError
from wengert.transforms.checkpoint import Checkpoint, Run, explored, is_recorded, now
from wengert.transforms.surroundings import found_in, recording

Function = Callable[[list[Tensor]], list[Tensor]]
#: What compiles the program that is traced now, if there is one.
compiling: ContextVar[Any] = ContextVar("wengert_compiling", default=None)


def compiler_of(tensors: Sequence[Any]) -> Any:
    """Return what compiles control flow over some tensors, or None if Python runs it.

    It is there inside of `wg.jit`, and where an array is one of a program that JAX compiles.
    """
    if compiling.get() is not None:
        return compiling.get()
    for tensor in tensors:
        if is_traced(tensor._raw):
            return plain_namespace(tensor._raw).control
    return None


class Mapped(Exception):
    """A function of a compiled program returned tensors of a vmap that its arguments are not of."""

    def __init__(self, level: Level) -> None:
        self.level = level


def has_derivative(tensor: Any) -> bool:
    """Whether a value is a tensor of numbers that have derivatives."""
    return type(tensor) is Tensor and backends.is_inexact(tensor.dtype)


class Piece:
    """A function of a list of tensors, as part of a compiled program.

    Attributes
    ----------
    captured
        The nodes of recorded tensors that the function reads beside its arguments.
    """

    def __init__(self, function: Function, reads: Sequence[Any] = ()) -> None:
        self._function = function
        self.captured: list[Node] = []
        self._variables = [(v, v._leaf, v._value) for v in found_in([*reads])[1]]

    def function(self, tensors: list[Tensor]) -> list[Tensor]:
        """Return the results; variables have the values of the time when the piece was made.

        `reads` are the user's functions in it, where variables are looked for.
        """
        present = [(v._leaf, v._value) for v, _, _ in self._variables]
        try:
            for variable, leaf, value in self._variables:
                variable._leaf, variable._value = leaf, value
            found = self._function(tensors)
            for variable, _, value in self._variables:
                if variable._value is not value:
                    raise CompileError(
                        f"a compiled loop or choice assigns to the variable {variable.name!r}; "
                        "make it a part of the state or of the result, and assign afterwards"
                    )
            return found
        finally:
            for (variable, _, _), (leaf, value) in zip(self._variables, present, strict=True):
                variable._leaf, variable._value = leaf, value

    def values(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the raw results for raw arrays; nothing is recorded."""
        with recording(NOBODY):
            return _raws(self.function([*map(wrap, arrays)]), arrays)

    def probe(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the same, having noted which recorded tensors the function reads."""
        tapes = active.get()
        if not tapes:
            return self.values(arrays)
        given = [_with_own_node(wrap(a), tapes) for a in arrays]
        own = {t._node for t in given}
        before = now()
        found = self.function(given)
        raws = _raws(found, arrays)
        nodes: list[Any] = [t._node for t in found if is_recorded(t, tapes)]
        ends = explored(nodes, before, tapes)[1]
        known = {*self.captured}
        self.captured += [end for end in ends if end not in own and end not in known]
        return raws

    def run(
        self, given: Sequence[Tensor], recorded: bool, moving: Sequence[int] | None = None
    ) -> Inner:
        """Return a run of the function on tensors, to differentiate; see `Inner`."""
        return Inner(self, given, recorded, moving)


def _raws(found: Sequence[Tensor], given: Sequence[Any]) -> list[Any]:
    """Return the raw arrays of results, which are of the vmap that the arguments are of."""
    raws = [t._raw for t in found]
    level = highest(raws, {}) if levels.get() else None
    if level is not None and level is not highest(given, {}):
        raise Mapped(level)
    return raws


def _with_own_node(tensor: Tensor, tapes: Tokens | None = None) -> Tensor:
    """Return a tensor of the same values with a node that no other tensor has."""
    if not has_derivative(tensor):
        return wrap(tensor._raw)
    node = tensor._node
    if node is None:
        own = leaf(tensor.shape, tensor.dtype)
        if tapes is not None:
            own.tokens = tapes
    else:
        own = new_node(ALIAS, node, 0, (), (), node.tokens, tensor.shape, tensor.dtype)
    return wrap(tensor._raw, own)


class Inner:
    """A run of a piece under a tape of its own.

    If it is `recorded`, sweeps over it compute on tensors, which the tapes of now record. `moving`
    are the arguments to differentiate by; all that have derivatives, if it is None.

    Attributes
    ----------
    results
        The tensors that the function returned.
    live
        Which of these have derivatives.
    """

    def __init__(
        self,
        piece: Piece,
        given: Sequence[Tensor],
        recorded: bool,
        moving: Sequence[int] | None = None,
    ) -> None:
        self.piece, self.recorded = piece, recorded
        tensors = given if recorded else [wrap(t._raw) for t in given]
        moves = range(len(given)) if moving is None else moving
        self.given = [_with_own_node(t) if k in moves else t for k, t in enumerate(tensors)]
        self.xp: Any = Tensor._namespace if recorded else plain_namespace(given[0]._raw)
        self.own: list[Any] = [self.given[k]._node for k in moves if self.given[k]._node]
        ends = [*self.own, *piece.captured]
        self.run = Run(lambda: [*piece.function(self.given)], ends, self.xp)
        self.results: list[Tensor] = self.run.leaves
        tokens = frozenset({self.run.token})
        self.live = [k for k, t in enumerate(self.results) if is_recorded(t, tokens)]
        self.nodes: list[Any] = [self.results[k]._node for k in self.live]

    def pull(self, weights: Sequence[Any]) -> list[Any]:
        """Return cotangents of the arguments with derivatives and of the captured tensors.

        There is a weight for each live result. Where nothing comes back there are zeros.
        """
        self.run.explore(self.nodes)
        found = self.run.pull(self.nodes, list(weights))
        ends = [*self.own, *self.piece.captured]
        return [self._dense(g, end) for g, end in zip(found, ends, strict=True)]

    def push(self, tangents: Sequence[Any]) -> list[Any]:
        """Return tangents of the live results, given those of the arguments and captured tensors.

        A tangent may be None.
        """
        ends = [*self.own, *self.piece.captured]
        seeds = {end: t for end, t in zip(ends, tangents, strict=True) if t is not None}
        with recording(self.run.outside):
            nodes = ancestors(self.nodes, self.run.token)
            found = forward(self.xp, nodes, seeds, {*self.nodes}, self.recorded, ends)
        return [self._dense(found.get(node), node) for node in self.nodes]

    def _dense(self, g: Any, node: Any) -> Any:
        if g is None:
            plain: Any = plain_namespace(self.given[0]._raw)
            zeros = plain.zeros(node.shape, dtype=node.dtype)
            return wrap(zeros) if self.recorded else zeros
        return g.todense(self.xp) if type(g) is Block else g


class Control(Checkpoint):
    """The operation of control flow that is one node: a loop, a choice, a compiled program.

    The one residual of each edge is the call, whose `cotangents` and `tangents` answer.
    """

    family = "control"

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the tangents of the results."""
        call = edges[0][2][0]
        tangents = {
            argument: t.todense(xp) if type(t) is Block else t for _, argument, _, t in edges
        }
        return call.tangents(xp, tangents)


#: By whether a rule inside holds tensors of its own, which a tape may care about.
CONTROL = {captures: Control(captures) for captures in (False, True)}


def recorded_call(
    call: Any,
    nodes: Sequence[Node | None],
    raws: Sequence[Any],
    live: Sequence[int],
    captures: bool = True,
    but: Tokens = NOBODY,
) -> list[Tensor]:
    """Return raw results as tensors, with one node for those that are `live`.

    `nodes` are those that the call depends on, in the order of its cotangents. `captures` says
    that its rule reads tensors which are not among them; the tapes in `but` record it otherwise.
    """
    tensors = [*map(wrap, raws)]
    tokens = interested([*nodes]) - but
    edges: Edges = [(n, k, (call,)) for k, n in enumerate(nodes) if n is not None]
    edges = [edge for edge in edges if edge[0].tokens & tokens]
    if not edges or not live:
        return tensors
    shapes, dtypes = [tensors[k].shape for k in live], [tensors[k].dtype for k in live]
    several = len(live) > 1
    metas = (shapes, dtypes) if several else (shapes[0], dtypes[0])
    node = new_node(CONTROL[captures], *edges[0], tuple(edges[1:]), tokens, *metas)
    for position, k in enumerate(live):
        part = output_node(node, position, tensors[k]._raw) if several else node
        tensors[k] = wrap(tensors[k]._raw, part)
    return tensors
