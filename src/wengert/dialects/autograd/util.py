"""autograd.util: arguments replaced, nodes in order."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any


def subvals(x: Sequence[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """Return a tuple with other values at some positions, given as pairs."""
    replaced = list(x)
    for position, value in ivs:
        replaced[position] = value
    return tuple(replaced)


def subval(x: Sequence[Any], i: int, v: Any) -> tuple[Any, ...]:
    """Return a tuple with another value at one position."""
    return subvals(x, [(i, v)])


def func(f: Any) -> Any:
    """Return f."""
    return f


def toposort(
    end_node: Any, parents: Callable[[Any], Iterable[Any]] = operator.attrgetter("parents")
) -> Iterator[Any]:
    """Yield a node and all nodes that it depends on, each after those that depend on it."""
    waiting: dict[Any, int] = {end_node: 0}
    stack = [end_node]
    while stack:
        for parent in parents(stack.pop()):
            if parent not in waiting:
                waiting[parent] = 0
                stack.append(parent)
            waiting[parent] += 1
    ready = [end_node]
    while ready:
        node = ready.pop()
        yield node
        for parent in parents(node):
            waiting[parent] -= 1
            if not waiting[parent]:
                ready.append(parent)


__all__ = ["func", "subval", "subvals", "toposort"]

ABSENT = {"quick_grad_check": "write check_grads of wengert.autograd.test_util"}
