"""Fast paths: the functions that call operations, each written for one operation.

A call checks that its arguments are tensors of NumPy arrays, computes, and makes a node of just
what the rules read. Everything else, such as arrays of other libraries or a running vmap, is left
to `Front.otherwise`. The source of a function is written when it is first called: to write them all
would take longer than the import of the package.
"""

from __future__ import annotations

import linecache
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import levels
from wengert.engine.joined import Shapes
from wengert.engine.node import NOBODY, Node, Tokens, active, meet, next_order
from wengert.engine.op import Op
from wengert.engine.record import apply, explain_shapes, finished, witnesses
from wengert.engine.tensor import Tensor

_DOUBLE, _SINGLE = np.dtype("float64"), np.dtype("float32")
#: Python numbers as arrays, by dtype and value. They are read only.
_CONSTANTS: dict[np.dtype, dict[Any, np.ndarray]] = {
    np.dtype(name): {} for name in ("float16", "float32", "float64", "complex64", "complex128")
}


@dataclass(frozen=True)
class Front:
    """How a namespace calls operations: a dialect hands in its class and its policy, once."""

    #: the class of tensors that go the fast way, and that results have
    kind: type[Any] = Tensor
    #: ``(op, args, params) -> result`` for all that is unusual
    otherwise: Callable[[Op, tuple[Any, ...], dict[str, Any]], Any] = apply
    #: the letters of the kinds of numbers that go the fast way, in arguments of one dtype whose
    #: result has that dtype; "" for any
    kinds: str = ""
    #: the tapes that record where none is open
    always: Tokens = NOBODY
    #: how many frames up the line is that nodes are told they come from; 0 for none
    depth: int = 0
    #: what nodes are told they are called; "" for nothing
    label: str = ""
    #: ``(function, number of arrays) -> function``, around what computes on NumPy arrays
    around: Callable[[Callable[..., Any], int], Callable[..., Any]] | None = None
    #: a condition on the arrays _x0, _x1, in Python, without which a call is unusual
    when: str = ""


NATIVE = Front()


def caller(op: Op, front: Front = NATIVE) -> Callable[..., Any]:
    """Return the function that calls an operation: arrays by position, parameters by keyword."""
    names = dict(_NAMES)
    call = types.FunctionType(_stub.__code__, names, op.name)
    names["_first_call"] = lambda: _write(call, op, front)
    return call


#: What every function needs, by the name it has there: no parameter begins with an underscore.
_NAMES: dict[str, Any] = {
    "__name__": __name__, "_ndarray": np.ndarray, "_asarray": np.asarray, "_current": active.get,
    "_levels": levels.get, "_meet": meet, "_Node": Node, "_order": next_order, "_NOBODY": NOBODY,
    "_is_inexact": backends.is_inexact, "_protected": backends.protected, "_DOUBLE": _DOUBLE,
    "_SINGLE": _SINGLE,
    "_finished": finished, "_explain_shapes": explain_shapes, "_frame_at": sys._getframe,
    "_witnesses": witnesses, "_Shapes": Shapes, "_shape_of": attrgetter("shape"), "_map": map,
}  # fmt: skip


def _stub(*args: Any, **params: Any) -> Any:
    return _first_call()(*args, **params)  # type: ignore[name-defined]  # noqa: F821


def _write(function: types.FunctionType, op: Op, front: Front) -> Callable[..., Any]:
    """Give a function its code, and return what is called the first time, from one frame below."""
    function.__globals__.update({
        "_op": op, "_kind": front.kind, "_otherwise": front.otherwise, "_always": front.always,
        "_make": _maker(front), "_compute": _on_numpy(op, front), "_kinds": front.kinds,
        "_number_of": _numbers(front),
    })  # fmt: skip
    function.__code__ = _compiled(op, front, function.__globals__).__code__
    if not front.depth:
        return function
    return _compiled(op, replace(front, depth=front.depth + 1), function.__globals__)


def _compiled(op: Op, front: Front, names: dict[str, Any]) -> Any:
    text = _variadic(op) if op.variadic else "\n".join(_lines(op, front))
    file = f"<{op.name} of {front.kind.__module__}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    found: dict[str, Any] = {}
    exec(compile(text, file, "exec"), names, found)
    return found["call"]


def _maker(front: Front) -> Callable[[], Any]:
    """Return what makes a blank tensor, without a `__new__` of its class."""
    kind = front.kind
    return partial(object.__new__, kind) if "__new__" in vars(kind) else kind


def _on_numpy(op: Op, front: Front) -> Callable[..., Any]:
    """Return what computes an operation on NumPy arrays: a function of NumPy's, if there is one."""
    found = op.numpy_function
    if found is None:
        find = getattr(op.compute, "find", None)  # in a namespace, by name
        found = partial(op.compute, backends.NUMPY) if find is None else find(backends.NUMPY)
    return found if front.around is None else front.around(found, len(op.args))


def _numbers(front: Front) -> Callable[[np.dtype], Any]:
    return {d: c for d, c in _CONSTANTS.items() if not front.kinds or d.kind in front.kinds}.get


def _constant(number: float, dtype: np.dtype, known: dict[Any, np.ndarray]) -> np.ndarray:
    """Return a number as an array that is known from now on."""
    array = np.array(number, dtype)
    if number and number == number:  # 0.0 and -0.0 are one key, NaN is never found again
        if len(known) > 256:
            known.clear()
        known[number] = array
    return array


_NAMES["_constant"] = _constant


def is_constant(array: np.ndarray) -> bool:
    """Return whether an array stands for a Python number of the program."""
    if array.ndim or array.dtype not in _CONSTANTS:
        return False
    return _CONSTANTS[array.dtype].get(array.item()) is array


# -- source -------------------------------------------------------------------------------------


def _lines(op: Op, front: Front) -> list[str]:
    """Return the source of the function that calls an operation of so many arrays."""
    count = len(op.args)
    arrays = [f"_x{i}" for i in range(count)]
    nodes = [f"_n{i}" for i in range(count)]
    params = "{" + ", ".join(f"{p!r}: {p}" for p in op.params) + "}"
    unusual = f"return _otherwise(_op, ({', '.join(op.args)},), {params})"
    settings = "".join(f", {p}={p}" for p in op.params)
    finish = f"_finished(_op, _y, [{', '.join(arrays)}], [{', '.join(nodes)}], {params})"
    text = [f"def call({', '.join(op.args)}, /{', *' if op.params else ''}{_named(op.params)}):"]
    if count == 2 and op.takes_numbers and not op.params:
        text += _operands(op, front, unusual)
    else:
        for i, arg in enumerate(op.args):
            text += [
                f"    if type({arg}) is _kind and type(_x{i} := {arg}._raw) is _ndarray:",
                f"        _n{i} = {arg}._node",
                *(_plain_array(arg, i, count, front, "    ")),
                "    else:",
                f"        {unusual}",
            ]
        if front.kinds and count == 2:
            text += _alike(front, unusual)
    if op.params:
        text += ["    if _levels():", f"        {unusual}"]  # a parameter may be of a vmap
    if front.when:
        text += [f"    if not ({front.when}):", f"        {unusual}"]
    text += ["    try:", f"        _y = _compute({', '.join(arrays)}{settings})"]
    if front.kind is Tensor:
        text += ["    except ValueError as _error:"]
        text += [f"        _explain_shapes(_op, [{', '.join(arrays)}], _error)"]
    else:  # a kind of numbers that NumPy's function does not take, or shapes that do not fit
        text += ["    except (TypeError, ValueError):", f"        {unusual}"]
    text += ["    if type(_y) is not _ndarray:"]
    if not op.broadcasts:
        text += [
            "        if type(_y) is tuple or type(_y) is list:",
            f"            return {finish}",
        ]
    text += ["        _y = _asarray(_y)"]  # NumPy makes scalars of arrays without axes
    if front.kinds and count == 1:
        text += [
            "    _d = _y.dtype",
            f"    if _x0.dtype is not _d or ({_often(front)}_d.kind not in _kinds):",
            f"        {unusual}",
        ]
    if count > 2 and any(op.picks):
        text += [f"    if {' or '.join(f'{n} is not None' for n in nodes)}:"]
        text += [f"        return {finish}"]
    text += ["    _z = _make()", "    _z._raw = _y", "    _z._node = None"]
    if count <= 2 and any(op.picks):
        text += (_one_parent if count == 1 else _two_parents)(op, front)
    return [*text, "    return _z", ""]


def _named(params: tuple[str, ...]) -> str:
    return "".join(f", {p}" for p in params)


def _often(front: Front) -> str:
    return "_d is not _SINGLE and " if "f" in front.kinds else ""


def _alike(front: Front, unusual: str, indent: str = "    ") -> list[str]:
    """Return lines that leave arrays of two dtypes, or of other kinds, to `otherwise`."""
    other = f"{_often(front)}_d.kind not in _kinds"
    return [
        f"{indent}if (_d := _x0.dtype) is not _x1.dtype or ({other}):",
        f"{indent}    {unusual}",
    ]


def _operands(op: Op, front: Front, unusual: str) -> list[str]:
    """Return lines that take two tensors, or a tensor and a Python number."""
    a, b = op.args
    return [
        f"    if type({a}) is _kind and type(_x0 := {a}._raw) is _ndarray:",
        f"        _n0 = {a}._node",
        f"        if type({b}) is _kind and type(_x1 := {b}._raw) is _ndarray:",
        f"            _n1 = {b}._node",
        *(_alike(front, unusual, "            ") if front.kinds else []),
        f"        elif type({b}) is float or type({b}) is int:",
        *_number("_x1", b, "_x0", unusual),
        "            _n1 = None",
        *_plain_array(b, 1, 2, front, "        "),
        "        else:",
        f"            {unusual}",
        f"    elif type({b}) is _kind and type(_x1 := {b}._raw) is _ndarray and (",
        f"        type({a}) is float or type({a}) is int",
        "    ):",
        f"        _n1 = {b}._node",
        *[line[4:] for line in _number("_x0", a, "_x1", unusual)],
        "        _n0 = None",
        "    else:",
        f"        {unusual}",
    ]


def _plain_array(arg: str, i: int, count: int, front: Front, indent: str) -> list[str]:
    """Return lines that take a NumPy array in the place of one of several tensors."""
    if front.kind is not Tensor or count == 1:
        return []
    return [
        f"{indent}elif type({arg}) is _ndarray:",
        f"{indent}    _x{i} = _protected({arg}) if _current() or _op.aliases else {arg}",
        f"{indent}    _n{i} = None",
    ]


def _number(array: str, number: str, other: str, unusual: str) -> list[str]:
    """Return lines that make a Python number an array of the dtype of the other operand."""
    return [
        f"            if (_k := _number_of({other}.dtype)) is None:",
        f"                {unusual}",
        f"            if ({array} := _k.get({number})) is None:",
        f"                {array} = _constant({number}, {other}.dtype, _k)",
    ]


def _one_parent(op: Op, front: Front) -> list[str]:
    return [
        f"    if _n0 is not None and (_w := _current(){_or_always(front)}){_inexact(op)}:",
        *_interested("_t", "_n0"),
        "        if _t:",
        *_node(op, front, 0, "()", "_t"),
    ]


def _two_parents(op: Op, front: Front) -> list[str]:
    known = [f"_n{i} is not None" for i in range(2) if op.picks[i] is not None]
    text = [
        f"    if ({' or '.join(known)}) and (_w := _current(){_or_always(front)}){_inexact(op)}:"
    ]
    for i in range(2):
        text += [f"        _t{i} = _NOBODY"]
        if op.picks[i] is not None:
            text += [f"        if _n{i} is not None:"]
            text += ["    " + line for line in _interested(f"_t{i}", f"_n{i}")]
    both = f"((_n1, 1, {_values(op, 1)}),)"
    return [
        *text,
        "        if not _t1:",
        "            if _t0:",
        *["    " + line for line in _node(op, front, 0, "()", "_t0")],
        "        elif not _t0:",
        *_node(op, front, 1, "()", "_t1"),
        "        else:",
        "            if _t0 is not _w:",
        "                _t0 = _meet(_t0 | _t1, _w)",
        *_node(op, front, 0, both, "_t0"),
    ]


def _or_always(front: Front) -> str:
    return " or _always" if front.always else ""


def _inexact(op: Op) -> str:
    """Return the condition that a result has derivatives, where that is not clear."""
    if op.broadcasts and not op.params:  # a parameter may be a dtype
        return ""
    return " and ((_d := _y.dtype) is _DOUBLE or _d is _SINGLE or _is_inexact(_d))"


def _interested(tokens: str, node: str) -> list[str]:
    return [
        f"        if ({tokens} := {node}.tokens) is not _w:",
        f"            {tokens} = _meet({tokens}, _w)",
    ]


def _values(op: Op, argument: int) -> str:
    """Return the source of the tuple of what the rule of an argument reads."""
    found = {"y": "_y"}
    shapes = [f"_x{i}.shape" for i in range(len(op.args))]
    for i, arg in enumerate(op.args):
        found |= {arg: f"_x{i}", f"{arg}_shape": shapes[i]}
    found["shapes"] = f"({', '.join(shapes)},)"
    return "(" + "".join(f"{found.get(name, name)}, " for name in op.reads[argument] or ()) + ")"


def _node(op: Op, front: Front, argument: int, others: str, tokens: str) -> list[str]:
    """Return lines that give the result a node; written out, they take half of a call's time."""
    if op.picks[argument] is None:
        return ["            pass"]
    text = [
        "            _z._node = _e = _Node()",
        "            _e.op = _op",
        f"            _e.parent = _n{argument}",
        f"            _e.argument = {argument}",
        f"            _e.values = {_values(op, argument)}",
        f"            _e.others = {others}",
        f"            _e.tokens = {tokens}",
        "            _e.shape = _y.shape",
        "            _e.dtype = _y.dtype",
        "            _e.order = _order()",
    ]
    if front.label:
        text += [f"            _e.label = {front.label!r}"]
    if front.depth:
        text += [
            f"            _f = _frame_at({front.depth})",
            "            _e.code = _f.f_code",
            "            _e.last = _f.f_lasti",
            "            for _w in _witnesses:",
            "                _w(_e)",
        ]
    return text


def _variadic(op: Op) -> str:
    """Return the source of the function that calls an operation of any number of arrays."""
    params = "{" + ", ".join(f"{p!r}: {p}" for p in op.params) + "}"
    known = {"y": "_y", "arrays": "_xs", "position": "_k", "shapes": "_shapes"}
    reads = op.reads[0] or ()
    values = "".join(f"{known.get(name, name)}, " for name in reads)
    settings = "".join(f", {p}={p}" for p in op.params)
    return f"""def call(*arrays{_named(op.params)}):
    if _levels():
        return _otherwise(_op, arrays, {params})
    _xs = []
    _parents = []
    _t = _NOBODY
    _w = _current()
    for _a in arrays:
        if type(_a) is not _kind or type(_x := _a._raw) is not _ndarray:
            return _otherwise(_op, arrays, {params})
        if _w and (_n := _a._node) is not None:
            if (_u := _n.tokens) is not _w:
                _u = _meet(_u, _w)
            if _u:
                _parents.append((_n, len(_xs)))
                if _t is not _w:
                    _t = _u if _u is _w else _meet(_t | _u, _w)
        _xs.append(_x)
    _y = _compute({"*" if op.numpy_function is None else ""}_xs{settings})
    if type(_y) is not _ndarray:
        return _finished(_op, _y, _xs, [_a._node for _a in arrays], {params})
    _z = _make()
    _z._raw = _y
    _z._node = None
    if _t and ((_d := _y.dtype) is _DOUBLE or _d is _SINGLE or _is_inexact(_d)):
        {"_xs = tuple(_xs)" if "arrays" in reads else ""}
        {"_shapes = _Shapes(_map(_shape_of, _xs))" if "shapes" in reads else ""}
        _edges = [(_n, _k, ({values})) for _n, _k in _parents]
        _z._node = _e = _Node()
        _e.op = _op
        _e.parent, _e.argument, _e.values = _edges[0]
        _e.others = tuple(_edges[1:])
        _e.tokens = _t
        _e.shape = _y.shape
        _e.dtype = _y.dtype
        _e.order = _order()
    return _z
"""
