"""Calling an operation: compute on raw arrays and, if a tape cares, write an entry.

`apply` serves every operation. `unary` and `binary` make functions that do the same
for one or two arguments without parameters on NumPy arrays, as fast as Python can, and
leave everything unusual to `apply`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import numpy as np

from wengert import backends
from wengert.engine.batching import highest, levels, plain_namespace
from wengert.engine.errors import BackendError, ShapeError
from wengert.engine.joined import Shapes
from wengert.engine.node import NOBODY, Edge, Node, Tokens, active, entry, meet
from wengert.engine.op import OUTPUT, Op
from wengert.engine.tensor import Tensor, wrap

SCALARS = (bool, int, float, complex)
_getframe = sys._getframe
_SINGLE = np.dtype("float32")
#: What is called with each entry that is traced, as long as somebody asks for it.
witnesses: list[Callable[[Node], None]] = []
#: Python numbers as NumPy arrays of each floating dtype. NumPy takes longer to convert a
#: number than to add it, and programs use the same few numbers over and over.
_CONSTANTS: dict[np.dtype, dict[Any, np.ndarray]] = {
    np.dtype(name): {} for name in ("float16", "float32", "float64", "complex64", "complex128")
}


def _constant(number: float, dtype: np.dtype, constants: dict[Any, np.ndarray]) -> np.ndarray:
    array = np.array(number, dtype)
    if number and number == number:  # 0.0 and -0.0 are one key, NaN is never found again
        if len(constants) > 256:
            constants.clear()
        constants[number] = array
    return array


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
        f"{op_name}: got {type(value).__name__} {_brief(value)}; expected a tensor, an array or a "
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


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."


def weak(xp: Any, number: Any, dtype: Any) -> Any:
    """Return a Python number as an array of `dtype`, if it takes that dtype's kind."""
    kind = backends.kind_of(dtype)
    if kind == "f" and type(number) is complex:
        dtype = xp.complex64 if dtype == xp.float32 else xp.complex128
    return xp.asarray(number, dtype=dtype) if kind in "fc" else number


def lower(op: Op, args: tuple[Any, ...]) -> tuple[Any, list[Any], list[Node | None]]:
    """Return the namespace, raw arrays and entries of an operation's arguments."""
    share = not op.aliases and not active.get()
    lifted = [lift(a, op.name, share) for a in args]
    nodes = [a._node if type(a) is Tensor else None for a in lifted]
    raws = [a._raw if type(a) is Tensor else a for a in lifted]
    xp = dtype = None
    for raw in raws:
        if type(raw) in SCALARS:
            continue
        found = plain_namespace(raw)
        if xp is None:
            xp = found
        elif found is not xp:
            raise BackendError(
                f"{op.name}: got arrays of {xp.name} and of {found.name if found else type(raw)}; "
                "convert one first, with wg.from_dlpack or its library's own asarray"
            )
        if dtype is None and backends.is_inexact(raw.dtype):
            dtype = raw.dtype
    if xp is None:
        xp = backends.NUMPY
        raws = [np.asarray(r) for r in raws]
    elif dtype is not None:
        raws = [weak(xp, r, dtype) if type(r) in SCALARS else r for r in raws]
    return xp, raws, nodes


def apply(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Compute `op` on its arguments, as a Tensor or a tuple of them, and record it."""
    raws: list[Any] = []
    nodes: list[Node | None] = []
    for arg in args:
        if type(arg) is not Tensor or type(arg._raw) is not np.ndarray:
            xp, raws, nodes = lower(op, args)
            break
        raws.append(arg._raw)
        nodes.append(arg._node)
    else:
        xp = backends.NUMPY
    if levels.get():  # a vmap runs
        level = highest(raws, params)
        if level is not None:
            from wengert.engine.examples import apply_batched

            return apply_batched(op, level, raws, nodes, params)
    try:
        y = op.compute(xp, *raws, **params)
    except ValueError as error:
        _explain_shapes(op, raws, error)
    tokens = interested(nodes)
    if tokens:
        return record(op, y, raws, nodes, params, tokens)
    return tuple(map(wrap, y)) if type(y) is tuple or type(y) is list else wrap(y)


def interested(nodes: list[Node | None]) -> Tokens:
    """Return the tapes that record now and care about any of these entries."""
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
) -> Any:
    """Return `y` as a Tensor (or a tuple of them) with an entry that leads to `nodes`."""
    shapes = (Shapes if op.variadic else tuple)([tuple(getattr(r, "shape", ())) for r in raws])
    further = [params[name] for name in op.params]
    values = (y, tuple(raws)) if op.variadic else (y, *raws, *shapes, shapes, *further)
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
    parent, argument, kept = edges[0]
    others = tuple(edges[1:])
    if not several:
        return wrap(y, entry(op, parent, argument, kept, others, tokens, tuple(y.shape), y.dtype))
    metas = [tuple(part.shape) for part in y], [part.dtype for part in y]
    whole = entry(op, parent, argument, kept, others, tokens, *metas)
    return tuple(wrap(part, output_node(whole, i, part)) for i, part in enumerate(y))


def output_node(whole: Node, position: int, part: Any) -> Node | None:
    """Return an entry for one of an operation's several results; None for integers."""
    if not backends.is_inexact(part.dtype):
        return None
    return entry(OUTPUT, whole, position, (), (), whole.tokens, tuple(part.shape), part.dtype)


def _explain_shapes(op: Op, raws: list[Any], error: ValueError) -> NoReturn:
    """Raise an error that names the shapes, if they are what is wrong."""
    shapes = [tuple(getattr(r, "shape", ())) for r in raws]
    if op.broadcasts:
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            names = " and ".join(map(str, shapes))
            raise ShapeError(
                f"{op.name}: shapes {names} do not broadcast: from the right, each pair of "
                "lengths must be equal or one of them 1; wg.reshape or wg.expand_dims adds the 1"
            ) from error
    raise error


def unary(
    op: Op,
    otherwise: Callable[[Op, tuple[Any, ...], dict[str, Any]], Any] = apply,
    kind: type[Any] = Tensor,
    one_of: str = "",
    always: Tokens = NOBODY,
    traced: int = 0,
    compute: Callable[..., Any] | None = None,
) -> Callable[[Any], Any]:
    """Return the function that calls an operation of one array and no parameters.

    `kind` is the class of tensors that it takes and makes; `otherwise` is called for others, and
    with `one_of` where the result has another dtype than the argument or that is of another kind.
    `always` are the tapes that record where none is open. With `traced`, entries know the
    instruction of the caller that made them, so many frames up. `compute`, if given, is called on
    NumPy arrays in the place of the operation's own function.
    """
    ndarray, current, asarray = np.ndarray, active.get, np.asarray
    on_numpy, pick, make = compute or numpy_function(op), op.picks[0], maker(kind)
    often = _SINGLE if "f" in one_of else None

    def call(x: Any, /) -> Any:
        if type(x) is not kind or type(raw := x._raw) is not ndarray:
            return otherwise(op, (x,), {})
        try:
            y = on_numpy(raw)
        except TypeError:  # a kind of numbers that NumPy's function does not take
            if kind is Tensor:
                raise
            return otherwise(op, (x,), {})
        if type(y) is not ndarray:  # NumPy makes scalars of arrays without axes
            y = asarray(y)
        dtype = y.dtype
        if one_of and (raw.dtype is not dtype or (dtype is not often and dtype.kind not in one_of)):
            return otherwise(op, (x,), {})
        result = make()
        result._raw = y
        result._node = None
        node = x._node
        if node is not None and (recording := current() or always):
            tokens = node.tokens
            if tokens is not recording:
                tokens = meet(tokens, recording)
            if tokens and pick is not None:
                made = entry(op, node, 0, pick((y, raw)), (), tokens, y.shape, dtype)
                result._node = made
                if traced:
                    frame = _getframe(traced)
                    made.code = frame.f_code
                    made.last = frame.f_lasti
                    for witness in witnesses:
                        witness(made)
        return result

    return call


def binary(
    op: Op,
    otherwise: Callable[[Op, tuple[Any, ...], dict[str, Any]], Any] = apply,
    kind: type[Any] = Tensor,
    one_of: str = "",
    always: Tokens = NOBODY,
    traced: int = 0,
    compute: Callable[..., Any] | None = None,
) -> Callable[[Any, Any], Any]:
    """Return the function that calls an operation of two arrays and no parameters.

    Parameters are as for `unary`. `one_of` leaves arrays of two dtypes, or of a kind
    that is not in it, to `otherwise`, which is also called for shapes that do not fit if `kind` is
    of a dialect.
    """
    ndarray, current, array = np.ndarray, active.get, np.array
    on_numpy, make = compute or numpy_function(op), maker(kind)
    often = _SINGLE if "f" in one_of else None
    known = {d: c for d, c in _CONSTANTS.items() if not one_of or d.kind in one_of}
    singles = known.get(_SINGLE)
    pick1: Any
    pick2: Any
    pick1, pick2 = op.picks

    def call(x1: Any, x2: Any, /) -> Any:
        node1: Any
        node2: Any
        if type(x1) is kind and type(raw1 := x1._raw) is ndarray:
            node1 = x1._node
            if type(x2) is kind and type(raw2 := x2._raw) is ndarray:
                node2 = x2._node
                if one_of and (
                    (dtype := raw1.dtype) is not raw2.dtype
                    or (dtype is not often and dtype.kind not in one_of)
                ):
                    return otherwise(op, (x1, x2), {})
            elif type(x2) is float or type(x2) is int:
                dtype = raw1.dtype  # whose hash takes longer than this look
                constants = singles if dtype is _SINGLE else known.get(dtype)
                if constants is None:
                    return otherwise(op, (x1, x2), {})
                raw2 = constants.get(x2)
                if raw2 is None:
                    raw2 = _constant(x2, raw1.dtype, constants)
                node2 = None
            else:
                return otherwise(op, (x1, x2), {})
        elif type(x2) is kind and (type(x1) is float or type(x1) is int):
            raw2, node1, node2 = x2._raw, None, x2._node
            constants = known.get(raw2.dtype) if type(raw2) is ndarray else None
            if constants is None:
                return otherwise(op, (x1, x2), {})
            raw1 = constants.get(x1)
            if raw1 is None:
                raw1 = _constant(x1, raw2.dtype, constants)
        else:
            return otherwise(op, (x1, x2), {})
        try:
            y = on_numpy(raw1, raw2)
        except TypeError:
            if kind is Tensor:
                raise
            return otherwise(op, (x1, x2), {})
        except ValueError as error:
            if kind is not Tensor:
                return otherwise(op, (x1, x2), {})
            _explain_shapes(op, [raw1, raw2], error)
        if type(y) is not ndarray:
            y = array(y)
        result = make()
        result._raw = y
        result._node = None
        if (node1 is not None or node2 is not None) and (recording := current() or always):
            values = (y, raw1, raw2)
            tokens1 = tokens2 = NOBODY
            if node1 is not None and pick1 is not None:
                tokens1 = node1.tokens
                if tokens1 is not recording:
                    tokens1 = meet(tokens1, recording)
            if node2 is not None and pick2 is not None:
                tokens2 = node2.tokens
                if tokens2 is not recording:
                    tokens2 = meet(tokens2, recording)
            if not tokens2:
                if tokens1:
                    kept = pick1(values)
                    result._node = entry(op, node1, 0, kept, (), tokens1, y.shape, y.dtype)
            elif not tokens1:
                kept = pick2(values)
                result._node = entry(op, node2, 1, kept, (), tokens2, y.shape, y.dtype)
            else:
                if tokens1 is not recording:
                    tokens1 = meet(tokens1 | tokens2, recording)
                kept, second = pick1(values), ((node2, 1, pick2(values)),)
                result._node = entry(op, node1, 0, kept, second, tokens1, y.shape, y.dtype)
            if traced and (made := result._node) is not None:
                frame = _getframe(traced)
                made.code = frame.f_code
                made.last = frame.f_lasti
                for witness in witnesses:
                    witness(made)
        return result

    return call


def trace(node: Node, frame: Any) -> None:
    """Have an entry know the instruction that a frame is at, and show it to the witnesses."""
    node.code = frame.f_code
    node.last = frame.f_lasti
    for witness in witnesses:
        witness(node)


def maker(kind: type[Any]) -> Callable[[], Any]:
    """Return what makes a blank object of a class, by no way of its own."""
    return partial(object.__new__, kind) if "__new__" in vars(kind) else kind


def numpy_function(op: Op) -> Callable[..., Any]:
    """Return what computes `op` on NumPy arrays: NumPy's own function where there is one."""
    if op.numpy_function is not None:
        return op.numpy_function
    return lambda *raws: op.compute(backends.NUMPY, *raws)
