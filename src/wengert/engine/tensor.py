"""Tensor: one raw array, and at most one node of the tape."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.node import Node, active, watching
from wengert.engine.operand import Operand

#: The ways out to Python and to other libraries, which a Variable has too.
CONVERSIONS = (
    "__float__", "__int__", "__complex__", "__index__", "__bool__", "__array__", "__dlpack__",
    "__dlpack_device__", "__format__",
)  # fmt: skip


class Tensor(Operand):
    """An array that operations can record. Make one with `wengert.asarray`.

    Operators and methods are those of the Python Array API standard. Arithmetic between tensors,
    NumPy arrays and numbers gives tensors. The raw array is never written to: ``x[key] = value``
    gives `x` a new one. `isinstance(wg.asarray(1), wg.Tensor)` is `True`.
    """

    __slots__ = ("_node", "_raw")
    # One blank object and two assignments are what an operation's result costs, so
    # there is no __init__.
    _raw: Any
    _node: Node | None
    #: the namespace that computes on tensors and records; `ops.namespace` sets it
    _namespace: Any
    #: says that a value leaves tapes, as an error or a warning; `wengert` sets it
    _tell_cut: Any
    #: what a notebook shows; `explain.html` sets it
    _repr_html_: Any
    __hash__ = None  # type: ignore[assignment]

    @property
    def data(self) -> Any:
        """The raw array. NumPy arrays come read-only, others as a copy if they could be written."""
        if (watcher := watching.get()) is not None:
            watcher.left(self, "x.data")
        raw = self._raw
        if type(raw) is not np.ndarray:
            return backends.protected(raw)
        if raw.flags.writeable:
            raw.flags.writeable = False  # from now on somebody else holds it
        return raw.view()

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return tuple(self._raw.shape)

    @property
    def dtype(self) -> Any:
        """The dtype of the raw array."""
        return self._raw.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._raw.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for length in self._raw.shape:
            size *= length
        return size

    @property
    def device(self) -> Any:
        """Where the raw array lives; "cpu" for NumPy."""
        return getattr(self._raw, "device", "cpu")

    def numpy(self) -> np.ndarray:
        """Return the values as a NumPy array that cannot be written to."""
        return backends.to_numpy(self.data)

    def item(self) -> Any:
        """Return the only element as a Python number."""
        if self.size != 1:
            raise ValueError(
                f"item() needs one element, and this tensor has shape {self.shape}; "
                "write x[index].item()"
            )
        return self.numpy().item()

    def tolist(self) -> Any:
        """Return the values as nested lists of Python numbers."""
        return self.numpy().tolist()

    # -- leaving for Python and for other libraries ---------------------------------

    def _cut(self, how: str) -> Any:
        """Return the NumPy values for an implicit conversion, which derivatives do not follow."""
        if self._node is not None and (cut := self._node.tokens & active.get()):
            self._tell_cut(how, cut)
        return self.numpy()

    def _scalar(self, how: str) -> Any:
        if self.size != 1:
            raise TypeError(f"{how} needs one element, and this tensor has shape {self.shape}")
        return self._cut(how).item()

    def __float__(self) -> float:
        return float(self._scalar("float(x)"))

    def __int__(self) -> int:
        return int(self._scalar("int(x)"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex(x)"))

    def __index__(self) -> int:
        value = self.numpy()
        if value.dtype.kind not in "iu" or value.size != 1:
            raise TypeError(f"an index needs one integer, not shape {self.shape} of {self.dtype}")
        return int(value.item())

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth of a tensor of shape {self.shape} is ambiguous; write wg.any or wg.all"
            )
        return bool(self.numpy().item())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._cut("np.asarray(x)"), dtype=dtype, copy=copy)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        self._cut("np.from_dlpack(x)")
        raw = self._raw
        options = dict(stream=stream, dl_device=dl_device, copy=copy)  # noqa: C408
        options = {k: v for k, v in options.items() if v is not None}
        if type(raw) is not np.ndarray:
            return raw.__dlpack__(max_version=max_version, **options)
        if max_version is None or max_version[0] < 1:  # a reader that cannot be told "read-only"
            return raw.copy().__dlpack__(**options)
        return self.data.__dlpack__(max_version=max_version, **options)

    def __dlpack_device__(self) -> Any:
        return self._raw.__dlpack_device__()

    def __reduce__(self) -> tuple[Any, ...]:
        return wrap, (self._raw,)  # the values: a tape is not saved

    def __copy__(self) -> Tensor:
        return wrap(self._raw, self._node)

    def __deepcopy__(self, memo: Any) -> Tensor:
        return wrap(backends.namespace_of(self._raw).copy(self._raw), self._node)

    # -- what it looks like ----------------------------------------------------------

    def __repr__(self) -> str:
        if hasattr(self._raw, "__wengert_namespace__"):
            return f"Tensor({self._raw!r})"
        library = backends.namespace_of(self._raw)
        if not backends.has_values(self._raw):
            return f"Tensor(shape={self.shape}, dtype={dtype_name(self.dtype)}, {library.name})"
        values = np.array2string(self.numpy(), separator=", ", prefix="Tensor(", threshold=200)
        suffix = "" if library is backends.NUMPY or library is None else f", {library.name}"
        return f"Tensor({values}, dtype={dtype_name(self.dtype)}{suffix})"

    def __str__(self) -> str:
        if hasattr(self._raw, "__wengert_namespace__"):
            return repr(self._raw)
        if not backends.has_values(self._raw):
            return repr(self)
        return np.array2string(self.numpy(), separator=", ", threshold=200)


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype of any library, without the library's."""
    return str(getattr(dtype, "name", None) or str(dtype).rpartition(".")[2])


def wrap(raw: Any, node: Node | None = None) -> Tensor:
    """Return a tensor around a raw array that nobody else writes to."""
    tensor = Tensor()
    tensor._raw = (
        raw if type(raw) is np.ndarray or not isinstance(raw, np.generic) else np.array(raw)
    )
    tensor._node = node
    return tensor
