"""Programs on a GPU compiled by `wg.jit`, beside the same programs in jax.numpy by `jax.jit`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import wengert as wg

Programs = dict[str, Callable[[], Any]]


def perceptron(xp: Any, x: Any, *weights: Any) -> Any:
    """Return the mean of squares of a perceptron's result."""
    for w in weights:
        x = xp.tanh(x @ w)
    return xp.mean(x * x)


def gpt(xp: Any, norm: Any, attention: Any, gelu: Any, heads: int, x: Any, *weights: Any) -> Any:
    """Return the mean of squares after blocks of attention and of a perceptron.

    `attention` takes queries, keys and values of shape (batch, heads, length, width of a head).
    """
    batch, length, width = x.shape
    for i in range(0, len(weights), 4):
        qkv, out, up, down = weights[i : i + 4]
        parts = xp.reshape(norm(x) @ qkv, (batch, length, 3, heads, width // heads))
        parts = xp.permute_dims(parts, (2, 0, 3, 1, 4))
        a = attention(parts[0, ...], parts[1, ...], parts[2, ...])
        x = x + xp.reshape(xp.permute_dims(a, (0, 2, 1, 3)), (batch, length, width)) @ out
        x = x + gelu(norm(x) @ up) @ down
    return xp.mean(x * x)


def _random(seed: int, shape: tuple[int, ...], dtype: Any, scale: float) -> Any:
    import jax

    return scale * jax.random.normal(jax.random.key(seed), shape, dtype)


def _pair(ours: Any, theirs: Any, arrays: list[Any]) -> Programs:
    """Return both programs for the gradient with respect to all arrays but the first."""
    import jax

    wanted = tuple(range(1, len(arrays)))
    mine = wg.jit(wg.grad(ours, argnums=wanted))
    other = jax.jit(jax.grad(theirs, argnums=wanted))
    return {"wengert": lambda: mine(*arrays), "jax": lambda: other(*arrays)}


def cases(width: int = 1024, heads: int = 16, blocks: int = 4) -> Iterator[tuple[str, Programs]]:
    """Yield cases by name."""
    import jax
    import jax.numpy as jnp

    for size, rows, count, dtype, scale, name in (
        (256, 64, 8, jnp.float32, 0.05, "MLP 64x256, 8 layers"),
        (4096, 4096, 6, jnp.bfloat16, 0.01, "MLP 4096x4096, 6 layers, bfloat16"),
    ):
        arrays = [_random(0, (rows, size), dtype, 1.0)]
        arrays += [_random(k, (size, size), dtype, scale) for k in range(1, count + 1)]
        yield (
            name,
            _pair(functools.partial(perceptron, wg), functools.partial(perceptron, jnp), arrays),
        )

    sizes = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    arrays = [_random(0, (8, 1024, width), jnp.bfloat16, 1.0)]
    arrays += [
        _random(k, size, jnp.bfloat16, 0.02) for k, size in enumerate(sizes * blocks, start=1)
    ]

    def jax_norm(x: Any) -> Any:
        wide = x.astype(jnp.float32)
        centred = wide - jnp.mean(wide, axis=-1, keepdims=True)
        variance = jnp.mean(centred * centred, axis=-1, keepdims=True)
        return (centred * jax.lax.rsqrt(variance + 1e-5)).astype(x.dtype)

    def jax_attention(q: Any, k: Any, v: Any) -> Any:
        swapped = [jnp.swapaxes(a, 1, 2) for a in (q, k, v)]
        return jnp.swapaxes(jax.nn.dot_product_attention(*swapped, is_causal=True), 1, 2)

    ours = functools.partial(
        gpt, wg, lambda x: wg.nn.layer_norm(x),
        lambda q, k, v: wg.nn.scaled_dot_product_attention(q, k, v, is_causal=True),
        wg.nn.gelu, heads,
    )  # fmt: skip
    theirs = functools.partial(
        gpt, jnp, jax_norm, jax_attention, functools.partial(jax.nn.gelu, approximate=False), heads
    )
    yield "GPT blocks 1024x1024, 16 heads, 4 blocks, batch 8, bfloat16", _pair(ours, theirs, arrays)


def difference(programs: Programs) -> float:
    """Return by how much gradients of two programs differ, relative to their size."""
    import jax
    import jax.numpy as jnp

    mine, theirs = (jax.tree.leaves(run()) for run in programs.values())
    pairs = [
        (a.astype(jnp.float32), b.astype(jnp.float32)) for a, b in zip(mine, theirs, strict=True)
    ]
    return max(float(jnp.linalg.norm(a - b) / jnp.linalg.norm(b)) for a, b in pairs)
