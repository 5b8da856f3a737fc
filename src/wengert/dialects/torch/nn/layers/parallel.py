"""Modules that PyTorch spreads over devices or processes: here there is one of each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from wengert.dialects.kernel.functions import warn
from wengert.dialects.torch.devices import check_device
from wengert.dialects.torch.nn.module import Module
from wengert.dialects.torch.table import put

_warned: set[str] = set()


class _Through(Module):
    """A module that calls another one, which it holds as `module`."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        name = type(self).__name__
        if name not in _warned:
            _warned.add(name)
            warn(f"{name}: there is one process on one device, the CPU; it calls the module")
        self.module = module

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return what the module returns."""
        return self.module(*inputs, **kwargs)


class DataParallel(_Through):
    """A module, called on the one device there is."""

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__(module)
        self.device_ids: list[Any] = []
        self.dim = dim


class DistributedDataParallel(_Through):
    """A module, called in the one process there is; gradients are its own.

    What PyTorch takes to spread work over processes is taken, and does nothing.
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0,
        broadcast_buffers: bool = True, **options: Any,
    ) -> None:  # fmt: skip
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError("DistributedDataParallel: no parameter requires a gradient")
        super().__init__(module)
        self.device_ids, self.output_device, self.dim = device_ids, output_device, dim
        self.broadcast_buffers = broadcast_buffers

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Return a context in which gradients are not exchanged, as there is nobody to do so."""
        yield


put(("nn.DataParallel", "nn.parallel.DataParallel"), DataParallel)
put(
    ("nn.parallel.DistributedDataParallel", "nn.parallel.distributed.DistributedDataParallel"),
    DistributedDataParallel,
    "one process: it calls the module",
)
put(
    ("nn.parallel.scatter", "nn.parallel.scatter_gather.scatter"),
    lambda *args, **options: check_device("cuda"),  # packages import it
    "there is no CUDA: it raises",
)
