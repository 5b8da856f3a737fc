"""Tensors that change: writing in place, views that share memory, and what was overwritten.

Memory is NumPy's: a view of an array is a view of its memory, so a write to one shows in all. The
tape has to say the same. After a write through a view, the node of its base becomes "the base
before, with this part replaced" (`COPY`), and each view gives up its node: when it is next asked
for, `derive` makes it from the base's. So a write costs what it writes.

A node keeps the arrays that its rule reads. A write to such an array is found out when a sweep
needs it: `WRITTEN` knows for each piece of memory when it was last written to, and nodes know
when they were made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from wengert import backends
from wengert.dialects.torch import dtypes, modes, nodes
from wengert.dialects.torch.nodes import Behind
from wengert.dialects.torch.strides import check_apart, check_memory
from wengert.dialects.torch.tensors import (
    Leaf,
    Tensor,
    astype,
    convert,
    is_unreached,
    label_of,
    line_at,
    line_of,
    made,
    mark,
    ns,
    trace,
    unreached,
)
from wengert.engine.node import Node, active, next_order
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.errors import users_frame
from wengert.ops.copies import COPY, Key, View, follow

# -- what was written to ---------------------------------------------------------------------------


class Written(NamedTuple):
    """The last write to a piece of memory, and how many there were."""

    times: int
    order: int
    code: Any
    last: int
    reference: Any


#: By the identity of the array that owns the memory, or of one that is counted apart.
WRITTEN: dict[int, Written] = {}
_last_write = [0]


def owner(raw: np.ndarray) -> np.ndarray:
    """Return the array that owns the memory of another."""
    base: Any = raw.base
    while base is not None:
        if isinstance(base, np.ndarray):
            raw = base
        elif type(base) is tuple:  # NumPy's, of an object that gave its memory
            base = base[0]
        base = getattr(base, "base", None)  # what is between two arrays has one as well
    return raw


class _Unlinked:
    """The memory of an array, for another array with a count of writes of its own."""

    __slots__ = ("__array_struct__", "base")

    def __init__(self, raw: np.ndarray) -> None:
        self.base, self.__array_struct__ = raw, raw.__array_struct__


def unlinked(raw: Any) -> Any:
    """Return an array with the same memory that has a count of writes of its own, as `x.data`."""
    return np.asarray(_Unlinked(raw)) if type(raw) is np.ndarray else raw


def _counted(raw: np.ndarray) -> np.ndarray:
    """Return the array that the writes to another are counted for."""
    base: Any = raw.base
    while base is not None and type(base) is not tuple and type(base) is not _Unlinked:
        if isinstance(base, np.ndarray):
            raw = base
        base = getattr(base, "base", None)
    return raw


def version(tensor: Tensor) -> int:
    """Return how often the memory of a tensor was written to."""
    if tensor._inference:
        raise RuntimeError(
            "writes to an inference tensor are not counted; write x.clone() for a normal one"
        )
    last = _written(tensor._raw)
    return 0 if last is None else last.times


def _written(raw: Any) -> Written | None:
    """Return the last write to the memory of an array."""
    return WRITTEN.get(id(_counted(raw))) if WRITTEN and type(raw) is np.ndarray else None


def _is_written(raw: Any, seen: int) -> bool:
    """Return whether the memory of an array was written to since a moment."""
    last = _written(raw)
    return last is not None and last.order > seen


def note_write(raw: np.ndarray, frame: Any = None) -> None:
    """Note that an array was written to, by the program's current line or by that of a frame."""
    whole = _counted(raw)
    key = id(whole)
    before = WRITTEN.get(key)
    if frame is None:
        frame = users_frame()
    if before is None:
        times, reference = 0, ref(whole, lambda _: WRITTEN.pop(key, None))
    else:
        times, reference = before.times, before.reference
    order = _last_write[0] = next_order()
    WRITTEN[key] = Written(times + 1, order, frame.f_code, frame.f_lasti, reference)


def check_unwritten(newest_first: list[Node]) -> None:
    """Raise if a node (they are given newest first) needs memory that was written to since."""
    if not WRITTEN:
        return
    last = _last_write[0]
    for node in reversed(newest_first):
        if node.order > last:
            return  # and so were all that follow
        if node.parent is None:
            continue
        for array in nodes.arrays_of(node):
            write = WRITTEN.get(id(_counted(array)))
            if write is not None and write.order > node.order:
                raise RuntimeError(
                    "a value needed for a gradient was modified in place: a tensor of shape "
                    f"{list(array.shape)} that {label_of(node)} saved at {line_of(node)} was "
                    f"written to at {line_at(write.code, write.last)}; write the operation there "
                    "without the underscore, or save a clone()"
                )


def apart(x: Any) -> Any:
    """Return a result in memory that its node does not read, so that programs may write to it.

    For operations whose rules read results where those of PyTorch do not.
    """
    raw, node = x._raw, x._node
    if node is None or type(raw) is not np.ndarray:
        return x
    return (made if isinstance(x, Tensor) else wrap_native)(raw.copy(), node)


# -- views -----------------------------------------------------------------------------------------


def viewed(tensor: Tensor, result: Native, step: View, label: str, several: bool = False) -> Tensor:
    """Return what a function made of a tensor, known as a view of it if it shares its memory."""
    raw, node = result._raw, result._node
    if node is not None:
        if node is tensor._node:
            node = nodes.alias(node)
        mark(node, label)
    if raw is tensor._raw and type(raw) is np.ndarray:
        raw = raw.view()
    return noted(tensor, made(raw, node), step, "", several)


def noted(
    tensor: Tensor, part: Tensor, step: View, label: str = "", several: bool = False
) -> Tensor:
    """Have a new tensor be known as the view of another that a function makes, and return it.

    It is left as it is if it has memory of its own. `several` says that the call made others too.
    """
    raw, node, base = part._raw, part._node, tensor._base
    if label and node is not None:
        node.label = label
        trace(node, users_frame(3))
    if type(raw) is np.ndarray:
        given, whole = tensor._raw, raw.base
        near = whole is given or (whole is not None and whole is given.base)
        if not near and type(given) is np.ndarray and owner(raw) is not owner(given):
            if node is not None and label_of(node) == "ViewBackward0":
                node.label = "UnsafeViewBackward0"
            return part
        if WRITTEN:
            part._seen = _last_write[0]
    recording = active.get()
    unseen = blind = bool(recording) and modes.GRAD not in recording
    if base is None:
        base, part._path = tensor, (step,)
    else:
        part._path = (*(path_of(tensor) if base._turns else tensor._path), step)
        several, blind = several or tensor._among, blind or tensor._blind
        if tensor._held is not None and type(raw) is np.ndarray:
            hold(part, node)
    part._base = base
    if base._turns:
        part._turned = len(base._turns)
    if several or blind:
        part._among, part._blind = several, blind
        if node is not None or base._node is not None:
            if base.requires_grad and unseen:
                node = unreached(part)
            hold(part, node)
    views = base._views
    if views is None or len(views) > 32:
        views = _views_of(base)
    views.append(ref(part))
    return part


def base_of(tensor: Tensor) -> Tensor:
    """Return what a tensor is a view of; itself if it is none."""
    base = tensor._base
    return tensor if base is None else base


def path_of(tensor: Tensor) -> tuple[View, ...]:
    """Return the functions that lead to a view from its base, as that is now."""
    base = tensor._base
    if base is not None and len(base._turns) != tensor._turned:
        tensor._path = (*reversed(base._turns[tensor._turned :]), *tensor._path)
        tensor._turned = len(base._turns)
    return tensor._path


def hold(part: Tensor, node: Node | None, seen: int | None = None) -> None:
    """Have a view look each time it is asked for its node whether its memory was written to.

    So do views that a write makes useless, and those with hooks, which get a node without them.
    The node is that of a moment, of which `seen` is the last write; by default, that of now.
    """
    part._held = node, _last_write[0] if seen is None else seen
    part.__dict__.pop("_node", None)


def _live_views(base: Tensor) -> list[Tensor]:
    parts = [reference() for reference in base._views or ()]
    return [part for part in parts if part is not None]


def show_base(base: Tensor) -> None:
    """Have views without a node know whether their base requires gradients from now on."""
    for part in _live_views(base):
        if not backends.is_inexact(part._raw.dtype):
            continue
        node = unreached(part) if base.requires_grad else None
        if part._held is None and part.__dict__.get("_node", base) is None:
            hold(part, node, part._seen)
        elif part._held is not None and (part._held[0] is None or is_unreached(part._held[0])):
            hold(part, node, part._held[1])


def look_at(tensor: Tensor, again: bool = False) -> Node | None:
    """Return the node of a tensor that gets a hook, or keeps its gradient.

    `again` says to stay with a node that has hooks, as PyTorch does for a view whose memory was
    written to until somebody asks for its new node.
    """
    if again and tensor._held is not None:
        node = tensor._held[0]
        if node is not None and getattr(node.op, "hooks", None):
            return node
    node = tensor._node
    if tensor._base is not None and tensor._held is None and type(tensor._raw) is np.ndarray:
        hold(tensor, node)
        for part in _live_views(base_of(tensor)):  # views of it lead to the hooks as well
            if part._held is not None or "_node" not in part.__dict__:
                continue
            if path_of(part)[: len(path_of(tensor))] == tensor._path:
                hold(part, part._node, part._seen)
    return node


def _views_of(base: Tensor) -> list[Any]:
    """Return references to the views whose nodes are derived from that of a base, for another."""
    views = base._views
    if views is None:
        views = base._views = []
    elif len(views) > 32 and not len(views) & (len(views) - 1):
        views[:] = [r for r in views if r() is not None]
    return views


def _outdate(base: Tensor) -> None:
    """Have all views of a tensor give up their nodes, and arrays that are not its memory."""
    views, base._views = base._views, []
    for reference in views or ():
        part = reference()
        if part is not None:
            if (part._among or part._blind) and part._held is None:
                part._held = None, part._seen
            part.__dict__.pop("_node", None)
            if type(base._raw) is not np.ndarray:
                part.__dict__.pop("_raw", None)


def _outdate_origin(base: Tensor) -> None:
    """Have views of what a tensor was detached from give up their nodes, after a write."""
    origin = None if base._origin is None else base._origin()
    if origin is not None and origin._views and origin._node is not None:
        _outdate(origin)


def derive(part: Tensor, name: str) -> Any:
    """Return the node (or the array) of a view that gave it up, by way of its base."""
    base = part._base
    if base is None:  # made by `torch.Tensor()`, of nothing
        part._raw, part._node = np.empty(0, dtypes.default().numpy), None
        return part.__dict__[name]
    base = base_of(part)
    former = None
    if part._held is not None and "_raw" in part.__dict__:
        former, seen = part._held
        computed = former is not None and type(former) is not Leaf
        if not _is_written(part._raw, seen) or not (computed or base.requires_grad):
            return former
        if part._among or part._blind:
            if modes.GRAD in modes.current():
                raise RuntimeError(
                    "the memory of this view was written to through another tensor; "
                    f"{_why_useless(part)}, or take the view after it"
                )
            return former
    view = _view_of(base, path_of(part))
    node = view._node
    if node is not None:
        if node is base._node:
            node = nodes.alias(node)
        mark(node, "AsStridedBackward0")
    elif former is not None and modes.GRAD in former.tokens:  # of a leaf that is a view itself
        node = nodes.alias(unreached(part))
    if "_raw" not in part.__dict__:
        part._raw = view._raw
    if part._held is None:
        part._node = node
        if node is not None:
            part._seen = _last_write[0]
    else:
        hold(part, node)
        if part._retains:
            from wengert.dialects.torch.gradients import move_retained

            move_retained(part, former)
    _views_of(base).append(ref(part))
    return part._raw if name == "_raw" else node


def _view_of(base: Tensor, path: tuple[View, ...]) -> Native:
    """Return the view of a base that some functions lead to, with a node in any mode."""
    token = active.set(modes.switched(modes.current(), True))
    try:
        return follow(path, convert(base))
    finally:
        active.reset(token)


def check_usable(tensor: Tensor) -> None:
    """Raise if a tensor is a view that a write to its base has made useless."""
    if tensor._held is not None:
        derive(tensor, "_node")


def _why_useless(view: Tensor) -> str:
    """Return why nothing can be recorded for writes to a view, and what to write instead."""
    how = "is one of several views that one call returned"
    return (
        f"it {how if view._among else 'was taken under no_grad()'}, so such a write cannot be "
        "recorded. Write the operation without the underscore"
    )


# -- what a write is to the tape -------------------------------------------------------------------


def with_part(x: Native, step: View, values: Native) -> Native:
    """Return a tensor with other values in a view of it, as a new one."""
    result: Native = apply(COPY, (x, values), {"path": (step,), "key": None})
    return result


# -- writing ---------------------------------------------------------------------------------------


def change(
    tensor: Tensor, function: Callable[..., Any], *args: Any, keeps: bool = True, **options: Any
) -> Tensor:
    """Give a tensor the value that a function has of it, in place, and return it.

    `keeps` says whether the function's nodes may keep the numbers that it is given.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"got a {type(tensor).__name__} to write to; give a tensor")
    check_writable(tensor)
    for value in args:
        if isinstance(value, Tensor) and value is not tensor:
            check_apart(tensor._raw, value._raw)
    old: Any = tensor
    if type(tensor._raw) is np.ndarray and (
        modes.GRAD in modes.current() or len(modes.current()) > 1
    ):
        raw = tensor._raw.copy("K") if keeps else tensor._raw[...]  # nodes keep what was there
        old = made(raw, node_below(tensor))
    since = next_order()
    result = function(old, *args, **options)
    if _is_plain(tensor, result):
        write(tensor._raw, result._raw)
        base = base_of(tensor)
        if base._views and base._node is not None:
            _outdate(base)
        _outdate_origin(base)
    else:
        overwrite(tensor, convert(result), since)
    return tensor


def node_below(tensor: Tensor) -> Node | None:
    """Return the node of what is written to, without the hooks on a view.

    In PyTorch such an operation is one on the base, and hooks on the view do not see it. They see
    derivatives of gradients that read what was there.
    """
    node = tensor._node
    if tensor._base is None or node is None:
        return node
    base = base_of(tensor)
    ancestor: Node | None = node
    for _ in path_of(tensor):
        if ancestor is None or ancestor is base._node:
            return node
        if ancestor.op.family == "hook":
            below = _view_of(base, path_of(tensor))._node
            if below is None:
                return None
            inner: Behind = nodes.alias(below, Behind)
            inner.front = lambda: node
            return inner
        ancestor = ancestor.parent
    return node


def _is_plain(tensor: Tensor, result: Any) -> bool:
    """Return whether a result can be written to a tensor as it is, and nothing is recorded."""
    raw, new = tensor._raw, getattr(result, "_raw", None)
    return (
        type(raw) is np.ndarray
        and type(new) is np.ndarray
        and new.shape == raw.shape
        and new.dtype == raw.dtype
        and result._node is None
        and not is_interested(base_of(tensor)._node)
    )


def check_writable(tensor: Tensor) -> None:
    """Raise if the program may not write to a tensor that requires gradients."""
    base = base_of(tensor)
    if base._inference and not modes.is_inference_mode_enabled():
        raise RuntimeError(
            "an inference tensor, made in torch.inference_mode(), is written to outside of it; "
            "write x.clone() for a normal tensor before the update"
        )
    if modes.GRAD not in modes.current():
        return
    if not base.requires_grad and (base is tensor or not tensor.requires_grad):
        return
    if base is not tensor:
        check_view(tensor)
    is_view_of_leaf = base is not tensor and (base._node is None or type(base._node) is Leaf)
    if is_view_of_leaf or type(tensor._node) is Leaf:
        raise RuntimeError(
            f"{'a view of ' if is_view_of_leaf else ''}a leaf that requires grad is written to, "
            "and the leaf's value would be lost; write `with torch.no_grad():` around an update, "
            "or x.clone() before it"
        )


def check_view(tensor: Tensor) -> None:
    """Raise if a tensor is a view that nothing can be recorded for."""
    if tensor._among or tensor._blind:
        raise RuntimeError(
            f"a view by {label_of(tensor._node)} cannot be modified where gradients are recorded: "
            f"{_why_useless(tensor)}, or take one view by its index where gradients are recorded"
        )


def overwrite(
    tensor: Tensor, value: Native, since: int | None = None, label: str = "CopyBackwards"
) -> None:
    """Write to a tensor's memory, and have its node and those of its views say so.

    The value's node, if made since the order that is given, was made for it alone.
    """
    with modes.Tracking():
        is_array = type(tensor._raw) is np.ndarray
        number = not value._raw.shape and value._node is None and not label.startswith("Copy")
        # one number is written to all elements, also where they share a place
        single = number and is_array
        value = astype(value, tensor._raw.dtype) if single else _fitted(value, tensor)
        base, path, node = base_of(tensor), path_of(tensor), value._node
        own = node is not None and since is not None and node.order >= since
        if not is_array or type(value._raw) is not np.ndarray:
            return _replace(base, path, value, own, label)
        write(tensor._raw, value._raw)
        if own:
            assert node is not None
            _move(value, tensor._raw)
            if tensor._path and any("y" in (reads or ()) for reads in node.op.reads):
                node = nodes.behind(node)
        settle(base, path, node, own, label)
        if type(node) is Behind and own:
            node.front = ref(tensor._node)
        elif tensor._retains and tensor is not base:
            derive(tensor, "_node")
    return None


def overwrite_part(tensor: Tensor, step: View, value: Native) -> None:
    """Write to a view of a tensor that no program holds."""
    with modes.Tracking():
        if type(tensor._raw) is not np.ndarray or type(value._raw) is not np.ndarray:
            view = viewed(tensor, step(convert(tensor)), step, "SliceBackward0")
            return overwrite(view, value)
        part, new = step(wrap_native(tensor._raw))._raw, value._raw
        if new.shape or value._node is not None or new.dtype != part.dtype:
            value = _fitted(value, tensor, part)  # NumPy repeats a number itself
        write(part, value._raw)
        settle(base_of(tensor), (*path_of(tensor), step), value._node)
    return None


def _fitted(value: Native, tensor: Tensor, part: Any = None) -> Native:
    """Return a value in the shape and dtype of what it is written to: a tensor, or part of it."""
    raw, new = tensor._raw if part is None else part, value._raw
    shape = tuple(raw.shape)
    if new.dtype != raw.dtype:
        if new.dtype.kind == "c" and raw.dtype.kind != "c":
            value = ns.real(value)
        value = astype(value, raw.dtype)
    if tuple(new.shape) != shape:
        try:
            fits = np.broadcast_shapes(new.shape, shape) == shape
        except ValueError:
            fits = False
        if not fits:
            raise RuntimeError(
                f"a result of shape {list(new.shape)} does not fit into a tensor of shape "
                f"{list(shape)}; an in-place operation cannot change a shape"
            )
        value = ns.broadcast_to(value, shape)
    if (
        modes.GRAD in modes.current()
        and value._node is not None
        and modes.GRAD in value._node.tokens
    ):
        check_view(tensor)
    return value


def write(raw: np.ndarray, values: np.ndarray, noted: bool = True) -> None:
    """Write to memory, and note that."""
    check_memory(raw, not values.shape)
    raw[...] = values
    if noted:
        note_write(raw)


def add_one(count: Any) -> None:
    """Add 1 to a whole number in place, which no derivative follows."""
    if type(count._raw) is np.ndarray and count._raw.dtype.kind in "iu":
        check_writable(count)
        write(count._raw, count._raw + 1)
    else:
        count.add_(1)


def is_interested(node: Node | None) -> bool:
    """Return whether what records now cares about a node."""
    return node is not None and bool(node.tokens & modes.current())


def settle(
    base: Tensor, path: tuple[View, ...], node: Node | None, own: bool = False,
    label: str = "CopyBackwards", key: Key = None,
) -> None:  # fmt: skip
    """Give a base the node for what was written to it, or to a view of it, or to elements of that.

    `node` is the node of what was written; it is the tensor's `own` if no other tensor has it.
    """
    before = base._node
    _outdate_origin(base)
    if not (is_interested(node) or is_interested(before)):
        if before is not None and base._views:  # not recorded; views are made anew all the same
            _outdate(base)
        return
    if own and not path:
        base._node = node
    else:
        label = "CopySlices" if path else label
        base._node = nodes.node_of_write(before, node, base._raw, path, key, label)
    if base._retains:
        from wengert.dialects.torch.gradients import move_retained

        move_retained(base, before)
    if base._views:
        _outdate(base)


def _move(value: Native, raw: np.ndarray) -> None:
    """Have the node of a value that was written to memory read it from there.

    A node that reads what was in the memory before stays older than the write, so that a sweep
    finds it out.
    """
    node, old, whole = value._node, value._raw, _counted(raw)
    assert node is not None
    spoilt = any(a is not old and _counted(a) is whole for a in nodes.arrays_of(node))
    if type(node.values) is not nodes.Packed:
        node.values = tuple([raw if v is old else v for v in node.values])
        node.others = tuple(
            (parent, argument, tuple([raw if v is old else v for v in values]))
            for parent, argument, values in node.others
        )
    if not spoilt:
        node.order = next_order()
    frame = users_frame()
    node.code, node.last = frame.f_code, frame.f_lasti


def _replace(base: Tensor, path: Any, value: Native, own: bool, label: str) -> None:
    """Give a base a new array with another value, or with one in a view of it.

    Inside of `vmap` arrays are not written to: they may differ between examples only from now on.
    """
    if path:
        result = apply(COPY, (convert(base), value), {"path": path, "key": None})
    elif own:
        result = value
    else:
        result = ns.add(ns.zeros_like(convert(base)), value)
    raw = result._raw
    base._raw = raw.copy() if type(raw) is np.ndarray else raw
    base._node = result._node
    if base._node is not None:
        mark(base._node, "CopySlices" if path else label)
    _outdate(base)


def reshaped(tensor: Tensor, step: View, back: View, label: str) -> Tensor:
    """Give a tensor another shape of the same memory, in place, and return it.

    `back` leads from there to the shape that it had, of which its views were made.
    """
    check_writable(tensor)
    with modes.Tracking():
        view = step(convert(tensor))
    if tensor._base is not None:
        tensor._path = (*path_of(tensor), step)
    raw = view._raw
    if type(raw) is np.ndarray:
        note_write(raw)
    if tensor._views is not None:
        tensor._turns = (*tensor._turns, back)
    base = base_of(tensor)
    if base._views is not None:
        _outdate(base)
    tensor._raw = raw
    if tensor._held is None:
        tensor._node = view._node
        if view._node is not None:
            tensor._seen = _last_write[0]
    elif view._node is not None:
        hold(tensor, view._node)
    else:  # a base that requires gradients later finds that the view was made before this write
        hold(tensor, None, tensor._held[1])
    if tensor is not base:
        _views_of(base).append(ref(tensor))
    if view._node is not None:
        mark(view._node, label)
    return tensor
