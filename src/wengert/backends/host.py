"""The way to host memory: where an array's library has no kernel of its own, and by request.

Arrays that lie in host memory are NumPy's to read. All others (on a GPU, in a cluster, in a
program that is being compiled) stay where they are, unless `allow_host_fallback` says otherwise.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.backends.extended_dtypes import extended
from wengert.errors import BackendError

_allowed: ContextVar[bool] = ContextVar("wengert_host_fallback", default=False)


@contextlib.contextmanager
def allow_host_fallback() -> Iterator[None]:
    """Return a context in which kernels that a library lacks are computed in host memory.

    Arrays on a device are copied to the host for these, and the results back. Without it such an
    operation is an error.

    Examples
    --------
    >>> import wengert as wg
    >>> with wg.allow_host_fallback():
    ...     y = wg.special.erfcx(wg.asarray([0.0]))
    """
    before = _allowed.set(True)
    try:
        yield
    finally:
        _allowed.reset(before)


def to_numpy(array: Any) -> np.ndarray:
    """Return the values as a NumPy array, from any library's memory, copied there if need be."""
    if isinstance(array, (np.ndarray, np.generic)):
        return np.asarray(array)
    if hasattr(array, "detach"):  # PyTorch; NumPy has no bfloat16 of its own
        return _of_torch(array)
    if hasattr(array, "get") and hasattr(array, "__cuda_array_interface__"):  # CuPy
        return np.asarray(array.get())
    if type(array).__module__.startswith("array_api_strict") and not is_on_host(array):
        array = array.to_device(type(array.device)("CPU_DEVICE"))
    try:
        return np.from_dlpack(array)
    except (AttributeError, TypeError, BufferError, RuntimeError):
        return np.asarray(array)


def _of_torch(array: Any) -> np.ndarray:
    array = array.detach().cpu().resolve_conj().resolve_neg()
    if str(array.dtype).startswith(("torch.bfloat16", "torch.float8")):
        kind = extended(str(array.dtype).partition(".")[2])
        bits = array.view(getattr(__import__("torch"), f"int{8 * kind.itemsize}"))
        return np.asarray(bits).view(kind)
    return np.asarray(array)


def is_on_host(array: Any) -> bool:
    """Return whether NumPy can read the memory of an array as it is."""
    kind = type(array)
    if isinstance(array, (np.ndarray, np.generic)):
        return True
    library = kind.__module__.partition(".")[0]
    if library == "torch":
        return bool(array.device.type == "cpu")
    if library in ("jax", "jaxlib"):
        if isinstance(array, sys.modules["jax"].core.Tracer):  # it is being compiled
            return False
        return all(device.platform == "cpu" for device in array.devices())
    if library in ("cupy", "dask"):
        return False
    return str(getattr(array, "device", "cpu")).lower().find("cpu") >= 0


def has_values(array: Any) -> bool:
    """Return whether values exist, which only need to be copied to be seen.

    Arrays of a program that is being compiled, of PyTorch's device "meta" and of Dask have none.
    """
    library = type(array).__module__.partition(".")[0]
    if library == "torch":
        return bool(array.device.type != "meta")
    if library in ("jax", "jaxlib"):
        return not isinstance(array, sys.modules["jax"].core.Tracer)
    return library != "dask"


def to_host(array: Any, name: str) -> np.ndarray:
    """Return the values for a kernel of NumPy's; raise if they are elsewhere and nobody asked."""
    if is_on_host(array) or _allowed.get():
        return to_numpy(array)
    raise BackendError(
        f"{name}: the values of an array of {_library(array)} are needed in host memory, "
        "for there is no kernel for it where they are; write `with wg.allow_host_fallback():` "
        "around it, compute it with other functions, or move the array first"
    )


def _library(array: Any) -> str:
    """Return the name of an array's library, and where the array is."""
    device = getattr(array, "device", None) if type(array).__module__ != "cupy" else "the GPU"
    return type(array).__module__.partition(".")[0] + (f" on {device}" if device else "")


def through_host(
    base: Any, name: str, kernel: Callable[..., Any], device: Any
) -> Callable[..., Any]:
    """Return a kernel of NumPy's for arrays of another library, whose results go back to it."""

    def host(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(host, value))
        if isinstance(value, np.ndarray) or not (
            hasattr(value, "__dlpack__") or type(value).__module__.startswith("dask.")
        ):
            return value
        return to_host(value, name)

    def back(result: Any) -> Any:
        return base.asarray(np.array(result), **({} if device is None else {"device": device}))

    @functools.wraps(kernel)
    def call(*args: Any, **params: Any) -> Any:
        result = kernel(*map(host, args), **{k: host(v) for k, v in params.items()})
        return tuple(map(back, result)) if isinstance(result, tuple) else back(result)

    return call
