"""The modules of torch.nn: a few lines each over the functions of torch.nn.functional."""

from wengert.dialects.torch.nn.layers import (
    activations,
    convolutions,
    lazy,
    linear,
    losses,
    normalisation,
    padding,
    pooling,
    shapes,
)

__all__ = [
    "activations", "convolutions", "lazy", "linear", "losses", "normalisation", "padding",
    "pooling", "shapes",
]  # fmt: skip
