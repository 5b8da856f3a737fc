"""Profiles: who computed, how often, where, and for how long."""

import re
import threading
import time

import numpy as np
import pytest

import wengert as wg
from wengert.engine.node import watching

N = 1000


def _line_of(mark):
    with open(__file__) as file:
        return next(i for i, line in enumerate(file, 1) if line.rstrip().endswith(f"# {mark}"))


def costs(profile):
    return {cost.name: cost for cost in profile.operations}


def slow(name, forward, backward):
    """Return an operation that takes its time."""

    def compute(xp, x):
        time.sleep(forward)
        return x * 1.0

    def rule(xp, g):
        time.sleep(backward)
        return g

    return wg.extend.elementwise(name, rule, compute=compute)


@pytest.fixture
def sleepy():
    yield slow("sleepy", 0.03, 0.05)
    del wg.extend.REGISTRY["sleepy"]


def test_calls_and_rules_are_counted():
    def f(x):
        return wg.sum(wg.exp(x) * wg.exp(-x))

    with wg.profile() as p:
        wg.grad(f)(np.ones(N))
        f(wg.ones(N))
    found = {name: (c.calls, c.pulls) for name, c in costs(p).items()}
    assert found == {"exp": (4, 2), "negative": (2, 1), "multiply": (2, 1), "sum": (2, 1)}


def test_results_are_what_they_are_without_it():
    def f(x):
        u, s, _ = wg.linalg.svd(wg.reshape(wg.tanh(x), (3, 4)), full_matrices=False)
        return wg.sum(s**2 * u[0, 0] ** 2) + wg.sum(wg.nn.softmax(x)[:3])

    x = np.random.default_rng(0).normal(size=12)
    with wg.profile():
        first, second = wg.grad(f)(x), wg.hessian(f)(x)
    np.testing.assert_array_equal(first, wg.grad(f)(x))
    np.testing.assert_allclose(second, wg.hessian(f)(x), rtol=1e-12, atol=1e-13)


def test_time_is_that_of_operations_and_rules(sleepy):
    with wg.profile() as p:
        wg.grad(lambda x: wg.sum(wg.exp(sleepy(sleepy(x)))))(np.ones(3))
        time.sleep(0.05)  # the program's own
    cost = costs(p)["sleepy"]
    assert cost.forward >= 0.06 and cost.backward >= 0.1  # they sleep at least so long
    assert p.operations[0] == cost
    assert sum(c.seconds for c in p.operations) == pytest.approx(p.measured)
    assert p.measured + 0.05 <= p.seconds


def test_time_inside_of_a_rule_counts_once(sleepy):
    """A checkpoint runs its function in its rule, and what runs there is measured by itself."""
    with wg.profile() as p:
        wg.grad(lambda x: wg.sum(wg.checkpoint(sleepy)(x)))(np.ones(3))
    found = costs(p)
    assert found["sleepy"].calls == 2 and found["sleepy"].forward >= 0.06
    assert found["checkpoint"].backward < found["sleepy"].seconds
    assert p.measured <= p.seconds


def test_lines_are_the_programs():
    def f(x):
        y = wg.exp(x)  # first
        return wg.sum(y * y)  # second

    with wg.profile() as p:
        wg.grad(f)(np.ones(N))
    lines = {int(c.name.rpartition(":")[2]): c for c in p.lines if c.name.startswith(__file__)}
    assert lines.keys() == {_line_of("first"), _line_of("second")}
    assert (lines[_line_of("first")].calls, lines[_line_of("first")].pulls) == (1, 1)
    assert (lines[_line_of("second")].calls, lines[_line_of("second")].pulls) == (2, 2)


def test_bytes_are_of_results_and_cotangents_and_not_of_views():
    with wg.profile() as p:
        wg.grad(lambda x: wg.sum(wg.exp(wg.reshape(x, (10, -1)))))(np.ones(N))
    found = costs(p)
    assert found["exp"].bytes == 16 * N  # the result, and a cotangent
    assert found["reshape"].bytes == 0


def test_nodes_know_their_lines_under_a_profile():
    x = wg.ones(N)
    with wg.profile(), wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.exp(x)  # recorded
    line = f"{__file__}:{_line_of('recorded')}"
    assert tape.graph(y).nodes[1].line == tape.summary(y).heaviest[0].line == line
    assert str(tape.graph(y)).endswith(f"test_profile.py:{_line_of('recorded')}")


def test_it_prints_ten_rows_in_a_hundred_columns():
    functions = [wg.sin, wg.cos, wg.tanh, wg.exp, wg.sinh, wg.cosh, wg.sqrt, wg.square, wg.log]
    functions += [wg.log1p, wg.expm1, wg.negative, wg.abs]
    with wg.profile() as p:
        for function in functions:
            function(wg.ones(3))
    text = repr(p)
    assert max(map(len, text.split("\n"))) <= 100
    first = text.split("\n\n")[0].split("\n")
    assert re.match(r"\S+ us in operations and rules, of \S+ .?s$", first[0])
    assert len(first) == 2 + 10 + 1 and first[-1].startswith("3 more")
    assert len(p.operations) == 13
    assert p._repr_html_().count("<table>") == 2


def test_a_profile_that_saw_nothing_says_how_to_use_it():
    assert "with wg.profile() as p:" in repr(wg.profile())
    assert wg.profile().operations == [] and wg.profile().measured == 0


def test_it_is_off_afterwards_also_after_an_error():
    p = wg.profile()
    with pytest.raises(ZeroDivisionError), p:
        wg.exp(wg.ones(2))
        raise ZeroDivisionError
    assert watching.get() is None
    wg.sin(wg.ones(2))
    assert costs(p).keys() == {"exp"}
    with p:  # and on again: costs add up
        wg.exp(wg.ones(2))
    assert costs(p)["exp"].calls == 2


def test_an_operation_that_fails_leaves_no_trace():
    with wg.profile() as p:
        with pytest.raises(wg.ShapeError):
            wg.add(wg.ones(2), wg.ones(3))
        wg.exp(wg.ones(2))
    assert costs(p).keys() == {"exp"} and not p._inner


def test_a_profile_within_itself_is_refused_and_one_within_another_is_not():
    with wg.profile() as outer:
        with pytest.raises(wg.TapeError, match="measuring already"), outer:
            pass
        with wg.profile() as inner:
            wg.exp(wg.ones(2))
        wg.sin(wg.ones(2))
    assert costs(inner).keys() == {"exp"} and costs(outer).keys() == {"exp", "sin"}


def test_it_goes_together_with_debug():
    x = wg.asarray([1.5, 2.5])
    with wg.debug(), wg.profile() as p, wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(wg.floor(x))
        assert tape.why(y, x).reason is wg.Reason.ZERO_DERIVATIVE
    assert costs(p).keys() == {"floor", "sum"}
    with wg.profile() as p, wg.debug():
        wg.exp(x)
    assert costs(p).keys() == {"exp"}


def test_other_threads_are_not_measured():
    with wg.profile() as p:
        thread = threading.Thread(target=lambda: wg.cos(wg.ones(2)))
        thread.start()
        thread.join()
        wg.exp(wg.ones(2))
    assert costs(p).keys() == {"exp"}


def test_dialects_are_measured():
    torch, tf = wg.torch, wg.tensorflow
    with wg.profile() as p:
        x = torch.ones(3, requires_grad=True)
        torch.exp(x).sum().backward()
        v = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.sin(v))
        tape.gradient(y, v)
    found = costs(p)
    assert found["exp"].calls == 1 and found["sin"].calls == 1
    assert sum(c.pulls for c in found.values()) == 4
    assert x.grad.tolist() == pytest.approx([np.e] * 3)


def test_vmaps_and_jacobians_are_measured():
    with wg.profile() as p:
        found = wg.vmap(wg.sin)(wg.ones(4))
        jacobian = wg.jacobian(lambda x: wg.sin(x) ** 2)(np.ones(3))
    np.testing.assert_allclose(found, np.sin(np.ones(4)))
    np.testing.assert_allclose(jacobian, np.diag(np.full(3, np.sin(2.0))))
    assert costs(p)["sin"].calls == 2
