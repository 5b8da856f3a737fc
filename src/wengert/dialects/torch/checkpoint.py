"""torch.utils.checkpoint: calls that are made again for the gradient, to save memory.

Without re-entry, hooks on saved tensors put a place in the place of each tensor that nodes save,
and a sweep that comes to one calls the function again. With re-entry the call is a Function.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

from wengert.dialects.quiet import aloud
from wengert.dialects.torch import (
    amp,
    autocasts,
    callbacks,
    dtypes,
    gradients,
    hooks,
    memory,
    modes,
)
from wengert.dialects.torch.autograd_function import Function
from wengert.dialects.torch.gradients import running
from wengert.dialects.torch.table import NAMES, plain
from wengert.dialects.torch.tensors import Tensor, made


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
        keep_state: bool, context: Any = None,
    ) -> None:  # fmt: skip
        self.function, self.options = function, options
        self.required = [_requires_grad(a) for a in (*args, *options.values())]
        self.args = [_kept(arg) for arg in args]
        self.state = NAMES["get_rng_state"]() if keep_state and "get_rng_state" in NAMES else None
        self.lowered = autocasts.current.get()
        self.context = context or contextlib.nullcontext()

    def call(self, args: tuple[Any, ...] | None = None) -> Any:
        """Return what the function gives, random numbers included, as it did first."""
        options = self.options
        if args is None:  # what was a constant in the first call is one again
            given = [arg() for arg in self.args]
            all_given = zip((*given, *options.values()), self.required, strict=True)
            given = [v.detach() if _requires_grad(v) and not r else v for v, r in all_given]
            args = tuple(given[: len(self.args)])
            options = dict(zip(options, given[len(args) :], strict=True))
        with self._random(), self._autocast(), self.context:
            return aloud(self.function, *args, **options)

    def _autocast(self) -> Any:
        if self.lowered == autocasts.current.get():
            return contextlib.nullcontext()
        kind = None if self.lowered is None else dtypes.of_numpy(self.lowered)
        return amp.autocast("cpu", kind, kind is not None)

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


def _kept(value: Any) -> Callable[[], Any]:
    """Return what gives an argument back; hooks on saved tensors that are in force pack it."""
    if not isinstance(value, Tensor):
        return lambda: value
    packing = callbacks.hooks_in_force()
    if packing is not None:
        held, node = hooks.pack(packing, value), value._node
        return lambda: made(hooks.unpack(packing, held)._raw, node)
    return _unwritten(value, "an argument of checkpoint was written to after the call")


def _unwritten(tensor: Tensor, otherwise: str) -> Callable[[], Tensor]:
    """Return what gives a tensor back, or raises if it was written to."""
    writes = 0 if tensor._inference else memory.version(tensor)

    def read() -> Tensor:
        if not tensor._inference and memory.version(tensor) != writes:
            raise RuntimeError(
                f"a value needed for a gradient, of shape {list(tensor._raw.shape)}, was modified "
                f"in place: {otherwise}; write the operation there without the underscore"
            )
        return tensor

    return read


# -- without re-entry ------------------------------------------------------------------------------


class _Place:
    """Stands for a tensor that a node would save."""

    __slots__ = ("__weakref__",)


class _Stop(Exception):
    """Ends a function that has saved again all that it saved at first."""


class Frame:
    """A call whose nodes save nothing: for each sweep, what they would save is computed again."""

    def __init__(self, again: Again, stops: bool, checks: bool) -> None:
        self.again, self.stops, self.checks = again, stops, checks
        #: references to places, in the order of the saved tensors, and shapes and dtypes of these
        self.places: list[weakref.ref[_Place]] = []
        self.kinds: list[Any] = []
        self.has_returned = False

    def pack(self, tensor: Tensor) -> _Place:
        """Return a place for a tensor, which is not kept."""
        place = _Place()
        self.places.append(weakref.ref(place))
        self.kinds.append(_kind(tensor))
        return place

    def unpack(self, place: _Place) -> Tensor:
        """Return the tensor of a place; each sweep calls the function again, and once."""
        sweep = running.get()
        known = {} if sweep is None else sweep.recomputed
        if self not in known:
            known[self] = self.recomputed()
        try:
            return known[self].pop(place)()
        except KeyError:
            raise CheckpointError(
                "torch.utils.checkpoint: a saved tensor was asked for twice in one sweep; read "
                "ctx.saved_tensors once in backward"
            ) from None

    def recomputed(self) -> weakref.WeakKeyDictionary[_Place, Callable[[], Tensor]]:
        """Return what gives the tensors of all places that some node still needs."""
        found: weakref.WeakKeyDictionary[_Place, Callable[[], Tensor]]
        found = weakref.WeakKeyDictionary()
        kinds: list[Any] = []

        def pack(tensor: Tensor) -> Tensor:
            tensor = made(tensor._raw)
            position = len(kinds)
            kinds.append(_kind(tensor))
            if position < len(self.places):
                place = self.places[position]()
                if place is None:  # nothing needs it any more
                    kinds[position] = self.kinds[position]
                else:
                    found[place] = _unwritten(tensor, "checkpoint's function wrote to it")
                if self.stops and len(kinds) == len(self.places):
                    raise _Stop
            return tensor

        within = hooks.saved_tensors_hooks(pack, lambda tensor: tensor)
        with contextlib.suppress(_Stop), within, modes.enable_grad():
            self.again.call()
        if not self.has_returned:  # a sweep within the function: later operations were not saved
            kinds = kinds[: len(self.kinds)]
        if len(kinds) != len(self.kinds) or (self.checks and kinds != self.kinds):
            raise CheckpointError(
                "torch.utils.checkpoint: a function must do the same each time; called again for "
                f"the gradient, it saved {len(kinds)} tensors, the first of {kinds[:4]}, and "
                f"before {len(self.kinds)}, the first of {self.kinds[:4]}"
            )
        return found


def _kind(tensor: Tensor) -> tuple[Any, ...]:
    return tuple(tensor._raw.shape), tensor.dtype


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
    differs="a saved tensor that the function writes to in place is an error; PyTorch's gradient "
    "may be wrong",
)
def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn, determinism_check: str = "default",
    debug: bool = False, early_stop: bool = True, **kwargs: Any,
) -> Any:  # fmt: skip
    """Return what a function gives; for the gradient it is called again.

    Without re-entry that call ends with the last tensor that an operation saves, if `early_stop`.
    """
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
    stops = early_stop if _early_stop.get() is None else bool(_early_stop.get())
    again = Again(function, args, kwargs, keep_state, later)
    frame = Frame(again, stops, determinism_check != "none")
    with hooks.saved_tensors_hooks(frame.pack, frame.unpack), first:
        result = aloud(function, *args, **kwargs)
    frame.has_returned = True
    return result


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


#: What a context says for all checkpoints that are made in it.
_early_stop: ContextVar[bool | None] = ContextVar("wengert_torch_early_stop", default=None)


@plain("utils.checkpoint.set_checkpoint_early_stop")
@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Return a context that says whether checkpoints made in it stop early."""
    before = _early_stop.set(enable)
    try:
        yield
    finally:
        _early_stop.reset(before)


@plain("utils.checkpoint.set_checkpoint_debug_enabled")
def set_checkpoint_debug_enabled(enable: bool | None) -> contextlib.nullcontext[None]:
    """Return a context for a setting that changes nothing here."""
    return contextlib.nullcontext()
