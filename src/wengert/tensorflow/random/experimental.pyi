# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

from wengert.tensorflow.random import Generator as Generator
from wengert.tensorflow.random import get_global_generator as get_global_generator
from wengert.tensorflow.random import set_global_generator as set_global_generator
from wengert.tensorflow.random import fold_in as stateless_fold_in
def stateless_shuffle(value: _Tensor, seed: Any, alg: Any = ..., **_options: Any) -> Tensor: ...
from wengert.tensorflow.random import split as stateless_split
