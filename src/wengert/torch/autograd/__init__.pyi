# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor
from . import forward_ad as forward_ad
from . import function as function
from . import functional as functional
from . import graph as graph

from wengert.dialects.torch.autograd_function import Function as Function
from wengert.dialects.torch.hooks import Variable as Variable
def backward(tensors: Any, grad_tensors: Any = ..., retain_graph: Any = ..., create_graph: Any = ..., inputs: Any = ...) -> Any: ...
from wengert.dialects.torch.hooks import detect_anomaly as detect_anomaly
from wengert.torch import enable_grad as enable_grad
def grad(outputs: Any, inputs: Any, grad_outputs: Any = ..., retain_graph: Any = ..., create_graph: Any = ..., only_inputs: Any = ..., allow_unused: Any = ..., is_grads_batched: Any = ..., materialize_grads: Any = ...) -> Any: ...
gradcheck: Any
def gradgradcheck(func: Any, inputs: Any, grad_outputs: Any = ..., *, gen_non_contig_grad_outputs: Any = ..., check_fwd_over_rev: Any = ..., check_rev_over_rev: Any = ..., **options: Any) -> Any: ...
from wengert.torch import inference_mode as inference_mode
from wengert.torch import no_grad as no_grad
from wengert.dialects.torch.hooks import set_detect_anomaly as set_detect_anomaly
from wengert.torch import set_grad_enabled as set_grad_enabled
