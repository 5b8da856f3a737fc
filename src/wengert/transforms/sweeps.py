"""Jacobians: many sweeps in one, with an axis that counts them.

The gradients of all elements of a target are one reverse sweep whose cotangents have an axis of
examples (`engine.batching`), one example for each element; the tangents for all elements of a
source are one forward sweep. Memory bounds how many go at once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.backends import memory
from wengert.engine.batching import Batched, Level, levels, opened, outside
from wengert.engine.cotangents import Block
from wengert.engine.forward import forward, pushed_through
from wengert.engine.node import NOBODY, Node, active
from wengert.engine.op import OUTPUT
from wengert.engine.sweep import ancestors, recorded_values
from wengert.engine.tape import Part, Tape
from wengert.engine.tensor import Tensor, wrap
from wengert.explain.progress import progress
from wengert.explain.tangents import push
from wengert.ops.families.directions import Directions
from wengert.transforms.surroundings import recording

#: About how many bytes the cotangents of one sweep may take, if `chunk_size` is "auto".
BUDGET = 2**29
#: About how many bytes of tangents in several directions processors pass over as fast as of one.
QUICK = 2**20
#: Up to this many bytes, available memory is not checked.
SMALL = 2**28


def chunks(count: int, chunk_size: int | str | None, nodes: list[Any], token: Any) -> list[range]:
    """Return ranges of rows to compute at once, so that a sweep keeps to the budget."""
    if chunk_size is None:
        size = count
    elif chunk_size == "auto":
        recorded = ancestors([n for n in nodes if n is not None], token)
        largest = max(map(_bytes, recorded), default=8)
        size = max(1, BUDGET // (4 * max(largest, 8)))  # a few of the largest at a time
        if size < count:
            import logging  # which is slow to import

            logging.getLogger("wengert").info(
                "jacobian: %d rows in chunks of %d, so that a sweep takes about %d MiB",
                count, size, BUDGET >> 20,
            )  # fmt: skip
    elif type(chunk_size) is int and chunk_size > 0:
        size = chunk_size
    else:
        raise ValueError(
            f"chunk_size is {chunk_size!r}; write a positive number, 'auto', or None for all"
        )
    return [range(i, min(i + size, count)) for i in range(0, count, max(size, 1))]


def check_room(
    what: str, results: list[tuple[tuple[int, ...], tuple[int, ...], Part]], pieces: list[range]
) -> None:
    """Raise MemoryError if Jacobians take more memory than there is.

    `results` are the shapes of a target and of a source, and that source, for each Jacobian;
    `pieces`, the rows of one sweep each. Several are joined in the end, which takes room for both.
    """
    need = 0
    for height, width, source in results:
        if type(source.tensor._raw) is np.ndarray:
            need += math.prod(height) * math.prod(width) * source.tensor.dtype.itemsize
    need *= min(2, len(pieces))
    if need < SMALL:  # not worth a look
        return
    room = memory.available()
    if room is not None and need > room:
        (height, width, _), *_ = results
        raise MemoryError(
            f"{what}: {math.prod(height):,} outputs by {math.prod(width):,} inputs take "
            f"{need / 2**30:,.1f} GiB as a dense array, and this machine has {room / 2**30:,.1f} "
            "GiB left. Ask for a part, with wg.jacobian(f, of=..., wrt=...) or "
            "tape.jacobian(y.at[...], x.at[...]), and go through the parts in a loop; for a matrix "
            "that is mostly zeros write wg.sparse.jacobian; for products with it wg.vjp, wg.jvp or "
            "wg.hvp"
        )


def quick_chunk(entries: list[Node]) -> int:
    """Return how many directions a sweep over nodes of a plan takes at once.

    More would save little, since the arithmetic of large arrays costs more than the calls.
    """
    return max(4, QUICK // max(map(_bytes, entries), default=8))


def _bytes(node: Node) -> int:
    shapes = node.shape if type(node.shape) is list else [node.shape]
    return 8 * sum(math.prod(shape) for shape in shapes)


def shape_of(part: Part) -> tuple[int, ...]:
    """Return the shape of a tensor, or of a selection of its elements."""
    shape: tuple[int, ...] = part.tensor.shape
    return shape if part.selection is None else part.selection.shape


Seed = Callable[[Level, range, Part], Tensor]


def one_hot(level: Level, rows: range, part: Part) -> Tensor:
    """Return for each row a tensor that is 1 at that element, and 0 elsewhere."""
    shape = shape_of(part)
    ones = _units(rows, part, (len(rows), *shape))
    if len(rows) and type(ones) is np.ndarray:
        level.units = (ones, rows)
    return wrap(Batched(level, wrap(ones)))


def one_hot_in_each(level: Level, rows: range, part: Part) -> Tensor:
    """Return for each row a tensor that is 1 at that element of each example, and 0 elsewhere."""
    count, *inner = part.tensor.shape
    ones = _units(rows, part, (len(rows), 1, *inner))
    xp: Any = backends.namespace_of(part.tensor._raw)
    return wrap(Batched(level, wrap(xp.broadcast_to(ones, (len(rows), count, *inner)))))


def _units(rows: range, part: Part, shape: tuple[int, ...]) -> Any:
    """Return rows of an identity matrix in a shape, made where a tensor is."""
    xp: Any = backends.namespace_of(part.tensor._raw)
    eye = xp.eye(len(rows), math.prod(shape[1:]), k=rows.start, dtype=part.tensor.dtype)
    return xp.reshape(eye, shape)


def all_examples(value: Any, level: Level) -> Tensor:
    """Return a tensor, or a Block, with its axis of examples."""
    if type(value) is Block:
        value = value.todense(Tensor._namespace)
    raw = value._raw
    if type(raw) is Batched and raw.level is level:
        return raw.values
    return Tensor._namespace.broadcast_to(value, (level.size, *value.shape))


def pulled(
    tape: Tape,
    target: Part,
    sources: list[Part],
    pieces: list[range],
    last: bool,
    seed: Seed = one_hot,
) -> list[list[Tensor] | None]:
    """Return the rows of the Jacobian for each source, in pieces; None where there is no path."""
    found: list[list[Tensor] | None] = [None] * len(sources)
    if target.node is None or tape._token not in target.node.tokens:
        return found
    for number, rows in enumerate(progress(pieces, "Jacobian, reverse")):
        with opened(len(rows)) as level:
            final = last and number == len(pieces) - 1
            cotangents = tape._sweep([(target, seed(level, rows, target))], sources, final)
            for i, source in enumerate(sources):
                g = None if source.node is None else cotangents.get(source.node)
                if g is not None:
                    if source.selection is not None:
                        g = source.selection.pick(Tensor._namespace, g)
                    found[i] = [*(found[i] or []), all_examples(g, level)]
    return found


def pushed(
    tape: Tape,
    targets: list[Part],
    sources: list[Part],
    pieces: list[range],
    seeds: Callable[[Level, range], list[Tensor]],
) -> list[list[Tensor] | None]:
    """Return for each target its tangents in some directions, in pieces; directions come first.

    `seeds` returns the tangents of the sources for a piece of the directions.
    """
    found: list[list[Tensor] | None] = [None] * len(targets)
    tensors = [wrap(t.tensor._raw, t.node) for t in targets]
    for piece in progress(pieces, "Jacobian, forward"):
        with opened(len(piece)) as level:
            tangents = _moved(tape, level, sources, seeds(level, piece), tensors)
            for i, (t, target) in enumerate(zip(tangents, targets, strict=True)):
                if t is not None:
                    if target.selection is not None:
                        t = target.selection.pick(Tensor._namespace, t)
                    found[i] = [*(found[i] or []), all_examples(t, level)]
    return found


def pushed_along(
    tape: Tape,
    targets: list[Part],
    sources: list[Part],
    directions: list[Tensor],
    chunk_size: int | str | None = "auto",
) -> list[Tensor | None]:
    """Return for each target its tangents in directions, the first axis; None without a path.

    Each source has tangents with such an axis.
    """
    count = directions[0].shape[0]
    pieces = chunks(count, chunk_size, [t.node for t in targets], tape._token)

    def seeds(level: Level, piece: range) -> list[Tensor]:
        some = [d if len(piece) == count else d[piece.start : piece.stop] for d in directions]
        return [wrap(Batched(level, d)) for d in some]

    found = pushed(tape, targets, sources, pieces, seeds)
    return [None if parts is None else joined(parts) for parts in found]


def pushed_together(
    tape: Tape, targets: list[Part], sources: list[Part]
) -> list[list[Tensor | None]] | None:
    """Return for each target its tangents for the elements of each source, from one sweep.

    There is None where a sweep for each source is better: for one source, for more directions than
    go quickly at once, and outside of the plain case of NumPy's arrays at first order. So there is
    where a tangent is not finite: the zeros of other sources make NaN of an infinite partial.
    """
    nodes = {t.node for t in targets if t.node is not None and tape._token in t.node.tokens}
    sizes = [math.prod(shape_of(s)) for s in sources]
    count = sum(sizes)
    if (
        len(sources) == 1
        or not all(sizes)
        or levels.get()
        or active.get() - {tape._token}
        or not nodes
    ):
        return None
    if any(type(s.tensor._raw) is not np.ndarray for s in sources):
        return None
    if count > quick_chunk(ancestors(nodes, tape._token)):
        return None
    ends = np.cumsum(sizes).tolist()
    ranges = [range(end - size, end) for end, size in zip(ends, sizes, strict=True)]

    def seeds(level: Level, piece: range) -> list[Tensor]:
        return [
            wrap(Batched(level, wrap(_units(range(-r.start, count - r.start), s, shape))))
            for s, r in zip(sources, ranges, strict=True)
            for shape in [(count, *shape_of(s))]
        ]

    rows = [r if r is None else r[0] for r in pushed(tape, targets, sources, [range(count)], seeds)]
    if not all(r is None or np.isfinite(r._raw).all() for r in rows):
        return None
    return [[None if r is None else r[k.start : k.stop] for k in ranges] for r in rows]


def _moved(
    tape: Tape, level: Level, sources: list[Part], seeds: list[Tensor], targets: list[Tensor]
) -> list[Any]:
    """Return the tangents of targets, tensors with examples, for tangents of the sources.

    On NumPy's arrays, if no tape records it and no other vmap runs, the sweep carries raw arrays
    with an axis of directions.
    """
    token = tape._token
    plain = len(levels.get()) == 1 and not active.get() - {token}
    if not plain or any(type(s.tensor._raw) is not np.ndarray for s in sources):
        return push(tape, sources, seeds, targets)
    carried: dict[Any, Any] = {}
    for source, t in zip(sources, seeds, strict=True):
        if source.selection is not None:
            t = source.selection.embed(Tensor._namespace, t)
        array = all_examples(t, level)._raw
        if source.node is not None:
            known = carried.get(source.node)
            carried[source.node] = array if known is None else known + array
    nodes = {t._node for t in targets if t._node is not None and token in t._node.tokens}
    entries = ancestors(nodes, token)
    through = functools.partial(_through, level)
    with outside(level), recording(NOBODY), np.errstate(divide="ignore", invalid="ignore"):
        found = forward(backends.NUMPY, entries, carried, nodes, False, token.starts, through)
    answers = [None if t._node is None else found.get(t._node) for t in targets]
    return [None if a is None else wrap(Batched(level, wrap(a))) for a in answers]


def _through(level: Level, xp: Any, node: Node, edges: list[Any], recorded: bool) -> Any:
    """Return the tangent of a node as a raw array with an axis of directions.

    An operation whose family takes no such arrays gets tensors, as in `vmap`.
    """
    op = node.op
    if op is OUTPUT:
        _, position, _, tangents = edges[0]
        return tangents[position]
    t = op.push(xp, node, Directions(edges, level)) if op.takes_directions else NotImplemented
    if t is NotImplemented:
        return _through_tensors(level, node, edges)
    if t is not None and t.dtype != node.dtype:
        t = t.astype(node.dtype)
    shape = (level.size, *node.shape)
    return t if t is None or t.shape == shape else xp.broadcast_to(t, shape)


def _through_tensors(level: Level, node: Node, edges: list[Any]) -> Any:
    before = levels.get()
    levels.set((*before, level))
    try:
        lifted = [
            (parent, k, recorded_values(node, k, values), wrap(Batched(level, wrap(t))))
            for parent, k, values, t in edges
        ]
        found = pushed_through(Tensor._namespace, node, lifted, True)
        parts = found if type(found) is list else [found]
        raws = [part if part is None else all_examples(part, level)._raw for part in parts]
    finally:
        levels.set(before)
    return raws if type(found) is list else raws[0]


def joined(parts: list[Tensor]) -> Tensor:
    """Return pieces as one tensor."""
    return parts[0] if len(parts) == 1 else Tensor._namespace.concat(parts)
