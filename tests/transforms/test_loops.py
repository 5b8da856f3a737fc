"""wg.scan, wg.cond and wg.while_loop: run by Python and compiled, against two other libraries.

Every program of `loop_cases` runs on arrays of NumPy and PyTorch, compiled by `wg.jit` and by
`jax.jit`, in every mode; the answers are those of Python's own loops and of JAX.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import wengert as wg
from tests.transforms.loop_cases import JAX, OURS, PLAIN, PROGRAMS, SIZE, VECTOR

DIRECTION = np.random.default_rng(1).normal(size=SIZE)
POINTS = np.stack([VECTOR, VECTOR + 0.05])


def summed(lib: Any, program: Any) -> Any:
    """Return a number that depends on all of a program's result, and not linearly."""

    def call(v):
        z = program(lib, v)
        return lib.np.sum(z * z) + z[0]

    return call


def derivatives(lib: Any, program: Any, like: Any = np.asarray) -> Any:
    """Return a function from a point and another one to derivatives, by the names of `expected`."""
    direction = like(DIRECTION)

    def f(v):
        return program(lib, v)

    s = summed(lib, program)

    def reverse_twice(v):
        return wg.grad(lambda v: wg.sum(wg.grad(s)(v) * direction))(v)

    def call(v, points):
        value, gradient = wg.value_and_grad(s)(v)
        result, pull = wg.vjp(f, v)
        return {
            "value": value,
            "gradient": gradient,
            "result": result,
            "pulled": pull(result)[0],
            "pushed": wg.jvp(f, (v,), (direction,))[1],
            "jacobian": wg.jacobian(f, mode="forward")(v),
            "jacobian by rows": wg.jacobian(f, mode="reverse")(v),
            "hessian": wg.hessian(s)(v),
            "hessian times a vector": reverse_twice(v),
            "forward over reverse": wg.jvp(wg.grad(s), (v,), (direction,))[1],
            "reverse over forward": wg.grad(lambda v: wg.jvp(s, (v,), (direction,))[1])(v),
            "mapped": wg.vmap(f)(points),
            "mapped gradients": wg.vmap(wg.grad(s))(points),
            "gradients of a map": wg.grad(lambda p: wg.sum(wg.vmap(s)(p)))(points),
            "checkpointed": wg.grad(wg.checkpoint(s))(v),
        }

    return call


@functools.cache
def expected(name: str) -> dict[str, np.ndarray]:
    """Return what JAX says."""
    program = PROGRAMS[name]
    s = summed(JAX, program)

    def f(v):
        return program(JAX, v)

    def call(v, points):
        jacobian, gradient, hessian = jax.jacrev(f)(v), jax.grad(s)(v), jax.hessian(s)(v)
        gradients = jax.vmap(jax.grad(s))(points)
        product = hessian @ DIRECTION
        return {
            "value": s(v),
            "gradient": gradient,
            "result": f(v),
            "pulled": f(v) @ jacobian,
            "pushed": jacobian @ DIRECTION,
            "jacobian": jacobian,
            "jacobian by rows": jacobian,
            "hessian": hessian,
            "hessian times a vector": product,
            "forward over reverse": product,
            "reverse over forward": product,
            "mapped": jax.vmap(f)(points),
            "mapped gradients": gradients,
            "gradients of a map": gradients,
            "checkpointed": gradient,
        }

    with jax.enable_x64(True):
        found = jax.jit(call)(VECTOR, POINTS)
        return {name: np.asarray(value) for name, value in found.items()}


def compare(found: dict[str, Any], name: str) -> None:
    want = expected(name)
    assert found.keys() == want.keys()
    for key, value in found.items():
        value = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        assert value.dtype == np.float64, key
        np.testing.assert_allclose(value, want[key], rtol=1e-10, atol=1e-10, err_msg=key)


@pytest.mark.parametrize("name", PROGRAMS)
def test_loops_that_python_runs(name):
    compare(derivatives(OURS, PROGRAMS[name])(VECTOR, POINTS), name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_program_with_loops_of_python(name):
    # vmap maps no `if`
    if name not in ("cond_in_scan", "scan_in_cond"):
        compare(derivatives(PLAIN, PROGRAMS[name])(VECTOR, POINTS), name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_loops_over_arrays_of_pytorch(name):
    torch = pytest.importorskip("torch")
    call = derivatives(OURS, PROGRAMS[name], torch.from_numpy)
    found = call(torch.from_numpy(VECTOR), torch.from_numpy(POINTS))
    assert all(isinstance(value, torch.Tensor) for value in found.values())
    compare(found, name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_loops(name):
    compare(wg.jit(derivatives(OURS, PROGRAMS[name]))(VECTOR, POINTS), name)
