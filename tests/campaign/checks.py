"""What Wengert answers to all questions about a program, compared with what is known."""

from __future__ import annotations

import inspect
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import wengert as wg
from tests.campaign.asking import HELPERS, SETUPS, Asked, Question
from tests.campaign.keys import valid_key
from tests.campaign.programs import Program
from tests.campaign.questions import questions
from tests.campaign.references import Answer, Answers, Discarded, at_a_kink
from tests.campaign.source import literal, program_text


@dataclass
class Failure:
    """A question with another answer than expected."""

    program: Program
    answer: Answer | None
    question: Question
    position: int
    got: Any
    target_keys: Sequence[Any] = ()

    @property
    def kind(self) -> str:
        """What was asked."""
        return self.question.kinds[self.position]

    def __str__(self) -> str:
        return script(self)


# -- comparing --------------------------------------------------------------------------------


def arrays_of(found: Any) -> list[Any]:
    """Return the arrays of an answer, in order; blocks and sparse matrices as dense ones."""
    if isinstance(found, (list, tuple)):
        return [array for part in found for array in arrays_of(part)]
    if isinstance(found, wg.Block):
        found = found.todense()
    if isinstance(found, wg.Tensor):
        return [found.numpy()]
    if hasattr(found, "toarray"):
        return [found.toarray()]
    return [found if found is None else np.asarray(found)]


def differs(got: Any, expected: np.ndarray, error: Any, exact: bool = False) -> bool:
    """Whether an array is not what was expected, in shape, kind (or dtype, if exact), numbers."""
    if got is None or got.shape != expected.shape:
        return True
    if got.dtype.kind != expected.dtype.kind or (exact and got.dtype != expected.dtype):
        return True
    if expected.dtype.kind not in "fc":
        return not np.array_equal(got, expected)
    with np.errstate(invalid="ignore"):
        return not bool(np.all(np.abs(got - expected) <= error))


def check(
    program: Program,
    answers: Answers,
    seed: Any,
    counts: Counter[str] | None = None,
    wanted: str = "",
    hints: Sequence[Any] = (),
) -> list[Failure]:
    """Return what Wengert answers wrongly about a program; raise Discarded if nothing is known.

    With `wanted`, ask only questions of this kind; `hints` are keys to try.
    """
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        answer = answers.answer(program, rng)
        return _check(program, answer, rng, Counter() if counts is None else counts, wanted, hints)


def _check(
    program: Program,
    answer: Answer,
    rng: np.random.Generator,
    counts: Counter[str],
    wanted: str,
    hints: Sequence[Any],
) -> list[Failure]:
    counts[f"reference: {answer.library}"] += 1
    keys = [valid_key(rng, answer.values[t].shape, hints) for t in program.targets]
    asked = Asked(program, answer, keys)
    failures = []
    for question in questions(program, answer, asked, keys, rng, hints):
        if wanted and "value" not in question.kinds and wanted not in question.kinds:
            continue
        try:
            found = arrays_of(asked.ask(question))
        except question.accepted:
            counts["refused, as it may be"] += 1
            continue
        except Discarded:
            raise
        except Exception as error:
            failures.append(Failure(program, answer, question, 0, error, keys))
            continue
        if len(found) != len(question.expected):
            failures.append(Failure(program, answer, question, 0, found, keys))
            continue
        for i, (got, expected) in enumerate(zip(found, question.expected, strict=True)):
            counts[question.kinds[i]] += 1
            if differs(got, expected, question.errors[i], question.exact):
                failures.append(Failure(program, answer, question, i, got, keys))
    wrong = [f for f in failures if not isinstance(f.got, Exception)]
    if wrong and at_a_kink(program, answer.values):
        if len(wrong) == len(failures):
            raise Discarded("an operation at a kink")
        failures = [f for f in failures if isinstance(f.got, Exception)]
    return failures


# -- a failure as text ------------------------------------------------------------------------


def script(failure: Failure) -> str:
    """Return a program in Python that shows a failure."""
    question, program = failure.question, failure.program
    code, setup = question.code, SETUPS[question.setup]
    if question.setup == "function" and "loss" not in code:
        setup = setup.partition("\n")[0]
    for name in ("picked = ", "tape.watch(unused)"):
        if name.partition(" ")[0].removeprefix("tape.watch(").rstrip(")") not in code:
            setup = "\n".join(line for line in setup.splitlines() if name not in line)
    text = f"{setup}\n{code}"
    known = {"targets": list(program.targets), "target_keys": list(failure.target_keys)}
    if failure.answer is not None:
        known["weights"] = [np.asarray(w) for w in failure.answer.weights]
    lines = [program_text(program), "", ""]
    for name, function in HELPERS.items():
        if f"{name}(" in text:
            lines += [_plain_source(function), "", ""]
            text += lines[-3]
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    lines += [
        f"{name} = {literal(value)}"
        for name, value in (known | question.names).items()
        if name in words
    ]
    lines += [setup.rstrip(), f"got = {code}"]
    expected, error = question.expected[failure.position], question.errors[failure.position]
    place = failure.position
    lines.append(f"got = got[{place}] if isinstance(got, (list, tuple)) else got")
    if "sparse" in code:
        lines.append("got = got.toarray()")
    elif "dense=False" in code:
        lines.append("got = got.todense() if isinstance(got, wg.Block) else got")
    lines.append(f"expected = {literal(np.asarray(expected))}")
    lines.append(f"# got {failure.got!r}".replace("\n", "\n# "))
    lines.append("assert np.shape(got) == expected.shape, np.shape(got)")
    atol = float(np.max(error, initial=0.0))
    lines.append(f"np.testing.assert_allclose(np.asarray(got), expected, rtol=0, atol={atol:.3g})")
    return "\n".join(lines)


def _plain_source(function: Any) -> str:
    """Return the text of a function without types."""
    text = inspect.getsource(function).rstrip()
    for note in (": Sequence[Ref]", ": Sequence[Any]", ": Any", " -> Any"):
        text = text.replace(note, "")
    return text
