"""The model behind the page, compared with what tapes say by themselves."""

import numpy as np
import pytest

import wengert as wg
from wengert.inspector.model import Session
from wengert.inspector.recorder import Recorder

rng = np.random.default_rng(5)


class Watched:
    """A program that a recorder sees, and the session of it."""

    def __enter__(self):
        self.recorder = Recorder()
        self.recorder.start()
        return self

    def __exit__(self, *error):
        self.recorder.stop()

    def session(self, **names):
        return Session(self.recorder, names)


def whole(item):
    return tuple(map(range, item.shape))


def dense(session, item, found):
    full = np.zeros(item.shape)
    full[tuple(slice(r.start, r.stop) for r in found.ranges)] = found.values
    return full


@pytest.fixture
def network():
    """Two layers, and a tape of the test's own that is not used up."""
    x = wg.asarray(rng.normal(size=(6, 4)))
    w = wg.Variable(rng.normal(size=(4, 5)), name="w")
    with Watched() as seen:
        with wg.GradientTape(persistent=True) as tape:
            tape.watch(x)
            h = wg.tanh(x @ w)
            y = h * wg.roll(h, 1, axis=0)
            loss = wg.sum(y**2)
        tape.gradient(loss, [x, w])
    return tape, seen.session(x=x, w=w, h=h, y=y, loss=loss), {"x": x, "w": w, "h": h, "y": y}


def test_names_and_roles(network):
    _, session, _ = network
    roles = {item.name: item.role for item in session.shown()}
    assert roles == {
        "x": "input", "w": "parameter", "h": "intermediate", "y": "intermediate", "loss": "result",
    }  # fmt: skip
    assert session.named("h").line.text == "h = wg.tanh(x @ w)"


@pytest.mark.parametrize("key", [(2, 3), (slice(1, 4), slice(0, 2))])
def test_influence_on_earlier_tensors_is_the_tapes_gradient(network, key):
    tape, session, tensors = network
    item = session.named("y")
    ranges = tuple(range(k, k + 1) if isinstance(k, int) else range(k.start, k.stop) for k in key)
    found = session.influence(item.number, ranges)
    for name in ("x", "w", "h"):
        other = session.named(name)
        expected = tape.gradient(tensors["y"].at[key], tensors[name])
        assert found.maps[other.number].direction == "earlier"
        np.testing.assert_allclose(
            dense(session, other, found.maps[other.number]), expected.numpy(), rtol=1e-12
        )


def test_influence_on_later_tensors_is_the_jacobian_summed_over_the_selection(network):
    tape, session, tensors = network
    item, later = session.named("h"), session.named("y")
    found = session.influence(item.number, (range(1, 3), range(2, 3)))
    jacobian = tape.jacobian(tensors["y"], tensors["h"]).numpy()
    expected = jacobian[:, :, 1:3, 2].sum(-1)
    assert found.maps[later.number].direction == "later"
    np.testing.assert_allclose(dense(session, later, found.maps[later.number]), expected)


def test_influence_is_small_where_the_cone_is():
    x = wg.asarray(rng.normal(size=(64, 64)))
    with Watched() as seen, wg.GradientTape() as tape:
        tape.watch(x)
        y = x[1:-1] * x[:-2] + wg.sin(x[2:])
    session = seen.session(x=x, y=y)
    found = session.influence(session.named("y").number, (range(10, 11), range(7, 8)))
    cone = found.maps[session.named("x").number]
    assert cone.ranges == (range(10, 13), range(7, 8))
    cost = session.cost(session.named("y").number, (range(10, 11), range(7, 8)), [0])
    assert cost.structured.multiply_adds < cost.dense.multiply_adds / 100


def test_gradients_kept_as_products_are_shown_whole():
    x, target = rng.normal(size=(1, 20)), rng.normal(size=30)
    w = wg.Variable(rng.normal(size=(20, 30)), name="w")
    with Watched() as seen:
        with wg.GradientTape(persistent=True) as tape:
            y = x @ w
            loss = wg.sum((y - target) ** 2)
        assert type(tape.gradient(loss, w, dense=False)) is wg.Factored
    expected = x.T @ (2 * (x @ w.numpy() - target))
    session = seen.session(w=w, loss=loss)
    item = session.named("w")
    found = session.influence(session.named("loss").number, ())
    np.testing.assert_allclose(dense(session, item, found.maps[item.number]), expected)
    (step,) = seen.recorder.training
    np.testing.assert_allclose(step.norms["w"], np.linalg.norm(expected))


def test_derivative_of_one_element_by_another_and_the_chain(network):
    tape, session, tensors = network
    y, x = session.named("y"), session.named("x")
    one, other = (range(2, 3), range(3, 4)), (range(1, 2), range(1))
    found = session.derivative(y.number, one, x.number, other)
    expected = tape.gradient(tensors["y"].at[2, 3], tensors["x"].at[1, 0])
    assert (found.of, found.by) == (y.number, x.number)
    np.testing.assert_allclose(found.values, expected.numpy().reshape(1, 1))
    assert "tanh" in " ".join(found.explanation.chain)
    swapped = session.derivative(x.number, other, y.number, one)
    assert swapped.values == found.values and (swapped.of, swapped.by) == (y.number, x.number)


def test_where_there_is_no_path_there_is_a_reason():
    x = wg.asarray([1.5, 2.5])
    with Watched() as seen, wg.GradientTape() as tape:
        tape.watch(x)
        n = wg.floor(x)
        y = wg.sum(x * x)
    session = seen.session(x=x, n=n, y=y)
    n, x = session.named("n"), session.named("x")
    assert session.influence(n.number, (range(1),)).maps == {}
    found = session.derivative(n.number, (range(1),), x.number, (range(1),))
    assert found.values is None
    assert found.explanation.reason is wg.Reason.ZERO_DERIVATIVE
    assert "test_model.py" in found.explanation.location


def test_a_used_tape_can_still_be_asked():
    x = wg.asarray([1.0, 2.0])
    with Watched() as seen:
        with wg.GradientTape() as tape:
            tape.watch(x)
            h = wg.exp(x)
            y = wg.sum(h * x)
        tape.gradient(y, x)
    session = seen.session(x=x, h=h, y=y)
    found = session.influence(session.named("y").number, ())
    np.testing.assert_allclose(
        found.maps[session.named("x").number].values, np.exp([1.0, 2.0]) * [2, 3]
    )


def test_training_keeps_the_last_round_and_all_norms():
    w = wg.Variable([3.0, -1.0], name="w")
    with Watched() as seen:
        for _ in range(5):
            with wg.GradientTape() as tape:
                h = w * w
                loss = wg.sum(h)
            before = w.numpy()
            w.assign_sub(0.25 * tape.gradient(loss, w))
    session = seen.session(w=w)
    assert [i.name for i in session.shown()] == ["w", "h", "loss"]
    np.testing.assert_array_equal(session.value(session.named("w").number), before)
    steps = seen.recorder.training
    norms = [np.linalg.norm([6.0, -2.0]) * 0.5**k for k in range(5)]
    np.testing.assert_allclose([s.norms["w"] for s in steps], norms)
    np.testing.assert_allclose([s.loss for s in steps], [10 * 0.25**k for k in range(5)])


def test_transforms_are_seen():
    def f(x):
        h = wg.sin(x)
        return wg.sum(h * h)

    with Watched() as seen:
        wg.grad(f)(np.array([1.0, 2.0]))
    session = seen.session()
    (result,) = session.results
    x = next(i for i in session.shown() if i.role == "input")
    found = session.influence(result.number, ())
    np.testing.assert_allclose(found.maps[x.number].values, np.sin([2.0, 4.0]))
    assert session.named("h").shape == (2,)


def test_second_order_programs_are_seen():
    with Watched() as seen:
        g = wg.grad(wg.grad(lambda x: x**3))(2.0)
    assert g == 12 and len(seen.session()) > 0


def test_nan_is_marked_and_followed_to_its_beginning():
    x = wg.asarray([1.0, -1.0, 4.0])
    with Watched() as seen, np.errstate(all="ignore"):
        with wg.GradientTape() as tape:
            tape.watch(x)
            root = wg.log(x)
            y = wg.sum(root * 2.0)
        tape.gradient(y, x)
    session = seen.session(x=x, y=y, root=root)
    marked = session.nonfinite()
    assert session.named("y").number in marked and session.named("x").number not in marked
    birth = session.birth(session.named("y").number)
    assert birth.number == session.named("root").number
    assert birth.found.index == (1,)


def test_an_infinite_cotangent_is_followed_to_its_rule():
    x = wg.asarray([0.0, 4.0])
    with Watched() as seen, wg.GradientTape() as tape:
        tape.watch(x)
        root = wg.sqrt(x)
        y = wg.sum(root)
    session = seen.session(x=x, root=root, y=y)
    assert session.nonfinite() == set()
    birth = session.birth(session.named("y").number)
    assert birth.found.phase == "backward" and birth.number == session.named("root").number


def test_cotangents_of_any_node():
    x = wg.asarray([1.0, 2.0])
    with Watched() as seen, wg.GradientTape() as tape:
        tape.watch(x)
        h = wg.exp(x)
        y = wg.sum(h**2)
    session = seen.session(x=x, h=h, y=y)
    g = session.cotangent(session.named("h").number, session.named("y").number)
    np.testing.assert_allclose(g, 2 * np.exp([1.0, 2.0]))


def test_a_selection_outside_of_its_tensor_is_refused():
    x = wg.asarray([1.0, 2.0])
    with Watched() as seen, wg.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    session = seen.session(x=x, y=y)
    number = session.named("y").number
    for wrong in [(range(1, 3),), (), (range(1), range(1)), (range(1, 1),)]:
        with pytest.raises(IndexError, match="not within shape"):
            session.influence(number, wrong)
    with pytest.raises(IndexError, match="no tensor 99"):
        session.influence(99, ())


def test_complex_numbers_and_no_elements():
    z = wg.asarray([1.0 + 2.0j, 3.0])
    e = wg.asarray(np.zeros((0, 3)))
    with Watched() as seen, wg.GradientTape() as tape:
        tape.watch([z, e])
        y = z * z
        n = e * 2.0
    session = seen.session(z=z, y=y, n=n, e=e)
    found = session.influence(session.named("y").number, (range(1),))
    np.testing.assert_allclose(dense_complex(session.named("z"), found), np.conj([2 * (1 + 2j), 0]))
    with pytest.raises(IndexError):
        session.influence(session.named("n").number, (range(0), range(3)))


def dense_complex(item, found):
    full = np.zeros(item.shape, complex)
    part = found.maps[item.number]
    full[tuple(slice(r.start, r.stop) for r in part.ranges)] = part.values
    return full


def _chain(x):
    return x[1:] * x[:-1] ** 2


def test_patterns_are_those_of_sparse_plans():
    x = wg.asarray(np.linspace(1.0, 2.0, 9))
    with Watched() as seen, wg.GradientTape() as tape:
        tape.watch(x)
        y = _chain(x)
        loss = wg.sum(wg.sin(y))
    session = seen.session(x=x, y=y, loss=loss)
    number = {name: session.named(name).number for name in ("x", "y", "loss")}
    jacobian = session.pattern("jacobian", number["y"], number["x"])
    plan = wg.sparse.jacobian(_chain, np.ones(9))
    np.testing.assert_array_equal(jacobian.matrix.toarray(), plan.pattern.toarray())
    hessian = session.pattern("hessian", number["loss"], number["x"])
    dense = wg.hessian(lambda x: wg.sum(wg.sin(_chain(x))))(np.linspace(1.0, 2.0, 9))
    np.testing.assert_array_equal(hessian.matrix.toarray(), dense != 0)
    for found in (jacobian, hessian):
        assert found.groups.shape == (found.matrix.nnz,)
        assert set(found.groups) <= set(range(found.colouring.colours))
    rows, columns = jacobian.matrix.nonzero()
    if jacobian.colouring.mode == "forward":
        rows, columns = columns, rows
    groups = dict(zip(rows, jacobian.groups, strict=True))
    assert all(groups[row] == group for row, group in zip(rows, jacobian.groups, strict=True))


def test_a_hessian_is_of_one_number():
    x = wg.asarray([1.0, 2.0])
    with Watched() as seen, wg.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    session = seen.session(x=x, y=y)
    with pytest.raises(ValueError, match="one number"):
        session.pattern("hessian", session.named("y").number, session.named("x").number)


def test_several_threads_may_ask_at_once(network):
    from concurrent.futures import ThreadPoolExecutor

    _, session, _ = network
    number, loss = session.named("y").number, session.named("loss").number
    x, w = session.named("x").number, session.named("w").number

    def ask(k):
        place = (range(k % 6, k % 6 + 1), range(k % 5, k % 5 + 1))
        session.pattern("hessian", loss, w)
        session.cotangent(x, loss)
        return session.influence(number, place).maps[x].values

    expected = [ask(k) for k in range(12)]
    with ThreadPoolExecutor(4) as pool:
        for one, other in zip(pool.map(ask, range(12)), expected, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("in_place", [False, True])
def test_steps_in_place_do_not_change_what_was_recorded(in_place):
    table = wg.Variable(rng.normal(size=(50, 3)), name="table")
    optimiser = wg.optim.SGD(0.5, momentum=0.9)
    state = optimiser.init(table)
    with Watched() as seen:
        for _ in range(3):
            before = table.numpy().copy()
            with wg.GradientTape() as tape:
                loss = wg.sum(table[3:5] ** 3)
            gradient = tape.gradient(loss, table, dense=False)
            _, state = optimiser.step(table, gradient, state, in_place=in_place)
    session = seen.session(table=table, loss=loss)
    item = session.named("table")
    np.testing.assert_array_equal(session.value(item.number), before)
    found = session.influence(session.named("loss").number, ()).maps[item.number]
    np.testing.assert_allclose(found.values, 3 * before[3:5] ** 2)
