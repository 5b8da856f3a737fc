"""Variables and random generators that a function reads beside its arguments, and their state."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from wengert.engine.node import Node, Tokens, active
from wengert.engine.record import SCALARS
from wengert.engine.tensor import Tensor
from wengert.ops.variable import VARIABLE, Variable


@contextlib.contextmanager
def recording(tokens: Tokens) -> Iterator[None]:
    """Return a context in which these tapes record, and no others."""
    before = active.get()
    active.set(tokens)
    try:
        yield
    finally:
        active.set(before)


class Surroundings:
    """Variables and generators that a function reads, with the values they had at one moment.

    Attributes
    ----------
    variables
        Each variable with its value then, by its node: variables of a dialect may have no hash.
    assigned
        The nodes of variables that the call has assigned to.
    """

    def __init__(
        self, generators: list[np.random.Generator], variables: Iterable[Variable]
    ) -> None:
        self.generators = generators
        self.states = [generator.bit_generator.state for generator in generators]
        self.variables = {v._leaf: (v, v._value) for v in variables}
        self.assigned: set[Node] = set()

    def later(self) -> Surroundings:
        """Return the same variables and generators with their values now."""
        twin = Surroundings(self.generators, (v for v, _ in self.variables.values()))
        if all(twin.variables[leaf][1] is value for leaf, (_, value) in self.variables.items()):
            twin.variables = self.variables  # one for all times, as long as nothing is assigned
        return twin

    def note_call(self, ends: Iterable[Node]) -> None:
        """Note which variables a call has assigned to, and values of further ones it depends on."""
        self.assigned = {
            leaf for leaf, (v, value) in self.variables.items() if v._value is not value
        }
        leaves = {end for end in ends if end.op is VARIABLE}
        leaves.difference_update(self.variables)
        if leaves:
            watched = [v for token in active.get() for v in token.variables.values()]
            more = {v._leaf: (v, v._value) for v in watched if v._leaf in leaves}
            self.variables = {**self.variables, **more}

    def bring_back(self) -> None:
        """Restore the values."""
        for generator, state in zip(self.generators, self.states, strict=True):
            generator.bit_generator.state = state
        for variable, value in self.variables.values():
            if variable._value is not value:
                variable._value = value

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """Return a context that restores the values, and brings back the present ones at its end.

        Variables that neither this nor the call assigns to are left to other threads.
        """
        present = self.later()
        present.variables = {
            leaf: (v, value)
            for leaf, (v, value) in present.variables.items()
            if leaf in self.assigned or value is not self.variables[leaf][1]
        }
        try:
            self.bring_back()
            yield
        finally:
            present.bring_back()


#: The most objects to look at for generators and variables. What is further away is not found;
#: if it changes the results, then the second call is refused.
_SEARCHED = 2000
#: What leads to neither.
_PLAIN = frozenset([*SCALARS, str, bytes, type(None), np.ndarray, Tensor])


def found_in(roots: list[Any]) -> tuple[list[np.random.Generator], list[Variable]]:
    """Return the random generators and variables among some objects and in what they refer to."""
    found = _reached(roots, (np.random.Generator, Variable))
    variables = [v for v in found if isinstance(v, Variable)]
    return [v for v in found if isinstance(v, np.random.Generator)], variables


def tensors_in(roots: list[Any]) -> list[Tensor]:
    """Return the tensors among some objects and in what they refer to."""
    return _reached(roots, (Tensor,))


def _reached(roots: list[Any], wanted: tuple[type, ...]) -> list[Any]:
    """Return the objects of some classes among others, and in what these refer to."""
    found: list[Any] = []
    seen: set[int] = set()
    plain = _PLAIN.difference(wanted)
    pending = list(roots)
    for value in pending:  # grows while it is read
        if type(value) in plain or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, wanted):
            found.append(value)
        elif len(seen) < _SEARCHED:
            pending += [v for v in _referred(value) if type(v) not in plain]
    return found


def _referred(value: Any) -> Iterable[Any]:
    """Return what a function, an object or a container refers to."""
    if not _is_users(value if isinstance(value, types.FunctionType) else type(value)):
        return _parts(value)
    if isinstance(value, types.FunctionType):
        cells = [c.cell_contents for c in value.__closure__ or () if not _is_empty(c)]
        known = [value.__globals__.get(name) for name in _names(value.__code__)]
        defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
        return [*cells, *known, *defaults]
    if isinstance(value, type):
        return ()
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    held = [*getattr(value, "__dict__", {}).values(), *(getattr(value, s, None) for s in slots)]
    return [*held, *_parts(value), *([type(value).__call__] if callable(value) else [])]


def _parts(value: Any) -> Iterable[Any]:
    """Return the parts of what Python itself makes: a method, a partial function, a container."""
    if isinstance(value, types.MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, dict):
        return list(value.values())[:_SEARCHED]
    return list(value)[:_SEARCHED] if isinstance(value, (list, tuple, set, frozenset)) else ()


def _is_users(thing: Any) -> bool:
    """Whether a class or function is of none of the libraries that refer to much, and not to it."""
    return str(thing.__module__).partition(".")[0] not in ("builtins", "numpy", "wengert")


def _is_empty(cell: Any) -> bool:
    try:
        return cell.cell_contents is None
    except ValueError:  # not assigned yet
        return True


def _names(code: types.CodeType) -> set[str]:
    """Return the global names that a function, and functions inside of it, may look up."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names
