"""`wg.profile()`: how long operations and their rules take, by operation and by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any, NamedTuple

from wengert.backends.memory import owner_of
from wengert.engine.cotangents import Block
from wengert.engine.node import Node
from wengert.engine.op import OUTPUT, Op
from wengert.errors import TapeError
from wengert.explain.lines import here
from wengert.explain.nodes import line_of_node, name_of_node
from wengert.explain.tables import Bytes, Seconds, Table, Tables
from wengert.explain.watchers import Watcher, tensors_in

#: How many rows each table has at most.
SHOWN = 10


class Cost(NamedTuple):
    """What an operation or a line has cost.

    `calls` and `forward` are how often and how long it computed, `pulls` and `backward` the same
    for its rules in reverse sweeps. `bytes` is the memory of its results and of the cotangents
    that its rules returned, without views.
    """

    name: str
    calls: int = 0
    forward: Seconds = Seconds(0)
    pulls: int = 0
    backward: Seconds = Seconds(0)
    bytes: Bytes = Bytes(0)

    @property
    def seconds(self) -> Seconds:
        """All time, forward and backward."""
        return Seconds(self.forward + self.backward)

    def plus(self, other: Cost) -> Cost:
        """Return the sum of two costs, under the name of this one."""
        return Cost(
            self.name,
            self.calls + other.calls,
            Seconds(self.forward + other.forward),
            self.pulls + other.pulls,
            Seconds(self.backward + other.backward),
            Bytes(self.bytes + other.bytes),
        )


class Profile(Watcher, Tables):
    """What a program spent its time on while it was watched. `profile` returns it.

    Attributes
    ----------
    seconds
        How long the ``with`` took.
    measured
        How much of that operations and rules took. The rest is Python's, the program's own and
        ours, some of which is the price of measuring.
    operations, lines
        A `Cost` for each operation and for each line of the program, most time first.
    """

    def __init__(self) -> None:
        self.seconds = Seconds(0)
        self._operations: dict[str, Cost] = {}
        self._lines: dict[str, Cost] = {}
        self._inner: list[float] = []  # for each operation that runs: the time of those inside
        self._took = 0.0  # the operation that ended last, without those inside
        self._started: float | None = None

    # -- measuring ----------------------------------------------------------------------

    def __enter__(self) -> Profile:
        if self._started is not None:
            raise TapeError("this profile is measuring already; write wg.profile() for another")
        self.start()
        self._started = perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        if self._started is not None:
            self.seconds = Seconds(self.seconds + perf_counter() - self._started)
        self._started = None
        self.stop()

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that notes how long it took, without what it had others do."""

        def call(*args: Any, **options: Any) -> Any:
            self._inner.append(0.0)
            start = perf_counter()
            try:
                return function(*args, **options)
            finally:
                took = perf_counter() - start
                self._took = took - self._inner.pop()
                if self._inner:
                    self._inner[-1] += took

        return call

    def computing(self, op: Op) -> Callable[..., Any]:
        """Return what computes an operation and takes the time."""
        return self._timed(super().computing(op))

    def made(
        self, op: Op, result: Any, raws: list[Any], nodes: list[Node | None], params: dict[str, Any]
    ) -> None:
        """Note how long an operation took, and have its nodes know their line."""
        super().made(op, result, raws, nodes, params)
        line = here()
        results = tensors_in(result)
        for tensor in results:
            node = tensor._node
            while node is not None and not hasattr(node, "code"):
                node.code, node.last = line
                node = node.parent if node.op is OUTPUT else None
        size = _new_bytes((t._raw for t in results), raws)
        self._add(op.name, line.location, Cost("", 1, Seconds(self._took), bytes=size))

    def pulling(self, op: Op) -> Callable[..., Any]:
        """Return what answers for an operation in a sweep and takes the time."""
        inner = super().pulling(op)
        timed = self._timed(lambda *args: list(inner(*args)))

        def pull(xp: Any, g: Any, node: Node, edges: Any, sweep: Any = None) -> list[Any]:
            parts: list[Any] = timed(xp, g, node, edges)
            size = _new_bytes(parts, [g])
            cost = Cost("", 0, Seconds(0), 1, Seconds(self._took), size)
            whole = node.parent if node.op is OUTPUT and node.parent else node
            self._add(name_of_node(whole), line_of_node(node), cost)
            return parts

        return pull

    def _add(self, operation: str, line: str, cost: Cost) -> None:
        for costs, name in ((self._operations, operation), (self._lines, line or "(unknown)")):
            costs[name] = costs.get(name, Cost(name)).plus(cost)

    # -- results ------------------------------------------------------------------------

    @property
    def operations(self) -> list[Cost]:
        """What each operation has cost."""
        return sorted(self._operations.values(), key=lambda cost: -cost.seconds)

    @property
    def lines(self) -> list[Cost]:
        """What each line of the program has cost."""
        return sorted(self._lines.values(), key=lambda cost: -cost.seconds)

    @property
    def measured(self) -> Seconds:
        """The time of all operations and rules."""
        return Seconds(sum(cost.seconds for cost in self._operations.values()))

    def tables(self) -> list[Table]:
        """Return the tables that it prints as."""
        if not self._operations:
            what = "nothing was measured; write `with wg.profile() as p:` around the program"
            return [Table(what, (), ())]
        title = f"{self.measured} in operations and rules, of {self.seconds}"
        return [
            _table(title, "operation", self.operations),
            _table("", "line", self.lines),
        ]


def profile() -> Profile:
    """Return a context that measures how long operations and their rules take.

    Each operation is some microseconds slower than usual. That time is not counted, so what is
    measured is what the arrays cost; on a GPU it is the time to launch kernels. Only this thread
    (or async task) is measured.

    Examples
    --------
    >>> import wengert as wg
    >>> with wg.profile() as p:
    ...     g = wg.grad(lambda x: wg.sum(wg.exp(x) * x))(wg.ones(1000))
    >>> [(cost.name, cost.calls, cost.pulls) for cost in sorted(p.operations)]
    [('exp', 1, 1), ('multiply', 1, 1), ('sum', 1, 1)]
    >>> p.measured < p.seconds
    True
    """
    return Profile()


def _table(title: str, what: str, costs: list[Cost]) -> Table:
    header = (what, "calls", "forward", "pulls", "backward", "bytes")
    rows = [tuple(cost) for cost in costs[:SHOWN]]
    left = len(costs) - len(rows)
    if left:
        total = Cost(f"{left} more")
        for cost in costs[SHOWN:]:
            total = total.plus(cost)
        rows.append(tuple(total))
    return Table(title, header, rows)


def _new_bytes(arrays: Iterable[Any], given: Iterable[Any]) -> Bytes:
    """Return the memory of arrays that are no views of those given."""
    known = dict(map(owner_of, _arrays(given)))
    made = dict(map(owner_of, _arrays(arrays)))
    return Bytes(sum(size for key, size in made.items() if key not in known))


def _arrays(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if type(value) is list:  # cotangents of several results
            yield from _arrays(value)
            continue
        value = value.values if type(value) is Block else value
        raw = getattr(value, "_raw", value)
        if hasattr(raw, "dtype"):
            yield raw
