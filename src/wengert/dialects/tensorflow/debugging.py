"""Assertions, tf.print and a check of gradients."""

from __future__ import annotations

import functools
import inspect
import operator
import pprint
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.tensorflow.dtypes import as_dtype
from wengert.dialects.tensorflow.errors import InvalidArgumentError, invalid, mistake
from wengert.dialects.tensorflow.settings import ignore
from wengert.dialects.tensorflow.structures import is_nested, map_structure
from wengert.dialects.tensorflow.table import absent, offered, plain
from wengert.dialects.tensorflow.tapes import GradientTape
from wengert.dialects.tensorflow.tensor_shape import TensorShape
from wengert.dialects.tensorflow.tensors import convert, is_tensor, made, outward, pair, static
from wengert.engine.tensor import Tensor as Native

ns = Native._namespace
absent(
    {
        "assert_proper_iterable": "isinstance(values, (list, tuple))",
        "assert_same_float_dtype": "tf.debugging.assert_type for each tensor",
        "is_numeric_tensor": "tf.is_tensor(x) and not x.dtype.is_bool",
    },
    "debugging.",
)

# -- assertions about values ----------------------------------------------------------------------


def _assertion(*names: str, wrong: type[Exception] = ValueError) -> Callable[[Any], Any]:
    """Return a decorator that offers an assertion: a function that returns what is wrong, or "".

    After the function's own arguments come `message`, `summarize` and `name`.
    """

    def declare(complaint: Callable[..., str]) -> Callable[..., None]:
        own = len(inspect.signature(complaint).parameters)

        @functools.wraps(complaint)
        def check(*args: Any, message: Any = None, summarize: Any = None, **options: Any) -> None:
            options.pop("name", None)
            message = args[own] if len(args) > own else message
            told = complaint(*args[:own], **options)
            if told:
                told = f"{message}\n{told}" if message else told
                raise invalid(told) if wrong is InvalidArgumentError else wrong(told)

        for name in names:
            plain(name)(check)
        return check

    return declare


def _relation(name: str, sign: str, holds: Callable[[Any, Any], Any], with_zero: bool) -> None:
    """Offer the assertion that x and y, or x and 0, are in a relation."""

    def complaint(x: Any, y: Any) -> str:
        first, second = pair(x, y, "Equal" if sign in ("==", "!=") else "Less")
        a, b = first.numpy(), second.numpy()
        try:
            right = holds(a, b)
        except ValueError as error:
            raise invalid(f"shapes {list(a.shape)} and {list(b.shape)} do not fit") from error
        if np.all(right):
            return ""
        where = np.argwhere(~right)[:3].tolist()
        return f"x {sign} y is wrong, first at the indices {where}\nx: {a!s:.300}\ny: {b!s:.300}"

    def complaint_with_zero(x: Any) -> str:
        return complaint(x, np.zeros((), convert(x).dtype))

    body: Any = complaint_with_zero if with_zero else complaint
    body.__doc__ = f"Raise unless x {sign} {'0' if with_zero else 'y'} for all elements."
    short = (f"assert_{name}",) if name in ("equal", "less", "greater") else ()
    _assertion(f"debugging.assert_{name}", *short, wrong=InvalidArgumentError)(body)


for _name, _sign, _holds, _with_zero in (
    ("equal", "==", operator.eq, False), ("none_equal", "!=", operator.ne, False),
    ("less", "<", operator.lt, False), ("less_equal", "<=", operator.le, False),
    ("greater", ">", operator.gt, False), ("greater_equal", ">=", operator.ge, False),
    ("negative", "<", operator.lt, True), ("positive", ">", operator.gt, True),
    ("non_negative", ">=", operator.ge, True), ("non_positive", "<=", operator.le, True),
):  # fmt: skip
    _relation(_name, _sign, _holds, _with_zero)


@_assertion("debugging.assert_near", wrong=InvalidArgumentError)
def assert_near(x: Any, y: Any, rtol: Any = None, atol: Any = None) -> str:
    """Raise unless |x - y| <= atol + rtol * |y| for all elements."""
    first = convert(x)
    second = convert(y, as_dtype(first.dtype))
    if not backends.is_inexact(first.dtype):
        raise ValueError(f"data type {first.dtype} not inexact")
    usual = 10 * backends.finfo(first.dtype).eps
    a, b = first.numpy(), second.numpy()
    relative, absolute = (usual if t is None else np.asarray(t) for t in (rtol, atol))
    if np.all(np.abs(a - b) <= absolute + relative * np.abs(b)):
        return ""
    return f"|x - y| > {absolute} + {relative} * |y|: x is {a!s:.300}, y is {b!s:.300}"


@plain("Assert", "debugging.Assert")
def assert_(condition: Any, data: Any, summarize: Any = None, name: Any = None) -> None:
    """Raise with some data unless a condition holds."""
    if not condition:
        told = "\n".join(str(d.numpy() if is_tensor(d) else d) for d in data)
        raise invalid(f"the condition {condition} does not hold: {told}")


@offered("debugging.check_numerics", "debugging.assert_all_finite")
def check_numerics(x: Any, message: str) -> Any:
    """Return a tensor; raise if it holds NaN or infinity."""
    tensor = convert(x)
    if backends.kind_of(tensor.dtype) != "f":
        raise mistake(InvalidArgumentError, "dtype of x", tensor.dtype, "floating numbers")
    values = tensor.numpy()
    found = [w for w, f in (("NaN", np.isnan), ("Inf", np.isinf)) if f(values).any()]
    if found:
        raise invalid(f"{message}: the tensor holds {' and '.join(found)}")
    return ns.positive(tensor)


@plain("debugging.enable_check_numerics", differs="has no effect, and says so in the log")
def enable_check_numerics(*args: Any, **kwargs: Any) -> None:
    """Warn that operations are not checked."""
    import logging  # which is slow to import

    logging.getLogger("wengert.tensorflow").warning(
        "tf.debugging.enable_check_numerics has no effect here; write tf.debugging.check_numerics("
        "x, 'x') where it matters, or np.seterr(all='raise')"
    )


@plain("debugging.disable_check_numerics")
def disable_check_numerics() -> None:
    """Do nothing: operations are not checked."""


# -- assertions about shapes and dtypes -----------------------------------------------------------


def _rank_complaint(x: Any, expected: str, wanted: Any, holds: Callable[..., bool]) -> str:
    shape, wanted = convert(x).shape, np.asarray(static(wanted)).tolist()
    return "" if holds(len(shape), wanted) else f"{shape}; expected {expected} {wanted} axes"


@_assertion("debugging.assert_rank", "assert_rank")
def assert_rank(x: Any, rank: Any) -> str:
    """Raise unless the number of axes is as given."""
    return _rank_complaint(x, "exactly", rank, operator.eq)


@_assertion("debugging.assert_rank_at_least")
def assert_rank_at_least(x: Any, rank: Any) -> str:
    """Raise unless the number of axes is at least as given."""
    return _rank_complaint(x, "at least", rank, operator.ge)


@_assertion("debugging.assert_rank_in")
def assert_rank_in(x: Any, ranks: Any) -> str:
    """Raise unless the number of axes is one of some numbers."""
    return _rank_complaint(x, "one of", ranks, lambda rank, wanted: rank in wanted)


@_assertion("debugging.assert_scalar")
def assert_scalar(tensor: Any) -> str:
    """Raise unless a tensor has no axes."""
    return _rank_complaint(tensor, "exactly", 0, operator.eq)


@_assertion("debugging.assert_shapes")
def assert_shapes(shapes: Any, data: Any = None) -> str:
    """Raise unless shapes are as given, where the same letter means the same length."""
    lengths: dict[Any, int] = {}
    for x, wanted in shapes.items() if isinstance(shapes, dict) else shapes:
        real = convert(x.deref() if hasattr(x, "deref") else x).shape
        symbols = _symbols(wanted, len(real))
        if len(symbols) != len(real):
            return f"got shape {real}; expected {len(symbols)} axes"
        for axis, (size, symbol) in enumerate(zip(real, symbols, strict=True)):
            if symbol in (None, "*", "."):
                continue
            known = symbol if isinstance(symbol, int) else lengths.setdefault(symbol, size)
            if size != known:
                return f"axis {axis} of {real}; expected {known}, as {symbol!r} in {wanted!r} says"
    return ""


def _symbols(wanted: Any, rank: int) -> list[Any]:
    """Return a number or a letter for each axis of which something is said."""
    symbols = list(wanted) if isinstance(wanted, (tuple, list, str, TensorShape)) else [wanted]
    symbols = [int(s) if isinstance(s, str) and s.isdigit() else s for s in symbols]
    symbols = [Ellipsis if s == "*" else s for s in symbols] if "*" in symbols[1:-1] else symbols
    known = len(symbols) - 1
    if Ellipsis in symbols and rank >= known:
        at = symbols.index(Ellipsis)
        symbols[at : at + 1] = [None] * (rank - known)
    return symbols


@_assertion("debugging.assert_integer", wrong=TypeError)
def assert_integer(x: Any) -> str:
    """Raise unless numbers are whole."""
    dtype = outward(convert(x)).dtype
    return "" if dtype.is_integer else f"x has dtype {dtype}; give whole numbers, as tf.int32"


@_assertion("debugging.assert_type", wrong=TypeError)
def assert_type(tensor: Any, tf_type: Any) -> str:
    """Raise unless a tensor has a dtype."""
    found, wanted = outward(convert(tensor)).dtype, as_dtype(tf_type)
    return "" if found == wanted else f"the dtype is {found!r}; expected {wanted!r}"


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
    inside = is_nested(value)
    tensors = [tensor_text(np.asarray(p.tensor), summarize, 0, inside) for p in places]
    return pieces[0] + "".join(t + p for t, p in zip(tensors, pieces[1:], strict=True))


def tensor_text(array: np.ndarray, summarize: int, depth: int = 0, quoted: bool = False) -> str:
    """Return the first and last elements of an array, as tf.print writes them."""
    if not array.ndim:
        value = array[()]
        if isinstance(value, bytes):
            text = value.decode(errors="backslashreplace")
            return f'"{text}"' if depth or quoted else text
        return _number(value)
    if not array.size:
        return "[]"
    rows = list(range(len(array)))
    short = summarize >= 0 and len(array) > 2 * summarize
    kept = rows[:summarize] + rows[len(array) - summarize :] if short else rows
    texts = [tensor_text(np.asarray(array[i]), summarize, depth + 1) for i in kept]
    if short:
        texts.insert(summarize, "...")
    gap = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    return f"[{gap.join(texts)}]"


def _number(value: Any) -> str:
    """Return a number in few digits, or in as many as tell it from its neighbours."""
    if backends.kind_of(value.dtype) != "f":
        return str(int(value)) if value.dtype.kind in "biu" else str(value)
    if not np.isfinite(value):
        return str(value)
    few, all_ = (15, 17) if value.dtype.itemsize == 8 else (6, 9)
    wide = np.float64 if few == 15 else np.float32
    text = f"{float(value):.{few}g}"
    return text if wide(text) == wide(value) else f"{float(value):.{all_}g}"


@plain("print")
def print_(
    *inputs: Any, output_stream: Any = None, sep: str = " ", end: str = "\n", summarize: int = 3,
    **ignored: Any,
) -> None:  # fmt: skip
    """Write tensors and other values to a stream, sys.stderr unless `output_stream` is given."""
    ignore("print", ignored, "name", wrong=ValueError)
    stream: Any = sys.stderr if output_stream is None else output_stream
    text = sep.join(_text(value, summarize) for value in inputs)
    if isinstance(stream, str):
        if not stream.startswith("file://"):
            raise mistake(
                ValueError, "output_stream", stream, "sys.stdout, sys.stderr or 'file://path'"
            )
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            file.write(text + end)
    elif callable(getattr(stream, "write", None)):
        stream.write(text + end)
        stream.flush()
    else:  # a function of a logger
        stream(text)


# -- gradients and differences --------------------------------------------------------------------


@plain("test.compute_gradient", differs="takes functions of real numbers")
def compute_gradient(f: Callable[..., Any], x: Any, delta: Any = None) -> Any:
    """Return the Jacobians of f(*x) by rules and by differences, as two tuples of matrices."""
    if not isinstance(x, (list, tuple)):
        raise mistake(ValueError, "compute_gradient: x", x, "a list of the arguments: write [x]")
    points = [outward(convert(value)) for value in x]
    for position, point in enumerate(points):
        if not point.dtype.is_floating:
            raise mistake(AssertionError, f"argument {position}", point.dtype, "tf.float32, say")
    step = 1.0 / 1024 if delta is None else delta
    by_rules = tuple(_jacobian(f, points, i) for i in range(len(points)))
    return by_rules, tuple(_differences(f, points, i, step) for i in range(len(points)))


def _jacobian(f: Callable[..., Any], points: list[Any], i: int) -> np.ndarray:
    with GradientTape() as tape:
        tape.watch(points[i])
        y = f(*points)
    found = tape.jacobian(y, points[i], unconnected_gradients="zero").numpy()
    return np.reshape(found, (np.size(y), np.size(points[i])))


def _differences(f: Callable[..., Any], points: list[Any], i: int, step: float) -> np.ndarray:
    point = points[i].numpy()

    def moved(k: int, by: float) -> np.ndarray:
        unit = np.arange(np.size(point)).reshape(np.shape(point)) == k
        there = made(np.asarray(point + unit * np.asarray(by, point.dtype)))
        return np.ravel(f(*points[:i], there, *points[i + 1 :]))

    columns = [(moved(k, step) - moved(k, -step)) / (2 * step) for k in range(np.size(point))]
    rows = np.size(f(*points))
    return np.array(columns, point.dtype).reshape(len(columns), rows).T
