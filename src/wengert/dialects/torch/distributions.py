"""torch.distributions.Categorical, which policy gradients and libraries of attributions use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from wengert.dialects.torch.devices import Size
from wengert.dialects.torch.table import offered_as, plain
from wengert.dialects.torch.tensors import Tensor, is_tensor


@plain("distributions.Categorical", "distributions.categorical.Categorical")
class Categorical:
    """The numbers 0 to n - 1, with probabilities or their logarithms, up to a constant."""

    has_rsample = False
    event_shape = Size()

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Categorical: give one of probs and logits")
        given: Any = logits if probs is None else probs
        if given.dim() < 1:
            raise ValueError("Categorical: there is no axis of events; give one axis or more")
        self._checks = validate_args is not False
        if probs is None:
            self.logits = given - given.logsumexp(-1, True)
            self._check("logits", self.logits, self.logits == self.logits, "numbers")
        else:
            self.probs = given / given.sum(-1, True)
            self._check("probs", self.probs, self.probs >= 0, "probabilities")
        self.batch_shape, self._count = Size(given.shape[:-1]), given.shape[-1]

    def _check(self, name: str, value: Any, holds: Any, expected: str) -> None:
        """Raise a ValueError unless all elements of a parameter or a value are as expected."""
        if self._checks and not bool(holds.all()):
            raise ValueError(f"Categorical: {name} has elements that are not {expected}: {value}")

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
        """Return samples, to which no gradient goes."""
        rows = self.probs.detach().reshape(-1, self._count)
        drawn = rows.multinomial(math.prod(sample_shape), True)
        return drawn.t().reshape((*sample_shape, *self.batch_shape))

    def log_prob(self, value: Any) -> Tensor:
        """Return the logarithm of the probability of each number."""
        if not is_tensor(value):
            raise ValueError(f"log_prob: got a {type(value).__name__}; give a tensor")
        among = (value % 1 == 0) & (value >= 0) & (value < self._count)
        self._check("the value", value, among, f"in 0 to {self._count - 1}")
        try:
            at, logits = offered_as("broadcast_tensors")(value.long().unsqueeze(-1), self.logits)
        except RuntimeError as error:
            raise ValueError(f"log_prob: the value's shape does not fit: {error}") from None
        found: Tensor = logits.gather(-1, at[..., :1]).squeeze(-1)
        return found

    def entropy(self) -> Tensor:
        """Return the entropy."""
        least = offered_as("finfo")(self.logits.dtype).min
        entropy: Tensor = -(self.logits.clamp(min=least) * self.probs).sum(-1)
        return entropy

    def __repr__(self) -> str:
        held = ((name, self.__dict__[name]) for name in ("probs", "logits") if name in vars(self))
        texts = (f"{name}: {v if v.numel() == 1 else v.size()}" for name, v in held)
        return f"Categorical({', '.join(texts)})"
