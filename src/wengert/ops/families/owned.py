"""Operations as a library has them: its own kernels for values, and for rules of first order."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from wengert import backends
from wengert.backends.namespace import Own
from wengert.engine.cotangents import Block
from wengert.engine.node import Edges, Node, Values
from wengert.engine.op import Op, parameters_of
from wengert.engine.record import for_dtypes


def has_own_kernels(op: Op) -> None:
    """Have an operation go by a library's own kernels where its arrays are of that library."""
    known: dict[Any, Op] = {}

    def on(xp: Any) -> Op:
        if op.name not in xp.own:
            return op
        if xp not in known:
            known[xp] = _Owned(op, xp, xp.own[op.name]).op
        return known[xp]

    op.on = on  # type: ignore[method-assign]


class _Owned:
    """An operation whose values and first derivatives come from kernels of a library.

    What is recorded, what is a Block or complex, and what a kernel leaves out goes by the
    operation's own rules. So derivatives of higher orders are those of these rules.
    """

    def __init__(self, original: Op, xp: Any, own: Own) -> None:
        self.original, self.xp, self.own = original, xp, own
        self.op = op = copy.copy(original)
        op.on = lambda xp: op  # type: ignore[method-assign]
        if own.compute is not None:
            op.compute, op.numpy_function = partial(self.compute), None
            op.compute.find = lambda xp: own.compute  # type: ignore[attr-defined]
        #: how many values at the end of those that a rule reads are for the library's rule alone
        self.further = 0
        self.names: list[str] = []
        self.plans: dict[tuple[int, ...], list[tuple[int | None, Any]]] = {}
        if own.rule is not None:
            op.pull = self._quick_pull(own.rule) or self.pull  # type: ignore[method-assign]

    def compute(self, xp: Any, *arrays: Any, **params: Any) -> Any:
        """Return what the library's kernel makes of arrays, or else what the operation does."""
        function: Any = self.own.compute
        y = function(*arrays, **params)
        if y is not NotImplemented:
            return y
        return self._usual(list(arrays)).compute(xp, *arrays, **params)

    def _usual(self, arrays: list[Any]) -> Op:
        """Return the operation without the library's kernels, on arrays of such dtypes."""
        op = self.original
        return op if op.family in self.xp.narrow else for_dtypes(op, arrays)

    def _quick_pull(self, rule: Callable[..., Any]) -> Callable[..., Sequence[Any]] | None:
        """Have nodes keep what the library's rule reads; return `pull` if it is of one array."""
        op = self.op
        _, *names = parameters_of(rule)
        read = {name for reads in op.reads for name in reads or ()}
        further = [name for name in names if name not in read and name != "wanted"]
        if further:
            self.further = len(further)
            op.names = (*op.names, "saved")
            op.reads = tuple(None if r is None else (*r, *further) for r in op.reads)
            op.picks = tuple(None if r is None else op._pick(r) for r in op.reads)
        self.names = names
        if len(op.args) > 1 or "wanted" in names:
            return None
        places = [(op.reads[0] or ()).index(name) for name in names]
        one, only = len(places) == 1, places[0]
        pick: Callable[[Values], Any] = itemgetter(*places)
        library, otherwise = self.xp, self._otherwise

        def pull(xp: Any, g: Any, node: Node, edges: Edges, own: bool = False) -> Sequence[Any]:
            if xp is library and type(g) is not Block and backends.kind_of(node.dtype) == "f":
                values = edges[0][2]
                part = rule(g, values[only]) if one else rule(g, *pick(values))
                if part is not NotImplemented:
                    return (part,)
            return otherwise(xp, g, node, edges, own)

        return pull

    def pull(self, xp: Any, g: Any, node: Node, edges: Edges, own: bool = False) -> Sequence[Any]:
        """Return the cotangents of several arguments."""
        raw = g[0] if type(g) is list else g  # of several results the first
        is_raw = xp is self.xp and type(raw) is not Block
        if is_raw and raw is not None and backends.kind_of(_first(node.dtype)) == "f":
            arguments = tuple([edge[1] for edge in edges])
            plan = self.plans.get(arguments)
            if plan is None:
                plan = self.plans[arguments] = self._plan(arguments)
            rule: Any = self.own.rule
            found = rule(g, *[at if i is None else edges[i][2][at] for i, at in plan])
            if found is not NotImplemented:
                return [found[argument] for _, argument, _ in edges]
        return self._otherwise(xp, g, node, edges, own)

    def _plan(self, arguments: tuple[int, ...]) -> list[tuple[int | None, Any]]:
        """Return what the library's rule reads, of edges to some arguments.

        For each of its parameters: which edge has it and where among its values; or None, and
        what is given in any case.
        """
        found: dict[str, tuple[int | None, Any]] = {}
        for i, argument in enumerate(arguments):
            found |= {name: (i, at) for at, name in enumerate(self.op.reads[argument] or ())}
        found["wanted"] = (None, [k in arguments for k in range(len(self.op.args))])
        return [found.get(name, (None, None)) for name in self.names]

    def _otherwise(
        self, xp: Any, g: Any, node: Node, edges: Edges, own: bool = False
    ) -> Sequence[Any]:
        if self.further:
            edges = [(parent, k, values[: -self.further]) for parent, k, values in edges]
        op, dtype = self.original, _first(node.dtype)
        if op.family not in self.xp.narrow and backends.is_narrow(dtype):
            op = op.narrowed(dtype)
        return op.pull(xp, g, node, edges, own)


def _first(dtype: Any) -> Any:
    """Return a dtype, or of those of several results the first."""
    return dtype[0] if type(dtype) is list else dtype
