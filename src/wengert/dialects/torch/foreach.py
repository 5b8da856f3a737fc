"""torch._foreach_*: one operation on each tensor of a list, which optimisers use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.dialects.torch.table import offered_as, put
from wengert.dialects.torch.tensors import Tensor

_DIFFERS = "one tensor after the other"


#: What takes numbers too, unlike torch.maximum.
_BOUNDS: dict[str, Callable[..., Any]] = {
    "maximum": lambda x, other: x.clamp(min=other),
    "minimum": lambda x, other: x.clamp(max=other),
}


def _offer(name: str, option: str = "") -> None:
    """Offer `_foreach_name` and `_foreach_name_`; `option` is a last argument with a name."""
    function: Callable[..., Any] = _BOUNDS.get(name) or offered_as(name)
    takes = {"value": 2}.get(option)  # how many tensors come before the option

    def results(tensors: Sequence[Tensor], args: Any, options: dict[str, Any]) -> list[Tensor]:
        given = {option if word == "scalars" else word: value for word, value in options.items()}
        if takes is not None and len(args) > takes:
            *args, given[option] = args
        rows = [
            value if isinstance(value, (list, tuple)) else [value] * len(tensors)
            for value in (*args, *given.values())
        ]
        if any(len(row) != len(tensors) for row in rows):
            counts = [len(row) for row in rows]
            raise RuntimeError(
                f"_foreach_{name}: {len(tensors)} tensors, and {counts} of the others; give equal "
                "numbers"
            )
        return [
            function(x, *its[: len(args)], **dict(zip(given, its[len(args) :], strict=True)))
            for x, *its in zip(tensors, *rows, strict=True)
        ]

    def foreach(self: Sequence[Tensor], *args: Any, **options: Any) -> tuple[Tensor, ...]:
        return tuple(results(self, args, options))

    def foreach_(self: Sequence[Tensor], *args: Any, **options: Any) -> list[Tensor]:
        for tensor, found in zip(self, results(self, args, options), strict=True):
            tensor.copy_(found)
        return list(self)

    foreach.__doc__ = f"Return torch.{name} of each tensor of a list."
    foreach_.__doc__ = f"Replace each tensor of a list by torch.{name} of it; return the list."
    put((f"_foreach_{name}",), foreach, _DIFFERS)
    put((f"_foreach_{name}_",), foreach_, _DIFFERS)


for _name in (
    "abs", "ceil", "cos", "erf", "exp", "expm1", "floor", "frac", "lgamma", "log", "log10", "log1p",
    "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sqrt", "tan", "tanh",
    "trunc",
):  # fmt: skip
    _offer(_name)
for _name in ("add", "div", "lerp", "maximum", "minimum", "mul", "pow", "sub"):
    _offer(_name)
for _name in ("addcdiv", "addcmul"):
    _offer(_name, option="value")
