"""autograd.tracer: the plain value of a recorded one."""

from wengert.dialects.autograd.borders import values as getval
from wengert.ops.numpy.ufuncs import is_tensor as isbox

__all__ = ["getval", "isbox"]
