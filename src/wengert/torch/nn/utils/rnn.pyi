# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

def pad_sequence(sequences: Any, batch_first: Any = ..., padding_value: Any = ..., padding_side: Any = ...) -> Any: ...
def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: Any = ...) -> Any: ...
