"""torch.utils.checkpoint: calls that are made again for the gradient, to save memory.

Without re-entry a call is one node: it leads to what the function's results were computed from,
and its rule calls the function again and sweeps what that records. With re-entry it is a Function.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from wengert.dialects.quiet import aloud
from wengert.dialects.torch import gradients, modes
from wengert.dialects.torch import nodes as graph
from wengert.dialects.torch.autograd_function import Function
from wengert.dialects.torch.gradients import running
from wengert.dialects.torch.table import NAMES, plain
from wengert.dialects.torch.tensors import Leaf, Tensor, label_of, made, ns
from wengert.engine.node import Edge, Node, active
from wengert.engine.op import Op
from wengert.engine.sweep import reverse
from wengert.transforms.checkpoint import explored, now
from wengert.trees import flatten


@plain("utils.checkpoint.CheckpointError")
class CheckpointError(RuntimeError):
    """A function did something else when it was called again."""


@plain("utils.checkpoint.noop_context_fn")
def noop_context_fn() -> tuple[Any, Any]:
    """Return contexts for the first call and the next that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


class Again:
    """One call of a function, which can be made again as it was made first."""

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any],
        keep_state: bool, context: Any = None, checks: bool = True,
    ) -> None:  # fmt: skip
        self.function, self.args, self.options = function, args, options
        self.required = [_requires_grad(a) for a in (*args, *options.values())]
        self.state = NAMES["get_rng_state"]() if keep_state and "get_rng_state" in NAMES else None
        self.context = context or contextlib.nullcontext()
        #: whether to raise where it is not made as it was
        self.checks = checks
        self.ends: list[Node] = []

    def call(self, args: tuple[Any, ...] | None = None) -> Any:
        """Return what the function gives, random numbers included, as it did first."""
        options = self.options
        if args is None:  # what was a constant in the first call is one again
            all_given = zip((*self.args, *options.values()), self.required, strict=True)
            given = [v.detach() if _requires_grad(v) and not r else v for v, r in all_given]
            args = tuple(given[: len(self.args)])
            options = dict(zip(options, given[len(args) :], strict=True))
        with self._random(), self.context:
            return aloud(self.function, *args, **options)

    @contextlib.contextmanager
    def _random(self) -> Iterator[None]:
        if self.state is None:
            yield
            return
        present = NAMES["get_rng_state"]()
        NAMES["set_rng_state"](self.state)
        try:
            yield
        finally:
            NAMES["set_rng_state"](present)


def _requires_grad(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


# -- without re-entry ------------------------------------------------------------------------------


class Recomputed(Op):
    """A call that is made again; its rule sweeps what the new call records."""

    family = "checkpoint"
    captures = True
    sees_unused = True
    again: Again
    live: list[int]
    #: how many operations were recorded at first, and the shapes of results
    count: int
    shapes: list[tuple[int, ...]]

    def pull(
        self, xp: Any, g: Any, node: Node, edges: Sequence[Edge], own: bool = False
    ) -> Sequence[Any]:
        """Return the cotangents of the ends."""
        parts = self.cotangents(xp, graph.weights_of(xp, g))
        return [parts[argument] for _, argument, _ in edges]

    def cotangents(self, xp: Any, weights: list[Any]) -> list[Any]:
        """Return the cotangent of each end, given those of the results."""
        outer = active.get()
        token = active.set(modes.switched(outer, True))
        try:
            before = now()
            leaves = flatten(self.again.call())[0]
        finally:
            active.reset(token)
        ends = self.again.ends
        nodes: list[Any] = [getattr(leaves[i], "_node", None) for i in self.live if i < len(leaves)]
        if len(nodes) != len(self.live) or None in nodes:
            raise CheckpointError(f"{_OTHERWISE} returned something else")
        inner, reached = explored(nodes, before, modes.TRACKING)
        found = len(inner), _shapes(nodes), {end for end in reached if end.order < before}
        same = found == (self.count, self.shapes, set(ends))
        if not same and (self.again.checks or found[2] != set(ends)):
            raise CheckpointError(
                f"{_OTHERWISE} recorded {found[0]} operations on {len(found[2])} tensors with "
                f"results of shapes {found[1]}, and at first {self.count} on {len(ends)} of shapes "
                f"{self.shapes}"
            )
        seeds = graph.summed(xp, nodes, weights)
        swept = sorted({*inner, *ends}, key=attrgetter("order"), reverse=True)
        pack_again = graph.unpacked(swept, set(ends))
        try:
            answers = reverse(xp, swept, seeds, set(ends), xp is ns, None, ends=set(ends))
        finally:
            pack_again()
        return [answers.get(end) for end in ends]


_OTHERWISE = (
    "torch.utils.checkpoint: a function must do the same each time; called again for the gradient, "
    "it"
)


def _shapes(nodes: list[Any]) -> list[tuple[int, ...]]:
    return [tuple(node.shape) for node in nodes]


def _without_reentry(again: Again, first: Any) -> Any:
    for arg in again.args:
        if isinstance(arg, Tensor):
            _ = arg._node  # a view's node may have to be made first, outside of the call
    before = now()
    with first:
        output = aloud(again.function, *again.args, **again.options)
    leaves, rebuild = flatten(output)
    live = [i for i, leaf in enumerate(leaves) if _is_new(leaf, before)]
    if not live:
        return output
    nodes = [leaves[i]._node for i in live]
    inner, ends = explored(nodes, before, modes.TRACKING)
    again.ends = [end for end in ends if end.order < before]  # others are leaves of its own
    if not again.ends:
        return output
    op = copy.copy(_template)
    op.again, op.live, op.count = again, live, len(inner)
    op.shapes = shapes = _shapes(nodes)
    # arguments are read again, so a write to one is found out as for what other nodes keep
    given = tuple(a._raw for a in again.args if isinstance(a, Tensor))
    arrays = (graph.SOMETHING, *(raw for raw in given if type(raw) is np.ndarray))
    keeps = any(
        type(n.values) in (graph.Packed, graph.Freed) or graph.keeps_arrays(n) for n in inner
    )
    kept = (arrays,) if keeps else ()
    edges = [(end, i, kept) for i, end in enumerate(again.ends)]
    metas = list(zip(shapes, [node.dtype for node in nodes], strict=True))
    joint = graph.joint_node(op, edges, modes.TRACKING, metas)
    for position, i in enumerate(live):
        raw = leaves[i]._raw
        leaves[i] = made(raw, graph.node_of_result(joint, position, raw, label_of(nodes[position])))
    return rebuild(leaves)


_template = Recomputed(
    "checkpoint", ("arrays",), lambda xp, *arrays: None, [lambda xp, g: g], variadic=True
)


def _is_new(leaf: Any, before: int) -> bool:
    if not isinstance(leaf, Tensor) or leaf._node is None:
        return False
    return leaf._node.order > before and leaf.requires_grad and type(leaf._node) is not Leaf


# -- with re-entry ---------------------------------------------------------------------------------


@plain("utils.checkpoint.CheckpointFunction")
class CheckpointFunction(Function):
    """A call whose gradient is that of another call, made while the sweep runs."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """Return what the function gives, of which nothing is recorded."""
        check_backward_validity(args)
        ctx.again = Again(run_function, (), {}, preserve_rng_state)
        ctx.save_for_backward(*args)
        with modes.no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients of arguments; leaves inside get theirs."""
        sweep = running.get()
        if sweep is None or not sweep.accumulates or sweep.chosen:
            raise RuntimeError(
                "checkpoint with use_reentrant=True works in a .backward() of all leaves only, "
                "not in torch.autograd.grad or .backward(inputs=...); write use_reentrant=False"
            )
        inputs = detach_variable(ctx.saved_tensors)
        with modes.enable_grad():
            outputs = ctx.again.call(inputs)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        pairs = [(o, g) for o, g in zip(outputs, grads, strict=True) if _requires_grad(o)]
        if not pairs:
            raise RuntimeError(
                "no result requires a gradient; call the function without checkpoint()"
            )
        gradients.backward([o for o, _ in pairs], [g for _, g in pairs])
        return None, None, *[i._grad if isinstance(i, Tensor) else None for i in inputs]


@plain("utils.checkpoint.detach_variable")
def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return tensors as leaves of the same memory that require gradients where these did."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"checkpoint: got inputs of type {type(inputs).__name__}; give a tuple of tensors"
        )
    return tuple(
        made(i._raw).requires_grad_(i.requires_grad) if isinstance(i, Tensor) else i for i in inputs
    )


@plain("utils.checkpoint.check_backward_validity")
def check_backward_validity(inputs: Sequence[Any]) -> None:
    """Warn if no argument requires gradients, so that no result will."""
    if not any(i.requires_grad for i in inputs if isinstance(i, Tensor)):
        warnings.warn(
            "checkpoint: no input requires a gradient, so the results will have none; write "
            "x.requires_grad_() or use_reentrant=False",
            stacklevel=4,
        )


# -- what programs call ----------------------------------------------------------------------------


def _read(use_reentrant: bool | None, kwargs: dict[str, Any]) -> tuple[bool, bool]:
    """Return whether to re-enter, and whether to keep the state of random numbers."""
    if use_reentrant is None:
        warnings.warn(
            "checkpoint: use_reentrant was not given and is True for now; write "
            "use_reentrant=False, which is the better choice, or use_reentrant=True",
            stacklevel=3,
        )
    return use_reentrant is not False, kwargs.pop("preserve_rng_state", True)


def _refuse(kwargs: dict[str, Any]) -> None:
    if kwargs:
        raise ValueError(f"checkpoint: there is no argument {','.join(kwargs)}")


@plain(
    "utils.checkpoint.checkpoint",
    differs="called again, the function runs to its end, whatever early_stop says; PyTorch's ends "
    "with the last tensor that a node saves",
)
def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn, determinism_check: str = "default",
    debug: bool = False, early_stop: bool = True, **kwargs: Any,
) -> Any:  # fmt: skip
    """Return what a function gives; for the gradient it is called again."""
    use_reentrant, keep_state = _read(use_reentrant, kwargs)
    if use_reentrant:
        _refuse(kwargs)
        if context_fn is not noop_context_fn or debug:
            raise ValueError(
                "checkpoint: context_fn and debug need use_reentrant=False; write that"
            )
        return CheckpointFunction.apply(function, keep_state, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"checkpoint: determinism_check is {determinism_check!r}; give 'default' or 'none'"
        )
    first, later = context_fn()
    if not modes.is_grad_enabled() or modes.GRAD not in modes.current():
        with first:
            return function(*args, **kwargs)
    checks = determinism_check != "none"
    return _without_reentry(Again(function, args, kwargs, keep_state, later, checks), first)


@plain("utils.checkpoint.checkpoint_sequential")
def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Return what functions give one after the other, in segments of which each is a checkpoint."""
    use_reentrant, keep_state = _read(use_reentrant, kwargs)
    _refuse(kwargs)
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)

    def run(start: int, end: int) -> Callable[[Any], Any]:
        return lambda value: functools.reduce(lambda x, step: step(x), steps[start:end], value)

    size = len(steps) // segments
    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(
            run(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=keep_state
        )
    return run(end, len(steps))(input)


@plain(
    "utils.checkpoint.set_checkpoint_early_stop", "utils.checkpoint.set_checkpoint_debug_enabled"
)
def _setting(value: Any) -> contextlib.nullcontext[None]:
    """Return a context for a setting that changes nothing here."""
    return contextlib.nullcontext()
