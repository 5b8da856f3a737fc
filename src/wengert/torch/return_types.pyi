# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

class cummax:
    indices: Any
    values: Any
    ...
class cummin:
    indices: Any
    values: Any
    ...
class histogram:
    bin_edges: Any
    hist: Any
    ...
class kthvalue:
    indices: Any
    values: Any
    ...
class linalg_cholesky_ex:
    L: Any
    info: Any
    ...
class linalg_eig:
    eigenvalues: Any
    eigenvectors: Any
    ...
class linalg_eigh:
    eigenvalues: Any
    eigenvectors: Any
    ...
class linalg_lstsq:
    rank: Any
    residuals: Any
    singular_values: Any
    solution: Any
    ...
class linalg_lu:
    L: Any
    P: Any
    U: Any
    ...
class linalg_lu_factor:
    LU: Any
    pivots: Any
    ...
class linalg_qr:
    Q: Any
    R: Any
    ...
class linalg_slogdet:
    logabsdet: Any
    sign: Any
    ...
class linalg_svd:
    S: Any
    U: Any
    Vh: Any
    ...
class lu_unpack:
    L: Any
    P: Any
    U: Any
    ...
class max:
    indices: Any
    values: Any
    ...
class median:
    indices: Any
    values: Any
    ...
class min:
    indices: Any
    values: Any
    ...
class mode:
    indices: Any
    values: Any
    ...
class nanmedian:
    indices: Any
    values: Any
    ...
class qr:
    Q: Any
    R: Any
    ...
class slogdet:
    logabsdet: Any
    sign: Any
    ...
class sort:
    indices: Any
    values: Any
    ...
class svd:
    S: Any
    U: Any
    V: Any
    ...
class topk:
    indices: Any
    values: Any
    ...
class triangular_solve:
    cloned_coefficient: Any
    solution: Any
    ...
