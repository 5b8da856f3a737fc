"""Programs of others with `tape.watch` taken out: what is said is to put it back.

The programs are the Python blocks of the texts in a folder shared/seeds beside the repository,
where there is one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Beside the repository, or beside the folder of its working trees.
PLACES = [folder / "shared" / "seeds" for folder in (ROOT.parent, ROOT.parents[1])]
SEEDS = next((place for place in PLACES if place.is_dir()), PLACES[0])
WATCH = re.compile(r"^\s*(\w+)\.watch\(([\w.]+)\).*$", flags=re.M)


def watching_blocks() -> dict[str, str]:
    """Return the programs that tell a tape what to watch."""
    found = {}
    for text in sorted(SEEDS.glob("*.txt")):
        blocks = re.findall(r"```python\n(.*?)```", text.read_text(encoding="utf-8"), re.DOTALL)
        for i, code in enumerate(blocks):
            if "import tensorflow" in code and WATCH.search(code):
                found[f"{text.name.partition('_')[0]}-{i}"] = code
    return found


BLOCKS = watching_blocks() if SEEDS.is_dir() else {}


@pytest.mark.skipif(not SEEDS.is_dir(), reason="no folder shared/seeds beside the repository")
def test_there_are_such_programs() -> None:
    assert len(BLOCKS) >= 4


@pytest.mark.parametrize("name", BLOCKS)
def test_watch_that_is_missing_is_to_be_put_back(name: str, tmp_path: Path) -> None:
    code = BLOCKS[name]
    tape, source = WATCH.search(code).groups()  # type: ignore[union-attr]
    lines = WATCH.sub("", code).splitlines()
    path = tmp_path / "program.py"
    path.write_text("\n".join(lines))
    # the line where the tape first meets the source
    inside = next(i for i, line in enumerate(lines) if f"as {tape}:" in line)
    used = next(
        i for i, line in enumerate(lines) if i > inside and re.search(rf"\b{source}\b", line)
    )
    done = subprocess.run(
        [sys.executable, "-m", "wengert", "run", "--why", str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"at {path}:{used + 1}: {lines[used].strip()}" in done.stderr
    assert f"Write {tape}.watch({source}) inside of `with ... as {tape}:`" in done.stderr
