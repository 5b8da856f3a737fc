"""How names of tf.keras are offered: functions, and classes of objects that are made of options.

A class says its options once, in order and with their defaults.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from wengert.dialects.tensorflow.errors import mistake
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
ABSENT["keras.metrics.MeanMetricWrapper"] = (
    "tf.keras.metrics.MeanMetricWrapper is not offered; write tf.keras.metrics.Mean()(fn(y, p))"
)
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


def getter(part: str, known: dict[str, Any], what: str, usual: Any = None) -> Any:
    """Return the function `tf.keras.<part>.get`, which looks up names among those that are known.

    Of a class it returns an object; a function or an object is itself, and None the usual one.
    """

    def get(identifier: Any) -> Any:
        if isinstance(identifier, str) and identifier not in known:
            raise mistake(ValueError, what, identifier, f"one of {', '.join(sorted(known))}")
        found = known[identifier] if isinstance(identifier, str) else identifier
        if isinstance(found, type):
            return found()
        if callable(found) or found is None or hasattr(found, "apply_gradients"):
            return usual if found is None else found
        raise mistake(ValueError, what, identifier, "a name, a function or an object")

    get.__doc__ = f"Return the {what} of a name, or what is given as it is."
    return keras(part, "get")(get)


# -- objects made of options ----------------------------------------------------------------------

#: The default of an option that has to be given.
REQUIRED = inspect.Parameter.empty


def options_of(function: Callable[..., Any], skipped: int) -> dict[str, Any]:
    """Return the parameters of a function after the first ones, with their defaults."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in list(parameters)[skipped:]}


class Configured:
    """An object whose options are attributes."""

    #: The options in their order, with their defaults.
    _defaults: ClassVar[Mapping[str, Any]] = {}
    #: What an object computes with, if it is made by `configured`.
    _function: ClassVar[Callable[..., Any]]
    #: The error about options that there are not.
    _unknown: ClassVar[type[Exception]] = TypeError

    def __init__(self, *args: Any, **options: Any) -> None:
        self._config = self._chosen(args, options)
        vars(self).update(self._config)

    def _chosen(self, args: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
        """Return all options: as given by position or by name, or else their defaults."""
        chosen = dict(zip(self._defaults, args, strict=False))
        if len(args) > len(chosen) or given.keys() - self._defaults.keys() | chosen.keys() & given:
            raise self._unknown(
                f"{type(self).__name__}: got {args} and {given}; it takes "
                f"{', '.join(self._defaults) or 'no arguments'}"
            )
        chosen = {**self._defaults, **chosen, **given}
        missing = [name for name, value in chosen.items() if value is REQUIRED]
        if missing:
            raise TypeError(f"{type(self).__name__}: give {', '.join(missing)}")
        return chosen

    def get_config(self) -> dict[str, Any]:
        """Return the options."""
        return dict(self._config)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Return an object with these options."""
        return cls(**config)


def configured(
    part: str, name: str, base: type, defaults: Mapping[str, Any], function: Any, **attributes: Any
) -> Any:
    """Return a new class of objects, offered as `tf.keras.<part>.<name>`.

    They have these options, and compute with a function, from which the class has its docstring.
    """
    shared = {"_defaults": defaults, "__module__": base.__module__, "__doc__": function.__doc__}
    shared["_function"] = staticmethod(function)
    return keras(part, name)(type(name, (base,), shared | attributes))
