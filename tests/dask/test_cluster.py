"""A cluster of three processes: the numbers of one machine, also when a worker is killed."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as wg

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")

from wengert import dask as cluster  # noqa: E402

TIGHT = {"rtol": 1e-12, "atol": 1e-12}
#: How long a test waits for another process before it fails.
LIMIT = 120.0
CHUNKS = (70, 20, 10, 55)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=3,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # None would be 8787, which others may use
            memory_limit=None,
            silence_logs="CRITICAL",  # or each worker that is killed gets some lines
            local_directory=str(tmp_path_factory.mktemp("workers")),
        ) as workers,
        distributed.Client(workers, set_as_default=False) as client,
    ):
        yield client


def loaded(number: int) -> np.ndarray:
    """Return the rows of a partition, the same ones each time."""
    return np.random.default_rng(number).normal(size=(CHUNKS[number], 4))


def rows() -> tuple[Any, np.ndarray]:
    """Return a Dask array that is loaded by tasks, and the same in memory."""
    load = dask.delayed(loaded)
    parts = [da.from_delayed(load(i), (n, 4), np.float64) for i, n in enumerate(CHUNKS)]
    return da.concatenate(parts), np.concatenate([loaded(i) for i in range(len(CHUNKS))])


def logistic(w: Any, x: Any) -> Any:
    return wg.mean(wg.logaddexp(0.0, -(x @ w["w"] + w["b"]))) + 0.1 * wg.sum(w["w"] ** 2)


PARAMETERS = {"w": np.array([0.3, -1.0, 0.5, 2.0]), "b": 0.25}


def check_step(found: Any, expected: Any) -> None:
    (value, gradient), (wanted, wanted_gradient) = found, expected
    np.testing.assert_allclose(value, wanted, **TIGHT)
    assert gradient.keys() == wanted_gradient.keys()
    for name in gradient:
        np.testing.assert_allclose(gradient[name], wanted_gradient[name], **TIGHT)


# -- gradients ------------------------------------------------------------------------------------


def test_the_gradient_over_uneven_partitions_is_that_of_one_machine(client: Any) -> None:
    lazy, whole = rows()
    expected = wg.value_and_grad(logistic)(PARAMETERS, whole)
    step = cluster.value_and_grad(logistic, client=client)
    check_step(step(PARAMETERS, lazy), expected)
    held = client.persist(lazy)
    for _ in range(2):
        check_step(step(PARAMETERS, held), expected)
    futures = client.map(loaded, range(len(CHUNKS)))
    check_step(cluster.value_and_grad(logistic)(PARAMETERS, futures), expected)


def test_partitions_are_computed_on_the_workers_that_have_them(client: Any) -> None:
    client.wait_for_workers(3, timeout=LIMIT)
    places = [*client.nthreads()]
    # some megabytes, which it would be dear to move
    futures = [client.submit(np.ones, (200_000, 4), workers=[p], pure=False) for p in places]

    def loss(w: Any, x: Any) -> Any:
        return wg.sum(x @ w), distributed.get_worker().address

    step = cluster.value_and_grad(loss, has_aux=True, reduction="sum", client=client)
    (value, addresses), _ = step(np.ones(4), futures)
    assert value == 3 * 200_000 * 4
    assert addresses == places


def test_what_is_sent_is_sent_once_in_a_step(client: Any, tmp_path: Path) -> None:
    """Scheduler and workers unpickle the arguments once each, however many partitions there are."""

    class Counted:
        factor = 2.0

        def __init__(self, folder: str) -> None:
            import uuid
            from pathlib import Path

            self.folder = folder
            (Path(folder) / uuid.uuid4().hex).touch()

        def __reduce__(self) -> Any:
            return type(self), (self.folder,)

    x = da.ones((40, 2), chunks=(2, 2))
    step = cluster.value_and_grad(lambda w, x, c: wg.mean(x @ w) * c.factor, client=client)
    value, _ = step(np.ones(2), x, Counted(str(tmp_path)))
    assert value == pytest.approx(4.0)
    made = len(list(tmp_path.iterdir()))
    assert 3 <= made <= 8, "one here, and one on the scheduler and on each worker"


def test_large_parameters_are_sent_without_a_warning(client: Any) -> None:
    w = np.ones(1_500_000)  # Dask warns from 10 MB on
    x = da.ones((4, 3), chunks=(2, 3))
    step = cluster.value_and_grad(lambda w, x: wg.mean(x) * wg.sum(w), client=client)
    _, gradient = step(w, x)
    np.testing.assert_allclose(gradient, np.ones(len(w)))


def test_bars_count_partitions_to_the_end(client: Any, capsys: pytest.CaptureFixture[str]) -> None:
    lazy, _ = rows()
    cluster.value_and_grad(logistic, client=client, progress=True)(PARAMETERS, lazy)
    shown = capsys.readouterr().err
    assert "dask.value_and_grad(logistic): 100%" in shown and "4/4" in shown


def test_lazy_gradients_are_computed_by_the_cluster(client: Any) -> None:
    lazy, whole = rows()

    def total(x: Any) -> Any:
        return wg.sum(wg.tanh(x) ** 2)

    gradient = wg.grad(total)(client.persist(lazy))
    assert isinstance(gradient, da.Array) and gradient.chunks == lazy.chunks
    np.testing.assert_allclose(client.compute(gradient).result(), wg.grad(total)(whole), **TIGHT)


# -- Jacobians ------------------------------------------------------------------------------------


def residuals(x: Any) -> Any:
    return wg.sin(x[1:] * x[:-1]) + wg.sum(x) ** 2


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_jacobian_over_workers_is_that_of_one_machine(client: Any, mode: str) -> None:
    x = np.linspace(0.1, 2.0, 23)
    expected = wg.jacobian(residuals, mode=mode)(x)
    np.testing.assert_allclose(
        cluster.jacobian(residuals, mode=mode, client=client)(x), expected, **TIGHT
    )


def test_a_plan_over_workers_gives_the_matrices_of_one_machine(client: Any) -> None:
    x = np.linspace(0.1, 2.0, 30)
    plan = wg.sparse.hessian(lambda x: wg.sum(wg.sin(x[2:] * x[1:-1] * x[:-2])), x)
    assert plan.sweeps > 2
    far = cluster.distribute(plan, client=client)
    for point in (x, x**2):
        found, expected = far(point), plan(point)
        assert (found.indices == expected.indices).all()
        np.testing.assert_allclose(found.toarray(), expected.toarray(), **TIGHT)


# -- what is lost ---------------------------------------------------------------------------------


class Ambush:
    """Kills the first worker that says it is at work, while all that are wait for that."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.killed: list[int] = []
        self.thread = threading.Thread(target=self._wait_and_kill, daemon=True)

    def _wait_and_kill(self) -> None:
        until = time.monotonic() + LIMIT
        while not (found := sorted(self.folder.glob("*.pid"))):
            if time.monotonic() > until:
                return
            time.sleep(0.01)
        pid = int(found[0].stem.partition("-")[0])
        psutil.Process(pid).kill()
        self.killed.append(pid)
        (self.folder / "killed").touch()

    def __enter__(self) -> Ambush:
        self.thread.start()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.thread.join(LIMIT)

    def runs(self) -> int:
        """Return how many tasks have begun."""
        return len(list(self.folder.glob("*.pid")))


def slowed(function: Callable[..., Any], folder: str) -> Callable[..., Any]:
    """Return a function that says where it runs, and waits until a worker was killed."""

    def call(*args: Any) -> Any:
        import os
        import time
        import uuid
        from pathlib import Path

        place = Path(folder)
        (place / f"{os.getpid()}-{uuid.uuid4().hex}.pid").touch()
        for _ in range(12_000):
            if (place / "killed").exists():
                return function(*args)
            time.sleep(0.01)
        raise RuntimeError("nobody was killed")

    return call


def test_a_worker_that_is_killed_in_a_step_costs_time_only(client: Any, tmp_path: Path) -> None:
    lazy, whole = rows()
    held = client.persist(lazy)
    client.compute(held).result()
    with Ambush(tmp_path) as ambush:
        step = cluster.value_and_grad(slowed(logistic, str(tmp_path)), client=client)
        found = step(PARAMETERS, held)
    assert ambush.killed and not psutil.pid_exists(ambush.killed[0])
    assert ambush.runs() > len(CHUNKS)
    check_step(found, wg.value_and_grad(logistic)(PARAMETERS, whole))


def test_a_worker_that_is_killed_in_a_jacobian_costs_time_only(client: Any, tmp_path: Path) -> None:
    x = np.linspace(0.1, 2.0, 12)
    with Ambush(tmp_path) as ambush:
        found = cluster.jacobian(slowed(residuals, str(tmp_path)), tasks=5, client=client)(x)
    assert ambush.killed and ambush.runs() > 5
    np.testing.assert_allclose(found, wg.jacobian(residuals)(x), **TIGHT)


def test_data_that_nobody_can_compute_again_are_named(client: Any) -> None:
    futures = client.scatter([np.ones((2, 2)), np.ones((2, 2))])
    client.cancel(futures)
    with pytest.raises(cluster.ClusterError, match="cancelled or lost"):
        cluster.value_and_grad(lambda w, x: wg.mean(x @ w), client=client)(np.ones(2), futures)


def test_an_error_of_a_task_says_which_partition(client: Any) -> None:
    x = da.ones((6, 2), chunks=(2, 2))
    with pytest.raises(wg.ShapeError, match=r"returned shape \(2,\)") as caught:
        cluster.value_and_grad(lambda w, x: x @ w, client=client)(np.ones(2), x)
    assert "for partition" in caught.value.__notes__[0]


@pytest.mark.parametrize("made", [cluster.value_and_grad, cluster.jacobian])
def test_a_function_that_cannot_be_sent_is_named(client: Any, made: Any) -> None:
    lock = threading.Lock()

    def fun(w: Any, *args: Any) -> Any:
        with lock:
            return wg.sum(w)

    data = [] if made is cluster.jacobian else [[client.submit(np.ones, (2, 2))]]
    with pytest.raises(TypeError, match="(?s)cannot be sent to another process .*lock"):
        made(fun, client=client)(np.ones(2), *data)


@pytest.mark.parametrize("kind", [OSError, TimeoutError])
def test_errors_of_the_loss_come_as_they_are(client: Any, kind: Any) -> None:
    def loss(w: Any, x: Any) -> Any:
        raise kind("the disk is full")

    with pytest.raises(kind, match="the disk is full"):
        cluster.value_and_grad(loss, client=client)(np.ones(2), da.ones((2, 2), chunks=(2, 2)))


def test_a_closed_client_is_an_error(client: Any) -> None:
    other = distributed.Client(client.scheduler.address, set_as_default=False, timeout=10)
    futures = other.map(loaded, range(2))
    other.close()
    step = cluster.value_and_grad(logistic, client=other)
    with pytest.raises(cluster.ClusterError, match="the client is closed"):
        step(PARAMETERS, rows()[0])
    with pytest.raises(cluster.ClusterError, match="belongs to another client"):
        cluster.value_and_grad(logistic, client=client)(PARAMETERS, futures)


def test_a_cluster_without_workers_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 0.6)
    with (
        distributed.LocalCluster(
            n_workers=0, processes=False, dashboard_address="127.0.0.1:0"
        ) as empty,
        distributed.Client(empty, set_as_default=False) as client,
        # one that is too busy to answer for so short a time is the other error, and as quick
        pytest.raises(cluster.ClusterError, match="no workers for 1 sec|does not answer"),
    ):
        cluster.value_and_grad(logistic, client=client)(PARAMETERS, rows()[0])


def test_a_scheduler_that_is_silent_or_dead_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "scheduler.json")
    command = f"-m distributed.cli.dask_scheduler --no-dashboard --scheduler-file {file} "
    command += "--host 127.0.0.1 --port 0 --dashboard-address 127.0.0.1:0"
    scheduler = subprocess.Popen([sys.executable, *command.split()], stderr=subprocess.DEVNULL)
    try:
        with distributed.Client(scheduler_file=file, set_as_default=False, timeout=LIMIT) as far:
            step = cluster.value_and_grad(logistic, client=far)
            psutil.Process(scheduler.pid).suspend()
            monkeypatch.setattr(cluster, "PATIENCE", 0.6)
            with pytest.raises(cluster.ClusterError, match=r"127.0.0.1:\d+ does not answer"):
                step(PARAMETERS, rows()[0])
            monkeypatch.setattr(cluster, "PATIENCE", LIMIT)
            threading.Timer(0.2, scheduler.kill).start()
            with pytest.raises(cluster.ClusterError, match="does not answer|is closed"):
                step(PARAMETERS, rows()[0])
    finally:
        scheduler.kill()
        scheduler.wait(LIMIT)
