"""autograd.tracer: the plain value of a recorded one."""

from __future__ import annotations

from typing import Any

from wengert.dialects.autograd.borders import missing
from wengert.dialects.autograd.borders import values as getval
from wengert.ops.numpy.ufuncs import is_tensor as isbox

__all__ = ["getval", "isbox"]


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, __all__)
