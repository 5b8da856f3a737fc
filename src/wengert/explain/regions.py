"""Which elements of earlier nodes some elements of a node depend on, from regions alone."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from wengert.engine.node import Node
from wengert.regions import around as around_both
from wengert.regions import whole

Region = Any


def walked_back(
    nodes: list[Node], start: Node, region: Region, ends: Collection[Node] = ()
) -> dict[Node, Region]:
    """Return what of each node a region of `start` depends on, or more.

    `nodes` are the ancestors of `start`, newest first. The walk does not go beyond `ends`.
    """
    regions: dict[Node, Region] = {start: region}
    for node in nodes:
        here = regions.get(node)
        if here is None or node in ends:
            continue
        for parent, argument, values in node.edges:
            part = None
            if type(node.shape) is not list and type(parent.shape) is not list:
                part = node.op.depends(here, node, parent, argument, values)
            if part is None:
                part = _whole(parent)
            regions[parent] = around(regions[parent], part) if parent in regions else part
    return regions


def _whole(node: Node) -> Region:
    return () if type(node.shape) is list else whole(node.shape)


def around(a: Region, b: Region) -> Region:
    """Return the smallest ranges around two regions."""
    return around_both(ranged(a), ranged(b)) if len(a) == len(b) else a


def ranged(region: Region) -> tuple[range, ...]:
    """Return a region with the range around each list of positions in its place."""
    return tuple(
        r if type(r) is range else range(int(r.min()), int(r.max()) + 1) if len(r) else range(0)
        for r in region
    )


def size(region: Region) -> int:
    """Return how many elements a region has."""
    return math.prod(map(len, region))


def do_meet(a: Region, b: Region) -> bool:
    """Return whether two regions of one array may have an element in common."""
    pairs = zip(ranged(a), ranged(b), strict=True)
    return all(max(r.start, q.start) < min(r.stop, q.stop) for r, q in pairs)


def described(region: Region) -> str:
    """Return a region as one would write it in brackets."""
    return ", ".join(str(r.start) if len(r) == 1 else f"{r.start}:{r.stop}" for r in ranged(region))
