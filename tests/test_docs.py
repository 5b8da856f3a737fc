"""Every code block of the documents runs, and says what the document says it says.

A ```python block that begins with ``>>>`` is a doctest. Any other is executed, and what it
prints must stand in the ```text block right after it. The blocks of one document share
their names, in order. Warnings are errors.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import fnmatch
import functools
import inspect
import io
import itertools
import linecache
import re
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import wengert as wg
from tests import printed
from wengert import errors
from wengert.extend import REGISTRY

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
DOCUMENTS = [p for p in (ROOT / "README.md", ROOT / "CONTRIBUTING.md") if p.exists()]
DOCUMENTS += sorted(DOCS.rglob("*.md"))


def document_name(path: Path) -> str:
    """Return a document's path within the repository, which names its tests."""
    return path.relative_to(ROOT).as_posix()


class Fenced(NamedTuple):
    """A fenced block of a document: its language, the line its text starts at, and its text."""

    language: str
    line: int
    text: str


def fenced_blocks(document: str) -> Iterator[Fenced]:
    """Return the fenced blocks of a Markdown text, in order."""
    fence, language, start = "", "", 0
    lines: list[str] = []
    for number, line in enumerate(document.splitlines(), 1):
        bare = line.strip()
        if fence and bare == fence:
            indent = len(line) - len(line.lstrip())
            yield Fenced(language, start, "".join(f"{one[indent:]}\n" for one in lines))
            fence, lines = "", []
        elif fence:
            lines.append(line)
        elif match := re.match(r"(`{3,})\s*(\w*)", bare):
            fence, language, start = match[1], match[2], number + 1
    if fence:
        raise ValueError(f"line {start - 1}: this block is never closed")


# -- every block runs -----------------------------------------------------------------------


@contextlib.contextmanager
def document_module(name: str) -> Iterator[dict[str, Any]]:
    """Return the names of an empty module, and afterwards forget what it declared."""
    module = types.ModuleType(name)
    declared = set(REGISTRY)
    sys.modules[name] = module
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield module.__dict__
    finally:
        del sys.modules[name]
        for op in set(REGISTRY) - declared:
            del REGISTRY[op]


def run_document(path: Path) -> int:
    """Run the blocks of a document, and return how many there were."""
    blocks = list(fenced_blocks(path.read_text(encoding="utf-8")))
    count = 0
    with document_module(f"document_{path.stem.lower()}") as names:
        for block, following in itertools.zip_longest(blocks, blocks[1:]):
            if block.language != "python":
                continue
            count += 1
            if block.text.startswith(">>>"):
                run_session(path, block, names)
            else:
                shown = following.text if following and following.language == "text" else ""
                run_script(path, block, names, shown)
    return count


def run_session(path: Path, block: Fenced, names: dict[str, Any]) -> None:
    """Run a block of questions and answers."""
    where = f"{path.name}:{block.line}"
    test = doctest.DocTestParser().get_doctest(block.text, names, where, str(path), block.line - 1)
    test.globs = names  # the parser makes a copy, and later blocks need what this one defines
    complaints = io.StringIO()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(printed.Checker(), optionflags=flags)
    runner.run(test, out=complaints.write, clear_globs=False)
    assert not complaints.getvalue(), f"{where}\n{complaints.getvalue()}"


def run_script(path: Path, block: Fenced, names: dict[str, Any], shown: str) -> None:
    """Run a block of statements, and compare what it prints with what is shown."""
    # blank lines before it make a traceback name the line of the document
    text = "\n" * (block.line - 1) + block.text
    code = compile(text, str(path), "exec")
    # messages that quote the program find it there, as they would in a file
    linecache.cache[str(path)] = (len(text), None, text.splitlines(keepends=True), str(path))
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, names)
    got = [line.rstrip() for line in output.getvalue().splitlines()]
    want = [line.rstrip() for line in shown.splitlines()]
    alike = len(got) == len(want) and all(map(printed.same, got, want))
    assert alike or got == want, f"{path.name}:{block.line} prints something else than it shows"


@pytest.mark.parametrize("path", DOCUMENTS, ids=document_name)
def test_blocks_run(path: Path) -> None:
    run_document(path)


def run_text(tmp_path: Path, text: str) -> int:
    path = tmp_path / "page.md"
    path.write_text(text)
    return run_document(path)


def test_runner_shares_names_and_counts(tmp_path: Path) -> None:
    text = "```python\nx = 1\n```\n\n```python\n>>> x\n1\n>>> y = 2\n```\n"
    text += "```python\nprint(y)\n```\n```text\n2\n```\n"
    assert run_text(tmp_path, text) == 3


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```\n```text\n2\n```\n",
        "```python\nprint(1)\n```\n",
        "```python\n1\n```\n```text\n1\n```\n",
        "```python\n>>> 1\n2\n```\n",
        "```python\nassert False\n```\n",
    ],
)
def test_runner_rejects_what_is_not_so(tmp_path: Path, text: str) -> None:
    with pytest.raises(AssertionError):
        run_text(tmp_path, text)


def test_runner_makes_warnings_errors_and_forgets_operations(tmp_path: Path) -> None:
    declare = "wengert.extend.zero('only_here', compute=lambda xp, x: x)"
    with pytest.raises(UserWarning):
        run_text(
            tmp_path,
            f"```python\nimport warnings, wengert.extend\n{declare}\nwarnings.warn('no')\n```\n",
        )
    assert "only_here" not in REGISTRY


# -- links ----------------------------------------------------------------------------------


def anchors(path: Path) -> set[str]:
    """Return the anchors of a document's headings."""
    text = re.sub(r"^(```+).*?^\1$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", DOCUMENTS, ids=document_name)
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"^(```+).*?^\1$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+://|mailto:", target):
            continue
        file, _, anchor = re.sub(r"#only-(light|dark)$", "", target).partition("#")
        other = (path.parent / file).resolve() if file else path
        assert other.exists(), f"{path.name}: {target}"
        assert not anchor or anchor in anchors(other), f"{path.name}: {target}"


# -- the site ---------------------------------------------------------------------------------

SITE = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
#: Documents of the root that are pages of the site, by docs/site_hooks.py.
FROM_ROOT = {"contributing.md", "changelog.md"}


def test_every_page_is_in_the_navigation_once() -> None:
    listed = re.findall(r"(?:- |: )([\w./-]+\.md)$", SITE.partition("\nnav:\n")[2], flags=re.M)
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert sorted(listed) == sorted(pages | FROM_ROOT)


def test_programs_of_the_documents_are_not_published() -> None:
    assert '\nexclude_docs: "*.py"\n' in SITE


def shown_in_full() -> list[str]:
    """Return the names whose docstrings are on the pages of the API."""
    pages = [page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md")]
    return [name for page in pages for name in re.findall(r"^::: wengert\.(.*)$", page, flags=re.M)]


def test_the_api_pages_show_everything_but_operations() -> None:
    shown = shown_in_full()
    assert len(set(shown)) == len(shown)
    expected = {
        name
        for name in wg.__all__
        if re.match(
            r"wengert\.(transforms|elements|engine|explain|ops\.variable|backends\.host)\b",
            getattr(getattr(wg, name), "__module__", "") or "",
        )
        and name not in REGISTRY
    }
    for module in ("sparse", "optim", "dask"):
        expected |= {f"{module}.{name}" for name in getattr(wg, module).__all__}
    assert expected <= set(shown)
    for name in shown:
        found: Any = sys.modules["wengert"]
        for part in name.split("."):
            found = getattr(found, part)
        assert inspect.getdoc(found)


def picture_texts(path: Path) -> list[str]:
    return re.findall(r"<text [^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


def test_the_picture_says_what_the_library_computes(tmp_path: Path) -> None:
    """The costs in it follow from shapes; drawn anew, with little training, it says the same."""
    script = [sys.executable, str(DOCS / "make_picture.py"), "--steps=1", f"--out={tmp_path}"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    costs = re.findall(r"^(\w+ elements?: [\d,]+)$", done.stdout, flags=re.M)
    assert len(costs) == 2
    front = (DOCS / "index.md").read_text(encoding="utf-8")
    for theme in ("light", "dark"):
        drawn = picture_texts(DOCS / "assets" / f"element-{theme}.svg")
        assert drawn == picture_texts(tmp_path / f"element-{theme}.svg")
        assert set(costs) <= set(drawn)
    assert all(cost.rpartition(" ")[2] in front for cost in costs)


# -- the reference names what there is ------------------------------------------------------


@functools.cache
def reference_rows() -> list[tuple[str, str]]:
    """Return the first cell and the rest of each row of the reference's tables of names."""
    pages = [page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("reference*.md"))]
    names = "".join(re.sub(r"<!-- operations -->.*", "", page, flags=re.S) for page in pages)
    return re.findall(r"^\| (`.*?`) \| (.*) \|$", names, flags=re.M)


def named(prefix: str) -> list[str]:
    """Return the names that the reference lists under a prefix such as ``wg.``."""
    spans = [span for cell, _ in reference_rows() for span in re.findall(r"`(.*?)`", cell)]
    return [m[1] for span in spans if (m := re.match(re.escape(prefix) + r"(\w+)", span))]


def public(thing: object) -> list[str]:
    return [name for name in dir(thing) if not name.startswith("_")]


@pytest.mark.parametrize(
    ("prefix", "names"),
    [
        ("wg.", [*wg.__all__, "__version__", "__array_api_version__"]),
        ("extend.", wg.extend.__all__),
        ("nn.", wg.nn.__all__),
        ("linalg.", wg.linalg.__all__),
        ("fft.", wg.fft.__all__),
        ("special.", wg.special.__all__),
        ("random.", wg.random.__all__),
        ("optim.", wg.optim.__all__),
        ("sparse.", wg.sparse.__all__),
        ("dask.", wg.dask.__all__),
        ("x.", public(wg.Tensor)),
        ("s.", public(type(wg.ones(1).at[0]))),
        ("v.", public(wg.Variable)),
        ("tape.", public(wg.GradientTape)),
        ("forward.", public(wg.ForwardAccumulator)),
        ("plan.", public(wg.sparse.jacobian(wg.sin, 1.0))),
        ("block.", public(wg.Block)),
    ],
)
def test_reference_names_exactly_what_there_is(prefix: str, names: list[str]) -> None:
    listed = named(prefix)
    assert len(set(listed)) == len(listed), "listed twice"
    assert sorted(listed) == sorted(names)


def test_reference_signatures_are_the_real_ones() -> None:
    for cell, _ in reference_rows():
        for span in re.findall(r"`(.*?)`", cell):
            match = re.fullmatch(
                r"(?:wg\.)?((?:linalg|fft|special|nn|random|optim|sparse|dask)\.)?(\w+)\((.*)\)",
                span,
            )
            if match is None or not (span.startswith("wg.") or match[1]):
                continue
            tree = ast.parse(f"def f({match[3]}): ...").body[0]
            assert isinstance(tree, ast.FunctionDef)
            a = tree.args
            written = [
                p.arg for p in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg) if p
            ]
            function = functools.reduce(getattr, ((match[1] or "") + match[2]).split("."), wg)
            real = list(inspect.signature(function).parameters)
            assert written == real, span


def test_reference_lists_every_error() -> None:
    text = (DOCS / "reference.md").read_text(encoding="utf-8")
    table = text.partition("## Errors and warnings")[2]
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, (errors.WengertError, Warning)):
            assert f"| `{name}` |" in table, name


def test_operations_table_is_up_to_date() -> None:
    # a process of its own, because other tests declare operations here
    script = [sys.executable, str(DOCS / "make_tables.py"), "--check"]
    found = subprocess.run(script, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


# -- the architecture names every module -------------------------------------------------------


def test_architecture_names_every_module_and_no_other() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("## What each module does")[2].partition("\n## ")[0]
    patterns = re.findall(r"`([\w/*]+\.py)`", "".join(re.findall(r"^\|.*?\|", table, flags=re.M)))
    package = Path(wg.__file__).parent
    modules = [p.relative_to(package).as_posix() for p in package.rglob("*.py")]
    modules = [m for m in modules if not m.endswith("__init__.py") or m == "backends/__init__.py"]
    unnamed = [m for m in modules if not any(fnmatch.fnmatch(m, p) for p in patterns)]
    stale = [p for p in patterns if not fnmatch.filter(modules, p)]
    assert not unnamed and not stale, (unnamed, stale)


# -- the conventions are proved -------------------------------------------------------------


def test_each_convention_has_its_assertion() -> None:
    text = (DOCS / "conventions.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Z]\d+) \|", text, flags=re.M)
    code = "".join(b.text for b in fenced_blocks(text) if b.language == "python")
    proved = re.findall(r"^ *assert .*# ([A-Z]\d+)$", code, flags=re.M)
    assert rows
    assert len(set(rows)) == len(rows)
    assert set(rows) == set(proved)
