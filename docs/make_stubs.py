"""Type stubs of a dialect's modules, written from the functions' signatures.

The names of a dialect are looked up when a program asks for them, which an editor cannot see. The
stubs have every name: functions with the types of their arguments, classes where they are defined.
`docs/make_tables.py` calls this.
"""

from __future__ import annotations

import functools
import inspect
import keyword
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import Parameter
from typing import Any

import numpy as np

from wengert.engine.tensor import Tensor as Native

_HEADER = """# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from {classes} import Tensor as _Tensor
"""
_SIMPLE = {bool: "bool", int: "int", float: "float", str: "str", tuple[int, ...]: "Sequence[int]"}


def stubs(names: Mapping[str, Any], package: str, tensor: type[Any]) -> dict[str, str]:
    """Return the text of each stub, by its path below the package.

    Parameters
    ----------
    names
        Dotted names and what they are; "Tensor.name" is a method.
    package
        The module that programs import, such as "wengert.torch".
    tensor
        The class of tensors, to which methods were given after it was defined.
    """
    modules = _modules(names)
    first: dict[int, str] = {}
    for name in sorted(names, key=lambda name: (name.count("."), name)):
        parent, _, leaf = name.rpartition(".")
        if parent not in modules or not leaf.isidentifier() or keyword.iskeyword(leaf):
            continue
        value = names[name]
        where = first.setdefault(id(value), name) if callable(value) else name
        if where == name:
            modules[parent] += _declared(leaf, value, tensor)
        else:
            module, _, other = where.rpartition(".")
            source = f"{package}.{module}".rstrip(".")
            modules[parent].append(f"from {source} import {other} as {leaf}")
    modules[""] += _class("Tensor", tensor, tensor)
    found = {}
    for module, lines in modules.items():
        inside = [m.rpartition(".")[2] for m in modules if m and m.rpartition(".")[0] == module]
        text = _HEADER.format(classes=tensor.__module__)
        text += f"from {package} import Tensor as Tensor\n" if module else ""
        text += "".join(f"from . import {name} as {name}\n" for name in inside) + "\n"
        path = module.replace(".", "/")
        path = f"{path}/__init__.pyi".lstrip("/") if inside or not module else f"{path}.pyi"
        found[path] = text + "\n".join(lines) + "\n"
    return found


def _modules(names: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the modules to write; not those that only repeat what is in modules above them."""
    parts: dict[str, list[Any]] = {}
    for name, value in names.items():
        parent = name.rpartition(".")[0]
        if parent not in names and parent != "Tensor":
            parts.setdefault(parent, []).append(id(value))
    known: set[int] = set()
    found: dict[str, list[str]] = {"": []}
    for module in sorted(parts, key=lambda module: (module.count(".") + bool(module), module)):
        if not known.issuperset(parts[module]):
            ends = [k for k, letter in enumerate(module) if letter == "."]
            found |= {module[:end]: [] for end in (*ends, None)}
            known.update(parts[module])
    return found


def _declared(name: str, value: Any, tensor: type[Any]) -> list[str]:
    """Return the lines that declare a name."""
    if isinstance(value, type):
        if value is tensor:
            return []
        if value.__module__ == "builtins":
            return [f"{name} = {value.__name__}"]
        if value.__module__ == "numpy":
            return [f"from numpy import {value.__name__} as {name}"]
        if issubclass(value, tensor) or not _is_found(value):
            return _class(name, value, tensor)
        return [f"from {value.__module__} import {value.__qualname__} as {name}"]
    if isinstance(value, types.FunctionType):
        return [_function(name, value)]
    return [f"{name}: Any"]


def _is_found(value: type[Any]) -> bool:
    """Return whether a type checker finds a class, and its constructor, where it says it is."""
    module = inspect.getmodule(value)
    code = getattr(value.__init__, "__code__", None)
    if not hasattr(module, "__file__") or (code is not None and code.co_filename.startswith("<")):
        return False
    return bool(re.search(rf"^class {value.__qualname__}\b", _text_of(module), re.M))


@functools.cache
def _text_of(module: types.ModuleType) -> str:
    return inspect.getsource(module) if hasattr(module, "__file__") else ""


def _class(name: str, value: type[Any], tensor: type[Any]) -> list[str]:
    """Return the lines that declare a class with what it has at run time."""
    if value is tensor:
        return _body(f"class {name}(_Tensor):", _members(value))
    if issubclass(value, tensor):
        return _body(f"class {name}(Tensor):", vars(value).items())
    base = next(b for b in value.__mro__[1:] if b is object or _is_found(b))
    if base is object:
        return _body(f"class {name}:", vars(value).items())
    return [
        f"from {base.__module__} import {base.__qualname__} as _{base.__qualname__}",
        *_body(f"class {name}(_{base.__qualname__}):", vars(value).items()),
    ]


def _body(statement: str, members: Iterable[tuple[str, Any]]) -> list[str]:
    lines = [statement]
    for leaf, member in sorted(members, key=lambda pair: pair[0]):
        is_own = not leaf.startswith("_") or leaf == "__init__" or not hasattr(object, leaf)
        if keyword.iskeyword(leaf) or not is_own:
            continue
        if isinstance(member, types.FunctionType):
            lines.append("    " + _function(leaf, member, method=True))
        elif not leaf.startswith("_"):
            lines.append(f"    {leaf}: Any")
    return [*lines, "    ..."]


def _members(value: type[Any]) -> Iterator[tuple[str, Any]]:
    for leaf in dir(value):
        if not leaf.startswith("_") or (leaf.startswith("__") and not hasattr(object, leaf)):
            yield leaf, inspect.getattr_static(value, leaf)


def _function(name: str, function: Callable[..., Any], method: bool = False) -> str:
    """Return the line that declares a function."""
    body = getattr(function, "__wrapped__", None)
    parts: list[str] = []
    starred = False
    parameters = list(inspect.signature(function).parameters.values())
    for k, p in enumerate(parameters):
        if p.kind is Parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
        starred = starred or p.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_POSITIONAL)
        star = "*" if p.kind is Parameter.VAR_POSITIONAL else ""
        star = "**" if p.kind is Parameter.VAR_KEYWORD else star
        if method and not k and not star:
            parts.append("self")
            continue
        default = " = ..." if p.default is not Parameter.empty else ""
        note = _shown(body, p.name)
        if star == "*" and note in ("int", "_Tensor"):  # one by one, or as one sequence
            note = f"{note} | Sequence[{note}]"
        parts.append(f"{star}{p.name}: {note}{default}")
    if body is not None and not any(p.kind is Parameter.VAR_KEYWORD for p in parameters):
        parts.append("**_options: Any")
    if method and not parts:
        parts.append("self")
    result = "None" if name == "__init__" else _shown(body, "return", "Tensor")
    return f"def {name}({', '.join(parts)}) -> {result}: ..."


def _shown(body: Callable[..., Any] | None, name: str, tensor: str = "_Tensor") -> str:
    """Return the type of a parameter, or of the result, as a program sees it."""
    note = getattr(body, "__annotations__", {}).get(name, Any)
    if isinstance(note, str):
        note = eval(note, inspect.unwrap(body).__globals__)  # type: ignore[arg-type]
    options = [note]
    if typing.get_origin(note) in (typing.Union, types.UnionType):
        options = [*typing.get_args(note)]
    texts = []
    for option in options:
        plain = option.__origin__ if hasattr(option, "__metadata__") else option
        if plain is type(None):
            texts.append("None")
        elif plain is Native or (name == "return" and _is_result(plain)):
            texts.append(tensor)
        elif plain in _SIMPLE:
            texts.append(_SIMPLE[plain])
        else:
            return "Any"
    return " | ".join(texts)


def _is_result(kind: Any) -> bool:
    """Return whether a body that returns this has a tensor as its result."""
    return kind is np.ndarray or getattr(kind, "__name__", "") == "Tensor"
