"""DataLoader: batches of samples in PyTorch's order, loaded here or by processes of its own."""

from __future__ import annotations

import collections
import itertools
import multiprocessing
import os
import pickle
import weakref
from collections.abc import Iterator
from multiprocessing.context import BaseContext
from typing import Any, Generic, TypeVar

from wengert.dialects.torch.data import workers
from wengert.dialects.torch.data.collating import default_collate, default_convert
from wengert.dialects.torch.data.datasets import IterableDataset
from wengert.dialects.torch.data.samplers import (
    BatchSampler,
    RandomSampler,
    SequentialSampler,
    drawn_seed,
)
from wengert.dialects.torch.table import plain

T_co = TypeVar("T_co", covariant=True)
#: What other values depend on, and cannot be set once there is a loader.
_FIXED = (
    "batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers",
)  # fmt: skip


class _Endless:
    """The sampler of a dataset without numbers."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


@plain("utils.data.DataLoader", "utils.data.dataloader.DataLoader")
class DataLoader(Generic[T_co]):
    """Batches of the samples of a dataset.

    Processes for `num_workers` are started as Python does by default, and as PyTorch does: on
    Linux by a fork up to Python 3.13, so that datasets of any kind, functions without a name and
    `wengert run` work as they do without processes. Batches keep their order.
    """

    _ready = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Any = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Any = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_numbers(num_workers, timeout, prefetch_factor, persistent_workers)
        iterable = isinstance(dataset, IterableDataset)
        if iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError(
                "an IterableDataset has its own order; leave shuffle, sampler and batch_sampler "
                "away"
            )
        if sampler is not None and shuffle:
            raise ValueError("sampler and shuffle were both given; give one of them")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler was given; leave batch_size, shuffle, sampler and drop_last away"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("drop_last is of batches, and batch_size is None; give a batch_size")
        if sampler is None:
            sampler = _Endless() if iterable else SequentialSampler(dataset)
            if shuffle:
                sampler = RandomSampler(dataset, generator=generator)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        self.collate_fn, self.num_workers = collate_fn, num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.timeout, self.worker_init_fn, self.in_order = timeout, worker_init_fn, in_order
        self.multiprocessing_context = _context(multiprocessing_context, num_workers)
        self.persistent_workers = persistent_workers
        self._iterator: _Loaded | None = None
        self._ready = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._ready and name in _FIXED:
            raise ValueError(f"{name} of a DataLoader cannot be set; make another DataLoader")
        super().__setattr__(name, value)

    def __iter__(self) -> Any:
        if not self.num_workers:
            return _Batches(self)
        if not self.persistent_workers:
            return _Loaded(self)
        if self._iterator is None or not self._iterator.is_alive():
            self._iterator = _Loaded(self)
        else:
            self._iterator.begin_anew()
        return self._iterator

    def indices(self) -> Any:
        """Return the sampler of what is loaded at a time."""
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def fetcher(self) -> workers.Fetcher:
        """Return what makes the batches."""
        batched = self.batch_sampler is not None
        return workers.Fetcher(self.dataset, self.collate_fn, batched, self.drop_last)

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self.indices())
        count = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return count
        return (count if self.drop_last else count + self.batch_size - 1) // self.batch_size


DataLoader.__module__ = "torch.utils.data.dataloader"  # which libraries look for


def _check_numbers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool
) -> None:
    if num_workers < 0 or timeout < 0 or (prefetch_factor or 0) < 0:
        raise ValueError(
            f"num_workers={num_workers}, timeout={timeout}, prefetch_factor={prefetch_factor}; "
            "give 0 or more"
        )
    if not num_workers and (prefetch_factor is not None or persistent_workers):
        raise ValueError(
            "prefetch_factor and persistent_workers are of processes, and there are none; give "
            "num_workers=1 or more"
        )


def _context(given: Any, num_workers: int) -> Any:
    if given is None:
        return None
    if not num_workers:
        raise ValueError("multiprocessing_context is of processes; give num_workers=1 or more")
    if isinstance(given, str):
        return multiprocessing.get_context(given)
    if not isinstance(given, BaseContext):
        raise TypeError(
            f"multiprocessing_context is a {type(given).__name__}; write 'spawn', or "
            "multiprocessing.get_context('spawn')"
        )
    return given


class _Batches:
    """The batches of one round, loaded in this process."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._loader = loader
        self._numbers = iter(loader.indices())
        self._seed = drawn_seed(loader.generator)  # drawn also where nobody needs it
        self._start()

    def _start(self) -> None:
        if self._loader.timeout:
            raise AssertionError("timeout is of processes; give num_workers=1 or more")
        self._fetcher = self._loader.fetcher()
        self._fetcher.begin()

    def _next(self) -> Any:
        return self._fetcher.fetch(next(self._numbers))

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return self._next()

    def __len__(self) -> int:
        return len(self._loader.indices())


class _Loaded(_Batches):
    """The batches of a round, loaded by processes that are a few batches ahead."""

    def _start(self) -> None:
        loader = self._loader
        context: Any = loader.multiprocessing_context or multiprocessing.get_context()
        self._pipes: list[Any] = []
        self._processes: list[Any] = []
        self._end = weakref.finalize(
            self, workers.end_all, os.getpid(), self._pipes, self._processes
        )
        for k in range(loader.num_workers):
            mine, theirs = context.Pipe()
            self._pipes.append(mine)
            given = (loader.fetcher(), loader.worker_init_fn, k, loader.num_workers, self._seed)
            process = context.Process(
                target=workers.work, args=(*given, theirs, [*self._pipes]), daemon=True
            )
            try:
                process.start()
            except BaseException:
                self._end()
                raise
            self._processes.append(process)
            theirs.close()
        self._ask_first()

    def _ask_first(self) -> None:
        count = len(self._pipes)
        self._numbers = iter(self._loader.indices())
        self._asked: collections.deque[int] = collections.deque()
        self._active, self._turn = [True] * count, 0
        for _ in range((self._loader.prefetch_factor or 0) * count):
            self._ask()

    def is_alive(self) -> bool:
        """Return whether the processes may still load something."""
        return self._end.alive

    def begin_anew(self) -> None:
        """Go back to the first sample with the same processes."""
        for k in range(len(self._pipes)):
            self._send(k, (workers.BEGIN, None))
        for k in range(len(self._pipes)):
            while self._receive(k)[0] != workers.BEGIN:
                pass  # what was loaded before
        self._ask_first()

    def _ask(self) -> None:
        """Have the process whose turn it is load what comes next, if anything does."""
        count = len(self._pipes)
        turns = [(self._turn + k) % count for k in range(count)]
        active = [k for k in turns if self._active[k]]
        if active:
            index = next(self._numbers, self)
            if index is not self:
                self._turn = (active[0] + 1) % count
                self._send(active[0], (workers.VALUE, index))
                self._asked.append(active[0])

    def _next(self) -> Any:
        while self._asked:
            number = self._asked.popleft()
            if not self._active[number]:
                continue
            what, value = self._receive(number)
            if what == workers.END:
                self._active[number] = False
            self._ask()
            if what == workers.ERROR:
                kind, text = value
                raise workers.rebuilt(kind, text, number)
            if what == workers.VALUE:
                return value
        if not self._loader.persistent_workers:
            self._end()
        raise StopIteration

    def _send(self, number: int, message: Any) -> None:
        try:
            self._pipes[number].send(message)
        except OSError:
            raise self._lost(number) from None

    def _receive(self, number: int) -> Any:
        pipe, seconds = self._pipes[number], self._loader.timeout
        try:
            if seconds and not pipe.poll(seconds):
                self._end()
                raise RuntimeError(
                    f"worker {number} of the DataLoader sent nothing for {seconds} seconds; give "
                    "a longer timeout="
                )
            return pickle.loads(pipe.recv_bytes())
        except (EOFError, OSError):
            raise self._lost(number) from None

    def _lost(self, number: int) -> RuntimeError:
        """Return the error of a worker that has died, and end the others."""
        if not self._end.alive:
            return RuntimeError("the processes of the DataLoader have ended; iterate over it anew")
        process = self._processes[number]
        process.join(1)
        name, code = process.pid, process.exitcode
        self._end()
        return RuntimeError(
            f"worker {number} of the DataLoader (process {name}) died with exit code {code}; with "
            "num_workers=0 its error shows here"
        )
