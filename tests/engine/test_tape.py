"""GradientTape: watching, asking, nesting, forgetting."""

import dataclasses
import gc
import weakref

import numpy as np
import pytest

import wengert as wg


def gradient_of(function, x, **options):
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x, **options)


def test_gradient_of_a_scalar():
    x = wg.asarray([1.0, 2.0, 3.0])
    np.testing.assert_allclose(gradient_of(lambda x: wg.sum(x**3), x).numpy(), [3, 12, 27])


def test_a_tensor_target_means_its_sum():
    x = wg.asarray([1.0, 2.0])
    np.testing.assert_allclose(gradient_of(lambda x: x * x, x).numpy(), [2, 4])


def test_output_gradients_weigh_the_target():
    x = wg.asarray([1.0, 2.0])
    weights = np.array([10.0, -1.0])
    got = gradient_of(lambda x: x * x, x, output_gradients=weights)
    np.testing.assert_allclose(got.numpy(), [20, -4])


def test_targets_in_a_nest_add_up():
    x = wg.asarray(3.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        targets = {"a": x * x, "b": [x, (2 * x,)]}
    assert tape.gradient(targets, x).item() == 6 + 1 + 2


def test_a_target_named_twice_counts_twice():
    x = wg.asarray(3.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient([y, y], x).item() == 12


@dataclasses.dataclass(frozen=True)
class Model:
    weight: wg.Tensor
    rest: dict
    layers: int = 2
    activation: str | None = None
    name: str = dataclasses.field(default="model", init=False)

    def __post_init__(self):
        assert self.weight.shape == (), "computed once, when made"


def test_sources_in_a_nest_come_back_in_it():
    a, b, c = (wg.asarray(v) for v in (2.0, 3.0, 5.0))
    model = Model(a, {"b": b, "c": [c]})
    with wg.GradientTape() as tape:
        tape.watch(model)
        y = model.weight * model.rest["b"] + model.rest["c"][0] ** 2
    got = tape.gradient(y, model)
    assert isinstance(got, Model)
    assert got.weight.item() == 3 and got.rest["b"].item() == 2
    assert got.rest["c"][0].item() == 10
    assert (got.layers, got.activation, got.name) == (2, None, "model")
    assert wg.grad(lambda m: m.weight * 2.0)(model).weight.item() == 2


def test_none_in_sources_stays_none():
    x = wg.asarray(2.0)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, {"a": None, "b": x})["a"] is None
    assert tape.gradient(y, [None, x], unconnected_gradients="zero")[0] is None


def test_an_intermediate_is_a_source():
    x = wg.asarray(2.0)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y + y
    assert tape.gradient(z, y).item() == 2 * 4 + 1
    assert tape.gradient(z, x).item() == 9 * 4
    assert tape.gradient(y, z) is None


def test_the_target_itself_is_a_source():
    x = wg.asarray([1.0, 2.0])
    np.testing.assert_array_equal(gradient_of(lambda x: x, x).numpy(), [1, 1])


def test_no_path_is_none_or_zero_on_request():
    x, other = wg.asarray(2.0), wg.asarray([1.0, 2.0])
    with wg.GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        y = x * x
    assert tape.gradient(y, other) is None
    got = tape.gradient(y, [x, other], unconnected_gradients="zero")
    assert got[0].item() == 4
    np.testing.assert_array_equal(got[1].numpy(), [0, 0])


def test_what_was_not_watched_is_not_recorded():
    x = wg.asarray(2.0)
    with wg.GradientTape() as tape:
        y = x * x
    assert y._node is None and tape.gradient(y, x) is None


def test_what_happens_before_watching_or_after_closing_is_not_recorded():
    x = wg.asarray(2.0)
    with wg.GradientTape(persistent=True) as tape:
        early = x * 3
        tape.watch(x)
        y = x * x
    late = y * x
    assert tape.gradient(early, x) is None
    assert tape.gradient(late, x) is None
    assert tape.gradient(y, x).item() == 4


def test_a_stale_tensor_is_not_recorded_by_a_new_tape():
    x = wg.asarray(2.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
    del tape
    for _ in range(5):
        with wg.GradientTape():
            y = x * x
        assert y._node is None


def test_nested_tapes_give_any_order():
    x = wg.asarray(2.0)
    with wg.GradientTape() as one:
        one.watch(x)
        with wg.GradientTape() as two:
            two.watch(x)
            with wg.GradientTape() as three:
                three.watch(x)
                y = x**5
            first = three.gradient(y, x)
        second = two.gradient(first, x)
    assert first.item() == 80 and second.item() == 160
    assert one.gradient(second, x).item() == 60 * 4


def test_an_outer_tape_can_watch_later():
    x = wg.asarray(2.0)
    with wg.GradientTape() as inner:
        inner.watch(x)
        y = x**3
    with wg.GradientTape() as outer:
        outer.watch(x)
        slope = inner.gradient(y, x)
    assert outer.gradient(slope, x).item() == 12


def test_each_tape_sees_only_what_it_watches():
    x, y = wg.asarray(2.0), wg.asarray(3.0)
    with wg.GradientTape(persistent=True) as one, wg.GradientTape(persistent=True) as two:
        one.watch(x)
        two.watch(y)
        z = x * y
    assert one.gradient(z, x).item() == 3 and one.gradient(z, y) is None
    assert two.gradient(z, y).item() == 2 and two.gradient(z, x) is None


def test_a_tape_that_watches_an_intermediate_stops_there():
    x = wg.asarray(2.0)
    with wg.GradientTape(persistent=True) as outer, wg.GradientTape(persistent=True) as inner:
        outer.watch(x)
        y = x * x
        inner.watch(y)
        z = y**2
    assert inner.gradient(z, y).item() == 8 and inner.gradient(z, x) is None
    assert outer.gradient(z, x).item() == 32


def test_a_persistent_tape_differentiates_inside_itself():
    x = wg.asarray(2.0)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x**3
        slope = tape.gradient(y, x)
    assert tape.gradient(slope, x).item() == 12


def test_weights_of_an_outer_tape_are_differentiated():
    x, w = wg.asarray([1.0, 2.0]), wg.asarray([3.0, 4.0])
    with wg.GradientTape() as outer:
        outer.watch(w)
        with wg.GradientTape() as inner:
            inner.watch(x)
            y = x * x
        slope = inner.gradient(y, x, output_gradients=w)
    np.testing.assert_allclose(outer.gradient(slope, w).numpy(), [2, 4])


def test_stop_recording():
    x = wg.asarray(2.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            hidden = x * 5
        y = y + hidden
    assert tape.gradient(y, x).item() == 4


def test_stop_recording_outside_raises():
    tape = wg.GradientTape()
    with pytest.raises(wg.TapeError, match="inside `with tape:`"), tape.stop_recording():
        pass


def test_reset_forgets_and_goes_on():
    x = wg.asarray(2.0)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        old = x * x
        tape.reset()
        unwatched = x * 3
        tape.watch(x)
        new = x**3
    assert tape.gradient(old, x) is None and tape.gradient(unwatched, x) is None
    assert tape.gradient(new, x).item() == 12


def test_a_closed_tape_can_be_opened_again():
    x = wg.asarray(2.0)
    tape = wg.GradientTape(persistent=True)
    with tape:
        tape.watch(x)
        y = x * x
    with tape:
        z = y * x
    assert tape.gradient(z, x).item() == 12


def test_an_exception_leaves_nothing_open():
    x = wg.asarray(2.0)
    with pytest.raises(ZeroDivisionError), wg.GradientTape() as tape:
        tape.watch(x)
        raise ZeroDivisionError
    assert (x * x)._node is None
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).item() == 4


def test_an_exception_in_a_rule_restores_the_outer_tape():
    @wg.custom_gradient
    def broken(x):
        def pull(g):
            raise KeyError("in a rule")

        return x * 2, pull

    x = wg.asarray(2.0)
    with wg.GradientTape() as outer:
        outer.watch(x)
        with wg.GradientTape() as inner:
            inner.watch(x)
            y = broken(x)
        with pytest.raises(KeyError):
            inner.gradient(y, x)
        z = x * x
    assert outer.gradient(z, x).item() == 4


def test_a_shared_value_collects_all_its_uses():
    x = wg.asarray(3.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(10):
            y = y + x
    assert tape.gradient(y, x).item() == 11


def test_a_diamond():
    x = wg.asarray(2.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        a = x * 3
        b = a * a
        c = a + b
        d = b * c
    # d = 9x^2 (3x + 9x^2) = 27x^3 + 81x^4
    assert tape.gradient(d, x).item() == pytest.approx(81 * 4 + 324 * 8)


def test_a_long_chain_needs_no_recursion_and_frees_what_it_used():
    x = wg.asarray(1.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(50_000):
            y = y * 1.0
    assert tape.gradient(y, x).item() == 1
    assert y._node.edges == ()


def test_a_long_chain_that_is_never_asked_can_be_dropped():
    x = wg.asarray(1.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(200_000):
            y = -y
    del tape
    del y  # deallocation must not recurse on the C stack


def test_values_that_nobody_reads_die_at_once():
    """Without the garbage collector: an addition keeps nothing, a dropped branch is gone."""
    gc.disable()
    try:
        x = wg.asarray(np.ones(1000))
        with wg.GradientTape() as tape:
            tape.watch(x)
            y = x + 1.0
            value = weakref.ref(y._raw)
            z = y + 2.0
            del y
            assert value() is None
            kept = wg.exp(z)
            branch = weakref.ref(kept._raw)
            del kept
            assert branch() is None
        assert tape.gradient(z, x) is not None
    finally:
        gc.enable()


def test_only_what_rules_read_is_kept():
    x, c = wg.asarray([1.0, 2.0]), wg.asarray([3.0, 4.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        product, total, power = x * c, x + c, wg.exp(x)
    (edge,) = product._node.edges
    assert len(edge[2]) == 1 and edge[2][0] is c._raw  # not x: c is a constant
    assert total._node.edges[0][2] == ()
    assert power._node.edges[0][2][0] is power._raw
    del tape


def test_dead_tapes_leave_variables_small():
    w = wg.Variable([1.0, 2.0])
    for _ in range(100):
        with wg.GradientTape() as tape:
            loss = wg.sum(w * w)
        tape.gradient(loss, w)
    assert len(w._leaf.tokens) <= 2


def test_a_tape_does_not_outlive_its_last_reference():
    w = wg.Variable(1.0)
    tape = wg.GradientTape()
    with tape:
        y = w * w
    seen = weakref.ref(tape)
    gc.disable()
    try:
        del tape
        assert seen() is None
    finally:
        gc.enable()
    assert y.item() == 1


def test_complex_gradient_is_the_direction_of_steepest_ascent():
    z = wg.asarray(1.0 + 2.0j)
    got = gradient_of(lambda z: wg.real(z * wg.conj(z)), z)
    assert got.item() == 2 + 4j


def test_a_real_source_of_a_complex_result_has_a_real_gradient():
    x = wg.asarray([1.0, 2.0])
    got = gradient_of(lambda x: wg.real(wg.exp(1j * x)), x)
    assert got.dtype == wg.float64
    np.testing.assert_allclose(got.numpy(), -np.sin([1.0, 2.0]))


def test_gradients_have_their_sources_dtype():
    x = wg.asarray(np.ones(3, np.float32))
    c = wg.asarray(np.full(3, 2.0))
    got = gradient_of(lambda x: wg.sum(x * c), x)
    assert got.dtype == wg.float32


def test_blocks_on_request():
    x = wg.asarray(np.arange(12.0).reshape(3, 4))
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sin(x)[1, 2]
    block = tape.gradient(y, x, dense=False)
    assert isinstance(block, wg.Block)
    assert block.values.shape == (1, 1) and block.shape == (3, 4) and block.nbytes == 8
    expected = np.zeros((3, 4))
    expected[1, 2] = np.cos(6.0)
    np.testing.assert_allclose(block.todense().numpy(), expected)
    np.testing.assert_allclose(np.cos(6.0), block.values.numpy()[0, 0])
    assert "nonzero=[1, 2]" in repr(block)


def test_zero_by_structure_is_not_no_path():
    a, b, c = wg.asarray([1.0, 2.0]), wg.asarray([3.0]), wg.asarray(4.0)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch([a, b, c])
        joined = wg.concat([a, b, c[None]])
        y = joined[0]
    assert tape.gradient(y, a).tolist() == [1, 0]
    assert tape.gradient(y, b).tolist() == [0]
    assert tape.gradient(y, c).item() == 0
    structured = tape.gradient(y, b, dense=False)
    assert structured.nbytes == 0 and structured.todense().tolist() == [0]
    assert tape.gradient(a * 1.0, b) is None


def test_a_loop_that_keeps_results_does_not_keep_their_history():
    """Also under two tapes, of which the inner one was asked first."""
    x = wg.asarray(2.0)
    with wg.GradientTape() as outer:
        outer.watch(x)
        with wg.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        slope = inner.gradient(y, x)
        assert y._node.edges  # the outer tape still needs it
        total = slope * y
    assert outer.gradient(total, x).item() == 15 * 2**4
    assert total._node.edges == () and y._node.edges == ()


# -- watching what was computed before ------------------------------------------------------------


def test_a_result_that_is_watched_later_starts_anew() -> None:
    """The inner tape did not record how y came from x, so for it y is a variable of its own."""
    x = wg.asarray([1.0, 2.0, 3.0])
    with wg.GradientTape(persistent=True) as outer:
        outer.watch(x)
        y = x * x
        before = wg.sum(y * 5.0)
        with wg.GradientTape(persistent=True) as inner:
            inner.watch(x)
            inner.watch(y)
            z = wg.sum(y * x)
        first = inner.gradient(z, x)  # y, of which the outer tape knows how it came from x
    np.testing.assert_allclose(first, y.numpy())
    np.testing.assert_allclose(inner.gradient(z, x), y.numpy())
    np.testing.assert_allclose(inner.gradient(z, y), x.numpy())
    np.testing.assert_allclose(outer.gradient(z, x), 3 * x.numpy() ** 2)
    np.testing.assert_allclose(outer.gradient(first, x), 2 * x.numpy())
    np.testing.assert_allclose(outer.gradient(before, y), 5.0)
    np.testing.assert_allclose(inner.gradient(z, x.at[1]), 4.0)


def test_a_result_that_one_tape_has_not_recorded() -> None:
    x = wg.asarray(3.0)
    with wg.GradientTape() as first:
        first.watch(x)
        y = x * x
        with wg.GradientTape() as tape:
            tape.watch([x, y])
            z = y * x
    assert tape.gradient(z, x) == 9.0


def test_watching_what_is_recorded_already_changes_nothing() -> None:
    x = wg.asarray(3.0)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        tape.watch(y)
        z = y * x
    assert tape.gradient(z, x) == 27.0
    assert tape.gradient(z, y) == 3.0


def test_tangents_of_a_result_and_of_its_argument() -> None:
    x = wg.asarray(3.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with wg.ForwardAccumulator([x, y], [wg.asarray(1.0), wg.asarray(10.0)]) as accumulator:
            z = y * x
        assert accumulator.jvp(z) == 9.0 + 30.0
