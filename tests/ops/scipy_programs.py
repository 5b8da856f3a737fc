"""Functions of SciPy and scikit-learn on tensors, differentiated: run by test_scipy.py.

SciPy asks which library an array is of only if SCIPY_ARRAY_API is set before its import, so
these tests have a process of their own. Each function gets a tensor, computes with wengert as
the array's namespace, and its gradient is compared with differences of the same function on
NumPy arrays. Warnings are errors: a value that leaves the tape on the way would warn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.constants
import scipy.differentiate
import scipy.fft
import scipy.integrate
import scipy.optimize
import scipy.signal
import scipy.special
import scipy.stats
import sklearn
from scipy.spatial.transform import Rotation
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import pairwise
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, PolynomialFeatures

import wengert as wg

sklearn.set_config(array_api_dispatch=True)

_random = np.random.default_rng(0)
X = _random.uniform(0.5, 1.5, 8)
Y = _random.uniform(0.5, 1.5, 8)
M = _random.uniform(0.5, 1.5, (8, 3))
W = _random.uniform(-1.0, 1.0, (8, 3))
LABELS = np.arange(8) % 2

#: Functions of one array; `c` makes an array of constants of the same library.
SCIPY: dict[str, Callable[[Any, Any], Any]] = {
    "cluster.vq.whiten": lambda x, c: scipy.cluster.vq.whiten(x.reshape(4, 2))[0, 0],
    "constants.convert_temperature": lambda x, c: scipy.constants.convert_temperature(
        x, "Celsius", "Fahrenheit"
    ),
    "fft.fft": lambda x, c: abs(scipy.fft.fft(x)) ** 2,
    "fft.irfft": lambda x, c: scipy.fft.irfft(x + 0j),
    "integrate.cumulative_simpson": lambda x, c: scipy.integrate.cumulative_simpson(x, dx=1.0),
    "integrate.trapezoid": lambda x, c: scipy.integrate.trapezoid(x, c(np.arange(8.0) ** 2)),
    "optimize.rosen": lambda x, c: scipy.optimize.rosen(x),
    "signal.fftconvolve": lambda x, c: scipy.signal.fftconvolve(x, c(Y)),
    "signal.gausspulse": lambda x, c: scipy.signal.gausspulse(x),
    "signal.hilbert": lambda x, c: abs(scipy.signal.hilbert(x)) ** 2,
    "signal.oaconvolve": lambda x, c: scipy.signal.oaconvolve(x, c(Y[:3])),
    "signal.resample": lambda x, c: scipy.signal.resample(x, 5),
    "spatial.transform.Rotation": lambda x, c: (
        Rotation.from_rotvec(x[:3]).as_matrix()[0, 1] + Rotation.from_quat(x[4:]).apply(x[:3])[2]
    ),
    "special.logsumexp": lambda x, c: scipy.special.logsumexp(x),
    "special.softmax": lambda x, c: scipy.special.softmax(x),
    "special.xlogy": lambda x, c: scipy.special.xlogy(x, x),
    "stats.circvar": lambda x, c: scipy.stats.circvar(x),
    "stats.gmean": lambda x, c: scipy.stats.gmean(x),
    "stats.kurtosis": lambda x, c: scipy.stats.kurtosis(x),
    "stats.pearsonr": lambda x, c: scipy.stats.pearsonr(x, c(Y)).statistic,
    "stats.sem": lambda x, c: scipy.stats.sem(x),
    "stats.skew": lambda x, c: scipy.stats.skew(x),
    "stats.zscore": lambda x, c: scipy.stats.zscore(x),
}
#: Functions of a matrix of samples.
SKLEARN: dict[str, Callable[[Any, Any], Any]] = {
    "GaussianNB": lambda x, c: GaussianNB().fit(x, c(LABELS)).predict_log_proba(x),
    "LinearDiscriminantAnalysis": lambda x, c: (
        LinearDiscriminantAnalysis().fit(x, c(LABELS)).decision_function(x)
    ),
    "MaxAbsScaler": lambda x, c: MaxAbsScaler().fit_transform(x),
    "MinMaxScaler": lambda x, c: MinMaxScaler().fit_transform(x),
    "Normalizer": lambda x, c: Normalizer().fit_transform(x),
    "PCA": lambda x, c: PCA(2, svd_solver="full").fit(x).explained_variance_,
    "PolynomialFeatures": lambda x, c: PolynomialFeatures(2).fit_transform(x),
    "Ridge": lambda x, c: Ridge(solver="svd").fit(x, c(Y)).coef_,
    "cosine_similarity": lambda x, c: pairwise.cosine_similarity(x, c(W)),
    "rbf_kernel": lambda x, c: pairwise.rbf_kernel(x, c(W)),
}


def check(function: Callable[[Any, Any], Any], x: np.ndarray) -> None:
    weights = np.cos(np.arange(np.size(function(x, np.asarray))) + 1)

    def of_tensor(x: Any) -> Any:
        return wg.sum(wg.reshape(function(x, wg.asarray), (-1,)) * weights)

    def of_array(x: np.ndarray) -> float:
        return float(np.sum(np.reshape(function(x, np.asarray), -1) * weights))

    value, gradient = wg.value_and_grad(of_tensor)(x)
    assert value == pytest.approx(of_array(x), rel=1e-10)
    step = 1e-5
    for i in np.ndindex(x.shape):
        there, back = x.copy(), x.copy()
        there[i] += step
        back[i] -= step
        difference = (of_array(there) - of_array(back)) / (2 * step)
        assert gradient[i] == pytest.approx(difference, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", SCIPY)
def test_scipy(name: str) -> None:
    check(SCIPY[name], X)


@pytest.mark.parametrize("name", SKLEARN)
def test_sklearn(name: str) -> None:
    check(SKLEARN[name], M)
