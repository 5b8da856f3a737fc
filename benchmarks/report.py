"""Tables of outcomes: plain text for a terminal, Markdown for the documentation."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import peers
from benchmarks.harness import NOISY, Case, Effort, Outcome, Row

_UNITS = {
    "s": [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")],
    "B": [(1e6, "MB"), (1e3, "kB"), (1.0, "B")],
}


def quantity(value: float, unit: str) -> str:
    """Return a number of seconds or bytes with three digits and a readable unit."""
    scale, name = next(((s, n) for s, n in _UNITS[unit] if abs(value) >= s), _UNITS[unit][-1])
    return f"{value / scale:.3g} {name}"


def headers(case: Case) -> list[str]:
    """Return the titles of a case's columns."""
    what = "wengert - peer" if case.difference else "wengert / peer"
    measure = "peak" if case.unit == "B" else "time"
    return ["competitor", f"median {measure}", f"{what}, median", "of minima", "must", ""]


def cells(case: Case, row: Row) -> list[str]:
    """Return a row as text."""

    def relative(value: float | None) -> str:
        if value is None:
            return ""
        if case.difference:
            return f"{value:+.3f} {case.unit}"
        return f"{value:.2f}x" if value >= 0.1 else f"{value:.2g}x"

    limit = "" if row.limit is None else f"<= {relative(row.limit).lstrip('+')}"
    verdict = {None: "", True: "met", False: "MISSED"}[row.met]
    verdict = ", ".join(filter(None, [verdict, "noisy" if row.noisy else ""]))
    typical = quantity(row.typical, case.unit)
    return [
        row.competitor, typical, relative(row.median), relative(row.minimum), limit, verdict
    ]  # fmt: skip


def notes(outcome: Outcome) -> str:
    """Return how the numbers came about, in a line."""
    text = f"{outcome.rounds} rounds, judged on the {_judged(outcome.case)}"
    if outcome.case.work:
        text += "; times are per operation"
    if any(row.noisy for row in outcome.rows):
        text += f"; noisy: a median sample over {NOISY}x the smallest, so run it on a quiet machine"
    if outcome.absent:
        text += f"; not installed, so left out: {', '.join(outcome.absent)}"
    return text


def _judged(case: Case) -> str:
    what = "difference" if case.difference else "ratio"
    if case.verdict == "median":
        return f"median of the {what}s by round"
    return f"{what} of the minima"


def plain(outcome: Outcome) -> str:
    """Return an outcome for the terminal."""
    case = outcome.case
    table = [headers(case), *(cells(case, row) for row in outcome.rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  " + "  ".join(f"{c:<{w}}" if i == 0 else f"{c:>{w}}" for i, (c, w) in enumerate(pairs))
        for pairs in (list(zip(line, widths, strict=True)) for line in table)
    ]
    title = f"{case.name}: {case.about}"
    return "\n".join([title, *(line.rstrip() for line in lines), f"  ({notes(outcome)})", ""])


def summary(outcomes: Sequence[Outcome]) -> str:
    """Return how many limits were kept, and which were not."""
    judged = [row for outcome in outcomes for row in outcome.rows if row.met is not None]
    missed = [f"{o.case.name} against {row.competitor}" for o in outcomes for row in o.missed]
    text = f"{len(judged) - len(missed)} of {len(judged)} musts met"
    if missed:
        text += f"; missed: {', '.join(missed)}"
    doubtful = [f"{o.case.name} against {row.competitor}" for o in outcomes for row in o.doubtful]
    if doubtful:
        text += f"; too noisy to trust either way: {', '.join(doubtful)}"
    return text


def markdown(outcomes: Sequence[Outcome], effort: Effort) -> str:
    """Return the page of the documentation."""
    lines = [
        "# Benchmarks",
        "",
        "Written by `python -m benchmarks --save`; do not edit. Every case runs Wengert and its",
        "peers in one process (memory and imports: in processes of their own), interleaved, after",
        "a check that all compute the same numbers. A ratio below 1 means that Wengert is faster",
        "or smaller. Competitors named `numpy` are derivatives written by hand.",
        "",
        *(f"- {line}" for line in machine()),
        f"- at most {effort.rounds} rounds or {effort.budget:g} s for each case",
        "",
        f"{summary(outcomes)}.",
    ]
    for outcome in outcomes:
        case = outcome.case
        titles = headers(case)
        lines += ["", f"## {case.name}", "", f"{case.about[0].upper()}{case.about[1:]}.", ""]
        lines.append("| " + " | ".join(titles) + " |")
        lines.append("|---" + "|---:" * (len(titles) - 1) + "|")
        lines += ["| " + " | ".join(cells(case, row)) + " |" for row in outcome.rows]
        lines += ["", f"{notes(outcome)[0].upper()}{notes(outcome)[1:]}."]
    return "\n".join(lines) + "\n"


def machine() -> list[str]:
    """Return what the numbers depend on: processor, threads, and versions."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    kernels = os.environ.get("OPENBLAS_CORETYPE")
    forced = f", with kernels for {kernels} by OPENBLAS_CORETYPE" if kernels else ""
    versions = ", ".join(f"{name} {version}" for name, version in peers.versions().items())
    absent = [name for name in peers.LIBRARIES if not peers.is_installed(name)]
    lines = [
        f"{_processor()}, {os.cpu_count()} cores, {peers.thread_count()} threads for every library",
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        f"{versions}; NumPy's BLAS is {blas.get('name')} {blas.get('version')}{forced}",
    ]
    if hasattr(os, "getloadavg"):
        lines.append(f"load average at the end: {os.getloadavg()[0]:.1f}")
    return lines + ([f"not installed, so left out: {', '.join(absent)}"] if absent else [])


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if sys.platform == "linux" and info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
