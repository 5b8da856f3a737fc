"""The command `wengert`: a version to print, and programs to run."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence

import wengert
from wengert import demo, runner


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wengert", description="Exact derivatives of array programs."
    )
    parser.add_argument("--version", action="version", version=f"wengert {wengert.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "demo",
        help="run small programs and print what they find",
        description="Run small programs; each prints its question, its answers and its time.",
        epilog="programs: " + ", ".join(demo.PROGRAMS),
    )
    run.add_argument(
        "names", nargs="*", type=_program, metavar="NAME", help="which; all by default"
    )
    commands.add_parser(
        "run",
        help="run a program written for PyTorch, TensorFlow or HIPS autograd, as it stands",
        usage=runner.USAGE.removeprefix("usage: "),
        add_help=False,
    )
    return parser


def _program(name: str) -> str:
    if name not in demo.PROGRAMS:
        raise argparse.ArgumentTypeError(
            f"no program {name!r}; there are {', '.join(demo.PROGRAMS)}"
        )
    return name


def _width_and_bold() -> tuple[int, bool]:
    """Return the columns to fill, and whether the reader is a terminal that shows bold."""
    if not sys.stdout.isatty():
        return 80, False
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return min(shutil.get_terminal_size().columns, 100), not plain


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["run"]:
        return runner.run(given[1:])  # what follows is the program's, options and all
    options = _parser().parse_args(given)
    width, bold = _width_and_bold()
    try:
        for position, name in enumerate(options.names or demo.PROGRAMS):
            report, seconds = demo.timed(name)
            if position:
                print()
            print(demo.render(name, report, seconds, width, bold), end="", flush=True)
    except BrokenPipeError:  # the reader has seen enough, as in `wengert demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
