"""Run the Array API standard's own tests on wengert.

    git clone --recurse-submodules https://github.com/data-apis/array-api-tests
    python tests/array_api/run.py array-api-tests [options of pytest]

The suite is no package that could be installed, so a checkout of it is needed, and what its
requirements.txt names. Expected failures are in xfails.txt beside this file, each with its
reason.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

XFAILS = Path(__file__).with_name("xfails.txt").resolve()
OPTIONS = ["--max-examples=100", "--disable-deadline", "-q", "-p", "no:cacheprovider"]


def main(arguments: list[str]) -> int:
    """Run the suite in the folder that is the first argument."""
    if not arguments or not Path(arguments[0], "array_api_tests").is_dir():
        print(__doc__)
        return 2
    command = [sys.executable, "-m", "pytest", "array_api_tests", *OPTIONS]
    command += [f"--xfails-file={XFAILS}", *arguments[1:]]
    environment = {**os.environ, "ARRAY_API_TESTS_MODULE": "wengert"}
    return subprocess.run(command, cwd=arguments[0], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
