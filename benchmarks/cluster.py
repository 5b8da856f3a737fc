"""Gradients on a cluster of Dask's: `python -m benchmarks.cluster [--rows N] [--workers N] ...`.

Logistic regression, with one partition of the rows for each worker, on processes of this machine.
The gradient must be that of one machine to 1e-12, also where a worker is killed in the middle of a
step. What a step costs beyond the work itself is its time on the wall over the time that the tasks
of the slowest worker took, which the workers measure around each task.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg

#: How far the gradient may be from that of one machine, and how much longer a step may take than
#: its slowest worker.
TOLERANCE, MOST_OVERHEAD = 1e-12, 0.30


def loss(w: Any, x: Any, y: Any) -> Any:
    """Return the mean logistic loss of rows with labels -1 and 1."""
    return wg.mean(wg.logaddexp(0.0, -y * (x @ w)))


def partition(number: int, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and labels of a partition, the same ones each time."""
    random = np.random.default_rng(number)
    x = random.standard_normal((rows, columns))
    return x, np.where(x[:, 0] + random.standard_normal(rows) > 0, 1.0, -1.0)


def partitions(rows: int, count: int) -> list[int]:
    """Return how many rows each partition has; they are uneven."""
    cuts = np.round(rows * np.linspace(0, 1, count + 1) ** 0.95).astype(int)
    return np.diff(cuts).tolist()


def measured(client: Any, step: Callable[[], Any]) -> tuple[float, float]:
    """Return the seconds of a step on the wall, and those of its slowest worker's tasks."""
    import distributed

    with distributed.get_task_stream(client=client) as stream:
        start = time.perf_counter()
        step()
        wall = time.perf_counter() - start
    work: dict[str, float] = defaultdict(float)
    for task in stream.data:
        for span in task["startstops"]:
            if span["action"] == "compute":
                work[task["worker"]] += span["stop"] - span["start"]
    return wall, max(work.values())


def killer(client: Any, after: float) -> threading.Timer:
    """Return a timer that kills the process of one worker."""
    import psutil

    pid = next(iter(client.run(os.getpid).values()))
    return threading.Timer(after, psutil.Process(pid).kill)


def error(found: Any, expected: Any) -> float:
    """Return how far value and gradient are off, in relation to the largest element."""
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(found, expected, strict=True)]
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)


def run(rows: int, columns: int, workers: int, steps: int) -> int:
    """Print what was measured; return 1 if a limit was not kept."""
    import dask
    import distributed

    sizes = partitions(rows, workers)
    w = np.linspace(-1.0, 1.0, columns)
    with (
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=None,
            silence_logs="CRITICAL",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        load = dask.delayed(partition, pure=True)
        data = client.persist([load(i, n, columns) for i, n in enumerate(sizes)])
        distributed.wait(data)

        def on_partition(w: Any, rows_and_labels: Any) -> Any:
            return loss(w, *rows_and_labels)

        gradient = wg.dask.value_and_grad(on_partition, client=client)
        found = gradient(w, data)
        samples = [measured(client, lambda: gradient(w, data)) for _ in range(steps)]
        timer = killer(client, after=samples[-1][0] / 3)
        start = time.perf_counter()
        timer.start()
        survived = gradient(w, data)
        took = time.perf_counter() - start
        timer.join()
    whole = [
        np.concatenate(p)
        for p in zip(*(partition(i, n, columns) for i, n in enumerate(sizes)), strict=True)
    ]
    expected = wg.value_and_grad(loss)(w, *whole)
    overhead = statistics.median(wall / work for wall, work in samples) - 1
    wall, work = (statistics.median(each) for each in zip(*samples, strict=True))
    errors = [error(found, expected), error(survived, expected)]
    print(f"{rows:,} x {columns} rows over {workers} workers: {sizes}")
    print(f"a step: {wall * 1e3:.0f} ms, its slowest worker's tasks {work * 1e3:.0f} ms")
    print(f"overhead: {overhead:.1%}, at most {MOST_OVERHEAD:.0%}")
    print(f"error: {errors[0]:.1e}; with a worker killed: {errors[1]:.1e}, and {took * 1e3:.0f} ms")
    return int(overhead > MOST_OVERHEAD or max(errors) > TOLERANCE)


def main() -> int:
    """Run with the sizes of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--steps", type=int, default=11)
    options = parser.parse_args()
    return run(options.rows, options.columns, options.workers, options.steps)


if __name__ == "__main__":
    sys.exit(main())
