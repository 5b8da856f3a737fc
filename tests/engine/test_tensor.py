"""Tensor and Variable as values."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import wengert as wg


def test_what_a_tensor_tells():
    x = wg.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert x.shape == (2, 3) and x.ndim == 2 and x.size == 6 and len(x) == 2
    assert x.dtype == wg.float32 and x.device == "cpu"
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]] and x[1, 2].item() == 5
    assert [row.shape for row in x] == [(3,), (3,)]
    assert 4.0 in x and 7.0 not in x


def test_repr_reads_well():
    assert repr(wg.asarray([1.0, 2.0])) == "Tensor([1., 2.], dtype=float64)"
    assert repr(wg.asarray(np.float32(3))) == "Tensor(3., dtype=float32)"
    assert str(wg.asarray([1, 2])) == "[1, 2]"
    assert f"{wg.asarray(1 / 3):.3f}" == "0.333"
    assert "..." in repr(wg.zeros(1000))
    assert repr(wg.Variable([1.0], name="w")) == "Variable('w', [1.], dtype=float64)"


def test_html_repr():
    page = wg.asarray([[1.0, 2.5]])._repr_html_()
    assert "<td>2.5</td>" in page and "shape (1, 2)" in page
    assert "<pre>" in wg.zeros((2, 2, 2))._repr_html_()
    assert "True" in wg.asarray([True])._repr_html_()
    assert "1+2j" in wg.asarray([1 + 2j])._repr_html_()


def test_dlpack_both_ways():
    x = wg.asarray([1.0, 2.0])
    taken = np.from_dlpack(x)
    np.testing.assert_array_equal(taken, [1, 2])
    if taken.flags.writeable:
        taken[0] = 9
    assert x[0].item() == 1
    assert wg.from_dlpack(np.arange(3.0)).tolist() == [0, 1, 2]
    assert wg.from_dlpack(x) is x


def test_asarray_of_tensors_in_a_list_records():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.asarray([[x[0], 2 * x[1]], [x[1], 0.0]])
    assert y.shape == (2, 2)
    assert tape.gradient(y, x).tolist() == [1, 3]


def test_python_numbers_take_the_arrays_dtype():
    x = wg.asarray(np.ones(2, np.float32))
    for y in (
        x + 1,
        2.0 * x,
        x / 3,
        1 - x,
        x**2,
        2**x,
        x**0.5,
        wg.maximum(x, 0),
        wg.where(x > 0, x, 0.0),
    ):
        assert y.dtype == wg.float32
    assert (x * 1j).dtype == wg.complex64
    assert (wg.asarray([1, 2]) + 1).dtype == wg.int64
    assert (x * np.float64(2)).dtype == wg.float64


def test_negative_zero_is_not_zero():
    x = wg.asarray([1.0])
    assert np.signbit((x * 0.0).numpy())[0] == False  # noqa: E712
    assert np.signbit((x * -0.0).numpy())[0] == True  # noqa: E712


def test_operators_with_numpy_on_the_left():
    x = wg.asarray([1.0, 2.0])
    a = np.array([3.0, 4.0])
    for got, expected in [
        (a + x, [4, 6]), (a - x, [2, 2]), (a * x, [3, 8]), (a / x, [3, 2]), (a**x, [3, 16]),
        (a > x, [True, True]), (np.float64(2) * x, [2, 4]),
    ]:  # fmt: skip
        assert type(got) is wg.Tensor and got.tolist() == expected
    assert (a @ x).item() == 11


def test_unknown_partners_may_know_better():
    class Partner:
        def __radd__(self, other):
            return "theirs"

        __rmatmul__ = __rpow__ = __radd__

    x = wg.asarray([1.0])
    assert x + Partner() == x @ Partner() == x ** Partner() == "theirs"


def test_truth_and_index():
    assert bool(wg.asarray(True)) and [10, 20][wg.asarray(1)] == 20
    with pytest.raises(ValueError, match="wg.any or wg.all"):
        bool(wg.asarray([True, False]))
    with pytest.raises(TypeError):
        [1, 2][wg.asarray(1.0)]
    with pytest.raises(ValueError, match="item"):
        wg.ones(2).item()


def test_a_tensor_is_unhashable():
    with pytest.raises(TypeError):
        hash(wg.ones(2))


def test_variable_assignment():
    w = wg.Variable([1.0, 2.0], dtype=wg.float32, name="w")
    assert w.dtype == wg.float32 and w.shape == (2,)
    assert w.assign([3.0, 4.0]) is w and w.numpy().tolist() == [3, 4]
    w.assign_add(wg.asarray([1.0, 1.0]))
    w.assign_sub(0.5)
    assert w.numpy().tolist() == [3.5, 4.5] and w.dtype == wg.float32
    w[1] = 7.0
    w[:1] = [2.0]
    assert w.numpy().tolist() == [2, 7]
    with pytest.raises(wg.ShapeError, match=r"\(2,\).*\(3,\)"):
        w.assign([1.0, 2.0, 3.0])


def test_an_assignment_changes_no_recorded_value():
    w = wg.Variable([1.0, 2.0])
    with wg.GradientTape() as tape:
        y = wg.sum(w * w)
        w[0] = 100.0
        w.assign_add([1.0, 1.0])
    assert tape.gradient(y, w).tolist() == [2, 4]


def test_reads_before_and_after_an_assignment_both_count():
    w = wg.Variable(2.0)
    with wg.GradientTape() as tape:
        y = w * w
        w.assign(5.0)
        y = y + w * w
    assert tape.gradient(y, w).item() == 4 + 10


def test_the_users_array_stays_the_users():
    a = np.array([1.0, 2.0])
    w = wg.Variable(a)
    a[0] = 9
    assert w.numpy()[0] == 1


def test_which_variables_are_watched():
    w, fixed, count = wg.Variable(1.0), wg.Variable(2.0, trainable=False), wg.Variable(3)
    with wg.GradientTape(persistent=True) as tape:
        y = w * fixed * count
    assert tape.watched_variables() == (w,)
    assert tape.gradient(y, fixed) is None
    with wg.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(fixed)
        y = w * fixed
    assert tape.watched_variables() == (fixed,)
    assert tape.gradient(y, [w, fixed])[0] is None


def test_variables_are_arrays_too():
    w = wg.Variable([[1.0, 2.0], [3.0, 4.0]])
    assert (w @ w).shape == (2, 2) and (2 - w).tolist() == [[1, 0], [-1, -2]]
    assert w[0].tolist() == [1, 2] and w.T[0].tolist() == [1, 3] and w.sum().item() == 10
    assert np.sum(w).item() == 10 and len(w) == 2 and (-w)[0, 0].item() == -1
    assert w.at[0, 0].set(5.0)[0, 0].item() == 5
    assert np.asarray(w).tolist() == [[1, 2], [3, 4]] and float(wg.Variable(2.0)) == 2
    assert bool(wg.Variable(1)) and f"{wg.Variable(0.5):.2f}" == "0.50"
    with pytest.raises(AttributeError):
        w.nothing_like_this  # noqa: B018


def test_values_can_be_saved_and_tapes_are_not():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    again = pickle.loads(pickle.dumps(y))
    assert again.tolist() == [1, 4] and again._node is None
    w = pickle.loads(pickle.dumps(wg.Variable([1.0], trainable=False, dtype=wg.float32, name="w")))
    assert (w.name, w.trainable, w.dtype, w.numpy().tolist()) == ("w", False, wg.float32, [1.0])
    for again in (copy.copy(y), copy.deepcopy(y)):
        assert again is not y and again.tolist() == y.tolist()  # it may be assigned to
    assert tape.gradient(copy.deepcopy(y), x).tolist() == [2, 4]


def test_methods_take_what_numpys_functions_take():
    a = np.arange(6.0).reshape(2, 3)
    x = wg.asarray(a)
    for call in (
        lambda v: v.std(ddof=1),
        lambda v: v.max(0),
        lambda v: v.cumsum(),
        lambda v: v.cumsum(1),
        lambda v: v.reshape(3, 2),
        lambda v: v.reshape((6,)),
        lambda v: v.ravel(),
        lambda v: v.trace(),
        lambda v: v.repeat(2, axis=1),
        lambda v: v.flatten(),
        lambda v: v.round(1),
        lambda v: v.sum(),
        lambda v: v.clip(1, 3),
        lambda v: v.take([0, 1], axis=1),
        lambda v: v.mean(axis=(0, 1)),
        lambda v: v.argsort(axis=0),
        lambda v: v.transpose(),
        lambda v: v.transpose(1, 0),
        lambda v: v.swapaxes(0, 1),
        lambda v: v.conj(),
        lambda v: v.dot(v.T),
    ):
        got = call(x)
        assert type(got) is wg.Tensor
        np.testing.assert_allclose(got.numpy(), call(a))


def test_subclasses_of_arrays_are_taken_as_arrays():
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1.0, 2.0], [3.0, 4.0]])
    y = wg.asarray([[5.0, 6.0], [7.0, 8.0]])
    with wg.GradientTape() as tape:
        tape.watch(y)
        z = wg.multiply(matrix, y)
    np.testing.assert_allclose(tape.gradient(z, y).numpy(), [[1, 2], [3, 4]])
    assert type(wg.asarray(matrix).data) is np.ndarray and wg.sum(matrix).shape == ()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.ma.array([1.0, 2.0], mask=[0, 1]), "masked"),
        (np.array(["a"]), "expected numbers"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "expected numbers"),
        (np.array([None]), "expected numbers"),
    ],
)
def test_arrays_that_are_no_numbers(value, words):
    for call in (wg.asarray, lambda v: wg.ones(2) + v, wg.sum, wg.Variable):
        with pytest.raises(TypeError, match=words):
            call(value)


def test_new_arrays_live_on_the_cpu():
    assert wg.zeros(2, device="cpu").device == "cpu"
    for make, argument in ((wg.zeros, 2), (wg.asarray, [1.0]), (wg.eye, 2), (wg.arange, 3)):
        with pytest.raises(ValueError, match="'cuda'"):
            make(argument, device="cuda")


def test_a_variable_does_not_lose_what_it_is_given():
    with pytest.raises(wg.DtypeError, match="int64 cannot hold values of float64"):
        wg.Variable([1, 2]).assign([1.5, 2.5])
    with pytest.raises(wg.DtypeError, match="cannot hold"):
        wg.Variable([1, 2])[0] = 1.7
    with pytest.raises(wg.DtypeError, match="cannot hold"):
        wg.Variable([1j], dtype=wg.float64)
    with pytest.raises(TypeError, match="name='w'"):
        wg.Variable([1.0], "w")


# -- assignment -------------------------------------------------------------------------------


def test_assignment_is_followed() -> None:
    def program(x: Any) -> Any:
        y = wg.zeros(3)
        for i in range(3):
            y[i] = x[i] ** (i + 1)
        y[wg.asarray([True, False, False])] = 5.0
        return wg.sum(y * x)

    x = np.array([1.5, 2.0, 3.0])
    np.testing.assert_allclose(wg.grad(program)(x), [5.0, 3 * x[1] ** 2, 4 * x[2] ** 3])
    wg.check_grads(program, [x], order=2)


def test_assignment_leaves_what_was_computed_before() -> None:
    x = wg.asarray([1.0, 2.0])
    part, array, double = x[0], x.numpy(), x * 2.0
    x[0] = 7.0
    assert x.tolist() == [7.0, 2.0]
    assert part.item() == 1.0 and array.tolist() == [1.0, 2.0] and double.tolist() == [2.0, 4.0]


def test_assignment_between_an_operation_and_its_sweep() -> None:
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x * 1.0
        z = y * y
        y[0] = 100.0
        w = wg.sum(z) + wg.sum(y)
    assert tape.gradient(w, x).tolist() == [2.0, 5.0]


@pytest.mark.parametrize(
    "assign",
    [
        lambda x: x[0].__setitem__(1, 5.0),
        lambda x: x.T.__setitem__(0, 5.0),
        lambda x: wg.reshape(x, (-1,)).__setitem__(0, 5.0),
    ],
)
def test_assignment_to_a_part_is_refused(assign: Any) -> None:
    x = wg.ones((2, 2))
    with pytest.raises(TypeError, match="part of another tensor"):
        assign(x)


def test_assignment_to_a_fresh_result_that_is_a_view() -> None:
    y = wg.ones((2, 2)) @ wg.ones(2)  # squeezed from a matrix that nobody else has
    y[0] = 3.0
    assert y.tolist() == [3.0, 2.0]


def test_assignment_to_a_watched_tensor_is_refused() -> None:
    x = wg.ones(2)
    with wg.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(TypeError, match="a tape watches x"):
            x[0] = 2.0
        y = x.copy()
        y[0] = 2.0
        z = wg.sum(y * y)
    assert tape.gradient(z, x).tolist() == [0.0, 2.0]


def test_assignment_keeps_the_dtype() -> None:
    x = wg.zeros(2, dtype=wg.float32)
    x[0] = wg.asarray(1.5)
    x[True] = x * 2.0
    assert x.dtype == np.float32 and x.tolist() == [3.0, 0.0]
    with pytest.raises(wg.DtypeError, match="cannot hold"):
        x[0] = 1j
