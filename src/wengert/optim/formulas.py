"""The steps of optimisers: one set of formulas for this library and its dialects.

A formula is a function of a namespace, a parameter, its gradient, the parameter's state, and
options. It returns the new parameter, and leaves the new state in the dict that it was given.
`state["step"]` is the number of this step: an integer, an array or a tensor; the first is 1. State
and options have PyTorch's names, and options that are off by default there may be left out. Where
libraries differ, an option says how; without it, the formula is PyTorch's:

=============  =====================================================================================
`eps_scaled`   `eps` is added to a root whose bias is corrected together with it (Adam)
`at_least_0`   a variance that rounding has made negative is 0 (RMSprop, centered)
=============  =====================================================================================

Formulas use `x *= y` and the like. That changes an array in its own memory. A tensor of Wengert is
immutable, and is replaced by a new one. So one text is both a fast step and a step that gradients
flow through. `stepped` keeps the old arrays. No formula writes to the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.backends import threads
from wengert.engine.tensor import Tensor, wrap
from wengert.optim.leaves import is_compiled

State = dict[str, Any]
Options = dict[str, Any]
Formula = Callable[[Any, Any, Any, State, Options], Any]
#: Arrays of up to this many elements are stepped in one piece.
PIECE = threads.PIECE // 4


def stepped(
    formula: Formula, p: Any, g: Any, state: State, options: Options, in_place: bool = False
) -> Any:
    """Return a NumPy parameter after a step; the dict of the state gets the new arrays.

    The arrays that were given stay as they are, unless `in_place`. Large arrays are stepped in
    pieces that fit a cache: in one piece, each of a formula's dozen operations would pass over
    memory.
    """
    is_large = p.nbytes > 2 * threads.PIECE and formula in ELEMENTWISE
    names = [k for k, v in state.items() if is_large and getattr(v, "shape", None) == p.shape]
    old = [p, *(state[name] for name in names)]
    if not is_large or not all(type(a) is np.ndarray and a.flags.c_contiguous for a in (g, *old)):
        if not in_place:
            p = p.copy()
            state.update({k: v.copy() for k, v in state.items() if type(v) is np.ndarray})
        return formula(np, p, g, state, options)
    new = old if in_place else [np.empty_like(array) for array in old]
    flat, sources = ([array.reshape(-1) for array in arrays] for arrays in (new, old))
    g = g.reshape(-1)

    def work(start: int, stop: int) -> None:
        pieces = [array[start:stop] for array in flat]
        if not in_place:
            for piece, array in zip(pieces, sources, strict=True):
                piece[...] = array[start:stop]
        part = state | dict(zip(names, pieces[1:], strict=True))
        formula(np, pieces[0], g[start:stop], part, options)

    threads.in_pieces(work, g.size, threads.PIECE // g.itemsize)
    state.update(zip(names, new[1:], strict=True))
    return new[0]


def step_in_place(formula: Formula, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a NumPy parameter after a step in its own memory and in that of its state."""
    return stepped(formula, p, g, state, options, in_place=True)


def _decayed(p: Any, g: Any, options: Options) -> Any:
    """Return the gradient, reversed if something is maximised, with that of the decay."""
    if options.get("maximize"):
        g = -g
    decay = options.get("weight_decay", 0)
    return g + decay * p if _is_used(decay) else g


def _decayed_apart(p: Any, g: Any, options: Options) -> tuple[Any, Any]:
    """Return a parameter and a gradient, one of which has the decay, as the options say."""
    if not options.get("decoupled_weight_decay"):
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


def _mean_square(average: Any, square: Any, share: Any) -> Any:
    """Return a running mean of squares, a share of which is a new one, which may be written to."""
    square *= share
    average *= 1 - share
    average += square
    return average


def _moments(g: Any, state: State, options: Options) -> tuple[Any, Any]:
    """Return the running means of a gradient and of its square."""
    first, second = options["betas"]
    state["exp_avg"] = mean = _towards(state["exp_avg"], g, 1 - first)
    state["exp_avg_sq"] = square = _mean_square(state["exp_avg_sq"], g * g, 1 - second)
    return mean, square


def _biases(step: Any, options: Options) -> tuple[Any, Any]:
    """Return what running means that began at 0 are too small by."""
    first, second = options["betas"]
    return 1 - first**step, 1 - second**step


def _root(xp: Any, square: Any, options: Options) -> Any:
    """Return a root with `eps` added to it."""
    root = xp.sqrt(square)
    root += options["eps"]
    return root


def _unbiased_root(square: Any, bias: Any, options: Options) -> Any:
    """Return the root of a running mean that is too small by a factor, with `eps` added to it."""
    root = square / bias
    root **= 0.5
    root += options["eps"]
    return root


def _count(number: Any) -> Any:
    """Return a number of the state as Python's; as a tensor where steps are recorded."""
    return number if isinstance(number, Tensor) or is_compiled(number) else float(number)


def _in_place(xp: Any, name: str, x: Any, *others: Any) -> Any:
    """Return a function of x and others, in the memory of x if that is an array."""
    if type(x) is np.ndarray:
        return getattr(np, name)(x, *others, out=x)
    return getattr(xp, name)(x, *others)


def _detached(g: Any) -> Any:
    """Return a copy of a gradient; what becomes of it is not differentiated."""
    return wrap(g._raw) if isinstance(g, Tensor) else g.copy()


def sgd(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step of gradient descent, with or without momentum.

    A velocity that is None begins with the first gradient.
    """
    g = _decayed(p, g, options)
    momentum = options.get("momentum", 0)
    if momentum != 0:
        velocity = state.get("momentum_buffer")
        if velocity is None:
            velocity = _detached(g)
        else:
            velocity *= momentum
            velocity += (1 - options.get("dampening", 0)) * g
        state["momentum_buffer"] = velocity
        g = g + momentum * velocity if options.get("nesterov") else velocity
    p -= options["lr"] * g
    return p


def adam(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step of Adam; with `decoupled_weight_decay`, of AdamW."""
    p, g = _decayed_apart(p, g, options)
    mean, square = _moments(g, state, options)
    if options.get("amsgrad"):
        square = state["max_exp_avg_sq"] = _in_place(xp, "maximum", state["max_exp_avg_sq"], square)
    step = _count(state["step"])
    first, second = _biases(step, options)
    rate, scale = options["lr"] / first, second**0.5
    root = xp.sqrt(square)
    if isinstance(step, Tensor):
        # where steps are recorded PyTorch rounds these numbers to the precision of the step's
        root /= scale * rate
        root += options["eps"] / rate
        p -= mean / root
        return p
    if options.get("eps_scaled"):
        rate *= scale
    else:
        root /= scale
    root += options["eps"]
    return _moved(p, rate, mean / root)


def nadam(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step of Adam with Nesterov's momentum."""
    p, g = _decayed_apart(p, g, options)
    step, rate, first = float(state["step"]), options["lr"], options["betas"][0]
    decay = options["momentum_decay"]
    now = first * (1 - 0.5 * 0.96 ** (step * decay))
    later = first * (1 - 0.5 * 0.96 ** ((step + 1) * decay))
    state["mu_product"] *= now
    product = _count(state["mu_product"])
    mean, square = _moments(g, state, options)
    root = _unbiased_root(square, _biases(step, options)[1], options)
    p = _moved(p, rate * (1 - now) / (1 - product), g / root)
    return _moved(p, rate * later / (1 - product * later), mean / root)


def radam(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step of Adam whose variance is rectified."""
    p, g = _decayed_apart(p, g, options)
    step, second = float(state["step"]), options["betas"][1]
    mean, square = _moments(g, state, options)
    biases = _biases(step, options)
    rate = options["lr"] / biases[0]
    longest = 2 / (1 - second) - 1
    length = longest - 2 * step * second**step / biases[1]
    if length <= 5:
        p -= rate * mean
        return p
    ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    return _moved(p, rate * (ratio * biases[1]) ** 0.5, mean / _root(xp, square, options))


def adamax(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step of Adam with the largest gradient instead of the root mean square."""
    g = _decayed(p, g, options)
    first, second = options["betas"]
    state["exp_avg"] = mean = _towards(state["exp_avg"], g, 1 - first)
    largest, size = state["exp_inf"], xp.abs(g)
    largest *= second
    size += options["eps"]
    state["exp_inf"] = largest = _in_place(xp, "maximum", largest, size)
    rate = options["lr"] / _biases(float(state["step"]), options)[0]
    return _moved(p, rate, mean / largest)


def rmsprop(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step scaled by the root of the mean square."""
    g = _decayed(p, g, options)
    share = 1 - options["alpha"]
    state["square_avg"] = square = _mean_square(state["square_avg"], g * g, share)
    if options.get("centered"):
        state["grad_avg"] = mean = _towards(state["grad_avg"], g, share)
        square = square - mean * mean
        if options.get("at_least_0"):
            square = xp.clip(square, 0.0, None)
    step = g / _root(xp, square, options)
    momentum = options.get("momentum", 0)
    if momentum > 0:
        velocity = state["momentum_buffer"]
        velocity *= momentum
        velocity += step
        state["momentum_buffer"] = velocity
        step = velocity
    p -= options["lr"] * step
    return p


def adagrad(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step scaled by the root of the sum of squares."""
    g = _decayed(p, g, options)
    state["sum"] += g * g
    slower = 1 + (_count(state["step"]) - 1) * options.get("lr_decay", 0)
    return _moved(p, options["lr"] / slower, g / _root(xp, state["sum"], options))


def adadelta(xp: Any, p: Any, g: Any, state: State, options: Options) -> Any:
    """Return a step scaled by the ratio of the sizes of steps and gradients so far."""
    g = _decayed(p, g, options)
    share, eps = 1 - options["rho"], options["eps"]
    state["square_avg"] = square = _mean_square(state["square_avg"], g * g, share)
    ratio = xp.sqrt(state["acc_delta"] + eps)
    ratio /= xp.sqrt(square + eps)
    ratio *= g
    state["acc_delta"] = _mean_square(state["acc_delta"], ratio * ratio, share)
    return _moved(p, options["lr"], ratio)


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
    state["step_size"] = sizes = _in_place(xp, "clip", sizes, *options["step_sizes"])
    # a gradient that has turned is forgotten, here and in the next step
    if isinstance(g, Tensor):
        g = g * ~turned
        sign = xp.sign(g)
    else:
        zero = g.dtype.type(0)
        g = np.where(turned, zero, g)
        sign = np.where(np.isnan(g), zero, np.sign(g))  # what is no number has no direction
    _put(state, "prev", g)
    p -= sign * sizes
    return p


def _values(x: Any) -> Any:
    """Return the numbers of an array or a tensor, for what has no derivative."""
    return x._raw if isinstance(x, Tensor) else x


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


#: The formulas that treat each element by itself, so that an array may be cut in pieces.
ELEMENTWISE = frozenset({sgd, adam, radam, adamax, rmsprop, adagrad, adadelta, rprop})
