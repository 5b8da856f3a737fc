"""L-BFGS as PyTorch has it: directions from the last changes of gradients, and a line search.

All is done on flat NumPy arrays. Numbers found from them have their dtype, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

State = dict[str, Any]
#: Takes how far to go along a direction; returns the loss there and its gradient.
Evaluate = Callable[[Any, np.ndarray], tuple[float, np.ndarray]]
#: The least curvature along a step for which the step is remembered.
_CURVATURE = 1e-10
#: The conditions of Wolfe: how much of the promised descent, and of the slope, may be left.
_DESCENT, _SLOPE = 1e-4, 0.9


class Point(NamedTuple):
    """A point on the line: how far along it, and the loss, gradient and slope there."""

    at: Any
    loss: float
    gradient: np.ndarray
    slope: Any


def minimise(
    gradient: np.ndarray,
    loss: float,
    state: State,
    options: dict[str, Any],
    move: Callable[[Any, np.ndarray], None],
    evaluate: Callable[[], tuple[float, np.ndarray]],
    look: Evaluate,
) -> None:
    """Take up to `max_iter` steps, and leave in the state what the next call needs.

    Parameters
    ----------
    gradient, loss
        Those where the parameters are now.
    state
        What an earlier call left, by PyTorch's names; "n_iter" and "func_evals" are there.
    options
        "lr", "max_iter", "max_eval", "tolerance_grad", "tolerance_change", "history_size" and
        "line_search_fn", which is None or "strong_wolfe".
    move
        Adds a multiple of a direction to the parameters.
    evaluate
        Returns loss and gradient where the parameters are.
    look
        Returns those at a multiple of a direction from there, and leaves the parameters alone.
    """
    smallest, least = options["tolerance_grad"], options["tolerance_change"]
    evaluations = 1
    for iteration in range(1, options["max_iter"] + 1):
        state["n_iter"] += 1
        direction = _next_direction(gradient, state, options["history_size"])
        before = state["prev_loss"] = loss
        state["prev_flat_grad"] = gradient.copy()
        state["d"], state["t"] = direction, options["lr"]
        if state["n_iter"] == 1:
            state["t"] = min(1.0, 1.0 / np.abs(gradient).sum()) * options["lr"]
        slope = gradient.dot(direction)
        if slope > -least:
            return
        used = 0
        if options["line_search_fn"] is not None:
            start = Point(0, loss, gradient, slope)
            found, used = strong_wolfe(
                look, start, state["t"], direction, options["max_eval"] - evaluations
            )
            state["t"], loss, gradient = found.at, found.loss, found.gradient
            move(state["t"], direction)
        else:
            move(state["t"], direction)
            if iteration != options["max_iter"]:
                loss, gradient = evaluate()
                used = 1
        evaluations += used
        state["func_evals"] += used
        if (
            evaluations >= options["max_eval"]
            or np.abs(gradient).max() <= smallest
            or np.abs(direction * state["t"]).max() <= least
            or abs(loss - before) < least
        ):
            return


def _next_direction(gradient: np.ndarray, state: State, size: int) -> np.ndarray:
    """Return where to go, having remembered the last step and the change of the gradient."""
    if state["n_iter"] == 1:
        state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
        return -gradient
    changes, steps, weights = state["old_dirs"], state["old_stps"], state["ro"]
    change, step = gradient - state["prev_flat_grad"], state["d"] * state["t"]
    curvature = change.dot(step)
    if curvature > _CURVATURE:
        if len(changes) == size:
            for memory in (changes, steps, weights):
                memory.pop(0)
        changes.append(change)
        steps.append(step)
        weights.append(1.0 / curvature)
        state["H_diag"] = curvature / change.dot(change)
    shares = state.setdefault("al", [None] * size)
    direction = -gradient
    for k in range(len(changes) - 1, -1, -1):
        shares[k] = steps[k].dot(direction) * weights[k]
        direction -= shares[k] * changes[k]
    direction *= state["H_diag"]
    for k in range(len(changes)):
        direction += (shares[k] - changes[k].dot(direction) * weights[k]) * steps[k]
    return direction


def strong_wolfe(
    look: Evaluate,
    start: Point,
    first: Any,
    direction: np.ndarray,
    most: int,
    least: float = 1e-9,
) -> tuple[Point, int]:
    """Return a point where both of Wolfe's conditions hold, and how often the loss was computed.

    If `most` evaluations are not enough, or points get closer than `least`, it is the best so far.
    """

    def point(at: Any) -> Point:
        loss, gradient = look(at, direction)
        return Point(at, loss, gradient, gradient.dot(direction))

    def falls_short(new: Point) -> bool:
        return bool(new.loss > start.loss + _DESCENT * new.at * start.slope)

    def is_flat(new: Point) -> bool:
        return bool(abs(new.slope) <= -_SLOPE * start.slope)

    before, new, used, done = start, point(first), 1, False
    for tries in range(max(most, 0)):  # until there is a minimum between two points
        if falls_short(new) or (tries > 1 and new.loss >= before.loss):
            bracket = [before, new]
            break
        if is_flat(new):
            bracket, done = [new], True
            break
        if new.slope >= 0:
            bracket = [before, new]
            break
        bounds = new.at + 0.01 * (new.at - before.at), new.at * 10
        before, new = new, point(cubic_minimum(before, new, bounds))
        used += 1
    else:
        tries, bracket = max(most, 0), [start, new]
    low, high = (0, 1) if bracket[0].loss <= bracket[-1].loss else (1, 0)
    reach, slow = np.abs(direction).max(), False
    while not done and tries < most:  # make that distance smaller
        ends = [end.at for end in bracket]
        if abs(ends[1] - ends[0]) * reach < least:
            break
        at, slow = _inside(cubic_minimum(bracket[0], bracket[1]), min(ends), max(ends), slow)
        new = point(at)
        used += 1
        tries += 1
        if falls_short(new) or new.loss >= bracket[low].loss:
            bracket[high] = new
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
        else:
            if is_flat(new):
                done = True
            elif new.slope * (bracket[high].at - bracket[low].at) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = new
    return bracket[low], used


def _inside(at: Any, left: Any, right: Any, slow: bool) -> tuple[Any, bool]:
    """Return a point that is not always close to an end, and whether this one is."""
    margin = 0.1 * (right - left)
    if min(right - at, at - left) >= margin:
        return at, False
    if not (slow or at >= right or at <= left):
        return at, True
    return (right - margin if abs(at - right) < abs(at - left) else left + margin), False


def cubic_minimum(one: Point, other: Point, bounds: tuple[Any, Any] | None = None) -> Any:
    """Return where the cubic through two points with their slopes is least, within bounds."""
    left, right = (one, other) if one.at <= other.at else (other, one)
    smallest, largest = (left.at, right.at) if bounds is None else bounds
    width = right.at - left.at
    mean = left.slope + right.slope - 3 * (left.loss - right.loss) / (left.at - right.at)
    square = mean**2 - left.slope * right.slope
    if not square >= 0:
        return (smallest + largest) / 2.0
    root = np.sqrt(square)
    share = (right.slope + root - mean) / (right.slope - left.slope + 2 * root)
    return min(max(right.at - width * share, smallest), largest)
