"""torch.distributions: the normal one and the categorical one, as functions of their parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from wengert.dialects.torch.devices import Size
from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.table import offered_as, put
from wengert.dialects.torch.tensors import Tensor


def _broadcast(*values: Any) -> tuple[Any, ...]:
    """Return parameters as tensors of one shape; numbers take the dtype of the tensors."""
    tensors = [v for v in values if isinstance(v, Tensor)]
    kind = tensors[0].dtype if tensors else None
    made = [v if isinstance(v, Tensor) else offered_as("tensor")(v, dtype=kind) for v in values]
    if not tensors:
        made = [v.to(offered_as("get_default_dtype")()) for v in made]
    return tuple(offered_as("broadcast_tensors")(*made))


class Distribution:
    """What all distributions have: the shapes of a batch and of one event, and checks."""

    has_rsample = False
    _validates = True

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None
    ) -> None:
        self.batch_shape, self.event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validates = validate_args

    def _check(self, name: str, value: Any, holds: Any, expected: str) -> None:
        """Raise a ValueError unless all elements of a parameter or a value are as expected."""
        if self._validates and not bool(holds.all()):
            raise ValueError(
                f"{type(self).__name__}: {name} has elements that are not {expected}: {value}"
            )

    def _check_value(self, value: Any, holds: Any, expected: str) -> None:
        if not self._validates:
            return
        if not isinstance(value, Tensor):
            raise ValueError(f"log_prob: got a {type(value).__name__}; give a tensor")
        try:
            offered_as("broadcast_shapes")(value.shape, self.batch_shape)
        except RuntimeError as error:
            raise ValueError(f"log_prob: the value's shape does not fit: {error}") from None
        self._check("the value", value, holds(value), expected)

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        return Size((*sample_shape, *self.batch_shape, *self.event_shape))

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples, to which no gradient goes."""
        with no_grad():
            return self.rsample(sample_shape)

    def __getattr__(self, name: str) -> Any:
        if name in _KNOWN:
            raise NotImplementedError(f"{type(self).__name__} has no {name}")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


#: What a distribution of PyTorch's has, and some here have not.
_KNOWN = (
    "rsample", "log_prob", "cdf", "icdf", "entropy", "expand", "enumerate_support", "perplexity",
    "mean", "mode", "variance", "support", "arg_constraints",
)  # fmt: skip


class Normal(Distribution):
    """The normal distribution with a mean `loc` and a standard deviation `scale`."""

    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = _broadcast(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)
        self._check("loc", self.loc, self.loc == self.loc, "numbers")
        self._check("scale", self.scale, self.scale > 0, "above 0")

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.scale**2

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples, to which no gradient goes."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            made: Tensor = offered_as("normal")(self.loc.expand(shape), self.scale.expand(shape))
        return made

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples as a function of the parameters."""
        shape = self._extended_shape(sample_shape)
        drawn = offered_as("randn")(shape, dtype=self.loc.dtype)
        return self.loc + drawn * self.scale

    def log_prob(self, value: Any) -> Tensor:
        """Return the logarithm of the density."""
        self._check_value(value, lambda v: v == v, "numbers")
        z = (value - self.loc) / self.scale
        return -(z**2) / 2 - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    def __repr__(self) -> str:
        return _shown(self, "loc", "scale")


class Categorical(Distribution):
    """The numbers 0 to n - 1, with probabilities or their logarithms, up to a constant."""

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Categorical: give one of probs and logits")
        given: Any = logits if probs is None else probs
        if given.dim() < 1:
            raise ValueError("Categorical: there is no axis of events; give one axis or more")
        if probs is None:
            self._param = self.logits = given - given.logsumexp(-1, True)
        else:
            self._param = self.probs = given / given.sum(-1, True)
        super().__init__(given.shape[:-1], validate_args=validate_args)
        if probs is None:
            self._check("logits", self._param, self._param == self._param, "numbers")
        else:
            self._check("probs", self._param, self._param >= 0, "probabilities")

    @cached_property
    def probs(self) -> Any:
        """The probabilities."""
        return self.logits.softmax(-1)

    @cached_property
    def logits(self) -> Any:
        """Their logarithms."""
        least = offered_as("finfo")(self.probs.dtype).eps
        return self.probs.clamp(least, 1 - least).log()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples."""
        rows = self.probs.detach().reshape(-1, self._param.shape[-1])
        drawn = rows.multinomial(math.prod(sample_shape), True)
        return drawn.t().reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Tensor:
        """Return the logarithm of the probability."""
        count = self._param.shape[-1]
        self._check_value(
            value, lambda v: (v % 1 == 0) & (v >= 0) & (v < count), f"in 0 to {count - 1}"
        )
        at, logits = offered_as("broadcast_tensors")(value.long().unsqueeze(-1), self.logits)
        found: Tensor = logits.gather(-1, at[..., :1]).squeeze(-1)
        return found

    def entropy(self) -> Tensor:
        """Return the entropy."""
        least = offered_as("finfo")(self.logits.dtype).min
        entropy: Tensor = -(self.logits.clamp(min=least) * self.probs).sum(-1)
        return entropy

    def __repr__(self) -> str:
        return _shown(self, *(n for n in ("probs", "logits") if n in self.__dict__))


def _shown(made: Distribution, *names: str) -> str:
    parts = ((name, getattr(made, name)) for name in names)
    texts = (f"{name}: {v if v.numel() == 1 else v.size()}" for name, v in parts)
    return f"{type(made).__name__}({', '.join(texts)})"


for _class, _module in (
    (Distribution, "distribution"), (Normal, "normal"), (Categorical, "categorical"),
):  # fmt: skip
    put((f"distributions.{_class.__name__}", f"distributions.{_module}.{_class.__name__}"), _class)
