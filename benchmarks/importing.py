"""How long an import, or the start of a program, takes in a fresh interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable

from benchmarks import peers
from benchmarks.harness import Case, Effort, Run, Sampler

_TIMED = (
    "import time; start = time.perf_counter(); import {library}; print(time.perf_counter() - start)"
)


def _output(*arguments: str) -> str:
    # An installed package has its bytecode beside it; a checkout has it from the first import on.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout


def _seconds(library: str) -> float:
    return float(_output("-c", _TIMED.format(library=library)).split()[-1])


def _program(*arguments: str) -> Callable[..., Run]:
    """Return a build function of a program's start and end."""

    def run() -> float:
        start = time.perf_counter()
        _output(*arguments)
        return time.perf_counter() - start

    return lambda: run


def importer(library: str) -> Callable[..., Run]:
    """Return a build function of an import in a fresh interpreter."""
    return lambda: lambda: _seconds(library)


def in_processes(case: Case, names: Iterable[str], effort: Effort) -> dict[str, Sampler]:
    """Return samplers of the time an import takes in a new process."""
    runs = {name: case.competitors[name]() for name in names}
    for run in runs.values():
        run()  # the first import compiles to bytecode and reads files from disk
    return runs


CASES = [
    Case(
        name="import",
        about="import in a fresh interpreter; limits are on seconds over the peer's import",
        competitors={library: importer(library) for library in peers.LIBRARIES},
        must={"numpy": 0.08},
        difference=True,
        samplers=in_processes,
    ),
    Case(
        name="run",
        about="wengert run of a program that imports torch; limits are on seconds over Python's "
        "own start and end",
        competitors={
            "wengert": _program("-m", "wengert", "run", "-c", "import torch"),
            "python": _program("-c", "pass"),
        },
        must={"python": 0.35},
        difference=True,
        verdict="minimum",
        samplers=in_processes,
    ),
]
