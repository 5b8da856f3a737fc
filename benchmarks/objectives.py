"""ADBench's objectives, from their mathematics, for any namespace of array functions.

Each takes the namespace `xp` first, so that one text serves `jax.numpy` and Wengert. Sizes are
those of the benchmark: Gaussian mixtures, hand tracking, and a small LSTM over characters.
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


def gmm(xp: Any, logsumexp: Callable[..., Array], alphas: Array, means: Array, factors: Array,
        x: Array) -> Array:  # fmt: skip
    """Return the log-likelihood of points under a mixture, with a Wishart prior."""
    n, d = x.shape
    k = means.shape[0]
    gamma, m = 1.0, 0
    logs, lower = factors[:, :d], factors[:, d:]
    scales = xp.exp(logs)
    rows, columns = np.tril_indices(d, -1)
    place = np.zeros((d, d), int)
    place[rows, columns] = np.arange(len(rows)) + 1
    zero = xp.zeros((k, 1), dtype=lower.dtype)
    full = xp.concat([zero, lower], axis=1)
    strict = xp.reshape(xp.take(full, xp.asarray(place.reshape(-1)), axis=1), (k, d, d))
    away = x[:, None, :] - means[None, :, :]
    product = xp.einsum("kij,nkj->nki", strict, away) + scales[None, :, :] * away
    squares = xp.sum(product**2, axis=2)
    sums = xp.sum(logs, axis=1)
    inner = alphas[None, :] + sums[None, :] - 0.5 * squares
    likelihood = xp.sum(logsumexp(inner, axis=1)) - n * logsumexp(alphas, axis=0)
    degrees = d + m + 1
    prior = 0.5 * gamma**2 * (xp.sum(scales**2) + xp.sum(lower**2)) - m * xp.sum(sums)
    lgammas = sum(math.lgamma(0.5 * degrees + (1 - j) / 2) for j in range(1, d + 1))
    norm = degrees * d * (math.log(gamma) - 0.5 * math.log(2)) - lgammas
    norm -= 0.25 * d * (d - 1) * math.log(math.pi)
    constant = -n * d * 0.5 * math.log(2 * math.pi) + k * norm
    return likelihood + prior + constant


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


def lstm(xp: Any, scan: Callable[..., Any], main: Array, extra: Array, states: Array,
         characters: Array) -> Array:  # fmt: skip
    """Return the loss of predicting each character from those before it."""
    layers, _, wide = main.shape
    width = wide // 4

    def sigmoid(x: Array) -> Array:
        return 1 / (1 + xp.exp(-x))

    def step(states: Array, pair: Any) -> tuple[Array, Array]:
        character, following = pair
        x = character * extra[0, :]
        new = []
        for k in range(layers):
            h, c = states[k, 0, :], states[k, 1, :]
            z = xp.concat([x, h, x, h]) * main[k, 0, :] + main[k, 1, :]
            keep, take, show = (sigmoid(z[j * width : (j + 1) * width]) for j in range(3))
            c = c * keep + take * xp.tanh(z[3 * width :])
            x = show * xp.tanh(c)
            new.append(xp.stack([x, c]))
        y = x * extra[1, :] + extra[2, :]
        y = y - xp.log(2 + xp.sum(xp.exp(y)))
        return xp.stack(new), xp.sum(following * y)

    _, found = scan(step, states, (characters[:-1, :], characters[1:, :]))
    return -xp.sum(found) / ((characters.shape[0] - 1) * width)


# -- hand tracking ----------------------------------------------------------------------------

#: Bones: the wrist, and four of each finger. A finger's first joint moves in two directions.
_FINGERS, _JOINTS = 5, 4


def hand_data(points: int, vertices: int = 544) -> tuple[np.ndarray, ...]:
    """Return parameters, bones at rest, vertices at rest with their weights, and points."""
    rng = np.random.default_rng(0)
    bones = 1 + _FINGERS * _JOINTS
    rest = 0.3 * rng.standard_normal((bones, 3))
    base = rng.standard_normal((vertices, 3))
    weights = rng.random((vertices, bones)) ** 6
    weights /= weights.sum(axis=1, keepdims=True)
    chosen = rng.integers(0, vertices, points)
    target = base[chosen] + 0.1 * rng.standard_normal((points, 3))
    return 0.2 * rng.standard_normal(26), rest, base[chosen], weights[chosen], target


def hand(xp: Any, theta: Array, rest: Array, base: Array, weights: Array, target: Array) -> Array:
    """Return how far vertices of a bent hand are from points, as one vector."""
    wrist = _turned(xp, theta[0], theta[1], theta[2])
    place = theta[3:6]
    turns, moves = [wrist], [place]
    zero = 0.0 * theta[0]
    for f in range(_FINGERS):
        turn, move = wrist, place
        for j in range(_JOINTS):
            start = 6 + 4 * f
            if j == 0:
                own = _turned(xp, theta[start], theta[start + 1], zero)
            elif j < 3:
                own = _turned(xp, theta[start + 1 + j], zero, zero)
            else:  # the tip does not bend
                own = None
            move = turn @ rest[1 + f * _JOINTS + j, :] + move
            turn = turn if own is None else turn @ own
            turns.append(turn)
            moves.append(move)
    turned = xp.einsum("bij,vj->vbi", xp.stack(turns), base) + xp.stack(moves)[None, :, :]
    posed = xp.einsum("vb,vbi->vi", weights, turned)
    return xp.reshape(posed - target, (-1,))


def _turned(xp: Any, a: Array, b: Array, c: Array) -> Array:
    """Return the matrix of three rotations about the axes."""
    one, zero = 1.0 + 0.0 * a, 0.0 * a
    (ca, cb, cc), (sa, sb, sc) = map(xp.cos, (a, b, c)), map(xp.sin, (a, b, c))

    def matrix(*entries: Array) -> Array:
        return xp.reshape(xp.stack(entries), (3, 3))

    first = matrix(one, zero, zero, zero, ca, -sa, zero, sa, ca)
    second = matrix(cb, zero, sb, zero, one, zero, -sb, zero, cb)
    third = matrix(cc, -sc, zero, sc, cc, zero, zero, zero, one)
    return third @ (second @ first)
