"""Layers and losses of networks: the extension `xp.nn`, and the public names of `wengert.nn`."""

from wengert.ops.neural import (
    activations,
    attention,
    convolutions,
    layers,
    losses,
    normalisation,
    pooling,
    recurrent,
    resampling,
    unfolding,
)
from wengert.ops.neural.activations import *  # noqa: F403
from wengert.ops.neural.attention import *  # noqa: F403
from wengert.ops.neural.convolutions import *  # noqa: F403
from wengert.ops.neural.convolutions import convolve, convolve_input, convolve_weight  # noqa: F401
from wengert.ops.neural.layers import *  # noqa: F403
from wengert.ops.neural.losses import *  # noqa: F403
from wengert.ops.neural.normalisation import *  # noqa: F403
from wengert.ops.neural.pooling import *  # noqa: F403
from wengert.ops.neural.pooling import (  # noqa: F401
    max_pool_gather,
    max_pool_spread,
    window_spread,
    window_sum,
)
from wengert.ops.neural.recurrent import *  # noqa: F403
from wengert.ops.neural.resampling import *  # noqa: F403
from wengert.ops.neural.resampling import combine  # noqa: F401
from wengert.ops.neural.unfolding import *  # noqa: F403
from wengert.ops.neural.unfolding import fold_windows, unfold_windows  # noqa: F401

_MODULES = (
    activations, attention, convolutions, layers, losses, normalisation, pooling, recurrent,
    resampling, unfolding,
)  # fmt: skip

__all__ = sorted(name for module in _MODULES for name in module.__all__)
