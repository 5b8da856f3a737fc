"""Products that a compiled loop need not do step by step: one product of all steps takes less time.

The product of a part of `xs` with what is the same in all steps is computed before the loop. The
gradient of a weight is a sum of products over the steps: the loop returns their factors, stacked,
and these are multiplied once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.extend.core
from jax import lax

#: A product of at most so many rows, or so many terms, is done sooner as a part of a large one.
_FEW = 64
#: How many numbers a loop returns at most, so that they are multiplied later.
_MANY = 1 << 24


def evaluated(program: Any, closed_over: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    """Return what a program of JAX's computes of arrays."""
    return jax.core.eval_jaxpr(program, list(closed_over), *arrays)


def is_literal(value: Any) -> bool:
    """Whether an argument in a program of JAX's is a constant written there."""
    return isinstance(value, jax.extend.core.Literal)


def _contracted(step: Any) -> tuple[int, int] | None:
    """Return the axes of two matrices that an operation sums over, if it multiplies matrices."""
    if step is None or step.primitive.name != "dot_general" or any(map(is_literal, step.invars)):
        return None
    (left, right), _ = step.params["dimension_numbers"]
    if len(left) != 1 or any(len(v.aval.shape) != 2 for v in step.invars):
        return None
    return left[0], right[0]


def ahead(program: Any, states: int) -> tuple[Any, Callable[..., list[Any]] | None]:
    """Return a program of one step without the small products of x alone with what is fixed.

    Its first `states` inputs are the state, the others x. The second answer takes what the program
    closes over and all x, stacked, and returns what the first one takes as further inputs; it is
    None if there is no such product.
    """
    of_state, of_x = {*program.invars[:states]}, {*program.invars[states:]}
    products: list[Any] = []
    for step in program.eqns:
        given = [v for v in step.invars if not is_literal(v)]
        if step.effects or not of_state.isdisjoint(given):
            of_state.update(step.outvars)
        elif not of_x.isdisjoint(given):
            of_x.update(step.outvars)
            if axes := _contracted(step):
                rows = [
                    v.aval.shape[1 - axis] for v, axis in zip(given, axes, strict=True) if v in of_x
                ]
                if len(rows) == 1 and rows[0] <= _FEW:
                    products += step.outvars
    if not products:
        return program, None
    sooner = [step for step in program.eqns if of_state.isdisjoint(step.outvars)]
    first = program.replace(invars=program.invars[states:], outvars=products, eqns=sooner)
    later = [step for step in program.eqns if step.outvars[0] not in products]
    rest = program.replace(invars=[*program.invars, *products], eqns=later)

    def before(closed_over: Sequence[Any], columns: Sequence[Any]) -> list[Any]:
        return jax.vmap(lambda *x: evaluated(first, closed_over, x))(*columns)

    return rest, before


class Factor(NamedTuple):
    """A matrix in each step: one that is read (by number), or one that is returned; its axis."""

    is_read: bool
    place: int
    axis: int


class Product(NamedTuple):
    """The product of two factors over their axes, summed over all steps."""

    left: Factor
    right: Factor
    options: dict[str, Any]

    def of(self, read: Sequence[Any], returned: Sequence[Any]) -> Any:
        """Return the sum, given the factors of all steps, stacked."""
        left, right = [(read if f.is_read else returned)[f.place] for f in self[:2]]
        axes = ((0, self.left.axis + 1), (0, self.right.axis + 1))
        return lax.dot_general(left, right, (axes, ((), ())), **self.options)


def factored(
    program: Any, positions: Sequence[int], count: int, stacked: Sequence[int | None]
) -> tuple[Any, dict[int, list[Product]]]:
    """Return a program that returns factors in the place of small products, and these products.

    `positions` are the results that are summed over all `count` steps. The values which the program
    closes over are known for all steps, under the number in `stacked`, unless that is None. For
    each result that is a sum of products these are given; the program returns their factors last.
    """
    made_by = {v: step for step in program.eqns for v in step.outvars}
    numbers = dict(zip(program.constvars, stacked, strict=True))
    returned: dict[Any, int] = {}

    def terms(value: Any, turned: bool) -> list[Any]:
        """Return pairs of operands with their axes, or [None] for what is no product."""
        step: Any = None if is_literal(value) else made_by.get(value)
        name = step and step.primitive.name
        if name in ("add", "add_any"):
            return [term for v in step.invars for term in terms(v, turned)]
        if name == "transpose":
            return terms(step.invars[0], turned != (step.params["permutation"] == (1, 0)))
        axes = _contracted(step)
        if axes is None or step.invars[0].aval.shape[axes[0]] > _FEW:
            return [None]
        pair = [_before_transposes(v, k, made_by) for v, k in zip(step.invars, axes, strict=True)]
        if any(numbers.get(v, 0) is None for v, _ in pair):
            return [None]
        options = {k: step.params[k] for k in ("precision", "preferred_element_type")}
        return [(*(pair[::-1] if turned else pair), options)]

    def factor(value: Any, axis: int) -> Factor:
        if value in numbers:
            return Factor(True, numbers[value], axis)
        return Factor(False, returned.setdefault(value, len(returned)), axis)

    found = {k: terms(program.outvars[k], False) for k in positions}
    new = {v for pairs in found.values() if None not in pairs for p in pairs for v, _ in p[:2]}
    size = sum(math.prod(v.aval.shape) for v in new if v not in numbers)
    if size * count > _MANY:
        return program, {}
    products = {
        k: [Product(factor(*left), factor(*right), options) for left, right, options in pairs]
        for k, pairs in found.items()
        if None not in pairs
    }
    kept = [v for k, v in enumerate(program.outvars) if k not in products]
    return program.replace(outvars=[*kept, *returned]), products


def _before_transposes(value: Any, axis: int, made_by: dict[Any, Any]) -> tuple[Any, int]:
    """Return the matrix that was transposed to give a value, and which axis of it `axis` was."""
    step = made_by.get(value)
    while step is not None and step.primitive.name == "transpose":
        value, axis = step.invars[0], step.params["permutation"][axis]
        step = None if is_literal(value) else made_by.get(value)
    return value, axis
