"""Random keys of every form, read and written by Wengert and by NumPy on plain arrays."""

from __future__ import annotations

import math
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

import wengert as wg
from tests.campaign.keys import random_key, valid_key
from tests.campaign.programs import UPDATES
from tests.campaign.report import Report, numbered
from tests.campaign.source import literal
from tests.poison import poisoned

#: Axes of random arrays: also of length 1 and 0.
LENGTHS = [1, 2, 3, 4, 5, 0]


class Different(Exception):
    """Wengert and NumPy differ: what was asked, and both answers."""


def random_shape(rng: np.random.Generator) -> tuple[int, ...]:
    """Return a shape of up to four axes."""
    weights = [0.15, 0.25, 0.25, 0.2, 0.11, 0.04]
    return tuple(int(n) for n in rng.choice(LENGTHS, int(rng.integers(0, 5)), p=weights))


def numbers(rng: np.random.Generator, shape: Any) -> np.ndarray:
    """Return numbers between 0.5 and 1.5, none twice."""
    size = math.prod(shape)
    return np.asarray((0.5 + (rng.permutation(size) + 0.5) / max(size, 1)).reshape(shape).round(6))


def compare(what: str, got: Any, expected: Any) -> str:
    """Return the name of what was compared; raise Different if shapes or numbers differ."""
    got = got.todense() if isinstance(got, wg.Block) else got
    array, expected = np.asarray(got), np.asarray(expected)
    if array.shape != expected.shape:
        raise Different(f"{what}: shape {array.shape}, not {expected.shape}")
    if not np.allclose(array, expected, rtol=1e-12, atol=1e-12):
        raise Different(f"{what}: {literal(array)}, not {literal(expected)}")
    return what.partition(":")[0]


def updated(name: str, a: np.ndarray, key: Any, values: np.ndarray) -> np.ndarray:
    """Return what an update is, by NumPy."""
    out = a.copy()
    if name == "set":
        out[key] = values
    else:
        UPDATES[name].at(out, key, np.broadcast_to(values, a[key].shape))
    return out


def winners(a: np.ndarray, key: Any) -> np.ndarray:
    """Return for each element of `a` the number of the value that is set there, or -1."""
    count = a[key].size
    tags = np.full(a.shape, -1)
    tags[key] = np.arange(count).reshape(a[key].shape)
    return tags


def comparisons(
    rng: np.random.Generator, a: np.ndarray, key: Any, other: Any = ...
) -> Iterator[str]:
    """Yield the name of each comparison for an array and two keys that NumPy takes."""
    part = np.array(a[key])
    x = wg.asarray(a)
    yield compare("get", x[key], part)
    yield compare("get: at[key].get()", x.at[key].get(), part)
    yield compare("get: np.asarray first", wg.asarray(np.asarray(a))[key], part)
    w = numbers(rng, part.shape)
    whole = np.zeros(a.shape)
    np.add.at(whole, key, w)
    c = numbers(rng, a.shape)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        read = x[key]
        z = x * c
    yield compare("gradient of x[key]", tape.gradient(read, x, output_gradients=w), whole)
    for dense in (True, False):

        def gradient(target: Any, source: Any, dense: bool = dense) -> Any:
            return tape.gradient(target, source, output_gradients=w, dense=dense)

        yield compare("z.at[key] by x", gradient(z.at[key], x), whole * c)
        yield compare(
            "z.at[key] by x.at[other]", gradient(z.at[key], x.at[other]), (whole * c)[other]
        )
        yield compare("x[key] by x.at[other]", gradient(read, x.at[other]), whole[other])
    yield from pushed(rng, a, key, other)
    yield from updates(rng, a, key)
    yield from written(rng, a, key)


def pushed(rng: np.random.Generator, a: np.ndarray, key: Any, other: Any) -> Iterator[str]:
    """Yield comparisons in forward mode."""
    places = np.arange(a.size).reshape(a.shape)[key]
    if np.unique(places).size < places.size:
        return  # two tangents for one element
    x = wg.asarray(a)
    tangent = numbers(rng, a[key].shape)
    whole = np.zeros(a.shape)
    whole[key] = tangent
    with wg.ForwardAccumulator(x.at[key], tangent) as forward:
        y = x * 2.0
        z = y[other]
    for dense in (True, False):
        settings: Any = {"unconnected_gradients": "zero", "dense": dense}
        yield compare("tangent of y by x.at[key]", forward.jvp(y, **settings), 2 * whole)
        yield compare(
            "tangent of y[other] by x.at[key]", forward.jvp(z, **settings), 2 * whole[other]
        )


def updates(rng: np.random.Generator, a: np.ndarray, key: Any) -> Iterator[str]:
    """Yield comparisons of updates, and of the derivatives of those that are linear."""
    shape = a[key].shape
    if rng.random() < 0.4:
        shape = shape[int(rng.integers(len(shape) + 1)) :]
    v = numbers(rng, shape)
    for name in ("set", *UPDATES):
        got = getattr(wg.asarray(a).at[key], name)(v)
        yield compare(f"at.{name}", got, updated(name, a, key, v))
    w = numbers(rng, a.shape)
    dx, dv = numbers(rng, a.shape), numbers(rng, shape)
    tags = winners(a, key)
    by_set = np.zeros(a[key].size)
    np.add.at(by_set, tags[tags >= 0], w[tags >= 0])
    for name, by_x, by_v in (
        ("set", np.where(tags < 0, w, 0.0), by_set.reshape(a[key].shape)),
        ("add", w, w[key]),
        ("subtract", w, -w[key]),
    ):
        x, values = wg.asarray(a), wg.asarray(v)
        with wg.GradientTape() as tape:
            tape.watch([x, values])
            y = getattr(x.at[key], name)(values)
        found = tape.gradient(y, [x, values], output_gradients=w, unconnected_gradients="zero")
        yield compare(f"gradient of at.{name} by x", found[0], by_x)
        yield compare(f"gradient of at.{name} by values", found[1], _summed(by_v, shape))
        with wg.ForwardAccumulator([x, values], [dx, dv]) as forward:
            y = getattr(x.at[key], name)(values)
        moved = updated(name, dx, key, dv)
        yield compare(f"tangent of at.{name}", forward.jvp(y), moved)


def _summed(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return the sum over axes along which values of a shape were broadcast."""
    array = array.sum(axis=tuple(range(array.ndim - len(shape))))
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and array.shape[i] != 1)
    return array.sum(axis=axes, keepdims=True)


def written(rng: np.random.Generator, a: np.ndarray, key: Any) -> Iterator[str]:
    """Yield comparisons of x[key] = values, of tensors and of variables."""
    v = numbers(rng, a[key].shape)
    expected = updated("set", a, key, v)
    x = wg.asarray(a)
    x[key] = v
    yield compare("x[key] = values", x, expected)
    variable = wg.Variable(a)
    variable[key] = v
    yield compare("variable[key] = values", variable.value(), expected)


def refused(a: np.ndarray, key: Any) -> str:
    """Return the name of a comparison: a key that NumPy refuses is refused."""
    try:
        found = wg.asarray(a)[key]
    except (IndexError, wg.ShapeError):
        return "refused"
    raise Different(f"refused: got shape {found.shape} where NumPy raises IndexError")


def spoiled(rng: np.random.Generator, key: Any, shape: tuple[int, ...]) -> Any:
    """Return a key that is out of range, or has too many parts, or parts that do not fit."""
    parts = key if isinstance(key, tuple) else (key,)
    largest = max(shape, default=0)
    more: list[Any] = [(0,) * 5, (largest,), (-largest - 1,), (np.array([0, largest + 1]),)]
    more += [(np.ones(largest + 1, bool),), (..., ...), (1.0,), ("a",)]
    return (*parts, *more[int(rng.integers(len(more)))])


def one(seed: Any, counts: Counter[str]) -> str | None:
    """Draw an array and a key and count comparisons; return a program for what differs."""
    rng = np.random.default_rng(seed)
    shape = random_shape(rng)
    a = numbers(rng, shape)
    key = random_key(rng, shape)
    if rng.random() < 0.05:
        key = spoiled(rng, key, shape)
    other = valid_key(rng, shape)
    try:
        try:
            a[key]
        except IndexError:
            counts[refused(a, key)] += 1
            return None
        counts.update(comparisons(rng, a, key, other))
    except Exception as error:
        return "\n".join(
            [
                f"# seed {seed}",
                "import numpy as np, wengert as wg",
                "",
                f"a = {literal(a)}",
                f"key = {literal(key)}",
                f"other = {literal(other)}",
                f"# {type(error).__name__}: {error}",
            ]
        )
    return None


def campaign(seed: int, minutes: float | None = None, programs: int | None = None) -> Report:
    """Return the report of keys that are drawn from a seed."""
    started = time.monotonic()
    report = Report(seed)
    with warnings.catch_warnings(), poisoned(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number in numbered(programs, minutes):
            found = one((seed, number), report.counts)
            if found:
                report.fail(found.rpartition("# ")[2].split(": ")[1][:60], found)
            report.programs = number + 1
    report.seconds = time.monotonic() - started
    return report
