"""A question about a program: an expression in Python, with the arrays that it names.

So a failure can be printed as it was asked.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np

import wengert as wg
from tests.campaign.programs import WENGERT, Program
from tests.campaign.references import Answer, total
from tests.campaign.source import laid_out


@dataclass
class Question:
    """An expression, what it names, and what each array of its answer should be.

    `setup` says what has been done before: see SETUPS.
    """

    kinds: list[str]
    setup: str
    code: str
    expected: list[np.ndarray]
    errors: list[Any]
    names: dict[str, Any] = field(default_factory=dict)
    #: exceptions that are a right answer, too
    accepted: tuple[type[BaseException], ...] = ()
    #: whether the dtype must be that of what is expected, not only its kind
    exact: bool = False


# -- what a question can name -----------------------------------------------------------------


def forward(program: Any, x: Any, primals: Any, tangents: Any, ask: Any) -> Any:
    """Return what `ask` says of an accumulator, and of the nodes of a program run under it."""
    with wg.ForwardAccumulator(primals, tangents) as accumulator:
        nodes = program(*x)
        found = ask(accumulator, nodes)
    return found


def inner(one: Any, two: Any) -> Any:
    """Return the real inner product of tensors with arrays."""
    found: Any = 0.0
    for g, v in zip(one, two, strict=True):
        product = g * np.conj(v).astype(g.dtype)
        found = found + wg.sum(wg.real(product) if product.dtype.kind == "c" else product)
    return found


def by_variables(program: Any, a: Any, targets: Any, weights: Any) -> Any:
    """Return gradients of a tape that is asked once, by variables."""
    variables = [wg.Variable(b) for b in a]
    with wg.GradientTape() as tape:
        nodes = program(*(v.value() for v in variables))
        loss = total(nodes, targets, weights)
    return tape.gradient(loss, variables, unconnected_gradients="zero")


def of_gradient(program: Any, x: Any, target: Any, source: Any, w: Any, v: Any, ks: Any) -> Any:
    """Return gradients of a gradient by a selection of an input, weighted by w and then by v."""
    with wg.GradientTape() as outer:
        outer.watch(x)
        with wg.GradientTape() as tape:
            tape.watch(x)
            z = target(program(*x))
        by = x[source] if ks is None else x[source].at[ks]
        first = tape.gradient(z, by, output_gradients=w, unconnected_gradients="zero")
    return outer.gradient(first, x, output_gradients=v, unconnected_gradients="zero")


SETUPS = {
    "function": """\
args = tuple(range(len(a)))


def loss(*x):
    return total(program(*map(wg.asarray, x)), targets, weights)
""",
    "tape": """\
x, unused = [wg.asarray(b) for b in a], wg.asarray([1.0, 2.0])
with wg.GradientTape(persistent=True) as tape:
    tape.watch(x)
    tape.watch(unused)
    t = program(*x)
    picked = [t[i][key] for i, key in zip(targets, target_keys, strict=True)]
""",
}
#: What else the text of a question needs, by the names it uses.
HELPERS = {
    "of_gradient": of_gradient,
    "by_variables": by_variables,
    "forward": forward,
    "inner": inner,
    "total": total,
}


class Asked:
    """A program on Wengert, set up to be asked."""

    def __init__(self, program: Program, answer: Answer, keys: Sequence[Any]) -> None:
        self.program = program

        def on_wengert(*inputs: Any) -> list[Any]:
            return program.run(WENGERT, inputs)

        layouts = [getattr(program.nodes[i], "layout", "plain") for i in program.inputs]
        arrays = [laid_out(a, k) for a, k in zip(program.arrays(), layouts, strict=True)]
        self.names: dict[str, Any] = {
            "np": np,
            "wg": wg,
            "program": on_wengert,
            "a": arrays,
            "targets": list(program.targets),
            "target_keys": list(keys),
            "weights": answer.weights,
            **HELPERS,
        }
        self._done: set[str] = set()

    def ask(self, question: Question) -> Any:
        """Return the answer to a question."""
        if question.setup not in self._done:
            exec(_compiled(SETUPS[question.setup], "exec"), self.names)
            self._done.add(question.setup)
        return eval(_compiled(question.code, "eval"), self.names | question.names)


@functools.lru_cache(maxsize=4096)
def _compiled(text: str, mode: str) -> CodeType:
    return compile(text, "<question>", mode)
