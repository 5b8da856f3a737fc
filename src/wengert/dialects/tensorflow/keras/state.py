"""What optimisers and metrics keep: variables that are named after their owner."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.keras import initializers
from wengert.dialects.tensorflow.settings import ignore
from wengert.dialects.tensorflow.structures import snake
from wengert.dialects.tensorflow.variables import Variable

_counts: collections.Counter[str] = collections.Counter()


class State(Variable):
    """A variable of an optimiser or a metric, which is not trained."""

    def __init__(self, value: Any, name: str, owner: str) -> None:
        super().__init__(value, trainable=False)
        self.name, self.path = name, f"{owner}/{name}"

    def __repr__(self) -> str:
        shape, kind = tuple(self.shape), self.dtype.name
        return f"<Variable path={self.path}, shape={shape}, dtype={kind}, value={raw(self)}>"

    __str__ = __repr__


def raw(variable: Variable) -> np.ndarray:
    """Return the value of a variable as an array."""
    return np.asarray(variable._value._raw)


class Owner:
    """An object with a name and with variables; the name is by default that of its class."""

    _variables: list[Variable]

    def _begin(self, name: str | None) -> None:
        usual = snake(type(self).__name__)
        if not name:
            _counts[usual] += 1
        number = _counts[usual] - 1
        self.name = name or (f"{usual}_{number}" if number else usual)
        self._variables = []

    @property
    def variables(self) -> list[Variable]:
        """The variables that it keeps, in the order in which they were made."""
        return list(self._variables)

    def _keep(self, value: Any, name: str) -> Variable:
        self._variables.append(State(value, name, self.name))
        return self._variables[-1]

    def add_variable(
        self, shape: Any = (), initializer: Any = "zeros", dtype: Any = None, name: Any = None,
        **ignored: Any,
    ) -> Variable:  # fmt: skip
        """Return a new variable, which is kept."""
        ignore("add_variable", ignored, "aggregation", "layout")
        value = initializers.get(initializer or "zeros")(shape, dtype=dtype or "float32")
        return self._keep(value, name or "variable")

    add_weight = add_variable
