"""Containers: modules in a row or in a list, by name, and parameters likewise."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from wengert.dialects.torch.nn.module import Module, framed, indented
from wengert.dialects.torch.nn.parameters import Parameter
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import is_tensor

L = TypeVar("L", bound="_Listed")
D = TypeVar("D", bound="_Named")


class _Container(Module):
    """Values by an index or a name."""

    __getitem__: Any
    __delitem__: Any

    def pop(self, key: Any) -> Any:
        """Remove a value, and return it."""
        found = self[key]
        del self[key]
        return found

    def _check_iterable(self, values: Any, method: str, of: str = "") -> None:
        if not isinstance(values, Iterable) or is_tensor(values):
            raise TypeError(
                f"{type(self).__name__}.{method}: got a {type(values).__name__}; give a list{of} "
                "or the like"
            )


# -- by position -----------------------------------------------------------------------------------


class _Listed(_Container):
    """Values by their position."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(len(self))])

    def __iadd__(self: L, values: Iterable[Any]) -> L:
        return self.extend(values)

    def _position(self, index: Any) -> int:
        position, count = operator.index(index), len(self)
        if not -count <= position < count:
            raise IndexError(f"there is no index {position} among {count}")
        return position % count

    def append(self: L, value: Any) -> L:
        """Put a value behind the others, and return the container."""
        self.add_module(str(len(self)), value)
        return self

    def extend(self: L, values: Iterable[Any]) -> L:
        """Put values behind the others, and return the container."""
        self._check_iterable(values, "extend")
        for value in list(values):
            self.append(value)
        return self


class _ModulesListed(_Listed):
    """Modules by their position."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def _key(self, index: Any) -> str:
        return list(self._modules)[self._position(index)]

    def _renumber(self, modules: Iterable[Any]) -> None:
        """Have these modules, by their numbers."""
        self._modules = {str(k): module for k, module in enumerate(modules)}

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._key(idx)]

    def __setitem__(self, idx: Any, module: Module) -> None:
        setattr(self, self._key(idx), module)

    def __delitem__(self, idx: Any) -> None:
        keys = list(self._modules)[idx] if isinstance(idx, slice) else [self._key(idx)]
        self._renumber(module for key, module in self._modules.items() if key not in keys)

    def _insert(self, index: int, module: Module) -> None:
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)


class Sequential(_ModulesListed):
    """Modules that are called one after the other."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self.extend(args)

    def forward(self, input: Any) -> Any:
        """Return what the last module computes from the results of the others."""
        for module in self:
            input = module(input)
        return input

    def insert(self, index: int, module: Module) -> Sequential:
        """Put a module before another, and return the container."""
        if not isinstance(module, Module):
            raise AssertionError(f"insert: got a {type(module).__name__}; give a module")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"insert: there is no position {index} among {len(self)} modules")
        self._insert(index, module)
        return self


class ModuleList(_ModulesListed):
    """Modules in a list."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self)[idx])
        return super().__getitem__(idx)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def insert(self, index: int, module: Module) -> None:
        """Put a module before another."""
        self._insert(index, module)

    def __repr__(self) -> str:
        runs: list[list[Any]] = []  # first position, last position, text
        for position, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1][1] = position
            else:
                runs.append([position, position, text])
        parts = [
            f"({first}): {text}"
            if first == last
            else f"({first}-{last}): {last - first + 1} x {text}"
            for first, last, text in runs
        ]
        return framed(self._get_name(), [], [indented(part) for part in parts])


class ParameterList(_Listed):
    """Parameters, or anything else, in a list; tensors become parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)([self[k] for k in range(len(self))[idx]])
        return getattr(self, str(self._position(idx)))

    def __setitem__(self, idx: Any, param: Any) -> None:
        setattr(self, str(self._position(idx)), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def append(self: L, value: Any) -> L:
        """Put a value behind the others, and return the container."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extra_repr(self) -> str:
        """Return a line for each value."""
        return "\n".join(_described(k, v, lambda t: str(t.dtype)) for k, v in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise: it is only a list."""
        raise RuntimeError("a ParameterList is not called; take its parameters by index")


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if is_tensor(value) and not isinstance(value, Parameter) else value


def _described(key: Any, value: Any, kind: Any) -> str:
    if not is_tensor(value):
        return f"  ({key}): Object of type: {type(value).__name__}"
    what = "Parameter" if isinstance(value, Parameter) else "Tensor"
    sizes = "x".join(map(str, value.shape))
    return f"  ({key}): {what} containing: [{kind(value)} of size {sizes}]"


# -- by name ---------------------------------------------------------------------------------------


class _Named(_Container):
    """Values by name."""

    def _names(self) -> dict[str, Any]:
        """Return a dict that has the names in their order."""
        return self._modules

    __setitem__: Any

    def __len__(self) -> int:
        return len(self._names())

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __contains__(self, key: str) -> bool:
        return key in self._names()

    def clear(self) -> None:
        """Remove everything."""
        for key in list(self._names()):
            del self[key]

    keys: Any = Mapping.keys
    items: Any = Mapping.items
    values: Any = Mapping.values

    def update(self, values: Any) -> None:
        """Put in the values of a mapping, or of a sequence of pairs."""
        for key, value in self._pairs(values):
            self[key] = value

    def _pairs(self, values: Any) -> Iterator[tuple[str, Any]]:
        """Return names and values of a mapping, or of a sequence of pairs."""
        self._check_iterable(values, "update", " of pairs (name, value)")
        return iter(values.items() if isinstance(values, (Mapping, _Named)) else values)


class ModuleDict(_Named):
    """Modules by name."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]


class ParameterDict(_Named):
    """Parameters, or anything else, by name; tensors become parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _names(self) -> dict[str, Any]:
        return self._keys

    def _check_key(self, key: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"keys of a ParameterDict are strings, got {type(key).__name__}")

    def __getitem__(self, key: str) -> Any:
        self._check_key(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._check_key(key)
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a name, or a default."""
        return self[key] if key in self else default  # noqa: SIM401

    def _pairs(self, values: Any) -> Iterator[tuple[str, Any]]:
        found = super()._pairs(values)
        sort = isinstance(values, Mapping) and not isinstance(values, OrderedDict)
        return iter(sorted(found, key=operator.itemgetter(0))) if sort else found

    def extra_repr(self) -> str:
        """Return a line for each value."""
        return "\n".join(_described(k, v, lambda t: t.type()) for k, v in self.items())

    def __call__(self, input: Any) -> Any:
        """Raise: it is only a dict."""
        raise RuntimeError("a ParameterDict is not called; take its parameters by name")


for _class in (Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict):
    _name = _class.__name__
    put((f"nn.{_name}", f"nn.modules.{_name}", f"nn.modules.container.{_name}"), _class)
