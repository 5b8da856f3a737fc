"""Jacobians and matrices of sparse plans in shares, which several machines compute apart.

A share computes the function once, and does its part of the sweeps. What it returns can be sent
elsewhere: arrays and shapes, but no tape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert.engine.tensor import wrap
from wengert.errors import name_of
from wengert.transforms.gradients import Call, like_given
from wengert.transforms.jacobians import MODES, Chunk, parts_between, swept, whole
from wengert.transforms.sweeps import shape_of
from wengert.trees import flatten


@dataclass(frozen=True)
class _Swept:
    """What the sweeps of one share of a Jacobian gave, as `jacobians.swept` returns it."""

    mode: str
    table: list[list[Any]]
    heights: list[tuple[int, ...]]
    widths: list[tuple[int, ...]]
    nest: Any  # the result's, with numbers for its arrays


@dataclass(frozen=True)
class Jacobian:
    """The Jacobian of a function, in shares of its rows or of its columns."""

    fun: Callable[..., Any]
    argnums: int | Sequence[int] = 0
    mode: str = "auto"
    of: Any = None
    wrt: Any = None
    chunk_size: Chunk = "auto"

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"jacobian: mode is {self.mode!r}; expected one of {', '.join(MODES)}")

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"jacobian({name_of(self.fun)})"

    def _call(self, fun: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
        return Call(fun, self.argnums, False, tuple(args), kwargs, "jacobian", persistent=True)

    def share(self, args: Sequence[Any], kwargs: dict[str, Any], number: int, count: int) -> _Swept:
        """Return share `number` of `count`, at these arguments."""
        call = self._call(self.fun, args, kwargs)
        targets, sources, rebuild = parts_between(call, self.of, self.wrt)
        mode, table = swept(
            call, targets, sources, self.mode, self.chunk_size, share=(number, count)
        )
        return _Swept(
            mode,
            [[y._raw for y in row] for row in table],
            [*map(shape_of, targets)],
            [*map(shape_of, sources)],
            rebuild([*range(len(targets))]),
        )

    def join(self, shares: list[_Swept], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Return the Jacobian, in the nests and kinds that `wg.jacobian` returns, of all shares."""
        first = shares[0]
        tables = [[[wrap(y) for y in row] for row in share.table] for share in shares]
        table = whole(first.mode, tables, first.heights, first.widths)
        one = isinstance(self.argnums, int)
        positions = [self.argnums] if isinstance(self.argnums, int) else self.argnums
        given, rebuild_arguments = flatten([args[p] for p in positions])
        rows = []
        for row in table:
            pairs = zip(row, given, strict=True)
            nests = rebuild_arguments([like_given(y, g, fresh=True) for y, g in pairs])
            rows.append(nests[0] if one else tuple(nests))
        return flatten(first.nest)[1](rows)


@dataclass(frozen=True)
class Matrix:
    """The matrix of a sparse plan, in shares of its sweeps."""

    plan: Any

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"sparse.{self.plan.kind}"

    def share(
        self, args: Sequence[Any], kwargs: dict[str, Any], number: int, count: int
    ) -> tuple[Any, list[Any]]:
        """Return the dtype, and share `number` of `count` of what the sweeps gave."""
        run = self.plan._run(args)
        first, last = (self.plan.sweeps * k // count for k in (number, number + 1))
        return run.dtype, self.plan._swept(run, range(first, last)) if run.depends else []

    def join(self, shares: list[Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Return the matrix of all shares."""
        dtype = shares[0][0]
        results = [result for _, some in shares for result in some]
        data = self.plan._assembled(results, dtype) if results else np.zeros(0, dtype)
        matrix = self.plan._matrix(data)
        if self.plan._check and results:
            self.plan._probe(self.plan._run(args), matrix)
        return matrix
