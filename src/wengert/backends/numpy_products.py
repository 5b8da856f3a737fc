"""What convolutions by products of matrices share: pieces, memory for them, and threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.backends.aligned import aligned
from wengert.backends.numpy_windows import Ints
from wengert.backends.threads import count, in_pieces

__all__: list[str] = []  # called by their module's name, not through `xp.nn`

Memory = dict[str, Any]
#: About how many bytes of windows each core lays out side by side at a time.
LAID_OUT = 4 * 1024 * 1024
#: Products of matrices of fewer terms than this are computed by one thread in OpenBLAS.
ONE_THREAD = 1 << 19
#: Of larger matrices than so many rows have so few terms, products are left to BLAS's threads.
FEWEST = 48
#: Up to so many terms, OpenBLAS multiplies matrices as they are. Others it packs first, which is
#: quicker where fewer rows than these have so few terms.
UNPACKED, FEWEST_UNPACKED = 1_000_000, 256


def held(memory: Memory, what: str, shape: Sequence[int], dtype: Any) -> np.ndarray:
    """Return an array that the next piece writes over: new memory is slow the first time."""
    size = math.prod(shape)
    if what not in memory or memory[what].size < size:
        memory[what] = aligned((size,), dtype)
    array: np.ndarray = memory[what][:size].reshape(shape)
    return array


def pieces(batch: int, size: Ints, row: int, several: int) -> list[tuple[slice, slice]]:
    """Return (images, rows) that cover all windows: several images, or some rows of one.

    `row` is the number of bytes that the windows of a row take, and `several` how many bytes those
    of several images may take.
    """
    if not batch or not math.prod(size):
        return []
    rows = min(max(1, LAID_OUT // max(1, row)), size[0])
    rows = -(-size[0] // -(-size[0] // rows))  # pieces of about the same size
    images = max(1, several // max(1, row * size[0]))
    return [
        (slice(first, min(first + images, batch)), slice(top, min(top + rows, size[0])))
        for first in range(0, batch, images)
        for top in range(0, size[0], rows)
    ]


def few_rows(taps: int, channels: int) -> int:
    """Return how many rows of a matrix BLAS is to multiply at a time; 0 says all of them.

    These are what it computes in one thread, if there are more.
    """
    alone = count() == 1
    most, fewest = (UNPACKED, FEWEST_UNPACKED) if alone else (ONE_THREAD - 1, FEWEST)
    few = most // max(1, taps * channels)
    return few if few >= fewest else 0


def parts_of(length: int, taps: int, channels: int) -> list[slice]:
    """Return parts of a long axis of matrices, which BLAS is quickest at if each core calls it."""
    few = few_rows(taps, channels) or length
    step = max(1, few - few % 16 or few)  # whole vectors
    return [slice(a, min(a + step, length)) for a in range(0, length, step)]


def each(work: Callable[..., None], pieces: list[Any], taps: int, channels: int) -> None:
    """Call ``work(memory, *piece)`` for all pieces: over the cores, unless BLAS uses them itself.

    What is in `memory` is that of one thread.
    """

    def run(first: int, last: int, memory: Memory) -> None:
        for piece in pieces[first:last]:
            work(memory, *piece)

    in_pieces(run, len(pieces), 1 if few_rows(taps, channels) else len(pieces), dict)
