"""Hooks on what is saved; anomalies; tensors of inference mode."""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert.dialects.quiet import aloud
from wengert.dialects.torch import callbacks, dtypes, grad_fns, gradients, memory, modes
from wengert.dialects.torch.gradients import Handle, Hooked
from wengert.dialects.torch.node_hooks import Around
from wengert.dialects.torch.nodes import Packed, arrays_of, keeps_arrays
from wengert.dialects.torch.table import plain, put
from wengert.dialects.torch.tensors import Leaf, Tensor, label_of, line_of, made
from wengert.engine.node import Node, active
from wengert.engine.op import LEAF, OUTPUT, Op
from wengert.engine.record import witnesses

put(("autograd.graph.Node",), grad_fns.GradFn)
put(("utils.hooks.RemovableHandle",), Handle)


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
    tensor = aloud(hooks.unpack_hook, held)
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"unpack_hook returned a {type(tensor).__name__}; return the tensor that pack_hook "
            "was given"
        )
    return tensor


class _Held(NamedTuple):
    """Stands for an array among a node's values."""

    packed: Any


def _pack(node: Node) -> None:
    """Pack the arrays of a new node, and of those inside of its operation."""
    hooks = callbacks.hooks_in_force()
    if hooks is None:  # another thread's
        return
    pending = [node]
    for inner in pending:  # grows while it is read
        if type(inner.values) is tuple and inner.op is not OUTPUT and inner.op is not LEAF:
            _pack_node(inner, hooks)
        for parent, _, _ in inner.edges:
            if not hasattr(parent, "code") and type(parent) is not Leaf:
                pending.append(parent)


def _pack_node(node: Node, hooks: saved_tensors_hooks) -> None:
    op = node.op
    if hasattr(op, "context") or not keeps_arrays(node):
        return  # a function packs what it saves itself
    parents = {argument: parent for parent, argument, _ in node.edges}

    def packed(read: str, value: Any) -> Any:
        if type(value) is tuple and np.ndarray in map(type, value):  # all arguments, or an index
            origins = parents if read == "arrays" else {}
            parts = enumerate(value)
            return tuple(held(v, origins.get(i)) if type(v) is np.ndarray else v for i, v in parts)
        if type(value) is not np.ndarray or grad_fns.is_constant(value):
            return value
        parent = parents.get(op.args.index(read)) if read in op.args else None
        return held(value, node if read == "y" else parent)

    def held(array: np.ndarray, origin: Node | None) -> _Held:
        return _Held(pack(hooks, grad_fns.as_saved(array, origin)))

    def edge(argument: int, values: Any) -> tuple[Any, ...]:
        reads = op.reads[0 if op.variadic else argument] or ()
        return tuple(map(packed, reads, values))

    first = edge(node.argument, node.values)
    others = tuple((p, a, edge(a, v)) for p, a, v in node.others)
    # tapes of Wengert, such as those of torch.func.jvp, read what is there
    values = Packed(first if node.tokens == modes.TRACKING else node.values)
    values.unpack = lambda node: _unpack(node, hooks, first, [kept for _, _, kept in others])
    node.values = values
    if node.tokens == modes.TRACKING:
        node.others = others


def _unpack(node: Node, hooks: saved_tensors_hooks, first: Any, others: Any) -> None:
    node.values = _unpacked(hooks, first)
    node.others = tuple(
        (p, a, _unpacked(hooks, kept)) for (p, a, _), kept in zip(node.others, others, strict=True)
    )


def _unpacked(hooks: saved_tensors_hooks, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return values of a node with what is kept for some of them, or for parts, unpacked."""
    return tuple([
        unpack(hooks, value.packed)._raw if type(value) is _Held
        else _unpacked(hooks, value) if type(value) is tuple and _Held in map(type, value)
        else value
        for value in values
    ])  # fmt: skip


@plain("autograd.graph.save_on_cpu")
def save_on_cpu(pin_memory: bool = False, device_type: str = "cuda") -> saved_tensors_hooks:
    """Return a context in which saved tensors are in the memory of the CPU, where they are."""
    return saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor)


put(("autograd.graph.disable_saved_tensors_hooks",), callbacks.no_hooks)


# -- anomalies -------------------------------------------------------------------------------------


class Anomalies:
    """Whether sweeps look for NaN, and say where in the program an error comes from."""

    on = False
    check_nan = True

    @classmethod
    def set(cls, on: bool, check_nan: bool) -> None:
        """Have sweeps look for anomalies, or not."""
        if on and not cls.on:
            gradients.observers.append(_observe)
        elif cls.on and not on:
            gradients.observers.remove(_observe)
        cls.on, cls.check_nan = bool(on), bool(check_nan)


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
            for position, part in found.items() if Anomalies.check_nan else ():
                if np.isnan(_numbers(part)).any():
                    raise RuntimeError(
                        f"the gradient of '{name}' has nan in position {position}; the operation "
                        f"is at {line_of(self._shown)}"
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


def _observe(nodes: list[Node]) -> Callable[[], None]:
    """Have the nodes of a sweep watched, and return what undoes that."""
    shown: dict[Node, Node] = {}
    changed = []
    for node in nodes:  # newest first, so that an operation comes before what is inside of it
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


@plain("autograd.set_detect_anomaly", "autograd.anomaly_mode.set_detect_anomaly")
class set_detect_anomaly:
    """Set from now on, or as a context, whether a sweep that makes NaN says where."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = Anomalies.on, Anomalies.check_nan
        Anomalies.set(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        Anomalies.set(*self._before)


@plain("autograd.detect_anomaly", "autograd.anomaly_mode.detect_anomaly")
class detect_anomaly(set_detect_anomaly):
    """A context in which a sweep that makes NaN says where."""

    def __init__(self, check_nan: bool = True) -> None:
        self._before, self._check = (Anomalies.on, Anomalies.check_nan), check_nan
        warnings.warn(
            "detect_anomaly checks each gradient and makes programs slower; take it out once "
            "the fault is found",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        Anomalies.set(True, self._check)


put(("is_anomaly_enabled",), lambda: Anomalies.on)
put(("is_anomaly_check_nan_enabled",), lambda: Anomalies.check_nan)


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
    for array in arrays_of(node):
        if id(memory.owner(array)) in _MADE:
            raise RuntimeError(
                f"an inference tensor of shape {list(array.shape)} is needed for a gradient; write "
                "x.clone() for a normal tensor, or torch.no_grad() in place of inference_mode()"
            )


_counting = threading.RLock()


class _Inference:
    """How many contexts of inference mode are open, in all threads."""

    count = 0

    @classmethod
    def add(cls, number: int) -> None:
        """Note that a context was entered, or left."""
        with _counting:
            cls.count += number
            if cls.count == 1 and number == 1:
                Tensor.__setattr__ = _note_made  # type: ignore[assignment,method-assign]
            elif not cls.count:
                del Tensor.__setattr__


modes.inference_mode.entering = staticmethod(lambda: _Inference.add(1))
modes.inference_mode.leaving = staticmethod(lambda: _Inference.add(-1))


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
