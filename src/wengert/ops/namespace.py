"""Every function of the namespace by its name: what users see, and what recorded rules call.

`PUBLIC` is the Array API standard and its neighbours; `INTERNAL` is what rules need
beyond it, under the names of `backends.numpy_kernels`.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from wengert.engine.tensor import Tensor
from wengert.ops import contractions as con
from wengert.ops import creation, cumulative, dtypes, indexing, shapes, sorting, updates
from wengert.ops import elementwise as ew
from wengert.ops import reductions as red


def _named(module: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(module, name) for name in names}


PUBLIC: dict[str, Any] = {
    **_named(
        ew, "add", "subtract", "multiply", "divide", "negative", "positive", "square", "reciprocal",
        "remainder", "hypot", "sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "logaddexp",
        "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh",
        "acosh", "atanh", "copysign", "sign", "angle", "maximum", "minimum", "where",
        "clip", "floor", "ceil", "trunc", "isfinite", "isinf", "isnan", "signbit", "equal",
        "not_equal", "less", "less_equal", "greater", "greater_equal", "floor_divide", "nextafter",
        "logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or",
        "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "bitwise_invert", "astype",
        "real", "imag", "conj",
    ),
    "abs": ew.abs_, "pow": ew.power, "round": ew.round_, "complex": ew.complex_,
    **_named(
        red, "sum", "prod", "mean", "max", "min", "var", "std", "all", "any", "count_nonzero",
        "argmax", "argmin",
    ),
    **_named(
        shapes, "reshape", "permute_dims", "matrix_transpose", "swapaxes", "moveaxis",
        "expand_dims", "squeeze", "broadcast_to", "broadcast_shapes", "broadcast_arrays", "tile",
        "repeat", "flip", "roll", "pad", "diagonal", "tril", "triu", "concat", "stack",
    ),
    **_named(indexing, "take", "take_along_axis", "unstack"),
    **_named(cumulative, "cumulative_sum", "cumulative_prod", "diff"),
    **_named(con, "matmul", "einsum", "tensordot", "vecdot", "outer", "dot"),
    **_named(
        sorting, "argsort", "sort", "searchsorted", "nonzero", "isin", "unique_all",
        "unique_counts", "unique_inverse", "unique_values",
    ),
    **_named(
        creation, "asarray", "from_dlpack", "zeros", "ones", "empty", "full", "zeros_like",
        "ones_like", "empty_like", "full_like", "arange", "linspace", "eye", "meshgrid",
    ),
    **_named(
        dtypes, "e", "pi", "inf", "nan", "newaxis", "finfo", "iinfo", "isdtype", "can_cast",
        "result_type", "float16", "__array_namespace_info__",
    ),
    **dtypes.DTYPES,
}  # fmt: skip
INTERNAL: dict[str, Any] = {
    **_named(shapes, "embed", "scatter_flat", "gather_flat"),
    **_named(indexing, "index", "scatter"),
    **_named(updates, "put", "put_add"),
    "copy": ew.positive,
    "keep": ew.keep,
}

Tensor._namespace = SimpleNamespace(**PUBLIC, **INTERNAL)
