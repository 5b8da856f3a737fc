"""Dual numbers: tensors with tangents, which operations carry along.

A tangent is computed when it is asked for, by a forward sweep over what was recorded since.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from wengert import backends
from wengert.dialects.torch.axes import misfit
from wengert.dialects.torch.modes import Tracking, current
from wengert.dialects.torch.table import plain
from wengert.dialects.torch.tensors import Tensor, astype, check_differentiable, convert, made
from wengert.engine.node import NOBODY, Node, Tokens, active, new_node
from wengert.engine.op import ALIAS, LEAF
from wengert.engine.tape import Part, Tape
from wengert.engine.tensor import wrap
from wengert.explain.tangents import push


@plain("autograd.forward_ad.UnpackedDualTensor")
class UnpackedDualTensor(NamedTuple):
    """A tensor and its tangent; None if it has none."""

    primal: Any
    tangent: Any


class _Level:
    """What was made dual since a level was entered."""

    def __init__(self) -> None:
        self.tape = Tape(persistent=True, watch_accessed_variables=False)
        self.duals: list[Part] = []
        self.tangents: list[Any] = []
        #: the program's tangents, by the nodes of what it made dual
        self.given: dict[Node, Tensor] = {}
        self.before: Tokens = active.get()
        active.set(current() | {self.tape._token})

    def leave(self) -> None:
        active.set(self.before or NOBODY)
        self.tape._retire()


_levels: list[_Level] = []


@plain("autograd.forward_ad.enter_dual_level")
def enter_dual_level() -> int:
    """Begin a level of dual numbers, and return its number."""
    if _levels:
        raise RuntimeError("a level of forward mode is open already; use torch.func.jvp")
    _levels.append(_Level())
    return len(_levels) - 1


@plain("autograd.forward_ad.exit_dual_level")
def exit_dual_level(*, level: int | None = None) -> None:
    """End the level of dual numbers that was begun last."""
    if not _levels:
        raise RuntimeError("there is no dual level to exit; write `with dual_level():`")
    if level is not None and level != len(_levels) - 1:
        raise RuntimeError(f"level {level} is left, and the one entered last is {len(_levels) - 1}")
    _levels.pop().leave()


@plain("autograd.forward_ad.dual_level")
@contextlib.contextmanager
def dual_level() -> Iterator[int]:
    """Return a context in which there are dual numbers."""
    level = enter_dual_level()
    try:
        yield level
    finally:
        exit_dual_level(level=level)


def _check_level(level: int | None) -> None:
    if level is not None and not 0 <= level < max(len(_levels), 1):
        raise RuntimeError(f"there is no dual level {level}; leave level= out, or give 0")


@plain("autograd.forward_ad.make_dual")
def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Tensor:
    """Return a tensor with a tangent."""
    if not _levels:
        raise RuntimeError("make_dual: no dual level is open; write `with dual_level():`")
    _check_level(level)
    for value, name in ((tensor, "tensor"), (tangent, "tangent")):
        if not isinstance(value, Tensor):
            raise TypeError(f"make_dual: {name} is a {type(value).__name__}; give a tensor")
        if not backends.is_inexact(value._raw.dtype):
            raise ValueError(
                f"{name} has dtype {value.dtype}, which has no derivative; write x.float()"
            )
    if tensor._raw.shape != tangent._raw.shape:
        raise misfit("make_dual", "one shape", tensor=tensor, tangent=tangent)
    check_differentiable(tensor._raw.dtype)
    here = _levels[-1]
    for value, name in ((tensor, "tensor"), (tangent, "tangent")):
        if value._node is not None and here.tape._token in value._node.tokens:
            raise RuntimeError(
                f"make_dual: {name} is dual at this level already; write unpack_dual(x).primal"
            )
    before = tensor._node
    tokens = frozenset({here.tape._token}) | (before.tokens if before is not None else NOBODY)
    shape, dtype = tuple(tensor._raw.shape), tensor._raw.dtype
    node = new_node(LEAF if before is None else ALIAS, before, 0, (), (), tokens, shape, dtype)
    if before is not None:
        node.label = "ViewBackward0"
    here.duals.append(Part(wrap(tensor._raw, node), node))
    here.tangents.append(astype(convert(tangent), dtype))
    here.given[node] = tangent
    return made(tensor._raw, node)


@plain("autograd.forward_ad.unpack_dual")
def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """Return a tensor without its tangent, and the tangent."""
    node = tensor._node
    if not _levels or node is None or _levels[-1].tape._token not in node.tokens:
        return UnpackedDualTensor(tensor, None)
    _check_level(level)
    here = _levels[-1]
    tangent = here.given.get(node)
    if tangent is None:
        with Tracking():
            (pushed,) = push(here.tape, here.duals, here.tangents, [convert(tensor)])
        tangent = None if pushed is None else made(pushed._raw, pushed._node)
    rest = node.tokens - {here.tape._token}
    primal = made(tensor._raw)
    if rest:
        primal._node = new_node(ALIAS, node, 0, (), (), rest, node.shape, node.dtype)
        primal._node.label = "ViewBackward0"
    return UnpackedDualTensor(primal, tangent)
