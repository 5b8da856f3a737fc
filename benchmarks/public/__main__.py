"""`python -m benchmarks.public`: run public programs with their library and with Wengert.

The programs are in `programs.toml`: a repository, the commit, the path. They are fetched with git,
and run twice as they stand, by the same launcher: with the library, and under `wengert run`. All
numbers that a program prints, and those that its global variables hold at its end, are compared.

Besides the libraries, programs import other packages: `pip install captum gpytorch jax matplotlib
pymanopt torchdiffeq torchmetrics`. Without one, "does not run with torch" says which is missing.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tqdm import tqdm

from benchmarks.public.launcher import MARK

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "public-programs.md"
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+|\d+|nan|inf)(?![\w.])")


@dataclass(frozen=True)
class Program:
    """A program, and how its runs are compared."""

    repository: str
    commit: str
    path: str
    library: str
    arguments: list[str] = field(default_factory=list)
    #: where it is run, seen from the repository; its own folder if it is left out
    folder: str = ""
    #: how far numbers may be apart, relative to the larger one and to the largest of the line
    tolerance: float = 1e-4
    #: a pattern of lines that are not compared, such as those with times
    ignored: str = ""
    #: processor seconds that one run may take
    seconds: int = 300
    #: why it does not give the same numbers, if that is known
    because: str = ""

    @property
    def name(self) -> str:
        """The repository's name, the path and the arguments."""
        return " ".join([f"{self.repository.partition('/')[2]}: {self.path}", *self.arguments])


@dataclass(frozen=True)
class Run:
    """What one run of a program gave."""

    output: str
    error: str
    status: int
    seconds: float


def programs() -> list[Program]:
    """Return the table."""
    with open(HERE / "programs.toml", "rb") as file:
        table = tomllib.load(file)
    found = []
    for repository in table["repository"]:
        shared = {k: v for k, v in repository.items() if k != "programs"}
        for row in repository["programs"]:
            found.append(Program(**{**shared, **(row if isinstance(row, dict) else {"path": row})}))
    return found


def clone(program: Program, clones: Path) -> Path:
    """Return a folder with a program's repository at its commit, fetched if it is not there."""
    if program.repository == "wengert/libraries":
        return HERE / "libraries"
    folder = clones / program.repository.replace("/", "+")
    if not folder.exists():
        address = f"https://github.com/{program.repository}"
        subprocess.run(["git", "clone", "-q", address, str(folder)], check=True)
        subprocess.run(["git", "-C", str(folder), "checkout", "-q", program.commit], check=True)
    return folder


def run(program: Program, clones: Path, ours: bool) -> Run:
    """Run a program with its library, or with Wengert."""
    root = clone(program, clones)
    script = root / program.path
    before = ["-m", "wengert", "run"] if ours else []
    command = [
        sys.executable, "-W", "ignore", *before, str(HERE / "launcher.py"), program.library,
        str(script), *program.arguments,
    ]  # fmt: skip
    environment = os.environ | {
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(root)]).strip(":"),
        "PYTHONHASHSEED": "0",
    }  # fmt: skip
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            command, cwd=root / program.folder if program.folder else script.parent,
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=6 * program.seconds,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (program.seconds,) * 2),
        )  # fmt: skip
        output, error, status = done.stdout, done.stderr, done.returncode
    except subprocess.TimeoutExpired:
        output, error, status = "", f"no end after {6 * program.seconds} seconds", -1
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime
    return Run(output, error, status, used)


def lines_of(output: str, ignored: str) -> Iterator[tuple[str, list[float]]]:
    """Return the lines of an output that have numbers, with these."""
    for line in re.split(r"[\n\r]+", output):
        if ignored and re.search(ignored, line):
            continue
        line = re.sub(r"0x[0-9a-f]+|\x1b\[[\d;]*\w", "", line)  # addresses and colours
        found = [float(n) for n in _NUMBER.findall(line)]
        if found:
            yield line, found


def difference(program: Program, theirs: str, ours: str) -> str:
    """Return how two outputs differ; "" if all numbers are the same within the tolerance."""
    one, two = (list(lines_of(text, program.ignored)) for text in (theirs, ours))
    for (line, a), (other, b) in zip(one, two, strict=False):
        if len(a) != len(b):
            return f"`{line.strip()[:60]}` and `{other.strip()[:60]}`"
        scale = 1e-3 * max((abs(v) for v in a if abs(v) < float("inf")), default=0.0)
        if line.startswith(MARK):  # a sum is as exact as the norm, which is the last number
            scale = max(scale, a[-1])
        for x, y in zip(a, b, strict=True):
            if x == y or (x != x and y != y):
                continue
            if not abs(x - y) <= program.tolerance * max(abs(x), abs(y), scale, 1e-6):
                return f"{x:.9g} and {y:.9g} in `{line.strip()[:60]}`"
    if len(one) != len(two):
        return f"{len(one)} lines with numbers, and {len(two)}"
    return "" if one else "there are no numbers"


SAME = "same numbers"
IN_DOUBLE = "same numbers in double precision; in single, rounding grows: "


def compare(program: Program, clones: Path) -> tuple[str, Run, Run]:
    """Run a program twice, and return the outcome in a few words, with the two runs.

    Where numbers of a program for PyTorch differ, both are run once more with numbers of double
    precision: what was rounding, grown in many steps, is gone then.
    """
    theirs = run(program, clones, ours=False)
    if theirs.status:
        return f"does not run with {program.library}: {_last_line(theirs)}", theirs, theirs
    ours = run(program, clones, ours=True)
    if ours.status:
        return f"stops: {_last_line(ours)}", theirs, ours
    apart = difference(program, theirs.output, ours.output)
    if apart and program.library == "torch":
        wide = replace(program, library="torch:double")
        runs = [run(wide, clones, ours=which) for which in (False, True)]
        statuses = [done.status for done in runs]
        if statuses == [0, 0] and not difference(program, *(done.output for done in runs)):
            return IN_DOUBLE + apart, theirs, ours
    return (f"differs: {apart}" if apart else SAME), theirs, ours


def _last_line(done: Run) -> str:
    return (done.error.strip().splitlines()[-1:] or [f"status {done.status}"])[0][:160]


def main() -> int:
    """Run the programs that were asked for, and print or save the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.public", description=__doc__)
    parser.add_argument(
        "--clones", type=Path, default=Path("build/public"), help="where clones are"
    )
    parser.add_argument("--only", default="", help="a pattern of names")
    parser.add_argument("--save", action="store_true", help="write docs/public-programs.md")
    options = parser.parse_args()
    options.clones.mkdir(parents=True, exist_ok=True)
    chosen = [p for p in programs() if re.search(options.only, p.name)]
    rows, same = [], 0
    for program in tqdm(chosen, disable=not sys.stderr.isatty()):
        outcome, theirs, ours = compare(program, options.clones.resolve())
        same += outcome.startswith(SAME)
        rows.append((program, outcome, theirs, ours))
        times = f"{theirs.seconds:.1f} s, {ours.seconds:.1f} s"
        print(f"{program.name}: {outcome} ({times})", flush=True)
    print(f"{same} of {len(rows)} give the same numbers")
    if options.save:
        PAGE.write_text(page(rows))
    return 0


def page(rows: list[tuple[Program, str, Run, Run]]) -> str:
    """Return the page with all outcomes."""
    same = sum(outcome.startswith(SAME) for _, outcome, _, _ in rows)
    lines = [
        "# Public programs",
        "",
        f"These are {len(rows)} programs that others have published, or that use packages by",
        f"others. Of these, {same} give the same numbers under `wengert run`, unchanged, as with",
        "the library that they were written for: the numbers that they print, and those that",
        "their global variables hold at the end. They run with a seed and without a network; in",
        "both runs NumPy draws TensorFlow's random numbers. If single-precision numbers differed",
        "after many steps, both programs ran again in double precision.",
        "`python -m benchmarks.public --save` wrote this page on",
        f"{time.strftime('%Y-%m-%d')}. Times are processor seconds of whole runs on one thread,",
        "including imports.",
        "",
        "| program | commit | library | outcome | library, s | Wengert, s |",
        "|---|---|---|---|---|---|",
    ]
    for program, outcome, theirs, ours in rows:
        words = outcome if not program.because else f"{outcome}; {program.because}"
        words = words.replace("|", "\\|")
        lines.append(
            f"| {program.name} | {program.commit[:10]} | {program.library} | {words} | "
            f"{theirs.seconds:.1f} | {ours.seconds:.1f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
