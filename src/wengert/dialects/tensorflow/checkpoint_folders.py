"""Folders of checkpoints: the latest one, a number of them to keep, and what is in them."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from wengert.dialects.tensorflow.checkpoint_files import path_of, read, replace_file
from wengert.dialects.tensorflow.dtypes import of_numpy
from wengert.dialects.tensorflow.errors import NotFoundError, mistake
from wengert.dialects.tensorflow.table import absent, plain

#: The file of a folder that says which checkpoints it has, oldest first.
_STATE = "checkpoint.json"

absent(
    {
        "Example": "np.savez and tf.data.Dataset.from_tensor_slices, for records of data",
        "ExponentialMovingAverage": "average.assign(decay * average + (1 - decay) * v)",
        "CheckpointOptions": "checkpoint.save(path), without options",
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
        step_counter: Any = None, checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
    ) -> None:  # fmt: skip
        if max_to_keep is not None and max_to_keep < 1:
            raise mistake(ValueError, "max_to_keep", max_to_keep, "1 or more, or None for all")
        if keep_checkpoint_every_n_hours is not None:
            raise NotImplementedError(
                "keep_checkpoint_every_n_hours is not offered; write checkpoint.write(path) for "
                "those to keep"
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("checkpoint_interval: give step_counter too, the variable it counts")
        self._checkpoint, self._directory = checkpoint, os.fspath(directory)
        self._keep, self._prefix = max_to_keep, os.path.join(self._directory, checkpoint_name)
        self._steps, self._interval, self._init = step_counter, checkpoint_interval, init_fn
        self._last_step: int | None = None
        self._paths = _noted(self._directory)

    checkpoint = property(attrgetter("_checkpoint"), doc="The checkpoint that is saved.")
    directory = property(attrgetter("_directory"), doc="The folder.")
    checkpoint_interval = property(attrgetter("_interval"), doc="The steps between two saves.")

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
    ) -> str | None:
        """Save, delete what is too old, and return the path; None if it is not time yet."""
        if self._interval is not None:
            step, last = int(self._steps), self._last_step
            if check_interval and last is not None and step - last < self._interval:
                return None
            self._last_step = step
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
        """Restore the latest checkpoint and return its path; without one, call `init_fn`."""
        path = self.latest_checkpoint
        if path is not None:
            self._checkpoint.restore(path)
        elif self._init is not None:
            self._init()
        return path

    def sync(self) -> None:
        """Do nothing: files are written when `save` returns."""


# -- what is in a checkpoint ----------------------------------------------------------------------


class CheckpointReader:
    """The arrays of a checkpoint by name."""

    def __init__(self, path: str) -> None:
        self._arrays = dict(sorted(read(path).arrays.items()))

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Return the shapes of all arrays."""
        return {name: list(array.shape) for name, array in self._arrays.items()}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """Return the dtypes of all arrays."""
        return {name: of_numpy(array.dtype) for name, array in self._arrays.items()}

    def has_tensor(self, tensor_str: str) -> bool:
        """Return whether there is an array of a name."""
        return tensor_str in self._arrays

    def get_tensor(self, tensor_str: str) -> Any:
        """Return the array of a name."""
        if tensor_str not in self._arrays:
            text = f"{tensor_str!r} is not in the checkpoint, which has {list(self._arrays)!r:.300}"
            raise NotFoundError(None, None, text)
        return self._arrays[tensor_str].copy()[()]


@plain("train.load_checkpoint", differs="the graph of objects is no array of its own")
def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """Return what reads the arrays of a checkpoint, or of the latest in a folder."""
    path = os.fspath(ckpt_dir_or_file)
    return CheckpointReader((latest_checkpoint(path) if os.path.isdir(path) else None) or path)


@plain("train.list_variables", differs="the graph of objects is no array of its own")
def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """Return the names and shapes of a checkpoint's arrays."""
    return list(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


@plain("train.load_variable")
def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """Return one array of a checkpoint."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)
