"""tf.print, and the names that there are."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert.tensorflow as ours
from tests.dialects.tensorflow.control_cases import Pair, vector
from tests.dialects.tensorflow.parity import compare

pytestmark = [
    pytest.mark.parity,
    # as the import of wengert.tensorflow has it, which pytest forgets
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:wengert\."),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TensorFlow
]


PRINTED: dict[str, Callable[[Any], Any]] = {
    "vector": lambda tf: (vector(tf),),
    "number": lambda tf: (tf.constant(1.0), tf.constant(2), tf.constant(True)),
    "python": lambda tf: (1.0, 2, "a", True, None),
    "matrix": lambda tf: (tf.constant([[1.0, 2.0], [3.0, 4.5]]),),
    "long": lambda tf: (tf.range(20),),
    "large": lambda tf: (tf.reshape(tf.range(200), [10, 20]),),
    "deep": lambda tf: (tf.ones([8, 2, 2]),),
    "digits": lambda tf: tuple(
        tf.constant(v) for v in (1 / 3, 0.1, 1e10, 1e-10, 123456789.0, 1e5, 1e6, 1e-4, 1e-5, 0.0)
    ),
    "double": lambda tf: (tf.constant([1 / 3, 0.1, 2.0], tf.float64),),
    "half": lambda tf: (tf.constant(1.5, tf.float16),),
    "list": lambda tf: ([1, 2.5, vector(tf), "s"], (1,), (vector(tf), None)),
    "dict": lambda tf: ({"b": vector(tf), "a": {"z": 1}},),
    "pair": lambda tf: (Pair(1, tf.constant(2)),),
    "variable": lambda tf: (tf.Variable([1.0, 2.0]), [tf.Variable(3)]),
    "infinite": lambda tf: (tf.constant([np.nan, np.inf, -np.inf]),),
    "nothing": lambda tf: (),
    "empty": lambda tf: (tf.zeros([0]), tf.zeros([0, 2])),
    "array": lambda tf: (np.arange(3.0), np.float32(1.5)),
    "label": lambda tf: ("loss:", tf.constant(0.25), "step", 3),
    "types": lambda tf: (tf.float32, vector(tf).shape),
}  # fmt: skip
OPTIONS: list[dict[str, Any]] = [
    {}, {"sep": "|", "end": "!\n"}, {"summarize": 2}, {"summarize": -1}
]  # fmt: skip


def printed(tf: Any, make: Callable[[Any], Any], options: Any, capfd: Any) -> str:
    capfd.readouterr()
    tf.print(*make(tf), **options)
    sys.stderr.flush()
    return capfd.readouterr().err


@pytest.mark.parametrize("name", PRINTED)
def test_print_as_tensorflow(name: str, capfd: Any) -> None:
    for options in OPTIONS:
        compare(lambda tf: printed(tf, PRINTED[name], options, capfd))  # noqa: B023


def test_print_to_streams(tmp_path: Any, capsys: Any) -> None:
    tf = ours
    stream, file = io.StringIO(), tmp_path / "out.txt"
    tf.print(vector(tf), output_stream=stream)
    for _ in range(2):
        tf.print("x", 1, output_stream=f"file://{file}")
    tf.print("y", output_stream=sys.stdout)
    assert stream.getvalue() == "[1 2 3]\n"
    assert file.read_text() == "x 1\nx 1\n"
    assert capsys.readouterr().out == "y\n"
    with pytest.raises(ValueError, match="sys.stderr"):
        tf.print("x", output_stream="elsewhere")
    with pytest.raises(ValueError, match="colour"):
        tf.print("x", colour=1)


def test_names_are_tensorflows() -> None:
    ours._facade.load_all()

    def has(tf: Any, name: str) -> bool:
        found: Any = tf
        for part in name.split("."):
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True

    # TensorFlow has `compiler` and `python` too, once they are imported
    public = [n for n in ours._facade.names if n.partition(".")[0] not in ("compiler", "python")]
    compare(lambda tf: {name: has(tf, name) for name in public})
