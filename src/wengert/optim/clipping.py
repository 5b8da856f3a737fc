"""Clipping of gradients: by value, by the norm of each, or by the norm of all together."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import plain_namespace
from wengert.engine.cotangents import Block
from wengert.engine.tensor import Tensor
from wengert.errors import DtypeError
from wengert.ops import batching
from wengert.ops.families.factored import Factored
from wengert.optim.leaves import check_inexact, each_once, for_each, like, raw, tensor, traced
from wengert.transforms.gradients import stop_gradient
from wengert.trees import flatten


def clip_by_value(gradients: Any, limit: float | tuple[float, float]) -> Any:
    """Return gradients with each number clipped to [-limit, limit], or to [low, high].

    NaN stays NaN, and None stays None.

    Parameters
    ----------
    gradients
        A tree of tensors, arrays or blocks.
    limit
        A positive number, or a pair (low, high).

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> wg.optim.clip_by_value([np.array([-3.0, 0.5]), None], 1.0)
    [array([-1. ,  0.5]), None]
    """
    low, high = limit if isinstance(limit, (tuple, list)) else (-limit, limit)
    if not low <= high:
        raise ValueError(
            f"clip_by_value: limit is {limit!r}; expected a positive number, or (low, high)"
        )
    low, high = float(low), float(high)

    def clip(xp: Any, values: Any) -> Any:
        if backends.kind_of(values.dtype) == "c":
            raise DtypeError(
                f"got {values.dtype}, and complex numbers have no order; use clip_by_norm"
            )
        return xp.clip(values, low, high)

    def clip_leaf(leaf: Any) -> Any:
        if type(leaf) is Factored or (type(leaf) is Block and not low <= 0 <= high):
            leaf = leaf.todense()  # of a Block, zeros move too
        return _on_values(clip, leaf)

    return _for_each("clip_by_value", clip_leaf, gradients)


def clip_by_norm(gradients: Any, max_norm: float) -> Any:
    """Return gradients, each scaled down to Euclidean norm `max_norm` if its norm is larger.

    A gradient whose norm is not finite stays as it is, and None stays None.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> wg.optim.clip_by_norm([np.array([3.0, 4.0]), np.array([0.0])], 1.0)
    [array([0.6, 0.8]), array([0.])]
    """
    limit = _checked_limit("clip_by_norm", max_norm)
    return _for_each(
        "clip_by_norm", lambda leaf: _scaled(leaf, limit, global_norm([leaf])), gradients
    )


def clip_by_global_norm(gradients: Any, max_norm: float) -> tuple[Any, Any]:
    """Return gradients, all scaled by one factor so that `global_norm` is at most `max_norm`.

    The second result is the norm as it was. If it is not finite, the gradients stay as they
    are: no factor would make them right, and the norm tells.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> wg.optim.clip_by_global_norm({"w": np.array([3.0]), "b": np.array([4.0])}, 1.0)
    ({'w': array([0.6]), 'b': array([0.8])}, 5.0)
    """
    limit = _checked_limit("clip_by_global_norm", max_norm)
    norm = global_norm(gradients)
    return _for_each(
        "clip_by_global_norm", lambda leaf: _scaled(leaf, limit, norm), gradients
    ), norm


def global_norm(tree: Any) -> Any:
    """Return the Euclidean norm of all numbers in a tree together; None counts as 0.

    It is a float or, while a tape records one of the leaves, and for arrays on a device, a tensor:
    `wg.optim.global_norm([3.0, [None, 4.0]])` is `5.0`.
    """
    leaves = [leaf for leaf in flatten(tree)[0] if leaf is not None]
    values = [_with_the_norm_of(leaf) for leaf in leaves]
    if _are_on_a_device(values):
        return _norm_there(values)
    norm = math.hypot(*(_norm(raw(value)) for value in values))
    if not any(map(traced, values)):
        return norm
    xp = Tensor._namespace
    sizes = [xp.abs(tensor(value)) for value in values]
    if not 0 < norm < math.inf:
        return sum(xp.sum(size) for size in sizes)  # the same, and at 0 with the derivative 0
    return norm * xp.sqrt(sum(xp.sum((size / norm) ** 2) for size in sizes))


def _checked_limit(name: str, max_norm: Any) -> float:
    if not max_norm > 0:
        raise ValueError(f"{name}: max_norm is {max_norm!r}; expected a positive number")
    return float(max_norm)


def _with_the_norm_of(leaf: Any) -> Any:
    """Return an array that has the norm of a leaf: of a Block its values, of products the norm."""
    if type(leaf) is Factored:
        return leaf.norm()
    return each_once(leaf).values if type(leaf) is Block else leaf


def _for_each(name: str, function: Callable[[Any], Any], tree: Any) -> Any:
    """Return the tree with a function applied to each leaf but None; an error says to which."""
    leaves, rebuild = flatten(tree)
    return rebuild(
        for_each(
            name, tree, "gradients", lambda leaf: None if leaf is None else function(leaf), leaves
        )
    )


def _on_values(function: Callable[[Any, Any], Any], leaf: Any) -> Any:
    """Return function(xp, values) for the values of a leaf, as the kind of leaf it is."""
    if type(leaf) is Block:
        leaf = each_once(leaf)
        return Block(leaf.shape, leaf.region, _on_values(function, leaf.values))
    if type(leaf) is Factored:  # whose multiple is the product with a multiple of a factor
        return Factored(_on_values(function, leaf.left), leaf.right)
    if traced(leaf):
        return function(Tensor._namespace, leaf)
    values = raw(leaf)
    check_inexact(values)
    return like(function(backends.namespace_of(values), values), leaf)


def _scaled(leaf: Any, limit: float, norm: Any) -> Any:
    """Return a leaf times limit / norm, if the norm exceeds the limit."""
    there = type(norm) is Tensor and not batching.is_visible(norm._raw)
    if there:
        xp = Tensor._namespace
        exceeds = (norm > limit) & xp.isfinite(norm)
        factor = xp.where(exceeds, limit / norm, xp.ones_like(norm))
    else:
        size = norm.item() if type(norm) is Tensor else norm
        if not limit < size < math.inf:
            return leaf
        factor = limit / norm
    if type(factor) is not Tensor:
        return _on_values(lambda xp, values: values * factor, leaf)
    if not traced(factor):
        return _on_values(lambda xp, values: values * xp.astype(factor._raw, values.dtype), leaf)
    cast = Tensor._namespace.astype
    return _on_values(lambda xp, values: tensor(values) * cast(factor, values.dtype), leaf)


def _are_on_a_device(values: list[Any]) -> bool:
    """Whether all values are in one place that is not host memory."""
    raws = [value._raw if type(value) is Tensor else raw(value) for value in values]
    places = {plain_namespace(array) for array in raws}
    return len(places) == 1 and not any(map(batching.is_visible, raws))


def _norm_there(values: list[Any]) -> Tensor:
    """Return the norm of arrays on a device, of which nothing is read.

    Numbers are divided by the largest, since squares may leave the range.
    """
    xp = Tensor._namespace
    sizes = []
    for value in values:
        check_inexact(value)
        size = xp.abs(tensor(value))
        sizes.append(xp.astype(size, xp.float32) if backends.is_narrow(size.dtype) else size)
    sizes = [size for size in sizes if size.size]
    if not sizes:
        return tensor(values[0]).sum()
    largest = functools.reduce(xp.maximum, [xp.max(stop_gradient(size)) for size in sizes])
    scale = xp.where((largest > 0) & xp.isfinite(largest), largest, xp.ones_like(largest))
    total = functools.reduce(xp.add, [xp.sum((size / scale) ** 2) for size in sizes])
    # at 0 the derivative is 0, as that of the sum
    plain = functools.reduce(xp.add, [xp.sum(size) for size in sizes])
    return xp.where(total > 0, scale * xp.sqrt(total), plain)


def _norm(array: Any) -> float:
    """Return the Euclidean norm of a raw array, also where squares would leave the range."""
    check_inexact(array)
    if not math.prod(array.shape):
        return 0.0
    xp = backends.namespace_of(array)
    limits = xp.finfo(array.dtype)
    if limits.bits == 16:
        return _norm(xp.astype(array, xp.float32))
    with np.errstate(all="ignore"):
        total = _sum_of_squares(xp, array)
        if float(limits.smallest_normal) / float(limits.eps) < total < math.inf:
            return math.sqrt(total)
        largest = float(xp.max(xp.abs(array)))
        if not 0 < largest < math.inf:
            return largest
        return largest * math.sqrt(_sum_of_squares(xp, array / largest))


def _sum_of_squares(xp: Any, array: Any) -> float:
    if xp is backends.NUMPY:  # one pass, and no array in between
        flat = array.reshape(-1)
        return float(np.vdot(flat, flat).real)
    size = xp.abs(array)
    return float(xp.sum(size * size))
