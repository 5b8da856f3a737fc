"""Special functions, with SciPy's names and values.

Rules are written in functions that have rules themselves, so that derivatives of every order
exist. Where a formula would cancel, or be 0/0, a derivative is an operation of its own
(``erfcx_derivative``, ``gammainc_derivative``), computed by `backends.numpy_special`.

    normal      the error function and the normal distribution
    elementary  logistic functions, entropies, quotients and integrals of elementary functions
    gamma_beta  gamma, beta and zeta, complete and incomplete
    bessel      Bessel and Airy functions
    exponentials  softmax and logsumexp

They are imported with the first of their names that is asked for here.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wengert.ops.special.bessel import *  # noqa: F403
    from wengert.ops.special.elementary import *  # noqa: F403
    from wengert.ops.special.exponentials import *  # noqa: F403
    from wengert.ops.special.gamma_beta import *  # noqa: F403
    from wengert.ops.special.normal import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        from importlib import import_module

        parts = ("bessel", "elementary", "exponentials", "gamma_beta", "normal")
        if name in parts or name.startswith("__"):  # a module is imported by who asks for it
            raise AttributeError(name)
        modules = [import_module(f"{__name__}.{part}") for part in parts]
        for module in modules:
            if hasattr(module, name):
                value = globals()[name] = getattr(module, name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "beta", "betainc", "betaln", "cbrt", "dawsn", "digamma", "entr", "erf",  # noqa: F405
    "erfc", "erfcinv", "erfcx", "erfinv", "exp1", "exp2", "exp10", "expi",  # noqa: F405
    "expit", "exprel", "gamma", "gammainc", "gammaincc", "gammaincinv", "gammaln",  # noqa: F405
    "gammasgn", "i0", "i0e", "i1", "i1e", "iv", "ive", "j0", "j1", "jn", "jv",  # noqa: F405
    "kl_div", "log_expit", "log_ndtr", "log_softmax", "logit", "logsumexp",  # noqa: F405
    "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "rel_entr", "rgamma",  # noqa: F405
    "sinc", "softmax", "spence", "xlog1py", "xlogy", "y0", "y1", "yn", "zeta",  # noqa: F405
]  # fmt: skip
