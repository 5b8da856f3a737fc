# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.torch import digamma as digamma
def entr(input: _Tensor, **_options: Any) -> Tensor: ...
from wengert.torch import erf as erf
from wengert.torch import erfc as erfc
def erfcx(input: _Tensor, **_options: Any) -> Tensor: ...
from wengert.torch import erfinv as erfinv
from wengert.torch import exp2 as exp2
from wengert.torch import sigmoid as expit
from wengert.torch import expm1 as expm1
from wengert.torch import igamma as gammainc
from wengert.torch import igammac as gammaincc
from wengert.torch import lgamma as gammaln
from wengert.torch import i0 as i0
def i0e(input: _Tensor, **_options: Any) -> Tensor: ...
def i1(input: _Tensor, **_options: Any) -> Tensor: ...
def i1e(input: _Tensor, **_options: Any) -> Tensor: ...
from wengert.torch import log1p as log1p
def log_ndtr(input: _Tensor, **_options: Any) -> Tensor: ...
from wengert.torch import log_softmax as log_softmax
from wengert.torch import logit as logit
from wengert.torch import logsumexp as logsumexp
from wengert.torch import mvlgamma as multigammaln
def ndtr(input: _Tensor, **_options: Any) -> Tensor: ...
def ndtri(input: _Tensor, **_options: Any) -> Tensor: ...
from wengert.torch import polygamma as polygamma
from wengert.torch import digamma as psi
from wengert.torch import round as round
from wengert.torch import sinc as sinc
from wengert.torch import softmax as softmax
from wengert.torch import xlogy as xlogy
