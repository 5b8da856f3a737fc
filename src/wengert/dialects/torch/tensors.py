"""Tensors as PyTorch has them, and how Wengert's operations take and make them.

A tensor is a raw array and at most one entry of the list, like Wengert's own, so that operations
on it are recorded and swept by the same engine. What else PyTorch's tensors know (gradients, views,
hooks) is in attributes that most tensors never get: the class has their defaults.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.torch import dtypes
from wengert.dialects.torch.modes import GRAD, TRACKING, current
from wengert.engine.node import LEAF, Node, Op
from wengert.engine.record import apply, binary, trace, unary
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native

#: Wengert's functions, which take and return Wengert's tensors.
ns = Native._namespace
#: What PyTorch calls the entries of an operation, by our name of it.
LABELS: dict[str, str] = {}
_NUMBERS = (bool, int, float, complex)


class Tensor:
    """An array of numbers. Make one with `torch.tensor`."""

    _raw: Any
    _node: Node | None
    #: of a leaf, the accumulated gradient
    _grad: Tensor | None = None
    #: of a view: what it is a view of, and the functions that lead from there to it
    _base: Tensor | None = None
    _path: tuple[Callable[[Native], Native], ...] = ()
    #: whether it is one of several views that one call made
    _among: bool = False
    #: references to the views of this tensor
    _views: list[Any] | None = None
    #: whether writes to it go unnoticed, as those to `x.data`
    _quiet: bool = False
    _retains: bool = False
    __array_priority__ = 1000

    def __new__(cls, *args: Any, **options: Any) -> Any:
        if args or options:
            from wengert.dialects.torch.creation import legacy_tensor

            return legacy_tensor(cls, *args, **options)
        return object.__new__(cls)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):  # some methods are loaded when one is first asked for
            from wengert.dialects.torch.table import late_method

            return late_method(self, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __wengert_tensor__(self) -> Native:
        return wrap_native(self._raw, self._node)

    # -- what it is ----------------------------------------------------------------------------

    @property
    def dtype(self) -> dtypes.dtype:
        """The kind of numbers."""
        return dtypes.of_numpy(self._raw.dtype)

    @property
    def requires_grad(self) -> bool:
        """Whether operations on it are recorded for gradients."""
        node = self._node
        return node is not None and GRAD in node.tokens

    @requires_grad.setter
    def requires_grad(self, on: bool) -> None:
        self.requires_grad_(on)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Have operations on this leaf recorded from now on, or no longer."""
        if requires_grad == self.requires_grad:
            return self
        if not self.is_leaf:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables, and this tensor was "
                f"computed by {label_of(self._node)}; write x.detach() for one that was not"
            )
        if not requires_grad:
            self._node = None
            return self
        check_differentiable(self._raw.dtype)
        self._node = leaf(self)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether it was made by the program and not computed from what requires gradients."""
        node = self._node
        return node is None or type(node) is Leaf or GRAD not in node.tokens

    @property
    def grad(self) -> Tensor | None:
        """The gradients that `backward` has added up; None before."""
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"assigned grad expected to be a Tensor or None but got {type(value).__name__}"
                )
            if value._raw.shape != self._raw.shape:
                raise RuntimeError(
                    f"assigned grad has data of a different size: shape {list(value._raw.shape)}, "
                    f"and the tensor has {list(self._raw.shape)}"
                )
            if value._raw.dtype != self._raw.dtype:
                raise RuntimeError(
                    f"assigned grad has data of a different type: {value.dtype}, and the tensor "
                    f"has {self.dtype}"
                )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def data(self) -> Tensor:
        """The same memory, in a tensor that nothing is recorded for and whose writes go unseen."""
        shared = made(self._raw)
        shared._quiet = True
        return shared

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        self._raw = value._raw
        if type(self._node) is Leaf:
            self._node.shape, self._node.dtype = self._raw.shape, self._raw.dtype


class Leaf(Node):
    """The entry of a tensor that requires gradients and was not computed, and that tensor."""

    __slots__ = ("__weakref__", "owner")


def leaf(tensor: Tensor) -> Leaf:
    """Return a new entry for a tensor's array."""
    raw = tensor._raw
    node = Leaf(LEAF, None, 0, (), (), TRACKING, tuple(raw.shape), raw.dtype)
    node.owner = weakref.ref(tensor)
    return node


def check_differentiable(kind: np.dtype) -> None:
    """Raise unless there are derivatives with respect to such numbers."""
    if kind.kind not in "fc":
        raise RuntimeError(
            "only Tensors of floating point and complex dtype can require gradients, not "
            f"{dtypes.of_numpy(kind)}; write x.float() first"
        )


def made(raw: Any, node: Node | None = None) -> Tensor:
    """Return a tensor around an array and an entry."""
    tensor = Tensor()
    tensor._raw = raw if type(raw) is not np.generic else np.asarray(raw)
    tensor._node = node
    return tensor


def label_of(node: Node | None) -> str:
    """Return what PyTorch calls an entry, such as MulBackward0."""
    if node is None:
        return "None"
    if type(node) is Leaf:
        return "AccumulateGrad"
    try:
        return node.label
    except AttributeError:
        name = node.op.name
        return LABELS.get(name) or camel(name) + "Backward0"


def camel(name: str) -> str:
    """Return a name with underscores in PyTorch's way of writing classes."""
    return "".join(part[:1].upper() + part[1:] for part in name.strip("_").split("_"))


# -- in and out ------------------------------------------------------------------------------------


def convert(value: Any, dtype: np.dtype | None = None, what: str = "input") -> Native:
    """Return a tensor, array or number as Wengert's tensor.

    Operations of PyTorch take tensors; only where one says so, numbers, which get `dtype`.
    """
    if isinstance(value, Tensor):
        return wrap_native(value._raw, value._node)
    if type(value) is Native:
        return value
    if isinstance(value, _NUMBERS):
        return wrap_native(np.array(value, dtype or dtypes.of_number(value)))
    if isinstance(value, np.generic):
        return wrap_native(np.array(value))
    raise TypeError(
        f"argument '{what}' must be Tensor, not {type(value).__name__}; write torch.tensor(x)"
    )


def outward(value: Any) -> Any:
    """Return Wengert's tensors, also in tuples, lists and dicts, as PyTorch's."""
    if type(value) is Native:
        tensor = Tensor()
        tensor._raw, tensor._node = value._raw, value._node
        return tensor
    if isinstance(value, tuple):
        parts = [outward(v) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if type(value) is list:
        return [outward(v) for v in value]
    if type(value) is dict:
        return {k: outward(v) for k, v in value.items()}
    return value


def astype(x: Native, kind: np.dtype) -> Native:
    """Return a tensor with another dtype; derivatives go through."""
    return x if x._raw.dtype == kind else ns.astype(x, kind)


def promoted(*values: Any, floating: bool = False) -> list[Native]:
    """Return tensors and numbers as tensors of their common dtype."""
    values = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
    tensors = [v if isinstance(v, _NUMBERS) else convert(v) for v in values]
    kind = dtypes.result_type(*tensors)
    if floating:
        kind = dtypes.floating(kind)
    return [
        wrap_native(np.array(t, kind)) if isinstance(t, _NUMBERS) else astype(t, kind)
        for t in tensors
    ]


# -- where an entry was made -----------------------------------------------------------------------

_OURS = __name__.partition(".")[0] + "."


def users_frame(depth: int = 2) -> Any:
    """Return the nearest frame that is not of this package."""
    frame = sys._getframe(depth)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_OURS):
        frame = frame.f_back
    return frame


def mark(node: Node, label: str) -> None:
    """Have an entry know its line and what PyTorch calls it, unless it does already."""
    if not hasattr(node, "label") and type(node) is not Leaf:
        node.label = label
        if not hasattr(node, "code"):
            trace(node, users_frame())


def line_of(node: Node) -> str:
    """Return "file:line" of the operation that made an entry."""
    if not hasattr(node, "code"):
        return "a line that is not known"
    return line_at(node.code, node.last)


def line_at(code: Any, last: int) -> str:
    """Return "file:line" of an instruction."""
    if code.co_name == "call" and code.co_filename.startswith(__file__.rpartition("/")[0]):
        return "a line that is not known"
    for start, end, line in code.co_lines():
        if start <= last < end:
            return f"{code.co_filename}:{line}"
    return code.co_filename


# -- operations of one and two tensors -------------------------------------------------------------


def of_one(
    function: Any, label: str, floating: bool = True, kinds: str = "biufc"
) -> tuple[Callable[[Any], Any], Callable[..., Any]]:
    """Return a method and a function of one tensor that do an operation.

    Whole numbers become floating ones first if `floating` says so. Tensors of a kind of numbers
    that is not in `kinds` are refused.
    """
    op: Op = function.op
    LABELS.setdefault(op.name, label)

    def otherwise(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        x = convert(args[0])
        if x._raw.dtype.kind not in kinds:
            raise RuntimeError(
                f"{op.name} is not there for {dtypes.of_numpy(x._raw.dtype)}; write x.float() first"
            )
        if floating:
            x = astype(x, dtypes.floating(x._raw.dtype))
        return finished(op, (x,), label)

    method = unary(op, otherwise, Tensor, "fc", TRACKING, 1)
    fast = unary(op, otherwise, Tensor, "fc", TRACKING, 2)

    def call(input: Any, *, out: Any = None) -> Any:
        if out is None:
            return fast(input)
        return store(fast(input), out)

    return method, call


def of_two(
    function: Any,
    label: str,
    floating: bool = False,
    prepare: Callable[[list[Native]], list[Native]] | None = None,
    quick: bool = True,
) -> tuple[Callable[[Any, Any], Any], Callable[..., Any]]:
    """Return an operator and a function of two tensors or numbers that do an operation.

    Operands get a common dtype, a floating one if `floating` says so; then `prepare` may check or
    change them. `quick` is whether floating operands of one dtype can do without it.
    """
    op: Op = function.op
    LABELS.setdefault(op.name, label)

    def otherwise(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if not (is_operand(args[0]) and is_operand(args[1])):
            return NotImplemented
        x, y = promoted(*args, floating=floating)
        if prepare is not None:
            x, y = prepare([x, y])
        return finished(op, (x, y), label)

    kinds = "fc" if quick else "-"
    operator = binary(op, otherwise, Tensor, kinds, TRACKING, 1)
    fast = binary(op, otherwise, Tensor, kinds, TRACKING, 2)

    def call(input: Any, other: Any, *, out: Any = None) -> Any:
        result = fast(input, other)
        if result is NotImplemented:
            raise TypeError(
                f"{op.name}: expected tensors or numbers, got {type(input).__name__} and "
                f"{type(other).__name__}; write torch.tensor(x)"
            )
        return result if out is None else store(result, out)

    return operator, call


def is_operand(value: Any) -> bool:
    """Return whether operators take a value: a tensor or a number."""
    return isinstance(value, (Tensor, Native, np.generic, *_NUMBERS))


def finished(op: Op, args: tuple[Any, ...], label: str) -> Tensor:
    """Return what an operation gives, as PyTorch's tensor with PyTorch's errors."""
    from wengert.dialects.torch.table import translated

    with translated(op.name):
        result = outward(apply(op, args, {}))
    if result._node is not None:
        mark(result._node, label)
    return result


def store(result: Any, out: Any) -> Any:
    """Put a result where the program wants it, and return that."""
    from wengert.dialects.torch.memory import overwrite

    if isinstance(result, tuple):
        for part, place in zip(result, out, strict=True):
            store(part, place)
        return type(result)(*out) if hasattr(result, "_fields") else tuple(out)
    if out.requires_grad or (result.requires_grad and current() & TRACKING):
        raise RuntimeError(
            "out=... arguments don't support automatic differentiation, but one of the arguments "
            "requires grad; leave out= away, or write it under torch.no_grad()"
        )
    if out._raw.shape != result._raw.shape:
        out._raw = np.empty(result._raw.shape, out._raw.dtype)
    overwrite(out, result.__wengert_tensor__())
    return out


def is_tensor(value: Any) -> bool:
    """Return whether a value is a tensor."""
    return isinstance(value, Tensor)


def static(value: Any) -> Any:
    """Return a size or an axis, which may be given as tensors, as Python's integers."""
    if isinstance(value, (Tensor, np.ndarray, np.generic)):
        return np.asarray(backends.to_numpy(value._raw if is_tensor(value) else value)).tolist()
    if isinstance(value, (list, tuple)):
        return [static(v) for v in value]
    return value


def values_of(tensor: Any) -> np.ndarray:
    """Return a copy of a tensor's numbers for use as a parameter, which later writes leave alone."""
    raw = tensor._raw if isinstance(tensor, Tensor) else tensor
    return np.array(backends.to_numpy(raw))
