"""Operations of Wengert with another library's choices where mathematics leaves one."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from wengert.ops.families import Elementwise

Rule = Callable[..., Any]


def with_rules(
    function: Any,
    *rules: Rule | None,
    chosen: Sequence[Rule] = (),
    compute: Callable[..., Any] | None = None,
) -> Any:
    """Return an elementwise function's operation with these rules, as the attribute `op`.

    The values are the same, unless `compute` says otherwise.
    """
    base = function.op
    op = Elementwise(base.name, base.args, compute or base.compute, rules, base.params)
    if compute is None:
        op.numpy_function, op.aliases = base.numpy_function, base.aliases
    op.chosen, op.direct = tuple(chosen), not chosen
    return types.SimpleNamespace(op=op)
