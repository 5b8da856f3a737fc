"""Forward mode: jvp, linearize and ForwardAccumulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert import backends
from wengert.engine.batching import levels
from wengert.engine.cotangents import Block
from wengert.engine.record import beside, check_together, lift
from wengert.engine.tape import Part, Tape, part_of_tape
from wengert.engine.tensor import Tensor
from wengert.errors import DtypeError, ShapeError, TapeError
from wengert.explain.tangents import push
from wengert.transforms.gradients import Call, as_tensor, like_given, zeros_like
from wengert.trees import flatten, paths


def as_tangent(value: Any, part: Part, what: str, several: bool = False) -> Tensor | Block | None:
    """Return a given tangent as a tensor of its primal's shape and dtype; None for none.

    There may be `several` of them, counted by a last axis.
    """
    if value is None:
        return None
    primal = part.tensor
    shape = primal.shape if part.selection is None else part.selection.shape
    if type(value) is Block:
        values, given = lift(value.values, what), tuple(value.shape)
    else:
        values = as_tensor(value, what)
        given = values.shape
    if several and (len(given) != len(shape) + 1 or given[:-1] != shape):
        raise ShapeError(
            f"{what}: directions have shape {given} for an argument of shape {shape}; write an "
            f"array of shape ({', '.join(map(str, (*shape, 'k')))}) for k of them, or wg.jvp for "
            "a single one"
        )
    if not several and given != shape:
        raise ShapeError(
            f"{what}: a tangent has shape {given} and its primal {shape}; give one number for each "
            "element of the primal"
        )
    values = beside(values, primal)
    if type(value) in (Tensor, Block) or backends.namespace_of(value) is not None:
        check_together(f"{what}: tangents", primal, values)
    if backends.loses(values.dtype, primal.dtype):
        raise DtypeError(
            f"{what}: a tangent has dtype {values.dtype} and its primal {primal.dtype}, which "
            "cannot hold it; write wg.real(tangent), or give a complex primal"
        )
    if values.dtype != primal.dtype:
        values = Tensor._namespace.astype(values, primal.dtype)
    return Block(value.shape, value.region, values) if type(value) is Block else values


def matching(primals: Any, tangents: Any, what: str) -> list[Any]:
    """Return the leaves of `tangents`, which is a nest of the form of `primals`."""
    if paths(primals) != paths(tangents):
        raise ShapeError(
            f"{what}: the primals have parts at {paths(primals)} and the tangents at "
            f"{paths(tangents)}; give one tangent for each primal, in the same nest"
        )
    return flatten(tangents)[0]


class ForwardAccumulator:
    """A context in which everything computed from some tensors or variables has a tangent.

    Parameters
    ----------
    primals
        Tensors, variables or selections ``x.at[key]`` of them, in any nest.
    tangents
        The direction: an array for each primal, in the same nest. For a selection it has the
        shape of ``x[key]``, and what does not depend on it is not computed.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.asarray([1.0, 2.0])
    >>> with wg.ForwardAccumulator(x, wg.asarray([1.0, 0.0])) as forward:
    ...     y = x**3
    >>> forward.jvp(y)
    Tensor([3., 0.], dtype=float64)
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        what = "ForwardAccumulator"
        given = matching(primals, tangents, what)
        self._parts = [part_of_tape(p, f"{what}: primal") for p in flatten(primals)[0]]
        self._tangents = [
            as_tangent(t, part, what) for t, part in zip(given, self._parts, strict=True)
        ]
        self._tape = Tape(persistent=True, watch_accessed_variables=False)
        self._entered = False
        self._owners = [
            p.__wengert_selection__()[0] if hasattr(type(p), "__wengert_selection__") else p
            for p in flatten(primals)[0]
        ]

    def __enter__(self) -> ForwardAccumulator:
        self._tape.__enter__()
        self._entered = True
        self._tape.watch(self._owners)
        self._parts = [
            Part(part.tensor, part_of_tape(owner, "primal").node, part.selection)
            for part, owner in zip(self._parts, self._owners, strict=True)
        ]
        return self

    def __exit__(self, *exception: object) -> None:
        self._tape.__exit__(*exception)

    def jvp(self, target: Any, unconnected_gradients: str = "none", dense: bool = True) -> Any:
        """Return the tangent of a tensor, or of each in a nest.

        Parameters
        ----------
        target
            What was computed inside of the context.
        unconnected_gradients
            What to return for a target that depends on no primal: "none" for None, "zero" for
            zeros.
        dense
            False to get a `Block` where the tangent is zero outside of one.

        Examples
        --------
        >>> import wengert as wg
        >>> x = wg.asarray([1.0, 2.0])
        >>> with wg.ForwardAccumulator(x.at[1], 1.0) as forward:
        ...     y = wg.sum(x**2)
        >>> forward.jvp(y)
        Tensor(4., dtype=float64)
        """
        if unconnected_gradients not in ("none", "zero"):
            raise ValueError(
                f"unconnected_gradients is {unconnected_gradients!r}; write 'none' or 'zero'"
            )
        leaves, rebuild = flatten(target)
        tensors = [part_of_tape(leaf, "jvp: target") for leaf in leaves]
        if any(part.selection is not None for part in tensors):
            raise TypeError("jvp: a target is a selection z.at[key]; write z[key] in the context")
        if not self._entered:
            raise TapeError("jvp: the accumulator was not entered; write `with accumulator:`")
        targets = [Tensor.__copy__(p.tensor) for p in tensors]
        for tensor, part in zip(targets, tensors, strict=True):
            tensor._node = part.node
        found = push(self._tape, self._parts, self._tangents, targets, dense)
        if unconnected_gradients == "zero":
            found = [zeros_like(t) if f is None else f for f, t in zip(found, targets, strict=True)]
        return rebuild(found)


class _Linear:
    """The tangents of one call of a function, as often as asked."""

    def __init__(
        self,
        fun: Callable[..., Any],
        primals: tuple[Any, ...],
        what: str,
        positions: Sequence[int] | None = None,
        has_aux: bool = False,
    ) -> None:
        positions = range(len(primals)) if positions is None else positions
        self.call = Call(fun, tuple(positions), has_aux, primals, {}, what, persistent=True)
        self.primals = tuple(primals[i] for i in positions)
        self.what = self.call.what
        leaves, self.rebuild = flatten(self.call.result)
        self.targets = [as_tensor(t, self.what) for t in leaves]
        self.parts = self.call.parts

    def value(self) -> Any:
        return self.call.outward(self.call.result)

    def __call__(self, tangents: Any) -> Any:
        given = matching(self.primals, tuple(tangents), self.what)
        moving = [as_tangent(t, p, self.what) for t, p in zip(given, self.parts, strict=True)]
        found = push(self.call.tape, self.parts, moving, self.targets)
        first = next(iter(flatten(self.call.given)[0]), None)
        pairs = zip(found, self.targets, strict=True)
        answers = [zeros_like(t) if f is None else f for f, t in pairs]
        if levels.get():
            return self.rebuild(answers)
        return self.rebuild([like_given(a, first, fresh=True) for a in answers])


def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]:
    """Return fun(*primals) and its derivative in the direction of `tangents`.

    Parameters
    ----------
    fun
        Returns an array, or a nest of them; with `has_aux`, (result, aux).
    primals
        A tuple of the arguments, each an array or a nest of them.
    tangents
        A tuple of the same form; None for an argument that does not move.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> wg.jvp(np.sin, (np.zeros(2),), (np.array([1.0, 2.0]),))
    (array([0., 0.]), array([1., 2.]))
    """
    if not isinstance(primals, (tuple, list)):
        kind = type(primals).__name__
        raise TypeError(f"jvp: primals is {kind}; write a tuple of the arguments, (x,) for one")
    positions = list(range(len(primals)))
    if len(tangents) == len(primals):  # an argument that does not move may be anything
        positions = [i for i in positions if tangents[i] is not None] or positions
        tangents = [tangents[i] for i in positions]
    line = _Linear(fun, tuple(primals), "jvp", positions, has_aux)
    tangent = line(tangents)
    if has_aux:
        return line.value(), tangent, line.call.outward(line.call.aux)
    return line.value(), tangent


def linearize(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Return fun(*primals) and the linear function from tangents to the result's tangent.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> y, push = wg.linearize(np.sin, np.zeros(2))
    >>> push(np.array([1.0, 2.0]))
    array([1., 2.])
    """
    line = _Linear(fun, primals, "linearize")
    return line.value(), lambda *tangents: line(tangents)
