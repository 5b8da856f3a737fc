"""Processes of a DataLoader: errors, deaths and ends; none hangs and none is left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wengert.torch as torch

data = torch.utils.data
DataLoader, Dataset, IterableDataset = data.DataLoader, data.Dataset, data.IterableDataset

pytestmark = [
    # of Python's 3.12 and later, where NumPy or the tests' runner has threads
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    # of JAX, if another test has imported it
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
]


@pytest.fixture(autouse=True)
def _nobody_is_left() -> Iterator[None]:
    before = {process.pid for process in multiprocessing.active_children()}
    yield
    left = [p for p in multiprocessing.active_children() if p.pid not in before]
    assert not left


class Made(Dataset[Any]):
    """Samples that a function makes of their numbers."""

    def __init__(self, make: Any, count: int = 12) -> None:
        self.make, self.count = make, count

    def __getitem__(self, index: int) -> Any:
        return self.make(index)

    def __len__(self) -> int:
        return self.count


class OwnError(Exception):
    """An error whose class takes two values."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(what, why)


def fails(error: Any) -> Any:
    """Return a function that raises an error for one sample."""

    def make(index: int) -> int:
        if index == 3:
            raise error
        return index

    return make


@pytest.mark.parametrize("error", [ValueError("no 3"), KeyError("three"), OSError(5, "no 3")])
def test_errors_come_as_what_they_are(error: Exception) -> None:
    with pytest.raises(type(error), match="(?s)worker 1 of the DataLoader.*in make.*raise error"):
        list(DataLoader(Made(fails(error)), batch_size=2, num_workers=2))


@pytest.mark.parametrize("kind", ["of two values", "of a function"])
def test_errors_that_cannot_be_sent_say_what_they_were(kind: str) -> None:
    class Local(Exception):
        pass

    error = OwnError("a", "b") if kind == "of two values" else Local("c")
    with pytest.raises(RuntimeError, match=f"(?s)worker 0.*{type(error).__name__}"):
        list(DataLoader(Made(fails(error)), num_workers=1))


def test_a_round_goes_on_after_an_error() -> None:
    batches = iter(DataLoader(Made(fails(ValueError())), num_workers=2))
    found = []
    while True:
        try:
            found.append(next(batches).item())
        except ValueError:
            found.append(None)
        except StopIteration:
            break
    assert found == [0, 1, 2, None, 4, 5, 6, 7, 8, 9, 10, 11]


def test_a_worker_that_cannot_be_set_up_is_an_error() -> None:
    def set_up(number: int) -> None:
        raise LookupError(number)

    with pytest.raises(LookupError, match="(?s)worker 0.*in set_up"):
        list(DataLoader(range(3), num_workers=1, worker_init_fn=set_up))


def test_what_cannot_be_sent_is_an_error() -> None:
    with pytest.raises(Exception, match="worker 0 of the DataLoader"):
        list(DataLoader(Made(lambda k: lambda: k), num_workers=1, batch_size=None))


@pytest.mark.parametrize(
    "death", [lambda: os._exit(7), lambda: os.kill(os.getpid(), signal.SIGKILL), sys.exit]
)
@pytest.mark.parametrize("stays", [False, True])
def test_a_worker_that_dies_is_an_error(death: Any, stays: bool) -> None:
    def make(index: int) -> int:
        return death() if index == 5 else index

    loader = DataLoader(Made(make), num_workers=2, persistent_workers=stays)
    for _ in range(2):  # a loader can be begun anew
        with pytest.raises(RuntimeError, match=r"worker 1 of the DataLoader \(process .* died"):
            list(loader)
    batches = iter(loader)
    with pytest.raises(RuntimeError, match="died"):
        list(batches)
    with pytest.raises((RuntimeError, StopIteration)):
        next(batches)


def test_a_worker_that_takes_too_long_is_an_error(monkeypatch: Any) -> None:
    monkeypatch.setattr("wengert.dialects.torch.data.workers._PATIENCE", 0.2)
    begin = time.monotonic()
    with pytest.raises(RuntimeError, match=r"sent nothing for 0.3 seconds; give a longer timeout="):
        list(DataLoader(Made(lambda k: time.sleep(60)), num_workers=1, timeout=0.3))
    assert time.monotonic() - begin < 20


def test_processes_end_with_the_round_and_when_it_is_left() -> None:
    loader = DataLoader(range(100), num_workers=2)
    for _ in loader:
        assert len(multiprocessing.active_children()) >= 2
        break
    batches = iter(loader)
    next(batches)
    del batches


def test_numbers_and_batches_that_fill_the_pipes() -> None:
    numbers = [list(range(40_000))] * 6
    made = DataLoader(range(40_000), batch_sampler=numbers, num_workers=2, prefetch_factor=3)
    assert [len(batch) for batch in made] == [40_000] * 6


def test_order_is_kept_where_workers_are_slow() -> None:
    def make(index: int) -> int:
        time.sleep(0.05 if index % 3 == 0 else 0)
        return index

    loader = DataLoader(Made(make), num_workers=3)
    assert [int(batch) for batch in loader] == [*range(12)]


def test_batches_are_tensors_that_can_be_written_to() -> None:
    for batch in DataLoader(Made(lambda k: torch.ones(3) * k), batch_size=6, num_workers=1):
        batch.mul_(2).requires_grad_()
        batch.sum().backward()
        assert batch.grad.tolist() == [[1.0] * 3] * 6


class Numbers(IterableDataset[int]):
    """As many samples as the worker's number and one."""

    def __iter__(self) -> Iterator[int]:
        number = data.get_worker_info().id
        return iter([number] * (3 * number + 1))

    def __len__(self) -> int:
        return 3


def test_workers_of_streams_end_one_after_the_other() -> None:
    loader = DataLoader(Numbers(), num_workers=3, batch_size=None)
    assert sorted(loader) == [0, *[1] * 4, *[2] * 7]


SCRIPT = """
import os, sys, torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        import torch as mine
        return mine.full((2,), float(index)), mine.__name__, os.getpid()

if __name__ == "__main__":
    method = sys.argv[1]
    for stays in (False, True) if method == "fork" else (True,):
        loader = DataLoader(Rows(), batch_size=2, num_workers=2, persistent_workers=stays,
                            multiprocessing_context=method)
        for _ in range(2):
            rows = list(loader)
            assert [r[0].tolist() for r in rows][2] == [[4.0, 4.0]], rows
            assert {n for r in rows for n in r[1]} == {"wengert.torch"}, rows
            pids = {int(p) for r in rows for p in r[2]}
            assert len(pids) == 2 and os.getpid() not in pids, pids
    print("done", method, *pids)
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_programs_of_wengert_run(tmp_path: Path, method: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    found = subprocess.run(
        [sys.executable, "-m", "wengert", "run", str(script), method],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert found.stdout.startswith(f"done {method}"), found
    assert found.stderr == ""
    assert not [pid for pid in found.stdout.split()[2:] if is_running(int(pid))]


def is_running(pid: int) -> bool:
    """Return whether there is a process that has not ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    code = """
import os, signal, sys, time
from wengert.torch.utils.data import DataLoader
batches = iter(DataLoader(range(100), num_workers=3))
next(batches)
print(*[p.pid for p in batches._processes], flush=True)
time.sleep(60)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        workers = [int(pid) for pid in parent.stdout.readline().split()]
        parent.kill()
    until = time.monotonic() + 20
    while any(is_running(pid) for pid in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert len(workers) == 3
    assert not any(is_running(pid) for pid in workers)


def test_two_loaders_at_a_time_end_at_once() -> None:
    """Workers that are forked later have copies of the pipes of earlier ones."""
    start = time.monotonic()
    first, second = (iter(DataLoader(Made(float), num_workers=1)) for _ in range(2))
    assert next(first) == next(second) == 0.0
    del first
    assert time.monotonic() - start < 4
    assert len(list(second)) == 11
