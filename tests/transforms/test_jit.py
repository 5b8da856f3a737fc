"""wg.jit: what goes in and comes out, when it compiles, state, and errors."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
import textwrap
import threading
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import wengert as wg
from wengert.engine.batching import levels
from wengert.engine.node import active
from wengert.transforms.traced import compiling


@pytest.fixture(autouse=True)
def numbers_of_32_bits():
    """Set JAX to what it is set to at first, whatever other tests have done."""
    with jax.enable_x64(False):
        yield


def squares(x, y=1.0):
    return wg.sum(wg.sin(x) ** 2 * y)


# -- what goes in and comes out ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_numpy_in_and_out_in_the_dtype_that_was_given(dtype):
    x = np.ones(3, dtype)
    found = wg.jit(lambda x: (wg.sin(x), x * 2.0, wg.sum(x)))(x)
    assert [type(v).__module__ for v in found] == ["numpy"] * 3
    assert [v.dtype for v in found] == [np.dtype(dtype)] * 3
    assert not jax.config.jax_enable_x64


def test_integers_booleans_and_numbers():
    found = wg.jit(lambda n, k, b, t: (n + 1, k * 2, b & True, t * 0.5))(3, np.int8(2), True, 1.5)
    assert [v.dtype for v in found] == [np.int64, np.int8, np.bool_, np.float64]
    assert [v.item() for v in found] == [4, 4, True, 0.75]
    assert wg.jit(lambda: wg.ones(2))().dtype == np.float64


def test_arrays_of_jax_stay_arrays_of_jax():
    x = jnp.ones(3)
    assert isinstance(wg.jit(wg.sin)(x), jax.Array)
    gradient = wg.grad(wg.jit(squares))(x)
    assert isinstance(gradient, jax.Array)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, np.sin(2.0), 1e-6)


def test_every_call_returns_what_the_first_one_did():
    def total(x, more=0.0):
        leaves = x if isinstance(x, tuple) else (x,)
        return sum(wg.sum(leaf) for leaf in leaves) + more

    compiled = wg.jit(total)
    here, there = np.ones(2), jnp.ones(2)
    calls = [
        lambda: compiled(here), lambda: compiled(there), lambda: compiled(here, there),
        lambda: compiled((here, here)), lambda: compiled((there,)),
        lambda: compiled(here, more=here), lambda: compiled(wg.asarray(here)),
    ]  # fmt: skip
    first = [call() for call in calls]
    for _ in range(2):  # in another order, by programs that are known
        for call, before in reversed([*zip(calls, first, strict=True)]):
            again = call()
            assert type(again) is type(before)
            np.testing.assert_array_equal(np.asarray(again), np.asarray(before))
    nothing = wg.jit(lambda: 2 * wg.ones(3))
    assert type(nothing()) is type(nothing()) is np.ndarray


def test_tensors_in_and_out():
    y = wg.jit(wg.sin)(wg.ones(2))
    assert isinstance(y, wg.Tensor)
    assert isinstance(y.data, np.ndarray)
    assert isinstance(wg.jit(wg.sin)(wg.asarray(jnp.ones(2))).data, jax.Array)


@dataclasses.dataclass
class Layer:
    w: np.ndarray
    b: float
    name: str = "layer"


def test_nests_dataclasses_and_plain_values():
    @wg.jit
    def call(layer, rest, mode):
        scale = 1.0 if mode is None else 10.0
        return {"y": layer.w * layer.b * scale, "rest": (rest["a"][0], [None, "text", 3])}

    found = call(Layer(np.ones(2), 2.0), {"a": (np.ones(1), 3)}, None)
    np.testing.assert_array_equal(found["y"], [2.0, 2.0])
    assert found["rest"][1] == [None, "text", 3]
    assert call(Layer(np.ones(2), 2.0), {"a": (np.ones(1), 3)}, "many")["y"][0] == 20.0
    assert call.compilations == 2
    gradient = wg.grad(wg.jit(lambda p: wg.sum(p.w**2) * p.b))(Layer(np.ones(2), 2.0))
    np.testing.assert_array_equal(gradient.w, [4.0, 4.0])
    assert gradient.b == 2.0


def test_static_arguments_by_position_and_by_name():
    @wg.jit(static_argnums=1)
    def power(x, n, mode="power"):
        return x**n if mode == "power" else x * n

    x = np.arange(3.0)
    np.testing.assert_array_equal(power(x, 2), [0, 1, 4])
    np.testing.assert_array_equal(power(x, n=3), [0, 1, 8])
    np.testing.assert_array_equal(power(x, 2, mode="product"), [0, 2, 4])
    assert power.compilations == 3
    repeated = wg.jit(lambda x, n: sum(x for _ in range(n)), static_argnames="n")
    assert (repeated(2.0, 3), repeated(2.0, n=4), wg.grad(repeated)(2.0, 5)) == (6.0, 8.0, 5.0)


def test_static_numbers_of_different_kinds_are_different():
    call = wg.jit(lambda x, n: x * n[0], static_argnums=1)
    assert [call(2, (n,)).dtype for n in (1, 1.0, 1)] == [np.int64, np.float64, np.int64]
    with pytest.raises(TypeError, match="has no hash; pass tuples"):
        call(2, [1])


def test_donated_arrays_of_jax_are_gone_and_others_are_not():
    step = wg.jit(lambda n, x, y: {"x": x["x"] * n + y}, static_argnums=0, donate_argnums=1)
    x, y = {"x": jnp.ones(4)}, jnp.ones(4)
    assert step(2, x, y)["x"][0] == 3.0
    assert x["x"].is_deleted()
    assert not y.is_deleted()
    x = {"x": np.ones(4)}
    step(2, x, np.ones(4))
    np.testing.assert_array_equal(x["x"], 1.0)


class Model:
    def __init__(self):
        self.w = wg.Variable(np.ones(2))

    @wg.jit
    def loss(self, x):
        return wg.sum(self.w**2 * x)


def test_methods_read_the_variables_of_their_object():
    model, other = Model(), Model()
    assert model.loss(np.ones(2)) == 2.0
    model.w.assign([3.0, 0.0])
    assert (model.loss(np.ones(2)), other.loss(np.ones(2))) == (9.0, 2.0)
    with wg.GradientTape() as tape:
        y = model.loss(wg.ones(2))
    np.testing.assert_array_equal(np.asarray(tape.gradient(y, model.w)), [6.0, 0.0])
    np.testing.assert_array_equal(wg.grad(model.loss)(np.ones(2)), [9.0, 0.0])


# -- when it compiles -------------------------------------------------------------------------


def test_new_shapes_and_dtypes_are_compiled_and_others_are_not():
    call = wg.jit(squares)
    assert repr(call) == "<jit(squares), compiled 0 times>"
    for _ in range(3):
        call(np.ones(3))
    assert repr(call) == "<jit(squares), compiled once>"
    call(np.ones(4))
    call(np.ones(3, np.float32))
    call(np.zeros(3))
    assert call.compilations == 3


def test_the_gradient_of_a_compiled_function_keeps_its_programs():
    compiled = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, _, **rest: compiled.append(event) if "backend_compile" in event else None
    )
    gradient = wg.grad(wg.jit(squares))
    gradient(np.ones(5))
    count = len(compiled)
    assert count >= 2  # the values with what rules read, and the rules
    for k in range(3):
        np.testing.assert_allclose(gradient(np.full(5, float(k))), np.sin(2.0 * k))
    assert len(compiled) == count


def test_inside_of_another_it_is_a_part_of_the_other():
    inner = wg.jit(squares)
    outer = wg.jit(wg.value_and_grad(inner))
    value, gradient = outer(np.ones(2))
    np.testing.assert_allclose(value, 2 * np.sin(1.0) ** 2)
    np.testing.assert_allclose(gradient, np.sin(2.0))
    assert (outer.compilations, inner.compilations) == (1, 0)


def test_constants_of_numpy_meet_what_is_compiled():
    points = np.arange(8.0).reshape(4, 2)

    def loss(w):
        return wg.sum(wg.vmap(lambda x: wg.sum(w * x) ** 2)(points))

    w = np.array([0.5, -0.25])
    np.testing.assert_allclose(wg.jit(wg.grad(loss))(w), wg.grad(loss)(w), 1e-13)
    tangent = wg.jit(lambda w: wg.jvp(loss, (w,), (np.ones(2),))[1])
    np.testing.assert_allclose(tangent(w), wg.grad(loss)(w).sum(), 1e-13)
    pulled = wg.jit(lambda w: wg.vjp(wg.sin, w)[1](np.array([1.0, 2.0]))[0])
    np.testing.assert_allclose(pulled(w), np.cos(w) * [1, 2], 1e-13)


# -- state ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "optimiser",
    [
        wg.optim.SGD(0.05),
        wg.optim.SGD(0.05, momentum=0.9, dampening=0.5),
        wg.optim.Adam(0.05),
        wg.optim.AdamW(0.05, amsgrad=True),
        wg.optim.RMSprop(0.05),
        wg.optim.Adagrad(0.05),
    ],
    ids=lambda o: type(o).__name__,
)
def test_a_whole_training_step(optimiser):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(8, 3)), rng.normal(size=8)

    def train(form):
        def step(params, state, x, y):
            def loss(p):
                return wg.mean((x @ p["w"] + p["b"] - y) ** 2)

            value, gradient = wg.value_and_grad(loss)(params)
            return value, *optimiser.step(params, gradient, state)

        call, losses = form(step), []
        params = {"w": np.zeros(3), "b": np.zeros(())}
        state = optimiser.init(params)
        for _ in range(4):
            value, params, state = call(params, state, x, y)
            losses.append(value)
        if call is not step:
            assert call.compilations <= 2  # numbers in the first state, arrays in the next
        return losses, params["w"], params["b"]

    for got, want in zip(train(wg.jit), train(lambda f: f), strict=True):
        np.testing.assert_allclose(got, want, 1e-12)


def test_variables_are_assigned_after_each_call():
    total, count = wg.Variable(np.zeros(2)), wg.Variable(0)

    @wg.jit
    def add(x):
        count.assign_add(1)
        total.assign(total + x * count)
        return wg.sum(total)

    assert [add(np.ones(2)) for _ in range(3)] == [2.0, 6.0, 12.0]
    assert count.numpy() == 3
    assert count.dtype == np.int64
    total.assign([10.0, 10.0])
    assert add(np.zeros(2)) == 20.0
    assert add.compilations == 1


@pytest.mark.parametrize("given", [True, False])
def test_random_generators_are_refused_and_not_advanced(given):
    rng = np.random.default_rng(0)
    call = wg.jit(lambda x, rng: x * rng.normal()) if given else wg.jit(lambda x: x * rng.normal())
    before = rng.bit_generator.state
    for _ in range(2):
        with pytest.raises(wg.errors.CompileError, match="draws from Generator.*pass the numbers"):
            call(1.0, rng) if given else call(1.0)
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("sooner", [True, False], ids=["compiled before", "not compiled"])
def test_recorded_tensors_from_outside_are_refused(sooner):
    w = wg.ones(3)
    call = wg.jit(lambda x: wg.sum(w * x))
    if sooner:
        call(np.ones(3))
        wg.grad(call)(np.ones(3))
    with wg.GradientTape() as tape:
        tape.watch(w)
        for x in (np.ones(3), w * 2):
            with pytest.raises(wg.errors.RuleError, match="not an argument"):
                call(x)
    frozen = wg.jit(lambda x: wg.sum(wg.stop_gradient(w) * x))
    with wg.GradientTape() as tape:
        tape.watch(w)
        y = frozen(w)
    np.testing.assert_array_equal(np.asarray(tape.gradient(y, w)), 1.0)


def test_an_exception_leaves_nothing_behind():
    v = wg.Variable(np.ones(2))

    def fails(x):
        v.assign(v + x)
        raise ValueError("mine")

    call = wg.jit(fails)
    mapped = wg.vmap(lambda x: call(wg.stop_gradient(x)))  # no variable holds examples
    cases = [(call, ValueError), (call, ValueError), (wg.grad(call), ValueError)]
    for f, error in (*cases, (mapped, TypeError)):
        with pytest.raises(error, match="mine|inside of vmap"):
            f(np.ones(2))
        assert (compiling.get(), levels.get(), active.get()) == (None, (), frozenset())
        assert isinstance(v.value().data, np.ndarray)
        np.testing.assert_array_equal(v.numpy(), 1.0)


def test_threads():
    call = wg.jit(squares)
    found, failed = {}, []

    def work(k):
        try:
            found[k] = [wg.grad(call)(np.full(n, float(k))) for n in (2, 3)]
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    for k, gradients in found.items():
        for gradient in gradients:
            np.testing.assert_allclose(gradient, np.sin(2.0 * k), atol=1e-14)


# -- errors -----------------------------------------------------------------------------------


def takes_if(x):
    if x > 0:
        return x
    return -x


def takes_while(x):
    while x < 3.0:
        x = x * 2
    return x


def takes_range(x):
    return sum(x for _ in range(wg.astype(x, wg.int64)))


@pytest.mark.parametrize(
    ("function", "text"),
    [(takes_if, "if x > 0:"), (takes_while, "while x < 3.0:"), (takes_range, "range(")],
)
@pytest.mark.parametrize("form", [lambda f: f, wg.grad], ids=["values", "gradient"])
def test_python_control_flow_is_named_with_its_line(function, text, form):
    for call in (wg.jit(form(function)), form(wg.jit(function))):
        for _ in range(2):
            with pytest.raises(wg.errors.CompileError) as caught:
                call(1.0)
            message = str(caught.value)
            assert re.search(r"test_jit\.py:\d+", message)
            for part in (text, "wg.where", "wg.cond", "wg.scan", "static_argnums"):
                assert part in message
            assert not getattr(caught.value, "__notes__", None)


def test_a_programs_own_notes_on_errors_stay():
    @wg.jit
    def f(x):
        try:
            return x @ x[:2]
        except wg.ShapeError as error:
            error.add_note("in the third layer")
            raise

    with pytest.raises(wg.ShapeError) as caught:
        f(np.ones(3))
    assert caught.value.__notes__ == ["in the third layer"]


@pytest.mark.peers
def test_arrays_of_pytorch_are_refused():
    torch = pytest.importorskip("torch")
    for x in (torch.ones(2), wg.asarray(torch.ones(2))):
        with pytest.raises(TypeError, match="array of torch.*leave out wg.jit"):
            wg.jit(wg.sin)(x)


def test_what_is_no_function():
    with pytest.raises(TypeError, match=r"write wg.jit\(f\)\(x\), not wg.jit\(f\(x\)\)"):
        wg.jit(1.0)


def test_without_jax_an_error_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "wengert.backends.jax_control", raising=False)
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ImportError, match=r"pip install 'wengert\[jit\]'"):
        wg.jit(wg.sin)(1.0)


def test_sharded_arrays_have_sharded_gradients():
    program = """
        import jax, jax.numpy as jnp, numpy as np, wengert as wg
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        mesh = Mesh(np.array(jax.devices()), ("rows",))
        x = np.arange(32, dtype=np.float32).reshape(16, 2) / 32
        placed = jax.device_put(x, NamedSharding(mesh, P("rows")))
        loss = lambda x: wg.sum(wg.tanh(x @ x.T @ x))
        want = wg.grad(loss)(x)
        for call in (wg.jit(wg.grad(loss)), wg.grad(wg.jit(loss))):
            found = call(placed)
            assert len(found.sharding.device_set) == 8, found.sharding
            shards = {s.data.shape for s in found.addressable_shards}
            assert shards == {(2, 2)}, shards
            np.testing.assert_allclose(found, want, 1e-4, 1e-5)
        print("sharded")
    """
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, **flags},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout == "sharded\n", found.stderr


def test_a_variable_that_was_not_found_is_refused() -> None:
    hidden = wg.Variable([1.0, 2.0], name="hidden")
    read = weakref.ref(hidden)  # which a search does not look into

    def call(x: Any) -> Any:
        return read() * x

    with pytest.raises(wg.CompileError, match="reads variable 'hidden'.*pass the variable"):
        wg.jit(call)(np.ones(2))


def test_a_variable_of_the_function_itself_is_no_argument() -> None:
    @wg.jit
    def total(x: Any) -> Any:
        own = wg.Variable(np.zeros(2))
        return own.value() + x

    np.testing.assert_array_equal(total(np.ones(2)), [1.0, 1.0])
