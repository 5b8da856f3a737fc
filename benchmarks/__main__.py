"""The command line: ``python -m benchmarks [--list] [--case NAME ...] [--quick] ...``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import peers

_PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the cases and their limits")
    parser.add_argument("--case", nargs="+", metavar="NAME", help="run only these cases")
    parser.add_argument("--quick", action="store_true", help="few rounds: does it work?")
    parser.add_argument(
        "--threads",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="threads (and cores) for every library; fewer than all where others use the machine",
    )
    parser.add_argument(
        "--save",
        nargs="?",
        const=_PAGE,
        type=Path,
        metavar="PATH",
        help="write the tables as Markdown, to docs/benchmarks.md by default",
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 if a must is missed")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return the exit code."""
    parser = _parser()
    options = parser.parse_args(argv)
    peers.set_environment(options.threads)  # before NumPy is imported, which reads it
    from benchmarks import report
    from benchmarks.cases import CASES
    from benchmarks.harness import FULL, QUICK, measure

    unknown = [name for name in options.case or () if name not in CASES]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; there are {', '.join(CASES)}")
    if options.save == _PAGE and options.case:
        parser.error("the page has all cases; leave out --case, or write --save PATH")
    chosen = [CASES[name] for name in options.case or CASES]
    if options.list:
        for case in chosen:
            musts = ", ".join(f"{limit:g} {peer}" for peer, limit in case.must.items())
            print(f"{case.name:22} {case.about} [must: at most {musts}]")
        return 0
    print("\n".join(report.machine()), end="\n\n")
    effort = QUICK if options.quick else FULL
    outcomes = []
    for case in chosen:
        outcomes.append(measure(case, effort))
        print(report.plain(outcomes[-1]), flush=True)
    print(report.summary(outcomes))
    if options.save:
        options.save.parent.mkdir(parents=True, exist_ok=True)
        options.save.write_text(report.markdown(outcomes, effort), encoding="utf-8")
        print(f"written to {options.save}")
    return int(options.check and any(outcome.missed for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
