"""Measures of images with channels last: edges, total variation, likeness in structure."""

from __future__ import annotations

import math

import numpy as np

from wengert.engine.tensor import Tensor
from wengert.ops.neural.convolutions import conv2d

__all__ = ["each_channel", "sobel_edges", "standardised", "structural_similarity"]
_ACROSS = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])


def each_channel(x: Tensor, kernel: np.ndarray) -> Tensor:
    """Return the convolution of every channel of (batch, rows, columns, channels) with a kernel."""
    ns, channels = Tensor._namespace, x.shape[-1]
    weight = np.broadcast_to(kernel.astype(x.dtype), (channels, 1, *kernel.shape))
    y = conv2d(ns.moveaxis(x, -1, 1), ns.asarray(np.array(weight)), groups=channels)
    return ns.moveaxis(y, 1, -1)


def sobel_edges(x: Tensor) -> Tensor:
    """Return Sobel's differences down and across, as a new last axis; borders are reflected."""
    ns = Tensor._namespace
    padded = ns.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="reflect")
    return ns.stack([each_channel(padded, kernel) for kernel in (_ACROSS.T, _ACROSS)], axis=-1)


def standardised(x: Tensor) -> Tensor:
    """Return images, each of mean 0 and of a variance of 1, or less if it is nearly constant."""
    ns, whole = Tensor._namespace, (-3, -2, -1)
    mean = ns.mean(x, axis=whole, keepdims=True)
    variance = ns.mean((x - mean) ** 2, axis=whole, keepdims=True)
    least = 1.0 / math.prod(x.shape[-3:])
    return (x - mean) / ns.sqrt(ns.where(variance > least, variance, least))


def structural_similarity(
    x: Tensor, y: Tensor, c1: Tensor, c2: Tensor, size: int = 11, sigma: float = 1.5
) -> Tensor:
    """Return how alike in structure two batches of images are, around each pixel.

    Means and variances are over a window of some size, weighted by a Gaussian of width `sigma`;
    c1 and c2 keep quotients of small ones finite.
    """
    line = np.exp(-((np.arange(size) - (size - 1) / 2) ** 2) / (2 * sigma**2))
    kernel = np.outer(line, line) / line.sum() ** 2
    mean_x, mean_y = each_channel(x, kernel), each_channel(y, kernel)
    product, squares = 2.0 * mean_x * mean_y, mean_x**2 + mean_y**2
    luminance = (product + c1) / (squares + c1)
    covariance = 2.0 * each_channel(x * y, kernel) - product
    spread = each_channel(x * x + y * y, kernel) - squares
    return luminance * (covariance + c2) / (spread + c2)
