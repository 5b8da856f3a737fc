"""ForwardAccumulator: derivatives in one direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from wengert import backends
from wengert.dialects.quiet import Quiet
from wengert.dialects.tensorflow import tapes
from wengert.dialects.tensorflow.errors import mistake
from wengert.dialects.tensorflow.recorders import Span, as_constant, begin, end, now, recording
from wengert.dialects.tensorflow.structures import assert_same_structure, flatten, map_structure
from wengert.dialects.tensorflow.table import plain
from wengert.dialects.tensorflow.tapes import UnconnectedGradients, is_number, node_of
from wengert.dialects.tensorflow.tensors import Native, convert, held, is_tensor, outward, wrap
from wengert.engine.batching import levels
from wengert.engine.cotangents import Block
from wengert.engine.forward import pushed_through
from wengert.engine.node import Node, Tokens, active
from wengert.engine.op import OUTPUT
from wengert.engine.sweep import recorded_values
from wengert.engine.tape import part_of_tape
from wengert.errors import ShapeError
from wengert.transforms.forward import as_tangent
from wengert.transforms.tape import GradientTape as NativeTape


@plain(
    "autodiff.ForwardAccumulator",
    differs="a tangent must have its primal's shape; a function with a gradient of its own "
    "(tf.custom_gradient) has the tangents that its gradient says",
)
class ForwardAccumulator:
    """Computes derivatives in one direction along with values."""

    def __init__(self, primals: Any, tangents: Any) -> None:
        assert_same_structure(primals, tangents)
        self._primals: list[Any] = []
        self._given: list[Any] = []
        for primal, tangent in zip(map(held, flatten(primals)), flatten(tangents), strict=True):
            if not is_tensor(primal):
                raise AttributeError(f"{type(primal).__name__!r} object has no attribute 'dtype'")
            if not all(tapes.numbers_among([primal], "ForwardAccumulator: a primal")):
                continue
            if any(primal is other for other in self._primals):
                raise ValueError("a primal is given twice; give the sum of its tangents")
            place = part_of_tape(primal, "ForwardAccumulator: primal")
            try:
                checked = as_tangent(convert(tangent, primal.dtype), place, "ForwardAccumulator")
            except ShapeError as error:
                raise ValueError(str(error)) from error
            self._primals.append(primal)
            self._given.append(outward(checked))
        self._tape = NativeTape(persistent=True, watch_accessed_variables=False)
        self._spans: list[Span] = []  # one for each time it was entered
        #: tangents by node; a list of them for an operation of several results
        self._tangents: WeakKeyDictionary[Node, Any] = WeakKeyDictionary()
        self._is_open = False

    def __enter__(self) -> ForwardAccumulator:
        if self._is_open:
            raise ValueError("the accumulator is open already; make another one")
        self._is_open = True
        outer = recording()
        self._tape.__enter__()
        self._spans.append(begin(self._tape._token, outer))
        self._tape.watch(self._primals)
        for primal, tangent in zip(self._primals, self._given, strict=True):
            self._tangents[node_of(primal)] = tangent
        return self

    def __exit__(self, *exception: object) -> None:
        self._is_open = False
        end(self._tape._token)
        self._tape.__exit__(*exception)

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Return the tangent of a tensor, or of each in a nest."""
        zeros = tapes.wants_zeros(unconnected_gradients)
        return map_structure(lambda leaf: self._tangent(as_constant(leaf), zeros), primals)

    def _tangent(self, value: Any, zeros: bool) -> Any:
        if not is_tensor(value):
            raise mistake(AttributeError, "jvp: primal", value, "a tensor or a variable")
        for primal, tangent in zip(self._primals, self._given, strict=True):
            if value is primal:
                return tangent
        found = self._known(node_of(value)) if is_number(value) else None
        return outward(tapes.zeros_like(convert(value))) if found is None and zeros else found

    # -- tangents of nodes ----------------------------------------------------------------------

    def _known(self, target: Node | None) -> Any:
        """Return the tangent of a node, having computed those that it needs."""
        if target is None or self._tape._token not in target.tokens:
            return None
        if target not in self._tangents:
            with Quiet():  # what `where` drops at the end may be infinite on the way there
                self._compute(target)
        return self._tangents[target]

    def _compute(self, target: Node) -> None:
        """Compute the tangents of a node's ancestors, oldest first, and its own."""
        nodes = self._unknown(target)
        outer: dict[Node, list[Span]] = {}
        uses: dict[Node, int] = {}
        for node in nodes:
            for parent, _, _ in node.edges:
                uses[parent] = uses.get(parent, 0) + 1
        before = active.get()
        try:
            for node in nodes:
                span = self._span_of(node)
                outer[node] = [] if span is None else span.outer(node.order)
                self._tangents[node] = self._pushed(node, span, outer[node])
                for parent, _, _ in node.edges:
                    uses[parent] -= 1
                    # others may ask for those that they recorded; the rest can be had again
                    if not uses[parent] and parent in outer and not outer[parent]:
                        del self._tangents[parent]
        finally:
            active.set(before)

    def _unknown(self, target: Node) -> list[Node]:
        """Return the nodes whose tangents are not known and that one depends on, oldest first."""
        token = self._tape._token
        nodes, seen = [target], {target}
        for node in nodes:  # grows while it is read
            if self._span_of(node) is None:
                continue  # made while this accumulator was not open
            for parent, _, _ in node.edges:
                if parent not in seen and parent not in self._tangents and token in parent.tokens:
                    seen.add(parent)
                    nodes.append(parent)
        return sorted(nodes, key=lambda node: node.order)

    def _span_of(self, node: Node) -> Span | None:
        """Return the time in which a node was made; None if this accumulator was closed then."""
        for span in reversed(self._spans):
            if span.time(node.order) is not None:
                return span
        return None

    def _pushed(self, node: Node, span: Span | None, outer: list[Span]) -> Any:
        """Return the tangent of a node, from those of its parents."""
        edges = []
        for parent, argument, values in node.edges:
            tangent = self._tangents.get(parent)
            if tangent is not None:
                edges.append((parent, argument, values, tangent))
        if span is None or not edges:
            return None
        if node.op is OUTPUT:
            return edges[0][3][node.argument]
        tokens = frozenset(s.token for s in outer)
        recorded = _is_recorded(node, [t for *_, t in edges], tokens)
        moved: list[Any] = []
        for parent, argument, values, tangent in edges:
            if recorded:
                values = recorded_values(node, argument, values)
            moved.append((parent, argument, values, _lowered(tangent, recorded)))
        like = next(t for t in _flat(edges[0][3]) if t is not None)
        xp: Any = Native._namespace if recorded else backends.namespace_of(like._raw)
        active.set(tokens)
        start, time = now(), span.time(node.order)
        found = _raised(pushed_through(xp, node, moved, recorded))
        if recorded and time is not None:
            for other in outer:
                other.take(start, now(), time)
        return found


def _flat(tangent: Any) -> Sequence[Any]:
    return tangent if type(tangent) is list else [tangent]


def _is_recorded(node: Node, tangents: list[Any], outer: Tokens) -> bool:
    """Return whether somebody cares how a tangent is computed."""
    if levels.get():  # a vmap runs, which computes on tensors
        return True
    if not outer:
        return False
    nodes = [t._node for tangent in tangents for t in _flat(tangent) if t is not None]
    return bool(node.tokens & outer or node.op.captures) or any(
        n is not None and n.tokens & outer for n in nodes
    )


def _lowered(tangent: Any, recorded: bool) -> Any:
    """Return a tangent as Wengert's tensor, or as a raw array."""
    if type(tangent) is list:
        return [None if t is None else _lowered(t, recorded) for t in tangent]
    return convert(tangent) if recorded else tangent._raw


def _raised(found: Any) -> Any:
    """Return what was computed as a tensor of TensorFlow's."""
    if type(found) is list:
        return [_raised(part) for part in found]
    if type(found) is Block:
        values = found.values if type(found.values) is Native else wrap(found.values)
        block = Block(found.shape, found.region, values, found._mask)
        return outward(block.todense(Native._namespace))
    if found is None:
        return None
    return outward(found if type(found) is Native else wrap(found))
