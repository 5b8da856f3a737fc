"""What the operations of linear algebra share: arguments, errors, and safe quotients."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, Level
from wengert.engine.op import Op
from wengert.engine.record import apply, interested
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import DegenerateWarning, caller_depth
from wengert.ops import batching, dtypes, elementwise, shapes
from wengert.ops.checks import array_like, misfit
from wengert.ops.contractions import adjoint

__all__: list[str] = []

# -- arguments --------------------------------------------------------------------------------


def floating(x: Any, name: str) -> Tensor:
    """Return an argument as a tensor of floating numbers; integers become the default ones."""
    x = shapes.tensor(x, f"linalg.{name}")
    if backends.is_inexact(x.dtype):
        return x
    xp: Any = backends.namespace_of(x._raw)
    return elementwise.astype(x, xp.asarray(1.0).dtype)


def matrices(x: Any, name: str, square: bool = False) -> Tensor:
    """Return an argument as a tensor of matrices on the last two axes."""
    x = floating(x, name)
    if x.ndim < 2:
        raise misfit(f"linalg.{name}", "matrices on the last two axes", x=x)
    if square and x.shape[-1] != x.shape[-2]:
        raise misfit(f"linalg.{name}", "square matrices", x=x)
    return x


def columns(a: Tensor, b: Any, name: str) -> tuple[Tensor, bool]:
    """Return the right side of a @ x = b as matrices, and whether it was a vector."""
    b = floating(b, name)
    rows = a.shape[-2]
    if b.ndim == 0 or b.shape[-2 if b.ndim > 1 else 0] != rows:
        raise misfit(f"linalg.{name}", f"b of ({rows},) or (..., {rows}, k)", a=a, b=b)
    return (shapes.expand_dims(b, axis=1), True) if b.ndim == 1 else (b, False)


def promoted(*arrays: Tensor) -> list[Tensor]:
    """Return tensors in the one dtype that holds them all."""
    if len({x.dtype for x in arrays}) == 1:
        return list(arrays)
    dtype = dtypes.result_type(*arrays)
    return [elementwise.astype(x, dtype, copy=False) for x in arrays]


def tolerance(rtol: Any, name: str) -> Any:
    """Return what singular values are compared with, as a parameter: None, a number or an array."""
    if rtol is None or isinstance(rtol, (int, float)):
        return rtol
    raw = shapes.tensor(rtol, f"linalg.{name}")._raw
    return raw if type(raw) in (np.ndarray, Batched) else backends.to_host(raw, f"linalg.{name}")


def with_tolerance(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return an operation of matrices that has `rtol`, one number or one for each matrix."""
    (x,), rtol = arrays, params["rtol"]
    if type(rtol) is Batched and rtol.level is level:
        x = batching.full(x, mapped[0], level)
        rtol = batching.widened(rtol.values, x.ndim - 3)._raw
    return apply(op, (x,), {"rtol": rtol})


def is_watched(*arrays: Tensor) -> bool:
    """Return whether a tape that records now would record an operation on these."""
    return bool(interested([x._node for x in arrays]))


# -- values, where there are any --------------------------------------------------------------


def known(x: Any) -> np.ndarray | None:
    """Return values as a NumPy array; None where nobody looks: on a device, or in a compiler.

    Inside of vmap they are those of all examples, on an axis in front for each vmap that runs:
    of length 1 where the values are the same for all, so that several arrays broadcast.
    """
    raw = x._raw if type(x) is Tensor else x
    return batching.values_in_line(raw) if batching.is_visible(raw) else None


def constant(array: Any, like: Any, dtype: Any = None) -> Any:
    """Return a NumPy array in the library, the dtype and on the device of `like`."""
    raw = like._raw if type(like) is Tensor else like
    made = array_like(array, raw, dtype or raw.dtype)
    return wrap(made) if type(like) is Tensor else made


def eps(dtype: Any) -> float:
    """Return the relative rounding error of a dtype of any library."""
    single = str(dtype).endswith(("float32", "complex64"))
    return float(np.finfo(np.float32 if single else np.float64).eps)


# -- small formulas ---------------------------------------------------------------------------


def hermitian(xp: Any, x: Any) -> Any:
    """Return (x + xᴴ) / 2."""
    return (x + adjoint(xp, x)) * 0.5


def skew(xp: Any, x: Any) -> Any:
    """Return x - xᴴ."""
    return x - adjoint(xp, x)


def on_diagonal(xp: Any, values: Any) -> Any:
    """Return matrices with `values` on the diagonal, and zeros."""
    return values[..., None] * constant(np.eye(values.shape[-1]), values)


def safe_reciprocal(xp: Any, x: Any, is_zero: Any) -> Any:
    """Return 1 / x, and 0 where x is taken for zero."""
    one = xp.ones_like(x)
    return xp.where(is_zero, xp.zeros_like(x), one / xp.where(is_zero, one, x))


def largest(xp: Any, x: Any) -> Any:
    """Return the largest size of the last axis, kept, of which there may be no elements."""
    if not x.shape[-1]:
        return xp.sum(xp.abs(x), axis=-1, keepdims=True)
    return xp.max(xp.abs(x), axis=-1, keepdims=True)


def rounding(n: int, dtype: Any) -> float:
    """Return the relative difference by rounding of equal eigenvalues of n x n matrices."""
    return (8 + 2 * math.sqrt(n)) * eps(dtype)


# -- errors -----------------------------------------------------------------------------------


def checked(
    xp: Any,
    name: str,
    problem: str,
    probe: Callable[[np.ndarray], Any],
    compute: Callable[..., Any],
    a: Any,
    *others: Any,
) -> Any:
    """Return what `compute` says, or raise a LinAlgError that names the matrix at fault.

    Libraries have classes of their own for this error, and JAX, which has none, gives numbers
    that are not finite. `probe` is NumPy's function that fails on one matrix that is at fault.
    """
    try:
        y = compute(a, *others)
    except Exception as error:
        if "LinAlgError" not in type(error).__name__:
            raise
        raise _fault(name, problem, a, probe) from error
    if xp.name == "jax.numpy":
        result, given = known(y), known(a)
        if result is None or given is None:  # traced
            return y
        if not np.isfinite(result).all() and np.isfinite(given).all():
            raise _fault(name, problem, a, probe)
    return y


def _fails(probe: Callable[[np.ndarray], Any], matrix: np.ndarray) -> bool:
    try:
        probe(matrix)
    except np.linalg.LinAlgError:
        return True
    return False


def _fault(
    name: str, problem: str, a: Any, probe: Callable[[np.ndarray], Any]
) -> np.linalg.LinAlgError:
    values = known(a)
    if values is None or values.ndim == 2:
        return np.linalg.LinAlgError(f"linalg.{name}: the matrix is {problem}")
    batch = values.shape[:-2]
    bad = next((place for place in np.ndindex(batch) if _fails(probe, values[place])), None)
    which = "a matrix" if bad is None else f"matrix {bad}"
    return np.linalg.LinAlgError(f"linalg.{name}: {which} of a batch of shape {batch} is {problem}")


def significant(part: np.ndarray, whole: np.ndarray) -> bool:
    """Return whether a part of matrices is more than rounding next to all of them."""
    if not part.size:
        return False
    size = np.abs(whole).max(axis=(-2, -1), keepdims=True, initial=0.0)
    return bool((np.abs(part) > math.sqrt(eps(whole.dtype)) * size).any())


def warn_degenerate(name: str, what: str) -> None:
    """Warn that a derivative that a sweep asks for is not determined."""
    warnings.warn(f"linalg.{name}: {what}", DegenerateWarning, stacklevel=caller_depth())
