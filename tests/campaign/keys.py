"""Random keys of every form that an index can have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Shape = tuple[int, ...]
#: What a key can say about an axis, and how often.
FORMS = {"int": 3, "slice": 4, "array": 3, "mask": 1, "whole": 2}


def random_slice(rng: np.random.Generator, n: int) -> slice:
    """Return a slice of an axis of length n, with bounds and steps of either sign, or none."""
    step = [None, 1, 2, -1, -2, 3, -3][rng.integers(7)]

    def bound() -> Any:
        return None if rng.random() < 0.4 else int(rng.integers(-n - 1, n + 2))

    return slice(bound(), bound(), step)


def random_key(rng: np.random.Generator, shape: Shape) -> Any:
    """Return a key for an array of this shape; it may not fit."""
    ndim = len(shape)
    if ndim and rng.random() < 0.08:
        return np.asarray(rng.random(shape) < 0.6)
    broadcast = _shape_of_arrays(rng)
    parts: list[Any] = []
    axis = 0
    used = int(rng.integers(0, ndim + 1)) if rng.random() < 0.4 else ndim
    names = list(FORMS)
    weights = np.array([FORMS[n] for n in names], float)
    weights /= weights.sum()
    while axis < used:
        if rng.random() < 0.1:
            parts.append(None)
        n = shape[axis]
        form = names[rng.choice(len(names), p=weights)]
        if form == "int" and n:
            parts.append(_integer(rng, n))
        elif form == "array" and n:
            parts.append(_array(rng, n, broadcast))
        elif form == "array":
            parts.append(np.zeros((0,), int))
            broadcast = (0,)
        elif form == "mask" and broadcast == (2,) and n >= 2:
            mask = np.zeros(n, bool)  # it selects as many elements as other arrays have
            mask[rng.choice(n, 2, replace=False)] = True
            parts.append(mask)
        elif form == "whole":
            parts.append(slice(None))
        else:
            parts.append(random_slice(rng, n))
        axis += 1
    if rng.random() < 0.25 or (not parts and rng.random() < 0.5):
        if used == ndim:
            parts.insert(int(rng.integers(len(parts) + 1)), ...)  # it stands for no axis
        else:
            _insert_ellipsis(rng, parts, shape, used)
    if rng.random() < 0.1:
        parts.append(None)
    if len(parts) == 1 and rng.random() < 0.6:
        return parts[0]
    return tuple(parts)


def valid_key(rng: np.random.Generator, shape: Shape, hints: Sequence[Any] = ()) -> Any:
    """Return a random key that NumPy takes as well; with hints, rather one of these."""
    for _ in range(20):
        if hints and rng.random() < 0.8:
            key = hints[int(rng.integers(len(hints)))]
        else:
            key = random_key(rng, shape)
        try:
            np.zeros(shape)[key]
        except (IndexError, ValueError):
            continue
        return key
    return ...


def _insert_ellipsis(rng: np.random.Generator, parts: list[Any], shape: Shape, used: int) -> None:
    """Put an ellipsis in; parts after it then index the last axes, so they must fit there."""
    place = int(rng.integers(len(parts) + 1))
    after = [p for p in parts[place:] if p is not None]
    lengths = shape[len(shape) - len(after) :] if after else ()
    for part, n in zip(after, lengths, strict=True):
        if not _fits(part, n):
            place = len(parts)
            break
    parts.insert(place, ...)


def _fits(part: Any, n: int) -> bool:
    if isinstance(part, np.ndarray) and part.dtype == bool:
        return part.shape == (n,)
    if isinstance(part, slice) or part is ...:
        return True
    values = np.asarray(part)
    return values.size == 0 or bool((values >= -n).all() and (values < n).all())


def _integer(rng: np.random.Generator, n: int) -> Any:
    value = int(rng.integers(-n, n))
    form = rng.random()
    if form < 0.8:
        return value
    return np.int64(value) if form < 0.9 else np.array(value)


def _shape_of_arrays(rng: np.random.Generator) -> Shape:
    shapes: list[Shape] = [(2,), (3,), (1,), (2, 1), (1, 3), (2, 2), (0,), ()]
    return shapes[rng.choice(len(shapes), p=[0.4, 0.2, 0.1, 0.08, 0.08, 0.08, 0.03, 0.03])]


def _array(rng: np.random.Generator, n: int, broadcast: Shape) -> Any:
    """Return an array of indices, perhaps repeated or negative; in a part of the common shape."""
    shape = tuple(1 if rng.random() < 0.15 else k for k in broadcast)
    if shape and rng.random() < 0.1:
        shape = shape[1:]
    values = rng.integers(-n, n, shape)
    return values.tolist() if len(shape) == 1 and shape[0] and rng.random() < 0.1 else values


def simpler(key: Any) -> list[Any]:
    """Return keys that are simpler than this one, the simplest first; they may not fit."""
    if not isinstance(key, tuple):
        if isinstance(key, np.ndarray) and key.size > 1:
            return [..., key.reshape(-1)[:1], key.reshape(-1)]
        if isinstance(key, slice) and key != slice(None):
            return [..., slice(None), slice(None, None, key.step)]
        return [] if key is ... else [...]
    found: list[Any] = [...]
    found += [key[:i] + key[i + 1 :] for i in range(len(key))]
    for i, part in enumerate(key):
        found += [(*key[:i], p, *key[i + 1 :]) for p in simpler(part) if p is not ...]
        if isinstance(part, (np.ndarray, list, int)):
            found.append((*key[:i], slice(None), *key[i + 1 :]))
    return found
