"""Random programs for TensorFlow's names: the same text on real TensorFlow and on Wengert.

    python -m tests.dialects.tensorflow.random_programs --minutes 10 --seed 1

A program calls functions of the dialect's own table, so that a new name is in it without another
line. It reads and assigns variables, nests tapes and accumulators, and asks for gradients by inputs
and intermediate results, second derivatives, tangents and Jacobians. A difference is shrunk to a
function that can be pasted.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import os
import random
import re
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import wengert.tensorflow as ours

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# -- the functions --------------------------------------------------------------------------------

#: Names that take other things than tensors, whose answers are random, or not determined (signs of
#: eigenvectors), or that change the surroundings. TensorFlow's second derivatives of a softmax's
#: cross entropy leave out that labels may depend on the same variable. Outside of the domains of
#: igamma and the like it has numbers, and we have NaN. Of colours with negative parts, its
#: derivatives of rgb_to_hsv are not those of its values; of hsv_to_rgb it has none. In a graph, its
#: gradient by one image that rot90 turns may have another shape than the image.
LEFT_OUT = re.compile(
    r"^(io|sparse|ragged|lookup|__internal__|compiler|python|keras|data|config|random|errors|losses|metrics|optimizers|initializers|test|compat|"
    r"debugging|distribute|summary|types|autograph|experimental|nn\.experimental|nn\.embedding_lookup_sparse|nest|version|"
    r"image\.(random|stateless|sample|adjust|rgb_to_h|hsv_to|rot90)|linalg\.(eig|svd|qr|lu|self_adjoint|sqrtm|logm)|"
    r"eig|nn\.(softmax_cross|fractional|all_can|sampled|nce|ctc|max_pool_with|collapse|isotonic))"
    r"|dropout|print|function$|_fn$|^(while_loop|cond|case|switch_case|scan|foldl|foldr|group|"
    r"init_scope|Assert|assert|timestamp|custom_gradient|recompute_grad|grad_pass_through|gradients|"
    r"hessians|vectorized_map|py_function|Variable|executing|is_|get_|no_op|device|name_scope|"
    r"bitcast|guarantee_const|unique|matrix_square_root|stop_gradient|math\.(bincount|nextafter|igamma|igammac|betainc|zeta)|"
    r"parallel_stack|register|make_|load_|save|type_spec|control_dep|numpy_|map_fn|quantiz)"
)


def names() -> list[str]:
    """Return the names of all functions that programs call."""
    ours._facade.load_all()
    return sorted(
        name
        for name, value in ours._facade.names.items()
        if callable(value) and not isinstance(value, type) and not LEFT_OUT.search(name)
    )


# -- programs -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """Inputs, statements and questions, from which the text of a function is made."""

    inputs: dict[str, str]  # names, and the expressions that they are set to
    statements: tuple[str, ...]
    targets: tuple[str, ...]
    sources: tuple[str, ...]
    questions: frozenset[str]
    single: bool = False  # whether a statement computes in single precision

    def text(self) -> str:
        """Return the program as a function that can be pasted."""
        lines = [f"{name} = {value}" for name, value in self.inputs.items()]
        watched = ", ".join(n for n in self.inputs if not n.startswith("v"))
        inside = [*self.statements, f"z = {self._target()}"]
        asked = ", ".join(self.sources)
        out = [f"'values': [{', '.join(self.targets)}]"]
        after: list[str] = []
        if "forward" in self.questions:
            first = next(iter(self.inputs))
            inside = [
                f"with tf.autodiff.ForwardAccumulator({first}, 0.5 + {first}) as forward:"
            ] + [f"    {line}" for line in inside]
            targets = ", ".join(self.targets)
            out.append(f"'tangents': forward.jvp([{targets}])")
        inside = [
            "with tf.GradientTape(persistent=True) as tape:",
            f"    tape.watch([{watched}])",
            *(f"    {line}" for line in inside),
            f"g = tape.gradient(z, [{asked}])",
        ]
        out.append("'gradient': g")
        if "second" in self.questions:
            total = (
                "sum(tf.reduce_sum(tf.sin(tf.convert_to_tensor(p))) for p in g if p is not None)"
            )
            inside += [f"h = {total} + 0.0 * z"]
            inputs = ", ".join(self.inputs)
            # not by intermediate results: which of them a rule reads is nobody's business
            out.append(f"'second': outer.gradient(h, [{inputs}])")
            if "forward" in self.questions:
                out.append(
                    f"'mixed': outer.gradient(forward.jvp({self.targets[-1]}), [{inputs}])"
                    f" if forward.jvp({self.targets[-1]}) is not None else None"
                )
            inside = [
                "with tf.GradientTape(persistent=True) as outer:",
                f"    outer.watch([{watched}])",
                *(f"    {line}" for line in inside),
            ]
        if "jacobian" in self.questions:
            after.append(
                f"rows = tape.jacobian({self.targets[-1]}, [{asked}], experimental_use_pfor=False)"
            )
            out.append("'jacobian': rows")
        body = [*inside, *after, f"return {{{', '.join(out)}}}"]
        if "function" in self.questions:
            body = ["@tf.function", "def f():", *(f"    {line}" for line in body), "return f()"]
        body = [*lines, *body]
        return "def program(tf):\n" + "".join(f"    {line}\n" for line in body)

    def _target(self) -> str:
        parts = [
            f"tf.reduce_sum({name} * tf.cast({1 + 0.25 * i}, {name}.dtype))"
            for i, name in enumerate(self.targets)
        ]
        return " + ".join(f"tf.cast({part}, tf.float64)" for part in parts)


def run(text: str, tf: Any) -> Any:
    """Return what a program's function returns, or the exception that it raises."""
    scope: dict[str, Any] = {"np": np}
    exec(compile(text, "<program>", "exec"), scope)
    try:
        return scope["program"](tf)
    except Exception as error:
        return error


# -- making one -----------------------------------------------------------------------------------


class Writer:
    """Writes statements, and tries each on both libraries."""

    def __init__(self, seed: int, libraries: tuple[Any, ...], functions: list[str]) -> None:
        self.random = random.Random(seed)
        self.libraries, self.functions = libraries, functions
        self.scopes: list[dict[str, Any]] = [{"tf": tf, "np": np} for tf in libraries]
        self.live: list[str] = []
        self.count = 0
        self.counts: Counter[str] = Counter()
        self.problem: str | None = None
        self.refused: list[str] = []  # statements that TensorFlow runs, and why we do not

    def array(self, shape: tuple[int, ...]) -> str:
        """Return the text of an array of numbers that are not close to one another."""
        size = int(np.prod(shape))
        values = [round(self.random.uniform(-1.6, 1.6), 3) for _ in range(size)]
        return repr(np.reshape(values, shape).tolist())

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a tensor by its name."""
        return tuple(int(n) for n in self.scopes[0][name].shape)

    def tried(self, statement: str) -> bool:
        """Run a statement on both; return whether both could, and keep what they differ in."""
        if "tf.signal." in statement and any(
            _uses(statement, name) and 0 in self.shape(name) for name in self.live
        ):
            return False  # which ends TensorFlow's process
        found = []
        for scope in self.scopes:
            try:
                exec(statement, scope)
                found.append(None)
            except Exception as error:
                found.append(error)
        if len(found) == 2 and (found[0] is None) != (found[1] is None):
            kind = "ours alone takes" if found[0] is None else "ours alone refuses"
            self.counts[kind] += 1
            if found[0] is not None:
                self.refused.append(f"{statement}: {found[0]!r:.200}")
        return not any(error is not None for error in found)

    def choose(self, rank: int | None = None) -> str:
        """Return the name of a tensor, one of the last rather than an old one."""
        pool = [n for n in self.live if rank is None or len(self.shape(n)) == rank] or self.live
        return self.random.choice(pool[-4:] if self.random.random() < 0.7 else pool)

    def forms(self) -> Iterator[str]:
        """Return arguments of many forms, in a random order."""
        x, y = self.choose(), self.choose()
        shape = self.shape(x)
        n = len(shape)
        pick = self.random.randrange
        axis = pick(-n, n) if n else 0
        like = [name for name in self.live if self.shape(name) == shape]
        same = self.random.choice(like)
        order = list(range(n))
        self.random.shuffle(order)
        length = shape[axis] if n else 1
        places = [pick(length) for _ in range(self.random.randint(1, 3))] if length else []
        forms = [
            x, x, f"{x}, {same}", f"{x}, {y}", f"{x}, {axis}", f"{x}, axis={axis}",
            f"{x}, axis=[{axis}], keepdims=True", f"[{x}, {same}]", f"[{x}, {same}], {axis}",
            f"{x}, {order}", f"{x}, {[*shape[::-1]]}", f"{x}, [-1]", f"{x}, {places}",
            f"{x}, {places}, axis={axis}", f"{x}, {[[1, 0]] * n}", f"{x}, {[2] * n}",
            f"{x}, {same}, {same}", f"{x}, 0.3", f"{x}, 2", f"{x}, -1.0, 1.0", f"{x}, 1, {axis}",
            f"{x}, {[0] * n}, {[-1] * n}", f"{x}, [[{pick(length) if length else 0}]]",
            f"{x}, {[pick(2) for _ in range(shape[0] if n else 1)]}, 3",
            f"{x}, {[i // 2 for i in range(shape[0] if n else 1)]}", f"{x}, {same}, {axis}",
            f"[[0], [1]], {x}, [4]", f"{x}, [[0]], {y}", f"{x} > 0.0, {x}, {same}",
            f"'...i->...', {x}", f"'...i,...i->...', {x}, {same}", f"'ij,kj->ik', {x}, {y}",
            f"{x}, {same}, 0.5", f"2, {x}", f"{x}, {same}, transpose_b=True", f"{x}, 2, 1",
        ]  # fmt: skip
        self.random.shuffle(forms)
        yield from forms

    def key(self, shape: tuple[int, ...]) -> str:
        """Return the text of an index."""
        parts = []
        for n in shape[: self.random.randint(0, len(shape))]:
            kind = self.random.choice("isrn:")
            low = self.random.randint(0, n)
            if kind == "i" and n:
                parts.append(str(self.random.randrange(-n, n)))
            elif kind == "r":
                parts.append("::-1")
            elif kind == "n":
                parts.append("None")
            else:
                parts.append(":" if kind == ":" else f"{low}:{self.random.randint(low, n)}")
        if self.random.random() < 0.3:
            parts.append("...")
        return ", ".join(parts) or "..."

    def statement(self) -> str | None:
        """Return a statement that both libraries run, or None."""
        self.count += 1
        new = f"a{self.count}"
        x, y = self.choose(), self.choose()
        kind = self.random.random()
        if kind < 0.25:
            op = self.random.choice(["+", "-", "*", "/", "@", "**"])
            right = self.random.choice([y, "2.0", "0.7", f"tf.abs({y})"])
            options = [f"{new} = {x} {op} {right}"]
        elif kind < 0.35:
            options = [f"{new} = {x}[{self.key(self.shape(x))}]"]
        elif kind < 0.42:
            options = [self._special(new, x, y)]
        else:
            name = chosen(self.random, self.functions)
            forms = [form for form in self.forms() if _fits(name, form)]
            options = [f"{new} = tf.{name}({form})" for form in forms[:12]]
        for line in options:
            if self.tried(line) and self._keep(new, line):
                return line
        return None

    def _special(self, new: str, x: str, y: str) -> str:
        variables = [n for n in self.live if n.startswith("v")]
        v = self.random.choice(variables) if variables else x
        choices = [
            f"{new} = tf.stop_gradient({x}) * {x}",
            f"{new} = tf.where({x} > 0.1, tf.sin({x}), {x} ** 2)",
            f"{new} = tf.cond(tf.reduce_sum({x}) > 0.0, lambda: {x} * 2.0, lambda: tf.sin({x}))",
            f"{new} = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, tf.sin(t) + t),"
            f" (0, {x}))[1]",
            f"{new} = tf.map_fn(lambda t: t * t, {x})",
            f"{new} = tf.foldl(lambda a, b: a * 0.5 + b, {x})",
            f"{new} = tf.scan(lambda a, b: a * 0.5 + b, {x})",
            f"{new} = tf.vectorized_map(lambda t: tf.reduce_sum(t * t), {x})",
            f"{new} = tf.function(lambda a, b: a * b + a)({x}, {x})",
            f"{new} = tf.function(lambda a: a)({x})",
            f"{new} = tf.recompute_grad(lambda a: tf.sin(a) * a)({x})",
            f"{new} = tf.custom_gradient(lambda a: (tf.exp(a), lambda d: d * tf.exp(a)))({x})",
            f"{new} = tf.convert_to_tensor({v}) * tf.identity({v})",
            f"{new} = tf.gather({v}, [0, 0])",
            f"{new} = tf.nn.embedding_lookup({v}, [0])",
            f"{new} = tf.cast({x}, tf.float32)",
            f"{new} = tf.complex({x}, {x})",
            f"{new} = tf.abs(tf.complex({x}, tf.sin({x})))",
            f"{new} = tf.concat([{x}, {y}, {x}], 0)",
            f"{new} = tf.stack([{x}, {x}])",
            f"{new} = tf.tensordot({x}, {y}, 1)",
        ]
        if variables:
            choices += [f"{new} = {v}.assign({v} * 0.9 + 0.1).value()"] * 3
            choices += [f"{new} = {v}.value() + {v}.assign_add(tf.ones_like({v})).read_value()"]
        return self.random.choice(choices)

    def _keep(self, new: str, line: str) -> bool:
        """Return whether a result can be gone on with; compare its values."""
        mine = self.scopes[0][new]
        if type(mine) is tuple or type(mine) is list or not hasattr(mine, "dtype"):
            return False
        if not (mine.dtype.is_floating or mine.dtype.is_complex):
            return False
        if len(self.scopes) == 2:
            wrong = difference(mine, self.scopes[1][new])
            if wrong:
                self.problem = f"value: {line}: {wrong}"
                return True
        value = np.asarray(mine)
        # where TensorFlow's derivatives are not those of the same product written out
        if "prod(" in line and (mine.dtype.is_complex or ("cum" in line and not value.all())):
            return False
        if re.search(r"recompute_grad\(.*\(v\d+\)$", line):
            return False  # TensorFlow computes it again from what was assigned since
        if value.size > 200 or value.ndim > 4 or not np.isfinite(value).all():
            return False
        if np.abs(value).max(initial=0) > 1e3 or type(mine).__name__ == "IndexedSlices":
            return False
        self.live.append(new)
        return True


def chosen(source: random.Random, names: list[str]) -> str:
    """Return a random name; a name added to the others changes only the few choices of its own."""
    key = source.random()
    return min(names, key=lambda name: zlib.crc32(f"{key} {name}".encode()))


def _fits(name: str, form: str) -> bool:
    """Return whether a function takes so many arguments, none of which is its `name`."""
    if name.startswith("signal.") and "[" in form:
        return False  # lists of tensors become single precision, and a length of 0 ends TensorFlow
    if name in ("nn.swish", "nn.silu") and "," in form:
        return False  # TensorFlow's gradient by x has the shape that beta makes of it
    if "kaiser" in name and "," in form:
        return False  # TensorFlow's window of a negative beta is another than that of -beta
    call: Any = ast.parse(f"f({form})").body[0]
    options = {word.arg: None for word in call.value.keywords}
    try:
        signature = inspect.signature(ours._facade.names[name])
        return "name" not in signature.bind(*call.value.args, **options).arguments
    except (TypeError, ValueError):
        return False


def written(seed: int, libraries: tuple[Any, ...], functions: list[str]) -> tuple[Program, Writer]:
    """Return a random program, and what was seen while it was written."""
    w = Writer(seed, libraries, functions)
    base = tuple(w.random.randint(1, 3) for _ in range(w.random.randint(0, 3)))
    inputs: dict[str, str] = {}
    shapes = [base, base, base[1:], tuple(w.random.randint(1, 3) for _ in base)]
    for i, shape in enumerate(w.random.sample(shapes, w.random.randint(1, 3))):
        name = f"v{i}" if w.random.random() < 0.4 else f"x{i}"
        make = "tf.Variable" if name.startswith("v") else "tf.constant"
        inputs[name] = f"{make}({w.array(shape)}, dtype=tf.float64)"
        w.tried(f"{name} = {inputs[name]}")
        w.live.append(name)
    statements: list[str] = []
    for _ in range(w.random.randint(1, 9)):
        line = w.statement()
        if w.problem:
            statements.append(line or "")
            break
        if line is not None:
            if w.random.random() < 0.06:
                line = f"with tape.stop_recording(): {line}"
            statements.append(line)
    made = [n for n in w.live if n.startswith("a")]
    targets = tuple(w.random.sample(made, min(len(made), 2))) or tuple(w.live[:1])
    sources = tuple(inputs) + tuple(w.random.sample(made, min(len(made), 2)))
    questions = {
        question
        for question, chance in [
            ("second", 0.6), ("forward", 0.2), ("jacobian", 0.15), ("function", 0.08),
        ]
        if w.random.random() < chance
    }  # fmt: skip
    if any("stop_recording" in s for s in statements):
        questions.discard("function")  # a constant first used there is cut off from its graph
    if "function" in questions:  # in a graph, constants are not recorded, nor tangents of branches
        sources = tuple(inputs)
        questions.discard("forward")
    if any(re.search(r"custom_gradient\(.*\(v\d+\)$|cumulative_logsum", s) for s in statements):
        questions.discard("forward")  # within it, TensorFlow loses the gradient by the variable
    if any(not np.size(w.scopes[0][name]) for name in (*targets, *sources)):
        questions.discard("jacobian")  # TensorFlow's rows of nothing have another shape
    single = any(w.scopes[0][name].dtype.name in SINGLE for name in made)
    asked = frozenset(questions)
    return Program(inputs, tuple(statements), targets, sources, asked, single), w


# -- comparing ------------------------------------------------------------------------------------


#: The dtypes of single precision.
SINGLE = ("float32", "complex64")


def difference(got: Any, expected: Any, where: str = "", single: bool = False) -> str:
    """Return what differs between two answers; "" if nothing does.

    With `single`, answers in double precision may come from intermediate results in single.
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        parts = (difference(got[k], expected[k], k, single) for k in expected)
        return next(filter(None, parts), "")
    if isinstance(expected, (list, tuple)) and isinstance(got, (list, tuple)):
        pairs = zip(got, expected, strict=True)
        parts = (difference(a, b, f"{where}[{i}]", single) for i, (a, b) in enumerate(pairs))
        return next(filter(None, parts), "")
    if isinstance(expected, Exception) or isinstance(got, Exception):
        same = isinstance(got, Exception) and isinstance(expected, Exception)
        return "" if same else f"{where}: got {got!r:.200}, expected {expected!r:.200}"
    if expected is None or got is None:
        same = got is None and expected is None
        return "" if same else f"{where}: got {got!r:.200}, expected {expected!r:.200}"
    if type(got).__name__ == type(expected).__name__ == "IndexedSlices":
        parts = (
            difference(getattr(got, p), getattr(expected, p), f"{where}.{p}", single)
            for p in ("values", "indices")
        )
        return next(filter(None, parts), "")
    a, b = map(_dense, (got, expected))  # which of both a gradient is, is tested elsewhere
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{where}: got {a.dtype.name} {a.shape}, expected {b.dtype.name} {b.shape}"
    if not np.isfinite(b).all() or np.abs(b).max(initial=0) > 1e9:
        return ""  # the last bits of large numbers, and conventions at poles, are not compared
    tolerance = 1e-3 if single or b.dtype.name in SINGLE else 1e-7
    scale = max(1.0, float(np.abs(b).max(initial=0)))
    if np.allclose(a, b, rtol=tolerance, atol=tolerance * scale):
        return ""
    return f"{where}: got {a.tolist()!s:.200}, expected {b.tolist()!s:.200}"


def _dense(value: Any) -> np.ndarray:
    if type(value).__name__ != "IndexedSlices":
        return np.asarray(value)
    array = np.zeros(tuple(np.asarray(value.dense_shape)), np.asarray(value.values).dtype)
    np.add.at(array, np.asarray(value.indices), np.asarray(value.values))
    return array


def compared(program: Program, libraries: tuple[Any, Any]) -> str:
    """Return what differs when a program runs on both; "" if nothing does."""
    text = program.text()
    mine, theirs = (run(text, tf) for tf in libraries)
    if isinstance(theirs, Exception):  # each statement went well: it lacks a derivative
        return ""
    for answer in (mine, theirs):
        if isinstance(answer, dict) and "tangents" in answer:
            # where a derivative is zero everywhere, a tangent is None or zeros, as it comes,
            # and so are the gradients of a tangent
            for question in {"tangents", "mixed"} & answer.keys():
                found = answer[question] or [None] * len(program.inputs)
                answer[question] = [None if t is None or _is_zero(t) else t for t in found]
    return difference(mine, theirs, single=program.single)


def _is_zero(tangent: Any) -> bool:
    return not np.any(np.abs(_dense(tangent)) > 1e-12)


# -- shrinking ------------------------------------------------------------------------------------


def _uses(line: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", line) is not None


def _without(program: Program, index: int) -> Program | None:
    """Return a program without a statement and what depends on it."""
    gone, kept = set(), []
    for i, line in enumerate(program.statements):
        made = re.search(r"(\w+) =", line)
        if i == index or any(_uses(line, name) for name in gone):
            if made:
                gone.add(made.group(1))
        else:
            kept.append(line)
    targets = tuple(t for t in program.targets if t not in gone)
    sources = tuple(s for s in program.sources if s not in gone)
    if not targets or not sources:
        return None
    return replace(program, statements=tuple(kept), targets=targets, sources=sources)


def _smaller(program: Program) -> Iterator[Program]:
    for i in reversed(range(len(program.statements))):
        less = _without(program, i)
        if less is not None:
            yield less
    for question in sorted(program.questions):
        yield replace(program, questions=program.questions - {question})
    for part in ("targets", "sources"):
        values = getattr(program, part)
        for i in range(len(values)):
            if len(values) > 1:
                yield replace(program, **{part: values[:i] + values[i + 1 :]})
    for i, line in enumerate(program.statements):
        if line.startswith("with tape.stop_recording(): "):
            plain = line.removeprefix("with tape.stop_recording(): ")
            changed = (*program.statements[:i], plain, *program.statements[i + 1 :])
            yield replace(program, statements=changed)
    for name in program.inputs:
        used = any(_uses(line, name) for line in program.statements) or name in program.targets
        if not used and len(program.inputs) > 1:
            inputs = {n: v for n, v in program.inputs.items() if n != name}
            sources = tuple(s for s in program.sources if s != name)
            if sources:
                yield replace(program, inputs=inputs, sources=sources)


def shrunk(program: Program, fails: Callable[[Program], str]) -> Program:
    """Return a smaller program that fails as well."""
    again = True
    while again:
        again = False
        for less in _smaller(program):
            if fails(less):
                program, again = less, True
                break
    return program


# -- running --------------------------------------------------------------------------------------


@dataclass
class Report:
    """What a run has seen."""

    programs: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def one(seed: int, libraries: tuple[Any, Any], functions: list[str], report: Report) -> str:
    """Write, run and compare one program; return what differs, with a program to paste."""
    program, w = written(seed, libraries, functions)
    report.programs += 1
    report.kinds += w.counts
    report.refused += w.refused
    report.kinds["values"] += len(program.statements)
    if w.problem:
        return f"seed {seed}: {w.problem}\n{program.text()}"
    for question in program.questions:
        report.kinds[question] += 1
    report.kinds["gradients"] += len(program.sources)
    wrong = compared(program, libraries)
    if not wrong:
        return ""
    small = shrunk(program, lambda p: compared(p, libraries))
    return f"seed {seed}: {compared(small, libraries)}\n{small.text()}"


def main() -> None:
    """Run programs for some minutes, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--programs", type=int, default=10**9)
    options = parser.parse_args()
    import tensorflow as theirs

    report, functions = Report(), names()
    end, seed = time.monotonic() + 60 * options.minutes, options.seed
    while time.monotonic() < end and report.programs < options.programs:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wrong = one(seed, (ours, theirs), functions, report)
        if wrong:
            report.found.append(wrong)
            print(wrong, flush=True)
        seed += 1
    print(f"{report.programs} programs, seeds {options.seed} to {seed - 1}, {dict(report.kinds)}")
    for line in report.refused:
        print(f"refused: {line}")
    print(f"{len(report.found)} differences")


if __name__ == "__main__":
    main()
