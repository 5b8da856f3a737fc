"""What layers share: a module made from a function's signature, and new parameters."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Iterable, Mapping
from inspect import Parameter as Argument
from typing import Any, ClassVar

from wengert.dialects.torch.nn import (  # noqa: F401  they offer the functions
    activations,
    convolutions,
    functional,
    losses,
    normalisation,
    pooling,
    sampling,
)
from wengert.dialects.torch.nn.module import Module
from wengert.dialects.torch.nn.parameters import Parameter
from wengert.dialects.torch.signatures import arguments as written
from wengert.dialects.torch.signatures import define, split
from wengert.dialects.torch.table import NAMES, put


class _Functions:
    """The functions of torch.nn.functional, each looked up when it is first called."""

    def __getattr__(self, name: str) -> Any:
        found = NAMES.get(f"nn.functional.{name}")
        if found is None:
            raise AttributeError(f"torch.nn.functional.{name} is not offered")
        setattr(self, name, found)
        return found


F: Any = _Functions()

#: Flags that say what `reduction` says; losses take them and do not keep them.
_OLD_FLAGS = ("size_average", "reduce")


class Call(Module):
    """A module that keeps options and calls a function of torch.nn.functional with them.

    The class statement of a subclass says all of it::

        class LeakyReLU(Call, function="leaky_relu", takes="negative_slope, inplace"):

    Each of these makes one method; a class may write the method instead, or inherit it. A subclass
    in a program, whose statement says none of it, is an ordinary class.

    Parameters
    ----------
    takes
        For ``__init__``: the arguments in their order, with "*" before those that are given by
        name. They become attributes. A default that is not written is that of the function.
    function
        For ``forward``: the name of the function. It is given the options that its parameters are
        named after, and `training`; `forward` takes its other parameters that have no default.
    passes
        Further attributes that the function is given.
    inputs
        What `forward` takes, where that is not so.
    shown
        For ``extra_repr``: the attributes that are printed: "eps=" with its name, "eps" without,
        and "eps?" with its name unless it is the default.
    axes
        The number of axes that it works along, for classes that come in one, two and three.
    """

    axes: int
    #: the arguments of `__init__`, with their defaults
    _takes: ClassVar[dict[str, Any]] = {}
    _passes: tuple[str, ...] = ()
    _inputs: tuple[str, ...] = ()
    _shown: tuple[str, ...] = ()

    def __init_subclass__(
        cls, *, takes: str = "", function: str = "", passes: str | None = None,
        inputs: str | None = None, shown: str | None = None, axes: int = 0, **options: Any,
    ) -> None:  # fmt: skip
        super().__init_subclass__(**options)
        call: Any = getattr(F, function) if function else None
        has = inspect.signature(call).parameters if function else {}
        if takes:
            arguments = written(takes, has)
            cls._takes = {argument.name: argument.default for argument in arguments}
            kept = ", ".join(f"{name}={name}" for name in cls._takes)
            body = f"start(self); self._init_with({kept})"
            define(cls, "__init__", arguments, body, start=_start)
        for name, text in (("_passes", passes), ("_inputs", inputs), ("_shown", shown)):
            if text is not None:
                setattr(cls, name, split(text))
        if axes:
            cls.axes = axes
        if function:
            held = {*cls._takes, *cls._passes, "training"}.difference(_OLD_FLAGS)
            given = [name for name in has if name in held]
            names = cls._inputs or tuple(
                name for name in has if has[name].default is Argument.empty and name not in given
            )
            body = f"return call({_passed(has, names, given)})"
            define(cls, "forward", [has[name] for name in names], body, call=call)

    def _init_with(self, **options: Any) -> None:
        """Keep the arguments of `__init__`; a subclass may check or convert them first."""
        for name, value in options.items():
            setattr(self, name, value)

    def _usual(self, name: str) -> Any:
        """Return the value of an option with which it is not printed."""
        return self._takes[name]

    def extra_repr(self) -> str:
        """Return the options that are printed; of a bias, whether there is one."""
        texts = []
        for item in self._shown:
            name = item.rstrip("=?")
            value = getattr(self, name) if name != "bias" else self.bias is not None
            if not item.endswith("?") or value != self._usual(name):
                texts.append(repr(value) if item == name else f"{name}={value!r}")
        return ", ".join(texts)


def _passed(has: Mapping[str, Argument], names: Iterable[str], given: Iterable[str]) -> str:
    """Return the text of a call's arguments, without their names as far as that can be."""
    values = {name: name for name in names} | {name: f"self.{name}" for name in given}
    texts, named = [], False
    for name, argument in has.items():
        named = named or name not in values or argument.kind is Argument.KEYWORD_ONLY
        if name in values:
            texts.append(f"{name}={values[name]}" if named else values[name])
    return ", ".join(texts)


def _start(module: Call) -> None:
    super(Call, module).__init__()


class _Kept:
    """A parameter that is found at once: Python raises an error before it asks `__getattr__`.

    What a module has in its own dict comes first, and so does what a subclass says.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, module: Any, kind: Any = None) -> Any:
        if module is None:
            raise AttributeError(f"{kind.__name__} has no {self._name}, only modules have")
        if kind.__getattr__ is _USUAL and self._name in (known := module._parameters):
            return known[self._name]
        return module.__getattr__(self._name)


_USUAL = Module.__getattr__


class Weighted(Call, passes="weight"):
    """A module with parameters, whose shapes follow from its options.

    Of the arguments of ``__init__``, `bias` says whether it has a parameter of that name, `affine`
    or `elementwise_affine` whether it has any, and `device` and `dtype` what they are like.
    """

    weight: Any = _Kept("weight")
    bias: Any = _Kept("bias")

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each parameter."""
        raise NotImplementedError(f"{type(self).__name__} has no _shapes")

    def reset_parameters(self) -> None:
        """Give all parameters their first values."""
        raise NotImplementedError(f"{type(self).__name__} has no reset_parameters")

    def _init_with(self, **options: Any) -> None:
        like = {"device": options.pop("device"), "dtype": options.pop("dtype")}
        bias = options.pop("bias", True)
        super()._init_with(**options)
        affine = options.get("affine", options.get("elementwise_affine", True))
        for name, shape in self._shapes().items():
            wanted = affine and (bias or name != "bias")
            self.register_parameter(name, parameter(*shape, **like) if wanted else None)
        self.reset_parameters()


def parameter(*shape: int, device: Any = None, dtype: Any = None) -> Parameter:
    """Return a parameter of a shape, whose numbers are not set."""
    return Parameter(NAMES["empty"](shape, device=device, dtype=dtype))


def several(value: Any, count: int) -> tuple[Any, ...]:
    """Return one value for each of some axes; a sequence is taken as it is."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * count


# -- classes from rows -----------------------------------------------------------------------------


def layer(
    name: str, *bases: type, doc: str = "", function: str = "", module: str = "", **options: Any
) -> type[Any]:
    """Return a class of the module that calls this; its documentation may be that of a function.

    What is printed is by default all that it takes: `inplace` if it is set.
    """
    if not bases and "shown" not in options:
        names = [item.partition("=")[0] for item in split(options.get("takes", ""))]
        options["shown"] = ", ".join(f"{n}?" if n == "inplace" else f"{n}=" for n in names)
    doc = doc or (getattr(F, function).__doc__ or "").removeprefix("Return ")
    module = module or sys._getframe(1).f_globals["__name__"]
    body = {"__module__": module, "__doc__": doc}
    given = {"function": function, **options}
    kind = types.new_class(name, bases or (Call,), given, lambda names: names.update(body))
    setattr(sys.modules[module], name, kind)  # where pickle looks for it
    return kind


_ALONG = {1: "along one axis", 2: "of images", 3: "of volumes"}


def family(
    name: str, base: type, doc: str, function: str = "", axes: Iterable[int] = (1, 2, 3)
) -> list[type[Any]]:
    """Return classes that work along some numbers of axes, which "{}" in a text stands for."""
    found = []
    for n in axes:
        options: Any = {"doc": doc.format(_ALONG[n]), "axes": n, "module": base.__module__}
        called = f"{function}{n}d" if function else ""
        found.append(layer(f"{name}{n}d", base, function=called, **options))
    return found


def offer(where: str, *classes: type[Module]) -> None:
    """Offer classes as torch.nn.Name, and where PyTorch has them."""
    for cls in classes:
        name = cls.__name__
        public = () if name.startswith("_") else (f"nn.{name}", f"nn.modules.{name}")
        put((*public, f"nn.modules.{where}.{name}"), cls)
