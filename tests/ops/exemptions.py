"""Operations that cannot be computed where a library's arrays are, and why.

What is here raises `BackendError` there, unless `wg.allow_host_fallback()` says that host memory
will do. All others are tested on such arrays, with their rules. `docs/make_tables.py` shows it.
"""

from __future__ import annotations

_SCHUR = "an algorithm of SciPy's by Schur's form, which the library does not have on a device"
_QUANTILE = "a quantile of SciPy's, which the library does not have"
_SPECIAL = "a special function, or one that its derivative needs, that the library does not have"

#: For arrays of each kind: the reason, and the operations.
REASONS: dict[str, dict[str, str]] = {
    "PyTorch on a device": {
        _SCHUR: "linalg.logm linalg.solve_sylvester linalg.sqrtm",
        _QUANTILE: """
            random.log_gamma_sample random.truncated_normal_sample special.gammaincinv
        """,
        "PyTorch has it off by up to 2e-4": "special.airy_ai",
        _SPECIAL: """
            special.airy_ai_derivative special.betainc special.betainc_derivative special.exp1
            special.expi special.fresnel_cos special.fresnel_sin special.jv special.spence
            special.yn
        """,
    },
    "JAX on a device or in `jax.jit`": {
        _SPECIAL: """
            special.i1 special.i1e special.j0 special.j1 special.y0 special.y1 special.k0 special.k1
            special.k0e special.k1e special.iv special.ive special.jv special.yn special.airy_ai
            special.airy_ai_derivative special.gammainc_derivative special.gammainc
            special.gammaincc special.betainc_derivative special.betainc special.zeta_derivative
            special.zeta
        """,
        _QUANTILE: """
            random.log_gamma_sample random.truncated_normal_sample special.gammaincinv
        """,
        _SCHUR: "linalg.logm linalg.sqrtm",
        "JAX has it to eight digits only": "linalg.expm",
    },
    "Dask": {
        "whether the result is real depends on values": "linalg.sqrtm",
        "samples are drawn for values of the parameters": """
            random.log_gamma_sample random.truncated_normal_sample
        """,
    },
    "another library of the standard, on a device": {
        "the standard has no such function": "gcd lcm",
        "the standard has no windows": """
            nn.convolve nn.convolve_input nn.convolve_weight nn.convolve_biased nn.combine
            nn.max_pool nn.max_pool_spread nn.max_pool_gather nn.max_pool_indices nn.window_sum
            nn.window_spread nn.unfold_windows nn.fold_windows
        """,
        "its kernel is LAPACK's or SciPy's, and the standard does not have it": """
            linalg.solve_banded linalg.solve_sylvester linalg.expm linalg.logm linalg.sqrtm
            linalg.lu_order linalg.lu_factors
        """,
        "the standard has no special functions": """
            special.i0 special.i1 special.i0e special.i1e special.j0 special.j1 special.y0
            special.y1 special.k0 special.k1 special.k0e special.k1e special.iv special.ive
            special.jv special.yn special.airy_ai special.airy_ai_derivative special.expit
            special.logit special.log_expit special.xlogy special.xlog1py special.entr
            special.rel_entr special.kl_div special.sinc special.sinc_derivative
            special.spherical_j0 special.exprel special.exprel_derivative special.spence
            special.spence_derivative special.expi special.exp1 special.fresnel_sin
            special.fresnel_cos special.exp2 special.exp10 special.cbrt special.gamma
            special.gammaln special.digamma special.gammasgn special.rgamma special.polygamma
            special.multigammaln special.beta special.betaln special.gamma_density
            special.gammainc_derivative special.gammainc special.gammaincc special.gammaincinv
            special.beta_density special.betainc_derivative special.betainc special.zeta_derivative
            special.zeta special.erf special.erfc special.erfcx special.erfcx_derivative
            special.erfinv special.erfcinv special.dawsn special.dawsn_derivative special.ndtr
            special.log_ndtr special.log_ndtr_derivative special.ndtri nn.gelu nn.glu
            random.truncated_normal_sample random.log_gamma_sample
        """,
    },
}


def exempt(kind: str) -> dict[str, str]:
    """Return the reason of each operation that is exempt for arrays of a kind."""
    return {name: why for why, names in REASONS[kind].items() for name in names.split()}


def is_exempt(name: str, known: dict[str, str]) -> bool:
    """Return whether an operation, or the one that it is a variant of, is exempt."""
    return name.partition("(")[0] in known


TORCH = exempt("PyTorch on a device")
JAX = exempt("JAX on a device or in `jax.jit`")
DASK = exempt("Dask")
STANDARD = exempt("another library of the standard, on a device")


def table() -> str:
    """Return the rows of a table for the documents."""
    rows = ["| arrays | operations | why not |", "|---|---|---|"]
    for kind, reasons in REASONS.items():
        for why, names in reasons.items():
            listed = ", ".join(f"`{name}`" for name in sorted(names.split()))
            rows.append(f"| {kind} | {listed} | {why} |")
    return "\n".join(rows) + "\n"
