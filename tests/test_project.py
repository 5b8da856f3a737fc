"""What holds for the project as a whole: its layers, its size, its packaging, its examples."""

import ast
import doctest
import functools
import graphlib
import importlib
import io
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import wengert as wg
from tests import printed
from wengert.extend import REGISTRY
from wengert.ops.namespace import INTERNAL, PUBLIC
from wengert.other_names import INSTEAD

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(wg.__file__).resolve().parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
TEST_COMMAND = "pip install '.[test]' && pytest"
DEMO_COMMAND = "pip install . && wengert demo"

#: From the bottom up. A module that is in none of these is above all of them.
LAYERS = [
    "errors", "other_names", "trees", "regions", "backends", "engine", "ops", "elements", "explain",
    "transforms", "optim", "dialects",
]  # fmt: skip
#: The one look upwards: a tensor's namespace is wengert itself.
UPWARD = {("ops/operators.py", "wengert")}
#: What the engine asks of a namespace by name, to handle cotangents and values of any operation:
#: shape (of broadcast arguments), dtype, the values it makes itself, and the parts that
#: cotangents are made of.
STRUCTURAL = {
    "any", "asarray", "astype", "broadcast_to", "complex64", "complex128", "concat", "copy",
    "embed", "flip", "float32", "float64", "keep", "moveaxis", "ones", "put", "real", "reshape",
    "scatter", "stack", "sum", "take", "zeros", "zeros_like",
}  # fmt: skip
#: What is read in one sitting, and how many lines of code that may be.
ENGINE_LIMIT = 3000
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages([str(PACKAGE)], "wengert.")
    if module.name != "wengert.__main__"  # importing it runs the command
)


def sources(folder: Path = PACKAGE) -> list[tuple[str, ast.Module]]:
    """Return the path within the package and the syntax tree of every file."""
    return [
        (path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(folder.rglob("*.py"))
    ]


def run_python(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


# -- layers -----------------------------------------------------------------------------------


def imports(path: str, tree: ast.Module) -> set[str]:
    """Return the dotted names of all modules of ours that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: write the import with its full name"
            module = node.module or ""
            if module == "wengert":  # from wengert import backends
                found.update(f"wengert.{alias.name}" for alias in node.names)
            else:
                found.add(module)
    return {name for name in found if name.partition(".")[0] == "wengert"}


def level(part: str) -> int:
    return LAYERS.index(part) if part in LAYERS else len(LAYERS)


def upward_imports(path: str, tree: ast.Module) -> set[tuple[str, str]]:
    """Return (file, module) for each import of a layer above the file's own."""
    here = level(path.partition("/")[0].removesuffix(".py"))
    return {(path, name) for name in imports(path, tree) if level(f"{name}.".split(".")[1]) > here}


def test_layers_import_only_downwards():
    found = set().union(*(upward_imports(path, tree) for path, tree in sources()))
    assert found == UPWARD


@pytest.mark.parametrize(
    "line", ["import wengert.ops", "from wengert import ops", "from wengert.ops.shapes import tile"]
)
def test_the_test_of_layers_finds_a_wrong_one(line):
    tree = ast.parse(f"def late():\n    {line}")
    assert upward_imports("engine/some.py", tree)
    assert not upward_imports("transforms/some.py", tree)


def package_of(module: str) -> list[str]:
    """Return the package that a module is a part of: one of wengert's, or a dialect."""
    parts = module.split(".")
    return parts[: 3 if parts[1:2] == ["dialects"] else 2]


def private_names(path: str, tree: ast.Module) -> set[str]:
    """Return the private names of other packages that a file imports or reads of a module."""
    here = package_of("wengert." + path.removesuffix(".py").replace("/", "."))
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, ast.Import):
            names = {a.asname or a.name: a.name for a in node.names}
        else:
            continue
        known.update(names)
    used = set(known.values()) | {
        f"{known[base]}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and (base := ast.unparse(node.value)) in known
    }
    return {
        name
        for name in used
        for module, _, last in [name.rpartition(".")]
        if module.startswith("wengert") and re.match("_(?!_)", last)
        if package_of(module) != here and module.rpartition(".")[2].islower()
    }


def test_no_private_name_of_another_package_is_used():
    found = set().union(*(private_names(path, tree) for path, tree in sources()))
    assert found == set()


@pytest.mark.parametrize(
    "lines",
    [
        "from wengert.ops.sorting import _best",
        "from wengert.ops import sorting\nsorting._best",
        "import wengert.ops.sorting as s\ns._best",
    ],
)
def test_the_test_of_private_names_finds_one(lines):
    assert private_names("optim/some.py", ast.parse(lines))
    assert not private_names("ops/some.py", ast.parse(lines))


def namespace_names(tree: ast.Module) -> set[str]:
    """Return the attributes that a file reads of a namespace: of xp, or of what one returns."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and re.fullmatch(r"xp|.*\._namespace|.*namespace_of\(.*\)", ast.unparse(node.value))
    }


def test_engine_names_no_operation():
    operations = {*REGISTRY, *PUBLIC, *INTERNAL}
    used: set[str] = set()
    for path, tree in sources(PACKAGE / "engine"):
        used |= namespace_names(tree) & (operations | {"copy"})
        named = {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        dtypes = {name for name in PUBLIC if re.fullmatch(r"(float|complex)\d+", name)}
        assert not named & operations - dtypes, path
    assert used <= STRUCTURAL


def test_names_of_other_libraries_are_answered():
    for name, instead in INSTEAD.items():
        assert not hasattr(wg, name)
        with pytest.raises(AttributeError, match=re.escape(instead)):
            getattr(wg, name)
        for known in re.findall(r"wg\.([\w.]+)", instead):
            assert functools.reduce(getattr, known.split("."), wg)
    with pytest.raises(AttributeError, match="no attribute 'nothing_like_this'$"):
        wg.nothing_like_this  # noqa: B018


def test_the_engine_is_small():
    files = (PACKAGE / "engine").glob("*.py")
    assert sum(len(file.read_text("utf-8").splitlines()) for file in files) <= ENGINE_LIMIT


def test_no_file_of_the_package_is_long():
    lengths = {p: len(p.read_text("utf-8").splitlines()) for p in PACKAGE.rglob("*.py")}
    assert {p.name: n for p, n in lengths.items() if n > 700} == {}


def test_the_kernel_knows_no_framework():
    for path, tree in sources(PACKAGE / "dialects" / "kernel"):
        imported = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        outside = [m for m in imported if m.startswith(("wengert.dialects", "wengert.ops"))]
        assert all(m.startswith("wengert.dialects.kernel") for m in outside), path


# -- cycles -----------------------------------------------------------------------------------

#: How many imports of our own modules are inside of functions: what is loaded late on purpose, and
#: what would be a cycle otherwise.
LATE_IMPORTS = 30


def imported_modules(tree: ast.AST) -> set[str]:
    """Return the modules of ours that the statements directly below a node import."""
    found = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("wengert"):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (names & {*MODULES}) or {str(node.module)}
    return found


def test_modules_do_not_import_each_other_in_a_circle():
    graph = {
        "wengert." + path.removesuffix(".py").replace("/", "."): imported_modules(tree)
        for path, tree in sources()
        if not path.endswith("__init__.py")
    }
    graphlib.TopologicalSorter(graph).prepare()  # which raises for a cycle


def test_late_imports_do_not_grow():
    late = set()
    for _, tree in sources():
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                late.update(n for n in ast.walk(function) if isinstance(n, ast.ImportFrom))
    ours = [n for n in late if (n.module or "").startswith("wengert")]
    assert len(ours) <= LATE_IMPORTS


# -- importing --------------------------------------------------------------------------------

HEAVY = [
    "scipy", "jax", "torch", "tensorflow", "cupy", "dask", "distributed", "tqdm",
    "array_api_compat", "optree",
]  # fmt: skip


def test_import_is_light():
    probe = f"import sys, wengert; print([m for m in {HEAVY} if m in sys.modules])"
    found = run_python("-c", probe)
    assert (found.stdout, found.stderr) == ("[]\n", "")


def test_a_gradient_of_numpy_arrays_is_light():
    probe = (
        "import sys, numpy as np, wengert as wg\n"
        "assert wg.grad(lambda x: wg.sum(x * x))(np.ones(2)).tolist() == [2, 2]\n"
        f"print([m for m in {[m for m in HEAVY if m != 'optree']} if m in sys.modules])"
    )
    found = run_python("-c", probe)
    assert (found.stdout, found.stderr) == ("[]\n", "")


def imported(name):
    """Return a module; the test is skipped if it is for a library that is not here."""
    table = re.fullmatch(r"wengert\.(?:backends\.(torch|cupy|dask)_\w+|(dask))", name)
    if table:
        pytest.importorskip(table[1] or table[2])
    return importlib.import_module(name)


@pytest.mark.parametrize("name", ["wengert", *MODULES])
def test_every_public_name_exists(name):
    module = imported(name)
    names = getattr(module, "__all__", [])
    assert len(set(names)) == len(names)
    assert [n for n in names if not hasattr(module, n)] == []


@pytest.mark.parametrize("name", ["wengert", *MODULES])
def test_doctests(name):
    module = imported(name)
    complaints = io.StringIO()
    runner = doctest.DocTestRunner(
        printed.Checker(),
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
        verbose=False,
    )
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        runner.run(test, out=complaints.write)
    assert not complaints.getvalue(), complaints.getvalue()


def test_unknown_names_are_errors():
    with pytest.raises(AttributeError, match="no attribute 'gradd'"):
        wg.gradd  # noqa: B018


@pytest.mark.parametrize("name", ["wengert", *MODULES])
def test_modules_say_that_they_lack_a_name_as_python_expects(name):
    # Debuggers and compilers ask every loaded module for names, and stop at another exception.
    assert not hasattr(imported(name), "torch_")


# -- tests ------------------------------------------------------------------------------------

TESTS = ROOT / "tests"
TEST_FILES = sorted(TESTS.rglob("*.py"))
#: How long a file of tests may be, and how much the recorded answers may take: in one file, which
#: is what pre-commit lets pass, and in all.
MOST_LINES = 800
MOST_BYTES_OF_A_FILE, MOST_BYTES = 500 * 1024, 5_000_000


def test_no_file_of_tests_is_long():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in TEST_FILES}
    assert {str(path): n for path, n in lengths.items() if n > MOST_LINES} == {}


def test_no_file_is_muted_for_the_linter():
    muted = re.compile(r"^#\s*(ruff|flake8):\s*noqa|^#\s*fmt: off", flags=re.M)
    assert [str(p) for p in TEST_FILES if muted.search(p.read_text(encoding="utf-8"))] == []
    assert list(PYPROJECT["tool"]["ruff"]["lint"]["per-file-ignores"].items()) == [
        ("tests/**", ["D"])
    ]
    assert "exclude" not in PYPROJECT["tool"]["ruff"]
    generated = ["src/wengert/torch/*.pyi", "src/wengert/tensorflow/*.pyi"]
    assert PYPROJECT["tool"]["ruff"]["extend-exclude"] == generated


def test_every_folder_of_tests_says_what_belongs_in_it():
    for folder in {path.parent for path in TEST_FILES}:
        init = folder / "__init__.py"
        assert init.is_file(), f"{folder} has no __init__.py"
        assert ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))), f"{init}: say it"


def test_recorded_answers_are_small_and_have_their_tests():
    found = sorted(TESTS.rglob("recorded/*"))
    sizes = [path.stat().st_size for path in found]
    assert max(sizes) <= MOST_BYTES_OF_A_FILE and sum(sizes) <= MOST_BYTES
    for path in found:
        tests = path.parent.parent / path.name.replace(".json.gz", ".py")
        assert tests.is_file(), f"{path}: no tests ask for these answers; delete the file"


# -- conformance ------------------------------------------------------------------------------


def test_every_expected_failure_has_a_reason():
    """The suite itself runs by tests/array_api/run.py, on a checkout of it."""
    paragraphs = (ROOT / "tests/array_api/xfails.txt").read_text(encoding="utf-8").split("\n\n")
    entries = [line for p in paragraphs for line in p.splitlines() if not line.startswith("#")]
    assert entries and len(set(entries)) == len(entries)
    assert all(entry.startswith("array_api_tests/") for entry in entries)
    assert all(p.startswith("# ") for p in paragraphs)


# -- packaging --------------------------------------------------------------------------------


def test_version_is_the_same_everywhere():
    assert PROJECT["version"] == wg.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{wg.__version__}]" in changelog


def test_the_package_says_that_it_has_types():
    assert (PACKAGE / "py.typed").is_file()
    assert "Typing :: Typed" in PROJECT["classifiers"]


def test_it_depends_on_four_packages():
    names = [re.split("[<>=]", each)[0] for each in PROJECT["dependencies"]]
    assert names == ["numpy", "scipy", "array-api-compat", "optree"]


def test_the_oldest_dependencies_are_tested():
    oldest = (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8").split()
    assert [each.replace("==", ">=") for each in oldest] == PROJECT["dependencies"]


def test_the_command_is_there():
    module, _, function = PROJECT["scripts"]["wengert"].partition(":")
    assert callable(getattr(importlib.import_module(module), function))
    shown = run_python("-m", "wengert", "--version")
    assert (shown.stdout, shown.stderr) == (f"wengert {wg.__version__}\n", "")
    found = run_python("-m", "wengert", "demo", "within", env={**os.environ, "COLUMNS": "20"})
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("within: ")
    assert "\x1b" not in found.stdout


def test_readme_commands_are_what_is_checked():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^```bash\n(.*?)\n```$", readme, flags=re.M | re.S)
    assert commands[:2] == [DEMO_COMMAND, TEST_COMMAND]
    first_look = commands[2].split()
    assert first_look[0] == "pytest" and all((ROOT / path).exists() for path in first_look[1:])
    assert len(commands) == 3
    assert readme.count("pip install '.[test]'") == 1  # .ci/run finds the command by this
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert f"- run: {TEST_COMMAND}\n" in workflow


def test_the_check_of_everything_can_run():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text(encoding="utf-8").startswith("#!/usr/bin/env bash\n")


def test_every_python_version_is_tested():
    classifiers = re.findall(r":: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    matrix = re.search(r"python-version: \[(.*)\]", workflow)
    assert matrix is not None
    assert re.findall(r'"(.*?)"', matrix[1]) == classifiers
    assert PROJECT["requires-python"] == f">={classifiers[0]}"
