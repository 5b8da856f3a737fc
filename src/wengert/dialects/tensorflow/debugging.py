"""Assertions, tf.print and a check of gradients."""

from __future__ import annotations

import logging
import operator
import pprint
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.dtypes import as_dtype, float32
from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.structures import is_nested, map_structure
from wengert.dialects.tensorflow.table import offered, plain, put
from wengert.dialects.tensorflow.tapes import GradientTape
from wengert.dialects.tensorflow.tensor_shape import TensorShape
from wengert.dialects.tensorflow.tensors import convert, is_tensor, made, outward, pair, static
from wengert.engine.tensor import Tensor as Native

log = logging.getLogger("wengert.tensorflow")
ns = Native._namespace

# -- assertions about values ----------------------------------------------------------------------


def _fail(message: Any, told: str) -> None:
    raise invalid(f"{message}\n{told}" if message else told)


def _compares(sign: str, holds: Callable[[Any, Any], Any]) -> Callable[..., None]:
    def check(
        x: Any,
        y: Any,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
    ) -> None:
        first, second = pair(x, y, "Equal" if sign in ("==", "!=") else "Less")
        a, b = first.numpy(), second.numpy()
        try:
            right = holds(a, b)
        except ValueError as error:
            raise invalid(f"shapes {list(a.shape)} and {list(b.shape)} do not fit") from error
        if not np.all(right):
            _fail(
                message,
                f"x {sign} y is wrong, first at the indices "
                f"{np.argwhere(~right)[: summarize or 3].tolist()}\nx: {a!s:.300}\ny: {b!s:.300}",
            )

    check.__doc__ = f"Raise unless x {sign} y for all elements."
    return check


def _compares_with_zero(sign: str, holds: Callable[[Any, Any], Any]) -> Callable[..., None]:
    def check(
        x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None:
        values = convert(x).numpy()
        if not np.all(holds(values, 0)):
            _fail(message, f"x {sign} 0 does not hold for all of x = {values!s:.300}")

    check.__doc__ = f"Raise unless x {sign} 0 for all elements."
    return check


for _name, _sign, _holds in (
    ("equal", "==", operator.eq), ("none_equal", "!=", operator.ne), ("less", "<", operator.lt),
    ("less_equal", "<=", operator.le), ("greater", ">", operator.gt),
    ("greater_equal", ">=", operator.ge),
):  # fmt: skip
    _short = (f"assert_{_name}",) if _name in ("equal", "less", "greater") else ()
    put((f"debugging.assert_{_name}", *_short), _compares(_sign, _holds))
for _name, _sign, _holds in (
    ("negative", "<", operator.lt), ("positive", ">", operator.gt),
    ("non_negative", ">=", operator.ge), ("non_positive", "<=", operator.le),
):  # fmt: skip
    put((f"debugging.assert_{_name}",), _compares_with_zero(_sign, _holds))


@plain("debugging.assert_near")
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise unless |x - y| <= atol + rtol * |y| for all elements."""
    first = convert(x)
    second = convert(y, as_dtype(first.dtype))
    if first.dtype.kind not in "fc":
        raise ValueError(f"data type {first.dtype} not inexact")
    usual = 10 * np.finfo(first.dtype).eps
    a, b = first.numpy(), second.numpy()
    relative, absolute = (usual if t is None else np.asarray(t) for t in (rtol, atol))
    if not np.all(np.abs(a - b) <= absolute + relative * np.abs(b)):
        _fail(
            message,
            f"x and y differ by more than {absolute} + {relative} * |y|: x is {a!s:.300}, y is "
            f"{b!s:.300}",
        )


@plain("Assert", "debugging.Assert")
def assert_(
    condition: Any, data: Any, summarize: int | None = None, name: str | None = None
) -> None:
    """Raise with some data unless a condition holds."""
    if not condition:
        told = "\n".join(str(d.numpy() if is_tensor(d) else d) for d in data)
        raise invalid(f"the condition {condition} does not hold: {told}")


@offered("debugging.check_numerics", "debugging.assert_all_finite")
def check_numerics(x: Any, message: str, name: str | None = None) -> Any:
    """Return a tensor; raise if it holds NaN or infinity."""
    tensor = convert(x)
    if tensor.dtype.kind != "f":
        raise invalid(f"check_numerics: got a tensor of {tensor.dtype}; give floating numbers")
    values = tensor.numpy()
    found = [w for w, f in (("NaN", np.isnan), ("Inf", np.isinf)) if f(values).any()]
    if found:
        raise invalid(f"{message}: the tensor holds {' and '.join(found)}")
    return ns.positive(tensor)


@plain("debugging.enable_check_numerics", differs="has no effect, and says so in the log")
def enable_check_numerics(*args: Any, **kwargs: Any) -> None:
    """Warn that operations are not checked."""
    log.warning(
        "tf.debugging.enable_check_numerics has no effect here; write tf.debugging.check_numerics("
        "x, 'x') where it matters, or np.seterr(all='raise')"
    )


@plain("debugging.disable_check_numerics")
def disable_check_numerics() -> None:
    """Do nothing: operations are not checked."""


# -- assertions about shapes and dtypes -----------------------------------------------------------


def _rank(value: Any) -> int:
    return int(static(value))


def _checks_rank(told: str, holds: Callable[[int, Any], bool]) -> Callable[..., None]:
    def check(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
        tensor = convert(x)
        wanted = tuple(map(_rank, rank)) if isinstance(rank, (list, tuple)) else _rank(rank)
        if not holds(tensor.ndim, wanted):
            raise ValueError(
                f"{message or ''} got shape {tensor.shape}; expected {told}{wanted} axes"
            )

    check.__doc__ = f"Raise unless the number of axes is {told or 'as given'}."
    return check


put(("debugging.assert_rank", "assert_rank"), _checks_rank("", operator.eq))
put(("debugging.assert_rank_at_least",), _checks_rank("at least ", operator.ge))


@plain("debugging.assert_rank_in")
def assert_rank_in(x: Any, ranks: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise unless the number of axes is one of some numbers."""
    _checks_rank("in ", lambda rank, wanted: rank in wanted)(x, tuple(ranks), message)


@plain("debugging.assert_scalar")
def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise unless a tensor has no axes."""
    found = convert(tensor)
    if found.ndim:
        raise ValueError(f"{message or ''} got shape {found.shape}; expected one number")


@plain("debugging.assert_shapes")
def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Raise unless shapes are as given, where the same letter means the same length."""
    lengths: dict[Any, int] = {}
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    for x, wanted in pairs:
        real = convert(x.deref() if hasattr(x, "deref") else x).shape
        for axis, size, symbol in _axes(real, wanted, message):
            known = symbol if isinstance(symbol, int) else lengths.setdefault(symbol, size)
            if size != known:
                raise ValueError(
                    f"{message or ''} Axis {axis} of shape {real} has {size} elements; expected "
                    f"{known}, as {symbol!r} in {wanted!r} says"
                )


def _axes(real: tuple[int, ...], wanted: Any, message: str | None) -> Iterable[Any]:
    """Return (axis, length, number or letter) for each axis of which something is said."""
    symbols = list(wanted) if isinstance(wanted, (tuple, list, str, TensorShape)) else [wanted]
    symbols = [int(s) if isinstance(s, str) and s.isdigit() else s for s in symbols]
    symbols = [Ellipsis if s == "*" else s for s in symbols] if "*" in symbols[1:-1] else symbols
    if Ellipsis in symbols:
        at = symbols.index(Ellipsis)
        known = len(symbols) - 1
        if len(real) >= known:
            symbols[at : at + 1] = [None] * (len(real) - known)
    if len(symbols) != len(real):
        raise ValueError(f"{message or ''} got shape {real}; expected {len(symbols)} axes")
    return [
        (axis, size, symbol)
        for axis, (size, symbol) in enumerate(zip(real, symbols, strict=True))
        if symbol not in (None, "*", ".")
    ]


@plain("debugging.assert_integer")
def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise unless numbers are whole."""
    dtype = outward(convert(x)).dtype
    if not dtype.is_integer:
        raise TypeError(
            f"{message or ''}x has dtype {dtype}; give whole numbers, for example tf.int32"
        )


@plain("debugging.assert_type")
def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> None:
    """Raise unless a tensor has a dtype."""
    found, wanted = outward(convert(tensor)).dtype, as_dtype(tf_type)
    if found != wanted:
        raise TypeError(f"{message or ''}the dtype is {found!r}; expected {wanted!r}")


@plain("debugging.assert_same_float_dtype")
def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """Return the dtype of some tensors, which must be one of floating numbers."""
    wanted = None if dtype is None else as_dtype(dtype)
    for tensor in tensors or ():
        found = tensor.dtype
        wanted = found if wanted is None else wanted
        if found != wanted:
            raise ValueError(f"{tensor} is of {found}, and the others of {wanted}; write tf.cast")
    wanted = float32 if wanted is None else wanted
    if not wanted.is_floating:
        raise ValueError(
            f"got {wanted}; expected a floating dtype, so write tf.cast(x, tf.float32)"
        )
    return wanted


@plain("debugging.assert_proper_iterable")
def assert_proper_iterable(values: Any) -> None:
    """Raise unless something is a collection, and no tensor, array or string."""
    if is_tensor(values) or isinstance(values, (np.ndarray, str, bytes)):
        raise TypeError(
            f"got {type(values)}; expected a collection, and no tensor, array or string"
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(f"got {type(values)}; expected a collection")


@plain("debugging.is_numeric_tensor")
def is_numeric_tensor(tensor: Any) -> bool:
    """Return whether something is a tensor of numbers."""
    return is_tensor(tensor) and not tensor.dtype.is_bool


# -- printing -------------------------------------------------------------------------------------


class _Place:
    """Where the text of a tensor goes; short, so that lines are broken as without it."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def __repr__(self) -> str:
        return "\0"


def _text(value: Any, summarize: int) -> str:
    """Return what tf.print writes for one of its inputs."""
    if isinstance(value, str):
        return value
    places: list[_Place] = []

    def put_aside(leaf: Any) -> Any:
        if not is_tensor(leaf) and not hasattr(type(leaf), "__wengert_tensor__"):
            return leaf
        places.append(_Place(leaf))
        return places[-1]

    nest = map_structure(put_aside, value) if is_nested(value) else put_aside(value)
    pieces = pprint.pformat(nest).split("\0")
    tensors = [_tensor_text(np.asarray(convert(p.tensor).numpy()), summarize) for p in places]
    return pieces[0] + "".join(t + p for t, p in zip(tensors, pieces[1:], strict=True))


def _tensor_text(array: np.ndarray, summarize: int, depth: int = 0) -> str:
    if not array.ndim:
        return _number(array[()])
    if not array.size:
        return "[]"
    rows = list(range(len(array)))
    short = summarize >= 0 and len(array) > 2 * summarize
    kept = rows[:summarize] + rows[len(array) - summarize :] if short else rows
    texts = [_tensor_text(array[i], summarize, depth + 1) for i in kept]
    if short:
        texts.insert(summarize, "...")
    gap = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    return f"[{gap.join(texts)}]"


def _number(value: Any) -> str:
    """Return a number in few digits, or in as many as tell it from its neighbours."""
    if value.dtype.kind != "f":
        return str(int(value)) if value.dtype.kind in "biu" else str(value)
    if not np.isfinite(value):
        return str(value)
    few, all_ = (15, 17) if value.dtype.itemsize == 8 else (6, 9)
    wide = np.float64 if few == 15 else np.float32
    text = f"{float(value):.{few}g}"
    return text if wide(text) == wide(value) else f"{float(value):.{all_}g}"


@plain("print")
def print_(*inputs: Any, **kwargs: Any) -> None:
    """Write tensors and other values to a stream, sys.stderr unless `output_stream` is given."""
    stream = kwargs.pop("output_stream", sys.stderr)
    sep, end = kwargs.pop("sep", " "), kwargs.pop("end", "\n")
    summarize = kwargs.pop("summarize", 3)
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"tf.print does not take {kwargs}")
    text = sep.join(_text(value, summarize) for value in inputs)
    if isinstance(stream, str):
        if not stream.startswith("file://"):
            raise ValueError(
                f"tf.print: output_stream is {stream!r}; write sys.stdout, sys.stderr, or "
                "'file://' and a path"
            )
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            file.write(text + end)
    elif callable(getattr(stream, "write", None)):
        stream.write(text + end)
        stream.flush()
    else:  # a function of a logger
        stream(text)


# -- gradients and differences --------------------------------------------------------------------


@plain("test.compute_gradient")
def compute_gradient(f: Callable[..., Any], x: Any, delta: Any = None) -> Any:
    """Return the Jacobians of f(*x) by rules and by differences, as two tuples of matrices."""
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            f"compute_gradient: x is a {type(x)}; expected a list of the arguments, so write [x]"
        )
    points = [outward(convert(value)) for value in x]
    for position, point in enumerate(points):
        if not (point.dtype.is_floating or point.dtype.is_complex):
            raise AssertionError(
                f"argument {position} has dtype {point.dtype.name}; gradients are of floating or "
                "complex numbers, so cast it first"
            )
    step = 1.0 / 1024 if delta is None else delta
    by_rules = tuple(_jacobian(f, points, i) for i in range(len(points)))
    return by_rules, tuple(_differences(f, points, i, step) for i in range(len(points)))


def _reals(array: Any) -> np.ndarray:
    """Return numbers in a row, complex ones as their real and imaginary parts."""
    flat = np.asarray(array).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _unit(like: np.ndarray, i: int) -> np.ndarray:
    """Return an array of zeros and a 1 at one of its real numbers."""
    unit = np.zeros_like(like)
    _reals(unit)[i] = 1
    return unit


def _jacobian(f: Callable[..., Any], points: list[Any], i: int) -> np.ndarray:
    with GradientTape(persistent=True) as tape:
        tape.watch(points[i])
        y = f(*points)
    value = np.array(y)
    rows = []
    for k in range(len(_reals(value))):
        weight = made(_unit(value, k))
        row = tape.gradient(y, points[i], weight, unconnected_gradients="zero")
        rows.append(_reals(np.array(row)))
    columns = len(_reals(np.array(points[i])))
    return np.array(rows, _reals(np.array(points[i])).dtype).reshape(len(rows), columns)


def _differences(f: Callable[..., Any], points: list[Any], i: int, step: float) -> np.ndarray:
    point = np.array(points[i])
    columns = []
    for k in range(len(_reals(point))):
        move = _unit(point, k) * point.dtype.type(step)
        ends = [
            _reals(np.array(f(*points[:i], made(moved), *points[i + 1 :])))
            for moved in (point + move, point - move)
        ]
        columns.append((ends[0] - ends[1]) / (2 * step))
    count = len(columns[0]) if columns else len(_reals(np.array(f(*points))))
    return np.array(columns, _reals(point).dtype).reshape(len(columns), count).T
