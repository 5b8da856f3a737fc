"""Work on NumPy arrays in pieces, over the processor's cores.

A pass over a large array takes as long as its memory takes to arrive. Several passes over a
piece that stays in cache take little more than one, and NumPy lets other threads run while
it computes, so that each core takes its share of the pieces.

Only one thread at a time runs Python itself, and one that must wait for its turn sleeps, which
costs as much as a pass over 100 kB. Work of many short calls wants pieces larger than PIECE.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock, local
from typing import Any

#: About how many bytes of each array a piece should have: well within a core's own cache.
PIECE = 128 * 1024

_pool: ThreadPoolExecutor | None = None
_making = Lock()
_here = local()


def count() -> int:
    """Return how many threads share the work: OMP_NUM_THREADS, or the cores this process has."""
    given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    if given.isdigit() and int(given):
        return int(given)
    cores = (
        os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    )
    return len(cores)


def in_pieces(
    work: Callable[..., None],
    length: int,
    piece: int,
    scratch: Callable[[], Any] | None = None,
) -> None:
    """Call ``work(start, stop)`` for pieces of at most `piece` that cover ``range(length)``.

    Pieces may run at the same time, so each must write to memory of its own. `scratch`, if
    given, is called once by each thread, and what it returns is a third argument of its work.
    """
    piece = max(1, piece)
    workers = -(-length // piece)
    if workers > 1:
        workers = 1 if getattr(_here, "busy", False) else min(count(), workers)
    if workers < 2:
        mine = () if scratch is None or not length else (scratch(),)
        for start in range(0, length, piece):
            work(start, min(start + piece, length), *mine)
        return
    starts = iter(range(0, length, piece))
    taking = Lock()

    def share() -> None:
        mine = () if scratch is None else (scratch(),)
        while True:
            with taking:  # without Python's own lock, two threads could take the same piece
                start = next(starts, None)
            if start is None:
                return
            work(start, min(start + piece, length), *mine)

    helpers = [
        _executor().submit(contextvars.copy_context().run, _as_helper, share)
        for _ in range(workers - 1)
    ]
    try:
        share()
    finally:
        for helper in helpers:
            if not helper.cancel():  # one that has not begun has nothing left to do
                helper.result()


def _as_helper(share: Callable[[], None]) -> None:
    _here.busy = True  # work that asks for pieces of its own runs them itself
    share()


def _executor() -> ThreadPoolExecutor:
    global _pool
    with _making:
        if _pool is None:
            _pool = ThreadPoolExecutor(max(1, count() - 1), thread_name_prefix="wengert")
        return _pool


def _forget() -> None:
    global _pool
    _pool = None  # a forked process has none of its parent's threads


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
