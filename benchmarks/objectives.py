"""ADBench's objectives, from their mathematics, for any namespace of array functions.

Each takes the namespace `xp` first, so that one text serves `jax.numpy`, Wengert, PyTorch and
HIPS autograd; `benchmarks.adbench` says what each of these calls a function. Sizes are those of
the benchmark: Gaussian mixtures, bundle adjustment, hand tracking, and a small LSTM over
characters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any

# -- Gaussian mixture -------------------------------------------------------------------------


def gmm_data(points: int, d: int, k: int) -> tuple[np.ndarray, ...]:
    """Return weights, means, factors of inverse covariances (diagonal, then below), and points."""
    rng = np.random.default_rng(0)
    below = d * (d - 1) // 2
    factors = 0.1 * rng.standard_normal((k, d + below))
    return (
        rng.standard_normal(k),
        rng.standard_normal((k, d)),
        factors,
        rng.standard_normal((points, d)),
    )


def below_diagonal(d: int) -> np.ndarray:
    """Return for each element of a d x d matrix its number below the diagonal; 0 elsewhere."""
    rows, columns = np.tril_indices(d, -1)
    place = np.zeros((d, d), int)
    place[rows, columns] = np.arange(len(rows)) + 1
    return place


def gmm_constant(points: int, d: int, k: int) -> float:
    """Return what the log-likelihood with a Wishart prior adds, whatever the parameters are."""
    degrees = d + 1
    lgammas = sum(math.lgamma(0.5 * degrees + (1 - j) / 2) for j in range(1, d + 1))
    norm = -degrees * d * 0.5 * math.log(2) - lgammas - 0.25 * d * (d - 1) * math.log(math.pi)
    return -points * d * 0.5 * math.log(2 * math.pi) + k * norm


def gmm(xp: Any, logsumexp: Callable[..., Array], alphas: Array, means: Array, factors: Array,
        x: Array) -> Array:  # fmt: skip
    """Return the log-likelihood of points under a mixture, with a Wishart prior."""
    n, d = x.shape
    k = means.shape[0]
    logs, lower = factors[:, :d], factors[:, d:]
    scales = xp.exp(logs)
    full = xp.concat([xp.zeros((k, 1), dtype=lower.dtype), lower], axis=1)
    strict = xp.reshape(full[:, below_diagonal(d).reshape(-1)], (k, d, d))
    away = x - means[:, None, :]
    product = away @ xp.swapaxes(strict, 1, 2) + scales[:, None, :] * away
    squares = xp.sum(product**2, axis=2)
    inner = (alphas + xp.sum(logs, axis=1))[:, None] - 0.5 * squares
    likelihood = xp.sum(logsumexp(inner, axis=0)) - n * logsumexp(alphas, axis=0)
    prior = 0.5 * (xp.sum(scales**2) + xp.sum(lower**2))
    return likelihood + prior + gmm_constant(n, d, k)


def gmm_by_hand(alphas: np.ndarray, means: np.ndarray, factors: np.ndarray,
                x: np.ndarray) -> tuple[Any, ...]:  # fmt: skip
    """Return the gradients of `gmm`, in NumPy."""
    n, d = x.shape
    k = len(means)
    logs, lower = factors[:, :d], factors[:, d:]
    scales = np.exp(logs)
    matrix = np.zeros((k, d, d))
    rows, columns = np.tril_indices(d, -1)
    matrix[:, rows, columns] = lower
    matrix[:, np.arange(d), np.arange(d)] = scales
    away = x - means[:, None, :]
    product = away @ matrix.swapaxes(1, 2)
    inner = (alphas + logs.sum(axis=1))[:, None] - 0.5 * np.einsum("kni,kni->kn", product, product)
    inner -= inner.max(axis=0)
    shares = np.exp(inner, out=inner)
    shares /= shares.sum(axis=0)
    sums = shares.sum(axis=1)
    product *= shares[:, :, None]
    by_matrix = -(product.swapaxes(1, 2) @ away)
    by_means = (product.sum(axis=1)[:, None, :] @ matrix)[:, 0, :]
    by_logs = sums[:, None] + by_matrix[:, np.arange(d), np.arange(d)] * scales + scales**2
    by_lower = by_matrix[:, rows, columns] + lower
    share = np.exp(alphas - alphas.max())
    return sums - n * share / share.sum(), by_means, np.concatenate([by_logs, by_lower], axis=1)


# -- bundle adjustment ------------------------------------------------------------------------


def ba_data(cameras: int, points: int, observations: int) -> tuple[np.ndarray, ...]:
    """Return cameras, points and weights in one vector; who sees which point, and where.

    A camera has 11 numbers: a rotation (3), its centre (3), focal length, principal point (2) and
    radial distortion (2).
    """
    rng = np.random.default_rng(0)
    seen = np.column_stack([
        0.1 * rng.standard_normal((cameras, 3)),
        rng.standard_normal((cameras, 3)) - np.array([0.0, 0.0, 20.0]),
        2.0 + 0.1 * rng.standard_normal((cameras, 1)),
        0.1 * rng.standard_normal((cameras, 2)),
        0.01 * rng.standard_normal((cameras, 2)),
    ])  # fmt: skip
    place = rng.standard_normal((points, 3))
    weights = 1.0 + 0.1 * rng.standard_normal(observations)
    camera = np.sort(rng.integers(0, cameras, observations))
    # each camera sees a point at most once, as a matrix without equal positions needs
    first = np.searchsorted(camera, camera)
    point = (7 * camera + np.arange(observations) - first) % points
    pixels = 0.1 * rng.standard_normal((observations, 2))
    return np.concatenate([seen.ravel(), place.ravel(), weights]), camera, point, pixels


def projected(xp: Any, cross: Callable[..., Array], camera: Array, point: Array) -> Array:
    """Return where cameras see points: a camera and a point for each row."""
    turn, centre = camera[:, :3], camera[:, 3:6]
    away = point - centre
    squared = xp.sum(turn * turn, axis=1, keepdims=True)
    angle = xp.sqrt(squared)
    cosine, sine = xp.cos(angle), xp.sin(angle)
    axis = turn / angle
    along = xp.sum(axis * away, axis=1, keepdims=True) * (1 - cosine)
    turned = away * cosine + cross(axis, away) * sine + axis * along
    flat = turned[:, :2] / turned[:, 2:]
    radius = xp.sum(flat * flat, axis=1, keepdims=True)
    scale = 1 + camera[:, 9:10] * radius + camera[:, 10:11] * radius * radius
    return camera[:, 6:7] * scale * flat + camera[:, 7:9]


def ba_errors(xp: Any, cross: Callable[..., Array], camera: Array, point: Array, weights: Array,
              pixels: Any) -> Array:  # fmt: skip
    """Return the errors of observations: two of projection for each, then one of each weight."""
    error = weights[:, None] * (projected(xp, cross, camera, point) - pixels)
    return xp.concat([xp.reshape(error, (-1,)), 1 - weights**2], axis=0)


# -- LSTM over characters ---------------------------------------------------------------------


def lstm_data(steps: int, width: int = 14, layers: int = 2) -> tuple[np.ndarray, ...]:
    """Return weights of layers, of input and output, the first states, and one-hot characters."""
    rng = np.random.default_rng(0)
    characters = np.eye(width)[rng.integers(0, width, steps + 1)]
    return (
        0.3 * rng.standard_normal((layers, 2, 4 * width)),
        0.3 * rng.standard_normal((3, width)),
        0.3 * rng.standard_normal((layers, 2, width)),
        characters,
    )


def lstm(xp: Any, sigmoid: Callable[..., Array], scan: Callable[..., Any], main: Array,
         extra: Array, states: Array, characters: Array) -> Array:  # fmt: skip
    """Return the loss of predicting each character from those before it."""
    layers, _, wide = main.shape
    width = wide // 4
    weights = [(main[k, 0, :], main[k, 1, :]) for k in range(layers)]
    enter, leave, bias = (extra[i, :] for i in range(3))

    def step(states: Any, pair: Any) -> tuple[Any, Array]:
        character, following = pair
        x = character * enter
        new = []
        for (h, c), (weight, offset) in zip(states, weights, strict=True):
            z = xp.concat([x, h, x, h], axis=0) * weight + offset
            gates = sigmoid(z[: 3 * width])
            keep, take, show = (gates[j * width : (j + 1) * width] for j in range(3))
            c = c * keep + take * xp.tanh(z[3 * width :])
            x = show * xp.tanh(c)
            new.append((x, c))
        y = x * leave + bias
        y = y - xp.log(2 + xp.sum(xp.exp(y)))
        return new, xp.sum(following * y)

    first = [(states[k, 0, :], states[k, 1, :]) for k in range(layers)]
    _, found = scan(step, first, (characters[:-1, :], characters[1:, :]))
    return -xp.sum(found) / ((characters.shape[0] - 1) * width)


def lstm_by_hand(main: np.ndarray, extra: np.ndarray, states: np.ndarray,
                 characters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return the gradients of `lstm` by its weights, in NumPy."""
    layers, _, wide = main.shape
    width, steps = wide // 4, len(characters) - 1
    enter, leave, bias = extra
    joined = np.empty((steps, layers, wide))
    gates = np.empty((steps, layers, wide))
    cells = np.empty((steps + 1, layers, width))
    curved = np.empty((steps, layers, width))
    outputs = np.empty((steps, width))
    cells[0] = states[:, 1, :]
    hidden = list(states[:, 0, :])
    entered = characters[:-1] * enter
    for t in range(steps):
        x = entered[t]
        for k in range(layers):
            a, z = joined[t, k], gates[t, k]
            a[:width] = a[2 * width : 3 * width] = x
            a[width : 2 * width] = a[3 * width :] = hidden[k]
            np.multiply(a, main[k, 0], out=z)
            z += main[k, 1]
            open_, new = z[: 3 * width], z[3 * width :]
            open_[...] = 1 / (1 + np.exp(-open_))
            np.tanh(new, out=new)
            c = cells[t + 1, k]
            np.multiply(cells[t, k], z[:width], out=c)
            c += z[width : 2 * width] * new
            np.tanh(c, out=curved[t, k])
            x = hidden[k] = z[2 * width : 3 * width] * curved[t, k]
        outputs[t] = x
    exponentials = np.exp(outputs * leave + bias)
    g = characters[1:] / (-steps * width)
    shares = exponentials / (2 + exponentials.sum(axis=1, keepdims=True))
    g = g - g.sum(axis=1, keepdims=True) * shares
    by_extra = np.empty_like(extra)
    by_extra[1], by_extra[2] = (g * outputs).sum(axis=0), g.sum(axis=0)
    by_output = g * leave
    slopes = gates * (1 - gates)
    slopes[:, :, 3 * width :] = 1 - gates[:, :, 3 * width :] ** 2
    by_gates = np.empty_like(gates)
    by_entered = np.empty_like(entered)
    by_hidden, by_cells = np.zeros((layers, width)), np.zeros((layers, width))
    flat = 1 - curved**2
    for t in reversed(range(steps)):
        gx = by_output[t]
        for k in reversed(range(layers)):
            z, gz = gates[t, k], by_gates[t, k]
            gh = gx + by_hidden[k]
            gc = by_cells[k] + gh * z[2 * width : 3 * width] * flat[t, k]
            np.multiply(gc, cells[t, k], out=gz[:width])
            np.multiply(gc, z[3 * width :], out=gz[width : 2 * width])
            np.multiply(gh, curved[t, k], out=gz[2 * width : 3 * width])
            np.multiply(gc, z[width : 2 * width], out=gz[3 * width :])
            gz *= slopes[t, k]
            np.multiply(gc, z[:width], out=by_cells[k])
            ga = gz * main[k, 0]
            gx = ga[:width] + ga[2 * width : 3 * width]
            np.add(ga[width : 2 * width], ga[3 * width :], out=by_hidden[k])
        by_entered[t] = gx
    by_extra[0] = (by_entered * characters[:-1]).sum(axis=0)
    return np.stack([(by_gates * joined).sum(axis=0), by_gates.sum(axis=0)], axis=1), by_extra


# -- hand tracking ----------------------------------------------------------------------------

#: Bones: the wrist, and four of each finger. A finger's first joint bends in two directions, the
#: next two in one, and the tip not at all.
_FINGERS, _JOINTS = 5, 4
_BONES = 1 + _FINGERS * _JOINTS


def _about_axes() -> np.ndarray:
    """Return for each axis three matrices: a rotation is a + b cos(angle) + c sin(angle)."""
    constant = np.stack([np.diag(row) for row in np.eye(3)])
    across = np.cross(np.eye(3)[:, None, :], np.eye(3)[None, :, :])
    return np.stack([constant, np.eye(3) - constant, across], axis=1)


def hand_data(points: int, corners: int = 1) -> tuple[np.ndarray, ...]:
    """Return parameters; matrices of rotations, bones at rest, vertices and weights, and points.

    There are so many vertices for each point: with three of them, points lie on triangles.
    """
    rng = np.random.default_rng(0)
    rest = 0.3 * rng.standard_normal((_FINGERS, _JOINTS, 3))
    base = rng.standard_normal((corners * points, 3))
    weights = rng.random((corners * points, _BONES)) ** 6
    weights /= weights.sum(axis=1, keepdims=True)
    target = base[:points] + 0.1 * rng.standard_normal((points, 3))
    return 0.2 * rng.standard_normal(26), _about_axes(), rest, base, weights, target


def hand(xp: Any, theta: Array, about: Array, rest: Array, base: Array, weights: Array,
         target: Array) -> Array:  # fmt: skip
    """Return how far vertices of a bent hand are from points, as one vector."""
    return xp.reshape(_posed(xp, theta, about, rest, base, weights) - target, (-1,))


def hand_on_triangles(xp: Any, theta: Array, places: Array, about: Array, rest: Array,
                      base: Array, weights: Array, target: Array) -> Array:  # fmt: skip
    """Return how far places on triangles of a bent hand are from points: ADBench's complicated."""
    corners = xp.reshape(_posed(xp, theta, about, rest, base, weights), (3, -1, 3))
    one, two = places[:, :1], places[:, 1:]
    found = one * corners[0] + two * corners[1] + (1 - one - two) * corners[2]
    return xp.reshape(found - target, (-1,))


def _posed(xp: Any, theta: Array, about: Array, rest: Array, base: Array, weights: Array) -> Array:
    """Return vertices of a bent hand: each is moved by its bones, as their weights say."""

    def rotation(angle: Array, axis: int) -> Array:
        angle = angle[..., None, None]
        return about[axis, 0] + about[axis, 1] * xp.cos(angle) + about[axis, 2] * xp.sin(angle)

    wrist = rotation(theta[2], 2) @ rotation(theta[1], 1) @ rotation(theta[0], 0)
    place = theta[3:6]
    angles = xp.reshape(theta[6:], (_FINGERS, 4))
    own = [
        rotation(angles[:, 0], 0) @ rotation(angles[:, 1], 2),
        rotation(angles[:, 2], 0),
        rotation(angles[:, 3], 0),
    ]
    turn, move = wrist, place
    turns, moves = [], []
    for j in range(_JOINTS):
        move = xp.sum(turn * rest[:, j, None, :], axis=2) + move
        turn = turn if j == len(own) else turn @ own[j]
        turns.append(turn)
        moves.append(move)
    turns = xp.concat([xp.reshape(wrist, (1, 9)), *(xp.reshape(t, (-1, 9)) for t in turns)], axis=0)
    moves = xp.concat([xp.reshape(place, (1, 3)), *moves], axis=0)
    turned = xp.reshape(weights @ turns, (-1, 3, 3))
    return xp.sum(turned * base[:, None, :], axis=2) + weights @ moves
