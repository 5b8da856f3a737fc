# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor
from . import experimental as experimental

from wengert.tensorflow import DType as DType
from wengert.tensorflow import as_dtype as as_dtype
bfloat16: Any
bool: Any
from wengert.tensorflow import cast as cast
from wengert.tensorflow import complex as complex
complex128: Any
complex64: Any
double: Any
float16: Any
float32: Any
float64: Any
half: Any
int16: Any
int32: Any
int64: Any
int8: Any
from wengert.tensorflow import saturate_cast as saturate_cast
string: Any
uint16: Any
uint32: Any
uint64: Any
uint8: Any
