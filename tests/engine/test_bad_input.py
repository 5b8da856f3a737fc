"""What bad input gets: an error that names what was given and what to write instead."""

import asyncio
import threading
import warnings

import array_api_strict
import numpy as np
import pytest

import wengert as wg
from wengert.extend import REGISTRY, elementwise, linear, sample


@pytest.fixture
def x():
    return wg.asarray([1.0, 2.0, 3.0])


@pytest.fixture
def scratch_ops():
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


def recorded(x, function=lambda x: x * x, **options):
    with wg.GradientTape(**options) as tape:
        tape.watch(x)
        y = function(x)
    return tape, y


def test_gradient_twice_names_the_first_call(x):
    tape, y = recorded(x)
    tape.gradient(y, x)
    with pytest.raises(wg.TapeError, match=r"test_bad_input\.py:\d+.*persistent=True"):
        tape.gradient(y, x)


def test_a_target_that_is_not_a_tensor(x):
    tape, _ = recorded(x)
    with pytest.raises(TypeError, match="target: got float.*wg.asarray"):
        tape.gradient(3.0, x)
    assert tape.gradient(x, x) is not None  # nothing was lost


def test_a_source_that_is_not_a_tensor(x):
    tape, y = recorded(x)
    with pytest.raises(TypeError, match="source: got ndarray.*wg.asarray"):
        tape.gradient(y, np.ones(3))
    assert tape.gradient(y, x) is not None


@pytest.mark.parametrize("value", [[1, 2], [True, False]])
def test_integers_and_booleans_are_refused_at_watch(value):
    tape = wg.GradientTape()
    with tape, pytest.raises(wg.DtypeError, match=r"(int64|bool).*wg\.astype\(x, wg\.float64\)"):
        tape.watch(wg.asarray(value))


def test_watching_a_numpy_array_says_what_to_write():
    with wg.GradientTape() as tape, pytest.raises(TypeError, match="wg.asarray"):
        tape.watch(np.ones(3))


def test_output_gradients_of_another_shape(x):
    tape, y = recorded(x)
    with pytest.raises(wg.ShapeError, match=r"\(2,\).*\(3,\)"):
        tape.gradient(y, x, output_gradients=np.ones(2))
    with pytest.raises(wg.ShapeError, match="one part for each"):
        tape.gradient([y], x, output_gradients=[np.ones(3), np.ones(3)])
    assert tape.gradient(y, x) is not None


def test_weights_in_another_nest_or_kind(x):
    tape, y = recorded(x, persistent=True)
    with pytest.raises(wg.ShapeError, match="'c'.*'a'"):
        tape.gradient({"a": y}, x, output_gradients={"c": np.ones(3)})
    with pytest.raises(wg.DtypeError, match="complex128 and the target float64"):
        tape.gradient(y, x, output_gradients=np.ones(3) * 1j)
    _, pull = wg.vjp(lambda x: {"a": x, "b": x}, 1.0)
    with pytest.raises(wg.ShapeError, match="'c'"):
        pull({"a": 1.0, "c": 1.0})
    with pytest.raises(TypeError, match="weight is None"):
        pull({"a": 1.0, "b": None})


def test_an_unknown_word_for_unconnected_gradients(x):
    tape, y = recorded(x)
    with pytest.raises(ValueError, match="'zeros'.*'none' or 'zero'"):
        tape.gradient(y, x, unconnected_gradients="zeros")


def test_shapes_that_do_not_broadcast_are_both_named(x):
    for call in (lambda: x + wg.ones(4), lambda: wg.maximum(x, np.ones((2, 2)))):
        with pytest.raises(wg.ShapeError, match=r"\(3,\) and \((4,|2, 2)\) do not broadcast"):
            call()
    with pytest.raises(wg.ShapeError, match=r"matmul.*\(2, 3\).*\(2, 3\)"):
        wg.ones((2, 3)) @ wg.ones((2, 3))


def test_arrays_of_two_libraries(x):
    other = wg.asarray(array_api_strict.ones(3))
    with pytest.raises(wg.BackendError, match="numpy.*array_api_strict"):
        x + other
    with pytest.raises(wg.BackendError, match="array_api_strict.*numpy"):
        other * np.ones(3)


def test_the_raw_array_cannot_be_written(x):
    _, y = recorded(x, wg.exp)
    for array in (y.data, y.numpy(), x.data, x.numpy(), np.asarray(x)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7.0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_a_write_to_the_users_array_changes_no_gradient():
    a = np.array([1.0, 2.0])
    b = np.array([3.0, 4.0])
    x = wg.asarray(a)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x * x * b
    a[:] = 100
    b[:] = 100
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [6, 16])


def test_a_write_after_vjp_changes_no_gradient():
    a = np.array([1.0, 2.0])
    _, pull = wg.vjp(lambda x: x * x, a)
    a[:] = 100
    np.testing.assert_allclose(pull(np.ones(2))[0], [2, 4])


@pytest.mark.parametrize(
    "view",
    [
        lambda a: wg.reshape(a, (2, 3)),
        lambda a: wg.flip(a),
        lambda a: wg.take(a, np.arange(6)),
        lambda a: wg.broadcast_to(a, (1, 6)),
        lambda a: wg.astype(a, wg.float64, copy=False),
        lambda a: wg.sum(a, axis=()),
        lambda a: wg.unstack(a[None])[0],
    ],
)
def test_a_write_to_the_array_behind_a_view_changes_no_tensor(view):
    a = np.arange(6.0)
    x = view(a)
    before = x.numpy().copy()
    a[:] = 100
    np.testing.assert_array_equal(x.numpy(), before)


def test_a_write_to_the_weights_changes_no_gradient(x):
    weights = np.ones(3)
    tape, y = recorded(x, lambda x: +x)
    got = tape.gradient(y, x, output_gradients=weights)
    weights[:] = 5
    assert got.tolist() == [1, 1, 1]


def test_updates_that_an_array_cannot_hold(x):
    with pytest.raises(wg.DtypeError, match="complex128 for an array of float64"):
        x.at[0].set(1 + 2j)
    with pytest.raises(wg.DtypeError, match="float64 for an array of int64"):
        wg.asarray([1, 2]).at[0].add(0.5)
    with pytest.raises(wg.DtypeError, match="cannot hold quotients"):
        wg.asarray([1, 2]).at[0].divide(2)
    with pytest.raises(
        wg.ShapeError, match=r"values of shape \(2,\) for a selection of shape \(\)"
    ):
        x.at[0].set([1.0, 2.0])


def test_no_copy_of_a_writable_array_is_refused():
    with pytest.raises(ValueError, match="writeable = False"):
        wg.asarray(np.ones(3), copy=False)
    frozen = np.ones(3)
    frozen.flags.writeable = False
    assert np.shares_memory(wg.asarray(frozen, copy=False).data, frozen)


def test_a_view_of_a_writable_array_is_copied():
    base = np.ones(3)
    view = base.view()
    view.flags.writeable = False
    assert not np.shares_memory(wg.asarray(view).data, base)


@pytest.mark.parametrize("convert", [float, int, complex, np.asarray])
def test_an_implicit_conversion_on_a_tape_warns_with_the_line(convert):
    def function(x):
        return x * np.float64(np.real(convert(x)))

    x = wg.asarray(2.0)
    with warnings.catch_warnings(record=True) as caught, wg.GradientTape() as tape:
        warnings.simplefilter("always")
        tape.watch(x)
        function(x)
    (warning,) = [w for w in caught if issubclass(w.category, wg.CutPathWarning)]
    assert warning.filename == __file__
    assert warning.lineno == function.__code__.co_firstlineno + 1


def test_a_conversion_outside_of_a_tape_is_silent(x):
    tape, y = recorded(x, wg.sum)
    assert float(y) == 6 and np.asarray(x).sum() == 6
    del tape


def test_explicit_numpy_is_silent(x):
    with wg.GradientTape() as tape:
        tape.watch(x)
        assert (x * 2).numpy().sum() == 12 and wg.sum(x).item() == 6


def test_a_result_that_does_not_depend_on_the_argument_warns():
    with pytest.warns(wg.UnconnectedWarning, match="grad.*does not depend"):
        assert wg.grad(lambda x: 3.0)(2.0) == 0


def test_an_open_tape_used_in_another_thread(x):
    problems = []

    def other(tape):
        for use in (lambda: tape.watch(x), lambda: tape.gradient(x, x), tape.__enter__, tape.reset):
            try:
                use()
            except wg.TapeError as error:
                problems.append(str(error))

    with wg.GradientTape() as tape:
        tape.watch(x)
        worker = threading.Thread(target=other, args=(tape,))
        worker.start()
        worker.join()
        y = x * x
    assert len(problems) == 4 and all("one GradientTape in each thread" in p for p in problems)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [2, 4, 6])


def test_threads_record_apart():
    results = {}

    def work(k):
        x = wg.asarray(float(k))
        for _ in range(50):
            with wg.GradientTape() as tape:
                tape.watch(x)
                y = x
                for _ in range(20):
                    y = y * x
            results.setdefault(k, set()).add(tape.gradient(y, x).item())

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == {k: {21.0 * k**20} for k in range(4)}


def test_async_tasks_record_apart(x):
    async def task(k, started, go):
        with wg.GradientTape() as tape:
            tape.watch(x)
            started.set()
            await go.wait()
            y = x**k
        return tape.gradient(y, x).numpy()

    async def main():
        go = asyncio.Event()
        events = [asyncio.Event() for _ in range(3)]
        tasks = [asyncio.create_task(task(k + 1, e, go)) for k, e in enumerate(events)]
        for event in events:
            await event.wait()
        assert (x * x)._node is None  # the tasks' tapes are not open here
        go.set()
        return await asyncio.gather(*tasks)

    one, two, three = asyncio.run(main())
    np.testing.assert_allclose(one, [1, 1, 1])
    np.testing.assert_allclose(two, [2, 4, 6])
    np.testing.assert_allclose(three, [3, 12, 27])


def test_threads_may_share_variables():
    variables = [wg.Variable(np.ones(2)) for _ in range(50)]
    wrong = []

    def work():
        for _ in range(30):
            with wg.GradientTape() as tape:
                loss = sum((wg.sum(v * v) for v in variables), wg.asarray(0.0))
            for g in tape.gradient(loss, variables):
                if g is None or g.tolist() != [2, 2]:
                    wrong.append(g)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_recording_paused_beyond_its_tape_stays_off(x):
    tape = wg.GradientTape()
    tape.__enter__()
    pause = tape.stop_recording()
    pause.__enter__()
    tape.__exit__(None, None, None)
    pause.__exit__(None, None, None)
    tape.watch(x)
    assert (x * x)._node is None


def test_opening_an_open_tape(x):
    with wg.GradientTape() as tape, pytest.raises(wg.TapeError, match="open already"), tape:
        pass
    assert (x * x)._node is None


def test_a_users_rule_of_the_wrong_shape_is_named(x, scratch_ops):
    twice = linear(
        "twice_wrong",
        lambda xp, g: xp.sum(g),
        compute=lambda xp, x: 2 * x,
        samples=[sample((3,))],
    )
    tape, y = recorded(x, twice)
    with pytest.raises(wg.RuleError, match=r"twice_wrong.*shape \(\).*\(3,\)"):
        tape.gradient(y, x)


def test_a_users_rule_that_returns_no_array_is_named(x, scratch_ops):
    bad = elementwise("bad_rule", lambda xp, g: 1.0, compute=lambda xp, x: 2 * x)
    tape, y = recorded(x, bad)
    with pytest.raises(wg.RuleError, match=r"bad_rule.*float 1\.0.*shape \(3,\)"):
        tape.gradient(y, x)


def test_a_users_rule_cannot_write_to_what_others_read(x, scratch_ops):
    def rule(xp, g):
        g *= 2
        return g

    double = elementwise("double_in_place", rule, compute=lambda xp, x: 2 * x)
    tape, y = recorded(x, double)
    with pytest.raises(ValueError, match="read-only"):
        tape.gradient(y, x)


def test_a_users_compute_may_return_its_argument(scratch_ops):
    same = elementwise("same", lambda xp, g: g, compute=lambda xp, x: x)
    a = np.zeros(2)
    y = same(a)
    a[0] = 9
    assert y.tolist() == [0, 0]


def test_a_declaration_is_checked_when_made(scratch_ops):
    with pytest.raises(wg.RuleError, match=r"reads \['z'\]"):
        elementwise("unknown_name", lambda xp, g, z: g, compute=lambda xp, x: x)
    with pytest.raises(wg.RuleError, match="a rule takes"):
        elementwise("no_namespace", lambda g, x: g, compute=lambda xp, x: x)
    with pytest.raises(wg.RuleError, match="1 rules"):
        elementwise("too_few", lambda xp, g: g, args=("a", "b"), compute=lambda xp, a, b: a)
    with pytest.raises(wg.RuleError, match="declared twice"):
        elementwise("sin", lambda xp, g: g)


def test_a_custom_gradient_with_too_few_answers(x):
    @wg.custom_gradient
    def product(a, b):
        return a * b, lambda g: g * b

    tape, y = recorded(x, lambda x: product(x, x + 1))
    with pytest.raises(wg.RuleError, match="product.*1 values for 2 arguments"):
        tape.gradient(y, x)


def test_things_that_are_no_arrays(x):
    with pytest.raises(TypeError, match="add: got str 'a'"):
        wg.add(x, "a")
    with pytest.raises(TypeError):
        x + "a"
    with pytest.raises(TypeError, match="wg.stack"):
        wg.add(x, [x, x])


def test_grad_of_a_function_that_returns_an_array(x):
    with pytest.raises(wg.ShapeError, match=r"shape \(3,\).*wg\.sum.*wg\.vjp"):
        wg.grad(lambda x: x * 2)(x)
    with pytest.raises(TypeError, match="has_aux=True"):
        wg.grad(lambda x: (wg.sum(x), 1))(x)
    with pytest.raises(TypeError, match="argnums=1.*1 positional"):
        wg.grad(lambda x: wg.sum(x), argnums=1)(x)
    with pytest.raises(ValueError, match="twice"):
        wg.grad(lambda x, y: wg.sum(x * y), argnums=(0, -2))(x, x)
    with pytest.raises(TypeError, match="argnums='x'"):
        wg.grad(lambda x: wg.sum(x), argnums="x")(x)
    with pytest.raises(wg.DtypeError, match=r"write 2\."):
        wg.grad(lambda x: x * x)(2)


@pytest.mark.parametrize(
    "key", [3, -4, (0, 0), np.array([5]), np.array([True, False]), 1.5, "a", (..., ...)]
)
def test_a_wrong_index_names_shape_and_index(x, key):
    with pytest.raises(IndexError):
        x[key]
    with pytest.raises(IndexError):
        x.at[key].get()
