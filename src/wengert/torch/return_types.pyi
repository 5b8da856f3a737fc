# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.dialects.torch.return_types import Results as _Results
class _lu_with_info(_Results):
    LU: Any
    info: Any
    pivots: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class aminmax(_Results):
    max: Any
    min: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class cummax(_Results):
    indices: Any
    values: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class cummin(_Results):
    indices: Any
    values: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class frexp(_Results):
    exponent: Any
    mantissa: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class geqrf(_Results):
    a: Any
    tau: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class histogram(_Results):
    bin_edges: Any
    hist: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class kthvalue(_Results):
    indices: Any
    values: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class linalg_cholesky_ex(_Results):
    L: Any
    info: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class linalg_eig(_Results):
    eigenvalues: Any
    eigenvectors: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class linalg_eigh(_Results):
    eigenvalues: Any
    eigenvectors: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class linalg_inv_ex(_Results):
    info: Any
    inverse: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class linalg_lstsq(_Results):
    rank: Any
    residuals: Any
    singular_values: Any
    solution: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class linalg_lu(_Results):
    L: Any
    P: Any
    U: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class linalg_lu_factor(_Results):
    LU: Any
    pivots: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class linalg_lu_factor_ex(_Results):
    LU: Any
    info: Any
    pivots: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class linalg_qr(_Results):
    Q: Any
    R: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class linalg_slogdet(_Results):
    logabsdet: Any
    sign: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class linalg_solve_ex(_Results):
    info: Any
    result: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class linalg_svd(_Results):
    S: Any
    U: Any
    Vh: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class lu_unpack(_Results):
    L: Any
    P: Any
    U: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class max(_Results):
    indices: Any
    values: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class median(_Results):
    indices: Any
    values: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class min(_Results):
    indices: Any
    values: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class mode(_Results):
    indices: Any
    values: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class nanmedian(_Results):
    indices: Any
    values: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class qr(_Results):
    Q: Any
    R: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class slogdet(_Results):
    logabsdet: Any
    sign: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class sort(_Results):
    indices: Any
    values: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class svd(_Results):
    S: Any
    U: Any
    V: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class topk(_Results):
    indices: Any
    values: Any
    ...
from wengert.dialects.torch.return_types import Results as _Results
class triangular_solve(_Results):
    cloned_coefficient: Any
    solution: Any
    ...
