"""Computing without NumPy's warnings: PyTorch and TensorFlow say nothing of log(0)."""

from __future__ import annotations

from wengert.backends.float_errors import QUIET

#: How fast paths compute.
QUIETLY = QUIET
enter, leave, aloud = QUIET.enter, QUIET.leave, QUIET.aloud


class Quiet:
    """A context in which NumPy gives no warnings."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = QUIET.enter()

    def __exit__(self, *exception: object) -> None:
        QUIET.leave(self._token)
