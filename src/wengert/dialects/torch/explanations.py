"""Why a gradient is None, in PyTorch's words: grad mode, leaves, and what cuts a path."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch.modes import GRAD, TRACKING
from wengert.dialects.torch.tensors import Tensor
from wengert.errors import users_frame
from wengert.explain import native_cuts
from wengert.explain.explanation import Explanation, Reason
from wengert.explain.ledger import Step
from wengert.explain.lines import here
from wengert.explain.nones import tell
from wengert.explain.program_cuts import Cuts
from wengert.explain.why import Names, Question, ledger, names_of

#: Methods and functions of tensors whose results no gradient goes through.
_CUTS = {
    "detach", "detach_", "item", "tolist", "numpy", "argmax", "argmin", "argsort", "argwhere",
    "nonzero", "long", "int", "bool", "byte", "short", "char", "eq", "ne", "lt", "le", "gt", "ge",
    "equal", "greater", "greater_equal", "less", "less_equal", "not_equal", "isclose", "allclose",
    "isnan", "isinf", "isfinite", "logical_and", "logical_or", "logical_not", "logical_xor",
    "bincount", "searchsorted", "bucketize", "histc", "histogram", "one_hot", "multinomial",
    "bernoulli", "count_nonzero", "any", "all",
}  # fmt: skip
#: Those that make tensors of numbers, or of others' shapes.
_MAKERS = {
    "zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "tensor",
    "from_numpy",
}  # fmt: skip


def _is_live(value: Any) -> bool:
    """Return whether a value is a tensor that requires gradients, or a list or module of such."""
    if hasattr(type(value), "named_parameters"):
        value = list(value.parameters())
    parts = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(part, Tensor) and part.requires_grad for part in parts)


_MODES = ("no_grad", "inference_mode", "set_grad_enabled")
cut_at = Cuts(_CUTS, _MAKERS, ("data",), _MODES, _is_live).found_at


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
        cut = cut_at(users_frame(), self.given[0])
        if cut is None:
            return None
        if cut.name == ".data":
            message, advice = ".data made a constant of its tensor", "Leave .data out"
            return Explanation(Reason.DETACHED, message, advice, cut.location, cut.text)
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
    cut = question.of_the_text()
    if cut is None and known and not book.conversions(None, max(known)):
        line = book.steps[max(known)].line
        cut = Explanation(
            Reason.NOT_WATCHED,
            "nothing that it was computed from requires grad",
            "Make a parameter with requires_grad=True, or write x.requires_grad_() before it is "
            "used",
            None if line is None else line.location,
            "" if line is None else line.text,
        )
    return None if cut is None else question.spoken(cut)
