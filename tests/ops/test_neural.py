"""Activations, layers, normalisation, losses: beyond the table of operations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as wg
from tests.ops.gradients import grad_at

RANDOM = np.random.default_rng(3)
X, W, B = RANDOM.standard_normal((4, 3)), RANDOM.standard_normal((3, 5)), RANDOM.standard_normal(5)
LOGITS, LABELS = RANDOM.standard_normal((2, 3, 4)), np.array([[0, 3, 1], [2, 2, 0]])
nn = wg.nn


# -- linear -----------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [X, X[0], X.reshape(2, 2, 3)])
@pytest.mark.parametrize("bias", [B, None], ids=["bias", "no bias"])
def test_linear(x, bias):
    given = [x, W] if bias is None else [x, W, bias]
    np.testing.assert_allclose(nn.linear(*given).numpy(), x @ W + (0 if bias is None else B))
    wg.check_grads(nn.linear, given)


def test_linear_leaves_its_arguments_alone():
    x, w, b = map(wg.asarray, (X, W, B))
    nn.linear(x, w, b)
    for tensor, before in ((x, X), (w, W), (b, B)):
        np.testing.assert_array_equal(tensor.numpy(), before)


def test_linear_promotes():
    assert nn.linear(X.astype(np.float32), W.astype(np.float32), B).dtype == wg.float64


# -- activations ------------------------------------------------------------------------------


def test_relu_at_zero():
    assert wg.grad(nn.relu)(0.0) == 0 and wg.grad(nn.relu)(1e-300) == 1
    assert np.isinf(wg.grad(lambda x: np.inf * nn.relu(x))(1.0))
    assert wg.grad(lambda x: nn.relu(x) * 0 + nn.relu(x))(-1.0) == 0


KINKS = [
    (nn.leaky_relu, 0.0, 0.01),
    (lambda x: nn.prelu(x, 0.3), 0.0, 0.3),
    (nn.relu6, 0.0, 0.0),
    (nn.relu6, 6.0, 0.0),
    (nn.hardtanh, -1.0, 0.0),
    (nn.hardtanh, 1.0, 0.0),
    (nn.hardsigmoid, -3.0, 0.0),
    (nn.hardswish, -3.0, 0.0),
    (nn.hardswish, 3.0, 1.0),
    (lambda x: nn.elu(x, alpha=0.5), 0.0, 0.5),
    (lambda x: nn.celu(x, alpha=0.5), 0.0, 1.0),
    (nn.selu, 0.0, 1.6732632423543772 * 1.0507009873554805),
    (nn.softplus, 0.0, 0.5),
    (nn.silu, 0.0, 0.5),
    (nn.gelu, 0.0, 0.5),
    (nn.mish, 0.0, 0.6),
    (nn.softsign, 0.0, 1.0),
]


@pytest.mark.parametrize(("function", "x", "slope"), KINKS)
def test_slopes_at_kinks_and_centres(function, x, slope):
    assert wg.grad(function)(x) == pytest.approx(slope, rel=1e-14, abs=1e-15)


#: What each function gives at -inf and inf, and its slopes there.
ENDS = [
    ("relu", 0, math.inf, 0, 1),
    ("leaky_relu", -math.inf, math.inf, 0.01, 1),
    ("elu", -1, math.inf, 0, 1),
    ("celu", -1, math.inf, 0, 1),
    ("relu6", 0, 6, 0, 0),
    ("hardtanh", -1, 1, 0, 0),
    ("hardsigmoid", 0, 1, 0, 0),
    ("hardswish", 0, math.inf, 0, 1),
    ("softplus", 0, math.inf, 0, 1),
    ("silu", 0, math.inf, 0, 1),
    ("mish", 0, math.inf, 0, 1),
    ("gelu", 0, math.inf, 0, 1),
    ("softsign", -1, 1, 0, 0),
    ("sigmoid", 0, 1, 0, 0),
    ("log_sigmoid", -math.inf, 0, 1, 0),
]


@pytest.mark.parametrize(("name", "low", "high", "low_slope", "high_slope"), ENDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_and_slopes_at_infinity(name, low, high, low_slope, high_slope, dtype):
    function = getattr(nn, name)
    with np.errstate(all="ignore"):
        x = wg.asarray(np.array([-np.inf, np.inf, -1e20, 1e20], dtype))
        with wg.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        slopes = tape.gradient(y, x).numpy()
    np.testing.assert_allclose(y.numpy()[:2], [low, high], rtol=1e-6)
    np.testing.assert_allclose(slopes[:2], [low_slope, high_slope], rtol=1e-6)
    np.testing.assert_allclose(slopes[2:], [low_slope, high_slope], rtol=1e-6, atol=1e-30)


def test_gelu_tanh_at_infinity():
    with np.errstate(all="ignore"):
        x = np.array([-np.inf, np.inf, 0.0])
        value = nn.gelu(x, approximate="tanh").numpy()
        (slope,) = grad_at(lambda v: nn.gelu(v, approximate="tanh"), x)
    np.testing.assert_array_equal(value, [0, np.inf, 0])
    np.testing.assert_allclose(slope, [0, 1, 0.5])


@settings(deadline=None, max_examples=200)
@given(st.floats(-700, 700))
def test_smooth_activations_are_accurate_everywhere(x):
    """Against formulas that are right on each side, relative to the result."""
    e = math.exp(-abs(x))
    share = 1 / (1 + e) if x >= 0 else e / (1 + e)
    assert float(nn.silu(x)) == pytest.approx(x * share, rel=1e-14)
    assert float(nn.softplus(x)) == pytest.approx(max(x, 0) + math.log1p(e), rel=1e-14)
    assert float(nn.gelu(x)) == pytest.approx(x * scipy.special.ndtr(x), rel=1e-14)
    assert float(wg.grad(nn.softplus)(x)) == pytest.approx(share, rel=1e-14)


def test_selu_keeps_mean_and_variance():
    x = scipy.special.ndtri((np.arange(200_000) + 0.5) / 200_000)
    y = nn.selu(x).numpy()
    assert abs(y.mean()) < 1e-4 and abs(y.var() - 1) < 1e-3


def test_softmax_and_relatives_are_along_the_last_axis():
    np.testing.assert_allclose(nn.softmax(X).numpy(), scipy.special.softmax(X, axis=-1))
    np.testing.assert_allclose(nn.log_softmax(X).numpy(), scipy.special.log_softmax(X, axis=-1))
    np.testing.assert_allclose(
        nn.softmin(X, axis=0).numpy(), scipy.special.softmax(-X, axis=0), rtol=1e-14
    )
    wg.check_grads(nn.softmin, [X], order=2)


@pytest.mark.parametrize(
    "function",
    [nn.leaky_relu, nn.elu, nn.selu, nn.celu, nn.softplus, nn.gelu, nn.sigmoid, nn.log_sigmoid],
)
def test_activations_take_integers_and_refuse_complex_numbers(function):
    assert function(np.array([1, 2])).dtype == wg.float64
    with pytest.raises(wg.DtypeError, match="complex128; expected real"):
        function(np.array([1j]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nn.gelu(X, approximate="erf"), ValueError, "'erf'; expected 'none' or 'tanh'"),
        (lambda: nn.softplus(X, beta=0), ValueError, "beta is 0; expected a number above 0"),
        (lambda: nn.celu(X, alpha=-1), ValueError, "alpha is -1; expected a number above 0"),
        (lambda: nn.hardtanh(X, 1, -1), ValueError, "from 1 to -1"),
        (
            lambda: nn.glu(X),
            wg.ShapeError,
            r"x of shape \(4, 3\); expected an even length of axis 1",
        ),
        (lambda: nn.prelu(X, B), wg.ShapeError, r"\(4, 3\) and \(5,\) do not broadcast"),
        (
            lambda: nn.linear(X, W.T, B),
            wg.ShapeError,
            r"x of shape \(4, 3\), weight of shape \(5, 3\), bias of shape \(5,\)",
        ),
        (lambda: nn.linear(X, W, B[:2]), wg.ShapeError, r"bias of shape \(2,\); expected"),
        (
            lambda: nn.linear(X, W[:2]),
            wg.ShapeError,
            r"x of shape \(4, 3\), weight of shape \(2, 5\)",
        ),
    ],
)
def test_bad_input_of_activations_and_linear(call, error, words):
    with pytest.raises(error, match=words):
        call()


# -- embedding and one-hot --------------------------------------------------------------------


@pytest.mark.parametrize("count", [5, 300], ids=["few", "many"])
def test_embedding_adds_up_rows_that_repeat(count):
    weight = RANDOM.standard_normal((7, 3))
    indices = RANDOM.integers(0, 7, (count, 2))
    np.testing.assert_array_equal(nn.embedding(indices, weight).numpy(), weight[indices])
    factors = RANDOM.standard_normal((count, 2, 3))
    (got,) = grad_at(lambda w: nn.embedding(indices, w) * factors, weight)
    expected = np.zeros_like(weight)
    np.add.at(expected, indices, factors)
    np.testing.assert_allclose(got, expected, atol=1e-12)
    (padded,) = grad_at(lambda w: nn.embedding(indices, w, padding_idx=-1) * factors, weight)
    np.testing.assert_array_equal(padded[6], 0)
    np.testing.assert_allclose(padded[:6], expected[:6], atol=1e-12)


def test_embedding_keeps_its_own_copy_of_the_indices():
    indices, weight = np.array([0, 1]), wg.asarray(np.eye(3))
    with wg.GradientTape() as tape:
        tape.watch(weight)
        y = nn.embedding(indices, weight)
    indices[:] = 2
    np.testing.assert_array_equal(tape.gradient(y, weight).numpy()[2], 0)


def test_one_hot():
    np.testing.assert_array_equal(
        nn.one_hot(np.array([[0, 2]]), 3, dtype=np.float32).numpy(), [[[1, 0, 0], [0, 0, 1]]]
    )
    assert nn.one_hot([1], 2).dtype == wg.float64 and nn.one_hot([1], 2, dtype=int).dtype == int


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nn.embedding([0, 5], W), IndexError, "from 0 to 5 of 3 rows"),
        (lambda: nn.embedding([-1], W), IndexError, "from -1 to -1 of 3 rows"),
        (lambda: nn.embedding([0.0], W), wg.DtypeError, "indices of float64; expected integers"),
        (lambda: nn.embedding([0], B), wg.ShapeError, r"shape \(5,\); expected a matrix"),
        (lambda: nn.embedding([0], W, padding_idx=3), IndexError, "padding_idx is 3, of 3 rows"),
        (lambda: nn.one_hot([3], 3), IndexError, "from 3 to 3 of 3 classes"),
        (lambda: nn.one_hot([0.5], 3), wg.DtypeError, "indices of float64"),
    ],
)
def test_bad_indices(call, error, words):
    with pytest.raises(error, match=words):
        call()


# -- dropout ----------------------------------------------------------------------------------


def test_dropout_drops_and_scales():
    x = np.ones((300, 200), np.float32)
    y = nn.dropout(x, 0.25, generator=np.random.default_rng(0)).numpy()
    assert y.dtype == np.float32
    np.testing.assert_allclose(np.unique(y), [0, 1 / 0.75], rtol=1e-6)
    assert abs(y.mean() - 1) < 0.02
    again = nn.dropout(x, 0.25, generator=np.random.default_rng(0)).numpy()
    np.testing.assert_array_equal(y, again)


def test_the_derivative_of_dropout_is_what_it_did():
    x = RANDOM.standard_normal((30, 20))
    drop = lambda v: nn.dropout(v, 0.5, generator=np.random.default_rng(1))  # noqa: E731
    np.testing.assert_array_equal(grad_at(drop, x)[0], drop(np.ones_like(x)).numpy())
    infinite = np.full(100, np.inf)
    assert not np.isnan(drop(infinite).numpy()).any()


def test_dropout_without_training_or_rate_is_the_identity():
    for options in ({"rate": 0.5, "training": False}, {"rate": 0.0}):
        np.testing.assert_array_equal(nn.dropout(X, generator=None, **options).numpy(), X)


@pytest.mark.parametrize("rate", [-0.1, 1.0, 2, math.nan])
def test_rates_that_are_none(rate):
    with pytest.raises(ValueError, match="expected at least 0 and below 1"):
        nn.dropout(X, rate, generator=np.random.default_rng(0))


def test_dropout_needs_a_generator():
    with pytest.raises(TypeError, match=r"int; expected a np.random.Generator, such as"):
        nn.dropout(X, 0.5, generator=0)


# -- normalisation ----------------------------------------------------------------------------

IMAGES = RANDOM.standard_normal((3, 4, 2, 5))


def standardised(x, axis, eps=1e-5):
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)


@pytest.mark.parametrize("axis", [-1, 0, 1, (2, 3), (1, 3), (0, 2), (0, 1, 2, 3)])
def test_layer_norm_over_any_axes(axis):
    over = tuple(sorted(a % 4 for a in np.atleast_1d(axis)))
    shape = tuple(IMAGES.shape[a] for a in over)
    weight, bias = RANDOM.standard_normal((2, *shape))
    wide = tuple(n if a in over else 1 for a, n in enumerate(IMAGES.shape))
    expected = standardised(IMAGES, over) * weight.reshape(wide) + bias.reshape(wide)
    got = nn.layer_norm(IMAGES, weight, bias, axis=axis)
    np.testing.assert_allclose(got.numpy(), expected, atol=1e-12)
    np.testing.assert_allclose(
        nn.layer_norm(IMAGES, axis=axis).numpy(), standardised(IMAGES, over), atol=1e-12
    )
    wg.check_grads(lambda *a: nn.layer_norm(*a, axis=axis), [IMAGES, weight, bias], order=2)


@pytest.mark.parametrize("function", [nn.layer_norm, nn.rms_norm, nn.normalize])
def test_norms_of_constants_have_finite_derivatives(function):
    for x in (np.zeros((2, 3)), np.full((2, 3), 0.1)):
        (slope,) = grad_at(function, x)
        assert np.isfinite(slope).all()


def test_rms_norm():
    weight = RANDOM.standard_normal(5)
    expected = IMAGES / np.sqrt((IMAGES**2).mean(-1, keepdims=True) + 1e-6) * weight
    np.testing.assert_allclose(nn.rms_norm(IMAGES, weight).numpy(), expected)
    wg.check_grads(nn.rms_norm, [IMAGES, weight], order=2)


@pytest.mark.parametrize("axis", [1, -1])
def test_batch_norm_in_training_and_after(axis):
    x = np.moveaxis(IMAGES, 1, axis)
    weight, bias, mean = RANDOM.standard_normal((3, 4))
    variance = np.abs(RANDOM.standard_normal(4))
    wide = [1] * 4
    wide[axis] = 4
    others = tuple(a for a in range(4) if a != axis % 4)
    w, b, m, v = (a.reshape(wide) for a in (weight, bias, mean, variance))
    y, new_mean, new_variance = nn.batch_norm(
        x, mean, variance, weight, bias, axis=axis, training=True, momentum=0.3
    )
    np.testing.assert_allclose(y.numpy(), standardised(x, others) * w + b, atol=1e-12)
    np.testing.assert_allclose(new_mean.numpy(), 0.7 * mean + 0.3 * x.mean(others))
    np.testing.assert_allclose(new_variance.numpy(), 0.7 * variance + 0.3 * x.var(others, ddof=1))
    y = nn.batch_norm(x, mean, variance, weight, bias, axis=axis)
    np.testing.assert_allclose(y.numpy(), (x - m) / np.sqrt(v + 1e-5) * w + b)
    wg.check_grads(
        lambda *a: nn.batch_norm(a[0], None, None, *a[1:], axis=axis, training=True)[0],
        [x, weight, bias],
        order=2,
    )


def test_no_derivative_follows_the_statistics_of_batch_norm():
    x = wg.asarray(IMAGES)
    with wg.GradientTape() as tape:
        tape.watch(x)
        _, mean, _ = nn.batch_norm(x, training=True)
    np.testing.assert_allclose(mean.numpy(), IMAGES.mean((0, 2, 3)))
    assert mean._node is None
    assert tape is not None


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_group_norm(groups):
    weight, bias = RANDOM.standard_normal((2, 4))
    rows = standardised(IMAGES.reshape(3, groups, -1), 2).reshape(IMAGES.shape)
    expected = rows * weight[:, None, None] + bias[:, None, None]
    np.testing.assert_allclose(nn.group_norm(IMAGES, groups, weight, bias).numpy(), expected)
    wg.check_grads(lambda *a: nn.group_norm(a[0], groups, *a[1:]), [IMAGES, weight, bias], order=2)


def test_instance_norm_is_group_norm_of_single_channels():
    np.testing.assert_allclose(
        nn.instance_norm(IMAGES).numpy(), nn.group_norm(IMAGES, 4).numpy(), atol=1e-14
    )


def test_normalize():
    x = np.array([[3.0, 4.0], [0.0, 0.0], [1e-200, 0.0]])
    np.testing.assert_allclose(nn.normalize(x).numpy(), [[0.6, 0.8], [0, 0], [1e-188, 0]])
    slope = grad_at(nn.normalize, x)[0]
    np.testing.assert_allclose(slope[1], 1e12)
    wg.check_grads(lambda v: nn.normalize(v, axis=(0, 1)), [X], order=2)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nn.layer_norm(X, W), wg.ShapeError, r"weight of shape \(3, 5\).*expected \(3,\)"),
        (lambda: nn.layer_norm(X, None, B), wg.ShapeError, r"bias of shape \(5,\)"),
        (lambda: nn.layer_norm(X, eps=-1), ValueError, "eps is -1; expected at least 0"),
        (lambda: nn.layer_norm(X, axis=2), np.exceptions.AxisError, "axis 2 of an array with 2"),
        (lambda: nn.rms_norm(X, B), wg.ShapeError, r"expected \(3,\)"),
        (lambda: nn.batch_norm(X), ValueError, "needs mean and variance unless training"),
        (lambda: nn.batch_norm(X, B, B), wg.ShapeError, r"mean of shape \(5,\)"),
        (
            lambda: nn.batch_norm(X[:1], training=True),
            wg.ShapeError,
            "two numbers or more for each channel",
        ),
        (lambda: nn.batch_norm(X, training=True, momentum=2), ValueError, "momentum is 2"),
        (lambda: nn.group_norm(IMAGES, 3), ValueError, "3 groups of 4 channels; expected a div"),
        (lambda: nn.group_norm(IMAGES, 0), ValueError, "0 groups of 4 channels"),
        (lambda: nn.group_norm(IMAGES, 2, B), wg.ShapeError, r"expected \(4,\)"),
        (lambda: nn.group_norm(B, 1), wg.ShapeError, "expected instances and channels"),
        (lambda: nn.instance_norm(X), wg.ShapeError, "instances, channels and further axes"),
        (lambda: nn.normalize(X, eps=0), ValueError, "eps is 0; expected a number above 0"),
    ],
)
def test_bad_input_of_normalisation(call, error, words):
    with pytest.raises(error, match=words):
        call()


# -- cross-entropy ----------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy(reduction):
    shifted = LOGITS - np.log(np.exp(LOGITS).sum(axis=-1, keepdims=True))
    losses = -np.take_along_axis(shifted, LABELS[..., None], axis=-1)[..., 0]
    expected = losses if reduction == "none" else getattr(losses, reduction)()
    got = nn.cross_entropy(LOGITS, LABELS, reduction=reduction)
    np.testing.assert_allclose(got.numpy(), expected)
    wg.check_grads(lambda z: nn.cross_entropy(z, LABELS, reduction=reduction), [LOGITS])
    moved = nn.cross_entropy(np.moveaxis(LOGITS, -1, 1), LABELS, axis=1, reduction=reduction)
    np.testing.assert_allclose(moved.numpy(), expected)


def test_cross_entropy_of_large_logits_is_finite():
    value, slope = wg.value_and_grad(nn.cross_entropy)(np.array([[1e4, -1e4]]), np.array([1]))
    assert value == 2e4
    np.testing.assert_allclose(slope, [[1, -1]])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_indices_and_their_probabilities_agree(reduction, smoothing, weighted):
    weight = np.array([0.5, 1.0, 2.0, 0.1]) if weighted else None
    options = {"weight": weight, "label_smoothing": smoothing}
    by_index = nn.cross_entropy(LOGITS, LABELS, reduction=reduction, **options).numpy()
    shares = nn.one_hot(LABELS, 4)
    by_share = nn.cross_entropy(LOGITS, shares, reduction=reduction, **options).numpy()
    if reduction == "mean" and weighted:  # the mean is weighted only for indices
        by_index = by_index * weight[LABELS].sum() / LABELS.size
    np.testing.assert_allclose(by_index, by_share)


@pytest.mark.parametrize("options", [{}, {"weight": np.arange(1.0, 5)}, {"label_smoothing": 0.2}])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_what_is_ignored_does_not_matter(options, reduction):
    logits, labels = LOGITS.copy(), LABELS.copy()
    labels[0, 1] = labels[1, 2] = -100
    kept = labels != -100
    logits[~kept] = np.nan
    loss = lambda z: nn.cross_entropy(z, labels, reduction=reduction, **options)  # noqa: E731
    expected = nn.cross_entropy(logits[kept], labels[kept], reduction=reduction, **options).numpy()
    got = loss(logits).numpy()
    if reduction == "none":
        np.testing.assert_array_equal(got[~kept], 0)
        got = got[kept]
    np.testing.assert_allclose(got, expected)
    (slope,) = grad_at(loss, logits)
    np.testing.assert_array_equal(slope[~kept], 0)
    assert np.isfinite(slope).all()


def test_ignore_index_may_be_a_class():
    got = nn.cross_entropy(LOGITS, LABELS, ignore_index=2)
    kept = LABELS != 2
    np.testing.assert_allclose(got.numpy(), nn.cross_entropy(LOGITS[kept], LABELS[kept]).numpy())


@pytest.mark.parametrize("options", [{}, {"weight": np.ones(4)}, {"label_smoothing": 0.2}])
def test_a_mean_over_nothing_is_nan(options):
    nothing = np.full(LABELS.shape, -100)
    assert np.isnan(nn.cross_entropy(LOGITS, nothing, **options).numpy())
    assert nn.cross_entropy(LOGITS, nothing, reduction="sum", **options).numpy() == 0
    (slope,) = grad_at(lambda z: nn.cross_entropy(z, nothing, **options), LOGITS)
    np.testing.assert_array_equal(slope, 0)
    assert np.isnan(nn.cross_entropy(np.zeros((0, 3)), np.zeros(0, int)).numpy())


def test_cross_entropy_has_derivatives_by_probabilities_and_weights():
    shares = scipy.special.softmax(RANDOM.standard_normal(LOGITS.shape), -1)
    weight = np.arange(1.0, 5)
    wg.check_grads(
        lambda z, t, w: nn.cross_entropy(z, t, weight=w, label_smoothing=0.1),
        [LOGITS, shares, weight],
        order=2,
    )
    wg.check_grads(lambda z, w: nn.cross_entropy(z, LABELS, weight=w), [LOGITS, weight], order=2)


def test_nll_loss_of_log_softmax_is_cross_entropy():
    weight = np.arange(1.0, 5)
    for options in ({}, {"weight": weight}, {"reduction": "none"}, {"ignore_index": 2}):
        np.testing.assert_allclose(
            nn.nll_loss(nn.log_softmax(LOGITS), LABELS, **options).numpy(),
            nn.cross_entropy(LOGITS, LABELS, **options).numpy(),
        )
    moved = np.moveaxis(LOGITS, -1, 0)
    np.testing.assert_allclose(
        nn.nll_loss(moved, LABELS, axis=0).numpy(), nn.nll_loss(LOGITS, LABELS).numpy()
    )


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        (LABELS * 1.0, wg.DtypeError, r"indices of classes in shape \(2, 3\), or probabilities"),
        (LABELS[0], wg.ShapeError, r"\(3,\).*\(2, 3, 4\)"),
        (LABELS + 1, IndexError, "from 1 to 4 of 4 classes"),
        (LABELS - 1, IndexError, "from -1 to 2 of 4 classes"),
    ],
)
@pytest.mark.parametrize("loss", [nn.cross_entropy, nn.nll_loss])
def test_labels_that_are_wrong(loss, labels, error, words):
    if loss is nn.nll_loss and error is wg.DtypeError:
        words = "expected integers"
    with pytest.raises(error, match=words):
        loss(LOGITS, labels)
    with pytest.raises(ValueError, match="'average'"):
        loss(LOGITS, LABELS, reduction="average")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nn.cross_entropy(LOGITS, LABELS, weight=B), wg.ShapeError, r"expected \(4,\)"),
        (lambda: nn.cross_entropy(LOGITS, LABELS, label_smoothing=2), ValueError, "smoothing is 2"),
        (lambda: nn.cross_entropy(1.0, 0), wg.DtypeError, "an axis of classes"),
        (lambda: nn.cross_entropy(LOGITS.astype(int), LABELS), wg.DtypeError, "logits of int"),
        (lambda: nn.cross_entropy(LOGITS, LABELS, axis=3), np.exceptions.AxisError, "axis 3"),
    ],
)
def test_bad_options_of_cross_entropy(call, error, words):
    with pytest.raises(error, match=words):
        call()


# -- other losses -----------------------------------------------------------------------------

T = RANDOM.standard_normal((4, 3))
P, Q = (0.2 + 0.6 * scipy.special.expit(a) for a in (X, T))  # well inside, for differences
LOSSES = {
    "mse_loss": (nn.mse_loss, (X, T), (X - T) ** 2),
    "l1_loss": (nn.l1_loss, (X, T), abs(X - T)),
    "huber_loss": (
        lambda *a, **o: nn.huber_loss(*a, delta=0.5, **o),
        (X, T),
        np.where(abs(X - T) < 0.5, (X - T) ** 2 / 2, 0.5 * (abs(X - T) - 0.25)),
    ),
    "smooth_l1_loss": (
        lambda *a, **o: nn.smooth_l1_loss(*a, beta=0.5, **o),
        (X, T),
        np.where(abs(X - T) < 0.5, (X - T) ** 2, abs(X - T) - 0.25),
    ),
    "smooth_l1_loss 0": (lambda *a, **o: nn.smooth_l1_loss(*a, beta=0, **o), (X, T), abs(X - T)),
    "bce_loss": (nn.bce_loss, (P, Q), -Q * np.log(P) - (1 - Q) * np.log(1 - P)),
    "bce_with_logits": (
        nn.bce_with_logits,
        (scipy.special.logit(P), Q),
        -Q * np.log(P) - (1 - Q) * np.log(1 - P),
    ),
    "bce_with_logits weights": (
        lambda *a, **o: nn.bce_with_logits(*a, weight=X[:, :1] ** 2, pos_weight=B[:3] ** 2, **o),
        (scipy.special.logit(P), Q),
        X[:, :1] ** 2 * (-(B[:3] ** 2) * Q * np.log(P) - (1 - Q) * np.log(1 - P)),
    ),
    "kl_div": (nn.kl_div, (np.log(P), Q), Q * (np.log(Q) - np.log(P))),
    "kl_div log": (
        lambda *a, **o: nn.kl_div(*a, log_target=True, **o),
        (np.log(P), np.log(Q)),
        Q * (np.log(Q) - np.log(P)),
    ),
    "gaussian_nll_loss": (
        nn.gaussian_nll_loss,
        (X, T, P),
        (np.log(P) + (X - T) ** 2 / P) / 2,
    ),
    "gaussian_nll_loss full": (
        lambda *a, **o: nn.gaussian_nll_loss(*a, full=True, **o),
        (X, T, P[:, :1]),
        (np.log(2 * np.pi * P[:, :1]) + (X - T) ** 2 / P[:, :1]) / 2,
    ),
    "poisson_nll_loss": (nn.poisson_nll_loss, (X, Q), np.exp(X) - Q * X),
    "poisson_nll_loss rate": (
        lambda *a, **o: nn.poisson_nll_loss(*a, log_input=False, **o),
        (P, Q),
        P - Q * np.log(P),
    ),
    "cosine_embedding_loss": (
        lambda a, b, **o: nn.cosine_embedding_loss(a, b, [1, -1, -1, 1], margin=0.1, **o),
        (X, T),
        np.where(
            np.array([1, -1, -1, 1]) == 1,
            1 - (c := (X * T).sum(1) / np.sqrt((X**2).sum(1) * (T**2).sum(1))),
            np.maximum(c - 0.1, 0),
        ),
    ),
    "hinge_embedding_loss": (
        lambda a, **o: nn.hinge_embedding_loss(a, np.sign(T), margin=0.5, **o),
        (X,),
        np.where(T > 0, X, np.maximum(0.5 - X, 0)),
    ),
    "triplet_margin_loss": (
        lambda *a, **o: nn.triplet_margin_loss(*a, margin=0.7, **o),
        (X, T, P),
        np.maximum(np.linalg.norm(X - T, axis=1) - np.linalg.norm(X - P, axis=1) + 0.7, 0),
    ),
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses(name, reduction):
    loss, arrays, expected = LOSSES[name]
    expected = expected if reduction == "none" else getattr(np, reduction)(expected)
    np.testing.assert_allclose(loss(*arrays, reduction=reduction).numpy(), expected, rtol=1e-12)
    wg.check_grads(lambda *a: loss(*a, reduction=reduction), list(arrays), order=2)
    single = loss(*(a.astype(np.float32) for a in arrays), reduction=reduction)
    if "weights" not in name:
        assert single.dtype == wg.float32


@pytest.mark.parametrize("name", LOSSES)
def test_losses_know_their_reductions(name):
    loss, arrays, _ = LOSSES[name]
    with pytest.raises(ValueError, match="'average'; expected 'mean', 'sum' or 'none'"):
        loss(*arrays, reduction="average")


def test_binary_cross_entropy_at_the_ends():
    x, t = np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 1.0])
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(nn.bce_loss(x, t, reduction="none").numpy(), [0, 0, np.inf])
    far = np.array([-1e3, 1e3, 1e3])
    got = nn.bce_with_logits(far, np.array([0.0, 1.0, 0.0]), reduction="none").numpy()
    np.testing.assert_array_equal(got, [0, 0, 1e3])
    assert nn.bce_with_logits(50.0, 1.0).numpy() == pytest.approx(math.exp(-50), rel=1e-12)


def test_kinks_of_losses_take_the_least_slope():
    zero = np.zeros((2, 3))
    for loss in (nn.l1_loss, nn.mse_loss, nn.huber_loss):
        np.testing.assert_array_equal(grad_at(lambda x, f=loss: f(x, zero), zero)[0], 0)
    for g in grad_at(nn.triplet_margin_loss, zero, zero, zero):
        np.testing.assert_array_equal(g, 0)


def test_cosine_similarity():
    np.testing.assert_allclose(
        nn.cosine_similarity(X, T, axis=0).numpy(),
        (X * T).sum(0) / np.sqrt((X**2).sum(0) * (T**2).sum(0)),
    )
    zero = np.zeros(3)
    assert nn.cosine_similarity(zero, zero).numpy() == 0
    assert all(np.isfinite(g).all() for g in grad_at(nn.cosine_similarity, zero, X[0]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: nn.mse_loss(X, X[:, :1]),
            wg.ShapeError,
            r"x of shape \(4, 3\), target of shape \(4, 1\)",
        ),
        (lambda: nn.l1_loss(X, 1.0), wg.ShapeError, "expected equal shapes"),
        (lambda: nn.bce_loss(P, Q, weight=W), wg.ShapeError, r"weight of shape \(3, 5\)"),
        (lambda: nn.bce_with_logits(X, Q, pos_weight=B), wg.ShapeError, r"shape \(5,\)"),
        (lambda: nn.kl_div(X, X[0]), wg.ShapeError, "expected equal shapes"),
        (lambda: nn.huber_loss(X, T, delta=0), ValueError, "delta is 0"),
        (lambda: nn.smooth_l1_loss(X, T, beta=-1), ValueError, "beta is -1"),
        (lambda: nn.gaussian_nll_loss(X, T, np.ones((2, 4, 3))), wg.ShapeError, "broadcast"),
        (lambda: nn.cosine_embedding_loss(X, T, [1, 0, 1, 1]), ValueError, "than 1 and -1"),
        (lambda: nn.cosine_embedding_loss(X, T, [1, 1]), wg.ShapeError, r"expected \(4,\)"),
        (lambda: nn.triplet_margin_loss(X, T, B), wg.ShapeError, r"negative of shape \(5,\)"),
        (lambda: nn.mse_loss(X * 1j, T), wg.DtypeError, "complex128; expected real"),
    ],
)
def test_bad_input_of_losses(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("low", [-1e4, -1e8, -np.inf])
def test_cross_entropy_of_a_label_that_is_far_off(low, dtype):
    z = np.array([[0.3, 0.1, low]], dtype)

    def gradient(reduction):
        return wg.grad(
            lambda z: wg.sum(wg.nn.cross_entropy(z, np.array([2]), reduction=reduction))
        )(z)

    e = np.exp(z[0, :2].astype(float))
    with np.errstate(all="ignore"):
        for reduction in ("none", "sum"):
            np.testing.assert_allclose(gradient(reduction)[0], [*e / e.sum(), -1], rtol=1e-6)


def test_cross_entropy_keeps_its_digits():
    z = np.array([[1000.0, 988.0]], np.float32)
    assert float(wg.nn.cross_entropy(z, np.array([0]))) == pytest.approx(np.exp(-12), rel=2e-2)


def test_cosine_similarity_broadcasts():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    expected = x.sum(axis=1) / np.linalg.norm(x, axis=1) / np.sqrt(2)
    np.testing.assert_allclose(wg.nn.cosine_similarity(x, np.ones((2, 1))), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", [np.asarray, lambda a: np.asfortranarray(a.reshape(250, 80))])
def test_the_logistic_loss_of_large_arrays_is_that_of_small_ones(dtype, layout):
    """Large arrays go in pieces, and their rule too."""
    random = np.random.default_rng(0)
    x = layout((8 * random.standard_normal(20_000)).astype(dtype))
    target = layout(random.random(20_000).astype(dtype))
    found = nn.bce_with_logits(wg.asarray(x), target, reduction="none")
    expected = np.logaddexp(np.float64(x), 0) - np.float64(x) * np.float64(target)
    tolerance = 1e-13 if dtype is np.float64 else 1e-5
    np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)
    weights = random.standard_normal(x.shape).astype(dtype)
    value = wg.grad(lambda x: wg.sum(weights * nn.bce_with_logits(x, target, reduction="none")))(x)
    share = weights * (1 / (1 + np.exp(-np.float64(x))) - target)
    np.testing.assert_allclose(value, share, rtol=tolerance, atol=10 * tolerance)
    mean = wg.grad(lambda x: nn.bce_with_logits(x, target))(x)
    np.testing.assert_allclose(mean, share / weights / x.size, rtol=1e-2, atol=tolerance)


def test_the_logistic_loss_keeps_small_numbers():
    x, target = np.array([40.0, -40.0, 800.0, -800.0]), np.array([1.0, 0.0, 1.0, 0.0])
    loss, gradient = wg.value_and_grad(
        lambda x: wg.sum(nn.bce_with_logits(x, target, reduction="none") * np.array([1, 2, 3, 4]))
    )(x)
    assert loss == pytest.approx(3 * math.exp(-40), rel=1e-12)
    np.testing.assert_allclose(gradient, [-math.exp(-40), 2 * math.exp(-40), 0, 0], rtol=1e-12)


def test_the_second_derivative_of_the_logistic_loss():
    x = np.array([0.0, 1.0, -2.0, 30.0])
    found = wg.hessian_diagonal(lambda x: nn.bce_with_logits(x, x * 0 + 0.3, reduction="sum"))(x)
    share = 1 / (1 + np.exp(-x))
    np.testing.assert_allclose(found, share * (1 - share), rtol=1e-9, atol=1e-15)
