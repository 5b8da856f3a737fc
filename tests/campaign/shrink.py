"""Make a program that fails smaller, while it fails in the same way."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.campaign.checks import Failure, check, script
from tests.campaign.keys import simpler
from tests.campaign.programs import WIDE_NUMPY, Input, Program, Step, inexact, pruned, wide
from tests.campaign.references import Answers, Discarded

#: How many draws of keys, weights and points a smaller program gets to fail with.
DRAWS = 4


def shrink(failure: Failure, answers: Answers, seconds: float = 20.0) -> Failure:
    """Return a failure of the same kind, of a program that is as small as was found in time."""
    end = time.monotonic() + seconds
    smaller: Failure | None = failure
    while smaller is not None and time.monotonic() < end:
        failure = smaller
        smaller = next(
            (
                found
                for program in candidates(failure.program)
                if time.monotonic() < end and (found := _fails(program, failure, answers))
            ),
            None,
        )
    others = (_fails(failure.program, failure, answers, seed) for seed in range(DRAWS, 3 * DRAWS))
    found = [failure, *(f for f in others if f is not None)]
    return min(found, key=lambda f: len(script(f)))


def _fails(program: Program, like: Failure, answers: Answers, first: int = 0) -> Failure | None:
    """Return a failure of a program that is like another one, if there is one."""
    hints = [*like.target_keys, *_keys(like.question.names)]
    for seed in range(first, first + DRAWS):
        try:
            found = check(program, answers, seed, wanted=like.kind, hints=hints)
        except Discarded:
            continue
        except Exception:
            return None  # it cannot be computed at all
        for failure in found:
            same = type(failure.got) is type(like.got) or not isinstance(like.got, Exception)
            if same and failure.kind == like.kind:
                return failure
    return None


def _keys(names: dict[str, Any]) -> list[Any]:
    """Return the keys that a question names."""
    found = []
    for name, value in names.items():
        if name == "keys":
            found += value
        elif name.startswith("k"):
            found.append(value)
    return [shorter for key in found for shorter in [*simpler(key), key]]


def candidates(program: Program) -> Iterator[Program]:
    """Yield programs that are a little simpler, the simplest first."""
    arrays = [wide(a) for a in program.arrays()]
    with np.errstate(all="ignore"):
        values = program.run(WIDE_NUMPY, arrays)
    if len(program.steps) > 1:
        yield from _alone(program, values)
    yield from _earlier_targets(program, values)
    yield from _bypassed(program, values)
    yield from _cut(program, values)
    yield from _simpler_inputs(program)
    yield from _simpler_keys(program)


def _alone(program: Program, values: list[Any]) -> Iterator[Program]:
    """Yield each step as a program of its own."""
    for i, node in enumerate(program.nodes):
        if isinstance(node, Step) and inexact(values[i]):
            args = list(dict.fromkeys(node.args))
            if all(inexact(values[a]) for a in args):
                inputs = [_as_input(program, values[a]) for a in args]
                step = dataclasses.replace(node, args=tuple(args.index(a) for a in node.args))
                yield Program((*inputs, step), (len(args),))


def _as_input(program: Program, value: np.ndarray) -> Input:
    """Return a value of some node as an input, in the precision of a program."""
    single = any(a.dtype in (np.float32, np.complex64) for a in program.arrays())
    array = np.asarray(np.round(value, 3))
    if single:
        array = array.astype(np.complex64 if array.dtype.kind == "c" else np.float32)
    return Input(array)


def _earlier_targets(program: Program, values: list[Any]) -> Iterator[Program]:
    if len(program.targets) > 1:
        for t in program.targets:
            yield pruned(Program(program.nodes, (t,)))
    for i, node in enumerate(program.nodes):
        if isinstance(node, Step) and inexact(values[i]) and i not in program.targets:
            yield pruned(Program(program.nodes, (i,)))


def _bypassed(program: Program, values: list[Any]) -> Iterator[Program]:
    """Yield programs without a step, whose argument stands in for it."""
    for i, node in enumerate(program.nodes):
        if not isinstance(node, Step) or i in program.targets:
            continue
        for a in node.args:
            if values[a].shape == values[i].shape and values[a].dtype == values[i].dtype:
                yield _without(program, i, a)


def _without(program: Program, i: int, stand_in: int) -> Program:
    nodes = [
        dataclasses.replace(n, args=tuple(stand_in if a == i else a for a in n.args))
        if isinstance(n, Step)
        else n
        for n in program.nodes
    ]
    return pruned(Program(tuple(nodes), program.targets))


def _cut(program: Program, values: list[Any]) -> Iterator[Program]:
    """Yield programs in which a value is an input, and what leads to it is not needed."""
    for i, node in reversed(list(enumerate(program.nodes))):
        if isinstance(node, Step) and inexact(values[i]) and i not in program.targets:
            nodes = list(program.nodes)
            nodes[i] = _as_input(program, values[i])
            yield pruned(Program(tuple(nodes), program.targets))


def _simpler_inputs(program: Program) -> Iterator[Program]:
    def changed(i: int, node: Input) -> Program:
        nodes = list(program.nodes)
        nodes[i] = node
        return Program(tuple(nodes), program.targets)

    for i in program.inputs:
        node: Any = program.nodes[i]
        array = node.array
        if node.layout != "plain":
            yield changed(i, Input(array))
        if array.dtype in (np.float32, np.complex64):
            yield changed(i, Input(np.asarray(np.round(wide(array), 3))))
        for digits in (1, 2):
            rounded = np.asarray(np.round(array, digits))
            if not np.array_equal(rounded, array):
                yield changed(i, Input(rounded, node.layout))
        for axis, n in enumerate(array.shape):
            if n > 1:
                yield changed(i, Input(np.take(array, range(n - 1), axis), node.layout))
        if array.dtype.kind == "c":
            yield changed(i, Input(np.asarray(np.round(array.real, 2))))


def _simpler_keys(program: Program) -> Iterator[Program]:
    for i, node in enumerate(program.nodes):
        if isinstance(node, Step) and "key" in node.params:
            for key in simpler(node.params["key"]):
                nodes = list(program.nodes)
                nodes[i] = dataclasses.replace(node, params={**node.params, "key": key})
                yield Program(tuple(nodes), program.targets)
