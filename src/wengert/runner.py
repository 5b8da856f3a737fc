"""`wengert run`: a program written for another library, on Wengert, as it stands."""

from __future__ import annotations

import contextlib
import importlib
import linecache
import os
import runpy
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from wengert.dialects import facade
from wengert.dialects.tensorflow.keras import bridge
from wengert.errors import is_between
from wengert.explain.report import Report, reports

#: What a program imports, and what it gets.
ANSWERS = {
    "tensorflow": "wengert.tensorflow",
    "torch": "wengert.torch",
    "functorch": "wengert.dialects.torch.functorch",
    "autograd": "wengert.autograd",
}
#: What else is watched for: Keras is the package itself, and imports what is above.
_WATCHED = (*ANSWERS, "keras")

USAGE = f"""\
usage: wengert run [--why] script.py [argument ...]
       wengert run [--why] -m module [argument ...]
       wengert run [--why] -c code [argument ...]

Run a Python program as `python` does, but have Wengert answer where it imports
{", ".join(ANSWERS)}. From Python: `with wengert.running(): ...`
With --why, say at the end which gradients were None or not finite, why, and where.
"""


def _answer(name: str) -> types.ModuleType | None:
    """Return the module that answers for a name; None if that is nobody of ours."""
    first, dot, rest = name.partition(".")
    return importlib.import_module(ANSWERS[first] + dot + rest) if first in ANSWERS else None


def answer() -> list[Any]:
    """Have `import tensorflow` and the like import Wengert's dialects from now on.

    Return what `import` asks for that: the first elements of `sys.meta_path`.
    """
    finders: list[Any] = [facade.Finder(_answer), bridge.Finder()]
    sys.meta_path[:0] = finders
    return finders


@contextlib.contextmanager
def running() -> Iterator[None]:
    """Return a context in which `import tensorflow` and the like import Wengert's dialects.

    A package that is written for one of these libraries and is first imported here computes with
    Wengert, also after the end of the context, unless it imports the library only when it is called
    (as einops does at its first call); call it here too. Python processes that are started in the
    context answer for the same names.

    Examples
    --------
    >>> import wengert as wg
    >>> with wg.running():
    ...     import torch
    >>> torch.__name__
    'wengert.torch'
    """
    before = {name: sys.modules.pop(name) for name in _aliases()}
    finders = answer()
    try:
        with _environment():
            yield
    finally:
        for finder in finders:
            sys.meta_path.remove(finder)
        for name in _aliases():
            del sys.modules[name]
        sys.modules.update(before)


#: The folder of the module that child processes import when they start.
_CHILDREN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "children")


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """Return a context with environment variables that have child processes answer too."""
    search = os.environ.get("PYTHONPATH")
    made = {
        "PYTHONPATH": os.pathsep.join([_CHILDREN, search] if search else [_CHILDREN]),
        "WENGERT_RUN": os.pathsep.join([sys.prefix, *_WATCHED]),
    }
    before = {name: os.environ.get(name) for name in made}
    os.environ.update(made)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _aliases() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] in ANSWERS]


@contextlib.contextmanager
def as_main(arguments: Sequence[str], place: str) -> Iterator[types.ModuleType]:
    """Return a context with the arguments, the search path and the module of a program."""
    main = types.ModuleType("__main__")
    before = sys.argv, sys.path, sys.modules["__main__"]
    sys.argv, sys.path, sys.modules["__main__"] = [*arguments], [place, *sys.path], main
    try:
        yield main
    finally:
        sys.argv, sys.path, sys.modules["__main__"] = before


def run(arguments: Sequence[str]) -> int:
    """Run what the arguments of `wengert run` say, and return the exit status."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if arguments[0] == "--why":
        return _explained(arguments[1:])
    first, *rest = arguments
    if first in ("-m", "-c"):
        if not rest:
            return _refuse(f"{first} needs {'a module' if first == '-m' else 'code'}")
        text, *rest = rest
        if first == "-c":
            return _guarded(lambda main: _execute(text, "<string>", main), ["-c", *rest], "")
        return _guarded(lambda main: _execute_module(text), [text, *rest], os.getcwd())
    if first.startswith("-"):
        return _refuse(f"there is no option {first}")
    if not os.path.isfile(first):
        kind = "a directory" if os.path.isdir(first) else "no file"
        return _refuse(f"{first} is {kind}, seen from {os.getcwd()}; give the path of a script")
    place = os.path.dirname(os.path.realpath(first))
    return _guarded(lambda main: execute_file(first, main), [first, *rest], place)


def _explained(arguments: Sequence[str]) -> int:
    """Run a program, and then say what was wrong with its gradients."""
    if not arguments:
        return _refuse("--why needs a script")
    report = Report()
    reports.append(report)
    report.start()
    try:
        return run(arguments)
    finally:
        report.stop()
        reports.remove(report)
        print(f"\n{report}", file=sys.stderr)


def _refuse(problem: str) -> int:
    print(f"wengert run: {problem}\n{USAGE}", end="", file=sys.stderr)
    return 2


def execute_file(path: str, main: types.ModuleType) -> None:
    """Run a script as a module."""
    main.__file__ = path
    with open(path, "rb") as file:
        _execute(file.read(), path, main)


def _execute(source: str | bytes, name: str, main: types.ModuleType) -> None:
    main.__dict__["__builtins__"] = __builtins__
    if isinstance(source, str):  # which is in no file that tracebacks could read
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), main.__dict__)


def _execute_module(name: str) -> None:
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _guarded(
    program: Callable[[types.ModuleType], None], arguments: Sequence[str], place: str
) -> int:
    """Run a program; for an error, print the traceback from its first line on, and return 1."""
    with running(), as_main(arguments, place) as main:
        try:
            program(main)
        except Exception as error:
            trace = trace_of_program(error)
            _forget_what_was_translated(error)
            sys.excepthook(type(error), error.with_traceback(trace), trace)
            return 1
        finally:
            with contextlib.suppress(BrokenPipeError, ValueError):
                sys.stdout.flush()
    return 0


#: Modules on the way from a program to what it imports, and on the way to the program.
_BETWEEN = (__file__, facade.__file__, importlib.__file__, runpy.__file__, "<frozen runpy>")


def trace_of_program(error: Exception) -> types.TracebackType | None:
    """Return the traceback without what ran the program, and what looked for a module."""
    trace = error.__traceback__
    while trace is not None and _is_between(trace):
        trace = trace.tb_next
    if isinstance(error, ImportError):
        last = trace
        while last is not None and last.tb_next is not None and not _is_between(last.tb_next):
            last = last.tb_next
        if last is not None:
            last.tb_next = None
    return trace


def _forget_what_was_translated(error: BaseException | None) -> None:
    """Hide errors on the way to an error that are no lines of the program's: it comes first."""
    while error is not None:
        before = error.__cause__ or error.__context__
        if before is not None and all(map(is_between, _frames(before))):
            error.__cause__ = None  # which hides the context too
            return
        error = before


def _frames(error: BaseException) -> Iterator[types.FrameType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _is_between(trace: types.TracebackType) -> bool:
    return trace.tb_frame.f_code.co_filename in _BETWEEN
