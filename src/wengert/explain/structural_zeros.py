"""Derivatives that are zero by structure: a path leads to other elements than those asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.cotangents import Block
from wengert.engine.node import Node, Token
from wengert.engine.sweep import ancestors, reverse
from wengert.engine.tape import Part, regions_of
from wengert.explain.regions import do_meet, size, walked_back
from wengert.regions import whole


def misses(token: Token, target: Part, source: Part) -> bool:
    """Return whether no element of the source that is asked for is on a path to the target's.

    Regions decide where they can. They may be larger than what is needed; then a sweep decides,
    which knows lists of positions and masks.
    """
    start: Any = target.node
    end: Any = source.node
    if type(start.shape) is list or type(end.shape) is list:
        return False
    nodes = ancestors([start], token)
    region = _region_of(target)
    wanted = _region_of(source)
    reached = walked_back(nodes, start, region, {end}).get(end)
    if reached is None or not size(wanted):
        return False
    if not size(reached) or not do_meet(reached, wanted):
        return True
    return source.selection is not None and _swept_past(token, nodes, target, source)


def first_missing(token: Token, route: Sequence[Node], source: Part) -> Node | None:
    """Return the first node of a route that has no element that the source's lead to."""
    for node in route:
        tensor: Any = None
        if misses(token, Part(tensor, node), source):
            return node
    return None


def _region_of(part: Part) -> Any:
    return whole(part.node.shape) if part.selection is None else part.selection.region  # type: ignore[union-attr]


def _swept_past(token: Token, nodes: list[Node], target: Part, source: Part) -> bool:
    start: Any = target.node
    end: Any = source.node
    xp: Any = backends.namespace_of(source.tensor._raw)
    shape = start.shape if target.selection is None else target.selection.shape
    seed = xp.ones(shape, dtype=start.dtype)
    if target.selection is not None:
        seed = target.selection.embed(xp, seed)
    with np.errstate(all="ignore"):
        found = reverse(
            xp, nodes, {start: seed}, {end}, False, None, regions_of([source]), token.starts
        )
    g = found.get(end)
    if type(g) is not Block:
        return g is None
    plain: Any = backends.NUMPY
    mask = backends.to_numpy(g.mask) if g.is_masked else np.ones([len(r) for r in g.region], bool)
    live = Block(g.shape, g.region, mask.astype(np.float64)).todense(plain)
    wanted = source.selection.embed(plain, np.ones(source.selection.shape)).todense(plain)
    return not np.any((live != 0) & (wanted != 0))
