"""Derivatives on a cluster of Dask's: gradients over partitions, Jacobians in shares of sweeps.

Dask moves data, finds workers and does again what a lost worker had; this module cuts the work into
tasks and puts the results together. `wg.grad` of a function of Dask arrays needs none of it: it is
a lazy Dask array by itself. See docs/cluster.md.
"""

from __future__ import annotations

import contextlib
import functools
import math
import operator
import pickle
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

try:
    import dask
    import dask.array
    import dask.base
    from dask.callbacks import Callback
    from dask.delayed import Delayed
    from dask.system import CPU_COUNT
    from dask.utils import parse_bytes
except ImportError as error:
    raise ImportError(
        f"wengert.dask computes with Dask, and {error.name or 'a part of it'} is not installed: "
        "pip install 'wengert[dask]'"
    ) from error

import numpy as np

from wengert.engine.tensor import Tensor
from wengert.errors import DtypeError, ShapeError, WengertError, name_of
from wengert.explain.progress import bar
from wengert.ops.variable import Variable
from wengert.transforms import gradients, shares
from wengert.transforms.sparse.plans import Plan
from wengert.trees import flatten, map_leaves

__all__ = ["ClusterError", "distribute", "jacobian", "value_and_grad"]

REDUCTIONS = ("mean", "sum")
#: How many results one task adds up.
FAN_IN = 8
#: For so many seconds a cluster may be without workers, or its scheduler silent.
PATIENCE = 15.0
#: The seconds between two looks at how far the work is, for a bar.
INTERVAL = 0.1
#: Dask warns about what is sent with a graph from this size on.
_LARGE = "distributed.admin.large-graph-warning-threshold"


class ClusterError(WengertError, RuntimeError):
    """A cluster cannot do the work: its client, its scheduler or its workers are gone."""


# -- gradients over partitions ------------------------------------------------------------------


def value_and_grad(
    loss: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    reduction: str = "mean",
    client: Any = None,
    progress: bool = False,
) -> Callable[..., Any]:
    """Return a function that gives (value, gradient) of a loss over the rows of partitioned data.

    Arguments of the returned function that are Dask arrays, or lists of delayed partitions or
    futures, are data. The loss is called with one partition of each at a time, on the worker that
    has it; results are added up in a tree. All other arguments are sent once in a call.

    Parameters
    ----------
    loss
        Returns one number: the mean over the rows it is given, or with ``reduction="sum"`` the sum;
        with `has_aux`, (number, aux), and what comes back is a list of aux, one for each partition.
    argnums
        Which positional arguments to differentiate with respect to, as for `wg.value_and_grad`;
        these are no data.
    reduction
        "mean": a partition counts by its number of rows. "sum": partitions are added, and so is
        what the loss adds to each, such as a penalty on parameters.
    client
        A `distributed.Client`. By default that of the futures, or what Dask computes with: the
        last client that was made, else threads of this process.
    progress
        Whether to show a bar that counts partitions.

    Examples
    --------
    >>> import dask.array as da, numpy as np, wengert as wg
    >>> def loss(w, x, y):
    ...     return wg.mean((x @ w - y) ** 2)
    >>> x, y = da.ones((5, 2), chunks=(3, 2)), da.arange(5.0, chunks=3)
    >>> wg.dask.value_and_grad(loss)(np.zeros(2), x, y)
    (np.float64(6.0), array([-4., -4.]))
    """
    what = f"dask.value_and_grad({name_of(loss)})"
    if reduction not in REDUCTIONS:
        raise ValueError(f"{what}: reduction is {reduction!r}; expected 'mean' or 'sum'")

    @functools.wraps(loss)
    def with_gradient(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        given = _by_slot(args, kwargs)
        found = {
            slot: partitions
            for slot, value in given.items()
            if (partitions := _partitions(value, f"{what}: {_argument(slot)}")) is not None
        }
        _check_data(what, found, argnums, given)
        runner = _client_for(client, what, [p for parts in found.values() for p in parts])
        step = _Step(
            what, loss, argnums, has_aux, tuple(found),
            tuple(given[s].dtype if _is_array(given[s]) else None for s in found),
            tuple(None if i in found else _sent(a, what) for i, a in enumerate(args)),
            {k: None if k in found else _sent(v, what) for k, v in kwargs.items()},
        )  # fmt: skip
        shared = _delayed(step, pure=False, traverse=False)
        tasks = [
            _task(_gradient_of_partition, "gradient-partition", i, shared, *partitions)
            for i, partitions in enumerate(zip(*found.values(), strict=True))
        ]
        level = tasks
        while len(level) > 1 or level is tasks:
            level = [
                _task(_sum, "gradient-sum", i, what, reduction, level[i : i + FAN_IN])
                for i in range(0, len(level), FAN_IN)
            ]
        size = _bytes(step.args, step.kwargs)
        total = _computed(level, tasks, runner, progress, what, size)[0]
        return (total.value, total.aux) if has_aux else total.value, total.gradient

    return with_gradient


@dataclass(frozen=True, eq=False)
class _Step:
    """What all partitions of one call share; it is sent as one object."""

    what: str
    loss: Callable[..., Any]
    argnums: int | Sequence[int]
    has_aux: bool
    slots: tuple[int | str, ...]  # the data arguments: positions and keywords
    dtypes: tuple[Any, ...]  # what Dask says about their dtypes, if it does
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True, eq=False)
class _Total:
    """Value and gradient over some partitions, of which `first` is the first."""

    value: Any
    gradient: Any
    aux: list[Any]
    rows: int
    kinds: tuple[Any, ...]  # dtype and shape of a row, for all arrays of all data arguments
    first: int


def _gradient_of_partition(number: int, step: _Step, *partitions: Any) -> _Total:
    rows, kinds = _rows_and_kinds(step, number, partitions)
    args, kwargs = list(step.args), dict(step.kwargs)
    for slot, partition in zip(step.slots, partitions, strict=True):
        if isinstance(slot, int):
            args[slot] = partition
        else:
            kwargs[slot] = partition
    function = gradients.value_and_grad(step.loss, step.argnums, step.has_aux)
    try:
        value, gradient = function(*args, **kwargs)
    except Exception as error:
        error.add_note(f"{step.what}: this was raised for partition {number}")
        raise
    aux = None
    if step.has_aux:
        value, aux = value
    return _Total(value, gradient, [aux], rows, kinds, number)


def _rows_and_kinds(step: _Step, number: int, partitions: Sequence[Any]) -> tuple[int, Any]:
    """Return how many rows a partition has, and what they are; raises if they do not fit."""
    counts, kinds = [], []
    for slot, partition, dtype in zip(step.slots, partitions, step.dtypes, strict=True):
        where = f"{step.what}: partition {number} of {_argument(slot)}"
        leaves = flatten(partition)[0]
        for leaf in leaves:
            if not hasattr(leaf, "dtype") or not getattr(leaf, "shape", ()):
                raise TypeError(
                    f"{where} is or has {type(leaf).__name__}; expected arrays with rows as their "
                    "first axis, or a nest of such arrays"
                )
            if dtype is not None and leaf.dtype != dtype:
                raise DtypeError(
                    f"{where} has dtype {leaf.dtype}, and the Dask array is said to have {dtype}; "
                    f"make all partitions {dtype} where they are loaded"
                )
            counts.append(leaf.shape[0])
            kinds.append((str(leaf.dtype), tuple(leaf.shape[1:])))
        if not leaves or not leaves[0].shape[0]:
            raise ShapeError(
                f"{where} has no rows, so it has no loss; leave it out, or write "
                "x.rechunk(...) for a Dask array"
            )
    if len({*counts}) > 1:
        each = ", ".join(map(str, counts))
        raise ShapeError(
            f"{step.what}: the data arguments have {each} rows in partition {number}; expected the "
            "same number in each"
        )
    return counts[0], tuple(kinds)


def _sum(number: int, what: str, reduction: str, totals: list[_Total]) -> _Total:
    """Return the sum over some partitions; for means, the mean over all of their rows."""
    head = totals[0]
    for total in totals:
        if total.kinds != head.kinds:
            raise DtypeError(
                f"{what}: partition {total.first} has {_described(total.kinds)}, and "
                f"partition {head.first} has {_described(head.kinds)}; partitions must be alike"
            )
    rows = sum(t.rows for t in totals)
    # fractions, not counts: a sum over rows would overflow where their mean does not
    weights = [t.rows / rows if reduction == "mean" else 1.0 for t in totals]

    def added(values: Sequence[Any]) -> Any:
        return functools.reduce(
            operator.add, [v if w == 1.0 else v * w for v, w in zip(values, weights, strict=True)]
        )

    nests = [flatten(t.gradient) for t in totals]
    leaves = [added(same) for same in zip(*(leaves for leaves, _ in nests), strict=True)]
    return _Total(
        added([t.value for t in totals]),
        nests[0][1](leaves),
        [aux for t in totals for aux in t.aux],
        rows,
        head.kinds,
        head.first,
    )


def _described(kinds: Sequence[Any]) -> str:
    return " and ".join(f"{dtype} rows of shape {shape}" for dtype, shape in kinds)


# -- data arguments -----------------------------------------------------------------------------


def _by_slot(args: Sequence[Any], kwargs: dict[str, Any]) -> dict[int | str, Any]:
    """Return arguments by their positions and keywords."""
    slots: dict[int | str, Any] = dict(enumerate(args))
    slots.update(kwargs)
    return slots


def _argument(slot: int | str) -> str:
    return f"argument {slot}" if isinstance(slot, int) else f"argument {slot!r}"


def _is_array(value: Any) -> bool:
    return isinstance(value, dask.array.Array)


def _is_future(value: Any) -> bool:
    module = sys.modules.get("distributed")  # nobody has a future who has not imported it
    return module is not None and isinstance(value, module.Future)


def _is_client(value: Any) -> bool:
    module = sys.modules.get("distributed")
    return module is not None and isinstance(value, module.Client)


def _partitions(value: Any, where: str) -> list[Any] | None:
    """Return the partitions of a data argument; None for any other argument."""
    if _is_array(value):
        if not value.ndim or any(n > 1 for n in value.numblocks[1:]):
            raise ShapeError(
                f"{where} is a Dask array with chunks {value.chunks}; a partition is some whole "
                "rows, so chunk the first axis only: x.rechunk({0: 'auto', 1: -1})"
            )
        return list(value.to_delayed().ravel())
    if isinstance(value, np.ndarray) and value.dtype == object:  # as x.to_delayed() returns
        value = value.ravel().tolist()
    if isinstance(value, (list, tuple)) and value:
        are = [isinstance(v, Delayed) or _is_future(v) for v in value]
        if all(are):
            return list(value)
        if any(are):
            odd = value[are.index(False)]
            raise TypeError(
                f"{where} is a {type(value).__name__} of {sum(are)} partitions and, at "
                f"{are.index(False)}, {type(odd).__name__}; expected delayed objects or futures"
            )
        return None
    if _is_future(value) or dask.base.is_dask_collection(value):
        raise TypeError(
            f"{where} is {type(value).__name__}; expected a Dask array or a list of partitions: "
            "[part] for a single one, x.to_delayed() or x.to_dask_array() for a data frame"
        )
    return None


def _check_data(
    what: str,
    found: dict[int | str, list[Any]],
    argnums: int | Sequence[int],
    given: dict[int | str, Any],
) -> None:
    """Raise unless there are data, in partitions that belong together, besides parameters."""
    if not found:
        raise TypeError(
            f"{what}: no argument is a Dask array or a list of delayed partitions or futures; for "
            "arrays in memory write wg.value_and_grad"
        )
    positional = sum(isinstance(slot, int) for slot in given)
    for position in (argnums,) if isinstance(argnums, int) else argnums:
        if positional and position % positional in found:
            raise TypeError(
                f"{what}: argnums={argnums} names argument {position}, which is partitioned data; "
                "for a lazy gradient with respect to a Dask array write wg.grad"
            )
    (first, parts), *others = found.items()
    for slot, more in others:
        if len(more) != len(parts):
            raise ShapeError(
                f"{what}: {_argument(first)} has {len(parts)} partitions and {_argument(slot)} has "
                f"{len(more)}; expected the same number, with the same rows in each"
            )
    known = {slot: given[slot].chunks[0] for slot in found if _is_array(given[slot])}
    for slot, rows in known.items():
        head, expected = next(iter(known.items()))
        for number, (a, b) in enumerate(zip(expected, rows, strict=True)):
            if a != b and not math.isnan(a) and not math.isnan(b):  # nan: counted on the worker
                raise ShapeError(
                    f"{what}: partition {number} has {a} rows in {_argument(head)} and {b} in "
                    f"{_argument(slot)}; write y.rechunk(...) so that rows are cut at the same "
                    "places"
                )


def _sent(value: Any, what: str) -> Any:
    """Return an argument as workers get it: values, which no tape there knows."""

    def plain(leaf: Any) -> Any:
        if isinstance(leaf, Variable):
            leaf = leaf.value()
        if type(leaf) is Tensor and gradients.is_traced(leaf):
            leaf._cut(what)  # which warns or raises
        return leaf

    return map_leaves(plain, value)


def _bytes(args: Sequence[Any], kwargs: dict[str, Any]) -> int:
    """Return about how much the arrays in arguments take."""
    leaves = flatten([list(args), kwargs])[0]
    return sum(int(getattr(getattr(leaf, "_raw", leaf), "nbytes", 0)) for leaf in leaves)


# -- Jacobians and sparse plans -----------------------------------------------------------------


def jacobian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    mode: str = "auto",
    of: Any = None,
    wrt: Any = None,
    chunk_size: int | str | None = "auto",
    *,
    tasks: int | None = None,
    client: Any = None,
    progress: bool = False,
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of `fun`, with its sweeps done by workers.

    Each task computes `fun` once and does its share of the sweeps, for some rows of the Jacobian
    or, in forward mode, for some columns. Other parameters and the result are those of
    `wg.jacobian`; `client` is that of `value_and_grad`.

    Parameters
    ----------
    tasks
        How many shares there are; by default two for each thread of the workers.
    progress
        Whether to show a bar that counts shares.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> wg.dask.jacobian(lambda x: x[::-1] ** 2)(np.array([1.0, 2.0]))
    array([[0., 4.],
           [2., 0.]])
    """
    work = shares.Jacobian(fun, argnums, mode, of, wrt, chunk_size)
    return functools.wraps(fun)(_spread(work, tasks, client, progress))


def distribute(
    plan: Plan, *, tasks: int | None = None, client: Any = None, progress: bool = False
) -> Callable[..., Any]:
    """Return a function like a sparse plan, from arguments to a matrix, with sweeps on workers.

    The plan is sent to the workers once. Each task computes the plan's function once and does the
    sweeps for some of its colours, so this pays for plans of many sweeps; see `jacobian` for the
    other parameters.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> plan = wg.sparse.jacobian(lambda x: x[1:] * x[:-1], np.ones(3))
    >>> wg.dask.distribute(plan)(np.array([1.0, 2.0, 3.0])).toarray()
    array([[2., 1., 0.],
           [0., 3., 2.]])
    """
    if not isinstance(plan, Plan):
        raise TypeError(
            f"dask.distribute: got {type(plan).__name__}; expected a plan, from wg.sparse.jacobian "
            "or wg.sparse.hessian"
        )
    spread = _spread(shares.Matrix(plan), tasks, client, progress)

    def matrix(*args: Any) -> Any:
        return spread(*args)

    return matrix


def _spread(
    work: shares.Jacobian | shares.Matrix, tasks: int | None, client: Any, progress: bool
) -> Callable[..., Any]:
    what = f"dask.{work.name}"
    if tasks is not None and (type(tasks) is not int or tasks < 1):
        raise ValueError(f"{what}: tasks is {tasks!r}; expected a positive number")
    kept: dict[str, Any] = {}

    def at(*args: Any, **kwargs: Any) -> Any:
        for slot, value in _by_slot(args, kwargs).items():
            if any(map(dask.base.is_dask_collection, flatten(value)[0])):
                raise TypeError(
                    f"{what}: {_argument(slot)} is a Dask collection; expected arrays in memory, "
                    "which are sent to the workers: write x.compute()"
                )
        runner = _client_for(client, what, [])
        there = _delayed(work, pure=False, traverse=False) if runner is None else None
        if runner is not None:
            there = kept.get(runner.id)
            if there is None or there.cancelled():
                with _large(2**40), _sending(what):  # a plan, once
                    # a task, not scattered data: a task can be run again
                    there = runner.submit(_same, work, pure=False)
                kept.clear()
                kept[runner.id] = there
        count = tasks or 2 * _threads(runner, what)
        sent = _Arguments(
            tuple(_sent(a, what) for a in args), {k: _sent(v, what) for k, v in kwargs.items()}
        )
        arguments = _delayed(sent, pure=False, traverse=False)
        parts = [_task(_share, "share", i, count, there, arguments) for i in range(count)]
        size = _bytes(sent.args, sent.kwargs)
        return work.join(_computed(parts, parts, runner, progress, what, size), args, kwargs)

    return at


@dataclass(frozen=True, eq=False)
class _Arguments:
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _same(work: Any) -> Any:
    return work


def _share(number: int, count: int, work: Any, arguments: _Arguments) -> Any:
    return work.share(arguments.args, arguments.kwargs, number, count)


# -- clusters -----------------------------------------------------------------------------------

_delayed: Any = dask.delayed


def _task(function: Callable[..., Any], name: str, number: int, *args: Any) -> Any:
    """Return a task that computes function(number, *args), by a name that dashboards show."""
    key = f"{name}-{number}-{uuid.uuid4().hex}"
    return _delayed(function, pure=False, traverse=False)(number, *args, dask_key_name=key)


def _client_for(client: Any, what: str, partitions: Sequence[Any]) -> Any:
    """Return the client to compute with, or None for a scheduler of this process."""
    futures = [p for p in partitions if _is_future(p)]
    if client is None and futures:
        client = futures[0].client
    if client is None:
        client = getattr(dask.base.get_scheduler(), "__self__", None)
        if not _is_client(client):
            return None
    if not _is_client(client):
        raise TypeError(
            f"{what}: client is {type(client).__name__}; expected a distributed.Client, such as "
            'Client("tcp://host:8786", timeout=5)'
        )
    if client.asynchronous:
        raise TypeError(f"{what}: the client is asynchronous; expected one that waits for results")
    if client.status != "running":
        _no_scheduler(client, what)
    for number, future in enumerate(futures):
        if future.client is not client:
            raise ClusterError(
                f"{what}: future {number} of the data belongs to another client, or one that was "
                "closed; compute the partitions with the client that is given"
            )
    return client


def _no_scheduler(client: Any, what: str, cause: BaseException | None = None) -> NoReturn:
    address = getattr(client.scheduler, "address", None) or "its address"
    if client.status in ("closed", "closing"):
        raise ClusterError(
            f"{what}: the client is closed, and so is its cluster or the connection to it; make "
            "another Client, and load the data with it"
        ) from cause
    raise ClusterError(
        f"{what}: the scheduler at {address} does not answer; see whether it still runs, and make "
        "another Client"
    ) from cause


def _threads(client: Any, what: str) -> int:
    if client is None:
        return CPU_COUNT
    try:
        threads = sum(client.nthreads(callback_timeout=PATIENCE).values())
    except (OSError, TimeoutError) as error:
        _no_scheduler(client, what, error)
    return max(1, threads)


@contextlib.contextmanager
def _large(size: int) -> Iterator[None]:
    """Let arguments be large: they are sent once, and Dask's warning is about other data."""
    limit = parse_bytes(dask.config.get(_LARGE, "10MB"))
    with dask.config.set({_LARGE: limit + size}):
        yield


@contextlib.contextmanager
def _sending(what: str) -> Iterator[None]:
    """Say what is wrong where a function or an argument cannot be sent."""
    try:
        yield
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        cause = error.__cause__ or error.__context__ or error
        raise TypeError(
            f"{what}: the function or an argument cannot be sent to another process ({cause}); "
            "leave out locks, open files, generators and the like"
        ) from error


def _computed(
    wanted: list[Any], counted: list[Any], client: Any, progress: bool, what: str, size: int
) -> list[Any]:
    """Return the values of tasks, with a bar that counts some."""
    with bar(len(counted), what) if progress else contextlib.nullcontext() as shown:
        if client is None:
            with _counting({task.key for task in counted}, shown):
                return list(dask.compute(*wanted))
        with _large(size), _sending(what):
            futures = client.compute([*wanted, *(counted if progress else [])])
        results, others = futures[: len(wanted)], futures[len(wanted) :]

        def show() -> None:
            if shown is not None:
                shown.update(sum(f.done() for f in others) - shown.n)

        return _gathered(client, results, what, show, INTERVAL if progress else PATIENCE / 3)


def _counting(keys: set[Any], bar: Any) -> Any:
    """Return a context in which a bar counts tasks of a scheduler of this process."""
    if bar is None:
        return contextlib.nullcontext()
    return Callback(posttask=lambda key, *_: bar.update(key in keys))


def _gathered(
    client: Any, futures: list[Any], what: str, show: Callable[[], None], interval: float
) -> list[Any]:
    """Return results, or raise what a task raised; `show` is called from time to time."""
    from distributed.client import CancelledError
    from distributed.scheduler import KilledWorker

    try:
        _wait(client, futures, what, show, interval)
        results = list(client.gather(futures))
        show()
        return results
    except KilledWorker as error:
        raise ClusterError(
            f"{what}: task {error.task!r} ran on {error.allowed_failures + 1} workers, and each of "
            "them died; it may need more memory than a worker has, so make partitions smaller"
        ) from error
    except CancelledError as error:
        if client.status != "running":
            _no_scheduler(client, what, error)
        raise ClusterError(
            f"{what}: the step needs data that were cancelled or lost: {error}. Scattered data of "
            "a worker that died cannot be computed again, so load partitions by tasks: "
            "dask.delayed, client.submit or a Dask array"
        ) from error
    except OSError:  # of a task, or of the connection
        if client.status != "running":
            _no_scheduler(client, what)
        raise


def _wait(
    client: Any, futures: list[Any], what: str, show: Callable[[], None], interval: float
) -> None:
    """Return when results are there; where nobody will compute them, raise soon."""
    from distributed import wait

    last_seen = time.monotonic()
    while True:
        with contextlib.suppress(TimeoutError), client.as_current():
            wait(futures, timeout=interval)
            return
        show()
        try:
            workers = client.nthreads(callback_timeout=PATIENCE)
        except (OSError, TimeoutError) as error:
            _no_scheduler(client, what, error)
        now = time.monotonic()
        if workers:
            last_seen = now
        elif now - last_seen >= PATIENCE:
            raise ClusterError(
                f"{what}: the cluster has had no workers for {PATIENCE:.0f} seconds; start some, "
                "and write client.wait_for_workers(1) where that takes long"
            )
