"""Array libraries other than NumPy: a namespace for each device of each of them.

A library has a table: a module beside this one that names its kernels and says how it differs.
What has no row there is the standard's function of that name, if it has one, and else NumPy's,
for arrays in host memory.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from wengert.backends import host, numpy_kernels
from wengert.backends.namespace import EXTENSIONS, Namespace, Own, numpy_extension

#: Which module has the table of a library.
TABLES = {
    "torch": "wengert.backends.torch_table",
    "jax.numpy": "wengert.backends.jax_table",
    "cupy": "wengert.backends.cupy_table",
    "dask.array": "wengert.backends.dask_table",
}
#: Functions of the standard that make arrays of nothing.
_CREATE = ("arange", "asarray", "empty", "eye", "full", "linspace", "ones", "zeros")


class Table:
    """What is known about a library.

    Parameters
    ----------
    kernels
        Functions that the standard lacks, or that the library has in a better form, by name;
        `control` is the module of its compiled control flow, if it has any.
    extensions
        The same for `xp.linalg`, `xp.fft`, `xp.special` and `xp.nn`: functions by name, or a
        function that returns the one of a name, or None.
    by_device
        Whether arrays of two devices do not mix, so that each device has a namespace.
    immutable
        Whether nobody can write to its arrays.
    writable
        Whether sums may be written into memory that nobody else holds.
    array
        The class of its arrays, if operations on them go a fast way: see `engine.fastpath`.
    alike
        Where functions of each element are that need not promote dtypes, if that saves time.
    narrow
        The families of operations that it computes in float16 and bfloat16 itself. Others are
        computed in float32, and rounded once.
    own
        Operations that it has kernels for, or for their rules, by name: see `Own`.
    """

    def __init__(
        self,
        kernels: Mapping[str, Any],
        extensions: Mapping[str, Callable[[str], Any]] | None = None,
        by_device: bool = False,
        immutable: bool = False,
        writable: bool = False,
        array: type | None = None,
        alike: Any = None,
        narrow: frozenset[str] = frozenset(),
        own: Mapping[str, Own] | None = None,
    ) -> None:
        self.kernels, self.by_device, self.immutable = kernels, by_device, immutable
        self.extensions, self.writable = extensions or {}, writable
        self.array, self.alike, self.narrow, self.own = array, alike, narrow, own


class Library:
    """An array library, and the namespaces of its devices."""

    def __init__(self, base: Any) -> None:
        self.base = base
        self.name = base.__name__.removeprefix("array_api_compat.")
        if self.name in TABLES:
            self.table: Table = importlib.import_module(TABLES[self.name]).TABLE
        else:
            self.table = importlib.import_module("wengert.backends.standard_table").table(base)
        self._namespaces: dict[Any, Namespace] = {}

    def of(self, array: Any) -> Namespace:
        """Return the namespace that computes on the device of an array."""
        device = array.device if self.table.by_device else None
        found = self._namespaces.get(device)
        if found is None:
            found = self._namespaces[device] = self._made(device)
        return found

    def _made(self, device: Any) -> Namespace:
        base, table = self.base, self.table
        kernels = {
            name: host.through_host(base, name, kernel, device)
            for name, kernel in numpy_kernels.KERNELS.items()
        }
        if device is not None:
            kernels |= {name: _placed(getattr(base, name), device) for name in _CREATE}
        kernels |= table.kernels
        name = (
            self.name
            if device is None or host.is_on_host(base.empty(0, device=device))
            else (f"{self.name} on {getattr(device, '_device', device)}")
        )

        def extension(wanted: str) -> Any:
            return Extension(base, wanted, table.extensions.get(wanted), device)

        return Namespace(
            name, base, kernels, extension, table.writable, table.immutable, table.array,
            table.alike, table.narrow, table.own,
        )  # fmt: skip


def _placed(create: Callable[..., Any], device: Any) -> Callable[..., Any]:
    """Return a function that makes arrays on a device, unless it is told another one."""

    def call(*args: Any, **params: Any) -> Any:
        params.setdefault("device", device)
        return create(*args, **params)

    return call


class Extension:
    """The functions of an extension: the library's own, and through host memory what it lacks."""

    def __init__(self, base: Any, name: str, own: Callable[[str], Any] | None, device: Any) -> None:
        self._base, self._name, self._own, self._device = base, name, own, device
        self._standard = getattr(base, name, None) if name in ("linalg", "fft") else None

    def __getattr__(self, name: str) -> Any:
        function = self._own(name) if self._own else None
        if function is None:
            function = getattr(self._standard, name, None)
        if function is None:
            kernel = getattr(numpy_extension(self._name), name)
            full = f"{self._name}.{name}"
            function = host.through_host(self._base, full, kernel, self._device)
        setattr(self, name, function)
        return function


__all__ = ["EXTENSIONS", "Library", "Table"]
