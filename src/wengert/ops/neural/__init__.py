"""What networks are made of: the extension `xp.nn`, and the public names of `wengert.nn`."""

from wengert.ops.neural import convolutions, layers, pooling, resampling
from wengert.ops.neural.convolutions import *  # noqa: F403
from wengert.ops.neural.layers import *  # noqa: F403
from wengert.ops.neural.pooling import *  # noqa: F403
from wengert.ops.neural.resampling import *  # noqa: F403

__all__ = [
    *convolutions.__all__,
    *layers.__all__,
    *pooling.__all__,
    *resampling.__all__,
]
