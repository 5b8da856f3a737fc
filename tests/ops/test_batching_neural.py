"""What networks are made of under vmap, against a loop over the examples.

`test_modes` does so for every operation; here are the functions that users call, with labels,
indices and masks that differ between examples, and vmap of vmap. No operation may be done one
example after the other.
"""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert import nn
from wengert.engine import examples
from wengert.ops.families import REGISTRY

SIZE = 3
RANDOM = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(op: Any, *args: Any) -> Any:
        raise AssertionError(f"{op.name} was done one by one")

    monkeypatch.setattr(examples, "one_by_one", refuse)


def numbers(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape)


def stacked(results: list[Any]) -> Any:
    if isinstance(results[0], (tuple, list)):
        return tuple(map(stacked, zip(*results, strict=True)))
    return np.stack([np.asarray(r) for r in results])


def loop(fun: Callable[..., Any], in_axes: Any) -> Callable[..., Any]:
    """Return what vmap must do, by calls of `fun` for each example."""

    def on_examples(*args: Any) -> Any:
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        size = next(len(a) for a, m in zip(args, axes, strict=True) if m is not None)
        calls = [
            fun(*[a if m is None else a[i] for a, m in zip(args, axes, strict=True)])
            for i in range(size)
        ]
        return stacked(calls)

    return on_examples


def assert_same(got: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for one, two in zip(got, expected, strict=True):
            assert_same(one, two)
        return
    np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-9, atol=1e-11)


def check(fun: Callable[..., Any], *args: Any, in_axes: Any = 0) -> None:
    """Compare values, and gradients inside and outside of vmap, with those of a loop."""
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    free = tuple(i for i, a in enumerate(args) if a.dtype.kind == "f")
    assert_same(wg.vmap(fun, axes)(*args), loop(fun, axes)(*args))

    def scalar(*given: Any) -> Any:
        y = fun(*given)
        parts = y if isinstance(y, tuple) else (y,)
        return functools.reduce(
            lambda total, y: total + wg.sum(y * y * np.cos(np.arange(y.size)).reshape(y.shape)),
            parts,
            0.0,
        )

    if not free:
        return
    inner = wg.grad(scalar, free)
    assert_same(wg.vmap(inner, axes)(*args), loop(inner, axes)(*args))

    def total(*given: Any) -> Any:
        return wg.sum(wg.vmap(scalar, axes)(*given))

    def summed(*given: Any) -> Any:
        result: Any = 0.0
        for i in range(SIZE):
            result = result + scalar(
                *[a if m is None else a[i] for a, m in zip(given, axes, strict=True)]
            )
        return result

    assert_same(wg.grad(total, free)(*args), wg.grad(summed, free)(*args))
    # twice: a derivative inside and one outside
    assert_same(
        wg.grad(lambda *a: _squares(wg.vmap(inner, axes)(*a)), free)(*args),
        wg.grad(lambda *a: _squares_of_loop(inner, axes, a), free)(*args),
    )


def _squares(parts: Any) -> Any:
    return functools.reduce(lambda total, y: total + wg.sum(y * y), parts, 0.0)


def _squares_of_loop(inner: Any, axes: Any, given: Any) -> Any:
    result: Any = 0.0
    for i in range(SIZE):
        here = [a if m is None else a[i] for a, m in zip(given, axes, strict=True)]
        result = result + _squares(inner(*here))
    return result


def subsets(count: int) -> list[tuple[int | None, ...]]:
    """Return all in_axes of arguments along 0 or not at all, with examples in one at least."""
    every = itertools.product((0, None), repeat=count)
    return [axes for axes in every if any(a is not None for a in axes)]


def given(axes: Any, *arrays: np.ndarray) -> list[np.ndarray]:
    """Return arrays of examples, and of one example where there is no axis for them."""
    return [a if m is not None else a[0] for a, m in zip(arrays, axes, strict=True)]


# -- layers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", subsets(3), ids=str)
@pytest.mark.parametrize("lead", [(), (4,), (2, 2)], ids=str)
def test_linear_with_any_examples(axes: Any, lead: Any) -> None:
    arrays = given(axes, numbers(SIZE, *lead, 3), numbers(SIZE, 3, 5), numbers(SIZE, 5))
    check(nn.linear, *arrays, in_axes=axes)


@pytest.mark.parametrize("axes", subsets(2), ids=str)
@pytest.mark.parametrize("padding", [None, 2])
@pytest.mark.parametrize("shape", [(), (4,), (2, 3)], ids=str)
def test_embedding_of_indices_and_tables_that_differ(axes: Any, padding: Any, shape: Any) -> None:
    indices = RANDOM.integers(0, 5, (SIZE, *shape)).astype(np.int32)
    arrays = given(axes, indices, numbers(SIZE, 5, 2))
    check(lambda i, w: nn.embedding(i, w, padding_idx=padding), *arrays, in_axes=axes)


def test_embedding_says_which_indices_are_out_of_range() -> None:
    with pytest.raises(IndexError, match="from 0 to 7 of 3 rows"):
        wg.vmap(lambda i: nn.embedding(i, np.ones((3, 2))))(np.array([0, 7]))


def test_one_hot_of_indices_that_differ() -> None:
    indices = RANDOM.integers(0, 4, (SIZE, 2)).astype(np.uint8)
    check(lambda i: nn.one_hot(i, 4), indices)
    got = wg.vmap(lambda i: nn.one_hot(i, 4, dtype=wg.float32))(indices)
    assert got.dtype == np.float32


def test_dropout_draws_for_each_example_as_a_loop_does() -> None:
    x = numbers(SIZE, 2, 4, 5)
    one, two = np.random.default_rng(3), np.random.default_rng(3)

    def different(fun: Any) -> Any:
        return wg.vmap(fun, randomness="different")

    got = different(different(lambda x: nn.dropout(x, 0.5, generator=one)))(x)
    expected = [[nn.dropout(x[i, j], 0.5, generator=two) for j in range(2)] for i in range(SIZE)]
    np.testing.assert_array_equal(got, np.asarray([[np.asarray(y) for y in r] for r in expected]))
    same = wg.vmap(lambda x: nn.dropout(x, 0.5, generator=one), randomness="same")(np.ones((8, 9)))
    assert len(np.unique(same, axis=0)) == 1
    with pytest.raises(ValueError, match="dropout: random numbers inside of vmap"):
        wg.vmap(lambda x: nn.dropout(x, 0.5, generator=one))(x)


# -- losses -----------------------------------------------------------------------------------

WEIGHTS = np.array([1.0, 0.5, 2.0, 3.0])
SETTINGS: list[dict[str, Any]] = [
    {},
    {"reduction": "sum"},
    {"reduction": "none"},
    {"weight": WEIGHTS},
    {"weight": WEIGHTS, "reduction": "none"},
    {"ignore_index": 2},
    {"ignore_index": 2, "reduction": "sum"},
    {"ignore_index": 2, "reduction": "none"},
    {"ignore_index": 2, "weight": WEIGHTS},
]


@pytest.mark.parametrize("axes", subsets(2), ids=str)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("function", [nn.cross_entropy, nn.nll_loss], ids=lambda f: f.__name__)
def test_losses_of_labels_that_differ(axes: Any, settings: Any, function: Any) -> None:
    logits = numbers(SIZE, 5, 4)
    labels = np.array([[0, 2, 3, 1, 2], [2, 2, 0, 0, 1], [3, 3, 3, 3, 1]])
    arrays = given(axes, logits, labels)
    check(lambda x, t: function(x, t, **settings), *arrays, in_axes=axes)


@pytest.mark.parametrize("axes", subsets(2), ids=str)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_smoothed_losses_of_labels_that_differ(axes: Any, settings: Any) -> None:
    labels = np.array([[0, 2], [2, 1], [3, 1]])
    arrays = given(axes, numbers(SIZE, 2, 4), labels)
    check(
        lambda x, t: nn.cross_entropy(x, t, label_smoothing=0.2, **settings), *arrays, in_axes=axes
    )


@pytest.mark.parametrize("axes", subsets(2), ids=str)
def test_cross_entropy_of_one_row_and_of_classes_on_another_axis(axes: Any) -> None:
    arrays = given(axes, numbers(SIZE, 4), np.array([1, 3, 0], np.uint64))
    check(nn.cross_entropy, *arrays, in_axes=axes)
    images = given(axes, numbers(SIZE, 2, 4, 3), RANDOM.integers(0, 4, (SIZE, 2, 3)))
    check(lambda x, t: nn.cross_entropy(x, t, axis=1), *images, in_axes=axes)


def test_cross_entropy_of_probabilities_that_differ() -> None:
    target = RANDOM.dirichlet(np.ones(4), (SIZE, 2))
    check(lambda x, t: nn.cross_entropy(x, t, label_smoothing=0.1), numbers(SIZE, 2, 4), target)


def test_rows_to_ignore_may_hold_anything() -> None:
    logits = numbers(SIZE, 2, 4)
    logits[0, 1], logits[2, 0] = np.nan, np.inf
    labels = np.array([[1, -100], [0, 3], [-100, 2]])
    gradient = wg.grad(nn.cross_entropy)
    got = wg.vmap(gradient)(logits, labels)
    assert_same(got, loop(gradient, 0)(logits, labels))
    assert np.isfinite(got).all()


def test_the_mean_over_no_rows_is_not_a_number() -> None:
    labels = np.array([[1, 2], [-100, -100]])
    losses = wg.vmap(nn.cross_entropy)(numbers(2, 2, 4), labels)
    assert np.isfinite(losses[0])
    assert np.isnan(losses[1])


def test_cross_entropy_says_which_labels_are_out_of_range() -> None:
    with pytest.raises(IndexError, match="labels from 0 to 4 of 4 classes"):
        wg.vmap(nn.cross_entropy)(numbers(2, 4), np.array([0, 4]))


def test_losses_with_signs_that_differ() -> None:
    signs = np.array([[1, -1], [-1, -1], [1, 1]])
    check(nn.hinge_embedding_loss, numbers(SIZE, 2), signs)
    check(nn.cosine_embedding_loss, numbers(SIZE, 2, 4), numbers(SIZE, 2, 4), signs)
    with pytest.raises(ValueError, match="other values than 1 and -1"):
        wg.vmap(nn.hinge_embedding_loss)(numbers(SIZE, 2), signs * 2)


@pytest.mark.parametrize(
    "loss",
    [
        nn.mse_loss,
        nn.huber_loss,
        nn.smooth_l1_loss,
        nn.bce_with_logits,
        lambda x, t: nn.kl_div(x, t, log_target=True),
        lambda x, t: nn.poisson_nll_loss(x, t),
        lambda x, t: nn.gaussian_nll_loss(x, t, wg.exp(x)),
        lambda x, t: nn.triplet_margin_loss(x, t, x * t),
    ],
)
@pytest.mark.parametrize("axes", subsets(2), ids=str)
def test_losses_of_numbers(loss: Any, axes: Any) -> None:
    check(loss, *given(axes, numbers(SIZE, 2, 3), numbers(SIZE, 2, 3)), in_axes=axes)


def test_gradients_of_a_network_for_each_example() -> None:
    params = [(numbers(4, 6), numbers(6)), (numbers(6, 3), numbers(3))]
    x, y = numbers(SIZE, 4), np.array([0, 2, 1])

    def loss(params: Any, x: Any, y: Any) -> Any:
        (w1, b1), (w2, b2) = params
        return nn.cross_entropy(nn.linear(nn.relu(nn.linear(x, w1, b1)), w2, b2), y)

    got = wg.vmap(wg.grad(loss), (None, 0, 0))(params, x, y)
    for i in range(SIZE):
        for mine, theirs in zip(got, wg.grad(loss)(params, x[i], y[i]), strict=True):
            assert_same(tuple(part[i] for part in mine), tuple(theirs))


# -- normalisation and attention --------------------------------------------------------------


@pytest.mark.parametrize("axes", subsets(3), ids=str)
@pytest.mark.parametrize("lead", [(), (2,), (2, 2)], ids=str)
def test_layer_norm_with_any_examples(axes: Any, lead: Any) -> None:
    arrays = given(axes, numbers(SIZE, *lead, 4), numbers(SIZE, 4), numbers(SIZE, 4))
    check(functools.partial(nn.layer_norm, eps=0.1), *arrays, in_axes=axes)
    if axes[0] is not None:
        check(lambda x: nn.layer_norm(x, axis=(0, -1) if lead else 0, eps=0.1), arrays[0])


@pytest.mark.parametrize("axes", subsets(2), ids=str)
def test_norms_of_channels(axes: Any) -> None:
    arrays = given(axes, numbers(SIZE, 2, 4, 3), numbers(SIZE, 4))
    check(lambda x, w: nn.group_norm(x, 2, w, eps=0.1), *arrays, in_axes=axes)
    check(lambda x, w: nn.instance_norm(x, w, eps=0.1), *arrays, in_axes=axes)
    check(lambda x, w: nn.rms_norm(x, w, axis=1, eps=0.1), *arrays, in_axes=axes)


def test_batch_norm_in_training_has_no_derivative_through_what_it_keeps() -> None:
    x, old = numbers(SIZE, 4, 2), np.abs(numbers(SIZE, 2))
    train = functools.partial(nn.batch_norm, training=True, eps=0.1)
    assert_same(wg.vmap(train)(x, old, old), loop(train, 0)(x, old, old))

    def kept(x: Any) -> Any:
        return wg.sum(wg.vmap(lambda x, old: train(x, old, old)[1])(x, old))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wg.UnconnectedWarning)
        np.testing.assert_array_equal(wg.grad(kept)(x), 0)
    check(lambda x: train(x)[0], x)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("axes", [(0, 0, 0, 0), (0, 0, 0, None), (None, 0, None, None),
                                  (None, None, None, 0), (None, None, 0, 0)], ids=str)  # fmt: skip
@pytest.mark.parametrize("heads", [(), (2,)], ids=str)
def test_attention_with_masks_that_differ(axes: Any, causal: bool, heads: Any) -> None:
    query, key, value = (numbers(SIZE, *heads, 4, 2) for _ in range(3))
    masks = RANDOM.random((SIZE, 4, 4)) > 0.4
    masks[1, 2] = False  # a query that sees nothing

    def attend(q: Any, k: Any, v: Any, mask: Any) -> Any:
        return nn.scaled_dot_product_attention(q, k, v, mask=mask, is_causal=causal)

    check(attend, *given(axes, query, key, value, masks), in_axes=axes)
    check(attend, *given(axes, query, key, value, numbers(SIZE, 4, 4)), in_axes=axes)


# -- windows ----------------------------------------------------------------------------------

GEOMETRIES = [
    {},
    {"padding": 1},
    {"stride": 2, "padding": 1},
    {"dilation": 2, "padding": 2},
    {"groups": 2, "padding": 1},
]


@pytest.mark.parametrize("axes", subsets(3), ids=str)
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("batch", [(), (2,)], ids=str)
def test_convolutions_with_any_examples(axes: Any, geometry: Any, batch: Any) -> None:
    groups = geometry.get("groups", 1)
    x, b = numbers(SIZE, *batch, 4, 5), numbers(SIZE, 6)
    w = numbers(SIZE, 6, 4 // groups, 3)
    check(functools.partial(nn.conv1d, **geometry), *given(axes, x, w, b), in_axes=axes)
    back = numbers(SIZE, 4, 6 // groups, 3)
    transposed = functools.partial(nn.conv_transpose1d, **geometry)
    check(transposed, *given(axes, x, back, b), in_axes=axes)


@pytest.mark.parametrize("axes", subsets(2), ids=str)
@pytest.mark.parametrize("name", ["convolve", "convolve_input", "convolve_weight"])
def test_factors_of_a_convolution_with_any_examples(axes: Any, name: str) -> None:
    entry = REGISTRY[f"nn.{name}"]
    for sample in entry.samples:
        arrays = [numbers(SIZE, *shape) for shape in sample.shapes]
        check(
            functools.partial(entry.function, **sample.params), *given(axes, *arrays), in_axes=axes
        )


@pytest.mark.parametrize("axes", subsets(3), ids=str)
def test_convolutions_of_examples_of_examples(axes: Any) -> None:
    x, w, b = numbers(2, SIZE, 3, 4, 4), numbers(2, SIZE, 2, 3, 3, 3), numbers(2, SIZE, 2)

    def loss(x: Any, w: Any, b: Any) -> Any:
        return wg.sum(wg.sin(nn.conv2d(x, w, b, padding=1)))

    for fun in (functools.partial(nn.conv2d, padding=1), wg.grad(loss, (0, 1, 2))):
        for outer in subsets(3):
            arrays = [
                a[tuple(0 if m is None else slice(None) for m in both)]
                for a, both in zip((x, w, b), zip(outer, axes, strict=True), strict=True)
            ]
            got = wg.vmap(wg.vmap(fun, axes), outer)(*arrays)
            assert_same(got, loop(loop(fun, axes), outer)(*arrays))


def test_pooling() -> None:
    x = numbers(SIZE, 2, 5, 4)
    x[1, 0, :2, :2] = 7.0  # a tie
    check(lambda x: nn.max_pool2d(x, 2), x)
    check(lambda x: nn.max_pool2d(x, 3, stride=1, padding=1), x)
    check(lambda x: nn.avg_pool2d(x, 2, ceil_mode=True), x)
    check(lambda x: nn.avg_pool2d(x, 2, padding=1, count_include_pad=False), x)
    check(lambda x: nn.adaptive_avg_pool2d(x, 3), x)
    check(lambda x: nn.adaptive_max_pool2d(x, (3, 2)), x)
    check(lambda x: nn.max_pool2d(x, 2, return_indices=True)[1], x.round().astype(int))
    check(lambda x: nn.unfold(x, (2, 3), padding=1), x)
    check(lambda x: nn.fold(x, (3, 3), 2), numbers(SIZE, 8, 4))


@pytest.mark.filterwarnings("ignore::wengert.errors.UnconnectedWarning")
@pytest.mark.parametrize("axes", subsets(2), ids=str)
def test_shares_of_the_largest_with_inputs_that_differ(axes: Any) -> None:
    """The derivative of max_pool is pushed to a cotangent that has examples or not."""
    x, g = given(axes, numbers(SIZE, 1, 6), numbers(SIZE, 1, 3))

    def pulled(x: Any, g: Any) -> Any:
        return wg.grad(lambda x: wg.sum(nn.max_pool1d(x, 2) * g))(x)

    check(pulled, x, g, in_axes=axes)


def test_images_of_another_size() -> None:
    x = numbers(SIZE, 2, 4, 3, 3)
    check(lambda x: nn.interpolate(x, 5, mode="bilinear"), x)
    check(lambda x: nn.interpolate(x, scale_factor=2), x)
    check(lambda x: nn.pixel_shuffle(x, 2), x)
    check(lambda x: nn.pixel_unshuffle(x, 3), x)
    check(lambda x: nn.glu(x, axis=1), x)


# -- examples of examples ---------------------------------------------------------------------


@pytest.mark.parametrize("labels_in", ["both", "outer", "inner"])
@pytest.mark.parametrize("settings", [{}, {"ignore_index": 1}, {"weight": WEIGHTS}], ids=str)
def test_labels_of_examples_of_examples(labels_in: str, settings: Any) -> None:
    logits, labels = numbers(2, SIZE, 5, 4), RANDOM.integers(0, 4, (2, SIZE, 5))
    inner, outer = (0, 0), (0, 0)
    if labels_in == "outer":
        labels, inner = labels[:, 0], (0, None)
    if labels_in == "inner":
        labels, outer = labels[0], (0, None)
    gradient = wg.grad(functools.partial(nn.cross_entropy, **settings))
    for fun in (functools.partial(nn.cross_entropy, **settings), gradient):
        got = wg.vmap(wg.vmap(fun, inner), outer)(logits, labels)
        assert_same(got, loop(loop(fun, inner), outer)(logits, labels))


@pytest.mark.parametrize("inner", subsets(2), ids=str)
@pytest.mark.parametrize("outer", subsets(2), ids=str)
@pytest.mark.parametrize("padding", [None, 1])
def test_embedding_of_examples_of_examples(inner: Any, outer: Any, padding: Any) -> None:
    arrays = [RANDOM.integers(0, 4, (2, SIZE, 5)), numbers(2, SIZE, 4, 2)]
    arrays = [
        a[tuple(0 if m is None else slice(None) for m in both)]
        for a, both in zip(arrays, zip(outer, inner, strict=True), strict=True)
    ]

    def loss(i: Any, w: Any) -> Any:
        return wg.sum(wg.sin(nn.embedding(i, w, padding_idx=padding)))

    for fun in (functools.partial(nn.embedding, padding_idx=padding), wg.grad(loss, 1)):
        got = wg.vmap(wg.vmap(fun, inner), outer)(*arrays)
        assert_same(got, loop(loop(fun, inner), outer)(*arrays))


def test_masks_and_pools_of_examples_of_examples() -> None:
    query = numbers(2, SIZE, 4, 2)
    masks = RANDOM.random((2, 4, 4)) > 0.4

    def attend(q: Any, mask: Any) -> Any:
        return nn.scaled_dot_product_attention(q, q, q, mask=mask)

    gradient = wg.grad(lambda q, mask: wg.sum(wg.sin(attend(q, mask))))
    for fun in (attend, gradient):
        got = wg.vmap(wg.vmap(fun, (0, None)))(query, masks)
        assert_same(got, loop(loop(fun, (0, None)), 0)(query, masks))
    x = numbers(2, SIZE, 1, 6)
    pooled = wg.grad(lambda x: wg.sum(wg.sin(nn.max_pool1d(x, 2))))
    assert_same(wg.vmap(wg.vmap(pooled))(x), loop(loop(pooled, 0), 0)(x))


# -- no examples, and other libraries ---------------------------------------------------------


def test_no_examples() -> None:
    none = np.zeros((0, 4), int)
    assert wg.vmap(lambda i: nn.embedding(i, np.ones((3, 2))))(none).shape == (0, 4, 2)
    assert wg.vmap(nn.cross_entropy)(np.ones((0, 4, 3)), none).shape == (0,)
    assert wg.vmap(lambda i: nn.one_hot(i, 3))(none).shape == (0, 4, 3)
    conv = wg.vmap(wg.grad(lambda x, w: wg.sum(nn.conv1d(x, w)), (0, 1)), (0, 0))
    x, w = conv(np.ones((0, 2, 4)), np.ones((0, 3, 2, 2)))
    assert x.shape == (0, 2, 4)
    assert w.shape == (0, 3, 2, 2)


def test_labels_and_indices_of_another_library() -> None:
    jnp = pytest.importorskip("jax.numpy")
    logits, labels = numbers(SIZE, 5, 4).astype(np.float32), RANDOM.integers(0, 4, (SIZE, 5))
    for settings in ({}, {"ignore_index": 2}):
        fun = wg.grad(functools.partial(nn.cross_entropy, **settings))
        got = wg.vmap(fun)(jnp.asarray(logits), jnp.asarray(labels))
        np.testing.assert_allclose(got, loop(fun, 0)(logits, labels), rtol=1e-5, atol=1e-6)
    table = numbers(SIZE, 4, 2).astype(np.float32)
    got = wg.vmap(nn.embedding)(jnp.asarray(labels), jnp.asarray(table))
    np.testing.assert_allclose(got, loop(nn.embedding, 0)(labels, table))
