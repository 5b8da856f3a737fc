"""Optimisers: frozen records of hyperparameters, whose state is a plain tree.

A class is a row: it names one of `formulas`, its hyperparameters, and the arrays that it keeps for
each parameter. The base class runs the formula over a tree: on raw arrays, in pieces where they are
large, or on tensors where a tape records.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wengert import backends
from wengert.elements.selections import Selection
from wengert.engine.cotangents import Block, part_of
from wengert.engine.errors import BackendError, DtypeError, ShapeError
from wengert.engine.tensor import Tensor
from wengert.ops.variable import Variable
from wengert.optim import formulas
from wengert.optim.formulas import Formula
from wengert.optim.leaves import (
    check_inexact,
    each_once,
    labels,
    like,
    matcher,
    raw,
    tensor,
    traced,
)
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

    #: The step, and what it calls the arrays that are kept for each parameter, by our names.
    _formula: Formula
    _called: ClassVar[dict[str, str]] = {}

    def _slots(self) -> dict[str, float]:
        """Return the arrays kept for each parameter, by name, and what they are filled with."""
        return {}

    def _conventions(self) -> dict[str, Any]:
        """Return the formula's options that are no fields."""
        return {}

    @cached_property
    def _keys(self) -> list[str]:
        """What the formula calls the slots."""
        return [self._called[name] for name in self._slots()]

    @cached_property
    def _options(self) -> dict[str, Any]:
        """The formula's options, but for the rate."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return given | self._conventions()

    # -- hyperparameters -----------------------------------------------------------------

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
        rows = self._for_each(params, self._init_leaf, leaves)
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
            A tree like `params`. Where it has None, nothing changes. A `Block` changes the part
            that it is not zero on, and what is kept for that part.
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
        step = int(state["step"])
        match = matcher(params)
        columns = [match(gradients, ("params", "gradients"))]
        columns += [match(state[name], ("params", f"state[{name!r}]")) for name in self._kept]
        step_leaf = partial(self._step_leaf, self._rate(step), in_place)
        rows = self._for_each(params, step_leaf, leaves, *columns)
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
        slots = self._slots()
        return ["count", *slots] if slots else []

    def _for_each(self, params: Any, function: Callable[..., Any], *columns: Any) -> list[Any]:
        """Return function(*row) for each leaf of `params`; an error says for which."""
        results = []
        for place, row in enumerate(zip(*columns, strict=True)):
            try:
                results.append(function(*row))
            except (TypeError, ValueError) as error:
                error.args = (f"{self._name}: {labels(params, 'params')[place]}: {error}",)
                raise
        return results

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
        for place, leaf in enumerate(leaves):
            owner = leaf._owner if isinstance(leaf, Selection) else leaf
            if isinstance(owner, Variable) and first.setdefault(id(owner), place) != place:
                names = labels(params, "params")
                raise ValueError(
                    f"{self._name}: {names[first[id(owner)]]} and {names[place]} are one variable, "
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
        slots = [like(xp.full_like(p, both * value), leaf) for value in self._slots().values()]
        return [0, *slots] if slots else []

    def _step_leaf(
        self, rate: Any, in_place: bool, leaf: Any, gradient: Any, *kept: Any
    ) -> tuple[Any, ...]:
        """Return the new value of a parameter, and what is kept for it."""
        if gradient is None:
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
        count = int(count) + 1
        g = _fitted(xp, gradient, p, "the gradient")
        slots = [_fitted(xp, slot, p, "the state") for slot in slots]
        if type(g) is Block:
            return self._step_part(xp, rate, count, (owner, in_place), leaf, p, g, slots)
        moved, *slots = (like(new, leaf) for new in self._run(xp, rate, count, p, g, *slots))
        return (moved, count, *slots) if kept else (moved,)

    def _step_part(
        self,
        xp: Any,
        rate: Any,
        count: int,
        writes: tuple[bool, bool],
        leaf: Any,
        p: Any,
        g: Block,
        slots: list[Any],
    ) -> tuple[Any, ...]:
        """Step the part of a parameter that its gradient is not zero on, and nothing else."""
        g = each_once(g)
        arrays = [p, *slots]
        parts = self._run(
            xp,
            rate,
            count,
            part_of(p, g.region),
            g.values,
            *(part_of(slot, g.region) for slot in slots),
        )
        owner, in_place = writes
        results = []
        for array, part in zip(arrays, parts, strict=True):
            may_write = owner if array is p and isinstance(leaf, Variable) else in_place
            if may_write and type(array) is np.ndarray and array.flags.writeable:
                results.append(_Write(array, g.index, part))
            else:
                results.append(xp.put(array, part, key=g.index))
        moved, *kept = (r if type(r) is _Write else like(r, leaf) for r in results)
        return (moved, count, *kept) if slots else (moved,)

    def _run(self, xp: Any, rate: Any, count: int, p: Any, g: Any, *slots: Any) -> list[Any]:
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
        if count == 1:
            options["dampening"] = 0.0  # the first gradient is taken in full
        state = dict(zip(self._keys, slots, strict=True))
        state["step"] = count
        if type(p) is np.ndarray:
            p = formulas.stepped(self._formula, p, g, state, options)
        elif type(p) is Tensor:
            p = self._formula(_RECORDED, p, g, state, options)
        else:  # the formula may write to what it is given
            state.update((key, xp.copy(state[key])) for key in self._keys)
            p = self._formula(xp, xp.copy(p), g, state, options)
        return [p, *(state[key] for key in self._keys)]


class _Write(NamedTuple):
    """A part of an array that is to be written over."""

    array: np.ndarray
    place: tuple[Any, ...]
    part: np.ndarray


def _written(new: Any, leaf: Any) -> Any:
    """Return what a leaf or its state has become, having written what was put off."""
    if type(new) is not _Write:
        return new
    new.array[new.place] = new.part
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
    """Steps against the gradient; with `momentum`, against a sum of past gradients.

    Parameters
    ----------
    learning_rate
        The size of a step: a number, or a function from the number of the step to one.
    momentum
        What is kept of the sum at each step; 0 for no sum.
    dampening
        The sum takes in ``(1 - dampening) * gradient``, but the first gradient in full.
    nesterov
        Whether to look a step ahead along the sum.
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
    _called: ClassVar = {"velocity": "momentum_buffer"}

    def _slots(self) -> dict[str, float]:
        return {"velocity": 0.0} if self.momentum else {}


class _AdamFormula(_Optimiser):
    """What Adam and AdamW share: all but where the weights decay."""

    beta1: float
    beta2: float
    amsgrad: bool
    _formula = staticmethod(formulas.adam)
    _called: ClassVar = {"mean": "exp_avg", "square": "exp_avg_sq", "largest": "max_exp_avg_sq"}

    def _slots(self) -> dict[str, float]:
        return {"mean": 0.0, "square": 0.0} | ({"largest": 0.0} if self.amsgrad else {})

    def _conventions(self) -> dict[str, Any]:
        decoupled = isinstance(self, AdamW)
        return {"betas": (self.beta1, self.beta2), "decoupled_weight_decay": decoupled}


@dataclass(frozen=True)
class Adam(_AdamFormula):
    """Steps of about the learning rate's size: the gradient's mean over its root mean square.

    Parameters
    ----------
    learning_rate
        The size of a step: a number, or a function from the number of the step to one.
    beta1, beta2
        What the running averages of the gradient and of its square keep at each step.
    eps
        Added to the root mean square, so that nothing is divided by 0.
    weight_decay
        Adds ``weight_decay * parameter`` to each gradient; see `AdamW` for the other way.
    amsgrad
        Whether to divide by the largest mean square so far.
    maximize
        Whether to go up instead of down.
    """

    learning_rate: Rate = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    weight_decay: float = 0.0
    amsgrad: bool = False
    maximize: bool = False


@dataclass(frozen=True)
class AdamW(_AdamFormula):
    """Adam, with weights that shrink by themselves and not by way of the gradient.

    Parameters
    ----------
    weight_decay
        At each step a parameter is first multiplied by ``1 - learning_rate * weight_decay``.

    The others are those of `Adam`.
    """

    learning_rate: Rate = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    weight_decay: float = 1e-2
    amsgrad: bool = False
    maximize: bool = False


@dataclass(frozen=True)
class RMSprop(_Optimiser):
    """Steps of the gradient over its root mean square.

    Parameters
    ----------
    learning_rate
        The size of a step: a number, or a function from the number of the step to one.
    decay
        What the running average of the squared gradient keeps at each step.
    eps
        Added to the root mean square, so that nothing is divided by 0.
    momentum
        What is kept of a sum of steps; 0 for no sum.
    centered
        Whether to divide by the standard deviation instead.
    weight_decay
        Adds ``weight_decay * parameter`` to each gradient.
    maximize
        Whether to go up instead of down.
    """

    learning_rate: Rate = 1e-2
    decay: float = 0.99
    eps: float = 1e-8
    momentum: float = 0.0
    centered: bool = False
    weight_decay: float = 0.0
    maximize: bool = False

    _formula = staticmethod(formulas.rmsprop)
    _called: ClassVar = {"square": "square_avg", "mean": "grad_avg", "velocity": "momentum_buffer"}

    def _slots(self) -> dict[str, float]:
        names = ["square"] + ["mean"] * self.centered + ["velocity"] * bool(self.momentum)
        return dict.fromkeys(names, 0.0)

    def _conventions(self) -> dict[str, Any]:
        return {"alpha": self.decay, "at_least_0": True}


@dataclass(frozen=True)
class Adagrad(_Optimiser):
    """Steps of the gradient over the root of the sum of all its squares so far.

    Parameters
    ----------
    learning_rate
        The size of a step: a number, or a function from the number of the step to one.
    lr_decay
        Divides the learning rate by ``1 + k * lr_decay``, k gradients after the first.
    initial_accumulator
        What the sum of squares begins with.
    eps
        Added to the root, so that nothing is divided by 0.
    weight_decay
        Adds ``weight_decay * parameter`` to each gradient.
    maximize
        Whether to go up instead of down.
    """

    learning_rate: Rate = 1e-2
    lr_decay: float = 0.0
    initial_accumulator: float = 0.0
    eps: float = 1e-10
    weight_decay: float = 0.0
    maximize: bool = False

    _formula = staticmethod(formulas.adagrad)
    _called: ClassVar = {"sum": "sum"}

    def _slots(self) -> dict[str, float]:
        return {"sum": self.initial_accumulator}
