"""Optimisers as Keras 3 has them: objects with state, which step variables."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from wengert.dialects.quiet import Quiet, aloud
from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.keras.names import keras, looked_up
from wengert.dialects.tensorflow.keras.schedules import LearningRateSchedule
from wengert.dialects.tensorflow.keras.state import State, numbered
from wengert.dialects.tensorflow.slices import IndexedSlices
from wengert.dialects.tensorflow.tensors import Tensor, convert, made
from wengert.dialects.tensorflow.variables import Variable
from wengert.optim import formulas
from wengert.optim.formulas import Formula, Rows, total

Gradient = np.ndarray | Rows


def _raw(variable: Variable) -> np.ndarray:
    return np.asarray(variable._value._raw)


def single(value: float) -> float:
    """Return a number rounded to single precision, which Keras does whatever the dtype."""
    return float(np.float32(value))


@keras("optimizers", "Optimizer")
class Optimizer:
    """What optimisers share; one of your own defines `update_step`."""

    _formula: Formula
    #: What is kept for each parameter, in groups: its name, and what the formula calls it.
    _kept: Sequence[dict[str, str]] = ()
    #: What slots begin with, if not with 0.
    _begin: float = 0.0
    #: The formula's options, but for the rate.
    _options: dict[str, Any]

    def __init__(
        self,
        learning_rate: Any,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        loss_scale_factor: float | None = None,
        gradient_accumulation_steps: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if kwargs.pop("decay", None) is not None:
            warnings.warn(
                "decay is ignored; write a schedule for learning_rate instead", stacklevel=3
            )
        if kwargs:
            raise ValueError(f"an optimizer does not take {', '.join(kwargs)}")
        if sum(limit is not None for limit in (clipnorm, clipvalue, global_clipnorm)) > 1:
            raise ValueError(
                f"clipnorm={clipnorm}, clipvalue={clipvalue}, global_clipnorm={global_clipnorm}; "
                "give at most one of them"
            )
        if gradient_accumulation_steps and not gradient_accumulation_steps >= 2:
            raise ValueError(
                f"gradient_accumulation_steps={gradient_accumulation_steps}; expected None, or 2 "
                "or more"
            )
        if use_ema and not 0 <= ema_momentum <= 1:
            raise ValueError(f"ema_momentum={ema_momentum}; expected a number from 0 to 1")
        self.name = name or numbered(type(self))
        self.weight_decay = weight_decay
        self.clipnorm, self.clipvalue, self.global_clipnorm = clipnorm, clipvalue, global_clipnorm
        self.use_ema, self.ema_momentum = use_ema, ema_momentum
        self.ema_overwrite_frequency = ema_overwrite_frequency
        self.loss_scale_factor = loss_scale_factor
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.built = False
        self._undecayed: tuple[set[int], str] = (set(), "")
        self._iterations = self._state(0, np.int64, "iteration")
        self._variables: list[Variable] = [self._iterations]
        self._trainable_variables: list[Variable] = []
        self._index: dict[int, int] = {}
        self._learning_rate = self._as_rate(learning_rate)
        if isinstance(self._learning_rate, Variable):
            self._variables.append(self._learning_rate)

    def _as_rate(self, rate: Any) -> Any:
        if callable(rate):
            return rate
        if not isinstance(rate, float):
            raise ValueError(
                f"learning_rate is {rate!r}; expected a Python float, a LearningRateSchedule or a "
                "function without arguments: write float(learning_rate)"
            )
        return self._state(rate, np.float32, "learning_rate")

    # -- what users see ---------------------------------------------------------------------------

    @property
    def iterations(self) -> Any:
        """The number of steps so far."""
        if self.gradient_accumulation_steps:
            return self._iterations // self.gradient_accumulation_steps
        return self._iterations

    @property
    def variables(self) -> list[Variable]:
        """The number of steps, the learning rate, and what is kept for each parameter."""
        return list(self._variables)

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
            raise TypeError(
                "the learning rate of this optimizer follows a schedule, so it cannot be "
                "assigned to; make the optimizer with a float, or assign a schedule"
            )
        else:
            self._learning_rate.assign(np.asarray(convert(learning_rate).numpy(), np.float32))

    def build(self, var_list: Iterable[Any]) -> None:
        """Make what is kept for each of some variables."""
        if self.built:
            return
        parameters = list(var_list)
        self._averages: list[Variable] = []
        if self.use_ema:
            self._averages = [self.add_variable_from_reference(v, "average") for v in parameters]
        self._accumulated: list[Variable] = []
        self._index = {id(v): place for place, v in enumerate(parameters)}
        if self.gradient_accumulation_steps:
            name = "gradient_accumulator"
            self._accumulated = [self.add_variable_from_reference(v, name) for v in parameters]
        self._trainable_variables = parameters
        self._slots: list[dict[str, Variable]] = [{} for _ in parameters]
        for group in self._kept:
            for variable, slots in zip(parameters, self._slots, strict=True):
                for name, key in group.items():
                    value = single(self._begin) if name == "accumulator" else 0.0
                    slots[key] = self.add_variable_from_reference(variable, name, value)
        self.built = True

    def add_variable(
        self, shape: Any, initializer: Any = "zeros", dtype: Any = None, name: str | None = None,
        **options: Any,
    ) -> Variable:  # fmt: skip
        """Return a new variable of the optimiser."""
        from wengert.dialects.tensorflow.keras import initializers

        value = initializers.get(initializer)(shape, dtype=dtype or "float32")
        variable = State(value, name or "variable", self.name)
        self._variables.append(variable)
        return variable

    def _state(self, value: Any, dtype: Any, name: str) -> Variable:
        return State(np.asarray(value, dtype), name, self.name)

    def add_variable_from_reference(
        self, reference_variable: Any, name: str | None = None, initializer: Any = "zeros"
    ) -> Variable:
        """Return a new variable of the shape and dtype of another."""
        reference = f"{reference_variable.name}".replace("/", "_").replace(":", "_")
        full = f"{reference}_{name or 'var'}"
        if isinstance(initializer, float):
            array = np.full_like(_raw(reference_variable), initializer)
            variable = State(array, full, self.name)
            self._variables.append(variable)
            return variable
        shape, dtype = reference_variable.shape, reference_variable.dtype
        return self.add_variable(shape, initializer, dtype, full)

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
                variable.assign(_raw(average))

    def set_weights(self, weights: Iterable[Any]) -> None:
        """Give the optimiser's variables values."""
        if not self.built:
            raise ValueError(
                "this optimizer has no state yet; call optimizer.build(variables) before "
                "set_weights"
            )
        for variable, weight in zip(self._variables, weights, strict=False):
            variable.assign(_in_dtype(weight, variable))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make this optimiser."""
        rate = self._learning_rate
        names = ("weight_decay", "clipnorm", "global_clipnorm", "clipvalue", "use_ema",
                 "ema_momentum", "ema_overwrite_frequency", "loss_scale_factor",
                 "gradient_accumulation_steps")  # fmt: skip
        return {
            "name": self.name,
            "learning_rate": float(rate) if isinstance(rate, Variable) else rate,
            **{name: getattr(self, name) for name in names},
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Return an optimiser from its arguments."""
        return cls(**config)

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
        if trainable_variables is None:
            if not self.built:
                raise ValueError(
                    "the optimizer does not know its variables yet; call "
                    "optimizer.build(variables), or write optimizer.apply(grads, variables)"
                )
            if len(grads) != len(self._trainable_variables):
                raise ValueError(
                    f"{len(grads)} gradients for {len(self._trainable_variables)} variables; give "
                    "one for each"
                )
            trainable_variables = self._trainable_variables
        variables = list(trainable_variables)
        if not self.built:
            self.build(variables)
        for v in variables:
            if id(v) not in self._index:
                raise ValueError(
                    f"the optimizer does not know the variable {v}; it steps those of its first "
                    "call, so make another one for other variables"
                )
        found = [(g, v) for g, v in zip(grads, variables, strict=True) if g is not None]
        self._check_missing(grads, variables, found)
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

    def _check_missing(self, grads: Any, variables: list[Any], found: list[Any]) -> None:
        if not found:
            raise ValueError(
                "all gradients are None: nothing that was differentiated depends on the variables"
            )
        if len(found) < len(variables):
            names = [v.name for g, v in zip(grads, variables, strict=True) if g is None]
            warnings.warn(
                f"no gradients for the variables {names}, which stay as they are",
                stacklevel=4,
            )

    def _apply_or_accumulate(self, pairs: list[tuple[Gradient, Any]]) -> None:
        every = self.gradient_accumulation_steps
        if every:
            sums = [self._accumulated[self._index[id(v)]] for _, v in pairs]
            totals = [total(g) + _raw(s) for (g, _), s in zip(pairs, sums, strict=True)]
            if (int(_raw(self._iterations)) + 1) % every:
                for s, added in zip(sums, totals, strict=True):
                    s.assign(added)
                return
            pairs = [(added / every, v) for added, (_, v) in zip(totals, pairs, strict=True)]
        self._decay([v for _, v in pairs])
        self._update(self._clipped(pairs))
        for s in self._accumulated:
            s.assign(np.zeros_like(_raw(s)))

    def _clipped(self, pairs: list[tuple[Gradient, Any]]) -> list[tuple[Gradient, Any]]:
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
        factors = [limit / np.maximum(norm, limit) for norm in norms]
        return [
            (_with_values(g, _values(g) * factor.astype(_values(g).dtype)), v)
            for (g, v), factor in zip(pairs, factors, strict=True)
        ]

    def _rate_now(self) -> float:
        rate = self.learning_rate
        return float(_raw(rate) if isinstance(rate, Variable) else np.asarray(rate))

    def _decay(self, variables: list[Any]) -> None:
        if self.weight_decay is None:
            return
        spared, words = self._undecayed
        factor = single(self.weight_decay) * self._rate_now()
        for v in variables:
            if id(v) not in spared and not (words and re.search(words, v.name)):
                v.assign(_raw(v) - _raw(v) * factor)

    def _update(self, pairs: list[tuple[Gradient, Any]]) -> None:
        if type(self).update_step is not Optimizer.update_step:
            for g, v in pairs:
                aloud(self.update_step, made(total(g)), v, self.learning_rate)
            return
        rate, step = self._rate_now(), int(np.asarray(self.iterations)) + 1
        options = {**self._options, **self._shared(step), "lr": rate}
        for g, v in pairs:
            slots = self._slots[self._index[id(v)]]
            state: dict[str, Any] = {key: _raw(slot) for key, slot in slots.items()}
            state["step"] = step
            v.assign(made(formulas.stepped(self._formula, _raw(v), g, state, options)))
            for key, slot in slots.items():
                slot.assign(made(state[key]))

    def _shared(self, step: int) -> dict[str, Any]:
        """Return options that change from step to step, the same for all parameters."""
        return {}

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Step one variable; what optimisers of your own define."""
        raise NotImplementedError

    def _update_averages(self) -> None:
        first = not int(np.asarray(self.iterations))
        kept = 0.0 if first else self.ema_momentum
        for variable, average in zip(self._trainable_variables, self._averages, strict=True):
            average.assign(kept * _raw(average) + (1 - kept) * _raw(variable))
        every = self.ema_overwrite_frequency
        if every and (int(np.asarray(self.iterations)) + 1) % every == 0:
            self.finalize_variable_values(self._trainable_variables)

    def __getattr__(self, name: str) -> Any:
        if name == "minimize":
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute 'minimize', as in Keras 3; write "
                "grads = tape.gradient(loss, variables) and "
                "optimizer.apply_gradients(zip(grads, variables))"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _in_dtype(value: Any, variable: Any) -> Any:
    array = np.asarray(value._value._raw if isinstance(value, Variable) else value)
    return array.astype(_raw(variable).dtype)


def _gradient(g: Any, variable: Any, scale: float | None) -> Gradient:
    """Return a gradient, which must have the shape of its variable, in its dtype."""
    p = _raw(variable)
    rows = None
    if isinstance(g, IndexedSlices):
        rows, g = np.asarray(g.indices), g.values
    values = np.asarray(g._raw if type(g) is Tensor else convert(g)._raw).astype(p.dtype)
    values = values if scale is None else values / scale
    shape = values.shape if rows is None else (*p.shape[:1], *values.shape[1:])
    if shape != p.shape:
        raise invalid(
            f"the gradient of a variable of shape {list(p.shape)} has shape {list(values.shape)}; "
            "they must be equal"
        )
    return values if rows is None else Rows(values, rows, p.shape)


def _values(g: Gradient) -> np.ndarray:
    return g.values if isinstance(g, Rows) else g


def _with_values(g: Gradient, values: np.ndarray) -> Gradient:
    """Return a gradient at the same rows with other values."""
    return Rows(values, g.rows, g.shape) if isinstance(g, Rows) else values


# -- the optimisers -------------------------------------------------------------------------------

_BY_NAME: dict[str, type[Optimizer]] = {}


def _offered(kind: type[Optimizer]) -> type[Optimizer]:
    _BY_NAME[kind.__name__] = _BY_NAME[kind.__name__.lower()] = kind
    keras("optimizers", kind.__name__)(kind)
    return kind


class _OfFormula(Optimizer):
    """An optimiser with a formula, whose hyperparameters are attributes."""

    #: Where the formula differs from PyTorch's.
    _convention: Mapping[str, Any] = MappingProxyType({})

    def _with(self, options: dict[str, Any], **given: Any) -> None:
        self.__dict__.update(given)
        self._hyperparameters = given
        self._options = {**self._convention, **options}

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | self._hyperparameters


@_offered
class SGD(_OfFormula):
    """Steps against the gradient, with `momentum` and perhaps Nesterov's look ahead."""

    _formula = staticmethod(formulas.sgd)
    _convention = MappingProxyType({"rate_in_sum": True})

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        **common: Any,
    ) -> None:
        super().__init__(learning_rate, **common)
        if not isinstance(momentum, float) or not 0 <= momentum <= 1:
            raise ValueError(f"momentum={momentum!r}; expected a float from 0 to 1")
        options = {"momentum": single(momentum), "nesterov": nesterov}
        self._with(options, momentum=momentum, nesterov=nesterov)
        self._kept = [{"momentum": "momentum_buffer"}] if momentum else []


class _Moments(_OfFormula):
    """Optimisers that keep means of the gradient and, most of them, of its square."""

    _kept: Sequence[dict[str, str]] = ({"momentum": "exp_avg", "velocity": "exp_avg_sq"},)

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.999,
        epsilon: float = 1e-7, **common: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, **common)
        options = {
            "betas": (beta_1, beta_2),
            "bias_betas": (single(beta_1), single(beta_2)),
            "eps": epsilon,
        }
        self._with(options, beta_1=beta_1, beta_2=beta_2, epsilon=epsilon)


@_offered
class Adam(_Moments):
    """The gradient's mean over its root mean square."""

    _formula = staticmethod(formulas.adam)
    _convention = MappingProxyType({"eps_scaled": True})

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.999,
        epsilon: float = 1e-7, amsgrad: bool = False, **common: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta_1, beta_2, epsilon, **common)
        self._with({**self._options, "amsgrad": amsgrad}, **self._hyperparameters, amsgrad=amsgrad)
        if amsgrad:
            self._kept = (*_Moments._kept, {"velocity_hat": "max_exp_avg_sq"})


@_offered
class AdamW(Adam):
    """Adam with weight decay."""

    def __init__(
        self, learning_rate: Any = 0.001, weight_decay: float = 0.004, beta_1: float = 0.9,
        beta_2: float = 0.999, epsilon: float = 1e-7, amsgrad: bool = False, **common: Any,
    ) -> None:  # fmt: skip
        super().__init__(
            learning_rate, beta_1, beta_2, epsilon, amsgrad, weight_decay=weight_decay, **common
        )
        if weight_decay is None:
            raise ValueError("AdamW: weight_decay is None; expected a float, or write Adam")


@_offered
class RMSprop(_OfFormula):
    """The gradient over its root mean square."""

    _formula = staticmethod(formulas.rmsprop)
    _convention = MappingProxyType({"eps_inside": True, "rate_in_sum": True})

    def __init__(
        self, learning_rate: Any = 0.001, rho: float = 0.9, momentum: float = 0.0,
        epsilon: float = 1e-7, centered: bool = False, **common: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, **common)
        given = {"momentum": momentum, "centered": centered}
        self._with({"alpha": rho, "eps": epsilon, **given}, rho=rho, epsilon=epsilon, **given)
        self._kept = [{"velocity": "square_avg"}]
        self._kept += [{"momentum": "momentum_buffer"}] * (momentum > 0)
        self._kept += [{"average_gradient": "grad_avg"}] * centered


@_offered
class Adagrad(_OfFormula):
    """The gradient over the root of the sum of its squares."""

    _formula = staticmethod(formulas.adagrad)
    _convention = MappingProxyType({"eps_inside": True})
    _kept = ({"accumulator": "sum"},)

    def __init__(
        self, learning_rate: Any = 0.001, initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7, **common: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, **common)
        self._with(
            {"eps": epsilon},
            initial_accumulator_value=initial_accumulator_value, epsilon=epsilon,
        )  # fmt: skip
        self._begin = initial_accumulator_value


@_offered
class Adadelta(_OfFormula):
    """The gradient times the root mean square of steps over that of gradients."""

    _formula = staticmethod(formulas.adadelta)
    _kept = ({"accumulated_grad": "square_avg", "accumulated_delta_var": "acc_delta"},)

    def __init__(
        self, learning_rate: Any = 0.001, rho: float = 0.95, epsilon: float = 1e-7, **common: Any
    ) -> None:
        super().__init__(learning_rate, **common)
        self._with({"rho": rho, "eps": epsilon}, rho=rho, epsilon=epsilon)


@_offered
class Adamax(_Moments):
    """The gradient's mean over the largest gradient."""

    _formula = staticmethod(formulas.adamax)
    _convention = MappingProxyType({"eps_outside": True})
    _kept = ({"momentum": "exp_avg", "norm": "exp_inf"},)


@_offered
class Nadam(_Moments):
    """Adam with Nesterov's look ahead."""

    _formula = staticmethod(formulas.nadam)
    _convention = MappingProxyType({"momentum_decay": 1, "mu_base": single(0.96)})

    def build(self, var_list: Iterable[Any]) -> None:
        """Make what is kept for each of some variables, and for all of them."""
        if not self.built:
            super().build(var_list)
            self._product = self._state(1.0, np.float64, "u_product")
            self._variables.append(self._product)

    def _shared(self, step: int) -> dict[str, Any]:
        """Return the product of all weights so far, and the betas as they are rounded."""
        product = float(_raw(self._product)) * self.beta_1 * (1 - 0.5 * 0.96**step)
        self._product.assign(product)
        return {"mu_product": product, "betas": self._options["bias_betas"]}


@_offered
class Lamb(_Moments):
    """Adam with steps as long as the parameter is large."""

    _formula = staticmethod(formulas.lamb)


@_offered
class Lion(_OfFormula):
    """Steps along the signs of a mean."""

    _formula = staticmethod(formulas.lion)
    _kept = ({"momentum": "exp_avg"},)

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.99, **common: Any
    ) -> None:
        super().__init__(learning_rate, **common)
        if not 0 < beta_1 <= 1:
            raise ValueError(f"Lion: beta_1={beta_1}; expected a number above 0, up to 1")
        self._with({"betas": (single(beta_1), single(beta_2))}, beta_1=beta_1, beta_2=beta_2)


@_offered
class Ftrl(_OfFormula):
    """Follow the regularised leader."""

    _formula = staticmethod(formulas.ftrl)
    _kept = ({"accumulator": "sum", "linear": "linear"},)

    def __init__(
        self, learning_rate: Any = 0.001, learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1, l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0, l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0, **common: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, **common)
        given = {
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }
        for name, value in given.items():
            if value < 0:
                raise ValueError(f"Ftrl: {name}={value}; expected 0 or more")
        if learning_rate_power > 0:
            raise ValueError(f"Ftrl: learning_rate_power={learning_rate_power}; expected 0 or less")
        options = {
            "lr_power": learning_rate_power,
            "l1": l1_regularization_strength,
            "l2": l2_regularization_strength,
            "l2_shrinkage": l2_shrinkage_regularization_strength,
            "beta": beta,
        }
        self._with(options, learning_rate_power=learning_rate_power, beta=beta, **given)
        self._begin = initial_accumulator_value


@keras("optimizers", "get")
def get(identifier: Any) -> Any:
    """Return an optimiser by its name, or as it is."""
    return looked_up(identifier, _BY_NAME, "optimizer")
