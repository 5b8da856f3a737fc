"""torch.nn: functions, modules, initialisation, and what goes with them."""

from wengert.dialects.torch.nn import (
    activations,
    containers,
    convolutions,
    functional,
    init,
    layers,
    losses,
    module,
    normalisation,
    parametrize,
    pooling,
    sampling,
    utils,
)

__all__ = [
    "activations", "containers", "convolutions", "functional", "init", "layers", "losses",
    "module", "normalisation", "parametrize", "pooling", "sampling", "utils",
]  # fmt: skip
