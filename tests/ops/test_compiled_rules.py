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
WRITTEN = {entry.name: text for entry in ENTRIES if (text := expression(entry.op))}


def evaluated(text: str, **arrays: Any) -> Any:
    """Return an expression of C, which is one of Python too, on NumPy arrays."""
    functions = {name: getattr(np, name) for name in FUNCTIONS}
    return eval(text, {"T": np.float64, **functions, **arrays})


@pytest.mark.parametrize("name", WRITTEN)
def test_an_expression_is_its_rule(name: str) -> None:
    entry = REGISTRY[name]
    op: Any = entry.op
    low, high = entry.domains[0]
    x = np.linspace(low, high, 23)[1:-1]
    y, g = op.compute(backends.NUMPY, x), np.cos(np.arange(21.0))
    arrays = {"x": x, "y": y}
    read = [arrays[name] for name in op.reads[0]]
    expected = op.rules[0](backends.NUMPY, g, *read)
    np.testing.assert_allclose(evaluated(WRITTEN[name], g=g, **arrays), expected, rtol=1e-14)


def test_which_rules_are_expressions() -> None:
    assert {"sin", "cos", "sqrt", "tanh", "special.erf"} <= {*WRITTEN}
    assert expression(REGISTRY["exp"].op) is None  # one kernel already
    assert expression(REGISTRY["multiply"].op) is None  # of two arrays
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
    assert kernels == {"rule_of_sin": 1}
    # other dtypes, blocks and recorded sweeps go by the operation's own rule
    half = SimpleNamespace(dtype=np.dtype("float32"), shape=x.shape)
    op.pull(xp, g.astype("f4"), half, edges)
    op.pull(backends.NUMPY, g, node, edges)
    block = wg.Block((5,), (range(1, 2),), g[1:2])
    (cut,) = op.pull(xp, block, node, edges)
    np.testing.assert_allclose(cut.values, (g * np.cos(x))[1:2], rtol=1e-15)
    assert kernels == {"rule_of_sin": 1}


def test_a_library_may_decline() -> None:
    xp = library({})
    xp.compiled = lambda *_: None
    assert compiled(wg.sin.op, xp) is None  # type: ignore[attr-defined]
    assert wg.sin.op.on(xp) is wg.sin.op  # type: ignore[attr-defined]
