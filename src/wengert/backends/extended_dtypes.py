"""Dtypes of `ml_dtypes`, such as bfloat16, which NumPy has not. It is imported when one is used."""

from __future__ import annotations

from typing import Any

import numpy as np


def extended(name: str) -> np.dtype:
    """Return a dtype of `ml_dtypes`, such as bfloat16, which NumPy has not."""
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            f"{name} needs the package ml_dtypes: pip install 'wengert[bfloat16]', or write float32"
        ) from None
    return np.dtype(getattr(ml_dtypes, name))


def finfo(dtype: Any) -> Any:
    """Return the limits of a floating dtype of NumPy or `ml_dtypes`."""
    if np.dtype(dtype).kind != "V":
        return np.finfo(dtype)
    import ml_dtypes

    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
