"""autograd.misc.tracers: graphs of functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from wengert.dialects.autograd.tracer import Node, trace
from wengert.dialects.autograd.util import subvals, toposort

Function = Callable[..., Any]


class ConstGraphNode(Node):
    """A call, as a function of those of its arguments that change."""

    __slots__ = ("parents", "partial_fun")

    def __init__(
        self, value: Any, fun: Function, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        fixed = subvals(args, ((argnum, None) for argnum in parent_argnums))

        def partial_fun(partial_args: Any) -> Any:
            return fun(*subvals(fixed, zip(parent_argnums, partial_args, strict=True)), **kwargs)

        self.parents, self.partial_fun = parents, partial_fun

    def initialize_root(self) -> None:
        """Set up the node of the argument."""
        self.parents = ()


def const_graph_unary(fun: Function) -> Function:
    """Return a function of one argument that calls `fun` once, and later repeats its steps."""
    graph: list[Any] = []

    def repeated(x: Any) -> Any:
        if not graph:
            value, node = trace(ConstGraphNode.new_root(), fun, x)
            if node is None:
                raise ValueError("const_graph: the function's result is independent of its input")
            graph.extend(list(toposort(node))[::-1])
            return value
        found = {graph[0]: x}
        for node in graph[1:]:
            found[node] = node.partial_fun([found[parent] for parent in node.parents])
        return found[graph[-1]]

    return repeated


def const_graph(fun: Function, *args: Any, **kwargs: Any) -> Function:
    """Return `fun` with some arguments given, which is called once and then repeats its steps.

    Examples
    --------
    >>> import wengert.autograd.numpy as np
    >>> from wengert.autograd.misc import const_graph
    >>> def loud(x, y):
    ...     print("called")
    ...     return x * np.cos(y)
    >>> quiet = const_graph(loud, 2.0)
    >>> float(quiet(0.0))
    called
    2.0
    >>> round(float(quiet(1.0)), 4)
    1.0806
    """
    repeated = const_graph_unary(lambda given: fun(*args, *given, **kwargs))

    @functools.wraps(fun)
    def call(*given: Any) -> Any:
        return repeated(given)

    return call


class FullGraphNode(Node):
    """A call: its value, and its recipe (function, arguments, keywords, parents by argument)."""

    __slots__ = ("recipe", "value")

    def __init__(
        self, value: Any, fun: Function, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        self.value = value
        self.recipe = (fun, args, kwargs, list(zip(parent_argnums, parents, strict=True)))

    def initialize_root(self) -> None:
        """Set up the node of the argument."""
        self.value, self.recipe = None, (lambda x: x, (), {}, [])


def full_graph(fun: Function, *args: Any, **kwargs: Any) -> Any:
    """Return the last node of a function's graph."""
    return trace(FullGraphNode.new_root(), lambda args: fun(*args, **kwargs), args)[1]


__all__ = [
    "ConstGraphNode", "FullGraphNode", "const_graph", "const_graph_unary", "full_graph",
]  # fmt: skip
