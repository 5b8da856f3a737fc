"""A program that is inspected: whether it runs, how it ended, and its session once it has."""

from __future__ import annotations

import ctypes
import inspect
import os
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wengert import runner
from wengert.backends import is_inexact
from wengert.engine.sweep import ancestors
from wengert.engine.tape import Tape, part_of_tape
from wengert.explain.nodes import is_leaf
from wengert.explain.saved_values import replayed, saved_values
from wengert.explain.summary import alive
from wengert.explain.why import ledger
from wengert.inspector.model import Session
from wengert.inspector.names import tensors_of
from wengert.inspector.recorder import Recorder
from wengert.ops.creation import asarray
from wengert.transforms.tape import GradientTape
from wengert.trees import flatten, map_leaves

#: What the page says of a program without a tape.
_NOTHING = (
    "The program recorded nothing. A tape records what is computed from tensors that it watches: "
    "open `with wg.GradientTape() as tape:` and write tape.watch(x), or make x a wg.Variable."
)


class Program:
    """A program, seen by a recorder.

    Attributes
    ----------
    title
        What the page calls it.
    status
        "running", "finished", "failed" or "stopped".
    message
        What there is to say about that: the error, or that nothing was recorded.
    session
        What can be asked about it; None while it runs, and if it recorded nothing.
    ended
        Is set once the program does not run any more.
    """

    def __init__(self, title: str) -> None:
        self.title, self.status, self.message = title, "running", ""
        self.recorder = Recorder()
        self.session: Session | None = None
        self.ended = threading.Event()
        self._interrupt: Callable[[], None] | None = None
        self._is_stopped = False

    def run(self, call: Callable[[dict[str, Any]], Sequence[Any]]) -> None:
        """Run a program, and see all that it does.

        `call` returns the program's results, and leaves its variables in the dictionary it is
        given. An error is kept as the message, and raised no further.
        """
        names: dict[str, Any] = {}
        results: Sequence[Any] = ()
        status = "finished"
        self._interrupt = _interruption()
        self.recorder.start()
        try:
            results = call(names)
        except KeyboardInterrupt:
            status = "stopped"
            self.message = "The program was stopped. The page shows what it had computed."
            if not self._is_stopped:
                raise
        except Exception as error:
            status, self.message = "failed", _described(error)
        finally:
            self._interrupt = None
            self.recorder.stop()
            self.close(status, names, results)

    def close(self, status: str, names: Mapping[str, Any], results: Sequence[Any] = ()) -> None:
        """Have a session made of what was seen; only then has the program ended for the page."""
        try:
            if self.recorder.rounds:
                self.session = Session(self.recorder, names, results)
            elif not self.message:
                self.message = _NOTHING
        finally:
            self.status = status
            self.ended.set()

    def stop(self) -> bool:
        """Stop the program, from another thread; return whether it ran."""
        interrupt = self._interrupt
        if interrupt is None:
            return False
        self._is_stopped = True
        interrupt()
        return True


def _interruption() -> Callable[[], None] | None:
    """Return what raises KeyboardInterrupt in this thread, if that is the main one.

    `_thread.interrupt_main` would do nothing where the shell has the signal ignored, as it does in
    a program that it starts in the background.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    main = ctypes.c_ulong(threading.get_ident())
    raised = ctypes.py_object(KeyboardInterrupt)
    return lambda: ctypes.pythonapi.PyThreadState_SetAsyncExc(main, raised) and None


def _described(error: Exception) -> str:
    """Return an error as Python shows it, from the program's first line on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    trace = runner.trace_of_program(error.with_traceback(trace))
    return "".join(traceback.format_exception(type(error), error, trace))


def script(program: Program, path: str, arguments: Sequence[str]) -> None:
    """Run a script as `wengert run` does, and have the program show it."""

    def call(names: dict[str, Any]) -> Sequence[Any]:
        place = os.path.dirname(os.path.realpath(path))
        with runner.running(), runner.as_main([path, *arguments], place) as main:
            try:
                runner.execute_file(path, main)
            except SystemExit as end:
                if end.code not in (None, 0):
                    raise RuntimeError(f"the program ended with sys.exit({end.code!r})") from None
            finally:
                names.update(main.__dict__)
                sys.stdout.flush()
        return ()

    program.run(call)


def function(program: Program, fun: Callable[..., Any], args: Sequence[Any]) -> None:
    """Run a function on tensors that a tape watches, and have the program show it."""
    try:
        parameters = list(inspect.signature(fun).parameters)
    except (TypeError, ValueError):  # as of some functions that are not written in Python
        parameters = []

    def call(names: dict[str, Any]) -> Sequence[Any]:
        given = [map_leaves(asarray, arg) for arg in args]
        names.update((_parameter(parameters, k), value) for k, value in enumerate(given))
        with GradientTape(persistent=True) as tape:
            tape.watch([x for x in flatten(given)[0] if is_inexact(x.dtype)])
            found = fun(*given)
        results = [t for t in flatten(found)[0] if hasattr(t, "_node")]
        if len(results) == 1:
            names["result"] = results[0]
        return results

    program.run(call)


def _parameter(names: list[str], position: int) -> str:
    return names[position] if position < len(names) else f"argument {position}"


def recorded(program: Program, tape: Tape, target: Any, names: Mapping[str, Any]) -> None:
    """Have the program show what a tape recorded, with the names of who asks."""
    token = tape._token
    given = [] if target is None else [part_of_tape(t, "target") for t in flatten(target)[0]]
    ends = [part.node for part in given if part.node is not None]
    nodes = ancestors(ends, token) if target is not None else alive(token)
    nodes = sorted(nodes, key=lambda node: node.order, reverse=True)
    if any(not n.edges and not is_leaf(n) for n in nodes):
        program.message = (
            f"The tape was used at {tape._spent}, and freed what it recorded. Write "
            "wg.GradientTape(persistent=True), or run the program with `wengert inspect`."
        )
        nodes = []
    values = replayed(nodes, saved_values(nodes))
    for _, tensor in tensors_of(dict(names)):
        part = part_of_tape(tensor, "tensor")
        if part.node is not None:
            values[part.node] = part.tensor._raw
    known = ledger()
    program.recorder.adopt(nodes[::-1], token, values, known)
    program.close("finished", names, [part.tensor for part in given])
