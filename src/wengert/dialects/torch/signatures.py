"""Methods written from a text: constructors from their arguments, and registrations of hooks."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable, Mapping
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any

from wengert.dialects.torch.gradients import Handle

_SELF = Argument("self", Argument.POSITIONAL_OR_KEYWORD)
_RETURNS = {"__init__": "None", "forward": "Any"}
#: A comma that is not inside of brackets.
_COMMA = re.compile(r",\s+(?![^(]*\))")
_KNOWN = frozenset({"Any", "Callable", "None", "bool", "float", "int", "str", "tuple"})
_NONE: Mapping[str, Argument] = {}


def split(text: str) -> tuple[str, ...]:
    """Return the parts of a text between commas."""
    return tuple(_COMMA.split(text)) if text else ()


def arguments(text: str, known: Mapping[str, Argument] = _NONE) -> list[Argument]:
    """Return arguments, each of which is written as "name=default".

    Those behind "*" are given by name. A default that is not written is that of the argument which
    is known by the name.
    """
    kind: Any = Argument.POSITIONAL_OR_KEYWORD
    found = []
    for item in split(text):
        if item == "*":
            kind = Argument.KEYWORD_ONLY
            continue
        name, _, value = item.partition("=")
        argument = known.get(name, Argument(name, kind, annotation="Any"))
        default = ast.literal_eval(value) if value else argument.default
        if not _is_known(argument.annotation):
            argument = argument.replace(annotation="Any")
        if argument.annotation == "Any" and isinstance(default, (bool, float, str)):
            argument = argument.replace(annotation=type(default).__name__)
        found.append(argument.replace(kind=kind, default=default))
    return found


def _is_known(annotation: Any) -> bool:
    """Return whether an annotation means something outside of its own module."""
    return _KNOWN.issuperset(re.findall(r"[A-Za-z_]\w*", str(annotation)))


def define(cls: type, name: str, arguments: list[Argument], body: str, **names: Any) -> None:
    """Give a class a method of one line, unless it has written that method itself."""
    if name in vars(cls):
        return
    takes = [a if _is_known(a.annotation) else a.replace(annotation="Any") for a in arguments]
    signature = Signature([_SELF, *takes], return_annotation=_RETURNS[name])
    text, file = f"def {name}{signature}: {body}", f"<{cls.__name__}.{name}>"
    linecache.cache[file] = (len(text), None, [text], file)  # for tracebacks
    scope = {**names, "__name__": cls.__module__, "Any": Any, "Callable": Callable}
    exec(compile(text, file, "exec", dont_inherit=True), scope)
    method: Any = scope[name]
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    setattr(cls, name, method)


def define_init(cls: type, first: str, takes: str) -> None:
    """Give a class a constructor that passes its first argument, and a dict of the others, on."""
    if takes:
        given = arguments(f"{first}, {takes}")
        options = ", ".join(f"{argument.name!r}: {argument.name}" for argument in given[1:])
        define(cls, "__init__", given, f"self._init_with({first}, {{{options}}})")


def registration(hooks: str, doc: str) -> Callable[..., Handle]:
    """Return a method that keeps a hook in the dict that an attribute holds."""

    def register(self: Any, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        return Handle.of(getattr(self, hooks), hook, prepend)

    register.__doc__ = doc
    return register
