"""Draw the picture of the front page, from the library's own numbers.

python docs/make_picture.py            write docs/assets/element-light.svg and element-dark.svg

A network of six 3x3 convolutions learns to find discs in noisy images. One pixel of its answer
depends on 13 x 13 pixels of the image: the picture shows where they are, how strongly each counts,
and how much work its gradient is beside the gradient of the whole answer.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

import numpy as np

import wengert as wg

DOCS = Path(__file__).parent
LAYERS, CHANNELS, SIZE, STEPS = 6, 8, 128, 300
PIXEL = (46, 80)
#: Colours of text, frames, the heat map, and what belongs to one element and to all.
THEMES = {
    "light": ("#1f2430", "#9aa0ac", "RdBu_r", "#c2410c", "#5b6b95"),
    "dark": ("#e6e8ee", "#6b7280", "berlin", "#fb923c", "#8b9bc9"),
}
TITLES = (
    "image",
    "network's answer",
    "what that pixel depends on",
    "multiply-adds of the gradient",
)


def discs(rng: np.random.Generator, count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return noisy images of bright discs, and the masks of the discs."""
    rows, columns = np.mgrid[:size, :size]
    masks = np.zeros((count, 1, size, size), np.float32)
    for mask in masks:
        for _ in range(size // 12):
            y, x = rng.uniform(0, size, 2)
            mask[0] += (rows - y) ** 2 + (columns - x) ** 2 < rng.uniform(4, 11) ** 2
    masks = np.minimum(masks, 1)
    return masks + rng.normal(0, 0.35, masks.shape).astype(np.float32), masks


def network(weights: list[Any], image: Any) -> Any:
    """Return the log-odds that each pixel is in a disc."""
    *layers, last = weights
    for weight, bias in layers:
        image = wg.tanh(wg.nn.conv2d(image, weight, bias, padding=1))
    return wg.nn.conv2d(image, *last, padding=1)


def first_weights(rng: np.random.Generator) -> list[Any]:
    """Return random weights, and biases of 0: one channel, then several, then one again."""
    widths = [1, *[CHANNELS] * (LAYERS - 1), 1]
    return [
        (
            wg.asarray(rng.normal(0, 1 / np.sqrt(9 * n), (m, n, 3, 3)), dtype=wg.float32),
            wg.zeros(m, dtype=wg.float32),
        )
        for n, m in itertools.pairwise(widths)
    ]


def trained(rng: np.random.Generator, steps: int) -> list[Any]:
    """Return weights after some steps of Adam."""
    weights = first_weights(rng)
    optimiser = wg.optim.Adam(0.01)
    state = optimiser.init(weights)
    for _ in range(steps):
        images, masks = discs(rng, 8, 48)

        def loss(weights: list[Any], x: Any = images, y: Any = masks) -> Any:
            return wg.nn.bce_with_logits(network(weights, x), y)

        weights, state = optimiser.step(weights, wg.grad(loss)(weights), state)
    return weights


def asked(weights: list[Any], image: np.ndarray) -> tuple[Any, Any, Any]:
    """Return the answer, the gradient of its pixel as a Block, and what that costs."""
    source = wg.asarray(image)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(source)
        answer = network(weights, source)
    target = answer.at[0, 0, *PIXEL]
    return answer, tape.gradient(target, source, dense=False), tape.cost(target, source)


def labels(cost: Any) -> list[str]:
    """Return what the picture says about the cost."""
    few, many = cost.structured.multiply_adds, cost.dense.multiply_adds
    return [f"this element: {few:,}", f"all elements: {many:,}", f"{many / few:.0f} times as many"]


def draw(path: Path, theme: str, image: np.ndarray, answer: Any, block: Any, cost: Any) -> None:
    """Write the picture as SVG, in the colours of a theme."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt
    from matplotlib.colors import SymLogNorm
    from matplotlib.patches import Rectangle

    ink, edge, colours, few, many = THEMES[theme]
    style = {
        "svg.fonttype": "none", "svg.hashsalt": "wengert", "font.size": 9, "axes.titlesize": 9.5,
        "font.family": "sans-serif", "text.color": ink, "axes.edgecolor": edge, "xtick.color": ink,
        "ytick.color": ink, "axes.titlecolor": ink,
    }  # fmt: skip
    y, x = PIXEL
    values = block.values.numpy()[0, 0]
    rows, columns = block.region[2:]
    corner = columns.start - 0.5, rows.start - 0.5
    with plt.rc_context(style):
        figure, axes = plt.subplots(1, 4, figsize=(9.6, 2.75), width_ratios=[1, 1, 1, 1.15])
        for ax, title in zip(axes, TITLES, strict=True):
            ax.set(title=title, xticks=[], yticks=[])
        axes[0].imshow(image[0, 0], cmap="gray", vmin=-0.6, vmax=1.6, interpolation="none")
        size = len(columns), len(rows)
        axes[0].add_patch(Rectangle(corner, *size, fill=False, edgecolor=few, linewidth=1.6))
        axes[1].imshow(
            1 / (1 + np.exp(-answer.numpy()[0, 0])),
            cmap="gray",
            vmin=0,
            vmax=1,
            interpolation="none",
        )
        axes[1].plot(x, y, "s", ms=5, mfc="none", mec=few, mew=1.6)
        top = float(np.abs(values).max())
        scale = SymLogNorm(top / 10, vmin=-top, vmax=top)  # so that weak influence shows too
        mesh = axes[2].pcolormesh(values, cmap=colours, norm=scale, ec="none")
        axes[2].set(aspect="equal")
        axes[2].invert_yaxis()
        bar = figure.colorbar(mesh, ax=axes[2], fraction=0.046, pad=0.04, ticks=[-top, 0, top])
        bar.ax.set_yticklabels(["-", "0", "+"])
        bar.ax.minorticks_off()
        bar.outline.set_visible(False)
        work = [cost.dense.multiply_adds, cost.structured.multiply_adds]
        axes[3].barh([0, 1], work, color=[many, few], height=0.5)
        axes[3].set(xscale="log", xlim=(1e3, 10 ** np.ceil(np.log10(work[0]))), ylim=(-0.6, 1.75))
        axes[3].set(xticks=[1e3, 1e5, 1e7], box_aspect=0.88)
        axes[3].spines[["top", "right", "left"]].set_visible(False)
        one, whole, _ = labels(cost)
        for place, text in ((0, whole), (1, one)):
            axes[3].text(1.1e3, place + 0.31, text, va="bottom", fontsize=8.5)
        figure.tight_layout(pad=0.6, w_pad=1.2)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
        plt.close(figure)


def main() -> None:
    """Train, ask and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=STEPS, help="steps of training")
    parser.add_argument("--out", type=Path, default=DOCS / "assets", help="folder of the pictures")
    given = parser.parse_args()
    rng = np.random.default_rng(3)
    weights = trained(rng, given.steps)
    image, _ = discs(rng, 1, SIZE)
    answer, block, cost = asked(weights, image)
    for theme in THEMES:
        draw(given.out / f"element-{theme}.svg", theme, image, answer, block, cost)
    print(cost, *labels(cost), sep="\n")


if __name__ == "__main__":
    main()
