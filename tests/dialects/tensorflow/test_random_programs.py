"""A slice of the random programs, the same at each run; `random_programs` runs more of them."""

from __future__ import annotations

import types
import warnings
from typing import Any

import numpy as np
import pytest

import wengert.tensorflow as ours
from tests.dialects.tensorflow import random_programs

SEEDS = range(20_000, 20_120)
FUNCTIONS = random_programs.names()


@pytest.mark.peers
@pytest.mark.parametrize("seed", SEEDS)
def test_both_libraries_agree(seed: int) -> None:
    import tensorflow as theirs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = random_programs.one(seed, (ours, theirs), FUNCTIONS, random_programs.Report())
    assert not wrong, wrong


def test_a_program_that_fails_is_made_smaller() -> None:
    program = random_programs.Program(
        {"x0": "tf.constant(2.0)", "x1": "tf.constant(3.0)"},
        ("a1 = x0 * 2.0", "a2 = tf.sin(x1)", "a3 = a1 + a2", "a4 = a1 * a1"),
        ("a3", "a4"),
        ("x0", "x1", "a1"),
        frozenset({"second", "forward"}),
    )
    small = random_programs.shrunk(program, lambda p: "a4" in p.text() and "x0" in p.sources)
    assert small.statements == ("a1 = x0 * 2.0", "a4 = a1 * a1")
    assert (small.targets, small.sources, small.questions) == (("a4",), ("x0",), frozenset())
    assert list(small.inputs) == ["x0"]


def test_a_wrong_derivative_is_seen() -> None:
    text = "def program(tf):\n    return {'gradient': [tf.constant([1.0, 2.0])]}\n"
    right = random_programs.run(text, ours)
    wrong = random_programs.run(text.replace("2.0", "2.1"), ours)
    assert not random_programs.difference(right, right)
    assert "gradient[0]" in random_programs.difference(wrong, right)


def test_rounding_in_single_precision_is_no_difference() -> None:
    right, near, far = ({"gradient": [np.array([v])]} for v in (1.0, 1.0 + 1e-6, 1.01))
    assert random_programs.difference(near, right)
    assert not random_programs.difference(near, right, single=True)
    assert random_programs.difference(far, right, single=True)
    found = [random_programs.written(seed, (ours,), FUNCTIONS)[0] for seed in range(200)]
    casts = [p for p in found if any("tf.cast(" in line for line in p.statements)]
    assert casts and all(p.single for p in casts)
    assert not all(p.single for p in found)


def test_gradients_of_a_tangent_that_are_zero_may_be_none() -> None:
    def answer(mixed: Any) -> Any:
        program = types.SimpleNamespace(text=lambda: TEXT, inputs={"x0": ""}, single=False)
        libraries = [types.SimpleNamespace(mixed=m) for m in (mixed, [np.zeros(1)])]
        return random_programs.compared(program, tuple(libraries))  # type: ignore[arg-type]

    assert not answer(None)
    assert not answer([None])
    assert "mixed[0]" in answer([np.ones(1)])


TEXT = "def program(tf):\n    return {'tangents': [np.ones(1)], 'mixed': tf.mixed}\n"


def test_every_program_is_text_that_runs() -> None:
    for seed in range(40):
        program, _ = random_programs.written(seed, (ours,), FUNCTIONS)
        found = random_programs.run(program.text(), ours)
        assert not isinstance(found, (NameError, SyntaxError)), program.text()
