"""What JAX compiles: programs, loops and choices over raw arrays, and derivatives kept for later.

A rule that is traced here closes over the values it reads. `hoisted` finds these values, so that
one compiled program can return them and another one take them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
from jax import lax

from wengert.backends.jax_products import ahead, evaluated, factored, is_literal

__all__ = ["ahead", "evaluated", "factored"]

Arrays = list[Any]
#: The class of arrays that hold values.
ARRAY: type = type(jnp.zeros(0))
#: What JAX raises where a program asks for a value that is not there while it is compiled.
VALUE_ERRORS: tuple[type[Exception], ...] = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerBoolConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)


def is_traced(array: Any) -> bool:
    """Whether an array stands for values that a compiled program will compute."""
    return isinstance(array, jax.core.Tracer)


def is_array(value: Any) -> bool:
    """Whether a value is an array of JAX's."""
    return isinstance(value, jax.Array)


def asarray(value: Any) -> Any:
    """Return an array or a number as an array of JAX's."""
    return jnp.asarray(value)


def wide() -> contextlib.AbstractContextManager[Any]:
    """Return a context in which numbers of 64 bits stay what they are."""
    return jax.enable_x64(True)


def compiled(function: Callable[..., Any], donated: Sequence[int] = ()) -> Callable[..., Any]:
    """Return a function of lists of arrays that JAX compiles for each shape and dtype."""
    return jax.jit(function, donate_argnums=tuple(donated))


class Results:
    """Arrays that a compiled program returns, with what its trace has found out about them."""

    def __init__(self, arrays: Arrays, known: Any) -> None:
        self.arrays, self.known = arrays, known


jax.tree_util.register_pytree_node(
    Results,
    lambda results: (results.arrays, results.known),
    lambda known, arrays: Results(list(arrays), known),
)


_specimen: Any = jax.ShapeDtypeStruct


def specimens(arrays: Sequence[Any]) -> list[Any]:
    """Return the shapes and dtypes of arrays, to trace with."""
    return [_specimen(np.shape(a), jnp.result_type(a)) for a in arrays]


def first_of(arrays: Sequence[Any]) -> list[Any]:
    """Return shapes and dtypes of what arrays have along their first axis."""
    return [_specimen(a.shape[1:], a.dtype) for a in arrays]


def traced(function: Callable[..., Arrays], *given: Any) -> tuple[Any, list[Any]]:
    """Return a function as JAX's program, and the arrays that it closes over."""
    closed = jax.make_jaxpr(function)(*given)
    return closed.jaxpr, list(closed.consts)


#: Operations that move numbers and compute none: a rule does these itself.
_MOVES = frozenset(
    {
        "broadcast_in_dim", "convert_element_type", "copy", "expand_dims", "iota", "reshape",
        "rev", "slice", "squeeze", "transpose",
    }
)  # fmt: skip


def hoisted(rule: Callable[..., Arrays], *given: Any) -> tuple[Any, list[Any]]:
    """Return a rule as a program of cotangents and of values that are known before, and these.

    What the rule computes of known values alone is computed now, once, as factors of cotangents.
    """
    closed = jax.make_jaxpr(rule)(*given)
    program = closed.jaxpr
    known = set(program.constvars)
    made_by: dict[Any, Any] = {}
    later: list[Any] = []
    for step in program.eqns:
        if not step.effects and all(is_literal(v) or v in known for v in step.invars):
            known.update(step.outvars)
            made_by.update(dict.fromkeys(step.outvars, step))
        else:
            later.append(step)
    kept: dict[Any, None] = {}
    repeated: set[int] = set()
    pending = [*(v for step in later for v in step.invars), *program.outvars]
    for value in pending:  # grows while it is read
        if is_literal(value) or value not in known or value in kept:
            continue
        step = made_by.get(value)
        if step is None or step.primitive.name not in _MOVES:
            kept[value] = None
        elif id(step) not in repeated:
            repeated.add(id(step))
            pending += step.invars
    chosen = {*map(id, later)} | repeated
    steps = [step for step in program.eqns if id(step) in chosen]
    sooner = [step for step in program.eqns if id(step) not in {*map(id, later)}]
    first = program.replace(invars=[], outvars=[*kept], eqns=sooner)
    rest = program.replace(constvars=[*kept], eqns=steps)
    return rest, evaluated(first, closed.consts, [])


def scan(
    step: Callable[[Any, Any], tuple[Any, Any]], first: Any, xs: Any, length: int, reverse: bool
) -> tuple[Any, Any]:
    """Return the last state of a compiled loop, and what its steps return, stacked."""
    return lax.scan(step, first, xs, length=length, reverse=reverse)


def cond(
    condition: Any, if_true: Callable[..., Arrays], if_false: Callable[..., Arrays], arrays: Arrays
) -> Arrays:
    """Return what one of two functions makes of arrays."""
    return lax.cond(jnp.asarray(condition, bool), if_true, if_false, arrays)


def while_loop(
    condition: Callable[[Arrays], Any], body: Callable[[Arrays], Arrays], first: Arrays
) -> Arrays:
    """Return the first state for which the condition does not hold."""
    return lax.while_loop(condition, body, first)


def shapes(function: Callable[..., Arrays], *given: Any) -> list[Any]:
    """Return the shapes and dtypes of what a function returns, without computing it."""
    return list(jax.eval_shape(function, *given))


def promoted(*dtypes: Any) -> Any:
    """Return the dtype of a mixture."""
    return jnp.promote_types(*dtypes)
