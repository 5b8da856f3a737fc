"""torch.futures: values that are set later, which libraries import for calls that may wait."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any

from wengert.dialects.torch.table import plain, put


class Future(concurrent.futures.Future[Any]):
    """A value, or an error, that somebody sets once."""

    def wait(self) -> Any:
        """Return the value once it is set; raise the error that was set instead."""
        return self.result()

    def value(self) -> Any:
        """Return the value, which must have been set."""
        if not self.done():
            raise RuntimeError("Future.value: the value is not set yet; call wait()")
        return self.result()

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """Return a future of what a function of this future returns, once this one is set."""
        made = Future()

        def follow(_: Any) -> None:
            try:
                made.set_result(callback(self))
            except Exception as error:
                made.set_exception(error)

        self.add_done_callback(follow)
        return made


put(("futures.Future", "Future"), Future)


@plain("futures.collect_all")
def collect_all(futures: list[Future]) -> Future:
    """Return a future of these futures, which is set once all of them are."""
    made, missing = Future(), list(futures)

    def count(one: Any) -> None:
        missing.remove(one)
        if not missing:
            made.set_result(list(futures))

    if not futures:
        made.set_result([])
    for future in futures:
        future.add_done_callback(count)
    return made
