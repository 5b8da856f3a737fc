"""The notebooks of examples/: their form, their page, and the code of the quick ones.

`python -m examples.run` runs all of them as Jupyter does; `.ci/run` calls it.
"""

import ast
import json
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from examples import run

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = run.notebooks()
NAMES = [path.stem for path in NOTEBOOKS]
#: Those that take a second or two.
QUICK = ["bundle_adjustment", "four_ways"]
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)


def cells(path: Path, kind: str) -> list[str]:
    """Return the texts of a notebook's cells of a kind."""
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


def program(path: Path) -> str:
    return "\n".join(cells(path, "code"))


def test_there_are_twelve():
    assert len(NOTEBOOKS) == 12


@each_notebook
def test_outputs_are_stripped(path):
    text = path.read_text(encoding="utf-8")
    assert text == run.stripped(text), "run `python -m examples.run --strip`"
    ids = re.findall(r'^   "id": "(.*)"', text, flags=re.M)
    assert len(set(ids)) == len(ids) > 5


def test_stripping_removes_what_jupyter_leaves():
    text = NOTEBOOKS[0].read_text(encoding="utf-8")
    notebook = json.loads(text)
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"]["scrolled"] = True
        cell["source"] = "".join(cell["source"]) + "\n"
        if cell["cell_type"] == "code":
            cell["execution_count"] = number
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "1"}]
    notebook["metadata"]["kernelspec"]["name"] = "mine"
    assert run.stripped(json.dumps(notebook)) == text


@each_notebook
def test_a_notebook_asks_draws_checks_and_goes_on(path):
    first, *_, last = cells(path, "markdown")
    assert re.fullmatch(r"# [^\n]+\n\n\*\*[^\n]+\*\*", first)
    assert first.count("?") >= 1
    assert re.match(r"## What to try next\n\n- ", last)
    tree = ast.parse(program(path))
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree))
    tagged = json.loads(path.read_text(encoding="utf-8"))["cells"]
    drawn = [cell for cell in tagged if "thumbnail" in cell["metadata"].get("tags", ())]
    assert len(drawn) == 1
    assert "plt." in "".join(drawn[0]["source"])


def test_the_page_shows_every_notebook_once():
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"\[!\[[^]]+\]\(gallery/(\w+)\.png\)\]\(\.\./examples/(\w+)\.ipynb\)", page)
    assert sorted(shown) == [(name, name) for name in NAMES]
    assert sorted(re.findall(r"\*\*\[[^]]+\]\(\.\./examples/(\w+)\.ipynb\)\*\*: ", page)) == NAMES


def test_thumbnails_are_small():
    pictures = sorted(run.THUMBNAILS.glob("*"))
    assert [picture.name for picture in pictures] == [f"{name}.png" for name in NAMES]
    for picture in pictures:
        data = picture.read_bytes()
        assert data.startswith(b"\x89PNG") and len(data) <= run.LIMIT <= 30_000, picture.name


@pytest.mark.parametrize("name", QUICK)
def test_quick_notebooks_run(name, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    script = tmp_path / f"{name}.py"
    script.write_text(program(run.HERE / f"{name}.ipynb"), encoding="utf-8")
    backend = pyplot.get_backend()
    pyplot.switch_backend("agg")
    try:
        with pyplot.rc_context(), warnings.catch_warnings():
            warnings.simplefilter("error")
            runpy.run_path(str(script))
            (figure,) = map(pyplot.figure, pyplot.get_fignums())
            figure.savefig(tmp_path / "figure.png")
    finally:
        pyplot.close("all")
        pyplot.switch_backend(backend)
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_an_unknown_name_is_explained():
    done = subprocess.run(
        [sys.executable, "-m", "examples.run", "eigenvector"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("no notebook eigenvector; there are attention_influence, ")
