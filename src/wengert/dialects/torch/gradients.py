"""backward and autograd.grad: sweeps from tensors to leaves, hooks on the way, accumulation."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.torch import memory
from wengert.dialects.torch.modes import GRAD, current, switched
from wengert.dialects.torch.tensors import (
    Leaf,
    Tensor,
    convert,
    label_of,
    line_at,
    line_of,
    made,
    ns,
    outward,
    users_frame,
)
from wengert.engine import cotangents as ct
from wengert.engine.node import LEAF, OUTPUT, Node, Op, active
from wengert.engine.sweep import ancestors, reverse
from wengert.engine.tape import on_tensors
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native


class Freed(tuple[Any, ...]):
    """What is left of an entry's values after a sweep has used them: where that was."""

    code: Any = None
    last: int = 0


# -- hooks -----------------------------------------------------------------------------------------

_hook_ids = itertools.count()


class Handle:
    """What takes a hook away again."""

    def __init__(self, hooks: dict[int, Any]) -> None:
        self.id = next(_hook_ids)
        self._hooks = hooks

    def remove(self) -> None:
        """Take the hook away."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


class Hooked(Op):
    """A place where the program sees, and may replace, the gradient that comes by.

    An entry that gets a hook becomes such a place, and what it was goes behind it: so hooks work
    for what was computed from a tensor before they were registered.
    """

    family = "hook"
    captures = True

    def __init__(self) -> None:
        super().__init__("hook", ("x",), lambda xp, x: x, (lambda xp, g: g,))
        self.hooks: dict[int, Callable[[Any], Any]] = {}
        #: the tensor whose gradient is kept
        self.retains: Callable[[], Tensor | None] | None = None

    def pull(self, xp: Any, g: Any, node: Node, argument: int, values: Any) -> Any:
        """Return the cotangent, as the hooks leave it."""
        recorded = type(g) is Native
        tensor = made(g._raw, g._node) if recorded else made(g)
        for hook in list(self.hooks.values()):
            answer = hook(tensor)
            if answer is not None:
                _check_answer(answer, tensor)
                tensor = answer
        if self.retains is not None:
            keep = self.retains()
            if keep is not None:
                accumulate(keep, made(tensor._raw.copy(), tensor._node))
        return convert(tensor) if recorded else tensor._raw


def _check_answer(answer: Any, given: Tensor) -> None:
    if not isinstance(answer, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(answer).__name__}'")
    if answer._raw.shape != given._raw.shape:
        raise RuntimeError(
            f"hook has changed the size of value: it was given shape {list(given._raw.shape)} and "
            f"returned {list(answer._raw.shape)}"
        )
    if answer._raw.dtype != given._raw.dtype:
        raise RuntimeError(
            f"hook has changed the type of value: it was given {given.dtype} and returned "
            f"{answer.dtype}"
        )


def hooked(tensor: Tensor) -> Hooked:
    """Return the place for hooks on a tensor's gradient, which is made if there is none yet."""
    node = tensor._node
    assert node is not None
    if type(node.op) is Hooked:
        return node.op
    inner: Node
    if type(node) is Leaf:
        # leaves stay what they are: the place is the entry that operations lead to
        inner = Leaf(LEAF, None, 0, (), (), node.tokens, node.shape, node.dtype)
        inner.owner = node.owner
        inner.order = node.order - 0.5  # type: ignore[assignment]
    else:
        inner = Node(
            node.op, node.parent, node.argument, node.values, node.others, node.tokens,
            node.shape, node.dtype,
        )  # fmt: skip
        inner.order = node.order - 0.5  # type: ignore[assignment]
        inner.label = label_of(node)
        if hasattr(node, "code"):
            inner.code, inner.last = node.code, node.last
        node.label = inner.label
    place = Hooked()
    node.op, node.parent, node.argument, node.values, node.others = place, inner, 0, (), ()
    return place


def register_hook(tensor: Tensor, hook: Callable[[Any], Any]) -> Handle:
    """Have a function called with each gradient of a tensor; it may return another."""
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    place = hooked(tensor)
    handle = Handle(place.hooks)
    place.hooks[handle.id] = hook
    return handle


# -- accumulation ----------------------------------------------------------------------------------


def accumulate(tensor: Tensor, gradient: Tensor) -> None:
    """Add a gradient to what a tensor has."""
    if gradient._raw.dtype != tensor._raw.dtype:
        gradient = outward(ns.astype(convert(gradient), tensor._raw.dtype))
    if tensor._grad is None:
        tensor._grad = gradient
    elif gradient._node is None and GRAD not in current():
        memory.overwrite(tensor._grad, ns.add(convert(tensor._grad), convert(gradient)))
    else:
        tensor._grad = outward(ns.add(convert(tensor._grad), convert(gradient)))


class Own:
    """Gives out gradients that share memory with nothing else."""

    def __init__(self, taken: Sequence[Any]) -> None:
        self._taken = {id(memory.owner(raw)) for raw in taken if type(raw) is np.ndarray}

    def __call__(self, g: Any) -> Any:
        if type(g) is not np.ndarray:
            return g
        key = id(memory.owner(g))
        if key in self._taken or g.base is not None or not g.flags.writeable:
            g = g.copy()
            key = id(g)
        self._taken.add(key)
        return g


# -- the sweep -------------------------------------------------------------------------------------


def free(node: Node) -> None:
    """Give up the arrays that an entry keeps; one that keeps none can be swept again."""
    values = node.values
    if not values and not node.others:
        return
    if type(values) is Freed or not memory.keeps_arrays(node):
        return
    gone = _place[-1]
    node.values = gone
    if node.others:
        node.others = tuple([(parent, argument, gone) for parent, argument, _ in node.others])


#: What the sweeps that run now leave in place of values.
_place: list[Freed] = []


def check_kept(entries: Sequence[Node]) -> None:
    """Raise if an earlier sweep has given up what this one needs."""
    for node in entries:
        if type(node.values) is Freed:
            raise RuntimeError(
                "Trying to backward through the graph a second time: "
                f"{label_of(node)} of {line_of(node)} gave up its saved tensors in the backward at "
                f"{line_at(node.values.code, node.values.last)}; write retain_graph=True there"
            )


def seeds_of(
    tensors: Sequence[Tensor], given: Sequence[Any], batched: bool = False
) -> list[Tensor]:
    """Return the gradients that a sweep begins with: the given ones, or ones for scalars."""
    seeds = []
    for position, (tensor, seed) in enumerate(zip(tensors, given, strict=True)):
        if seed is None:
            if not tensor.requires_grad:
                explain_no_grad(tensor, position)
            if tensor._raw.shape and np.prod(tensor._raw.shape) != 1:
                raise RuntimeError(
                    "grad can be implicitly created only for scalar outputs, and this one has "
                    f"shape {list(tensor._raw.shape)}; write .sum().backward(), or give gradient="
                )
            if tensor._raw.dtype.kind == "c":
                raise RuntimeError(
                    "grad can be implicitly created only for real scalar outputs but got "
                    f"{tensor.dtype}; write x.abs() or x.real, or give gradient="
                )
            seed = made(np.ones(tensor._raw.shape, tensor._raw.dtype))
        if not isinstance(seed, Tensor):
            raise TypeError(
                f"gradients can be either Tensors or None, but got {type(seed).__name__}"
            )
        if not batched and tuple(seed._raw.shape) != tuple(tensor._raw.shape):
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{position}] has a shape of "
                f"{list(seed._raw.shape)} and output[{position}] has a shape of "
                f"{list(tensor._raw.shape)}; give one number for each element"
            )
        if (seed._raw.dtype.kind == "c") != (tensor._raw.dtype.kind == "c"):
            raise RuntimeError(
                "For complex Tensors, both grad_output and output are required to have the same "
                f"dtype; got {seed.dtype} and {tensor.dtype}"
            )
        if not tensor.requires_grad:
            explain_no_grad(tensor, position)
        seeds.append(seed)
    return seeds


def explain_no_grad(tensor: Tensor, position: int = 0) -> None:
    """Raise an error about a tensor that no gradient can start from."""
    raise RuntimeError(
        f"element {position} of tensors does not require grad and does not have a grad_fn; it has "
        f"dtype {tensor.dtype} and shape {list(tensor._raw.shape)}{_why_cut(tensor)}"
    )


def _why_cut(tensor: Tensor) -> str:
    if tensor._raw.dtype.kind not in "fc":
        return ", and only floating and complex numbers have gradients"
    if GRAD not in current():
        return "; grad mode is off here (torch.no_grad)"
    return (
        "; it was made by detach(), under no_grad(), by an operation without a derivative, or from "
        "tensors none of which has requires_grad=True"
    )


def sweep(
    tensors: Sequence[Tensor],
    seeds: Sequence[Tensor],
    sources: Sequence[Node] | None,
    keep: bool,
    create: bool,
) -> dict[Node, Any]:
    """Return the cotangents of entries, as tensors of Wengert; of all leaves if none are given."""
    nodes: list[Any] = [t._node for t in tensors]
    entries = ancestors(nodes, GRAD)
    check_kept(entries)
    memory.check_unwritten(entries)
    if sources is None:
        wanted = {n for n in entries if n.op is LEAF}
        # a place that keeps a gradient is wanted too, though it is no leaf
        wanted.update(n for n in entries if type(n.op) is Hooked and n.op.retains is not None)
    else:
        wanted = set(sources)
    before = current()
    recording = switched(before, create)
    recorded = on_tensors(entries, [convert(s) for s in seeds], recording)
    xp: Any = ns if recorded else backends.NUMPY
    start: dict[Node, Any] = {}
    for node, seed in zip(nodes, seeds, strict=True):
        g: Any = convert(seed) if recorded else seed._raw
        if g.dtype != node.dtype:
            g = ns.astype(g, node.dtype) if recorded else g.astype(node.dtype)
        start[node] = ct.add(xp, start[node], g) if node in start else g
    frame = users_frame()
    gone = Freed()
    gone.code, gone.last = frame.f_code, frame.f_lasti
    _place.append(gone)
    token = active.set(recording)
    try:
        with np.errstate(all="ignore"):
            found = reverse(
                xp, entries, start, wanted, recorded, None if keep else GRAD, free=free
            )
            return {
                node: _dense(xp, g, recorded) for node, g in found.items()
            }
    finally:
        active.reset(token)
        _place.pop()


def _dense(xp: Any, g: Any, recorded: bool) -> Native:
    if type(g) is ct.Block:
        g = g.todense(xp)
    return g if recorded else wrap_native(g)


def _sequence(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of tensors to the leaves that they were computed from."""
    targets = _sequence(tensors)
    given = [None] * len(targets) if grad_tensors is None else _sequence(grad_tensors)
    if len(given) != len(targets):
        raise RuntimeError(
            f"got {len(targets)} tensors and {len(given)} gradients; give one for each"
        )
    if inputs is not None and not isinstance(inputs, Tensor) and len(inputs) == 0:
        raise RuntimeError("`inputs` argument to `backward` cannot be empty.")
    seeds = seeds_of(targets, given)
    keep = create_graph if retain_graph is None else retain_graph
    sources = None
    if inputs is not None:
        sources = [source_of(t, i) for i, t in enumerate(_sequence(inputs))]
    found = sweep(targets, seeds, sources, keep, create_graph)
    own = Own([s._raw for s in seeds])
    owners = {}
    if inputs is not None:
        owners = {source_of(t, 0): t for t in _sequence(inputs)}
    after = active.set(switched(current(), create_graph))
    try:
        for node, g in found.items():
            owner = owners.get(node)
            if owner is None and type(node) is Leaf:
                owner = node.owner()
            if owner is not None:
                accumulate(owner, made(own(g._raw), g._node))
                for hook in list(getattr(owner, "_after", {}).values()):
                    hook(owner)
    finally:
        active.reset(after)


def source_of(tensor: Any, position: int) -> Node:
    """Return the entry at which a tensor's gradient is found."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"expected a Tensor as input {position}, got {type(tensor).__name__}")
    if not tensor.requires_grad:
        raise RuntimeError(
            "One of the differentiated Tensors does not require grad: input "
            f"{position}, of shape {list(tensor._raw.shape)}; write x.requires_grad_() before the "
            "computation"
        )
    node = tensor._node
    assert node is not None
    if type(node) is Leaf and type(node.op) is Hooked:  # hooks have their say first
        assert node.parent is not None
        return node.parent
    return node


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of outputs with respect to inputs, which keep theirs."""
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    targets, wanted = _sequence(outputs), _sequence(inputs)
    given = [None] * len(targets) if grad_outputs is None else _sequence(grad_outputs)
    if len(given) != len(targets):
        raise RuntimeError(
            f"got {len(targets)} outputs and {len(given)} grad_outputs; give one for each"
        )
    keep = create_graph if retain_graph is None else retain_graph
    sources = [source_of(t, i) for i, t in enumerate(wanted)]
    if is_grads_batched:
        found = _batched(targets, given, sources, keep, create_graph)
    else:
        seeds = seeds_of(targets, given)
        found = sweep(targets, seeds, sources, keep, create_graph)
    answers: list[Any] = []
    own = Own([s._raw for s in given if s is not None])
    for position, (tensor, node) in enumerate(zip(wanted, sources, strict=True)):
        g = found.get(node)
        if g is not None:
            answers.append(made(own(g._raw), g._node))
        elif materialize_grads:
            answers.append(made(np.zeros_like(tensor._raw)))
        elif allow_unused:
            answers.append(None)
        else:
            raise RuntimeError(
                "One of the differentiated Tensors appears to not have been used in the graph: "
                f"input {position}, of shape {list(tensor._raw.shape)}. Set allow_unused=True for "
                "None in its place, or materialize_grads=True for zeros."
            )
    return tuple(answers)


def _batched(
    targets: list[Any], given: list[Any], sources: list[Node], keep: bool, create: bool
) -> dict[Node, Any]:
    """Return the gradients for many seeds at once, each with a first axis for them."""
    from wengert.transforms.vmap import vmap

    if any(g is None for g in given):
        raise RuntimeError("is_grads_batched=True needs grad_outputs, with a first axis for them")
    order: list[Node] = []

    def one(*seeds: Any) -> list[Any]:
        checked = seeds_of(targets, [outward(s) for s in seeds])
        found = sweep(targets, checked, sources, keep, create)
        order[:] = [node for node in dict.fromkeys(sources) if node in found]
        return [found[node] for node in order]

    answers = vmap(one)(*map(convert, given))
    return dict(zip(order, answers, strict=True))


# -- what a program sees of the list ---------------------------------------------------------------


class GradFn:
    """An entry, as programs see it in `grad_fn` and `next_functions`."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def name(self) -> str:
        """Return what PyTorch calls it."""
        return label_of(self._node)

    @property
    def next_functions(self) -> tuple[tuple[GradFn | None, int], ...]:
        """The entries that the result was computed from, and which of their results."""
        node = self._node
        if type(node.op) is Hooked and node.parent is not None:
            node = node.parent
        found = {argument: parent for parent, argument, _ in node.edges}
        places = range(max(len(node.op.args), max(found, default=-1) + 1))
        return tuple(_shown(found.get(k)) for k in places)

    @property
    def variable(self) -> Tensor | None:
        """Of a leaf's entry, the leaf."""
        if type(self._node) is not Leaf:
            raise AttributeError(f"{self.name()} has no variable; only leaves have one")
        found: Tensor | None = self._node.owner()
        return found

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for the program's own use."""
        return self.__dict__.setdefault("_metadata", {})

    def register_hook(self, hook: Callable[[Any, Any], Any]) -> Handle:
        """Have a function called with the gradients of arguments and results."""
        from wengert.dialects.torch.node_hooks import register

        return register(self._node, hook)

    def register_prehook(self, hook: Callable[[Any], Any]) -> Handle:
        """Have a function called with the gradients of results before they go on."""
        place = hooked(made(np.empty(0), self._node))
        handle = Handle(place.hooks)

        def call(g: Any) -> Any:
            answer = hook((g,))
            return answer[0] if isinstance(answer, tuple) else answer

        place.hooks[handle.id] = call
        return handle

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GradFn) and other._node is self._node

    def __hash__(self) -> int:
        return id(self._node)

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self._node):#x}>"


def _shown(node: Node | None) -> tuple[GradFn | None, int]:
    if node is None:
        return None, 0
    if node.op is OUTPUT and node.parent is not None:
        return GradFn(node.parent), node.argument
    return GradFn(node), 0


def grad_fn(tensor: Tensor) -> GradFn | None:
    """Return the entry of a tensor that was computed; None for others."""
    return None if tensor.is_leaf or tensor._node is None else GradFn(tensor._node)


__all__ = ["backward", "grad", "grad_fn", "register_hook"]
