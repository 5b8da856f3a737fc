"""Boxes and traces: how a program's own tracer sees each function that is called on a value.

Derivatives are Wengert's, on tensors, and need no boxes. A program may write a class of nodes of
its own, or a class of values of its own with rules for it; then values are in boxes. A function of
this dialect that finds one among its arguments is called on the values inside, makes a node of the
innermost trace's class, and returns its answer in a new box.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from wengert.dialects.autograd.borders import values
from wengert.engine.tensor import Tensor
from wengert.errors import UnconnectedWarning, name_of
from wengert.ops.numpy.ufuncs import is_inexact, is_tensor
from wengert.trees import flatten

__all__ = [
    "Box", "Node", "getval", "isbox", "new_box", "register_notrace", "trace", "trace_stack",
]  # fmt: skip

Function = Callable[..., Any]


class Node:
    """What a trace keeps of one call. Programs derive classes of their own from it."""

    __slots__: Sequence[str] = ()
    #: whether answers without derivatives, such as indices and truths, are not recorded
    of_derivatives: ClassVar[bool] = False

    def __init__(
        self, value: Any, fun: Function, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no method __init__; write one")

    def initialize_root(self, *args: Any, **kwargs: Any) -> None:
        """Set up the node of a trace's argument."""
        raise NotImplementedError(f"{type(self).__name__} has no method initialize_root; write one")

    @classmethod
    def new_root(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the node of a trace's argument."""
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root


class Box:
    """A value, the trace that follows it, and its node there."""

    __slots__ = ("_node", "_trace", "_value")
    type_mappings: ClassVar[dict[type, type[Box]]] = {}
    types: ClassVar[set[type[Box]]] = set()

    def __init__(self, value: Any, trace: int, node: Any) -> None:
        self._value, self._trace, self._node = value, trace, node

    def __bool__(self) -> bool:
        return bool(self._value)

    def __str__(self) -> str:
        return f"{type(self).__name__} with value {self._value}"

    @classmethod
    def register(cls, value_type: type) -> None:
        """Have values of a class be in boxes of this class."""
        Box.types.add(cls)
        Box.type_mappings[value_type] = Box.type_mappings[cls] = cls


class TraceStack:
    """The traces that run. Each has a number; that of an inner one is greater."""

    def __init__(self) -> None:
        self.running = 0
        self._numbers = itertools.count()

    @contextlib.contextmanager
    def new_trace(self) -> Iterator[int]:
        """Return a context with the number of a new trace."""
        self.running += 1
        try:
            yield next(self._numbers)
        finally:
            self.running -= 1


trace_stack = TraceStack()
#: For each class of nodes, the functions that it does not record.
_UNRECORDED: defaultdict[type, set[Any]] = defaultdict(set)


def register_notrace(trace_type: type, primitive_fun: Function) -> None:
    """Have traces with a class of nodes not record a function."""
    _UNRECORDED[trace_type].add(primitive_fun)


def new_box(value: Any, trace: int, node: Any) -> Box:
    """Return a value in the box for its class."""
    kind = Box.type_mappings.get(type(value))
    if kind is None:
        kind = next((Box.type_mappings[t] for t in _BASES if isinstance(value, t)), None)
    if kind is None:
        raise TypeError(
            f"there is no box for values of {type(value)}; write class MyBox(Box) and "
            f"MyBox.register({type(value).__name__})"
        )
    return kind(value, trace, node)


#: Classes whose derived ones have their boxes: of arrays, scalars, and containers.
_BASES = (np.ndarray, np.inexact, Tensor, Box, tuple, list, dict)


def is_custom(value: Any) -> bool:
    """Return whether a value is of a class that a program has registered, or in a box."""
    return type(value) not in OURS and type(value) in Box.type_mappings


def getval(value: Any) -> Any:
    """Return what is in a box, or the values of a recorded array."""
    while isinstance(value, Box):
        value = value._value
    return values(value) if is_tensor(value) else value


def isbox(value: Any) -> bool:
    """Return whether a value is in a box, or a recorded array."""
    return isinstance(value, Box) or is_tensor(value)


def holds_box(tree: Any) -> bool:
    """Return whether there is a box somewhere in nested lists, tuples and dicts."""
    if isinstance(tree, (list, tuple)):
        return any(map(holds_box, tree))
    return isinstance(tree, Box) or (isinstance(tree, dict) and any(map(holds_box, tree.values())))


def opened(tree: Any) -> Any:
    """Return containers in boxes as containers of boxes."""
    if isinstance(tree, SequenceBox):
        parts = [opened(part) for part in tree]
        return tuple(parts) if isinstance(getval(tree), tuple) else parts
    if isinstance(tree, DictBox):
        return {key: opened(part) for key, part in tree.items()}
    if type(tree) in (list, tuple):
        return type(tree)(map(opened, tree))
    return {k: opened(v) for k, v in tree.items()} if type(tree) is dict else tree


# -- recording --------------------------------------------------------------------------------


def boxed(function: Function) -> Any:
    """Return a function that is recorded where an argument is in a box."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if trace_stack.running and holds_box((args, kwargs)):
            return record(call, args, kwargs)
        return function(*args, **kwargs)

    return call


def record(fun: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the answer of a function in a box, with a node of the innermost trace."""
    if holds_box([arg for arg in args if not isinstance(arg, Box)]) or holds_box(kwargs):
        return _record_leaves(fun, args, kwargs)
    trace = max(arg._trace for arg in args if isinstance(arg, Box))
    found = [(n, a) for n, a in enumerate(args) if isinstance(a, Box) and a._trace == trace]
    plain = list(args)
    for argnum, box in found:
        plain[argnum] = box._value
    answer = fun(*plain, **kwargs)
    kind = type(found[0][1]._node)
    if fun in _UNRECORDED[kind] or (kind.of_derivatives and not has_derivative(answer)):
        return answer
    parents = tuple(box._node for _, box in found)
    node = kind(answer, fun, tuple(plain), kwargs, tuple(n for n, _ in found), parents)
    return new_box(answer, trace, node) if is_boxable(answer) else answer


def _record_leaves(fun: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Record a function of nests with boxes inside as one of their leaves."""
    leaves, rebuild = flatten((args, kwargs))

    def spread(*leaves: Any) -> Any:
        args, kwargs = rebuild(leaves)
        return fun(*args, **kwargs)

    spread.__name__ = name_of(fun)
    return record(spread, tuple(leaves), {})


def is_boxable(answer: Any) -> bool:
    """Return whether an answer is to be followed: numbers, and what a program has registered."""
    if type(answer) in (tuple, list, dict):
        return has_derivative(answer)
    return not (answer is None or isinstance(answer, (bool, int, str, np.bool_, np.integer, type)))


def has_derivative(answer: Any) -> bool:
    """Return whether there are floating or complex numbers, or values of a program's classes."""
    if is_custom(answer) or isinstance(answer, Box):
        return True
    return any(
        isinstance(leaf, (Box, float, complex)) or (hasattr(leaf, "dtype") and is_inexact(leaf))
        for leaf in flatten(answer)[0]
    )


def trace(start_node: Any, fun: Function, x: Any) -> tuple[Any, Any]:
    """Return a function's value and its node, with `start_node` for the argument x.

    Each function of this dialect that is called on the way makes a node of the class of
    `start_node`.

    Examples
    --------
    >>> import wengert.autograd.numpy as np
    >>> from wengert.autograd.tracer import Node, trace
    >>> class Depth(Node):
    ...     def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
    ...         self.depth = 1 + max(parent.depth for parent in parents)
    ...     def initialize_root(self):
    ...         self.depth = 0
    >>> value, node = trace(Depth.new_root(), lambda x: np.sin(x) + 2 * x, 0.0)
    >>> float(value), node.depth
    (0.0, 2)
    """
    with trace_stack.new_trace() as number:
        end = fun(new_box(x, number, start_node))
        if not isinstance(end, Box) and holds_box(end):
            end = container(end)
        if isinstance(end, Box) and end._trace == number:
            return end._value, end._node
    warnings.warn(
        f"{name_of(fun)}: its result does not depend on its argument",
        UnconnectedWarning,
        stacklevel=2,
    )
    return end, None


@boxed
def container(parts: Any) -> Any:
    """Return a list, tuple or dict as it is; with boxes inside, in a box."""
    return parts


# -- boxes of containers ----------------------------------------------------------------------


@boxed
def container_take(A: Any, idx: Any) -> Any:
    """Return an element of a container."""
    return A[idx]


class _ContainerBox(Box):
    """A list, a tuple or a dict."""

    __slots__ = ()
    __getitem__ = container_take

    def __len__(self) -> int:
        return len(self._value)

    def __contains__(self, element: Any) -> bool:
        return element in self._value


class SequenceBox(_ContainerBox):
    """A list or a tuple."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __add__(self, other: Any) -> Any:
        return container(type(getval(self))((*self, *other)))

    def __radd__(self, other: Any) -> Any:
        return container(type(getval(self))((*other, *self)))


class DictBox(_ContainerBox):
    """A dict."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._value)

    def keys(self) -> list[Any]:
        """Return the keys."""
        return list(self._value)

    def values(self) -> list[Any]:
        """Return the elements."""
        return [self[key] for key in self]

    def items(self) -> list[tuple[Any, Any]]:
        """Return pairs of keys and elements."""
        return [(key, self[key]) for key in self]

    def get(self, key: Any, default: Any = None) -> Any:
        """Return an element, or `default` if there is none."""
        return self[key] if key in self._value else default


for _type in (tuple, list):
    SequenceBox.register(_type)
DictBox.register(dict)
#: Classes that are not a program's own.
OURS = {tuple, list, dict, SequenceBox, DictBox}
