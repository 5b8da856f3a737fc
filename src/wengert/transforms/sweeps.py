"""Jacobians: many sweeps in one, with an axis that counts them.

The gradients of all elements of a target are one reverse sweep whose cotangents have an axis of
examples (`engine.batching`), one example for each element; the tangents for all elements of a
source are one forward sweep. Memory bounds how many go at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.backends import memory
from wengert.engine.batching import Batched, Level, opened
from wengert.engine.cotangents import Block
from wengert.engine.node import Node
from wengert.engine.sweep import ancestors
from wengert.engine.tape import Part, Tape
from wengert.engine.tensor import Tensor, wrap
from wengert.explain.tangents import push

#: About how many bytes the cotangents of one sweep may take, if `chunk_size` is "auto".
BUDGET = 2**29
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
    for number, rows in enumerate(pieces):
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
    tape: Tape, targets: list[Part], source: Part, pieces: list[range]
) -> list[list[Tensor] | None]:
    """Return for each target the columns of the Jacobian, in pieces, each as a row."""
    found: list[list[Tensor] | None] = [None] * len(targets)
    tensors = [wrap(t.tensor._raw, t.node) for t in targets]
    for columns in pieces:
        with opened(len(columns)) as level:
            tangents = push(tape, [source], [one_hot(level, columns, source)], tensors)
            for i, (t, target) in enumerate(zip(tangents, targets, strict=True)):
                if t is not None:
                    if target.selection is not None:
                        t = target.selection.pick(Tensor._namespace, t)
                    found[i] = [*(found[i] or []), all_examples(t, level)]
    return found


def joined(parts: list[Tensor]) -> Tensor:
    """Return pieces as one tensor."""
    return parts[0] if len(parts) == 1 else Tensor._namespace.concat(parts)
