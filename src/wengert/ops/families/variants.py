"""Other conventions of operations: other rules where mathematics leaves a choice."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Unpack

from wengert.ops.families.declare import REGISTRY, Rule, Tests, caller_of, register
from wengert.ops.families.elementwise import Elementwise, Zero


def variant(
    function: Any,
    convention: str,
    *rules: Rule | None,
    compute: Callable[..., Any] | None = None,
    **tests: Unpack[Tests],
) -> Any:
    """Declare another convention for an operation: other rules where mathematics leaves a choice.

    Family, parameters and tests are those of the operation, and so are values unless `compute`
    says otherwise. The registry has it as "maximum(ties=first)". An operation that is flat becomes
    an elementwise one by its rules.

    Examples
    --------
    ``variant(maximum, "ties=first", *rules)`` gives all of a gradient to the first of equal ones.
    """
    base: Any = function.op
    known = next(entry for entry in REGISTRY.values() if entry.op is base)
    family = Elementwise if isinstance(base, Zero) and any(rules) else type(base)
    op = family(base.name, base.args, compute or base.compute, rules, base.params, base.variadic)
    own = {"batch", "chosen"}
    if compute is not None:  # what computes the operation itself, and may share memory
        own |= {"numpy_function", "aliases", "rounds_once"}
    vars(op).update({k: v for k, v in vars(base).items() if k not in vars(op) and k not in own})
    if isinstance(batch := vars(base).get("batch"), partial):
        op.batch = partial(batch.func, op)  # type: ignore[method-assign]
    for name in ("samples", "kinds", "reference", "inputs", "given", "invariant", "rounding"):
        tests.setdefault(name, getattr(known, name))  # type: ignore[misc]
    tests.setdefault("domain", known.domains)
    return register(caller_of(op), op, f"{known.name}({convention})", op.family, tests)
