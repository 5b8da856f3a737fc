"""Kernels of NumPy's on whole arrays of Dask's: one task, whose results have known shapes.

Dask has few of these itself, for matrices of some chunks only, and some with other conventions.
Here the chunks of the arguments are joined when the task runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import dask
import dask.array
import numpy as np

from wengert.backends import namespace

da: Any = dask.array
_delayed: Any = dask.delayed
Shape = tuple[int, ...]
#: A result: its shape, and "x" for the dtype of the arguments, "r" for the real and "c" for the
#: complex one of that, "i" for integers.
Result = tuple[Shape, str]


def _matrix(a: Shape, **_: Any) -> list[Result]:
    return [(a, "x")]


def _numbers(kind: str) -> Callable[..., list[Result]]:
    return lambda a, **_: [(a[:-2], kind)]


def _diagonal(kind: str) -> Callable[..., list[Result]]:
    return lambda a, **_: [((*a[:-2], min(a[-2:])), kind)]


def _svd(a: Shape, full_matrices: bool = True, **_: Any) -> list[Result]:
    (*batch, m, n), k = a, min(a[-2:])
    left, right = (m, n) if full_matrices else (k, k)
    return [((*batch, m, left), "x"), ((*batch, k), "r"), ((*batch, right, n), "x")]


def _qr(a: Shape, mode: str = "reduced", **_: Any) -> list[Result]:
    (*batch, m, n), k = a, min(a[-2:])
    inner = m if mode == "complete" else k
    return [((*batch, m, inner), "x"), ((*batch, inner, n), "x")]


def _solution(a: Shape, b: Shape, **_: Any) -> list[Result]:
    return [((*np.broadcast_shapes(a[:-2], b[:-2]), *b[-2:]), "x")]


def _sylvester(a: Shape, b: Shape, q: Shape) -> list[Result]:
    return [((*np.broadcast_shapes(a[:-2], b[:-2], q[:-2]), *q[-2:]), "x")]


def _lu(a: Shape, **_: Any) -> list[Result]:
    *batch, m, n = a
    rows: list[Result] = [((*batch, min(m, n)), "p"), ((*batch, m), "i"), (tuple(batch), "p")]
    return [(a, "x"), *rows]


def _images(x: Shape, size: Shape, **_: Any) -> list[Result]:
    return [((*x[: len(x) - len(size)], *size), "x")]


#: What the kernels of each extension return, given the shapes of arrays and other parameters.
RESULTS: dict[str, dict[str, Callable[..., list[Result]]]] = {
    "linalg": {
        "banded_solve": lambda ab, b, lower, upper: _solution(ab, b),
        "cholesky": _matrix,
        "det": _numbers("x"),
        "eig": lambda a: [(a[:-1], "c"), (a, "c")],
        "eigh": lambda a, **_: [(a[:-1], "r"), (a, "x")],
        "eigvals": _diagonal("c"),
        "eigvalsh": _diagonal("r"),
        "expm": _matrix,
        "inv": _matrix,
        "logm": _matrix,
        "lu_factors": _lu,
        "lu_order": lambda pivots, rows: [((*pivots[:-1], rows), "i")],
        "matrix_rank": _numbers("i"),
        "pinv": lambda a, **_: [((*a[:-2], a[-1], a[-2]), "x")],
        "qr": _qr,
        "slogdet": lambda a: [(a[:-2], "x"), (a[:-2], "r")],
        "solve": _solution,
        "svd": _svd,
        "svdvals": _diagonal("r"),
        "sylvester": _sylvester,
    },
    "nn": {
        "combine": lambda x, axis, index, weight: [
            (tuple(len(index) if i == axis else n for i, n in enumerate(x)), "x")
        ],
        "convolve": lambda x, w, bias=None, *, size, **_: [((x[0], w[0], *size), "x")],
        "convolve_input": lambda z, w, *, size, groups, **_: [((z[0], groups * w[1], *size), "x")],
        "convolve_weight": lambda x, z, *, size, groups, **_: [
            ((z[1], x[1] // groups, *size), "x")
        ],
        "fold_windows": lambda windows, size, **_: [((*windows[:2], *size), "x")],
        "max_pool": _images,
        "max_pool_gather": lambda values, *, largest, **_: [(_shape(largest), "x")],
        "max_pool_indices": lambda x, size, **_: [(_images(x, size)[0][0], "i")],
        "max_pool_spread": lambda g, *, inputs, **_: [(_shape(inputs), "x")],
        "unfold_windows": lambda x, kernel, size, **_: [((*x[:2], *kernel, *size), "x")],
        "window_spread": _images,
        "window_sum": _images,
    },
}


def whole(extension: str) -> Callable[[str], Any]:
    """Return what looks a function of an extension up: NumPy's, as a task, or None."""
    known = RESULTS[extension]

    def find(name: str) -> Any:
        if name not in known:
            return None
        return _as_task(getattr(namespace.numpy_extension(extension), name), known[name])

    return find


def _as_task(kernel: Callable[..., Any], results: Callable[..., list[Result]]) -> Any:
    @functools.wraps(kernel)
    def call(*args: Any, **params: Any) -> Any:
        fixed = {k: v for k, v in params.items() if not isinstance(v, da.Array)}
        lazy = {k: v for k, v in params.items() if isinstance(v, da.Array)}
        dtype = np.result_type(*(a.dtype for a in args if hasattr(a, "dtype")))
        found = results(*map(_shape, args), **fixed, **{k: v.shape for k, v in lazy.items()})
        dtypes = [_dtype(dtype, kind) for _, kind in found]
        work = functools.partial(_computed, kernel, dtypes, fixed)
        task = _delayed(work, nout=len(found))(*args, **lazy)
        parts = [task] if len(found) == 1 else list(task)
        arrays = [
            da.from_delayed(part, shape, dtype)
            for part, (shape, _), dtype in zip(parts, found, dtypes, strict=True)
        ]
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    return call


def _computed(
    kernel: Callable[..., Any], dtypes: list[Any], fixed: dict[str, Any], *args: Any, **lazy: Any
) -> Any:
    """Return what a kernel computes, in the dtypes that were said beforehand."""
    found = kernel(*args, **fixed, **lazy)
    parts = found if isinstance(found, tuple) else (found,)
    cast = [np.asarray(x).astype(d, copy=False) for x, d in zip(parts, dtypes, strict=True)]
    return tuple(cast) if len(cast) > 1 else cast[0]


def _shape(value: Any) -> Any:
    return tuple(value.shape) if hasattr(value, "shape") else value


def _dtype(dtype: Any, kind: str) -> Any:
    if kind in "ip":
        return np.dtype(np.intp if kind == "i" else np.int32)
    if kind == "r":
        return np.zeros(0, dtype).real.dtype
    return np.result_type(dtype, np.complex64) if kind == "c" else dtype
