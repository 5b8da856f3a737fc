"""Wengert as the array library of SciPy and scikit-learn."""

import os
import subprocess
import sys
from pathlib import Path


def test_gradients_through_scipy_and_scikit_learn():
    programs = Path(__file__).with_name("scipy_programs.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", programs],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
