"""Folders of checkpoints: the latest one, and a number of them to keep."""

from __future__ import annotations

import contextlib
import json
import os
from operator import attrgetter
from typing import Any

from wengert.dialects.tensorflow.checkpoint_files import path_of, replace_file
from wengert.dialects.tensorflow.errors import mistake
from wengert.dialects.tensorflow.table import absent, plain

#: The file of a folder that says which checkpoints it has, oldest first.
_STATE = "checkpoint.json"

absent(
    {
        "Example": "np.savez and tf.data.Dataset.from_tensor_slices, for records of data",
        "ExponentialMovingAverage": "average.assign(decay * average + (1 - decay) * v)",
        "CheckpointOptions": "checkpoint.save(path), without options",
        **dict.fromkeys(
            ("load_checkpoint", "load_variable", "list_variables"),
            "np.load(f'{path}.npz'), which has the arrays by name",
        ),
    },
    "train.",
)


def note_latest(folder: str, names: list[str]) -> None:
    """Write down which checkpoints a folder has; the last of them is the latest."""
    text = json.dumps({"checkpoints": names}, indent=1)
    replace_file(os.path.join(folder, _STATE), lambda file: file.write(text.encode()))


def _noted(folder: str, file: str = _STATE) -> list[str]:
    """Return the paths of the checkpoints that a folder says it has, and has."""
    try:
        with open(os.path.join(folder, file), "rb") as state:
            names = json.load(state)["checkpoints"]
        inside = [n for n in names if isinstance(n, str) and os.path.basename(n) == n]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    paths = [os.path.join(folder, name) for name in inside]
    return [path for path in paths if os.path.exists(path_of(path))]


@plain("train.latest_checkpoint")
def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """Return the path of the latest checkpoint in a folder, or None."""
    found = _noted(os.fspath(checkpoint_dir), latest_filename or _STATE)
    return found[-1] if found else None


@plain("train.CheckpointManager")
class CheckpointManager:
    """Saves checkpoints in a folder and deletes old ones."""

    def __init__(
        self, checkpoint: Any, directory: Any, max_to_keep: int | None,
        keep_checkpoint_every_n_hours: Any = None, checkpoint_name: str = "ckpt",
        step_counter: Any = None, checkpoint_interval: int | None = None, init_fn: Any = None,
    ) -> None:  # fmt: skip
        if max_to_keep is not None and max_to_keep < 1:
            raise mistake(ValueError, "max_to_keep", max_to_keep, "1 or more, or None for all")
        for given in (keep_checkpoint_every_n_hours, checkpoint_interval, init_fn):
            if given is not None:
                raise NotImplementedError(
                    "keep_checkpoint_every_n_hours, checkpoint_interval and init_fn are not "
                    "offered; call manager.save() when it is time, and checkpoint.write(path) for "
                    "those to keep"
                )
        self._checkpoint, self._directory = checkpoint, os.fspath(directory)
        self._keep, self._prefix = max_to_keep, os.path.join(self._directory, checkpoint_name)
        self._paths = _noted(self._directory)

    checkpoint = property(attrgetter("_checkpoint"), doc="The checkpoint that is saved.")
    directory = property(attrgetter("_directory"), doc="The folder.")

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the checkpoints that are kept, oldest first."""
        return list(self._paths)

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint, or None."""
        return self._paths[-1] if self._paths else None

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None
    ) -> str:
        """Save, delete what is too old, and return the path."""
        counted = int(self._checkpoint.save_counter.assign_add(1))
        number = counted if checkpoint_number is None else int(checkpoint_number)
        path = self._checkpoint.write(f"{self._prefix}-{number}")
        paths = [p for p in self._paths if p != path] + [path]
        kept = paths if self._keep is None else paths[-self._keep :]
        note_latest(self._directory, [os.path.basename(p) for p in kept])
        for old in paths[: len(paths) - len(kept)]:
            with contextlib.suppress(FileNotFoundError):
                os.remove(path_of(old))
        self._paths = kept
        return str(path)

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint and return its path; without one, return None."""
        path = self.latest_checkpoint
        if path is not None:
            self._checkpoint.restore(path)
        return path

    def sync(self) -> None:
        """Do nothing: files are written when `save` returns."""
