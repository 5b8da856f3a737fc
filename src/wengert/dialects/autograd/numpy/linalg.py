"""NumPy's linear algebra, on arrays and on recorded ones."""

from __future__ import annotations

from typing import Any

import numpy as _np

from wengert.dialects.autograd.borders import joined as _joined
from wengert.dialects.autograd.boxes import boxed as _boxed
from wengert.dialects.autograd.numpy.wrapping import offering as _offering
from wengert.engine.batching import Batched as _Batched
from wengert.engine.tensor import Tensor as _Tensor

__all__ = sorted(_np.linalg.__all__)


@_boxed
def cholesky(a: Any, /, **how: Any) -> Any:
    """Return the Cholesky factor, with the derivative of a symmetric matrix as a symmetric one.

    NumPy reads one triangle, so that the derivative is in that triangle, and so it is for a matrix
    that is not symmetric. `autograd` shares it between both, and here so it is for a symmetric one.
    """
    a = _joined(a)
    if type(a) is _Tensor and type(a._raw) is not _Batched and a.ndim >= 2:
        turned = _np.conj(_np.swapaxes(a, -1, -2))
        if turned.shape == a.shape and _np.allclose(a.numpy(), turned.numpy(), rtol=1e-12):
            a = 0.5 * (a + turned)
    return _np.linalg.cholesky(a, **how)


__getattr__, __dir__ = _offering(_np.linalg, globals())
