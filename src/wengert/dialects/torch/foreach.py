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
#: Other names of the arguments, by what they are called here.
_OTHERWISE = {"scalar": "other", "scalars": "other", "tensor1": "tensors1", "exponent": "other"}


def _rows(name: str, tensors: Sequence[Tensor], given: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the arguments for each tensor; what is no list goes with each."""
    for word, value in given.items():
        if isinstance(value, (list, tuple)) and len(value) != len(tensors):
            raise RuntimeError(
                f"_foreach_{name}: {len(tensors)} tensors, and {len(value)} of {word}; give equal "
                "numbers"
            )
    return [
        {word: v[place] if isinstance(v, (list, tuple)) else v for word, v in given.items()}
        for place in range(len(tensors))
    ]


def _offer(name: str, *words: str, option: str = "") -> None:
    """Offer `_foreach_name` and `_foreach_name_`, with arguments after the tensors."""
    function: Callable[..., Any] = _BOUNDS.get(name) or offered_as(name)

    def results(tensors: Sequence[Tensor], args: Any, options: dict[str, Any]) -> list[Tensor]:
        given = dict(zip((*words, option), args, strict=False))
        last = option if option == "value" else "other"
        for word, value in options.items():
            given[last if word in ("scalar", "scalars") else _OTHERWISE.get(word, word)] = value
        unknown = sorted(set(given) - {*words, option})
        if unknown or not set(words) <= set(given):
            raise TypeError(f"_foreach_{name}: got {sorted(given)}; expected {(*words, option)}")
        rows = _rows(name, tensors, given)
        pairs = zip(tensors, rows, strict=True)
        return [function(x, *(row.pop(word) for word in words), **row) for x, row in pairs]

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
for _name in ("add", "sub"):
    _offer(_name, "other", option="alpha")
for _name in ("div", "maximum", "minimum", "mul", "pow"):
    _offer(_name, "other")
for _name in ("addcdiv", "addcmul"):
    _offer(_name, "tensors1", "tensors2", option="value")
_offer("lerp", "tensors1", "weight")
