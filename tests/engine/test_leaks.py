"""Nothing that a derivative took stays in memory, and nothing waits for the cycle collector."""

import gc
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import wengert as wg

STEPS = 2_000  # `python -m tests.engine.test_leaks` takes 100,000
X = np.linspace(0.1, 1.0, 8)
MATRIX = wg.asarray(np.linspace(-1.0, 1.0, 64).reshape(8, 8))


def loss(x: Any) -> Any:
    return wg.sum(wg.tanh(MATRIX @ x) ** 2) + wg.sum(x[2:] * wg.exp(x[:-2]))


def once() -> None:
    x = wg.Variable(X)
    with wg.GradientTape() as tape:
        y = loss(x)
    tape.gradient(y, x)


def persistent() -> None:
    x = wg.asarray(X)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = wg.sin(x)
        z = loss(y)
    tape.gradient(z, x)
    tape.gradient(z, y.at[2:4])
    tape.jacobian(y, x)


def never_asked() -> None:
    x = wg.asarray(X)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        loss(x)


def nested() -> None:
    x = wg.Variable(X)
    with wg.GradientTape() as outer:
        with wg.GradientTape() as inner:
            y = loss(x)
        slope = inner.gradient(y, x)
        z = wg.sum(slope**2)
    outer.gradient(z, x)


def error_in_a_tape() -> None:
    x = wg.Variable(X)
    with suppress(ZeroDivisionError), wg.GradientTape(), wg.GradientTape(persistent=True):
        loss(x)
        raise ZeroDivisionError


def error_in_an_operation() -> None:
    x = wg.Variable(X)
    with suppress(ValueError), wg.GradientTape():
        loss(x) + wg.reshape(x, (3, 3))


@wg.custom_gradient
def clipped(x: Any) -> Any:
    return x * 2, lambda g: wg.clip(g, -1.0, 1.0) + 0 * x


def error_in_a_rule() -> None:
    @wg.custom_gradient
    def wrong(x: Any) -> Any:
        def pull(g: Any) -> Any:
            raise ZeroDivisionError

        return x * 2, pull

    with suppress(ZeroDivisionError):
        wg.grad(lambda x: wg.sum(wrong(wg.sin(x))))(X)


def forward() -> None:
    x = wg.asarray(X)
    with wg.ForwardAccumulator(x, wg.ones(8)) as accumulator:
        y = loss(x)
    accumulator.jvp(y)


PROGRAMS: dict[str, Callable[[], Any]] = {
    "tape": once,
    "persistent tape": persistent,
    "tape never asked": never_asked,
    "nested tapes": nested,
    "error in a tape": error_in_a_tape,
    "error in an operation": error_in_an_operation,
    "error in a rule": error_in_a_rule,
    "forward": forward,
    "grad": lambda: wg.grad(loss)(X),
    "grad of grad": lambda: wg.grad(lambda x: wg.sum(wg.grad(loss)(x) ** 2))(X),
    "vjp": lambda: wg.vjp(loss, X)[1](1.0),
    "jvp": lambda: wg.jvp(loss, (X,), (X,)),
    "custom gradient": lambda: wg.grad(lambda x: wg.sum(clipped(wg.sin(x))))(X),
    "vmap of grad": lambda: wg.vmap(wg.grad(loss))(np.stack([X, X])),
    "jacobian": lambda: wg.jacobian(lambda x: wg.tanh(MATRIX @ x))(X),
    "hessian": lambda: wg.hessian(loss)(X),
    "checkpoint": lambda: wg.grad(lambda x: loss(wg.checkpoint(wg.sin)(x)))(X),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_waits_for_the_cycle_collector(name: str) -> None:
    program = PROGRAMS[name]
    for _ in range(3):  # what is made once and kept
        program()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        program()
        gc.collect()
        left = [type(each).__name__ for each in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert left == []


def training_step(params: list[wg.Variable], inputs: Any, targets: Any) -> None:
    """Take one step of a small network with momentum, as a user would write it."""
    weights, bias, out, velocity = params
    with wg.GradientTape() as tape:
        error = wg.tanh(inputs @ weights + bias) @ out - targets
        y = wg.mean(error**2)
    slopes = tape.gradient(y, [weights, bias, out])
    velocity.assign(0.9 * velocity + slopes[0])
    weights.assign_sub(0.01 * velocity)
    bias.assign_sub(0.01 * slopes[1])
    out.assign_sub(0.01 * slopes[2])


def growth(steps: int) -> int:
    """Return how many bytes more are held after this many steps of training."""
    rng = np.random.default_rng(0)
    sizes = [(4, 8), (8,), (8, 1), (4, 8)]
    params = [wg.Variable(rng.normal(size=size)) for size in sizes]
    inputs, targets = wg.asarray(rng.normal(size=(16, 4))), wg.asarray(rng.normal(size=(16, 1)))
    tracemalloc.start()
    try:
        gc.collect()
        gc.disable()  # reference counts alone must free it
        for _ in range(1_000):  # Python keeps up to 2,000 small tuples for the next ones
            training_step(params, inputs, targets)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(steps):
            training_step(params, inputs, targets)
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        gc.enable()
        tracemalloc.stop()


def test_training_holds_no_more_than_it_did() -> None:
    assert growth(STEPS) < STEPS * 2**20 // 100_000  # the rate of 1 MB in 100,000 steps


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print(f"{count} steps: {growth(count)} bytes more")
