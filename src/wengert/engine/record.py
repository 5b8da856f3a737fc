"""Calling an operation: compute on raw arrays and, if a tape cares, make a node.

`apply` serves every operation and every kind of array. Calls on NumPy arrays go through
functions that are written for one operation each, in `engine.fastpath`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.backends import Kept, Namespace
from wengert.backends.float_errors import LOCATED
from wengert.engine.batching import highest, is_traced, levels, plain_namespace
from wengert.engine.node import NOBODY, Edge, Node, Tokens, active, meet, new_node, watching
from wengert.engine.op import OUTPUT, Op
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import explain_shapes

SCALARS = (bool, int, float, complex)
#: What is called with each node that is traced, as long as somebody asks for it.
witnesses: list[Callable[[Node], None]] = []


def lift(value: Any, op_name: str, share: bool = False) -> Any:
    """Return `value` as a Tensor; Python numbers stay what they are.

    An array that its owner could write to is copied, unless `share` says that nothing will
    hold it after the call.
    A class of another layer takes part by having a method ``__wengert_tensor__``.
    """
    if type(value) is Tensor or type(value) in SCALARS:
        return value
    convert = getattr(type(value), "__wengert_tensor__", None)
    if convert is not None:
        return convert(value)
    if backends.namespace_of(value) is not None:
        mine = share and isinstance(value, (np.ndarray, np.generic))
        return wrap(backends.plain(value) if mine else backends.protected(value))
    if isinstance(value, (list, tuple)):
        if holds_tensor(value):
            raise TypeError(
                f"{op_name}: got a {type(value).__name__} with tensors inside where an array is "
                "expected; write wg.stack(values) or wg.asarray(values)"
            )
        return wrap(np.asarray(value))
    raise TypeError(
        f"{op_name}: got {type(value).__name__} {value!r:.60}; expected a tensor, an array or a "
        "number"
    )


def holds_tensor(values: Any) -> bool:
    """Return whether there is a tensor somewhere in nested lists."""
    return any(
        hasattr(type(v), "__wengert_tensor__")
        or type(v) is Tensor
        or (isinstance(v, (list, tuple)) and holds_tensor(v))
        for v in values
    )


def weak(xp: Any, number: Any, dtype: Any) -> Any:
    """Return a Python number as an array of `dtype`, if it takes that dtype's kind."""
    kind = backends.kind_of(dtype)
    if backends.is_narrow(dtype) and not levels.get() and "elementwise" not in xp.narrow:
        dtype = xp.float32  # a number is as exact as what it is computed with
    if kind == "f" and type(number) is complex:
        dtype = xp.complex64 if dtype == xp.float32 else xp.complex128
    if kind not in "fc":
        return number
    return xp.scalar(number, dtype) if type(xp) is Namespace else xp.asarray(number, dtype=dtype)


def lower(op: Op, args: tuple[Any, ...]) -> tuple[Op, Any, list[Any], list[Node | None]]:
    """Return the operation, and the namespace, raw arrays and nodes of its arguments."""
    share = not op.aliases and not active.get()
    lifted = [a if type(a) is Tensor else lift(a, op.name, share) for a in args]
    nodes = [a._node if type(a) is Tensor else None for a in lifted]
    raws = [a._raw if type(a) is Tensor else a for a in lifted]
    xp = dtype = first = None
    for raw in raws:
        if type(raw) in SCALARS:
            continue
        found = plain_namespace(raw)
        if xp is None:
            xp, first = found, raw
        elif found is not xp and not _is_number(raw, xp):
            if _is_number(first, found):
                xp = found
                continue
            xp, raws = backends.in_one_program(op.name, xp, found, raws)
        if dtype is None and backends.is_inexact(raw.dtype):
            dtype = raw.dtype
    if xp is None:
        xp = backends.NUMPY
        raws = [np.asarray(r) for r in raws]
    elif dtype is not None:
        if not (op.name in xp.own or op.family in xp.narrow) or any(map(backends.is_byte, raws)):
            op = for_dtypes(op, raws)
        else:
            op = op.on(xp)
        raws = [weak(xp, r, dtype) if type(r) in SCALARS else r for r in raws]
    return op, xp, raws, nodes


def beside(tensor: Tensor, other: Tensor) -> Tensor:
    """Return a tensor on NumPy as a constant of the program that `other` is compiled in, if any."""
    if not isinstance(tensor._raw, np.ndarray) or not is_traced(other._raw):
        return tensor
    return wrap(plain_namespace(other._raw).asarray(tensor._raw), tensor._node)


def check_together(name: str, one: Tensor, other: Tensor) -> None:
    """Raise unless two tensors are of one library and on one device, or of one program."""
    mine, theirs = plain_namespace(one._raw), plain_namespace(other._raw)
    if mine is not theirs:
        backends.in_one_program(name, mine, theirs, [one._raw, other._raw])


def _is_number(raw: Any, xp: Any) -> bool:
    """Whether an array is a number in host memory, which a library takes beside any array of its.

    So are Python numbers that met arrays of a device before: see `Namespace.scalar`.
    """
    mine = plain_namespace(raw)
    return not raw.shape and getattr(mine, "base", None) is xp.base and backends.is_on_host(raw)


def for_dtypes(op: Op, raws: list[Any]) -> Op:
    """Return an operation as it is on raw arrays of such dtypes."""
    narrow = backends.narrow_among(raws)
    return op if narrow is None else op.narrowed(narrow)


def apply(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Compute `op` on its arguments, as a Tensor or a tuple of them, and record it."""
    raws: list[Any] = []
    nodes: list[Node | None] = []
    for arg in args:
        if type(arg) is not Tensor or type(arg._raw) is not np.ndarray:
            op, xp, raws, nodes = lower(op, args)
            break
        raws.append(arg._raw)
        nodes.append(arg._node)
    else:
        op, xp = for_dtypes(op, raws), backends.NUMPY
    if levels.get():  # a vmap runs
        level = highest(raws, params)
        if level is not None:
            from wengert.engine.examples import apply_batched

            return apply_batched(op, level, raws, nodes, params)
    watcher = watching.get()
    compute = op.compute if watcher is None else watcher.computing(op)
    try:
        if xp is backends.NUMPY:
            y = LOCATED.slowly(compute, xp, *raws, **params)
        else:
            y = compute(xp, *raws, **params)
    except ValueError as error:
        explain_shapes(op, raws, error)
    result = finished(op, y, raws, nodes, params)
    if watcher is not None:
        watcher.made(op, result, raws, nodes, params)
    return result


def finished(
    op: Op, y: Any, raws: list[Any], nodes: list[Node | None], params: dict[str, Any]
) -> Any:
    """Return what an operation computed as a Tensor (or a tuple of them), recorded if need be."""
    y, saved = y if type(y) is Kept else (y, None)
    tokens = interested(nodes)
    if tokens:
        return record(op, y, raws, nodes, params, tokens, saved)
    return tuple(map(wrap, y)) if type(y) is tuple or type(y) is list else wrap(y)


def interested(nodes: list[Node | None]) -> Tokens:
    """Return the tapes that record now and care about any of these nodes."""
    recording = active.get()
    tokens = NOBODY
    if recording:
        for node in nodes:
            if node is not None and tokens is not recording:
                tokens = meet(tokens | node.tokens, recording)
    return tokens


def record(
    op: Op,
    y: Any,
    raws: list[Any],
    nodes: list[Node | None],
    params: dict[str, Any],
    tokens: Tokens,
    saved: Any = None,
) -> Any:
    """Return `y` as a Tensor (or a tuple of them) with a node that leads to `nodes`."""
    shapes = (list if op.variadic else tuple)([tuple(getattr(r, "shape", ())) for r in raws])
    further = [params[name] for name in op.params]
    values = (y, tuple(raws)) if op.variadic else (y, *raws, *shapes, shapes, *further, saved)
    edges: list[Edge] = []
    for position, node in enumerate(nodes):
        pick = op.picks[0 if op.variadic else position]
        if pick is None or node is None or (node.tokens is not tokens and not node.tokens & tokens):
            continue
        known = (*values, position, shapes, *further) if op.variadic else values
        edges.append((node, position, pick(known)))
    several = type(y) is tuple or type(y) is list
    if not edges or not (several or backends.is_inexact(y.dtype)):
        return tuple(map(wrap, y)) if several else wrap(y)
    shape: Any = [tuple(part.shape) for part in y] if several else tuple(y.shape)
    dtype: Any = [part.dtype for part in y] if several else y.dtype
    whole = new_node(op, *edges[0], tuple(edges[1:]), tokens, shape, dtype)
    if not several:
        return wrap(y, whole)
    return tuple(wrap(part, output_node(whole, i, part)) for i, part in enumerate(y))


def output_node(whole: Node, position: int, part: Any) -> Node | None:
    """Return a node for one of an operation's several results; None for integers."""
    if not backends.is_inexact(part.dtype):
        return None
    return new_node(OUTPUT, whole, position, (), (), whole.tokens, tuple(part.shape), part.dtype)
