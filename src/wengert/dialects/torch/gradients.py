"""backward and autograd.grad: sweeps from tensors to leaves, hooks, accumulation."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar, Token
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.dialects.quiet import Quiet
from wengert.dialects.torch import callbacks, explanations, memory
from wengert.dialects.torch import nodes as graph
from wengert.dialects.torch.modes import GRAD, PAUSED, Tracking, current, switched
from wengert.dialects.torch.tensors import (
    Leaf,
    Tensor,
    convert,
    is_unreached,
    made,
    marked,
    ns,
    outward,
    unreached,
)
from wengert.engine import cotangents as ct
from wengert.engine.node import NOBODY, Node, active, new_node, watching
from wengert.engine.op import LEAF, OUTPUT, Op
from wengert.engine.sweep import ancestors, reverse
from wengert.engine.tape import on_tensors
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.errors import users_frame
from wengert.transforms.vmap import vmap


class Running(NamedTuple):
    """A sweep that runs: what hooks and a program's own functions may ask about it."""

    nodes: list[Node]
    targets: list[Node]
    sources: set[Node]
    #: whether leaves get what is found, and whether a program has said which
    accumulates: bool
    chosen: bool
    #: whether functions of the program take part
    seen: bool
    #: leaves that have got theirs, and edges that a program's function gave None for
    done: set[Node]
    cut: set[tuple[Node, int]]
    #: what checkpoints have computed again for it
    recomputed: dict[Any, Any]


_VALUES, _OP, _CAPTURES = map(attrgetter, ("values", "op", "captures"))
#: The innermost sweep that runs in this thread.
running: ContextVar[Running | None] = ContextVar("wengert_torch_sweep", default=None)
_OUTERMOST = (None, Token.MISSING)
#: What is done to the nodes before a sweep, such as looking for NaN; it returns what undoes it.
observers: list[Callable[[list[Node]], Callable[[], None]]] = []


# -- hooks -----------------------------------------------------------------------------------------

_hook_ids = itertools.count()


class Handle:
    """What takes a hook away again."""

    def __init__(self, hooks: dict[int, Any]) -> None:
        self.id = next(_hook_ids)
        self._hooks = hooks

    @classmethod
    def of(cls, hooks: dict[int, Any], hook: Callable[..., Any], first: bool = False) -> Handle:
        """Add a hook behind others or before them, and return what takes it away."""
        handle, others = cls(hooks), dict(hooks) if first else {}
        if first:
            hooks.clear()
        hooks[handle.id] = hook
        hooks.update(others)
        return handle

    def remove(self) -> None:
        """Take the hook away."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


class Hooked(Op):
    """Has the program see, and perhaps replace, the gradient that comes by.

    A node that gets a hook gets this operation, and what it was goes behind it: so hooks work
    for what was computed from a tensor before they were registered.
    """

    family = "hook"
    captures = True

    def __init__(self) -> None:
        super().__init__("hook", ("x",), lambda xp, x: x, (lambda xp, g: g,))
        self.hooks: dict[int, Callable[[Any], Any]] = {}
        #: of a leaf, hooks of its AccumulateGrad: before it, after it, and once it has accumulated
        self.before: dict[int, Callable[[Any], Any]] = {}
        self.after: dict[int, Callable[[Any, Any], Any]] = {}
        self.accumulated: dict[int, Callable[[Any], Any]] = {}
        #: the tensor whose gradient is kept
        self.retains: Callable[[], Tensor | None] | None = None

    def pull_array(self, xp: Any, g: Any, node: Node, argument: int, values: Any) -> Any:
        """Return the cotangent, as the hooks leave it."""
        if is_unreached(node):
            return g
        tensor = shown(g)
        for hook in list(self.hooks.values()):
            tensor = answer_of(callbacks.call(hook, tensor), tensor)
        if self.retains is not None:
            keep = self.retains()
            if keep is not None:
                accumulate(keep, copied(tensor), in_place=False)
        sweep = running.get()
        if type(node) is Leaf and sweep is not None and sweep.accumulates:
            tensor = self.gather(node, tensor, sweep)
        return carried(xp, tensor)

    def gather(self, node: Leaf, tensor: Tensor, sweep: Running) -> Tensor:
        """Give a leaf its gradient now, so that hooks find it there, and return it."""
        inner, leaf = node.parent, node.owner()
        if leaf is None or inner not in sweep.sources:
            return tensor
        for hook in list(self.before.values()):
            answer = callbacks.call(hook, (tensor,))
            tensor = answer_of(answer[0] if isinstance(answer, tuple) else answer, tensor)
        sweep.done.add(inner)
        check_leaf(leaf)
        accumulate(leaf, copied(tensor))
        for done in list(self.accumulated.values()):
            if callbacks.call(done, leaf) is not None:
                raise RuntimeError("a post-accumulate hook returned a value; return None")
        for seen in list(self.after.values()):
            callbacks.call(seen, (), (tensor,))
        return tensor


def shown(g: Any) -> Any:
    """Return a cotangent, an array or a recorded tensor, as a program sees it; None stays."""
    if g is None:
        return None
    return made(g._raw, g._node) if type(g) is Native else made(np.asarray(g))


def carried(xp: Any, tensor: Any) -> Any:
    """Return a program's tensor as the cotangent that a sweep carries; None stays."""
    if tensor is None:
        return None
    return convert(tensor) if xp is ns else tensor._raw


def copied(tensor: Tensor) -> Tensor:
    """Return a tensor with memory of its own and the same node."""
    raw = tensor._raw
    return made(raw.copy() if type(raw) is np.ndarray else raw, tensor._node)


def answer_of(answer: Any, given: Tensor) -> Tensor:
    """Return what a hook wants in the place of the gradient that it was given."""
    if answer is None:
        return given
    if not isinstance(answer, Tensor):
        raise TypeError(f"a hook returned a '{type(answer).__name__}'; return a tensor or None")
    mine, theirs = answer._raw, given._raw
    if tuple(mine.shape) != tuple(theirs.shape) or mine.dtype != theirs.dtype:
        raise RuntimeError(
            f"a hook was given a gradient of shape {list(theirs.shape)} and {given.dtype}, and "
            f"returned one of {list(mine.shape)} and {answer.dtype}; keep both"
        )
    return answer


def hooked(node: Node) -> Hooked:
    """Return the operation with the hooks of a node, which gets one if it has none yet."""
    if type(node.op) is Hooked:
        return node.op
    inner: Any
    if type(node) is Leaf:
        # leaves stay what they are: operations lead to the node with the hooks
        inner = new_node(LEAF, None, 0, (), (), node.tokens, node.shape, node.dtype, Leaf)
        inner.owner = node.owner
    else:
        inner = graph.behind(node)
        inner.front = weakref.ref(node)
        node.label = inner.label
    inner.order = node.order - 0.5
    op = Hooked()
    node.op, node.parent, node.argument, node.values, node.others = op, inner, 0, (), ()
    return op


# -- accumulation ----------------------------------------------------------------------------------

_accumulating = threading.RLock()


def accumulate(tensor: Tensor, gradient: Tensor, in_place: bool = True) -> None:
    """Add a gradient to what a tensor has: to the same memory, or as a new tensor."""
    kind = tensor.grad_dtype
    if kind is not None and gradient._raw.dtype != kind.numpy:
        gradient = outward(ns.astype(convert(gradient), kind.numpy))
    with _accumulating:  # threads may sweep to the same leaf
        held = tensor._grad
        if held is None:
            tensor._grad = gradient
        elif in_place and GRAD not in current():
            _add_in_place(held, gradient)
        else:
            tensor._grad = outward(ns.add(convert(held), convert(gradient)))


def check_leaf(tensor: Tensor) -> None:
    """Raise if a tensor that was a leaf, and a view, was computed by a write to its base since."""
    if tensor._held is not None and not tensor.is_leaf:
        raise RuntimeError(
            f"a leaf of shape {list(tensor._raw.shape)} was used in a computation, and is a view "
            "whose base was written to since; write x.clone() for the base, or take the gradient "
            "before the write"
        )


def _add_in_place(held: Tensor, gradient: Tensor) -> None:
    if held._inference:
        memory.check_writable(held)
    raw, more = held._raw, gradient._raw
    plain = type(raw) is np.ndarray and type(more) is np.ndarray and raw.shape == more.shape
    if plain and raw.flags.writeable and 0 not in raw.strides:
        np.add(raw, more, out=raw)
        memory.note_write(raw)
    else:
        memory.overwrite(held, ns.add(convert(held), convert(gradient)))


def owning(taken: Sequence[Any], seen: bool = False) -> Callable[[Any], Tensor]:
    """Return a function from what a sweep found to tensors that share memory with nothing else.

    `seen` says that a program's functions may have kept any of it.
    """
    keys = {id(memory.owner(raw)) for raw in taken if type(raw) is np.ndarray}

    def own(g: Any) -> Tensor:
        raw, node = (g._raw, marked(g._node)) if type(g) is Native else (g, None)
        if isinstance(raw, np.generic):
            raw = np.asarray(raw)
        elif type(raw) is np.ndarray:
            if seen or id(raw) in keys or raw.base is not None or not raw.flags.writeable:
                raw = raw.copy()
            keys.add(id(raw))
        return made(raw, node)

    return own


# -- the sweep -------------------------------------------------------------------------------------


def check(nodes: list[Node], sources: set[Node] | None, accumulates: bool = False) -> None:
    """Raise if an earlier sweep has given up what this one needs, or a program overwrote it.

    As in PyTorch, a sweep that accumulates needs what its sources were computed from as well.
    """
    try:
        for node in nodes:
            if type(node.values) is graph.Freed:
                raise graph.freed_error(node)
        memory.check_unwritten(nodes)
    except RuntimeError:
        if sources is None:
            raise
        needed = set(graph.passed(nodes, sources))  # other nodes do not matter
        if accumulates:
            needed.update(graph.within(sources))
        check([node for node in nodes if node in needed], None)


def target_of(value: Any, seed: Any, position: int) -> Node:
    """Return the node that a sweep begins at, if it can and the seed for it is one."""
    raw = _given(value, position)._raw
    if seed is not None:
        if not isinstance(seed, Tensor):
            raise TypeError(f"a gradient is of type {type(seed).__name__}; give a tensor or None")
        mine, theirs = raw.dtype, seed._raw.dtype
        same_kind = mine is theirs or (mine.kind == "c") == (theirs.kind == "c")
        if tuple(seed._raw.shape) != tuple(raw.shape) or not same_kind:
            raise RuntimeError(
                f"gradient {position} has shape {list(seed._raw.shape)} and {seed.dtype}, and its "
                f"result has {list(raw.shape)} and {value.dtype}; give one number for each "
                "element, complex where the result is"
            )
    if not value.requires_grad:
        raise RuntimeError(
            f"result {position} does not require grad: no gradient leads from it to a leaf; it has "
            f"dtype {value.dtype} and shape {list(raw.shape)}{_why_cut(value)}"
        )
    if seed is None and (raw.dtype.kind == "c" or (raw.shape and np.prod(raw.shape) != 1)):
        raise RuntimeError(
            f"backward of a result of shape {list(raw.shape)} and {value.dtype} needs a gradient "
            "for each element; write .sum().backward() (of x.abs() or x.real, if it is complex), "
            "or give gradient="
        )
    node: Node = value._node
    return node


def _given(value: Any, position: int) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(f"argument {position} is a {type(value).__name__}; give a tensor")
    return value


def _why_cut(tensor: Tensor) -> str:
    if GRAD not in current():
        return "; grad mode is off here (torch.no_grad)"
    noted = None if watching.get() is None else explanations.cut_before(tensor)
    if noted is not None:
        return f"; {noted}"
    cut = explanations.cut_at(users_frame(), tensor)
    if cut:
        return f"; {cut} cut the path to it"
    if not backends.is_inexact(tensor._raw.dtype):
        return ", and only floating and complex numbers have gradients"
    return (
        "; it was made by detach(), under no_grad(), by an operation without a derivative, or from "
        "tensors none of which has requires_grad=True"
    )


def sweep(
    targets: list[Node], seeds: Sequence[Tensor], sources: set[Node] | None, keep: bool,
    create: bool, accumulates: bool = False,
) -> tuple[dict[Node, Any], Running]:  # fmt: skip
    """Return the dense cotangents of nodes; of all leaves if none are given.

    They are tensors of Wengert if they are recorded. With them comes what is known of the sweep.
    """
    nodes = ancestors(targets, GRAD)
    kept = set(map(type, map(_VALUES, nodes)))
    if graph.Freed in kept or memory.WRITTEN:
        check(nodes, sources, accumulates)
    wanted = {n for n in nodes if n.op is LEAF} if sources is None else sources
    seen = any(map(_CAPTURES, set(map(_OP, nodes))))
    if seen:
        nodes = _leaves_early(nodes)
    recording = switched(current(), create)
    # who does not record has no interest in what is computed on tensors
    interested = NOBODY if recording == PAUSED else recording
    recorded = on_tensors(nodes, seeds, interested)  # type: ignore[arg-type]  # like Wengert's
    xp: Any = ns if recorded else backends.NUMPY
    frame = users_frame()
    gone = graph.Freed()
    gone.code, gone.last = frame.f_code, frame.f_lasti
    this = Running(nodes, targets, wanted, accumulates, sources is not None, seen, set(), set(), {})
    token, mine = active.set(recording), running.set(this)
    undo: list[Callable[[], None]] = []

    def swept() -> dict[Node, Any]:
        with Quiet():
            start = graph.summed(xp, targets, [carried(xp, seed) for seed in seeds])
            cotangents = reverse(
                xp, nodes, start, wanted, recorded, None if keep else GRAD,
                free=graph.freeing(gone),
                skips_empty=False,  # hooks see zeros, and they are recorded
            )  # fmt: skip
            if this.cut:
                reached = _reached(this)
                cotangents = {node: g for node, g in cotangents.items() if node in reached}
            for node, g in cotangents.items():
                if type(g) is ct.Block:
                    cotangents[node] = g.todense(xp)
            return cotangents

    try:
        if graph.Packed in kept:
            undo.append(graph.unpacked(nodes))
        undo += [observe(nodes) for observe in list(observers)]
        answers = swept() if mine.old_value in _OUTERMOST else callbacks.with_room(swept)
    finally:
        for step in reversed(undo):
            step()
        active.reset(token)
        running.reset(mine)
    return answers, this


def _leaves_early(nodes: list[Node]) -> list[Node]:
    """Return nodes, newest first, with leaves as soon as nothing leads to them any more.

    It is then that PyTorch accumulates, and that hooks on leaves are called.
    """
    uses = Counter(parent for node in nodes for parent, _, _ in node.edges)
    ordered: dict[Node, None] = {}
    for newest in nodes:
        ready = [newest]
        while ready:
            node = ready.pop()
            if node in ordered:
                continue
            ordered[node] = None
            for parent, _, _ in reversed(node.edges):
                uses[parent] -= 1
                if not uses[parent] and type(parent) is Leaf:
                    ready.append(parent)
    return list(ordered)


def _reached(sweep: Running) -> set[Node]:
    """Return the nodes that gradients come to, where functions gave None for some arguments."""
    reached = set(sweep.targets)
    for node in sweep.nodes:
        if node in reached:
            reached.update(p for p, argument, _ in node.edges if (node, argument) not in sweep.cut)
    return reached


# -- what programs call ----------------------------------------------------------------------------


def _sequence(value: Any) -> list[Any]:
    if type(value) is tuple or type(value) is list:
        return list(value)
    if isinstance(value, Tensor):
        return [value]
    return list(value.values() if isinstance(value, Mapping) else value)


def _named(inputs: Any, name: str) -> list[Any]:
    tensors = _sequence(inputs)
    if not tensors:
        raise RuntimeError(f"{name}: inputs is empty; name one tensor at least")
    return tensors


def _paired(targets: list[Any], given: Any, what: str) -> list[Any]:
    seeds = [None] * len(targets) if given is None else _sequence(given)
    if len(seeds) < len(targets):
        raise RuntimeError(f"got {len(targets)} {what} and {len(seeds)} gradients; give one each")
    return seeds[: len(targets)]


def _seeded(targets: list[Any], given: list[Any]) -> tuple[list[Node], list[Tensor]]:
    """Return where a sweep begins, and with what: the given gradients, or ones for scalars."""
    nodes = [target_of(t, s, i) for i, (t, s) in enumerate(zip(targets, given, strict=True))]
    seeds = [
        made(np.ones(node.shape, node.dtype)) if seed is None else seed
        for node, seed in zip(nodes, given, strict=True)
    ]
    return nodes, seeds


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, inputs: Any = None,
) -> None:  # fmt: skip
    """Add the gradients of tensors to the leaves that they were computed from."""
    targets = _sequence(tensors)
    sources: set[Node] | None = None
    swept = None
    if inputs is not None:
        chosen = _named(inputs, "backward")
        for tensor in chosen:
            if isinstance(tensor, Tensor) and not tensor.is_leaf:
                retain_grad(tensor)
        sources = {behind_hooks(source_of(t, i)) for i, t in enumerate(chosen)}
        swept = sources.union(*map(_seen_parents, sources))
    nodes, seeds = _seeded(targets, _paired(targets, grad_tensors, "tensors"))
    keep = create_graph if retain_graph is None else retain_graph
    cotangents, done = sweep(nodes, seeds, swept, keep, create_graph, True)
    own = owning([s._raw for s in seeds], done.seen)
    after = active.set(switched(current(), create_graph))
    try:
        with Quiet():
            for node, g in cotangents.items():
                if sources is not None and node not in sources:
                    continue
                if type(node) is Leaf and node not in done.done:
                    owner = node.owner()
                    if owner is not None:
                        check_leaf(owner)
                        accumulate(owner, own(g))
    finally:
        active.reset(after)
    watcher = watching.get()
    if watcher is not None:
        owners = [(node.owner(), g) for node, g in cotangents.items() if type(node) is Leaf]
        known = [(owner, g) for owner, g in owners if owner is not None]
        found = [g if type(g) is Native else wrap_native(g) for _, g in known]
        watcher.asked(targets, [owner for owner, _ in known], found)


def _seen_parents(node: Node) -> list[Node]:
    """Return the parents of a node whose rule the program sees run: it runs for an input as well.

    So it is in PyTorch, where gradients are accumulated before the input's own node runs.
    """
    if node.op is OUTPUT and node.parent is not None:
        node = node.parent
    return [parent for parent, _, _ in node.edges] if node.op.captures else []


def retain_grad(tensor: Tensor) -> None:
    """Have a tensor that was computed keep its gradient as leaves do."""
    if not tensor.requires_grad:
        raise RuntimeError("retain_grad() needs a gradient; write x.requires_grad_() first")
    if not tensor.is_leaf and not tensor._retains:
        node = memory.look_at(tensor)
        assert node is not None
        hooked(node).retains = weakref.ref(tensor)
        tensor._retains = True


def move_retained(tensor: Tensor, before: Node | None) -> None:
    """Have a tensor that keeps its gradient, and was written to, keep that of what it is now.

    One that got another shape in place goes on to keep that of what it was before.
    """
    if before is None or type(before.op) is not Hooked or before.op.retains is None:
        return
    before.op.retains = None
    tensor._retains = False
    if tensor.requires_grad:
        retain_grad(tensor)


def source_of(value: Any, position: int) -> Node:
    """Return the node at which a tensor's gradient is found, or that of its hooks."""
    node = value._node if isinstance(value, Tensor) else _given(value, position)._node
    if node is None or GRAD not in node.tokens:
        raise RuntimeError(
            f"input {position}, of shape {list(value._raw.shape)}, requires no gradient; write "
            "x.requires_grad_() before the computation"
        )
    # nothing leads to a view that no gradients come to
    return unreached(value) if is_unreached(node) else node


def behind_hooks(node: Node) -> Node:
    """Return a node, or the one behind it if it has hooks."""
    if type(node.op) is not Hooked:
        return node
    assert node.parent is not None
    return node.parent


def captured(nodes: list[Node]) -> list[Node]:
    """Return where `grad` finds its answers.

    As in PyTorch that is after a tensor's hooks, and before them if the sweep goes on behind it.
    """
    if Hooked not in map(type, map(_OP, nodes)):
        return nodes
    inner = [behind_hooks(node) for node in nodes]
    sources = list(inner)
    for k, node in enumerate(nodes):
        if node is not inner[k] and type(node) is not Leaf and len(nodes) > 1:
            older = set(ancestors([inner[k]], GRAD)) - {inner[k]}
            if not older.isdisjoint(inner):
                sources[k] = node
    return sources


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, only_inputs: bool = True, allow_unused: bool | None = None,
    is_grads_batched: bool = False, materialize_grads: bool = False,
) -> Any:  # fmt: skip
    """Return the gradients of outputs with respect to inputs, which keep theirs."""
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "grad: materialize_grads=True allows unused inputs; leave allow_unused out"
        )
    targets, wanted = _sequence(outputs), _named(inputs, "grad")
    given = _paired(targets, grad_outputs, "outputs")
    keep = create_graph if retain_graph is None else retain_graph
    sources = captured([source_of(t, i) for i, t in enumerate(wanted)])
    seen = False
    if is_grads_batched:
        cotangents = _batched(targets, given, sources, keep, create_graph)
    else:
        nodes, seeds = _seeded(targets, given)
        cotangents, done = sweep(nodes, seeds, set(sources), keep, create_graph)
        seen = done.seen
    answers: list[Any] = []
    own = owning([s._raw for s in given if s is not None], seen)
    for position, node in enumerate(sources):
        g = cotangents.get(node)
        if g is not None:
            answers.append(own(g))
        elif materialize_grads:
            zeros = made(np.zeros(node.shape, node.dtype))
            answers.append(zeros.requires_grad_(create_graph))
        elif allow_unused:
            answers.append(None)
            if watching.get() is not None:
                explanations.tell_none(targets, wanted[position], position)
        else:
            raise RuntimeError(
                f"no result depends on input {position}, of shape {list(node.shape)}. Set "
                "allow_unused=True for None in its place, or materialize_grads=True for zeros."
            )
    if type(inputs) is not tuple and isinstance(inputs, Mapping):
        return dict(zip(inputs, answers, strict=True))
    return tuple(answers)


def _batched(
    targets: list[Any], given: list[Any], sources: list[Node], keep: bool, create: bool
) -> dict[Node, Any]:
    """Return the gradients for many seeds at once, each with a first axis for them."""
    if any(g is None for g in given):
        raise RuntimeError("is_grads_batched=True needs grad_outputs, with a first axis for them")
    order: list[Node] = []

    def one(*parts: Any) -> list[Any]:
        nodes, seeds = _seeded(targets, [outward(p) for p in parts])
        cotangents, _ = sweep(nodes, seeds, set(sources), keep, create)
        order[:] = [node for node in dict.fromkeys(sources) if node in cotangents]
        return [cotangents[node] for node in order]

    with Tracking():
        answers = vmap(one)(*map(convert, given))
    return dict(zip(order, answers, strict=True))


__all__ = ["backward", "grad", "retain_grad"]
