"""vmap: a function of one example, called with many."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, Level, opened
from wengert.engine.record import lift
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import ShapeError, name_of
from wengert.transforms.gradients import as_tensor, like_given
from wengert.trees import Rebuild, flatten, paths

Axes = list[int | None]


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> Callable[..., Any]:
    """Return a function that calls `fun` with each example of its arguments, all at once.

    Parameters
    ----------
    fun
        Takes and returns arrays, or nests of them.
    in_axes
        The axis of each positional argument along which its examples are; None for an argument
        that is the same for all. One number for all arguments, or a tuple with a part for each,
        which may be a nest of the form of the argument. Keyword arguments are the same for all.
    out_axes
        Where to have the axis of examples in each result, in the same way.
    chunk_size
        How many examples to compute at once, to bound memory; None for all.
    randomness
        What a function of `wengert.random` does inside of `fun`: "different" draws numbers for
        each example, "same" draws them once for all, and "error" raises one, since nothing says
        which of the two is meant. NumPy's own generators know nothing of examples: what they
        draw is the same for all.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> xs = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> wg.vmap(wg.grad(lambda x: np.prod(x)))(xs)
    array([[2., 1.],
           [4., 3.]])
    """
    what = f"vmap({name_of(fun)})"
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
        raise ValueError(f"{what}: chunk_size is {chunk_size!r}; write a positive number or None")
    if randomness not in ("error", "same", "different"):
        raise ValueError(
            f"{what}: randomness is {randomness!r}; expected 'error', 'same' or 'different'"
        )

    if chunk_size is not None and randomness == "same":
        raise ValueError(
            f"{what}: randomness='same' draws once for all examples, and with chunk_size "
            "each chunk would draw again; leave chunk_size out, or draw the numbers before"
        )

    @functools.wraps(fun)
    def on_examples(*args: Any, **kwargs: Any) -> Any:
        leaves, rebuild = flatten(args)
        axes = _axes_of_arguments(in_axes, args, what)
        mapped: list[Any] = []
        for leaf, axis, path in zip(leaves, axes, paths(args), strict=True):
            if axis is not None:
                leaf = _front(leaf, axis, f"{what}: argument{path}")
            elif isinstance(leaf, np.ndarray) and backends.kind_of(leaf.dtype) in "biufc":
                leaf = lift(leaf, what)  # so that it can be indexed by what differs
            mapped.append(leaf)
        size = _size(mapped, axes, paths(args), what)
        first = next(leaf for leaf, axis in zip(leaves, axes, strict=True) if axis is not None)
        chunks: list[list[Tensor]] = []
        form: Rebuild = list
        parts = bool(chunk_size and chunk_size < size)
        for start in range(0, size, chunk_size) if chunk_size and size else (0,):
            here = slice(start, min(start + (chunk_size or size), size))
            with opened(here.stop - start, randomness) as level:
                inner = [
                    leaf if axis is None else wrap(Batched(level, leaf[here] if parts else leaf))
                    for leaf, axis in zip(mapped, axes, strict=True)
                ]
                results, form = flatten(fun(*rebuild(inner), **kwargs))
                returned = f"{what}: the function returned"
                chunks.append([collected(r, level, returned) for r in results])
        concat = Tensor._namespace.concat
        found = chunks[0] if len(chunks) == 1 else [*map(concat, zip(*chunks, strict=True))]
        answer = form(found)
        ends = _axes_of(out_axes, answer, f"{what}: out_axes", "result")
        placed = [_placed(y, end, what) for y, end in zip(found, ends, strict=True)]
        given = {id(leaf) for leaf in mapped}  # a function may return what it was given
        return form([like_given(y, first, id(y) not in given) for y in placed])

    return on_examples


def collected(value: Any, level: Level, what: str) -> Tensor:
    """Return a result for all examples of a level; one that is the same for all is repeated."""
    if value is None or isinstance(value, (str, bytes)):
        raise TypeError(f"{what} {value!r}; expected arrays or numbers, in any nest")
    tensor = as_tensor(value, what)
    raw = tensor._raw
    if type(raw) is Batched and raw.level is level:
        return raw.values
    return Tensor._namespace.broadcast_to(tensor, (level.size, *tensor.shape))


def _front(leaf: Any, axis: int, what: str) -> Tensor:
    """Return an argument with its axis of examples first."""
    tensor = lift(leaf, what)
    if type(tensor) is not Tensor or not tensor.ndim:
        raise ShapeError(
            f"{what} is {leaf!r:.60}, which has no axis of examples; write in_axes=None in its "
            "place if it is the same for all"
        )
    return _with_axis(tensor, axis, 0, axis, f"{what}: in_axes")


def _size(mapped: list[Any], axes: Axes, names: list[Any], what: str) -> int:
    sizes = {
        str(name): leaf.shape[0]
        for leaf, axis, name in zip(mapped, axes, names, strict=True)
        if axis is not None
    }
    if not sizes:
        raise ValueError(f"{what}: no argument has examples; in_axes is None for all of them")
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"argument{name} has {n}" for name, n in sizes.items())
        raise ShapeError(
            f"{what}: the numbers of examples differ: {told}; give all the same number, or write "
            "in_axes=None for what is the same for all"
        )
    return next(iter(sizes.values()))


def _placed(y: Tensor, end: int | None, what: str) -> Tensor:
    if end is None:
        raise ValueError(
            f"{what}: out_axes has None; a result has one value for each example, so write the "
            "axis to have them along"
        )
    return _with_axis(y, end, end, 0, f"{what}: out_axes")


def _with_axis(tensor: Tensor, axis: int, to: int, start: int, what: str) -> Tensor:
    """Return a tensor with the axis of examples moved, where one of the two positions is 0."""
    if not -tensor.ndim <= axis < tensor.ndim:
        raise np.exceptions.AxisError(
            f"{what} is {axis} for an array of shape {tensor.shape}, examples included"
        )
    return tensor if axis % tensor.ndim == 0 else Tensor._namespace.moveaxis(tensor, start, to)


def _axes_of_arguments(in_axes: Any, args: tuple[Any, ...], what: str) -> Axes:
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        raise ValueError(
            f"{what}: in_axes has {len(in_axes)} parts, and it was called with {len(args)} "
            "positional arguments; give one for each"
        )
    return _axes_of(in_axes, args, f"{what}: in_axes", "argument")


def _axes_of(axes: Any, tree: Any, what: str, of: str) -> Axes:
    """Return an axis, or None, for each leaf of a tree from a nest that is as deep or less."""
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        return [axes] * len(flatten(tree)[0])
    children = _children(tree)
    given = _children(axes)
    if given is None:
        raise TypeError(f"{what} has {axes!r}; expected axes (integers) and None, in nests")
    if children is None or given.keys() != children.keys():
        raise ValueError(
            f"{what} has {axes!r} for the {of} {type(tree).__name__}; give a nest of the same form"
        )
    return [a for key in children for a in _axes_of(given[key], children[key], what, of)]


def _children(tree: Any) -> dict[Any, Any] | None:
    if isinstance(tree, dict):
        return {key: tree[key] for key in sorted(tree, key=str)}
    return dict(enumerate(tree)) if isinstance(tree, (tuple, list)) else None
