"""Strings as plain data: constants, what few functions do with them, files, datasets."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert.tensorflow as ours
from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare

parity = pytest.mark.parity
program = PROGRAMS = Programs()


def labels(tf: Any) -> Any:
    return tf.constant([["a", "bb", "c"], ["d", "e", "a"]])


def printed(tf: Any, *values: Any, **options: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "printed")
        tf.print(*values, output_stream=f"file://{path}", **options)
        return path.read_text()


PROGRAMS |= {
    "one": lambda tf: tf.constant("a"),
    "parts of one": lambda tf: tf.strings.split("a b  c"),
    "parts of each": lambda tf: [tf.strings.split(s) for s in ["a b", "c", ""]],
    "parts between commas": lambda tf: tf.strings.split("a,b,,c", sep=","),
    "parts joined": lambda tf: tf.strings.join(tf.strings.split("x y z"), separator="-"),
    "list": lambda tf: tf.constant(["a", "b"]),
    "nested": labels,
    "bytes": lambda tf: tf.constant(b"a\x00"),
    "unicode": lambda tf: tf.constant("äß"),
    "empty": lambda tf: tf.constant(""),
    "numpy": lambda tf: tf.constant(np.array(["a", "bcd"])),
    "numpy bytes": lambda tf: tf.constant(np.array([b"a", b"bcd"])),
    "numpy objects": lambda tf: tf.constant(np.array(["a", b"bcd"], object)),
    "numpy string": lambda tf: tf.constant(np.str_("a")),
    "dtype given": lambda tf: tf.constant("a", dtype=tf.string),
    "dtype named": lambda tf: tf.constant(["a"], "string"),
    "shape given": lambda tf: tf.constant("a", shape=[2, 2]),
    "list in shape": lambda tf: tf.constant(["a", "b", "c", "d"], shape=[2, 2]),
    "mixed": lambda tf: tf.constant(["a", 1]),
    "mixed other": lambda tf: tf.constant([1, "a"]),
    "ragged": lambda tf: tf.constant([["a"], ["b", "c"]]),
    "number as string": lambda tf: tf.constant(1.0, tf.string),
    "string as number": lambda tf: tf.constant("a", tf.float32),
    "empty list of strings": lambda tf: tf.constant([], tf.string),
    "converted": lambda tf: [
        tf.convert_to_tensor("a"), tf.convert_to_tensor(["a", b"b"], tf.string),
        tf.convert_to_tensor(tf.constant("a")),
    ],
    "converted to number": lambda tf: tf.convert_to_tensor("a", tf.float32),
    "converted list of tensors": lambda tf: tf.convert_to_tensor(list(labels(tf))),
    "is tensor": lambda tf: [tf.is_tensor(tf.constant("a")), tf.is_tensor("a")],
    "numpy of one": lambda tf: tf.constant("a").numpy().decode("utf-8"),
    "numpy of many": lambda tf: labels(tf).numpy().tolist(),
    "array": lambda tf: str(np.asarray(labels(tf)).dtype),
    "attributes": lambda tf: [labels(tf).shape, labels(tf).dtype, labels(tf).ndim, len(labels(tf))],
    "repr": lambda tf: [repr(tf.constant("a")), repr(tf.constant(["a", "b"]))],
    "str": lambda tf: [str(tf.constant("a")), str(tf.constant(["a", "b"]))],
    "format": lambda tf: f"{tf.constant('a')}",
    "dtype": lambda tf: [
        tf.string, tf.as_dtype("string"), tf.as_dtype(object), tf.as_dtype(np.dtype("U3")),
        tf.string == "string", tf.string == tf.float32, tf.string.name, tf.string.size,
        tf.string.is_numeric, tf.string.is_floating, tf.string.as_numpy_dtype is object,
    ],
    "dtype of str": lambda tf: tf.as_dtype(str),
    "dtype limits": lambda tf: tf.string.max,
    "equal": lambda tf: [
        tf.constant("a") == "a", labels(tf) == "a", labels(tf) != tf.constant(["a", "x", "c"]),
        tf.equal("a", tf.constant(["a", "b"])), tf.not_equal(labels(tf), "a"),
        tf.constant(["a"]) == ["a"], tf.reduce_all(labels(tf) == labels(tf)),
    ],
    "equal to None": lambda tf: tf.constant("a") == None,  # noqa: E711
    "equal other shape": lambda tf: tf.constant(["a", "b"]) == tf.constant(["a", "b", "c"]),
    "equal number": lambda tf: tf.equal(tf.constant("a"), tf.constant(1.0)),
    "index": lambda tf: [
        labels(tf)[0], labels(tf)[0, 1], labels(tf)[:, 1:], labels(tf)[..., -1],
        labels(tf)[tf.newaxis, 0], labels(tf)[labels(tf) == "a"],
    ],
    "index outside": lambda tf: labels(tf)[5],
    "loop": lambda tf: [t.numpy() for t in labels(tf)[0]],
    "sum": lambda tf: [
        tf.constant(["a", "b"]) + "c", "c" + tf.constant("d"), labels(tf) + ["x"] * 3,
    ],
    "sum with number": lambda tf: tf.constant("a") + 1.0,
    "number with sum": lambda tf: tf.constant(1.0) + "a",
    "product": lambda tf: tf.constant("a") * tf.constant(2.0),
    "less": lambda tf: tf.constant("a") < "b",
    "negative": lambda tf: -tf.constant("a"),
    "hash": lambda tf: hash(tf.constant("a")),
    "reference": lambda tf: tf.constant("a").ref().deref(),
    "float": lambda tf: float(tf.constant("a")),
    "shapes": lambda tf: [
        tf.reshape(labels(tf), [3, 2]), tf.reshape(["a", "b"], [2, 1]), tf.expand_dims("a", 0),
        tf.squeeze(tf.constant([["a"]])), tf.transpose(labels(tf)), tf.unstack(labels(tf)),
        tf.split(labels(tf), 3, axis=1), tf.tile(labels(tf), [1, 2]), tf.repeat(["a", "b"], 2),
        tf.reverse(labels(tf), [1]), tf.broadcast_to(tf.constant("a"), [2]),
        tf.slice(labels(tf), [0, 1], [2, 2]), tf.fill([2], "a"), tf.identity("a"),
    ],
    "joined": lambda tf: [
        tf.concat([labels(tf), labels(tf)], axis=0), tf.stack(["a", "b"]),
        tf.stack([tf.constant("a"), tf.constant("b")]), tf.stack([labels(tf), labels(tf)], axis=1),
    ],
    "stack with number": lambda tf: tf.stack([tf.constant("a"), tf.constant(1.0)]),
    "chosen": lambda tf: [
        tf.gather(labels(tf)[0], [2, 0]), tf.gather(labels(tf), [1], axis=1),
        tf.gather_nd(labels(tf), [[0, 1], [1, 2]]),
        tf.boolean_mask(labels(tf), [True, False]),
        tf.where([True, False], tf.constant(["a", "b"]), "c"),
        tf.where(tf.constant(True), "x", "y"),
    ],
    "unique": lambda tf: list(tf.unique(tf.constant(["b", "a", "b"]))),
    "asked": lambda tf: [tf.shape(labels(tf)), tf.size(labels(tf)), tf.rank("a"), tf.shape("a")],
    "cast": lambda tf: tf.cast(tf.constant("a"), tf.string),
    "cast to number": lambda tf: tf.cast(tf.constant("1"), tf.float32),
    "cast from number": lambda tf: tf.cast(tf.constant(1.0), tf.string),
    "sine": lambda tf: tf.sin(tf.constant("a")),
    "sine of str": lambda tf: tf.sin("a"),
    "total": lambda tf: tf.reduce_sum(tf.constant(["a", "b"])),
    "mean": lambda tf: tf.reduce_mean(tf.constant(["a", "b"])),
    "matmul": lambda tf: tf.matmul(labels(tf), labels(tf)),
    "squared": lambda tf: tf.square(tf.constant("a")),
    "random": lambda tf: tf.random.normal([2], dtype=tf.string),
    "eye": lambda tf: tf.eye(2, dtype=tf.string),
    "print": lambda tf: [
        printed(tf, tf.constant("a")), printed(tf, tf.constant(["a", "b"])),
        printed(tf, "x:", labels(tf)), printed(tf, tf.constant([str(i) for i in range(9)])),
        printed(tf, {"k": tf.constant("v")}), printed(tf, [tf.constant("v"), 1]),
    ],
    "function": lambda tf: [
        tf.function(lambda s: s)(tf.constant("a")), tf.function(lambda: "a")(),
        tf.function(lambda s: {"x": s + "b", "n": 1.0})("a"),
        tf.cond(tf.constant("a") == "a", lambda: tf.constant("y"), lambda: tf.constant("n")),
    ],
    "spec": lambda tf: repr(tf.TensorSpec([2], tf.string)),
    "signature": lambda tf: tf.function(
        lambda s: s + "!", input_signature=[tf.TensorSpec([], tf.string)]
    )(tf.constant("a")),
    "nest": lambda tf: tf.nest.map_structure(lambda s: s + "!", {"a": tf.constant("x")}),
    "copy": lambda tf: __import__("copy").deepcopy(tf.constant("a")),
}  # fmt: skip

# -- functions of tf.strings ----------------------------------------------------------------------

NUMBERS = [0.0, -1.5, 1e20, 1 / 3, np.inf, np.nan]
PROGRAMS |= {
    "join": lambda tf: [
        tf.strings.join(["a", "b"]), tf.strings.join(["a", tf.constant(["b", "c"])], "-"),
        tf.strings.join([labels(tf), labels(tf)], separator="/"), tf.strings.join([["a", "b"]]),
    ],
    "join shapes": lambda tf: tf.strings.join([["a", "b"], ["c", "d", "e"]]),
    "join numbers": lambda tf: tf.strings.join([tf.constant(1.0), "a"]),
    "length": lambda tf: [
        tf.strings.length("abc"), tf.strings.length(["a", "", "äß"]),
        tf.strings.length(["a", "äß"], unit="UTF8_CHAR"),
    ],
    "length unit": lambda tf: tf.strings.length("a", unit="WORD"),
    "case": lambda tf: [
        tf.strings.lower("ABC Ä"), tf.strings.upper(["ab", "c"]),
        tf.strings.upper("äb", encoding="utf-8"), tf.strings.lower("ÄB", encoding="utf-8"),
    ],
    "case of a number": lambda tf: tf.strings.lower(tf.constant(1.0)),
    "patterns": lambda tf: [
        tf.strings.regex_replace(["a1b22", "c"], "[0-9]+", r"<\0>"),
        tf.strings.regex_replace("aaa", "a", "b", replace_global=False),
        tf.strings.regex_replace("ab", "(a)(b)", r"\2\1"),
    ],
    "no pattern": lambda tf: tf.strings.regex_replace("abc", "(a", "b"),
    "strip": lambda tf: tf.strings.strip(["  a b ", "\tc\n"]),
    "split one": lambda tf: [
        tf.strings.split("a b  c"), tf.strings.split("a,b,,c", ","),
        tf.strings.split("a,b,c", sep=",", maxsplit=1), tf.strings.split(""),
    ],
    "as string": lambda tf: [
        tf.strings.as_string(tf.constant(NUMBERS)), tf.strings.as_string([1, -2]),
        tf.strings.as_string(tf.constant(NUMBERS, tf.float64), precision=3),
        tf.strings.as_string(tf.constant(NUMBERS), shortest=True),
        tf.strings.as_string(tf.constant(NUMBERS), scientific=True, precision=2),
        tf.strings.as_string([1, 23], width=4), tf.strings.as_string([1, -23], width=4, fill="0"),
        tf.strings.as_string([True, False]), tf.as_string(3), tf.strings.as_string(1.5 + 2j),
        tf.strings.as_string(1.5, width=8, precision=2),
        tf.strings.as_string([1, 2], width=3, fill="-"),
    ],
    "as string precision of int": lambda tf: tf.strings.as_string(1, precision=2),
    "as string twice": lambda tf: tf.strings.as_string(1.0, scientific=True, shortest=True),
    "to number": lambda tf: [
        tf.strings.to_number(["1", "2.5", "-3e2", " 4 ", "nan", "inf", "-Inf"]),
        tf.strings.to_number("12", tf.int32), tf.strings.to_number("12", out_type=tf.int64),
        tf.strings.to_number("0.1", tf.float64), tf.strings.to_number("+5"),
    ],
    **{
        f"to number {text!r} {kind}": lambda tf, text=text, kind=kind: tf.strings.to_number(
            text, getattr(tf, kind)
        )
        for text in ("a", "", "1 2", "1_000", "1.5", "99999999999")
        for kind in ("float32", "int32")
    },
    "formatted": lambda tf: [
        tf.strings.format("x: {}", tf.constant([1.0, 2.0])),
        tf.strings.format("{} and {}", (tf.constant(1), tf.constant("a"))),
        tf.strings.format("%%", tf.constant(["a", "b"]), placeholder="%%"),
        tf.strings.format("{}", tf.range(10), summarize=2), tf.strings.format("none", ()),
    ],
    "formatted count": lambda tf: tf.strings.format("{} {}", tf.constant(1)),
}  # fmt: skip

# -- derivatives beside strings -------------------------------------------------------------------


@program
def no_gradient(tf: Any) -> Any:
    x, s = tf.Variable(2.0), tf.constant("a")
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(s)
        y = x * x if s == "a" else x
    return [tape.gradient(y, [x, s]), tape.gradient(s, x)]


@program
def number_from_text(tf: Any) -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * tf.strings.to_number("2.5") + tf.strings.to_number(tf.strings.as_string(x))
    return tape.gradient(y, x)


@program
def labelled_parameters(tf: Any) -> Any:
    names = tf.constant(["w", "b"])
    values = {name.numpy(): tf.Variable(float(i + 1)) for i, name in enumerate(names)}
    with tf.GradientTape() as tape:
        y = values[b"w"] * 3.0 + values[b"b"] ** 2
    found = tape.gradient(y, values)
    return [tf.strings.join(["d", name]) for name in names], [found[n.numpy()] for n in names]


# -- files and datasets ---------------------------------------------------------------------------

LINES = "x,y\n1.0,2.0\r\n3.0,4.0\nlast"


def in_folder(use: Any) -> Any:
    """Return the program that uses a new folder with a text file in it."""

    def run(tf: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.csv")
            path.write_bytes(LINES.encode())
            return use(tf, str(path))

    return run


def numbers_of(tf: Any, line: Any) -> Any:
    return tf.strings.to_number(tf.strings.split(line, ","))


PROGRAMS |= {
    "lines": in_folder(lambda tf, path: [e.numpy() for e in tf.data.TextLineDataset(path)]),
    "lines of two": in_folder(
        lambda tf, path: list(tf.data.TextLineDataset([path, path]).batch(3))
    ),
    "lines of numbers": in_folder(
        lambda tf, path: list(
            tf.data.TextLineDataset(path).skip(1).take(2)
            .map(lambda line: numbers_of(tf, line)).batch(2)
        )
    ),
    "lines filtered": in_folder(
        lambda tf, path: list(
            tf.data.TextLineDataset(path).filter(lambda s: tf.strings.length(s) > 3)
        )
    ),
    "lines missing": in_folder(lambda tf, path: list(tf.data.TextLineDataset(path + "x"))),
    "lines spec": in_folder(lambda tf, path: repr(tf.data.TextLineDataset(path).element_spec)),
    "read": in_folder(lambda tf, path: tf.io.read_file(path)),
    "read missing": in_folder(lambda tf, path: tf.io.read_file(path + "x")),
    "write": in_folder(
        lambda tf, path: [tf.io.write_file(path + "2", "äb"), tf.io.read_file(path + "2")]
    ),
    "write in folder": in_folder(
        lambda tf, path: [tf.io.write_file(path + "d/e/f", "b"), tf.io.read_file(path + "d/e/f")]
    ),
    "slices": lambda tf: [
        [n.numpy(), x.numpy()]
        for n, x in tf.data.Dataset.from_tensor_slices((["a", "b"], [1.0, 2.0]))
    ],
    "slices in a dict": lambda tf: list(
        tf.data.Dataset.from_tensor_slices({"k": ["a", "b", "c"], "v": [1, 2, 3]}).batch(2)
    ),
    "numpy iterator": lambda tf: list(
        tf.data.Dataset.from_tensor_slices(["a", "b"]).as_numpy_iterator()
    ),
    "mapped": lambda tf: list(
        tf.data.Dataset.from_tensor_slices(["a", "b"])
        .map(lambda s: (s + "!", tf.strings.length(s)))
    ),
    "padded": lambda tf: list(
        tf.data.Dataset.from_tensor_slices(["a b", "c"])
        .map(lambda s: tf.strings.split(s)).padded_batch(2)
    ),
    "generator": lambda tf: list(
        tf.data.Dataset.from_generator(
            lambda: iter([("a", 1), ("b", 2)]), output_types=(tf.string, tf.int32)
        )
    ),
    "element spec": lambda tf: repr(tf.data.Dataset.from_tensors("a").element_spec),
}  # fmt: skip


@parity
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name])


# -- what is not as in TensorFlow -----------------------------------------------------------------


def test_a_variable_of_strings_is_refused():
    with pytest.raises(ours.errors.InvalidArgumentError, match="strings"):
        ours.Variable("a")
    with pytest.raises(ours.errors.InvalidArgumentError, match="strings"):
        ours.Variable(ours.constant("a"))


def test_wengerts_own_functions_refuse_strings():
    import wengert as wg

    with pytest.raises(ours.errors.InvalidArgumentError, match="strings"):
        wg.sin(ours.constant("a"))


#: The functions that take strings; others must not make numbers of them.
TAKEN = {
    "Assert", "as_string", "concat", "constant", "convert_to_tensor", "debugging.Assert", "equal",
    "expand_dims", "gather", "gather_nd", "get_static_value", "guarantee_const", "identity",
    "is_tensor", "math.equal", "math.not_equal", "nn.embedding_lookup", "not_equal", "print",
    "rank", "repeat", "shape", "size", "squeeze", "stack", "tile", "timestamp", "transpose",
    "unique", "unique_with_counts", "unstack",
}  # fmt: skip


def test_no_other_function_takes_strings(capsys):
    ours._facade.load_all()
    s = ours.constant(["a", "bb"])
    cases: list[Any] = [(s,), (s, s), (s, 0), (s, [1]), ([s, s],), ([s, s], 0), (["a", "bb"],)]
    found = set()
    for name, function in ours._facade.names.items():
        left_out = ("__internal__", "keras", "nest", "strings", "io", "ragged", "sparse")
        if isinstance(function, type) or name.partition(".")[0] in left_out:
            continue
        for arguments in cases:
            try:
                result = function(*arguments)
            except Exception:
                continue
            if any(ours.is_tensor(part) for part in ours.nest.flatten(result)):
                found.add(name)
    assert found <= TAKEN
    assert "gather" in found
