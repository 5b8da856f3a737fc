"""custom_vjp, custom_jvp and custom_gradient: rules of one's own, in every mode and nesting."""

import dataclasses
import gc
import warnings
import weakref

import numpy as np
import pytest

import wengert as wg


def close(a, b, rtol=1e-12):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=rtol, atol=1e-14)


# -- a rule that differs from the true derivative, in every way to give it ----------------------
# The value is round(x), whose derivative is zero; the rules say that it is 3 x.


def by_vjp():
    f = wg.custom_vjp(wg.round)
    f.defvjp(lambda x: (wg.round(x), x), lambda x, g: (3 * g * x,))
    return f


def by_jvp():
    f = wg.custom_jvp(wg.round)
    f.defjvp(lambda primals, tangents: (f(primals[0]), 3 * tangents[0] * primals[0]))
    return f


def by_jvps():
    f = wg.custom_jvp(wg.round)
    f.defjvps(lambda t, y, x: 3 * t * x)
    return f


def by_both():
    f = by_vjp()
    f.defjvp(lambda primals, tangents: (f(primals[0]), 3 * tangents[0] * primals[0]))
    return f


def by_both_with_results():
    f = by_vjp()
    f.defjvps(lambda t, y, x: 3 * t * x + 0 * y)
    return f


def by_gradient():
    return wg.custom_gradient(lambda x: (wg.round(x), lambda g: 3 * g * x))


STYLES = [by_vjp, by_jvp, by_jvps, by_both, by_both_with_results, by_gradient]


@pytest.fixture(params=STYLES, ids=lambda f: f.__name__)
def rounded(request):
    return request.param()


X = np.array([1.2, 2.7, -0.6])
XX = np.arange(6.0).reshape(2, 3) + 0.3
ONES = np.ones(3)


def slope(x):
    """Return the derivative of round(x)**2 by the rule."""
    return 6 * np.round(x) * x


def curvature(x):
    return 6 * np.round(x) + 18 * x * x


def test_first_and_second_order_in_all_modes(rounded):
    def total(x):
        return wg.sum(rounded(x) ** 2)

    close(rounded(X), np.round(X))
    close(wg.grad(total)(X), slope(X))
    close(wg.jvp(rounded, (X,), (ONES,))[1], 3 * X)
    close(wg.jvp(total, (X,), (ONES,))[1], np.sum(slope(X)))
    close(wg.hvp(total, (X,), (ONES,))[0], curvature(X))  # forward over reverse
    close(wg.grad(lambda x: wg.sum(wg.grad(total)(x)))(X), curvature(X))
    close(wg.grad(lambda x: wg.jvp(total, (x,), (ONES,))[1])(X), curvature(X))
    forward = wg.jvp(lambda x: wg.jvp(total, (x,), (ONES,))[1], (X,), (ONES,))[1]
    close(forward, np.sum(curvature(X)))


def test_third_order(rounded):
    f = wg.grad(wg.grad(wg.grad(lambda x: rounded(x) ** 2)))
    close(f(1.2), 18 * 1.2 + 36 * 1.2)  # d/dx (6 y + 18 x x), dy = 3 x


def test_jacobians(rounded):
    close(wg.jacobian(rounded)(X), np.diag(3 * X))
    close(wg.jacobian(rounded, mode="forward")(X), np.diag(3 * X))
    close(wg.hessian(lambda x: wg.sum(rounded(x) ** 2))(X), np.diag(curvature(X)))


def test_a_selection_of_the_result(rounded):
    x = wg.asarray(X)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = rounded(x)
    close(tape.gradient(y.at[1], x), [0, 8.1, 0])
    with wg.ForwardAccumulator(x.at[1], wg.asarray(1.0)) as forward:
        y = rounded(x)
    close(forward.jvp(y), [0, 8.1, 0])


def test_tapes_outside_of_vmap(rounded):
    def total(x):
        return wg.sum(wg.vmap(rounded)(x) ** 2)

    close(wg.vmap(rounded)(X), np.round(X))
    close(wg.grad(total)(X), slope(X))
    close(wg.jvp(wg.vmap(rounded), (X,), (ONES,))[1], 3 * X)
    close(wg.jacobian(wg.vmap(rounded))(X), np.diag(3 * X))
    close(wg.jacobian(wg.vmap(rounded), mode="forward")(X), np.diag(3 * X))
    close(wg.hessian(total)(X), np.diag(curvature(X)))
    close(wg.grad(lambda x: wg.jvp(total, (x,), (ONES,))[1])(X), curvature(X))


def test_tapes_inside_of_vmap(rounded):
    def square(x):
        return rounded(x) ** 2

    close(wg.vmap(wg.grad(square))(X), slope(X))
    close(wg.vmap(wg.grad(wg.grad(square)))(X), curvature(X))
    close(wg.vmap(lambda x: wg.jvp(rounded, (x,), (1.0,))[1])(X), 3 * X)
    close(wg.vmap(wg.jacobian(rounded))(XX), [np.diag(3 * x) for x in XX])
    hessians = wg.vmap(wg.hessian(lambda x: wg.sum(square(x))))
    close(hessians(XX), [np.diag(curvature(x)) for x in XX])


def test_tapes_on_both_sides_of_vmap(rounded):
    slopes = wg.vmap(wg.grad(lambda x: rounded(x) ** 2))
    close(wg.grad(lambda x: wg.sum(slopes(x)))(X), curvature(X))
    close(wg.jvp(slopes, (X,), (ONES,))[1], curvature(X))
    close(wg.jacobian(slopes)(X), np.diag(curvature(X)))
    tangents = wg.vmap(lambda x: wg.jvp(lambda x: rounded(x) ** 2, (x,), (1.0,))[1])
    close(wg.grad(lambda x: wg.sum(tangents(x)))(X), curvature(X))


def test_nested_vmap(rounded):
    def total(x):
        return wg.sum(wg.vmap(wg.vmap(rounded))(x) ** 2)

    close(wg.grad(total)(XX), slope(XX))
    close(wg.vmap(wg.grad(lambda x: wg.sum(wg.vmap(rounded)(x) ** 2)))(XX), slope(XX))
    close(wg.vmap(wg.vmap(wg.grad(lambda x: rounded(x) ** 2)))(XX), slope(XX))
    inner = wg.vmap(wg.grad(lambda x: wg.sum(wg.vmap(rounded)(x) ** 2)))
    close(wg.grad(lambda x: wg.sum(inner(x)))(XX), curvature(XX))
    hessians = wg.vmap(wg.hessian(lambda x: wg.sum(wg.vmap(rounded)(x) ** 2)))
    close(hessians(XX), [np.diag(curvature(x)) for x in XX])


# -- several arguments and results, nests ------------------------------------------------------


def product_rules():
    """Return x y and x + y, with visible factors 5 and 7 in the rules for x and y."""
    f = wg.custom_vjp(lambda x, y: {"p": x * y, "s": (x + y,)})
    f.defvjp(
        lambda x, y: ({"p": x * y, "s": (x + y,)}, (x, y)),
        lambda r, g: (
            5 * (g["p"] * r[1] + g["s"][0]),
            7 * (g["p"] * r[0] + g["s"][0]),
        ),
    )
    g = wg.custom_jvp(lambda x, y: {"p": x * y, "s": (x + y,)})

    @g.defjvp
    def rule(primals, tangents):
        (x, y), (tx, ty) = primals, tangents
        moved = 5 * tx * y + 7 * ty * x
        return g(x, y), {"p": moved, "s": (5 * tx + 7 * ty,)}

    h = wg.custom_jvp(lambda x, y: {"p": x * y, "s": (x + y,)})
    h.defjvps(
        lambda t, z, x, y: {"p": 5 * t * y, "s": (5 * t,)},
        lambda t, z, x, y: {"p": 7 * t * x, "s": (7 * t,)},
    )
    return {"vjp": f, "jvp": g, "jvps": h}


@pytest.fixture(params=["vjp", "jvp", "jvps"])
def product(request):
    return product_rules()[request.param]


def test_several_arguments_and_results(product):
    def total(x, y):
        z = product(x, y)
        return wg.sum(z["p"]) + 2 * wg.sum(z["s"][0])

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    by_x, by_y = wg.grad(total, argnums=(0, 1))(x, y)
    close(by_x, 5 * (y + 2))
    close(by_y, 7 * (x + 2))
    close(wg.grad(total)(x, y), 5 * (y + 2))
    moved = wg.jvp(product, (x, y), (np.ones(2), None))[1]
    close(moved["p"], 5 * y)
    close(moved["s"][0], [5, 5])
    close(wg.grad(lambda x: total(x, x))(x), 5 * (x + 2) + 7 * (x + 2))


def test_an_argument_that_is_the_same_for_all_examples(product):
    def total(x, y):
        z = wg.vmap(product, in_axes=(0, None))(x, y)
        return wg.sum(z["p"]) + 2 * wg.sum(z["s"][0])

    x, y = np.array([1.0, 2.0, 3.0]), np.float64(4.0)
    by_x, by_y = wg.grad(total, argnums=(0, 1))(x, y)
    close(by_x, 5 * (y + 2) * np.ones(3))
    close(by_y, np.sum(7 * (x + 2)))
    tangent = wg.jvp(total, (x, y), (np.zeros(3), 1.0))[1]
    close(tangent, np.sum(7 * (x + 2)))
    close(wg.hessian(lambda y: total(x, y * y))(2.0), 2 * np.sum(7 * (x + 2)))


def test_nests_of_arguments_none_for_zero_and_static_arguments():
    @wg.custom_vjp(nondiff_argnums=(0, 2))
    def affine(scale, p, name, x):
        assert name == "tag"
        return scale(p["w"] * x + p["b"][0])

    def fwd(scale, p, name, x):
        return affine(scale, p, name, x), (p, x)

    def bwd(scale, name, residuals, g):
        assert name == "tag"
        _, x = residuals
        return {"w": 10 * g * x, "b": [None]}, None

    affine.defvjp(fwd, bwd)
    p = {"w": np.array([1.0, 2.0]), "b": [np.array([0.5, 0.5])]}
    x = np.array([3.0, 4.0])
    by_p, by_x = wg.grad(
        lambda p, x: wg.sum(affine(lambda v: v * [2.0, 2.0], p, "tag", x)), argnums=(0, 1)
    )(p, x)
    close(by_p["w"], 10 * x)
    close(by_p["b"][0], [0, 0])
    close(by_x, [0, 0])


def test_static_arguments_of_forward_rules():
    f = wg.custom_jvp(lambda n, x: x**n, nondiff_argnums=0)
    f.defjvp(lambda n, primals, tangents: (f(n, *primals), 10 * n * tangents[0]))
    close(wg.grad(lambda x: f(3, x))(2.0), 30)
    f.defjvps(lambda n, t, y, x: n * t * y)
    close(wg.grad(lambda x: f(3, x))(2.0), 24)


def test_arguments_by_name_and_defaults_are_given_by_position():
    @wg.custom_vjp
    def scaled(x, factor=2.0):
        return x * factor

    scaled.defvjp(lambda x, factor: (x * factor, (x, factor)), lambda r, g: (g * r[1], g * r[0]))
    close(wg.grad(scaled)(3.0), 2)
    close(wg.grad(lambda x, f: scaled(factor=f, x=x), argnums=1)(3.0, 5.0), 3)
    scaled.check(3.0)


def test_a_method():
    class Model:
        factor = 3.0

        @wg.custom_jvp(nondiff_argnums=(0,))
        def call(self, x):
            return x * self.factor

    Model.call.defjvps(lambda self, t, y, x: t * 10 * self.factor)
    close(wg.grad(Model().call)(2.0), 30)


def test_python_numbers_take_the_dtype_of_arrays_and_integers_stay():
    @wg.custom_vjp
    def power(x, factor, n):
        assert type(n) is int
        return factor * x**n

    power.defvjp(
        lambda x, factor, n: (power(x, factor, n), (x, n)), lambda r, g: (g * r[0], None, None)
    )
    x = np.ones(2, np.float32)
    assert power(x, 2.0, 3).dtype == np.float32
    assert wg.grad(lambda x: wg.sum(power(x, 2.0, 3)))(x).dtype == np.float32


def test_integer_arguments_and_results():
    f = wg.custom_jvp(lambda x, n: (x[n], n + 1))

    @f.defjvp
    def rule(primals, tangents):
        assert tangents[1] is None
        return f(*primals), (9 * tangents[0][primals[1]], None)

    g = wg.custom_vjp(lambda x, n: (x[n], n + 1))
    g.defvjp(
        lambda x, n: (g(x, n), n),
        lambda n, w: (9 * wg.zeros(3).at[n].set(w[0]) if w[1] is None else None, None),
    )
    n = np.array([2, 0])
    for function in (f, g):
        close(wg.grad(lambda x, function=function: wg.sum(function(x, n)[0]))(X), [9, 0, 9])
        close(wg.jvp(lambda x, function=function: function(x, n)[0], (X,), (ONES,))[1], [9, 9])


# -- what rules read --------------------------------------------------------------------------


def test_a_result_among_the_residuals_has_the_derivative_of_the_result():
    """The value is computed where no tape sees it, and second derivatives are right."""

    @dataclasses.dataclass
    class Kept:
        y: object
        note: str

    exponential = wg.custom_vjp(lambda x: np.exp(x.numpy()))

    def fwd(x):
        y = np.exp(x.numpy())
        return y, Kept(y, "a note")

    exponential.defvjp(fwd, lambda kept, g: (g * kept.y,))
    f = exponential
    for _ in range(4):
        f = wg.grad(f)
        close(f(0.5), np.exp(0.5))
    close(wg.hessian(lambda x: wg.sum(exponential(x)))(X), np.diag(np.exp(X)))
    close(wg.grad(wg.grad(lambda x: wg.jvp(exponential, (x,), (1.0,))[1]))(0.5), np.exp(0.5))

    by_rule = wg.custom_jvp(lambda x: np.exp(np.asarray(x)))  # no warning: a rule is there
    by_rule.defjvps(lambda t, y, x: t * y)
    f = by_rule
    for _ in range(4):
        f = wg.grad(f)
        close(f(0.5), np.exp(0.5))


def test_an_argument_that_is_returned_is_still_the_argument():
    f = wg.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, x), lambda x, g: (5 * g * x,))
    assert wg.grad(f)(3.0) == 15
    assert wg.grad(wg.grad(f))(3.0) == 5  # not 5 times the derivative of f
    close(wg.vmap(wg.grad(wg.grad(f)))(X), 5 * ONES)


@pytest.mark.parametrize("also", [False, True])
def test_fwd_may_call_the_function_itself(also):
    """What it returns has the function's derivative, also where a residual is made of it."""
    exponential = wg.custom_vjp(lambda x: wg.stop_gradient(wg.exp(x)))

    def fwd(x):
        y = exponential(x)
        return (y * 1.0, y / 2) if also else (y, y)

    exponential.defvjp(fwd, lambda y, g: (g * y * (2 if also else 1),))
    f = exponential
    for _ in range(4):
        f = wg.grad(f)
        close(f(0.5), np.exp(0.5))
        close(wg.vmap(f)(X), np.exp(X))
        close(wg.grad(lambda x, f=f: wg.sum(wg.vmap(f)(x)))(X), np.exp(X))
    close(wg.hvp(lambda x: wg.sum(exponential(x)), (X,), (ONES,))[0], np.exp(X))


def test_entries_do_not_hold_their_own_results():
    f = wg.custom_vjp(wg.exp)
    f.defvjp(lambda x: (y := wg.exp(x), y), lambda y, g: (g * y,))
    x = wg.asarray(1.0)
    gc.collect()
    gc.disable()
    try:
        with wg.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        died = weakref.ref(y._node.op.backward.__self__)
        node = y._node
        del y, node, tape
        assert died() is None
    finally:
        gc.enable()


def test_bwd_is_called_once_for_all_arguments():
    calls = []
    f = wg.custom_vjp(lambda x, y: x * y)

    def bwd(r, g):
        calls.append(1)
        return g * r[1], g * r[0]

    f.defvjp(lambda x, y: (x * y, (x, y)), bwd)
    wg.grad(f, argnums=(0, 1))(2.0, 3.0)
    assert len(calls) == 1
    wg.grad(lambda x, y: f(x, y)[0], argnums=(0, 1))(np.ones(2), np.ones(2))
    assert len(calls) == 2


def test_what_rules_capture_is_differentiated_and_what_functions_capture_is_refused():
    def outer(w):
        f = wg.custom_vjp(lambda x: 2 * x)
        f.defvjp(lambda x: (2 * x, None), lambda r, g: (g * w,))
        return wg.grad(f)(3.0)

    assert wg.grad(outer)(5.0) == 1

    def leaky(w, define):
        f = wg.custom_vjp(lambda x: w * x)
        define(f, w)
        return f(w * 2)

    def vjp(f, w):
        f.defvjp(lambda x: (w * x, None), lambda r, g: (g,))

    def jvps(f, w):
        f.defjvps(lambda t, y, x: t)

    for define in (vjp, jvps):
        with pytest.raises(wg.RuleError, match="also depends on a recorded tensor"):
            wg.grad(lambda w, define=define: leaky(w, define))(5.0)
        with pytest.raises(wg.RuleError, match="also depends on a recorded tensor"):
            wg.grad(lambda w, define=define: wg.sum(wg.vmap(lambda v: leaky(v, define))(w)))(
                np.ones(2)
            )
    static = wg.custom_vjp(lambda w, x: w * x, nondiff_argnums=0)
    static.defvjp(lambda w, x: (w * x, None), lambda w, r, g: (g,))
    with pytest.raises(wg.RuleError, match="with a derivative"):
        wg.grad(lambda w: static(w, w * 2))(5.0)


def test_a_tensor_of_vmap_as_a_static_argument():
    clip = wg.custom_vjp(lambda limit, x: x, nondiff_argnums=0)
    clip.defvjp(lambda limit, x: (x, None), lambda limit, r, g: (wg.clip(g, -limit, limit),))

    def loss(x, limit):
        return 10 * clip(limit, x)

    limits = np.array([1.0, 2.0, 3.0])
    close(wg.vmap(wg.grad(loss))(X, limits), limits)
    close(wg.grad(lambda x: wg.sum(wg.vmap(loss)(x, limits)))(X), limits)


def test_random_and_threads():
    """Two threads ask the same entries, each for its own weights."""
    from concurrent.futures import ThreadPoolExecutor

    f = by_gradient()
    x = wg.asarray(X)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = wg.vmap(f)(x)

    def ask(k):
        weights = wg.asarray(np.full(3, float(k)))
        return np.asarray(tape.gradient(y, x, output_gradients=weights).numpy())

    with ThreadPoolExecutor(4) as pool:
        for k, found in enumerate(pool.map(ask, range(40))):
            close(found, 3 * X * k)


# -- complex numbers --------------------------------------------------------------------------


def test_complex_functions():
    z, v = np.array([1.0 + 2j, -0.5 + 0.3j]), np.array([0.2 - 1j, 1.0 + 1j])
    forward = wg.custom_jvp(lambda z: z * wg.conj(z) * z)
    forward.defjvps(lambda t, y, z: 2 * z * wg.conj(z) * t + z * z * wg.conj(t))
    backward = wg.custom_vjp(lambda z: z * wg.conj(z) * z)
    backward.defvjp(
        lambda z: (z * wg.conj(z) * z, z),
        lambda z, g: (2 * z * wg.conj(z) * g + z * z * wg.conj(g),),
    )

    def plain(z):
        return z * wg.conj(z) * z

    for f in (forward, backward):
        close(wg.vjp(f, z)[1](v)[0], wg.vjp(plain, z)[1](v)[0])
        close(wg.jvp(f, (z,), (v,))[1], wg.jvp(plain, (z,), (v,))[1])
        wg.check_grads(f, [z], order=2)
        f.check(z)


def test_a_real_function_of_complex_numbers():
    f = wg.custom_jvp(lambda z: wg.abs(z) ** 2)
    f.defjvps(lambda t, y, z: 2 * wg.real(wg.conj(z) * t))
    f.check(np.array([1.0 + 2j, 0.5j]))
    wg.check_grads(f, [np.array([1.0 + 2j, 0.5j])], order=2)
    wrong = wg.custom_jvp(lambda z: wg.abs(z) ** 2)
    wrong.defjvps(lambda t, y, z: 2 * wg.conj(z) * t)
    with pytest.raises(wg.RuleError, match="complex128 and its result float64"):
        wg.grad(lambda z: wg.sum(wrong(z)))(np.array([1.0 + 2j]))
    lifted = wg.custom_jvp(lambda x: x * 1j)
    lifted.defjvp(lambda p, t: (p[0] * 1j, t[0] * 0))  # real, where the result is complex
    close(wg.vjp(lifted, X)[1](X * 1j)[0], 0 * X)


# -- check ------------------------------------------------------------------------------------


def cube_by_both(pull=3.0, push=3.0):
    f = wg.custom_vjp(lambda x, n: x**3 * n)
    f.defvjp(lambda x, n: (f(x, n), (x, n)), lambda r, g: (pull * g * r[0] ** 2 * r[1], None))
    f.defjvp(lambda p, t: (f(*p), push * t[0] * p[0] ** 2 * p[1]))
    return f


def test_check_accepts_what_is_right_and_says_what_disagrees():
    cube_by_both().check(X, 2)
    with pytest.raises(wg.GradientCheckError, match=r": defvjp and defjvp; defvjp and complex"):
        cube_by_both(pull=3.001).check(X, 2)
    with pytest.raises(wg.GradientCheckError, match=r": defvjp and defjvp; defjvp and complex"):
        cube_by_both(push=3.001).check(X, 2)
    with pytest.raises(
        wg.GradientCheckError, match=r": defvjp and complex step of the function; defjvp and compl"
    ):
        cube_by_both(3.001, 3.001).check(X, 2)
    with pytest.raises(wg.GradientCheckError, match="argument array 0"):
        by_vjp().check(X)


def test_check_names_the_argument():
    f = wg.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, (x, y)), lambda r, g: (g * r[1], g))
    with pytest.raises(wg.GradientCheckError, match="argument array 1"):
        f.check(X, X)


def test_check_finds_other_values():
    f = wg.custom_vjp(lambda x: x * x)
    f.defvjp(lambda x: (x * x * 1.1, x), lambda x, g: (2 * g * x,))
    with pytest.raises(wg.GradientCheckError, match="first function of defvjp returns another"):
        f.check(X)
    f = wg.custom_jvp(lambda x: x * x)
    f.defjvp(lambda p, t: (p[0], 2 * t[0] * p[0]))
    with pytest.raises(wg.GradientCheckError, match="rule of defjvp returns another"):
        f.check(X)


def test_check_of_a_function_outside_of_wengert():
    from scipy import special

    f = wg.custom_vjp(lambda x: special.erf(x.numpy()))
    f.defvjp(
        lambda x: (special.erf(x.numpy()), x),
        lambda x, g: (g * 2 / np.sqrt(np.pi) * wg.exp(-x * x),),
    )
    f.check(X)
    wg.check_grads(f, [X], order=3)


# -- mistakes ---------------------------------------------------------------------------------


def test_without_a_rule():
    f, g = wg.custom_vjp(wg.sin), wg.custom_jvp(wg.sin)
    close(f(X), np.sin(X))  # no derivative is wanted
    with pytest.raises(wg.NoRuleError, match=r"sin\.defvjp\(fwd, bwd\)"):
        wg.grad(f)(1.0)
    with pytest.raises(wg.NoRuleError, match=r"sin\.defjvp\(rule\)"):
        wg.vmap(wg.grad(g))(X)
    with pytest.raises(wg.NoRuleError, match="no rule to check"):
        f.check(1.0)


def vjp_of(fwd, bwd, fun=lambda x: x * 2):
    f = wg.custom_vjp(fun)
    f.defvjp(fwd, bwd)
    return f


def jvp_of(rule, fun=lambda x: x * 2):
    f = wg.custom_jvp(fun)
    f.defjvp(rule)
    return f


@pytest.mark.parametrize(
    ("function", "error", "match"),
    [
        (vjp_of(lambda x: x, lambda r, g: (g,)), TypeError, r"expected \(result, residuals\)"),
        (vjp_of(lambda x: (x, 0), lambda r, g: g), wg.RuleError, "returned Tensor for 1 arg"),
        (vjp_of(lambda x: (x, 0), lambda r, g: (g, g)), wg.RuleError, "2 values for 1 arguments"),
        (vjp_of(lambda x: (x, 0), lambda r, g: (g[0],)), wg.RuleError, r"shape \(\) and its arg"),
        (vjp_of(lambda x: (x, 0), lambda r, g: ([g],)), wg.RuleError, "in the same nest"),
        (jvp_of(lambda p, t: t[0]), TypeError, r"expected \(value, tangent\)"),
        (jvp_of(lambda p, t: (p[0], t[0][0])), wg.RuleError, r"shape \(\) and its result"),
        (jvp_of(lambda p, t: (p[0], [t[0]])), wg.RuleError, "in the same nest"),
    ],
)
@pytest.mark.parametrize("batched", [False, True])
def test_rules_that_return_something_else(function, error, match, batched):
    def loss(x):
        return wg.sum(wg.vmap(function)(x) if batched else function(x))

    x = np.ones((2, 3)) if batched else np.ones(3)
    with pytest.raises(error, match=match):
        wg.grad(loss)(x)
    with pytest.raises(error, match=match):
        wg.jvp(loss, (x,), (x,))


def test_calls_that_are_wrong():
    f = by_vjp()
    with pytest.raises(TypeError, match="missing a required argument"):
        f()
    with pytest.raises(TypeError, match="nondiff_argnums"):
        f("text")
    with pytest.raises(TypeError, match="by name only"):
        wg.custom_vjp(lambda x, *, y=1: x)(1.0)
    with pytest.raises(TypeError, match="called with 1 arguments"):
        wg.custom_vjp(lambda *args: args[0], nondiff_argnums=3)(1.0)
    with pytest.raises(ValueError, match="counted from 0"):
        wg.custom_vjp(wg.sin, nondiff_argnums=-1)
    with pytest.raises(TypeError, match="expected functions"):
        wg.custom_vjp(wg.sin).defvjp(wg.sin, None)
    with pytest.raises(TypeError, match="expected functions"):
        wg.custom_vjp(3)
    g = wg.custom_jvp(lambda x, y: x)
    g.defjvps(lambda t, z, x, y: t)
    with pytest.raises(wg.RuleError, match="1 rules for 2 arguments"):
        wg.grad(g)(1.0, 2.0)


def test_a_captured_tensor_of_vmap_in_a_rule_outlives_its_level_only_in_the_sweep():
    """The level is closed again after a sweep, also when a rule fails."""

    def bad(r, g):
        raise KeyError("in a rule")

    f = vjp_of(lambda x: (x * 2, x), bad)
    with pytest.raises(KeyError):
        wg.grad(lambda x: wg.sum(wg.vmap(f)(x)))(X)
    close(wg.grad(lambda x: wg.sum(wg.vmap(by_vjp())(x)))(X), 3 * X)


# -- true rules, under pairs of transforms ----------------------------------------------------


def wave(x, w):
    return wg.sin(x * w) * wg.exp(x / 2)


def wave_by_x(x, w):
    return w * wg.cos(x * w) * wg.exp(x / 2) + wave(x, w) / 2


def wave_by_w(x, w):
    return x * wg.cos(x * w) * wg.exp(x / 2)


def wave_vjp():
    f = wg.custom_vjp(wave)
    f.defvjp(lambda x, w: (f(x, w), (x, w)), lambda r, g: (g * wave_by_x(*r), g * wave_by_w(*r)))
    return f


def wave_vjp_of_the_result():
    def bwd(r, g):
        x, w, y = r
        return g * (w * wg.cos(x * w) * wg.exp(x / 2) + y / 2), g * wave_by_w(x, w)

    f = wg.custom_vjp(wave)
    f.defvjp(lambda x, w: (y := wg.stop_gradient(wave(x, w)), (x, w, y)), bwd)
    return f


def wave_jvp():
    f = wg.custom_jvp(wave)
    f.defjvp(lambda p, t: (f(*p), t[0] * wave_by_x(*p) + t[1] * wave_by_w(*p)))
    return f


def wave_jvps():
    f = wg.custom_jvp(wave)
    f.defjvps(
        lambda t, y, x, w: t * (w * wg.cos(x * w) * wg.exp(x / 2) + y / 2),
        lambda t, y, x, w: t * wave_by_w(x, w),
    )
    return f


def wave_gradient():
    return wg.custom_gradient(
        lambda x, w: (wave(x, w), lambda g: (g * wave_by_x(x, w), g * wave_by_w(x, w)))
    )


def wave_implicit():
    return wg.implicit_function(
        lambda x, w: np.sin(x * w) * np.exp(x / 2), residual=lambda y, x, w: y - wave(x, w)
    )


def wave_implicit_without_matrix():
    return wg.implicit_function(
        lambda x, w: np.sin(x * w) * np.exp(x / 2),
        residual=lambda y, x, w: y**3 + y - wave(x, w) ** 3 - wave(x, w),
        linear_solve="gmres",
    )


PAIR = np.array([1.0, 0.5])
#: From a function of two numbers to another one.
TRANSFORMS = {
    "grad": wg.grad,
    "grad by w": lambda f: wg.grad(f, argnums=1),
    "jvp": lambda f: lambda x, w: wg.jvp(f, (x, w), (1.0, 0.5))[1],
    "vmap over x": lambda f: lambda x, w: wg.sum(wg.vmap(f, in_axes=(0, None))(x * PAIR, w)),
    "vmap over w": lambda f: lambda x, w: wg.vmap(f, (None, 0))(x, wg.stack([w, x]))[1],
    "vmap in jvp": lambda f: (
        lambda x, w: wg.jvp(wg.vmap(f, (0, None)), (wg.stack([x, w]), w), (PAIR, 1.0))[1][0]
    ),
    "vmap in jacobian": lambda f: (
        lambda x, w: wg.jacobian(wg.vmap(f))(wg.stack([x, w]), wg.stack([w, x * w]))[1, 1]
    ),
    "forward jacobian": lambda f: (
        lambda x, w: wg.jacobian(lambda v: f(v[0], v[1]), mode="forward")(wg.stack([x, w]))[1]
    ),
    "vmap of jacobian of vmap": lambda f: (
        lambda x, w: wg.vmap(
            lambda a: wg.jacobian(wg.vmap(lambda b: f(a, b * w)))(wg.stack([a, w]))[0, 0]
        )(wg.stack([x, w]))[1]
    ),
    "product": lambda f: lambda x, w: f(x * w, w) * x,
}


@pytest.mark.filterwarnings("ignore::wengert.UnconnectedWarning")
@pytest.mark.parametrize("inner", TRANSFORMS)
@pytest.mark.parametrize(
    "make",
    [
        wave_vjp, wave_vjp_of_the_result, wave_jvp, wave_jvps, wave_gradient, wave_implicit,
        wave_implicit_without_matrix,
    ],
    ids=lambda make: make.__name__,
)  # fmt: skip
def test_pairs_of_transforms(make, inner):
    for outer in TRANSFORMS.values():
        want = outer(TRANSFORMS[inner](wave))(0.7, 1.1)
        got = outer(TRANSFORMS[inner](make()))(0.7, 1.1)
        close(got, want, rtol=1e-7)


# -- against JAX ------------------------------------------------------------------------------


def test_the_same_rules_in_jax():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def define(custom_vjp, custom_jvp, np_):
        clip = custom_vjp(lambda limit, x: x**2, nondiff_argnums=(0,))
        clip.defvjp(
            lambda limit, x: (clip(limit, x), x),
            lambda limit, x, g: (np_.clip(2 * g * x, -limit, limit),),
        )
        soft = custom_jvp(lambda x, y: np_.sin(x) * y)

        @soft.defjvp
        def rule(primals, tangents):
            (x, y), (tx, ty) = primals, tangents
            return soft(x, y), 2 * np_.cos(x) * y * tx + np_.sin(x) * ty

        return lambda x: np_.sum(clip(3.0, soft(x, x * x)) * x)

    mine, theirs = (
        define(wg.custom_vjp, wg.custom_jvp, wg),
        define(jax.custom_vjp, jax.custom_jvp, jnp),
    )
    with jax.enable_x64(True), warnings.catch_warnings():
        x = np.array([0.3, 1.2, -2.0])
        close(wg.grad(mine)(x), jax.grad(theirs)(x))
        close(wg.hessian(mine)(x), jax.jacrev(jax.grad(theirs))(x), rtol=1e-10)
        rows = np.stack([x, 2 * x])
        close(wg.vmap(wg.grad(mine))(rows), jax.vmap(jax.grad(theirs))(rows))
        close(
            wg.grad(lambda r: wg.sum(wg.vmap(mine)(r) ** 2))(rows),
            jax.grad(lambda r: jnp.sum(jax.vmap(theirs)(r) ** 2))(rows),
        )
