"""Run the tests that packages bring, with the library they were written for and with Wengert.

    python -m benchmarks.public.own_tests [--folder F] [--clones C] [SUITE ...]

Keras's tests are those of the installed package; those of other packages are fetched with git, and
nothing of them is copied. What passes with the library is kept in the folder F, so that another run
need not ask it again.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.public.__main__ import Program, clone

_KERAS = (
    "activations", "layers", "losses", "metrics", "models", "optimizers", "trainers", "saving",
    "initializers", "regularizers",
)  # fmt: skip
_SETTINGS = """[pytest]
python_files = *_test.py *_tests.py test_*.py
addopts = -p no:cacheprovider -p no:xdist -q --tb=line --continue-on-collection-errors
markers =
    requires_trainable_backend: tests that train
    multi_device: tests that need several devices
"""
#: What Keras's tests import from a file that is no part of the package.
_FROM_THEIR_CONFTEST = """
import pytest

def skip_if_backend(backend, reason):
    import keras
    return pytest.mark.skipif(keras.backend.backend() == backend, reason=reason)
"""


@dataclass(frozen=True)
class Suite:
    """Tests of a package: where they are, and what they need."""

    library: str
    #: seen from the repository, or from the package that is installed
    path: str
    repository: str = ""
    commit: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def tests(self, clones: Path) -> tuple[Path, list[Path]]:
        """Return the folder of the tests, and folders to import from."""
        if self.repository:
            root = clone(Program(self.repository, self.commit, self.path, self.library), clones)
            return root / self.path, [root, root / self.path]
        package = importlib.util.find_spec("keras")
        if package is None or package.origin is None:
            raise ImportError("keras is not installed; write pip install keras")
        return Path(package.origin).parent / "src" / self.path, []


SUITES = {
    f"keras-{folder}": Suite("tensorflow", folder, environment={"KERAS_BACKEND": "tensorflow"})
    for folder in _KERAS
} | {
    "einops": Suite(
        "torch",
        "einops/tests",
        "arogozhnikov/einops",
        "ccb89f27599f26d7140a1bd2703305309fe3a3bd",
        {"EINOPS_TEST_BACKENDS": "numpy,torch"},
    ),
    "torchdiffeq": Suite(
        "torch", "tests", "rtqichen/torchdiffeq", "657943acefa826ef04c025ebeb1ff5e9d60dc268"
    ),
}


def outcomes(name: str, ours: bool, place: Path, clones: Path) -> dict[str, str]:
    """Return "passed" or the error of each test of a suite, without those that are skipped."""
    suite = SUITES[name]
    (place / "pytest.ini").write_text(_SETTINGS)
    (place / "conftest.py").write_text(_FROM_THEIR_CONFTEST)
    report = place / f"{'wengert' if ours else suite.library}_{name}.xml"
    if ours or not report.exists():
        tests, roots = suite.tests(clones)
        start = ["-m", "wengert", "run", "-m", "pytest"] if ours else ["-m", "pytest"]
        command = [
            sys.executable, *start, "-c", str(place / "pytest.ini"), f"--rootdir={place}",
            str(tests), f"--junitxml={report}",
        ]  # fmt: skip
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **suite.environment}
        search = [place, *roots, os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, map(str, search)))
        subprocess.run(command, env=environment, check=False, capture_output=True, cwd=place)
    found: dict[str, str] = {}
    for case in xml.parse(report).iter("testcase"):
        wrong = [part for kind in ("failure", "error") for part in case.iter(kind)]
        if case.find("skipped") is None:
            test = f"{case.get('classname')}.{case.get('name')}"
            message = wrong[0].get("message", "") if wrong else "passed"
            if found.get(test, "passed") == "passed":  # each part of a test has an entry
                found[test] = message
    return found


def main() -> None:
    """Print, for each suite, how many tests pass with the library and how many of these here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/own_tests"))
    parser.add_argument(
        "--clones", type=Path, default=Path("build/public"), help="where clones are"
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"some of {', '.join(SUITES)}")
    options = parser.parse_args()
    unknown = set(options.suites) - set(SUITES)
    if unknown:
        parser.error(f"no suite {', '.join(sorted(unknown))}; there are {', '.join(SUITES)}")
    for folder in (options.folder, options.clones):
        folder.mkdir(parents=True, exist_ok=True)
    places = options.folder.absolute(), options.clones.absolute()
    total: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for name in options.suites or SUITES:
        theirs, ours = (outcomes(name, which, *places) for which in (False, True))
        passing = [test for test, message in theirs.items() if message == "passed"]
        wrong = {test: ours.get(test, "not run") for test in passing}
        wrong = {test: message for test, message in wrong.items() if message != "passed"}
        right = len(passing) - len(wrong)
        total.update(theirs=len(passing), ours=right)
        print(f"{name}: {len(passing)} pass with {SUITES[name].library}, {right} of them here")
        for test, message in sorted(wrong.items()):
            print(f"    {test}: {message.splitlines()[0] if message else ''!r:.200}")
            reasons[message.splitlines()[0][:100] if message else ""] += 1
    share = f"{total['ours'] / total['theirs']:.1%}" if total["theirs"] else "no test passes"
    print(f"all: {total['theirs']} and {total['ours']}, {share}")
    for reason, count in reasons.most_common():
        print(f"{count:5} {reason}")


if __name__ == "__main__":
    main()
