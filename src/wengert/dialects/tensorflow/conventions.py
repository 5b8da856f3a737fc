"""Operations with TensorFlow's choices where mathematics leaves one: at kinks, ties and zeros.

`with_rules` takes an operation of Wengert and gives it other rules. The values are the same.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from wengert.ops.families import Elementwise

Rule = Callable[..., Any]


def with_rules(function: Any, *rules: Rule | None, chosen: Sequence[Rule] = ()) -> Any:
    """Return an elementwise function's operation with these rules, as the attribute `op`."""
    base = function.op
    op = Elementwise(base.name, base.args, base.compute, rules, base.params)
    op.numpy_function, op.aliases = base.numpy_function, base.aliases
    op.chosen, op.direct = tuple(chosen), not chosen
    return types.SimpleNamespace(op=op)
