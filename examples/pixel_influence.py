"""Draw which pixels of an image one pixel of a network's answer depends on, and how much.

A small segmentation network (convolutions, pooling, upsampling, a skip connection) learns to
find discs in noisy images that this program makes. Then the influence of the image on chosen
output pixels is computed, each at the cost of its receptive field alone, and drawn:

    python examples/pixel_influence.py [--size 96] [--steps 150] [--out pixel_influence.png]

The picture has the image, the network's mask with the chosen pixel, and the influence map: red
where a brighter pixel makes the answer surer, blue where it makes it less sure.
"""

from __future__ import annotations

import argparse
import struct
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import wengert as wg

CHANNELS = 8


# -- data ---------------------------------------------------------------------------------------


def images(rng: np.random.Generator, count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return noisy images of bright discs, and the masks of the discs."""
    rows, columns = np.mgrid[:size, :size]
    masks = np.zeros((count, 1, size, size), np.float32)
    for mask in masks:
        for _ in range(3):
            y, x = rng.uniform(0, size, 2)
            radius = rng.uniform(size / 12, size / 6)
            mask[0] += (rows - y) ** 2 + (columns - x) ** 2 < radius**2
    masks = np.minimum(masks, 1)
    noise = rng.normal(0, 0.4, masks.shape).astype(np.float32)
    return masks + noise, masks


# -- the network --------------------------------------------------------------------------------


def parameters(rng: np.random.Generator) -> dict[str, Any]:
    """Return weights and biases of the network, as tensors."""

    def layer(outputs: int, inputs: int) -> dict[str, Any]:
        scale = np.sqrt(2 / (9 * inputs))
        weight = rng.normal(0, scale, (outputs, inputs, 3, 3)).astype(np.float32)
        return {"w": wg.asarray(weight), "b": wg.zeros(outputs, dtype=wg.float32)}

    return {
        "first": layer(CHANNELS, 1),
        "deep": layer(2 * CHANNELS, CHANNELS),
        "deeper": layer(2 * CHANNELS, 2 * CHANNELS),
        "joined": layer(CHANNELS, 3 * CHANNELS),
        "last": layer(1, CHANNELS),
    }


def network(p: dict[str, Any], image: Any) -> Any:
    """Return the log-odds that each pixel is in a disc."""

    def conv(name: str, x: Any) -> Any:
        return wg.nn.conv2d(x, p[name]["w"], p[name]["b"], padding=1)

    fine = wg.tanh(conv("first", image))
    coarse = wg.tanh(conv("deep", wg.nn.max_pool2d(fine, 2)))
    coarse = wg.tanh(conv("deeper", coarse))
    both = wg.concat([fine, wg.nn.interpolate(coarse, scale_factor=2)], axis=1)
    return conv("last", wg.tanh(conv("joined", both)))


def train(rng: np.random.Generator, size: int, steps: int) -> dict[str, Any]:
    """Return the parameters after some steps of Adam."""
    p = parameters(rng)
    optimiser = wg.optim.Adam(wg.optim.cosine_decay(1e-2, steps))
    state = optimiser.init(p)
    for step in range(steps):
        x, mask = images(rng, 8, size)

        def loss(p: dict[str, Any], x: Any = x, mask: Any = mask) -> Any:
            return wg.nn.bce_with_logits(network(p, x), mask)

        value, gradients = wg.value_and_grad(loss)(p)
        p, state = optimiser.step(p, gradients, state)
        if step % 25 == 0 or step == steps - 1:
            print(f"step {step:4}: loss {float(value):.4f}")
    return p


# -- the picture ----------------------------------------------------------------------------------


def gray(values: np.ndarray) -> np.ndarray:
    """Return numbers from their least (black) to their greatest (white), as colours."""
    low, high = float(values.min()), float(values.max())
    shade = (values - low) / max(high - low, 1e-9)
    return np.repeat(shade[..., None], 3, axis=-1)


def diverging(values: np.ndarray) -> np.ndarray:
    """Return positive numbers in red, negative ones in blue, and zero in white."""
    share = values / max(float(np.abs(values).max()), 1e-12)
    red, blue = np.clip(1 + share, 0, 1), np.clip(1 - share, 0, 1)
    return np.stack([red, np.minimum(red, blue), blue], axis=-1)


def save(path: Path, panels: list[np.ndarray], scale: int = 6) -> None:
    """Write pictures of colours from 0 to 1 side by side, as a PNG file."""
    gap = np.ones((panels[0].shape[0], 2, 3))
    row = np.concatenate([part for panel in panels for part in (panel, gap)][:-1], axis=1)
    pixels = np.kron(np.round(255 * row).astype(np.uint8), np.ones((scale, scale, 1), np.uint8))
    height, width, _ = pixels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(lines))
        + chunk(b"IEND", b"")
    )


def main() -> None:
    """Train, ask, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=96, help="pixels along a side, even")
    parser.add_argument("--steps", type=int, default=150, help="steps of training")
    parser.add_argument("--out", type=Path, default=Path("pixel_influence.png"))
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    p = train(rng, given.size, given.steps)

    image, mask = images(rng, 1, given.size)
    y, x = (int(n) for n in np.argwhere(mask[0, 0])[mask[0, 0].sum().astype(int) // 2])
    source = wg.asarray(image)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(source)
        answer = network(p, source)
    print(tape.cost(answer.at[0, 0, y, x], source))

    start = time.perf_counter()
    block = tape.gradient(answer.at[0, 0, y, x], source, dense=False)
    one = time.perf_counter() - start
    start = time.perf_counter()
    tape.gradient(answer, source)
    whole = time.perf_counter() - start
    print(f"pixel ({y}, {x}) depends on {block.index[2:]} of the image")
    print(f"its influence map took {1e6 * one:.0f} us; a whole backward pass, {1e6 * whole:.0f} us")

    found = gray(1 / (1 + np.exp(-answer.numpy()[0, 0])))
    found[y, x] = (1, 0, 0)
    influence = block.todense().numpy()[0, 0]
    save(given.out, [gray(image[0, 0]), found, diverging(influence)])
    print(f"saved {given.out}")


if __name__ == "__main__":
    main()
