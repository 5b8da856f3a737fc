"""Loops, branches and tf.function, all of which run as Python."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from wengert.dialects.tensorflow import tensors as eager
from wengert.dialects.tensorflow.dtypes import as_dtype, of_numpy
from wengert.dialects.tensorflow.errors import OpError, OutOfRangeError, invalid, mistake
from wengert.dialects.tensorflow.recorders import as_constant, in_function
from wengert.dialects.tensorflow.settings import ignore
from wengert.dialects.tensorflow.structures import Opaque, TensorSpec, flatten, pack_sequence_as
from wengert.dialects.tensorflow.structures import assert_same_structure as check_form
from wengert.dialects.tensorflow.structures import map_structure as mapped
from wengert.dialects.tensorflow.table import absent, plain
from wengert.dialects.tensorflow.tensors import Tensor, convert, is_tensor, outward, tensor_of
from wengert.engine.tensor import Tensor as Native
from wengert.transforms.vmap import vmap

ns = Native._namespace
absent({
    "case": "tf.cond, or Python's if and elif, also in a tf.function",
    "foldr": "tf.foldl(fn, tf.reverse(elems, [0]))",
})  # fmt: skip
#: Options of loops that have no effect on Python's.
_LOOP = ("parallel_iterations", "back_prop", "swap_memory", "infer_shape", "name")


def _check_callable(value: Any, name: str, wrong: type[Exception] = TypeError) -> None:
    if not callable(value):
        raise wrong(f"{name} is {value!r:.80}; expected a function")


# -- branches -------------------------------------------------------------------------------------


def _branch(function: Callable[[], Any]) -> Any:
    """Return what a branch returns; numbers are tensors where a tf.function runs."""
    answer = function()
    return mapped(as_constant, answer) if in_function.get() else answer


@plain("cond")
def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: Any = None) -> Any:
    """Return true_fn() if a condition holds, else false_fn()."""
    _check_callable(true_fn, "cond: true_fn")
    _check_callable(false_fn, "cond: false_fn")
    return _branch(true_fn if pred else false_fn)


@plain("switch_case")
def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: Any = None) -> Any:
    """Return what the function of a number returns; outside of them, the default or the last."""
    if not is_tensor(branch_index) or not branch_index.dtype.is_integer:
        raise mistake(TypeError, "switch_case: branch_index", branch_index, "tf.constant(i)")
    pairs = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    if not pairs or not all(isinstance(fn, tuple) for fn in pairs):
        pairs = list(enumerate(pairs))
    functions = dict(pairs)
    for fn in functions.values():
        _check_callable(fn, "switch_case: branch function")
    if sorted(number for number, _ in pairs) != list(range(len(pairs))):
        raise ValueError(f"switch_case: the numbers {list(functions)}; expected all from 0 on")
    chosen = functions.get(int(branch_index), default)
    return _branch(functions[len(functions) - 1] if chosen is None else chosen)


# -- loops ----------------------------------------------------------------------------------------


@plain("while_loop")
def while_loop(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = None, *,
    maximum_iterations: Any = None, **ignored: Any,
) -> Any:  # fmt: skip
    """Return what `body`, called again and again while `cond` holds, makes of some values."""
    ignore("while_loop", ignored, *_LOOP)
    _check_callable(cond, "cond")
    _check_callable(body, "body")
    if not isinstance(loop_vars, (list, tuple)) or not loop_vars:
        raise ValueError("while_loop: loop_vars is empty or no list; give [x, ...]")
    values: Any = loop_vars
    rounds = math.inf if maximum_iterations is None else int(maximum_iterations)
    done = 0
    while done < rounds and cond(*values):
        answer = body(*values)
        if not isinstance(answer, (list, tuple)) or len(answer) != len(loop_vars):
            one_number = np.shape(answer) == () and maximum_iterations is None
            wrong = TypeError if one_number else ValueError
            raise mistake(
                wrong, "while_loop: result of body", answer, f"a list of {len(loop_vars)}: [x]"
            )
        check_form(list(loop_vars), list(answer))
        values, done = answer, done + 1
    return mapped(lambda v: v if isinstance(v, Opaque) else tensor_of(v), values)


def _elements(elems: Any, what: str) -> tuple[list[Native], int]:
    """Return the tensors of a nest, and the number of elements that all have."""
    tensors = [convert(e) for e in flatten(elems)]
    if any(not t.ndim for t in tensors):
        kind = ValueError if what == "map_fn" else IndexError
        raise mistake(kind, f"{what}: elems", elems, "first axes: write tf.constant(elems)")
    counts = {t.shape[0] for t in tensors}
    if len(counts) != 1:
        raise mistake(ValueError, f"{what}: lengths of elems", sorted(counts), "one for all")
    return tensors, counts.pop()


def _element(tensors: Sequence[Native], elems: Any, i: int) -> Any:
    return pack_sequence_as(elems, [outward(t[i]) for t in tensors])


def _stacked(rows: list[list[Native]], kinds: Sequence[Any], form: Any) -> Any:
    """Return the results of a loop: each part of them as one tensor."""
    stacks = []
    for k, dtype in enumerate(kinds):
        parts = [row[k] for row in rows]
        for part in parts:
            if part.dtype != dtype:
                raise invalid(
                    f"the function returned {of_numpy(part.dtype).name}, and "
                    f"{of_numpy(np.dtype(dtype)).name} is expected; say what it returns with "
                    "fn_output_signature"
                )
            if part.shape != parts[0].shape:
                raise mistake(
                    ValueError, "shape of a result", part.shape, f"{parts[0].shape}, as the first"
                )
        stacks.append(outward(ns.stack(parts) if parts else ns.zeros((0,), dtype=dtype)))
    return pack_sequence_as(form, stacks)


@plain("map_fn")
def map_fn(
    fn: Any, elems: Any, dtype: Any = None, *, fn_output_signature: Any = None, **ignored: Any
) -> Any:
    """Return what a function returns for each element along the first axis, stacked."""
    ignore("map_fn", ignored, *_LOOP)
    _check_callable(fn, "map_fn: fn", AttributeError)
    tensors, count = _elements(elems, "map_fn")
    signature = dtype if fn_output_signature is None else fn_output_signature
    form = elems if signature is None else signature
    given = tensors if signature is None else flatten(signature)
    kinds = [_dtype_of(part) for part in given]
    rows = [_leaves(fn(_element(tensors, elems, i)), form, kinds) for i in range(count)]
    return _stacked(rows, kinds, form)


def _dtype_of(part: Any) -> Any:
    if isinstance(part, Native):
        return part.dtype
    return (part.dtype if isinstance(part, TensorSpec) else as_dtype(part))._numpy


def _leaves(answer: Any, form: Any, kinds: Sequence[Any]) -> list[Native]:
    """Return what a function returned as tensors; it must have a form, and numbers get dtypes."""
    check_form(form, answer)
    pairs = zip(flatten(answer), kinds, strict=True)
    return [convert(a) if is_tensor(a) else convert(a, of_numpy(np.dtype(d))) for a, d in pairs]


@plain(
    "vectorized_map",
    differs="a function that looks at the values of its argument is called for each element",
)
def vectorized_map(
    fn: Any, elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """Return what a function returns for each element along the first axis, computed at once."""
    start = eager.call_start()
    tensors = [convert(e) for e in flatten(elems)]
    if not tensors or any(not t.ndim for t in tensors):
        raise IndexError("vectorized_map: each of elems must have a first axis, of its elements")
    sizes = {t.shape[0] for t in tensors}
    count = max(sizes) if 0 not in sizes else 0
    if sizes - {1, count}:
        raise invalid(f"vectorized_map: elems have {sorted(sizes)} elements; give all the same")
    axes = tuple(0 if t.shape[0] == count else None for t in tensors)
    given = [t if axis == 0 else t[0] for t, axis in zip(tensors, axes, strict=True)]
    form: list[Any] = []

    def on_natives(*parts: Native) -> Any:
        answer = fn(pack_sequence_as(elems, [outward(p) for p in parts]))
        form[:] = [answer]
        return [convert(a) for a in flatten(answer)]

    try:
        found = vmap(on_natives, axes, randomness="different")(*given)
    except (TypeError, OpError) as error:
        if not fallback_to_while_loop or "inside of vmap" not in str(error):
            raise
        pairs = list(zip(given, axes, strict=True))
        rows = [on_natives(*(t if a is None else t[i] for t, a in pairs)) for i in range(count)]
        found = [ns.stack(list(part)) for part in zip(*rows, strict=True)]
    return pack_sequence_as(form[0], [outward(convert(f), start) for f in found])


def _fold(
    what: str, fn: Any, elems: Any, initializer: Any, backwards: bool = False
) -> tuple[Any, list[list[Native]], list[Any]]:
    """Return the last value of a fold, its leaves at each element, and their dtypes."""
    _check_callable(fn, f"{what}: fn", AttributeError)
    tensors, count = _elements(elems, what)
    steps = iter(range(count)[::-1] if backwards else range(count))
    rows: list[list[Native]] = []
    form = elems if initializer is None else initializer
    if initializer is None:
        first = next(steps, None)
        if first is None:
            raise OutOfRangeError(None, None, f"{what}: there is no element, and no initializer")
        value = _element(tensors, elems, first)
        rows.append([convert(v) for v in flatten(value)])
    else:
        value = mapped(tensor_of, initializer)
    kinds = [convert(v).dtype for v in flatten(value)]
    for i in steps:
        rows.append(_leaves(fn(value, _element(tensors, elems, i)), form, kinds))
        value = pack_sequence_as(form, [outward(leaf) for leaf in rows[-1]])
    return value, rows[::-1] if backwards else rows, kinds


@plain("foldl")
def foldl(fn: Any, elems: Any, initializer: Any = None, **ignored: Any) -> Any:
    """Return fn(... fn(fn(initializer, elems[0]), elems[1]) ..., elems[-1])."""
    ignore("foldl", ignored, *_LOOP)
    return _fold("foldl", fn, elems, initializer)[0]


@plain("scan")
def scan(
    fn: Any, elems: Any, initializer: Any = None, *, reverse: bool = False, **ignored: Any
) -> Any:
    """Return the values of `foldl` at each element, stacked."""
    ignore("scan", ignored, *_LOOP)
    _, rows, kinds = _fold("scan", fn, elems, initializer, reverse)
    return _stacked(rows, kinds, elems if initializer is None else initializer)


# -- tf.function ----------------------------------------------------------------------------------


class Function:
    """A function that takes and returns tensors; as an attribute of a class, a method."""

    def __init__(self, function: Callable[..., Any], input_signature: Any = None) -> None:
        self._function = function
        self._signature = None if input_signature is None else tuple(input_signature)
        functools.update_wrapper(self, function)

    python_function = property(attrgetter("_function"), doc="The function as it was written.")
    input_signature = property(attrgetter("_signature"), doc="What the arguments are, if said.")

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return Function(self._function.__get__(instance, owner), self._signature)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the function returns, as tensors."""
        start = eager.call_start()
        try:
            bound = inspect.signature(self._function).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(
                f"{getattr(self._function, '__name__', self._function)}: {error}; it was given "
                f"{args!r:.100} and {kwargs!r:.100}"
            ) from None
        if self._signature is not None:
            bound.apply_defaults()
            given = (*bound.args, *bound.kwargs.values())
            fitted = tuple(map(_of_spec, given, self._signature))
            args, kwargs = (*fitted, *given[len(fitted) :]), {}
        before = in_function.set(True)
        try:
            result = self._function(*mapped(_argument, args), **mapped(_argument, kwargs))
        finally:
            in_function.reset(before)
        seen: set[int] = set()
        return mapped(lambda value: _returned(value, start, seen), result)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"a tf.function has no {name!r} here: it runs as Python, and there is no graph to look "
            "at or to export; save values with tf.train.Checkpoint(model=model).save(path), and "
            "models of Keras with model.save('model.keras')"
        )

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Function:
        """Return the same function, for arguments like these tensors or TensorSpecs."""
        specs = [_spec_of(value) for value in args]
        return self if kwargs or None in specs else Function(self._function, specs)

    def experimental_get_tracing_count(self) -> int:
        """Return 1: there is nothing to trace twice."""
        return 1


def _spec_of(value: Any) -> TensorSpec | None:
    if isinstance(value, TensorSpec):
        return value
    return TensorSpec.from_tensor(value) if is_tensor(value) else None


def _of_spec(value: Any, spec: Any) -> Any:
    """Return an argument as a tensor, or a nest of them, that fits a specification."""
    if not isinstance(spec, TensorSpec):
        if not isinstance(spec, (list, tuple, dict)):
            return value
        check_form(spec, value, check_types=False)
        leaves = zip(flatten(value), flatten(spec), strict=True)
        return pack_sequence_as(value, [_of_spec(v, s) for v, s in leaves])
    try:
        tensor = outward(eager.data_of(value, spec.dtype))
    except (ValueError, TypeError) as error:
        raise TypeError(f"an argument does not fit input_signature: {error}") from error
    if not spec.shape.is_compatible_with(tensor.shape):
        raise mistake(TypeError, "an argument", TensorSpec.from_tensor(tensor), repr(spec))
    return tensor


def _argument(value: Any) -> Any:
    """Return an argument as the function sees it: a tensor is one of its own there."""
    if isinstance(value, np.ndarray):
        return outward(convert(value))
    return outward(eager.alias(convert(value))) if type(value) is Tensor else value


def _returned(value: Any, start: float, seen: set[int]) -> Any:
    """Return a result as a tensor, if it is numbers; one of its own, if it was there before."""
    data = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)
    if isinstance(value, data) or eager.is_variable(value):
        return tensor_of(value)
    if type(value) is not Tensor:
        return value
    again = id(value) in seen
    seen.add(id(value))
    return outward(convert(value), math.inf if again else start)


@plain(
    "function",
    differs="runs as Python each time: what it prints is printed at each call, and errors about "
    "shapes and dtypes are those of eager operations; there is no graph",
)
def function(func: Any = None, input_signature: Any = None, **ignored: Any) -> Any:
    """Return a function that takes and returns tensors, or a decorator that makes one."""
    ignore(
        "function", ignored, "autograph", "jit_compile", "reduce_retracing",
        *(name for name in ignored if name.startswith("experimental_")),
    )  # fmt: skip
    if func is None:
        return lambda given: Function(given, input_signature)
    _check_callable(func, "tf.function: func")
    return Function(func, input_signature)


@plain("py_function", "numpy_function")
def py_function(func: Any = None, inp: Any = (), Tout: Any = None, name: str | None = None) -> Any:
    """Return func(*inp), as tensors of given dtypes."""
    start = eager.call_start()
    answer = func(*[outward(convert(x), start) for x in inp])
    if isinstance(Tout, (list, tuple)):
        answers = answer if isinstance(answer, (list, tuple)) else [answer]
        return [_cast(a, d, start) for a, d in zip(answers, Tout, strict=True)]
    return None if Tout is None else _cast(answer, Tout, start)


def _cast(value: Any, dtype: Any, start: float) -> Any:
    tensor = convert(value) if is_tensor(value) else convert(value, as_dtype(dtype))
    return outward(tensor, start)
