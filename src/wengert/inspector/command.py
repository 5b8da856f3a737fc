"""The command `wengert inspect`: run a script, and open its page or write it to files."""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser

from wengert.inspector import export
from wengert.inspector.api import Api
from wengert.inspector.program import Program, script
from wengert.inspector.ways_in import Inspector


def run(options: argparse.Namespace) -> int:
    """Run what the arguments of `wengert inspect` say, and return the exit status."""
    path = options.script
    if not os.path.isfile(path):
        kind = "a directory" if os.path.isdir(path) else "no file"
        return _refuse(f"{path} is {kind}, seen from {os.getcwd()}; give the path of a script")
    program = Program(os.path.basename(path))
    if options.export or options.png:
        script(program, path, options.arguments)
        return _written(program, options)
    inspector = Inspector(program, options.port, options.host)
    print(f"wengert inspect: {inspector.address}", flush=True)
    if not options.no_browser:
        webbrowser.open(inspector.address)
    try:
        script(program, path, options.arguments)
        if program.status == "failed":
            print(program.message, end="", file=sys.stderr, flush=True)
        inspector.wait(stay=options.stay)
    except KeyboardInterrupt:
        pass
    finally:
        inspector.close()
    return 0


def _written(program: Program, options: argparse.Namespace) -> int:
    """Write a page, or pictures, of a program that has ended."""
    api = Api(program)
    if options.export:
        export.write_page(api, options.export)
        print(f"wengert inspect: wrote {options.export}")
    if options.png:
        if program.session is None:
            return _refuse(f"there are no pictures to write. {program.message}")
        try:
            paths = export.write_pictures(api, options.png)
        except ImportError:
            return _refuse("pictures need Matplotlib; write pip install 'wengert[inspect]'")
        for path in paths:
            print(f"wengert inspect: wrote {path}")
    if program.status != "finished":
        print(program.message, end="", file=sys.stderr)
    return 0 if program.status == "finished" else 1


def _refuse(problem: str) -> int:
    print(f"wengert inspect: {problem}", file=sys.stderr)
    return 2
