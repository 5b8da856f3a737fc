"""The command `wengert`: a version to print, and programs to run."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

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
    _add_inspect(commands)
    return parser


def _add_inspect(commands: Any) -> None:
    look = commands.add_parser(
        "inspect",
        help="run a program and open a page that shows what depends on what in it",
        description="Run a Python program, and open a page that shows what depends on what in it. "
        "The command ends when the page is closed.",
    )
    look.add_argument("--port", type=int, help="where to serve the page; if in use, the next one")
    look.add_argument("--host", default="127.0.0.1", help="where to listen; loopback by default")
    look.add_argument("--no-browser", action="store_true", help="print the address only")
    look.add_argument("--stay", action="store_true", help="go on when the page is closed")
    look.add_argument("--export", metavar="FILE", help="write a page that needs no server, and end")
    look.add_argument("--png", metavar="FOLDER", help="write pictures, and end")
    look.add_argument("script", help="the program")
    look.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program is given")


def _program(name: str) -> str:
    if name not in demo.PROGRAMS:
        raise argparse.ArgumentTypeError(
            f"no program {name!r}; there are {', '.join(demo.PROGRAMS)}"
        )
    return name


def _terminal() -> tuple[int, bool, int]:
    """Return the columns to fill, whether bold is shown, and how many colours, 0 if too few."""
    if not sys.stdout.isatty():
        return 80, False, 0
    width, kind = min(shutil.get_terminal_size().columns, 100), os.environ.get("TERM", "")
    if os.environ.get("NO_COLOR") or kind == "dumb":
        return width, False, 0
    if os.environ.get("COLORTERM") in ("truecolor", "24bit") or "WT_SESSION" in os.environ:
        return width, True, 1 << 24
    return width, True, 256 if "256" in kind else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["run"]:
        return runner.run(given[1:])  # what follows is the program's, options and all
    options = _parser().parse_args(given)
    if options.command == "inspect":
        return import_module("wengert.inspector.command").run(options)
    width, bold, colours = _terminal()
    try:
        for position, name in enumerate(options.names or demo.PROGRAMS):
            report, seconds = demo.timed(name)
            if position:
                print()
            print(demo.render(name, report, seconds, width, bold, colours), end="", flush=True)
        if not options.names:
            print(f"\nNext, a program for PyTorch, which need not be installed:\n  {demo.NEXT}")
    except BrokenPipeError:  # the reader has seen enough, as in `wengert demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
