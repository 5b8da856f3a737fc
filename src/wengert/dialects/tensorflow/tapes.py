"""GradientTape, and functions with gradients of their own."""

from __future__ import annotations

import contextlib
import enum
import functools
import inspect
import logging
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from wengert.dialects.quiet import Quiet, aloud
from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.recorders import begin, end
from wengert.dialects.tensorflow.slices import Aside
from wengert.dialects.tensorflow.structures import (
    flatten,
    map_structure,
    pack_sequence_as,
)
from wengert.dialects.tensorflow.table import plain
from wengert.dialects.tensorflow.tensors import Tensor, call_start, convert, is_tensor, outward
from wengert.engine.cotangents import Block
from wengert.engine.errors import DtypeError, ShapeError
from wengert.engine.tensor import Tensor as Native
from wengert.ops.variable import Variable as NativeVariable
from wengert.transforms.checkpoint import checkpoint
from wengert.transforms.gradients import stop_gradient as native_stop_gradient
from wengert.transforms.single_node import recorded_as_one
from wengert.transforms.tape import GradientTape as NativeTape

log = logging.getLogger("wengert.tensorflow")


@plain("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What the gradient is where no path leads to a source."""

    NONE = "none"
    ZERO = "zero"


def wants_zeros(unconnected_gradients: Any) -> bool:
    """Return whether to answer zeros where there is no path."""
    try:
        return UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(
            f"unconnected_gradients is {unconnected_gradients!r}; write "
            "tf.UnconnectedGradients.NONE or tf.UnconnectedGradients.ZERO"
        ) from None


def is_number(tensor: Any) -> bool:
    """Return whether a tensor or a variable has a derivative."""
    dtype = tensor.dtype
    return dtype.is_floating or dtype.is_complex


def _check_recorded(value: Any, what: str) -> None:
    """Raise what TensorFlow raises for a target or source that is no tensor."""
    if not is_tensor(value):
        wrong = TypeError if value is None or isinstance(value, str) else AttributeError
        raise wrong(
            f"{what} is {value!r:.80} of type {type(value).__name__!r}; a tape knows what was "
            "computed from tensors and variables"
        )


# -- reverse mode ---------------------------------------------------------------------------------


@plain(
    "GradientTape",
    "autodiff.GradientTape",
    differs="`output_gradients` are broadcast to the target's shape; those that do not fit are an "
    "InvalidArgumentError",
)
class GradientTape:
    """Records operations on what it watches, to differentiate them."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watches_read = watch_accessed_variables
        #: none before the first node, and after the one use of a tape that is not persistent
        self._tape: NativeTape | None = None
        self._watched: tuple[Any, ...] = ()

    def __enter__(self) -> GradientTape:
        if self._is_recording():
            raise ValueError(
                "the tape records already; leave its `with` before entering it again, or make "
                "another tape"
            )
        if self._tape is None:
            self._tape = NativeTape(self._persistent, self._watches_read)
        self._tape.__enter__()
        begin(self._tape._token)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._is_recording():
            self._stop()

    def _is_recording(self) -> bool:
        return self._tape is not None and self._tape._thread is not None

    def _stop(self) -> None:
        if self._tape is None or not self._is_recording():
            raise ValueError("the tape does not record now; enter it with `with tape:`")
        end(self._tape._token)
        self._tape.__exit__(None, None, None)

    def watch(self, tensor: Any) -> None:
        """Record what is computed from these tensors or variables from now on."""
        for leaf in flatten(tensor):
            if not is_tensor(leaf):
                raise ValueError(
                    f"watch: got {leaf!r:.80} of type {type(leaf).__name__!r}; expected a tensor "
                    "or a variable: write x = tf.constant(x), and compute with that"
                )
            if self._tape is None:
                raise AttributeError(
                    "watch() on a tape that has not been entered, or has been used up; write "
                    "`with tape:` first"
                )
            if is_number(leaf):
                self._tape.watch(leaf)
            else:
                log.warning(
                    "a tensor of dtype %r is not watched; write tf.cast(x, tf.float32)",
                    leaf.dtype,
                )

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Return a context in which this tape records nothing."""
        if self._tape is None:
            raise RuntimeError("stop_recording() outside of the tape's `with`")
        self._stop()
        try:
            yield
        finally:
            self.__enter__()

    def reset(self) -> None:
        """Forget all that was recorded and watched, and go on recording."""
        self._stop()
        self._tape = None
        self.__enter__()

    def watched_variables(self) -> tuple[Any, ...]:
        """Return the variables that are watched, in the order in which they were made."""
        if self._tape is not None:
            found = self._tape.watched_variables()
            self._watched = tuple(sorted(found, key=lambda v: v._leaf.order))
        return self._watched

    def _asked(self, method: str) -> NativeTape:
        """Return the tape to ask; one that is not persistent stops recording."""
        tape = self._tape
        if tape is None:
            raise RuntimeError(
                f"{method}() of a tape that was asked before, or never entered; write "
                "tf.GradientTape(persistent=True) to ask more than once"
            )
        if self._is_recording() and not self._persistent:
            self._stop()
        return tape

    def _used(self) -> None:
        if not self._persistent:
            self.watched_variables()
            self._tape = None

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """Return the derivative of the target's sum with respect to each source."""
        tape = self._asked("gradient")
        if target is None:
            raise TypeError(
                "gradient: the target is None; expected a tensor, or a nest of tensors, that was "
                "computed inside of the tape"
            )
        targets, weights = _targets(target, output_gradients)
        given = flatten(sources)
        for source in given:
            _check_recorded(source, "a source")
        zeros = wants_zeros(unconnected_gradients)
        asked = [s if is_number(s) else None for s in given]
        if any(s is None for s in asked):
            log.warning(
                "gradient: a source of dtype %s has no gradient and gets None; give floating "
                "numbers, such as tf.float32",
                [s.dtype for s in given],
            )
        cut: set[Any] = set()
        before = _cut.set(cut)
        try:
            with Aside(asked, targets) as aside, Quiet():
                found = tape.gradient(list(map(_source, targets)), asked, weights, dense=False)
        except (ShapeError, DtypeError) as error:
            raise invalid(str(error)) from error
        finally:
            _cut.reset(before)
        if cut:
            pairs = zip(found, given, strict=True)
            found = [None if node_of(s) in cut and _is_nothing(g) else g for g, s in pairs]
        answers = [aside.shown(g, s) for g, s in zip(found, given, strict=True)]
        for i, source in enumerate(given):
            answers[i] = _with_itself(tape, answers[i], source, targets, weights)
        self._used()
        if zeros:
            pairs = zip(answers, given, strict=True)
            answers = [outward(zeros_like(convert(s))) if g is None else g for g, s in pairs]
        return pack_sequence_as(sources, answers)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the gradient of every element of the target with respect to each source."""
        tape = self._asked_for_rows("jacobian", experimental_use_pfor)
        if not is_tensor(target):
            raise AttributeError(f"{type(target).__name__!r} object has no attribute 'shape'")
        given = flatten(sources)
        for source in given:
            _check_recorded(source, "a source")
        zeros = wants_zeros(unconnected_gradients)
        if isinstance(target, NativeVariable) and target.trainable:
            self.watch(target)  # asking for its rows reads it
        differentiable = [s for s in given if is_number(s)]
        found: Iterator[Any] = iter(())
        if is_number(target):
            with Quiet():
                rows = tape.jacobian(_source(target), list(map(_source, differentiable)))
            found = iter(rows)
        self._used()
        answers = [next(found, None) if is_number(s) else None for s in given]
        if zeros:
            shape = convert(target).shape
            pairs = zip(answers, given, strict=True)
            answers = [zeros_like(convert(s), shape) if g is None else g for g, s in pairs]
        return pack_sequence_as(sources, [outward(g) for g in answers])

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the Jacobian of each example: of target[i] with respect to source[i]."""
        tape = self._asked_for_rows("batch_jacobian", experimental_use_pfor)
        for tensor in (target, source):
            if not is_tensor(tensor):
                raise AttributeError(f"{type(tensor).__name__!r} object has no attribute 'shape'")
            if len(tensor.shape) < 2:
                raise ValueError(f"batch_jacobian: shape {tensor.shape}; expected two axes or more")
        if target.shape[0] != source.shape[0]:
            raise ValueError(
                f"batch_jacobian: the target has {target.shape[0]} examples and the source "
                f"{source.shape[0]}; their first axes must be of one length"
            )
        wants_zeros(unconnected_gradients)
        found = None
        if is_number(target) and is_number(source):
            with Quiet():
                found = tape.batch_jacobian(_source(target), _source(source))
        self._used()
        # TensorFlow answers zeros here, whatever is asked for
        return outward(found if found is not None else _batch_zeros(target, source))

    def _asked_for_rows(self, method: str, vectorised: bool) -> NativeTape:
        if not vectorised and not self._persistent and self._tape is not None:
            raise RuntimeError(
                f"{method}: experimental_use_pfor=False asks the tape for each row, so it has to "
                "be tf.GradientTape(persistent=True)"
            )
        return self._asked(method)


def _targets(target: Any, output_gradients: Any) -> tuple[list[Any], list[Any] | None]:
    """Return the targets that have a derivative, and their weights, if any are given."""
    leaves = flatten(target)
    for leaf in leaves:
        _check_recorded(leaf, "a target")
    weights = None
    if output_gradients is not None:
        # as TensorFlow has it, weights that are missing are ones, and further ones have no effect
        weights = [convert(w) for w in flatten(output_gradients)][: len(leaves)]
        missing = leaves[len(weights) :]
        weights += [Native._namespace.ones_like(convert(leaf)) for leaf in missing]
    kept = [i for i, leaf in enumerate(leaves) if is_number(leaf)]
    if len(kept) < len(leaves):
        log.warning(
            "gradient: a target of dtype %s has no gradient and is left out; give floating "
            "numbers, such as tf.float32",
            [leaf.dtype for leaf in leaves],
        )
    if weights is not None:
        weights = [weights[i] for i in kept]
        for i, weight in zip(kept, weights, strict=True):
            if weight.dtype != convert(leaves[i]).dtype:
                raise invalid(
                    f"output_gradients have dtype {weight.dtype} and the target "
                    f"{leaves[i].dtype.name}; write tf.cast(weights, tf.{leaves[i].dtype.name})"
                )
        weights = [_spread(w, convert(leaves[i]).shape) for i, w in zip(kept, weights, strict=True)]
    return [leaves[i] for i in kept], weights


def _spread(weight: Native, shape: tuple[int, ...]) -> Native:
    """Return a weight for each element of a target: fewer are repeated, as in arithmetic."""
    try:
        return weight if weight.shape == shape else Native._namespace.broadcast_to(weight, shape)
    except ValueError:
        raise invalid(
            f"output_gradients have shape {weight.shape} and the target {shape}; give one number "
            "for each element of the target"
        ) from None


def _with_itself(
    tape: NativeTape, answer: Any, source: Any, targets: list[Any], weights: list[Any] | None
) -> Any:
    """Return a gradient with the part of targets that are the source itself, if unrecorded."""
    node = node_of(source)
    if node is not None and tape._token in node.tokens:
        return answer
    for i, target in enumerate(targets):
        if target is source:
            one = Native._namespace.ones_like(convert(source)) if weights is None else weights[i]
            answer = outward(one if answer is None else convert(answer) + one)
    return answer


def node_of(value: Any) -> Any:
    """Return the node of a tensor or a variable."""
    return value._leaf if isinstance(value, NativeVariable) else value._node


#: The nodes of arguments for which the gradient of a `custom_gradient` said None.
_cut: ContextVar[set[Any] | None] = ContextVar("wengert_tensorflow_cut", default=None)


def _is_nothing(g: Any) -> bool:
    """Return whether a cotangent is zero by structure; one number says so by being zero."""
    if type(g) is Block:
        return not all(map(len, g.region))
    return g is not None and g.shape == () and not g._raw


def _source(value: Any) -> Any:
    """Return what Wengert's tape is asked about: a variable itself, or Wengert's tensor."""
    return value if isinstance(value, NativeVariable) else convert(value)


def zeros_like(tensor: Native, before: tuple[int, ...] = ()) -> Native:
    """Return zeros in the shape of a tensor, with further axes before its own."""
    return Native._namespace.zeros((*before, *tensor.shape), dtype=tensor.dtype)


def _batch_zeros(target: Any, source: Any) -> Native:
    shape = (*convert(target).shape, *convert(source).shape[1:])
    return Native._namespace.zeros(shape, dtype=convert(target).dtype)


# -- functions with gradients of their own --------------------------------------------------------


@plain("stop_gradient")
def stop_gradient(input: Any, name: str | None = None) -> Any:
    """Return the same values as constants."""
    return outward(native_stop_gradient(convert(input)))


@plain("grad_pass_through")
def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose gradient is that of its first argument passed on."""

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        x = convert(args[0])
        value = native_stop_gradient(convert(f(*args, **kwargs)))
        return outward(recorded_as_one("grad_pass_through", [x], [value], lambda _, w: w)[0])

    return call


@plain("recompute_grad")
def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that keeps only its inputs, and runs again for a gradient."""

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        def on_native(function: Callable[..., Any], *given: Any, **options: Any) -> Any:
            result = aloud(function, *_outward_in(given), **_outward_in(options))
            return map_structure(_inward, result)

        start = call_start()
        again = checkpoint(functools.partial(on_native, f))
        result = again(*map_structure(_inward, args), **map_structure(_inward, kwargs))
        return map_structure(lambda value: outward(value, start), result)

    return call


def _inward(value: Any) -> Any:
    return convert(value) if type(value) is Tensor else value


def _outward_in(nest: Any) -> Any:
    return map_structure(outward, nest)


@plain(
    "custom_gradient",
    differs="where its gradient is None, what the argument was computed from gets zeros, not None",
)
def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Return a function with a gradient of its own: `f` returns (result, function of weights).

    If `f` reads variables that are no arguments, the function of weights is called with
    ``variables=...`` and returns (gradients of arguments, gradients of variables).
    """
    return custom_gradient if f is None else _Custom(f)


class _Custom:
    """A function that brings its gradient; as an attribute of a class, a method."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self._f = f
        functools.update_wrapper(self, f)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else _Custom(self._f.__get__(instance, owner))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = getattr(self._f, "__name__", "custom_gradient")
        watcher = NativeTape()  # which variables are read
        with watcher:
            result, pull = self._f(*args, **kwargs)
        given = [*flatten(args), *flatten(kwargs)]
        read = [v for v in watcher.watched_variables() if all(v is not g for g in given)]
        if read and not _takes_variables(pull):
            raise TypeError(
                f"custom_gradient: the function reads the variables {[v.name for v in read]}, so "
                "its gradient must take them: write def grad(dy, variables=None)"
            )
        arguments = [convert(a) for a in flatten(args)]
        results = [convert(r) for r in flatten(result)]
        kinds = [(r.shape, r.dtype) for r in results]

        def backward(_: list[Any], weights: list[Any]) -> list[Any]:
            zeros = Native._namespace.zeros
            whole = [
                outward(zeros(shape, dtype=dtype) if w is None else w)
                for w, (shape, dtype) in zip(weights, kinds, strict=True)
            ]
            answers = _pulled(pull, whole, len(arguments), read)
            cut = _cut.get()
            if cut is not None:
                pairs = zip(answers, sources, strict=True)
                cut.update(s._node for a, s in pairs if a is None)
            return answers

        sources = [*arguments, *map(convert, read)]
        recorded = recorded_as_one(name, sources, results, backward)
        return pack_sequence_as(result, [outward(r) for r in recorded])


def _takes_variables(pull: Callable[..., Any]) -> bool:
    parameters = inspect.signature(pull).parameters.values()
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)


def _pulled(
    pull: Callable[..., Any], weights: list[Any], count: int, variables: list[Any]
) -> list[Any]:
    """Return the gradient of each argument and of each variable, as a function says."""
    by_variable: Any = []
    if variables:
        by_argument, by_variable = aloud(pull, *weights, variables=variables)
        if len(flatten(by_variable)) != len(variables):
            raise ValueError(
                f"custom_gradient: {len(variables)} variables are read, and their gradient "
                f"returned {len(flatten(by_variable))} values; return one for each"
            )
    else:
        by_argument = aloud(pull, *weights)
    answers = flatten(by_argument)
    if len(answers) != count:
        raise ValueError(
            f"custom_gradient: the function has {count} arguments, and its gradient returned "
            f"{len(answers)} values; return one for each"
        )
    return [None if g is None else convert(g) for g in [*answers, *flatten(by_variable)]]


@plain("gradients", "hessians")
def gradients(*args: Any, **kwargs: Any) -> Any:
    """Raise: gradients come from a tape."""
    raise RuntimeError(
        "there is no graph for tf.gradients to look at; write with tf.GradientTape() as tape: "
        "y = f(x), then tape.gradient(y, x)"
    )
