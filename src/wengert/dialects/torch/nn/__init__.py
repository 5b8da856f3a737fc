"""torch.nn: functions, modules, initialisation, and what goes with them."""

from wengert.dialects.torch.nn import (
    activations,
    all_parameters,
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
    sequences,
)

__all__ = [
    "activations", "all_parameters", "containers", "convolutions", "functional", "init", "layers",
    "losses", "module", "normalisation", "parametrize", "pooling", "sampling", "sequences",
]  # fmt: skip
