"""Which functions take other dtypes where `torch.autocast` is on, as PyTorch documents for CPUs."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.torch.dtypes import of_numpy
from wengert.dialects.torch.tensors import Tensor

#: A dtype for each autocast that is on in some thread: functions look here first.
ON: list[np.dtype] = []
#: The dtype that this thread or async task casts to, or None, and the weights that were cast.
current: ContextVar[np.dtype | None] = ContextVar("wengert_autocast", default=None)
cached: ContextVar[dict[int, tuple[Tensor, Any]] | None] = ContextVar(
    "wengert_cached", default=None
)

_LOWERED = """
    product mm bmm addmm baddbmm addbmm linear einsum tensordot inner chain_matmul multi_dot vecdot
    matrix_power conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
    scaled_dot_product_attention multi_head_attention_forward prelu
"""
_RAISED = """
    prod trace cdist quantile nanquantile stft mse_loss l1_loss cross_entropy nll_loss
    binary_cross_entropy binary_cross_entropy_with_logits kl_div smooth_l1_loss huber_loss
    cosine_embedding_loss hinge_embedding_loss margin_ranking_loss soft_margin_loss
    triplet_margin_loss multi_margin_loss multilabel_margin_loss poisson_nll_loss avg_pool3d
    max_pool3d adaptive_avg_pool3d adaptive_max_pool3d grid_sample inv cholesky svd svdvals qr
    solve lstsq eigh eigvalsh eig eigvals pinv pinverse lu lu_factor lu_solve matrix_rank
    cholesky_inverse cholesky_solve triangular_solve solve_triangular householder_product
    ldl_factor ldl_solve inverse geqrf orgqr
"""


def _lowered(values: tuple[Any, ...]) -> tuple[Any, ...]:
    kind = current.get()
    return values if kind is None else tuple(_cast(v, kind) for v in values)


def _raised(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if current.get() is None:
        return values
    return tuple(_cast(v, np.dtype(np.float32)) for v in values)


def _cast(value: Any, kind: np.dtype) -> Any:
    """Return tensors, also in lists, in a dtype if they have fractions, but not float64."""
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(part, kind) for part in value])
    if not isinstance(value, Tensor):
        return value
    mine = value._raw.dtype
    if mine == kind or mine == np.float64 or backends.kind_of(mine) != "f":
        return value
    cache = cached.get()
    if cache is None or mine != np.float32 or not value.is_leaf or not value.requires_grad:
        return value.to(of_numpy(kind))
    held, found = cache.get(id(value), (None, value))
    if held is not value or found._raw.dtype != kind:
        found = value.to(of_numpy(kind))
        if found.requires_grad:  # gradients go through it
            cache[id(value)] = value, found
    return found


#: What becomes of the arguments of a function, by its name.
CASTS: dict[str, Callable[[tuple[Any, ...]], tuple[Any, ...]]] = {
    **dict.fromkeys(_LOWERED.split(), _lowered),
    **dict.fromkeys(_RAISED.split(), _raised),
    **{
        f"fft_{kind}fft{n}": _raised
        for kind in ("", "i", "r", "ir", "h", "ih")
        for n in ("", 2, "n")
    },
}
