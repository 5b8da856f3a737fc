"""Sparse plans over arrays of other libraries: values stay where the argument is."""

from __future__ import annotations

import pickle
import re
import sys
import types
from typing import Any

import array_api_strict
import jax
import jax.experimental.sparse
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse

import wengert as wg
from wengert import backends
from wengert.backends import host

DEVICE = array_api_strict.Device("device1")


def burgers(u: Any) -> Any:
    p = wg.pad(u, 1)
    return u * (p[2:] - p[:-2]) / 2 + (p[2:] - 2 * u + p[:-2])


def arrow(x: Any) -> Any:
    return wg.concat([wg.sum(x**2)[None], x[1:] ** 2 * x[0]])


def rosenbrock(x: Any) -> Any:
    return wg.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def grid(x: Any) -> Any:
    x = wg.reshape(x, (3, 4))
    return wg.sum((x[1:] - x[:-1]) ** 4) + wg.sum((x[:, 1:] * x[:, :-1]) ** 2)


def constant(x: Any) -> Any:
    return 0 * x[:2] + 1


jax.config.update("jax_enable_x64", True)
x = np.linspace(0.1, 1.2, 12)
PLANS = {
    "on a cut": wg.sparse.jacobian(burgers, x),
    "both": wg.sparse.jacobian(arrow, x),
    "forward": wg.sparse.jacobian(burgers, x, mode="forward"),
    "hessian": wg.sparse.hessian(rosenbrock, x),
    "star": wg.sparse.hessian(rosenbrock, x, mode="star"),
    "acyclic": wg.sparse.hessian(grid, x, mode="acyclic"),
    "zeros": wg.sparse.jacobian(constant, x),
    "no path": wg.sparse.jacobian(lambda x: wg.ones_like(x), x),
}
PLANNED = pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)


def of_dask(a: Any) -> Any:
    return pytest.importorskip("dask.array").from_array(a, chunks=5)


def of_torch(a: Any) -> Any:
    return pytest.importorskip("torch").asarray(a)


LIBRARIES = {
    "jax": jnp.asarray,
    "strict": array_api_strict.asarray,
    "strict on another device": lambda a: array_api_strict.asarray(a, device=DEVICE),
    "dask": of_dask,
    "torch": of_torch,
}
TORCH = pytest.mark.peers
CONVERTED = pytest.mark.parametrize(
    "convert",
    [pytest.param(f, id=k, marks=TORCH if k == "torch" else ()) for k, f in LIBRARIES.items()],
)


def refusing(array: Any) -> Any:
    if isinstance(array, np.ndarray):
        return array
    raise AssertionError(f"the values of {type(array)} were copied to host memory")


@CONVERTED
@PLANNED
def test_values_follow_the_argument(plan: Any, convert: Any, monkeypatch: Any) -> None:
    expected = plan(x).data
    given = convert(x)
    with monkeypatch.context() as patch:
        patch.setattr(backends, "to_numpy", refusing)
        if not isinstance(given, array_api_strict._array_object.Array) or given.device == DEVICE:
            patch.setattr(host, "to_numpy", refusing)
        got = plan.values(given)
    assert type(got) is type(given)
    assert getattr(got, "device", None) == getattr(given, "device", None)
    np.testing.assert_allclose(backends.to_numpy(got), expected, rtol=1e-13, atol=1e-13)
    matrix = plan(given, format="scipy")
    np.testing.assert_allclose(matrix.toarray(), plan(x).toarray(), rtol=1e-13, atol=1e-13)


@CONVERTED
def test_plans_are_made_of_such_arrays(convert: Any) -> None:
    if convert is LIBRARIES["strict on another device"]:
        x64 = convert(x)
        plan = wg.sparse.jacobian(burgers, x64)
        assert plan.values(x64).device == DEVICE
    for make, f in ((wg.sparse.jacobian, burgers), (wg.sparse.hessian, grid)):
        plan, known = make(f, convert(x)), make(f, x)
        np.testing.assert_array_equal(plan.pattern.toarray(), known.pattern.toarray())
        assert plan.sweeps == known.sweeps
        np.testing.assert_allclose(plan(x).data, known(x).data, rtol=1e-13)


# -- JAX ---------------------------------------------------------------------------------------


@PLANNED
def test_values_and_matrices_compile(plan: Any) -> None:
    given, expected = jnp.asarray(x), plan(x)
    values = jax.jit(plan.values)(given)
    np.testing.assert_allclose(values, expected.data, rtol=1e-12, atol=1e-12)
    matrix = jax.jit(plan)(given)
    assert isinstance(matrix, jax.experimental.sparse.BCOO)
    np.testing.assert_allclose(matrix.todense(), expected.toarray(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(plan(given).todense(), expected.toarray(), rtol=1e-12, atol=1e-12)
    product = jax.jit(lambda x, v: plan(x) @ v)(given, given)
    np.testing.assert_allclose(product, expected @ x, rtol=1e-12, atol=1e-12)


def test_indices_are_placed_once(monkeypatch: Any) -> None:
    plan = wg.sparse.jacobian(arrow, x)
    given = jnp.asarray(x)
    xp = backends.namespace_of(given)
    seen: list[Any] = []
    place = xp.place
    monkeypatch.setattr(xp, "place", lambda a, where: (seen.append(a), place(a, where))[1])
    first = jax.jit(plan)(given)
    count = len(seen)
    assert count > 0
    for _ in range(2):
        again = plan(given)
        jax.jit(lambda x: plan.values(x) * 2)(given)
    assert len(seen) == count
    np.testing.assert_allclose(first.data, again.data, rtol=1e-12)


def test_single_precision_stays() -> None:
    plan = PLANS["on a cut"]
    assert plan.values(jnp.asarray(x, dtype=jnp.float32)).dtype == jnp.float32
    assert plan(x.astype(np.float32)).dtype == np.float32


def test_what_needs_values_is_refused_while_compiling() -> None:
    given = jnp.asarray(x)
    with pytest.raises(wg.BackendError, match="make the plan beforehand"):
        jax.jit(lambda x: wg.sparse.jacobian(burgers, x).values(x))(given)
    local = wg.sparse.jacobian(burgers, x, pattern="local")
    np.testing.assert_allclose(local.values(given), local(x).data)
    with pytest.raises(wg.BackendError, match="check=False"):
        jax.jit(local.values)(given)
    with pytest.raises(wg.BackendError, match=r"write plan\.values\(x\)"):
        jax.jit(lambda x: PLANS["on a cut"](x, format="scipy").data)(given)


def test_constants_are_compared_where_they_have_values() -> None:
    def product(a: Any, x: Any) -> Any:
        return wg.matmul(wg.asarray(a), x) ** 2

    a = np.eye(12)
    plan = wg.sparse.jacobian(product, a, x, argnum=1)
    given, other = jnp.asarray(a), jnp.asarray(x)
    np.testing.assert_allclose(plan.values(given, other), plan(a, x).data)
    np.testing.assert_allclose(jax.jit(lambda x: plan.values(given, x))(other), plan(a, x).data)
    with pytest.raises(wg.sparse.PatternError, match="zeros of a constant operand"):
        plan.values(given.at[0, 3].set(1.0), other)
    with pytest.raises(wg.BackendError, match="check=False, which trusts"):
        jax.jit(plan.values)(given, other)
    trusting = wg.sparse.jacobian(product, a, x, argnum=1, check=False)
    np.testing.assert_allclose(jax.jit(trusting.values)(given, other), plan(a, x).data)


def test_constants_on_a_device_are_compared_there() -> None:
    def on_device(a: Any) -> Any:
        return array_api_strict.asarray(a, device=DEVICE)

    def product(a: Any, x: Any) -> Any:
        return wg.matmul(wg.asarray(a), x)

    a = np.eye(12)
    plan = wg.sparse.jacobian(product, on_device(a), on_device(x), argnum=1)
    assert plan.pattern.nnz == 12
    assert plan.values(on_device(3 * a), on_device(x)).device == DEVICE
    a[0, 3] = 1.0
    with pytest.raises(wg.sparse.PatternError, match="zeros of a constant operand"):
        plan.values(on_device(a), on_device(x))


def test_indices_that_move_are_noticed() -> None:
    def ordered(x: Any) -> Any:
        return wg.sort(x) ** 2

    plan = wg.sparse.jacobian(ordered, x)
    np.testing.assert_allclose(plan.values(jnp.asarray(x)), plan(x).data)
    for make in (jnp.asarray, array_api_strict.asarray):
        with pytest.raises(wg.sparse.PatternError, match="has other indices"):
            plan.values(make(x[::-1].copy()))
        there = wg.sparse.jacobian(ordered, make(x))
        with pytest.raises(wg.sparse.PatternError, match="has other indices"):
            there.values(make(x[::-1].copy()))


# -- PyTorch -----------------------------------------------------------------------------------


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning")
@PLANNED
def test_matrices_of_pytorch(plan: Any) -> None:
    torch = pytest.importorskip("torch")
    given, expected = torch.asarray(x), plan(x).toarray()
    for form, layout in (
        (None, torch.sparse_coo),
        ("torch_coo", torch.sparse_coo),
        ("torch_csr", torch.sparse_csr),
    ):
        for argument in (given, x) if form else (given,):
            matrix = plan(argument, format=form)
            assert matrix.layout == layout
            np.testing.assert_allclose(matrix.to_dense(), expected, rtol=1e-13, atol=1e-13)
    checked = plan(given)
    torch.sparse_coo_tensor(
        checked.indices(), checked.values(), checked.shape, check_invariants=True
    )


@pytest.mark.peers
@PLANNED
def test_no_value_is_read_on_a_device(plan: Any) -> None:
    torch = pytest.importorskip("torch")
    given = torch.asarray(x, device="meta")
    values = plan.values(given)
    assert (values.device.type, values.shape) == ("meta", (plan.pattern.nnz,))
    assert plan(given).device.type == "meta"
    with pytest.raises(wg.BackendError, match="cannot be copied to host memory"):
        plan(given, format="scipy")


@pytest.mark.peers
def test_a_plan_of_arrays_without_values_is_refused() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(wg.BackendError, match="torch on meta has none yet .* beforehand"):
        wg.sparse.jacobian(burgers, torch.ones(4, device="meta"))


@pytest.mark.peers
def test_a_plan_beside_a_constant_of_another_device_names_both() -> None:
    torch = pytest.importorskip("torch")
    weights = wg.asarray(torch.ones(12))
    plan = wg.sparse.jacobian(lambda x: weights * x, torch.ones(12))
    with pytest.raises(wg.BackendError, match="multiply: got arrays of torch and of torch on meta"):
        plan.values(torch.ones(12, device="meta"))


# -- CuPy, by NumPy in its place ---------------------------------------------------------------


def test_matrices_of_cupy(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "cupy", np)
    sparse = types.SimpleNamespace(csr_matrix=scipy.sparse.csr_matrix)
    for name in ("cupyx", "cupyx.scipy", "cupyx.scipy.sparse"):
        monkeypatch.setitem(sys.modules, name, sparse)
    plan = PLANS["both"]
    matrix = plan(x, format="cupy_csr")
    assert isinstance(matrix, scipy.sparse.csr_matrix)
    np.testing.assert_allclose(matrix.toarray(), plan(x).toarray())


# -- what is asked for ---------------------------------------------------------------------------


def test_formats_that_cannot_be_had(monkeypatch: Any) -> None:
    plan = PLANS["on a cut"]
    with pytest.raises(ValueError, match=r"format is 'csc'; expected one of scipy, torch_coo"):
        plan(x, format="csc")
    with pytest.raises(wg.BackendError, match=r"values are of jax.numpy, and format='torch_coo'"):
        monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
        plan(jnp.asarray(x), format="torch_coo")
    for form, module, package in (
        ("jax_bcoo", "jax.experimental.sparse", "jax"),
        ("torch_csr", "torch", "torch"),
        ("cupy_csr", "cupyx.scipy.sparse", "cupy"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        message = f"format='{form}' needs {module}, which cannot be imported"
        with pytest.raises(ImportError, match=re.escape(message)) as found:
            plan(x, format=form)
        assert f"pip install {package}" in str(found.value)


def test_a_library_without_matrices_says_what_to_write() -> None:
    given = array_api_strict.asarray(x, device=DEVICE)
    with pytest.raises(wg.BackendError, match=r"write plan\.values\(x\)"):
        PLANS["on a cut"](given)


def test_plans_that_were_used_elsewhere_pickle() -> None:
    plan = wg.sparse.hessian(rosenbrock, jnp.asarray(x))
    expected = plan.values(jnp.asarray(x))
    again = pickle.loads(pickle.dumps(plan))
    np.testing.assert_array_equal(again.values(jnp.asarray(x)), expected)
    np.testing.assert_allclose(again(x).data, expected)
