"""Functions of a dialect, made from the signatures of the bodies that compute them.

A body takes Wengert's tensors, calls operations and returns Wengert's tensors. Its annotations say
what kind of argument each parameter takes::

    @offered("nansum")
    def nansum(input: Real, dim: Axes = None, keepdim: Bool = False) -> Native:
        return reductions.sum_over(without_nan(input), axis=dim, keepdims=keepdim)

`function` makes the function that programs call: it reads each argument as its kind says, calls
the body, gives the result the framework's class and label, and raises the framework's errors. Its
source is written when it is first called, because to write them all would slow down the import.
"""

from __future__ import annotations

import inspect
import linecache
import textwrap
import types
import typing
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Any, NamedTuple

from wengert.errors import caller_depth

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


class Argument(NamedTuple):
    """Where a value was given: for the words of errors."""

    function: str
    name: str

    def __str__(self) -> str:
        return f"{self.function}(): {self.name}"


class Kind(NamedTuple):
    """How the arguments of one kind are read. It is put into an annotation by `Annotated`."""

    #: ``(value, argument, x) -> value for the body``, where x is the first tensor, or None; for
    #: parameters that are read together, ``(values, arguments, x) -> values``
    read: Callable[..., Any]
    #: a condition on the value {0}, in Python, under which it is taken as it is
    plain: str = ""
    #: whether it is a tensor, or a sequence of them
    tensor: bool = False
    #: whether all parameters of this kind are read together, as operands of one dtype are
    together: bool = False
    #: the name of a parameter whose value is x for this kind
    beside: str = ""


@dataclass(eq=False, repr=False)
class Dialect:
    """What a framework does around every call of a function."""

    #: ``() -> state`` and ``(state) -> None``, around reading, computing and finishing; without
    #: them, functions read their arguments and return what the body does, or ``finish`` of that
    #: and of the options
    enter: Callable[[], Any] | None = None
    leave: Callable[[Any], None] | None = None
    #: ``(result, given tensors, state, label) -> result`` of the framework's class
    finish: Callable[..., Any] | None = None
    #: the classes of errors that may need other words, and ``(error, function) -> error``
    errors: tuple[type[Exception], ...] = ()
    translate: Callable[[Exception, Function], Exception] | None = None
    #: a parameter that every function takes, with None as its default, and whether by name only
    extra: str = ""
    by_name: bool = True
    #: further parameters that every function takes by name, with their defaults
    options: Mapping[str, Any] = field(default_factory=dict)
    #: ``(result, extra) -> result`` where that argument was given; None if it is ignored
    store: Callable[[Any, Any], Any] | None = None
    #: other names of parameters
    aliases: Mapping[str, str] = field(default_factory=dict)


@dataclass(eq=False, repr=False)
class Quick:
    """A short cut: an operation that is called at once if its tensor is of the usual kind."""

    #: what calls the operation on the framework's tensor; NotImplemented for all that is unusual
    call: Callable[..., Any]
    #: the framework's class of tensors, if the call does not look at its argument itself
    tensor: type[Any] | None
    #: the operation's parameters, and the body's parameters that they are read from
    given: Mapping[str, str]
    #: how many tensors it takes, the body's first parameters
    operands: int = 1


@dataclass(eq=False, repr=False)
class Function:
    """A body, and what is known about the function that is made of it."""

    body: Callable[..., Any]
    name: str
    dialect: Dialect
    #: what nodes are called, or ``(*arguments) -> name``; and if the second argument is given,
    #: where that is another name
    label: str | Callable[..., str] = ""
    other_label: str = ""
    #: classes of errors that are raised as they are
    raises: tuple[type[Exception], ...] = ()
    quick: Quick | None = None
    #: ``(arguments) -> arguments`` as they are read, while the list of modes beside it is not empty
    cast: tuple[Callable[..., Any], list[Any]] | None = None
    #: ``(first argument, x, step, label) -> result`` for a body whose results are views
    view: Callable[..., Any] | None = None


def function(made_of: Function) -> Callable[..., Any]:
    """Return the function that programs call; its source is written at the first call."""
    body = made_of.body
    names: dict[str, Any] = {"__name__": __name__}
    call = types.FunctionType(_stub.__code__, names, made_of.name.rpartition(".")[2])
    names["_first_call"] = lambda: _write(call, made_of)
    call.__module__, call.__doc__ = body.__module__, body.__doc__
    call.__wrapped__ = body  # type: ignore[attr-defined]
    return call


def _stub(*args: Any, **options: Any) -> Any:
    return _first_call()(*args, **options)  # type: ignore[name-defined]  # noqa: F821


def _write(call: types.FunctionType, made_of: Function) -> Callable[..., Any]:
    """Give a function its code, and return it."""
    source = _Source(made_of)
    text = source.whole()
    file = f"<{made_of.name} of {made_of.body.__module__}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    call.__globals__.update(source.names)
    found: dict[str, Any] = {}
    exec(compile(text, file, "exec"), call.__globals__, found)
    new = found["call"]
    call.__defaults__, call.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
    call.__code__ = new.__code__.replace(co_name=call.__name__)
    call.__globals__["_self"] = call
    return call


def kinds_of(body: Callable[..., Any]) -> dict[str, tuple[Kind, bool]]:
    """Return the kinds of a body's parameters, and whether None is allowed beside the kind."""
    notes = getattr(body, "__annotations__", {})
    names = getattr(inspect.unwrap(body), "__globals__", {})
    found = {}
    for name, note in notes.items():
        if name == "return" or note in ("Any", Any):
            continue
        kind = eval(note, names) if isinstance(note, str) else note
        options = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
        if typing.get_origin(kind) is typing.Union:
            options = typing.get_args(kind)
        for option in options:
            for mark in getattr(option, "__metadata__", ()):
                if isinstance(mark, Kind):
                    found[name] = (mark, type(None) in options)
    return found


class _Source:
    """The source of a function, and the names that it uses."""

    def __init__(self, made_of: Function) -> None:
        dialect = made_of.dialect
        self.made_of, self.dialect = made_of, dialect
        self.parameters = list(inspect.signature(made_of.body).parameters.values())
        self.kinds = kinds_of(made_of.body)
        self.names: dict[str, Any] = {
            "_body": made_of.body, "_function": made_of, "_enter": dialect.enter,
            "_leave": dialect.leave, "_finish": dialect.finish, "_ERRORS": dialect.errors,
            "_translate": dialect.translate, "_store": dialect.store, "_renamed": _renamed,
            "_aliases": self._aliases(), "_view": made_of.view, "_MISSING": _MISSING,
            "_missing": _missing, "_label": made_of.label,
        }  # fmt: skip
        taken = [p.name for p in self.parameters]
        self.extra = dialect.extra if dialect.extra not in taken else ""
        #: required parameters that may be given by another name
        self.awaited: list[str] = []

    def _aliases(self) -> dict[str, str]:
        if self._takes_any():
            return {}
        several = [p.name for p in self.parameters if p.kind is Parameter.VAR_POSITIONAL]
        taken = {p.name for p in self.parameters if p.name not in several}
        found = {k: v for k, v in self.dialect.aliases.items() if v in taken and k not in taken}
        return found | {name: f"*{name}" for name in several if name in self.kinds}

    def whole(self) -> str:
        """Return the source of the function."""
        signature, lines = self._signature(), []
        if self.names["_aliases"]:
            lines += ["if _more:", f"    return _renamed(_self, {self._given()}, _aliases, _more)"]
        if self.awaited:
            lines += [f"if {' or '.join(f'{name} is _MISSING' for name in self.awaited)}:"]
            values = ", ".join(f"{name}={name}" for name in self.awaited)
            lines += [f"    raise _missing(_self, {values})"]
        if self.made_of.cast is not None:
            self.names["_cast"], self.names["_modes"] = self.made_of.cast
            names = "".join(f"{p.name}, " for p in self.parameters)
            lines += ["if _modes:", f"    {names}= _cast(({names}))"]
        if self.made_of.quick is not None:
            lines += self._quickly(self.made_of.quick)
        if self.dialect.enter is None:
            result = f"_body({self._all_passed()})"
            if self.dialect.finish is not None:
                result = f"_finish({', '.join([result, *self.dialect.options])})"
            lines += [*self._reading(), f"return {result}"]
            return f"def call({signature}):\n" + textwrap.indent("\n".join(lines), "    ")
        lines += ["_state = _enter()", "try:"]
        lines += textwrap.indent("\n".join(self._reading()), "    ").splitlines()
        lines += textwrap.indent("\n".join(self._calling()), "    ").splitlines()
        lines += ["except _ERRORS as _error:", "    _other = _translate(_error, _function)"]
        lines += ["    if _other is _error:", "        raise", "    raise _other from _error"]
        lines += ["finally:", "    _leave(_state)"]
        if self.extra and self.dialect.store is not None:
            lines += [f"return _result if {self.extra} is None else _store(_result, {self.extra})"]
        else:
            lines += ["return _result"]
        return f"def call({signature}):\n" + textwrap.indent("\n".join(lines), "    ")

    def _takes_any(self) -> bool:
        return any(p.kind is Parameter.VAR_KEYWORD for p in self.parameters)

    def _signature(self) -> str:
        parts: list[str] = []
        extra = self.extra and f"{self.extra}=None"
        starred = False
        for p in self.parameters:
            keyword = p.kind in (Parameter.VAR_POSITIONAL, Parameter.KEYWORD_ONLY)
            after = p.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD) and not starred
            if extra and after and not self.dialect.by_name:
                parts.append(extra)
                extra = ""
            if keyword and not starred:
                starred = True
                if p.kind is Parameter.KEYWORD_ONLY:
                    parts.append("*")
            if p.kind is Parameter.VAR_KEYWORD:
                continue
            parts.append(self._declared(p))
            if p.kind is Parameter.POSITIONAL_ONLY and self._is_last_positional_only(p):
                parts.append("/")
        if extra:
            if self.dialect.by_name and not starred:
                parts.append("*")
                starred = True
            parts.append(extra)
        parts += ["*"] if self.dialect.options and not starred else []
        for name, default in self.dialect.options.items():
            self.names[f"_default_{name}"] = default
            parts.append(f"{name}=_default_{name}")
        if self._takes_any():
            parts.append(f"**{self.parameters[-1].name}")
        elif self.names["_aliases"]:
            parts.append("**_more")
        return ", ".join(parts)

    def _is_last_positional_only(self, p: Parameter) -> bool:
        return [q for q in self.parameters if q.kind is Parameter.POSITIONAL_ONLY][-1] is p

    def _declared(self, p: Parameter) -> str:
        if p.kind is Parameter.VAR_POSITIONAL:
            return f"*{p.name}"
        if p.default is Parameter.empty:
            if not self.awaited and p.name not in self.names["_aliases"].values():
                return p.name
            self.awaited.append(p.name)
            return f"{p.name}=_MISSING"
        self.names[f"_default_{p.name}"] = p.default
        return f"{p.name}=_default_{p.name}"

    def _given(self) -> str:
        """Return the call's own arguments as a tuple and a dict."""
        by_position = "".join(
            f"*{p.name}, " if p.kind is Parameter.VAR_POSITIONAL else f"{p.name}, "
            for p in self.parameters
            if p.kind in (*_POSITIONAL, Parameter.VAR_POSITIONAL)
        )
        by_name = [p.name for p in self.parameters if p.kind is Parameter.KEYWORD_ONLY]
        by_name += [*([self.extra] if self.extra else ()), *self.dialect.options]
        return f"({by_position}), {{{', '.join(f'{n!r}: {n}' for n in by_name)}}}"

    # -- reading -------------------------------------------------------------------------------

    def _reading(self) -> list[str]:
        lines = []
        first = "None"
        seen: set[int] = set()
        for p in self.parameters:
            if p.name not in self.kinds:
                continue
            kind, optional = self.kinds[p.name]
            if kind.together:
                if id(kind) in seen:
                    continue
                seen.add(id(kind))
                line, group = self._read_together(kind, first)
                lines.append(line)
                first = f"_{group[0]}" if first == "None" and kind.tensor else first
                continue
            lines.append(f"_{p.name} = {self._read(p.name, kind, optional, first)}")
            if first == "None" and kind.tensor:
                first = f"_{p.name}"
        return lines

    def _read(self, name: str, kind: Kind, optional: bool, first: str) -> str:
        self.names[f"_read_{name}"] = kind.read
        self.names[f"_at_{name}"] = Argument(self.made_of.name, name)
        text = f"_read_{name}({name}, _at_{name}, {kind.beside or first})"
        plain = [kind.plain.format(name)] if kind.plain else []
        plain += [f"{name} is None"] if optional else []
        return f"{name} if {' or '.join(plain)} else {text}" if plain else text

    def _read_together(self, kind: Kind, first: str) -> tuple[str, list[str]]:
        group = [p.name for p in self.parameters if self.kinds.get(p.name, (None,))[0] is kind]
        self.names[f"_read_{group[0]}"] = kind.read
        at = tuple(Argument(self.made_of.name, name) for name in group)
        self.names[f"_at_{group[0]}"] = at
        results = "".join(f"_{name}, " for name in group)
        values = "".join(f"{name}, " for name in group)
        return f"{results}= _read_{group[0]}(({values}), _at_{group[0]}, {first})", group

    # -- calling -------------------------------------------------------------------------------

    def _value(self, p: Parameter) -> str:
        return f"_{p.name}" if p.name in self.kinds else p.name

    def _passed(self, p: Parameter) -> str:
        value = self._value(p)
        if p.kind is Parameter.VAR_POSITIONAL:
            return f"*{value}"
        if p.kind is Parameter.VAR_KEYWORD:
            return f"**{value}"
        return f"{p.name}={value}" if p.kind is Parameter.KEYWORD_ONLY else value

    def _all_passed(self) -> str:
        return ", ".join(self._passed(p) for p in self.parameters)

    def _label(self) -> str:
        label = self.made_of.label
        if callable(label):
            given = (f"*{p.name}" if p.kind is Parameter.VAR_POSITIONAL else p.name
                     for p in self.parameters)  # fmt: skip
            return f"_label({', '.join(given)})"
        if self.made_of.other_label:
            second = self.parameters[1].name
            return f"{label!r} if {second} is None else {self.made_of.other_label!r}"
        return repr(label)

    def _calling(self) -> list[str]:
        if self.made_of.view is not None:
            first, *rest = self.parameters
            others = ", ".join(["_whole", *(self._passed(p) for p in rest)])
            step, x = f"lambda _whole: _body({others})", self._value(first)
            return [f"_result = _view({first.name}, {x}, {step}, {self._label()})"]
        tensors = "".join(
            f"*{p.name}, " if p.kind is Parameter.VAR_POSITIONAL else
            f"*{p.name}.values(), " if p.kind is Parameter.VAR_KEYWORD else f"{p.name}, "
            for p in self.parameters
            if p.name not in self.kinds or self.kinds[p.name][0].tensor
        )  # fmt: skip
        passed = self._all_passed()
        return [f"_result = _finish(_body({passed}), ({tensors}), _state, {self._label()})"]

    def _quickly(self, quick: Quick) -> list[str]:
        """Return the lines that call an operation at once."""
        first, rest = self.parameters[0], self.parameters[quick.operands :]
        self.names |= {"_quick": quick.call, "_Tensor": quick.tensor}
        given = [p.name for p in self.parameters[: quick.operands]]
        for parameter, name in quick.given.items():
            kind, optional = self.kinds[name]
            given.append(f"{parameter}={self._read(name, kind, optional, first.name)}")
        usual = [] if quick.tensor is None else [f"type({first.name}) is _Tensor"]
        usual += [f"{p.name} is None" for p in rest if p.name not in quick.given.values()]
        if self.dialect.store is not None:
            usual += [f"{self.extra} is None"]
        lines = [f"if {' and '.join(usual) or True}:"]
        lines += [f"    _result = _quick({', '.join(given)})"]
        lines += ["    if _result is not NotImplemented:"]
        if self.made_of.other_label:
            lines += [f"        if {rest[0].name} is not None and _result._node is not None:"]
            lines += [f"            _result._node.label = {self.made_of.other_label!r}"]
        return [*lines, "        return _result"]


#: The default of parameters that must be given, by their name or by another one.
_MISSING: Any = object()


def _missing(call: Callable[..., Any], **values: Any) -> TypeError:
    """Return the error for a call without some of its arguments."""
    absent = ", ".join(name for name, value in values.items() if value is _MISSING)
    return TypeError(f"{call.__name__}() is called without {absent}; give a value")


def _renamed(
    call: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any],
    aliases: Mapping[str, str], more: dict[str, Any],
) -> Any:  # fmt: skip
    """Call a function again, with arguments that were given by other names."""
    names = [p.name for p in inspect.signature(call).parameters.values() if p.kind in _POSITIONAL]
    for name, value in more.items():
        if name not in aliases:
            raise TypeError(f"{call.__name__}() got an unexpected keyword argument '{name}'")
        known = aliases[name]
        if known in options:
            options[known] = value
        elif known.startswith("*"):  # numbers that may be given one by one
            args = (*args, value)
        else:
            position = names.index(known)
            args = (*args[:position], value, *args[position + 1 :])
    return call(*args, **options)


def named(name: str, doc: str | None) -> Callable[[Any], Any]:
    """Return a decorator that gives a function made by another one its name and docstring."""

    def declare(made: Any) -> Any:
        made.__name__ = made.__qualname__ = name
        made.__doc__ = doc
        return made

    return declare


def summary(operation: Callable[..., Any]) -> str | None:
    """Return what the docstring of an operation says, without its example."""
    return operation.__doc__ and operation.__doc__.partition("`wg.")[0].strip()


# -- the program's line ----------------------------------------------------------------------------


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the program's line."""
    warnings.warn(message, category, stacklevel=caller_depth())
