"""Tensors that change: writing in place, views that share memory, and what was overwritten.

Memory is NumPy's: a view of an array is a view of its memory, so a write to one shows in all. The
list of operations has to say the same. After a write through a view, the entry of its base becomes
"the base before, with this part replaced", and each view's entry is derived from that anew.

An entry keeps the arrays that its rule reads. A write to such an array is found out when a sweep
needs it: `WRITTEN` knows for each piece of memory when it was last written to, and entries know
when they were made.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from wengert.dialects.torch.modes import GRAD, Tracking, current
from wengert.dialects.torch.tensors import (
    Leaf,
    Tensor,
    astype,
    convert,
    label_of,
    line_at,
    line_of,
    made,
    mark,
    ns,
    outward,
    users_frame,
)
from wengert.engine.node import ALIAS, Node, _next_order
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops.updates import _set

View = Callable[[Native], Native]


# -- what was written to ---------------------------------------------------------------------------


class Written(NamedTuple):
    """The last write to a piece of memory."""

    count: int
    order: int
    code: Any
    last: int
    reference: Any


#: By the identity of the array that owns the memory.
WRITTEN: dict[int, Written] = {}
_last_write = [0]


def owner(raw: np.ndarray) -> np.ndarray:
    """Return the array that owns the memory of another."""
    while isinstance(raw.base, np.ndarray):
        raw = raw.base
    return raw


def version(tensor: Tensor) -> int:
    """Return how often the memory of a tensor was written to."""
    if type(tensor._raw) is not np.ndarray:
        return 0
    found = WRITTEN.get(id(owner(tensor._raw)))
    return 0 if found is None else found.count


def note_write(raw: np.ndarray) -> None:
    """Note that an array was written to, by the program's current line."""
    whole = owner(raw)
    key = id(whole)
    before = WRITTEN.get(key)
    frame = users_frame()
    order = _last_write[0] = _next_order()
    if before is None:
        reference = weakref.ref(whole, lambda _: WRITTEN.pop(key, None))
        WRITTEN[key] = Written(1, order, frame.f_code, frame.f_lasti, reference)
    else:
        WRITTEN[key] = Written(
            before.count + 1, order, frame.f_code, frame.f_lasti, before.reference
        )


def check_unwritten(entries: list[Node]) -> None:
    """Raise if an entry (they are given newest first) needs memory that was written to since."""
    if not WRITTEN:
        return
    last = _last_write[0]
    for node in reversed(entries):
        if node.order > last:
            return  # and so were all that follow
        for array in arrays_of(node):
            found = WRITTEN.get(id(owner(array)))
            if found is not None and found.order > node.order:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an "
                    f"inplace operation: a tensor of shape {list(array.shape)} that "
                    f"{label_of(node)} saved at {line_of(node)} was overwritten at "
                    f"{line_at(found.code, found.last)}; write the operation there without the "
                    "underscore, or save a clone()"
                )


def arrays_of(node: Node) -> Iterable[np.ndarray]:
    """Return the arrays that an entry keeps."""
    for _, _, values in node.edges:
        for value in values:
            if type(value) is np.ndarray:
                yield value
            elif type(value) is tuple:
                yield from (v for v in value if type(v) is np.ndarray)


def keeps_arrays(node: Node) -> bool:
    """Return whether an entry keeps any array."""
    for value in node.values:
        if type(value) is np.ndarray:
            return True
    return any(True for _ in arrays_of(node))


# -- views -----------------------------------------------------------------------------------------


def view(tensor: Tensor, step: View, label: str, among: bool = False) -> Tensor:
    """Return what a function makes of a tensor, as a view if that shares its memory."""
    with Tracking():
        result = outward(step(convert(tensor)))
    if result._node is not None:
        mark(result._node, label)
    return viewed(tensor, result, step, among)


def viewed(tensor: Tensor, result: Tensor, step: View, among: bool = False) -> Tensor:
    """Return `result`, known as a view of a tensor if it shares its memory."""
    raw, source = result._raw, tensor._raw
    if type(raw) is np.ndarray and raw is not source and owner(raw) is not owner(source):
        return result
    base = tensor if tensor._base is None else tensor._base
    result._base = base
    result._path = (*tensor._path, step)
    result._among = among or tensor._among
    result._quiet = tensor._quiet
    if base._views is None:
        base._views = []
    elif len(base._views) > 32 and not len(base._views) & (len(base._views) - 1):
        base._views = [r for r in base._views if r() is not None]
    base._views.append(weakref.ref(result))
    return result


def follow(path: tuple[View, ...], whole: Native) -> Native:
    """Return the view of a tensor that some functions lead to."""
    for step in path:
        whole = step(whole)
    return whole


def refresh(base: Tensor) -> None:
    """Derive the entries of all views of a tensor from its entry."""
    for reference in base._views or ():
        part = reference()
        if part is None:
            continue
        found = follow(part._path, convert(base))
        part._node = found._node
        if type(part._raw) is not np.ndarray:
            part._raw = found._raw
        if part._node is not None:
            mark(part._node, "AsStridedBackward0")


# -- writing ---------------------------------------------------------------------------------------


def change(tensor: Tensor, function: Callable[..., Any], *args: Any, **options: Any) -> Tensor:
    """Give a tensor the value that a function has of it, in place, and return it."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"expected a Tensor to write to, got {type(tensor).__name__}")
    check_writable(tensor)
    old: Any = tensor
    if type(tensor._raw) is np.ndarray and _is_recording():
        old = made(tensor._raw.copy(), tensor._node)  # entries keep what was there before
    since = _next_order()
    result = function(old, *args, **options)
    overwrite(tensor, convert(result), since)
    return tensor


def _is_recording() -> bool:
    return GRAD in current() or len(current()) > 1


def check_writable(tensor: Tensor) -> None:
    """Raise if the program may not write to a tensor."""
    if GRAD not in current():
        return
    base = tensor if tensor._base is None else tensor._base
    if type(base._node) is Leaf:
        what = "a leaf Variable" if base is tensor else "a view of a leaf Variable"
        raise RuntimeError(
            f"{what} that requires grad is being used in an in-place operation; write "
            "`with torch.no_grad():` around an update, or compute a new tensor"
        )
    if tensor._among and tensor.requires_grad:
        raise RuntimeError(
            f"{label_of(tensor._node)} returned several views at once, and such a view cannot be "
            "modified inplace; write it without the underscore, or take one view by its index"
        )


def overwrite(tensor: Tensor, value: Native, since: int | None = None) -> None:
    """Write to a tensor's memory, and have its entry and those of its views say so.

    The value's entry, if made since then, was made for it alone.
    """
    since = _next_order() if since is None else since
    with Tracking():
        _overwrite(tensor, value, since)


def _overwrite(tensor: Tensor, value: Native, since: int) -> None:
    raw = tensor._raw
    new = value._raw
    if tuple(new.shape) != tuple(raw.shape):
        try:
            fits = np.broadcast_shapes(new.shape, raw.shape) == tuple(raw.shape)
        except ValueError:
            fits = False
        if not fits:
            raise RuntimeError(
                f"output with shape {list(raw.shape)} doesn't match the broadcast shape "
                f"{list(new.shape)}; an in-place operation cannot change a shape"
            )
        value = ns.broadcast_to(value, tuple(raw.shape))
    if new.dtype != raw.dtype:
        value = astype(value, raw.dtype)
    if type(raw) is np.ndarray and type(value._raw) is np.ndarray:
        _check_overlap(raw)
        np.copyto(raw, value._raw)
        if not tensor._quiet:
            note_write(raw)
    base = tensor if tensor._base is None else tensor._base
    if _is_interested(value._node) or _is_interested(base._node):
        if type(raw) is np.ndarray:
            value = wrap_native(raw, _moved(value, raw, since))
        _rebase(tensor, base, value)
    elif type(raw) is not np.ndarray or type(value._raw) is not np.ndarray:
        _rebase(tensor, base, value)


def _check_overlap(raw: np.ndarray) -> None:
    if any(n > 1 and not s for n, s in zip(raw.shape, raw.strides, strict=True)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location; write x.clone() before the operation"
        )
    if not raw.flags.writeable:
        raise RuntimeError("this tensor shares memory that cannot be written to; write x.clone()")


def _is_interested(node: Node | None) -> bool:
    return node is not None and bool(node.tokens & current())


def _moved(value: Native, raw: np.ndarray, since: int) -> Node | None:
    """Return the entry of a value that was written to memory, reading it from there."""
    node, old = value._node, value._raw
    if node is None:
        return None
    if node.order < since or type(node) is Leaf:  # it is another tensor's as well
        copied = Node(ALIAS, node, 0, (), (), node.tokens, node.shape, node.dtype)
        mark(copied, "CopyBackwards")
        return copied
    node.values = tuple(raw if v is old else v for v in node.values)
    if node.others:
        node.others = tuple(
            (parent, argument, tuple(raw if v is old else v for v in values))
            for parent, argument, values in node.others
        )
    node.order = _next_order()
    trace_here(node)
    return node


def _rebase(tensor: Tensor, base: Tensor, value: Native) -> None:
    """Give a base its new entry after a write to it, or to a view of it."""
    if base is tensor:
        tensor._node = value._node
        tensor._raw = value._raw
    else:
        whole = convert(base)
        key: tuple[Any, ...]
        positions = follow(
            tensor._path,
            wrap_native(np.arange(math.prod(whole.shape)).reshape(tuple(whole.shape))),
        )._raw
        key = (positions.reshape(-1),)
        flat = ns.reshape(whole, (-1,))
        parts = ns.reshape(value, (-1,))
        found = ns.reshape(_set(flat, parts, key=key, winners=None), tuple(whole.shape))
        base._node = found._node
        if type(base._raw) is not np.ndarray or type(value._raw) is not np.ndarray:
            base._raw = found._raw
        if base._node is not None:
            base._node.label = "CopySlices"
            trace_here(base._node)
    refresh(base)


def trace_here(node: Node) -> None:
    """Have an entry know the program's current line."""
    frame = users_frame()
    node.code, node.last = frame.f_code, frame.f_lasti
