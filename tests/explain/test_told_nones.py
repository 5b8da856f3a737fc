"""A gradient that is None comes with its reason: warnings, errors of who is given it, `grad`."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as wg
import wengert.torch as torch
from wengert import Reason


def here() -> int:
    """Return the line of the caller."""
    return sys._getframe(1).f_lineno


def test_none_stays_none_and_says_nothing() -> None:
    x = wg.asarray(2.0)
    with wg.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None  # warnings are errors here


def test_warning_under_debug_is_the_explanation() -> None:
    x = wg.asarray(2.0)
    with wg.debug(), wg.GradientTape() as tape:
        y = x * x
        line = here() - 1
        with pytest.warns(wg.NoGradientWarning) as told:
            assert tape.gradient(y, x) is None
            asked = here() - 1
    (warning,) = told
    assert (warning.filename, warning.lineno) == (__file__, asked)
    assert isinstance(warning.message, wg.NoGradientWarning)
    explanation = warning.message.explanation
    assert explanation.reason is Reason.NOT_WATCHED
    assert explanation.location == f"{__file__}:{line}"
    assert "Write tape.watch(x)" in str(warning.message)


def test_zeros_on_request_come_without_a_warning() -> None:
    x = wg.asarray(2.0)
    with wg.debug(), wg.GradientTape() as tape:
        y = x * x
        assert tape.gradient(y, x, unconnected_gradients="zero").item() == 0.0


def test_sources_are_called_by_their_names() -> None:
    v, w, x = wg.Variable(2.0, name="v"), wg.Variable(3.0, name="w"), wg.asarray(1.0)
    with wg.debug(), wg.GradientTape() as tape:
        y = v * v
        with pytest.warns(wg.NoGradientWarning) as told:
            tape.gradient(y, [v, w, x])
    first, second = (str(t.message) for t in told)
    assert "was not computed from w" in first
    assert "tape does not watch x" in second


@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
def test_assignment_of_none(method: str) -> None:
    v, w = wg.Variable(2.0), wg.Variable(3.0, name="w")
    with wg.debug(), wg.GradientTape() as tape:
        y = v * wg.stop_gradient(w)
        line = here() - 1
        with pytest.warns(wg.NoGradientWarning):
            gradient = tape.gradient(y, w)
        with pytest.raises(wg.NoGradientError, match=f"^{method}: got None for variable 'w'") as e:
            getattr(w, method)(gradient)
    assert f"at {__file__}:{line}" in str(e.value)
    assert isinstance(e.value, TypeError)
    assert w.numpy() == 3.0


def test_assignment_of_none_without_debug() -> None:
    v, w = wg.Variable(2.0), wg.Variable(3.0, name="w")
    with wg.GradientTape() as tape:
        y = v * v
    gradient = tape.gradient(y, w)
    with pytest.raises(wg.NoGradientError, match="w was not read while tape recorded"):
        w.assign_sub(gradient)


def test_assignment_of_none_that_is_no_gradient() -> None:
    with pytest.raises(wg.NoGradientError, match="got None for variable 'w'"):
        wg.Variable(1.0, name="w").assign_add(None)


@pytest.mark.parametrize("kind", [wg.optim.SGD, wg.optim.Adam, wg.optim.RMSprop, wg.optim.Adagrad])
def test_optimisers_given_none(kind: Any) -> None:
    v, w = wg.Variable(2.0, name="v"), wg.Variable(3.0, name="w")
    optimiser = kind(0.1)
    state = optimiser.init([v, w])
    with wg.debug(), wg.GradientTape() as tape:
        y = v * wg.floor(w)
        line = here() - 1
        with pytest.warns(wg.NoGradientWarning):
            gradients = tape.gradient(y, [v, w])
        with pytest.raises(wg.NoGradientError, match="variable 'w'") as e:
            optimiser.step([v, w], gradients, state)
    assert "floor has no derivative" in str(e.value)
    assert f"at {__file__}:{line}" in str(e.value)
    assert (v.numpy(), w.numpy()) == (2.0, 3.0)  # nothing was changed


def test_what_is_frozen_may_be_none() -> None:
    optimiser = wg.optim.SGD(0.1)
    params = {"w": np.ones(2), "fixed": np.ones(2)}
    moved, _ = optimiser.step(params, {"w": np.ones(2), "fixed": None}, optimiser.init(params))
    np.testing.assert_array_equal(moved["fixed"], [1.0, 1.0])


# -- transforms ------------------------------------------------------------------------------------


def test_grad_names_the_line_under_debug() -> None:
    def loss(x: Any) -> Any:
        steps = wg.floor(x)
        return wg.sum(steps)

    with wg.debug(), pytest.warns(wg.UnconnectedWarning) as told:
        wg.grad(loss)(wg.ones(2))
        asked = here() - 1
    (warning,) = told
    assert (warning.filename, warning.lineno) == (__file__, asked)
    line = loss.__code__.co_firstlineno + 1
    assert f"at {__file__}:{line}: steps = wg.floor(x)" in str(warning.message)


@pytest.mark.parametrize(
    "transform", [wg.grad, wg.value_and_grad, lambda f: lambda x: wg.vjp(f, x)[1](wg.asarray(1.0))]
)
def test_transforms_say_the_same_things(transform: Any) -> None:
    with wg.debug(), pytest.warns(wg.UnconnectedWarning, match="stop_gradient made a constant"):
        transform(lambda x: wg.sum(wg.stop_gradient(x) * 2.0))(wg.ones(2))


# -- why, about anything ---------------------------------------------------------------------------


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize(
    "value",
    [None, 3, "x", object(), [1.0], {}, np.ones(2), wg.asarray([1, 2]), wg.ones(0), wg.ones(2),
     wg.Variable(1.0), wg.asarray([True]), torch.ones(2), wg.GradientTape, float("nan")],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_why_never_raises(value: Any, debug: bool) -> None:
    x = wg.asarray(2.0)
    with wg.GradientTape() as spent:
        spent.watch(x)
        y = x * x
    spent.gradient(y, x)
    tapes = [wg.GradientTape(), wg.GradientTape(persistent=True), spent]

    def ask() -> None:
        for tape in tapes:
            for pair in [(value, x), (x, value), (value, value), (y, value)]:
                found = tape.why(*pair)
                assert isinstance(found, wg.Explanation)
                assert "cannot be explained" not in str(found)
                assert found._repr_html_().startswith("<div>")

    if debug:
        with wg.debug():
            ask()
    else:
        ask()


def test_why_does_not_use_the_tape_up() -> None:
    x = wg.asarray(3.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.why(y, x).reason is Reason.CONNECTED
    assert tape.why(y, x).chain == ("square -> ()",)
    assert tape.gradient(y, x).item() == 6.0


def test_chain_is_the_shortest() -> None:
    x = wg.asarray(3.0)
    with wg.debug(), wg.GradientTape() as tape:
        tape.watch(x)
        z = wg.exp(wg.sin(wg.cos(x)))
        y = z * x
        why = tape.why(y, x)
    assert len(why.chain) == 1
    assert why.chain[0].startswith("multiply -> ()")
    assert "y = z * x" in why.chain[0]


def test_long_chains_are_shortened() -> None:
    x = wg.asarray(0.5)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(100):
            y = wg.sin(y)
    chain = tape.why(y, x).chain
    assert len(chain) == 13
    assert "88 more operations" in chain[6]


def test_nothing_is_kept_alive() -> None:
    import gc
    import weakref

    with wg.debug():
        x = wg.asarray(np.ones(10))
        with wg.GradientTape() as tape:
            tape.watch(x)
            y = wg.sum(wg.exp(x))
            node = weakref.ref(y._node)
        del y
        gc.collect()
        assert node() is None


def test_debug_ends() -> None:
    x = wg.asarray(2.0)
    with wg.debug(), wg.debug():
        pass
    with wg.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None
    watching = wg.debug()
    watching.off()
    watching.off()
    assert tape.why(y, x).location is None


# -- values that are written over ------------------------------------------------------------------


def test_natively_nobody_can_overwrite_a_saved_value() -> None:
    array = np.array([1.0, 2.0])
    x = wg.asarray(array)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = wg.sum(x**2)
    array[:] = 100.0  # the tensor has a copy
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 4.0])
    with pytest.raises(ValueError, match="read-only"):
        x.numpy()[0] = 100.0
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x.data)[0] = 100.0
    v = wg.Variable([1.0, 2.0])
    with wg.GradientTape() as second:
        y = wg.sum(v**2)
    v.assign([5.0, 5.0])
    v[0] = 7.0
    np.testing.assert_array_equal(second.gradient(y, v), [2.0, 4.0])


def test_pytorch_names_the_line_that_saved_and_the_line_that_wrote() -> None:
    x = torch.ones(2, requires_grad=True)
    saved = x.exp()
    line = here() - 1
    saved.add_(1.0)
    with pytest.raises(RuntimeError) as e:
        saved.sum().backward()
    assert f"saved at {__file__}:{line} " in str(e.value)
    assert f"written to at {__file__}:{line + 2};" in str(e.value)


# -- python -X dev ---------------------------------------------------------------------------------

PROGRAM = """\
import wengert as wg
v, w = wg.Variable(2.0), wg.Variable(3.0)
with wg.GradientTape() as tape:
    y = v * float(w)
tape.gradient(y, w)
"""


@pytest.mark.parametrize("options", [(), ("-X", "dev")])
def test_development_mode_warns(options: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    command = [sys.executable, *options, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = f"{path}:5: NoGradientWarning: the gradient is None" in done.stderr
    assert told == bool(options)


def test_warnings_can_be_errors() -> None:
    x = wg.asarray(2.0)
    with wg.debug(), wg.GradientTape() as tape, warnings.catch_warnings():
        warnings.simplefilter("error")
        y = x * x
        with pytest.raises(wg.NoGradientWarning) as raised:
            tape.gradient(y, x)
    assert raised.value.explanation.reason is Reason.NOT_WATCHED
