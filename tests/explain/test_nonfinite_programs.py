"""Where a NaN or an infinity began: a table of programs, each with element, operation and line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import wengert as wg
from tests.explain.nonfinite_programs import NONFINITE
from tests.explain.program_table import Program

names = pytest.mark.parametrize("program", NONFINITE.values(), ids=NONFINITE)


@pytest.fixture(autouse=True)
def quiet_numpy() -> Iterator[None]:
    """Let programs go wrong without NumPy's warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


@names
def test_program_stops_where_it_begins(program: Program) -> None:
    with wg.debug(nan=True), pytest.raises(wg.NonFiniteError) as raised:
        program.run()
    report = raised.value.report
    found = (report.phase, report.operation, report.index), report.location
    assert found == (program.expected, program.location)
    assert not np.isfinite(report.value)
    assert report.remedy
    assert str(report) == str(raised.value)


@names
def test_found_after_the_fact(program: Program) -> None:
    with wg.debug():
        asked = program.run()
        if asked is None:
            return
        tape, target, source = asked
        report = tape.find_nonfinite(target, source)
        again = tape.find_nonfinite(target, source)
    found = (report.phase, report.operation, report.index), report.location
    assert found == (program.expected, program.location)
    assert str(again) == str(report)
    assert any("depends on" in line for line in str(report).splitlines()) == bool(report.cone)


def test_enough_programs() -> None:
    assert len(NONFINITE) >= 24
    assert {p.expected[0] for p in NONFINITE.values()} == {"forward", "backward", "tangent", "step"}


def test_operands_and_cone() -> None:
    v = wg.Variable([3.0, 0.0, 5.0], name="v")
    with wg.debug(nan=True), wg.GradientTape(), pytest.raises(wg.NonFiniteError) as raised:
        wg.log(v * 2.0)
    report = raised.value.report
    assert report.operands == {"x": 0.0}
    assert report.cone == ("v[1]",)
    assert report.value == -np.inf


def test_optimiser_names_the_parameter_and_keeps_what_was() -> None:
    v = wg.Variable([1.0, 2.0])
    optimiser = wg.optim.SGD(0.5)
    state = optimiser.init({"w": v})
    with wg.debug(nan=True), pytest.raises(wg.NonFiniteError, match="SGD") as raised:
        optimiser.step({"w": v}, {"w": wg.asarray([0.0, np.inf])}, state)
    assert raised.value.report.operands == {
        "parameter": "params['w']",
        "before": 2.0,
        "gradient": np.inf,
    }
    np.testing.assert_array_equal(v.numpy(), [1.0, 2.0])


def test_optimiser_with_a_block() -> None:
    v = wg.Variable(np.ones((4, 2)))
    optimiser = wg.optim.Adagrad(0.5)
    state = optimiser.init([v])
    with wg.GradientTape() as tape:
        loss = wg.sum(v[2] * np.inf)
    gradients = tape.gradient(loss, [v], dense=False)
    assert type(gradients[0]) is wg.Block
    with wg.debug(nan=True), pytest.raises(wg.NonFiniteError) as raised:
        optimiser.step([v], gradients, state)
    assert raised.value.report.index == (2, 0)


def test_what_is_finite_passes() -> None:
    x = wg.asarray([0.0, 4.0])
    with wg.debug(nan=True), wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = wg.sum(wg.where(x > 0, wg.sqrt(x), 0.0))
    assert tape.find_nonfinite(y, x) is None
    np.testing.assert_array_equal(tape.gradient(y, x), [0.0, 0.25])


def test_constants_that_the_graph_does_not_keep() -> None:
    x, top = wg.asarray([1e308, 1.0]), wg.asarray([1e308, 0.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(x + top)
    assert "wg.debug(nan=True)" in tape.find_nonfinite(y, x).remedy


def test_target_that_was_not_recorded() -> None:
    with wg.GradientTape() as tape:
        y = wg.log(wg.asarray([1.0, 0.0]))
    report = tape.find_nonfinite(y)
    assert (report.phase, report.index) == ("forward", (1,))
    assert "did not record" in report.remedy


def test_infinite_data_are_no_error() -> None:
    with wg.debug(nan=True):
        assert wg.minimum(wg.asarray([np.inf, 1.0]), 3.0).tolist() == [3.0, 1.0]
