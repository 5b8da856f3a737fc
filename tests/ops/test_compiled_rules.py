"""Rules as expressions that a library compiles: the same numbers as the rules themselves."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert import backends, special
from wengert.backends.namespace import FUNCTIONS
from wengert.extend import REGISTRY
from wengert.ops.families.compiled_rules import compiled, expression

assert special.erf  # whose module declares operations when it is imported
ENTRIES = [entry for entry in REGISTRY.values() if entry.op is not None]
#: The rule of each argument that is an expression, by the name of the operation and the argument.
WRITTEN = {
    (entry.name, i): found[0]
    for entry in ENTRIES
    for i in range(len(entry.op.args))
    if (found := expression(entry.op, i))
}


def evaluated(text: str, **arrays: Any) -> Any:
    """Return an expression of C, which is one of Python too, on NumPy arrays."""
    functions = {name: getattr(np, name) for name in FUNCTIONS}
    return eval(text, {"T": np.float64, **functions, **arrays})


@pytest.mark.parametrize(("name", "argument"), WRITTEN)
def test_an_expression_is_its_rule(name: str, argument: int) -> None:
    entry = REGISTRY[name]
    op: Any = entry.op
    arrays = {
        arg: np.roll(np.linspace(low, high, 23)[1:-1], 5 * i)
        for i, (arg, (low, high)) in enumerate(zip(op.args, entry.domains, strict=True))
    }
    arrays["y"], g = op.compute(backends.NUMPY, *arrays.values()), np.cos(np.arange(21.0))
    read = [arrays[name] for name in op.reads[argument]]
    expected = op.rules[argument](backends.NUMPY, g, *read)
    written = evaluated(WRITTEN[name, argument], g=g, **arrays)
    np.testing.assert_allclose(written, expected, rtol=1e-14)


def test_which_rules_are_expressions() -> None:
    named = {name for name, _ in WRITTEN}
    assert {"sin", "cos", "sqrt", "tanh", "special.erf", "multiply", "divide"} <= named
    assert expression(REGISTRY["multiply"].op, 1) == ("(g * x1)", 1)
    assert expression(REGISTRY["add"].op, 1) == ("g", 0)
    assert expression(REGISTRY["abs"].op) is None  # its rule chooses
    assert expression(REGISTRY["sum"].op) is None
    assert not any("complex" in text or "j" in text for text in WRITTEN.values())


@pytest.mark.parametrize(
    "rule",
    [
        lambda xp, g, x: g * 2 if x > 0 else g,
        lambda xp, g, x: g * 2 if x else g * 3,
        lambda xp, g, x: g * (2 if x == 1 else 3) * 4,
        lambda xp, g, x: g * (3 if getattr(x, "shape", None) else 4) * 5,
        lambda xp, g, x: g * xp.where(x, x, x) * 2,
        lambda xp, g, x: g * np.ones(3) * 2,
        lambda xp, g, x: np.ones(3) * g * 2,
        lambda xp, g, x: g * np.inf * x,
        lambda xp, g, x: g * 1j * x,
        lambda xp, g, x: g * x.astype("f4") * 2,
        lambda xp, g, x: g * x[0] * 2,
        lambda xp, g, x: np.sin(x) * g * 2,
        lambda xp, g, x: None,
        lambda xp, g, x: 2.0,
    ],
)
def test_what_is_no_expression(rule: Callable[..., Any]) -> None:
    op = SimpleNamespace(
        family="elementwise", args=("x",), params=(), chosen=(), transposed=False,
        rules=(rule,), reads=(("x",),),
    )  # fmt: skip
    assert expression(op) is None


def library(kernels: dict[str, Any]) -> Any:
    """Return a namespace that compiles expressions, of NumPy."""

    def compile_text(xp: Any, name: str, arguments: tuple[str, ...], text: str) -> Any:
        def kernel(*arrays: Any) -> Any:
            kernels[name] = kernels.get(name, 0) + 1
            return evaluated(text, **dict(zip(arguments, arrays, strict=True)))

        return kernel

    found = backends.Namespace("other", np, {**vars(backends.NUMPY)}, lambda name: None, True)
    found.compiled = compile_text
    found.own = {}
    return found


def test_the_rule_of_first_order_is_the_kernel() -> None:
    kernels: dict[str, int] = {}
    xp = library(kernels)
    op = wg.sin.op.on(xp)  # type: ignore[attr-defined]
    assert op is not wg.sin.op and op is wg.sin.op.on(xp)  # type: ignore[attr-defined]
    x, g = np.linspace(0.0, 1.0, 5), np.arange(5.0)
    node = SimpleNamespace(dtype=x.dtype, shape=x.shape)
    edges = [(SimpleNamespace(shape=x.shape), 0, (x,))]
    (part,) = op.pull(xp, g, node, edges)
    np.testing.assert_allclose(part, g * np.cos(x), rtol=1e-15)
    assert kernels == {"rule_0_of_sin": 1}
    # other dtypes, blocks and recorded sweeps go by the operation's own rule
    half = SimpleNamespace(dtype=np.dtype("float32"), shape=x.shape)
    op.pull(xp, g.astype("f4"), half, edges)
    op.pull(backends.NUMPY, g, node, edges)
    block = wg.Block((5,), (range(1, 2),), g[1:2])
    (cut,) = op.pull(xp, block, node, edges)
    np.testing.assert_allclose(cut.values, (g * np.cos(x))[1:2], rtol=1e-15)
    assert kernels == {"rule_0_of_sin": 1}


def test_rules_of_two_arrays_are_kernels_where_those_are_quicker() -> None:
    kernels: dict[str, int] = {}
    assert compiled(wg.multiply.op, library(kernels)) is None  # type: ignore[attr-defined]
    xp = library(kernels)
    xp.compiles_all = True
    assert compiled(wg.add.op, xp) is None  # type: ignore[attr-defined]
    op = wg.divide.op.on(xp)  # type: ignore[attr-defined]
    a, b, g = np.linspace(1.0, 2.0, 5), np.linspace(2.0, 3.0, 5), np.arange(5.0)
    node, parent = (SimpleNamespace(dtype=a.dtype, shape=a.shape) for _ in range(2))
    values: dict[str, Any] = {"x1": a, "x2": b, "y": a / b}
    edges = [(parent, i, tuple(values[name] for name in op.reads[i])) for i in (0, 1)]
    first, second = op.pull(xp, g, node, edges)
    np.testing.assert_allclose(first, g / b, rtol=1e-15)
    np.testing.assert_allclose(second, -g * a / b**2, rtol=1e-14)
    assert kernels == {"rule_0_of_divide": 1, "rule_1_of_divide": 1}
    (only,) = op.pull(xp, g, node, edges[1:])
    np.testing.assert_array_equal(only, second)
    assert kernels == {"rule_0_of_divide": 1, "rule_1_of_divide": 2}
    # numbers of another dtype go by the operation's own rules
    narrow = [(parent, 0, tuple(values[name].astype("f4") for name in op.reads[0]))]
    op.pull(xp, g, node, narrow)
    assert kernels == {"rule_0_of_divide": 1, "rule_1_of_divide": 2}


def test_a_library_may_decline() -> None:
    xp = library({})
    xp.compiled = lambda *_: None
    assert compiled(wg.sin.op, xp) is None  # type: ignore[attr-defined]
    assert wg.sin.op.on(xp) is wg.sin.op  # type: ignore[attr-defined]
