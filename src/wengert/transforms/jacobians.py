"""Derivatives with two sets of axes: Jacobians, Hessians, products with them, diagonals."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.elements.selections import Selected
from wengert.engine.batching import Level
from wengert.engine.tape import Part
from wengert.engine.tensor import Tensor
from wengert.errors import DtypeError, ShapeError
from wengert.transforms.forward import as_tangent, jvp, matching
from wengert.transforms.gradients import (
    Call,
    as_tensor,
    check_argnums,
    grad,
    like_given,
    vjp,
    zeros_like,
)
from wengert.transforms.sweeps import (
    check_room,
    chunks,
    joined,
    one_hot,
    pulled,
    pushed,
    pushed_along,
    pushed_together,
    shape_of,
)
from wengert.trees import flatten

Chunk = int | str | None
MODES = ("auto", "forward", "reverse")


def jacobian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    mode: str = "auto",
    of: Any = None,
    wrt: Any = None,
    chunk_size: Chunk = "auto",
    has_aux: bool = False,
    holomorphic: bool = False,
    along: Any = None,
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of `fun`: its axes are the result's, then x's.

    Parameters
    ----------
    fun
        Returns an array, or a nest of them; with `has_aux`, (result, aux).
    argnums
        Which positional arguments to differentiate with respect to. For several, or for an
        argument that is a nest, there is a Jacobian for each array, in the same nest.
    mode
        "reverse" takes a sweep for each element of the result, "forward" one for each element of
        the arguments; "auto" whichever are fewer.
    of, wrt
        An index expression, such as ``np.s_[0, :]``: only this part of the result, or of the
        argument, is differentiated, and what does not lie between them is not computed.
    chunk_size
        How many sweeps to do at once. "auto" keeps to a memory budget of about half a GiB, and says
        so to the logger "wengert" where that takes several chunks; None for all at once.
    holomorphic
        Whether `fun` is a complex function with a complex derivative.
    along
        Directions: for an argument of shape (n,) an (n, k) array, in general one with an axis more
        than the argument, and for several arguments a nest of those. The function then gives the
        derivatives in these directions, the product of the Jacobian and `along`, by k tangents in
        one forward sweep. Their axes are the result's, then that of the directions.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> wg.jacobian(lambda x: x[::-1] ** 2)(np.array([1.0, 2.0]))
    array([[0., 4.],
           [2., 0.]])
    >>> wg.jacobian(lambda x: x[::-1] ** 2, of=np.s_[0])(np.array([1.0, 2.0]))
    array([0., 4.])
    >>> wg.jacobian(lambda x: x**2, along=np.array([[1.0], [1.0]]))(np.array([1.0, 2.0]))
    array([[2.],
           [4.]])
    """
    check_argnums("jacobian", argnums)
    if mode not in MODES:
        raise ValueError(f"jacobian: mode is {mode!r}; expected one of {', '.join(MODES)}")
    if along is not None and mode == "reverse":
        raise ValueError(
            "jacobian: along= with mode='reverse'; tangents in directions go forward, so leave out "
            "the mode. For cotangents write wg.vmap(pull) with wg.vjp"
        )

    @functools.wraps(fun)
    def of_function(*args: Any, **kwargs: Any) -> Any:
        call = Call(fun, argnums, has_aux, args, kwargs, "jacobian", persistent=True)
        targets, sources, rebuild_result = parts_between(call, of, wrt, holomorphic)
        if along is not None:
            moved = rebuild_result(_along(call, targets, sources, along, chunk_size))
            return (moved, call.outward(call.aux)) if has_aux else moved
        direction, found = swept(call, targets, sources, mode, chunk_size, holomorphic)
        table = whole(direction, [found], [*map(shape_of, targets)], [*map(shape_of, sources)])
        given = flatten(call.given)[0]
        rows = []
        for row in table:
            pairs = zip(row, given, strict=True)
            nests = flatten(call.sources)[1]([like_given(y, g, fresh=True) for y, g in pairs])
            rows.append(nests[0] if call.single else tuple(nests))
        answer = rebuild_result(rows)
        return (answer, call.outward(call.aux)) if has_aux else answer

    return of_function


def _along(
    call: Call, targets: list[Part], sources: list[Part], along: Any, chunk_size: Chunk
) -> list[Any]:
    """Return the derivatives of targets in directions, as the kind of array that was given."""
    nest = (along,) if call.single else tuple(along)
    given = matching(tuple(call.given), nest, call.what)
    pairs = zip(given, sources, strict=True)
    checked = [(as_tangent(d, s, call.what, several=True), s) for d, s in pairs]
    moving: list[tuple[Any, Part]] = [(d, s) for d, s in checked if d is not None]
    counts = {d.shape[-1] for d, _ in moving}
    if len(counts) != 1:
        raise ShapeError(
            f"{call.what}: along= has {' and '.join(map(str, sorted(counts))) or 'no'} directions; "
            "give the same number for each argument, and None for one that does not move"
        )
    xp = Tensor._namespace
    directions = [xp.moveaxis(d, -1, 0) for d, _ in moving]
    found = pushed_along(call.tape, targets, [s for _, s in moving], directions, chunk_size)
    answers = []
    for y, target in zip(found, targets, strict=True):
        shape = (*shape_of(target), *counts)
        answer = zeros_like(target.tensor, shape) if y is None else xp.moveaxis(y, 0, -1)
        answers.append(like_given(answer, flatten(call.given)[0][0], fresh=True))
    return answers


def parts_between(
    call: Call, of: Any, wrt: Any, holomorphic: bool = False
) -> tuple[list[Part], list[Part], Callable[[list[Any]], Any]]:
    """Return what to differentiate, by what, and how to rebuild the nest of the result."""
    targets, rebuild_result = _targets(call, of)
    sources = call.parts
    if wrt is not None:
        sources = [Part(p.tensor, p.node, Selected(wrt, p.tensor.shape)) for p in sources]
    _check_complex(call.what, [*targets, *sources], holomorphic)
    call.check_connected([t.tensor for t in targets])
    return targets, sources, rebuild_result


def _targets(call: Call, of: Any) -> tuple[list[Part], Callable[[list[Any]], Any]]:
    leaves, rebuild = flatten(call.result)
    targets = []
    for leaf in leaves:
        if leaf is None or isinstance(leaf, (str, bytes)):
            raise TypeError(
                f"{call.what}: the function returned {leaf!r}; expected arrays, in any nest. For "
                "(value, more) write has_aux=True"
            )
        tensor = as_tensor(leaf, f"{call.what}: the function's result")
        if not backends.is_inexact(tensor.dtype):
            raise DtypeError(
                f"{call.what}: the function returned {tensor.dtype}, which has no derivative; "
                "expected floating or complex numbers"
            )
        chosen = None if of is None else Selected(of, tensor.shape)
        targets.append(Part(tensor, tensor._node, chosen))
    return targets, rebuild


def _check_complex(what: str, parts: list[Part], holomorphic: bool) -> None:
    kinds = {backends.kind_of(p.tensor.dtype) for p in parts}
    if holomorphic and kinds != {"c"}:
        raise DtypeError(f"{what}: holomorphic=True needs a complex argument and a complex result")
    if not holomorphic and "c" in kinds:
        raise DtypeError(
            f"{what}: numbers are complex, and a real Jacobian cannot hold them; write "
            "holomorphic=True if there is a complex derivative, else differentiate real and "
            "imaginary parts: stack wg.real(y) and wg.imag(y), and take x from its two parts"
        )


def swept(
    call: Call,
    targets: list[Part],
    sources: list[Part],
    mode: str,
    chunk_size: Chunk,
    holomorphic: bool = False,
    share: tuple[int, int] = (0, 1),
) -> tuple[str, list[list[Tensor]]]:
    """Return in which mode one of several shares of all sweeps was done, and what it gave.

    That is a table with a row for each target and a column for each source. In reverse mode an
    array has some elements of the target as its first axis, and the source's axes; in forward mode
    the target's axes, and some elements of the source as its last.
    """
    if mode == "auto":
        heights, widths = (sum(math.prod(shape_of(p)) for p in ps) for ps in (targets, sources))
        mode = "forward" if widths < heights else "reverse"
    xp, token = Tensor._namespace, call.tape._token
    seeded = targets if mode == "reverse" else sources
    lines: list[list[Tensor]] = []
    if mode == "forward" and share == (0, 1):
        together = pushed_together(call.tape, targets, sources)
        if together is not None:
            return mode, [
                [_columns(t, target, s) for t, s in zip(row, sources, strict=True)]
                for row, target in zip(together, targets, strict=True)
            ]
    shapes: list[tuple[tuple[int, ...], tuple[int, ...], Part]]
    for part, here in zip(seeded, _elements_of_share(seeded, share), strict=True):
        nodes = [part.node] if mode == "reverse" else [t.node for t in targets]
        pieces = [
            range(here.start + piece.start, here.start + piece.stop)
            for piece in chunks(len(here), chunk_size, nodes, token)
        ]
        if mode == "reverse":
            shapes = [((len(here),), shape_of(source), source) for source in sources]
            check_room(call.what, shapes, pieces)
            found = pulled(call.tape, part, sources, pieces, last=False)
            line = [
                zeros_like(part.tensor, (len(here), *shape_of(source))) if f is None else joined(f)
                for f, source in zip(found, sources, strict=True)
            ]
            if holomorphic:  # a gradient is the conjugate of the derivative
                line = [xp.conj(y) for y in line]
        else:
            shapes = [(shape_of(target), (len(here),), part) for target in targets]
            check_room(call.what, shapes, pieces)
            seeds = functools.partial(_unit_tangents, part)
            found = pushed(call.tape, targets, [part], pieces, seeds)
            line = [
                _columns(None if f is None else joined(f), target, part, len(here))
                for f, target in zip(found, targets, strict=True)
            ]
        lines.append(line)
    return mode, lines if mode == "reverse" else [list(row) for row in zip(*lines, strict=True)]


def _unit_tangents(part: Part, level: Level, columns: range) -> list[Tensor]:
    return [one_hot(level, columns, part)]


def _elements_of_share(parts: list[Part], share: tuple[int, int]) -> list[range]:
    """Return which elements of each part are in a share of them all."""
    number, count = share
    sizes = [math.prod(shape_of(p)) for p in parts]
    first, last = (sum(sizes) * k // count for k in (number, number + 1))
    ranges, before = [], 0
    for size in sizes:
        start, stop = (min(max(k - before, 0), size) for k in (first, last))
        ranges.append(range(start, stop))
        before += size
    return ranges


def whole(
    mode: str,
    shares: list[list[list[Tensor]]],
    heights: list[tuple[int, ...]],
    widths: list[tuple[int, ...]],
) -> list[list[Tensor]]:
    """Return the Jacobian of each target with respect to each source, from tables of all shares."""
    xp = Tensor._namespace
    axis = 0 if mode == "reverse" else -1
    table = []
    for i, height in enumerate(heights):
        row = []
        for j, width in enumerate(widths):
            pieces = [share[i][j] for share in shares]
            one = pieces[0] if len(pieces) == 1 else xp.concat(pieces, axis=axis)
            row.append(xp.reshape(one, (*height, *width)))
        table.append(row)
    return table


def _columns(y: Tensor | None, target: Part, source: Part, count: int | None = None) -> Tensor:
    """Return columns, which came as rows, in the dtype of the argument, as gradients are."""
    if y is None:
        count = math.prod(shape_of(source)) if count is None else count
        return zeros_like(target.tensor, (*shape_of(target), count))
    moved: Tensor = Tensor._namespace.moveaxis(y, 0, -1)
    dtype = source.tensor.dtype
    return moved if moved.dtype == dtype else Tensor._namespace.astype(moved, dtype)


def hessian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    of: Any = None,
    wrt: Any = None,
    chunk_size: Chunk = "auto",
    has_aux: bool = False,
) -> Callable[..., Any]:
    """Return a function that gives the Hessian of `fun`, which returns one number.

    Parameters are those of `jacobian`; `of` and `wrt` select its rows and its columns.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> wg.hessian(lambda x: np.prod(x))(np.array([2.0, 3.0]))
    array([[0., 1.],
           [1., 0.]])
    """
    check_argnums("hessian", argnums)
    return jacobian(
        grad(fun, argnums, has_aux), argnums, "auto", of, wrt, chunk_size, has_aux=has_aux
    )


def hvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, ...]:
    """Return the product of the Hessian of `fun` with `tangents`, at `primals`.

    `primals` is a tuple of arguments and `tangents` one of the same form, as for `jvp`; so is the
    result. For many products at one point write ``wg.linearize(wg.grad(fun), x)``.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> wg.hvp(lambda x: np.prod(x), (np.array([2.0, 3.0]),), (np.array([1.0, 0.0]),))
    (array([0., 1.]),)
    """
    return jvp(grad(fun, tuple(range(len(primals)))), primals, tangents)[1]


def gnvp(
    model: Callable[..., Any],
    loss: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
) -> tuple[Any, ...]:
    """Return the product of the Gauss-Newton matrix of loss(model(*primals)) with `tangents`.

    That matrix is Jᵀ H J, with J the Jacobian of `model` and H the Hessian of `loss` at the model's
    result; it is the Hessian but for the curvature of the model, and is never indefinite where
    `loss` is convex.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> x, v = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    >>> wg.gnvp(lambda x: x**2, lambda y: np.sum(y**2), (x,), (v,))
    (array([8., 0.]),)
    """
    result, moved = jvp(model, primals, tangents)
    curved = jvp(grad(loss), (result,), (moved,))[1]
    return vjp(model, *primals)[1](curved)


# -- diagonals ------------------------------------------------------------------------------------


def jac_diagonal(fun: Callable[..., Any], chunk_size: Chunk = "auto") -> Callable[..., Any]:
    """Return a function that gives the derivative of each element of fun(x) by the same one of x.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> wg.jac_diagonal(lambda x: x**2 + np.sum(x))(np.array([1.0, 2.0]))
    array([3., 5.])
    """
    return _diagonal(fun, chunk_size, "jac_diagonal")


def _diagonal(fun: Callable[..., Any], chunk_size: Chunk, what: str) -> Callable[..., Any]:
    @functools.wraps(fun)
    def diagonal(x: Any, *args: Any, **kwargs: Any) -> Any:
        call = Call(fun, 0, False, (x, *args), kwargs, what, persistent=True)
        targets, sources = _targets(call, None)[0], call.parts
        if len(targets) != 1 or len(sources) != 1 or shape_of(targets[0]) != shape_of(sources[0]):
            took, gave = (" and ".join(str(shape_of(p)) for p in ps) for ps in (sources, targets))
            raise ShapeError(
                f"{call.what}: the function takes {took} and returns {gave}; a diagonal needs one "
                "array of the same shape in and out"
            )
        _check_complex(call.what, [*targets, *sources], False)
        call.check_connected([targets[0].tensor])
        shape = shape_of(sources[0])
        xp = Tensor._namespace
        parts = []
        for piece in chunks(math.prod(shape), chunk_size, [targets[0].node], call.tape._token):
            (found,) = pulled(call.tape, targets[0], sources, [piece], last=False)
            if found is not None:
                rows = xp.reshape(found[0], (len(piece), -1))
                parts.append(rows[np.arange(len(piece)), np.asarray(piece)])
        answer = xp.reshape(joined(parts), shape) if parts else zeros_like(sources[0].tensor, shape)
        return like_given(answer, x, fresh=True)

    return diagonal


def hessian_diagonal(fun: Callable[..., Any], chunk_size: Chunk = "auto") -> Callable[..., Any]:
    """Return a function that gives the second derivative of `fun` by each element of x.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> wg.hessian_diagonal(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([ 6., 12.])
    """
    return _diagonal(grad(fun), chunk_size, "hessian_diagonal")


def laplacian(fun: Callable[..., Any], chunk_size: Chunk = "auto") -> Callable[..., Any]:
    """Return a function that gives the sum of the second derivatives by each element of x.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> wg.laplacian(lambda x: np.sum(x**2))(np.zeros(3))
    np.float64(6.0)
    """
    diagonal = _diagonal(grad(fun), chunk_size, "laplacian")

    @functools.wraps(fun)
    def total(x: Any, *args: Any, **kwargs: Any) -> Any:
        answer = Tensor._namespace.sum(diagonal(x, *args, **kwargs))
        return like_given(answer, x, fresh=True)

    return total
