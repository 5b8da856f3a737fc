"""Progress bars, for who sits in front of a terminal or a notebook and waits."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sized
from typing import Any, TypeVar

Item = TypeVar("Item")
#: After how many seconds a bar is shown.
PATIENCE = 2.0


def progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterable[Item]:
    """Return items for a loop, which shows a bar once it has taken two seconds.

    There is a bar if somebody can see it and tqdm is installed. Else the items come back as they
    were given, and nothing is paid. `total` is how many there are, if they have no length.

    Examples
    --------
    >>> [n * n for n in progress(range(3), "squares")]
    [0, 1, 4]
    """
    return _shown(items, what, total) if is_seen() else items


def is_seen() -> bool:
    """Return whether a bar would be seen: on a terminal or in a notebook, in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return False
    if "ipykernel" in sys.modules:
        return True
    return sys.stderr is not None and sys.stderr.isatty()


def bar(total: int | None, what: str, **options: Any) -> Any:
    """Return a bar of tqdm's, which must be installed."""
    from tqdm.auto import tqdm

    return tqdm(total=total, desc=what, **options)


def _shown(items: Iterable[Item], what: str, total: int | None) -> Iterator[Item]:
    if total is None and isinstance(items, Sized):
        total = len(items)
    started = time.monotonic()
    shown = None
    try:
        for done, item in enumerate(items, 1):
            yield item
            if shown is not None:
                shown.update()
            elif time.monotonic() - started > PATIENCE and done != total:
                try:
                    shown = bar(total, what, initial=done, leave=False)
                except ImportError:  # no tqdm
                    started = float("inf")
    finally:
        if shown is not None:
            shown.close()
