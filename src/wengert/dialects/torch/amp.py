"""`torch.autocast`: products in bfloat16 or float16, losses in float32."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from wengert.dialects.kernel.functions import warn
from wengert.dialects.torch import autocasts, dtypes
from wengert.dialects.torch.table import plain, put

_CPU = "cpu"
_DEVICES = (_CPU, "cuda", "mps", "xpu", "mtia", "hpu", "xla", "ipu", "privateuseone")
#: The dtype of each kind of device where a program gives none.
_DTYPES = dict.fromkeys(_DEVICES, dtypes.float16) | {_CPU: dtypes.bfloat16}


def _check(device_type: Any) -> str:
    if not isinstance(device_type, str):
        raise ValueError(f"device_type is a {type(device_type).__name__}; write 'cpu'")
    if device_type not in _DEVICES:
        raise RuntimeError(f"there is no autocast for devices of type {device_type!r}; write 'cpu'")
    return device_type


@plain("autocast", "amp.autocast", "amp.autocast_mode.autocast")
class autocast:
    """A context, or a decorator, in which functions choose between two dtypes.

    Products and convolutions take bfloat16 (or float16), and losses float32, whatever floating
    dtype their tensors have; float64 stays. Other functions compute in the dtype they are given.
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        self.device = _check(device_type)
        self.fast_dtype = _DTYPES[self.device] if dtype is None else dtype
        if not isinstance(self.fast_dtype, dtypes.dtype):
            raise TypeError(f"autocast: dtype is a {type(dtype).__name__}; write torch.bfloat16")
        if enabled and self.device != _CPU:
            warn(f"there is no device {self.device!r}, so autocast for it is off; write 'cpu'")
            enabled = False
        if enabled and self.fast_dtype not in (dtypes.bfloat16, dtypes.float16):
            warn(f"autocast does not take {self.fast_dtype}, and is off; write torch.bfloat16")
            enabled = False
        self._enabled = bool(enabled)
        self._caches = cache_enabled is not False
        self._before: list[tuple[Any, Any, Any]] = []

    def __enter__(self) -> autocast:
        if self.device != _CPU:
            return self
        kind = self.fast_dtype.numpy if self._enabled else None
        outermost = autocasts.cached.get() is None
        cached = autocasts.cached.set({}) if self._caches and outermost else None
        self._before.append((autocasts.current.set(kind), cached, _DTYPES[_CPU]))
        _DTYPES[_CPU] = self.fast_dtype
        autocasts.ON.append(dtypes.default().numpy)
        return self

    def __exit__(self, *error: object) -> None:
        if self.device == _CPU:
            token, cached, _DTYPES[_CPU] = self._before.pop()
            autocasts.current.reset(token)
            if cached is not None:
                autocasts.cached.reset(cached)
            autocasts.ON.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that runs in the context."""

        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            with self:
                return function(*args, **options)

        return call


class _OfCUDA(autocast):
    """`torch.cuda.amp.autocast`, the older name."""

    def __init__(
        self, enabled: bool = True, dtype: Any = dtypes.float16, cache_enabled: bool = True
    ) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


put(("cuda.amp.autocast", "cuda.amp.autocast_mode.autocast"), _OfCUDA)


@plain("is_autocast_enabled")
def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Return whether autocast is on for a kind of device."""
    return _check(device_type) == _CPU and autocasts.current.get() is not None


@plain("get_autocast_dtype")
def get_autocast_dtype(device_type: str) -> Any:
    """Return the dtype that autocast takes for products."""
    return _DTYPES[_check(device_type)]


@plain("get_autocast_gpu_dtype")
def get_autocast_gpu_dtype() -> Any:
    """Return the dtype that autocast would take for products on a GPU."""
    return _DTYPES["cuda"]
