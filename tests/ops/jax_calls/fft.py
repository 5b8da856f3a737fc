"""Fourier transforms in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

#: Operations that JAX calls by another name, or with other parameters.
JAX_CALLS: dict[str, Callable[..., Any]] = {
    "fft.forward": lambda x, axes, norm: jnp.fft.fftn(x, axes=axes, norm=norm),
    "fft.inverse": lambda x, axes, norm: jnp.fft.ifftn(x, axes=axes, norm=norm),
    "fft.from_real": jnp.fft.rfft,
    "fft.to_real": jnp.fft.irfft,
}
NOT_IN_JAX: dict[str, str] = {}
