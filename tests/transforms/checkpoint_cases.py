"""How the tests of checkpoints compare gradients and count calls."""

import weakref

import numpy as np

import wengert as wg


def same(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-12, atol=1e-14)


def gradients(function, *tensors, more=()):
    """Return the value of function(*tensors), and its gradients, by a tape."""
    with wg.GradientTape() as tape:
        tape.watch(tensors)
        y = function(*tensors)
    found = tape.gradient(y, [*tensors, *more])
    return [y.numpy(), *(None if g is None else g.numpy() for g in found)]


def assert_same(plain, other, *tensors, more=()):
    for a, b in zip(
        gradients(plain, *tensors, more=more), gradients(other, *tensors, more=more), strict=True
    ):
        same(a, b)


def vector(*values):
    return wg.asarray(np.array(values))


class Counter:
    """Counts how often a function is called."""

    def __init__(self, function):
        self.function = function
        self.calls = 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)


class Holder:
    """Refers to arrays that live as long as something keeps them."""

    def __init__(self):
        self.made = []
        self.most = 0

    def note(self, tensor):
        self.made = [ref for ref in self.made if ref() is not None]
        self.most = max(self.most, len(self.made))
        self.made.append(weakref.ref(tensor._raw))
        return tensor

    def alive(self):
        return sum(ref() is not None for ref in self.made)


def plain_loop(step, state, xs):
    for x in range(xs) if type(xs) is int else xs:
        state = step(state, x)
    return state
