"""Special functions, with SciPy's names and values.

Rules are written in functions that have rules themselves, so that derivatives of every order
exist. Where a formula would cancel, or be 0/0, a derivative is an operation of its own
(``erfcx_derivative``, ``gammainc_derivative``), computed by `backends.numpy_special`.

    normal      the error function and the normal distribution
    elementary  logistic functions, entropies, quotients and integrals of elementary functions
    gamma_beta  gamma, beta and zeta, complete and incomplete
    bessel      Bessel and Airy functions
    exponentials  softmax and logsumexp
"""

from wengert.ops.special.bessel import *  # noqa: F403
from wengert.ops.special.elementary import *  # noqa: F403
from wengert.ops.special.exponentials import *  # noqa: F403
from wengert.ops.special.gamma_beta import *  # noqa: F403
from wengert.ops.special.normal import *  # noqa: F403

__all__ = [
    "beta", "betainc", "betaln", "cbrt", "dawsn", "digamma", "entr", "erf", "erfc",  # noqa: F405
    "erfcinv", "erfcx", "erfinv", "exp1", "exp2", "exp10", "expi", "expit", "exprel",  # noqa: F405
    "gamma", "gammainc", "gammaincc", "gammaincinv", "gammaln", "i0", "i0e", "i1",  # noqa: F405
    "i1e", "iv", "ive", "kl_div", "log_expit", "log_ndtr", "log_softmax", "logit",  # noqa: F405
    "logsumexp", "ndtr", "ndtri", "polygamma", "psi", "rel_entr", "sinc", "softmax",  # noqa: F405
    "spence", "xlog1py", "xlogy", "zeta",  # noqa: F405
]  # fmt: skip
