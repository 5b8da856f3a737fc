"""JAX's arrays, also those of a program that is being compiled: nothing here looks at values."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from wengert.backends import jax_control, jax_linalg, jax_neural, jax_special
from wengert.backends.jax_own import OWN
from wengert.backends.libraries import Table
from wengert.backends.strided_kernels import common

_COMMON = common(jnp)
keep = _COMMON["keep"]


def embed(values: Any, shape: tuple[int, ...], key: tuple[slice, ...]) -> Any:
    """Return zeros of `shape` with `values` at the slices `key`.

    XLA computes a padding together with what is around it, and a scatter by itself.
    """
    spans = [range(n)[k] for n, k in zip(shape, key, strict=False)]
    spans += [range(n) for n in shape[len(key) :]]
    if any(span.step < 0 or not len(span) for span in spans):
        return jnp.zeros(shape, values.dtype).at[key].set(values)
    widths = [
        (span.start, n - span[-1] - 1, span.step - 1) for n, span in zip(shape, spans, strict=True)
    ]
    values = jnp.broadcast_to(values, [len(span) for span in spans])
    return lax.pad(values, jnp.zeros((), values.dtype), widths)


def scatter(values: Any, shape: tuple[int, ...], key: Any) -> Any:
    """Return zeros of `shape` with `values` added at `key`; duplicates add up."""
    return jnp.zeros(shape, values.dtype).at[key].add(values)


def scatter_flat(values: Any, shape: tuple[int, ...], positions: Any) -> Any:
    """Return zeros of `shape` with `values` added at flat positions; negative ones are dropped."""
    size = math.prod(shape)
    places = jnp.where(jnp.ravel(positions) < 0, size, jnp.ravel(positions))
    flat = jnp.zeros(size, values.dtype).at[places].add(jnp.ravel(values), mode="drop")
    return flat.reshape(shape)


def gather_flat(x: Any, shape: tuple[int, ...], positions: Any) -> Any:
    """Return the elements of x at flat positions, as `shape`; 0 at negative positions."""
    if not x.size:
        return jnp.zeros(shape, x.dtype)
    taken = jnp.ravel(x)[jnp.maximum(positions, 0)]
    return keep(taken, jnp.asarray(positions) >= 0).reshape(shape)


def location(array: Any) -> Any:
    """Return the device that an array was put on; None if JAX chooses, or compiles."""
    if isinstance(array, jax.core.Tracer) or not array.committed:
        return None
    return array.device if isinstance(array.device, jax.Device) else None


def place(array: Any, where: Any) -> Any:
    """Return a constant at a location: an array with values, also while a program is compiled."""
    with jax.ensure_compile_time_eval():
        return jnp.asarray(array) if where is None else jax.device_put(array, where)


TABLE = Table(
    {
        **_COMMON,
        "control": jax_control,
        "copy": lambda x: x,
        "einsum": lambda subscripts, *operands: jnp.einsum(subscripts, *operands),
        "embed": embed,
        "gather_flat": gather_flat,
        "index": lambda x, key: x[key],
        "location": location,
        "place": place,
        "put": lambda x, values, key: x.at[key].set(values),
        "put_add": lambda x, values, key: x.at[key].add(values),
        "put_max": lambda x, values, key: x.at[key].max(values),
        "put_min": lambda x, values, key: x.at[key].min(values),
        "put_multiply": lambda x, values, key: x.at[key].multiply(values),
        "scatter": scatter,
        "scatter_flat": scatter_flat,
    },
    {
        "nn": lambda name: getattr(jax_neural, name, None),
        "linalg": jax_linalg.FUNCTIONS.get,
        "special": jax_special.function,
    },
    immutable=True,
    narrow=frozenset({"contraction", "linear", "position map", "zero"}),
    own=OWN,
)
