"""GradientTape and ForwardAccumulator, and functions with gradients of their own."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator
from typing import Any

from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.slices import Aside
from wengert.dialects.tensorflow.table import plain
from wengert.dialects.tensorflow.tensors import convert, is_tensor, outward
from wengert.engine.errors import RuleError, ShapeError, TapeError
from wengert.engine.tape import GradientTape as NativeTape
from wengert.engine.tensor import Tensor as Native
from wengert.engine.trees import flatten, map_leaves
from wengert.engine.variable import Variable as NativeVariable
from wengert.transforms.checkpoint import checkpoint
from wengert.transforms.custom import custom_gradient as native_custom_gradient
from wengert.transforms.forward import ForwardAccumulator as NativeAccumulator
from wengert.transforms.gradients import stop_gradient as native_stop_gradient

log = logging.getLogger("wengert.tensorflow")


@plain("UnconnectedGradients")
class UnconnectedGradients:
    """What the gradient is where no path leads to a source."""

    NONE = "none"
    ZERO = "zero"


def _is_number(tensor: Any) -> bool:
    dtype = tensor.dtype
    return dtype.is_floating or dtype.is_complex


@plain("GradientTape", "autodiff.GradientTape")
class GradientTape:
    """Records operations on what it watches, to differentiate them."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._tape = NativeTape(persistent, watch_accessed_variables)
        self._used = False

    def __enter__(self) -> GradientTape:
        if self._tape._thread is not None:
            raise ValueError(
                "Tape is still recording, This can happen if you try to re-enter an already-active tape."
            )
        self._tape.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._tape._thread is not None:
            self._tape.__exit__(*exception)

    def watch(self, tensor: Any) -> None:
        """Record what is computed from these tensors or variables from now on."""
        for leaf in flatten(tensor)[0]:
            if not is_tensor(leaf):
                raise ValueError(
                    f"Passed in object {leaf!r} of type {type(leaf).__name__!r}, not tf.Tensor or tf.Variable or ExtensionType."
                )
            if not _is_number(leaf):
                log.warning(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                    leaf.dtype,
                )
                continue
            self._tape.watch(leaf)

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Return a context in which this tape records nothing."""
        if self._tape._thread is None:
            raise ValueError("Tape is not recording.")
        with self._tape.stop_recording():
            yield

    def reset(self) -> None:
        """Forget all that was recorded and watched."""
        self._used = False
        self._tape.reset()

    def watched_variables(self) -> tuple[Any, ...]:
        """Return the variables that are watched."""
        return self._tape.watched_variables()

    def _check(self, unconnected_gradients: Any) -> str:
        if self._used:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or "
                "jacobians); write tf.GradientTape(persistent=True) to ask more than once"
            )
        if unconnected_gradients not in ("none", "zero"):
            raise ValueError(
                f"Unknown value for unconnected_gradients: {unconnected_gradients!r}; write "
                "tf.UnconnectedGradients.NONE or tf.UnconnectedGradients.ZERO"
            )
        return str(unconnected_gradients)

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """Return the derivative of the target's sum with respect to each source."""
        unconnected = self._check(unconnected_gradients)
        if target is None:
            raise TypeError(
                "Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors to be differentiated, but received None."
            )
        targets, weights = self._targets(target, output_gradients)
        given, rebuild = flatten(sources)
        for source in given:
            if not is_tensor(source):
                raise ValueError(
                    f"Passed in object {source!r} of type {type(source).__name__!r}, not tf.Tensor or tf.Variable or ExtensionType."
                )
        asked = [s if _is_number(s) else None for s in given]
        self._used = not self._persistent
        try:
            with Aside(asked) as aside:
                found = self._tape.gradient(targets, asked, weights, "none", dense=False)
        except ShapeError as error:
            raise invalid(str(error)) from error
        if unconnected == "zero":
            found = [
                _zeros(s) if g is None and s is not None else g
                for g, s in zip(found, asked, strict=True)
            ]
        return rebuild([aside.shown(g, s) for g, s in zip(found, given, strict=True)])

    def _targets(self, target: Any, output_gradients: Any) -> tuple[list[Any], Any]:
        leaves = flatten(target)[0]
        given = [None] * len(leaves) if output_gradients is None else flatten(output_gradients)[0]
        if len(given) != len(leaves):
            raise ValueError(
                f"{len(leaves)} targets and {len(given)} output_gradients; give one for each target"
            )
        targets, weights = [], []
        for leaf, weight in zip(leaves, given, strict=True):
            if not is_tensor(leaf):
                raise ValueError(
                    f"Passed in object {leaf!r} of type {type(leaf).__name__!r}, not tf.Tensor or tf.Variable or ExtensionType."
                )
            if not _is_number(leaf):
                log.warning(
                    "The dtype of the target tensor must be floating (e.g. tf.float32) when calling "
                    "GradientTape.gradient, got %r",
                    leaf.dtype,
                )
                continue
            tensor = convert(leaf)
            targets.append(leaf if isinstance(leaf, NativeVariable) else tensor)
            ones = Native._namespace.ones(tensor.shape, dtype=tensor.dtype)
            weights.append(ones if weight is None else convert(weight, leaf.dtype))
        return targets, weights if output_gradients is not None else None

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the gradient of every element of the target with respect to each source."""
        unconnected = self._check(unconnected_gradients)
        self._used = not self._persistent
        return map_leaves(outward, self._tape.jacobian(convert(target), sources, unconnected))

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the Jacobian of each example: of target[i] with respect to source[i]."""
        unconnected = self._check(unconnected_gradients)
        try:
            found = self._tape.batch_jacobian(convert(target), source, unconnected)
        except ShapeError as error:
            raise ValueError(str(error)) from error
        self._used = not self._persistent
        return outward(found)


def _zeros(source: Any) -> Native:
    tensor = convert(source)
    return Native._namespace.zeros(tensor.shape, dtype=tensor.dtype)


@plain("autodiff.ForwardAccumulator")
class ForwardAccumulator:
    """Computes derivatives in one direction along with values."""

    def __init__(self, primals: Any, tangents: Any) -> None:
        for primal in flatten(primals)[0]:
            if not _is_number(primal):
                raise ValueError("ForwardAccumulator: primals must be floating or complex tensors")
        moved = map_leaves(lambda t: t if t is None else convert(t), tangents)
        try:
            self._accumulator = NativeAccumulator(primals, moved)
        except ShapeError as error:
            raise ValueError(str(error)) from error

    def __enter__(self) -> ForwardAccumulator:
        self._accumulator.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._accumulator.__exit__(*exception)

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Return the tangent of a tensor, or of each in a nest."""
        try:
            return map_leaves(outward, self._accumulator.jvp(primals, str(unconnected_gradients)))
        except TapeError as error:
            raise ValueError(str(error)) from error


@plain("stop_gradient")
def stop_gradient(input: Any, name: str | None = None) -> Any:
    """Return the same values as constants."""
    return outward(native_stop_gradient(convert(input)))


@plain("recompute_grad")
def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that keeps only its inputs, and runs again for a gradient."""
    return checkpoint(f)


@plain("custom_gradient")
def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Return a function with a gradient of its own: `f` returns (result, function of weights)."""
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        def on_native(*tensors: Any) -> Any:
            result, pull = f(*(outward(t) for t in tensors), **kwargs)

            def weighted(*weights: Any) -> Any:
                return _as_natives(pull(*(outward(w) for w in weights)))

            return map_leaves(convert, result), weighted

        on_native.__name__ = getattr(f, "__name__", "custom_gradient")
        try:
            return map_leaves(outward, native_custom_gradient(on_native)(*map(convert, args)))
        except RuleError as error:
            raise ValueError(str(error)) from error

    return call


def _as_natives(answers: Any) -> Any:
    if isinstance(answers, (list, tuple)):
        return tuple(None if a is None else convert(a) for a in answers)
    return None if answers is None else convert(answers)


@plain("gradients")
def gradients(ys: Any, xs: Any, *args: Any, **kwargs: Any) -> Any:
    """Raise: gradients come from a tape."""
    raise RuntimeError(
        "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape: "
        "with tf.GradientTape() as tape: y = f(x); then tape.gradient(y, x)"
    )
