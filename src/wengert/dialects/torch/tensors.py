"""Tensors as PyTorch has them, and how Wengert's operations take and make them.

A tensor is a raw array and at most one node of the tape, like Wengert's own, so that operations
on it are recorded and swept by the same engine. What else PyTorch's tensors know (gradients, views,
hooks) is in attributes that most tensors never get: the class has their defaults.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.quiet import QUIETLY
from wengert.dialects.torch import dtypes, modes
from wengert.engine import tensor as engine
from wengert.engine.batching import Batched
from wengert.engine.fastpath import Front, caller
from wengert.engine.node import Node, new_node
from wengert.engine.op import LEAF, Op
from wengert.engine.record import witnesses
from wengert.errors import users_frame

#: Wengert's tensors, what makes one of an array, and functions that take and return them.
Native = engine.Tensor
wrap_native = engine.wrap
ns = Native._namespace
#: What PyTorch calls the nodes of an operation, by our name of it.
LABELS: dict[str, str] = {}
_NUMBERS = (bool, int, float, complex)
_new = object.__new__


class WithLateMethods(dtypes.Shown):
    """The class of `Tensor`, some of whose methods are loaded when one is first asked for."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
        from wengert.dialects.torch.table import late_method

        return late_method(cls, name)


class Tensor(metaclass=WithLateMethods):
    """An array of numbers. Make one with `torch.tensor`."""

    shown = "torch.Tensor"
    #: what explanations call things in programs of PyTorch
    __wengert_words__ = {  # noqa: RUF012
        "wg.asarray": "torch.tensor", "wg.astype(x, wg.float64)": "x.float()",
        "wg.nn.softmax": "torch.softmax", "wg.custom_gradient": "torch.autograd.Function",
        "of wg and np": "of torch", "wg.debug": "wg.debug", "wg.": "torch.",
    }  # fmt: skip
    _raw: Any
    _node: Node | None
    #: of a leaf, the accumulated gradient
    _grad: Tensor | None = None
    #: the dtype of that gradient, None for any; False for that of the tensor itself
    _grad_dtype: Any = False
    #: of a view: what it is a view of, and the functions that lead from there to it
    _base: Tensor | None = None
    _path: tuple[Callable[[Native], Native], ...] = ()
    #: whether it is one of several views that one call made, or was made where nothing is recorded
    _among: bool = False
    _blind: bool = False
    #: of such a view: its node, and the last write to any memory when it was made, by its order
    _held: tuple[Node | None, int] | None = None
    #: of any view: that order
    _seen: int = 0
    #: references to the views of this tensor that have a node derived from its own
    _views: list[Any] | None = None
    #: of a base that got other shapes in place: what leads back from each to the one before
    _turns: tuple[Callable[[Native], Native], ...] = ()
    #: of a view: how many of those its path knows
    _turned: int = 0
    #: of a detached tensor: a reference to the one whose memory and count of writes it shares
    _origin: Callable[[], Tensor | None] | None = None
    _retains: bool = False
    #: whether it was made in inference mode
    _inference: bool = False
    __array_priority__ = 1000

    def __new__(cls, *args: Any, **options: Any) -> Any:
        """Return what PyTorch's old constructor makes of sizes or data."""
        if args or options:
            from wengert.dialects.torch.creation import legacy_tensor

            return legacy_tensor(cls, *args, **options)
        return object.__new__(cls)

    def __getattr__(self, name: str) -> Any:
        if name == "_node" or name == "_raw":  # a view's base was written to
            from wengert.dialects.torch.memory import derive

            return derive(self, name)
        getattr(type(self), name)  # which loads a method, or raises
        return object.__getattribute__(self, name)

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
        held = self._held  # a view may be of no more use, and still say what it was
        node = self._node if held is None else held[0]
        if node is not None and not (held is not None and is_unreached(node)):
            return modes.GRAD in node.tokens
        return held is not None and self._base is not None and self._base.requires_grad

    @requires_grad.setter
    def requires_grad(self, on: bool) -> None:
        if not isinstance(on, bool):
            raise RuntimeError(f"requires_grad is a {type(on).__name__}; give True or False")
        self.requires_grad_(on)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Have operations on this leaf recorded from now on, or no longer."""
        if not isinstance(requires_grad, bool):
            raise TypeError(f"requires_grad is a {type(requires_grad).__name__}; write True")
        held = self._held
        if held is not None or self._node is not None:
            hidden = requires_grad and held is not None and is_unreached(held[0])
            if requires_grad == self.requires_grad and not hidden:
                return self
            if not hidden and not self.is_leaf:
                raise RuntimeError(
                    "requires_grad is set for leaves only, and this tensor was computed by "
                    f"{label_of(self._node)}; write x.detach() for one that was not"
                )
        elif not requires_grad:
            return self
        if not requires_grad:
            self._set_entry(None)
            return self
        check_differentiable(self._raw.dtype)
        check_normal(self)
        entry = leaf(self)
        if held is not None and type(held[0]) is Leaf and held[0].op is not LEAF:
            # hooks that were registered before are of what the tensor is now
            entry.op, entry.parent = held[0].op, leaf(self)
            entry.parent.order = entry.order - 0.5  # type: ignore[assignment]
        self._set_entry(entry)
        return self

    def _set_entry(self, node: Leaf | None) -> None:
        """Have a leaf begin or cease to require gradients, and what shares its memory know that."""
        if self._base is None and not self._views:
            self._node = node
            return
        from wengert.dialects.torch import memory

        if self._base is not None and type(self._raw) is np.ndarray:
            memory.hold(self, node, self._seen if self._held is None else self._held[1])
            return
        self._node = node
        memory.show_base(self)

    @property
    def is_leaf(self) -> bool:
        """Whether it was made by the program and not computed from what requires gradients."""
        node = self._node
        return node is None or type(node) is Leaf or modes.GRAD not in node.tokens

    @property
    def grad(self) -> Tensor | None:
        """The gradients that `backward` has added up; None before."""
        useless = self._held is not None
        if self._grad is None and not useless and not self.is_leaf and not self._retains:
            warnings.warn(
                "this tensor was computed, and only leaves get gradients, so its .grad is None. "
                "Write x.retain_grad() before backward for this one",
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f".grad was assigned a {type(value).__name__}; give a tensor or None")
        kind = self.grad_dtype
        if value is not None and (
            value._raw.shape != self._raw.shape or value.dtype != (kind or value.dtype)
        ):
            raise RuntimeError(
                f".grad was assigned a tensor of shape {list(value._raw.shape)} and {value.dtype}; "
                f"this one has {list(self._raw.shape)} and {kind}"
            )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def grad_dtype(self) -> dtypes.dtype | None:
        """The dtype of a leaf's gradient; None if it is that of what is accumulated."""
        return self.dtype if self._grad_dtype is False else self._grad_dtype

    @grad_dtype.setter
    def grad_dtype(self, value: dtypes.dtype | None) -> None:
        if value is not None and type(value) is not dtypes.dtype:
            raise RuntimeError(f"grad_dtype is a {type(value).__name__}; give a dtype or None")
        if not self.is_leaf:
            raise RuntimeError("grad_dtype is of leaves, and this tensor was computed")
        if self._grad is not None and value not in (None, self._grad.dtype):
            raise RuntimeError(
                f"grad_dtype={value}, and .grad is of {self._grad.dtype}; write x.grad = None first"
            )
        self._grad_dtype = value


# Python keeps the attributes of an instance in an array if the class knew their names early on.
# An instance with others gets a dict, which takes longer to make than a view.
_known = _new(Tensor)
for _name in vars(Tensor)["__annotations__"]:
    setattr(_known, _name, None)


class Leaf(Node):
    """The node of a tensor that requires gradients and was not computed, and that tensor."""

    __slots__ = ("owner",)
    owner: Any


def leaf(tensor: Tensor) -> Leaf:
    """Return a new node for a tensor's array."""
    raw = tensor._raw
    node = new_node(LEAF, None, 0, (), (), modes.TRACKING, tuple(raw.shape), raw.dtype, Leaf)
    node.owner = weakref.ref(tensor)
    return node


def unreached(tensor: Tensor) -> Leaf:
    """Return a node for a view that says it requires gradients, and that none come to.

    So do views that were made before their bases required gradients, or where none is recorded.
    """
    node = leaf(tensor)
    node.owner = _nobody
    return node


def is_unreached(node: Node | None) -> bool:
    """Return whether a node is one that no gradients come to."""
    return type(node) is Leaf and node.owner is _nobody


def _nobody() -> None:
    return None


def check_normal(tensor: Any) -> None:
    """Raise if a tensor of inference mode is to require gradients outside of that."""
    if getattr(tensor, "_inference", False) and not modes.is_inference_mode_enabled():
        raise RuntimeError(
            "an inference tensor, made in torch.inference_mode(), cannot require a gradient "
            "outside of it; write x.clone() for a normal tensor"
        )


def check_differentiable(kind: np.dtype) -> None:
    """Raise unless there are derivatives with respect to such numbers."""
    if not backends.is_inexact(kind):
        raise RuntimeError(
            f"{dtypes.of_numpy(kind)} has no derivative, so a tensor of it cannot require a "
            "gradient; write x.float() first"
        )


def made(raw: Any, node: Node | None = None) -> Tensor:
    """Return a tensor around an array and a node."""
    tensor: Tensor = _new(Tensor)  # `Tensor()` looks for sizes and data first
    tensor._raw = raw if type(raw) is not np.generic else np.asarray(raw)
    tensor._node = node
    return tensor


def label_of(node: Node | None) -> str:
    """Return what PyTorch calls a node, such as MulBackward0."""
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
    """Return a name with underscores as PyTorch writes classes."""
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
    raise TypeError(f"{what} is a {type(value).__name__}; write torch.tensor(x)")


def outward(value: Any) -> Any:
    """Return Wengert's tensors, also in tuples, lists and dicts, as PyTorch's."""
    if type(value) is Native:
        return made(value._raw, value._node)
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
        wrap_native(np.array(t).astype(kind)) if isinstance(t, _NUMBERS) else astype(t, kind)
        for t in tensors
    ]


# -- where a node was made -----------------------------------------------------------------------


def trace(node: Node, frame: Any) -> None:
    """Have a node know the instruction that a frame is at, and show it to the witnesses."""
    node.code, node.last = frame.f_code, frame.f_lasti
    for witness in witnesses:
        witness(node)


def mark(node: Node, label: str) -> None:
    """Have a node know its line and what PyTorch calls it, unless it does already."""
    if not hasattr(node, "label") and type(node) is not Leaf:
        node.label = label
        if not hasattr(node, "code"):
            trace(node, users_frame())


def marked(node: Node | None) -> Node | None:
    """Return the node of a derivative, which is an operation of the program's line from now on."""
    if node is not None:
        mark(node, label_of(node))
    return node


def line_of(node: Node) -> str:
    """Return "file:line" of the operation that made a node."""
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


# -- operations and what they return ---------------------------------------------------------------


def fast(
    op: Op, otherwise: Any, kinds: str, depth: int, when: str = "", label: str = "",
    known: dict[str, Any] | None = None, errors: Any = QUIETLY, compute: Any = None,
) -> Callable[..., Any]:  # fmt: skip
    """Return the function that calls an operation on PyTorch's tensors; see `Front`."""
    if label and LABELS.setdefault(op.name, label) == label:
        label = ""  # as every node of that name is called
    front = Front(
        Tensor, otherwise, kinds, modes.TRACKING, depth, label, errors, when, known,
        taken="isinstance({}, _kind)",  # parameters too
        compute=compute,
    )  # fmt: skip
    return caller(op, front)


def only_tensor(value: Any, name: str, what: str = "input") -> Native:
    """Return a tensor as Wengert's; numbers, arrays and lists are refused."""
    if isinstance(value, (Tensor, Native)):
        return convert(value)
    raise TypeError(f"{name}(): {what} is a {type(value).__name__}; write torch.tensor(x)")


def is_operand(value: Any) -> bool:
    """Return whether operators take a value: a tensor or a number."""
    return isinstance(value, (Tensor, Native, np.generic, *_NUMBERS))


def store(result: Any, out: Any) -> Any:
    """Put a result where the program wants it, and return that."""
    from wengert.dialects.torch.memory import overwrite

    if isinstance(result, tuple):
        for part, target in zip(result, out, strict=True):
            store(part, target)
        return type(result)(*out) if hasattr(result, "_fields") else tuple(out)
    if (out.requires_grad or result.requires_grad) and modes.current() & modes.TRACKING:
        raise RuntimeError(
            "a result stored by out= has no gradient, and an argument requires one; leave out= "
            "away, or write it under torch.no_grad()"
        )
    tokens = {t for n in (result._node, out._node) if n is not None for t in n.tokens}
    if any(t.alive for t in tokens - modes.TRACKING):
        raise NotImplementedError(
            "a result stored by out= has no tangent, and an argument is dual, or a tape records "
            "it; leave out= away"
        )
    if out._inference and not modes.is_inference_mode_enabled():
        raise RuntimeError(
            "out= is an inference tensor, and written to outside of inference_mode(); give out= "
            "a tensor that was made outside"
        )
    check_cast(result._raw.dtype, out._raw.dtype)
    if out._raw.shape != result._raw.shape:
        out._raw = np.empty(result._raw.shape, out._raw.dtype)
    overwrite(out, result.__wengert_tensor__())
    return out


def check_cast(kind: np.dtype, target: np.dtype) -> None:
    """Raise if a tensor of one dtype cannot take the results of another, which lose a part."""
    categories = dtypes.category(kind), dtypes.category(target)
    if categories[0] > categories[1]:
        raise RuntimeError(
            f"a result of {dtypes.of_numpy(kind)} does not fit into a tensor of "
            f"{dtypes.of_numpy(target)}; write the operation without the underscore or out=, or "
            "convert the tensor first"
        )


def fitted(result: Tensor, kind: np.dtype) -> Tensor:
    """Return the result of an in-place operation in the dtype of what it is written to."""
    if result._raw.dtype == kind:
        return result
    check_cast(result._raw.dtype, kind)
    with modes.Tracking():
        cast = outward(astype(convert(result), kind))
    if cast._node is not None:
        mark(cast._node, label_of(result._node))
    return cast


def is_tensor(value: Any) -> bool:
    """Return whether a value is a tensor."""
    return isinstance(value, Tensor)


def static(value: Any) -> Any:
    """Return a size or an axis, which may be given as tensors, as Python's integers."""
    if isinstance(value, (Tensor, np.ndarray, np.generic)):
        return np.asarray(backends.to_numpy(getattr(value, "_raw", value))).tolist()
    if isinstance(value, (list, tuple)):
        return [static(v) for v in value]
    return value


def values_of(tensor: Any) -> Any:
    """Return a copy of a tensor's numbers for use as a parameter, which later writes leave alone.

    Inside of a vmap, where they differ by example, it is a tensor of Wengert.
    """
    raw = tensor._raw if isinstance(tensor, Tensor) else tensor
    if type(raw) is Batched:
        return wrap_native(raw)
    return np.array(backends.to_numpy(raw))
