"""Sizes, devices, layouts and memory formats: what programs say about where numbers are."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

from wengert.dialects.torch.dtypes import Shown
from wengert.dialects.torch.tensors import Tensor


class Size(tuple[int, ...], metaclass=Shown):
    """The length of each axis."""

    shown = "torch.Size"
    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:  # noqa: D102
        return tuple.__new__(cls, [_length(n, k) for k, n in enumerate(sizes)])

    def numel(self) -> int:
        """Return the number of elements of such a tensor."""
        return math.prod(self)

    def __add__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(f"a torch.Size was added to a {type(other).__name__}; give a tuple")
        return sized(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Any:
        return sized(other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: Any) -> Size:
        return sized(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return sized(found) if isinstance(key, slice) else found

    def __reduce__(self) -> Any:
        return Size, (tuple(self),)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"


def sized(lengths: tuple[int, ...]) -> Size:
    """Return a shape whose lengths are known to be integers."""
    return tuple.__new__(Size, lengths)


def _length(n: Any, axis: int) -> int:
    try:
        return operator.index(n)
    except TypeError:
        raise TypeError(
            f"torch.Size(): item {axis} is a '{type(n).__name__}'; give whole numbers"
        ) from None


def shape_of(tensor: Tensor) -> Size:
    """Return the length of each axis."""
    return sized(tensor._raw.shape)


class device(metaclass=Shown):
    """Where numbers are: here that is always "cpu"."""

    shown = "torch.device"
    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __new__(cls, type: Any = None, index: int | None = None) -> device:  # noqa: D102
        if isinstance(type, device):
            return type
        if not isinstance(type, str):
            error = RuntimeError if isinstance(type, int) else TypeError
            raise error(f"the device is {type!r}; give a string, as 'cpu'")
        made = object.__new__(cls)
        kind, colon, number = type.partition(":")
        if kind not in _DEVICES or (colon and (not number.isdigit() or index is not None)):
            raise RuntimeError(
                f"the device is '{type}'; write one of {', '.join(_DEVICES)}, and perhaps a "
                "number, as 'cpu:0'"
            )
        made.type, made.index = kind, int(number) if colon else index
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (other.type, other.index) == (self.type, self.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> Any:
        return device, (self.type, self.index)

    def __enter__(self) -> device:
        check_device(self)
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{number})"


_DEVICES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia",
    "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip
CPU = device("cpu")


def check_device(given: Any) -> None:
    """Raise unless tensors can be on a device, which a program gives as `device=`."""
    if given is None or given is CPU or given == "cpu":
        return
    kind = device(given).type
    if kind == "cuda":
        raise AssertionError(
            "there is no CUDA here: Wengert's tensors are NumPy's; write device='cuda' if "
            "torch.cuda.is_available() else 'cpu'"
        )
    if kind == "meta":
        raise RuntimeError("there is no meta device: tensors here have numbers; write device='cpu'")
    if kind != "cpu":
        raise RuntimeError(f"there is no {kind} device: Wengert's tensors are NumPy's, on 'cpu'")


class _Word:
    """A word of PyTorch's that is only itself, such as `torch.strided`."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __reduce__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"torch.{self._name}"


class layout(_Word):
    """How numbers lie in memory: here that is always `torch.strided`."""


class memory_format(_Word):
    """In which order axes should lie in memory: taken, and nothing follows from it."""


strided = layout("strided")
sparse_coo = layout("sparse_coo")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


def check_layout(kind: Any) -> None:
    """Raise unless tensors can have a layout."""
    if kind is not None and kind is not strided:
        raise RuntimeError(f"layout {kind!r} is not offered; tensors are torch.strided")
