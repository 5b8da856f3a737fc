"""What depends on the version of NumPy, and so is compared with real TensorFlow beside it.

NumPy 2.2 prints the shape of an array that it shortens, and later versions refuse to make a number
of an array of one element.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.tensorflow.parity import compare

pytestmark = [
    pytest.mark.peers,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of NumPy, for such a number
]

program = PROGRAMS = Programs()


@program
def print3(tf: Any) -> Any:
    return (
        [
            repr(tf.constant(v))
            for v in (
                1e-08,
                10000000000.0,
                float("nan"),
                float("inf"),
                1.0,
                123456.789,
                0.1,
                1 / 3,
            )
        ],
        repr(tf.constant(0.1, tf.float64)),
        repr(tf.constant(1 + 2j)),
        repr(tf.zeros([0])),
        repr(tf.zeros([2, 0, 3])),
        str(tf.zeros([0, 2])),
        repr(tf.range(5)),
        repr(tf.range(2000)),
        str(tf.ones([3, 4, 2])),
    )


@program
def float_one(tf: Any) -> Any:
    return float(tf.constant([1.0]))


@program
def float_of_a_row(tf: Any) -> Any:
    return float(tf.constant([1.5]))


@program
def print_longer(tf: Any) -> Any:
    x = tf.range(1500)
    return [repr(x), str(x), f"{x}"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tensorflow(name: str) -> None:
    compare(PROGRAMS[name])
