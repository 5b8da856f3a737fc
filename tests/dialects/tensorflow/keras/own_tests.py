"""Run the tests that the package `keras` brings, on TensorFlow and on Wengert, and compare.

python -m tests.dialects.tensorflow.keras.own_tests [--folder F] [FOLDER ...]

The tests are those of the installed package, in the folders named; nothing of them is copied. What
passes on TensorFlow is kept in the folder F, so that another run need not ask TensorFlow again.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path

FOLDERS = (
    "activations", "layers", "losses", "metrics", "models", "optimizers", "trainers", "saving",
    "initializers", "regularizers",
)  # fmt: skip
_SETTINGS = """[pytest]
python_files = *_test.py
addopts = -p no:cacheprovider -p no:xdist -q --tb=line --continue-on-collection-errors
markers =
    requires_trainable_backend: tests that train
    multi_device: tests that need several devices
"""
#: What the tests import from a file that is no part of the package.
_FROM_THEIR_CONFTEST = """
import pytest
import keras

def skip_if_backend(backend, reason):
    return pytest.mark.skipif(keras.backend.backend() == backend, reason=reason)
"""


def outcomes(folder: str, ours: bool, place: Path) -> dict[str, str]:
    """Return "passed" or the error of each test of a folder, without those that are skipped."""
    package = importlib.util.find_spec("keras")
    assert package is not None and package.origin is not None
    (place / "pytest.ini").write_text(_SETTINGS)
    (place / "conftest.py").write_text(_FROM_THEIR_CONFTEST)
    report = place / f"{'wengert' if ours else 'tensorflow'}_{folder}.xml"
    if ours or not report.exists():
        start = ["-m", "wengert", "run", "-m", "pytest"] if ours else ["-m", "pytest"]
        tests = Path(package.origin).parent / "src" / folder
        command = [
            sys.executable, *start, "-c", str(place / "pytest.ini"), f"--rootdir={place}",
            str(tests), f"--junitxml={report}",
        ]  # fmt: skip
        environment = {**os.environ, "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"}
        search = (str(place), os.environ.get("PYTHONPATH"))
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, search))
        subprocess.run(command, env=environment, check=False, capture_output=True)
    found = {}
    for case in xml.parse(report).iter("testcase"):
        wrong = [part for kind in ("failure", "error") for part in case.iter(kind)]
        if case.find("skipped") is None:
            message = wrong[0].get("message", "") if wrong else "passed"
            found[f"{case.get('classname')}.{case.get('name')}"] = message
    return found


def main() -> None:
    """Print, for each folder, how many tests pass on TensorFlow and how many of these here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("keras_own_tests"))
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    total: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for folder in options.folders:
        theirs = outcomes(folder, False, options.folder.absolute())
        ours = outcomes(folder, True, options.folder.absolute())
        passing = [name for name, message in theirs.items() if message == "passed"]
        wrong = {name: ours.get(name, "not run") for name in passing}
        wrong = {name: message for name, message in wrong.items() if message != "passed"}
        total.update(theirs=len(passing), ours=len(passing) - len(wrong))
        print(f"{folder}: {len(passing)} pass on TensorFlow, {len(passing) - len(wrong)} here")
        for name, message in sorted(wrong.items()):
            print(f"    {name}: {message.splitlines()[0] if message else ''!r:.200}")
            reasons[message.splitlines()[0][:100] if message else ""] += 1
    print(f"all: {total['theirs']} and {total['ours']}, {total['ours'] / total['theirs']:.1%}")
    for reason, count in reasons.most_common():
        print(f"{count:5} {reason}")


if __name__ == "__main__":
    main()
