"""No operation is outside of the registry, and none is declared in a dialect."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import wengert
from wengert.ops import families

DIALECTS = Path(wengert.__file__).parent / "dialects"
#: Operations that are no mathematics: nodes of values themselves, gates, and calls of programs.
STRUCTURAL = {
    "wengert.dialects.autograd.extend.Primitive",
    "wengert.dialects.torch.checkpoint.Recomputed",
    "wengert.dialects.torch.autograd_function.Custom",
    "wengert.dialects.torch.autograd_function._Once",
    "wengert.dialects.torch.gradients.Hooked",
    "wengert.dialects.torch.hooks.Around",
    "wengert.dialects.torch.nodes.Joint",
    "wengert.ops.gates.Refusal",
    "wengert.ops.gates.Structural",
    "wengert.transforms.checkpoint.Checkpoint",
    "wengert.transforms.traced.Control",
    "wengert.transforms.single_node.Custom",
}
#: Imports everything, calls some operations, and prints each operation that is not registered.
PROBE = """
import gc, importlib, pkgutil
import wengert, wengert.ops, wengert.transforms, wengert.autograd
import wengert.tensorflow as tf, wengert.torch as torch
for package in (wengert.ops, wengert.transforms):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
torch._facade.load_all()
tf._facade.load_all()
x = torch.tensor([0.5, -2.0], requires_grad=True)
functional = torch.nn.functional
for slope in (0.1, 0.2):
    y = functional.leaky_relu(x, slope) + functional.elu(x, slope) + functional.softplus(x, slope)
from wengert.engine.op import ALIAS, LEAF, OUTPUT, Op
from wengert.extend import REGISTRY
{more}
known = {{id(entry.op) for entry in REGISTRY.values()}} | {{id(ALIAS), id(LEAF), id(OUTPUT)}}
for op in gc.get_objects():
    if isinstance(op, Op) and id(op) not in known:
        print(type(op).__module__ + "." + type(op).__qualname__, op.name)
"""


def unregistered(more: str = "") -> dict[str, str]:
    """Return names and classes of operations outside of the registry that are not structural."""
    found = subprocess.run(
        [sys.executable, "-c", PROBE.format(more=more)], capture_output=True, text=True, check=False
    )
    assert not found.returncode, found.stderr
    lines = [line.partition(" ") for line in found.stdout.splitlines()]
    assert len(lines) > 5  # variables and refusals at least
    return {name: kind for kind, _, name in lines if kind not in STRUCTURAL}


def test_every_live_operation_is_in_the_registry() -> None:
    assert unregistered() == {}


def test_an_operation_outside_of_the_registry_is_found() -> None:
    stray = "stray = Op('stray', ('x',), lambda xp, x: x, [lambda xp, g: g])"
    assert unregistered(stray) == {"stray": "wengert.engine.op.Op"}


# -- dialects ---------------------------------------------------------------------------------

#: What is in `families` and neither declares an operation nor makes one.
HARMLESS = {
    "ANYWHERE", "Domain", "Entry", "REGISTRY", "Rule", "Sample", "Tests", "axes", "one_axis",
    "pull_with_mask", "run", "sample",
}  # fmt: skip
DECLARING = {"Op", "Structural", "register", *families.__all__} - HARMLESS
HOMES = ("wengert.ops.families", "wengert.ops.gates", "wengert.extend", "wengert.engine.op")


def declarations(tree: ast.Module) -> list[str]:
    """Return the calls in a file that declare or make an operation, as text."""
    names, modules = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            inside = (node.module or "").startswith(HOMES)
            for alias in node.names:
                local = alias.asname or alias.name
                if inside and alias.name in DECLARING:
                    names.add(local)
                elif f"{node.module}.{alias.name}" in HOMES:
                    modules.add(local)
        elif isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name for alias in node.names if alias.name in HOMES}
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Name) and node.func.id in names)
            or (
                isinstance(node.func, ast.Attribute)
                and node.func.attr in DECLARING
                and ast.unparse(node.func.value) in modules
            )
        )
    ]


def test_no_dialect_declares_an_operation() -> None:
    for path in sorted(DIALECTS.rglob("*.py")):
        found = declarations(ast.parse(path.read_text(encoding="utf-8")))
        assert not found, f"{path.relative_to(DIALECTS)}: {found}; declare it in ops"


@pytest.mark.parametrize(
    "text",
    [
        "from wengert.ops.families import variant\nmaximum = variant(old, 'ties=first')",
        "from wengert.ops.families.elementwise import Elementwise as E\nop = E('sin', ('x',))",
        "from wengert import extend\nsin = extend.elementwise('sin')",
        "import wengert.engine.op\nop = wengert.engine.op.Op('sin', ('x',))",
    ],
)
def test_a_declaration_in_a_dialect_is_found(text: str) -> None:
    assert len(declarations(ast.parse(text))) == 1
