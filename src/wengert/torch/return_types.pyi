# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.dialects.torch.return_types import _lu_with_info as _lu_with_info
from wengert.dialects.torch.return_types import aminmax as aminmax
from wengert.dialects.torch.return_types import cummax as cummax
from wengert.dialects.torch.return_types import cummin as cummin
from wengert.dialects.torch.return_types import frexp as frexp
from wengert.dialects.torch.return_types import geqrf as geqrf
from wengert.dialects.torch.return_types import kthvalue as kthvalue
from wengert.dialects.torch.return_types import linalg_cholesky_ex as linalg_cholesky_ex
from wengert.dialects.torch.return_types import linalg_eig as linalg_eig
from wengert.dialects.torch.return_types import linalg_eigh as linalg_eigh
from wengert.dialects.torch.return_types import linalg_inv_ex as linalg_inv_ex
from wengert.dialects.torch.return_types import linalg_lstsq as linalg_lstsq
from wengert.dialects.torch.return_types import linalg_lu as linalg_lu
from wengert.dialects.torch.return_types import linalg_lu_factor as linalg_lu_factor
from wengert.dialects.torch.return_types import linalg_lu_factor_ex as linalg_lu_factor_ex
from wengert.dialects.torch.return_types import linalg_qr as linalg_qr
from wengert.dialects.torch.return_types import linalg_slogdet as linalg_slogdet
from wengert.dialects.torch.return_types import linalg_solve_ex as linalg_solve_ex
from wengert.dialects.torch.return_types import linalg_svd as linalg_svd
from wengert.dialects.torch.return_types import lu_unpack as lu_unpack
from wengert.dialects.torch.return_types import max as max
from wengert.dialects.torch.return_types import median as median
from wengert.dialects.torch.return_types import min as min
from wengert.dialects.torch.return_types import mode as mode
from wengert.dialects.torch.return_types import nanmedian as nanmedian
from wengert.dialects.torch.return_types import qr as qr
from wengert.dialects.torch.return_types import slogdet as slogdet
from wengert.dialects.torch.return_types import sort as sort
from wengert.dialects.torch.return_types import svd as svd
from wengert.dialects.torch.return_types import topk as topk
from wengert.dialects.torch.return_types import triangular_solve as triangular_solve
