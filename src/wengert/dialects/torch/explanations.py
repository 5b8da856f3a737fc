"""Why a gradient is None, in PyTorch's words: grad mode, leaves, `requires_grad`."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch import cuts
from wengert.dialects.torch.modes import GRAD, TRACKING
from wengert.errors import users_frame
from wengert.explain import native_cuts
from wengert.explain.explanation import Explanation, Reason
from wengert.explain.ledger import Step
from wengert.explain.lines import here
from wengert.explain.nones import tell
from wengert.explain.why import Names, Question, ledger, names_of


class _GradMode:
    """What stands for a tape: grad mode, which is never left."""

    _token = GRAD
    _spent = None
    _was_entered = True


class _Question(Question):
    always = TRACKING

    def not_watched(self) -> tuple[str, str]:
        name = self.names.source
        return (
            f"{name} does not require grad, so nothing computed from it was recorded",
            f"Write {name}.requires_grad_(), or make it with requires_grad=True, before it is used",
        )

    def outside(self, step: Step) -> Explanation:
        line = step.line
        return Explanation(
            Reason.PAUSED,
            f"What {self.names.target} depends on was computed while grad mode was off (no_grad or "
            "inference_mode)",
            "Move this line out of that context",
            None if line is None else line.location,
            "" if line is None else line.text,
        )

    def of_the_text(self) -> Explanation | None:
        cut = cuts.found_at(users_frame(), self.given[0])
        if cut is None:
            return None
        if cut.name in ("no_grad()", "inference_mode()", "set_grad_enabled()"):
            message = f"{cut.name} was in force, so nothing was recorded"
            return Explanation(Reason.PAUSED, message, "", cut.location, cut.text)
        reason, message, advice = native_cuts.meaning(cut)
        return Explanation(reason, message, advice, cut.location, cut.text)


def why(target: Any, source: Any, names: Names) -> Explanation:
    """Return why there is no gradient of one tensor by another."""
    question = _Question(_GradMode(), target, source, names)
    return question.spoken(question.answer(is_none=True))


def tell_none(targets: list[Any], source: Any, position: int) -> None:
    """Say that a gradient is None, and why, under `wg.debug()`."""
    if ledger() is not None and len(targets) == 1:
        names = names_of(here(), position)._replace(tape="autograd")
        tell(why(targets[0], source, names))


def cut_before(target: Any) -> Explanation | None:
    """Return what cut the path to a tensor that does not require grad, if that was noted."""
    book = ledger()
    if book is None:
        return None
    known = book.steps_of(target, target._node)
    question = _Question(_GradMode(), target, target, Names("the result", "the result"))
    for step, recorded in book.back_from(known, GRAD):
        cut = question.cut_at(step, set()) if recorded else None
        if cut is not None:
            return question.spoken(cut)
    return None
