"""checkpoint_loop: derivatives as without it, in less memory."""

import functools
import gc
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as wg
from tests.transforms.checkpoint_cases import (
    Counter,
    Holder,
    assert_same,
    gradients,
    plain_loop,
    same,
    vector,
)
from wengert.engine.record import apply
from wengert.transforms.checkpoint import checkpoint
from wengert.transforms.checkpoint_loop import ROWS, advance, checkpoint_loop

jax.config.update("jax_enable_x64", True)


def fewest_steps(n, s):
    """Return the least number of steps to get at the states in reverse, by trying all ways."""

    @functools.cache
    def least(n, s):
        if n == 1:
            return 0
        if s == 1:
            return n * (n - 1) // 2
        return min(m + least(n - m, s - 1) + least(m, s) for m in range(1, n))

    return least(n, s)


def formula(n, s):
    r = next(r for r in range(n + 1) if math.comb(s + r, s) >= n)
    return r * n - math.comb(s + r, s + 1)


@pytest.mark.parametrize("s", [1, 2, 3, 5, 8])
def test_the_number_of_steps_is_the_optimum(s):
    for n in (1, 2, 3, 4, 7, 12, 20, 35):
        step = Counter(lambda state, i: wg.sin(state) * 1.1)
        found = gradients(
            lambda x, n=n, k=step: checkpoint_loop(k, x, n, snapshots=s), wg.asarray(0.5)
        )
        # What comes after the loop is one more step to be reversed. All n are recorded once.
        assert fewest_steps(n + 1, s) == formula(n + 1, s)
        assert step.calls == fewest_steps(n + 1, s) + n
        plain = gradients(lambda x, n=n, k=step: plain_loop(k, x, n), wg.asarray(0.5))
        same(found[1], plain[1])


@given(st.integers(2, 5000), st.integers(1, 40))
def test_where_to_keep_a_state(n, s):
    m = advance(n, s)
    assert 1 <= m < n
    if s > 1:
        assert m + formula(n - m, s - 1) + formula(m, s) == formula(n, s)


@pytest.mark.parametrize("s", [1, 2, 3, 5, 8])
def test_no_more_states_are_alive_than_snapshots(s):
    holder = Holder()

    def step(state, i):
        return holder.note(wg.sin(state) * 1.1)

    x = wg.asarray(np.ones(3))
    gc.disable()
    try:
        with wg.GradientTape() as tape:
            tape.watch(x)
            y = checkpoint_loop(step, x, 60, snapshots=s)
        # The first of the snapshots is x, which no step has made. Beside the others there is
        # the state that a step starts from; later, the result.
        assert holder.most <= s and holder.alive() == s
        holder.most = 0
        tape.gradient(y, x)
        assert holder.most <= s + 1 and holder.alive() == 1
    finally:
        gc.enable()


def most_alive(n):
    holder = Holder()

    def step(state, i):
        return holder.note(wg.sin(state) * 1.1)

    gradients(lambda x: wg.sum(checkpoint_loop(step, x, n)), wg.asarray(np.ones(3)))
    return holder.most


def test_memory_grows_with_the_root_of_the_length():
    assert most_alive(100) <= 2 * 10 + 2
    assert most_alive(1600) <= 2 * 40 + 2


def test_each_step_runs_twice():
    step = Counter(lambda state, i: wg.sin(state))
    gradients(lambda x: checkpoint_loop(step, x, 50), wg.asarray(0.5))
    assert step.calls == 100


LOOPS = {
    "sqrt": checkpoint_loop,
    "1": functools.partial(checkpoint_loop, snapshots=1),
    "3": functools.partial(checkpoint_loop, snapshots=3),
    "100": functools.partial(checkpoint_loop, snapshots=100),
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize("n", [0, 1, 2, 11])
def test_loops_over_numbers(loop, n):
    w = wg.Variable([0.7, 0.3])
    layers = [wg.Variable(0.1 * i + 0.5) for i in range(n)]

    def run(loop, x, c):
        d = wg.sin(c) * x

        def step(state, i):
            return (wg.tanh(state[0] * w + d) * layers[i], state[1] * c)

        a, b = loop(step, (x, c * c), n)
        return wg.sum(a * b) + 0 * wg.sum(w + sum(layers))

    assert_same(
        functools.partial(run, plain_loop),
        functools.partial(run, loop),
        vector(0.1, 0.2),
        vector(1.1, 0.9),
        more=(w, *layers),
    )


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_loops_over_nests_of_arrays_against_jax(loop):
    rng = np.random.default_rng(0)
    xs = {"a": rng.normal(size=(9, 2)), "b": (rng.normal(size=9),)}
    start, w = np.array([0.3, -0.2]), np.array([0.5, 1.5])

    def ours(xs, start, w):
        return wg.sum(loop(lambda s, x: wg.tanh(s * w + x["a"]) * x["b"][0], start, xs))

    def theirs(xs, start, w):
        def step(s, x):
            return jnp.tanh(s * w + x["a"]) * x["b"][0], None

        return jnp.sum(jax.lax.scan(step, start, xs)[0])

    got = wg.grad(ours, (0, 1, 2))(xs, start, w)
    expected = jax.grad(theirs, (0, 1, 2))(
        jax.tree.map(jnp.array, xs), jnp.array(start), jnp.array(w)
    )
    same(got[0]["a"], expected[0]["a"])
    same(got[0]["b"][0], expected[0]["b"][0])
    same(got[1], expected[1])
    same(got[2], expected[2])


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize("order", [2, 3])
def test_loops_of_higher_order(loop, order):
    def run(loop, x):
        return loop(lambda s, v: wg.sin(s * x) + v * s, x * 0.5, wg.stack([x, x * x, x + 1.0]))

    plain, other = functools.partial(run, plain_loop), functools.partial(run, loop)
    for _ in range(order):
        plain, other = wg.grad(plain), wg.grad(other)
    same(plain(0.4), other(0.4))


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_loops_with_random_numbers_and_variables_that_change(loop):
    def run(loop):
        rng, w = np.random.default_rng(1), wg.Variable(0.8)
        with wg.GradientTape() as tape:
            y = wg.sum(
                loop(lambda s, i: wg.nn.dropout(wg.sin(s) * w, 0.3, generator=rng), wg.ones(40), 12)
            )
        w.assign(7.0)
        return [y.numpy(), tape.gradient(y, w).numpy(), rng.random()]

    for a, b in zip(run(plain_loop), run(loop), strict=True):
        same(a, b)


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_states_of_all_kinds(loop):
    """A counter, a part that never changes, one that is not recorded, one that ends."""
    x = vector(0.3, 0.4)

    def step(state, i):
        n, fixed, free, ended, name, y = state
        assert name == "name"
        return n + 1, fixed, free * 2.0, wg.stop_gradient(ended), name, wg.sin(y * fixed) * free + n

    def run(loop, x):
        state = loop(step, (0, x, vector(0.5, 0.1), x * 2.0, "name", x), 7)
        assert state[0] == 7
        return wg.sum(state[1] * state[5] + state[3]) + 0 * wg.sum(state[2])

    assert_same(functools.partial(run, plain_loop), functools.partial(run, loop), x)


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_a_loop_that_nothing_recorded_enters(loop):
    x = vector(0.3)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = loop(lambda s, i: wg.sin(s), vector(0.5), 6)
    assert tape.gradient(y, x) is None
    same(y.numpy(), plain_loop(lambda s, i: np.sin(s), np.array([0.5]), 6))


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_loops_under_a_persistent_tape_and_in_a_checkpoint(loop):
    x = wg.asarray(0.4)

    def run(x):
        return loop(lambda s, i: wg.sin(s) * x, x, 8)

    expected = gradients(lambda x: plain_loop(lambda s, i: wg.sin(s) * x, x, 8), x)[1]
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = run(x)
    for weight in (1.0, 2.0):
        same(tape.gradient(y, x, output_gradients=weight).numpy(), weight * expected)
    same(gradients(checkpoint(run), x)[1], expected)


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_loops_whose_steps_change_are_refused(loop):
    scale, x = [1.0], vector(0.4)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = loop(lambda s, i: wg.sin(s) * scale[0], x, 8)
    scale[0] = 2.0
    with pytest.raises(wg.RuleError, match="other values"):
        tape.gradient(y, x)


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_what_a_step_hid_away_is_found_missing(loop):
    held = []
    w = wg.Variable(0.5)

    def step(s, i):
        if not held:
            held.append(wg.exp(w))
        return s * held[0] * w

    with wg.GradientTape() as tape:
        y = loop(step, vector(1.0), 5)
    with pytest.raises(wg.RuleError, match="operations on"):
        tape.gradient(y, w)


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_a_step_that_assigns_to_its_state(loop):
    def step(state, i):
        state[1] = i * state[0]
        return wg.sin(state) + state

    def run(loop, x):
        return wg.sum(loop(step, x * 1.0, 5))

    assert_same(
        functools.partial(run, plain_loop), functools.partial(run, loop), vector(0.4, 0.2, 0.1)
    )


def test_a_long_loop_with_one_snapshot_needs_no_deep_stack():
    x = wg.asarray(0.5)
    found = gradients(lambda x: checkpoint_loop(lambda s, i: s * 1.001, x, 400, snapshots=1), x)
    same(found[1], 1.001**400)


def test_bad_arguments_of_a_loop():
    def step(s, x):
        return s

    for snapshots in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="snapshots"):
            checkpoint_loop(step, 1.0, 3, snapshots=snapshots)
    with pytest.raises(ValueError, match="xs=-1"):
        checkpoint_loop(step, 1.0, -1)
    for xs in ([np.ones(2), np.ones(3)], 1.5, (), np.array(1.0)):
        with pytest.raises(wg.ShapeError, match="first axes"):
            checkpoint_loop(step, 1.0, xs)


def test_rows_put_together():
    x = wg.asarray(np.arange(6.0).reshape(3, 2))

    def total(x):
        first, _, last = apply(ROWS, (x,), {})
        return wg.sum(first * last)

    same(gradients(total, x)[1], [[4, 5], [0, 0], [0, 1]])
