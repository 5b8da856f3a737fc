"""Operators and methods of Tensor and Variable, from one table each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.fastpath import Front, caller
from wengert.engine.node import active, watching
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import TapeError
from wengert.ops import contractions, creation, elementwise, indexing, positions, reductions, shapes
from wengert.ops.variable import Variable
from wengert.other_names import ARGUMENTS, unexpected

_ARITHMETIC = {
    "add": elementwise.add,
    "sub": elementwise.subtract,
    "mul": elementwise.multiply,
    "truediv": elementwise.divide,
    "floordiv": elementwise.floor_divide,
    "mod": elementwise.remainder,
    "and": elementwise.bitwise_and,
    "or": elementwise.bitwise_or,
    "xor": elementwise.bitwise_xor,
    "lshift": elementwise.bitwise_left_shift,
    "rshift": elementwise.bitwise_right_shift,
    "matmul": contractions.matrix_product,
}
_COMPARISONS = {
    "eq": elementwise.equal,
    "ne": elementwise.not_equal,
    "lt": elementwise.less,
    "le": elementwise.less_equal,
    "gt": elementwise.greater,
    "ge": elementwise.greater_equal,
}
_UNARY = {
    "neg": elementwise.negative,
    "pos": elementwise.positive,
    "abs": elementwise.abs_,
    "invert": elementwise.bitwise_invert,
}
#: Operators that assign, on a variable.
_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
#: Methods that are NumPy's function of that name, with all its parameters.
NUMPY_METHODS = (
    "all", "any", "argmax", "argmin", "argsort", "clip", "compress", "conj", "conjugate",
    "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod", "ravel",
    "repeat", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "var",
)  # fmt: skip


def _known(value: Any) -> bool:
    """Whether a value can take part in an operator; if not, it may have its own."""
    return (
        type(value) in (Tensor, bool, int, float, complex, list, tuple)
        or hasattr(type(value), "__wengert_tensor__")
        or backends.namespace_of(value) is not None
    )


def _apply_if_known(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    return apply(op, args, params) if all(map(_known, args)) else NotImplemented


def _square_or_product(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Return x * y; of a tensor with itself the square, whose rule is one product, not two."""
    x, y = args
    if x is y and type(x) is Tensor and backends.is_inexact(x.dtype):
        return elementwise.square(x)
    return _apply_if_known(op, args, params)


def _matrix_product_if_known(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    return contractions.matmul(*args) if all(map(_known, args)) else NotImplemented


def _if_known(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operator(x1: Any, x2: Any, /) -> Any:
        usual = type(x1) is Tensor is type(x2) or (_known(x1) and _known(x2))
        return function(x1, x2) if usual else NotImplemented

    return operator


def _swapped(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: function(other, self)


def _install_operators(cls: type) -> None:
    fronts = {
        "mul": Front(otherwise=_square_or_product, when="_x0 is not _x1"),
        "matmul": Front(
            otherwise=_matrix_product_if_known,
            when="_x0.ndim == 2 == _x1.ndim and _x0.shape[1] == _x1.shape[0]",
            compute=np.ndarray.dot,
        ),
    }
    for name, function in {**_ARITHMETIC, **_COMPARISONS}.items():
        method = caller(function.op, fronts.get(name, Front(otherwise=_apply_if_known)))
        setattr(cls, f"__{name}__", method)
        if name in _ARITHMETIC:
            setattr(cls, f"__r{name}__", _swapped(method))
    for name, unary_function in _UNARY.items():
        setattr(cls, f"__{name}__", unary_function)
    operators: dict[str, Any] = {
        "pow": _if_known(elementwise.power),
        "rpow": _swapped(_if_known(elementwise.pow_)),
        "getitem": indexing.getitem,
    }
    for name, function in operators.items():
        setattr(cls, f"__{name}__", function)


def _assigning(method: Callable[[Any, Any], Any], symbol: str) -> Callable[[Any, Any], Any]:
    """Return what `v -= x` does: it assigns to the variable, if no tape would lose its history."""

    def operator(self: Variable, other: Any) -> Any:
        if type(self) is not Variable:  # a dialect's, which says for itself what assigns
            return NotImplemented
        if active.get() and backends.is_inexact(self.dtype):
            raise TapeError(
                f"`v {symbol}= ...` on variable {self.name!r} while a tape records, which would "
                f"not follow it; write v.assign(v {symbol} ...) to change the variable, or "
                f"y = v {symbol} ... for a tensor that the tape follows"
            )
        result = method(self, other)
        return result if result is NotImplemented else self.assign(result)

    return operator


def _length(self: Any) -> int:
    if not self.shape:
        raise TypeError("len() of a tensor without axes")
    return int(self.shape[0])


def _iterate(self: Any) -> Any:
    if not self.shape:
        raise TypeError("iteration over a tensor without axes")
    if type(self) is Tensor and watching.get() is None:
        return _rows(self)
    return (self[i] for i in range(self.shape[0]))


def _rows(x: Tensor) -> Iterator[Tensor]:
    """Yield the parts of a tensor along its first axis."""
    others = (slice(None),) * (len(x.shape) - 1)
    plain = type(x._raw) is np.ndarray and others
    for i in range(x.shape[0]):
        if plain and x._node is None:  # rows of what no tape watches need no operation
            yield wrap(x._raw[i])
        else:
            yield indexing.slice_parts(x, parts=(i, *others))


def _array_namespace(self: Any, /, *, api_version: str | None = None) -> Any:
    """Return the namespace of the Array API standard: wengert itself."""
    import wengert

    if api_version is not None and api_version > wengert.__array_api_version__:
        raise ValueError(f"Array API {api_version}; wengert has {wengert.__array_api_version__}")
    return wengert


def _to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """Return the tensor on another device of its library."""
    if device == self.device:
        return self
    if type(self._raw) is np.ndarray:
        raise ValueError(f"to_device: NumPy arrays live on 'cpu', not {device!r}")
    return positions.to_device(self, device=device, back=self.device)


def _method(name: str) -> Callable[..., Any]:
    function = getattr(np, name)  # asks the tensor in its turn, through NumPy's protocol

    def method(self: Any, *args: Any, **params: Any) -> Any:
        try:
            return function(self, *args, **params)
        except TypeError:
            if others := params.keys() & ARGUMENTS:  # no function of NumPy's takes one of them
                raise unexpected(function, {name: params[name] for name in others}) from None
            raise

    method.__name__ = name
    method.__doc__ = f"Return np.{name}(x, ...)."
    return method


def _reshaped(self: Any, *shape: Any, **params: Any) -> Any:
    """Return the elements in another shape."""
    return np.reshape(self, shape[0] if len(shape) == 1 else shape, **params)


def _transposed(self: Any, *order: Any) -> Any:
    """Return x with its axes reversed, or in the given order."""
    if len(order) == 1 and isinstance(order[0], (tuple, list)):
        order = tuple(order[0])
    return shapes.permute_dims(self, order or tuple(range(len(self.shape)))[::-1])


def install() -> None:
    """Give Tensor and Variable their operators and methods."""
    for cls in (Tensor, Variable):
        _install_operators(cls)
        for name, function in {
            "__len__": _length,
            "__iter__": _iterate,
            "__contains__": lambda x, value: bool(reductions.any(elementwise.equal(x, value))),
            "__array_namespace__": _array_namespace,
            "T": property(_transposed),
            "mT": property(shapes.matrix_transpose),
            "real": property(
                lambda x: elementwise.real(x) if elementwise.is_complex(x) else shapes.renewed(x)
            ),
            "imag": property(
                lambda x: (
                    elementwise.imag(x) if elementwise.is_complex(x) else creation.zeros_like(x)
                )
            ),
        }.items():
            setattr(cls, name, function)
    for name in NUMPY_METHODS:
        setattr(Tensor, name, _method(name))
    more: dict[str, Any] = {
        "astype": elementwise.astype,
        "transpose": _transposed,
        "reshape": _reshaped,
        "flatten": lambda self: elementwise.positive(shapes.reshape(self, (-1,))),
        "to_device": _to_device,
        "copy": elementwise.positive,
    }
    for name, function in more.items():
        setattr(Tensor, name, function)
    for name, symbol in _SYMBOLS.items():
        setattr(Variable, f"__i{name}__", _assigning(getattr(Variable, f"__{name}__"), symbol))
    Variable.__array_priority__ = Tensor.__array_priority__ = 1000  # type: ignore[attr-defined]
