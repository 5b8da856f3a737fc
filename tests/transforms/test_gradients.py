"""grad, value_and_grad, vjp, stop_gradient, custom_gradient."""

import array_api_strict
import numpy as np
import pytest

import wengert as wg


def test_array_kind_in_is_array_kind_out():
    def function(x):
        return wg.sum(x * x)

    assert type(wg.grad(function)(np.ones(2))) is np.ndarray
    assert type(wg.grad(function)(wg.ones(2))) is wg.Tensor
    assert isinstance(wg.grad(lambda x: x * x)(3.0), float)
    strict = wg.grad(function)(array_api_strict.ones(2))
    assert type(strict) is type(array_api_strict.ones(2))
    value, gradient = wg.value_and_grad(function)(np.ones(2))
    assert isinstance(value, float) and type(gradient) is np.ndarray
    result, pull = wg.vjp(lambda x: x * 2, np.ones(2))
    assert type(result) is np.ndarray and type(pull(np.ones(2))[0]) is np.ndarray


def test_results_are_the_callers_own():
    a, b = wg.grad(lambda a, b: wg.sum(a + b), argnums=(0, 1))(np.ones(2), np.ones(2))
    a[0] = 7
    assert b.tolist() == [1, 1]


def test_argnums_and_keywords():
    def function(a, b, *, scale):
        return scale * wg.sum(a * b)

    assert wg.grad(function, argnums=1)(np.ones(2), np.zeros(2), scale=3.0).tolist() == [3, 3]
    first, second = wg.grad(function, argnums=(0, -1))(np.zeros(2), np.ones(2), scale=2.0)
    assert first.tolist() == [2, 2] and second.tolist() == [0, 0]


def test_nests_of_arrays():
    params = {"w": np.ones(2), "layers": [np.ones(()), (np.full(2, 2.0),)]}

    def loss(p):
        return wg.sum(p["w"] * p["layers"][1][0]) * p["layers"][0]

    got = wg.grad(loss)(params)
    assert got["w"].tolist() == [2, 2] and got["layers"][0] == 4
    assert got["layers"][1][0].tolist() == [1, 1]


def test_has_aux():
    def function(x):
        return wg.sum(x), {"twice": 2 * x}

    gradient, aux = wg.grad(function, has_aux=True)(np.ones(2))
    assert gradient.tolist() == [1, 1] and aux["twice"].tolist() == [2, 2]
    assert type(aux["twice"]) is np.ndarray
    (value, aux), gradient = wg.value_and_grad(function, has_aux=True)(np.ones(2))
    assert value == 2 and gradient.tolist() == [1, 1]


def test_higher_orders():
    f = np.tanh
    for order, expected in enumerate(
        [0.419974341614, -0.639700008449, 0.621626680771, 0.665091044750], start=1
    ):
        f = wg.grad(f)
        assert f(1.0) == pytest.approx(expected), order


def test_the_argument_is_not_the_outer_variable():
    """d/dx [x * d/dy (x * y)] at y = x is 2x: the inner derivative holds x fixed."""
    assert wg.grad(lambda x: x * wg.grad(lambda y: x * y)(x))(3.0) == 6
    assert wg.grad(lambda x: wg.grad(lambda y: x * x * y)(x))(3.0) == 6
    inner = wg.grad(lambda x: x * wg.grad(lambda y: x + y)(1.0))
    assert inner(5.0) == 1


def test_transforms_inside_a_tape_record():
    x = wg.asarray(2.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.grad(lambda v: v**3)(x)
    assert tape.gradient(y, x).item() == 12


def test_vjp_of_several_results():
    result, pull = wg.vjp(lambda a, b: {"p": a * b, "s": a + b}, 2.0, 3.0)
    assert result == {"p": 6.0, "s": 5.0}
    assert pull({"p": 1.0, "s": 10.0}) == (13.0, 12.0)
    assert pull({"p": 1.0, "s": 0.0}) == (3.0, 2.0)


def test_vjp_with_aux():
    result, pull, aux = wg.vjp(lambda x: (x * x, x), 3.0, has_aux=True)
    assert (result, aux, pull(1.0)) == (9.0, 3.0, (6.0,))


def test_stop_gradient():
    assert wg.grad(lambda x: x * wg.stop_gradient(x))(3.0) == 3
    nest = wg.stop_gradient({"a": wg.ones(2), "b": 1.0})
    assert nest["a"].tolist() == [1, 1] and nest["b"] == 1.0


def test_a_custom_gradient_is_used_and_differentiated():
    @wg.custom_gradient
    def cube(x):
        square = x * x
        return square * x, lambda g: g * 3 * square

    for order, expected in enumerate([12.0, 12.0, 6.0], start=1):
        f = cube
        for _ in range(order):
            f = wg.grad(f)
        assert f(2.0) == expected
    wg.check_grads(cube, [np.array([0.5, 2.0])], order=3)


def test_a_custom_gradient_may_say_something_else():
    @wg.custom_gradient
    def clipped(x):
        return x, lambda g: wg.clip(g, -1.0, 1.0)

    assert wg.grad(lambda x: 100 * clipped(x))(2.0) == 1


def test_a_custom_gradient_of_several_arguments_and_results():
    @wg.custom_gradient
    def polar(r, angle):
        x, y = r * wg.cos(angle), r * wg.sin(angle)

        def pull(gx, gy):  # a result that nobody used has weight zero
            return (
                gx * wg.cos(angle) + gy * wg.sin(angle),
                -gx * r * wg.sin(angle) + gy * r * wg.cos(angle),
            )

        return (x, y), pull

    wg.check_grads(polar, [2.0, 0.3])
    dr, da = wg.grad(lambda r, a: polar(r, a)[1], argnums=(0, 1))(2.0, 0.3)
    assert (dr, da) == (pytest.approx(np.sin(0.3)), pytest.approx(2 * np.cos(0.3)))


def test_a_custom_gradient_without_a_tape_is_just_the_function():
    @wg.custom_gradient
    def double(x):
        return 2 * x, lambda g: 2 * g

    assert double(wg.ones(2)).tolist() == [2, 2] and double(3.0).item() == 6


def test_a_custom_gradient_asked_by_two_tapes():
    @wg.custom_gradient
    def square(x):
        return x * x, lambda g: 2 * g * x

    x = wg.asarray(3.0)
    with wg.GradientTape(persistent=True) as one, wg.GradientTape(persistent=True) as two:
        one.watch(x)
        two.watch(x)
        y = square(x)
    assert one.gradient(y, x).item() == 6 and two.gradient(y, x).item() == 6
    assert one.gradient(y, x, output_gradients=wg.asarray(2.0)).item() == 12


def test_a_custom_gradient_that_depends_on_more_than_its_arguments_is_refused():
    v, x = wg.Variable(3.0), wg.asarray(2.0)

    @wg.custom_gradient
    def scaled(x, *, by=None):
        by = v if by is None else by
        return x * by, lambda g: g * by

    with wg.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(wg.RuleError, match="scaled also depends.*stop_gradient"):
            scaled(x)
        with pytest.raises(wg.RuleError, match="positional argument"):
            scaled(x, by=x * 2)
        y = scaled(x, by=wg.stop_gradient(v))
    assert tape.gradient(y, x).item() == 3


def test_what_a_pullback_reads_is_differentiated():
    w, x = wg.asarray(5.0), wg.asarray(2.0)

    @wg.custom_gradient
    def odd(x):
        return x * 2, lambda g: g * w

    with wg.GradientTape() as outer:
        outer.watch(w)
        with wg.GradientTape() as inner:
            inner.watch(x)
            y = odd(x)
        slope = inner.gradient(y, x)
    assert outer.gradient(slope, w).item() == 1


def test_results_of_vjp_are_the_callers_own():
    y, pull = wg.vjp(lambda x: wg.exp(x * np.ones(3)), np.float64(0.0))
    y[:] = 100
    assert pull(np.ones(3))[0] == 3


def test_a_program_under_jit():
    jax = pytest.importorskip("jax")

    def loss(x):
        return wg.sum(wg.maximum(x, 0.5) * wg.prod(x) + wg.sin(x))

    x = jax.numpy.asarray([0.3, 0.9, 1.5])
    jitted = jax.jit(lambda x: wg.grad(loss)(x))(x)
    np.testing.assert_allclose(jitted, wg.grad(loss)(np.asarray(x)), rtol=1e-5)
