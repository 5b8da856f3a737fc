"""Programs written for tf.GradientTape, on Wengert: ``import wengert.tensorflow as tf``.

Names, argument orders, defaults and habits are TensorFlow's; derivatives are Wengert's. What is
offered, and what differs, is in docs/tensorflow-names.md.
"""

import sys as _sys

from wengert.dialects.facade import Facade as _Facade
from wengert.dialects.tensorflow.table import ABSENT as _ABSENT
from wengert.dialects.tensorflow.table import ELSEWHERE as _ELSEWHERE
from wengert.dialects.tensorflow.table import LATE as _LATE
from wengert.dialects.tensorflow.table import NAMES as _NAMES
from wengert.dialects.tensorflow.table import PARTS as _PARTS

_facade = _Facade(
    "wengert.tensorflow", "tf", _NAMES, _PARTS, _LATE, "docs/tensorflow-names.md", _ABSENT,
    _ELSEWHERE,
)  # fmt: skip
_facade.give(_sys.modules[__name__])
