"""Settings that programs touch: threads, accelerators, compilers, printing.

There is one device and no compiler, so most of these keep what they are told, and nothing follows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from wengert.dialects.torch import devices, printing
from wengert.dialects.torch.devices import check_device, device
from wengert.dialects.torch.table import DIFFERENCES, NAMES, plain, put
from wengert.dialects.torch.tensors import Tensor

_KEPT = "kept, and nothing follows from it"
_AS_IT_IS = "returns the function as it is: there is no compiler"


def _setting(getter: str, setter: str, value: Any, check: Callable[[Any], None]) -> None:
    """Offer a function that keeps a value and one that returns it."""
    kept = [value]

    def keep(value: Any, **options: Any) -> None:
        check(value)
        kept[0] = value

    put((getter,), lambda: kept[0], _KEPT)
    put((setter,), keep, _KEPT)


def _count(name: str) -> Callable[[Any], None]:
    def check(value: Any) -> None:
        if not isinstance(value, int):
            raise TypeError(f"{name}: got a {type(value).__name__}; give a whole number")
        if value <= 0:
            raise RuntimeError(f"{name}: got {value}; give 1 or more")

    return check


def _any(value: Any) -> None:
    pass


_setting("get_num_threads", "set_num_threads", 1, _count("set_num_threads"))
_setting("get_num_interop_threads", "set_num_interop_threads", 1, _count("set_num_interop_threads"))
_setting("get_float32_matmul_precision", "set_float32_matmul_precision", "highest", _any)
_setting("is_warn_always_enabled", "set_warn_always", False, _any)
_setting("are_deterministic_algorithms_enabled", "use_deterministic_algorithms", False, _any)
_setting("get_deterministic_debug_mode", "set_deterministic_debug_mode", 0, _any)
put(("is_deterministic_algorithms_warn_only_enabled",), lambda: False)
put(("set_flush_denormal",), lambda mode: False, "numbers that are almost zero stay")
put(("set_printoptions",), printing.set_printoptions)
put(("get_default_device",), lambda: devices.CPU)


@plain("set_default_device")
def set_default_device(device: Any) -> None:
    """Check that new tensors can be where a program wants them."""
    check_device(device)


@plain("typename")
def typename(obj: Any, /) -> str:
    """Return what PyTorch calls the type of an object."""
    if isinstance(obj, Tensor):
        name: str = obj.type()
        return name
    of = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(of, "__module__", None)
    return of.__qualname__ if module in (None, "builtins") else f"{module}.{of.__qualname__}"


# -- accelerators, which there are none of ---------------------------------------------------------


def _no(*args: Any, **options: Any) -> bool:
    return False


def _nothing(*args: Any, **options: Any) -> None:
    return None


def _no_cuda(*args: Any, **options: Any) -> Any:
    check_device("cuda")


for _name in ("cuda", "mps", "xpu", "accelerator", "mtia"):
    put((f"{_name}.is_available",), _no)
    put((f"{_name}.device_count",), lambda: 0)
    put((f"{_name}.manual_seed", f"{_name}.empty_cache"), _nothing)
put(("cuda.manual_seed_all", "cuda.seed_all", "cuda.ipc_collect", "mps.seed"), _nothing)
put(("cuda.is_initialized", "cuda.is_bf16_supported"), _no)
put(("cuda.memory_allocated", "cuda.max_memory_allocated"), lambda device=None: 0)
put(("cuda.memory_reserved", "cuda.max_memory_reserved"), lambda device=None: 0)
put(("accelerator.current_accelerator",), lambda check_available=False: None)
for _name in (
    "synchronize", "current_device", "get_device_name", "get_device_properties", "set_device",
    "get_device_capability", "get_rng_state", "set_rng_state", "Event", "Stream", "current_stream",
    "mem_get_info", "reset_peak_memory_stats", "init",
):  # fmt: skip
    put((f"cuda.{_name}",), _no_cuda)
put(("version.cuda", "version.hip", "version.xpu", "version.git_version"), None)
put(("has_lapack", "has_openmp"), True)
put(("has_cuda", "has_cudnn", "has_mps", "has_mkl"), False)
for _name, _value in {
    "cudnn.deterministic": False,
    "cudnn.benchmark": False,
    "cudnn.benchmark_limit": 10,
    "cudnn.enabled": True,
    "cudnn.allow_tf32": True,
    "cuda.matmul.allow_tf32": False,
    "cuda.matmul.allow_fp16_reduced_precision_reduction": True,
    "mkldnn.enabled": False,
    "opt_einsum.enabled": False,
}.items():
    put((f"backends.{_name}",), _value, _KEPT)
for _name in ("cudnn", "mps", "mkl", "mkldnn", "openmp", "opt_einsum"):
    put((f"backends.{_name}.is_available",), _no)
put(("backends.mps.is_built", "backends.cuda.is_built"), _no)
put(("backends.cudnn.version",), lambda: None)
put(("backends.cpu.get_cpu_capability",), lambda: "DEFAULT")


@plain("backends.cudnn.flags", differs=_KEPT)
@contextlib.contextmanager
def flags(**options: Any) -> Iterator[None]:
    """Return a context that changes nothing."""
    yield


# -- compilers, which there are none of ------------------------------------------------------------


@plain("compile", differs=_AS_IT_IS)
def compile(model: Any = None, **options: Any) -> Any:
    """Return the function as it is."""
    return (lambda function: function) if model is None else model


@plain("jit.script", "jit.ignore", "jit.unused", "jit.export", differs=_AS_IT_IS)
def script(obj: Any = None, **options: Any) -> Any:
    """Return the function as it is."""
    return (lambda function: function) if obj is None else obj


@plain("jit.trace", differs=_AS_IT_IS)
def trace(func: Any, example_inputs: Any = None, **options: Any) -> Any:
    """Return the function as it is."""
    return func


put(("jit.is_scripting", "jit.is_tracing", "compiler.is_compiling"), _no)
put(("jit.optimized_execution", "jit.fuser"), lambda *args: contextlib.nullcontext())
put(("compiler.disable", "compiler.allow_in_graph"), script, _AS_IT_IS)
put(("compiler.reset", "_dynamo.reset"), _nothing)


# -- what programs annotate and assert with --------------------------------------------------------

put(("types.Number",), int | float | bool)
put(("types.Device",), device | str | int | None)


@plain("_assert")
def check(condition: Any, message: str) -> None:
    """Raise an AssertionError unless a condition holds."""
    if not condition:
        raise AssertionError(message)


for _name in (
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes",
    "broadcast_tensors", "cartesian_prod", "cdist", "einsum", "meshgrid", "norm", "split",
    "tensordot", "unique", "unique_consecutive",
):  # fmt: skip
    if f"functional.{_name}" not in NAMES:
        put((f"functional.{_name}",), NAMES[_name])
DIFFERENCES["get_num_threads"] = "how many threads NumPy has is up to it"
