"""The steps of PyTorch's optimisers.

A rule is a function of a namespace (`numpy`, or Wengert's own if steps are recorded), a parameter,
its gradient, the state that is kept for it and the options of its group. It returns the new
parameter, and leaves the new state in the dict that it was given. `state["step"]` is the number of
this step, as an array or a tensor; the first is 1.

Rules are written with `x *= y` and the like: an array is changed in its own memory, and a tensor of
Wengert, which never changes, gives way to a new one. So one text is both a quick step and a step
that gradients go through. The gradient itself is the program's, and is never written to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.engine.tensor import Tensor, wrap

State = dict[str, Any]
Options = dict[str, Any]
Rule = Callable[[Any, Any, Any, State, Options], Any]


def _decayed(p: Any, g: Any, options: Options) -> Any:
    """Return the gradient, reversed if something is maximised, with that of the decay."""
    if options["maximize"]:
        g = -g
    decay = options["weight_decay"]
    return g + decay * p if _is_used(decay) else g


def _decayed_apart(p: Any, g: Any, options: Options) -> tuple[Any, Any]:
    """Return a parameter and a gradient, one of which has the decay, as the options say."""
    if not options["decoupled_weight_decay"]:
        return p, _decayed(p, g, options)
    decay = options["weight_decay"]
    if _is_used(decay):
        p *= 1 - options["lr"] * decay
    return p, -g if options["maximize"] else g


def _is_used(option: Any) -> bool:
    """Return whether an option is anything but zero; a tensor is, whatever its value."""
    return isinstance(option, Tensor) or option != 0


def _moved(p: Any, rate: Any, direction: Any) -> Any:
    """Return a parameter after a step; the direction is no longer needed and may be written to."""
    direction *= rate
    p -= direction
    return p


def _towards(average: Any, value: Any, share: Any) -> Any:
    """Return a running mean, a share of which is a new value."""
    change = value - average
    change *= share
    average += change
    return average


def _mean_square(average: Any, value: Any, share: Any) -> Any:
    """Return a running mean of squares, a share of which is that of a new value."""
    square = value * value
    square *= share
    average *= 1 - share
    average += square
    return average


def _moments(g: Any, state: State, first: Any, second: Any) -> tuple[Any, Any]:
    """Return the running means of gradients and of their squares."""
    state["exp_avg"] = mean = _towards(state["exp_avg"], g, 1 - first)
    state["exp_avg_sq"] = square = _mean_square(state["exp_avg_sq"], g, 1 - second)
    return mean, square


def _apart(g: Any) -> Any:
    """Return a copy of a gradient; what becomes of it is not differentiated."""
    return wrap(g._raw) if isinstance(g, Tensor) else g.copy()


def sgd(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step of gradient descent, with or without momentum."""
    g = _decayed(p, g, options)
    momentum = options["momentum"]
    if momentum != 0:
        velocity = state.get("momentum_buffer")
        if velocity is None:
            velocity = _apart(g)
        else:
            velocity *= momentum
            velocity += (1 - options["dampening"]) * g
        state["momentum_buffer"] = velocity
        g = g + momentum * velocity if options["nesterov"] else velocity
    p -= options["lr"] * g
    return p


def adam(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step of Adam; with `decoupled_weight_decay`, of AdamW."""
    p, g = _decayed_apart(p, g, options)
    step = _count(xp, state["step"])
    first, second = options["betas"]
    mean, square = _moments(g, state, first, second)
    if options["amsgrad"]:
        square = state["max_exp_avg_sq"] = _larger(xp, state["max_exp_avg_sq"], square)
    rate, scale = options["lr"] / (1 - first**step), (1 - second**step) ** 0.5
    root = xp.sqrt(square)
    if xp is np:
        root /= scale
        root += options["eps"]
        return _moved(p, rate, mean / root)
    # where steps are recorded PyTorch rounds these numbers to the precision of the step's
    root /= scale * rate
    root += options["eps"] / rate
    p -= mean / root
    return p


def _count(xp: Any, number: Any) -> Any:
    """Return a number of the state as Python's; as a tensor where steps are recorded."""
    return float(number) if xp is np else number


def _larger(xp: Any, before: Any, now: Any) -> Any:
    """Return the larger values, in the memory of those before."""
    if xp is np:
        return np.maximum(before, now, out=before)
    return xp.maximum(before, now)


def nadam(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step of Adam with Nesterov's momentum."""
    p, g = _decayed_apart(p, g, options)
    step = float(state["step"])
    first, second = options["betas"]
    decay, rate = options["momentum_decay"], options["lr"]
    now = first * (1 - 0.5 * 0.96 ** (step * decay))
    later = first * (1 - 0.5 * 0.96 ** ((step + 1) * decay))
    state["mu_product"] *= now
    product = _count(xp, state["mu_product"])
    mean, square = _moments(g, state, first, second)
    root = square / (1 - second**step)
    root **= 0.5
    root += options["eps"]
    p = _moved(p, rate * (1 - now) / (1 - product), g / root)
    return _moved(p, rate * later / (1 - product * later), mean / root)


def radam(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step of Adam whose variance is rectified."""
    p, g = _decayed_apart(p, g, options)
    step = float(state["step"])
    first, second = options["betas"]
    mean, square = _moments(g, state, first, second)
    rate = options["lr"] / (1 - first**step)
    longest = 2 / (1 - second) - 1
    length = longest - 2 * step * second**step / (1 - second**step)
    if length <= 5:
        p -= rate * mean
        return p
    ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    root = xp.sqrt(square)
    root += options["eps"]
    return _moved(p, rate * (ratio * (1 - second**step)) ** 0.5, mean / root)


def adamax(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step of Adam with the largest gradient in the place of the mean square."""
    g = _decayed(p, g, options)
    first, second = options["betas"]
    state["exp_avg"] = mean = _towards(state["exp_avg"], g, 1 - first)
    largest, size = state["exp_inf"], xp.abs(g)
    largest *= second
    size += options["eps"]
    state["exp_inf"] = largest = _larger(xp, largest, size)
    return _moved(p, options["lr"] / (1 - first ** float(state["step"])), mean / largest)


def rmsprop(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step scaled by the root of the mean square."""
    g = _decayed(p, g, options)
    share = 1 - options["alpha"]
    state["square_avg"] = square = _mean_square(state["square_avg"], g, share)
    if options["centered"]:
        state["grad_avg"] = mean = _towards(state["grad_avg"], g, share)
        square = square - mean * mean
    root = xp.sqrt(square)
    root += options["eps"]
    scaled = g / root
    if options["momentum"] > 0:
        velocity = state["momentum_buffer"]
        velocity *= options["momentum"]
        velocity += scaled
        state["momentum_buffer"] = velocity
        scaled = velocity
    p -= options["lr"] * scaled
    return p


def adagrad(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step scaled by the root of the sum of squares."""
    g = _decayed(p, g, options)
    state["sum"] += g * g
    root = xp.sqrt(state["sum"])
    root += options["eps"]
    slower = 1 + (float(state["step"]) - 1) * options["lr_decay"]
    return _moved(p, options["lr"] / slower, g / root)


def adadelta(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step scaled by the ratio of the sizes of steps and gradients so far."""
    g = _decayed(p, g, options)
    share, eps = 1 - options["rho"], options["eps"]
    state["square_avg"] = square = _mean_square(state["square_avg"], g, share)
    delta = xp.sqrt(state["acc_delta"] + eps)
    delta /= xp.sqrt(square + eps)
    delta *= g
    state["acc_delta"] = _mean_square(state["acc_delta"], delta, share)
    return _moved(p, options["lr"], delta)


def rprop(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step whose size for each element grows while the sign stays."""
    if options["maximize"]:
        g = -g
    shrink, grow = options["etas"]
    agreement = _values(g) * _values(state["prev"])
    turned = agreement < 0
    factor = np.where(agreement > 0, grow, np.where(turned, shrink, 1.0))
    sizes = state["step_size"]
    sizes *= factor.astype(_values(p).dtype)
    state["step_size"] = sizes = _between(xp, sizes, *options["step_sizes"])
    # a gradient that has turned is forgotten, here and in the next step
    g = np.where(turned, g.dtype.type(0), g) if xp is np else g * ~turned
    _put(state, "prev", g)
    # a gradient that is no number has no direction
    sign = np.where(np.isnan(g), g.dtype.type(0), np.sign(g)) if xp is np else xp.sign(g)
    p -= sign * sizes
    return p


def _values(x: Any) -> Any:
    """Return the numbers of an array or a tensor, for what has no derivative."""
    return x._raw if isinstance(x, Tensor) else x


def _between(xp: Any, x: Any, smallest: float, largest: float) -> Any:
    if xp is np:
        return np.clip(x, smallest, largest, out=x)
    return xp.clip(x, smallest, largest)


def _put(state: State, name: str, value: Any) -> None:
    """Keep a value, in the memory of the one before if that is an array."""
    if isinstance(state[name], np.ndarray):
        state[name][...] = value
    else:
        state[name] = value


def asgd(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step of gradient descent, and keep the average of where it was."""
    g = _decayed(p, g, options)
    step, decay, given = float(state["step"]), options["lambd"], float(options["lr"])
    rate, share = float(state["eta"]), float(state["mu"])
    p *= 1 - decay * rate
    p -= rate * g
    if share == 1:
        _put(state, "ax", p)
    else:
        state["ax"] += share * (p - state["ax"])
    state["eta"] = given / (1 + decay * given * step) ** options["alpha"]
    state["mu"] = 1 / max(1, step - options["t0"])
    return p


def adafactor(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step scaled by root mean squares of rows and columns. It is not recorded."""
    g = -g if options["maximize"] else g
    step, rate = float(state["step"]), options["lr"]
    tiny, smallest = options["eps"]
    tiny = float(np.finfo(p.dtype).eps) if tiny is None else tiny
    share = step ** options["beta2_decay"]
    scale = max(smallest, float(_root_mean_square(p))) * min(rate, step**-0.5)
    if options["weight_decay"] != 0:
        p *= 1 - rate * options["weight_decay"]
    square = g * g
    if g.ndim > 1:
        rows = _towards(state["row_var"], square.mean(axis=-1, keepdims=True), share)
        columns = _towards(state["col_var"], square.mean(axis=-2, keepdims=True), share)
        variance = rows @ columns
        variance /= np.maximum(rows.mean(axis=-2, keepdims=True), tiny)
    else:
        variance = _towards(state["variance"], square, share)
    update = g / np.sqrt(np.maximum(variance, tiny * tiny))
    p -= scale / max(1.0, float(_root_mean_square(update)) / options["d"]) * update
    return p


def _root_mean_square(x: np.ndarray) -> Any:
    return np.sqrt((x * x).sum() / x.size)
