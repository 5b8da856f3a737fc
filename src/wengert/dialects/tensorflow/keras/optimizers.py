"""Optimisers as Keras 3 has them: objects with state, which step variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from wengert.dialects.kernel.functions import warn
from wengert.dialects.quiet import Quiet, aloud
from wengert.dialects.tensorflow.errors import InvalidArgumentError, mistake
from wengert.dialects.tensorflow.keras.options import (
    REQUIRED,
    Configured,
    configured,
    getter,
    keras,
)
from wengert.dialects.tensorflow.keras.schedules import LearningRateSchedule
from wengert.dialects.tensorflow.keras.state import Owner, raw
from wengert.dialects.tensorflow.slices import IndexedSlices
from wengert.dialects.tensorflow.tensors import Tensor, convert, made
from wengert.dialects.tensorflow.variables import Variable
from wengert.optim import formulas
from wengert.optim.formulas import Formula, Rows, total

Gradient = np.ndarray | Rows
Pairs = list[tuple[Gradient, Any]]
#: The options that all optimisers have, after their own.
_COMMON: dict[str, Any] = {
    "weight_decay": None, "clipnorm": None, "clipvalue": None, "global_clipnorm": None,
    "use_ema": False, "ema_momentum": 0.99, "ema_overwrite_frequency": None,
    "loss_scale_factor": None, "gradient_accumulation_steps": None, "name": None,
}  # fmt: skip
#: What is expected of options, and whether it holds; of some, only for the class named.
_CHECKS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "gradient_accumulation_steps": ("None, or 2 or more", lambda n: not n or n >= 2),
    "ema_momentum": ("a number from 0 to 1", lambda x: 0 <= x <= 1),
    "SGD.momentum": ("a float from 0 to 1", lambda x: isinstance(x, float) and 0 <= x <= 1),
    "Lion.beta_1": ("a number above 0, up to 1", lambda x: 0 < x <= 1),
    "AdamW.weight_decay": ("a float; else write Adam", lambda x: x is not None),
}  # fmt: skip


def single(value: float) -> float:
    """Return a number rounded to single precision, which Keras does whatever the dtype."""
    return float(np.float32(value))


@keras("optimizers", "Optimizer")
class Optimizer(Configured, Owner):
    """What optimisers share; one of your own defines `update_step`."""

    _defaults: ClassVar[Mapping[str, Any]] = {"learning_rate": REQUIRED, **_COMMON}
    _unknown = ValueError
    #: The names of slots in groups, and what the formula calls them; with an option's name, if
    #: they are kept only where that is true.
    _kept: ClassVar[tuple[tuple[dict[str, str], str], ...]] = ()

    def __init__(self, *args: Any, **options: Any) -> None:
        if options.pop("decay", None) is not None:
            warn("decay is ignored; write a schedule for learning_rate instead")
        chosen = self._chosen(args, options)
        rate, name = chosen.pop("learning_rate"), chosen.pop("name")
        for option, value in chosen.items():
            for key in (option, f"{type(self).__name__}.{option}"):
                expected, holds = _CHECKS.get(key, ("", lambda _: True))
                if not holds(value):
                    raise ValueError(f"{key}={value!r}; expected {expected}")
        limits = ("clipnorm", "clipvalue", "global_clipnorm")
        if sum(chosen[limit] is not None for limit in limits) > 1:
            raise ValueError(f"of {', '.join(limits)}, give at most one")
        self._config = chosen
        vars(self).update(chosen)
        self._begin(name)
        self.built = False
        self._undecayed: tuple[set[int], str] = (set(), "")
        self._iterations = self._keep(np.asarray(0, np.int64), "iteration")
        self._trainable_variables: list[Variable] = []
        self._index: dict[int, int] = {}
        if not callable(rate) and not isinstance(rate, float):
            raise mistake(ValueError, "learning_rate", rate, "a float, a schedule or a function")
        self._learning_rate: Any = rate
        if not callable(rate):
            self._learning_rate = self._keep(np.asarray(rate, np.float32), "learning_rate")

    # -- what users see ---------------------------------------------------------------------------

    @property
    def iterations(self) -> Any:
        """The number of steps so far."""
        if self.gradient_accumulation_steps:
            return self._iterations // self.gradient_accumulation_steps
        return self._iterations

    @property
    def learning_rate(self) -> Any:
        """The learning rate now; assign to it to change it."""
        if isinstance(self._learning_rate, LearningRateSchedule):
            return self._learning_rate(self._iterations)
        if callable(self._learning_rate):
            return self._learning_rate()
        return self._learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate: Any) -> None:
        before = self._learning_rate
        if callable(learning_rate):
            self._learning_rate = learning_rate
            self._variables = [v for v in self._variables if v is not before]
        elif isinstance(before, LearningRateSchedule):
            raise TypeError("the learning rate follows a schedule; assign another schedule")
        else:
            self._learning_rate.assign(np.asarray(convert(learning_rate).numpy(), np.float32))

    def build(self, var_list: Iterable[Any]) -> None:
        """Make what is kept for each of some variables."""
        if self.built:
            return
        parameters = self._trainable_variables = list(var_list)
        self._index = {id(v): position for position, v in enumerate(parameters)}
        self._averages, self._accumulated = (
            [self.add_variable_from_reference(v, name) for v in parameters if wanted]
            for name, wanted in {
                "average": self.use_ema,
                "gradient_accumulator": self.gradient_accumulation_steps,
            }.items()
        )
        self._slots: list[dict[str, Variable]] = [{} for _ in parameters]
        for group, condition in self._kept:
            if condition and not self._config[condition]:
                continue
            for variable, slots in zip(parameters, self._slots, strict=True):
                for name, key in group.items():
                    first = self._config.get("initial_accumulator_value", 0.0)
                    value = single(first) if name == "accumulator" else 0.0
                    slots[key] = self.add_variable_from_reference(variable, name, value)
        self.built = True

    def add_variable_from_reference(
        self, reference_variable: Any, name: str | None = None, initializer: Any = "zeros"
    ) -> Variable:
        """Return a new variable of the shape and dtype of another."""
        reference = f"{reference_variable.name}".replace("/", "_").replace(":", "_")
        full = f"{reference}_{name or 'var'}"
        if isinstance(initializer, float):
            return self._keep(np.full_like(raw(reference_variable), initializer), full)
        shape, dtype = reference_variable.shape, reference_variable.dtype
        return self.add_variable(shape, initializer, dtype, name=full)

    def assign(self, variable: Any, value: Any) -> None:
        """Replace the value of a variable."""
        variable.assign(_in_dtype(value, variable))

    def assign_add(self, variable: Any, value: Any) -> None:
        """Add to the value of a variable."""
        variable.assign_add(_in_dtype(value, variable))

    def assign_sub(self, variable: Any, value: Any) -> None:
        """Subtract from the value of a variable."""
        variable.assign_sub(_in_dtype(value, variable))

    def _get_variable_index(self, variable: Any) -> int:
        return self._index[id(variable)]

    def exclude_from_weight_decay(
        self, var_list: Iterable[Any] | None = None, var_names: Iterable[str] | None = None
    ) -> None:
        """Have weight decay spare some variables, or those with one of some words in their name."""
        self._undecayed = ({id(v) for v in var_list or ()}, "|".join(set(var_names or ())))

    def scale_loss(self, loss: Any) -> Any:
        """Return a loss times `loss_scale_factor`, if there is one."""
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    def finalize_variable_values(self, var_list: Any) -> None:
        """Give variables the averages of their values, with `use_ema`."""
        if self.use_ema:
            for variable, average in zip(var_list, self._averages, strict=True):
                variable.assign(raw(average))

    def set_weights(self, weights: Iterable[Any]) -> None:
        """Give the optimiser's variables values."""
        if not self.built:
            raise ValueError("the optimizer has no state yet; call optimizer.build(variables)")
        for variable, weight in zip(self._variables, weights, strict=False):
            variable.assign(_in_dtype(weight, variable))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make this optimiser."""
        rate = self._learning_rate
        rate = float(rate) if isinstance(rate, Variable) else rate
        return {"name": self.name, "learning_rate": rate, **self._config}

    # -- a step -----------------------------------------------------------------------------------

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]]) -> Any:
        """Step variables against their gradients: pairs (gradient, variable)."""
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("apply_gradients was given no pairs (gradient, variable)")
        grads, variables = zip(*pairs, strict=True)
        self.apply(grads, variables)
        return self._iterations

    def apply(self, grads: Any, trainable_variables: Any = None) -> None:
        """Step variables against their gradients; without variables, those of `build`."""
        if not len(grads):
            return
        given = self._trainable_variables if trainable_variables is None else trainable_variables
        variables = list(given)
        if len(grads) != len(variables):
            raise ValueError(
                f"{len(grads)} gradients for {len(variables)} variables; give one for each, having "
                "called optimizer.build(variables), or write optimizer.apply(grads, variables)"
            )
        if not self.built:
            self.build(variables)
        unknown = [v for v in variables if id(v) not in self._index]
        if unknown:
            raise mistake(
                ValueError, "a variable", unknown[0], "one of the first call, or of build()"
            )
        pairs = list(zip(grads, variables, strict=True))
        found = [(g, v) for g, v in pairs if g is not None]
        if not found:
            raise ValueError("all gradients are None: the loss depends on none of the variables")
        if len(found) < len(pairs):
            names = [v.name for g, v in pairs if g is None]
            warn(f"no gradients for the variables {names}, which stay as they are")
        scale = self.loss_scale_factor
        with Quiet():
            taken = [(_gradient(g, v, scale), v) for g, v in found]
            self._apply_or_accumulate(taken)
            if self.use_ema:
                self._update_averages()
        for _, variable in taken:
            if getattr(variable, "constraint", None) is not None:
                variable.assign(variable.constraint(variable))
        self._iterations.assign_add(1)

    def _apply_or_accumulate(self, pairs: Pairs) -> None:
        every = self.gradient_accumulation_steps
        if every:
            sums = [self._accumulated[self._index[id(v)]] for _, v in pairs]
            totals = [total(g) + raw(s) for (g, _), s in zip(pairs, sums, strict=True)]
            if (int(raw(self._iterations)) + 1) % every:
                for s, added in zip(sums, totals, strict=True):
                    s.assign(added)
                return
            pairs = [(added / every, v) for added, (_, v) in zip(totals, pairs, strict=True)]
        self._decay([v for _, v in pairs])
        self._update(self._clipped(pairs))
        for s in self._accumulated:
            s.assign(np.zeros_like(raw(s)))

    def _clipped(self, pairs: Pairs) -> Pairs:
        """Return gradients made smaller, as `clipnorm` and the like say."""
        if self.clipvalue:
            limit = self.clipvalue
            return [(_with_values(g, np.clip(_values(g), -limit, limit)), v) for g, v in pairs]
        limit = self.clipnorm or self.global_clipnorm or 0.0
        if not limit:
            return pairs
        norms = [np.sqrt(np.sum(np.square(_values(g)))) for g, _ in pairs]
        if self.global_clipnorm:
            norms = [np.sqrt(np.sum(np.square(norms)))] * len(norms)
        clipped = []
        for (g, v), norm in zip(pairs, norms, strict=True):
            factor = (limit / np.maximum(norm, limit)).astype(_values(g).dtype)
            clipped.append((_with_values(g, _values(g) * factor), v))
        return clipped

    def _rate_now(self) -> float:
        rate = self.learning_rate
        return float(raw(rate) if isinstance(rate, Variable) else np.asarray(rate))

    def _decay(self, variables: list[Any]) -> None:
        if self.weight_decay is None:
            return
        spared, words = self._undecayed
        factor = single(self.weight_decay) * self._rate_now()
        for v in variables:
            if id(v) not in spared and not (words and re.search(words, v.name)):
                v.assign(raw(v) - raw(v) * factor)

    def _update(self, pairs: Pairs) -> None:
        for g, v in pairs:
            aloud(self.update_step, made(total(g)), v, self.learning_rate)

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Step one variable; what optimisers of your own define."""
        raise NotImplementedError

    def _update_averages(self) -> None:
        first = not int(np.asarray(self.iterations))
        kept = 0.0 if first else self.ema_momentum
        for variable, average in zip(self._trainable_variables, self._averages, strict=True):
            average.assign(kept * raw(average) + (1 - kept) * raw(variable))
        every = self.ema_overwrite_frequency
        if every and (int(np.asarray(self.iterations)) + 1) % every == 0:
            self.finalize_variable_values(self._trainable_variables)

    def __getattr__(self, name: str) -> Any:
        instead = (
            "; write optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))"
        )
        told = f"{type(self).__name__!r} object has no attribute {name!r}"
        raise AttributeError(told + instead * (name == "minimize"))


def _in_dtype(value: Any, variable: Any) -> Any:
    array = np.asarray(value._value._raw if isinstance(value, Variable) else value)
    return array.astype(raw(variable).dtype)


def _gradient(g: Any, variable: Any, scale: float | None) -> Gradient:
    """Return a gradient, which must have the shape of its variable, in its dtype."""
    p = raw(variable)
    rows = None
    if isinstance(g, IndexedSlices):
        rows, g = np.asarray(g.indices), g.values
    values = np.asarray(g._raw if type(g) is Tensor else convert(g)._raw).astype(p.dtype)
    values = values if scale is None else values / scale
    shape = values.shape if rows is None else (*p.shape[:1], *values.shape[1:])
    if shape != p.shape:
        shapes = list(values.shape), list(p.shape)
        raise mistake(
            InvalidArgumentError, "(shape of gradient, of variable)", shapes, "equal ones"
        )
    return values if rows is None else Rows(values, rows, p.shape)


def _values(g: Gradient) -> np.ndarray:
    return g.values if isinstance(g, Rows) else g


def _with_values(g: Gradient, values: np.ndarray) -> Gradient:
    """Return a gradient at the same rows with other values."""
    return Rows(values, g.rows, g.shape) if isinstance(g, Rows) else values


# -- the optimisers -------------------------------------------------------------------------------

_BY_NAME: dict[str, type[Optimizer]] = {}
#: What formulas call hyperparameters of other names.
_FORMULAS = {
    "rho": "alpha", "epsilon": "eps", "learning_rate_power": "lr_power",
    "l1_regularization_strength": "l1", "l2_regularization_strength": "l2",
    "l2_shrinkage_regularization_strength": "l2_shrinkage",
}  # fmt: skip


class _OfFormula(Optimizer):
    """An optimiser with a formula."""

    #: Where the formula differs from PyTorch's.
    _convention: ClassVar[dict[str, Any]]
    #: The hyperparameters that are rounded to single precision.
    _rounded: ClassVar[tuple[str, ...]]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        given = dict(self._config)
        given.update({name: single(given[name]) for name in self._rounded})
        self._options: dict[str, Any] = {**self._convention}
        for name, value in given.items():
            if name not in _COMMON:
                self._options[name] = self._options[_FORMULAS.get(name, name)] = value
        if "beta_1" in given:
            betas = self._options["betas"] = given["beta_1"], given["beta_2"]
            self._options["bias_betas"] = (single(betas[0]), single(betas[1]))

    def _update(self, pairs: Pairs) -> None:
        if type(self).update_step is not Optimizer.update_step:
            super()._update(pairs)
            return
        rate, step = self._rate_now(), int(np.asarray(self.iterations)) + 1
        options = {**self._options, **self._shared(step), "lr": rate}
        for g, v in pairs:
            slots = self._slots[self._index[id(v)]]
            state: dict[str, Any] = {key: raw(slot) for key, slot in slots.items()}
            state["step"] = step
            v.assign(made(formulas.stepped(type(self)._function, raw(v), g, state, options)))
            for key, slot in slots.items():
                slot.assign(made(state[key]))

    def _shared(self, step: int) -> dict[str, Any]:
        """Return options that change from step to step, the same for all parameters."""
        return {}


class _WithProduct(_OfFormula):
    """An optimiser that keeps the product of all weights of the gradient's mean."""

    def build(self, var_list: Iterable[Any]) -> None:
        """Make what is kept for each of some variables, and for all of them."""
        if not self.built:
            super().build(var_list)
            self._product = self._keep(np.asarray(1.0, np.float64), "u_product")

    def _shared(self, step: int) -> dict[str, Any]:
        """Return the product of all weights so far, and the betas as they are rounded."""
        product = float(raw(self._product)) * self._options["beta_1"] * (1 - 0.5 * 0.96**step)
        self._product.assign(product)
        return {"mu_product": product, "betas": self._options["bias_betas"]}


def _optimizer(
    name: str,
    formula: Formula,
    doc: str,
    hyperparameters: dict[str, Any],
    *kept: tuple[dict[str, str], str],
    base: type[Optimizer] = _OfFormula,
    rounded: tuple[str, ...] = (),
    **convention: Any,
) -> None:
    """Offer an optimiser: its formula, its own options, its slots, and what the formula does."""
    own = {"learning_rate": 0.001, **hyperparameters}
    attributes = {"_kept": kept, "_rounded": rounded, "_convention": convention, "__doc__": doc}
    kind = configured("optimizers", name, base, own | (_COMMON | own), formula, **attributes)
    _BY_NAME[name] = _BY_NAME[name.lower()] = kind


_BETAS = {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7}
_MOMENTS = ({"momentum": "exp_avg", "velocity": "exp_avg_sq"}, "")
_MOMENTUM = ({"momentum": "momentum_buffer"}, "momentum")
_LARGEST = ({"velocity_hat": "max_exp_avg_sq"}, "amsgrad")
_optimizer(
    "SGD", formulas.sgd,
    "Steps against the gradient, with `momentum` and perhaps Nesterov's look ahead.",
    {"learning_rate": 0.01, "momentum": 0.0, "nesterov": False}, _MOMENTUM,
    rounded=("momentum",), rate_in_sum=True,
)  # fmt: skip
_optimizer(
    "Adam", formulas.adam, "The gradient's mean over its root mean square.",
    {**_BETAS, "amsgrad": False}, _MOMENTS, _LARGEST, eps_scaled=True,
)  # fmt: skip
_optimizer(
    "AdamW", formulas.adam, "Adam with weight decay.",
    {"weight_decay": 0.004, **_BETAS, "amsgrad": False}, _MOMENTS, _LARGEST,
    base=_BY_NAME["Adam"], eps_scaled=True,
)  # fmt: skip
_optimizer(
    "RMSprop", formulas.rmsprop, "The gradient over its root mean square.",
    {"rho": 0.9, "momentum": 0.0, "epsilon": 1e-7, "centered": False},
    ({"velocity": "square_avg"}, ""), _MOMENTUM, ({"average_gradient": "grad_avg"}, "centered"),
    eps_inside=True, rate_in_sum=True,
)  # fmt: skip
_optimizer(
    "Adagrad", formulas.adagrad, "The gradient over the root of the sum of its squares.",
    {"initial_accumulator_value": 0.1, "epsilon": 1e-7}, ({"accumulator": "sum"}, ""),
    eps_inside=True,
)  # fmt: skip
_optimizer(
    "Adadelta", formulas.adadelta,
    "The gradient times the root mean square of steps over that of gradients.",
    {"rho": 0.95, "epsilon": 1e-7},
    ({"accumulated_grad": "square_avg", "accumulated_delta_var": "acc_delta"}, ""),
)  # fmt: skip
_optimizer(
    "Adamax", formulas.adamax, "The gradient's mean over the largest gradient.", _BETAS,
    ({"momentum": "exp_avg", "norm": "exp_inf"}, ""), eps_outside=True,
)  # fmt: skip
_optimizer(
    "Nadam", formulas.nadam, "Adam with Nesterov's look ahead.", _BETAS, _MOMENTS,
    base=_WithProduct, momentum_decay=1, mu_base=single(0.96),
)  # fmt: skip
_optimizer(
    "Lamb", formulas.lamb, "Adam with steps as long as the parameter is large.", _BETAS, _MOMENTS
)
_optimizer(
    "Lion", formulas.lion, "Steps along the signs of a mean.", {"beta_1": 0.9, "beta_2": 0.99},
    ({"momentum": "exp_avg"}, ""), rounded=("beta_1", "beta_2"),
)  # fmt: skip
_optimizer(
    "Ftrl", formulas.ftrl, "Follow the regularised leader.",
    {"learning_rate_power": -0.5, "initial_accumulator_value": 0.1,
     "l1_regularization_strength": 0.0, "l2_regularization_strength": 0.0,
     "l2_shrinkage_regularization_strength": 0.0, "beta": 0.0},
    ({"accumulator": "sum", "linear": "linear"}, ""),
)  # fmt: skip

get = getter("optimizers", _BY_NAME, "optimizer")
