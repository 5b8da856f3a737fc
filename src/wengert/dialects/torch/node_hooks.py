"""Hooks on tensors and on the nodes that computed them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from wengert.backends import is_inexact
from wengert.dialects.torch import callbacks, grad_fns, gradients, memory
from wengert.dialects.torch.gradients import Handle, Hooked
from wengert.dialects.torch.nodes import is_shown, join_inner
from wengert.dialects.torch.table import plain
from wengert.dialects.torch.tensors import Leaf, Tensor, label_of, ns
from wengert.engine.cotangents import Block, fit
from wengert.engine.node import Edge, Node
from wengert.engine.op import OUTPUT, Op
from wengert.engine.sweep import recorded_edges

# -- around the rule of a node -------------------------------------------------------------------


class Around(Op):
    """An operation whose cotangents are looked at, all arguments' at once."""

    captures = True

    def __init__(self, inner: Op) -> None:
        self.__dict__.update({k: v for k, v in inner.__dict__.items() if k != "pull"})
        self.inner = inner
        self.family, self.sees_unused = inner.family, inner.sees_unused
        self.batch = inner.batch

    def pull(
        self, xp: Any, g: Any, node: Node, edges: Sequence[Edge], sweep: Any = None
    ) -> Sequence[Any]:
        """Return the cotangents, as whoever looks at those of all arguments leaves them."""
        found = self.all_of(xp, g.todense(xp) if type(g) is Block else g, node)
        return [found.get(argument) for _, argument, _ in edges]

    def all_of(self, xp: Any, g: Any, node: Node) -> dict[int, Any]:
        """Return the cotangents of all arguments that have an edge."""
        edges: Sequence[Edge] = recorded_edges(node, node.edges) if xp is ns else node.edges
        found = {}
        for (parent, argument, _), part in zip(
            edges, self.inner.pull(xp, g, node, edges), strict=True
        ):
            if part is not None:
                part = fit(xp, self.inner, part, parent)
                found[argument] = part.todense(xp) if type(part) is Block else part
        return found

    def __getattr__(self, name: str) -> Any:
        """Return what a program's function has: its `context`, and `release`."""
        if name in ("context", "release"):
            return getattr(self.inner, name)
        raise AttributeError(name)


#: The order in which PyTorch's affine maps take their arguments.
_BIAS_FIRST = (2, 0, 1)


class NodeHooks(Around):
    """An operation with hooks before and after its rule."""

    def __init__(self, inner: Op) -> None:
        super().__init__(inner)
        self.before: dict[int, Callable[[Any], Any]] = {}
        self.after: dict[int, Callable[[Any, Any], Any]] = {}
        #: references to the nodes with hooks on single results, where there are several
        self.fronts: dict[int, Any] = {}

    def all_of(self, xp: Any, g: Any, node: Node) -> dict[int, Any]:
        """Return the cotangents of all arguments, as the hooks leave them."""
        several = type(g) is list
        for position, front in self.fronts.items():
            if several and g[position] is None:
                _call_without(front())
        parts = list(g) if several else [g]
        seen = _counted(self, node) if several else range(1)
        results = tuple(gradients.shown(parts[k]) for k in seen)
        for before in list(self.before.values()):
            results = _answers(callbacks.call(before, results), results)
        for k, result in zip(seen, results, strict=True):
            parts[k] = gradients.carried(xp, result)
            if several and result is None and not self.sees_unused:
                parts[k] = xp.zeros(node.shape[k], dtype=node.dtype[k])
        found = {}
        if any(result is not None for result in results):
            found = super().all_of(xp, parts if several else parts[0], node)
        count = max([len(self.args), *[a + 1 for _, a, _ in node.edges]])
        order = _BIAS_FIRST if label_of(node) == "AddmmBackward0" and count == 3 else range(count)
        arguments = tuple(gradients.shown(found.get(k)) for k in order)
        for after in list(self.after.values()):
            arguments = _answers(callbacks.call(after, arguments, results), arguments)
        sweep = gradients.running.get()
        if sweep is not None:
            sweep.cut.update((node, k) for k, t in zip(order, arguments, strict=True) if t is None)
        pairs = zip(order, arguments, strict=True)
        return {k: gradients.carried(xp, t) for k, t in pairs if t is not None}


def _counted(op: NodeHooks, node: Node) -> Sequence[int]:
    """Return which of several results hooks see: all of a program's function, or all floats."""
    every = range(len(node.shape))
    return every if hasattr(op, "context") else [k for k in every if is_inexact(node.dtype[k])]


def _answers(answer: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the gradients that a hook wants in the place of those that it was given.

    None for one of them means that there is none.
    """
    if answer is None:
        return given
    parts = answer if isinstance(answer, tuple) else (answer,)
    if len(parts) != len(given):
        raise RuntimeError(
            f"a hook was given {len(given)} gradients and returned {len(parts)}; return one for "
            "each"
        )
    if any(g is None and a is not None for a, g in zip(parts, given, strict=True)):
        raise _made_up()
    return tuple(
        None if a is None else gradients.answer_of(a, g) for a, g in zip(parts, given, strict=True)
    )


def _made_up() -> RuntimeError:
    return RuntimeError("a hook was given None, for no gradient, and returned one; return None")


def _call_without(front: Node | None) -> None:
    """Call the hooks on a result that no gradient comes to, while one comes to another result."""
    if front is not None and type(front.op) is Hooked:
        for hook in list(front.op.hooks.values()):
            if callbacks.call(hook, None) is not None:
                raise _made_up()


def hooks_of(node: Node, inner: Node) -> Hooked | NodeHooks:
    """Return the hooks around a node's rule, `inner` being the node behind hooks on its tensor."""
    if type(node) is Leaf:
        return gradients.hooked(node)
    if type(inner.op) is not NodeHooks:
        if not hasattr(inner, "label"):
            inner.label = label_of(inner)
        if inner.label != "AddmmBackward0" and not all(
            is_shown(parent) for parent, _, _ in inner.edges
        ):
            join_inner(inner)
        inner.op = NodeHooks(inner.op)
    return inner.op


@plain(
    "Tensor.register_hook",
    differs="after `t_()` and the like a new hook sees the gradient of the new shape, also if the "
    "tensor had hooks before, whose place PyTorch gives it",
)
def register_hook(tensor: Tensor, hook: Callable[[Any], Any]) -> Handle:
    """Have a function called with each gradient of a tensor; it may return another."""
    if not tensor.requires_grad:
        raise RuntimeError("this tensor gets no gradient for a hook; write x.requires_grad_()")
    node = memory.look_at(tensor, again=True)
    assert node is not None
    handle = Handle.of(gradients.hooked(node).hooks, hook)
    if _is_one_of_several(node):
        shown, position = grad_fns.seen(node)
        whole = shown.joined()
        around = hooks_of(whole, whole)
        assert type(around) is NodeHooks
        around.fronts[position] = weakref.ref(node)
    return handle


def _is_one_of_several(node: Node) -> bool:
    """Return whether PyTorch has one node for a result, whose hooks these are, and for others."""
    inner = gradients.behind_hooks(node)
    if inner.op is not OUTPUT or inner.parent is None:
        return hasattr(node, "results")
    op = inner.parent.op  # others with several results are several nodes of PyTorch's
    joined = op.family == "joint" or hasattr(op, "context")
    return joined or label_of(node).startswith("Linalg")


@plain("Tensor.register_post_accumulate_grad_hook")
def register_post_accumulate_grad_hook(tensor: Tensor, hook: Callable[[Any], Any]) -> Handle:
    """Have a function called with a leaf once a gradient was added to its `.grad`."""
    if not tensor.requires_grad:
        raise RuntimeError("this tensor gets no gradient for a hook; write x.requires_grad_()")
    if not tensor.is_leaf or tensor._node is None:
        raise RuntimeError(
            "only leaves accumulate a gradient, and this tensor was computed; write "
            "x.register_hook(hook) for its gradient"
        )
    return Handle.of(gradients.hooked(tensor._node).accumulated, hook)
