"""Programs with loops and choices, written once for `wg.scan`, for Python's own loops and for JAX.

A program takes a library and a vector, and returns a vector. Its derivatives by Wengert are
compared with those of the same program as Python's loops, and with JAX's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import wengert as wg
from wengert.trees import flatten, map_leaves


class Library(NamedTuple):
    """Functions of arrays, and control flow over them."""

    np: Any
    scan: Callable[..., Any]
    cond: Callable[..., Any]
    while_loop: Callable[..., Any]


def _python_scan(step, state, xs=None, length=None, *, reverse=False, checkpoint=False):
    parts = [] if xs is None else flatten(xs)[0]
    count = parts[0].shape[0] if parts else length
    found = [None] * count
    for k in reversed(range(count)) if reverse else range(count):
        x = None if xs is None else map_leaves(lambda a, k=k: a[k], xs)
        state, found[k] = step(state, x)
    columns = zip(*(flatten(y)[0] for y in found), strict=True)
    stacked = [None if c[0] is None else wg.stack([wg.asarray(v) for v in c]) for c in columns]
    return state, (flatten(found[0])[1](stacked) if found else None)


def _python_cond(condition, yes, no, *operands):
    return (yes if condition else no)(*operands)


def _python_while(condition, body, state, *, max_steps):
    for _ in range(max_steps):
        if not condition(state):
            break
        state = body(state)
    return state


def _jax_scan(step, state, xs=None, length=None, *, reverse=False, checkpoint=False):
    return lax.scan(jax.checkpoint(step) if checkpoint else step, state, xs, length, reverse)


def _jax_while(condition, body, state, *, max_steps):
    def step(state, _):
        return lax.cond(condition(state), body, lambda s: s, state), None

    return lax.scan(step, state, None, max_steps)[0]


OURS = Library(wg, wg.scan, wg.cond, wg.while_loop)
PLAIN = Library(wg, _python_scan, _python_cond, _python_while)
JAX = Library(jnp, _jax_scan, lax.cond, _jax_while)

SIZE = 16
VECTOR = np.random.default_rng(5).normal(size=SIZE) * 0.7


def _parts(v):
    """Return a matrix of 2 by 2, a state of 2, and 5 rows of 2."""
    return v[:4].reshape((2, 2)), v[4:6], v[6:].reshape((5, 2))


def _recurrence(lib, v, **options):
    w, h, xs = _parts(v)

    def step(h, x):
        h = lib.np.tanh(w @ h + x)
        return h, lib.np.sum(h * h)

    h, ys = lib.scan(step, h, xs, **options)
    return lib.np.concat([h, ys])


def captured(lib, v):
    """A recurrence whose matrix is not an argument of the step."""
    return _recurrence(lib, v)


def reverse(lib, v):
    """The same from the end."""
    return _recurrence(lib, v, reverse=True)


def checkpointed(lib, v):
    """The same, computed again in the sweep."""
    return _recurrence(lib, v, checkpoint=True)


def nests(lib, v):
    """Several states and several x in nests; no y."""
    w, h, xs = _parts(v)

    def step(state, x):
        a, (b, c) = state["a"], state["rest"]
        return {"a": lib.np.sin(w @ a) + x["row"], "rest": (b * a[0] + x["one"], a * c)}, None

    first = {"a": h, "rest": (h[0], w[1])}
    last, ys = lib.scan(step, first, {"one": xs[:, 1], "row": lib.np.flip(xs, axis=1)})
    assert ys is None
    return lib.np.concat([last["a"], last["rest"][1], lib.np.stack([last["rest"][0]])])


def integers(lib, v):
    """A state of integers that counts, and one of them among the y."""
    w, h, xs = _parts(v)

    def step(state, x):
        h, k = state
        return (lib.np.cos(h * (k + 1)) + x, k + 1), (k, h[0] ** 2)

    (h, k), (ks, ys) = lib.scan(step, (h, 0), xs)
    return lib.np.concat([h * k, ys * ks, w[0]])


def length(lib, v):
    """A loop without xs."""
    w, h, _ = _parts(v)
    h, ys = lib.scan(lambda h, _: (lib.np.sin(w @ h), (h, None)), h, length=3)
    return lib.np.concat([h, ys[0].reshape((6,))])


def no_steps(lib, v):
    """A loop over nothing."""
    w, h, xs = _parts(v)
    h, _ = lib.scan(lambda h, x: (lib.np.tanh(w @ h) + x, None), h * h, xs[:0])
    return lib.np.concat([h, w[0] ** 2])


def one_step(lib, v):
    """A loop over one row."""
    w, h, xs = _parts(v)
    h, ys = lib.scan(lambda h, x: (lib.np.tanh(w @ h) + x, h * x), h, xs[:1])
    return lib.np.concat([h, ys[0]])


def passed_on(lib, v):
    """States that change places, and y that are a state, an x or a captured tensor as it is."""
    w, h, xs = _parts(v)

    def step(state, x):
        a, b = state
        return (b, a * x), (a, x, w[0], 2.0)

    (a, b), (p, q, r, s) = lib.scan(step, (h, w[1]), xs)
    rest = [lib.np.sum(part * part, axis=1) for part in (p, q, r)]
    return lib.np.concat([a, b, *rest, s * v[0]])


def nested(lib, v):
    """A loop within a loop, whose step reads the outer state and the outer x."""
    w, h, xs = _parts(v)

    def outer(h, x):
        def inner(k, row):
            return lib.np.sin(k * x + row @ h), k[0]

        k, ys = lib.scan(inner, h, w)
        return k * h, lib.np.sum(ys**2)

    h, ys = lib.scan(outer, h, xs)
    return lib.np.concat([h, ys])


def cond_in_scan(lib, v):
    """A choice in each step, whose functions read the x and the matrix."""
    w, h, xs = _parts(v)

    def step(h, x):
        h = lib.cond(x[0] > 0, lambda h: lib.np.tanh(w @ h), lambda h: h * x + w[0, 0], h)
        return h, h[0]

    h, ys = lib.scan(step, h, xs)
    return lib.np.concat([h, ys])


def scan_in_cond(lib, v):
    """A loop in one of the functions of a choice, and none in the other."""
    w, h, xs = _parts(v)

    def loop(h):
        return lib.scan(lambda h, x: (lib.np.tanh(w @ h + x), None), h, xs)[0]

    a = lib.cond(v[0] < 100.0, loop, lambda h: h * xs[0], h)
    b = lib.cond(v[0] > 100.0, loop, lambda h: h * xs[0], h)
    return lib.np.concat([a, b])


def bounded(lib, v):
    """A loop that ends by a condition, after 3 of at most 6 steps."""
    w, h, _ = _parts(v)

    def body(state):
        h, k = state
        return lib.np.sin(w @ h) * (k + 1.5), k + 1

    h, k = lib.while_loop(lambda state: state[1] < 3, body, (h, 0), max_steps=6)
    return h * k


def complexes(lib, v):
    """A loop whose state is complex."""
    w, h, xs = _parts(v)

    def step(z, x):
        z = lib.np.exp(1j * x[0]) * z + (w[0, 0] + 1j * x[1]) * z * z
        return z, z[0]

    z, ys = lib.scan(step, h * (0.3 + 0.4j), xs)
    return lib.np.concat([lib.np.real(z), lib.np.imag(z), lib.np.imag(ys)])


def chosen(lib, v):
    """Elements of a state chosen by a condition, and the largest of others."""
    w, h, xs = _parts(v)

    def step(h, x):
        h = lib.np.where(x > 0, w @ h, lib.np.maximum(h, x)) + 0.1
        return h, lib.np.max(h)

    h, ys = lib.scan(step, h, xs)
    return lib.np.concat([h, ys])


def products(lib, v):
    """Rows times weights: of x alone, of the state, of both, transposed, and several times."""
    w, u, h = (v[k : k + 4].reshape((2, 2)) for k in (0, 4, 8))
    fixed = w @ u

    def step(h, x):
        of_x = lib.np.tanh(x @ w + 0.1) @ u
        h = lib.np.tanh(h @ w + of_x + 0.5 * (h @ w.T) + u @ h + w @ fixed)
        return h, x @ (w + u) + h.T @ u + fixed @ x

    last, ys = lib.scan(step, h, v.reshape((4, 2, 2)), reverse=True)
    return lib.np.concat([last.reshape((4,)), ys.reshape((16,))])


PROGRAMS = {
    p.__name__: p
    for p in (
        captured, reverse, checkpointed, nests, integers, length, no_steps, one_step, passed_on,
        nested, cond_in_scan, scan_in_cond, bounded, complexes, chosen, products,
    )
}  # fmt: skip
