"""Contexts and settings without effect, the one device, and names that are absent on purpose."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from wengert.dialects.tensorflow.table import ABSENT, put
from wengert.dialects.tensorflow.tensors import made

# -- what there is not ----------------------------------------------------------------------------

_EAGERLY = "there are no graphs: operations are done when they are called; write tf.GradientTape"
_DENSE = "tensors here are dense arrays of numbers"
RAGGED = "rows of several lengths are no array; pad them to one length, with a mask, or loop"
SPARSE = "there is tf.sparse.to_dense(x), and functions take what it returns"
for _names, _why in (
    ("Graph compat Operation graph_util", _EAGERLY),
    ("VariantTensor variant", _DENSE),
    ("ragged", RAGGED),
    ("sparse", SPARSE),
    (
        "saved_model",
        "save the values with tf.train.Checkpoint(model=model).save(path), and make the "
        "model by its own code before checkpoint.restore(path)",
    ),
    ("io", "tf.io.read_file, write_file and gfile are offered; else write Python's open(path)"),
    ("nn.ctc_loss", "write the sum over alignments in log-space"),
    ("summary profiler", "print, or keep the numbers yourself"),
    ("distribute tpu xla", "there is one process, and arrays are in memory"),
    ("estimator feature_column queue lite mlir quantization raw_ops", "no part of this"),
):
    for _name in _names.split():
        ABSENT[_name] = (
            f"tf.{_name} is not offered by wengert.tensorflow: {_why}. All names are in "
            "docs/tensorflow-names.md"
        )


# -- options without effect -----------------------------------------------------------------------


def ignore(
    function: str, options: dict[str, Any], *names: str, wrong: type[Exception] = TypeError
) -> None:
    """Raise unless all options are among those that have no effect here."""
    unknown = [name for name in options if name not in names]
    if unknown:
        raise wrong(f"{function}() got unexpected keyword arguments: {', '.join(unknown)}")


# -- contexts and settings ------------------------------------------------------------------------


@contextlib.contextmanager
def _nothing(*args: Any, **kwargs: Any) -> Iterator[None]:
    """Return a context that changes nothing."""
    yield


def _no_effect(*args: Any, **kwargs: Any) -> None:
    """Return None: there is nothing to set, and what was asked for has been done."""


def _itself(value: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return a function as it is, or a decorator that does so."""
    return value if callable(value) else lambda function: function


def timestamp(name: str | None = None) -> Any:
    """Return the seconds since 1970."""
    return made(np.asarray(time.time()))


def is_gpu_available(*args: Any, **kwargs: Any) -> bool:
    """Return False."""
    return False


class Device(NamedTuple):
    """A place where operations are done."""

    name: str
    device_type: str = "CPU"


def _devices(name: str) -> Callable[..., list[Device]]:
    def devices(device_type: str | None = None) -> list[Device]:
        """Return the one processor, if it is of the type asked for."""
        return [Device(name)] if device_type in (None, "CPU") else []

    return devices


_eagerly = [False]


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Remember what was asked for."""
    _eagerly[0] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Return what `run_functions_eagerly` was given."""
    return _eagerly[0]


_EAGER = "has no effect: operations are done when they are called"
_NONE = "has no effect"
_ONE = "one processor, whatever there is"
_physical = _devices("/physical_device:CPU:0")
#: What is offered: names, under a common one, what they are, and what is not as in TensorFlow.
for _part, _names, _value, _differs in (
    ("", "device", _nothing, "has no effect: arrays are in memory"),
    ("", "init_scope control_dependencies", _nothing, _EAGER),
    ("", "group no_op", _no_effect, ""),
    ("", "timestamp", timestamp, ""),
    ("autograph.", "set_verbosity", _no_effect, _NONE),
    ("autograph.", "to_graph experimental.do_not_convert", _itself, ""),
    ("debugging.", "set_log_device_placement", _no_effect, _NONE),
    ("debugging.", "enable_traceback_filtering disable_traceback_filtering", _no_effect, _NONE),
    ("config.", "run_functions_eagerly", run_functions_eagerly,
     "has no effect: functions always run as Python"),
    ("config.", "functions_run_eagerly", functions_run_eagerly, ""),
    ("config.", "set_visible_devices experimental.set_visible_devices", _no_effect, _NONE),
    ("config.", "set_soft_device_placement optimizer.set_jit", _no_effect, _NONE),
    ("config.experimental.", "set_memory_growth enable_op_determinism", _no_effect, _NONE),
    ("config.experimental.", "enable_tensor_float_32_execution", _no_effect, _NONE),
    ("config.threading.", "set_inter_op_parallelism_threads", _no_effect, _NONE),
    ("config.threading.", "set_intra_op_parallelism_threads", _no_effect, _NONE),
    ("config.", "list_physical_devices experimental.list_physical_devices", _physical, _ONE),
    ("config.", "get_visible_devices experimental.get_visible_devices", _physical, _ONE),
    ("config.", "list_logical_devices experimental.list_logical_devices",
     _devices("/device:CPU:0"), _ONE),
    ("test.", "is_gpu_available is_built_with_cuda", is_gpu_available, ""),
    ("test.", "gpu_device_name", lambda: "", ""),
):  # fmt: skip
    put(tuple(f"{_part}{_name}" for _name in _names.split()), _value, _differs)
