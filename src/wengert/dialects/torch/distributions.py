"""torch.distributions: the normal and the categorical one, and what packages build others on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from wengert.dialects.torch import modes
from wengert.dialects.torch.devices import Size
from wengert.dialects.torch.table import offered_as, plain, put
from wengert.dialects.torch.tensors import is_tensor

put(("distributions.utils.lazy_property",), cached_property)


@plain("distributions.utils.broadcast_all")
def broadcast_all(*values: Any) -> Any:
    """Return numbers and tensors as tensors of one shape."""
    kind = next((v.dtype for v in values if is_tensor(v)), offered_as("get_default_dtype")())
    tensors = [v if is_tensor(v) else offered_as("tensor")(v, dtype=kind) for v in values]
    return offered_as("broadcast_tensors")(*tensors)


@plain("distributions.utils._standard_normal")
def _standard_normal(shape: Sequence[int], dtype: Any, device: Any) -> Any:
    return offered_as("normal")(*(offered_as(v)(shape, dtype=dtype) for v in ("zeros", "ones")))


class Constraint(NamedTuple):
    """What parameters must be: `check` says where they are."""

    expected: str
    check: Callable[[Any], Any]


_REAL = Constraint("numbers", lambda v: v == v)
_POSITIVE = Constraint("positive", lambda v: v > 0)
_DEFINITE = Constraint("positive definite", lambda v: offered_as("linalg.cholesky_ex")(v)[1] == 0)
put(("distributions.constraints.real",), _REAL)
put(("distributions.constraints.positive",), _POSITIVE)
put(("distributions.constraints.positive_definite",), _DEFINITE)


@plain("distributions.Distribution", "distributions.distribution.Distribution")
class Distribution:
    """What all distributions have."""

    has_rsample = False
    arg_constraints: ClassVar[dict[str, Any]] = {}
    batch_shape: Any = property(lambda self: self._batch_shape)
    event_shape: Any = property(lambda self: self._event_shape)
    mean: Any = property(lambda self: self.loc)

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        self._validate_args = validate_args is not False
        for name in self.arg_constraints.keys() & vars(self).keys():
            value, constraint = vars(self)[name], self.arg_constraints[name]
            self._check(name, value, constraint.check(value), constraint.expected)

    def _check(self, name: str, value: Any, holds: Any, expected: str) -> None:
        """Raise a ValueError unless all elements of a parameter or a value are as expected."""
        if self._validate_args and not bool(holds.all()):
            mine = type(self).__name__
            raise ValueError(f"{mine}: {name} has elements that are not {expected}: {value}")

    def _validate_sample(self, value: Any) -> None:
        if not is_tensor(value):
            raise ValueError(f"log_prob: got a {type(value).__name__}; give a tensor")
        self._check("the value", value, value == value, "numbers")

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Return samples, to which no gradient goes."""
        with modes.no_grad():
            return self.rsample(sample_shape)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        held = ((name, vars(self)[name]) for name in self.arg_constraints if name in vars(self))
        texts = (f"{name}: {v if v.numel() == 1 else v.size()}" for name, v in held)
        return f"{type(self).__name__}({', '.join(texts)})"


@plain(
    "distributions.Normal", "distributions.normal.Normal", differs="without cdf, icdf and expand"
)
class Normal(Distribution):
    """The normal distribution with a mean and a standard deviation."""

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Any]] = {"loc": _REAL, "scale": _POSITIVE}
    stddev: Any = property(lambda self: self.scale)
    variance: Any = property(lambda self: self.scale.pow(2))

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Return samples with their derivatives by the parameters."""
        drawn = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, None)
        return self.loc + drawn * self.scale

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density."""
        self._validate_sample(value)
        half = ((value - self.loc) / self.scale).pow(2) / 2
        return -half - self.scale.log() - math.log(2 * math.pi) / 2

    def entropy(self) -> Any:
        """Return the entropy."""
        return (1 + math.log(2 * math.pi)) / 2 + self.scale.log()


@plain("distributions.Categorical", "distributions.categorical.Categorical")
class Categorical(Distribution):
    """The numbers 0 to n - 1, with probabilities or their logarithms, up to a constant."""

    arg_constraints: ClassVar[dict[str, Any]] = dict.fromkeys(("probs", "logits"))

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Categorical: give one of probs and logits")
        given: Any = logits if probs is None else probs
        if given.dim() < 1:
            raise ValueError("Categorical: there is no axis of events; give one axis or more")
        super().__init__(Size(given.shape[:-1]), validate_args=validate_args)
        self._count = given.shape[-1]
        if probs is None:
            self.logits = given - given.logsumexp(-1, True)
            self._check("logits", self.logits, self.logits == self.logits, "numbers")
        else:
            self.probs = given / given.sum(-1, True)
            self._check("probs", self.probs, self.probs >= 0, "probabilities")

    @cached_property
    def probs(self) -> Any:
        """The probabilities."""
        return self.logits.softmax(-1)

    @cached_property
    def logits(self) -> Any:
        """Their logarithms."""
        least = offered_as("finfo")(self.probs.dtype).eps
        return self.probs.clamp(least, 1 - least).log()

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Return samples, to which no gradient goes."""
        rows = self.probs.detach().reshape(-1, self._count)
        drawn = rows.multinomial(math.prod(sample_shape), True)
        return drawn.t().reshape((*sample_shape, *self.batch_shape))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the probability of each number."""
        self._validate_sample(value)
        among = (value % 1 == 0) & (value >= 0) & (value < self._count)
        self._check("the value", value, among, f"in 0 to {self._count - 1}")
        try:
            at, logits = offered_as("broadcast_tensors")(value.long().unsqueeze(-1), self.logits)
        except RuntimeError as error:
            raise ValueError(f"log_prob: the value's shape does not fit: {error}") from None
        return logits.gather(-1, at[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        """Return the entropy."""
        least = offered_as("finfo")(self.logits.dtype).min
        return -(self.logits.clamp(min=least) * self.probs).sum(-1)


def _of_normals(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log()) / 2


_DIVERGENCES: dict[tuple[type, type], Callable[[Any, Any], Any]] = {(Normal, Normal): _of_normals}


@plain("distributions.register_kl", "distributions.kl.register_kl")
def register_kl(type_p: type, type_q: type) -> Any:
    """Return a decorator of a function for the divergence of two kinds of distributions."""
    return lambda function: _DIVERGENCES.update({(type_p, type_q): function}) or function


@plain("distributions.kl_divergence", "distributions.kl.kl_divergence")
def kl_divergence(p: Any, q: Any) -> Any:
    """Return the Kullback-Leibler divergence of a distribution from another."""
    for known in ((a, b) for a in type(p).__mro__ for b in type(q).__mro__):
        if known in _DIVERGENCES:
            return _DIVERGENCES[known](p, q)
    pair = f"({type(p).__name__}, {type(q).__name__})"
    raise NotImplementedError(f"kl_divergence: there is none for {pair}; write @register_kl{pair}")


def _refuse(self: Any, *args: Any, **options: Any) -> None:
    raise NotImplementedError(
        f"{type(self).__name__}: only the name of this distribution is offered; write its "
        "log-density with torch's functions, draw with torch.rand"
    )


#: Packages make classes of these when they are imported.
_OTHERS = """
    Bernoulli Beta Gamma HalfCauchy HalfNormal LKJCholesky Laplace LogNormal MultivariateNormal
    NegativeBinomial Poisson StudentT TransformedDistribution Uniform
"""
for _name in _OTHERS.split():
    _class = type(_name, (Distribution,), {"__init__": _refuse})
    put((f"distributions.{_name}",), _class, "only its name, to make classes of")
