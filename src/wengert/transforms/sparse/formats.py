"""The forms in which a plan hands out a matrix: one row of a table for each library's."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from wengert import backends
from wengert.errors import BackendError
from wengert.transforms.sparse.assembly import Placed


@dataclass(frozen=True)
class Format:
    """A form of sparse matrices.

    Parameters
    ----------
    library
        The module whose arrays hold the values.
    package
        What to install.
    build
        Takes the module that `module` names, values, the pattern, and what gives an index array of
        it where the values are, by name.
    """

    library: str
    package: str
    module: str
    build: Callable[[Any, Any, csr_array, Callable[[str], Any]], Any]


def _torch_coo(torch: Any, values: Any, pattern: csr_array, index: Callable[[str], Any]) -> Any:
    return torch.sparse_coo_tensor(
        index("coordinates"), values, pattern.shape, is_coalesced=True, check_invariants=False
    )


def _torch_csr(torch: Any, values: Any, pattern: csr_array, index: Callable[[str], Any]) -> Any:
    return torch.sparse_csr_tensor(
        index("indptr"), index("indices"), values, pattern.shape, check_invariants=False
    )


def _bcoo(sparse: Any, values: Any, pattern: csr_array, index: Callable[[str], Any]) -> Any:
    return sparse.BCOO(
        (values, index("coordinates").T),
        shape=pattern.shape,
        indices_sorted=True,
        unique_indices=True,
    )


def _cupy_csr(sparse: Any, values: Any, pattern: csr_array, index: Callable[[str], Any]) -> Any:
    return sparse.csr_matrix((values, index("indices"), index("indptr")), shape=pattern.shape)


FORMATS = {
    "torch_coo": Format("torch", "torch", "torch", _torch_coo),
    "torch_csr": Format("torch", "torch", "torch", _torch_csr),
    "jax_bcoo": Format("jax.numpy", "jax", "jax.experimental.sparse", _bcoo),
    "cupy_csr": Format("cupy", "cupy", "cupyx.scipy.sparse", _cupy_csr),
}
#: The form that a library's values get if nobody asks for another.
USUAL = {"torch": "torch_coo", "jax.numpy": "jax_bcoo", "cupy": "cupy_csr"}


def check_format(name: str | None, what: str) -> None:
    """Raise if there is no such form, or if its library is not here."""
    if name is None or name == "scipy":
        return
    if name not in FORMATS:
        expected = ", ".join(["scipy", *FORMATS])
        raise ValueError(f"{what}: format is {name!r}; expected one of {expected}")
    form = FORMATS[name]
    try:
        importlib.import_module(form.module)
    except ImportError as error:
        raise ImportError(
            f"{what}: format={name!r} needs {form.module}, which cannot be imported ({error}): "
            f'pip install {form.package}, or write format="scipy"'
        ) from error


def built(name: str | None, values: Any, pattern: csr_array, placed: Placed, what: str) -> Any:
    """Return a matrix of values in the order of a pattern, in the form of a name."""
    xp: Any = backends.namespace_of(values)
    library = xp.base.__name__.removeprefix("array_api_compat.")
    if name is None:
        name = USUAL.get(library, "scipy")
        if name == "scipy" and not backends.is_on_host(values):
            raise BackendError(
                f"{what}: there are no sparse matrices of {xp.name} arrays; write "
                'plan.values(x) for the elements where they are, or plan(x, format="scipy") for a '
                "matrix in host memory"
            )
    if name == "scipy":
        data = _in_host_memory(values, what)
        return csr_array((data, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape)
    form = FORMATS[name]
    module = importlib.import_module(form.module)
    if xp is backends.NUMPY and form.library != "numpy":
        values = importlib.import_module(form.library).asarray(values)
        xp = backends.namespace_of(values)
    elif library != form.library:
        raise BackendError(
            f"{what}: the values are of {xp.name}, and format={name!r} holds arrays of "
            f"{form.library}; convert the argument first, or write plan(x) for a matrix where it is"
        )

    def index(part: str) -> Any:
        return placed(part, lambda: _index(part, pattern), xp, values)

    return form.build(module, values, pattern, index)


def _index(part: str, pattern: csr_array) -> np.ndarray:
    if part != "coordinates":
        return getattr(pattern, part)
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    return np.stack([rows, pattern.indices.astype(rows.dtype)])


def _in_host_memory(values: Any, what: str) -> np.ndarray:
    try:
        return backends.to_numpy(values)
    except Exception as error:
        raise BackendError(
            f"{what}: values of an array that has none yet cannot be copied to host memory "
            f"({type(error).__name__}); write plan.values(x), or a format of that library"
        ) from error
