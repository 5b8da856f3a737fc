"""Settings that programs touch: threads, accelerators, compilers, printing.

There is one device and no compiler, so most of these keep a value, and nothing follows.
"""

from __future__ import annotations

import contextlib
from typing import Any

from wengert.dialects.torch import devices, printing
from wengert.dialects.torch.devices import check_device, device
from wengert.dialects.torch.table import DIFFERENCES, plain, put

_KEPT = "kept, and nothing follows from it"
_AS_IT_IS = "returns the function as it is: there is no compiler"


# -- values that are kept --------------------------------------------------------------------------


def _setting(getter: str, setter: str, value: Any) -> None:
    """Offer a function that keeps a value and one that returns it."""
    kept = [value]

    def keep(value: Any, **options: Any) -> None:
        if setter.endswith("threads"):
            if not isinstance(value, int):
                raise TypeError(f"{setter}: got a {type(value).__name__}; give a whole number")
            if value <= 0:
                raise RuntimeError(f"{setter}: got {value}; give 1 or more")
        kept[0] = value

    put((getter,), lambda: kept[0], _KEPT)
    put((setter,), keep, _KEPT)


_setting("get_num_threads", "set_num_threads", 1)
_setting("get_float32_matmul_precision", "set_float32_matmul_precision", "highest")
_setting("are_deterministic_algorithms_enabled", "use_deterministic_algorithms", False)
DIFFERENCES["get_num_threads"] = "how many threads NumPy has is up to it"
for _name, _value in {
    "cudnn.deterministic": False,
    "cudnn.benchmark": False,
    "cudnn.enabled": True,
    "cudnn.allow_tf32": True,
    "cuda.matmul.allow_tf32": False,
}.items():
    put((f"backends.{_name}",), _value, _KEPT)
put(("set_printoptions",), printing.set_printoptions)
put(("types.Number",), int | float | bool)
put(("types.Device",), device | str | int | None)


# -- functions that have one answer: no accelerator, no compiler -----------------------------------

_DEVICES = ("cuda", "mps", "xpu", "accelerator", "mtia")
_MISSING = ("cudnn", "mps", "mkl", "openmp")


def _answer(value: Any, names: str, differs: str = "") -> None:
    """Offer functions that return one value, whatever they are given."""
    put(tuple(names.split()), lambda *args, **options: value, differs)


for _name in _DEVICES:
    _answer(False, f"{_name}.is_available")
    _answer(0, f"{_name}.device_count")
    _answer(None, f"{_name}.manual_seed {_name}.empty_cache")
for _name in _MISSING:
    _answer(False, f"backends.{_name}.is_available")
_answer(False, "cuda.is_initialized cuda.is_bf16_supported backends.mps.is_built")
_answer(False, "jit.is_scripting jit.is_tracing compiler.is_compiling")
_answer(0, "cuda.memory_allocated cuda.max_memory_allocated cuda.memory_reserved")
_answer(None, "cuda.manual_seed_all mps.seed")
_answer(None, "accelerator.current_accelerator backends.cudnn.version")
_answer(None, "compiler.reset _dynamo.reset _C._log_api_usage_once")
_answer(False, "distributed.is_available")
_answer(devices.CPU, "get_default_device")
_answer(contextlib.nullcontext(), "backends.cudnn.flags", _KEPT)
put(("version.cuda", "version.hip", "version.xpu", "version.git_version"), None)
for _name in (
    "synchronize", "current_device", "get_device_name", "get_device_properties", "set_device",
    "get_rng_state", "set_rng_state", "Event", "Stream", "reset_peak_memory_stats",
):  # fmt: skip
    put((f"cuda.{_name}",), lambda *args, **options: check_device("cuda"))


for _name in ("SymInt", "SymFloat"):  # to be asked about: lengths are Python's numbers
    put((_name,), type(_name, (), {"__doc__": "What nothing is: a number that is not known."}))
put(("sym_float",), float)


# -- functions -------------------------------------------------------------------------------------


@plain(
    "compile", "jit.script", "jit.ignore", "jit.unused", "jit.export", "jit.trace",
    "compiler.disable", "_dynamo.disable", "compiler.allow_in_graph", differs=_AS_IT_IS,
)  # fmt: skip
def compile(model: Any = None, *examples: Any, **options: Any) -> Any:
    """Return the function as it is; its parameter has another name in some of these."""
    given = options.get("func", options.get("obj", model))
    return (lambda function: function) if given is None else given


@plain("set_default_device")
def set_default_device(device: Any) -> None:
    """Check that new tensors can be where a program wants them."""
    check_device(device)


@plain("_assert")
def check(condition: Any, message: str) -> None:
    """Raise an AssertionError unless a condition holds."""
    if not condition:
        raise AssertionError(message)
