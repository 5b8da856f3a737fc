"""Containers: parts in a row or in a list, by name, and parameters likewise."""

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
P = TypeVar("P", bound="ParameterList")
D = TypeVar("D", bound="ParameterDict")


def _place(index: Any, count: int) -> int:
    place = operator.index(index)
    if not -count <= place < count:
        raise IndexError(f"there is no index {place} among {count}")
    return place % count


def _check_iterable(values: Any, name: str, of: str = "") -> None:
    if not isinstance(values, Iterable):
        raise TypeError(f"{name}: got a {type(values).__name__}; give a list{of} or the like")


def _pairs(values: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Return names and values of a mapping, or of a sequence of pairs."""
    _check_iterable(values, f"{name}.update", " of pairs (name, value)")
    if isinstance(values, (Mapping, ModuleDict, ParameterDict)):
        yield from values.items()
        return
    for position, pair in enumerate(values):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{name}: element {position} is a {type(pair).__name__}; give pairs of a name "
                "and a value"
            )
        both = tuple(pair)
        if len(both) != 2:
            raise ValueError(
                f"{name}: element {position} has length {len(both)}; give pairs (name, value)"
            )
        yield both


# -- lists of parts --------------------------------------------------------------------------------


class _Listed(Module):
    """Parts by their position."""

    def _key(self, index: Any) -> str:
        return list(self._modules)[_place(index, len(self))]

    def _renumber(self, parts: Iterable[Any]) -> None:
        """Have these parts, by their numbers."""
        self._modules = {str(k): part for k, part in enumerate(parts)}

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._key(idx)]

    def __setitem__(self, idx: Any, module: Module) -> None:
        setattr(self, self._key(idx), module)

    def __delitem__(self, idx: Any) -> None:
        keys = list(self._modules)[idx] if isinstance(idx, slice) else [self._key(idx)]
        self._renumber(part for key, part in self._modules.items() if key not in keys)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def append(self: L, module: Module) -> L:
        """Put a part behind the others, and return the container."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: Any) -> Any:
        """Take a part out, and return it."""
        found = self[key]
        del self[key]
        return found

    def _insert(self, index: int, module: Module) -> None:
        parts = list(self)
        parts.insert(index, module)
        self._renumber(parts)


class Sequential(_Listed):
    """Parts that are called one after the other."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for module in args:
                self.append(module)

    def forward(self, input: Any) -> Any:
        """Return what the last part makes of what the others made of the argument."""
        for part in self:
            input = part(input)
        return input

    def __add__(self, other: Sequential) -> Sequential:
        _check_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Sequential:
        _check_sequential(other)
        return self.extend(other)

    def __mul__(self, other: int) -> Sequential:
        _check_times(other)
        return Sequential(*list(self) * other)

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Sequential:
        _check_times(other)
        return self.extend(list(self) * (other - 1))

    def insert(self, index: int, module: Module) -> Sequential:
        """Put a part before another, and return the container."""
        if not isinstance(module, Module):
            raise AssertionError(f"insert: got a {type(module).__name__}; give a module")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"insert: there is no position {index} among {len(self)} modules")
        self._insert(index, module)
        return self

    def extend(self, sequential: Iterable[Module]) -> Sequential:
        """Put parts behind the others, and return the container."""
        for part in list(sequential):
            self.append(part)
        return self


def _check_sequential(other: Any) -> None:
    if not isinstance(other, Sequential):
        raise ValueError(f"a Sequential was added to a {type(other)}; give another Sequential")


def _check_times(times: Any) -> None:
    if not isinstance(times, int):
        raise TypeError(f"Sequential * {type(times).__name__}: give a whole number")
    if times <= 0:
        raise ValueError(f"a Sequential was multiplied by {times}; give 1 or more")


class ModuleList(_Listed):
    """Parts in a list."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self)[idx])
        return super().__getitem__(idx)

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def insert(self, index: int, module: Module) -> None:
        """Put a part before another."""
        self._insert(index, module)

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Put parts behind the others, and return the container."""
        _check_iterable(modules, "ModuleList.extend")
        for part in list(modules):
            self.append(part)
        return self

    def __repr__(self) -> str:
        runs: list[list[Any]] = []  # first position, last position, text
        for place, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1][1] = place
            else:
                runs.append([place, place, text])
        parts = [
            f"({first}): {text}"
            if first == last
            else f"({first}-{last}): {last - first + 1} x {text}"
            for first, last, text in runs
        ]
        return framed(self._get_name(), [], [indented(part) for part in parts])


class ModuleDict(Module):
    """Parts by name."""

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

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take all parts out."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take a part out, and return it."""
        return self._modules.pop(key)

    def keys(self) -> Any:
        """Return the names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Return names and parts."""
        return self._modules.items()

    def values(self) -> Any:
        """Return the parts."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Put in the parts of a mapping, or of a sequence of pairs."""
        for key, module in _pairs(modules, "ModuleDict"):
            self[key] = module


# -- parameters ------------------------------------------------------------------------------------


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if is_tensor(value) and not isinstance(value, Parameter) else value


def _described(key: Any, value: Any, kind: str) -> str:
    if not is_tensor(value):
        return f"  ({key}): Object of type: {type(value).__name__}"
    what = "Parameter" if isinstance(value, Parameter) else "Tensor"
    sizes = "x".join(map(str, value.shape))
    return f"  ({key}): {what} containing: [{kind} of size {sizes}]"


class ParameterList(Module):
    """Parameters, or anything else, in a list; tensors become parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)([self[k] for k in range(len(self))[idx]])
        return getattr(self, str(_place(idx, len(self))))

    def __setitem__(self, idx: Any, param: Any) -> None:
        setattr(self, str(_place(idx, len(self))), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(len(self))])

    def __iadd__(self: P, parameters: Iterable[Any]) -> P:
        return self.extend(parameters)

    def append(self: P, value: Any) -> P:
        """Put a value behind the others, and return the container."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self: P, values: Iterable[Any]) -> P:
        """Put values behind the others, and return the container."""
        _check_iterable(None if is_tensor(values) else values, "ParameterList.extend")
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """Return a line for each value."""
        return "\n".join(
            _described(k, v, str(v.dtype) if is_tensor(v) else "") for k, v in enumerate(self)
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise: it is only a list."""
        raise RuntimeError("a ParameterList is not called; take its parameters by index")


class ParameterDict(Module):
    """Parameters, or anything else, by name; tensors become parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

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

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Return another container with the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return what is there by a name, having put in a value if nothing is."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Take everything out."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Take a value out, and return it."""
        found = self[key]
        del self[key]
        return found

    def popitem(self) -> tuple[str, Any]:
        """Take out what was put in last, and return its name and value."""
        if not self._keys:
            raise KeyError("popitem(): the ParameterDict is empty")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return what is there by a name, or a default."""
        return self[key] if key in self else default  # noqa: SIM401

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Return a container with one value by many names."""
        return ParameterDict([(key, default) for key in keys])

    def keys(self) -> Any:
        """Return the names."""
        return self._keys.keys()

    def items(self) -> Any:
        """Return names and values."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Any:
        """Return the values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Put in the values of a mapping, by the order of their names, or of pairs."""
        found = list(_pairs(parameters, "ParameterDict"))
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            found.sort(key=operator.itemgetter(0))
        for key, value in found:
            self[key] = value

    def extra_repr(self) -> str:
        """Return a line for each value."""
        return "\n".join(
            _described(k, v, v.type() if is_tensor(v) else "") for k, v in self.items()
        )

    def __call__(self, input: Any) -> Any:
        """Raise: it is only a dict."""
        raise RuntimeError("a ParameterDict is not called; take its parameters by name")

    def __or__(self, other: ParameterDict) -> ParameterDict:
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other: Any) -> ParameterDict:
        both = ParameterDict(other)
        both.update(self)
        return both

    def __ior__(self: D, other: Any) -> D:  # type: ignore[misc]
        self.update(other)
        return self


for _class in (Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict):
    _name = _class.__name__
    put((f"nn.{_name}", f"nn.modules.{_name}", f"nn.modules.container.{_name}"), _class)
