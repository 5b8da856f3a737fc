"""Watchers: who sees each call and each rule's answer while a program is watched.

Nothing is paid while nobody watches: `engine.fastpath` gives the functions that call operations
their fast code back. While somebody watches, all calls go the general way, through
`engine.record.apply`, which asks the watcher for what to compute and shows it the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.engine.fastpath import show_calls
from wengert.engine.node import Node, Token, watching
from wengert.engine.op import Op

#: The watchers that are on, in any thread.
_started: list[Watcher] = []


class Watcher:
    """Sees what a program computes, in this thread or async task, while it is on.

    This one passes everything on to the watcher that was there before, if any. A subclass
    overrides what it wants to see.
    """

    outer: Watcher | None = None

    def start(self) -> None:
        """See everything from now on."""
        self.outer = watching.get()
        watching.set(self)
        _started.append(self)
        show_calls(True)

    def stop(self) -> None:
        """See nothing more."""
        if watching.get() is self:
            watching.set(self.outer)
        if self in _started:
            _started.remove(self)
            show_calls(bool(_started))

    def computing(self, op: Op) -> Callable[..., Any]:
        """Return what computes an operation, in place of `op.compute`."""
        return op.compute if self.outer is None else self.outer.computing(op)

    def made(
        self, op: Op, result: Any, raws: list[Any], nodes: list[Node | None], params: dict[str, Any]
    ) -> None:
        """See the result of an operation, and its raw arguments with their nodes."""
        if self.outer is not None:
            self.outer.made(op, result, raws, nodes, params)

    def pulling(self, op: Op) -> Callable[..., Any]:
        """Return what answers for an operation in a sweep, in place of `op.pull`."""
        return op.pull if self.outer is None else self.outer.pulling(op)

    def left(self, tensor: Any, how: str) -> None:
        """See that a tensor's values are taken out, as plain numbers."""
        if self.outer is not None:
            self.outer.left(tensor, how)

    def noted(self, name: str, result: Any, *arguments: Any, follows: bool = False) -> None:
        """See what is no operation: a tensor that was detached, or the result of a custom rule.

        `follows` says that derivatives go on to the arguments.
        """
        if self.outer is not None:
            self.outer.noted(name, result, *arguments, follows=follows)

    def finished(self, name: str, result: Any, given: Sequence[Any]) -> None:
        """See what a function of a dialect made of arguments, perhaps without any operation."""
        if self.outer is not None:
            self.outer.finished(name, result, given)

    def stepped(self, optimiser: str, rows: list[tuple[str, Any, Any, Any]]) -> None:
        """See a step: of each parameter its name, its value, its gradient and its new value."""
        if self.outer is not None:
            self.outer.stepped(optimiser, rows)

    def asked(self, target: Any, sources: list[Any], answers: list[Any]) -> None:
        """See a gradient that a program asked for."""
        if self.outer is not None:
            self.outer.asked(target, sources, answers)

    def paused(self, token: Token, on: bool) -> None:
        """See that a tape was told not to record from now on, or to record again."""
        if self.outer is not None:
            self.outer.paused(token, on)


def noted(name: str, result: Any, *arguments: Any) -> Any:
    """Show who watches what was made of arguments without an operation, and return it."""
    watcher = watching.get()
    if watcher is not None:
        watcher.noted(name, result, *arguments)
    return result


def finished(name: str, result: Any, given: Sequence[Any]) -> Any:
    """Show who watches what a function of a dialect made, and return it."""
    watcher = watching.get()
    if watcher is not None:
        watcher.finished(name, result, given)
    return result


def paused(token: Token, on: bool) -> None:
    """Show who watches that a tape does not record from now on, or records again."""
    watcher = watching.get()
    if watcher is not None:
        watcher.paused(token, on)


def tensors_in(result: Any) -> list[Any]:
    """Return the tensors of an operation's result: itself, or each of several."""
    return [result] if hasattr(result, "_raw") else list(result)
