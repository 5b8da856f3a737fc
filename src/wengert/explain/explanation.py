"""Explanation: why there is a derivative, or why there is none."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field


class Reason(enum.Enum):
    """Why a gradient is what it is. The value says it in a few words.

    `wg.Reason.NOT_WATCHED.value` is `'the tape does not watch the source'`.
    """

    CONNECTED = "a path leads from the source to the target"
    ZERO = "a path leads to other elements only"
    NOT_WATCHED = "the tape does not watch the source"
    WATCHED_LATE = "the tape was told to watch the source after it was used"
    NEVER_ENTERED = "the tape was never entered"
    BEFORE = "the target was computed before the tape was entered"
    AFTER = "the target was computed after the tape was left"
    PAUSED = "the target was computed while recording was stopped"
    SWAPPED = "the source was computed from the target"
    CONVERTED = "a value was converted to plain numbers"
    INTEGER = "a value was cast to a dtype without derivatives"
    DETACHED = "a value was detached"
    ZERO_DERIVATIVE = "an operation has no derivative"
    ASSIGNED = "a value was assigned to a variable"
    CUSTOM_NONE = "a custom rule answered None"
    OTHER_OBJECT = "the source is another object than the one that was used"
    RESET = "the tape was reset"
    SPENT = "the tape was used, and freed what it recorded"
    UNRELATED = "the target was not computed from the source"
    OTHER_TAPE = "another tape recorded the target"
    NOT_A_TENSOR = "what was given is not a tensor"
    UNSEEN = "the path is cut where nobody looked"


@dataclass(frozen=True)
class Explanation:
    """Why there is a derivative of a target by a source, or why there is none.

    Attributes
    ----------
    reason
        One of `Reason`.
    message
        What happened.
    advice
        What to write instead; "" where nothing is wrong.
    location
        "file:line" of what happened, or None where that was not noted.
    code
        What stands in that line.
    chain
        For a path, its operations from the source to the target, each with its line if known.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.asarray(2.0)
    >>> with wg.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = wg.sin(x) * x
    >>> tape.why(y, x).chain
    ('multiply -> ()',)
    """

    reason: Reason
    message: str
    advice: str = ""
    location: str | None = None
    code: str = ""
    chain: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        parts = [f"{self.message}."]
        if self.location is not None:
            parts.append(f"  at {self.location}" + (f": {self.code}" if self.code else ""))
        parts += [f"  {step}" for step in self.chain]
        if self.advice:
            parts.append(f"{self.advice}.")
        return "\n".join(parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html  # which is slow to import

        first, *others = str(self).splitlines()
        rest = "\n".join(map(html.escape, others))
        return f"<div><strong>{html.escape(first)}</strong><pre>{rest}</pre></div>"
