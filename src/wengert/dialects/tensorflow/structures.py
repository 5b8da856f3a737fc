"""Nests of lists, tuples and dicts (tf.nest), tf.Module, name scopes and TensorSpec."""

from __future__ import annotations

import collections
import functools
import re
from collections.abc import Callable, Iterator, Mapping, MappingView
from operator import attrgetter
from typing import Any

from wengert.dialects.tensorflow.dtypes import any_dtype, float32
from wengert.dialects.tensorflow.errors import mistake
from wengert.dialects.tensorflow.table import plain
from wengert.dialects.tensorflow.tensor_shape import TensorShape
from wengert.dialects.tensorflow.tensors import is_tensor
from wengert.dialects.tensorflow.tracking import AutoTrackable
from wengert.dialects.tensorflow.variables import Variable, scope

# -- nests ----------------------------------------------------------------------------------------


@plain("nest.is_nested")
def is_nested(structure: Any) -> bool:
    """Return whether a value is a list, a tuple, a dict or a view of one."""
    if isinstance(structure, (str, bytes)) or is_tensor(structure):
        return False
    return isinstance(structure, (list, tuple, Mapping, MappingView, collections.deque))


def _children(structure: Any) -> list[Any]:
    """Return the parts of a nest, those of a dict in the order of its keys."""
    if isinstance(structure, Mapping):
        return [structure[key] for key in _sorted(structure)]
    return list(structure)


def _sorted(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("a dict in a nest needs keys that can be sorted") from None


@plain("nest.flatten")
def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Return the values of a nest as a list; dicts are gone through in the order of their keys."""
    if not is_nested(structure):
        return [structure]
    return [leaf for child in _children(structure) for leaf in flatten(child)]


@plain("nest.pack_sequence_as")
def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Return a nest like `structure` with the values of a list."""
    if not isinstance(flat_sequence, (list, tuple)):
        raise mistake(TypeError, "pack_sequence_as: values", flat_sequence, "a list of values")
    wanted = len(flatten(structure))
    if wanted != len(flat_sequence):
        raise ValueError(
            f"pack_sequence_as: {len(flat_sequence)} values for the {wanted} places of "
            f"{structure!r:.200}"
        )
    return _packed(structure, iter(flat_sequence))


def _packed(structure: Any, supply: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(supply)
    return _like(structure, [_packed(child, supply) for child in _children(structure)])


def _like(structure: Any, parts: list[Any]) -> Any:
    """Return a nest of the kind of another, with these parts."""
    if isinstance(structure, Mapping):
        found = dict(zip(_sorted(structure), parts, strict=True))
        ordered = [(key, found[key]) for key in structure]
        if isinstance(structure, collections.defaultdict):
            return collections.defaultdict(structure.default_factory, ordered)
        return type(structure)(ordered)  # type: ignore[call-arg]
    if hasattr(structure, "_fields"):
        return type(structure)(*parts)
    return parts if isinstance(structure, MappingView) else type(structure)(parts)


@plain("nest.assert_same_structure")
def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise ValueError unless two nests have the same form, TypeError for other kinds of nests."""
    wrong = _difference(nest1, nest2, check_types)
    if wrong is not None:
        raise wrong(
            f"two nests differ in form: a {type(nest1).__name__}, {nest1!s:.200}, and a "
            f"{type(nest2).__name__}, {nest2!s:.200}"
        )


def _difference(one: Any, other: Any, check_types: bool) -> type[Exception] | None:
    if not is_nested(one) or not is_nested(other):
        return ValueError if is_nested(one) or is_nested(other) else None
    both_mappings = isinstance(one, Mapping) and isinstance(other, Mapping)
    if check_types and type(one) is not type(other) and not both_mappings:
        return TypeError
    if len(one) != len(other) or (both_mappings and one.keys() != other.keys()):
        return ValueError
    pairs = zip(_children(one), _children(other), strict=True)
    return next(filter(None, (_difference(a, b, check_types) for a, b in pairs)), None)


@plain("nest.map_structure")
def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Return a nest of what a function returns for the values at each place of some nests."""
    if not callable(func):
        raise TypeError(f"map_structure: got {func!r:.80}; expected a function")
    if not structure:
        raise ValueError("map_structure: give a nest after the function")
    check_types = kwargs.pop("check_types", True)
    kwargs.pop("expand_composites", None)
    if kwargs:
        raise mistake(
            ValueError, "map_structure: options", kwargs, "check_types, expand_composites"
        )
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    leaves = zip(*map(flatten, structure), strict=True)
    return pack_sequence_as(structure[0], [func(*values) for values in leaves])


class Opaque:
    """What loops pass on as it is: no tensor and no nest, such as a TensorArray."""


# -- name scopes ----------------------------------------------------------------------------------


@plain("name_scope")
class name_scope:
    """A context in which names of variables begin with a name."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError(f"name_scope: got {name!r}; expected a string")
        self._name = name
        self._outside: list[str] = []

    name = property(attrgetter("_name"), doc="The name, as given.")

    def __enter__(self) -> str:
        before = scope.get()
        self._outside.append(before)
        if self._name.endswith("/"):  # a whole path, as another scope gave it
            scope.set(self._name)
        else:
            scope.set(f"{before}{self._name}/" if self._name else "")
        return scope.get()

    def __exit__(self, *exception: object) -> None:
        scope.set(self._outside.pop())


# -- modules --------------------------------------------------------------------------------------


def snake(name: str) -> str:
    """Return a name like MyHTTPNet as my_http_net."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


@plain("Module")
class Module(AutoTrackable):
    """A container of variables and other modules, found wherever its attributes hold them."""

    def __init__(self, name: str | None = None) -> None:
        if name is not None and not name.isidentifier():
            raise mistake(ValueError, "Module: name", name, "letters, digits and _, as for a class")
        self._name = name or snake(type(self).__name__)
        self._scope_name = f"{scope.get()}{self._name}/"

    @property
    def name(self) -> str:
        """The name that was given, or that of the class in lower case."""
        return self._own("_name")

    @property
    def name_scope(self) -> name_scope:
        """A context for names of variables."""
        return name_scope(self._own("_scope_name"))

    def _own(self, attribute: str) -> str:
        try:
            return str(vars(self)[attribute])
        except KeyError:
            raise AttributeError(
                f"{attribute[1:]}: call super().__init__() in __init__ first"
            ) from None

    def _found(self, kind: type, holds: Callable[[Any], bool] = lambda _: True) -> tuple[Any, ...]:
        leaves = _leaves(self, lambda leaf: isinstance(leaf, kind) and holds(leaf), {id(self)})
        return tuple(leaves)

    @property
    def variables(self) -> tuple[Any, ...]:
        """All variables: those of its own attributes, in order of names, then of its modules."""
        return self._found(Variable)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The variables that are trained."""
        return self._found(Variable, lambda v: v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """The variables that are not trained."""
        return self._found(Variable, lambda v: not v.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """All modules inside of this one."""
        return self._found(Module)

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method that runs in the module's name scope."""

        @functools.wraps(method)
        def scoped(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _leaves(module: Any, holds: Callable[[Any], bool], seen: set[int]) -> Iterator[Any]:
    """Return the leaves of all attributes for which a condition holds, each once."""
    inner = []
    for _, attribute in sorted(vars(module).items()):
        try:
            leaves = flatten(attribute)
        except TypeError:  # a dict whose keys have no order holds no variables of the module
            continue
        for leaf in leaves:
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            if holds(leaf):
                yield leaf
            if isinstance(leaf, Module):
                inner.append(leaf)
    for part in inner:
        yield from _leaves(part, holds, seen)


# -- what tensors a function takes ----------------------------------------------------------------


class TypeSpec:
    """What is said of a value: its shape, its dtype and the like."""


@plain("TensorSpec")
class TensorSpec(TypeSpec):
    """A shape, of which not all need be known, and a dtype."""

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = any_dtype(dtype)
        self._name = name

    shape = property(attrgetter("_shape"), doc="The shape, with None for what may be any.")
    dtype = property(attrgetter("_dtype"), doc="The kind of numbers.")
    name = property(attrgetter("_name"), doc="The name.")

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """Return the specification that a tensor fits exactly."""
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """Return a specification like another."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Return whether a tensor fits."""
        return self._dtype == spec_or_tensor.dtype and self._shape.is_compatible_with(
            spec_or_tensor.shape
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"
