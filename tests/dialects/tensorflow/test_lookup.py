"""Tables from keys to values, hash values of strings, and files and folders."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

import wengert.tensorflow as ours
from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.parity
program = PROGRAMS = Programs()


def table(tf: Any, keys: Any, values: Any, default: Any = -1, *kinds: Any) -> Any:
    contents = tf.lookup.KeyValueTensorInitializer(keys, values, *kinds)
    return tf.lookup.StaticHashTable(contents, default)


def of_file(tf: Any, text: str, *how: Any, default: Any = -1, **options: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "words")
        path.write_text(text)
        contents = tf.lookup.TextFileInitializer(str(path), *how, **options)
        keys, values = tf.lookup.StaticHashTable(contents, default).export()
        return sorted(zip(keys.numpy().tolist(), values.numpy().tolist(), strict=True))


def mutable(tf: Any) -> Any:
    found = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    found.insert(["a", "b"], [1, 2])
    return found


PROGRAMS |= {
    "strings to numbers": lambda tf: table(tf, ["a", "b"], [1, 2]).lookup(
        tf.constant([["a"], ["z"]])
    ),
    "by key": lambda tf: table(tf, ["a", "b"], [1, 2])[tf.constant("b")],
    "kinds": lambda tf: [
        str(v)
        for t in [table(tf, ["a"], [1])]
        for v in (t.key_dtype, t.value_dtype, t.default_value, t.size(), t.name)
    ],
    "keys of another dtype": lambda tf: table(tf, ["a"], [1]).lookup(tf.constant([1])),
    "one key with two values": lambda tf: table(tf, ["a", "a"], [1, 2]),
    "one key twice": lambda tf: table(tf, ["a", "a"], [1, 1]).size(),
    "fewer values": lambda tf: table(tf, ["a", "b"], [1]),
    "numbers to strings": lambda tf: table(tf, [1, 2], ["x", "y"], "d").lookup(tf.constant([1, 5])),
    "dtypes given": lambda tf: table(tf, [1, 2], [3, 4], 0.5, tf.int64, tf.float32).lookup(
        tf.constant([1, 9], tf.int64)
    ),
    "default of another kind": lambda tf: table(tf, [1, 2], [3, 4], "d", tf.int64, tf.int64),
    "default of several": lambda tf: table(tf, [1, 2], [3, 4], [0, 1]),
    "exported": lambda tf: [part.numpy().tolist() for part in table(tf, ["a"], [7]).export()],
    "lines": lambda tf: of_file(tf, "one\ntwo three\n", tf.string, -2, tf.int64, -1),
    "lines from a number": lambda tf: of_file(
        tf, "one\ntwo\nx\n", tf.string, -2, tf.int64, -1, value_index_offset=3, vocab_size=2
    ),
    "numbers of lines": lambda tf: of_file(
        tf, "one\ntwo\n", tf.int64, -1, tf.string, -2, default="?"
    ),
    "a blank line": lambda tf: of_file(tf, "one\n\nx\n", tf.string, -2, tf.int64, -1),
    "no number": lambda tf: of_file(tf, "a\n", tf.int64, -2, tf.int64, -1),
    "fewer lines": lambda tf: of_file(tf, "a\n", tf.string, -2, tf.int64, -1, vocab_size=20),
    "numbers of lines as strings": lambda tf: of_file(tf, "a\n", tf.string, -2, tf.string, -1),
    "indices": lambda tf: [tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER],
    "mutable": lambda tf: mutable(tf).lookup(tf.constant(["a", "c"])),
    "fractions for whole numbers": lambda tf: mutable(tf).insert(["a"], [1.5]),
    "numbers for strings": lambda tf: mutable(tf).insert(tf.constant([1]), [1]),
    "fewer values than keys": lambda tf: mutable(tf).insert(["a", "b"], [1]),
    "removed of another dtype": lambda tf: mutable(tf).remove(tf.constant([1])),
}


@program
def a_table_changes(tf):
    found = mutable(tf)
    found.insert(tf.constant("q"), tf.constant(9, tf.int64))
    found.remove(tf.constant(["a", "never there"]))
    keys, values = found.export()
    pairs = sorted(zip(keys.numpy().tolist(), values.numpy().tolist(), strict=True))
    return found.size(), pairs, found[tf.constant(["b", "q", "a"])]


@program
def rows_as_values(tf):
    found = tf.lookup.experimental.MutableHashTable("int64", "float32", [0.0, 1.0])
    rows = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    found.insert([1, 2], rows)
    rows.assign(rows * 0)
    return found.lookup(tf.constant([[1, 9]], tf.int64))


@program
def hash_values(tf):
    texts = [bytes(range(7, 7 + n)) * m for n in range(1, 70, 3) for m in (1, 2, 5)]
    most = 2**63 - 1
    texts.append(b"")
    return [
        tf.strings.to_hash_bucket_fast(texts, most),
        tf.strings.to_hash_bucket_fast([["a", "b"]], 1),
    ]


PROGRAMS |= {
    "no buckets for a hash": lambda tf: tf.strings.to_hash_bucket_fast("a", 0),
    "boundaries": lambda tf: tf.raw_ops.Bucketize(
        input=[[-5.0, 0.0], [1.5, 9.0]], boundaries=[0.0, 1.0, 3.0]
    ),
}


def opened(g: Any, path: str, what: Any, mode: str = "r") -> Any:
    with g.GFile(path, mode) as file:
        return what(file)


def with_files(what: Any) -> Any:
    """Return a program about a folder `a` with a folder `b` and a file `x`, and a file `y`."""

    def run(tf: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            top = Path(folder)
            (top / "a/b").mkdir(parents=True)
            (top / "a/x").write_text("hello\nworld\n")
            (top / "y").write_text("y")
            found = what(tf.io.gfile, f"{folder}/")
            left = sorted(str(path.relative_to(top)) for path in top.rglob("*"))
            shown = str(found).replace(folder, "") if not isinstance(found, bytes) else found
            return shown, left

    return run


PROGRAMS |= {
    f"files: {name}": with_files(what)
    for name, what in {
        "exists": lambda g, p: [g.exists(p + "a"), g.exists(p + "no"), g.exists(p.encode())],
        "isdir": lambda g, p: [g.isdir(p + "a"), g.isdir(p + "a/x")],
        "listdir": lambda g, p: sorted(g.listdir(p + "a")),
        "listdir of none": lambda g, p: g.listdir(p + "no"),
        "listdir of a file": lambda g, p: g.listdir(p + "y"),
        "glob": lambda g, p: g.glob(p + "a/*"),
        "glob of several": lambda g, p: g.glob([p + "y*", p + "a/x"]),
        "join": lambda g, p: [g.join("a", "b"), g.join("a", "/b")],
        "copy": lambda g, p: g.copy(p + "a/x", p + "z"),
        "copy to what is there": lambda g, p: g.copy(p + "a/x", p + "y"),
        "copy over": lambda g, p: g.copy(p + "a/x", p + "y", overwrite=True),
        "copy of none": lambda g, p: g.copy(p + "no", p + "z"),
        "mkdir": lambda g, p: [g.mkdir(p + "c"), g.mkdir(p + "c")],
        "mkdir in none": lambda g, p: g.mkdir(p + "d/e"),
        "makedirs": lambda g, p: [g.makedirs(p + "d/e"), g.makedirs(p + "d/e")],
        "remove": lambda g, p: g.remove(p + "y"),
        "remove none": lambda g, p: g.remove(p + "no"),
        "remove a folder": lambda g, p: g.remove(p + "a"),
        "rename": lambda g, p: g.rename(p + "a", p + "z"),
        "rename to what is there": lambda g, p: g.rename(p + "y", p + "a/x"),
        "rename over": lambda g, p: g.rename(p + "y", p + "a/x", overwrite=True),
        "rmtree": lambda g, p: g.rmtree(p + "a"),
        "rmtree of none": lambda g, p: g.rmtree(p + "no"),
        "stat": lambda g, p: [g.stat(p + "a/x").length, g.stat(p + "a").is_directory],
        "stat of none": lambda g, p: g.stat(p + "no"),
        "walk": lambda g, p: sorted(g.walk(p)),
        "read": lambda g, p: opened(g, p + "a/x", lambda file: file.read()),
        "read bytes": lambda g, p: opened(g, p + "a/x", lambda file: file.read(3), "rb"),
        "lines": lambda g, p: opened(g, p + "a/x", list),
        "read none": lambda g, p: opened(g, p + "no", lambda file: file.read()),
        "an unknown mode": lambda g, p: g.GFile(p + "y", "q"),
    }.items()
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name])


def test_a_file_is_written_and_closed(tmp_path):
    with ours.io.gfile.GFile(tmp_path / "w", "w") as file:
        file.write("ä")
    assert (tmp_path / "w").read_bytes() == "ä".encode()


def test_paths_of_other_machines_and_tensors_are_refused():
    with pytest.raises(ours.errors.UnimplementedError, match="this one"):
        ours.io.gfile.exists("gs://bucket/x")
    with pytest.raises(TypeError, match="path"):
        ours.io.gfile.exists(ours.constant("x"))


def test_python_lists_are_keys_too():
    assert table(ours, ["a", "b"], [1, 2]).lookup(["b", "q"]).numpy().tolist() == [2, -1]


def test_columns_of_a_file_are_refused():
    with pytest.raises(ValueError, match="KeyValueTensorInitializer"):
        ours.lookup.TextFileInitializer("words", ours.string, 0, ours.int64, 1)


def test_a_table_without_contents_is_no_error_until_it_is_asked():
    class Later(ours.lookup.KeyValueTensorInitializer):
        def initialize(self, table):
            """Return: the contents come later."""

    found = ours.lookup.StaticHashTable(Later(["a"], [1]), -1)
    assert int(found.size()) == 0
    with pytest.raises(ours.errors.FailedPreconditionError, match="contents"):
        found.lookup(["a"])
