"""Fast paths: the functions that call operations, each written for one operation.

A call checks that its arguments are tensors of NumPy arrays, computes, and makes a node of just
what the rules read. Arrays of PyTorch and CuPy have a function of the same kind for each operation
and device. Everything else, such as a running vmap, is left to `Front.otherwise`. The source of a
function is written when it is first called: to write all would take longer than the import.
"""

from __future__ import annotations

import linecache
import sys
import textwrap
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from wengert import backends
from wengert.backends.float_errors import LOCATED, FloatErrors
from wengert.engine.batching import levels
from wengert.engine.node import NOBODY, Node, Tokens, active, meet, next_order
from wengert.engine.op import Op
from wengert.engine.record import apply, finished, witnesses
from wengert.engine.tensor import Tensor
from wengert.errors import explain_shapes

_DOUBLE, _SINGLE = np.dtype("float64"), np.dtype("float32")
_DTYPES = [np.dtype(c) for c in "?bhilqBHILQfdFD"]  # narrow floats do not go the fast way
#: Python numbers as arrays, by dtype and value. They are read only.
CONSTANTS: dict[np.dtype, dict[Any, np.ndarray]] = {d: {} for d in _DTYPES if d.kind in "fc"}


@dataclass(eq=False, repr=False)
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
    #: what NumPy does about floating-point errors; None for an operation that makes none
    errors: FloatErrors | None = LOCATED
    #: a condition on the arrays _x0, _x1, in Python, without which a call is unusual
    when: str = ""
    #: the operation's parameters, if they are known already: a call does not take any
    known: dict[str, Any] | None = None
    #: whether an operation of any number of arrays takes them in one list; then `when` is about
    #: the parameters, and `after` what is done to these once the result `_y` is known
    listed: bool = False
    after: str = ""
    #: what says that an argument is such a tensor
    taken: str = "type({}) is _kind"
    #: what computes raw arrays
    xp: Any = backends.NUMPY
    #: what computes it in place of its own function: another one, or an expression, as `when` is
    compute: Callable[..., Any] | str | None = None


NATIVE = Front()


def caller(op: Op, front: Front = NATIVE) -> Callable[..., Any]:
    """Return the function that calls an operation: arrays by position, parameters by keyword."""
    known = {"_op": op, "_otherwise": front.otherwise, "_known": front.known or {}}
    names = {**_NAMES, **known, "_fast": _stub.__code__}
    call = types.FunctionType((_watched if _general else _stub).__code__, names, op.name)
    names["_first_call"] = lambda: _write(call, op, front)
    _callers.add(call)
    return call


def _on_library(op: Op, front: Front, calls: dict[Any, Any], array: Any) -> Callable[..., Any]:
    """Return the function that calls an operation on arrays like one, known from now on."""
    xp: Any = backends.namespace_of(array)
    call = calls[backends.QUICK[type(array)](array)] = caller(op.on(xp), replace(front, xp=xp))
    return call


#: Every function that was made here, and whether all of them go the general way.
_callers: weakref.WeakSet[types.FunctionType] = weakref.WeakSet()
_general = False


def show_calls(on: bool) -> None:
    """Have `record.apply` make all calls, which shows them to who is `watching`, or no longer."""
    global _general
    _general = on
    for call in list(_callers):
        call.__code__ = _watched.__code__ if on else call.__globals__["_fast"]


def _constant(number: float, dtype: Any, known: dict[Any, Any], make: Any = np.array) -> Any:
    """Return a number as an array that is known from now on."""
    array = make(number, dtype)
    if number and number == number:  # 0.0 and -0.0 are one key, NaN is never found again
        if len(known) > 256:
            known.clear()
        known[number] = array
    return array


#: What every function needs, by the name it has there: no parameter begins with an underscore.
_NAMES: dict[str, Any] = {
    "__name__": __name__, "_ndarray": np.ndarray, "_asarray": np.asarray, "_current": active.get,
    "_levels": levels.get, "_meet": meet, "_Node": Node, "_order": next_order, "_NOBODY": NOBODY,
    "_is_inexact": backends.is_inexact, "_is_narrow": backends.is_narrow,
    "_protected": backends.protected, "_plain": backends.plain,
    "_DOUBLE": _DOUBLE, "_SINGLE": _SINGLE, "_TRUTH": np.dtype(bool), "_finished": finished,
    "_explain_shapes": explain_shapes, "_frame_at": sys._getframe, "_witnesses": witnesses,
    "_constant": _constant, "_Kept": backends.Kept, "_QUICK": backends.QUICK,
}  # fmt: skip


def _stub(*args: Any, **params: Any) -> Any:
    return _first_call()(*args, **params)  # type: ignore[name-defined]  # noqa: F821


def _watched(*args: Any, **params: Any) -> Any:
    return _otherwise(_op, args, {**_known, **params})  # type: ignore[name-defined]  # noqa: F821


def _write(function: types.FunctionType, op: Op, front: Front) -> Callable[..., Any]:
    """Give a function its code, and return what is called the first time, from one frame below."""
    calls: dict[Any, Any] = {}
    function.__globals__.update({
        "_calls": calls, "_on_library": partial(_on_library, op, front, calls),
        "_kind": front.kind, "_always": front.always,
        "_make": partial(object.__new__, front.kind) if "__new__" in vars(front.kind)
        else front.kind, "_compute": _computing(op, front),  # blank, without a `__new__` of its own
        "_usual_dtypes": {d for d in _DTYPES if d.kind in front.kinds},
        "_number_of": {d: c for d, c in CONSTANTS.items() if d.kind in (front.kinds or "fc")}.get,
        **(front.known or {}),
        **{f"_{k}": getattr(front.errors, k, None) for k in ("state", "usual", "run", "slowly")},
        **_library(front.xp),
    })  # fmt: skip
    code = function.__globals__["_fast"] = _compiled(op, front, function.__globals__).__code__
    function.__code__ = code
    if not front.depth:
        return function
    return _compiled(op, replace(front, depth=front.depth + 1), function.__globals__)


def _compiled(op: Op, front: Front, names: dict[str, Any]) -> Any:
    source = _Source(op, front)
    text = source.variadic() if op.variadic else source.whole()
    file = f"<{op.name} of {front.kind.__module__}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    found: dict[str, Any] = {}
    exec(compile(text, file, "exec"), names, found)
    return found["call"]


def _computing(op: Op, front: Front) -> Any:
    """Return what computes an operation on raw arrays: a function of their library's, if any."""
    found: Any = front.compute or (op.numpy_function if front.xp is backends.NUMPY else None)
    if found is None:
        find = getattr(op.compute, "find", None)  # in a namespace, by name
        found = partial(op.compute, front.xp) if find is None else find(front.xp)
        if find and (op.pointwise or op.linear) and not op.params:  # of arrays of one dtype
            found = getattr(front.xp.alike, op.name, found)
    return partial(found, **front.known) if front.known else found


def _library(xp: Any) -> dict[str, Any]:
    """Return what is otherwise than on NumPy's arrays, by name."""
    if xp is backends.NUMPY:
        return {}
    double, single = (np.dtype(d) if isinstance(d, type) else d for d in (xp.float64, xp.float32))
    return {
        "_ndarray": xp.array, "_asarray": xp.asarray, "_DOUBLE": double, "_SINGLE": single,
        "_number_of": cache(lambda dtype: {} if backends.is_inexact(dtype) else None),
        "_constant": partial(_constant, make=xp.scalar),
    }  # fmt: skip


# -- source -------------------------------------------------------------------------------------


class _Source:
    """What the source of a function is put together from. Each part is text without indentation."""

    def __init__(self, op: Op, front: Front) -> None:
        self.op, self.front, self.count = op, front, len(op.args)
        given = () if front.known else op.params
        # whether narrow floats are no matter
        self.native = op.family in front.xp.narrow or op.name in front.xp.own
        self.named = "".join(f", {p}" for p in given)
        self.settings = "".join(f", {p}={p}" for p in given)
        self.arrays = ", ".join(f"_x{i}" for i in range(self.count))
        self.params = "{" + ", ".join(f"{p!r}: {p}" for p in op.params) + "}"
        self.taken = front.taken.format
        args = "arrays" if op.variadic and not front.listed else f"({', '.join(op.args)},)"
        more = f"{self.params[:-1]}, **_others}}" if front.listed else self.params
        self.unusual = f"return _otherwise(_op, {args}, {more})"
        self.other_class = self.unusual  # what is done with arguments that are not `taken`
        if front.kind is Tensor and front.xp is backends.NUMPY:
            stars = "*" if op.variadic and not front.listed else ""
            given_again = f"{stars}{', '.join(op.args)}{self.settings}"
            self.other_class = f"""for _a in {"arrays" if op.variadic else args}:
    if type(_a) is _kind and (_key := _QUICK.get(type(_a._raw))):
        return (_calls.get(_key(_a._raw)) or _on_library(_a._raw))({given_again})
{self.unusual}"""
        nodes = self.arrays.replace("x", "n")
        self.finish = f"_finished(_op, _y, [{self.arrays}], [{nodes}], {self.params})"
        self.recording = "(_w := _current() or _always)" if front.always else "(_w := _current())"
        self.inexact = " and ((_d := _y.dtype) is _DOUBLE or _d is _SINGLE or _is_inexact(_d))"
        if op.broadcasts and not given:  # else a parameter may be a dtype
            self.inexact = ""
        often = "_d is not _SINGLE and " if "f" in front.kinds else ""
        self.other_kind = f"({often}_d not in _usual_dtypes)"
        self.narrow = "_d is not _DOUBLE and _d is not _SINGLE and _is_narrow(_d)"

    def whole(self) -> str:
        """Return the source of the function that calls an operation of so many arrays."""
        op, front = self.op, self.front
        parts = [self.operands() if self.count == 2 and op.takes_numbers else self.arguments()]
        if not front.kinds and not op.rounds_once and not self.native:
            for i in range(self.count):
                parts += [f"_d = _x{i}.dtype\nif {self.narrow}:\n    {self.unusual}"]
        if self.named:  # a parameter may be of a vmap
            parts += [f"if _levels():\n    {self.unusual}"]
        if front.when:
            parts += [f"if not ({front.when}):\n    {self.unusual}"]
        failed = f"except (TypeError, ValueError):\n    {self.unusual}"
        if front.xp is not backends.NUMPY:
            failed = f"except (RuntimeError, TypeError, ValueError):\n    {self.unusual}"
        elif front.kind is Tensor:
            failed = f"except TypeError:\n    {self.unusual}\nexcept ValueError as _error:\n"
            failed += f"    _explain_shapes(_op, [{self.arrays}], _error)"
        parts += [f"try:\n{_indented(self.computed())}\n{failed}"]
        if any("saved" in (reads or ()) for reads in op.reads):
            kept = "type(_y) is _Kept and type(_y[0]) is _ndarray"
            parts += [f"_saved = None\nif {kept}:\n    _y, _saved = _y"]
        parts += ["if type(_y) is not _ndarray:"]
        if front.xp is not backends.NUMPY:  # whose kernels may leave something out
            parts += [f"    if _y is NotImplemented:\n        {self.unusual}"]
        if not op.broadcasts:
            parts += [f"    if type(_y) in (tuple, list, _Kept):\n        return {self.finish}"]
        parts += ["    _y = _asarray(_y)"]  # NumPy makes scalars of arrays without axes
        if front.kinds and self.count == 1:
            same = "((_k := _y.dtype) is _d or _k is _TRUTH)"  # what is true has no derivative
            parts += [f"_d = _x0.dtype\nif {self.other_kind} or not {same}:\n    {self.unusual}"]
        parts += ["_z = _make()\n_z._raw = _y\n_z._node = None"]
        if any(op.picks):
            parts += [(self.one_parent, self.two_parents, self.parents)[min(self.count, 3) - 1]()]
        head = f"def call({', '.join(op.args)}, /{', *' if self.named else ''}{self.named}):\n"
        return head + _indented("\n".join([*parts, "return _z\n"]))

    def computed(self) -> str:
        """Return the lines that compute; another thread in the same context is a RuntimeError."""
        if isinstance(self.front.compute, str):
            return f"_y = {self.front.compute}"
        given = f"{self.arrays}{self.settings}"
        if self.front.xp is not backends.NUMPY or self.front.errors is None:
            return f"_y = _compute({given})"
        slowly = f"_slowly(_compute, {given})"
        return f"""try:
    _y = _run(_compute, {given}) if _state() is _usual else {slowly}
except RuntimeError:
    _y = {slowly}"""

    def arguments(self) -> str:
        """Return the lines that take a tensor or, natively and among others, a NumPy array."""
        text = ""
        for i, arg in enumerate(self.op.args):
            text += f"""if {self.taken(arg)} and type(_x{i} := {arg}._raw) is _ndarray:
    _n{i} = {arg}._node
{self.plain_array(i)}else:
{_indented(self.other_class)}
"""
        return text + (self.alike() if self.count == 2 else "")

    def plain_array(self, i: int) -> str:
        """Return the lines that take a NumPy array in the place of one of several tensors."""
        if self.front.kind is not Tensor or (self.count == 1 and not self.op.variadic):
            return ""
        arg, x, node = self.op.args[i], f"_x{i}", f"_n{i} = None"
        if self.op.variadic:
            arg, x, node = "_a", "_x", "_ns.append(None)"
        reads = any(self.op.arrays.intersection(names or ()) for names in self.op.reads)
        kept = "_op.aliases or _current()" if reads else "_op.aliases"
        return f"""elif type({arg}) is _ndarray:
    {x} = (_protected if {kept} else _plain)({arg})
    {node}
"""

    def alike(self) -> str:
        """Return the lines that leave arrays of two dtypes, or of other kinds, to `otherwise`."""
        if self.front.xp is not backends.NUMPY:
            return f"if _x0.dtype is not _x1.dtype:\n    {self.unusual}\n"
        if not self.front.kinds:
            return ""
        return f"""if (_d := _x0.dtype) is not _x1.dtype or {self.other_kind}:
    {self.unusual}
"""

    def operands(self) -> str:
        """Return the lines that take two tensors, or a tensor and a Python number."""
        a, b = self.op.args
        return f"""if {self.taken(a)} and type(_x0 := {a}._raw) is _ndarray:
    _n0 = {a}._node
    if {self.taken(b)} and type(_x1 := {b}._raw) is _ndarray:
        _n1 = {b}._node
{_indented(self.alike(), 2)}
    elif type({b}) is float or type({b}) is int:
{_indented(self.number(1, 0), 2)}
{_indented(self.plain_array(1))}
    else:
{_indented(self.other_class, 2)}
elif {self.taken(b)} and type(_x1 := {b}._raw) is _ndarray:
    _n1 = {b}._node
    if type({a}) is float or type({a}) is int:
{_indented(self.number(0, 1), 2)}
{_indented(self.plain_array(0))}
    else:
{_indented(self.other_class, 2)}
else:
{_indented(self.other_class)}"""

    def number(self, i: int, other: int) -> str:
        """Return the lines that make a Python number an array of the other operand's dtype."""
        number = self.op.args[i]
        return f"""if (_k := _number_of(_x{other}.dtype)) is None:
    {self.unusual}
if (_x{i} := _k.get({number})) is None:
    _x{i} = _constant({number}, _x{other}.dtype, _k)
_n{i} = None"""

    def one_parent(self) -> str:
        """Return the lines that make a node of an operation of one array."""
        return f"""if _n0 is not None and {self.recording}{self.inexact}:
    if (_t0 := _n0.tokens) is not _w:
        _t0 = _meet(_t0, _w)
    if _t0:
{_indented(self.node(0, "()"), 2)}"""

    def two_parents(self) -> str:
        """Return the lines that make a node of an operation of two arrays."""
        both = f"((_n1, 1, {self.values(1)}),)"
        return f"""if (_n0 is not None or _n1 is not None) and {self.recording}{self.inexact}:
{_indented(self.interest(0))}
{_indented(self.interest(1))}
    if not _t1:
        if _t0:
{_indented(self.node(0, "()"), 3)}
    elif not _t0:
{_indented(self.node(1, "()"), 2)}
    else:
        if _t0 is not _w:
            _t0 = _meet(_t0 | _t1, _w)
{_indented(self.node(0, both), 2)}"""

    def parents(self) -> str:
        """Return the lines that make a node of an operation of more arrays."""
        known = (i for i, pick in enumerate(self.op.picks) if pick is not None)
        edges = "\n".join(self.edge(f"_n{i}", str(i), self.values(i)) for i in known)
        return f"""if {self.recording}{self.inexact}:
    _edges, _t = [], _NOBODY
{_indented(edges)}
    if _edges:
{_indented(self.new_node(), 2)}"""

    def edge(self, node: str, position: str, values: str) -> str:
        """Return the lines that note an argument that tapes care about."""
        return f"""if {node} is not None and ((_u := {node}.tokens) is _w or (_u := _meet(_u, _w))):
    _edges.append(({node}, {position}, {values}))
    if _t is not _w:
        _t = _u if _u is _w else _meet(_t | _u, _w)"""

    def interest(self, i: int) -> str:
        """Return the lines that find the tapes that care about an argument."""
        if self.op.picks[i] is None:
            return f"_t{i} = _NOBODY"
        return f"""_t{i} = _NOBODY
if _n{i} is not None and (_t{i} := _n{i}.tokens) is not _w:
    _t{i} = _meet(_t{i}, _w)"""

    def values(self, i: int) -> str:
        """Return the tuple of what the rule of an argument reads."""
        args = self.op.args
        shapes = f"({', '.join(f'_x{k}.shape' for k in range(len(args)))},)"
        found = {"y": "_y", "saved": "_saved", "shapes": shapes}
        for k, arg in enumerate(args):
            found |= {arg: f"_x{k}", f"{arg}_shape": f"_x{k}.shape"}
        return f"({''.join(f'{found.get(name, name)}, ' for name in self.op.reads[i] or ())})"

    def node(self, i: int, others: str) -> str:
        """Return the lines that give the result a node with an edge to an argument, and others."""
        if self.op.picks[i] is None:
            return "pass"
        edge = f"_e.parent = _n{i}\n_e.argument = {i}\n_e.values = {self.values(i)}"
        return self.new_node(edge, others, f"_t{i}")

    def new_node(self, edge: str = "", others: str = "tuple(_edges)", tokens: str = "_t") -> str:
        """Return the lines that make a node; a call would take longer than they do."""
        text = f"""_z._node = _e = _Node()
_e.op = _op
{edge or "_e.parent, _e.argument, _e.values = _edges.pop(0)"}
_e.others = {others}
_e.tokens = {tokens}
_e.shape = _y.shape
_e.dtype = _d = _y.dtype
_e.order = _order()"""
        if not self.front.kinds and not self.native:
            text += f"\nif {self.narrow}:\n    _e.op = _op.narrowed(_d)"
        if self.front.label:
            text += f"\n_e.label = {self.front.label!r}"
        if self.front.depth:
            text += f"""
_f = _frame_at({self.front.depth})
_e.code = _f.f_code
_e.last = _f.f_lasti
for _w in _witnesses:
    _w(_e)"""
        return text

    def variadic(self) -> str:
        """Return the source of the function that calls an operation of any number of arrays."""
        op, front = self.op, self.front
        known = {"y": "_y", "arrays": "tuple(_xs)", "position": "_k", "shapes": "_shapes"}
        values = f"({''.join(f'{known.get(name, name)}, ' for name in op.reads[0] or ())})"
        numpys = op.numpy_function is not None and front.xp is backends.NUMPY
        unusual = "False" if op.copies or self.native else self.narrow
        if front.kinds:
            unusual = "(_xs and _d is not _xs[0].dtype) or _d not in _usual_dtypes"
        head, failed = f"*arrays{self.named}", "RuntimeError"  # as of PyTorch, for two devices
        if front.listed:
            head = f"arrays, /, *{self.named}, **_others"
            failed = "(IndexError, RuntimeError, TypeError, ValueError)"
        return f"""def call({head}):
{"    if type(arrays) is not list: arrays = list(arrays)" if front.listed else ""}
    if _levels(){f" or _others or not ({front.when})" if front.listed else ""}:
        {self.unusual}
    _xs, _ns = [], []
    for _a in arrays:
        if {self.taken("_a")} and type(_x := _a._raw) is _ndarray:
            _ns.append(_a._node)
{_indented(self.plain_array(0), 2)}
        else:
{_indented(self.other_class, 3)}
        _d = _x.dtype
        if {unusual}:
            {self.unusual}
        _xs.append(_x)
    try:
        _y = _compute({"" if numpys else "*"}_xs{self.settings})
    except {failed}:
        {self.unusual}
{_indented(front.after)}
    if type(_y) is not _ndarray:
        return _finished(_op, _y, _xs, _ns, {self.params})
    _z = _make()
    _z._raw = _y
    _z._node = None
    if any(_ns) and {self.recording}{self.inexact}:
        _edges, _shapes, _t, _k = [], [], _NOBODY, 0
        for _n in _ns:
{_indented(self.edge("_n", "_k", values), 3)}
            _shapes.append(_xs[_k].shape)
            _k += 1
        if _edges:
{_indented(self.new_node(), 3)}
    return _z
"""


def _indented(text: str, depth: int = 1) -> str:
    return textwrap.indent(text, "    " * depth)
