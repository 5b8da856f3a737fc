"""Every operation of the registry, with every sample: no test names an operation.

Values are NumPy's. Derivatives are those of differences and of JAX, and are the same for any
dtype, memory layout and array library.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
import pytest

import wengert as wg
from tests.ops.exemptions import STANDARD, is_exempt
from tests.ops.jax_calls import JAX_CALLS, NOT_IN_JAX
from tests.ops.op_cases import (
    CASES,
    FLAT,
    SINGLE,
    SMOOTH,
    STRICT_DEVICE,
    Case,
    as_numpy,
    assert_near,
    ids,
    inexact,
    jax_gradients,
    leaves,
    numpy_reference,
    on_device,
    plain,
    second,
    strict,
    vjp,
    weights_like,
    with_kinds,
)
from wengert.extend import REGISTRY


def each(pairs: dict[str, Any], names: str = "case, kind") -> Any:
    return pytest.mark.parametrize(names, list(pairs.values()), ids=list(pairs))


# -- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REGISTRY)
def test_has_a_numpy_reference(name: str) -> None:
    assert callable(numpy_reference(name))


@each(with_kinds(CASES))
@pytest.mark.parametrize("dtypes", [None, SINGLE], ids=["double", "single"])
def test_values_and_dtypes_are_those_of_numpy(case: Case, kind: str, dtypes: Any) -> None:
    arrays = case.arrays(kind, dtypes) if dtypes else case.arrays(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        expected = leaves(case.numpy(*arrays))
    got = leaves(case.function(*map(wg.asarray, arrays)))
    for mine, theirs in zip(got, expected, strict=True):
        rtol = 1e-13 if dtypes is None else 1e-6
        assert_near(mine, theirs, case.id, rtol=rtol * case.entry.rounding)


@each(with_kinds(FLAT))
def test_flat_operations_record_nothing(case: Case, kind: str) -> None:
    tensors = list(map(wg.asarray, case.arrays(kind)))
    sources = [t for t in tensors if inexact(t.numpy())]
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(sources)
        results = leaves(case.function(*tensors))
    assert all(r._node is None for r in results)
    for result in results:
        if inexact(result.numpy()):
            assert all(g is None for g in tape.gradient(result, sources))


# -- derivatives ------------------------------------------------------------------------------


@each(with_kinds(SMOOTH))
def test_derivatives_of_two_orders_match_differences(case: Case, kind: str) -> None:
    arrays = case.arrays(kind)
    free = [i for i, a in enumerate(arrays) if inexact(a)]

    def function(*given: Any) -> Any:
        full = list(map(wg.asarray, arrays))
        for i, x in zip(free, given, strict=True):
            full[i] = x
        return case.function(*full)

    def squares(*given: Any) -> Any:
        return [y * y for y in leaves(function(*given)) if inexact(y)]

    function.__name__ = squares.__name__ = case.id
    wg.check_grads(function, [arrays[i] for i in free], order=2)
    # now the weights that the rule gets depend on the arguments as well
    wg.check_grads(squares, [arrays[i] for i in free], order=2)


SMOOTH_NAMES = list(dict.fromkeys(case.name for case in SMOOTH))


def jax_reference(name: str) -> Callable[..., Any]:
    name = name if name in JAX_CALLS else plain(name)
    module, _, function = name.rpartition(".")
    places = {"special": [jax.scipy.special], "nn": [jax.nn], "linalg": [jnp.linalg, jsl]}
    found = JAX_CALLS.get(name) or next(
        (
            getattr(place, function)
            for place in places.get(module) or [getattr(jnp, module, None) if module else jnp]
            if hasattr(place, function)
        ),
        None,
    )
    if found is None:
        raise AssertionError(
            f"{name}: JAX has no function of this name; add what it calls it to JAX_CALLS in a "
            "module of tests/ops/jax_calls, or to NOT_IN_JAX with a reason"
        )
    return found


def test_our_complex_gradient_is_the_conjugate_of_jaxs() -> None:
    z, one = np.array([1.0 + 2.0j]), np.ones(1, complex)
    _, (mine,) = vjp(lambda x: x**2, [wg.asarray(z)], [one])
    _, (theirs,) = jax_gradients(lambda x: x**2, [z], [one])
    assert_near(mine, np.conj(2 * z))
    assert_near(theirs, np.conj(2 * z))


def test_what_jax_lacks_is_what_there_is() -> None:
    assert set(NOT_IN_JAX) | set(JAX_CALLS) <= set(SMOOTH_NAMES)


IN_JAX = [name for name in SMOOTH_NAMES if not {name, plain(name)} & set(NOT_IN_JAX)]


@pytest.mark.parametrize("name", IN_JAX)
def test_values_and_gradients_are_those_of_jax(name: str) -> None:
    reference = jax_reference(name)
    calls = [(c, kind) for c in SMOOTH if c.name == name for kind in c.kinds]
    inputs = [case.arrays(kind) for case, kind in calls]
    mine = [
        vjp(case.function, list(map(wg.asarray, arrays)))
        for (case, _), arrays in zip(calls, inputs, strict=True)
    ]

    @jax.jit  # one compilation for all calls takes a fifth of the time of one for each
    def all_of_jaxs(inputs: Any, weights: Any) -> Any:
        return [
            jax_gradients(case.shown(jnp, partial(reference, **case.sample.params)), arrays, w)
            for (case, _), arrays, w in zip(calls, inputs, weights, strict=True)
        ]

    theirs = all_of_jaxs(inputs, [weights_like(results) for results, _ in mine])
    rounding = REGISTRY[name].rounding
    for (case, kind), ours, (values, gradients) in zip(calls, mine, theirs, strict=True):
        for got, expected in zip(ours[0], values, strict=True):
            assert_near(got, expected, f"value of {case.id}-{kind}", rtol=1e-10 * rounding)
        for got, expected in zip(ours[1], gradients, strict=True):
            assert_near(got, expected, f"gradient of {case.id}-{kind}", rtol=1e-10 * rounding)


@each(with_kinds(SMOOTH))
def test_gradients_in_single_precision(case: Case, kind: str) -> None:
    arrays = case.arrays(kind, SINGLE)
    wide = [a.astype({"f": float, "c": complex}.get(a.dtype.kind, a.dtype)) for a in arrays]
    _, exact = vjp(case.function, list(map(wg.asarray, wide)))
    _, gradients = vjp(case.function, list(map(wg.asarray, arrays)))
    for x, got, expected in zip(filter(inexact, arrays), gradients, exact, strict=True):
        rtol = 1e-4 * case.entry.rounding
        assert_near(got, expected.numpy().astype(x.dtype), rtol=rtol)


# -- layouts ----------------------------------------------------------------------------------


def _frozen(array: np.ndarray) -> np.ndarray:
    """Return an array that neither it nor its owner can write to, so that it is not copied."""
    link: Any = array
    while isinstance(link, np.ndarray):
        link.flags.writeable = False
        link = link.base
    return array


def _apart(array: np.ndarray) -> np.ndarray:
    """Return an array of twice the size with `array` in every second place, and junk."""
    junk = np.ones(array.shape, array.dtype) if array.dtype.kind == "b" else array + 1
    for axis in range(array.ndim):
        both = np.stack([array, junk], axis=axis + 1)
        array = both.reshape((*array.shape[:axis], 2 * array.shape[axis], *array.shape[axis + 1 :]))
        junk = np.concatenate([junk, junk], axis=axis)
    return array


def _every_second(x: Any) -> Any:
    return x[(slice(None, None, 2),) * len(x.shape)]


def _backward(x: Any) -> Any:
    return x[(slice(None, None, -1),) * len(x.shape)]


#: How to get a tensor of the same values that lies otherwise in memory.
LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "stepped array": lambda a: wg.asarray(_every_second(_frozen(_apart(a)))),
    "backward array": lambda a: wg.asarray(_backward(_frozen(np.flip(a).copy()))),
    "transposed array": lambda a: wg.asarray(_frozen(a.T.copy()).T),
    "stepped tensor": lambda a: _every_second(wg.asarray(_apart(a))),
    "backward tensor": lambda a: _backward(wg.asarray(np.flip(a).copy())),
}


def test_the_layouts_reach_operations_without_a_copy() -> None:
    a = np.arange(6.0).reshape(2, 3)
    for name, make in LAYOUTS.items():
        tensor = make(a)
        assert_near(tensor, a, name)
        assert not tensor._raw.flags.c_contiguous, name


@pytest.mark.parametrize("case", SMOOTH, ids=ids(SMOOTH))
def test_layout_does_not_matter(case: Case) -> None:
    for kind in case.kinds[:2]:
        arrays = case.arrays(kind)
        results, gradients = vjp(case.function, list(map(wg.asarray, arrays)))
        weights = [_backward(np.flip(w).copy()) for w in weights_like(results)]
        for layout, make in LAYOUTS.items():
            got, pulled = vjp(case.function, list(map(make, arrays)), weights)
            for mine, expected in zip([*got, *pulled], [*results, *gradients], strict=True):
                rtol = 1e-12 * case.entry.rounding
                assert_near(mine, expected, f"{layout}, {kind}", rtol=rtol)


@pytest.mark.parametrize("case", FLAT, ids=ids(FLAT))
def test_layout_does_not_matter_to_flat_operations(case: Case) -> None:
    for kind in case.kinds:
        arrays = case.arrays(kind)
        expected = leaves(case.numpy(*arrays))
        for layout, make in LAYOUTS.items():
            for mine, theirs in zip(
                leaves(case.function(*map(make, arrays))), expected, strict=True
            ):
                assert_near(mine, theirs, f"{layout}, {kind}")


# -- array libraries --------------------------------------------------------------------------


def on_host_if_exempt(case: Case) -> Any:
    """Return a context in which an operation that is exempt is computed in host memory."""
    exempt = is_exempt(case.name, STANDARD)
    return wg.allow_host_fallback() if exempt else contextlib.nullcontext()


@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_array_api_strict_agrees_with_numpy(case: Case) -> None:
    for kind in case.kinds:
        arrays = case.arrays(kind)
        if case.entry.family == "zero":
            results = leaves(case.function(*map(wg.asarray, arrays)))
            with on_host_if_exempt(case):
                got = leaves(case.function(*map(on_device, arrays)))
            gradients, pulled = [], []
        else:
            results, gradients = vjp(case.function, list(map(wg.asarray, arrays)))
            weights = list(map(strict, weights_like(results)))
            with on_host_if_exempt(case):
                got, pulled = vjp(case.function, list(map(on_device, arrays)), weights)
        for mine, expected in zip([*got, *pulled], [*results, *gradients], strict=True):
            assert mine._raw.device == STRICT_DEVICE
            assert_near(as_numpy(mine), expected, kind, rtol=1e-12 * case.entry.rounding)


@pytest.mark.parametrize("case", SMOOTH, ids=ids(SMOOTH))
def test_array_api_strict_agrees_at_second_order(case: Case) -> None:
    for kind in case.kinds[:2]:
        arrays = case.arrays(kind)
        tensors = list(map(wg.asarray, arrays))
        weights = weights_like(case.function(*tensors))
        expected = second(case.function, tensors, weights)
        with on_host_if_exempt(case):
            got = second(case.function, list(map(on_device, arrays)), list(map(strict, weights)))
        for mine, theirs in zip(got, expected, strict=True):
            assert_near(as_numpy(mine), theirs, kind, rtol=1e-12 * case.entry.rounding)


@pytest.mark.parametrize("name", STANDARD)
def test_what_the_standard_lacks_says_so(name: str) -> None:
    with pytest.raises(wg.BackendError, match="allow_host_fallback"):
        for case in (c for c in CASES if c.name == name):
            arrays = list(map(on_device, case.arrays(case.kinds[0])))
            if case.entry.family == "zero":
                case.function(*arrays)
            else:
                vjp(case.function, arrays, list(map(strict, weights_like(case.function(*arrays)))))
