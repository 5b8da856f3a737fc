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


@pytest.fixture(autouse=True)
def numbers_of_32_bits():
    """Set JAX to what it is set to at first, whatever other tests have done."""
    with jax.enable_x64(False):
        yield


def summed(lib: Any, program: Any) -> Any:
    """Return a number that depends on all of a program's result, and not linearly."""

    def call(v):
        z = program(lib, v)
        return lib.np.sum(z * z) + z[0]

    return call


#: What shows a defect of a loop's rule; all of what `derivatives` has takes long to compile.
SHORT = ("gradient", "jacobian", "hessian times a vector", "mapped gradients")


def derivatives(lib: Any, program: Any, like: Any = np.asarray, names: Any = None) -> Any:
    """Return a function from a point and several points to derivatives, by name."""
    direction = like(DIRECTION)

    def f(v):
        return program(lib, v)

    s = summed(lib, program)

    def pulled(v):
        result, pull = wg.vjp(f, v)
        return pull(result)[0]

    def product(v):
        return wg.sum(wg.grad(s)(v) * direction)

    by_name = {
        "value and gradient": lambda v, p: wg.stack([wg.sum(a) for a in wg.value_and_grad(s)(v)]),
        "gradient": lambda v, p: wg.grad(s)(v),
        "result": lambda v, p: f(v),
        "pulled": lambda v, p: pulled(v),
        "pushed": lambda v, p: wg.jvp(f, (v,), (direction,))[1],
        "jacobian": lambda v, p: wg.jacobian(f, mode="forward")(v),
        "jacobian by rows": lambda v, p: wg.jacobian(f, mode="reverse")(v),
        "hessian": lambda v, p: wg.hessian(s)(v),
        "hessian times a vector": lambda v, p: wg.grad(product)(v),
        "forward over reverse": lambda v, p: wg.jvp(wg.grad(s), (v,), (direction,))[1],
        "reverse over forward": lambda v, p: wg.grad(lambda v: wg.jvp(s, (v,), (direction,))[1])(v),
        "mapped": lambda v, p: wg.vmap(f)(p),
        "mapped gradients": lambda v, p: wg.vmap(wg.grad(s))(p),
        "gradients of a map": lambda v, p: wg.grad(lambda p: wg.sum(wg.vmap(s)(p)))(p),
        "checkpointed": lambda v, p: wg.grad(wg.checkpoint(s))(v),
    }
    return lambda v, points: {n: by_name[n](v, points) for n in names or by_name}


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
            "value and gradient": jnp.stack([s(v), jnp.sum(gradient)]),
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


@pytest.mark.peers
@pytest.mark.parametrize("name", PROGRAMS)
def test_loops_over_arrays_of_pytorch(name):
    torch = pytest.importorskip("torch")
    call = derivatives(OURS, PROGRAMS[name], torch.from_numpy)
    found = call(torch.from_numpy(VECTOR), torch.from_numpy(POINTS))
    assert all(isinstance(found[name], torch.Tensor) for name in SHORT)
    compare(found, name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_loops(name):
    compare(wg.jit(derivatives(OURS, PROGRAMS[name], names=SHORT))(VECTOR, POINTS), name)


@pytest.mark.parametrize("name", ["captured", "scan_in_cond"])
def test_compiled_loops_in_every_mode(name):
    compare(wg.jit(derivatives(OURS, PROGRAMS[name]))(VECTOR, POINTS), name)


def test_loops_that_jax_compiles():
    with jax.enable_x64(True):
        call = derivatives(OURS, PROGRAMS["integers"], jnp.asarray, SHORT)
        compare(jax.jit(call)(jnp.asarray(VECTOR), jnp.asarray(POINTS)), "integers")


def test_derivatives_of_a_compiled_function_with_loops():
    program = wg.jit(lambda v: PROGRAMS["nested"](OURS, v))
    names = (*SHORT, "pulled", "hessian", "gradients of a map", "checkpointed")
    compare(derivatives(OURS, lambda lib, v: program(v), names=names)(VECTOR, POINTS), "nested")


# -- tapes ------------------------------------------------------------------------------------


def asked_of_tapes(v, form=lambda v: v):
    """Return gradients from persistent tapes, of elements by elements, and of variables."""
    v = wg.asarray(v)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(v)
        z = form(PROGRAMS["captured"](OURS, v))
    twice = [tape.gradient(z, v) for _ in range(2)]
    return {
        "twice": wg.stack(twice),
        "an element": tape.gradient(z.at[0], v),
        "by an element": tape.gradient(z.at[1], v.at[2]),
        "by elements": tape.gradient(z.at[2:4], v.at[::5]),
        "a block": tape.gradient(z.at[0], v, dense=False),
    }


@pytest.mark.parametrize("form", [lambda f: f, wg.jit], ids=["python", "compiled"])
def test_tapes_and_elements(form):
    jacobian = expected("captured")["jacobian"]
    found = form(asked_of_tapes)(VECTOR)
    block = found.pop("a block")
    found["a block"] = block.todense() if isinstance(block, wg.Block) else block
    want = {
        "twice": np.stack([jacobian.sum(axis=0)] * 2),
        "an element": jacobian[0],
        "by an element": jacobian[1, 2],
        "by elements": jacobian[2:4, ::5].sum(axis=0),
        "a block": jacobian[0],
    }
    for key, value in found.items():
        np.testing.assert_allclose(np.asarray(value), want[key], 1e-10, 1e-10, err_msg=key)


@pytest.mark.parametrize("checkpoint", [False, True])
@pytest.mark.parametrize("form", [lambda f: f, wg.jit], ids=["python", "compiled"])
def test_variables_that_a_step_reads(form, checkpoint):
    w = wg.Variable(np.array([0.5, -0.3]))

    def loss(xs):
        step = lambda h, x: (wg.tanh(w * h + x), None)  # noqa: E731
        h = wg.scan(step, wg.ones(2), xs, checkpoint=checkpoint)[0]
        return wg.sum(wg.while_loop(lambda h: h[0] < 9.0, lambda h: h * w + 1, h, max_steps=2))

    xs = VECTOR[:8].reshape(4, 2)
    call = form(loss)
    for factor in (1.0, 2.0):  # a compiled program reads the value of now
        w.assign(w * factor)
        with wg.GradientTape() as outer, wg.GradientTape() as tape:
            value = call(wg.asarray(xs))
            got = tape.gradient(value, w)
        with wg.GradientTape() as plain_outer, wg.GradientTape() as plain:
            h = wg.ones(2)
            for x in xs:
                h = wg.tanh(w * h + x)
            reference = wg.sum((h * w + 1) * w + 1)
            want = plain.gradient(reference, w)
        np.testing.assert_allclose(np.asarray(value), np.asarray(reference), 1e-12)
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), 1e-12)
        second = outer.gradient(got, w), plain_outer.gradient(want, w)
        np.testing.assert_allclose(*map(np.asarray, second), 1e-11)


@pytest.mark.parametrize("checkpoint", [False, True])
@pytest.mark.parametrize("form", [lambda f: f, wg.jit], ids=["python", "compiled"])
def test_a_variable_that_is_assigned_after_a_loop(form, checkpoint):
    w = wg.Variable(0.5)

    def gradient(xs):
        with wg.GradientTape() as tape:
            step = lambda h, x: (wg.tanh(w * h + x), None)  # noqa: E731
            y = wg.scan(step, 1.0, xs, checkpoint=checkpoint)[0]
            w.assign(3.0)
        return tape.gradient(y, w)

    xs = np.linspace(0, 1, 4)
    want = wg.grad(lambda w: PLAIN.scan(lambda h, x: (wg.tanh(w * h + x), None), 1.0, xs)[0])(0.5)
    np.testing.assert_allclose(np.asarray(form(gradient)(wg.asarray(xs))), want, 1e-12)
    assert w.numpy() == 3.0


def test_a_compiled_step_assigns_to_no_variable():
    w = wg.Variable(0.5)

    def step(h, x):
        w.assign_add(1.0)
        return h + x, None

    with pytest.raises(wg.errors.CompileError, match="assigns to the variable .* state"):
        wg.jit(lambda xs: wg.scan(step, 0.0, xs)[0])(np.ones(3))
    assert w.numpy() == 0.5
    assert wg.scan(step, 0.0, np.ones(3))[0] == 3.0
    assert w.numpy() == 3.5


# -- what a loop is to a tape and to a compiler ----------------------------------------------


def thousand(w, xs):
    return wg.sum(wg.scan(lambda h, x: (wg.tanh(w * h + x), None), 0.0, xs)[0])


def reachable(node):
    """Return the operations that lead to a node."""
    seen, pending = {}, [node]
    for node in pending:
        if node is not None and id(node) not in seen:
            seen[id(node)] = node
            pending += [node.parent, *(parent for parent, _, _ in node.others)]
    return [n.op.name for n in seen.values() if n.parent is not None]


def test_a_loop_of_a_thousand_steps_is_one_node():
    w, xs = wg.asarray(0.5), wg.asarray(np.linspace(-1, 1, 1000))
    with wg.GradientTape() as tape:
        tape.watch([w, xs])
        last, ys = wg.scan(lambda h, x: (wg.tanh(w * h + x), h), 0.0, xs)
    assert len(reachable(last._node)) <= 2  # the loop, and which of its results this is
    assert reachable(last._node)[-1] == reachable(ys._node)[-1]


def test_a_loop_is_compiled_as_one_and_its_gradient_as_two():
    xs = jnp.linspace(-1.0, 1.0, 1000)
    loop = str(jax.make_jaxpr(lambda w: wg.asarray(thousand(w, xs))._raw)(0.5))
    assert loop.count(" scan[") == 1
    gradient = jax.make_jaxpr(lambda w: wg.grad(thousand)(w, xs))(jnp.asarray(0.5))
    assert str(gradient).count(" scan[") == 2
    assert len(str(gradient)) < 6000


def net(w, u, xs):
    """Return a number of the last state of a recurrent net, of rows of 3 and of 5 numbers."""
    last, _ = wg.scan(lambda h, x: (wg.tanh(x @ w + h @ u), None), xs[0] @ (w + 1), xs)
    return wg.sum(last * last)


@pytest.mark.parametrize("rows, outside, carried", [(4, 3, (1, 1)), (65, 0, (1, 3))])
def test_small_products_of_all_steps_are_one(rows, outside, carried):
    """Products of x, and those that make up a weight's gradient, leave the loops, if small."""
    normal = np.random.default_rng(2).normal
    at = [jnp.asarray(normal(size=size)) for size in ((3, 5), (5, 5), (7, rows, 3))]
    program = jax.make_jaxpr(wg.grad(net, argnums=(0, 1)))(*at)
    names = [step.primitive.name for step in program.eqns]
    without_loop = jax.make_jaxpr(wg.grad(lambda w, x: wg.sum((x @ (w + 1)) ** 2)))(at[0], at[2][0])
    for_first = [step.primitive.name for step in without_loop.eqns].count("dot_general")
    assert names.count("dot_general") - for_first == outside
    loops = [step.params["num_carry"] for step in program.eqns if step.primitive.name == "scan"]
    assert tuple(loops) == carried
    for found, expected in zip(
        jax.jit(wg.grad(net, argnums=(0, 1, 2)))(*at),
        wg.grad(net, argnums=(0, 1, 2))(*map(np.asarray, at)),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_a_checkpointed_loop_keeps_states_alone():
    """The compiled program has no array of a step's intermediate results."""

    def loss(w, xs, checkpoint):
        def step(h, x):
            wide = wg.sin(w * h + x * wg.ones(77))
            return wg.sum(wide * wide), None

        return wg.scan(step, 0.5, xs, checkpoint=checkpoint)[0]

    xs = jnp.ones(50)
    plain, light = (
        str(jax.make_jaxpr(lambda w, c=c: wg.grad(loss)(w, xs, c))(jnp.asarray(0.5)))
        for c in (False, True)
    )
    assert "f32[50,77]" in plain
    assert "f32[50,77]" not in light


# -- numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [lambda f: f, wg.jit], ids=["python", "compiled"])
def test_numbers_take_the_dtype_of_arrays(form):
    xs = np.linspace(0, 1, 4, dtype=np.float32)

    def loss(xs):
        state, ys = wg.scan(lambda s, x: ((s[0] * 0.5 + x, s[1] + 1), 2.0), (1.0, 0), xs)
        return state, ys

    (h, k), ys = form(loss)(xs)
    assert (h.dtype, k.dtype, ys.dtype) == (np.float32, np.int64, np.float32)
    assert k == 4
    gradient = form(wg.grad(lambda xs: loss(xs)[0][0]))(xs)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, [0.125, 0.25, 0.5, 1.0])


@pytest.mark.parametrize("form", [lambda f: f, wg.jit], ids=["python", "compiled"])
def test_what_where_drops_in_a_step_has_no_derivative(form):
    def loss(xs):
        def step(h, x):
            return h + wg.where(x > 0, wg.sqrt(x), 0.0) + wg.where(x < 0, wg.log(-x), 0.0), None

        return wg.scan(step, 0.0, xs)[0]

    xs = np.array([4.0, 0.0, -2.0])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(form(wg.grad(loss))(xs), [0.25, 0.0, -0.5])
        want = np.diag([-1 / 32, 0.0, -0.25])
        np.testing.assert_allclose(form(wg.hessian(loss))(xs), want)


@pytest.mark.parametrize("form", [lambda f: f, wg.jit], ids=["python", "compiled"])
def test_ties_share_evenly(form):
    def loss(x):
        largest = wg.scan(lambda h, _: (wg.maximum(h, x), wg.max(h)), x, length=1)
        return wg.sum(largest[0]) + wg.sum(largest[1]) + wg.sum(wg.abs(x * 0.0))

    got = form(wg.grad(loss))(np.array([3.0, 3.0, 1.0]))
    np.testing.assert_allclose(got, [1.5, 1.5, 1.0])
    np.testing.assert_allclose(form(wg.grad(lambda x: wg.maximum(x, 2.0)))(2.0), 0.5)


@pytest.mark.parametrize("form", [lambda f: f, wg.jit], ids=["python", "compiled"])
def test_only_the_chosen_function_has_a_derivative(form):
    def root(x):
        return wg.cond(x > 0, wg.sqrt, lambda x: 0.0 * x, x)

    with np.errstate(all="ignore"):
        assert form(wg.grad(root))(0.0) == 0.0
    assert form(wg.grad(root))(4.0) == 0.25
    assert form(wg.grad(wg.grad(root)))(4.0) == -1 / 32
    with np.errstate(all="ignore"):  # each example goes both ways
        mapped = form(wg.vmap(wg.grad(root)))(np.array([4.0, -1.0]))
    np.testing.assert_allclose(mapped, [0.25, 0.0])
