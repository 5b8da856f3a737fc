"""Whether a colouring serves its purpose."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array

from wengert.transforms.sparse.colouring import Colouring


def verify(pattern: csr_array, colouring: Colouring) -> bool:
    """Return whether a matrix with this pattern comes back from its products with the seeds.

    The elements are distinct whole numbers, so sums are exact and no element can pass for another.
    """
    size = len(pattern.indices)
    values = np.random.default_rng(0).permutation(np.arange(1, size + 1))
    if colouring.mode in ("star", "acyclic"):
        i, j = coo_array(pattern).coords
        places = np.minimum(i, j) * np.intp(pattern.shape[1]) + np.maximum(i, j)
        values = values[np.unique(places, return_inverse=True)[1]]
    matrix = csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)
    found = colouring.recover(
        (matrix @ colouring.column_seeds(values.dtype).T).T,
        (matrix.T @ colouring.row_seeds(values.dtype).T).T,
    )
    return np.array_equal(found, values)
