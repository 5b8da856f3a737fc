"""Work in pieces over threads, and the passes of networks that are made of it."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pytest
import scipy.special

import wengert as wg
from wengert.backends import NUMPY, numpy_fused, numpy_kernels, threads
from wengert.ops.neural import activations, attention, losses, normalisation

RANDOM = np.random.default_rng(11)

# -- pieces -----------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 1000])
@pytest.mark.parametrize("piece", [0, 1, 8, 10_000])
def test_pieces_cover_everything_once(length, piece):
    counts = np.zeros(length, int)

    def work(start: int, stop: int) -> None:
        assert 0 < stop - start <= max(1, piece)
        counts[start:stop] += 1

    threads.in_pieces(work, length, piece)
    np.testing.assert_array_equal(counts, 1)


def test_each_thread_makes_its_scratch_once():
    made, used = [], []
    threads.in_pieces(
        lambda a, b, mine: used.append((threading.get_ident(), mine)),
        500,
        1,
        lambda: made.append(threading.get_ident()) or object(),
    )
    assert len(made) == len(set(made)) <= threads.count()
    assert len(set(used)) <= len(made)


@pytest.mark.parametrize(("given", "expected"), [("3", 3), ("2,4", 2)])
def test_omp_num_threads_decides(monkeypatch, given, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert threads.count() == expected


@pytest.mark.parametrize("given", ["", "many", "0"])
def test_without_it_the_cores_do(monkeypatch, given):
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert threads.count() == len(os.sched_getaffinity(0))


def test_an_error_in_a_piece_is_raised(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")

    def work(start: int, stop: int) -> None:
        if start == 5:
            raise ArithmeticError("in a piece")

    with pytest.raises(ArithmeticError, match="in a piece"):
        threads.in_pieces(work, 10, 1)


def test_work_may_ask_for_pieces_of_its_own(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    counts = np.zeros((20, 20), int)

    def work(start: int, stop: int) -> None:
        def inner(a: int, b: int) -> None:
            counts[start:stop, a:b] += 1

        threads.in_pieces(inner, 20, 3)

    threads.in_pieces(work, 20, 2)
    np.testing.assert_array_equal(counts, 1)


def test_pieces_run_in_the_context_of_their_caller(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    seen = []
    with np.errstate(over="raise"):
        threads.in_pieces(lambda a, b: seen.append(np.geterr()["over"]), 50, 1)
    assert set(seen) == {"raise"}


def test_many_threads_may_ask_at_once(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    x = RANDOM.standard_normal((64, 1024)).astype(np.float32)
    expected = numpy_fused.gelu(x, "none")
    results: list[Any] = [None] * 6

    def run(i: int) -> None:
        results[i] = numpy_fused.gelu(x, "none")

    workers = [threading.Thread(target=run, args=(i,)) for i in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


# -- fused passes are the same as plain ones --------------------------------------------------

#: Sizes around the smallest that is fused, and around pieces of the size set below.
SHAPES = [(40, 513), (1, 16384), (33, 7, 71), (129, 128), (130, 1024), (16384, 1)]


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    """Have several pieces, and an odd last one, in arrays of a test's size; and two threads."""
    monkeypatch.setattr(numpy_fused, "PIECE", 50_000)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")


def numbers(shape: tuple[int, ...], dtype: Any, layout: str = "C") -> np.ndarray:
    x = 3 * RANDOM.standard_normal(shape)
    if layout == "F":
        return np.asfortranarray(x, dtype)
    if layout == "stepped":
        return np.repeat(x, 2, axis=0).astype(dtype)[::2]
    return x.astype(dtype)


def plain(function: Any, monkeypatch: Any) -> Any:
    """Return what a function gives without the fused passes."""
    with monkeypatch.context() as patch:
        patch.setattr(numpy_fused, "suits", lambda *arrays: False)
        return function()


def agree(fused: Any, expected: Any, dtype: Any, scale: float = 1.0) -> None:
    tolerance = scale * (3e-6 if dtype is np.float32 else 1e-13)
    for got, want in zip(fused, expected, strict=True):
        assert got.dtype == want.dtype == dtype and got.shape == want.shape
        limit = tolerance * max(1.0, float(np.abs(want).max(initial=0)))
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=limit)


DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
EACH_SHAPE = pytest.mark.parametrize("shape", SHAPES, ids=str)
LAYOUTS = pytest.mark.parametrize("layout", ["C", "F", "stepped"])


@DTYPES
@EACH_SHAPE
@LAYOUTS
@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu(dtype, shape, layout, approximate, monkeypatch):
    x, g = numbers(shape, dtype), numbers(shape, dtype, layout)

    def both() -> Any:
        y = activations._gelu_values(NUMPY, x, approximate)
        return y, activations._gelu_rule(NUMPY, g, x, y, approximate)

    assert numpy_fused.suits(x) and numpy_fused.suits(x, g)
    agree(both(), plain(both, monkeypatch), dtype)


@DTYPES
@EACH_SHAPE
@LAYOUTS
def test_layer_norm(dtype, shape, layout, monkeypatch):
    x, g = numbers(shape, dtype), numbers(shape, dtype, layout)
    weight, bias = numbers((2, shape[-1]), dtype)

    def both() -> Any:
        y = normalisation._layer_values(NUMPY, x, weight, bias, 1e-5)
        return y, *normalisation._layer_rule(NUMPY, g, x, weight, 1e-5)

    agree(both(), plain(both, monkeypatch), dtype, scale=3)


@DTYPES
@LAYOUTS
@pytest.mark.parametrize("shape", [(9, 7, 20, 30), (2, 3, 40_000), (60, 40, 2, 2, 5)])
@pytest.mark.parametrize("shift", [0, 50])
def test_batch_norm(dtype, shape, layout, shift, monkeypatch):
    x, g = numbers(shape, dtype) + dtype(shift), numbers(shape, dtype, layout)
    weight, bias = numbers((2, shape[1]), dtype)
    axis = (0, *range(2, len(shape)))

    def both() -> Any:
        y = normalisation._channel_values(NUMPY, x, weight, bias, axis, 1e-5)
        pulled = normalisation._channel_rule(NUMPY, g, x, weight, axis, 1e-5)
        return y, *pulled, *(part._raw for part in normalisation.moments(wg.asarray(x), axis))

    agree(both(), plain(both, monkeypatch), dtype, scale=100 if shift else 10)


def test_batch_norm_in_training_computes_moments_once(monkeypatch):
    x = wg.asarray(RANDOM.standard_normal((4, 6, 70, 20)))
    calls: list[Any] = []
    compute = numpy_fused._centre
    monkeypatch.setattr(numpy_fused, "_centre", lambda *xs: calls.append(xs) or compute(*xs))
    for _ in range(2):
        _, mean, variance = wg.nn.batch_norm(x, training=True)
    assert len(calls) == 2
    np.testing.assert_allclose(mean.numpy(), x.numpy().mean((0, 2, 3)), atol=1e-12)
    np.testing.assert_allclose(variance.numpy(), x.numpy().var((0, 2, 3), ddof=1), rtol=1e-12)


def test_a_block_through_batch_norm_stays_in_its_channels():
    x, weight, bias = (
        wg.asarray(RANDOM.standard_normal(shape)) for shape in ((4, 6, 70, 20), (6,), (6,))
    )
    mask = np.zeros(x.shape)
    mask[1, 2:4, 5, 6] = 1
    with wg.GradientTape(persistent=True) as tape:
        tape.watch([x, weight, bias])
        y, _, _ = wg.nn.batch_norm(x, None, None, weight, bias, training=True)
        part, masked = wg.sum(y[1, 2:4, 5, 6]), wg.sum(y * mask)
    blocks = tape.gradient(part, [x, weight, bias], dense=False)
    assert [b.values.size for b in blocks] == [4 * 2 * 70 * 20, 2, 2]
    expected = tape.gradient(masked, [x, weight, bias])
    for got, dense in zip(tape.gradient(part, [x, weight, bias]), expected, strict=True):
        np.testing.assert_allclose(got.numpy(), dense.numpy(), atol=1e-12)


@DTYPES
@EACH_SHAPE
@pytest.mark.parametrize("shift", [0, 500, -500])
def test_cross_entropy(dtype, shape, shift, monkeypatch):
    logits = numbers(shape, dtype).reshape(-1, shape[-1]) + dtype(shift)
    labels = RANDOM.integers(0, shape[-1], len(logits))
    g = numbers(labels.shape, dtype)
    total = np.asarray(dtype(0.3))

    def both() -> Any:
        y = losses._rows_values(NUMPY, logits, labels)
        return (
            y,
            losses._rows_rule(NUMPY, g, logits, labels),
            losses._total_rule(NUMPY, total, logits, labels, 0.7),
        )

    # the plain rule rounds log(sum(exp)) to the size of the shift before it is used
    agree(both(), plain(both, monkeypatch), dtype, scale=100 if shift else 2)


@DTYPES
@EACH_SHAPE
@pytest.mark.parametrize("mask", ["none", "rows", "all"])
def test_softmax_of_attention(dtype, shape, mask, monkeypatch):
    scores, g = numbers(shape, dtype), numbers(shape, dtype)
    bias = None
    if mask != "none":
        seen = RANDOM.random(shape[-2:] if mask == "rows" else shape) < 0.5
        seen[..., 0, :] = False  # a query that sees nothing
        bias = np.where(seen, 0, -np.inf)

    def both() -> Any:
        y = attention._weights_values(NUMPY, scores, 0.4, bias)
        return y, attention._weights_rule(NUMPY, g, y, 0.4)

    agree(both(), plain(both, monkeypatch), dtype)
    if bias is not None:
        assert not both()[0][..., 0, :].any()


@DTYPES
def test_one_thread_and_whole_matrices_with_the_same_bias(dtype, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(numpy_fused, "ALONE", 3 * 32 * 16 * np.dtype(dtype).itemsize)
    scores = numbers((8, 5, 32, 16), dtype)
    bias = np.where(RANDOM.random((32, 16)) < 0.5, 0, -np.inf)
    weight, shift = numbers((16,), dtype), numbers((16,), dtype)

    def all_three() -> Any:
        y = attention._weights_values(NUMPY, scores, 0.4, bias)
        z = normalisation._layer_values(NUMPY, scores, weight, shift, 1e-5)
        return y, z, *normalisation._layer_rule(NUMPY, z, scores, weight, 1e-5)

    agree(all_three(), plain(all_three, monkeypatch), dtype, scale=10)


@pytest.mark.parametrize("case", ["F", "stepped", "small", "float16", "mixed"])
def test_what_does_not_suit_takes_the_plain_way(case):
    x = numbers((129, 128), np.float32, case if case in ("F", "stepped") else "C")
    if case == "small":
        x = x[:9]
    if case == "float16":
        x = x.astype(np.float16)
    other = x.astype(np.float64) if case == "mixed" else x
    assert not numpy_fused.suits(x, other)
    y = wg.nn.gelu(x) if case != "float16" else None
    if y is not None:
        np.testing.assert_allclose(y.numpy(), x * scipy.special.ndtr(x), rtol=1e-5, atol=1e-6)


# -- special points ---------------------------------------------------------------------------


@DTYPES
@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_at_zeros_infinities_and_nan(dtype, approximate):
    tiny = np.finfo(dtype).smallest_subnormal
    special = np.array([0, -0.0, tiny, -tiny, 1e-30, np.inf, -np.inf, 1e30, -1e30, np.nan], dtype)
    x = np.tile(special, 2000)
    y = activations._gelu_values(NUMPY, x, approximate)
    np.testing.assert_allclose(
        y[:10], np.array([0, 0, 0, 0, 5e-31, np.inf, 0, 1e30, 0, np.nan], dtype), rtol=1e-6,
        atol=tiny,
    )  # fmt: skip
    slope = activations._gelu_rule(NUMPY, np.ones_like(x), x, y, approximate)
    np.testing.assert_allclose(slope[:10], [0.5] * 5 + [1, 0, 1, 0, np.nan], rtol=1e-6, atol=1e-7)


def test_gelu_in_single_precision_is_accurate_to_two_units():
    x = np.concatenate([np.linspace(-15, 15, 400_001), RANDOM.standard_normal(200_000)])
    x = x.astype(np.float32)
    share = scipy.special.ndtr(x.astype(float))
    y = numpy_fused.gelu(x, "none")
    off = np.abs(y - x * share)
    assert (off <= 1.5e-7 * np.maximum(np.abs(x), 1e-30)).all()  # 1.3e-7 for the share itself
    slope = numpy_fused.gelu_pull(x, y, np.ones_like(x), "none")
    exact = share + x * np.exp(-0.5 * x.astype(float) ** 2) / np.sqrt(2 * np.pi)
    assert np.abs(slope - exact).max() < 4e-7


@DTYPES
def test_nothing_is_raised_that_is_no_error(dtype):
    x = np.linspace(-200, 200, 128 * 256).astype(dtype).reshape(128, 256)
    labels = np.arange(128)
    weight = np.ones(256, dtype)
    causal = np.where(np.tri(128, 256), 0, -np.inf)
    with np.errstate(all="raise"):
        for approximate in ("none", "tanh"):
            y = activations._gelu_values(NUMPY, x, approximate)
            activations._gelu_rule(NUMPY, x, x, y, approximate)
        y = losses._rows_values(NUMPY, x, labels)
        losses._rows_rule(NUMPY, y, x, labels)
        normalisation._layer_values(NUMPY, x, weight, weight, 1e-5)
        normalisation._layer_rule(NUMPY, x, x, weight, 1e-5)
        y = attention._weights_values(NUMPY, x, 1.0, causal)
        attention._weights_rule(NUMPY, x, y, 1.0)


def test_a_row_that_is_not_finite_does_not_spoil_the_others():
    x = RANDOM.standard_normal((200, 128)).astype(np.float32)
    clean = wg.nn.cross_entropy(x, np.zeros(200, int), reduction="none").numpy()
    x[3, 5], x[7, 1] = np.nan, np.inf
    x[9] = -np.inf
    got = wg.nn.cross_entropy(x, np.zeros(200, int), reduction="none").numpy()
    spoiled = np.isin(np.arange(200), [3, 7, 9])
    assert np.isnan(got[spoiled]).all()
    np.testing.assert_allclose(got[~spoiled], clean[~spoiled], rtol=1e-5)


def test_large_arrays_have_second_derivatives():
    x = RANDOM.standard_normal((129, 128))
    v = RANDOM.standard_normal(x.shape)
    weight, bias = RANDOM.standard_normal((2, 128))
    labels = RANDOM.integers(0, 128, 129)
    v3 = v.reshape(43, 3, 128)
    programs = {
        "gelu": wg.nn.gelu,
        "tanh": lambda z: wg.nn.gelu(z, approximate="tanh"),
        "layer norm": lambda z: wg.nn.layer_norm(z, weight, bias),
        "batch norm": lambda z: wg.nn.batch_norm(z.reshape(43, 3, 128), training=True)[0] * v3,
        "cross-entropy": lambda z: wg.nn.cross_entropy(z, labels, reduction="none"),
        "attention": lambda z: wg.nn.scaled_dot_product_attention(z, z, z),
    }
    for name, program in programs.items():

        def total(z: Any, f: Any = program) -> Any:
            return wg.sum(f(z) ** 2)

        hessian_v = wg.grad(lambda z, f=total: wg.sum(wg.grad(f)(z) * v))(wg.asarray(x)).numpy()
        h = 1e-5
        numeric = (
            wg.grad(total)(wg.asarray(x + h * v)).numpy()
            - wg.grad(total)(wg.asarray(x - h * v)).numpy()
        ) / (2 * h)
        np.testing.assert_allclose(
            hessian_v, numeric, rtol=1e-5, atol=1e-6 * np.abs(numeric).max(), err_msg=name
        )


def test_rows_are_added_up_as_one_by_one():
    random = np.random.default_rng(0)
    indices, values = random.integers(0, 50, 300), random.normal(size=(300, 4))
    expected = np.zeros((50, 4))
    np.add.at(expected, indices, values)
    got = numpy_kernels.scatter(values, (50, 4), (indices,))
    np.testing.assert_allclose(got, expected, atol=1e-12)
