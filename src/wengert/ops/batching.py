"""What becomes of an operation when each of its arrays may have a first axis of examples.

A function here is what an operation declares as ``batch=``: called as ``(op, level, arrays,
mapped, params)``, it returns the results for all examples, each with a first axis for them.
`arrays` are tensors, `mapped` says which of them have that axis, and arrays in `params` that
differ between examples are `Batched`. Most operations are themselves again, with the axes in
their parameters one further on.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, Level, levels, outside
from wengert.engine.batching import parts as parts_of
from wengert.engine.fastpath import caller
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap

Params = dict[str, Any]


#: What calls an operation on all examples: arrays by position, parameters by keyword.
call_of = functools.cache(caller)


def aligned(arrays: Sequence[Tensor], mapped: Sequence[bool]) -> tuple[Tensor, ...]:
    """Return arrays with axes of length 1 behind that of the examples, so that they broadcast."""
    ndim = max(a.ndim - m for a, m in zip(arrays, mapped, strict=True))
    return tuple(
        a if not m or a.ndim - 1 == ndim else widened(a, ndim)
        for a, m in zip(arrays, mapped, strict=True)
    )


def widened(x: Tensor, ndim: int) -> Tensor:
    """Return a mapped array whose examples have axes of length 1 in front, `ndim` in all."""
    shape = (x.shape[0], *(1,) * (ndim + 1 - x.ndim), *x.shape[1:])
    return Tensor._namespace.reshape(x, shape)


def full(x: Tensor, is_mapped: bool, level: Level) -> Tensor:
    """Return an array with the axis of examples, along which it is repeated if it had none."""
    if is_mapped:
        return x
    return Tensor._namespace.broadcast_to(x, (level.size, *x.shape))


def shifted(axis: Any) -> Any:
    """Return an axis, or each of several, one further on; negative ones stay."""
    if isinstance(axis, (tuple, list)):
        return tuple(map(shifted, axis))
    return axis if axis is None or axis < 0 else axis + 1


def as_it_is(op: Op, level: Level, arrays: Any, mapped: Any, params: Params) -> Any:
    """Return an operation that leaves all axes but its own, the last, alone: triu, cholesky."""
    return call_of(op)(*aligned(arrays, mapped), **params)


def along_axes(op: Op, level: Level, arrays: Any, mapped: Any, params: Params) -> Any:
    """Return an operation along the axis, or the axes, in its parameters."""
    changed = {n: shifted(v) if n in _AXES else v for n, v in params.items()}
    return call_of(op)(*aligned(arrays, mapped), **changed)


_AXES = ("axis", "axes", "axis1", "axis2")


def with_params(changed: Callable[[int, Params], Params]) -> Callable[..., Any]:
    """Return `batch` by parameters for so many examples, made of those for one."""

    def batch(op: Op, level: Level, arrays: Any, mapped: Any, params: Params) -> Any:
        full_arrays = tuple([full(a, m, level) for a, m in zip(arrays, mapped, strict=True)])
        return call_of(op)(*full_arrays, **{**params, **changed(level.size, params)})

    return batch


def over_all(op: Op, level: Level, arrays: Any, mapped: Any, params: Params) -> Any:
    """Return an operation over all elements of its one array (`axis` is None): argmax."""
    (x,) = arrays
    lines = Tensor._namespace.reshape(x, (x.shape[0], math.prod(x.shape[1:])))
    y = apply(op, (lines,), {**params, "axis": 1})
    if params.get("keepdims"):
        y = Tensor._namespace.reshape(y, (x.shape[0], *(1,) * (x.ndim - 1)))
    return y


# -- examples inside of another axis ----------------------------------------------------------


def merged(x: Tensor, axis: int, parts: int = 1) -> Tensor:
    """Return a mapped array with its examples inside of one example's `axis`.

    The axis is in so many equal parts, each of which gets all examples: (parts, examples, rest).
    """
    xp, size, shape = Tensor._namespace, x.shape[0], x.shape[1:]
    length = shape[axis]
    if axis or parts > 1:
        x = xp.reshape(x, (size, *shape[:axis], parts, length // parts, *shape[axis + 1 :]))
        x = xp.moveaxis(x, 0, axis + 1)
    return xp.reshape(x, (*shape[:axis], size * length, *shape[axis + 1 :]))


def parted(y: Tensor, size: int, axis: int, parts: int = 1) -> Tensor:
    """Return what `merged` made an array of: the axis of examples, at least 1, is first again."""
    xp, shape = Tensor._namespace, y.shape
    length, rest = shape[axis] // size, shape[axis + 1 :]
    if axis or parts > 1:
        y = xp.reshape(y, (*shape[:axis], parts, size, length // parts, *rest))
        y = xp.moveaxis(y, axis + 1, 0)
    return xp.reshape(y, (size, *shape[:axis], length, *rest))


def in_first_axis(op: Op, level: Level, arrays: Any, mapped: Any, params: Params) -> Any:
    """Return an operation of one array that does the same to each item of its first axis."""
    (x,) = arrays
    y = apply(op, (merged(x, 0),), params)
    return Tensor._namespace.reshape(y, (level.size, x.shape[1], *y.shape[1:]))


# -- arrays that are no arguments -------------------------------------------------------------


def full_parameter(value: Any, level: Level) -> Any:
    """Return a raw array of an operation's parameters with the axis of examples."""
    if type(value) is Batched and value.level is level:
        return value.values._raw
    return full(wrap(value), False, level)._raw


def innermost(raw: Any) -> Any:
    """Return the raw array of all examples, in its library."""
    while type(raw) is Batched:
        raw = raw.values._raw
    return raw


def is_visible(raw: Any) -> bool:
    """Return whether the values of a raw array can be looked at: not those on a device."""
    return backends.is_on_host(innermost(raw))


def on_device(positions: Any) -> Any:
    """Return positions on a device as integers that index arrays there."""
    xp: Any = backends.namespace_of(positions)
    return xp.astype(positions, xp.int64)


def all_values(raw: Any) -> np.ndarray:
    """Return the values of all examples of a raw array, for checks only."""
    raw = innermost(raw)
    return np.asarray(raw if type(raw) is np.ndarray else backends.to_host(raw, "positions"))


def constant(x: Tensor) -> Tensor:
    """Return a tensor that no tape knows, inside of a vmap or outside."""
    raw = x._raw
    return wrap(Batched(raw.level, constant(raw.values)) if type(raw) is Batched else raw)


def is_recorded(x: Tensor) -> bool:
    """Return whether a tape that records knows a tensor, inside of a vmap or outside."""
    while True:
        if x._node is not None:
            return True
        if type(x._raw) is not Batched:
            return False
        x = x._raw.values


def rebatched(array: Any, like: Any) -> Any:
    """Return values of all examples, made of `all_values(like)`, as a raw array like that one."""
    if type(like) is not Batched:
        return array
    return Batched(like.level, wrap(rebatched(array, like.values._raw)))


def is_batched(params: Any) -> bool:
    """Return whether an array in a key, or in other parameters, differs between examples."""
    return any(type(part) is Batched for part in parts_of(params))


def call(xp: Any, name: str, *arrays: Any, **params: Any) -> Any:
    """Return ``xp.name(*arrays, **params)`` where the parameters may be batched.

    A rule that moves masks gets raw arrays that need not be batched when its parameters are.
    """
    if xp is Tensor._namespace or not is_batched(params):
        return getattr(xp, name)(*arrays, **params)
    return getattr(Tensor._namespace, name)(*map(wrap, arrays), **params)._raw


def example(x: Any, level: Level, i: int) -> Any:
    """Return a tensor of one example; of no examples one is made up, for its shape."""
    raw = x._raw if type(x) is Tensor else None
    if type(raw) is not Batched or raw.level is not level:
        return x
    return raw.values[i] if level.size else Tensor._namespace.ones(raw.shape, dtype=raw.dtype)


def on_examples(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return a function of a batched array that takes further axes in front, of all examples."""
    level = x._raw.level
    with outside(level):
        return wrap(Batched(level, function(x._raw.values)))


# -- values, and random numbers ---------------------------------------------------------------


def values_in_line(raw: Any, depth: int | None = None) -> np.ndarray:
    """Return the values of all examples, on an axis in front for each vmap that runs.

    An axis has length 1 where values are the same for all, so that several arrays broadcast. Of
    the vmaps that run, `depth` outermost ones count.
    """
    depth = len(levels.get()) if depth is None else depth
    if not depth:
        return backends.to_host(raw, "values")
    if type(raw) is Batched and raw.level is levels.get()[depth - 1]:
        return values_in_line(raw.values._raw, depth - 1)
    return np.expand_dims(values_in_line(raw, depth - 1), axis=depth - 1)


def drawn(name: str, draw: Callable[..., Any], shape: tuple[int, ...], *given: Tensor) -> Tensor:
    """Return the random numbers ``draw(shape, *given)`` as the vmaps that run want them.

    `draw` makes a raw array of numbers of a shape and, if any, of NumPy arrays that broadcast to
    it. Both may have more axes in front, and so may what it returns.
    """
    running = levels.get()
    for level in running:
        if level.randomness == "error":
            raise ValueError(
                f"{name}: random numbers inside of vmap, and nothing says whether examples share "
                "them; write vmap(..., randomness='different') for numbers of each example's own, "
                "or randomness='same'"
            )
    values = [values_in_line(x._raw) for x in given]
    lead = [level.size if level.randomness == "different" else 1 for level in running]
    return out_of_line(draw((*lead, *shape), *values), lead, *values)


def out_of_line(raw: Any, lead: Sequence[int], *given: np.ndarray) -> Tensor:
    """Return a raw array that was made of `values_in_line` as a tensor, batched where those were.

    `lead` are lengths of the axes in front that it has in any case.
    """
    running = levels.get()
    lead = np.broadcast_shapes(tuple(lead), *(v.shape[: len(running)] for v in given))
    alone = tuple(i for i, n in enumerate(lead) if n == 1)  # the same for all, or the only one
    made = wrap(raw)
    if alone:
        made = Tensor._namespace.squeeze(made, axis=alone)
    for n, level in zip(lead, running, strict=True):
        if n != 1:
            made = wrap(Batched(level, made))
    return made
