"""Layers that find out the size of their arguments when they are first called."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.torch import dtypes
from wengert.dialects.torch.nn.arguments import misfit
from wengert.dialects.torch.nn.layers import convolutions as conv
from wengert.dialects.torch.nn.layers import linear
from wengert.dialects.torch.nn.layers import normalisation as norm
from wengert.dialects.torch.nn.layers.calls import Weighted, layer, offer
from wengert.dialects.torch.nn.module import Module
from wengert.dialects.torch.nn.parameters import Parameter
from wengert.dialects.torch.table import NAMES, put
from wengert.dialects.torch.tensors import made


class UninitializedParameter(Parameter):
    """A parameter whose shape is not known yet."""

    shown = "torch.nn.parameter.UninitializedParameter"

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        """Return a parameter without a shape."""
        kind = dtypes.default().numpy if dtype is None else dtypes.to_numpy(dtype)
        return Parameter.__new__(cls, made(np.empty(0, kind)), requires_grad)

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        pass

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give it a shape, and make it an ordinary parameter."""
        kind = self.dtype if dtype is None else dtype
        self.data = NAMES["empty"](shape, device=device, dtype=kind)
        self.__class__ = Parameter  # type: ignore[assignment]

    @property
    def shape(self) -> Any:
        """Raise: there is none yet."""
        raise RuntimeError("this parameter or buffer has no shape yet; call the module once")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, None, self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.requires_grad, None, self.dtype)


def is_lazy(param: Any) -> bool:
    """Return whether a parameter has no shape yet."""
    return isinstance(param, UninitializedParameter)


def _start(module: Any, args: tuple[Any, ...]) -> None:
    """Give a module's parameters their shapes before its first call, and be gone."""
    module.initialize_parameters(*args)
    module._starts.remove()
    del module._starts
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become


class _Lazy(Weighted):
    """A layer that finds out one of its sizes; it is 0 until then."""

    _size: str
    #: what the module is afterwards
    cls_to_become: Any = None

    def __init_subclass__(cls, becomes: type[Module] | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if becomes is not None:
            cls.cls_to_become = becomes

    def _init_with(self, **options: Any) -> None:
        super()._init_with(**{self._size: 0}, **options)
        for name, held in self._parameters.items():
            if held is not None:
                empty = UninitializedParameter(device=options["device"], dtype=options["dtype"])
                self._parameters[name] = empty
        self._starts = self.register_forward_pre_hook(_start)

    def _size_in(self, input: Any) -> int:
        """Return the size, from the first argument."""
        raise NotImplementedError

    def has_uninitialized_params(self) -> bool:
        """Return whether some parameter has no shape yet."""
        return any(map(is_lazy, self._parameters.values()))

    def initialize_parameters(self, input: Any) -> None:
        """Give parameters their shapes."""
        if self.has_uninitialized_params():
            self._set_size(self._size_in(input))

    def _set_size(self, size: int) -> None:
        setattr(self, self._size, size)
        for name, shape in self._shapes().items():
            held: Any = self._parameters[name]
            if held is not None:
                held.materialize(shape)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Give all tensors their first values, once there are some."""
        if getattr(self, self._size) and not self.has_uninitialized_params():
            super().reset_parameters()


class LazyLinear(_Lazy, linear.Linear, becomes=linear.Linear, takes=linear.OPTIONS):
    """A Linear that finds out `in_features`."""

    _size = "in_features"

    def _size_in(self, input: Any) -> int:
        return int(input.shape[-1])


# -- convolutions ----------------------------------------------------------------------------------


class _LazyConv(_Lazy):
    _size = "in_channels"

    def _init_with(self, **options: Any) -> None:
        later = options.pop("out_channels")  # groups are not looked at before the first call
        super()._init_with(out_channels=0, **options)
        self.out_channels = later

    def _size_in(self, input: Any) -> int:
        if input.ndim not in (self.axes + 1, self.axes + 2):
            raise misfit(type(self).__name__, "batch, channels and space", input=input)
        channels = int(input.shape[-self.axes - 1])
        if channels % self.groups:
            raise ValueError(f"{channels} channels are not divisible into {self.groups} groups")
        return channels


class _LazyConvolution(_LazyConv, takes=conv.OPTIONS):
    pass


class _LazyTransposed(_LazyConv, takes=conv.TRANSPOSED):
    pass


# -- normalisation ---------------------------------------------------------------------------------


class _LazyNorm(_Lazy, takes=norm.OPTIONS):
    """A normalisation that finds out `num_features`; statistics have no numbers until then."""

    _size = "num_features"

    def initialize_parameters(self, input: Any) -> None:
        """Give parameters and statistics their shapes."""
        if self.num_features:
            return
        size = int(input.shape[1])
        if self.track_running_stats:
            for name in ("running_mean", "running_var"):
                self._buffers[name] = self._buffers[name].new_empty(size)
        self._set_size(size)


put(("nn.UninitializedParameter", "nn.parameter.UninitializedParameter"), UninitializedParameter)
put(("nn.parameter.is_lazy",), is_lazy)
offer("linear", LazyLinear)
for _where, _base, _classes in (
    ("conv", _LazyConvolution, conv.CONVOLUTIONS),
    ("conv", _LazyTransposed, conv.TRANSPOSES),
    ("batchnorm", _LazyNorm, norm.BATCH_NORMS),
    ("instancenorm", _LazyNorm, norm.INSTANCE_NORMS),
):
    for _class in _classes:
        _name = _class.__name__
        _doc = f"A {_name} that reads `{_base._size}` off its first argument."
        offer(_where, layer(f"Lazy{_name}", _base, _class, doc=_doc, becomes=_class))
