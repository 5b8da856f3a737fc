"""The cost of a sweep, from shapes and regions alone."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, NamedTuple

from wengert.engine.node import Node
from wengert.engine.op import OUTPUT
from wengert.engine.sweep import leading_to, reached
from wengert.regions import Region, around, whole


class Work(NamedTuple):
    """Multiply-adds, and bytes of all cotangents together."""

    multiply_adds: int
    bytes: int


class Cost(NamedTuple):
    """The work of a gradient with structured cotangents, and with dense ones.

    Multiply-adds are counted as a textbook does: one for each element of an elementwise rule,
    and those of the product for a matrix product. Bytes are of all cotangents together, not
    of those that live at the same time. `GradientTape.cost` returns it, with an example.
    """

    structured: Work
    dense: Work

    def __repr__(self) -> str:
        rows = [f"{'':12}{'multiply-adds':>16}{'bytes':>16}"]
        for name, work in zip(self._fields, self, strict=True):
            rows.append(f"{name:12}{work.multiply_adds:16,}{work.bytes:16,}")
        return "\n".join(rows)


def estimate(
    nodes: list[Node],
    seeds: dict[Node, Region],
    sources: set[Node],
    parts: dict[Node, Region],
    dense: bool = False,
) -> Work:
    """Return the work of a reverse sweep whose seeds are on the given regions."""
    wanted = leading_to(sources, nodes)
    limits = reached(parts, nodes, wanted, sources) if parts else {}
    carried = {node: region for node, region in seeds.items() if node in wanted}
    adds = held = 0
    for node in nodes:
        region = carried.pop(node, None)
        if region is None:
            continue
        if node in limits:
            region = _common(region, limits[node])
        if not all(map(len, region)):
            continue
        if not node.op.takes_rows:
            region = tuple(map(_ranged, region))
        for parent, argument, values in node.edges:
            if parent not in wanted:
                continue
            if node.op is OUTPUT:  # an operation of several results gets whole cotangents
                part: Region = (range(sum(map(math.prod, parent.shape))),)
            elif type(node.shape) is list:
                adds += math.prod(parent.shape) + len(region[0])
                part = whole(parent.shape)
            else:
                found = None
                if not dense:
                    found = node.op.depends(region, node, parent, argument, values)
                part = whole(parent.shape) if found is None else found
                if parent in limits:  # what is cut off was never more than a view
                    part = _common(part, limits[parent])
                adds += node.op.work(region, part, node, argument, values)
            held += _size(part) * _itemsize(parent)
            before = carried.get(parent)
            if before is not None:
                part = around(tuple(map(_ranged, before)), tuple(map(_ranged, part)))
            carried[parent] = part
    return Work(adds, held)


def whole_seeds(seeds: Collection[Node]) -> dict[Node, Region]:
    """Return the seeds on all of their nodes."""
    return {node: whole(node.shape) for node in seeds}


def _common(region: Region, limit: Region) -> Region:
    """Return what of a region lies within a limit, where both are ranges without steps."""
    return tuple(
        range(max(r.start, q.start), min(r.stop, q.stop))
        if type(r) is range and r.step == 1 == q.step
        else r
        for r, q in zip(region, limit, strict=True)
    )


def _ranged(r: Any) -> range:
    """Return the range around a list of positions; a range as it is."""
    if type(r) is range:
        return r
    return range(int(r.min()), int(r.max()) + 1) if len(r) else range(0)


def _size(region: Region) -> int:
    return math.prod(map(len, region))


def _itemsize(node: Node) -> int:
    dtype = node.dtype[0] if type(node.dtype) is list else node.dtype
    return int(getattr(dtype, "itemsize", 8))
