"""The main namespace in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import wengert as wg


def _with(place: Callable[..., Any]) -> Callable[..., Any]:
    """Return a JAX function that makes zeros and then puts values into them."""
    return lambda values, shape, **key: place(jnp.zeros(shape, values.dtype), values, **key)


def _put_winners(x: Any, values: Any, key: Any, winners: Any) -> Any:
    if winners is None:
        return x.at[key].set(values)
    return x.at[tuple(k[winners] for k in key)].set(values[winners])


def _jax_pad(x: Any, widths: Any, mode: str, value: Any) -> Any:
    return jnp.pad(x, widths, mode, **({"constant_values": value} if mode == "constant" else {}))


def _jax_copy(x: Any, values: Any, path: Any, key: Any) -> Any:
    """Return x with other values at the positions that a path and a key lead to."""
    places = np.arange(x.size).reshape(x.shape)
    for step in path:
        places = np.asarray(step(wg.asarray(places)))
    places = places if key is None else places[key]
    return x.reshape(-1).at[places.reshape(-1)].set(values.reshape(-1)).reshape(x.shape)


def _jax_astype(x: Any, dtype: Any) -> Any:
    return (x if np.dtype(dtype).kind == "c" else jnp.real(x)).astype(dtype)


#: Operations that JAX calls by another name, or with other parameters.
JAX_CALLS: dict[str, Callable[..., Any]] = {
    "angle_of_real": lambda x: jnp.where(x < 0, np.pi, 0.0).astype(x.dtype),
    "astype": _jax_astype,
    "at_add": lambda x, values, key: x.at[key].add(values),
    "at_set": _put_winners,
    "clip_above": jnp.maximum,
    "clip_below": jnp.minimum,
    "complex": lambda x1, x2: x1 + 1j * x2,
    "concat": lambda *arrays, axis: jnp.concatenate(arrays, axis),
    "stack": lambda *arrays, axis: jnp.stack(arrays, axis),
    "copy_slices": _jax_copy,
    "einsum": lambda *arrays, subscripts: jnp.einsum(subscripts, *arrays),
    "embed": _with(lambda zeros, values, key: zeros.at[key].set(values)),
    "frac": lambda x: x - jnp.trunc(x),
    "gather_flat": lambda x, shape, positions: jnp.where(
        positions < 0, 0, x.reshape(-1)[positions]
    ).reshape(shape),
    "index": lambda x, key: x[key],
    "keep": lambda x, mask: jnp.where(mask, x, 0),
    "pad": _jax_pad,
    "pow_number": lambda x, exponent: x**exponent,
    "read": lambda x: x,
    "repeat": lambda x, repeats, axis: jnp.repeat(x, np.asarray(repeats), axis),
    "rows": lambda x, indices: x[indices],
    "rsqrt": jax.lax.rsqrt,
    "to_device": lambda x, device, back: x,
    "scatter": _with(lambda zeros, values, key: zeros.at[key].add(values)),
    "scatter_flat": lambda values, shape, positions: (
        jnp.zeros(int(np.prod(shape)), values.dtype)
        .at[jnp.where(positions < 0, 99, positions)]
        .add(values, mode="drop")
        .reshape(shape)
    ),
    "slice": lambda x, parts: x[parts],
    "tile": lambda x, repetitions: jnp.tile(x, repetitions),
    "trunc_divide(slope=0)": lambda x1, x2: jnp.trunc(x1 / x2),
    "unmoved": lambda x1, x2: x1 + 0 * x2,
}
#: Operations that JAX lacks, or cannot differentiate, with the reason.
NOT_IN_JAX: dict[str, str] = {"nextafter": "JAX declares no derivative of it"}
