"""Special functions: points where formulas break, reference numbers, and bad input.

Reference numbers were computed with 60 digits.
"""

from __future__ import annotations

import math
import subprocess
import sys
import warnings

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

import wengert as wg
from tests.ops.op_cases import check_on_strict
from wengert.backends import numpy_special

sp = wg.special
grad = wg.grad
INF = math.inf


def quiet():
    return np.errstate(all="ignore")


def second(f, argnums=0):
    return grad(grad(f, argnums), argnums)


def near(got, expected, rtol=1e-13, atol=0.0):
    np.testing.assert_allclose(np.asarray(got), expected, rtol=rtol, atol=atol)


# -- derivatives without a formula --------------------------------------------------------------

#: a, x, and the first and second derivative of gammainc(a, x) in a
GAMMAINC = [
    (1e-06, 0.001, -6.3315009187908539, 38.445235187695798),
    (1e-06, 2.0, -0.048900663480579269, -0.15277258086387625),
    (0.01, 1e-05, -9.8167252611925653, 106.06012808817297),
    (0.25, 0.1, -1.3008926930401602, 2.1135125156982856),
    (0.5, 3.0, -0.047240326447973751, -0.085989868973685684),
    (1.0, 1.0, -0.4317297106348987, 0.033618035299959197),
    (2.5, 0.01, -1.7056647497778207e-5, 9.6393275207868086e-5),
    (2.5, 2.0, -0.27455132194588155, 0.067077171809110783),
    (7.0, 20.0, -0.00030283960620009564, -0.00032121270043865247),
    (9.5, 9.0, -0.13232095123155924, 0.0073416627644269515),
    (40.0, 10.0, -1.0325303421063532e-12, 1.4343375564698269e-12),
    (40.0, 41.0, -0.061669827962902029, -0.0015227471478453451),
    (300.0, 250.0, -0.00023004318207195982, 4.1953692935619437e-5),
    (1000.0, 1100.0, -0.00011048987784079389, -1.0531678471574555e-5),
]
#: a, b, x, and the derivatives of betainc(a, b, x) in a, in b, and in both
BETAINC = [
    (0.01, 0.02, 0.25, -22.695963112610687, 11.000700450643658, 355.09981011079297),
    (0.5, 0.5, 0.001, -0.15144045259989143, 0.027906380086556372, -0.17677867989527865),
    (0.5, 3.0, 0.75, -0.015488760494080607, 0.0082990127639389839, 0.022005148673568185),
    (1.0, 1.0, 0.5, -0.34657359027997265, 0.34657359027997265, 0.0),
    (2.0, 5.0, 0.9, -7.49708294651207e-5, 0.0001176421801146724, 0.00015208218469118482),
    (7.0, 0.25, 0.125, -7.1802034786398638e-8, 1.9806356219990252e-7, -4.2758239823740706e-7),
    (20.0, 30.0, 0.375, -0.06743416092816117, 0.042542850906982353, -0.0025327129227158856),
    (150.0, 80.0, 0.75, -7.6620642889841566e-5, 0.00018119022820511392, 2.5160966917899431e-5),
    (3.0, 400.0, 0.0078125, -0.22966031856050634, 0.0016704438830440305, 0.00037023483898884468),
]
#: x, q, and the first and second derivative of zeta(x, q) in x
ZETA = [
    (1.125, 1.0, -63.928410746668508, 1023.9900708139181),
    (2.0, 1.0, -0.93754825431584375, 1.989280234298901),
    (2.0, 0.25, 21.148279617539289, 32.745743997466051),
    (5.5, 10.0, -2.1688499357651207e-5, 5.4169823118057117e-5),
    (30.0, 3.0, -5.3370934548028282e-15, 5.8637432579772503e-15),
]
#: x, and the derivatives of erfcx and of dawsn
FAR_OUT = [
    (-3.0, -97237.061503164615, -0.069626183663349724),
    (0.5, -0.5126888229025867, 0.5755636164979777),
    (6.0, -0.015060353489052321, -0.014512267694526227),
    (8.0, -0.0086165078814177303, -0.0080031793208542067),
    (100.0, -5.6410497625993185e-5, -5.0007501875656545e-5),
    (1000000.0, -5.6418958354691e-13, -5.0000000000075e-13),
]


@pytest.mark.parametrize(("a", "x", "first", "again"), GAMMAINC)
def test_gammainc_in_its_parameter(a, x, first, again):
    near(grad(sp.gammainc)(a, x), first, 1e-12)
    near(grad(sp.gammaincc)(a, x), -first, 1e-12)
    near(second(sp.gammainc)(a, x), again, 1e-10)


@pytest.mark.parametrize(("a", "b", "x", "in_a", "in_b", "in_both"), BETAINC)
def test_betainc_in_its_parameters(a, b, x, in_a, in_b, in_both):
    near(grad(sp.betainc, (0, 1))(a, b, x), (in_a, in_b), 1e-11)
    near(grad(grad(sp.betainc), 1)(a, b, x), in_both, 1e-10, atol=1e-13)
    near(grad(grad(sp.betainc, 1))(a, b, x), in_both, 1e-10, atol=1e-13)


@pytest.mark.parametrize(("x", "q", "first", "again"), ZETA)
def test_zeta_in_its_exponent(x, q, first, again):
    near(grad(sp.zeta)(x, q), first, 1e-12)
    near(second(sp.zeta)(x, q), again, 1e-12)


def test_zeta_without_q_is_riemanns():
    near(sp.zeta(2.0), math.pi**2 / 6)
    near(grad(sp.zeta)(2.0), -0.93754825431584375)


@pytest.mark.parametrize(("x", "of_erfcx", "of_dawsn"), FAR_OUT)
def test_derivatives_do_not_cancel_far_out(x, of_erfcx, of_dawsn):
    near(grad(sp.erfcx)(x), of_erfcx, 1e-13)
    near(grad(sp.dawsn)(x), of_dawsn, 1e-13)
    near(grad(sp.dawsn)(-x), of_dawsn, 1e-13)


@given(st.floats(0.05, 200.0), st.floats(0.01, 2.0))
def test_gamma_density_is_the_slope_of_gammainc(a, ratio):
    x = a * ratio
    expected = math.exp((a - 1) * math.log(x) - x - math.lgamma(a))
    near(grad(sp.gammainc, 1)(a, x), expected, 1e-11, atol=1e-300)  # subnormal ones are coarse


@given(st.floats(0.3, 50.0), st.floats(0.02, 0.98))
def test_gamma_quantiles_follow_their_parameter(a, p):
    x = float(sp.gammaincinv(a, p))
    slope_a, slope_p = grad(sp.gammaincinv, (0, 1))(a, p)
    in_a, in_x = grad(sp.gammainc, (0, 1))(a, x)
    near(slope_p, 1 / in_x, 1e-9)
    near(slope_a, -in_a / in_x, 1e-9)


@given(st.floats(0.1, 60.0), st.floats(0.1, 60.0), st.floats(0.01, 0.99))
def test_betainc_mirrored(a, b, x):
    one = grad(sp.betainc, (0, 1, 2))(a, b, x)
    other = grad(sp.betainc, (0, 1, 2))(b, a, 1 - x)
    scale = max(map(abs, one))
    near(one[0], -other[1], 1e-9, atol=1e-12 * scale)
    near(one[1], -other[0], 1e-9, atol=1e-12 * scale)
    near(one[2], other[2], 1e-9)


def test_parameters_of_large_size():
    # for large a, gammainc tends to ndtr((x - a) / sqrt(a)), whose slope in a is known
    a = 1e10
    slope = grad(sp.gammainc)(a, a)
    near(slope, -math.sqrt(1 / (2 * math.pi * a)), 1e-4)
    near(grad(sp.gammainc, 1)(a, a), math.sqrt(1 / (2 * math.pi * a)), 1e-9)


def test_large_arrays_in_pieces_are_as_small_ones():
    a = np.linspace(0.1, 30.0, 9000)
    whole = numpy_special.gammainc_derivative(a, 5.0 + 0 * a, order=1)
    parts = [numpy_special.gammainc_derivative(part, 5.0, order=1) for part in np.split(a, 9)]
    near(whole, np.concatenate(parts), 1e-13)


# -- points where formulas break ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "x", "orders"),
    [
        (sp.sinc, 0.0, (0, -(math.pi**2) / 3, 0, math.pi**4 / 5)),
        (sp.exprel, 0.0, (1 / 2, 1 / 3, 1 / 4, 1 / 5)),
        (sp.spence, 1.0, (-1, 1 / 2, -2 / 3, 6 / 4)),
        (sp.i0, 0.0, (0, 1 / 2, 0, 3 / 8)),
        (sp.i1, 0.0, (1 / 2, 0, 3 / 8, 0)),
        (sp.i0e, 0.0, (0,)),
        (sp.i1e, 0.0, (1 / 2,)),
        (sp.dawsn, 0.0, (1, 0, -4, 0)),
        (sp.expit, 0.0, (1 / 4, 0, -1 / 8)),
        (sp.erf, 0.0, (2 / math.sqrt(math.pi), 0)),
        (sp.log_ndtr, 0.0, (math.sqrt(2 / math.pi), -2 / math.pi)),
    ],
)
def test_derivatives_at_a_point(function, x, orders):
    f = function
    for expected in orders:
        f = grad(f)
        near(f(x), expected, 1e-12, atol=1e-13)


@pytest.mark.parametrize("function", [sp.sinc, sp.exprel, sp.spence, sp.i0, sp.dawsn])
def test_derivatives_around_a_point(function):
    at = 1.0 if function is sp.spence else 0.0
    steps = np.array([-0.3, -1e-3, 1e-4, 0.2, 0.4])
    wg.check_grads(function, [at + steps], order=2)


def test_odd_derivatives_are_small_near_zero():
    for x in (1e-3, -1e-8, 1e-300):
        near(grad(sp.sinc)(x), -(math.pi**2) * x / 3, 1e-5)
        near(grad(grad(grad(sp.sinc)))(x), math.pi**4 * x / 5, 1e-5)


def test_entropies_at_zero():
    assert grad(sp.xlogy, (0, 1))(0.0, 0.0) == (0, 0)
    assert grad(sp.xlogy, (0, 1))(0.0, 2.0) == (pytest.approx(math.log(2.0), rel=1e-15), 0)
    assert grad(sp.xlogy, (0, 1))(0.0, -2.0) == (0, 0)
    assert grad(sp.xlog1py, (0, 1))(0.0, -1.0) == (0, 0)
    assert grad(sp.kl_div, (0, 1))(0.0, 0.0) == (0, 0)
    assert grad(sp.rel_entr, (0, 1))(0.0, 0.0) == (1, -1)
    assert grad(sp.kl_div, 1)(0.0, 2.0) == 1 and grad(sp.rel_entr, 1)(0.0, 2.0) == 0
    with quiet():
        assert grad(sp.entr)(0.0) == INF and grad(sp.rel_entr)(0.0, 2.0) == -INF
        assert grad(sp.rel_entr, (0, 1))(2.0, 0.0) == (INF, -INF)
    near(grad(grad(sp.xlogy, 1))(0.0, 2.0), 0.5)
    near(grad(grad(sp.xlogy), 1)(0.0, 2.0), 0.5)


def test_rgamma_has_slopes_where_gamma_has_poles():
    for n in range(5):
        near(grad(sp.rgamma)(float(-n)), (-1) ** n * math.factorial(n), 1e-12)
    near(grad(grad(sp.rgamma))(0.0), 2 * np.euler_gamma)


def test_bessel_functions_at_zero():
    assert [grad(lambda x, v=v: sp.jn(v, x))(0.0) for v in range(4)] == [0, 0.5, 0, 0]
    assert grad(sp.j0)(0.0) == 0 and grad(sp.j1)(0.0) == 0.5


def test_inverses_at_the_ends():
    for function, ends, slopes in [
        (sp.erfinv, (-1.0, 1.0), (INF, INF)),
        (sp.erfcinv, (0.0, 2.0), (-INF, -INF)),
        (sp.ndtri, (0.0, 1.0), (INF, INF)),
    ]:
        assert tuple(grad(function)(x) for x in ends) == slopes
    with quiet():
        assert [grad(sp.logit)(x) for x in (0.0, 1.0)] == [INF, INF]
        assert grad(sp.cbrt)(0.0) == INF
    near(grad(sp.cbrt)(-8.0), 1 / 12)


@pytest.mark.parametrize("x", [-1e8, -1e4, -50.0, -8.0, 0.0, 8.0, 50.0, 1e5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_log_ndtr_in_the_tails(x, dtype):
    slope, curvature = grad(sp.log_ndtr)(dtype(x)), second(sp.log_ndtr)(dtype(x))
    assert slope.dtype == curvature.dtype == dtype
    if x <= -50:  # the density over the tail is -x + 1/-x - 2/-x**3 + ...
        near(slope, -x - 1 / x + 2 / x**3, 1e-6)
        near(curvature, -1 + 1 / x**2, 1e-4)
    elif x >= 8:
        near(slope, math.exp(-(min(x, 40.0) ** 2) / 2) / math.sqrt(2 * math.pi), 1e-5, 1e-40)
        assert abs(curvature) < 1e-12


@pytest.mark.parametrize("x", [-1e4, -800.0, -40.0, 40.0, 800.0, 1e4])
def test_logistic_functions_far_out(x):
    tail = math.exp(-abs(x))
    near(grad(sp.expit)(x), tail, 1e-12)
    near(second(sp.expit)(x), -math.copysign(tail, x), 1e-12)
    near(grad(sp.log_expit)(x), tail if x > 0 else 1.0, 1e-12)
    near(second(sp.log_expit)(x), -tail, 1e-12)


def test_incomplete_functions_at_the_ends():
    for a, slope in [(0.5, INF), (1.0, 1.0), (2.0, 0.0)]:
        assert grad(sp.gammainc, (0, 1))(a, 0.0) == (0, slope)
    assert grad(sp.gammainc, (0, 1))(2.0, INF) == (0, 0)
    assert [grad(grad(sp.gammainc, 1), 1)(a, 0.0) for a in (1.0, 2.0, 3.0)] == [-1, 1, 0]
    assert grad(grad(sp.gammainc, 1))(2.0, 0.0) == 0
    near(grad(sp.gammainc)(0.0, 1.0), -scipy.special.exp1(1.0))  # the limit as a goes to 0
    assert [grad(sp.betainc, (0, 1, 2))(1.0, 1.0, x) for x in (0.0, 1.0)] == [(0, 0, 1)] * 2
    assert grad(sp.betainc, 2)(2.0, 3.0, 0.0) == 0
    assert math.isnan(grad(sp.gammainc)(-1.0, 1.0)) and math.isnan(grad(sp.gammainc)(1.0, -1.0))
    assert math.isnan(grad(sp.betainc)(1.0, 1.0, 2.0)) and math.isnan(grad(sp.zeta)(0.5, 1.0))


def test_infinite_results_have_infinite_slopes():
    assert grad(sp.exprel)(800.0) == grad(sp.gamma)(200.0) == INF
    assert grad(sp.exprel)(-INF) == 0 and grad(sp.erfcx)(INF) == 0
    assert grad(sp.log_ndtr)(INF) == 0 and grad(sp.spence)(0.0) == -INF
    near(grad(grad(sp.betainc, 2), 2)(1.0, 3.0, 0.0), -6)


def test_gamma_below_zero():
    x = np.array([-0.5, -1.5, -2.3])
    wg.check_grads(sp.gamma, [x], order=2)
    wg.check_grads(sp.gammaln, [x], order=2)
    wg.check_grads(sp.digamma, [x], order=2)


def test_holomorphic_functions_take_complex_numbers():
    z = np.array([0.3 + 0.2j, 1.1 - 0.4j])
    for function in (sp.erf, sp.erfc, sp.erfcx, sp.ndtr, sp.log_ndtr, sp.dawsn, sp.expi, sp.exp1):
        wg.check_grads(function, [z], order=2)
    wg.check_grads(sp.sinc, [z], order=2)
    wg.check_grads(sp.spence, [z], order=2)
    for function in (sp.xlogy, sp.xlog1py):
        wg.check_grads(function, [z, z[::-1] - 2], order=2)
    wg.check_grads(sp.gamma, [z], order=1)
    near(grad(sp.xlogy)(0j, -2.0 + 1j), np.conj(np.log(-2.0 + 1j)))
    for function in (sp.erfcx, sp.dawsn):  # where the series for large real numbers is not right
        h, at = 1e-6, 1.0 + 8.0j
        change = (function(at + h) - function(at - h)).numpy() / (2 * h)
        near(grad(function)(at), np.conj(change), 1e-7)


# -- softmax and logsumexp ----------------------------------------------------------------------


def test_softmax_with_minus_infinity():
    x = np.array([-INF, 1.0, 2.0])
    share = np.exp(x) / np.exp(x).sum()
    jacobian = np.diag(share) - np.outer(share, share)
    for row in range(3):
        near(grad(lambda x, row=row: sp.softmax(x)[row])(x), jacobian[row], 1e-12, 1e-16)
    for row in (1, 2):
        near(grad(lambda x, row=row: sp.log_softmax(x)[row])(x), np.eye(3)[row] - share, 1e-12)
    near(grad(sp.logsumexp)(x), share, 1e-12)
    near(
        grad(lambda x: sp.logsumexp(x) ** 2 + wg.sum(grad(sp.logsumexp)(x) * np.arange(3.0)))(
            wg.asarray(x)
        ),
        2 * np.log(np.exp(x).sum()) * share + jacobian @ np.arange(3.0),
        1e-12,
    )


def test_logsumexp_of_infinities_is_shared_evenly():
    assert sp.logsumexp([-INF, -INF]) == -INF and sp.logsumexp([INF, 1.0]) == INF
    near(grad(sp.logsumexp)(np.array([-INF, -INF])), [0.5, 0.5])
    near(grad(sp.logsumexp)(np.array([INF, 1.0, INF])), [0.5, 0, 0.5])
    rows = np.array([[-INF, -INF], [0.0, 0.0]])
    near(grad(lambda x: wg.sum(sp.logsumexp(x, axis=1)))(rows), 0.5 * np.ones((2, 2)))


def test_softmax_of_large_numbers():
    x = np.array([1e4, 1e4 - 1, -1e4])
    near(sp.softmax(x), scipy.special.softmax(x))
    near(sp.log_softmax(x), scipy.special.log_softmax(x))
    assert np.isfinite(grad(lambda x: sp.log_softmax(x)[2])(x)).all()


def test_softmax_takes_the_axes_of_scipy():
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    for axis in (None, 0, -1, (0, 2)):
        for name in ("softmax", "log_softmax", "logsumexp"):
            got = getattr(sp, name)(x, axis=axis)
            near(got, getattr(scipy.special, name)(x, axis=axis), atol=1e-14)
    assert sp.softmax(3).dtype == wg.float64  # a number, and an integer
    assert sp.logsumexp(np.zeros((0, 2)), axis=0).numpy().tolist() == [-INF, -INF]
    assert sp.softmax(np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_a_block_becomes_whole_along_the_axis_only(name):
    x = wg.asarray(np.random.default_rng(0).normal(size=(5, 4, 3)))
    function = getattr(sp, name)
    for axis in ((1,), (2,), (1, 2)):
        for key in ((1, 2, 0), (slice(1, 4, 2), 1), (slice(None, None, -2), slice(1, 3), 2)):
            with wg.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = function(x, axis=axis)
                target = y[key] * 2.0
            block = tape.gradient(target, x, dense=False)
            weights = np.zeros(x.shape)
            weights[key] = 2.0
            dense = tape.gradient(y, x, output_gradients=weights)
            assert isinstance(block, wg.Block)
            rows = len(range(5)[key[0]]) if isinstance(key[0], slice) else 1
            assert block.values.shape[0] == rows
            near(block.todense(), dense.numpy(), 1e-12, atol=1e-15)


def test_weights_of_logsumexp():
    x, b = np.array([[1.0, 2.0, 3.0]]), np.array([[0.5, -1.0, 2.0], [1.0, 1.0, -3.0]])
    for axis in (None, 0, 1):
        with quiet():
            expected = scipy.special.logsumexp(x + 0 * b, axis=axis, b=b)
            near(sp.logsumexp(x, axis=axis, b=b), expected)
        got = sp.logsumexp(x, axis=axis, b=b, return_sign=True, keepdims=True)
        theirs = scipy.special.logsumexp(x + 0 * b, axis=axis, b=b, return_sign=True, keepdims=True)
        for mine, other in zip(got, theirs, strict=True):
            near(mine, other)
    wg.check_grads(lambda x, b: sp.logsumexp(x, b=b, axis=1, return_sign=True)[0], [x, b], order=2)
    assert math.isnan(sp.logsumexp([1.0, 2.0], b=[1.0, -1.0]))
    log, sign = sp.logsumexp([-INF, -INF], return_sign=True)
    assert (log, sign) == (-INF, 0)


def test_weights_that_are_zero_or_cancel():
    x = np.array([INF, 1.0, 2.0])
    value, (in_x, in_b) = wg.value_and_grad(lambda x, b: sp.logsumexp(x, b=b), (0, 1))(
        x[1:], np.array([0.0, 2.0])
    )
    near(value, 2 + math.log(2))
    near(in_x, [0, 1])
    near(in_b, [math.exp(-1) / 2, 0.5])
    assert sp.logsumexp(x, b=[0.0, 1.0, 1.0]) == scipy.special.logsumexp(x[1:])
    assert sp.logsumexp([1.0, 1.0], b=[1.0, -1.0]) == -INF


# -- dtypes and libraries -----------------------------------------------------------------------


def test_single_precision_stays_single():
    x = np.array([0.3, 0.6], np.float32)
    one = np.float32(1.5)
    for name in sp.__all__:
        function = getattr(sp, name)
        calls = {"polygamma": (1, x), "iv": (1.5, x), "ive": (2, x), "betainc": (one, one, x)}
        calls |= {"jn": (2, x), "jv": (1.5, x), "yn": (2, x), "multigammaln": (x, 1)}
        twos = ("beta", "betaln", "gammainc", "gammaincc", "kl_div", "rel_entr", "xlogy", "xlog1py")
        args = calls.get(name) or ((one, x) if name in (*twos, "gammaincinv") else (x,))
        if name == "zeta":
            args = (x + 2,)
        with wg.GradientTape() as tape:
            tensors = [
                wg.asarray(a) if isinstance(a, (np.ndarray, np.generic)) else a for a in args
            ]
            sources = [t for t in tensors if isinstance(t, wg.Tensor)]
            tape.watch(sources)
            y = function(*tensors)
        assert y.dtype == wg.float32, name
        if name == "gammasgn":  # which has no derivative
            continue
        assert all(g.dtype == wg.float32 for g in tape.gradient(y, sources)), name


def test_integers_become_floating():
    near(sp.erf(wg.asarray([1, 2])), scipy.special.erf([1, 2]))
    near(sp.softmax(np.array([1, 2])), scipy.special.softmax([1, 2]))
    near(grad(lambda x: wg.sum(sp.gammainc(wg.asarray([1, 2]), x)))(np.ones(2)), [math.exp(-1)] * 2)


def test_public_functions_on_another_library():
    x, a = np.array([0.3, 0.6]), np.array([1.5, 0.5])
    check_on_strict(lambda x, a: sp.logsumexp(x, b=a, return_sign=True), [x, a])
    check_on_strict(lambda x: sp.polygamma(1, x) + sp.iv(1, x) + sp.ive(0.5, x), [x])
    check_on_strict(sp.gammainc, [a, x])
    check_on_strict(lambda x: sp.softmax(x, axis=0) * sp.log_softmax(x, axis=0), [x])
    # no second order on JAX arrays of what JAX lacks
    for function in (lambda x: wg.sum(sp.log_ndtr(x)), lambda x: wg.sum(sp.gammainc(x, x))):
        near(grad(function)(jnp.asarray(x)), grad(function)(x))


def test_scipy_is_imported_when_a_function_runs():
    probe = (
        "import sys, wengert as wg; wg.special.erf; wg.fft.fft\n"
        "print('scipy' in sys.modules); wg.special.erf(1.0); print('scipy' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]


# -- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: sp.polygamma(1.5, 1.0), wg.DtypeError, r"float 1.5; expected one integer"),
        (lambda: sp.polygamma(np.ones(2), 1.0), wg.DtypeError, "expected one integer"),
        (lambda: sp.polygamma(-1, 1.0), ValueError, "from 0 to 170"),
        (lambda: sp.iv(np.ones(2), 1.0), wg.DtypeError, "no derivative with respect to it"),
        (lambda: sp.ive(wg.asarray(1.0), 1.0), wg.DtypeError, "ive: the order v is Tensor"),
        (lambda: sp.yn(1.5, 1.0), wg.DtypeError, "expected one integer, such as 2"),
        (lambda: sp.multigammaln(2.0, 1.5), wg.DtypeError, "expected one integer, such as 2"),
        (lambda: sp.iv(1, 1j), wg.DtypeError, "expected real numbers"),
        (lambda: sp.softmax(np.ones(2) * 1j), wg.DtypeError, "expected real numbers"),
        (lambda: sp.logsumexp(np.ones(2), b=np.ones(2) * 1j), wg.DtypeError, "expected real"),
        (lambda: sp.logsumexp(np.ones(2), b=np.ones(3)), ValueError, r"\(2,\)"),
        (lambda: sp.softmax(np.ones(2), axis=1), IndexError, "axis 1 of an array with 1 axes"),
        (lambda: sp.softmax(np.ones((2, 2)), axis=(0, 0)), ValueError, "twice"),
        (lambda: sp.gammainc(np.ones(2), np.ones(3)), wg.ShapeError, r"\(2,\) and \(3,\)"),
        (lambda: sp.erf("x"), TypeError, "got str"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_all_minus_infinity_has_no_softmax():
    x = np.array([-INF, -INF])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(sp.softmax(x).numpy()).all() and np.isnan(scipy.special.softmax(x)).all()
