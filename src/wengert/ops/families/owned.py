"""Operations as a library has them: its own kernels for values, and for rules of first order."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from wengert import backends
from wengert.backends.namespace import Own
from wengert.engine.cotangents import Block
from wengert.engine.node import Edges, Node
from wengert.engine.op import Op, parameters_of
from wengert.engine.record import for_dtypes
from wengert.ops.families.compiled_rules import compiled


def has_own_kernels(op: Op) -> None:
    """Have an operation go by a library's own kernels where its arrays are of that library."""
    known: dict[Any, Op] = {}

    def on(xp: Any) -> Op:
        if xp not in known:
            own = xp.own.get(op.name) or compiled(op, xp)
            known[xp] = op if own is None else _Owned(op, xp, own).op
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
        if own.rule is not None:
            op.pull = self._pull(own.rule)  # type: ignore[method-assign]

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

    def _pull(self, rule: Callable[..., Any]) -> Callable[..., Sequence[Any]]:
        """Have nodes keep what the library's rule reads; return `pull` by that rule."""
        op = self.op
        _, *names = parameters_of(rule)
        read = {name for reads in op.reads for name in reads or ()}
        further = [name for name in names if name not in read and name != "wanted"]
        if further:
            self.further = len(further)
            op.names = (*op.names, "saved")
            op.reads = tuple(None if r is None else (*r, *further) for r in op.reads)
            op.picks = tuple(None if r is None else op._pick(r) for r in op.reads)
        library, otherwise, total = self.xp, self._otherwise, len(op.args)
        calls: dict[Any, Callable[[Any, Edges], Any]] = {}

        def pull(xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Sequence[Any]:
            raw, dtype = g, node.dtype
            if type(g) is list:  # of several results the first
                raw, dtype = g[0], dtype[0]
            if xp is library and type(raw) is not Block and raw is not None and xp.is_real(dtype):
                asked = total if len(edges) == total else tuple([edge[1] for edge in edges])
                call = calls.get(asked)
                if call is None:
                    call = calls[asked] = _call(rule, names, op, [edge[1] for edge in edges])
                found = call(g, edges)
                if found is not NotImplemented:
                    return found
            return otherwise(xp, g, node, edges, sweep)

        return pull

    def _otherwise(
        self, xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None
    ) -> Sequence[Any]:
        if self.further:
            edges = [(parent, k, values[: -self.further]) for parent, k, values in edges]
        op, dtype = self.original, _first(node.dtype)
        if op.family not in self.xp.narrow and backends.is_narrow(dtype):
            op = op.narrowed(dtype)
        return op.pull(xp, g, node, edges, sweep)


def _call(
    rule: Callable[..., Any], names: list[str], op: Op, arguments: list[int]
) -> Callable[[Any, Edges], Any]:
    """Return what calls a library's rule for some arguments: a function of g and their edges.

    It is written for them, since to look up each value by name would take as long as the kernel.
    """
    where = {"wanted": "wanted"}
    for i, argument in enumerate(arguments):
        where |= {name: f"edges[{i}][2][{at}]" for at, name in enumerate(op.reads[argument] or ())}
    given = "".join(f", {where.get(name)}" for name in names)
    is_only = len(op.args) == 1 and "wanted" not in names
    parts = "found, " if is_only else "".join(f"found[{argument}], " for argument in arguments)
    text = f"""def call(g, edges):
    found = rule(g{given})
    return found if found is NotImplemented else ({parts})
"""
    made: dict[str, Any] = {}
    exec(text, {"rule": rule, "wanted": [k in arguments for k in range(len(op.args))]}, made)
    call: Callable[[Any, Edges], Any] = made["call"]
    return call


def _first(dtype: Any) -> Any:
    """Return a dtype, or of those of several results the first."""
    return dtype[0] if type(dtype) is list else dtype
