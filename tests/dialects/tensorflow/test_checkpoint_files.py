"""Checkpoints that somebody damaged, or made to do damage: errors only, and no code is run."""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert.tensorflow as tf

VALUE = ".ATTRIBUTES/VARIABLE_VALUE"


class Runs:
    """What unpickles to a call, which the tests would notice."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("code-was-run",)


def saved(folder: Path) -> bytes:
    v = {"a": tf.Variable([1.0, 2.0, 3.0]), "b": [tf.Variable(4), tf.Variable([[True]])]}
    tf.train.Checkpoint(v=v).write(folder / "x")
    return (folder / "x.npz").read_bytes()


def restored(folder: Path, data: bytes) -> list[Any]:
    """Return the values that a file gives; raise what reading it raises."""
    (folder / "y.npz").write_bytes(data)
    v = {"a": tf.Variable([0.0, 0.0, 0.0]), "b": [tf.Variable(0), tf.Variable([[False]])]}
    tf.train.Checkpoint(v=v).read(folder / "y")
    return [np.asarray(x).tolist() for x in (v["a"], *v["b"])]


WHOLE = [[1.0, 2.0, 3.0], 4, [[True]]]
#: What may be raised: damage, or variables that are not as they were saved.
WRONG = (tf.errors.DataLossError, tf.errors.InvalidArgumentError, ValueError)


def rebuilt(data: bytes, change: dict[str, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    """Return a sound archive with other bytes in some of its parts."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w", how) as new:
        for name in old.namelist():
            new.writestr(name, change.get(name, old.read(name)))
    return stream.getvalue()


def array_bytes(array: Any, allow_pickle: bool = False) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def with_header(text: str, data: bytes = b"") -> bytes:
    header = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def test_the_whole_file_restores(tmp_path):
    assert restored(tmp_path, saved(tmp_path)) == WHOLE


def test_truncated_files_are_errors(tmp_path):
    data = saved(tmp_path)
    for n in range(0, len(data), 7):
        with pytest.raises(tf.errors.DataLossError, match="damaged"):
            restored(tmp_path, data[:n])


@pytest.mark.parametrize("seed", range(8))
def test_mutated_files_are_errors_or_harmless(tmp_path, seed):
    data, draw = saved(tmp_path), random.Random(seed)
    outcomes = set()
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(draw.randint(1, 4)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        try:
            assert restored(tmp_path, bytes(damaged)) == WHOLE
            outcomes.add("harmless")
        except WRONG:
            outcomes.add("error")
    assert "error" in outcomes


@pytest.mark.parametrize("part", ["index.json", f"v/a/{VALUE}.npy"])
def test_mutated_parts_of_sound_archives_are_errors_or_fit(tmp_path, part):
    data, draw = saved(tmp_path), random.Random(part)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        held = archive.read(part)
    outcomes = set()
    for _ in range(600):
        damaged = bytearray(held)
        for _ in range(draw.randint(1, 3)):
            damaged[draw.randrange(min(len(damaged), 700))] = draw.randrange(256)
        try:
            found = restored(tmp_path, rebuilt(data, {part: bytes(damaged)}))
            outcomes.add([np.shape(x) for x in found] == [(3,), (), (1, 1)])
        except WRONG:
            outcomes.add("error")
    assert "error" in outcomes
    assert False not in outcomes


HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"
OBJECTS = np.array([Runs()], object)
ARRAYS = {
    "pickled": array_bytes(OBJECTS, allow_pickle=True),
    "pickle alone": pickle.dumps(Runs()),
    "huge": with_header(HEADER.replace("(3,)", "(1099511627776,)")),
    "digits": with_header(HEADER.replace("(3,)", f"({'9' * 5000},)")),
    "no dtype": with_header(HEADER.replace("<f4", "<f9"), b"0" * 12),
    "negative": with_header(HEADER.replace("(3,)", "(-1, -3)"), b"0" * 12),
    "a call": with_header("__import__('os').mkdir('code-was-run')"),
    "deep": with_header("(" * 5000),
    "longer": with_header(HEADER, b"0" * 16),
    "strange escape": with_header(HEADER.replace("<f4", r"\d"), b"0" * 12),
    "records": array_bytes(np.zeros(3, [("a", "f4")])),
    "dates": array_bytes(np.zeros(3, "M8[s]")),
    "short": array_bytes(np.zeros(3, np.float32))[:-2],
    "empty": b"",
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_hostile_arrays(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tf.errors.DataLossError):
        restored(tmp_path, rebuilt(saved(tmp_path), {f"v/a/{VALUE}.npy": ARRAYS[name]}))
    assert not Path("code-was-run").exists()


def index(**changes: Any) -> bytes:
    whole = {"format": "wengert.tensorflow checkpoint", "version": 1, "objects": [{"children": {}}]}
    return json.dumps(whole | changes).encode()


INDICES = {
    "other format": index(format="x"),
    "later version": index(version=2),
    "no objects": index(objects=[]),
    "objects of another kind": index(objects=[1, 2]),
    "parts outside": index(objects=[{"children": {"v": 7}}]),
    "parts of another kind": index(objects=[{"children": {"v": "0"}}]),
    "parts before": index(objects=[{"children": {"v": -1}}]),
    "a name outside": index(objects=[{"children": {}, "array": "../../etc/passwd"}]),
    "a name of another kind": index(objects=[{"children": {}, "array": [1]}]),
    "a list": b"[]",
    "deep": b"[" * 100_000,
    "no JSON": b"\xff\xfe",
}


@pytest.mark.parametrize("name", INDICES)
def test_hostile_indices(tmp_path, name):
    with pytest.raises(tf.errors.DataLossError):
        restored(tmp_path, rebuilt(saved(tmp_path), {"index.json": INDICES[name]}))


def test_a_circle_of_objects_ends(tmp_path):
    circle = index(objects=[{"children": {"v": 1}}, {"children": {"a": 0, "b": 1}}])
    assert restored(tmp_path, rebuilt(saved(tmp_path), {"index.json": circle})) == [
        [0.0, 0.0, 0.0], 0, [[False]],
    ]  # fmt: skip


def test_a_compressed_archive_is_refused(tmp_path):
    """It could be a thousand times as long as its file."""
    data = rebuilt(saved(tmp_path), {}, zipfile.ZIP_DEFLATED)
    with pytest.raises(tf.errors.DataLossError, match="compressed"):
        restored(tmp_path, data)


def test_parts_longer_than_the_file_are_refused(tmp_path):
    data = bytearray(saved(tmp_path))
    start = data.rindex(b"PK\x01\x02")
    data[start + 20 : start + 28] = struct.pack("<II", 2**31, 2**31)
    with pytest.raises(tf.errors.DataLossError, match="longer than the file"):
        restored(tmp_path, bytes(data))


def test_files_of_tensorflow_are_named_as_such(tmp_path):
    (tmp_path / "x.index").write_bytes(b"")
    with pytest.raises(tf.errors.NotFoundError, match="TensorFlow's own format"):
        tf.train.Checkpoint().restore(tmp_path / "x")


@pytest.mark.parametrize(
    "text", ["", "[", "[]", '{"checkpoints": 1}', '{"checkpoints": [1, null]}', "[" * 100_000]
)
def test_a_damaged_list_of_checkpoints_is_empty(tmp_path, text):
    (tmp_path / "checkpoint.json").write_text(text)
    assert tf.train.latest_checkpoint(tmp_path) is None


def test_a_manager_deletes_nothing_outside_of_its_folder(tmp_path):
    (tmp_path / "precious.npz").write_bytes(b"")
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "checkpoint.json").write_text('{"checkpoints": ["../precious"]}')
    kept = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), folder, 1)
    assert kept.checkpoints == []
    kept.save()
    kept.save()
    assert (tmp_path / "precious.npz").exists()
