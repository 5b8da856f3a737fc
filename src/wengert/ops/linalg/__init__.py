"""Linear algebra: the standard's extension, and what NumPy and SciPy have beyond it.

Rules on tensors find here, as xp.linalg, the functions that they call on raw arrays.
"""

from wengert.ops.linalg import (
    banded,
    decompositions,
    functions,
    least_squares,
    norms,
    products,
    solving,
)
from wengert.ops.linalg.banded import *  # noqa: F403
from wengert.ops.linalg.decompositions import *  # noqa: F403
from wengert.ops.linalg.functions import *  # noqa: F403
from wengert.ops.linalg.least_squares import *  # noqa: F403
from wengert.ops.linalg.norms import *  # noqa: F403
from wengert.ops.linalg.products import *  # noqa: F403
from wengert.ops.linalg.solving import *  # noqa: F403

_MODULES = (banded, decompositions, functions, least_squares, norms, products, solving)

__all__ = sorted(name for module in _MODULES for name in module.__all__)
