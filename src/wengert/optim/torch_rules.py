"""The steps of PyTorch's optimisers, on raw NumPy arrays.

A rule is a function of a parameter, its gradient, the state that is kept for it (a dict, which the
rule fills in and changes) and the options of its group. It returns the new parameter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

State = dict[str, Any]
Options = dict[str, Any]
Rule = Callable[[np.ndarray, np.ndarray, State, Options], np.ndarray]


def _decayed(p: np.ndarray, g: np.ndarray, options: Options) -> np.ndarray:
    """Return the gradient, reversed if something is maximised, with that of the decay."""
    if options.get("maximize"):
        g = -g
    decay = options.get("weight_decay", 0)
    return g + decay * p if decay else g


def _count(state: State) -> int:
    state["step"] = state.get("step", 0) + 1
    count: int = state["step"]
    return count


def _kept(state: State, name: str, like: np.ndarray, value: float = 0.0) -> np.ndarray:
    """Return an array of the state, which begins with one value everywhere."""
    if name not in state:
        state[name] = np.full_like(like, value)
    found: np.ndarray = state[name]
    return found


def sgd(p: np.ndarray, g: np.ndarray, state: State, options: Options) -> np.ndarray:
    """Return a step of gradient descent, with or without momentum."""
    g = _decayed(p, g, options)
    momentum = options["momentum"]
    if momentum:
        velocity = state.get("momentum_buffer")
        if velocity is None:
            velocity = g.copy()
        else:
            velocity = momentum * velocity + (1 - options["dampening"]) * g
        state["momentum_buffer"] = velocity
        g = g + momentum * velocity if options["nesterov"] else velocity
    return p - options["lr"] * g


def adam(p: np.ndarray, g: np.ndarray, state: State, options: Options) -> np.ndarray:
    """Return a step of Adam; with `decoupled_weight_decay`, of AdamW."""
    if options.get("decoupled_weight_decay"):
        g = -g if options.get("maximize") else g
        p = p * (1 - options["lr"] * options["weight_decay"])
    else:
        g = _decayed(p, g, options)
    step = _count(state)
    first, second = options["betas"]
    mean = first * _kept(state, "exp_avg", p) + (1 - first) * g
    square = second * _kept(state, "exp_avg_sq", p) + (1 - second) * g * g
    state["exp_avg"], state["exp_avg_sq"] = mean, square
    if options["amsgrad"]:
        square = np.maximum(_kept(state, "max_exp_avg_sq", p), square)
        state["max_exp_avg_sq"] = square
    root = np.sqrt(square) / math.sqrt(1 - second**step) + options["eps"]
    return p - options["lr"] / (1 - first**step) * mean / root


def nadam(p: np.ndarray, g: np.ndarray, state: State, options: Options) -> np.ndarray:
    """Return a step of Adam with Nesterov's momentum."""
    if options.get("decoupled_weight_decay"):
        g = -g if options.get("maximize") else g
        p = p * (1 - options["lr"] * options["weight_decay"])
    else:
        g = _decayed(p, g, options)
    step = _count(state)
    first, second = options["betas"]
    decay = options["momentum_decay"]
    now = first * (1 - 0.5 * 0.96 ** (step * decay))
    later = first * (1 - 0.5 * 0.96 ** ((step + 1) * decay))
    product = state["mu_product"] = state.get("mu_product", 1.0) * now
    mean = first * _kept(state, "exp_avg", p) + (1 - first) * g
    square = second * _kept(state, "exp_avg_sq", p) + (1 - second) * g * g
    state["exp_avg"], state["exp_avg_sq"] = mean, square
    root = np.sqrt(square / (1 - second**step)) + options["eps"]
    rate = options["lr"]
    p = p - rate * (1 - now) / (1 - product) * g / root
    return p - rate * later / (1 - product * later) * mean / root


def radam(p: np.ndarray, g: np.ndarray, state: State, options: Options) -> np.ndarray:
    """Return a step of Adam whose variance is rectified."""
    if options.get("decoupled_weight_decay"):
        g = -g if options.get("maximize") else g
        p = p * (1 - options["lr"] * options["weight_decay"])
    else:
        g = _decayed(p, g, options)
    step = _count(state)
    first, second = options["betas"]
    mean = first * _kept(state, "exp_avg", p) + (1 - first) * g
    square = second * _kept(state, "exp_avg_sq", p) + (1 - second) * g * g
    state["exp_avg"], state["exp_avg_sq"] = mean, square
    corrected = mean / (1 - first**step)
    longest = 2 / (1 - second) - 1
    length = longest - 2 * step * second**step / (1 - second**step)
    if length <= 5:
        return p - options["lr"] * corrected
    ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    scale = math.sqrt(1 - second**step) / (np.sqrt(square) + options["eps"])
    return p - options["lr"] * corrected * math.sqrt(ratio) * scale


def adamax(p: np.ndarray, g: np.ndarray, state: State, options: Options) -> np.ndarray:
    """Return a step of Adam with the largest gradient in the place of the mean square."""
    g = _decayed(p, g, options)
    step = _count(state)
    first, second = options["betas"]
    mean = first * _kept(state, "exp_avg", p) + (1 - first) * g
    largest = np.maximum(second * _kept(state, "exp_inf", p), np.abs(g) + options["eps"])
    state["exp_avg"], state["exp_inf"] = mean, largest
    return p - options["lr"] / (1 - first**step) * mean / largest


def rmsprop(p: np.ndarray, g: np.ndarray, state: State, options: Options) -> np.ndarray:
    """Return a step scaled by the root of the mean square."""
    g = _decayed(p, g, options)
    _count(state)
    alpha = options["alpha"]
    square = alpha * _kept(state, "square_avg", p) + (1 - alpha) * g * g
    state["square_avg"] = square
    variance = square
    if options["centered"]:
        mean = alpha * _kept(state, "grad_avg", p) + (1 - alpha) * g
        state["grad_avg"] = mean
        variance = square - mean * mean
    scaled = g / (np.sqrt(variance) + options["eps"])
    if options["momentum"] > 0:
        scaled = options["momentum"] * _kept(state, "momentum_buffer", p) + scaled
        state["momentum_buffer"] = scaled
    return p - options["lr"] * scaled


def adagrad(p: np.ndarray, g: np.ndarray, state: State, options: Options) -> np.ndarray:
    """Return a step scaled by the root of the sum of squares."""
    g = _decayed(p, g, options)
    step = _count(state)
    rate = options["lr"] / (1 + (step - 1) * options["lr_decay"])
    total = _kept(state, "sum", p, options["initial_accumulator_value"]) + g * g
    state["sum"] = total
    return p - rate * g / (np.sqrt(total) + options["eps"])


def adadelta(p: np.ndarray, g: np.ndarray, state: State, options: Options) -> np.ndarray:
    """Return a step scaled by the ratio of the sizes of steps and gradients so far."""
    g = _decayed(p, g, options)
    _count(state)
    rho, eps = options["rho"], options["eps"]
    square = rho * _kept(state, "square_avg", p) + (1 - rho) * g * g
    before = _kept(state, "acc_delta", p)
    delta = np.sqrt(before + eps) / np.sqrt(square + eps) * g
    state["square_avg"], state["acc_delta"] = square, rho * before + (1 - rho) * delta * delta
    return p - options["lr"] * delta


def rprop(p: np.ndarray, g: np.ndarray, state: State, options: Options) -> np.ndarray:
    """Return a step whose size for each element grows while the sign stays."""
    g = -g if options.get("maximize") else g
    _count(state)
    shrink, grow = options["etas"]
    smallest, largest = options["step_sizes"]
    before = _kept(state, "prev", p)
    sizes = _kept(state, "step_size", p, options["lr"])
    sign = np.sign(g * before)
    factor = np.where(sign > 0, grow, np.where(sign < 0, shrink, 1.0)).astype(p.dtype)
    sizes = np.clip(sizes * factor, smallest, largest)
    g = np.where(sign < 0, np.zeros_like(g), g)
    state["prev"], state["step_size"] = g, sizes
    return p - np.sign(g) * sizes


def asgd(p: np.ndarray, g: np.ndarray, state: State, options: Options) -> np.ndarray:
    """Return a step of gradient descent, and keep the average of where it was."""
    g = _decayed(p, g, options)
    step = _count(state)
    rate = state.get("eta", options["lr"])
    weight = state.get("mu", 1.0)
    p = p * (1 - options["lambd"] * rate) - rate * g
    average = _kept(state, "ax", p)
    state["ax"] = p.copy() if weight == 1 else average + (p - average) * weight
    state["eta"] = options["lr"] / (1 + options["lambd"] * options["lr"] * step) ** options["alpha"]
    state["mu"] = 1 / max(1, step - options["t0"])
    return p
