"""Slopes, areas and covariances of samples, beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.ops.samples import correlation, covariance, slopes, trapezia

X = np.array([0.0, 0.5, 2.0, 3.5, 4.0])
F = np.stack([X**2, np.sin(X)])


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("spacing", [0.5, X])
def test_slopes(edge_order: int, spacing: object) -> None:
    expected = np.gradient(F, spacing, axis=1, edge_order=edge_order)
    h = wg.asarray(spacing)
    found = slopes(wg.asarray(F), h, axis=1, edge_order=edge_order)
    assert np.allclose(np.asarray(found), expected)
    turned = slopes(wg.asarray(F.T), h, axis=0, edge_order=edge_order)
    assert np.allclose(np.asarray(turned), expected.T)
    wg.check_grads(lambda f, h: slopes(f, h, axis=1, edge_order=edge_order), [F, spacing])


def test_trapezia() -> None:
    areas = trapezia(wg.asarray(F), wg.asarray(np.diff(X)), axis=1)
    assert np.allclose(np.asarray(areas).sum(1) / 2, np.trapezoid(F, X, axis=1))


def test_covariance_and_correlation() -> None:
    found = covariance(wg.asarray(F), F.shape[1] - 1)
    assert np.allclose(np.asarray(found), np.cov(F))
    assert np.allclose(np.asarray(correlation(found)), np.corrcoef(F))
    weights = np.array([1.0, 2.0, 1.0, 3.0, 1.0])
    weighted = covariance(wg.asarray(F), weights.sum() - 1, wg.asarray(weights))
    assert np.allclose(np.asarray(weighted), np.cov(F, fweights=weights.astype(int)))
    z = F + 1j * F[::-1]
    assert np.allclose(np.asarray(covariance(wg.asarray(z), 4)), np.cov(z))
    wg.check_grads(lambda f, w: correlation(covariance(f, 3.0, w)), [F, weights])
