# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.dialects.tensorflow.random import Algorithm as Algorithm
from wengert.dialects.tensorflow.random import Generator as Generator
from wengert.tensorflow import Tensor as Tensor

from . import experimental as experimental

def categorical(
    logits: Any,
    num_samples: Any,
    dtype: Any = ...,
    seed: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def fold_in(seed: Any, data: Any, alg: Any = ..., **_options: Any) -> Any: ...
def gamma(
    shape: Any,
    alpha: Any,
    beta: Any = ...,
    dtype: Any = ...,
    seed: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def get_global_generator() -> Any: ...
def normal(
    shape: Any,
    mean: Any = ...,
    stddev: Any = ...,
    dtype: Any = ...,
    seed: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def poisson(
    shape: Any, lam: Any, dtype: Any = ..., seed: Any = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def set_global_generator(generator: Any) -> Any: ...
def set_seed(seed: Any) -> Any: ...
def shuffle(value: Any, seed: Any = ..., name: str | None = ..., **_options: Any) -> Any: ...
def split(seed: Any, num: Any = ..., alg: Any = ..., **_options: Any) -> Any: ...
def stateless_binomial(
    shape: Any,
    seed: Any,
    counts: Any,
    probs: Any,
    output_dtype: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def stateless_categorical(
    logits: Any,
    num_samples: Any,
    seed: Any,
    dtype: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def stateless_gamma(
    shape: Any,
    seed: Any,
    alpha: Any,
    beta: Any = ...,
    dtype: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = ...,
    stddev: Any = ...,
    dtype: Any = ...,
    name: str | None = ...,
    alg: Any = ...,
    **_options: Any,
) -> Any: ...
def stateless_poisson(
    shape: Any, seed: Any, lam: Any, dtype: Any = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = ...,
    stddev: Any = ...,
    dtype: Any = ...,
    name: str | None = ...,
    alg: Any = ...,
    **_options: Any,
) -> Any: ...
def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = ...,
    maxval: Any = ...,
    dtype: Any = ...,
    name: str | None = ...,
    alg: Any = ...,
    **_options: Any,
) -> Any: ...
def truncated_normal(
    shape: Any,
    mean: Any = ...,
    stddev: Any = ...,
    dtype: Any = ...,
    seed: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def uniform(
    shape: Any,
    minval: Any = ...,
    maxval: Any = ...,
    dtype: Any = ...,
    seed: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
