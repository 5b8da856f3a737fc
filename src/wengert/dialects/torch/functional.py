"""torch.functional: the module in which PyTorch has some functions of `torch` as well."""

from __future__ import annotations

from wengert.dialects.torch.front import facade
from wengert.dialects.torch.table import put

for _name in (
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes",
    "broadcast_tensors", "cartesian_prod", "cdist", "einsum", "meshgrid", "norm", "split",
    "tensordot", "unique", "unique_consecutive",
):  # fmt: skip
    put((f"functional.{_name}",), facade.look_up(_name))
