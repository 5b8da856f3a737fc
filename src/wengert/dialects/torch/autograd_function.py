"""autograd.Function: operations with a program's own derivatives.

A call is one node of the tape, whose rule calls the program's `backward`. Inside of `vmap` it is
one on either side, as for Wengert's own custom functions.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.dialects.torch import callbacks, hooks, memory, modes
from wengert.dialects.torch.grad_fns import seen
from wengert.dialects.torch.gradients import running, shown
from wengert.dialects.torch.methods import detach
from wengert.dialects.torch.nodes import SOMETHING, Freed, joint_node, node_of_result, weights_of
from wengert.dialects.torch.table import plain
from wengert.dialects.torch.tensors import (
    Leaf,
    Tensor,
    astype,
    convert,
    line_at,
    made,
    mark,
    ns,
    outward,
)
from wengert.engine import cotangents as ct
from wengert.engine.batching import Batched, Level, highest, levels, outside
from wengert.engine.node import Edge, Node, active, new_node
from wengert.engine.op import Op
from wengert.engine.record import interested, output_node
from wengert.engine.tensor import Tensor as Native
from wengert.transforms.single_node import recorded_as_one


class _Saved(NamedTuple):
    """Stands for a saved tensor that is a result, or that hooks have packed.

    A result would hold the node that holds it, so its position is kept.
    """

    #: the array, or what hooks made of the tensor
    held: Any
    node: Node | None
    position: int | None
    hooks: hooks.saved_tensors_hooks | None


@plain("autograd.function.FunctionCtx")
class FunctionCtx:
    """What a call of a function knows: what it saved for `backward`, and the program's own."""

    #: what was saved, once the call is over; where it was given up, after that
    _saved: tuple[Any, ...] | None = None
    _gone: Freed | None = None
    #: the node, while `backward` runs, and the results, where these are examples of vmap
    _node: Node | None = None
    _results: list[Any] | None = None
    #: references to the nodes of the results, which hooks on these are found at
    _nodes: list[Any] | None = None
    _function: Any = None
    needs_input_grad: tuple[bool, ...] = ()
    to_save: tuple[Any, ...] = ()
    saved_for_forward: tuple[Any, ...] = ()
    dirty_tensors: tuple[Any, ...] = ()
    non_differentiable: tuple[Any, ...] = ()
    materialize_grads = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors, or anything else, for `backward` to find in `saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp` to find in `saved_tensors`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which arguments `forward` has written to."""
        self.dirty_tensors = _checked(args, "mark_dirty")

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which results have no derivative."""
        self.non_differentiable = _checked(args, "mark_non_differentiable")

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether `backward` gets zeros, or None, for results that were not used."""
        if not isinstance(value, bool):
            raise TypeError(f"set_materialize_grads takes True or False, and got {value!r:.50}")
        self.materialize_grads = value

    def name(self) -> str:
        """Return what PyTorch calls the node."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[Any, ...]:
        """The nodes of the arguments, while `backward` runs."""
        return () if self._node is None else seen(self._node)[0].next_functions

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved."""
        return self.unpacked(self._node)

    saved_variables = saved_tensors  # its old name

    def unpacked(self, node: Node | None) -> tuple[Any, ...]:
        """Return what was saved, where results have the node that is given."""
        if self._gone is not None:
            raise RuntimeError(
                f"{_name(self)} is needed a second time, and the backward at "
                f"{line_at(self._gone.code, self._gone.last)} has freed what it saved; write "
                "retain_graph=True there"
            )
        return tuple(
            self._unpacked(value, node) if type(value) is _Saved else value
            for value in self._saved or ()
        )

    def _unpacked(self, saved: _Saved, node: Node | None) -> Tensor:
        position, raw = saved.position, saved.held
        if saved.hooks is not None:
            raw = hooks.unpack(saved.hooks, raw)._raw
        if position is None:
            return made(raw, saved.node)
        if self._results:
            result = self._results[position]
            return made(raw) if result is None else outward(result)
        known = self._nodes[position] if self._nodes and node is not None else None
        mine = None if known is None else known()
        if mine is None and node is not None and type(node.shape) is list:
            mine = output_node(node, position, raw)
        return made(raw, mine or node)

    def seen_from(self, node: Node, name: str) -> Any:
        """Return an attribute for a program that has the node and not the context."""
        if name in ("saved_tensors", "saved_variables"):
            return self.unpacked(node)
        return getattr(self, name)


def _name(context: FunctionCtx) -> str:
    """Return what PyTorch calls the node; the context may have a `name` of the program's."""
    return type(context).__name__


def _checked(tensors: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    for value in tensors:
        if not isinstance(value, Tensor):
            raise RuntimeError(f"ctx.{name} takes tensors, and got a {type(value).__name__}")
    return tensors


@functools.cache
def _context(name: str) -> type[FunctionCtx]:
    return type(f"{name}Backward", (FunctionCtx,), {"__module__": "torch.autograd.function"})


# -- the node -------------------------------------------------------------------------------------


class Custom(Op):
    """One call of a function of the program."""

    family = "custom"
    captures = True
    sees_unused = True
    context: FunctionCtx
    #: shape and dtype of each result; None for what is no tensor
    metas: list[Any]
    #: which results have no derivative, or are no tensors
    cut: list[bool]
    #: which arguments are tensors, and shape and dtype of those that have derivatives
    tensors: list[bool]
    likes: list[Any]

    def pull(
        self, xp: Any, g: Any, node: Node, edges: Sequence[Edge], sweep: Any = None
    ) -> Sequence[Any]:
        """Return the cotangents that the program's function gives, checked."""
        self.context._node = node
        try:
            answers = self.backward([*map(shown, weights_of(xp, g))])
        finally:
            self.context._node = None
        sweep = running.get()
        parts: list[Any] = []
        for parent, argument, _ in edges:
            answer = answers[argument]
            if answer is None and sweep is not None:
                sweep.cut.add((node, argument))
            fitted = None if answer is None else self.fitted(convert(answer), argument, parent)
            parts.append(fitted if fitted is None or xp is ns else fitted._raw)
        return parts

    @classmethod
    def of_call(cls, ctx: FunctionCtx, args: Sequence[Any], results: Sequence[Any]) -> Custom:
        """Return the operation of one call, which knows its arguments and results."""
        self = cls.__new__(cls)
        self.__dict__.update(_template(len(args)).__dict__)
        self.context = ctx
        self.metas = [_like(r) for r in results]
        self.cut = [not _floats(r) or _is_among(r, ctx.non_differentiable) for r in results]
        self.tensors = [isinstance(a, Tensor) for a in args]
        likes = [_like(a) for a in args]
        self.likes = [like if like and backends.is_inexact(like[1]) else None for like in likes]
        return self

    def backward(self, given: list[Any]) -> list[Any]:
        """Return what the program's function gives for each argument, or raise."""
        ctx = self.context
        if ctx.materialize_grads:
            given = [
                made(np.zeros(*meta)) if g is None and meta is not None else g
                for g, meta in zip(given, self.metas, strict=True)
            ]
        answers = callbacks.call(_backward_of(ctx._function), ctx, *given)
        found = list(answers) if isinstance(answers, tuple) else [answers]
        name, count = _name(ctx), len(self.tensors)
        while len(found) > count and found[-1] is None:
            found.pop()
        if len(found) != count:
            raise RuntimeError(
                f"backward of {name} returned {len(found)} gradients, and forward took {count} "
                "arguments; return one for each argument, None where there is none"
            )
        for position, (answer, is_tensor) in enumerate(zip(found, self.tensors, strict=True)):
            if answer is not None and not (is_tensor and isinstance(answer, Tensor)):
                raise RuntimeError(
                    f"backward of {name} returned a {type(answer).__name__} at position "
                    f"{position + 1}; return {'a tensor or ' if is_tensor else ''}None there"
                )
        return found

    def fitted(self, g: Native, position: int, parent: Node) -> Native:
        """Return a gradient with the shape and dtype of its argument, or raise."""
        fits = parent.dtype.kind == "c" or g.dtype.kind != "c"
        if tuple(g.shape) != tuple(parent.shape):
            try:
                g = ct.unbroadcast(ns, g, parent.shape)
            except ValueError:
                fits = False
        if not fits:
            raise RuntimeError(
                f"{_name(self.context)} returned a gradient of shape {list(g.shape)} and {g.dtype} "
                f"at position {position}, for an argument of shape {list(parent.shape)} and "
                f"{parent.dtype}; return it in that shape, and real if the argument is"
            )
        return astype(g, parent.dtype)

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the tangents of the results by the program's `jvp`, if it has one."""
        ctx = self.context
        if ctx._function.jvp is Function.jvp:
            raise NotImplementedError(
                f"{ctx._function.__name__} has no static method jvp, which forward mode calls; "
                "write one, or use reverse mode"
            )
        tangents: list[Any] = [None] * len(self.tensors)
        for _, argument, _, t in edges:
            tangents[argument] = shown(t.todense(xp) if type(t) is ct.Block else t)
        if ctx.materialize_grads:
            for argument, like in enumerate(self.likes):
                if tangents[argument] is None and like is not None:
                    tangents[argument] = made(np.zeros(*like))
        kept = ctx._saved
        ctx._saved = ctx.saved_for_forward or kept
        try:
            answers = callbacks.call(ctx._function.jvp, ctx, *tangents)
        finally:
            ctx._saved = kept
        several = type(node.shape) is list
        parts = self.checked_tangents(answers if isinstance(answers, tuple) else (answers,))
        found = [p if p is None or xp is ns else p._raw for p in parts]
        return found if several else found[0]

    def checked_tangents(self, answers: tuple[Any, ...]) -> list[Any]:
        """Return the tangent of each result, or raise."""
        name = f"{self.context._function.__name__}.jvp"
        if len(answers) != len(self.metas):
            raise RuntimeError(
                f"{name} returned {len(answers)} tangents, and forward {len(self.metas)} results; "
                "return one for each"
            )
        tangents: list[Any] = []
        for position, (answer, meta) in enumerate(zip(answers, self.metas, strict=True)):
            is_cut = self.cut[position]
            fits = isinstance(answer, Tensor) and (is_cut or tuple(answer._raw.shape) == meta[0])
            if not fits and not (is_cut and answer is None):
                raise RuntimeError(
                    f"{name} returned a {type(answer).__name__} of shape "
                    f"{list(getattr(answer, 'shape', []))} at position {position}; return a tensor "
                    f"of the result's shape {[] if meta is None else list(meta[0])}"
                )
            tangents.append(None if is_cut else convert(answer))
        return tangents

    def release(self, gone: Freed) -> None:
        """Give up what was saved."""
        self.context._saved, self.context._gone = None, gone


def _like(value: Any) -> tuple[tuple[int, ...], np.dtype] | None:
    """Return shape and dtype of a tensor; None for what is none."""
    return (tuple(value.shape), value._raw.dtype) if isinstance(value, Tensor) else None


@functools.cache
def _template(count: int) -> Custom:
    rule = lambda xp, g: g  # noqa: E731
    names = [f"x{i}" for i in range(count)]
    return Custom("function", names, lambda xp: None, [rule] * count)


def _backward_of(function: Any) -> Callable[..., Any]:
    if function.backward is Function.backward:
        return function.vjp
    if function.vjp is not Function.vjp:
        raise RuntimeError(
            "this Function defines both backward and vjp, which mean the same; keep one of them"
        )
    return function.backward


# -- a call ----------------------------------------------------------------------------------------


def call(function: Any, args: tuple[Any, ...]) -> Any:
    """Return what a function gives, with a node if one is needed."""
    recording = modes.current()
    nodes = [a._node if isinstance(a, Tensor) else None for a in args]
    below = {
        i: memory.node_below(a)
        for i, a in enumerate(args)
        if isinstance(a, Tensor) and a._held is not None
    }
    needed = [n is not None and bool(n.tokens & (recording | modes.TRACKING)) for n in nodes]
    ctx, several, results = _forward(function, args, needed)
    with modes.Tracking():
        tokens = interested(nodes)
        _check_dirty(ctx, results, nodes, args, bool(tokens))
        for i, node in below.items():
            if _is_among(args[i], ctx.dirty_tensors):
                nodes[i] = node
        if tokens:
            found = _recorded(ctx, args, results, nodes, tokens)
        else:
            found = [_cut(r, args, ctx) for r in results]
    ctx.dirty_tensors = ctx.non_differentiable = ()  # results, which lead to the context
    return tuple(found) if several else found[0]


def _forward(
    function: Any, args: tuple[Any, ...], needed: list[bool], level: Level | None = None
) -> tuple[FunctionCtx, bool, list[Any]]:
    """Return the context of a call, whether it gave a tuple, and its results.

    These are what `forward` gives, or the function's own rule for the examples of a level.
    Nothing inside is recorded.
    """
    ctx = _context(function.__name__)()
    ctx._function, ctx.needs_input_grad = function, tuple(needed)
    token = active.set(modes.PAUSED)
    try:
        if function.setup_context is Function.setup_context:
            output = function.forward(ctx, *args)
        else:
            output = (
                function.forward(*args) if level is None else _by_own_rule(function, args, level)
            )
            function.setup_context(ctx, args, output)
    finally:
        active.reset(token)
    several = isinstance(output, tuple)
    return ctx, several, list(output) if several else [output]


def _is_among(value: Any, values: Sequence[Any]) -> bool:
    return any(value is other for other in values)


def _check_dirty(
    ctx: FunctionCtx, results: list[Any], nodes: list[Any], args: Any, recorded: bool
) -> None:
    for tensor in ctx.dirty_tensors:
        if not _is_among(tensor, results):
            raise RuntimeError(
                "mark_dirty was called with a tensor that forward does not return; return each "
                "tensor that it changes"
            )
        node = next((n for a, n in zip(args, nodes, strict=True) if a is tensor), None)
        if recorded and type(node) is Leaf:
            raise RuntimeError(
                f"{_name(ctx)} changed a leaf that requires a gradient, whose value would be "
                "lost; write x.clone() for its argument"
            )
        if recorded and tensor._base is not None:
            if sum(isinstance(r, Tensor) for r in results) > 1:
                raise RuntimeError(
                    f"{_name(ctx)} writes to an argument that is a view, and returns several "
                    "tensors; write x.clone() for the argument, or return one tensor"
                )
            tensor._grad = None  # that of what is overwritten, also if the next line refuses it
            memory.check_writable(tensor)
        if type(tensor._raw) is np.ndarray:
            memory.note_write(tensor._raw)


def _cut(result: Any, args: Sequence[Any], ctx: FunctionCtx) -> Any:
    """Return a result that nothing is recorded for."""
    if not isinstance(result, Tensor):
        return result
    if not _is_among(result, args):
        result._node = None
    elif result.requires_grad:
        return detach(result)
    elif not _is_among(result, ctx.dirty_tensors):
        return _alias(result)
    return result


def _alias(tensor: Tensor, node: Node | None = None) -> Tensor:
    """Return a view of all of a tensor, which a program may not write to if it has a node."""
    raw = tensor._raw
    alias = made(raw.view() if type(raw) is np.ndarray else raw, node)
    alias._base = base = memory.base_of(tensor)
    alias._path, alias._turned = (*memory.path_of(tensor), ns.positive), len(base._turns)
    alias._among = node is not None
    return alias


def _recorded(
    ctx: FunctionCtx, args: tuple[Any, ...], results: list[Any], nodes: list[Any], tokens: Any
) -> list[Any]:
    """Return results with a node for the call."""
    kept = _save(ctx, args, results)
    op = Custom.of_call(ctx, args, results)
    edges = [
        (node, i, (kept,) if kept else ())
        for i, node in enumerate(nodes)
        if node is not None and node.tokens & tokens
    ]
    metas = [((), np.dtype(bool)) if meta is None else meta for meta in op.metas]
    joint = joint_node(op, edges, tokens, metas)
    mark(joint, _name(ctx))
    outputs = []
    ctx._nodes = [None] * len(results)
    for position, result in enumerate(results):
        if op.cut[position]:
            outputs.append(_cut(result, args, ctx))
        else:
            node = node_of_result(joint, position, result._raw, _name(ctx))
            ctx._nodes[position] = weakref.ref(node)
            outputs.append(_with_node(ctx, result, args, node))
    return outputs


def _with_node(ctx: FunctionCtx, result: Tensor, args: Sequence[Any], node: Node) -> Tensor:
    if _is_among(result, ctx.dirty_tensors):
        base = memory.base_of(result)
        memory.settle(base, memory.path_of(result), node, own=True)
        result._grad = None
        if result._retains and result is not base:
            memory.derive(result, "_node")
        return result
    if _is_among(result, args):
        return _alias(result, node)
    result._node = node
    if result._base is not None:
        result._among = True  # writes to it would go around the function
    return result


def _save(ctx: FunctionCtx, args: tuple[Any, ...], results: list[Any]) -> tuple[Any, ...]:
    """Have a context hold what was saved, and return its arrays."""
    packing = callbacks.hooks_in_force()
    saved: list[Any] = []
    arrays: list[np.ndarray] = []
    for value in ctx.to_save:
        if not isinstance(value, Tensor):
            saved.append(value)
            continue
        raw, node = value._raw, value._node
        position = next((k for k, r in enumerate(results) if r is value), None)
        if _is_among(value, args) and not _is_among(value, ctx.dirty_tensors):
            position = None
        if position is not None:
            node = None
        if packing is not None:
            saved.append(_Saved(hooks.pack(packing, value), node, position, packing))
            arrays.append(SOMETHING)
            continue
        if position is not None:
            saved.append(_Saved(raw, None, position, None))
        else:
            # a view of a result would hold the node that holds it
            itself = _is_among(value, args) or value._base is None
            saved.append(value if itself else made(raw, node))
        if type(raw) is np.ndarray:
            arrays.append(raw)
    ctx._saved, ctx.to_save = tuple(saved), ()
    return tuple(arrays)


# -- inside of vmap --------------------------------------------------------------------------------


@plain("autograd.function.VmapInfo")
class VmapInfo(NamedTuple):
    """What a function's `vmap` is told: how many examples there are."""

    batch_size: int
    randomness: str


def _level(args: tuple[Any, ...]) -> Level | None:
    return highest([a._raw for a in args if isinstance(a, Tensor)], {}) if levels.get() else None


def _is_at(value: Any, level: Level) -> bool:
    return isinstance(value, Tensor) and type(value._raw) is Batched and value._raw.level is level


def _by_own_rule(function: Any, args: tuple[Any, ...], level: Level) -> Any:
    """Return what a function's own `vmap` gives for all examples."""
    dims = tuple(0 if _is_at(a, level) else None for a in args)
    physical = [outward(a._raw.values) if _is_at(a, level) else a for a in args]
    with outside(level):
        output, out_dims = function.vmap(VmapInfo(level.size, level.randomness), dims, *physical)

        def example(value: Any, dim: Any) -> Any:
            if dim is None or not isinstance(value, Tensor):
                return value
            native = convert(value)
            return made(Batched(level, ns.moveaxis(native, dim, 0) if dim else native))

        if not isinstance(output, tuple):
            return example(output, out_dims)
        many = isinstance(out_dims, tuple)
        return tuple(map(example, output, out_dims if many else [out_dims] * len(output)))


def _is_recorded(args: tuple[Any, ...]) -> bool:
    """Return whether a derivative is asked for inside of the vmap."""
    nodes = [a._node for a in args if isinstance(a, Tensor)]
    return any(n is not None and n.tokens & modes.current() for n in nodes)


def _for_examples(function: Any, args: tuple[Any, ...], level: Level | None = None) -> Any:
    """Return what a function gives for all examples, with one node on either side.

    If a level is given, it is the function's own rule for it that gives the value.
    """
    needed = [_floats(a) for a in args]
    ctx, several, results = _forward(function, args, needed, level)
    _save(ctx, args, results)
    op = Custom.of_call(ctx, args, results)
    taken = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
    given = [k for k, cut in enumerate(op.cut) if not cut]

    def backward(found: list[Any], weights: list[Any]) -> list[Any]:
        full: list[Any] = [None] * len(results)
        for k, weight in zip(given, weights, strict=True):
            full[k] = shown(weight)
        ctx._results = [None] * len(results)
        for k, result in zip(given, found, strict=True):
            ctx._results[k] = result
        answers = op.backward(full)
        return [None if answers[i] is None else convert(answers[i]) for i in taken]

    if given:
        natives = [convert(args[i]) for i in taken]
        with modes.Tracking():
            parts = recorded_as_one(
                function.__name__, natives, [convert(results[k]) for k in given], backward,
                reads_results=True,
            )  # fmt: skip
        for k, part in zip(given, parts, strict=True):
            results[k] = outward(part)
    return tuple(results) if several else results[0]


def _floats(value: Any) -> bool:
    """Return whether a value is a tensor that can have a derivative."""
    return isinstance(value, Tensor) and backends.is_inexact(value._raw.dtype)


# -- what programs derive from ---------------------------------------------------------------------


def _undefined(name: str, doc: str) -> Any:
    """Return a static method that raises, for a program to define."""

    def method(*args: Any, **options: Any) -> Any:
        raise NotImplementedError(f"this Function has no {name}; define it as a static method")

    method.__doc__ = f"{doc} Given by the program."
    return staticmethod(method)


@plain("autograd.Function", "autograd.function.Function")
class Function(FunctionCtx):
    """An operation with derivatives of its own, as its static methods say."""

    generate_vmap_rule = False

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Raise: it is the class that is applied."""
        raise RuntimeError(f"a Function is not called; write {type(self).__name__}.apply(...)")

    forward = _undefined("forward", "Return the value.")
    setup_context = _undefined("setup_context", "Save what `backward` needs, if forward does not.")
    backward = vjp = _undefined("backward (or vjp)", "Return the gradients of arguments.")
    jvp = _undefined("jvp", "Return the tangents of results.")
    vmap = _undefined("vmap (or generate_vmap_rule = True)", "Return results for all examples.")

    @classmethod
    def apply(cls, *args: Any, **options: Any) -> Any:
        """Return the function's value."""
        if options:
            first = () if cls.setup_context is not Function.setup_context else (None,)
            bound = inspect.signature(cls.forward).bind(*first, *args, **options)
            bound.apply_defaults()
            args = bound.args[len(first) :]
        level = _level(args)
        if level is None:
            return call(cls, args)
        if cls.vmap is not Function.vmap:
            if cls.generate_vmap_rule:
                raise RuntimeError(
                    f"{cls.__name__} defines vmap and also sets generate_vmap_rule=True; keep "
                    "one of them"
                )
            if _is_recorded(args):
                return _for_examples(cls, args, level)
            return _by_own_rule(cls, args, level)
        return _for_examples(cls, args)


@plain("autograd.function.InplaceFunction")
class InplaceFunction(Function):
    """A function that may be made to work in place; the program's methods ask for it."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace


class _Once(Op):
    """Where a gradient ends that the program has said has no derivative of its own."""

    family = "custom"

    def pull_array(self, xp: Any, g: Any, node: Node, argument: int, values: Any) -> Any:
        """Raise."""
        raise RuntimeError(
            "a second derivative of a function with @once_differentiable; leave that out"
        )


_ONCE = _Once("once_differentiable", ("x",), lambda xp, x: x, (lambda xp, g: g,))


@plain("autograd.function.once_differentiable")
def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `backward` whose answers have no derivatives, and say so if asked."""

    @functools.wraps(fn)
    def backward(ctx: Any, *args: Any) -> Any:
        with modes.no_grad():
            outputs = fn(ctx, *args)
        given = [a for a in args if isinstance(a, Tensor) and a.requires_grad]
        if not modes.is_grad_enabled() or not given:
            return outputs
        parent = given[0]._node

        def ended(value: Any) -> Any:
            if not _floats(value):
                return value
            shape, kind = tuple(value._raw.shape), value._raw.dtype
            node = new_node(_ONCE, parent, 0, (), (), frozenset({modes.GRAD}), shape, kind)
            mark(node, "Error")
            return made(value._raw, node)

        return tuple(map(ended, outputs)) if isinstance(outputs, tuple) else ended(outputs)

    return backward
