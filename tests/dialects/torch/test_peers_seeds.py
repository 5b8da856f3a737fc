"""Whole programs on real PyTorch and under `wengert run`: the same words and numbers.

The programs are the Python blocks of texts about PyTorch in a folder shared/seeds beside the
repository, where there is one.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.dialects.program_outputs import assert_same_output

pytestmark = pytest.mark.peers

SEEDS = Path(__file__).resolve().parents[4] / "shared" / "seeds"

#: Random numbers differ between libraries, so programs that draw some get these.
NUMBERS = """\
import numpy as _np
import torch as _torch
def _drawn(*shape, requires_grad=False):
    n = int(_np.prod(shape))
    numbers = (_np.arange(n) * 0.37 + 1.1).reshape(shape).astype("float32")
    return _torch.tensor(numbers, requires_grad=requires_grad)
_torch.randn = _torch.rand = _drawn
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
    """Return the Python blocks of the texts that are about PyTorch."""
    found = {}
    for text in sorted(SEEDS.glob("*.txt")):
        fenced = re.findall(r"```python\n(.*?)```", text.read_text(encoding="utf-8"), re.DOTALL)
        for i, code in enumerate(fenced):
            if "import torch" in code:
                found[f"{text.name.partition('_')[0]}-{i}"] = NUMBERS + code
    return found


BLOCKS = blocks() if SEEDS.is_dir() else {}


def run_all(paths: list[Path], *command: str) -> list[Any]:
    """Return what programs print, and the classes of their errors."""
    done = subprocess.run(
        [sys.executable, *command, "-c", HARNESS, *map(str, paths)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return list(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.skipif(not SEEDS.is_dir(), reason="no folder shared/seeds beside the repository")
def test_blocks_of_texts(tmp_path: Path) -> None:
    paths = {}
    for name, code in BLOCKS.items():
        paths[name] = tmp_path / f"{name}.py"
        paths[name].write_text(code)
    assert len(paths) >= 3
    theirs, ours = (
        run_all(list(paths.values()), *command) for command in ((), ("-m", "wengert", "run"))
    )
    ran = 0
    for name, mine, real in zip(paths, ours, theirs, strict=True):
        assert mine[1] is None, f"{name}: {mine[1]}"
        if real[1] is None:  # one saves a number for backward, which only here works
            assert_same_output(mine[0], real[0])
            ran += 1
    assert ran >= 2


@pytest.mark.skipif(not SEEDS.is_dir(), reason="no folder shared/seeds beside the repository")
def test_the_block_that_saves_a_number(tmp_path: Path) -> None:
    name, code = next((n, c) for n, c in BLOCKS.items() if "save_for_backward" in c)
    path = tmp_path / f"{name}.py"
    path.write_text(code)
    ((out, error),) = run_all([path], "-m", "wengert", "run")
    assert error is None
    assert out == "Gradient using custom function: 4.0\n"
