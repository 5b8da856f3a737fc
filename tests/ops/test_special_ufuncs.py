"""Ufuncs of scipy.special on tensors are the operations of wengert.special."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import wengert as wg
from tests.ops.numpy_cases import assert_same
from wengert.ops.special_ufuncs import _COMPOSED, _OURS, answer

RANDOM = np.random.default_rng(3)
INSIDE = RANDOM.uniform(0.2, 0.8, (3, 4))
NAMES = [*_OURS.split(), *(name for name in _COMPOSED if not name.startswith("_"))]
#: Arguments other than numbers between 0 and 1.
ARGUMENTS = {
    "erfcinv": (INSIDE[0] + 0.3,),
    "expi": (INSIDE[0] + 1.0,),
    "huber": (INSIDE[0], np.array([-2.0, -0.1, 0.1, 2.0])),
    "iv": (1.5, INSIDE[0]),
    "jv": (1.5, INSIDE[0]),
    "yn": (2, INSIDE[0]),
    "ive": (1.5, INSIDE[0]),
}


@pytest.mark.parametrize("name", NAMES)
def test_value_and_derivatives(name: str) -> None:
    ufunc = getattr(scipy.special, name)
    args = ARGUMENTS.get(name, tuple(INSIDE[: ufunc.nin]))
    constants = [a for a in args if not isinstance(a, np.ndarray)]
    arrays = args[len(constants) :]
    got = ufunc(*constants, *map(wg.asarray, arrays))
    for mine, theirs in zip(np.atleast_1d(got), np.atleast_1d(ufunc(*args)), strict=True):
        np.testing.assert_allclose(wg.asarray(mine).numpy(), theirs, rtol=1e-10, atol=1e-14)
    wg.check_grads(lambda *xs: ufunc(*constants, *xs), arrays, order=2)


def test_every_ufunc_of_ours_is_answered() -> None:
    """An operation that is added to wengert.special answers SciPy's ufunc of its name."""
    mine = {name for name in wg.special.__all__ if hasattr(scipy.special, name)}
    ufuncs = {f for n in mine if isinstance(f := getattr(scipy.special, n), np.ufunc)}
    assert len(ufuncs) > 30
    assert all(answer(ufunc) is not None for ufunc in ufuncs)


def test_functions_that_only_call_ufuncs() -> None:
    x = INSIDE[0] + 2.0
    assert_same(scipy.special.zeta(wg.asarray(x), 1.5), scipy.special.zeta(x, 1.5))
    assert_same(scipy.special.zeta(wg.asarray(x)), scipy.special.zeta(x))
    assert_same(scipy.special.sinc(wg.asarray(x)), scipy.special.sinc(x))


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("binom", (-3.0, np.arange(4.0))),
        ("binom", (5.0, np.arange(-2.0, 8.0))),
        ("boxcox", (np.array([0.0, 1e-9, 3.0]), 0.0)),
        ("boxcox", (np.array([0.0, 1e-9, 3.0]), 2.0)),
        ("boxcox", (np.array([0.0, 1e-9, 3.0]), -2.0)),
        ("huber", (-1.0, np.array([0.0, 2.0]))),
        ("pseudo_huber", (0.0, np.array([0.0, 2.0]))),
        ("pseudo_huber", (-1.0, np.array([0.0, 2.0]))),
    ],
)
def test_composed_ufuncs_where_they_are_hard(name: str, args: tuple[object, ...]) -> None:
    ufunc = getattr(scipy.special, name)
    tensors = [wg.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    with np.errstate(all="ignore"):
        assert_same(ufunc(*tensors), ufunc(*args))


def test_keywords() -> None:
    x = wg.asarray(INSIDE)
    assert scipy.special.erf(x, dtype=np.float32).dtype == np.float32
    assert_same(scipy.special.xlogy(2.0, x), scipy.special.xlogy(2.0, INSIDE))
    with pytest.raises(TypeError, match=r"scipy.special.erf: out= would write"):
        scipy.special.erf(x, out=np.zeros((3, 4)))
    with pytest.raises(wg.NoRuleError, match="scipy.special.mathieu_a: "):
        scipy.special.mathieu_a(1, x)


def test_a_variable_is_watched() -> None:
    w = wg.Variable(INSIDE)
    with wg.GradientTape() as tape:
        y = wg.sum(scipy.special.expit(w))
    s = scipy.special.expit(INSIDE)
    np.testing.assert_allclose(tape.gradient(y, w).numpy(), s * (1 - s))
