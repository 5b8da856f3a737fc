"""What Keras looks for in TensorFlow beyond the dialect's own names.

There is one process and one device, so a distribution strategy runs what it is given. Classes that
nothing is an instance of here, such as CSR matrices, are there to be asked about.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator
from typing import Any

from wengert.dialects.tensorflow import tracking
from wengert.dialects.tensorflow.kinds import Input, Ints, Like
from wengert.dialects.tensorflow.settings import RAGGED, SPARSE
from wengert.dialects.tensorflow.structures import TypeSpec
from wengert.dialects.tensorflow.table import NAMES, guarded, plain, put
from wengert.dialects.tensorflow.tensors import Kind, Tensor, is_tensor
from wengert.engine.tensor import Tensor as Native

_ALONE = "there is one process and one device"


class _Refused(type):
    """The class of classes that nothing is an instance of; what is asked of one is an error."""

    def __getattr__(cls, name: str) -> Any:
        raise AttributeError(f"{cls.__name__}.{name}: {cls.__doc__}")


def _never(name: str, why: str, base: type = object) -> type:
    """Return a class that nothing is an instance of: to make one is an error that says why."""
    told = f"tf.{name} is not offered by wengert.tensorflow: {why}"

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(told)

    given = {"__init__": refuse, "__module__": __name__, "__doc__": told}
    return _Refused(name.rpartition(".")[2], (base,), given)


put(("TypeSpec",), TypeSpec)
_CSR = "python.ops.linalg.sparse.sparse_csr_matrix_ops.CSRSparseMatrix"
put((_CSR,), _never(_CSR, SPARSE))
put(("RaggedTensorSpec",), _never("RaggedTensorSpec", RAGGED, base=TypeSpec), RAGGED)
put(("experimental.dtensor.Layout",), _never("experimental.dtensor.Layout", _ALONE))


# -- one process and one device --------------------------------------------------------------------


class ReduceOp(enum.Enum):
    """How values of several replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"


class Strategy:
    """The way to run something on all devices, of which there is one."""

    num_replicas_in_sync = 1

    @property
    def extended(self) -> Strategy:
        """What libraries ask for: the strategy itself."""
        return self

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Return a context in which variables are made as ever."""
        yield self

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable: Any) -> Iterator[None]:
        """Return a context in which variables are made as ever."""
        yield

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Return what a function returns."""
        return fn(*args, **(kwargs or {}))

    def update(
        self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None,
        group: bool = True,
    ) -> Any:  # fmt: skip
        """Return what a function of a variable returns."""
        return fn(var, *args, **(kwargs or {}))

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """Return the sum or the mean over an axis of the one replica's value."""
        if axis is None:
            return value
        how = "reduce_sum" if ReduceOp(getattr(reduce_op, "value", reduce_op)).name == "SUM" else ""
        return NAMES[how or "reduce_mean"](value, axis=axis)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Return the dataset."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """Return the dataset that a function returns, which is told that it is the only one."""
        return dataset_fn(InputContext())

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Return the one replica's value."""
        return (value,)


class InputContext:
    """What a function is told that makes a dataset for one of several processes."""

    num_input_pipelines = num_replicas_in_sync = 1
    input_pipeline_id = 0

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Return the size of a batch."""
        return global_batch_size


class MirroredStrategy(Strategy):
    """The way to run something on all devices of a machine, of which there is one."""

    def __init__(self, devices: Any = None, cross_device_ops: Any = None) -> None:
        if devices is not None and len(devices) > 1:
            raise ValueError(f"devices is {devices!r}; expected one: {_ALONE}")


class ReplicaContext:
    """Where a function runs that a strategy runs: on the one replica."""

    num_replicas_in_sync = 1
    replica_id_in_sync_group = 0

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Return the value."""
        return value

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Return what a function of the strategy returns."""
        return merge_fn(self.strategy, *args, **(kwargs or {}))


_STRATEGY = Strategy()
_CONTEXT = ReplicaContext(_STRATEGY)
put(("distribute.ReduceOp",), ReduceOp)
put(("distribute.Strategy",), Strategy, _ALONE)
put(("distribute.MirroredStrategy",), MirroredStrategy, _ALONE)
put(("distribute.ReplicaContext",), ReplicaContext, _ALONE)
put(("distribute.InputContext",), InputContext, _ALONE)
put(("distribute.get_strategy",), lambda: _STRATEGY, _ALONE)
put(("distribute.get_replica_context",), lambda: _CONTEXT, _ALONE)
put(("distribute.has_strategy", "distribute.in_cross_replica_context"), lambda: False, _ALONE)
for _name in (
    "DistributedDataset", "DistributedIterator", "DistributedValues", "TPUStrategy",
    "MultiWorkerMirroredStrategy",
):  # fmt: skip
    put((f"distribute.{_name}",), _never(f"distribute.{_name}", _ALONE), _ALONE)
put(("__internal__.distribute.strategy_supports_no_merge_call",), lambda: True)


@plain("__internal__.distribute.interim.maybe_merge_call")
def maybe_merge_call(fn: Callable[..., Any], strategy: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a function of a strategy returns."""
    return fn(strategy, *args, **kwargs)


# -- objects that hold variables -------------------------------------------------------------------


put(("__internal__.tracking.Trackable",), tracking.Trackable)


@plain("__internal__.tracking.AutoTrackable")
class AutoTrackable(tracking.AutoTrackable):
    """Something whose attributes hold variables. Keras itself knows which."""

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        return trackable

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {}


put(("__internal__.tracking.no_automatic_dependency_tracking",), lambda method: method)
put(("__internal__.types.Tensor",), Kind)
put(("__internal__.EagerTensor",), Tensor)
_WRAPPERS = "python.trackable.data_structures."
put((f"{_WRAPPERS}ListWrapper",), type("ListWrapper", (list,), {}))
put((f"{_WRAPPERS}_DictWrapper",), type("_DictWrapper", (dict,), {"__wrapped__": {}}))


# -- settings and functions that TensorFlow keeps to itself ----------------------------------------


@plain("__internal__.smart_cond.smart_cond")
def smart_cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: Any = None) -> Any:
    """Return what one of two functions returns."""
    if is_tensor(pred):
        return NAMES["cond"](pred, true_fn, false_fn)
    return true_fn() if pred else false_fn()


@plain("python.eager.context.context")
class Context:
    """What TensorFlow keeps about operations that are done at once: nothing here."""

    def clear_kernel_cache(self) -> None:
        """Return: there is no cache."""


put(("python.eager.context.async_wait", "compat.v1.reset_default_graph"), lambda: None)
put(("python.framework.config.is_op_determinism_enabled", "__internal__.tf2.enabled"), lambda: True)
for _name in ("enable_op_determinism", "disable_op_determinism"):
    put((f"python.framework.config.{_name}",), NAMES["config.experimental.enable_op_determinism"])
put(("python.ops.math_ops.is_nan",), NAMES["math.is_nan"])
put(("compat.v1.Dimension",), _never("compat.v1.Dimension", "lengths are integers"))


@plain("compiler.tf2xla.python.xla.dynamic_update_slice")
@guarded("dynamic_update_slice")
def dynamic_update_slice(operand: Input, update: Like, start_indices: Ints) -> Native:
    """Return a tensor with a block replaced, moved to where it fits."""
    lengths = zip(start_indices, operand.shape, update.shape, strict=True)
    starts = [max(min(start, n - m), 0) for start, n, m in lengths]
    key = tuple(slice(s, s + m) for s, m in zip(starts, update.shape, strict=True))
    return operand.at[key].set(update)
