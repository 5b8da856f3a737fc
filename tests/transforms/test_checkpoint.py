"""checkpoint: derivatives as without it, in less memory."""

import concurrent.futures
import functools
import gc
import weakref

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest

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
from wengert.transforms.checkpoint import checkpoint
from wengert.transforms.checkpoint_loop import checkpoint_loop

jax.config.update("jax_enable_x64", True)
global_rng = np.random.default_rng(5)


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


def test_variables_as_arguments():
    w, b = wg.Variable([0.5, 1.0]), wg.Variable(2.0)
    with wg.GradientTape() as tape:
        y = wg.sum(checkpoint(lambda w, more: wg.sin(w * more["b"]))(w, {"b": b}))
    w.assign([7.0, 7.0])
    by_w, by_b = tape.gradient(y, [w, b])
    same(by_w.numpy(), 2 * np.cos([1.0, 2.0]))
    same(by_b.numpy(), np.sum([0.5, 1.0] * np.cos([1.0, 2.0])))


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
