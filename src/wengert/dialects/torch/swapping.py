"""torch.utils.swap_tensors: two tensors that change places."""

from __future__ import annotations

import weakref
from typing import Any

from wengert.dialects.torch.gradients import Hooked
from wengert.dialects.torch.table import plain
from wengert.dialects.torch.tensors import Leaf, Tensor, is_unreached


@plain(
    "utils.swap_tensors",
    differs="leaves that a graph leads to, and tensors with weak references, change places too",
)
def swap_tensors(t1: Any, t2: Any) -> None:
    """Have two tensors exchange all that they are: values, classes, attributes and gradients."""
    for tensor in (t1, t2):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"swap_tensors: got a {type(tensor).__name__}; give two tensors")
        views = [reference() for reference in tensor._views or ()]
        if tensor._base is not None or any(view is not None for view in views):
            raise RuntimeError(
                "swap_tensors: one of the tensors is a view, or has views; write x.clone() for it"
            )
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for tensor in (t1, t2):
        _claim(tensor)


def _claim(tensor: Tensor) -> None:
    """Have a tensor's nodes know that they are its own."""
    node = tensor._node
    while node is not None and (type(node) is Leaf or type(node.op) is Hooked):
        if type(node) is Leaf and not is_unreached(node):
            node.owner = weakref.ref(tensor)
        if type(node.op) is not Hooked:
            return
        if node.op.retains is not None:
            node.op.retains = weakref.ref(tensor)
        node = node.parent
