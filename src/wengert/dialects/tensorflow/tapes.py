"""GradientTape, and functions with gradients of their own."""

from __future__ import annotations

import contextlib
import enum
import functools
import inspect
import itertools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from wengert.dialects.quiet import Quiet, aloud
from wengert.dialects.tensorflow.errors import invalid, mistake
from wengert.dialects.tensorflow.recorders import as_constant, begin, end
from wengert.dialects.tensorflow.slices import Aside
from wengert.dialects.tensorflow.structures import flatten, map_structure, pack_sequence_as
from wengert.dialects.tensorflow.table import plain
from wengert.dialects.tensorflow.tensors import (
    Tensor,
    call_start,
    convert,
    held,
    is_tensor,
    outward,
)
from wengert.engine.cotangents import Block
from wengert.engine.tensor import Tensor as Native
from wengert.errors import DtypeError, ShapeError
from wengert.explain.nones import tell_custom
from wengert.explain.watchers import paused
from wengert.ops.families.factored import Factored
from wengert.ops.variable import Variable as NativeVariable
from wengert.transforms.checkpoint import checkpoint
from wengert.transforms.gradients import stop_gradient as native_stop_gradient
from wengert.transforms.single_node import recorded_as_one
from wengert.transforms.tape import GradientTape as NativeTape


@plain("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What the gradient is where no path leads to a source."""

    NONE = "none"
    ZERO = "zero"


def wants_zeros(given: Any) -> bool:
    """Return whether to answer zeros where there is no path."""
    try:
        return UnconnectedGradients(given) is UnconnectedGradients.ZERO
    except ValueError:
        expected = "tf.UnconnectedGradients.NONE or tf.UnconnectedGradients.ZERO"
        raise mistake(ValueError, "unconnected_gradients", given, expected) from None


def is_number(tensor: Any) -> bool:
    """Return whether a tensor or a variable has a derivative."""
    dtype = tensor.dtype
    return dtype.is_floating or dtype.is_complex


def numbers_among(tensors: list[Any], what: str) -> list[bool]:
    """Return which tensors have a derivative; a warning says that some have none."""
    found = [is_number(tensor) for tensor in tensors]
    if not all(found):
        import logging  # which is slow to import

        logging.getLogger("wengert.tensorflow").warning(
            "%s of dtype %s has no gradient; give floating numbers: write tf.cast(x, tf.float32)",
            what,
            [tensor.dtype for tensor in tensors],
        )
    return found


def _recorded(nest: Any, what: str) -> list[Any]:
    """Return the tensors of a nest; raise what TensorFlow raises for what is no tensor."""
    leaves = [as_constant(held(leaf)) for leaf in flatten(nest)]
    for value in leaves:
        if not is_tensor(value):
            wrong = TypeError if value is None or isinstance(value, str) else AttributeError
            raise mistake(wrong, what, value, "a tensor or a variable, which a tape records")
    return leaves


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
            raise ValueError("the tape records already; leave its `with`, or make another tape")
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
        for leaf in map(held, flatten(tensor)):
            if not is_tensor(leaf):
                raise mistake(ValueError, "watch: x", leaf, "a tensor: write tf.constant(x)")
            if self._tape is None:
                raise AttributeError("watch() of a tape that is not open; write `with tape:` first")
            if all(numbers_among([leaf], "watch: a tensor")):
                self._tape.watch(leaf)

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Return a context in which this tape records nothing."""
        if self._tape is None:
            raise RuntimeError("stop_recording() outside of the tape's `with`")
        self._stop()
        paused(self._tape._token, True)
        try:
            yield
        finally:
            self.__enter__()
            paused(self._tape._token, False)

    def reset(self) -> None:
        """Forget all that was recorded and watched, and go on recording."""
        self._stop()
        before, self._tape = self._tape, None
        self.__enter__()
        if before is not None and self._tape is not None:
            self._tape._comes_after(before)

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
        self, target: Any, sources: Any, output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:  # fmt: skip
        """Return the derivative of the target's sum with respect to each source."""
        tape = self._asked("gradient")
        if target is None:
            raise mistake(TypeError, "gradient: target", None, "a tensor, or a nest of tensors")
        targets, weights = _targets(target, output_gradients)
        given = _recorded(sources, "a source")
        zeros = wants_zeros(unconnected_gradients)
        kinds = zip(given, numbers_among(given, "gradient: a source"), strict=True)
        asked = [source if is_one else None for source, is_one in kinds]
        cut: set[Any] = set()
        before = _cut.set(cut)
        try:
            with Aside(asked, targets) as aside, Quiet():
                found = tape.gradient(list(map(_source, targets)), asked, weights, dense=False)
        except (ShapeError, DtypeError) as error:
            raise invalid(str(error)) from error
        finally:
            _cut.reset(before)
        answers: list[Any] = []
        for g, source in zip(found, given, strict=True):
            g = g.todense() if type(g) is Factored else g
            g = None if node_of(source) in cut and _is_nothing(g) else g
            answer = _with_itself(tape, aside.shown(g, source), source, targets, weights)
            if answer is None and g is None and node_of(source) in cut and not zeros:
                tell_custom(source, len(answers))
            answers.append(zeros_like(convert(source)) if answer is None and zeros else answer)
        self._used()
        return pack_sequence_as(sources, outward(answers))

    def jacobian(
        self, target: Any, sources: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """Return the gradient of every element of the target with respect to each source."""
        target = as_constant(target)
        tape = self._asked_for_rows("jacobian", experimental_use_pfor, target)
        given = _recorded(sources, "a source")
        zeros = wants_zeros(unconnected_gradients)
        if isinstance(target, NativeVariable) and target.trainable:
            self.watch(target)  # asking for its rows reads it
        found: Iterator[Any] = iter(())
        if is_number(target):
            with Quiet():
                differentiable = [s for s in given if is_number(s)]
                found = iter(tape.jacobian(_source(target), differentiable))
        self._used()
        answers = []
        for source in given:
            g = next(found, None) if is_number(source) else None
            blank = zeros_like(convert(source), convert(target).shape) if zeros else None
            answers.append(blank if g is None else g)
        return pack_sequence_as(sources, outward(answers))

    def batch_jacobian(
        self, target: Any, source: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """Return the Jacobian of each example: of target[i] with respect to source[i]."""
        tape = self._asked_for_rows("batch_jacobian", experimental_use_pfor, target, source)
        shapes = convert(target).shape, convert(source).shape
        if min(map(len, shapes)) < 2 or shapes[0][0] != shapes[1][0]:
            raise ValueError(
                f"batch_jacobian: the target has shape {shapes[0]} and the source {shapes[1]}; "
                "expected two axes or more, of which the first are of one length"
            )
        wants_zeros(unconnected_gradients)
        found = None
        if is_number(target) and is_number(source):
            with Quiet():
                found = tape.batch_jacobian(_source(target), _source(source))
        self._used()
        # TensorFlow answers zeros here, whatever is asked for
        blank = Native._namespace.zeros((*shapes[0], *shapes[1][1:]), dtype=convert(target).dtype)
        return outward(blank if found is None else found)

    def _asked_for_rows(self, method: str, vectorised: bool, *tensors: Any) -> NativeTape:
        if not vectorised and not self._persistent and self._tape is not None:
            raise RuntimeError(
                f"{method}: experimental_use_pfor=False asks the tape for each row, so it has to "
                "be tf.GradientTape(persistent=True)"
            )
        tape = self._asked(method)
        for tensor in tensors:
            if not is_tensor(tensor):
                raise AttributeError(f"{type(tensor).__name__!r} object has no attribute 'shape'")
        return tape


def _targets(target: Any, output_gradients: Any) -> tuple[list[Any], list[Any] | None]:
    """Return the targets that have a derivative, and their weights, if any are given."""
    leaves = _recorded(target, "a target")
    kept = numbers_among(leaves, "gradient: a target")
    targets = list(itertools.compress(leaves, kept))
    if output_gradients is None:
        return targets, None
    # as TensorFlow has it, weights that are missing are ones, and further ones have no effect
    weights = [convert(w) for w in flatten(output_gradients)][: len(leaves)]
    weights += [Native._namespace.ones_like(convert(leaf)) for leaf in leaves[len(weights) :]]
    pairs = zip(itertools.compress(weights, kept), targets, strict=True)
    return targets, [_spread(weight, convert(leaf)) for weight, leaf in pairs]


def _spread(weight: Native, target: Native) -> Native:
    """Return a weight for each element of a target: fewer are repeated, as in arithmetic."""
    try:
        if weight.dtype == target.dtype:
            if weight.shape == target.shape:
                return weight
            return Native._namespace.broadcast_to(weight, target.shape)
    except ValueError:
        pass
    raise invalid(
        f"output_gradients have shape {weight.shape} and dtype {weight.dtype}, and the target "
        f"{target.shape} and {target.dtype}; give one number of its dtype for each element"
    )


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
        def on_native(*given: Any, **options: Any) -> Any:
            given, options = map_structure(outward, (given, options))
            return map_structure(_inward, aloud(f, *given, **options))

        start = call_start()
        args, kwargs = map_structure(_inward, (args, kwargs))
        result = checkpoint(on_native)(*args, **kwargs)
        return map_structure(lambda value: outward(value, start), result)

    return call


def _inward(value: Any) -> Any:
    return convert(value) if type(value) is Tensor else value


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
        with NativeTape() as reader:  # arguments that are variables, which Keras may read as a cast
            arguments = [convert(a) for a in flatten(args)]
            _ = [convert(option) for option in flatten(kwargs) if is_tensor(option)]
        given = reader.watched_variables()
        read = [v for v in watcher.watched_variables() if all(v is not g for g in given)]
        if read and not _takes_variables(pull):
            names = [v.name for v in read]
            raise TypeError(f"the function reads {names}; write def grad(dy, variables=None)")
        results = [convert(r) for r in flatten(result)]
        kinds, zeros = [(r.shape, r.dtype) for r in results], Native._namespace.zeros

        def backward(_: list[Any], weights: list[Any]) -> list[Any]:
            pairs = zip(weights, kinds, strict=True)
            whole = [outward(zeros(k[0], dtype=k[1]) if w is None else w) for w, k in pairs]
            answers = _pulled(pull, whole, len(arguments), read)
            cut = _cut.get()
            if cut is not None:
                cut.update(s._node for a, s in zip(answers, sources, strict=True) if a is None)
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
    answer = aloud(pull, *weights, **({"variables": variables} if variables else {}))
    by_argument, by_variable = map(flatten, answer if variables else (answer, []))
    given, expected = (len(by_argument), len(by_variable)), (count, len(variables))
    if given != expected:
        what = "custom_gradient: the number of gradients of arguments and of variables"
        raise mistake(ValueError, what, given, f"{expected}, one for each")
    return [None if g is None else convert(g) for g in [*by_argument, *by_variable]]


@plain("gradients", "hessians")
def gradients(*args: Any, **kwargs: Any) -> Any:
    """Raise: gradients come from a tape."""
    raise RuntimeError(
        "there is no graph for tf.gradients to look at; write with tf.GradientTape() as tape: "
        "y = f(x), then tape.gradient(y, x)"
    )
