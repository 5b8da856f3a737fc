"""What networks are made of, as functions of tensors."""

from wengert.ops.neural import cross_entropy, linear, relu

__all__ = ["cross_entropy", "linear", "relu"]
