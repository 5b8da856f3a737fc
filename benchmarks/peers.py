"""The libraries that Wengert is compared with: which are here, and how each is set up.

Nothing is imported before a case asks for it. All get the same number of threads.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.metadata
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

#: Every library that a competitor can be of, in the order of the tables.
LIBRARIES = ("wengert", "numpy", "torch", "tensorflow", "jax", "autograd", "asdex", "casadi")
_COUNTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_DEPRECATION_WARNINGS": "0",
    "JAX_PLATFORMS": "cpu",
    "CUDA_VISIBLE_DEVICES": "",
}


def set_environment(threads: int) -> None:
    """Set what libraries read when they are imported; child processes inherit it."""
    os.environ.update(_ENVIRONMENT)
    os.environ.update(dict.fromkeys(_COUNTS, str(threads)))
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        if threads < len(cores):  # JAX has no setting of its own; it counts the cores it may use
            os.sched_setaffinity(0, cores[:threads])


def thread_count() -> int:
    """Return how many threads every library gets: what was set, else one for each core."""
    return int(os.environ.get(_COUNTS[0], os.cpu_count() or 1))


def library_of(competitor: str) -> str:
    """Return the library of a competitor: its first word, "jax" for "jax jit"."""
    return competitor.split()[0]


def is_installed(competitor: str) -> bool:
    """Whether a competitor's library can be imported, without importing it."""
    library = library_of(competitor)
    return library == "python" or importlib.util.find_spec(library) is not None


@functools.cache
def load(library: str) -> Any:
    """Return a library, imported and told how many threads to use."""
    if library == "tensorflow":
        with _silent():
            module = importlib.import_module(library)
            module.config.threading.set_intra_op_parallelism_threads(thread_count())
            module.config.threading.set_inter_op_parallelism_threads(thread_count())
            module.sin(module.constant(0.0))  # starts the runtime, which logs once more
        return module
    module = importlib.import_module(library)
    if library == "torch":
        module.set_num_threads(thread_count())
    return module


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Hold back what is written to stderr, by C++ too, and show it only if there is an error.

    TensorFlow logs before it reads TF_CPP_MIN_LOG_LEVEL. What it says could be avoided by
    switching oneDNN off, but that would make it slower.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            yield
        except BaseException:
            log.seek(0)
            os.write(kept, log.read())
            raise
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)


def versions() -> dict[str, str]:
    """Return the version of each installed library."""
    names = importlib.metadata.packages_distributions()
    return {
        library: importlib.metadata.version(names.get(library, [library])[0])
        for library in LIBRARIES
        if is_installed(library)
    }
