"""Write the catalogue of explanations from the programs that the tests run.

`docs/make_tables.py` calls this. A program is run as a file of its own, `program.py`, so that the
page shows no path of a machine.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import wengert as wg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.explain.broken_paths import CUT
from tests.explain.broken_programs import NATIVE
from tests.explain.nonfinite_programs import NONFINITE
from tests.explain.program_table import Program

FILE = "program.py"
#: What the first block of the page imports.
IMPORTS = """\
import math
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import wengert as wg

warnings.simplefilter("ignore", RuntimeWarning)  # log(0) is meant here
"""
#: The programs of which the page shows where a NaN began, with a heading.
NONFINITE_SHOWN = {
    "log_of_zero": "In a value",
    "the_slope_of_sqrt_at_zero": "In a rule",
    "in_a_second_derivative": "In a second derivative",
    "in_jvp": "In forward mode",
    "a_step_of_sgd": "In an optimiser",
}


def reasons() -> str:
    """Return a program and its explanation for each reason, in the order of `wg.Reason`."""
    programs = [*NATIVE.values(), *CUT.values()]
    parts = []
    for reason in wg.Reason:
        program = next(p for p in programs if p.expected is reason)
        title = f"{reason.value[0].upper()}{reason.value[1:]}"
        parts.append(f"### {title}\n\n`Reason.{reason.name}`\n\n{_shown(_script(program))}")
    return "\n".join(parts)


def nonfinite() -> str:
    """Return programs that make a NaN, each with the error of `wg.debug(nan=True)`."""
    parts = []
    for name, title in NONFINITE_SHOWN.items():
        body = _script(NONFINITE[name]).splitlines(keepends=True)
        if body[-1].startswith("tape, ") or body[-1].startswith("outer, "):
            body = body[:-1]
        indented = "".join(f"        {line}" if line.strip() else line for line in body)
        script = f"try:\n    with wg.debug(nan=True):\n{indented}"
        script += "except wg.NonFiniteError as error:\n    found = error\nfound\n"
        parts.append(f"### {title}\n\n{_shown(script)}")
    return "\n".join(parts)


def _script(program: Program) -> str:
    """Return what stands in a program's function, with the value that it returns at the end."""
    lines = program.text.splitlines(keepends=True)
    if lines[-1].startswith("return "):
        lines[-1] = lines[-1].removeprefix("return ")
    return re.sub(r"\n\n(?=\S)", "\n\n\n", "".join(lines))  # as at the top of a file


def _shown(script: str) -> str:
    """Return a script and what its last line is, as blocks of a page."""
    found = str(_run(script)).replace("  # here", "")
    # not a block of ```text, which is for what a script prints
    return f"```python\n{script}```\n\n```console\n{found}\n```\n"


def _run(script: str) -> Any:
    linecache.cache[FILE] = (len(script), None, script.splitlines(keepends=True), FILE)
    names: dict[str, Any] = {"__name__": "program"}
    with warnings.catch_warnings():
        exec(IMPORTS, names)
        warnings.simplefilter("ignore")
        tree = ast.parse(script, FILE)
        last: Any = tree.body.pop()
        with wg.debug():
            exec(compile(tree, FILE, "exec"), names)
            return eval(compile(ast.Expression(last.value), FILE, "eval"), names)
