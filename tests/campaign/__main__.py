"""Run a campaign: ``python -m tests.campaign --minutes 2 --seed 7``."""

from __future__ import annotations

import argparse
import multiprocessing
import secrets
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.campaign import indexing
from tests.campaign.checks import check
from tests.campaign.drawing import draw, grouped_names
from tests.campaign.references import Answers, Discarded
from tests.campaign.report import Report, name_of, numbered, text_of
from tests.campaign.shrink import shrink
from tests.poison import poisoned

#: How many failures are shrunk by each worker; the rest are counted.
SHRUNK = 40


def campaign(
    seed: int,
    programs: int | None = None,
    minutes: float | None = None,
    only: str = "",
    worker: int = 0,
    workers: int = 1,
    references: Sequence[str] = ("torch", "jax", "differences"),
    jax_share: float = 0.02,
    shrink_seconds: float = 20.0,
) -> Report:
    """Return the report of programs number `worker`, `worker + workers`, ... of a seed."""
    started = time.monotonic()
    report = Report(seed)
    names = grouped_names()
    answers = Answers(references, jax_share)
    warnings.simplefilter("ignore")
    with poisoned(), np.errstate(all="ignore"):
        for number in numbered(programs, minutes, worker, workers):
            one(report, answers, names, (seed, number), only, shrink_seconds)
    report.broken.update(answers.refusals)
    report.seconds = time.monotonic() - started
    return report


def one(
    report: Report,
    answers: Answers,
    names: Sequence[str],
    seed: tuple[int, int],
    only: str,
    shrink_seconds: float,
) -> None:
    """Draw a program and check it."""
    program = draw(np.random.default_rng(seed), names, only)
    counts: Counter[str] = Counter()
    before = len(answers.disagreements)
    try:
        failures = check(program, answers, seed, counts)
    except Discarded as error:
        report.discarded[str(error)] += 1
        return
    except Exception as error:
        report.broken[f"{type(error).__name__}: {error}"[:120] + f" (seed {seed})"] += 1
        return
    if len(answers.disagreements) > before:
        report.broken[f"a library and NumPy disagree: {program.operations} (seed {seed})"] += 1
    report.take(counts, program)
    for failure in failures[:1]:
        if len(report.failures) < SHRUNK:
            failure = shrink(failure, answers, shrink_seconds)
        report.fail(name_of(failure), f"# seed {seed}\n{text_of(failure)}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a campaign and print its report; return 1 if something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, help="how long to go on")
    parser.add_argument("--programs", type=int, help="how many programs to draw")
    parser.add_argument("--seed", type=int, help="a number; a fresh one is chosen and printed")
    parser.add_argument("--report", type=Path, help="write the report to this file")
    parser.add_argument("--workers", type=int, default=1, help="how many processes")
    parser.add_argument("--only", default="", help="programs that end in this operation")
    parser.add_argument("--references", default="torch,jax,differences", help="in this order")
    parser.add_argument(
        "--jax-share", type=float, default=0.02,
        help="the share of programs that PyTorch lacks an operation of to compile in JAX; the rest "
        "are compared with differences",
    )  # fmt: skip
    parser.add_argument("--indexing", action="store_true", help="index expressions only")
    given = parser.parse_args(argv)
    seed = secrets.randbelow(10**6) if given.seed is None else given.seed
    if given.minutes is None and given.programs is None:
        given.minutes = 1.0
    print(f"seed {seed}", flush=True)
    settings = {
        "programs": given.programs,
        "minutes": given.minutes,
        "only": given.only,
        "workers": given.workers,
        "references": given.references.split(","),
        "jax_share": given.jax_share,
    }
    started = time.monotonic()
    if given.indexing:
        report = indexing.campaign(seed, given.minutes, given.programs)
    elif given.workers == 1:
        report = campaign(seed, **settings)
    else:
        # by its own name: a new process does not know this module as __main__
        from tests.campaign.__main__ import campaign as work

        context = multiprocessing.get_context("spawn")
        with context.Pool(given.workers) as pool:
            waiting = [
                pool.apply_async(work, (seed,), settings | {"worker": i})
                for i in range(given.workers)
            ]
            report = Report(seed)
            for part in waiting:
                report.merge(part.get())
    report.seconds = time.monotonic() - started
    text = report.markdown()
    print(text)
    if given.report:
        given.report.write_text(text, encoding="utf-8")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
