"""Python's garbage collector, which visits objects less often while programs record.

What tapes have recorded is alive, and each collection of the oldest generation visits all of it
again: a third of the time that a tape of a million operations takes. Collections of the youngest
take a tenth of a loop of small arrays. `gc.collect()` does what it always does.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

from wengert.engine.node import next_order

#: How much less often all objects are visited: once in 1.4 million new ones, if the program has not
#: set thresholds; and new ones.
LESS, YOUNG_LESS = 20, 5

_seen = 0
_before: tuple[int, ...] = ()
_during: tuple[int, ...] = ()


def adjust(phase: str, info: dict[str, Any]) -> None:
    """Raise the thresholds if many of the new objects were nodes, and else put them back.

    Python calls this with each collection. Thresholds that the program sets itself stay.
    """
    global _seen, _before, _during
    if phase == "start" or info["generation"] == 0:
        return
    order, now = next_order(), gc.get_threshold()
    recording = (order - _seen) * 10 > now[0] * now[1]
    _seen = order
    if recording and now != _during:
        _before, _during = now, (now[0] * YOUNG_LESS, now[1], now[2] * (LESS // YOUNG_LESS))
        gc.set_threshold(*_during)
    elif not recording and now == _during:
        gc.set_threshold(*_before)
        _during = ()


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Collect nothing inside, as in an import, which makes objects that all stay."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


gc.callbacks.append(adjust)
