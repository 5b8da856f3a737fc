"""Values that the tests of control flow share."""

from __future__ import annotations

import collections
from typing import Any

Pair = collections.namedtuple("Pair", "a b")


def vector(tf: Any) -> Any:
    return tf.constant([1.0, 2.0, 3.0])
