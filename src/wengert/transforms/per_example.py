"""What each example's gradient is like, without the gradients: their norms, and clipped sums.

The gradient of a weight in a product is, for one example, a product of factors (see
`ops.families.factored`). Its norm follows from the factors, and so does the sum over examples of
gradients that are each scaled: one product, as for a batch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from wengert.engine.tensor import Tensor
from wengert.errors import name_of
from wengert.ops.families.factored import Factored
from wengert.transforms.gradients import Call, as_tensor, like_given, scalar
from wengert.transforms.vmap import vmap
from wengert.trees import flatten, map_leaves


def per_example_norms(
    loss: Callable[..., Any], params: Any, chunk_size: int | None = None
) -> Callable[..., Any]:
    """Return a function that gives the norm of each example's gradient.

    It takes what `loss` takes after the parameters, with a first axis for examples. It costs about
    one gradient of the batch: no example's gradient of a weight in a product is formed.

    Parameters
    ----------
    loss
        Takes the parameters and one example, and returns one number.
    params
        The parameters: arrays, tensors or variables, in any nest.
    chunk_size
        How many examples to compute at once, to bound memory; None for all.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> def loss(w, x, y):
    ...     return (x @ w - y) ** 2
    >>> xs, ys = np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([0.0, 1.0])
    >>> wg.per_example_norms(loss, np.array([1.0, 1.0]))(xs, ys)
    array([70.,  0.])
    """
    what = f"per_example_norms({name_of(loss)})"

    def norm(*example: Any) -> Tensor:
        return _norm(_gradients(loss, params, example, what))

    return functools.wraps(loss)(vmap(norm, chunk_size=chunk_size))


def clipped_gradient(
    loss: Callable[..., Any], params: Any, max_norm: float
) -> Callable[..., tuple[Any, Any]]:
    """Return a function that gives the sum of clipped gradients, and the norms of all.

    Each example's gradient is scaled down to `max_norm` if its norm over all parameters is
    larger, and then they are added up: what training with differential privacy adds noise to. It
    costs about one gradient of the batch.

    Parameters
    ----------
    loss, params
        As `per_example_norms` takes them.
    max_norm
        The largest norm that an example's gradient keeps.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> def loss(w, x, y):
    ...     return (x @ w - y) ** 2
    >>> xs, ys = np.array([[3.0, 4.0], [0.0, 0.5]]), np.array([0.0, 1.0])
    >>> wg.clipped_gradient(loss, np.array([1.0, 1.0]), max_norm=1.0)(xs, ys)
    (array([0.6, 0.3]), array([70. ,  0.5]))
    """
    what = f"clipped_gradient({name_of(loss)})"
    if not max_norm > 0:
        raise ValueError(f"{what}: max_norm is {max_norm!r}; expected a positive number")
    given, rebuild = flatten(params)

    def of_one(*example: Any) -> Any:
        found = _gradients(loss, params, example, what)
        return _norm(found), [[g.left.T, g.right] if type(g) is Factored else g for g in found]

    @functools.wraps(loss)
    def clipped(*examples: Any) -> tuple[Any, Any]:
        xp: Any = Tensor._namespace
        tensors = map_leaves(lambda leaf: as_tensor(leaf, what), list(examples))
        norms, parts = vmap(of_one)(*tensors)
        weights = max_norm / xp.maximum(norms, max_norm)
        sums = [
            like_given(_weighted(xp, weights, part), leaf)
            for part, leaf in zip(parts, given, strict=True)
        ]
        first = next(iter(flatten(examples)[0]), None)
        return rebuild(sums), like_given(norms, first)

    return clipped


def _gradients(
    loss: Callable[..., Any], params: Any, example: tuple[Any, ...], what: str
) -> list[Any]:
    """Return the gradients of an example's loss by each parameter, some as products of factors."""
    call = Call(loss, 0, False, (params, *example), {}, what)
    found = call.tape.gradient(
        scalar(call), call.sources, unconnected_gradients="zero", dense=False
    )
    return [g if type(g) in (Tensor, Factored) else g.todense() for g in flatten(found)[0]]


def _norm(gradients: list[Any]) -> Tensor:
    """Return the norm over all numbers of some gradients."""
    xp: Any = Tensor._namespace
    total = sum(
        g.square() if type(g) is Factored else xp.sum(xp.real(g * xp.conj(g))) for g in gradients
    )
    return xp.sqrt(total)


def _weighted(xp: Any, weights: Tensor, part: Any) -> Tensor:
    """Return the sum over examples of gradients times weights."""
    if type(part) is Tensor:
        return xp.tensordot(xp.astype(weights, part.dtype), part, axes=1)
    rows, columns = part  # for each example, two matrices whose product is its gradient
    columns = columns * xp.astype(weights, columns.dtype)[:, None, None]
    rows, columns = (xp.reshape(m, (m.shape[0] * m.shape[1], m.shape[2])) for m in (rows, columns))
    return rows.T @ columns
