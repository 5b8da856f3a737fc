"""Processes that load samples: how one is set up, what it answers, and how all of them end.

Each has a pipe of its own. The parent holds one end; a worker that dies closes the other, so that
the parent finds the end of the pipe instead of waiting, and a worker whose parent is gone finds
the same. A thread of the worker sends what was loaded: so it never stops to read what it is to do
next, and parent and worker cannot wait for each other.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import pickle
import queue
import random
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from wengert.dialects.torch.data.collating import default_collate
from wengert.dialects.torch.data.datasets import IterableDataset, rows_of, samples_of
from wengert.dialects.torch.generators import default_generator
from wengert.dialects.torch.table import plain
from wengert.dialects.torch.tensors import Tensor

#: How many seconds workers have to end by themselves.
_PATIENCE = 5.0


class Fetcher:
    """Makes batches of the samples of a dataset.

    Parameters
    ----------
    dataset, collate
        Samples, and the function that makes a batch of some.
    batched
        Whether `fetch` is given the numbers of many samples.
    drop_last
        Whether a last batch of fewer samples is left away.
    """

    def __init__(self, dataset: Any, collate: Any, batched: bool, drop_last: bool) -> None:
        self.dataset, self.collate = dataset, collate
        self.batched, self.drop_last = batched, drop_last
        self._samples: Any = None

    def begin(self) -> None:
        """Begin with the first sample of a dataset that is iterated over."""
        if isinstance(self.dataset, IterableDataset):
            self._samples = iter(self.dataset)

    def fetch(self, index: Any) -> Any:
        """Return a batch or a sample; raise StopIteration after the last of an iterable."""
        if not self.batched:
            return self.collate(
                self.dataset[index] if self._samples is None else next(self._samples)
            )
        if self._samples is None:
            rows = rows_of(self.dataset, index) if self.collate is default_collate else None
            return self.collate(samples_of(self.dataset, index)) if rows is None else rows
        found = list(itertools.islice(self._samples, len(index)))
        if len(found) < len(index):
            self._samples = iter(())
            if self.drop_last or not found:
                raise StopIteration
        return self.collate(found)


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker is: its number, how many there are, its seed and its dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str = "multiprocessing"


_info: list[WorkerInfo | None] = [None]


@plain("utils.data.get_worker_info", "utils.data.dataloader.get_worker_info")
def get_worker_info() -> WorkerInfo | None:
    """Return what this process is as a worker of a DataLoader; None in other processes."""
    return _info[0]


#: The words of parent and worker: begin anew, all samples were had, a value, an error.
BEGIN, END, VALUE, ERROR = "begin", "end", "value", "error"


def work(
    fetcher: Fetcher,
    init: Any,
    number: int,
    count: int,
    seed: int,
    pipe: Connection,
    ends: list[Connection],
) -> None:
    """Answer what the parent asks until the pipe ends. `ends` are the parent's, to be closed."""
    for end in ends:
        end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    _sow(seed, number)
    _info[0] = WorkerInfo(number, count, seed + number, fetcher.dataset)
    answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    threading.Thread(target=_send, args=(pipe, answers)).start()
    try:
        for answer in _answers(fetcher, init, number, pipe):
            answers.put(answer)
    finally:
        answers.put(None)


def _sow(seed: int, number: int) -> None:
    """Seed the generators of a worker as PyTorch does."""
    random.seed(seed + number)
    default_generator.manual_seed(seed + number)
    entropy = [number, seed % 2**32, seed >> 32, 0]
    np.random.seed(np.random.SeedSequence(entropy).generate_state(4))


def _send(pipe: Connection, answers: queue.SimpleQueue[bytes | None]) -> None:
    with contextlib.suppress(OSError):  # the parent has gone on
        while (answer := answers.get()) is not None:
            pipe.send_bytes(answer)
    pipe.close()


def _answers(fetcher: Fetcher, init: Any, number: int, pipe: Connection) -> Iterator[bytes]:
    failed: bytes | None = None
    try:
        if init is not None:
            init(number)
        fetcher.begin()
    except Exception as error:
        failed = _described(error)
    for what, index in _asked(pipe):
        try:
            if failed is not None:
                yield failed
                failed = None
            elif what == BEGIN:
                fetcher.begin()
                yield _packed((BEGIN, None))
            else:
                yield _packed((VALUE, fetcher.fetch(index)))
        except Exception as error:
            is_end = isinstance(error, StopIteration)
            is_end = is_end and isinstance(fetcher.dataset, IterableDataset)
            yield _packed((END, None)) if is_end else _described(error)


def _asked(pipe: Connection) -> Iterator[tuple[str, Any]]:
    with contextlib.suppress(EOFError, OSError):
        while True:
            yield pipe.recv()


class _Packer(pickle.Pickler):
    """Refuses tensors whose gradients would get lost on the way to another process."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Tensor) and not value.is_leaf:
            raise RuntimeError(
                "a worker computed a tensor that requires gradients, which do not go from one "
                "process to another; write x.detach()"
            )
        return NotImplemented


def _packed(message: tuple[str, Any]) -> bytes:
    data = io.BytesIO()
    _Packer(data, pickle.HIGHEST_PROTOCOL).dump(message)
    return data.getvalue()


def _described(error: Exception) -> bytes:
    """Return an error as what is sent: its class, if that can be, and its traceback."""
    text = "".join(traceback.format_exception(error))
    try:
        return _packed((ERROR, (type(error), text)))
    except Exception:  # a class within a function, say
        return _packed((ERROR, (RuntimeError, text)))


def rebuilt(kind: type[Exception], text: str, number: int) -> Exception:
    """Return the error that a worker met, of its class if that takes a text."""
    words = f"worker {number} of the DataLoader met an error:\n{text}"
    try:
        return kind(words)
    except Exception:
        return RuntimeError(words)


def _hang_up(pipe: Connection) -> None:
    """Close a pipe for its worker too, though a fork for another loader has a copy of our end."""
    if sys.platform != "win32":  # where processes are not forked, and pipes are no sockets
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(pipe.fileno())) as both:
            both.shutdown(socket.SHUT_RDWR)
    pipe.close()


def end_all(parent: int, pipes: Iterable[Connection], processes: Iterable[Any]) -> None:
    """Have workers end, those that do not by force; only their parent may."""
    if os.getpid() != parent:
        return
    for pipe in pipes:
        _hang_up(pipe)
    until = time.monotonic() + _PATIENCE
    for process in processes:
        process.join(max(0.0, until - time.monotonic()))
        for force in (process.terminate, process.kill):
            if process.is_alive():
                force()
                process.join(1)
        process.close()
