"""checkpoint and checkpoint_loop: derivatives as without them, in less memory."""

import concurrent.futures
import functools
import gc
import math
import weakref

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as wg
from wengert.engine.record import apply
from wengert.transforms.checkpoint import checkpoint
from wengert.transforms.checkpoint_loop import ROWS, advance, checkpoint_loop

jax.config.update("jax_enable_x64", True)
global_rng = np.random.default_rng(5)


def same(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-12, atol=1e-14)


def gradients(function, *tensors, more=()):
    """Return the value of function(*tensors), and its gradients, by a tape."""
    with wg.GradientTape() as tape:
        tape.watch(tensors)
        y = function(*tensors)
    found = tape.gradient(y, [*tensors, *more])
    return [y.numpy(), *(None if g is None else g.numpy() for g in found)]


def assert_same(plain, other, *tensors, more=()):
    for a, b in zip(
        gradients(plain, *tensors, more=more), gradients(other, *tensors, more=more), strict=True
    ):
        same(a, b)


def vector(*values):
    return wg.asarray(np.array(values))


class Counter:
    """Counts how often a function is called."""

    def __init__(self, function):
        self.function = function
        self.calls = 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)


# -- what it is for -----------------------------------------------------------------------


def test_gradient_against_jax():
    def layer(xp, x, w):
        return xp.tanh(x @ w) * xp.sin(x)

    w = np.random.default_rng(0).normal(size=(3, 3))
    x = np.array([[0.1, -0.4, 0.7]])

    def ours(x, w):
        for _ in range(3):
            x = checkpoint(functools.partial(layer, wg))(x, w)
        return wg.sum(x)

    def theirs(x, w):
        for _ in range(3):
            x = layer(jnp, x, w)
        return jnp.sum(x)

    for a, b in zip(
        wg.grad(ours, (0, 1))(x, w),
        jax.grad(theirs, (0, 1))(jnp.array(x), jnp.array(w)),
        strict=True,
    ):
        same(a, b)


def test_it_runs_again_only_for_a_gradient():
    function = Counter(lambda x: wg.sin(x) * x)
    x = vector(0.1, 0.2)
    checkpoint(function)(x)
    assert function.calls == 1
    with wg.GradientTape() as tape:  # that watches nothing
        y = checkpoint(function)(x)
    assert function.calls == 2 and y._node is None
    gradients(lambda x: wg.sum(checkpoint(function)(x)), x)
    assert function.calls == 4
    with wg.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            y = checkpoint(function)(x)
    assert function.calls == 5 and tape.gradient(y, x) is None


def test_once_for_all_arguments_and_results():
    function = Counter(lambda a, b, c: (a * b, wg.sin(b * c), a + c))
    a, b, c = vector(0.1), vector(0.2), vector(0.3)

    def total(a, b, c):
        p, q, r = checkpoint(function)(a, b, c)
        return wg.sum(p * q + r)

    found = gradients(total, a, b, c)
    assert function.calls == 2
    same(found[1], 0.2 * np.sin(0.06) + 1)


class Holder:
    """Refers to arrays that live as long as something keeps them."""

    def __init__(self):
        self.made = []
        self.most = 0

    def note(self, tensor):
        self.made = [ref for ref in self.made if ref() is not None]
        self.most = max(self.most, len(self.made))
        self.made.append(weakref.ref(tensor._raw))
        return tensor

    def alive(self):
        return sum(ref() is not None for ref in self.made)


def test_what_is_inside_is_not_kept():
    holder = Holder()

    def function(x):
        for _ in range(20):
            x = holder.note(wg.tanh(x))
        return x

    x = vector(0.3)
    gc.collect()
    gc.disable()  # reference counts alone must free it
    try:
        with wg.GradientTape() as tape:
            tape.watch(x)
            y = checkpoint(function)(x)
            assert holder.alive() == 1
        g = tape.gradient(y, x)
        assert holder.alive() == 1
        del y, g, tape
        assert holder.alive() == 0
    finally:
        gc.enable()


def test_the_arguments_are_let_go_by_the_sweep():
    x = vector(0.3)
    with wg.GradientTape() as tape:
        tape.watch(x)
        data = wg.asarray(np.ones(1)) * 2.0
        ref = weakref.ref(data._raw)
        y = checkpoint(lambda x, d: wg.sin(x) * d)(x, data)
        del data
    assert ref() is not None
    tape.gradient(y, x)
    assert ref() is None


# -- arguments and results ----------------------------------------------------------------


def test_nests_keywords_and_other_values():
    def function(params, mode, *, scale, shift=None):
        assert mode == "fast" and shift is None
        z = wg.sin(params["w"]) * params["more"][0] * scale
        return {"z": z, "n": 3, "i": wg.argmax(z), "none": None, "same": params["w"]}

    def total(call, w, v, s):
        out = call({"w": w, "more": [v]}, "fast", scale=s)
        assert out["n"] == 3 and out["none"] is None and out["same"] is w
        assert out["i"].dtype == np.int64
        return wg.sum(out["z"] * out["z"] + out["same"])

    tensors = vector(0.1, 0.5), vector(0.7, -0.3), wg.asarray(1.5)
    assert_same(
        functools.partial(total, function), functools.partial(total, checkpoint(function)), *tensors
    )


def test_results_that_are_arguments_or_the_same_tensor():
    def function(x):
        y = wg.exp(x)
        return x, y, y, y * 2.0

    def total(call, x):
        a, b, c, d = call(x)
        return wg.sum(a * b + c * d * b)

    assert_same(
        functools.partial(total, function),
        functools.partial(total, checkpoint(function)),
        vector(0.1, 0.2),
    )


def test_an_unused_result():
    x, w = vector(0.4), vector(0.5)

    def function(x, w):
        return wg.sin(x), wg.cos(w)

    assert_same(
        lambda x, w: function(x, w)[0] + 0 * w,
        lambda x, w: checkpoint(function)(x, w)[0] + 0 * w,
        x,
        w,
    )


def test_the_name_and_signature_stay():
    def layer(x):
        """Twice."""
        return 2 * x

    assert checkpoint(layer).__name__ == "layer" and checkpoint(layer).__doc__ == "Twice."


def test_complex_numbers_and_other_dtypes():
    x = wg.asarray(np.array([0.3 + 0.2j, 1.0 - 1j]))

    def total(call):
        return lambda x: wg.sum(wg.abs(call(x)) ** 2)

    def function(x):
        return wg.exp(x * (1 + 2j))

    assert_same(total(function), total(checkpoint(function, check=True)), x)
    x = wg.asarray(np.array([0.3, 0.2], np.float32))
    assert gradients(lambda x: wg.sum(checkpoint(wg.sin)(x)), x)[1].dtype == np.float32


def test_another_library():
    x = array_api_strict.asarray([0.1, 0.2])
    got = wg.grad(lambda x: wg.sum(checkpoint(lambda x: wg.sin(x) * x)(x)))(x)
    assert type(got) is type(x)
    same(wg.grad(lambda x: wg.sum(wg.sin(x) * x))(np.array([0.1, 0.2])), np.asarray(got))


def test_blocks_go_in_and_come_out():
    x = wg.asarray(np.arange(12.0).reshape(4, 3) / 10)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = checkpoint(lambda x: wg.sin(x) * 2.0)(x)
    g = tape.gradient(y.at[1, 2], x, dense=False)
    assert isinstance(g, wg.Block) and g.values.shape == (1, 1)
    same(g.values.numpy(), 2 * np.cos(0.5))


# -- what is read without being an argument -----------------------------------------------


def test_captured_tensors():
    c = vector(0.3, 0.4)

    def total(wrap, x, c):
        d = wg.sin(c) * x
        e = d * c
        return wg.sum(wrap(lambda x: wg.tanh(x * d) * e + c)(x * c))

    assert_same(
        functools.partial(total, lambda f: f),
        functools.partial(total, checkpoint),
        vector(0.1, 0.2),
        c,
    )


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_an_end_behind_another_counts_once(order):
    """x, and what was computed directly from it, are both read inside."""

    def total(wrap, x):
        y = wg.sin(x)
        return wrap(lambda: y * x * wg.exp(y))() * x

    plain, other = functools.partial(total, lambda f: f), functools.partial(total, checkpoint)
    for _ in range(order):
        plain, other = wg.grad(plain), wg.grad(other)
    same(plain(0.7), other(0.7))


def test_variables_in_closures_and_attributes():
    class Layer:
        def __init__(self):
            self.w = wg.Variable([0.3, 0.1])

        def __call__(self, x):
            return wg.tanh(x * self.w) + b

    b, layer = wg.Variable(0.2), Layer()
    assert_same(
        lambda x: wg.sum(layer(x)),
        lambda x: wg.sum(checkpoint(layer)(x)),
        vector(1.0, 2.0),
        more=(layer.w, b),
    )


def test_a_variable_made_at_the_first_call():
    made = []

    def layer(x):
        if not made:
            made.append(wg.Variable(0.5))
        return wg.sin(x * made[0])

    with wg.GradientTape() as tape:
        y = checkpoint(layer)(vector(2.0))
    same(tape.gradient(y, made[0]).numpy(), 2 * np.cos(1.0))


def test_a_variable_made_at_each_call_is_refused():
    with wg.GradientTape() as tape:
        y = checkpoint(lambda x: x * wg.Variable(0.5))(vector(2.0))
    variable = tape.watched_variables()[0]
    with pytest.raises(wg.RuleError, match="returned a constant"):
        tape.gradient(y, variable)


def test_a_variable_assigned_before_the_gradient_has_its_old_value():
    w = wg.Variable([0.3])
    with wg.GradientTape() as tape:
        y = checkpoint(lambda x: wg.sin(x * w))(vector(2.0))
    w.assign([5.0])
    same(tape.gradient(y, w).numpy(), [2 * np.cos(0.6)])
    same(w.numpy(), [5.0])
    with wg.GradientTape() as tape:
        y = checkpoint(lambda x: wg.sin(x * w))(vector(2.0))
    w[0] = 0.1
    same(tape.gradient(y, w).numpy(), [2 * np.cos(10.0)])
    same(w.numpy(), [0.1])


@pytest.mark.parametrize("trainable", [True, False])
def test_an_unwatched_variable_assigned_before_the_gradient_has_its_old_value(trainable):
    w, x = wg.Variable([0.3], trainable=trainable), vector(0.0)
    with wg.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = checkpoint(lambda x: wg.sin(x * w))(x)
    w.assign([5.0])
    same(tape.gradient(y, x).numpy(), [0.3])  # the values of y are those of any w
    same(w.numpy(), [5.0])


def test_a_variable_that_is_not_found_is_refused():
    class Hidden:
        w = wg.Variable([0.3], trainable=False)

    x = vector(2.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = checkpoint(lambda x: wg.sin(x * Hidden.w))(x)
    Hidden.w.assign([5.0])
    with pytest.raises(wg.RuleError, match="other values"):
        tape.gradient(y, x)


@pytest.mark.parametrize("loop", [None, 1, 3])
def test_what_is_assigned_inside_is_assigned_once(loop):
    """A running mean, which the result depends on as well."""

    def run(wrap, around):
        mean, x = wg.Variable(0.5, trainable=False), vector(0.2, 0.4)

        def layer(x):
            mean.assign(0.9 * mean.value() + 0.1 * wg.stop_gradient(wg.mean(x)))
            return wg.sin(x * mean)

        def call(x):
            return wg.sum(around(lambda s, i: layer(s), wrap(layer)(x), 5))

        return [*gradients(call, x), mean.numpy()]

    around = functools.partial(checkpoint_loop, snapshots=loop)
    for a, b in zip(run(lambda f: f, plain_loop), run(checkpoint, around), strict=True):
        same(a, b)


def test_arguments_changed_before_the_gradient():
    x, data, weights = vector(0.5), np.array([2.0]), [vector(3.0)]
    other = x * 1.0
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = checkpoint(lambda x, d, w, o: wg.sin(x * d) * w[0] * o)(x, data, weights, other)
    data[0] = 7.0
    weights[0] = vector(-1.0)
    other[0] = 9.0
    source = x
    same(tape.gradient(y, source).numpy(), [3 * 0.5 * 2 * np.cos(1.0)])


def test_a_function_that_assigns_to_its_argument():
    def function(x):
        x[0] = x[0] * 3.0
        return wg.sin(x)

    def total(call, x):
        y = x * 1.0
        return wg.sum(call(y) * y)

    assert_same(
        functools.partial(total, function),
        functools.partial(total, checkpoint(function)),
        vector(0.5, 0.2),
    )


# -- random numbers -----------------------------------------------------------------------


def places_for_a_generator():
    class Model:
        def __init__(self, rng):
            self.rng = rng

        def __call__(self, x):
            return wg.nn.dropout(wg.sin(x), 0.5, generator=self.rng)

        def method(self, x):
            return self(x)

    def argument(rng):
        function = checkpoint(lambda x, rng: wg.nn.dropout(wg.sin(x), 0.5, generator=rng))
        return lambda x: function(x, rng)

    def in_a_list(rng):
        held = {"all": [rng]}
        return checkpoint(lambda x: wg.nn.dropout(wg.sin(x), 0.5, generator=held["all"][0]))

    return {
        "argument": argument,
        "closure": lambda rng: checkpoint(lambda x: wg.nn.dropout(wg.sin(x), 0.5, generator=rng)),
        "object": lambda rng: checkpoint(Model(rng)),
        "method": lambda rng: checkpoint(Model(rng).method),
        "container": in_a_list,
        "partial": lambda rng: checkpoint(
            functools.partial(lambda r, x: wg.nn.dropout(wg.sin(x), 0.5, generator=r), rng)
        ),
        "default": lambda rng: checkpoint(
            lambda x, r=rng: wg.nn.dropout(wg.sin(x), 0.5, generator=r)
        ),
    }


@pytest.mark.parametrize("place", places_for_a_generator())
def test_the_same_random_numbers(place):
    x = wg.asarray(np.linspace(0.1, 1.0, 64))

    def twice(make):
        rng = np.random.default_rng(3)
        call = make(rng)
        found = gradients(lambda x: wg.sum(call(call(x))), x)
        return [*found, rng.random()]

    def plain(rng):
        return lambda x: wg.nn.dropout(wg.sin(x), 0.5, generator=rng)

    for a, b in zip(twice(plain), twice(places_for_a_generator()[place]), strict=True):
        same(a, b)


def test_a_global_generator():
    def function(x):
        return x * wg.random.normal(global_rng, shape=3)

    state = global_rng.bit_generator.state
    plain = gradients(lambda x: wg.sum(function(x)), vector(1.0, 2.0, 3.0))
    after = global_rng.random()
    global_rng.bit_generator.state = state
    other = gradients(lambda x: wg.sum(checkpoint(function)(x)), vector(1.0, 2.0, 3.0))
    same(plain[1], other[1])
    assert global_rng.random() == after


# -- functions that do not do the same again ----------------------------------------------


def changing(*results):
    answers = iter(results)
    return lambda x: next(answers)(x)


@pytest.mark.parametrize(
    "second, words",
    [
        (lambda x: wg.sin(x)[:1], r"shape \(1,\)"),
        (lambda x: (wg.sin(x), wg.sin(x)), "returned 2 values, and 1"),
        (lambda x: wg.sin(x) * 1.001, "other values"),
        (lambda x: wg.sin(x[::-1])[::-1], "recorded 3 operations"),
        (lambda x: wg.stop_gradient(wg.sin(x)), "constant"),
        (lambda x: wg.astype(wg.sin(x), wg.float32), "float32"),
    ],
)
def test_a_function_that_changes_is_refused(second, words):
    x = vector(0.1, 0.2)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = checkpoint(changing(wg.sin, second))(x)
    with pytest.raises(wg.RuleError, match=words):
        tape.gradient(y, x)


def test_check_compares_each_element():
    x = vector(0.1, 0.2)

    def attempt(**options):
        with wg.GradientTape() as tape:
            tape.watch(x)
            y = checkpoint(changing(lambda x: wg.sin(x)[:], lambda x: wg.sin(x)[::-1]), **options)(
                x
            )
        return tape.gradient(y, x)

    for options in ({}, {"check": True}):  # also the sums tell places apart
        with pytest.raises(wg.RuleError, match="other values"):
            attempt(**options)


def test_infinite_and_undefined_values_are_the_same_again():
    x = vector(0.0, -1.0, 2.0)
    with np.errstate(all="ignore"):
        for check in (False, True):
            gradients(lambda x, c=check: wg.sum(checkpoint(wg.log, check=c)(x)[2:]), x)
            gradients(lambda x, c=check: wg.sum(checkpoint(wg.log, check=c)(x)), x)


def test_what_the_first_call_hid_away_is_found_missing():
    held = []
    w, x = wg.Variable(0.5), vector(2.0)

    def function(x):
        if not held:
            held.append(wg.exp(w))
        return x * held[0] * w

    with wg.GradientTape() as tape:
        y = checkpoint(function)(x)
    with pytest.raises(wg.RuleError, match="recorded 1 operations on 1 tensors, and at first 3"):
        tape.gradient(y, w)


def test_an_error_inside_leaves_everything_as_it_was():
    rng, w, x = np.random.default_rng(0), wg.Variable(0.5), vector(2.0)
    calls = []

    def function(x):
        calls.append(1)
        if len(calls) == 2:
            raise KeyError("inside")
        return x * w * rng.random()

    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = checkpoint(function)(x)
    w.assign(3.0)
    state = rng.bit_generator.state
    with pytest.raises(KeyError):
        tape.gradient(y, x)
    assert rng.bit_generator.state == state and float(w.numpy()) == 3.0
    same(tape.gradient(y, x).numpy() * 2.0, y.numpy())


# -- with other transforms ----------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_orders_and_nesting(order):
    def function(wrap, x):
        inner = wrap(lambda y: wg.sin(y) * x)
        return wrap(lambda z: inner(inner(z) * z) + wg.exp(z))(x * x)

    plain, other = functools.partial(function, lambda f: f), functools.partial(function, checkpoint)
    for _ in range(order):
        plain, other = wg.grad(plain), wg.grad(other)
    same(plain(0.6), other(0.6))


def test_checkpoint_of_a_gradient_and_gradient_of_it():
    def slope(wrap, x):
        return wrap(lambda x: wg.grad(wrap(lambda y: wg.tanh(y * x) * y))(x) * x)(x)

    plain, other = functools.partial(slope, lambda f: f), functools.partial(slope, checkpoint)
    for _ in range(3):
        same(plain(0.6), other(0.6))
        plain, other = wg.grad(plain), wg.grad(other)


def test_inside_and_around_a_custom_gradient():
    @wg.custom_gradient
    def inside(x):
        y = checkpoint(lambda x: wg.sin(x) * x)(x)
        return y, lambda g: g * 2 * y

    @wg.custom_gradient
    def square(x):
        return x * x, lambda g: 2 * g * x

    def around(x):
        return checkpoint(lambda x: square(wg.sin(x)))(x)

    y = np.sin(0.4) * 0.4
    same(wg.grad(inside)(0.4), 2 * y)
    same(wg.grad(wg.grad(inside))(0.4), 2 * (np.cos(0.4) * 0.4 + np.sin(0.4)))
    same(wg.grad(around)(0.4), np.sin(0.8))
    same(wg.grad(wg.grad(around))(0.4), 2 * np.cos(0.8))


def test_a_pullback_inside_that_reads_a_tensor_of_an_outer_tape():
    def total(wrap, c):
        @wg.custom_gradient
        def scaled(x):
            return x * 1.0, lambda g: g * c * c

        return wg.grad(lambda x: wrap(lambda x: scaled(x) * 2.0)(x))(3.0)

    for wrap in (lambda f: f, checkpoint):
        same(wg.grad(functools.partial(total, wrap))(0.5), 2.0)


def test_two_tapes_and_a_persistent_one():
    x, w = vector(0.3), vector(0.7)
    with wg.GradientTape() as second:
        second.watch(w)
        with wg.GradientTape(persistent=True) as first:
            first.watch(x)
            y = checkpoint(lambda x: wg.sin(x * w))(x)
        for weight in (1.0, 3.0):
            g = first.gradient(y, x, output_gradients=[weight])
            same(g.numpy(), weight * 0.7 * np.cos(0.21))
        assert first.gradient(y, w) is None
    expected = 3 * (np.cos(0.21) - 0.21 * np.sin(0.21))
    same(second.gradient(g, w).numpy(), expected)


def test_a_tape_that_was_opened_later():
    x = vector(0.3)
    with wg.GradientTape() as first:
        first.watch(x)
        y = checkpoint(lambda x: wg.sin(x) * x)(x)
    with wg.GradientTape() as second:
        second.watch(x)
        g = first.gradient(y, x)
    same(second.gradient(g, x).numpy(), 2 * np.cos(0.3) - 0.3 * np.sin(0.3))


def test_check_grads_agrees():
    w = wg.asarray(np.linspace(-1, 1, 4))
    wg.check_grads(checkpoint(lambda x: wg.tanh(x * w) * x), [np.linspace(0.1, 1, 4)])


def test_threads_at_the_same_time():
    w = wg.Variable(np.linspace(0.1, 1.0, 5))

    def one(i):
        def slow(x):
            for _ in range(20):
                x = wg.sin(x * w)
            return x

        with wg.GradientTape() as tape:
            y = checkpoint(slow)(wg.ones(5) * (1.0 + i))
        return tape.gradient(y, w).numpy()

    expected = [one(i) for i in range(8)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for a, b in zip(expected, pool.map(one, range(8)), strict=True):
            same(a, b)


MODES = {
    "jvp": lambda f, x: wg.jvp(f, (x,), (np.ones_like(x),))[1],
    "vmap": lambda f, x: wg.vmap(f)(x),
    "vmap of grad": lambda f, x: wg.vmap(wg.grad(lambda x: wg.sum(f(x))))(x),
    "grad of vmap": lambda f, x: wg.grad(lambda x: wg.sum(wg.vmap(f)(x)))(x),
    "grad of vmap of grad": lambda f, x: wg.grad(
        lambda x: wg.sum(wg.vmap(wg.grad(lambda x: wg.sum(f(x) * f(x))))(x))
    )(x),
    "jvp of grad": lambda f, x: wg.jvp(
        wg.grad(lambda x: wg.sum(f(x) * x)), (x,), (np.ones_like(x),)
    )[1],
}


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("snapshots", [None, 2])
def test_forward_mode_and_vmap(mode, snapshots):
    x, c = np.arange(6.0).reshape(3, 2) / 5, wg.asarray(np.array([0.3, 0.4]))

    def function(wrap, loop, x):
        y = wrap(lambda x: wg.tanh(x * c) * x)(x)
        return loop(lambda s, i: wg.sin(s) * x + c, y, 5)

    plain = functools.partial(function, lambda f: f, plain_loop)
    loop = functools.partial(checkpoint_loop, snapshots=snapshots)
    same(mode(plain, x), mode(functools.partial(function, checkpoint, loop), x))


# -- loops --------------------------------------------------------------------------------


def plain_loop(step, state, xs):
    for x in range(xs) if type(xs) is int else xs:
        state = step(state, x)
    return state


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
