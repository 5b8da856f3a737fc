"""Whole programs on real TensorFlow and under `wengert run`: the same words and numbers.

The programs are those in tests/dialects/tensorflow/programs, and the Python blocks of texts about
TensorFlow in a folder shared/seeds beside the repository, where there is one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.dialects.program_outputs import assert_same_output

pytestmark = pytest.mark.peers

ROOT = Path(__file__).resolve().parents[3]
SEEDS = ROOT.parent / "shared" / "seeds"
PROGRAMS = sorted((Path(__file__).parent / "programs").glob("[!_]*.py"))

#: Random numbers differ between libraries, so programs that draw some get these.
NUMBERS = """\
import numpy as _np
import tensorflow as _tf
def _drawn(shape, *args, **kwargs):
    n = int(_np.prod(shape))
    return _tf.constant((_np.arange(n) * 0.37 + 1.1).reshape(shape).astype("float32"))
_tf.random.normal = _tf.random.uniform = _drawn
"""
#: Runs each of some files, and prints what each prints and the class of its error, as JSON.
HARNESS = """\
import contextlib, io, json, sys
found = []
for path in sys.argv[1:]:
    out, error = io.StringIO(), None
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(open(path).read(), path, "exec"), {"__name__": "__main__"})
        except Exception as raised:
            error = type(raised).__name__
    found.append([out.getvalue(), error])
print(json.dumps(found))
"""


def blocks() -> dict[str, str]:
    """Return the Python blocks of the texts that are about TensorFlow."""
    found = {}
    for text in sorted(SEEDS.glob("*.txt")):
        fenced = re.findall(r"```python\n(.*?)```", text.read_text(encoding="utf-8"), re.DOTALL)
        for i, code in enumerate(fenced):
            if "import tensorflow" in code:
                prelude = NUMBERS if "tf.random." in code else ""
                found[f"{text.name.partition('_')[0]}-{i}"] = prelude + code
    return found


BLOCKS = blocks() if SEEDS.is_dir() else {}


def run_all(paths: list[Path], *command: str) -> list[Any]:
    """Return what programs print, and the classes of their errors."""
    env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, *command, "-c", HARNESS, *map(str, paths)],
        capture_output=True, text=True, check=True, env=env,
    )  # fmt: skip
    return list(json.loads(done.stdout.splitlines()[-1]))


def compare(programs: dict[str, Path]) -> None:
    paths = list(programs.values())
    theirs, ours = run_all(paths), run_all(paths, "-m", "wengert", "run")
    for name, mine, real in zip(programs, ours, theirs, strict=True):
        if real[1] is None or mine[1] is not None:
            assert mine[1] == real[1], f"{name}: {mine[1]}, not {real[1]}"
        if mine[1] is None and real[1] is None:
            assert_same_output(*mine[:1], *real[:1])


def test_our_programs() -> None:
    compare({path.stem: path for path in PROGRAMS})


def test_recorded_outputs_are_of_tensorflow() -> None:
    for path, (out, error) in zip(PROGRAMS, run_all(PROGRAMS), strict=True):
        assert error is None
        assert_same_output(path.with_suffix(".txt").read_text(), out)


@pytest.mark.skipif(not SEEDS.is_dir(), reason="no folder shared/seeds beside the repository")
def test_blocks_of_texts(tmp_path: Path) -> None:
    paths = {}
    for name, code in BLOCKS.items():
        paths[name] = tmp_path / f"{name}.py"
        paths[name].write_text(code)
    assert len(paths) >= 12
    compare(paths)
