"""Products kept as products: `Factored`, and the sweep that multiplies them once."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert import backends

RNG = np.random.default_rng(19)


def _gradient(f, *arrays, dense=True):
    tensors = [wg.asarray(a) for a in arrays]
    with wg.GradientTape() as tape:
        tape.watch(tensors)
        y = f(*tensors)
    return tape.gradient(y, tensors, dense=dense)


def _arrays(*shapes, dtype=float):
    found = [RNG.standard_normal(s) for s in shapes]
    if dtype is complex:
        found = [a + 1j * RNG.standard_normal(a.shape) for a in found]
    return [a.astype(dtype) for a in found]


def _squares(y):
    return wg.sum(wg.real(y * wg.conj(y))) if y.dtype.kind == "c" else wg.sum(y * y)


PROGRAMS = {
    "a vector and a matrix": (lambda w, x: x @ w, (6, 5), (6,)),
    "a matrix and a vector": (lambda w, x: w @ x, (6, 5), (5,)),
    "a few rows": (lambda w, x: x @ w, (6, 5), (2, 6)),
    "rows on two axes": (lambda w, x: x @ w, (16, 15), (2, 2, 16)),
    "the transpose": (lambda w, x: x @ w.T, (6, 5), (5,)),
    "used twice": (lambda w, x: wg.tanh(x @ w) + wg.sin(2 * x @ w), (8, 9), (8,)),
    "used as itself and transposed": (lambda w, x: (x @ w) @ w.T, (8, 9), (8,)),
    "linear": (lambda w, x: wg.nn.linear(x, w), (6, 5), (2, 6)),
    "linear with bias": (lambda w, x: wg.nn.linear(x, w, wg.ones(5)), (6, 5), (2, 6)),
    "on the left and on the right": (lambda w, x: w @ (w @ x), (6, 6), (6,)),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, complex])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_factors_are_the_gradient(name, dtype):
    f, *shapes = PROGRAMS[name]
    arrays = _arrays(*shapes, dtype=dtype)
    by_number = _gradient(lambda w, x: _squares(f(w, x)), *arrays)
    kept = _gradient(lambda w, x: _squares(f(w, x)), *arrays, dense=False)
    assert type(kept[0]) is wg.Factored or "twice" not in name
    assert kept[0].shape == shapes[0]
    assert kept[0].dtype == arrays[0].dtype
    tolerance = 1e-5 if dtype is np.float32 else 1e-13
    for one, two in zip(by_number, kept, strict=True):
        scale = np.abs(np.asarray(one)).max()
        assert np.allclose(np.asarray(one), np.asarray(two), rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_orders_against_differences(name):
    f, *shapes = PROGRAMS[name]
    wg.check_grads(lambda *xs: _squares(f(*xs)), _arrays(*shapes), order=2)


def test_an_example_of_a_large_layer_costs_two_vectors():
    w = wg.Variable(np.ones((4096, 4096), np.float32))
    with wg.GradientTape() as tape:
        loss = wg.sum(wg.ones(4096, dtype=wg.float32) @ w)
    g = tape.gradient(loss, w, dense=False)
    assert g.nbytes == 2 * 4096 * 4
    assert g.norm() == 4096.0


def test_one_example_of_a_batch_is_a_product_too():
    x, w = _arrays((10, 50), (50, 40))
    with wg.GradientTape(persistent=True) as tape:
        x, w = wg.asarray(x), wg.asarray(w)
        tape.watch(w)
        losses = wg.sum(wg.tanh(x @ w) ** 2, axis=1)
        third = losses[3]
    for target in (losses.at[3], third):
        g = tape.gradient(target, w, dense=False)
        assert type(g) is wg.Factored
        assert g.terms == 1
        assert np.allclose(np.asarray(g), tape.gradient(target, w).numpy(), atol=1e-13)


@pytest.mark.parametrize("steps", [1, 2, 3, 40])
def test_a_loop_adds_products_up(steps):
    x, w, h = _arrays((steps, 4, 16), (16, 16), (4, 16))

    def last(w, x, h):
        for row in x:
            h = wg.tanh(row + h @ w / 4)
        return wg.sum(h * h)

    expected = np.zeros_like(w)  # each step's product by itself
    states, g = [h], None
    for row in x:
        states.append(np.tanh(row + states[-1] @ w / 4))
    g = 2 * states[-1]
    for before, after in zip(states[-2::-1], states[:0:-1], strict=True):
        g = g * (1 - after**2)
        expected += before.T @ g / 4
        g = g @ w.T / 4
    found = _gradient(lambda w: last(w, wg.asarray(x), wg.asarray(h)), w)[0]
    assert np.allclose(found, expected, atol=1e-12)


def test_what_waits_is_bounded(monkeypatch):
    from wengert.ops.families import factored

    monkeypatch.setattr(factored, "_MANY", 100)
    x, w = _arrays((30, 4), (4, 4))

    def total(w):
        return sum(wg.sum(wg.sin(wg.asarray(row) @ w)) for row in x)

    expected = x.T @ np.cos(x @ w)
    assert np.allclose(_gradient(total, w)[0], expected, atol=1e-13)
    assert np.allclose(_gradient(total, w, dense=False)[0], expected, atol=1e-13)


def test_products_meet_other_cotangents():
    x, w = _arrays((4,), (4, 5))
    uses = [
        lambda w: wg.sum(wg.asarray(x) @ w),
        lambda w: wg.sum(w**2),
        lambda w: w[1, 2] ** 2,
        lambda w: wg.sum(wg.sin(wg.asarray(x) @ w)),
        lambda w: wg.sum(w[wg.asarray([0, 0, 3])]),
    ]
    alone = [np.asarray(_gradient(use, w)[0]) for use in uses]
    for order in ([0, 1], [1, 0], [0, 2], [2, 0], [0, 3, 2, 1], [1, 3, 0], [4, 0], [3, 0, 4, 1, 2]):
        for dense in (True, False):
            g = _gradient(lambda w, order=order: sum(uses[i](w) for i in order), w, dense=dense)[0]
            assert np.allclose(g, sum(alone[i] for i in order), atol=1e-13), (order, dense)


def test_a_library_adds_only_its_own_arrays_in_place(monkeypatch):
    def grow(held, part):  # as CuPy's kernel, which knows no other classes
        assert type(held) is type(part) is np.ndarray
        return np.add(held, part, out=held)

    monkeypatch.setattr(backends.NUMPY, "grow", grow)
    w, b, x = _arrays((40, 50), (50,), (2, 40))
    by_w, by_b = _gradient(
        lambda w, b: wg.sum(w * w) + wg.sum(b * b) + wg.sum((x @ w + b) ** 2 + x @ w), w, b
    )
    g = 2 * (x @ w + b)
    np.testing.assert_allclose(by_w, 2 * w + x.T @ (g + 1))
    np.testing.assert_allclose(by_b, 2 * b + g.sum(axis=0))


@pytest.mark.parametrize("part", [lambda y: wg.maximum(y, 0.0), lambda y: y[:, 1:3], wg.square])
def test_batches_of_as_many_matrices_as_rows(part):
    w, x = _arrays((3, 3), (3, 5, 3))
    (got,) = _gradient(lambda w: wg.sum(part(x @ w)), w)
    (expected,) = _gradient(lambda w: wg.sum(part(wg.stack([a @ w for a in x]))), w)
    np.testing.assert_allclose(got, expected)


def test_a_shared_product_is_not_written_to():
    x, w = _arrays((3, 8), (8, 8))
    w = wg.asarray(w)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(w)
        y = sum(wg.sum(wg.sin(wg.asarray(row) @ w)) for row in x)
    first = tape.gradient(y, w, dense=False)
    before = np.asarray(first).copy()
    total = first + tape.gradient(y, w, dense=False)
    tape.gradient(y, w)
    assert np.array_equal(first, before)
    assert np.allclose(total, 2 * before)


def test_arithmetic():
    a, b, other = _arrays((7, 2), (2, 6), (7, 6))
    f = wg.Factored(wg.asarray(a), wg.asarray(b))
    m = a @ b
    v, u = _arrays((6,), (7,))
    cases = {
        "todense": (f.todense(), m),
        "T": (f.T, m.T),
        "@": (f @ v, m @ v),
        "@ from the left": (wg.asarray(u) @ f, u @ m),
        "*": (f * 2.0, m * 2),
        "* from the left": (3 * f, m * 3),
        "/": (f / 4, m / 4),
        "-": (-f, -m),
        "+": (f + f, m + m),
        "+ array": (f + other, m + other),
        "array +": (wg.asarray(other) + f, m + other),
        "- array": (f - other, m - other),
        "array -": (wg.asarray(other) - f, other - m),
        "a row": (f[2], m[2]),
        "an element": (f[2, -1], m[2, -1]),
        "rows": (f[1:3], m[1:3]),
        "a part": (f[::2, 3:], m[::2, 3:]),
        "by a list": (f[[0, 2]], m[[0, 2]]),
    }
    for name, (found, expected) in cases.items():
        assert np.allclose(np.asarray(found), expected, atol=1e-13), name
    assert np.isclose(f.norm(), np.linalg.norm(m))
    assert (f.shape, f.size, f.ndim, f.terms) == ((7, 6), 42, 2, 2)
    assert f.nbytes == a.nbytes + b.nbytes
    assert type(f[1:3]) is type(f + f) is type(-f) is wg.Factored
    with pytest.raises(TypeError):
        f * other
    with pytest.raises(wg.ShapeError, match="expected matrices"):
        wg.Factored(a, a)


def test_the_norm_of_more_terms_than_elements():
    a, b = _arrays((3, 9), (9, 4))
    assert np.isclose(wg.Factored(a, b).norm(), np.linalg.norm(a @ b))


def test_optimisers_and_clipping_take_factors():
    x, w = _arrays((40,), (40, 30))
    variable = wg.Variable(w)
    with wg.GradientTape(persistent=True) as tape:
        loss = wg.sum(wg.tanh(wg.asarray(x) @ variable))
    kept, dense = (tape.gradient(loss, variable, dense=d) for d in (False, True))
    assert type(kept) is wg.Factored
    assert np.isclose(wg.optim.global_norm([kept, 3.0]), wg.optim.global_norm([dense, 3.0]))
    by_norm = [wg.optim.clip_by_norm([g], 0.5) for g in (kept, dense)]
    by_all = [wg.optim.clip_by_global_norm([g], 0.5)[0] for g in (kept, dense)]
    for one, two in (by_norm, by_all):
        assert type(one[0]) is wg.Factored
        assert np.allclose(np.asarray(one[0]), two[0].numpy())
    assert np.allclose(wg.optim.clip_by_value([kept], 0.1)[0], np.clip(dense, -0.1, 0.1))
    for make in (lambda: wg.optim.SGD(0.1), lambda: wg.optim.Adam(0.1)):
        one, two = wg.Variable(w), wg.Variable(w)
        for variable, gradient in ((one, kept), (two, dense)):
            optimiser = make()
            optimiser.step([variable], [gradient], optimiser.init([variable]))
        assert np.allclose(one.numpy(), two.numpy())


def test_the_second_derivative_does_not_wait():
    x, w = _arrays((3, 4), (4, 5))

    def loss(w):
        return wg.sum(wg.tanh(wg.asarray(x) @ w) ** 2)

    h = wg.hessian(loss)(w)
    step = 1e-5
    expected = np.empty_like(h)
    for i in np.ndindex(*w.shape):
        up, down = w.copy(), w.copy()
        up[i] += step
        down[i] -= step
        expected[(..., *i)] = (wg.grad(loss)(up) - wg.grad(loss)(down)) / (2 * step)
    assert np.allclose(h, expected, atol=1e-6)
