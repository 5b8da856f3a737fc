"""What is asked about a program, and what follows for each from its values and derivatives."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import wengert as wg
from tests.campaign.asking import Asked, Question, of_gradient
from tests.campaign.keys import valid_key
from tests.campaign.programs import WENGERT, Program, Ref
from tests.campaign.references import Answer, from_real, to_real, total


class Known:
    """The derivative as a matrix, cut by targets and sources."""

    def __init__(self, program: Program, answer: Answer, hints: Sequence[Any]) -> None:
        self.program, self.answer, self.hints = program, answer, hints
        self.rows = _cuts([answer.values[t] for t in program.targets])
        self.columns = dict(
            zip(answer.sources, _cuts([answer.values[s] for s in answer.sources]), strict=True)
        )

    def pulled(self, weights: Sequence[Any], source: Ref) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient by a source for a weight of each target (None: zero), and errors."""
        cut, like = self.columns[source], self.answer.values[source]
        found, error = np.zeros(cut.stop - cut.start), np.zeros(cut.stop - cut.start)
        for w, rows in zip(weights, self.rows, strict=True):
            if w is not None:
                vector = to_real(w)
                found += vector @ self.answer.matrix[rows, cut]
                error += np.abs(vector) @ self.answer.errors[rows, cut]
        gradient = from_real(found, like).astype(self.answer.dtypes[source])
        return gradient, self._error(error, found, like)

    def pushed(self, tangents: dict[Ref, Any], target: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the tangent of a target, by its place among targets, and errors."""
        rows = self.rows[target]
        like = self.answer.values[self.program.targets[target]]
        found, error = np.zeros(rows.stop - rows.start), np.zeros(rows.stop - rows.start)
        for source, tangent in tangents.items():
            vector = to_real(tangent)
            found += self.answer.matrix[rows, self.columns[source]] @ vector
            error += self.answer.errors[rows, self.columns[source]] @ np.abs(vector)
        dtype = self.answer.dtypes[self.program.targets[target]]
        return from_real(found, like).astype(dtype), self._error(error, found, like)

    def block(self, target: int, source: Ref) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient of (the real part of) each element of a target, and errors."""
        rows, cut = self.rows[target], self.columns[source]
        y, x = self.answer.values[self.program.targets[target]], self.answer.values[source]
        part = self.answer.matrix[rows, cut][: y.size]
        error = self.answer.errors[rows, cut][: y.size]
        found = np.zeros((*y.shape, *x.shape), x.dtype)
        if found.size:
            made = [from_real(row, x) for row in part]
            found = np.stack(made).reshape(found.shape)
        worst = np.max(error, initial=0.0)
        return found, 2 * worst + 64 * self.answer.eps * np.max(np.abs(found), initial=0.0)

    def _error(self, error: np.ndarray, found: np.ndarray, like: np.ndarray) -> np.ndarray:
        if like.dtype.kind == "c":
            half = len(error) // 2
            error = error[:half] + error[half:]
        extra = 64 * self.answer.eps * np.max(np.abs(found), initial=0.0)
        return np.asarray(error.reshape(like.shape) + extra)


def _cuts(arrays: Sequence[np.ndarray]) -> list[slice]:
    ends = np.cumsum([0] + [a.size * (2 if a.dtype.kind == "c" else 1) for a in arrays])
    return [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]


def spread(values: np.ndarray, key: Any, like: np.ndarray) -> np.ndarray:
    """Return zeros with values added at a key."""
    out = np.zeros(like.shape, like.dtype)
    np.add.at(out, key, values)
    return out


def random_like(rng: np.random.Generator, like: Any, kind: str) -> np.ndarray:
    """Return short random numbers of a shape."""
    made = rng.uniform(0.3, 1.0, np.shape(like)) * rng.choice([-1.0, 1.0], np.shape(like))
    if kind == "c":
        made = made + 1j * rng.uniform(-1.0, 1.0, np.shape(like))
    return np.asarray(np.round(made, 3))


def questions(
    program: Program,
    answer: Answer,
    asked: Asked,
    keys: Sequence[Any],
    rng: np.random.Generator,
    hints: Sequence[Any],
) -> Iterator[Question]:
    """Yield all that is asked about a program."""
    known = Known(program, answer, hints)
    yield from values(program, answer)
    t = asked.names.get("t")
    if t is None:
        return  # it raised an error, which has been told
    # what no tape has recorded is a constant, as by a comparison; no input is
    sources = [s for s in answer.sources if s in program.inputs or t[s]._node is not None]
    yield from gradients(program, answer, known, sources, keys, rng)
    yield from tangents(program, answer, known, keys, rng)
    yield from functions(program, answer, known)
    yield from seconds(program, answer)
    yield from second_selections(program, answer, asked, known, keys, rng)
    yield from jacobians(program, answer, known, sources, keys, rng)
    yield from examples(program, answer, known, rng)
    yield from sparse(program, answer, known, rng)


def values(program: Program, answer: Answer) -> Iterator[Question]:
    """Ask for the value of every node."""
    expected = [v.astype(d) for v, d in zip(answer.values, answer.dtypes, strict=True)]
    kinds = ["value"] * len(expected)
    yield Question(kinds, "tape", "t", expected, answer.value_errors, exact=True)


def gradients(
    program: Program, answer: Answer, known: Known, sources: Sequence[Ref], keys: Any, rng: Any
) -> Iterator[Question]:
    """Ask for gradients of targets, of selections of them, by sources and selections of those."""
    source_keys = {s: valid_key(rng, answer.values[s].shape, known.hints) for s in sources}
    for j, target in enumerate(program.targets):
        y, key = answer.values[target], keys[j]
        kind = y.dtype.kind
        full = random_like(rng, y, kind)
        part = random_like(rng, y[key], kind)
        forms = {
            "z": (f"t[{target}]", "w", full, full),
            "z.at[k]": (f"t[{target}].at[k]", "w", part, spread(part, key, y)),
            "z[k]": (f"picked[{j}]", "w", part, spread(part, key, y)),
        }
        for form, (text, _, given, whole) in forms.items():
            weights = [whole if i == j else None for i in range(len(program.targets))]
            names = {"w": given, "k": key}
            answers = {s: known.pulled(weights, s) for s in sources}
            for dense in (True, False):
                tail = f'output_gradients=w, unconnected_gradients="zero", dense={dense})'
                note = "" if dense else ", dense=False"
                kinds, asked, expected, errors = [], [], [], []
                for s in sources:
                    between = "" if s in program.inputs else "intermediate "
                    g, e = answers[s]
                    ks = source_keys[s]
                    kinds += [f"{form} by {between}x{note}", f"{form} by {between}x.at[k]{note}"]
                    asked += [f"t[{s}]", f"t[{s}].at[k{s}]"]
                    names[f"k{s}"] = ks
                    expected += [g, g[ks]]
                    errors += [e, e[ks]]
                order = [int(i) for i in rng.permutation(len(asked))]
                yield Question(
                    [kinds[i] for i in order],
                    "tape",
                    f"tape.gradient({text}, [{', '.join(asked[i] for i in order)}], {tail}",
                    [expected[i] for i in order],
                    [errors[i] for i in order],
                    dict(names),
                    exact=True,
                )
                alone = int(rng.integers(len(asked)))
                yield Question(
                    [f"{kinds[alone]}, alone"],
                    "tape",
                    f"tape.gradient({text}, {asked[alone]}, {tail}",
                    [expected[alone]],
                    [errors[alone]],
                    dict(names),
                    exact=True,
                )
        yield Question(
            ["unconnected", "unconnected, None"],
            "tape",
            f'[tape.gradient(t[{target}], unused, unconnected_gradients="zero"), '
            f"np.array(tape.gradient(t[{target}], unused) is None)]",
            [np.zeros(2), np.array(True)],
            [0.0, 0.0],
        )
    ones = [np.ones_like(answer.values[t]) for t in program.targets]
    both = [known.pulled(ones, s) for s in program.inputs]
    text = ", ".join(f"t[{i}]" for i in program.targets)
    for again in ("", ", asked again"):
        yield Question(
            [f"gradient without weights{again}"] * len(both),
            "tape",
            f'tape.gradient([{text}], x, unconnected_gradients="zero")',
            [g for g, _ in both],
            [e for _, e in both],
        )


def tangents(
    program: Program, answer: Answer, known: Known, keys: Any, rng: Any
) -> Iterator[Question]:
    """Ask for tangents, of inputs and of selections of them."""
    arrays = program.arrays()
    count = len(program.targets)
    whole = dict(zip(program.inputs, answer.directions, strict=True))
    given = [np.asarray(v, a.dtype) for v, a in zip(answer.directions, arrays, strict=True)]
    moved = [known.pushed(whole, j) for j in range(count)]
    nodes = ", ".join(f"t[{i}]" for i in program.targets)
    yield Question(
        ["jvp"] * count,
        "function",
        "wg.jvp(lambda *x: [program(*map(wg.asarray, x))[i] for i in targets], a, v)[1]",
        [m for m, _ in moved],
        [e for _, e in moved],
        {"v": given},
    )
    part_keys = [valid_key(rng, a.shape, known.hints) for a in arrays]
    parts, full, primals = [], {}, []
    for i, (node, array, key) in enumerate(zip(program.inputs, arrays, part_keys, strict=True)):
        if rng.random() < 0.7:
            tangent = random_like(rng, array[key], array.dtype.kind)
            full[node] = _put(tangent, key, answer.values[node])
            primals.append(f"x[{i}].at[keys[{i}]]")
            if _repeats(key, array.shape):  # a tangent for each element once
                tangent, full[node] = whole[node], whole[node]
                primals[-1] = f"x[{i}]"
            parts.append(np.asarray(tangent, array.dtype))
        else:
            primals.append(f"x[{i}]")
            parts.append(given[i])
            full[node] = whole[node]
    selected = ", ".join(f"t[{i}][target_keys[{j}]]" for j, i in enumerate(program.targets))
    for dense in (True, False):
        moved = [known.pushed(full, j) for j in range(count)]
        note = "" if dense else ", dense=False"
        yield Question(
            [f"tangent of z by x.at[k]{note}"] * count
            + [f"tangent of z[k] by x.at[k]{note}"] * count,
            "tape",
            f"forward(program, x, [{', '.join(primals)}], v, lambda f, t: "
            f'f.jvp([{nodes}, {selected}], unconnected_gradients="zero", dense={dense}))',
            [m for m, _ in moved] + [m[k] for (m, _), k in zip(moved, keys, strict=True)],
            [e for _, e in moved] + [e[k] for (_, e), k in zip(moved, keys, strict=True)],
            {"v": parts, "keys": part_keys},
            exact=True,
        )


def _put(values: np.ndarray, key: Any, like: np.ndarray) -> np.ndarray:
    out = np.zeros(like.shape, like.dtype)
    out[key] = values
    return out


def _repeats(key: Any, shape: tuple[int, ...]) -> bool:
    places = np.arange(math.prod(shape)).reshape(shape)[key]
    return np.unique(places).size < np.size(places)


def functions(program: Program, answer: Answer, known: Known) -> Iterator[Question]:
    """Ask for gradients by the functions, and through a checkpoint."""
    weights = [
        w + answer.values[t] / 2 for w, t in zip(answer.weights, program.targets, strict=True)
    ]
    found = [known.pulled(weights, s) for s in program.inputs]
    count = len(found)
    expected, errors = [g for g, _ in found], [8 * e for _, e in found]
    for kind, code in {
        "grad": "wg.grad(loss, args)(*a)",
        "checkpoint": (
            "wg.grad(lambda *x: total(wg.checkpoint(program)(*map(wg.asarray, x)), targets, "
            "weights), args)(*a)"
        ),
        "variables, asked once": "by_variables(program, a, targets, weights)",
        "vjp": "wg.vjp(loss, *a)[1](np.asarray(1.0, wg.asarray(loss(*a)).dtype))",
    }.items():
        yield Question([kind] * count, "function", code, expected, errors, exact=True)


def seconds(program: Program, answer: Answer) -> Iterator[Question]:
    """Ask for products with the Hessian, in each order of modes."""
    count = len(program.inputs)
    given = [
        np.asarray(v, a.dtype) for v, a in zip(answer.directions, program.arrays(), strict=True)
    ]
    for kind, code in {
        "reverse over reverse": (
            "wg.grad(lambda *x: inner(wg.grad(loss, args)(*x), v), args)(*map(wg.asarray, a))"
        ),
        "forward over reverse": "wg.jvp(wg.grad(loss, args), a, v)[1]",
        "reverse over forward": "wg.grad(lambda *x: wg.jvp(loss, x, v)[1], args)(*a)",
        "hvp": "wg.hvp(loss, tuple(a), tuple(v))",
        "checkpoint, second order": (
            "wg.grad(lambda *x: inner(wg.grad(lambda *x: total(wg.checkpoint(program)(*x), targets,"
            " weights), args)(*x), v), args)(*map(wg.asarray, a))"
        ),
    }.items():
        yield Question(
            [kind] * count, "function", code, answer.second, answer.second_errors, {"v": given}
        )


def second_selections(
    program: Program, answer: Answer, asked: Asked, known: Known, keys: Any, rng: Any
) -> Iterator[Question]:
    """Ask for gradients of gradients of and by selections; they are those of whole arrays."""
    i, j = int(rng.integers(len(program.inputs))), int(rng.integers(len(program.targets)))
    x, y = answer.values[program.inputs[i]], answer.values[program.targets[j]]
    key, ks = keys[j], valid_key(rng, x.shape, known.hints)
    ks = (ks,) if ks is None else ks
    w, v = random_like(rng, y[key], y.dtype.kind), random_like(rng, x[ks], x.dtype.kind)
    tensors = [wg.asarray(a) for a in program.arrays()]
    try:
        dense = of_gradient(
            asked.names["program"], tensors, lambda t: t[program.targets[j]], i,
            spread(w, key, y), spread(v, ks, x), None,
        )  # fmt: skip
    except Exception:
        return  # products with the Hessian are asked for elsewhere
    expected = [np.asarray(g) for g in dense]
    largest = max((float(np.max(np.abs(e), initial=0.0)) for e in expected), default=0.0)
    worst = max((float(np.max(e, initial=0.0)) for e in answer.second_errors), default=0.0)
    yield Question(
        ["gradient of a gradient of z.at[k] by x.at[k]"] * len(expected),
        "tape",
        f"of_gradient(program, x, lambda t: t[{program.targets[j]}].at[k], {i}, w, v, ks)",
        expected,
        [10 * worst + _relative(answer) * largest] * len(expected),
        {"k": key, "ks": ks, "w": w, "v": v},
    )


def jacobians(
    program: Program, answer: Answer, known: Known, sources: Any, keys: Any, rng: Any
) -> Iterator[Question]:
    """Ask for Jacobians: of a tape, by functions in both modes, of and by selections."""
    j = int(rng.integers(len(program.targets)))
    target = program.targets[j]
    y = answer.values[target]
    key = keys[j]
    for s in sources:
        x = answer.values[s]
        full, error = known.block(j, s)
        ks = valid_key(rng, x.shape, known.hints)
        names = {"k": key, "ks": ks}
        for form, text, picked in (
            ("z", f"t[{target}]", full),
            ("z.at[k]", f"t[{target}].at[k]", _rows(full, key, y.shape)),
        ):
            yield Question(
                [f"tape.jacobian of {form}"] * 2,
                "tape",
                f'tape.jacobian({text}, [t[{s}], t[{s}].at[ks]], unconnected_gradients="zero")',
                [picked, _columns(picked, ks, x.shape)],
                [error, error],
                names,
            )
    if any(a.dtype.kind == "c" for a in program.arrays()) or y.dtype.kind == "c":
        return
    i = int(rng.integers(len(program.inputs)))
    s = program.inputs[i]
    x = answer.values[s]
    full, error = known.block(j, s)
    ks = valid_key(rng, x.shape, known.hints)
    names = {"k": key, "ks": ks}
    names = {name: (k,) if k is None else k for name, k in names.items()}  # None is for all
    for mode in ("forward", "reverse"):
        f = f"lambda *x: program(*map(wg.asarray, x))[{target}]"
        yield Question(
            [f"jacobian, {mode}"],
            "function",
            f'wg.jacobian({f}, {i}, mode="{mode}")(*a)',
            [full],
            [error],
            names,
        )
        cut = _columns(_rows(full, key, y.shape), ks, x.shape)
        yield Question(
            [f"jacobian of and wrt selections, {mode}"],
            "function",
            f'wg.jacobian({f}, {i}, mode="{mode}", of=k, wrt=ks)(*a)',
            [cut],
            [error],
            names,
        )


def _rows(full: np.ndarray, key: Any, shape: tuple[int, ...]) -> np.ndarray:
    places = np.arange(math.prod(shape)).reshape(shape)[key]
    tail = full.shape[len(shape) :]
    return full.reshape((math.prod(shape), *tail))[places]


def _columns(full: np.ndarray, key: Any, shape: tuple[int, ...]) -> np.ndarray:
    places = np.arange(math.prod(shape)).reshape(shape)[key]
    head = full.shape[: full.ndim - len(shape)]
    return full.reshape((*head, math.prod(shape)))[..., places]


def examples(program: Program, answer: Answer, known: Known, rng: Any) -> Iterator[Question]:
    """Ask for gradients of three examples at once; they are those of a loop."""
    stacks = [
        np.stack([a, a * np.asarray(1 + 1e-3, a.dtype), a * np.asarray(1 - 1e-3, a.dtype)])
        for a in program.arrays()
    ]

    def one(i: int) -> list[np.ndarray]:
        given = [s[i] for s in stacks]
        return [np.asarray(g) for g in gradient(*given)]

    loss = _loss(program, answer)
    gradient = wg.grad(loss, tuple(range(len(stacks))))
    try:
        rows = [one(i) for i in range(3)]
    except Exception:
        return  # the gradient itself is asked for elsewhere
    expected = [np.stack([r[i] for r in rows]) for i in range(len(stacks))]
    share = _relative(answer)
    errors = [share * np.max(np.abs(e), initial=1e-3) for e in expected]
    names = {"stacks": stacks}
    yield Question(
        ["vmap of grad"] * len(stacks),
        "function",
        "wg.vmap(wg.grad(loss, args))(*stacks)",
        expected,
        errors,
        names,
    )
    yield Question(
        ["grad of vmap"] * len(stacks),
        "function",
        "wg.grad(lambda *x: wg.sum(wg.vmap(loss)(*x)), args)(*map(wg.asarray, stacks))",
        expected,
        errors,
        names,
    )
    mapped = int(rng.integers(len(stacks)))
    arrays = program.arrays()
    in_axes = tuple(0 if i == mapped else None for i in range(len(stacks)))
    given = [s if i == mapped else arrays[i] for i, s in enumerate(stacks)]
    alone = [
        [
            np.asarray(g)
            for g in gradient(*[s[k] if i == mapped else s for i, s in enumerate(given)])
        ]
        for k in range(3)
    ]
    expected = [np.stack([r[i] for r in alone]) for i in range(len(stacks))]
    yield Question(
        ["vmap of grad, over one input"] * len(stacks),
        "function",
        f"wg.vmap(wg.grad(loss, args), {in_axes})(*given)",
        expected,
        [share * np.max(np.abs(e), initial=1e-3) for e in expected],
        {"given": given},
    )


def _relative(answer: Answer) -> float:
    """Return the relative error of the derivative, as that of another at a point nearby."""
    largest = max(float(np.max(np.abs(answer.matrix), initial=0.0)), 1e-3)
    worst = float(np.max(answer.errors, initial=0.0))
    return 10 * worst / largest + 1e3 * answer.eps


def _loss(program: Program, answer: Answer) -> Any:
    def loss(*inputs: Any) -> Any:
        nodes = program.run(WENGERT, [wg.asarray(x) for x in inputs])
        return total(nodes, program.targets, answer.weights)

    return loss


def sparse(program: Program, answer: Answer, known: Known, rng: Any) -> Iterator[Question]:
    """Ask for sparse Jacobians and Hessians, also at another point than the plan's."""
    j = int(rng.integers(len(program.targets)))
    target = program.targets[j]
    y = answer.values[target]
    i = int(rng.integers(len(program.inputs)))
    array = program.arrays()[i]
    s = program.inputs[i]
    if array.dtype.kind == "c" or y.dtype.kind == "c" or not array.size or not y.size:
        return
    arrays = program.arrays()
    other = array + np.asarray(0.01 * rng.uniform(-1, 1, array.shape), array.dtype)

    def alone(x: Any) -> Any:
        given = [x if k == i else b for k, b in enumerate(arrays)]
        return program.run(WENGERT, list(map(wg.asarray, given)))[target]

    share = _relative(answer)
    shape = (y.size, array.size)
    full, error = known.block(j, s)
    try:
        at_other = np.asarray(wg.jacobian(alone)(other)).reshape(shape)
    except Exception:
        return  # it is asked for elsewhere
    others = f"lambda x: program(*map(wg.asarray, [*a[:{i}], x, *a[{i + 1}:]]))[{target}]"
    pattern = "local" if rng.random() < 0.4 else "global"
    accepted = (wg.sparse.PatternError,) if pattern == "local" else ()
    for mode in rng.permutation(["auto", "forward", "reverse", "both"])[:2]:
        text = f'wg.sparse.jacobian({others}, a[{i}], pattern="{pattern}", mode="{mode}")'
        kind = f"sparse jacobian, {pattern}, {mode}"
        yield Question(
            [kind, f"{kind}, elsewhere"],
            "function",
            f"(lambda plan: [plan(a[{i}]), plan(other)])({text})",
            [full.reshape(shape), at_other],
            [error + share * np.max(np.abs(full), initial=1e-3),
             share * np.max(np.abs(at_other), initial=1e-3)],
            {"other": other},
            accepted,
        )  # fmt: skip
    loss = _loss(program, answer)

    def loss_alone(x: Any) -> Any:
        return loss(*[x if k == i else b for k, b in enumerate(arrays)])

    hessian = wg.hessian(loss_alone)
    square = (array.size, array.size)
    try:
        here, there = (np.asarray(hessian(p)).reshape(square) for p in (array, other))
    except Exception:
        return  # products with it are asked for elsewhere
    if len(arrays) == 1:
        direction = np.asarray(answer.directions[0]).reshape(-1)
        yield Question(
            ["hessian"],
            "function",
            "wg.hessian(loss)(a[0]).reshape(a[0].size, a[0].size) @ v",
            [answer.second[0].reshape(-1)],
            [np.max(answer.second_errors[0], initial=0.0) + share * np.max(np.abs(here))],
            {"v": direction.astype(array.dtype)},
        )
    text = f"lambda x: loss(*a[:{i}], x, *a[{i + 1}:])"
    mode = str(rng.choice(["auto", "star", "acyclic", "reverse"]))
    kind = f"sparse hessian, {pattern}, {mode}"
    share += max(
        float(np.max(e, initial=0.0)) / max(1e-3, float(np.max(np.abs(g), initial=0.0)))
        for g, e in zip(answer.second, answer.second_errors, strict=True)
    )
    yield Question(
        [kind, f"{kind}, elsewhere"],
        "function",
        f"(lambda plan: [plan(a[{i}]), plan(other)])(wg.sparse.hessian({text}, a[{i}], "
        f'pattern="{pattern}", mode="{mode}"))',
        [here, there],
        [10 * share * np.max(np.abs(h), initial=1e-3) for h in (here, there)],
        {"other": other},
        accepted,
    )
