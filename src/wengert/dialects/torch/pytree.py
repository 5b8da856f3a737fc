"""torch.utils._pytree: nests of containers taken apart and put together, which libraries use."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any

from wengert.dialects.torch.table import put


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The place of a child in a list or a tuple."""

    idx: int


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """The place of a child in a dict."""

    key: Any


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The place of a child in a named tuple."""

    name: str


@dataclasses.dataclass(frozen=True)
class NodeDef:
    """How containers of a class are taken apart: into children and the rest, and back."""

    type: Any
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None


#: What is taken apart, by its class; other values are leaves, None too.
SUPPORTED_NODES: dict[Any, NodeDef] = {}


def register_pytree_node(
    cls: Any, flatten_fn: Any, unflatten_fn: Any, *, serialized_type_name: str | None = None,
    to_dumpable_context: Any = None, from_dumpable_context: Any = None,
    flatten_with_keys_fn: Any = None,
) -> None:  # fmt: skip
    """Have objects of a class be taken apart."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is registered already")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


register_pytree_node(list, lambda v: (list(v), None), lambda parts, _: list(parts))
register_pytree_node(tuple, lambda v: (list(v), None), lambda parts, _: tuple(parts))
register_pytree_node(deque, lambda v: (list(v), v.maxlen), deque)
register_pytree_node(namedtuple, lambda v: (list(v), type(v)), lambda parts, kind: kind(*parts))
for _kind in (dict, OrderedDict):
    register_pytree_node(
        _kind,
        lambda v: (list(v.values()), list(v)),
        lambda parts, keys, kind=_kind: kind(zip(keys, parts, strict=True)),
    )
register_pytree_node(
    defaultdict,
    lambda v: (list(v.values()), (v.default_factory, list(v))),
    lambda parts, rest: defaultdict(rest[0], zip(rest[1], parts, strict=True)),
)


def _keys_of(value: Any, count: int) -> list[Any]:
    """Return the places of the children of a container."""
    if isinstance(value, dict):
        return [MappingKey(key) for key in value]
    if hasattr(value, "_fields"):
        return [GetAttrKey(name) for name in value._fields]
    return [SequenceKey(place) for place in range(count)]


def node_type(tree: Any) -> Any:
    """Return the class by which a value is taken apart."""
    kind = type(tree)
    named = issubclass(kind, tuple) and hasattr(kind, "_fields") and kind not in SUPPORTED_NODES
    return namedtuple if named else kind


@dataclasses.dataclass
class TreeSpec:
    """The containers of a nest, without its leaves."""

    type: Any
    context: Any
    children_specs: list[TreeSpec]
    num_nodes: int = dataclasses.field(init=False, compare=False)
    num_leaves: int = dataclasses.field(init=False, compare=False)
    num_children: int = dataclasses.field(init=False, compare=False)

    def __post_init__(self) -> None:
        parts = self.children_specs
        self.num_children = len(parts)
        self.num_nodes = 1 + sum(part.num_nodes for part in parts)
        self.num_leaves = sum(part.num_leaves for part in parts) if self.type is not None else 1

    def is_leaf(self) -> bool:
        """Return whether there is no container."""
        return self.type is None

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Return a nest of these containers with some leaves."""
        return tree_unflatten(leaves, self)


IsLeaf = Callable[[Any], bool] | None


def tree_flatten_with_path(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a nest, each with its place, and the containers."""
    found: list[tuple[tuple[Any, ...], Any]] = []

    def walk(value: Any, path: tuple[Any, ...]) -> TreeSpec:
        kind = node_type(value)
        if (is_leaf is not None and is_leaf(value)) or kind not in SUPPORTED_NODES:
            found.append((path, value))
            return TreeSpec(None, None, [])
        node = SUPPORTED_NODES[kind]
        if node.flatten_with_keys_fn is not None:
            pairs, rest = node.flatten_with_keys_fn(value)
        else:
            children, rest = node.flatten_fn(value)
            parts = list(children)
            pairs = zip(_keys_of(value, len(parts)), parts, strict=True)
        return TreeSpec(kind, rest, [walk(part, (*path, key)) for key, part in pairs])

    return found, walk(tree, ())


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a nest, and the containers."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    return [leaf for _, leaf in found], spec


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """Return a nest of some containers with some leaves."""
    supply = list(leaves)
    if len(supply) != treespec.num_leaves:
        raise ValueError(f"got {len(supply)} leaves; expected {treespec.num_leaves}")
    return _unflatten(iter(supply), treespec)


def _unflatten(supply: Any, spec: TreeSpec) -> Any:
    if spec.type is None:
        return next(supply)
    parts = [_unflatten(supply, part) for part in spec.children_specs]
    return SUPPORTED_NODES[spec.type].unflatten_fn(parts, spec.context)


def _up_to(tree: Any, spec: TreeSpec) -> list[Any]:
    """Return the parts of a nest that are where another one has leaves."""
    if spec.type is None:
        return [tree]
    kind = node_type(tree)
    if kind is not spec.type:
        raise ValueError(f"nests differ: {tree!r:.80} is no {spec.type.__name__}")
    children, rest = SUPPORTED_NODES[kind].flatten_fn(tree)
    children = list(children)
    dicts = kind in (dict, OrderedDict, defaultdict)
    if len(children) != spec.num_children or (not dicts and rest != spec.context):
        raise ValueError(f"nests differ: {tree!r:.80} has other parts")
    if dicts:
        names = spec.context[1] if kind is defaultdict else spec.context
        if set(names) != set(tree):
            raise ValueError(f"nests differ: keys {list(tree)!r:.80} and {names!r:.80}")
        children = [tree[name] for name in names]
    pairs = zip(children, spec.children_specs, strict=True)
    return [leaf for part, inner in pairs for leaf in _up_to(part, inner)]


def tree_map(func: Any, tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """Return a nest with a function applied to its leaves, and to those of others of its form."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(_up_to(rest, spec) for rest in rests)]
    return tree_unflatten([func(*row) for row in zip(*columns, strict=True)], spec)


def tree_map_only(kinds: Any, func: Any, tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Return a nest with a function applied to those leaves that are of some classes."""
    return tree_map(lambda x: func(x) if isinstance(x, kinds) else x, tree, is_leaf=is_leaf)


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Return the leaves of a nest."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> TreeSpec:
    """Return the containers of a nest."""
    return tree_flatten(tree, is_leaf)[1]


for _value in (
    SequenceKey, MappingKey, GetAttrKey, NodeDef, TreeSpec, register_pytree_node, tree_flatten,
    tree_flatten_with_path, tree_unflatten, tree_map, tree_map_only, tree_leaves, tree_structure,
):  # fmt: skip
    put((f"utils._pytree.{_value.__name__}",), _value)
put(("utils._pytree.SUPPORTED_NODES",), SUPPORTED_NODES)
put(("utils._pytree._get_node_type",), node_type)
