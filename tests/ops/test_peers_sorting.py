"""Order, segments, running operations and gamma samples: as PyTorch has them, and on its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg

pytestmark = pytest.mark.peers
torch: Any = pytest.importorskip("torch")

IDS = np.array([2, 0, 2, 1, 0, 2])
X = np.array([[0.3, -1.0], [1.5, 1.1], [0.9, 2.5], [0.7, 0.2], [-0.4, 3.0], [2.2, -0.6]])


def _reduced(how: str) -> Any:
    def call(x: Any) -> Any:
        index = torch.tensor(IDS)[:, None].expand(6, 2)
        blank = torch.zeros(3, 2, dtype=x.dtype)
        return blank.scatter_reduce(0, index, x, how, include_self=False)

    return call


#: Ours, PyTorch's, and an argument.
SAME: dict[str, tuple[Any, Any, np.ndarray]] = {
    "segment_sum": (lambda x: wg.segment_sum(x, IDS), _reduced("sum"), X),
    "segment_mean": (lambda x: wg.segment_mean(x, IDS), _reduced("mean"), X),
    "segment_prod": (lambda x: wg.segment_prod(x, IDS), _reduced("prod"), X),
    "segment_prod at zeros": (
        lambda x: wg.segment_prod(x, IDS), _reduced("prod"), np.where(X > 1, 0.0, X),
    ),
    "segment_max": (lambda x: wg.segment_max(x, IDS), _reduced("amax"), X),
    "segment_max, ties": (lambda x: wg.segment_max(x, IDS), _reduced("amax"), np.round(X) + 9),
    "segment_min, ties": (lambda x: wg.segment_min(x, IDS), _reduced("amin"), np.round(X) + 9),
    "topk": (lambda x: wg.topk(x, 3, axis=0).values, lambda x: torch.topk(x, 3, dim=0).values, X),
    "quantile": (
        lambda x: wg.quantile(x, [0.2, 0.7], axis=0),
        lambda x: torch.quantile(x, torch.tensor([0.2, 0.7], dtype=x.dtype), dim=0),
        X,
    ),
    "median, ties": (
        lambda x: wg.median(x), lambda x: torch.median(x), np.array([1.0, 2.0, 2.0, 2.0, 5.0]),
    ),
    "cumulative_logsumexp": (
        lambda x: wg.cumulative_logsumexp(x, axis=0), lambda x: torch.logcumsumexp(x, 0), X,
    ),
    "cumulative_max": (
        lambda x: wg.cumulative_max(x, axis=0), lambda x: torch.cummax(x, 0).values, X,
    ),
    "cumulative_min": (
        lambda x: wg.cumulative_min(x, axis=0), lambda x: torch.cummin(x, 0).values, X,
    ),
    "bincount": (
        lambda x: wg.bincount(IDS, weights=x[:, 0]),
        lambda x: torch.zeros(3, dtype=x.dtype).index_add(0, torch.tensor(IDS), x[:, 0]),
        X,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_values_and_gradients_are_those_of_torch(name: str) -> None:
    ours, theirs, x = SAME[name]
    there = torch.tensor(x, requires_grad=True)
    expected = theirs(there)
    weights = np.cos(np.arange(expected.numel())).reshape(tuple(expected.shape))
    expected.backward(torch.tensor(weights))
    value, pull = wg.vjp(ours, x)
    np.testing.assert_allclose(np.asarray(value), expected.detach().numpy(), rtol=1e-12)
    np.testing.assert_allclose(pull(weights)[0], there.grad.numpy(), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("name", SAME)
def test_the_same_on_arrays_of_torch(name: str) -> None:
    ours, _, x = SAME[name]
    value, pull = wg.vjp(ours, x)
    weights = np.cos(np.arange(np.size(value))).reshape(np.shape(value))
    there, pull_there = wg.vjp(ours, torch.tensor(x))
    got = pull_there(torch.tensor(weights))[0]
    assert isinstance(there, torch.Tensor) and isinstance(got, torch.Tensor)
    np.testing.assert_allclose(there.numpy(), np.asarray(value), rtol=1e-12)
    np.testing.assert_allclose(got.numpy(), pull(weights)[0], rtol=1e-12, atol=1e-14)


def test_nan_counts_as_larger_than_every_number() -> None:
    x = torch.tensor([2.0, np.nan, -np.inf, np.inf, np.nan, 1.0])
    assert wg.argsort(x).tolist() == [2, 5, 0, 3, 1, 4]
    assert wg.argsort(x, descending=True).tolist() == [1, 4, 3, 0, 5, 2]
    assert wg.topk(x, 2).indices.tolist() == [1, 4]
    assert np.isnan(wg.median(x).item())


def test_slopes_of_gamma_samples() -> None:
    alpha = np.array([0.05, 0.4, 1.0, 3.0, 25.0, 400.0])
    z = wg.random.gamma(wg.random.generator(0), alpha).numpy()
    slope = wg.grad(lambda a: wg.sum(wg.random.gamma(wg.random.generator(0), a)))(alpha)
    theirs = torch._standard_gamma_grad(torch.tensor(alpha), torch.tensor(z)).numpy()
    np.testing.assert_allclose(slope, theirs, rtol=2e-3)  # theirs is an approximation


def test_samples_on_arrays_of_torch() -> None:
    loc = torch.tensor([1.0, 2.0], dtype=torch.float32)
    x, pull = wg.vjp(lambda m: wg.random.normal(wg.random.generator(0), m, 0.5), loc)
    assert x.dtype == torch.float32
    np.testing.assert_array_equal(pull(torch.ones(2))[0].numpy(), [1, 1])
    alpha = torch.tensor([0.5, 2.0], dtype=torch.float32)
    y, pull = wg.vjp(lambda a: wg.random.dirichlet(wg.random.generator(0), a), alpha)
    assert y.dtype == torch.float32 and abs(float(y.sum()) - 1) < 1e-6
    assert pull(torch.tensor([1.0, 0.0]))[0].dtype == torch.float32
