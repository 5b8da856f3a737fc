"""Objects whose attributes hold variables: what modules and checkpoints have in common."""

from __future__ import annotations

from typing import Any


class Trackable:
    """Something that a checkpoint saves."""


class AutoTrackable(Trackable):
    """An object of which a checkpoint saves all attributes that hold variables.

    A checkpoint that was restored before all of them are there leaves a note in `_waiting`, which
    is asked about each attribute that is set from then on.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        waiting = vars(self).get("_waiting")
        if waiting is not None:
            value = waiting.attached(name, value)
        super().__setattr__(name, value)
