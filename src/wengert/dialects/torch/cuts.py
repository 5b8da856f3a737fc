"""What cuts a path in programs of PyTorch, for the error that a tensor has no gradient."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch.tensors import Tensor
from wengert.explain.program_cuts import Cuts

#: Methods and functions of tensors whose results no gradient goes through.
_CUTS = {
    "detach", "detach_", "item", "tolist", "numpy", "argmax", "argmin", "argsort", "argwhere",
    "nonzero", "long", "int", "bool", "byte", "short", "char", "eq", "ne", "lt", "le", "gt", "ge",
    "equal", "greater", "greater_equal", "less", "less_equal", "not_equal", "isclose", "allclose",
    "isnan", "isinf", "isfinite", "logical_and", "logical_or", "logical_not", "logical_xor",
    "bincount", "searchsorted", "bucketize", "histc", "histogram", "one_hot", "multinomial",
    "bernoulli", "count_nonzero", "any", "all",
}  # fmt: skip
#: Those that make tensors of numbers, or of others' shapes.
_MAKERS = {
    "zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "tensor",
    "from_numpy",
}  # fmt: skip


def _is_live(value: Any) -> bool:
    """Return whether a value is a tensor that requires gradients, or a list or module of such."""
    if hasattr(type(value), "named_parameters"):
        value = list(value.parameters())
    parts = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(part, Tensor) and part.requires_grad for part in parts)


_MODES = ("no_grad", "inference_mode", "set_grad_enabled")
found_at = Cuts(_CUTS, _MAKERS, ("data",), _MODES, _is_live).found_at
