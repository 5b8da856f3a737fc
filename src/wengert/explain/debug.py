"""`wg.debug()`: a program that is watched, so that it can be explained."""

from __future__ import annotations

from wengert.explain.ledger import Ledger
from wengert.explain.nonfinite import NonFiniteLedger


class debug:
    """Note what a program does with tensors, so that the tape can explain itself.

    It is on from the call, and off again at the end of a ``with``. A gradient that is None comes
    with a warning that says why, and where; `tape.why` and errors name lines. Programs run slower
    by some microseconds for each operation.

    Parameters
    ----------
    nan
        Whether to stop, with a `NonFiniteError`, at the first element that becomes NaN or infinite
        although what it was computed from is finite, in a value or in a cotangent.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.asarray([1.5, 2.5])
    >>> with wg.debug(), wg.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = wg.sum(wg.floor(x))
    ...     why = tape.why(y, x)
    >>> why.reason
    <Reason.ZERO_DERIVATIVE: 'an operation has no derivative'>
    """

    def __init__(self, nan: bool = False) -> None:
        self.ledger = NonFiniteLedger() if nan else Ledger()
        self.ledger.start()

    def __enter__(self) -> debug:
        return self

    def __exit__(self, *error: object) -> None:
        self.off()

    def off(self) -> None:
        """Note nothing more."""
        if self.ledger is not None:
            self.ledger.stop()
