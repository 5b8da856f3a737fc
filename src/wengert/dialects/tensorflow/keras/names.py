"""Names in tf.keras, and what is said of those that are not offered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.dialects.tensorflow.table import ABSENT, put

#: Parts of tf.keras that are parts of tf as well.
_TOP = ("losses", "metrics", "optimizers", "initializers")
EPSILON = 1e-7
_MODULE = (
    "tf.keras.{} is not offered: layers and models are not part of this dialect. Keep parameters "
    "as tf.Variable in a tf.Module, and write what a layer does as a method: "
    "tf.nn.relu(x @ self.w + self.b)"
)
for _name in ("layers", "Layer", "models", "Model", "Sequential", "Input", "applications"):
    ABSENT[f"keras.{_name}"] = _MODULE.format(_name)
ABSENT["keras.ops"] = "tf.keras.ops is not offered; write tf.math, tf.nn, tf.linalg and tf itself"


def keras(part: str, *names: str) -> Callable[[Any], Any]:
    """Return a decorator that offers something as `tf.keras.<part>.<name>`."""

    def declare(value: Any) -> Any:
        for name in names:
            put((f"keras.{part}.{name}",), value)
            if part.partition(".")[0] in _TOP:
                put((f"{part}.{name}",), value)
        return value

    return declare


def looked_up(identifier: Any, known: dict[str, Any], what: str) -> Any:
    """Return what a name stands for; a class is called, and a function or an object is itself."""
    if isinstance(identifier, str):
        if identifier not in known:
            raise ValueError(
                f"there is no {what} {identifier!r}; known are {', '.join(sorted(known))}"
            )
        found = known[identifier]
        return found() if isinstance(found, type) else found
    if isinstance(identifier, type):
        return identifier()
    if callable(identifier) or identifier is None:
        return identifier
    if hasattr(identifier, "apply_gradients"):
        return identifier
    raise ValueError(f"{identifier!r:.80} is no {what}; give a name, a function or an object")
