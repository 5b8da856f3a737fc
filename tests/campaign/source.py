"""Programs as Python text that can be pasted."""

from __future__ import annotations

import functools
import inspect
import re
from operator import attrgetter
from typing import Any

import numpy as np

import wengert as wg
from tests.campaign.programs import Input, Program, Step
from wengert.extend import REGISTRY


def literal(value: Any) -> str:
    """Return the text of a value: numbers, arrays, keys and nests of them."""
    if value is ...:
        return "..."
    if isinstance(value, np.ndarray):
        if not value.size:
            return f"np.zeros({value.shape}, np.{value.dtype.name})"
        name = "bool_" if value.dtype == bool else value.dtype.name
        text = repr(value.tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
        return f"np.array({text}, np.{name})"
    if isinstance(value, np.generic):
        return f"np.{type(value).__name__}({value.item()!r})"
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return f"slice({', '.join(literal(p) for p in parts)})"
    if isinstance(value, tuple):
        inside = ", ".join(map(literal, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, type) and issubclass(value, np.generic):
        return f"np.{value.__name__}"
    return repr(value)


@functools.cache
def called(name: str) -> str:
    """Return how an operation of the registry is called."""
    try:
        public = attrgetter(name)(wg)
    except AttributeError:
        public = None
    same = public is REGISTRY[name].function
    return f"wg.{name}" if same else f'REGISTRY["{name}"].function'


def expression(step: Step) -> str:
    """Return the text of a step, of nodes t0, t1, ..."""
    args = [f"t{a}" for a in step.args]
    params = step.params
    text = _EXPRESSIONS[step.kind](step, args, params)
    if step.pick is not None:
        text = f"{text}[{step.pick}]"
    return text


def _op(step: Step, args: list[str], params: Any) -> str:
    given = ", ".join([*args, *(f"{k}={literal(v)}" for k, v in params.items())])
    text = f"{called(step.name)}({given})"
    if REGISTRY[step.name].invariant is not None:
        several = step.pick is not None
        text = f'REGISTRY["{step.name}"].invariant(wg, *{text})'
        return f"({text})" if several else text
    return text


def _operator(step: Step, args: list[str], params: Any) -> str:
    if step.name in ("neg", "abs"):
        return f"-{args[0]}" if step.name == "neg" else f"abs({args[0]})"
    if "number" in params:
        args = (
            [literal(params["number"]), *args]
            if params["left"]
            else [*args, literal(params["number"])]
        )
    return f"{args[0]} {step.name} {args[1]}"


def _move(step: Step, args: list[str], params: Any) -> str:
    given = [*args, *map(literal, params.get("more", ()))]
    given += [f"{k}={literal(v)}" for k, v in params.items() if k not in ("via", "more")]
    return f"{params['via']}.{step.name}({', '.join(given)})"


def _squash(step: Step, args: list[str], params: Any) -> str:
    low, high, x = params["low"], params["high"], args[0]
    by = f"{params['by']!r} * {x}"
    turned = "x / wg.sqrt(1.0 + wg.real(x * wg.conj(x)))"
    shrunk = f"(lambda x: {turned} if x.dtype.kind == 'c' else wg.tanh(x))({by})"
    return f"{(low + high) / 2!r} + {(high - low) / 2!r} * {shrunk}"


_EXPRESSIONS: dict[str, Any] = {
    "op": _op,
    "operator": _operator,
    "numpy": lambda s, a, p: f"np.{s.name}({', '.join(a)})",
    "move": _move,
    "get": lambda s, a, p: f"{a[0]}[{literal(p['key'])}]",
    "at": lambda s, a, p: f"{a[0]}.at[{literal(p['key'])}].{s.name}({a[1]})",
    "squash": _squash,
    "fit": lambda s, a, p: (
        f"wg.reshape(wg.reshape({a[0]}, (-1,))[{literal(p['places'])}], {p['shape']})"
    ),
    "shift": lambda s, a, p: f"{a[0]} + {literal(p['by'])}.astype({a[0]}.dtype)",
    "part": lambda s, a, p: f"wg.{s.name}({a[0]})",
    "turn": lambda s, a, p: f"{a[0]} * (0.8 + 0.6j)",
    "float": lambda s, a, p: f"wg.astype({a[0]}, {literal(p['dtype'])})",
}


def laid_out(array: np.ndarray, layout: str) -> np.ndarray:
    """Return a read-only array with the same numbers that lies otherwise in memory."""
    if layout == "transposed":
        made = array.T.copy().T
    elif layout == "stepped" and array.ndim:
        made = np.repeat(array, 2, axis=-1)[..., ::2]
    elif layout == "backward" and array.ndim:
        made = array[::-1].copy()[::-1]
    else:
        made = array.copy()
    owner = made
    while isinstance(owner, np.ndarray):  # what nobody can write to is not copied
        owner.flags.writeable = False
        owner = owner.base
    return made


def program_text(program: Program) -> str:
    """Return the definition of `a`, the inputs, and `program`, which returns all nodes."""
    lines = ["import numpy as np, wengert as wg"]
    text = [expression(node) for node in program.nodes if isinstance(node, Step)]
    if any("REGISTRY[" in t for t in text):
        modules = {name for t in text for name in re.findall(r'REGISTRY\["(\w+)\.', t)}
        lines += [f"import wengert.{name}" for name in sorted(modules)]  # it declares operations
        lines.append("from wengert.extend import REGISTRY")
    layouts = {n.layout for n in program.nodes if isinstance(n, Input)}
    if layouts != {"plain"}:
        lines += ["", "", inspect.getsource(laid_out).rstrip(), ""]
    lines.append("")
    inputs = []
    for node in program.nodes:
        if isinstance(node, Input):
            given = literal(node.array)
            inputs.append(
                given if node.layout == "plain" else f'laid_out({given}, "{node.layout}")'
            )
    lines.append(f"a = [{', '.join(inputs)}]")
    names = ", ".join(f"t{i}" for i in program.inputs)
    lines += ["", "", f"def program({names}):"]
    for i, node in enumerate(program.nodes):
        if isinstance(node, Step):
            lines.append(f"    t{i} = {expression(node)}")
    lines.append(f"    return [{', '.join(f't{i}' for i in range(len(program.nodes)))}]")
    return "\n".join(lines)
