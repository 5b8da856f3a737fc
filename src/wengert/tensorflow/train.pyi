# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

from wengert.dialects.tensorflow.checkpoints import Checkpoint as Checkpoint
from wengert.dialects.tensorflow.checkpoint_folders import CheckpointManager as CheckpointManager
def latest_checkpoint(checkpoint_dir: Any, latest_filename: Any = ...) -> Any: ...
