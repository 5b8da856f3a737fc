"""The example programs run, at a small size, and leave their picture."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def test_pixel_influence(tmp_path):
    picture = tmp_path / "influence.png"
    options = ["--size", "32", "--steps", "3", "--out", picture]
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / "pixel_influence.py", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "its influence map took" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_every_example_is_tested():
    assert [path.name for path in sorted(EXAMPLES.glob("*.py"))] == ["pixel_influence.py"]
