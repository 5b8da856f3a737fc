"""Special functions that torch itself has, also under torch.special: erf, lgamma and the like."""

from __future__ import annotations

import math

from wengert.dialects.torch import kinds as K
from wengert.dialects.torch.axes import kept_shape, kind_of
from wengert.dialects.torch.math import RealFractions, two
from wengert.dialects.torch.operators import one
from wengert.dialects.torch.table import DIFFERENCES, offered
from wengert.dialects.torch.tensors import Native, ns
from wengert.ops import reductions, special
from wengert.ops.special.exponentials import logsumexp_complex

#: Names, the operation, and PyTorch's name of its node, for functions of real numbers.
for _names, _operation, _label in (
    ("erf special.erf", special.erf, ""),
    ("erfc special.erfc", special.erfc, ""),
    ("erfinv special.erfinv", special.erfinv, ""),
    ("lgamma special.gammaln", special.gammaln, "LgammaBackward0"),
    ("digamma special.digamma special.psi", special.digamma, ""),
    ("i0 special.i0", special.i0, "I0Backward0"),
):
    one(tuple(_names.split()), _operation, _label, kinds="biuf")
one(("sinc", "special.sinc"), special.sinc)
two(("igamma", "special.gammainc"), special.gammainc, kinds="f")
two(("igammac", "special.gammaincc"), special.gammaincc, kinds="f")
for _name in ("igamma", "igammac", "special.gammainc", "special.gammaincc"):
    DIFFERENCES[_name] = "has a derivative in its first argument too"


@offered("mvlgamma", "special.multigammaln", in_place=True)
def mvlgamma(input: RealFractions, p: K.Int) -> Native:
    """Return the logarithm of the gamma function of p dimensions."""
    if p < 1:
        raise RuntimeError(f"mvlgamma: p is {p}; give 1 or more")
    parts = [special.gammaln(input - j / 2) for j in range(p)]
    return sum(parts[1:], parts[0]) + p * (p - 1) / 4 * math.log(math.pi)


@offered("polygamma", "special.polygamma", method=False)
def polygamma(n: K.Int, input: RealFractions) -> Native:
    """Return the n-th derivative of digamma."""
    return special.polygamma(n, input)


@offered("logsumexp")
def logsumexp(input: K.Fractions, dim: K.NamedAxes, keepdim: K.Bool = False) -> Native:
    """Return the logarithm of the sum of exponentials over some axes."""
    if not dim and input.ndim:
        raise RuntimeError("logsumexp: got no dim; name at least one, such as dim=0")
    if kind_of(input) == "c":
        y = logsumexp_complex(input, axis=dim, total=reductions.sum_over, keepdims=True)
        return ns.reshape(y, kept_shape(input.shape, dim, keepdim))
    return special.logsumexp_over(input, axis=dim, keepdims=keepdim)
