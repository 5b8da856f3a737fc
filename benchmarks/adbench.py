"""ADBench: derivatives of its four objectives, each library in the way that suits it best.

Gradients of Gaussian mixtures and of an LSTM; the sparse Jacobian of bundle adjustment, as a CSR
matrix; the Jacobians of hand tracking. What counts is processor time on one thread, the smallest
of many rounds. Competitors named `numpy differences` are finite differences.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import objectives, peers
from benchmarks.frameworks import one_thread
from benchmarks.harness import Build, Case, Run, processor_timers

TORCH = "torch 1 thread"
DIFFERENCES = "numpy differences"
#: The step of a difference: its error is about as large as the step.
_STEP = 2.0**-26


def namespace(library: str) -> Any:
    """Return a library, or the module that has its functions of arrays, by NumPy's names."""
    if library == "jax":
        jax = peers.load("jax")
        jax.config.update("jax_enable_x64", True)
        return jax.numpy
    if library == "autograd":
        anp = peers.load("autograd.numpy")
        return types.SimpleNamespace(**{**vars(anp), "concat": anp.concatenate})
    return np if library == "numpy" else peers.load(library)


def case(
    name: str,
    about: str,
    build: Callable[..., Run],
    libraries: tuple[str, ...],
    must: dict[str, float],
    tolerance: float = 1e-6,
    **sizes: Any,
) -> Case:
    """Return a case whose competitors are built by ``build(library, **sizes)``."""
    competitors: dict[str, Build] = {
        library: functools.partial(build, peers.library_of(library)) for library in libraries
    }
    if TORCH in competitors:
        competitors[TORCH] = one_thread(competitors[TORCH])
    return Case(
        name=name,
        about=about,
        competitors=competitors,
        must=must,
        samplers=processor_timers,
        verdict="minimum",
        tolerance=tolerance,
        **sizes,
    )


def gradient(library: str, loss: Callable[..., Any], data: list[Any], argnums: Any) -> Run:
    """Return a run of the gradients of a function, whose other arguments are constants."""
    if library == "torch":
        torch = peers.load("torch")
        tensors = [torch.tensor(a) for a in data]
        leaves = [tensors[i].requires_grad_() for i in argnums]
        return lambda: torch.autograd.grad(loss(*tensors), leaves)
    if library == "jax":
        jax, jnp = peers.load("jax"), namespace("jax")
        compiled = jax.jit(jax.grad(loss, argnums))
        arrays = [*map(jnp.asarray, data)]
        return lambda: jax.block_until_ready(compiled(*arrays))
    by = peers.load(library).grad(loss, argnums)
    return lambda: by(*data)


# -- Gaussian mixtures --------------------------------------------------------------------------


def _gmm(library: str, **sizes: int) -> Run:
    data = [*objectives.gmm_data(**sizes)]
    if library == "numpy":
        return lambda: objectives.gmm_by_hand(*data)
    xp = namespace(library)
    logsumexp = {
        "wengert": lambda: xp.special.logsumexp,
        "torch": lambda: xp.logsumexp,
        "jax": lambda: peers.load("jax").scipy.special.logsumexp,
        "autograd": lambda: peers.load("autograd.scipy.special").logsumexp,
    }[library]()
    loss = functools.partial(objectives.gmm, xp, logsumexp)
    return gradient(library, loss, data, (0, 1, 2))


# -- an LSTM ------------------------------------------------------------------------------------


def _lstm(library: str, steps: int) -> Run:
    data = [*objectives.lstm_data(steps)]
    if library == "numpy":
        return lambda: objectives.lstm_by_hand(*data)
    xp = namespace(library)
    sigmoid = {
        "wengert": lambda: xp.nn.sigmoid,
        "torch": lambda: xp.sigmoid,
        "jax": lambda: peers.load("jax").nn.sigmoid,
        "autograd": lambda: lambda x: 1 / (1 + xp.exp(-x)),
    }[library]()

    def loop(step: Callable[..., Any], states: Any, pairs: Any) -> tuple[Any, Any]:
        found = []
        for pair in zip(*pairs, strict=True):
            states, y = step(states, pair)
            found.append(y)
        return states, xp.stack(found)

    scan = peers.load("jax").lax.scan if library == "jax" else loop
    return gradient(library, functools.partial(objectives.lstm, xp, sigmoid, scan), data, (0, 1))


# -- bundle adjustment --------------------------------------------------------------------------


class Sparse:
    """A matrix; as an array it is products with it, so that other formats and zeros compare."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        m, n = self.matrix.shape
        right, left = np.cos(np.arange(n)), np.cos(np.arange(m))
        return np.concatenate([self.matrix @ right, self.matrix.T @ left])


def _ba(library: str, **sizes: int) -> Run:
    x, camera, point, pixels = objectives.ba_data(**sizes)
    cameras, points, count = sizes["cameras"], sizes["points"], sizes["observations"]
    first, second = 11 * cameras, 11 * cameras + 3 * points
    xp = namespace(library)
    cross = {
        "wengert": lambda: xp.linalg.cross,
        "torch": lambda: xp.linalg.cross,
    }.get(library, lambda: xp.cross)()
    if library == "wengert":

        def errors(x: Any) -> Any:
            seen = xp.reshape(x[:first], (cameras, 11))[camera]
            place = xp.reshape(x[first:second], (points, 3))[point]
            return objectives.ba_errors(xp, cross, seen, place, x[second:], pixels)

        plan = xp.sparse.jacobian(errors, x)
        return lambda: Sparse(plan(x))

    # Others differentiate by the camera and the point of each observation: of the 15 derivatives
    # of an error none falls together with another.
    from scipy.sparse import csr_array

    columns = [11 * camera[:, None] + np.arange(11), first + 3 * point[:, None] + np.arange(3)]
    weights = second + np.arange(count)
    each = np.repeat(np.column_stack([*columns, weights]), 2, axis=0)
    indices = np.concatenate([each.reshape(-1), weights])
    ends = np.concatenate([15 * np.arange(2 * count + 1), 30 * count + 1 + np.arange(count)])
    values_at = _ba_values(library, functools.partial(objectives.projected, xp, cross), pixels)

    def run() -> Sparse:
        seen, place = x[:first].reshape(cameras, 11), x[first:second].reshape(points, 3)
        rows = values_at(seen[camera], place[point], x[second:])  # (count, 2, 15)
        data = np.concatenate([np.asarray(rows).reshape(-1), -2 * x[second:]])
        return Sparse(csr_array((data, indices, ends), (3 * count, len(x))))

    return run


def _ba_values(library: str, project: Callable[..., Any], pixels: np.ndarray) -> Any:
    """Return a function that gives the derivatives of both errors of each observation."""

    def errors(xp: Any, camera: Any, point: Any, weights: Any, pixels: Any) -> Any:
        return weights[:, None] * (project(camera, point) - pixels)

    units = np.zeros((2, *pixels.shape))
    units[0, :, 0] = units[1, :, 1] = 1.0
    if library == "torch":
        torch = peers.load("torch")
        there, seeds = torch.tensor(pixels), torch.tensor(units)

        def by_torch(*given: np.ndarray) -> Any:
            leaves = [torch.from_numpy(a).requires_grad_() for a in given]
            y = errors(torch, *leaves, there)
            sweeps = [
                torch.autograd.grad(y, leaves, seed, retain_graph=k == 0)
                for k, seed in enumerate(seeds)
            ]
            rows = [torch.cat([c, p, w[:, None]], dim=1) for c, p, w in sweeps]
            return torch.stack(rows, dim=1).numpy()

        return by_torch
    if library == "jax":
        jax = peers.load("jax")
        jnp = jax.numpy
        fixed, seeds = jnp.asarray(pixels), jnp.asarray(units)

        @jax.jit
        def by_jax(*given: Any) -> Any:
            _, pull = jax.vjp(lambda *leaves: errors(jnp, *leaves, fixed), *given)
            camera, point, weights = jax.vmap(pull)(seeds)
            return jnp.moveaxis(jnp.concatenate([camera, point, weights[..., None]], 2), 0, 1)

        return by_jax
    if library == "autograd":
        anp, make_vjp = peers.load("autograd.numpy"), peers.load("autograd").make_vjp

        def by_autograd(*given: np.ndarray) -> Any:
            pull, _ = make_vjp(lambda leaves: errors(anp, *leaves, pixels))(given)
            rows = [np.column_stack(pull(seed)) for seed in units]
            return np.stack(rows, axis=1)

        return by_autograd

    def by_differences(*given: np.ndarray) -> Any:
        rows = np.empty((*pixels.shape, 15))
        start = errors(np, *given, pixels)
        camera, point, weights = (a.copy() for a in given)
        shifted = [*camera.T, *point.T, weights]
        for k, column in enumerate(shifted):
            kept = column.copy()
            column += _STEP
            rows[:, :, k] = (errors(np, camera, point, weights, pixels) - start) / _STEP
            column[:] = kept
        return rows

    return by_differences


# -- hand tracking ------------------------------------------------------------------------------


def _hand(library: str, points: int) -> Run:
    theta, *constants = objectives.hand_data(points)
    f = functools.partial(objectives.hand, namespace(library))
    if library == "numpy":
        return lambda: _differences(lambda z: f(theta + z, *constants), 26)
    if library == "torch":
        torch = peers.load("torch")
        there = [torch.tensor(a) for a in (theta, *constants)]
        jacobian = torch.func.jacfwd(f)
        return lambda: jacobian(*there)
    if library == "jax":
        jax = peers.load("jax")
        compiled = jax.jit(jax.jacfwd(f))
        arrays = [*map(jax.numpy.asarray, (theta, *constants))]
        return lambda: jax.block_until_ready(compiled(*arrays))
    if library == "autograd":
        by = peers.load("autograd").jacobian(f)
    else:
        by = peers.load("wengert").jacobian(f, mode="forward")
    return lambda: by(theta, *constants)


def _differences(f: Callable[..., np.ndarray], count: int) -> np.ndarray:
    """Return the derivatives of f at 0 in so many directions."""
    start = f(np.zeros(count))
    return np.stack([(f(_STEP * row) - start) / _STEP for row in np.eye(count)], axis=1)


def _hand_on_triangles(library: str, points: int) -> Run:
    """Return a run of a Jacobian by 26 parameters and by both coordinates of each point.

    A point's coordinates move that point alone. So one direction serves all points: there are 28.
    """
    theta, *constants = objectives.hand_data(points, corners=3)
    places = np.random.default_rng(1).uniform(0.1, 0.4, (points, 2))
    f = functools.partial(objectives.hand_on_triangles, namespace(library))
    if library == "numpy":

        def moved(z: np.ndarray) -> np.ndarray:
            return f(theta + z[:26], places + z[26:], *constants)

        return lambda: _differences(moved, 28)
    by_theta, by_places = np.eye(26, 28), np.zeros((points, 2, 28))
    by_places[:, 0, 26] = by_places[:, 1, 27] = 1.0
    if library == "wengert":
        by = peers.load("wengert").jacobian(f, (0, 1), along=(by_theta, by_places))
        return lambda: by(theta, places, *constants)
    if library == "autograd":
        # of reverse mode alone: rows by all parameters, of which a point has two of its own
        jacobians = [peers.load("autograd").jacobian(f, k) for k in (0, 1)]

        def both() -> np.ndarray:
            first, second = (jacobian(theta, places, *constants) for jacobian in jacobians)
            return np.concatenate([first, second.sum(axis=1)], axis=1)

        return both
    seeds = (by_theta.T, np.moveaxis(by_places, 2, 0))
    if library == "torch":
        torch = peers.load("torch")
        at, directions = [torch.tensor(a) for a in (theta, places)], [*map(torch.tensor, seeds)]
        there = [torch.tensor(a) for a in constants]
        push = torch.func.vmap(
            lambda *v: torch.func.jvp(lambda *x: f(*x, *there), tuple(at), v)[1], out_dims=1
        )
        return lambda: push(*directions)
    jax = peers.load("jax")

    def along(at: Any, directions: Any, constants: Any) -> Any:
        def push(*v: Any) -> Any:
            return jax.jvp(lambda *x: f(*x, *constants), at, v)[1]

        return jax.vmap(push, out_axes=1)(*directions)

    compiled = jax.jit(along)
    arrays = [tuple(map(jax.numpy.asarray, a)) for a in ((theta, places), seeds, constants)]
    return lambda: jax.block_until_ready(compiled(*arrays))


_ALL = ("wengert", "numpy", TORCH, "jax jit", "autograd")
_JACOBIANS = ("wengert", DIFFERENCES, TORCH, "jax jit", "autograd")

CASES = [
    *(
        case(
            f"adbench-gmm-{d}" if points == 1000 else "adbench-gmm-large",
            f"ADBench: gradient of a Gaussian mixture of {k} in {d} dimensions, {points:,} points",
            _gmm,
            _ALL,
            {TORCH: 1.0, "numpy": 2.0},
            sizes={"points": points, "d": d, "k": k},
            small={"points": 5, "d": 3, "k": 2},
        )
        for points, d, k in ((1000, 10, 25), (10_000, 10, 25), (1000, 64, 200))
    ),
    case(
        "adbench-ba",
        "ADBench: Jacobian of bundle adjustment, 31,843 observations, as a CSR matrix",
        _ba,
        _JACOBIANS,
        {TORCH: 0.8, "jax jit": 1.1},
        sizes={"cameras": 49, "points": 7776, "observations": 31_843},
        small={"cameras": 3, "points": 5, "observations": 11},
    ),
    case(
        "adbench-hand",
        "ADBench: Jacobian of hand tracking, 100 points by 26 parameters",
        _hand,
        _JACOBIANS,
        {TORCH: 1.0, DIFFERENCES: 1.0},
        sizes={"points": 100},
        small={"points": 3},
    ),
    case(
        "adbench-hand-triangles",
        "ADBench: Jacobian of hand tracking with points on triangles, in 28 directions",
        _hand_on_triangles,
        _JACOBIANS,
        {TORCH: 1.0, DIFFERENCES: 1.0},
        sizes={"points": 100},
        small={"points": 3},
    ),
    case(
        "adbench-lstm",
        "ADBench: gradient of an LSTM of 2 layers over 1,024 characters, in a loop",
        _lstm,
        _ALL,
        {TORCH: 0.9},
        sizes={"steps": 1024},
        small={"steps": 4},
    ),
]
