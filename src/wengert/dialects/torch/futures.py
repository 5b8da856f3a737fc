"""torch.futures: values that are set later, by another thread or by a callback."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from wengert.dialects.kernel.functions import warn
from wengert.dialects.torch.devices import check_device
from wengert.dialects.torch.table import plain, put

T = TypeVar("T")


class Future(Generic[T]):
    """A value, or an error, that somebody sets once."""

    def __init__(self, *, devices: Sequence[Any] | None = None) -> None:
        for device in devices or ():
            check_device(device)
        self._held: concurrent.futures.Future[T] = concurrent.futures.Future()

    def done(self) -> bool:
        """Return whether the value or an error was set."""
        return self._held.done()

    def wait(self) -> T:
        """Return the value once it is set; raise the error that was set instead."""
        return self._held.result()

    def value(self) -> T:
        """Return the value, which must have been set."""
        if not self.done():
            raise RuntimeError("Future.value: the value is not set yet; call wait()")
        return self.wait()

    def _set(self, setter: Callable[[Any], None], value: Any) -> None:
        try:
            setter(value)
        except concurrent.futures.InvalidStateError:
            raise RuntimeError("Future: it was set before, and can be set once") from None

    def set_result(self, result: T) -> None:
        """Set the value, and call what waits for it."""
        self._set(self._held.set_result, result)

    def set_exception(self, result: BaseException) -> None:
        """Set the error that `wait` raises."""
        if not isinstance(result, Exception):
            raise AssertionError(f"Future.set_exception: {result!r} is no exception")
        self._set(self._held.set_exception, result)

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """Return a future of what a function of this future returns, once this one is set."""
        made: Future[Any] = Future()

        def follow(_: Any) -> None:
            try:
                made.set_result(callback(self))
            except Exception as error:
                made.set_exception(error)

        self._held.add_done_callback(follow)
        return made

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call a function of this future once it is set; an error of it is a warning."""

        def call(_: Any) -> None:
            try:
                callback(self)
            except Exception as error:
                warn(f"Future: a callback raised {error!r}; errors are passed on by then()")

        self._held.add_done_callback(call)


put(("futures.Future", "Future"), Future)


@plain("futures.collect_all")
def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """Return a future of these futures, which is set once all of them are."""
    made: Future[list[Future[Any]]] = Future()
    missing = list(futures)

    def count(one: Future[Any]) -> None:
        missing.remove(one)
        if not missing:
            made.set_result(list(futures))

    if not futures:
        made.set_result([])
    for future in futures:
        future.add_done_callback(count)
    return made


@plain("futures.wait_all")
def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """Return the values of all futures, once all are set."""
    return [future.wait() for future in collect_all(futures).wait()]
