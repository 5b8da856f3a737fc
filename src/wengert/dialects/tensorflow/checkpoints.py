"""tf.train.Checkpoint: variables of modules, lists and dicts saved and restored by their places.

What is saved is a graph of objects. It is restored along the names of attributes, keys and
positions, so that a program finds its variables again whatever they are called. Variables that a
module makes later get their values when they become its attributes.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.checkpoint_files import Saved, SavedObject, read, write
from wengert.dialects.tensorflow.checkpoint_folders import note_latest
from wengert.dialects.tensorflow.dataset_elements import ElementIterator
from wengert.dialects.tensorflow.dtypes import of_numpy
from wengert.dialects.tensorflow.errors import invalid, mistake
from wengert.dialects.tensorflow.structures import Module
from wengert.dialects.tensorflow.table import plain
from wengert.dialects.tensorflow.tensors import is_variable
from wengert.dialects.tensorflow.tracking import AutoTrackable, Trackable
from wengert.dialects.tensorflow.variables import Variable

_FORMAT = "files are NumPy's .npz, which TensorFlow does not read, nor are its files read here"
_VALUE = ".ATTRIBUTES/VARIABLE_VALUE"


# -- the graph of objects -------------------------------------------------------------------------


def is_leaf(value: Any) -> bool:
    """Return whether a value is saved as an array: a variable, or a place in a dataset."""
    if is_variable(value) or isinstance(value, ElementIterator):
        return True
    return isinstance(value, Trackable) and hasattr(value, "assign") and hasattr(value, "numpy")


def is_tracked(value: Any) -> bool:
    """Return whether a value may hold variables."""
    if isinstance(value, (Trackable, list, tuple, dict)) or is_leaf(value):
        return True
    return not isinstance(value, type) and _variables(value) is not None


def _variables(value: Any) -> Any:
    """Return the variables that an object of some other class, such as an optimiser, exposes."""
    held = getattr(value, "variables", None) if hasattr(value, "__dict__") else None
    return held if isinstance(held, (list, tuple)) else None


def parts_of(value: Any) -> dict[Any, Any]:
    """Return the parts of an object that may hold variables, by name."""
    if is_leaf(value):
        return {}
    if isinstance(value, (list, tuple)):
        found: Any = {str(i): part for i, part in enumerate(value)}
    elif isinstance(value, Checkpoint):
        found = value._parts()
    elif isinstance(value, AutoTrackable):
        found = vars(value)
    else:
        held = _variables(value) or ()
        found = value if isinstance(value, dict) else {f"v{i}": v for i, v in enumerate(held)}
    return {name: part for name, part in found.items() if is_tracked(part)}


def _graph_of(root: Any) -> Iterator[tuple[Any, str, dict[str, Any]]]:
    """Return all objects, from the root outwards: (object, its path, its parts), each once."""
    seen, line, unnamed = {id(root)}, deque([(root, "")]), []
    while line:
        value, path = line.popleft()
        parts = parts_of(value)
        unnamed += [(value, part) for name, part in parts.items() if not isinstance(name, str)]
        parts = {name: part for name, part in parts.items() if isinstance(name, str)}
        yield value, path, parts
        for name, part in parts.items():
            if id(part) not in seen:
                seen.add(id(part))
                line.append((part, f"{path}{name.replace('.', '..').replace('/', '.S')}/"))
    while unnamed:  # what is held elsewhere too needs no names
        owner, part = unnamed.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if is_leaf(part):
            raise ValueError(
                f"a variable is in a dict with the keys {list(owner)!r:.100}; what a checkpoint "
                "saves needs strings as keys"
            )
        unnamed += [(owner, inner) for inner in parts_of(part).values()]


def saved_graph(root: Any) -> Saved:
    """Return what a checkpoint of an object holds."""
    whole = list(_graph_of(root))
    numbers = {id(value): number for number, (value, _, _) in enumerate(whole)}
    found = Saved([], {})
    for value, path, parts in whole:
        node = SavedObject({name: numbers[id(part)] for name, part in parts.items()})
        held = value._root if isinstance(value, Checkpoint) else value
        if is_leaf(held):
            node.array = f"{path}{_VALUE}"
            at = held.position if isinstance(held, ElementIterator) else held.numpy()
            found.arrays[node.array] = np.asarray(at)
        found.objects.append(node)
    return found


# -- restoring ------------------------------------------------------------------------------------


class Restoring:
    """A checkpoint on its way into a program: which object is which, and who has its value."""

    def __init__(self, saved: Saved, root: Any) -> None:
        self._saved, self._root = saved, root
        self._bound: dict[int, Any] = {}
        #: the numbers of the objects whose arrays are restored
        self.given: set[int] = set()
        #: those of the objects that hold arrays, in themselves or in parts
        self._holding = _holding(saved.objects)
        self.bind(0, root)

    def bind(self, number: int, value: Any) -> None:
        """Restore an object of the checkpoint into a value."""
        todo: list[tuple[int, Any]] = []
        self._walk(number, value, todo, set())
        pairs = [(n, v, self._saved.arrays[str(self._saved.objects[n].array)]) for n, v in todo]
        for _, leaf, array in pairs:  # all are checked before any changes
            _check_fit(leaf, array)
        for n, leaf, array in pairs:
            if isinstance(leaf, ElementIterator):
                leaf.move_to(int(array))
            else:
                leaf.assign(array)
            self.given.add(n)

    def _walk(self, number: int, value: Any, todo: list[tuple[int, Any]], seen: set[int]) -> None:
        """Note the arrays to restore, and which modules wait for attributes to come."""
        if self._bound.setdefault(number, value) is not value or number in seen:
            return
        seen.add(number)
        node = self._saved.objects[number]
        held = value._root if isinstance(value, Checkpoint) else value
        if is_leaf(held) and node.array is not None and number not in self.given:
            todo.append((number, held))
        parts, missing = parts_of(value), False
        for name, child in node.children.items():
            if name in parts:
                self._walk(child, parts[name], todo, seen)
            else:
                missing = missing or child in self._holding
        if missing and not isinstance(value, (Module, Checkpoint)) and not is_leaf(value):
            raise ValueError(
                f"restore: {type(value).__name__} has fewer variables than were saved; make them "
                "first: call the model once, or optimizer.build(model.trainable_variables)"
            )
        for owner in {id(v): v for v in (value, held)}.values():
            if isinstance(owner, AutoTrackable):
                vars(owner).pop("_waiting", None)
                if missing:
                    vars(owner)["_waiting"] = Waiting(self, number)

    def part(self, number: int, name: str) -> int | None:
        """Return the number of an object's part that has no value yet."""
        child = self._saved.objects[number].children.get(name)
        return None if child in self._bound else child

    def unmatched(self) -> tuple[list[str], list[Any]]:
        """Return the saved arrays that no variable has, and the variables without one."""
        self.bind(0, self._root)  # what was attached since
        objects = self._saved.objects
        left = [o.array for n, o in enumerate(objects) if o.array and n not in self.given]
        restored = {id(self._bound[n]) for n in self.given}
        leaves = (v for v, _, _ in _graph_of(self._root) if is_leaf(v))
        return left, [v for v in leaves if id(v) not in restored]


def _holding(objects: list[SavedObject]) -> set[int]:
    owners: dict[int, list[int]] = {}
    for number, node in enumerate(objects):
        for child in node.children.values():
            owners.setdefault(child, []).append(number)
    line = [number for number, node in enumerate(objects) if node.array is not None]
    found = set(line)
    while line:
        fresh = [owner for owner in owners.get(line.pop(), ()) if owner not in found]
        found.update(fresh)
        line += fresh
    return found


class Waiting:
    """What an object's further parts are given when they come."""

    def __init__(self, restoring: Restoring, number: int) -> None:
        self._restoring, self._number = restoring, number

    def attached(self, name: str, value: Any) -> Any:
        """Return an attribute that is set now, having given it its saved value."""
        child = self._restoring.part(self._number, name)
        if child is not None and is_tracked(value):
            self._restoring.bind(child, value)
        return value


def _check_fit(leaf: Any, array: np.ndarray) -> None:
    if isinstance(leaf, ElementIterator):
        if array.shape != () or array.dtype.kind != "i" or array < 0:
            raise invalid(f"restore: {array!r:.60} is no place in a dataset")
        return
    if not leaf.shape.is_compatible_with(array.shape):
        raise ValueError(
            f"restore: {leaf.name} has shape {leaf.shape}, and {array.shape} was saved; make it "
            "of the saved shape"
        )
    if leaf.dtype != of_numpy(array.dtype):
        raise invalid(f"restore: {leaf.name} is of {leaf.dtype!r}, and {array.dtype} was saved")


class Status:
    """What became of a checkpoint that was restored."""

    def __init__(self, restoring: Restoring | None) -> None:
        self._restoring = restoring

    def _unmatched(self) -> tuple[list[str], list[Any]]:
        if self._restoring is None:
            raise AssertionError("nothing is restored: the path of the checkpoint is None")
        return self._restoring.unmatched()

    def assert_consumed(self) -> Status:
        """Raise AssertionError unless each saved value has a variable, and the other way round."""
        left, _ = self._unmatched()
        if left:
            raise AssertionError(f"no variable has the saved values {left[:5]}")
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> Status:
        """Raise AssertionError unless each variable of the program has got a saved value."""
        _, without = self._unmatched()
        if without:
            raise AssertionError(f"{len(without)} variables are not saved: {without[:3]!r:.300}")
        return self

    def assert_nontrivial_match(self) -> Status:
        """Raise AssertionError unless some variable has got a saved value."""
        self._unmatched()
        if self._restoring is None or not self._restoring.given:
            raise AssertionError("no variable of the program is saved in this checkpoint")
        return self

    def expect_partial(self) -> Status:
        """Return itself: nothing is said of values that nobody takes."""
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Do nothing: what is there is restored already."""

    run_restore_ops = initialize_or_restore


@plain("train.Checkpoint", differs=_FORMAT)
class Checkpoint(AutoTrackable):
    """Saves and restores the variables of some objects, which are its attributes."""

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        for name, value in sorted({"root": root, **kwargs}.items()):
            if not is_tracked(value) and (name != "root" or value is not None):
                raise mistake(
                    ValueError, f"Checkpoint: {name}", value, "a module, a variable, or a list or "
                    "dict of them: for a number write tf.Variable(x)",
                )  # fmt: skip
        self._root = root
        self._counter: Variable | None = None
        for name, value in sorted(kwargs.items()):
            setattr(self, name, value)

    def _parts(self) -> dict[str, Any]:
        own = {n: v for n, v in vars(self).items() if n not in ("_root", "_counter", "_waiting")}
        counted = {} if self._counter is None else {"save_counter": self._counter}
        return {**({} if self._root is None else parts_of(self._root)), **own, **counted}

    @property
    def save_counter(self) -> Variable:
        """How often `save` was called, as a variable that is saved with the others."""
        if self._counter is None:
            counter = Variable(0, trainable=False, name="save_counter", dtype="int64")
            waiting = vars(self).get("_waiting")
            self._counter = waiting.attached("save_counter", counter) if waiting else counter
        return self._counter

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Write the values to a file, and return the path to give to `read`."""
        prefix = os.fspath(file_prefix)
        write(prefix, saved_graph(self))
        return prefix

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Write the values to a file with a number, and return the path to give to `restore`."""
        counter = self.save_counter.assign_add(1)
        path = self.write(f"{os.fspath(file_prefix)}-{counter.numpy()}")
        note_latest(os.path.dirname(path), [os.path.basename(path)])
        return path

    def read(self, save_path: Any, options: Any = None) -> Status:
        """Give variables the values that `write` wrote, those made later when they are attached."""
        return Status(Restoring(read(os.fspath(save_path)), self))

    def restore(self, save_path: Any, options: Any = None) -> Status:
        """Give variables the values that `save` wrote; nothing is done for None."""
        if save_path is None:
            return Status(None)
        saved = read(os.fspath(save_path))
        self.save_counter  # noqa: B018  which is restored too
        return Status(Restoring(saved, self))

    def sync(self) -> None:
        """Do nothing: files are written when `save` returns."""
