"""Optimisers: frozen records of hyperparameters, whose state is a plain tree.

A class is a row: it names one of `formulas`, its hyperparameters, and the arrays in its state.
The base class runs the formula over a tree: on raw arrays, in pieces where they are large, or on
tensors where a tape records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wengert import backends
from wengert.elements.selections import Selection
from wengert.engine.cotangents import Block, part_of
from wengert.engine.node import watching
from wengert.engine.tensor import Tensor
from wengert.errors import BackendError, DtypeError, ShapeError
from wengert.ops.families.factored import Factored
from wengert.ops.variable import Variable
from wengert.optim import formulas
from wengert.optim.formulas import Formula
from wengert.optim.leaves import (
    check_inexact,
    counted,
    each_once,
    for_each,
    is_compiled,
    labels,
    like,
    matcher,
    raw,
    tensor,
    traced,
)
from wengert.other_names import unexpected
from wengert.trees import flatten

Rate = float | Callable[[int], float]

#: The hyperparameters that are weights of an average, so less than 1.
_WEIGHTS = ("beta1", "beta2", "decay")


class _Optimiser:
    """What the optimisers share: checks, the walk over trees, and how to run a formula."""

    learning_rate: Rate
    weight_decay: float
    maximize: bool

    # -- what a class says of itself ---------------------------------------------------

    _formula: Formula
    #: The arrays in the state of each parameter: our name, the formula's, and the field that
    #: asks for the array ("" for one that is always there).
    _arrays: ClassVar[Sequence[tuple[str, str, str]]] = ()
    #: What these arrays are filled with at first.
    initial_accumulator: float = 0.0

    def _conventions(self) -> dict[str, Any]:
        """Return the options of the formula that are not fields."""
        return {}

    @cached_property
    def _slots(self) -> dict[str, str]:
        """What the formula calls each array in the state, by our name for it."""
        return {ours: its for ours, its, on in self._arrays if not on or getattr(self, on)}

    @cached_property
    def _options(self) -> dict[str, Any]:
        """The formula's options, except the rate."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return given | self._conventions()

    # -- hyperparameters -----------------------------------------------------------------

    def __new__(cls, *args: Any, **options: Any) -> Any:
        others = options.keys() - {field.name for field in fields(cls)}  # type: ignore[arg-type]
        if others:
            raise unexpected(cls, {name: options[name] for name in options if name in others})
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            checked = self._checked(field.name, field.default, getattr(self, field.name))
            object.__setattr__(self, field.name, checked)

    def _checked(self, name: str, default: Any, value: Any) -> Any:
        if isinstance(default, bool):
            if not isinstance(value, (bool, np.bool)):
                raise TypeError(f"{self._name}: {name} is {value!r}; expected True or False")
            return bool(value)
        is_rate = name == "learning_rate"
        if is_rate and (callable(value) or isinstance(value, (Tensor, Variable))):
            return value  # a schedule, or something that may itself be learnt
        number = self._number(name, value)
        high = 1 if name in _WEIGHTS else math.inf
        if not 0 <= number < high or (is_rate and not number):
            expected = "a positive number" if is_rate else f"0 <= {name} < {high}"
            raise ValueError(f"{self._name}: {name} is {value!r}; expected {expected}")
        return number

    @property
    def _name(self) -> str:
        return type(self).__name__

    def _number(self, name: str, value: Any) -> float:
        """Return a Python float, which takes the dtype of the arrays it meets."""
        if isinstance(value, bool) or not hasattr(type(value), "__float__"):
            raise TypeError(f"{self._name}: {name} is {value!r}; expected a number")
        return float(value)

    def _rate(self, step: int) -> Any:
        """Return the learning rate of a step; a tensor of one number, if a tape records it."""
        rate = self.learning_rate
        if type(rate) is float:
            return rate  # which was checked when the optimiser was made
        if callable(rate):
            rate = rate(step)
        if isinstance(rate, Variable):
            rate = rate.value()
        if traced(rate) and not rate.shape:  # type: ignore[attr-defined]
            return rate
        number = self._number(f"the learning rate of step {step}", rate)
        if not 0 <= number < math.inf:
            raise ValueError(
                f"{self._name}: the learning rate of step {step} is {number}; expected a finite "
                "number, 0 or more"
            )
        return number

    # -- trees ---------------------------------------------------------------------------

    def init(self, params: Any) -> dict[str, Any]:
        """Return the state before the first step: the step's number, and trees like `params`.

        Parameters
        ----------
        params
            Tensors, arrays or variables, in any nest.
        """
        leaves, rebuild = flatten(params)
        rows = for_each(self._name, params, "params", self._init_leaf, leaves)
        columns = zip(*rows, strict=True) if rows else ([] for _ in self._kept)
        return {"step": 0} | {n: rebuild(c) for n, c in zip(self._kept, columns, strict=True)}

    def step(
        self, params: Any, gradients: Any, state: dict[str, Any], *, in_place: bool = False
    ) -> tuple[Any, dict[str, Any]]:
        """Return the parameters after one step, and the state after it.

        Parameters
        ----------
        params
            Tensors, arrays or variables, in any nest. Variables are assigned to; instead of
            all else new ones are returned. A selection ``x.at[key]`` is stepped alone: of a
            variable, the rest of it stays as it is; of a tensor, the new tensor is returned.
        gradients
            A tree like `params`. Where it has None, nothing changes; but if it is a tape that
            answered None for a variable, that is a `NoGradientError`, which says why. A `Block`
            changes the part that it is not zero on, and what is kept for that part.
        state
            What `init` or the last step returned. It is not changed, unless `in_place`.
        in_place
            Whether arrays of `params` and `state` may be written to where a gradient is a
            `Block`, so that a step on a few rows of a large table takes no copy of it. Those
            that were given are not to be used afterwards.
        """
        leaves, rebuild = flatten(params)
        self._check_state(state)
        self._check_twins(params, leaves)
        step = counted(state["step"])
        match = matcher(params)
        columns = [match(gradients, ("params", "gradients"))]
        columns += [match(state[name], ("params", f"state[{name!r}]")) for name in self._kept]
        step_leaf = partial(self._step_leaf, self._rate(step), in_place)
        rows = for_each(self._name, params, "params", step_leaf, leaves, *columns)
        if (watcher := watching.get()) is not None:
            named = zip(labels(params, "params"), leaves, columns[0], rows, strict=True)
            shown = [(n, raw(p), g, _whole(row[0])) for n, p, g, row in named if g is not None]
            watcher.stepped(self._name, shown)
        # nothing is written or assigned before all is computed, so that an error changes nothing
        rows = [
            [_written(new, leaf) for new in row] for row, leaf in zip(rows, leaves, strict=True)
        ]
        moved, *kept = zip(*rows, strict=True) if rows else ([] for _ in columns)
        after = {name: rebuild(column) for name, column in zip(self._kept, kept, strict=True)}
        pairs = zip(leaves, moved, strict=True)
        return rebuild([_assigned(*pair) for pair in pairs]), {"step": step + 1} | after

    @cached_property
    def _kept(self) -> list[str]:
        """The names of the trees in the state: how many gradients came, and the slots."""
        return ["count", *self._slots] if self._slots else []

    def _check_state(self, state: Any) -> None:
        expected = ["step", *self._kept]
        given = list(state) if isinstance(state, dict) else type(state).__name__
        if not isinstance(state, dict) or set(state) != set(expected):
            raise ValueError(
                f"{self._name}: the state is {given}, expected {expected}; write "
                "state = optimiser.init(params) with the optimiser that is to make the step"
            )

    def _check_twins(self, params: Any, leaves: list[Any]) -> None:
        first: dict[int, int] = {}
        for i, leaf in enumerate(leaves):
            owner = leaf._owner if isinstance(leaf, Selection) else leaf
            if isinstance(owner, Variable) and first.setdefault(id(owner), i) != i:
                names = labels(params, "params")
                raise ValueError(
                    f"{self._name}: {names[first[id(owner)]]} and {names[i]} are one variable, "
                    "which would be stepped twice; list it once"
                )

    # -- one parameter -------------------------------------------------------------------

    def _init_leaf(self, leaf: Any) -> list[Any]:
        if leaf is None:
            return [None] * len(self._kept)
        p = raw(leaf)
        check_inexact(p)
        xp = backends.namespace_of(p)
        both = 1 + 1j if backends.kind_of(p.dtype) == "c" else 1  # parts of a complex number
        filled = [xp.full_like(p, both * self.initial_accumulator) for _ in self._slots]
        return [0, *(like(array, leaf) for array in filled)] if filled else []

    def _step_leaf(
        self, rate: Any, in_place: bool, leaf: Any, gradient: Any, *kept: Any
    ) -> tuple[Any, ...]:
        """Return the new value of a parameter, and its new state."""
        if type(gradient) is Factored:
            gradient = gradient.todense()
        if gradient is None:
            if isinstance(leaf, Variable) and leaf._why_none():
                raise leaf._no_gradient(self._name)
            return (leaf, *kept)
        count, *slots = kept or [0]
        owner = isinstance(leaf, Variable) and leaf._is_sole_owner()  # before we refer to it, too
        # what is assigned to a variable has no history, so there is nothing to record
        recorded = not isinstance(leaf, Variable) and any(
            map(traced, (rate, leaf, gradient, *slots))
        )
        if type(rate) is Tensor and not recorded:
            rate = rate.item()
        p = tensor(leaf) if recorded else raw(leaf)
        check_inexact(p)
        xp = Tensor._namespace if recorded else backends.namespace_of(p)
        count = counted(count) + 1
        g = _fitted(xp, gradient, p, "the gradient")
        slots = [_fitted(xp, slot, p, "the state") for slot in slots]
        arrays = [p, *slots]
        if type(g) is not Block:
            new = self._run(xp, rate, count, p, g, *slots)
        else:  # only the part of the parameter that its gradient is not zero on
            g = each_once(g)
            first, *others = (part_of(array, g.region) for array in arrays)
            parts = self._run(xp, rate, count, first, g.values, *others)
            writable = [owner if isinstance(leaf, Variable) else in_place] + [in_place] * len(slots)
            new = [
                _Write(array, g.index, part)
                if may_write and type(array) is np.ndarray and array.flags.writeable
                else xp.put(array, part, key=g.index)
                for array, part, may_write in zip(arrays, parts, writable, strict=True)
            ]
        moved, *slots = (n if type(n) is _Write else like(n, leaf) for n in new)
        return (moved, count, *slots) if kept else (moved,)

    def _run(self, xp: Any, rate: Any, count: Any, p: Any, g: Any, *slots: Any) -> list[Any]:
        """Return the formula's answers, however the arrays need it to be computed."""
        if backends.kind_of(p.dtype) == "c":  # a pair of real numbers
            real, imag = (
                self._run(xp, rate, count, *map(part, (p, g, *slots)))
                for part in (xp.real, xp.imag)
            )
            pairs = zip(real, imag, strict=True)
            return [xp.astype(a, p.dtype) + 1j * xp.astype(b, p.dtype) for a, b in pairs]
        if type(rate) is Tensor:
            rate = xp.astype(rate, p.dtype)
        options = {**self._options, "lr": rate}
        if is_compiled(count):
            count = backends.namespace_of(count).astype(count, p.dtype)
            options["dampening"] = (count > 1) * options.get("dampening", 0.0)
        elif count == 1:
            options["dampening"] = 0.0  # the first gradient is taken in full
        keys = self._slots.values()
        state = dict(zip(keys, slots, strict=True))
        state["step"] = count
        if type(p) is np.ndarray:
            p = formulas.stepped(self._formula, p, g, state, options)
        elif type(p) is Tensor:
            p = self._formula(_RECORDED, p, g, state, options)
        else:  # the formula may write to what it is given
            state.update((key, xp.copy(state[key])) for key in keys)
            p = self._formula(xp, xp.copy(p), g, state, options)
        return [p, *(state[key] for key in keys)]


class _Write(NamedTuple):
    """A part of an array that is to be written over."""

    array: np.ndarray
    key: tuple[Any, ...]
    part: np.ndarray


def _whole(new: Any) -> Any:
    """Return what a parameter is going to be."""
    if type(new) is not _Write:
        return new
    after = new.array.copy()
    after[new.key] = new.part
    return after


def _written(new: Any, leaf: Any) -> Any:
    """Return what a leaf or its state has become, having written what was put off."""
    if type(new) is not _Write:
        return new
    new.array[new.key] = new.part
    return leaf if raw(leaf) is new.array else like(new.array, leaf)


def _assigned(leaf: Any, value: Any) -> Any:
    if isinstance(leaf, Selection):
        return leaf._assigned(value)
    if not isinstance(leaf, Variable):
        return value
    return leaf if value is leaf else leaf.assign(value)


def _fitted(xp: Any, value: Any, p: Any, what: str) -> Any:
    """Return a leaf as an array of the library, shape and dtype of `p`; a Block stays one."""
    if type(value) is type(p) is np.ndarray and (value.shape, value.dtype) == (p.shape, p.dtype):
        return value
    is_block = type(value) is Block
    array = value.values if is_block else value
    array = tensor(array) if type(p) is Tensor else raw(array)
    shape = value.shape if is_block else array.shape
    if tuple(shape) != tuple(p.shape):
        raise ShapeError(
            f"{what} has shape {tuple(shape)} and the parameter {tuple(p.shape)}; they must agree"
        )
    theirs, ours = backends.namespace_of(raw(array)), backends.namespace_of(raw(p))
    if theirs is not ours:
        raise BackendError(
            f"{what} is an array of {theirs.name} and the parameter of {ours.name}; convert one"
        )
    if array.dtype != p.dtype:
        if backends.loses(array.dtype, p.dtype):
            raise DtypeError(
                f"{what} is {array.dtype} and the parameter {p.dtype}, which cannot take it in"
            )
        array = xp.astype(array, p.dtype)
    return Block(shape, value.region, array) if is_block else array


def _sqrt(x: Tensor) -> Tensor:
    """Return the square root; where it is 0, with the derivative 0, as a norm has it."""
    xp: Any = Tensor._namespace
    return xp.where(x == 0, 0.0, xp.sqrt(xp.where(x == 0, 1.0, x)))


#: What formulas compute with where a tape records.
_RECORDED = SimpleNamespace(
    sqrt=_sqrt, maximum=Tensor._namespace.maximum, clip=Tensor._namespace.clip
)


@dataclass(frozen=True)
class SGD(_Optimiser):
    """Gradient descent: steps of ``-learning_rate * gradient``, or along a velocity.

    Parameters
    ----------
    learning_rate
        The size of a step: a number, or a function from the number of the step to one.
    momentum
        The share of the velocity, a sum of past gradients, that each step keeps; 0 for no velocity.
    dampening
        The velocity takes in ``(1 - dampening) * gradient``, but the first gradient in full.
    nesterov
        Whether to look a step ahead along the velocity.
    weight_decay
        Adds ``weight_decay * parameter`` to each gradient.
    maximize
        Whether to go up instead of down.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> optimiser = wg.optim.SGD(0.1)
    >>> params = {"w": np.array([1.0, 2.0])}
    >>> state = optimiser.init(params)
    >>> optimiser.step(params, {"w": np.array([10.0, 0.0])}, state)
    ({'w': array([0., 2.])}, {'step': 1})
    """

    learning_rate: Rate
    momentum: float = 0.0
    dampening: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0
    maximize: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nesterov and (not self.momentum or self.dampening):
            raise ValueError(
                f"SGD: nesterov=True with momentum={self.momentum} and "
                f"dampening={self.dampening}; it needs a momentum, and no dampening"
            )

    _formula = staticmethod(formulas.sgd)
    _arrays: ClassVar = [("velocity", "momentum_buffer", "momentum")]


@dataclass(frozen=True)
class Adam(_Optimiser):
    """Steps of ``learning_rate * mean / (root mean square + eps)``, of the gradients so far.

    Parameters
    ----------
    learning_rate, weight_decay, maximize
        As for `SGD`. `AdamW` decouples the decay from the gradient.
    beta1, beta2
        The weights of the old value in the running means of the gradient and of its square. Both
        means are corrected for their start at 0.
    eps
        Avoids a division by 0.
    amsgrad
        Whether to divide by the largest mean square so far.

    Examples
    --------
    >>> import wengert as wg
    >>> optimiser = wg.optim.Adam(0.1)
    >>> params, state = optimiser.step([2.0], [30.0], optimiser.init([2.0]))
    >>> params[0].round(6)
    np.float64(1.9)
    """

    learning_rate: Rate = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    weight_decay: float = 0.0
    amsgrad: bool = False
    maximize: bool = False

    _formula = staticmethod(formulas.adam)
    _arrays: ClassVar = [
        ("mean", "exp_avg", ""),
        ("square", "exp_avg_sq", ""),
        ("largest", "max_exp_avg_sq", "amsgrad"),
    ]

    def _conventions(self) -> dict[str, Any]:
        decoupled = isinstance(self, AdamW)
        return {"betas": (self.beta1, self.beta2), "decoupled_weight_decay": decoupled}


@dataclass(frozen=True)
class AdamW(Adam):
    """Adam with decoupled weight decay.

    Each step first multiplies a parameter by ``1 - learning_rate * weight_decay``. The other
    parameters are those of `Adam`.

    Examples
    --------
    >>> import wengert as wg
    >>> optimiser = wg.optim.AdamW(0.1, weight_decay=0.5)
    >>> optimiser.step([2.0], [0.0], optimiser.init([2.0]))[0]
    [np.float64(1.9)]
    """

    weight_decay: float = 1e-2


@dataclass(frozen=True)
class RMSprop(_Optimiser):
    """Steps of ``learning_rate * gradient / (root mean square + eps)``.

    Parameters
    ----------
    learning_rate, weight_decay, maximize
        As for `SGD`.
    decay
        The weight of the old value in the running mean of the squared gradient.
    eps
        Avoids a division by 0.
    momentum
        The share of the velocity, a sum of steps, that each step keeps; 0 for no velocity.
    centered
        Whether to divide by the standard deviation instead.

    Examples
    --------
    >>> import wengert as wg
    >>> optimiser = wg.optim.RMSprop(0.1, decay=0.75)
    >>> params, state = optimiser.step([2.0], [30.0], optimiser.init([2.0]))
    >>> params[0].round(6)
    np.float64(1.8)
    """

    learning_rate: Rate = 1e-2
    decay: float = 0.99
    eps: float = 1e-8
    momentum: float = 0.0
    centered: bool = False
    weight_decay: float = 0.0
    maximize: bool = False

    _formula = staticmethod(formulas.rmsprop)
    _arrays: ClassVar = [
        ("square", "square_avg", ""),
        ("mean", "grad_avg", "centered"),
        ("velocity", "momentum_buffer", "momentum"),
    ]

    def _conventions(self) -> dict[str, Any]:
        return {"alpha": self.decay, "at_least_0": True}


@dataclass(frozen=True)
class Adagrad(_Optimiser):
    """Steps of ``learning_rate * gradient / (root of the sum of all squares so far + eps)``.

    Parameters
    ----------
    learning_rate, weight_decay, maximize
        As for `SGD`.
    lr_decay
        Divides the learning rate by ``1 + k * lr_decay``, k gradients after the first.
    initial_accumulator
        The initial value of the sum of squares.
    eps
        Avoids a division by 0.

    Examples
    --------
    >>> import wengert as wg
    >>> optimiser = wg.optim.Adagrad(0.1)
    >>> params, state = optimiser.step([2.0], [30.0], optimiser.init([2.0]))
    >>> params[0].round(6), state["sum"]
    (np.float64(1.9), [np.float64(900.0)])
    """

    learning_rate: Rate = 1e-2
    lr_decay: float = 0.0
    initial_accumulator: float = 0.0
    eps: float = 1e-10
    weight_decay: float = 0.0
    maximize: bool = False

    _formula = staticmethod(formulas.adagrad)
    _arrays: ClassVar = [("sum", "sum", "")]
