"""What layers share: a module made from a function's signature, and new parameters."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter as Argument
from inspect import Signature
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

_SELF = Argument("self", Argument.POSITIONAL_OR_KEYWORD)
_RETURNS = {"__init__": "None", "forward": "Any"}
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
        cls,
        *,
        takes: str = "",
        function: str = "",
        passes: str | None = None,
        inputs: str | None = None,
        shown: str | None = None,
        axes: int = 0,
        **options: Any,
    ) -> None:
        super().__init_subclass__(**options)
        call: Any = getattr(F, function) if function else None
        has = inspect.signature(call).parameters if function else {}
        if takes:
            arguments = _arguments(_split(takes), has)
            cls._takes = {argument.name: argument.default for argument in arguments}
            kept = ", ".join(f"{name}={name}" for name in cls._takes)
            body = f"start(self); self._init_with({kept})"
            _define(cls, "__init__", arguments, body, start=_start)
        for name, text in (("_passes", passes), ("_inputs", inputs), ("_shown", shown)):
            if text is not None:
                setattr(cls, name, _split(text))
        if axes:
            cls.axes = axes
        if function:
            held = {*cls._takes, *cls._passes, "training"}.difference(_OLD_FLAGS)
            given = [name for name in has if name in held]
            names = cls._inputs or tuple(
                name for name in has if has[name].default is Argument.empty and name not in given
            )
            body = f"return call({_passed(has, names, given)})"
            _define(cls, "forward", [has[name] for name in names], body, call=call)

    def _init_with(self, **options: Any) -> None:
        """Keep the arguments of `__init__`; a subclass may check or convert them first."""
        for name, value in options.items():
            setattr(self, name, value)

    def extra_repr(self) -> str:
        """Return the options that are printed; of a bias, whether there is one."""
        texts = []
        for item in self._shown:
            name = item.rstrip("=?")
            value = getattr(self, name) if name != "bias" else self.bias is not None
            if not item.endswith("?") or value != self._takes[name]:
                texts.append(repr(value) if item == name else f"{name}={value!r}")
        return ", ".join(texts)


def _split(names: str) -> tuple[str, ...]:
    return tuple(names.split(", ")) if names else ()


def _arguments(items: Iterable[str], has: Mapping[str, Argument]) -> list[Argument]:
    """Return the arguments of a constructor, each of which is written as "name=default"."""
    kind: Any = Argument.POSITIONAL_OR_KEYWORD
    found = []
    for item in items:
        if item == "*":
            kind = Argument.KEYWORD_ONLY
            continue
        name, _, text = item.partition("=")
        known = has.get(name, Argument(name, kind, annotation="Any"))
        default = ast.literal_eval(text) if text else known.default
        if known.annotation == "Any" and isinstance(default, (bool, float, str)):
            known = known.replace(annotation=type(default).__name__)
        found.append(known.replace(kind=kind, default=default))
    return found


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


def _define(cls: type, name: str, arguments: list[Argument], body: str, **names: Any) -> None:
    """Give a class a method of one line, unless it has written that method itself."""
    if name in vars(cls):
        return
    signature = Signature([_SELF, *arguments], return_annotation=_RETURNS[name])
    text, file = f"def {name}{signature}: {body}", f"<{cls.__name__}.{name}>"
    linecache.cache[file] = (len(text), None, [text], file)  # for tracebacks
    scope = {**names, "__name__": cls.__module__, "Any": Any, "Callable": Callable}
    exec(compile(text, file, "exec", dont_inherit=True), scope)
    method: Any = scope[name]
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    setattr(cls, name, method)


class Weighted(Call, passes="weight"):
    """A module with parameters, whose shapes follow from its options.

    Of the arguments of ``__init__``, `bias` says whether it has a parameter of that name, `affine`
    or `elementwise_affine` whether it has any, and `device` and `dtype` what they are like.
    """

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each parameter."""
        raise NotImplementedError(f"{type(self).__name__} has no _shapes")

    def reset_parameters(self) -> None:
        """Give all parameters their first values."""
        raise NotImplementedError(f"{type(self).__name__} has no reset_parameters")

    def _init_with(self, **options: Any) -> None:
        place = {"device": options.pop("device"), "dtype": options.pop("dtype")}
        bias = options.pop("bias", True)
        super()._init_with(**options)
        affine = options.get("affine", options.get("elementwise_affine", True))
        for name, shape in self._shapes().items():
            wanted = affine and (bias or name != "bias")
            self.register_parameter(name, parameter(*shape, **place) if wanted else None)
        self.reset_parameters()


def parameter(*shape: int, device: Any = None, dtype: Any = None) -> Parameter:
    """Return a parameter of a shape, whose numbers are not set."""
    return Parameter(NAMES["empty"](shape, device=device, dtype=dtype))


def several(value: Any, count: int) -> tuple[Any, ...]:
    """Return one value for each of some axes; a sequence is taken as it is."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * count


def offer(where: str, *classes: type[Module]) -> None:
    """Offer classes as torch.nn.Name, and where PyTorch has them."""
    for cls in classes:
        name = cls.__name__
        public = () if name.startswith("_") else (f"nn.{name}", f"nn.modules.{name}")
        put((*public, f"nn.modules.{where}.{name}"), cls)
