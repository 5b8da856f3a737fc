"""What optimisers and metrics keep: variables that are named after their owner."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.keras.names import snake
from wengert.dialects.tensorflow.variables import Variable

_made: collections.Counter[str] = collections.Counter()


def numbered(kind: type) -> str:
    """Return the name of a new object: that of its class, with a number from the second on."""
    name = snake(kind.__name__)
    _made[name] += 1
    return name if _made[name] == 1 else f"{name}_{_made[name] - 1}"


class State(Variable):
    """A variable of an optimiser or a metric, which is not trained."""

    def __init__(self, value: Any, name: str, owner: str) -> None:
        super().__init__(value, trainable=False)
        self.name, self.path = name, f"{owner}/{name}"

    def __repr__(self) -> str:
        shape, kind = tuple(self.shape), self.dtype.name
        values = np.asarray(self._value._raw)
        return f"<Variable path={self.path}, shape={shape}, dtype={kind}, value={values}>"

    __str__ = __repr__
