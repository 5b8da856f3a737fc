"""What networks are made of: the extension `xp.nn`, and the public names of `wengert.nn`."""

from wengert.ops.neural import (
    activations,
    attention,
    convolutions,
    layers,
    losses,
    normalisation,
    pooling,
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
from wengert.ops.neural.resampling import *  # noqa: F403
from wengert.ops.neural.resampling import combine  # noqa: F401
from wengert.ops.neural.unfolding import *  # noqa: F403
from wengert.ops.neural.unfolding import fold_windows, unfold_windows  # noqa: F401

__all__ = [
    *activations.__all__,
    *attention.__all__,
    *convolutions.__all__,
    *layers.__all__,
    *losses.__all__,
    *normalisation.__all__,
    *pooling.__all__,
    *resampling.__all__,
    *unfolding.__all__,
]
