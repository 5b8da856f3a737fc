"""Nested lists, tuples, dicts and dataclasses of tensors, taken apart and put together."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

Rebuild = Callable[[Iterable[Any]], Any]


def flatten(tree: Any) -> tuple[list[Any], Rebuild]:
    """Return the leaves of a tree, and a function from new leaves to a tree like it."""
    if _is_tensor(tree) or hasattr(type(tree), "__wengert_selection__"):
        return [tree], lambda leaves: next(iter(leaves))
    if type(tree) in (list, tuple) and not [1 for leaf in tree if not hasattr(leaf, "_raw")]:
        return list(tree), type(tree)
    import optree  # 15 ms to import, for programs that have trees

    leaves, spec = optree.tree_flatten(tree, none_is_leaf=True)
    if not any(is_record(leaf) for leaf in leaves):
        return leaves, lambda new: optree.tree_unflatten(spec, new)
    parts = [_flatten_record(leaf) if is_record(leaf) else ([leaf], None) for leaf in leaves]

    def rebuild(new: Iterable[Any]) -> Any:
        supply = iter(new)
        return optree.tree_unflatten(
            spec,
            [
                next(supply) if make is None else make([next(supply) for _ in inner])
                for inner, make in parts
            ],
        )

    return [leaf for inner, _ in parts for leaf in inner], rebuild


def _is_tensor(leaf: Any) -> bool:
    return hasattr(leaf, "_raw")


def is_record(leaf: Any) -> bool:
    """Return whether a leaf is a dataclass, whose fields are leaves."""
    return hasattr(type(leaf), "__dataclass_fields__")  # `is_dataclass`, but not of classes


def _flatten_record(record: Any) -> tuple[list[Any], Rebuild]:
    values = {f.name: getattr(record, f.name) for f in dataclasses.fields(record)}
    leaves, rebuild = flatten({k: v for k, v in values.items() if not is_setting(v)})

    def remake(new: Iterable[Any]) -> Any:
        twin = copy.copy(record)  # without its __init__, which may compute
        for name, value in rebuild(new).items():
            object.__setattr__(twin, name, value)
        return twin

    return leaves, remake


def is_setting(value: Any) -> bool:
    """Whether a field of a record has no derivative and stays as it is."""
    return value is None or isinstance(value, (str, bytes, bool, int)) or callable(value)


def paths(tree: Any) -> list[Any]:
    """Return where the leaves of a tree are: keys and positions from the outside in."""
    if _is_tensor(tree):
        return [()]
    import optree

    return optree.tree_paths(tree, none_is_leaf=True)


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """Return a tree like `tree` with `function` applied to each leaf."""
    leaves, rebuild = flatten(tree)
    return rebuild([function(leaf) for leaf in leaves])


def flat(tree: Any) -> tuple[list[Any], Any]:
    """Return the leaves of a tree without a look into records, and its form, which can be a key."""
    import optree

    return optree.tree_flatten(tree, none_is_leaf=True)


def structure(tree: Any) -> Any:
    """Return what two trees have in common that differ in their leaves only; it can be a key."""
    if _is_tensor(tree):
        return None
    leaves, spec = flat(tree)
    records = {k: _settings(leaf) for k, leaf in enumerate(leaves) if is_record(leaf)}
    return spec, tuple(records.items())


def _settings(record: Any) -> Any:
    """Return the class of a record, and what its fields are or have the structure of."""
    values = {f.name: getattr(record, f.name) for f in dataclasses.fields(record)}
    fields = [(k, v) if is_setting(v) else (k, structure(v)) for k, v in values.items()]
    return type(record), tuple(fields)
