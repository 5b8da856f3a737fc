"""Whether the rules of a custom function agree with each other and with the function."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from wengert.engine.tensor import Tensor, wrap
from wengert.transforms.check import (
    TOLERANCE,
    GradientCheckError,
    derivatives,
    in_double,
    random_direction,
    random_weights,
    weighted_sum,
)
from wengert.transforms.custom import CustomFunction, Invocation
from wengert.transforms.gradients import zeros_like
from wengert.transforms.single_node import is_inexact
from wengert.trees import flatten

#: What rules may differ by, which is rounding.
ROUNDING = 1e-10


def check_rules(
    function: CustomFunction,
    args: tuple[Any, ...],
    tolerance: float | None,
    projections: int,
    seed: int,
) -> None:
    """Raise GradientCheckError if the rules of a function disagree at `args`."""
    random = np.random.default_rng(seed)
    call = Invocation(function, args)
    tensors = [wrap(in_double(t)) if is_inexact(t) else t for t in call.tensors]
    call.tensors = tensors

    def values(tensors: list[Any]) -> list[np.ndarray]:
        return [r.numpy() for r in call.run(function.fun, tensors)[0]]

    expected = values(tensors)
    results = call.recordable()
    if function.fwd is not None:
        _compare_values(function, "the first function of defvjp", results, expected, tolerance)
    if function.jvp_rule is not None:
        zeros = [zeros_like(t) if is_inexact(t) else None for t in tensors]
        primals, tangents = tuple(call.rebuild(tensors)), tuple(call.rebuild(zeros))
        value = function.jvp_rule(*call.static.values(), primals, tangents)[0]
        leaves = call.as_results(flatten(value)[0])
        _compare_values(function, "the rule of defjvp", leaves, expected, tolerance)
    backward, forward = call.rules(results)
    results = results if call.reads_results else []
    for k in [k for k, t in enumerate(tensors) if is_inexact(t)] * projections:
        point = tensors[k].numpy()
        v = random_direction(point, random)
        weights = random_weights(expected, random)
        found: dict[str, float] = {}
        if function.bwd is not None:
            cotangents = backward(results, [wrap(w) for w in weights])
            found["defvjp"] = _product([cotangents[k]], [v])
        if forward is not None:
            moving: list[Any] = [None] * len(tensors)
            moving[k] = wrap(v)
            found["defjvp"] = _product(forward(results, moving), weights)

        def total(
            arrays: list[np.ndarray], k: int = k, weights: list[np.ndarray] = weights
        ) -> complex:
            return weighted_sum(values([*tensors[:k], wrap(arrays[0]), *tensors[k + 1 :]]), weights)

        numeric, method = derivatives(total, [point], [v])[0]
        found[f"{method} of the function"] = numeric
        _compare(function, k, found, TOLERANCE[method], tolerance)


def _compare_values(
    function: CustomFunction,
    what: str,
    given: Sequence[Tensor],
    expected: list[np.ndarray],
    tolerance: float | None,
) -> None:
    allowed = tolerance or ROUNDING
    if len(given) != len(expected) or not all(
        np.allclose(g.numpy(), e, rtol=allowed, atol=allowed, equal_nan=True)
        for g, e in zip(given, expected, strict=True)
    ):
        raise GradientCheckError(
            f"{function.name}: {what} returns another value than the function: "
            f"{[g.tolist() for g in given]!s:.80} and {[e.tolist() for e in expected]!s:.80}"
        )


def _compare(
    function: CustomFunction, k: int, found: dict[str, float], usual: float, given: float | None
) -> None:
    """Raise if derivatives differ: the last, a numerical one, by more than rounding."""
    scale = 1 + max(map(abs, found.values()))
    *_, numerical = found
    different = []
    for a, b in combinations(found, 2):
        allowed = usual if numerical in (a, b) else ROUNDING
        if not abs(found[a] - found[b]) <= scale * (allowed if given is None else given):
            different.append(f"{a} and {b}")
    if different:
        told = ", ".join(f"{name} gives {value:.10g}" for name, value in found.items())
        raise GradientCheckError(
            f"{function.name}: {'; '.join(different)} disagree on the derivative by argument array "
            f"{k}: along a random direction {told}"
        )


def _product(tensors: list[Any], weights: list[np.ndarray]) -> float:
    """Return the real part of the inner product of tensors and weights, None counting as 0."""
    pairs = zip(tensors, weights, strict=True)
    return float(sum(np.real(np.vdot(w, t.numpy())) for t, w in pairs if t is not None))
