"""The forward sweep: from tangents of some nodes to those of others.

It runs over the same nodes as the reverse sweep, oldest first. A family that knows how a
tangent goes through its operations says so in `push`. For any other operation the rule itself
is transposed: a rule is linear in the cotangent, so the derivative of what it answers with
respect to that cotangent, weighted by the tangents, is the tangent of the result. A tangent may
be a Block; then only the part of the result that depends on it is computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine import cotangents as ct
from wengert.engine.cotangents import Block, add
from wengert.engine.node import NOBODY, Node, Values, active
from wengert.engine.op import OUTPUT
from wengert.engine.sweep import ancestors, leading_to, recorded_values
from wengert.engine.tape import Part, Tape, on_tensors
from wengert.engine.tensor import Tensor, wrap
from wengert.regions import Region, around, sizes, whole


def push(
    tape: Tape,
    places: Sequence[Part],
    tangents: Sequence[Any],
    targets: Sequence[Tensor],
    dense: bool = True,
) -> list[Any]:
    """Return the tangent of each target, as a tensor; None if it does not depend on the places.

    A tangent of a place that is a selection is one for its elements.
    """
    before = active.get()
    recording = before - {tape._token}
    nodes = [t._node for t in targets if t._node is not None and tape._token in t._node.tokens]
    entries = ancestors(nodes, tape._token)
    moving = [t for t in tangents if t is not None]
    recorded = on_tensors(entries, [_values(t) for t in moving], recording)
    xp: Any = Tensor._namespace
    if not recorded and moving:
        xp = backends.namespace_of(_values(moving[0])._raw)
    seeds: dict[Any, Any] = {}
    for place, tangent in zip(places, tangents, strict=True):
        if tangent is None or place.node is None:
            continue
        t = tangent if recorded else _raw(tangent)
        if place.selection is not None:
            t = place.selection.embed(xp, t)
        node = place.node  # several primals may be parts of one tensor
        seeds[node] = add(xp, seeds[node], t) if node in seeds else t
    active.set(recording or NOBODY)
    try:
        # what `where` drops at the end may be infinite on the way there
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = tape._token.starts
            found = forward(xp, entries, seeds, set(nodes), recorded, ends)
    finally:
        active.set(before)
    answers = [None if t._node is None else found.get(t._node) for t in targets]
    return [a if a is None else _raised(a, recorded, dense) for a in answers]


def _raised(tangent: Any, recorded: bool, dense: bool) -> Any:
    if not recorded:
        if type(tangent) is Block:
            tangent = Block(tangent.shape, tangent.region, wrap(tangent.values))
        else:
            tangent = wrap(tangent)
    return tangent.todense(Tensor._namespace) if dense and type(tangent) is Block else tangent


def forward(
    xp: Any,
    entries: list[Node],
    tangents: dict[Node, Any],
    targets: Collection[Node],
    recorded: bool,
    ends: Collection[Node] = (),
    through: Callable[..., Any] | None = None,
) -> dict[Node, Any]:
    """Return the tangents of `targets`; those that depend on nothing with a tangent are missing.

    `nodes` are the targets' ancestors, newest first. `recorded` says that tangents are tensors.
    What lies behind one of `ends` does not move it. `through` takes the place of `pushed_through`.
    """
    wanted = leading_to(tangents.keys(), entries)
    path = [node for node in reversed(entries) if node in wanted]
    uses = Counter(parent for node in path for parent, _, _ in node.edges)
    uses.update(targets)
    carried = dict(tangents)
    for node in path:
        edges = []
        for parent, argument, values in node.edges:
            t = carried.get(parent)
            if t is not None and (type(t) is not Block or all(map(len, t.region))):
                if recorded and node.op is not OUTPUT:
                    values = recorded_values(node, argument, values)
                edges.append((parent, argument, values, t))
        if edges and not (ends and node in ends):
            found = (through or pushed_through)(xp, node, edges, recorded)
            if found is not None:
                given = carried.get(node)  # a node may also have a tangent of its own
                carried[node] = found if given is None else add(xp, given, found)
        for parent, _, _ in node.edges:
            uses[parent] -= 1
            if not uses[parent]:
                carried.pop(parent, None)
    return {node: carried[node] for node in targets if node in carried}


def pushed_through(xp: Any, node: Node, edges: list[Any], recorded: bool | None = None) -> Any:
    """Return the tangent of one node, given edges with tangents; see `Op.push`."""
    if recorded is None:
        recorded = xp is Tensor._namespace
    op = node.op
    if op is OUTPUT:
        _, argument, _, tangents = edges[0]
        return tangents[argument]
    found = op.push(xp, node, edges)
    if found is NotImplemented:
        found = _transposed(node, edges, recorded)
    return found if found is None or type(found) is list else _fitting(xp, found, node)


def _fitting(xp: Any, t: Any, node: Node) -> Any:
    """Return a tangent with the shape and dtype of its node."""
    values = t.values if type(t) is Block else t
    shape = sizes(t.region) if type(t) is Block else node.shape
    if values.dtype != node.dtype:
        values = xp.astype(values, node.dtype)
    if tuple(values.shape) != shape:
        values = xp.broadcast_to(values, shape)
    return Block(t.shape, t.region, values, t._mask) if type(t) is Block else values


def _transposed(node: Node, edges: list[Any], recorded: bool) -> Any:
    """Return the tangent of the result by transposing the rules, on tensors."""
    before = active.get()
    if not recorded:
        active.set(NOBODY)
    try:
        found = _by_transposing(node, edges)
    finally:
        active.set(before)
    if recorded or found is None:
        return found
    if type(found) is list:
        return [part if part is None else _raw(part) for part in found]
    return _raw(found)


def _raw(t: Any) -> Any:
    return Block(t.shape, t.region, t.values._raw) if type(t) is Block else t._raw


def _by_transposing(node: Node, edges: list[Any]) -> Any:
    xp, op = Tensor._namespace, node.op
    several = type(node.shape) is list
    region = None if several else _reached(node, edges)
    like = _values(edges[0][3])
    plain: Any = backends.namespace_of(getattr(like, "_raw", like))
    if several:
        outputs = [
            wrap(plain.zeros(shape, dtype=dtype)) if backends.is_inexact(dtype) else None
            for shape, dtype in zip(node.shape, node.dtype, strict=True)
        ]
    else:
        if region is not None and not all(map(len, region)):  # the tangents end before this
            return ct.zero(node.shape, node.dtype, like=_on_tensors(edges[0][3]))
        lengths = node.shape if region is None else sizes(region)
        outputs = [wrap(plain.zeros(lengths, dtype=node.dtype))]
    answers: list[Any] = []
    weights: list[Any] = []
    with Tape(watch_accessed_variables=False) as tape:
        tape._token.transform = f"the transposed rule of {op.name}"
        tape.watch([c for c in outputs if c is not None])
        g: Any = outputs if several else outputs[0]
        if region is not None:
            g = Block(node.shape, region, g)
        asked = [(parent, k, _as_tensors(op, k, values)) for parent, k, values, _ in edges]
        for (parent, _, _, t), part in zip(edges, op.pull(xp, g, node, asked), strict=True):
            if part is None:
                continue
            part = ct.fit(xp, op, part, parent)
            box = part.region if type(part) is Block else whole(parent.shape)
            answers.append(part.kept(xp) if type(part) is Block else part)
            weights.append(ct.selected(xp, _on_tensors(t), box))
    found = tape.gradient(answers, outputs, output_gradients=weights)
    if several:
        return found
    if region is None or found[0] is None:
        return found[0]
    return Block(node.shape, region, found[0])


def _reached(node: Node, edges: list[Any]) -> Region | None:
    """Return the region of the result that tangents of Blocks reach; None for all of it."""
    region: Region | None = None
    for parent, argument, values, t in edges:
        if type(t) is not Block:
            return None
        part = node.op.reach(_hull(t.region), node, parent, argument, values)
        if part is None:
            return None
        region = part if region is None else around(region, part)
    return region


def _hull(region: Region) -> Region:
    """Return the smallest region of ranges without steps around another; `Op.reach` takes these."""
    return tuple(map(_span, region))


def _span(r: Any) -> range:
    if type(r) is range and r.step == 1:
        return r
    return range(int(min(r)), int(max(r)) + 1) if len(r) else range(0)


def _values(t: Any) -> Any:
    return t.values if type(t) is Block else t


def _on_tensors(t: Any) -> Any:
    if type(t) is Block:
        return t if type(t.values) is Tensor else Block(t.shape, t.region, wrap(t.values))
    return t if type(t) is Tensor else wrap(t)


def _as_tensors(op: Any, argument: int, values: Values) -> tuple[Any, ...]:
    """Return what a rule reads with raw arrays of arguments and results made tensors."""
    names = op.reads[0 if op.variadic else argument] or ()

    def tensor(name: str, value: Any) -> Any:
        if name not in op.arrays:
            return value
        if type(value) is tuple or type(value) is list:
            return tuple(v if type(v) is Tensor else wrap(v) for v in value)
        return value if type(value) is Tensor else wrap(value)

    return tuple(map(tensor, names, values))
