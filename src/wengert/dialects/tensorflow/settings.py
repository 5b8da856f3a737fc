"""Contexts and settings without effect, the one device, and names that are absent on purpose."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from wengert.dialects.tensorflow.table import ABSENT, plain, put
from wengert.dialects.tensorflow.tensors import made

# -- what there is not ----------------------------------------------------------------------------

_EAGERLY = "there are no graphs: operations are done when they are called; write tf.GradientTape"
_DENSE = "tensors here are dense arrays of numbers"
for _names, _why in (
    ("Graph compat Operation graph_util", _EAGERLY),
    ("RaggedTensor ragged SparseTensor sparse string strings VariantTensor variant", _DENSE),
    ("saved_model train io", "keep the arrays of variables with np.savez(path, w=w.numpy())"),
    ("summary profiler", "print, or keep the numbers yourself"),
    ("distribute tpu xla", "there is one process, and arrays are in memory"),
    ("estimator feature_column lookup queue lite mlir quantization raw_ops", "no part of this"),
    ("experimental.numpy", "write tf.math, or wengert itself, which has NumPy's names"),
):
    for _name in _names.split():
        ABSENT[_name] = (
            f"tf.{_name} is not offered by wengert.tensorflow: {_why}. All names are in "
            "docs/tensorflow-names.md"
        )


# -- contexts and settings without effect ---------------------------------------------------------


@contextlib.contextmanager
def _nothing(*args: Any, **kwargs: Any) -> Iterator[None]:
    """Return a context that changes nothing."""
    yield


def _no_effect(*args: Any, **kwargs: Any) -> None:
    """Do nothing: there is nothing to set."""


_EAGER = "has no effect: operations are done when they are called"
put(("device",), _nothing, "has no effect: arrays are in memory")
put(("init_scope", "control_dependencies"), _nothing, _EAGER)
put(
    (
        "autograph.set_verbosity", "autograph.experimental.set_loop_options",
        "config.set_visible_devices", "config.set_soft_device_placement",
        "config.set_logical_device_configuration", "config.experimental.set_memory_growth",
        "config.experimental.set_visible_devices", "config.experimental.enable_op_determinism",
        "config.experimental.enable_tensor_float_32_execution", "config.optimizer.set_jit",
        "config.optimizer.set_experimental_options",
        "config.threading.set_inter_op_parallelism_threads",
        "config.threading.set_intra_op_parallelism_threads",
        "debugging.set_log_device_placement", "debugging.enable_traceback_filtering",
        "debugging.disable_traceback_filtering",
    ),
    _no_effect,
    "has no effect",
)  # fmt: skip


@plain("group")
def group(*inputs: Any, **kwargs: Any) -> None:
    """Return None: the operations have been done."""


@plain("no_op")
def no_op(name: str | None = None) -> None:
    """Return None."""


@plain("timestamp")
def timestamp(name: str | None = None) -> Any:
    """Return the seconds since 1970."""
    return made(np.asarray(time.time()))


class PhysicalDevice(NamedTuple):
    """A place where operations are done."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A place where operations are done."""

    name: str
    device_type: str


put(("config.PhysicalDevice",), PhysicalDevice)
put(("config.LogicalDevice",), LogicalDevice)


def _devices(kind: Callable[[str, str], Any], place: str) -> Callable[..., list[Any]]:
    def devices(device_type: str | None = None) -> list[Any]:
        """Return the one processor, if it is of the type asked for."""
        return [kind(place, "CPU")] if device_type in (None, "CPU") else []

    return devices


_physical = _devices(PhysicalDevice, "/physical_device:CPU:0")
_ONE = "one processor, whatever there is"
put(
    (
        "config.list_physical_devices", "config.experimental.list_physical_devices",
        "config.get_visible_devices", "config.experimental.get_visible_devices",
    ),
    _physical,
    _ONE,
)  # fmt: skip
put(
    ("config.list_logical_devices", "config.experimental.list_logical_devices"),
    _devices(LogicalDevice, "/device:CPU:0"),
    _ONE,
)
put(("test.is_gpu_available", "test.is_built_with_cuda"), lambda *args, **kwargs: False)
put(("test.gpu_device_name",), lambda: "")
put(
    (
        "config.threading.get_inter_op_parallelism_threads",
        "config.threading.get_intra_op_parallelism_threads",
    ),
    lambda: 0,
)
_eagerly = [False]


@plain("config.run_functions_eagerly", differs="has no effect: functions always run as Python")
def run_functions_eagerly(run_eagerly: bool) -> None:
    """Remember what was asked for."""
    _eagerly[0] = bool(run_eagerly)


@plain("config.functions_run_eagerly")
def functions_run_eagerly() -> bool:
    """Return what `run_functions_eagerly` was given."""
    return _eagerly[0]


def _itself(value: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return a function as it is, or a decorator that does so."""
    return value if callable(value) else lambda function: function


put(("autograph.experimental.do_not_convert",), _itself)
put(("autograph.to_graph",), _itself)
