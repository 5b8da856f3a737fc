"""Hooks on nodes, on accumulation and on what is saved; anomalies; tensors of inference mode."""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.dialects.quiet import aloud
from wengert.dialects.torch import callbacks, dtypes, gradients, memory, modes
from wengert.dialects.torch.grad_fns import (
    GradFn,
    GradientEdge,
    as_saved,
    get_gradient_edge,
    is_constant,
)
from wengert.dialects.torch.gradients import (
    Handle,
    Hooked,
    Packed,
    answer_of,
    carried,
    hooked,
    observers,
    passed,
    running,
    shown,
)
from wengert.dialects.torch.table import plain, put
from wengert.dialects.torch.tensors import (
    Leaf,
    Tensor,
    label_of,
    line_of,
    made,
    ns,
)
from wengert.engine.cotangents import Block, fit
from wengert.engine.node import Edge, Node, active
from wengert.engine.op import LEAF, OUTPUT, Op
from wengert.engine.record import witnesses
from wengert.engine.sweep import recorded_edges

put(("autograd.graph.Node",), GradFn)
put(("autograd.graph.GradientEdge",), GradientEdge)
put(("autograd.graph.get_gradient_edge",), get_gradient_edge)
put(("utils.hooks.RemovableHandle",), Handle)


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
        self, xp: Any, g: Any, node: Node, edges: Sequence[Edge], own: bool = False
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

    def release(self, gone: Any) -> None:
        """Have a program's function give up what it saved."""
        if hasattr(self.inner, "release"):
            self.inner.release(gone)

    @property
    def context(self) -> Any:
        """What a program's function knows of its call."""
        return self.inner.context  # type: ignore[attr-defined]


class EntryHooks(Around):
    """An operation with hooks before and after its rule."""

    def __init__(self, inner: Op) -> None:
        super().__init__(inner)
        self.before: dict[int, Callable[[Any], Any]] = {}
        self.after: dict[int, Callable[[Any, Any], Any]] = {}

    def all_of(self, xp: Any, g: Any, node: Node) -> dict[int, Any]:
        """Return the cotangents of all arguments, as the hooks leave them."""
        several = type(g) is list
        results = tuple(map(shown, g if several else [g]))
        for before in list(self.before.values()):
            results = _answers(callbacks.call(before, results), results)
        parts = [carried(xp, t) for t in results]
        found = super().all_of(xp, parts if several else parts[0], node)
        places = range(max([len(self.args), *[a + 1 for _, a, _ in node.edges]]))
        arguments = tuple(shown(found.get(k)) for k in places)
        for after in list(self.after.values()):
            arguments = _answers(callbacks.call(after, arguments, results), arguments)
        return {k: carried(xp, t) for k, t in enumerate(arguments) if t is not None}


def _answers(answer: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the gradients that a hook wants in the place of those that it was given."""
    if answer is None:
        return given
    parts = answer if isinstance(answer, tuple) else (answer,)
    if len(parts) != len(given):
        raise RuntimeError(
            f"a hook was given {len(given)} gradients and returned {len(parts)}; return one for "
            "each"
        )
    return tuple(
        g if a is None or g is None else answer_of(a, g) for a, g in zip(parts, given, strict=True)
    )


def _hooks_of(entry: Node) -> EntryHooks:
    if type(entry.op) is not EntryHooks:
        if not hasattr(entry, "label"):
            entry.label = label_of(entry)
        entry.op = EntryHooks(entry.op)
    return entry.op


def _add(hooks: dict[int, Any], hook: Any) -> Handle:
    handle = Handle(hooks)
    hooks[handle.id] = hook
    return handle


def after_entry(node: Node, entry: Node, hook: Callable[[Any, Any], Any]) -> Handle:
    """Have a function called after a node's rule, with the gradients of arguments and results."""
    return _add((hooked(node) if type(node) is Leaf else _hooks_of(entry)).after, hook)


def before_entry(node: Node, entry: Node, hook: Callable[[Any], Any]) -> Handle:
    """Have a function called before a node's rule, with the gradients of its results."""
    return _add((hooked(node) if type(node) is Leaf else _hooks_of(entry)).before, hook)


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
    return _add(hooked(tensor._node).accumulated, hook)


# -- hooks on several tensors ----------------------------------------------------------------------


class _Handles:
    """What takes several hooks away again."""

    def __init__(self, handles: Sequence[Handle]) -> None:
        self._handles = handles

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self._handles:
            handle.remove()

    def __enter__(self) -> _Handles:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


@plain("autograd.graph.register_multi_grad_hook")
def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Any], Any], *, mode: str = "all"
) -> _Handles:
    """Have a function called once the gradients of all tensors, or of any, are there."""
    if mode not in ("all", "any"):
        raise ValueError(f"mode is {mode}; give 'all' or 'any'")
    nodes: list[Any] = [t._node for t in tensors]
    state: dict[str, Any] = {"sweep": None}

    def begin() -> None:
        sweep = running.get()
        if state["sweep"] is not sweep:
            assert sweep is not None
            reached = set(passed(sweep.entries, sweep.sources))
            state.update(sweep=sweep, found=[None] * len(nodes), called=False)
            state["left"] = sum(node in reached for node in nodes)

    def hook_of(position: int) -> Callable[[Any], None]:
        def hook(g: Any) -> None:
            with _counting:
                begin()
                state["found"][position] = g
                state["left"] -= 1
                ready = not state["left"] if mode == "all" else not state["called"]
                state["called"] = True
            if ready:
                fn(state["found"] if mode == "all" else g)
            if not state["left"]:
                state["sweep"] = None

        return hook

    return _Handles([gradients.register_hook(t, hook_of(i)) for i, t in enumerate(tensors)])


_counting = threading.RLock()


# -- what is saved ---------------------------------------------------------------------------------


@plain("autograd.graph.saved_tensors_hooks")
class saved_tensors_hooks:
    """A context in which what nodes save is packed by a function, and unpacked for a sweep."""

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        callbacks.push_hooks(self, _pack)

    def __exit__(self, *exception: object) -> None:
        callbacks.pop_hooks()


def packing() -> saved_tensors_hooks | None:
    """Return the hooks that what is saved goes through now, if there are some."""
    found: saved_tensors_hooks | None = callbacks.hooks_in_force()
    return found


def pack(hooks: saved_tensors_hooks, tensor: Tensor) -> Any:
    """Return a tensor as it is kept."""
    token = active.set(modes.switched(modes.current(), False))
    writes = memory.version(tensor)
    try:
        held = aloud(hooks.pack_hook, tensor)
    finally:
        active.reset(token)
    if memory.version(tensor) != writes:
        raise RuntimeError(
            "a pack hook of saved_tensors_hooks has written to the tensor that it was given, of "
            f"shape {list(tensor._raw.shape)}; write to a clone() of it"
        )
    return held


def unpack(hooks: saved_tensors_hooks, held: Any) -> Tensor:
    """Return the tensor of which something was kept."""
    found = aloud(hooks.unpack_hook, held)
    if not isinstance(found, Tensor):
        raise TypeError(
            f"unpack_hook returned a {type(found).__name__}; return the tensor that pack_hook "
            "was given"
        )
    return found


class _Held:
    """Stands for an array among a node's values."""

    __slots__ = ("packed",)

    def __init__(self, packed: Any) -> None:
        self.packed = packed


def _pack(node: Node) -> None:
    """Pack the arrays of a new node, and of those inside of its operation."""
    hooks = packing()
    if hooks is None:  # another thread's
        return
    pending = [node]
    for entry in pending:  # grows while it is read
        if type(entry.values) is tuple and entry.op is not OUTPUT and entry.op is not LEAF:
            _pack_entry(entry, hooks)
        for parent, _, _ in entry.edges:
            if not hasattr(parent, "code") and type(parent) is not Leaf:
                pending.append(parent)


def _pack_entry(node: Node, hooks: saved_tensors_hooks) -> None:
    op = node.op
    if hasattr(op, "context") or not memory.keeps_arrays(node):
        return  # a function packs what it saves itself
    parents = {argument: parent for parent, argument, _ in node.edges}

    def packed(read: str, value: Any) -> Any:
        if type(value) is tuple and value and type(value[0]) is np.ndarray:
            return tuple(
                _Held(pack(hooks, as_saved(v, parents.get(i)))) for i, v in enumerate(value)
            )
        if type(value) is not np.ndarray or is_constant(value):
            return value
        origin = node if read == "y" else None
        if read in op.args:
            origin = parents.get(op.args.index(read))
        return _Held(pack(hooks, as_saved(value, origin)))

    def edge(argument: int, values: Any) -> tuple[Any, ...]:
        reads = op.reads[0 if op.variadic else argument] or ()
        return tuple(map(packed, reads, values))

    first = edge(node.argument, node.values)
    others = tuple((p, a, edge(a, v)) for p, a, v in node.others)
    # tapes of Wengert, such as those of torch.func.jvp, read what is there
    values = Packed(first if node.tokens == modes.TRACKING else node.values)
    values.unpack = lambda entry: _unpack(entry, hooks, first, others)
    node.values = values
    if node.tokens == modes.TRACKING:
        node.others = others


def _unpack(node: Node, hooks: saved_tensors_hooks, first: Any, others: Any) -> None:
    node.values = tuple(_found(hooks, v) for v in first)
    node.others = tuple((p, a, tuple(_found(hooks, v) for v in kept)) for p, a, kept in others)


def _found(hooks: saved_tensors_hooks, value: Any) -> Any:
    """Return what is kept for a value of a node, unpacked."""
    if type(value) is tuple and value and type(value[0]) is _Held:
        return tuple(_found(hooks, v) for v in value)
    return unpack(hooks, value.packed)._raw if type(value) is _Held else value


@plain("autograd.graph.save_on_cpu")
class save_on_cpu(saved_tensors_hooks):
    """A context in which what is saved is in the memory of the CPU, where it is already."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor, lambda tensor: tensor)


class _Allowed:
    """What `allow_mutation_on_saved_tensors` has to say of itself."""

    def clear(self) -> None:
        """Do nothing: nodes hold the copies, and give them up."""


@plain("autograd.graph.allow_mutation_on_saved_tensors")
class allow_mutation_on_saved_tensors(saved_tensors_hooks):
    """A context in which what is saved is copied, so that writes leave it alone."""

    def __init__(self) -> None:
        super().__init__(gradients.copied, lambda tensor: tensor)

    def __enter__(self) -> _Allowed:  # type: ignore[override]
        super().__enter__()
        return _Allowed()


@plain("autograd.graph.disable_saved_tensors_hooks")
class disable_saved_tensors_hooks:
    """A context in which hooks on what is saved are refused, in these words."""

    def __init__(self, error_message: str) -> None:
        self._context = callbacks.no_hooks(error_message)

    def __enter__(self) -> None:
        self._context.__enter__()

    def __exit__(self, *exception: object) -> None:
        self._context.__exit__(None, None, None)


@plain("autograd.graph.increment_version")
def increment_version(tensor: Any) -> None:
    """Note a write to the memory of a tensor, or of several."""
    for part in [tensor] if isinstance(tensor, Tensor) else tensor:
        memory.note_write(part._raw)


# -- anomalies -------------------------------------------------------------------------------------


class Anomalies:
    """Whether sweeps look for NaN, and say where in the program an error comes from."""

    on = False
    check_nan = True


class _Watched(Around):
    """An operation whose cotangents are looked at for NaN."""

    def __init__(self, inner: Op, shown: Node) -> None:
        super().__init__(inner)
        self._shown = shown

    def all_of(self, xp: Any, g: Any, node: Node) -> dict[int, Any]:
        """Return the cotangents; raise if there is NaN in one."""
        name = label_of(self._shown)
        try:
            found = super().all_of(xp, g, node)
            for place, part in found.items() if Anomalies.check_nan else ():
                if np.isnan(_numbers(part)).any():
                    raise RuntimeError(
                        f"the gradient of '{name}' has nan in position {place}; the operation is "
                        f"at {line_of(self._shown)}"
                    )
        except Exception:
            warnings.warn(
                f"the gradient of {name} failed. The operation is at {line_of(self._shown)}",
                stacklevel=2,
            )
            raise
        return found


def _numbers(part: Any) -> Any:
    while hasattr(part, "_raw") or hasattr(part, "values"):  # a tensor, or examples of vmap
        part = part._raw if hasattr(part, "_raw") else part.values
    return part


def _observe(entries: list[Node]) -> Callable[[], None]:
    """Have the nodes of a sweep watched, and return what undoes that."""
    shown: dict[Node, Node] = {}
    changed = []
    for node in entries:  # newest first, so that an operation comes before what is inside of it
        mine = node if hasattr(node, "code") else shown.get(node, node)
        for parent, _, _ in node.edges:
            shown.setdefault(parent, mine)
        if node.op is OUTPUT or type(node.op) is Hooked or node.parent is None:
            continue
        changed.append((node, node.op))
        node.op = _Watched(node.op, mine)

    def undo() -> None:
        for node, op in changed:
            node.op = op

    return undo


def _set_anomalies(on: bool, check_nan: bool) -> None:
    if on and _observe not in observers:
        observers.append(_observe)
    elif not on and _observe in observers:
        observers.remove(_observe)
    Anomalies.on, Anomalies.check_nan = on, check_nan


class _Anomaly:
    """A context that sets whether sweeps look for NaN, and brings back what was."""

    def __init__(self, mode: bool, check_nan: bool) -> None:
        self._mode, self._check = bool(mode), bool(check_nan)
        self._before = Anomalies.on, Anomalies.check_nan

    def __enter__(self) -> None:
        _set_anomalies(self._mode, self._check)

    def __exit__(self, *exception: object) -> None:
        _set_anomalies(*self._before)


@plain("autograd.detect_anomaly", "autograd.anomaly_mode.detect_anomaly")
class detect_anomaly(_Anomaly):
    """A context in which a sweep that makes NaN says where."""

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(True, check_nan)
        warnings.warn(
            "detect_anomaly checks each gradient and makes programs slower; take it out once "
            "the fault is found",
            stacklevel=2,
        )


@plain("autograd.set_detect_anomaly", "autograd.anomaly_mode.set_detect_anomaly")
class set_detect_anomaly(_Anomaly):
    """Set from now on, or as a context, whether a sweep that makes NaN says where."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__(mode, check_nan)
        _set_anomalies(self._mode, self._check)

    def __enter__(self) -> None:
        pass


@plain("is_anomaly_enabled")
def is_anomaly_enabled() -> bool:
    """Return whether sweeps look for anomalies."""
    return Anomalies.on


@plain("is_anomaly_check_nan_enabled")
def is_anomaly_check_nan_enabled() -> bool:
    """Return whether sweeps that look for anomalies look for NaN."""
    return Anomalies.check_nan


# -- inference mode --------------------------------------------------------------------------------


#: The memory of tensors that were made in inference mode, by the identity of its owner.
_MADE: dict[int, Any] = {}


def _note_made(tensor: Tensor, name: str, value: Any) -> None:
    """Set an attribute of a tensor; if that makes the tensor, note what mode it is made in.

    This is in the place of the usual `__setattr__` while some thread is in inference mode, so that
    operations need not ask.
    """
    if name == "_raw" and modes.is_inference_mode_enabled() and "_raw" not in tensor.__dict__:
        tensor.__dict__["_inference"] = True
        if type(value) is np.ndarray:
            _note_memory(memory.owner(value))
    object.__setattr__(tensor, name, value)


def _note_memory(array: np.ndarray) -> None:
    key = id(array)
    if key in _MADE:
        return
    if not _MADE:
        witnesses.append(_refuse_saved)
    _MADE[key] = weakref.ref(array, lambda _: _forget(key))


def _forget(key: int) -> None:
    _MADE.pop(key, None)
    if not _MADE and _refuse_saved in witnesses:
        witnesses.remove(_refuse_saved)


def _refuse_saved(node: Node) -> None:
    """Raise if a node saves a tensor of inference mode."""
    for array in memory.arrays_of(node):
        if id(memory.owner(array)) in _MADE:
            raise RuntimeError(
                f"a tensor of shape {list(array.shape)} from torch.inference_mode() is needed "
                "for a gradient; write x.clone() for a normal tensor, or use torch.no_grad()"
            )


_counts = [0]


def _enter_inference() -> None:
    with _counting:
        _counts[0] += 1
        if _counts[0] == 1:
            Tensor.__setattr__ = _note_made  # type: ignore[assignment,method-assign]


def _leave_inference() -> None:
    with _counting:
        _counts[0] -= 1
        if not _counts[0]:
            del Tensor.__setattr__


modes.inference_mode.entering = staticmethod(_enter_inference)
modes.inference_mode.leaving = staticmethod(_leave_inference)


@plain("is_inference", "Tensor.is_inference")
def is_inference(input: Tensor) -> bool:
    """Return whether a tensor was made in inference mode."""
    base = input if input._base is None else input._base
    return bool(base._inference)


put(
    ("inference_mode", "autograd.inference_mode", "autograd.grad_mode.inference_mode"),
    modes.inference_mode,
)
put(("is_inference_mode_enabled",), modes.is_inference_mode_enabled)


# -- what there is but one choice for --------------------------------------------------------------


@plain("autograd.set_multithreading_enabled", "autograd.grad_mode.set_multithreading_enabled")
class set_multithreading_enabled:
    """A context that changes nothing: a sweep runs in the thread that asks for it."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass


class _VariableMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


@plain("autograd.Variable", "autograd.variable.Variable")
class Variable(metaclass=_VariableMeta):
    """What tensors with gradients were called before: `Variable(x)` is a tensor of x's memory."""

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        """Return a tensor."""
        if data is None:
            return made(np.empty(0, dtypes.default().numpy))
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable: got a {type(data).__name__}; give a tensor")
        return made(data._raw).requires_grad_(requires_grad)
