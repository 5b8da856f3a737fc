"""Programs compiled by XLA: `jit`.

A compiled program is the same tape, traced by JAX: the function runs once for each new shape, on
arrays that stand for others, and what it computes, sweeps included, becomes one program of XLA's.
Under a tape a call is one node. It keeps what the rules of the function read, as the results of
one compiled program and the arguments of another.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, highest, levels, outside, plain_namespace
from wengert.engine.cotangents import Block
from wengert.engine.node import Token, active
from wengert.engine.record import SCALARS
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import CompileError, RuleError, WengertError, line_of, name_of
from wengert.ops.variable import Variable
from wengert.transforms.checkpoint import now, plain_raw
from wengert.transforms.gradients import as_tensor
from wengert.transforms.single_node import detached, is_inexact, is_recorded, recorded_as_one
from wengert.transforms.surroundings import found_in, recording, tensors_in
from wengert.transforms.traced import Inner, Piece, compiling
from wengert.transforms.vmap import vmap
from wengert.trees import Rebuild, flat, flatten, structure

Function = Callable[..., Any]
Numbers = int | Sequence[int]
Names = str | Sequence[str]


def jit(
    fun: Function | None = None,
    *,
    static_argnums: Numbers = (),
    static_argnames: Names = (),
    donate_argnums: Numbers = (),
) -> Any:
    """Return a function like `fun` that XLA compiles when it is first called.

    NumPy arrays in, NumPy arrays out; arrays of JAX stay on their device. The function is
    compiled once for each combination of shapes and dtypes, `compilations` says how often. It
    may compute derivatives, and it has them: under a tape a call is one node, whose rule is
    compiled too. Values of variables that it reads are arguments, and what it assigns to
    variables is assigned after each call; other values from outside are read once, when it is
    compiled.

    It needs JAX: ``pip install 'wengert[jit]'``.

    Parameters
    ----------
    fun
        Takes and returns nests of arrays. It must not ask for values, as `if` and `float` do:
        write `wg.where`, `wg.cond`, `wg.scan` or `wg.while_loop`.
    static_argnums, static_argnames
        Positions and names of arguments that are plain Python values, such as a number of steps.
        Each new value is compiled anew. Texts, functions and None are static wherever they are.
    donate_argnums
        Positions of arguments whose memory the results may take, if it is JAX's: the arrays
        cannot be used afterwards.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> @wg.jit
    ... def loss(w, x):
    ...     return wg.sum(wg.tanh(x @ w) ** 2)
    >>> w, x = np.zeros(2), np.ones((3, 2))
    >>> wg.grad(loss)(w, x), wg.jit(wg.grad(loss))(w, x)
    (array([0., 0.]), array([0., 0.]))
    >>> loss.compilations
    1
    """
    if fun is None:
        return functools.partial(
            jit, static_argnums=static_argnums, static_argnames=static_argnames,
            donate_argnums=donate_argnums,
        )  # fmt: skip
    if not callable(fun):
        raise TypeError(
            f"jit: got {fun!r:.60}; expected a function, so write wg.jit(f)(x), not wg.jit(f(x))"
        )
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    return Jitted(fun, _positions(static_argnums), names, _positions(donate_argnums))


#: Classes of arrays that compiled programs take as they are.
_QUICK: set[type] = {np.ndarray}


def _positions(given: Numbers) -> tuple[int, ...]:
    return (given,) if isinstance(given, int) else tuple(given)


def _control() -> Any:
    try:
        control: Any = importlib.import_module("wengert.backends.jax_control")
    except ImportError as error:
        raise ImportError(
            "wg.jit compiles programs by JAX, which is not installed; write "
            "pip install 'wengert[jit]'"
        ) from error
    _QUICK.add(control.ARRAY)
    return control


class Jitted:
    """A function that is compiled when it is called; see `jit`.

    Attributes
    ----------
    compilations
        How often the function was compiled: once for each combination of shapes, dtypes and
        static arguments.
    """

    def __init__(
        self,
        fun: Function,
        positions: tuple[int, ...] = (),
        names: tuple[str, ...] = (),
        donated: tuple[int, ...] = (),
    ) -> None:
        functools.update_wrapper(self, fun)
        self.fun, self.name = fun, f"jit({name_of(fun)})"
        self.positions, self.names = _static(fun, positions, names)
        self.donated = donated
        self.compilations = 0
        self._programs: dict[Any, Program] = {}
        #: by the form of the arguments, where all leaves are arrays that compiled programs take;
        #: by the number of arguments, where they are such arrays themselves
        self._quick: dict[Any, Program] = {}

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        times = "once" if self.compilations == 1 else f"{self.compilations} times"
        return f"<{self.name}, compiled {times}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the function returns, from a compiled program."""
        try:
            if not active.get() and not levels.get():
                leaves: Sequence[Any] = args
                form: Any = len(args)
                kinds = {*map(type, args)}
                if kwargs or not kinds <= _QUICK:
                    leaves, form = flat((args, kwargs))
                    kinds = {*map(type, leaves)}
                quick = self._quick.get(form)
                if quick is not None and kinds <= _QUICK:
                    return quick.plain(leaves, np.ndarray in kinds, len(kinds) > 1)
            return self._called(args, kwargs)
        except WengertError as error:
            notes = getattr(error, "__notes__", [])  # JAX adds one about its frames
            error.__notes__ = [note for note in notes if "JAX" not in note]
            raise

    def _called(self, args: Any, kwargs: Any) -> Any:
        """Return the same, of arguments that may be static, numbers, tensors, or recorded."""
        count = len(args)
        static = {p % count: args[p % count] for p in self.positions if -count <= p < count}
        named = {k: v for k, v in kwargs.items() if k in self.names}
        moving = (
            [a for i, a in enumerate(args) if i not in static],
            {k: v for k, v in kwargs.items() if k not in named},
        )
        leaves, rebuild = flatten(moving)
        given = [_as_value(leaf, self.name) for leaf in leaves]
        control = _control()
        if any(type(v) is Tensor and control.is_traced(v._raw) for v in given):
            return self.fun(*args, **kwargs)  # a part of the program that is compiled now
        plain = {k: leaf for k, leaf in enumerate(leaves) if given[k] is None}
        key = (count, structure(moving), *map(_key, (static, named, plain)))
        try:
            program = self._programs.get(key)
        except TypeError:
            raise TypeError(
                f"{self.name}: a static argument, or one that is no array, has no hash; pass "
                "tuples in the place of lists, and arrays where they are not static"
            ) from None
        if program is None:
            form = Form(count, rebuild, static, named, plain)
            donated = self._donated(moving[0], [i for i in range(count) if i not in static])
            program = self._programs[key] = Program(self, control, form, donated)
        values = [v for v in given if v is not None]
        if leaves and not program.variables and all(type(leaf) in _QUICK for leaf in leaves):
            are_leaves = not kwargs and all(type(arg) in _QUICK for arg in args)
            self._quick[len(args) if are_leaves else flat((args, kwargs))[1]] = program
        return program.call(values, _kind_of(leaves, control))

    def _donated(self, moving: list[Any], positions: list[int]) -> tuple[int, ...]:
        """Return the numbers of the arrays that may be overwritten."""
        wanted = {p % (len(positions) or 1) if p < 0 else p for p in self.donated}
        numbers: list[int] = []
        start = 0
        for position, argument in zip(positions, moving, strict=True):
            leaves = flatten(argument)[0]
            stop = start + sum(_as_value(leaf, self.name) is not None for leaf in leaves)
            numbers += range(start, stop) if position in wanted else ()
            start = stop
        return tuple(numbers)


def _key(values: dict[Any, Any]) -> tuple[Any, ...]:
    """Return a key for plain values by place, in which 1, 1.0 and True are different."""
    return tuple((k, _typed(v)) for k, v in values.items())


def _typed(value: Any) -> Any:
    return (type(value), tuple(map(_typed, value)) if type(value) is tuple else value)


def _static(
    fun: Function, positions: tuple[int, ...], names: tuple[str, ...]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return static arguments by position and by name, each also as the other."""
    try:
        known = list(inspect.signature(fun).parameters)
    except (TypeError, ValueError):  # a builtin that does not tell
        return positions, names
    by_name = [known.index(n) for n in names if n in known]
    by_position = [known[p] for p in positions if -len(known) <= p < len(known)]
    return tuple({*positions, *by_name}), tuple({*names, *by_position})


def _as_value(leaf: Any, what: str) -> Any:
    """Return an array as a tensor, a number as it is, and None for a value that is neither."""
    if type(leaf) in SCALARS:
        return leaf
    if hasattr(type(leaf), "__wengert_tensor__"):
        leaf = leaf.__wengert_tensor__()
    is_tensor = type(leaf) is Tensor
    xp: Any = plain_namespace(leaf._raw) if is_tensor else backends.namespace_of(leaf)
    if xp is None:
        return None
    if xp is not backends.NUMPY and xp.control is None:
        raise TypeError(
            f"{what}: got an array of {xp.name}, and XLA compiles programs of NumPy's and JAX's "
            "arrays; leave out wg.jit, whose tape runs on the arrays as they are, or convert them, "
            "for example with jax.dlpack.from_dlpack"
        )
    return leaf if is_tensor else wrap(backends.plain(leaf))


def _kind_of(leaves: list[Any], control: Any) -> str:
    """Return what results are: "tensor", "jax" or "numpy", as the arguments."""
    if any(hasattr(type(v), "__wengert_tensor__") or type(v) is Tensor for v in leaves):
        return "tensor"
    return "jax" if any(map(control.is_array, leaves)) else "numpy"


class Form(NamedTuple):
    """How the arguments of a function are put together from a list of values."""

    width: int
    rebuild: Rebuild
    static: dict[int, Any]
    named: dict[str, Any]
    plain: dict[int, Any]

    def arguments(self, values: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return all arguments, with `values` for those that are not static."""
        supply = iter(values)
        total = len(values) + len(self.plain)
        leaves = [self.plain[k] if k in self.plain else next(supply) for k in range(total)]
        moving, kwargs = self.rebuild(leaves)
        supply = iter(moving)
        args = [self.static[i] if i in self.static else next(supply) for i in range(self.width)]
        return args, {**kwargs, **self.named}


class Known:
    """What one trace has found out: the form of the results, variables, and how to pull.

    Attributes
    ----------
    rebuild, parts, is_plain
        How to make the result of its leaves; for each leaf a function of an array, or None and
        the plain value that it is; whether all leaves are arrays.
    assigned
        The numbers of the variables that were assigned to.
    live, sources
        Which results have derivatives; of each value that rules read, the value itself or the
        number of the array that the program returns for it.
    """

    rebuild: Rebuild
    is_plain: bool
    parts: list[tuple[Callable[[Any], Any] | None, Any]]
    assigned: list[int]
    live: list[int]
    sources: list[tuple[bool, Any]]
    back: Callable[..., Any]

    def result(self, arrays: Sequence[Any]) -> Any:
        """Return the nest of results."""
        supply = iter(arrays)
        return self.rebuild([p if f is None else f(next(supply)) for f, p in self.parts])


class Reader(Token):
    """A token that is told of the variables which a function reads while it is traced.

    `bound` are those that a program inside of it has as arguments, by identity.
    """

    __slots__ = ("bound",)
    only_watches = True

    def __init__(self) -> None:
        super().__init__(True)
        self.bound: set[int] = set()


class Program:
    """A function that was compiled for arguments of one form, and its derivatives."""

    def __init__(self, owner: Jitted, control: Any, form: Form, donated: tuple[int, ...]) -> None:
        self.owner, self.control, self.form = owner, control, form
        held = [*form.plain.values(), *form.static.values(), *form.named.values()]
        self.generators, self.variables = found_in([owner.fun, *held])
        self.tensors = tensors_in([owner.fun, *held])
        self.known = Known()
        self.piece = Piece(self.flat)
        self._values = control.compiled(self._trace, donated)
        self._forward: dict[tuple[int, ...], Callable[..., Any]] = {}
        self._for_examples: dict[tuple[bool, ...], Jitted] = {}
        self._known_for: dict[tuple[bool, ...], Known] = {}
        self.back = Jitted(self._back, names=("moving", "places"))
        self.along = Jitted(self._along, names=("moving",))

    # -- one trace --

    def flat(self, tensors: list[Tensor]) -> list[Tensor]:
        """Return the arrays of the results, and the values that variables are assigned."""
        count = len(tensors) - len(self.variables)
        args, kwargs = self.form.arguments(tensors[:count])
        states = [g.bit_generator.state for g in self.generators]
        known = self.known = Known()
        reader, before = Reader(), now()
        tapes = frozenset(t for t in active.get() if type(t) is not Reader)
        with self._bound(tensors), recording(tapes | {reader}):
            leaves, known.rebuild = flatten(self.owner.fun(*args, **kwargs))
            values = [v._value._raw for v in self.variables]
        self._refuse_unknown(reader, before)
        pairs = zip(self.generators, states, strict=True)
        for generator, state in [(g, s) for g, s in pairs if g.bit_generator.state != s]:
            generator.bit_generator.state = state
            raise CompileError(
                f"{self.owner.name}: it draws from {type(generator).__name__}, which would happen "
                "once, while it is compiled, and give the same numbers in each call; draw outside "
                "and pass the numbers as an argument"
            )
        parts = [_part(leaf) for leaf in leaves]
        known.parts = [(f, p if f is None else None) for f, p in parts]
        known.is_plain = all(f is _same for f, _ in parts)
        given = [t._raw for t in tensors[count:]]
        known.assigned = [k for k, raw in enumerate(values) if raw is not given[k]]
        found = [p for f, p in parts if f is not None]
        asarray = self.control.asarray
        arrays = [t if type(t._raw) is Batched else wrap(asarray(t._raw), t._node) for t in found]
        return arrays + [wrap(asarray(values[k])) for k in known.assigned]

    def _refuse_unknown(self, reader: Reader, before: int) -> None:
        """Raise if the function has read a variable that is not an argument of the program."""
        reader.alive = False
        mine = reader.bound.union(map(id, self.variables))
        for variable in reader.variables.values():
            if id(variable) not in mine and variable._leaf.order < before:
                raise CompileError(
                    f"{self.owner.name}: it reads variable {variable.name!r}, which was not found "
                    "among what the function refers to, so that its value would be a constant; "
                    "pass the variable as an argument"
                )

    @contextlib.contextmanager
    def _bound(self, tensors: Sequence[Tensor]) -> Iterator[None]:
        """Return a context in which variables have the values, and nodes, of the last tensors.

        Rules need it too: those of checkpoints and loops run parts of the function again.
        """
        before = [(v._leaf, v._value) for v in self.variables]
        for token in active.get():
            if type(token) is Reader:
                token.bound.update(map(id, self.variables))
        try:
            own = tensors[len(tensors) - len(self.variables) :]
            for variable, tensor in zip(self.variables, own, strict=True):
                variable._leaf = tensor._node or variable._leaf
                variable._value = wrap(tensor._raw, variable._leaf)
            yield
        finally:
            for variable, (leaf, value) in zip(self.variables, before, strict=True):
                variable._leaf, variable._value = leaf, value

    def _traced(self, function: Function, *given: Any) -> Any:
        """Return what a function returns while a program is being compiled."""
        before, token = levels.get(), compiling.set(self.control)
        levels.set(())
        try:
            return function(*given)
        except self.control.VALUE_ERRORS as error:
            raise CompileError(
                f"{self.owner.name}: {line_of(error)} asks for a value, and there is none while "
                "the function is compiled. For a choice write wg.where(condition, a, b) or "
                "wg.cond(condition, f, g, x); for a loop, wg.scan or wg.while_loop; and for an "
                "argument that is a plain Python value, static_argnums"
            ) from error
        finally:
            compiling.reset(token)
            levels.set(before)

    def _trace(self, *arrays: Any) -> Any:
        def run() -> list[Any]:
            found = self.piece.probe(arrays) if active.get() else self.piece.values(arrays)
            self._refuse_captured()
            return found

        self.owner.compilations += 1
        return self.control.Results(self._traced(run), self.known)

    def _look_for_captured(self, given: list[Any]) -> None:
        """Trace the function on shapes, for tensors that it reads and a tape records by now."""
        values = [np.zeros(v.shape, v.dtype) if type(v) is Tensor else v for v in given]
        shapes, probe = self.control.shapes, self.piece.probe
        self.piece.captured = []
        with self.control.wide():
            specimens = self.control.specimens(values)
            self._traced(lambda: shapes(lambda *arrays: probe(arrays), *specimens))
        self._refuse_captured()

    def _refuse_captured(self) -> None:
        if self.piece.captured:
            shape = self.piece.captured[0].shape
            raise RuleError(
                f"{self.owner.name}: the function reads a recorded tensor of shape {shape} that is "
                "not an argument, so no derivative would reach it; pass it as an argument, or use "
                "wg.stop_gradient(tensor)"
            )

    def _trace_forward(self, moving: tuple[int, ...], *arrays: Any) -> Any:
        """Return results, and what the rules read of all that was computed for them."""
        control = self.control

        def run() -> list[Any]:
            control.shapes(lambda *a: self.piece.probe(a), *control.specimens(arrays))
            self._refuse_captured()
            inner = Inner(self.piece, [*map(wrap, arrays)], False, moving)
            known = self.known
            known.live = inner.live
            weights = control.specimens([inner.results[k]._raw for k in inner.live])
            with self._bound(inner.given):
                pull, read = control.hoisted(lambda *w: inner.pull(w), *weights)
            varying = [value for value in read if control.is_traced(value)]
            order = {id(value): k for k, value in enumerate(varying)}
            known.sources = [(id(v) in order, order.get(id(v), v)) for v in read]

            def back(kept: list[Any], weights: list[Any]) -> list[Any]:
                values = [kept[v] if is_kept else v for is_kept, v in known.sources]
                return control.evaluated(pull, values, weights)

            known.back = control.compiled(back)
            return [*(t._raw for t in inner.results), *varying]

        self.owner.compilations += 1
        return control.Results(self._traced(run), self.known)

    # -- calls --

    def call(self, values: list[Any], kind: str) -> Any:
        """Return the result for a list of tensors and numbers."""
        given = [*values, *(v.value() for v in self.variables)]
        raws = [v._raw if type(v) is Tensor else v for v in given]
        level = highest(raws, {}) if levels.get() else None
        if active.get() and any(map(is_recorded, self.tensors)):
            self._look_for_captured(given)
        recorded = bool(active.get()) and any(map(is_recorded, given))
        if level is not None:
            known, found = self._of_examples(level, given)
            if recorded:
                found = self._as_one(given, found, self._pulled_on_tensors(given, known))
        elif recorded:
            known, found = self._recorded(given, raws)
        else:
            with self._precision(raws):
                results = self._values(*raws)
            known, found = results.known, results.arrays
        return self._finished(known, found, raws, kind)

    def plain(self, arrays: Sequence[Any], numpy: bool, mixed: bool) -> Any:
        """Return the result for arrays of NumPy's or JAX's that nothing records."""
        if not numpy:
            results = self._values(*arrays)
        else:
            with self._precision(arrays):
                results = self._values(*arrays)
        known, found = results.known, results.arrays
        if numpy and not mixed:
            found = [_as_kind(a, "numpy", True) for a in found]
        return known.rebuild(found) if known.is_plain else known.result(found)

    def _precision(self, raws: Sequence[Any]) -> Any:
        """Return the context in which NumPy's arrays keep their dtypes; JAX has its own setting."""
        on_jax = any(map(self.control.is_array, raws))
        return contextlib.nullcontext() if on_jax else self.control.wide()

    def _finished(self, known: Known, found: Sequence[Any], raws: list[Any], kind: str) -> Any:
        """Return the results in their nest, having assigned to variables."""
        count = len(found) - len(known.assigned)
        on_host = not any(self.control.is_array(plain_raw(r)) for r in raws)
        arrays = [_as_kind(v, kind, on_host) for v in found[:count]]
        for k, value in zip(known.assigned, found[count:], strict=True):
            variable = self.variables[k]
            numpy = isinstance(variable._value._raw, np.ndarray)
            variable.assign(_as_kind(value, "tensor", numpy))
        return known.result(arrays)

    def _recorded(self, given: list[Any], raws: list[Any]) -> tuple[Known, list[Tensor]]:
        """Return results with one node, and what the trace has found out about them."""
        moving = tuple(k for k, v in enumerate(given) if is_inexact(v) and is_recorded(v))
        if moving not in self._forward:
            trace = functools.partial(self._trace_forward, moving)
            self._forward[moving] = self.control.compiled(trace)
        with self._precision(raws):
            results = self._forward[moving](*raws)
        known, arrays = results.known, results.arrays
        count = sum(f is not None for f, _ in known.parts) + len(known.assigned)
        on_host = not any(map(self.control.is_array, raws))
        found = [_as_kind(a, "tensor", on_host) for a in arrays[:count]]
        kept = arrays[count:]
        on_tensors = self._pulled_on_tensors(given, known)

        def backward(results: list[Any], weights: list[Any]) -> list[Any]:
            if levels.get() or any(map(is_recorded, [*given, *weights])):
                return on_tensors(results, weights)
            with self._precision(raws):
                answers = known.back(kept, [weights[k]._raw for k in known.live])
            by_place = dict(zip(moving, answers, strict=True))
            return [
                _as_kind(by_place[k], "tensor", on_host) if k in by_place else None
                for k in range(len(given))
            ]

        return known, self._as_one(given, found, backward)

    def _as_one(self, given: list[Any], found: list[Tensor], backward: Any) -> list[Tensor]:
        """Return results with one node for the call."""

        def forward(results: list[Any], tangents: list[Any]) -> list[Any]:
            moving = tuple(k for k, t in enumerate(tangents) if t is not None)
            live, along = self.along(given, [tangents[k] for k in moving], moving)
            by_place = dict(zip(live, along, strict=True))
            return [by_place.get(k) for k in range(len(found))]

        return recorded_as_one(self.owner.name, given, found, backward, forward)

    def _pulled_on_tensors(self, given: list[Any], known: Known) -> Any:
        """Return the rule for cotangents as another compiled function, which has derivatives."""

        def backward(results: list[Any], weights: list[Any]) -> list[Any]:
            moving = tuple(k for k, v in enumerate(given) if is_inexact(v))
            places = tuple(k for k, w in enumerate(weights) if w is not None)
            answers = self.back(given, [weights[k] for k in places], moving, places)
            by_place = dict(zip(moving, answers, strict=True))
            return [by_place.get(k) for k in range(len(given))]

        return backward

    def _back(
        self, given: list[Any], weights: list[Any], moving: tuple[int, ...], places: tuple[int, ...]
    ) -> list[Any]:
        """Return the cotangents of some arguments, given weights of some results."""
        tensors = [as_tensor(v, self.owner.name) for v in given]
        inner = Inner(Piece(self.flat), tensors, True, moving)
        known = dict(zip(places, weights, strict=True))
        with self._bound(inner.given):
            return inner.pull([known.get(k) for k in inner.live])

    def _along(self, given: list[Any], tangents: list[Any], moving: tuple[int, ...]) -> Any:
        """Return which results have tangents, and these."""
        tensors = [as_tensor(v, self.owner.name) for v in given]
        inner = Inner(Piece(self.flat), tensors, True, moving)
        with self._bound(inner.given):
            return tuple(inner.live), inner.push(tangents)

    def _of_examples(self, level: Any, given: list[Any]) -> tuple[Known, list[Tensor]]:
        """Return the results for all examples of a vmap, from one program."""
        mapped = [
            type(v) is Tensor and type(v._raw) is Batched and v._raw.level is level for v in given
        ]
        key = tuple(mapped)
        if key not in self._for_examples:
            axes = [0 if m else None for m in mapped]

            def flat(values: list[Any]) -> list[Tensor]:
                found = self.flat([as_tensor(v, self.owner.name) for v in values])
                self._known_for[key] = self.known
                return found

            self._for_examples[key] = Jitted(vmap(flat, in_axes=(axes,)))
        pairs = zip(given, mapped, strict=True)
        with outside(level):
            found = self._for_examples[key]([detached(v._raw.values if m else v) for v, m in pairs])
        return self._known_for[key], [wrap(Batched(level, y)) for y in found]


def _part(leaf: Any) -> tuple[Callable[[Any], Any] | None, Any]:
    """Return how to make a leaf of a result of an array, and that array; None for other values."""
    if type(leaf) is Block:
        shape, region, mask = leaf.shape, leaf.region, leaf._mask
        values = as_tensor(leaf.values, "a block")
        return (lambda array: Block(shape, region, array, mask)), values
    if type(leaf) is Tensor or backends.namespace_of(leaf) is not None:
        return _same, as_tensor(leaf, "a result")
    if isinstance(leaf, Variable):
        return _same, leaf.value()
    return None, leaf


def _same(array: Any) -> Any:
    return array


def _as_kind(value: Any, kind: str, on_host: bool) -> Any:
    """Return an array of JAX's, or a tensor, as what a function returns that was given a kind."""
    if type(value) is Tensor:
        return value
    if kind == "tensor":
        return wrap(np.asarray(value) if on_host else value)
    return np.array(value)[()] if kind == "numpy" else value
