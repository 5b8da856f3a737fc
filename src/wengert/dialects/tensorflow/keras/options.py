"""Objects that are made of options: a class says once what they are, in order, with defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from wengert.dialects.tensorflow.keras.names import keras

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
    part: str, name: str, base: type, defaults: Mapping[str, Any], **attributes: Any
) -> Any:
    """Return a new class of objects with these options, offered as `tf.keras.<part>.<name>`."""
    shared = {"_defaults": defaults, "__module__": base.__module__}
    return keras(part, name)(type(name, (base,), shared | attributes))
