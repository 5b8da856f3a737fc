"""New operations as HIPS autograd declares them: primitive, defvjp, defjvp."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from wengert.dialects.autograd.borders import conjugated, tensor_of, values
from wengert.dialects.autograd.boxes import Box, getval, holds_box, record, trace_stack
from wengert.dialects.autograd.boxes import register_notrace as register_notrace
from wengert.dialects.autograd.vspaces import VSpace, vspace
from wengert.engine.batching import Batched, Level, highest, outside
from wengert.engine.cotangents import Block
from wengert.engine.node import Edge, Node, active
from wengert.engine.op import Op
from wengert.engine.record import apply, lift
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import NoRuleError, RuleError, name_of
from wengert.transforms.gradients import is_traced
from wengert.trees import flatten

Function = Callable[..., Any]


class Arguments:
    """The arguments of one call of a primitive, with the tensors taken out of them."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.kwargs = kwargs
        self.tensors: list[Tensor] = []
        #: for each tensor, which argument it is in
        self.argnums: list[int] = []
        #: each argument, or its leaves, how to rebuild it, and the positions of tensors in it
        self.args: list[Any] = list(args)
        self.parts: dict[int, tuple[list[Any], Any, list[int]]] = {}
        #: how to rebuild the results; the call sets it
        self.rebuild: Any = None
        for argnum, arg in enumerate(args):
            leaves, rebuild = flatten(arg)
            positions = [i for i, leaf in enumerate(leaves) if type(_tensor(leaf)) is Tensor]
            if positions:
                self.tensors += [_tensor(leaves[i]) for i in positions]
                self.argnums += [argnum] * len(positions)
                for i in positions:  # a node must not hold tensors, which lead to nodes
                    leaves[i] = None
                self.parts[argnum] = leaves, rebuild, positions
                self.args[argnum] = None

    def filled(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """Return the arguments with arrays in place of the tensors."""
        supply, args = iter(arrays), list(self.args)
        for argnum, (leaves, rebuild, positions) in self.parts.items():
            renewed = list(leaves)
            for i in positions:
                renewed[i] = next(supply)
            args[argnum] = rebuild(renewed)
        return tuple(args)

    def picked(self, argnum: int, tree: Any) -> list[Any]:
        """Return the leaves of a nest like an argument at the positions of its tensors."""
        expected, _, positions = self.parts[argnum]
        if tree is None:
            return [None] * len(positions)
        leaves = flatten(tree)[0]
        if len(leaves) != len(expected):
            raise RuleError(
                f"a rule returned {len(leaves)} arrays for argument {argnum}, which has "
                f"{len(expected)}; return a nest like it"
            )
        return [leaves[i] for i in positions]

    def seen(self, y: Any, arrays: Any) -> tuple[Any, tuple[Any, ...]]:
        """Return the result and the arguments as a rule sees them."""
        answer = self.rebuild([_seen(part) for part in (y if type(y) is tuple else [y])])
        return answer, self.filled([_seen(a) for a in arrays])


def _tensor(leaf: Any) -> Any:
    return lift(leaf, "primitive") if hasattr(type(leaf), "__wengert_tensor__") else leaf


def _seen(value: Any) -> Any:
    """Return a value as a rule sees it: a tensor only where a tape records what the rule does.

    Other arrays are read-only, and scalars if they have no axes.
    """
    if type(value) is Tensor:
        if is_traced(value) or type(value._raw) is Batched:
            return value
        value = value._raw
    if type(value) is not np.ndarray or not value.shape:
        return value[()] if type(value) is np.ndarray else value
    view = value.view()
    view.flags.writeable = False
    return view


def _reads(xp: Any, g: Any, y: Any, arrays: Any, position: Any, given: Any) -> Any:
    """Name in its parameters what a primitive keeps; `Primitive.pull` is what is called."""


class Primitive(Op):
    """An operation on the tensors among a function's arguments; rules are given later."""

    family = "custom"
    captures = True  # rules may read tensors that are not arguments

    def __init__(self, function: Function) -> None:
        self.function = function
        #: ``(argnums, ans, args, kwargs) -> (g -> cotangents)``, and for tangents
        #: ``(argnums, tangents, ans, args, kwargs) -> tangent``
        self.vjps: Function | None = None
        self.jvps: Function | None = None

        super().__init__(
            name_of(function), ["arrays"], self._compute, [_reads], ["given"], variadic=True
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = Arguments(args, kwargs)
        for name, value in kwargs.items():
            if any(type(leaf) is Tensor and is_traced(leaf) for leaf in flatten(value)[0]):
                raise TypeError(
                    f"{self.name}: the keyword argument {name} is recorded, and a primitive has "
                    "derivatives by positional arguments only; pass it by position"
                )
        if not given.tensors:
            return self.function(*args, **kwargs)
        if self.vjps is None and self.jvps is None and any(map(is_traced, given.tensors)):
            raise NoRuleError(
                f"{self.name}: this primitive has no derivative; write defvjp({self.name}, ...)"
            )
        tensors, given.tensors = tuple(given.tensors), []
        result = apply(self, tensors, {"given": given})
        return given.rebuild(result if type(result) is tuple else [result])

    def _compute(self, xp: Any, *raws: Any, given: Arguments) -> Any:
        mine = [raw.copy()[()] if type(raw) is np.ndarray else raw for raw in raws]
        answer = self.function(*given.filled(mine), **given.kwargs)
        leaves, given.rebuild = flatten(answer)
        results = [self._raw(leaf) for leaf in leaves]
        return results[0] if len(results) == 1 else tuple(results)

    def _raw(self, leaf: Any) -> Any:
        if type(leaf) is Tensor and is_traced(leaf):
            raise RuleError(
                f"{self.name}: its result depends on a recorded tensor that is no argument, so no "
                "derivative would reach it; pass it as an argument"
            )
        return tensor_of(leaf, self.name)._raw

    # -- reverse ------------------------------------------------------------------------------

    def pull(
        self, xp: Any, g: Any, node: Node, edges: Sequence[Edge], sweep: Any = None
    ) -> Sequence[Any]:
        """Return the cotangents of the tensors; the rule is asked once for all of them."""
        y, arrays, _, given = edges[0][2]
        g = g.todense(xp) if type(g) is Block else g
        positions = [position for _, position, _ in node.edges]
        on_tensors = xp is Tensor._namespace
        parts = [g, y] if type(g) is not list else [*g, *y]
        raws = [t._raw for t in (*parts, *arrays) if type(t) is Tensor]
        level = highest(raws, {}) if on_tensors else None
        if level is None:
            asked = self._asked(g, y, arrays, given, positions)
            cotangents = {p: _as_array(c, on_tensors) for p, c in asked.items()}
        else:
            cotangents = self._for_examples(level, g, y, arrays, given, positions)
        return [cotangents[position] for _, position, _ in edges]

    def _for_examples(
        self, level: Level, g: Any, y: Any, arrays: Any, given: Arguments, positions: list[int]
    ) -> dict[int, Any]:
        """Return the cotangents for all examples of a vmap; the rule is asked for each."""
        if (active.get() - level.tapes) and any(
            type(t) is Tensor and is_traced(t) and t._node.tokens - level.tapes  # type: ignore[union-attr]
            for t in arrays
        ):
            raise NoRuleError(
                f"{self.name}: a primitive has no second derivative inside of vmap; put vmap inside"
            )

        def example(value: Any, i: int) -> Any:
            if type(value) in (list, tuple):
                return type(value)(example(v, i) for v in value)
            if type(value) is Tensor and type(value._raw) is Batched and value._raw.level is level:
                return value._raw.values[i]
            return value

        with outside(level):
            rows = [
                self._asked(example(g, i), example(y, i), example(arrays, i), given, positions)
                for i in range(level.size)
            ]
            return {
                p: None
                if rows[0][p] is None
                else wrap(Batched(level, Tensor._namespace.stack([_as_array(r[p]) for r in rows])))
                for p in positions
            }

    def _asked(
        self, g: Any, y: Any, arrays: Any, given: Arguments, positions: list[int]
    ) -> dict[int, Any]:
        """Return what the rule answers for the tensors at some positions, with its convention."""
        if self.vjps is None:
            raise NoRuleError(
                f"{self.name}: this primitive has no rule for cotangents; write defvjp"
            )
        answer, args = given.seen(y, arrays)
        parts = [
            np.zeros(np.shape(a)) if w is None else _seen(w)  # None: an integer result
            for w, a in (zip(g, y, strict=True) if type(g) is list else [(g, y)])
        ]
        argnums = tuple(dict.fromkeys(given.argnums[p] for p in positions))
        cotangents = list(
            self.vjps(argnums, answer, args, given.kwargs)(conjugated(given.rebuild(parts)))
        )
        if len(cotangents) != len(argnums):
            raise RuleError(
                f"{self.name}: its rule returned {len(cotangents)} cotangents for the arguments "
                f"{argnums}; return one for each"
            )
        first = {n: given.argnums.index(n) for n in argnums}
        picked = {
            n: given.picked(n, conjugated(c)) for n, c in zip(argnums, cotangents, strict=True)
        }
        return {p: picked[given.argnums[p]][p - first[given.argnums[p]]] for p in positions}

    # -- forward ------------------------------------------------------------------------------

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the tangent of the result by the rule of defjvp."""
        if self.jvps is None:
            raise NoRuleError(
                f"{self.name}: this primitive has no rule for tangents; write defjvp, or "
                "take the derivative in reverse"
            )
        y, arrays, _, given = edges[0][2]
        answer, args = given.seen(y, arrays)
        moving = {
            position: _seen(t.todense(xp) if type(t) is Block else t) for _, position, _, t in edges
        }
        argnums = tuple(dict.fromkeys(given.argnums[p] for p in sorted(moving)))
        tangents = given.filled(
            [moving[p] if p in moving else np.zeros(a.shape, a.dtype) for p, a in enumerate(arrays)]
        )
        tangent = self.jvps(argnums, [tangents[n] for n in argnums], answer, args, given.kwargs)
        parts = [_as_array(part, xp is Tensor._namespace) for part in flatten(tangent)[0]]
        return parts if type(node.shape) is list else parts[0]


def _as_array(value: Any, on_tensors: bool = True) -> Any:
    """Return a rule's answer as the sweep carries it."""
    if value is None:
        return None
    tensor = tensor_of(value, "primitive")
    return tensor if on_tensors else tensor._raw


def primitive(f_raw: Function) -> Any:
    """Return a function that is recorded as one operation, with rules given by `defvjp`.

    It is called on plain NumPy arrays and scalars, also where its arguments are recorded.

    Examples
    --------
    >>> import wengert.autograd.numpy as np
    >>> from wengert.autograd import grad
    >>> from wengert.autograd.extend import defvjp, primitive
    >>> @primitive
    ... def cube(x):
    ...     return x * x * x
    >>> defvjp(cube, lambda ans, x: lambda g: g * 3 * x**2)
    >>> grad(cube)(2.0)
    np.float64(12.0)
    """
    op = Primitive(f_raw)

    @functools.wraps(f_raw)
    def f_wrapped(*args: Any, **kwargs: Any) -> Any:
        if trace_stack.running and holds_box((args, kwargs)):
            return record(f_wrapped, args, kwargs)
        return op(*args, **kwargs)

    wrapped: Any = f_wrapped
    wrapped.fun = f_raw
    wrapped._wengert_primitive = op
    return wrapped


def _op_of(fun: Any, what: str) -> Primitive:
    op = getattr(fun, "_wengert_primitive", None)
    if op is None:
        raise TypeError(
            f"{what}: {name_of(fun)} is not a primitive; write f = primitive({name_of(fun)}), give "
            "f its rules, and call f"
        )
    return op


# -- rules for cotangents ---------------------------------------------------------------------


def defvjp_argnums(fun: Any, vjpmaker: Function) -> None:
    """Give a primitive one rule: (argnums, ans, args, kwargs) -> (g -> a cotangent for each)."""
    _op_of(fun, "defvjp_argnums").vjps = vjpmaker


def defvjp_argnum(fun: Any, vjpmaker: Function) -> None:
    """Give a primitive one rule: (argnum, ans, args, kwargs) -> (g -> cotangent)."""

    def vjps(argnums: Sequence[int], ans: Any, args: Any, kwargs: Any) -> Function:
        pulls = [vjpmaker(argnum, ans, args, kwargs) for argnum in argnums]
        return lambda g: [pull(g) for pull in pulls]

    _op_of(fun, "defvjp_argnum").vjps = vjps


def defvjp(fun: Any, *vjpmakers: Function | None, argnums: Iterable[int] | None = None) -> None:
    """Give a primitive a rule for each argument: (ans, *args, **kwargs) -> (g -> cotangent).

    None stands for a derivative of zero. `argnums` says which arguments the rules are for; without
    it, the first ones.
    """
    rule_of = _by_argnum(fun, vjpmakers, argnums, "defvjp")

    def vjpmaker(argnum: int, ans: Any, args: Any, kwargs: Any) -> Function:
        make = rule_of(argnum)
        return (lambda g: None) if make is None else make(ans, *args, **kwargs)

    defvjp_argnum(fun, vjpmaker)


def _by_argnum(
    fun: Any, rules: Sequence[Any], argnums: Iterable[int] | None, what: str
) -> Callable[[int], Any]:
    """Return the function from an argument's position to its rule."""
    name = _op_of(fun, what).name
    for rule in rules:
        if rule is not None and rule != "same" and not callable(rule):
            raise TypeError(f"{what}: got the rule {rule!r}; expected a function, or None for zero")
    by_argnum = dict(zip(itertools.count() if argnums is None else argnums, rules, strict=False))

    def rule_of(argnum: int) -> Any:
        if argnum not in by_argnum:
            raise NoRuleError(
                f"{name}: there is no derivative by argument {argnum}; give {what} a rule for it, "
                "or None if the derivative is zero"
            )
        return by_argnum[argnum]

    return rule_of


# -- rules for tangents -----------------------------------------------------------------------


def defjvp_argnums(fun: Any, jvpmaker: Function) -> None:
    """Give a primitive one rule: (argnums, tangents, ans, args, kwargs) -> tangent."""
    _op_of(fun, "defjvp_argnums").jvps = jvpmaker


def defjvp_argnum(fun: Any, jvpmaker: Function) -> None:
    """Give a primitive one rule: (argnum, tangent, ans, args, kwargs) -> tangent; they add up."""

    def jvps(argnums: Any, tangents: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        first, *more = (
            jvpmaker(n, t, ans, args, kwargs) for n, t in zip(argnums, tangents, strict=True)
        )
        return functools.reduce(vspace(first).add, more, first)

    _op_of(fun, "defjvp_argnum").jvps = jvps


def defjvp(fun: Any, *jvpfuns: Function | str | None, argnums: Iterable[int] | None = None) -> None:
    """Give a primitive a rule for each argument: (tangent, ans, *args, **kwargs) -> tangent.

    None stands for zero, and "same" for the function itself, with the tangent for the argument.
    """
    rule_of = _by_argnum(fun, jvpfuns, argnums, "defjvp")

    def jvpmaker(argnum: int, t: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        rule = rule_of(argnum)
        if rule is None:
            return vspace(ans).zeros()
        if rule == "same":
            return fun(*_with(args, argnum, t), **kwargs)
        return rule(t, ans, *args, **kwargs)

    defjvp_argnum(fun, jvpmaker)


def def_linear(fun: Any) -> None:
    """Say that a primitive is linear in each argument."""
    defjvp_argnum(fun, lambda argnum, t, _, args, kwargs: fun(*_with(args, argnum, t), **kwargs))


def _with(args: tuple[Any, ...], argnum: int, value: Any) -> tuple[Any, ...]:
    return (*args[:argnum], value, *args[argnum + 1 :])


# -- without derivatives ----------------------------------------------------------------------


def notrace_primitive(f_raw: Function) -> Function:
    """Return a function that is called on values and records nothing."""

    @functools.wraps(f_raw)
    def f_wrapped(*args: Any, **kwargs: Any) -> Any:
        return f_raw(*(values(getval(arg)) for arg in args), **kwargs)

    return f_wrapped


def with_old_methods(f_raw: Function) -> Any:
    """Return a primitive that also has the methods of old: defgrad, defvjp and defvjp_is_zero."""
    fun = primitive(f_raw)
    rules: dict[int, Function | None] = {}

    def add(argnum: int, rule: Function | None, what: str) -> None:
        warnings.warn(
            f"{name_of(f_raw)}.{what} is an old form; write defvjp({name_of(f_raw)}, rule)",
            DeprecationWarning,
            stacklevel=3,
        )
        rules[argnum] = rule
        defvjp(fun, *rules.values(), argnums=tuple(rules))

    def old_defgrad(gradmaker: Function, argnum: int = 0) -> None:
        add(argnum, gradmaker, "defgrad")

    def old_defvjp(vjp: Function, argnum: int = 0) -> None:
        def rule(ans: Any, *args: Any, **kwargs: Any) -> Function:
            return lambda g: vjp(g, ans, vspace(args[argnum]), vspace(g), *args, **kwargs)

        add(argnum, rule, "defvjp")

    def old_is_zero(argnums: Sequence[int] = (0,)) -> None:
        for argnum in argnums:
            add(argnum, None, "defvjp_is_zero")

    fun.defgrad, fun.defvjp, fun.defvjp_is_zero = old_defgrad, old_defvjp, old_is_zero
    return fun


__all__ = [
    "Box", "VSpace", "def_linear", "defjvp", "defjvp_argnum", "defjvp_argnums", "defvjp",
    "defvjp_argnum", "defvjp_argnums", "notrace_primitive", "primitive", "register_notrace",
    "vspace",
]  # fmt: skip

_NODES = "write VJPNode and JVPNode of wengert.autograd.core"
ABSENT = dict.fromkeys(("JVPNode", "VJPNode"), _NODES) | {
    "SparseObject": "return a cotangent as an array; blocks of zeros are found by themselves"
}
