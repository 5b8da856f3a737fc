"""Solvers with exact sparse derivatives, against the same ones with finite differences.

The function is called on plain arrays by both, so that the difference is what derivatives cost,
and what the solver can do with a matrix that it knows to be sparse.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.harness import Case, Effort, Run, Sampler, check_agreement

# -- a stiff differential equation ----------------------------------------------------------------


def brusselator(n: int) -> tuple[Callable[..., Any], np.ndarray]:
    """Return the Brusselator on n x n periodic places: the rate of its two substances, a start."""
    spread = 0.02 * n * n

    def around(u: Any) -> Any:
        beside = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
        return spread * (beside - 4 * u)

    def rate(t: float, y: Any) -> Any:
        u, v = np.reshape(y, (2, n, n))
        made = u * u * v
        return np.reshape(np.stack([1 + made - 4 * u + around(u), 3 * u - made + around(v)]), (-1,))

    x = np.arange(n) / n
    across, down = np.meshgrid(x, x, indexing="ij")
    u = 1 + 0.5 * np.sin(2 * np.pi * across) * np.cos(2 * np.pi * down)
    v = 3 + 0.3 * np.cos(2 * np.pi * down)
    return rate, np.stack([u, v]).ravel()


def _wengert(n: int, end: float) -> Run:
    optim, integrate = peers.load("wengert.optim"), peers.load("scipy.integrate")
    rate, start = brusselator(n)

    def run() -> Any:  # the plan is made in here: it counts
        jac = optim.jac_for_ivp(rate, 0.0, start)
        return integrate.solve_ivp(rate, (0.0, end), start, method="Radau", jac=jac).y[:, -1]

    return run


def _wengert_trees(n: int, end: float) -> Run:
    optim = peers.load("wengert.optim")
    rate, start = brusselator(n)
    return lambda: optim.solve_ivp(rate, (0.0, end), start, "Radau").y[:, -1]


def _scipy(n: int, end: float) -> Run:
    integrate = peers.load("scipy.integrate")
    rate, start = brusselator(n)
    return lambda: integrate.solve_ivp(rate, (0.0, end), start, method="Radau").y[:, -1]


# -- long runs ------------------------------------------------------------------------------------


def once(case: Case, names: Iterable[str], effort: Effort) -> dict[str, Sampler]:
    """Return samplers of one call each, for runs so long that nothing else is worth a thought."""
    runs = {name: case.competitors[name](**case.sizes) for name in names}
    check_agreement(case, {name: run() for name, run in runs.items()})

    def sampler(run: Run) -> Sampler:
        def sample() -> float:
            start = time.perf_counter()
            run()
            return time.perf_counter() - start

        return sample

    return {name: sampler(run) for name, run in runs.items()}


CASES = [
    Case(
        name="ivp-brusselator",
        about="Radau on the 64x64 Brusselator, 8,192 unknowns, plan included",
        competitors={
            "wengert": _wengert,
            "wengert solve_ivp": _wengert_trees,
            "scipy": _scipy,
        },
        must={"scipy": 1 / 10},
        sizes={"n": 64, "end": 0.01},
        small={"n": 6, "end": 0.01},
        tolerance=1e-3,
        samplers=once,
    ),
]
