"""Every operation of the registry in forward mode and under vmap: no test names an operation.

Reverse mode is compared with differences and with JAX in `test_table`; here the other modes are
compared with it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.op_cases import (
    CASES,
    SMOOTH,
    Case,
    as_numpy,
    assert_near,
    inexact,
    leaves,
    with_kinds,
)
from wengert.engine import examples

EXAMPLES = 3


def each(pairs: dict[str, Any]) -> Any:
    return pytest.mark.parametrize("case, kind", list(pairs.values()), ids=list(pairs))


def numbers(like: Any, seed: int = 1) -> np.ndarray:
    array = np.asarray(as_numpy(like))
    random = np.random.default_rng(seed)
    made = random.uniform(-1, 1, array.shape)
    if array.dtype.kind == "c":
        made = made + 1j * random.uniform(-1, 1, array.shape)
    return made.astype(array.dtype)


def pairing(one: Any, two: Any) -> float:
    """Return the real inner product of two lists of arrays."""
    return sum(
        float(np.real(np.vdot(np.asarray(a), np.asarray(b)))) for a, b in zip(one, two, strict=True)
    )


def of_inexact(case: Case, arrays: list[np.ndarray]) -> tuple[Any, list[np.ndarray]]:
    """Return the operation as a function of its inexact arrays, with inexact results only."""
    free = [i for i, a in enumerate(arrays) if inexact(a)]

    def function(*given: Any) -> list[Any]:
        full: list[Any] = list(map(wg.asarray, arrays))
        for i, x in zip(free, given, strict=True):
            full[i] = x
        return [y for y in leaves(case.function(*full)) if inexact(y)]

    function.__name__ = case.id
    return function, [arrays[i] for i in free]


@each(with_kinds(SMOOTH))
def test_forward_mode_is_the_transpose_of_reverse_mode(case: Case, kind: str) -> None:
    function, arrays = of_inexact(case, case.arrays(kind))
    tangents = [numbers(a, i) for i, a in enumerate(arrays)]
    values, moved = wg.jvp(function, arrays, tangents)
    results, pull = wg.vjp(function, *arrays)
    weights = [numbers(y, 7) for y in results]
    for value, t, y in zip(values, moved, results, strict=True):
        assert_near(value, y, case.id)
        assert np.asarray(t).dtype == np.asarray(y).dtype
        assert np.shape(t) == np.shape(y)
    expected = pairing(pull(weights), tangents)
    assert pairing(weights, moved) == pytest.approx(expected, rel=1e-9, abs=1e-11)


@each(with_kinds(SMOOTH))
def test_the_derivative_of_a_tangent_is_that_of_a_gradient(case: Case, kind: str) -> None:
    """Forward over reverse, reverse over forward and reverse over reverse agree."""
    function, arrays = of_inexact(case, case.arrays(kind))
    if not arrays:
        return
    tangents = [numbers(a, i) for i, a in enumerate(arrays)]
    weights = [numbers(y, 7) for y in function(*arrays)]

    def scalar(*given: Any) -> Any:
        total: Any = 0.0
        for y, w in zip(function(*given), weights, strict=True):
            total = total + wg.sum(wg.real(y * w) if np.iscomplexobj(w) else y * w)
            total = total + wg.sum(wg.abs(y) ** 2) / 4
        return total

    spots = tuple(range(len(arrays)))
    gradient = wg.grad(scalar, spots)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wg.UnconnectedWarning)
        _, one = wg.jvp(gradient, arrays, tangents)
        two = wg.grad(lambda *a: wg.jvp(scalar, a, tangents)[1], spots)(*arrays)
        _, pull = wg.vjp(gradient, *arrays)
        three = pull(tuple(tangents))
    for a, b, c in zip(one, two, three, strict=True):
        scale = max(1.0, float(np.max(np.abs(c), initial=0.0)))
        np.testing.assert_allclose(a, c, rtol=1e-8, atol=1e-9 * scale, err_msg=case.id)
        np.testing.assert_allclose(b, c, rtol=1e-8, atol=1e-9 * scale, err_msg=case.id)


REAL = {name: pair for name, pair in with_kinds(SMOOTH).items() if pair[1] == "f"}


@each(REAL)
def test_tangents_in_all_directions_are_the_jacobian_of_reverse_mode(case: Case, kind: str) -> None:
    """Forward mode carries raw arrays with an axis of directions; reverse mode does not."""
    function, arrays = of_inexact(case, case.arrays(kind))
    results = [y for y in function(*arrays) if y.dtype.kind == "f"]
    if not arrays or not results:
        return

    def real_results(*given: Any) -> list[Any]:
        return [y for y in function(*given) if y.dtype == np.float64]

    spots = tuple(range(len(arrays)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wg.UnconnectedWarning)
        forward, reverse = (
            wg.jacobian(real_results, spots, mode=mode)(*arrays) for mode in ("forward", "reverse")
        )
    for mine, theirs in zip(forward, reverse, strict=True):
        for a, b in zip(mine, theirs, strict=True):
            scale = max(1.0, float(np.max(np.abs(b), initial=0.0)))
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11 * scale, err_msg=case.id)


@each(with_kinds(SMOOTH))
def test_a_tangent_of_one_element_is_that_of_a_dense_one(case: Case, kind: str) -> None:
    function, arrays = of_inexact(case, case.arrays(kind))
    for k, array in enumerate(arrays):
        if not array.size:
            continue
        key = np.unravel_index(array.size // 2, array.shape)
        tensors = [wg.asarray(a) for a in arrays]
        dense = np.zeros_like(array)
        dense[key] = 1.5
        with wg.ForwardAccumulator(tensors[k].at[key], np.asarray(1.5, array.dtype)) as forward:
            results = function(*tensors)
        got = forward.jvp(results, unconnected_gradients="zero")
        tangents = [dense if i == k else None for i in range(len(arrays))]
        _, expected = wg.jvp(function, arrays, tangents)
        for mine, theirs in zip(got, expected, strict=True):
            assert_near(mine, theirs, case.id)


# -- vmap ---------------------------------------------------------------------------------------


def several(case: Case, kind: str) -> list[np.ndarray]:
    """Return arrays of a few examples, each from the operation's domain."""
    arrays = case.arrays(kind)
    random = np.random.default_rng(5)
    examples = []
    for i in range(EXAMPLES):
        made = [a if i == 0 or not inexact(a) else a * (1 + 0.01 * i) for a in arrays]
        if i and case.entry.inputs is None:
            made = [random.permutation(a.ravel()).reshape(a.shape) if a.ndim else a for a in made]
        examples.append(made)
    return [np.stack(parts) for parts in zip(*examples, strict=True)]


def masks(count: int) -> list[tuple[bool, ...]]:
    """Return which arrays are mapped: all of them, and each one alone."""
    alone = [tuple(i == k for i in range(count)) for k in range(count)]
    return [(True,) * count, *(alone if count > 1 else [])]


@each(with_kinds(CASES))
def test_vmap_is_a_loop(case: Case, kind: str) -> None:
    stacks = several(case, kind)
    for mapped in masks(len(stacks)):
        arrays = [a if m else a[0] for a, m in zip(stacks, mapped, strict=True)]
        in_axes = tuple(0 if m else None for m in mapped)
        got = leaves(wg.vmap(case.function, in_axes)(*arrays))
        for i in range(EXAMPLES):
            here = [a[i] if m else a for a, m in zip(arrays, mapped, strict=True)]
            for mine, theirs in zip(got, leaves(case.function(*here)), strict=True):
                assert_near(mine[i], as_numpy(theirs), case.id)


@each(with_kinds(SMOOTH))
def test_gradients_inside_and_outside_of_vmap_are_those_of_a_loop(case: Case, kind: str) -> None:
    stacks = several(case, kind)
    free = tuple(i for i, a in enumerate(stacks) if inexact(a))

    def scalar(*given: Any) -> Any:
        total: Any = 0.0
        for y in leaves(case.function(*given)):
            if inexact(y):
                total = total + wg.sum(wg.abs(y * numbers(np.zeros(y.shape))) ** 2)
        return total

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wg.UnconnectedWarning)
        inside = wg.vmap(wg.grad(scalar, free))(*stacks)
        outside = wg.grad(lambda *a: wg.sum(wg.vmap(scalar)(*a)), free)(*stacks)
        for i in range(EXAMPLES):
            expected = wg.grad(scalar, free)(*[a[i] for a in stacks])
            for one, two, theirs in zip(inside, outside, expected, strict=True):
                assert_near(one[i], theirs, case.id, rtol=1e-9)
                assert_near(two[i], theirs, case.id, rtol=1e-9)


#: Operations that vmap calls once for each example, and why there is no better way.
ONE_BY_ONE: dict[str, str] = {}


def test_only_a_few_operations_are_done_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    kept = examples.one_by_one

    def noted(op: Any, *args: Any) -> Any:
        found.add(op.name)
        return kept(op, *args)

    monkeypatch.setattr(examples, "one_by_one", noted)
    for case in CASES:
        stacks = several(case, case.kinds[0])
        for mapped in masks(len(stacks)):
            arrays = [a if m else a[0] for a, m in zip(stacks, mapped, strict=True)]
            wg.vmap(case.function, tuple(0 if m else None for m in mapped))(*arrays)
    assert found == set(ONE_BY_ONE)


def test_vmap_of_no_examples_has_the_shapes_of_results() -> None:
    for case in CASES:
        if "f" not in case.entry.kinds or case.entry.inputs is not None:
            continue
        arrays = [a[None][:0] for a in case.arrays("f")]
        got = leaves(wg.vmap(case.function)(*arrays))
        for mine, theirs in zip(got, leaves(case.function(*case.arrays("f"))), strict=True):
            assert mine.shape == (0, *theirs.shape), case.id
