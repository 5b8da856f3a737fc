"""Names of PyTorch that are not offered on purpose, and what to write instead."""

from __future__ import annotations

_DENSE = "tensors are dense; wengert.sparse has sparse Jacobians"
_PLAIN_DATA = "torch.load reads tensors, numbers, texts and containers; save these"
_REASONS = {
    "serialization.add_safe_globals": _PLAIN_DATA,
    "serialization.safe_globals": _PLAIN_DATA,
    "serialization.get_safe_globals": _PLAIN_DATA,
    "serialization.clear_safe_globals": _PLAIN_DATA,
    "utils.data.DistributedSampler": "there is one process; write RandomSampler",
    "utils.data.distributed": "there is one process; write RandomSampler",
    "distributed": "there is one process, on a CPU",
    "sparse_coo_tensor": _DENSE,
    "sparse_csr_tensor": _DENSE,
    "sparse": _DENSE,
    **dict.fromkeys(
        ("quantization", "ao", "quantize_per_tensor", "quantize_per_channel", "nn.quantized"),
        "tensors are of floating or whole numbers; x.to(torch.bfloat16) makes them smaller",
    ),
    "nn.utils.prune": "multiply a weight by a mask of zeros and ones in forward",
    "onnx": "there are no models to export",
    "hub": "there are no models to fetch",
    "fx": "there is no compiler",
    "export": "there is no compiler",
    "profiler": "write `import cProfile`",
    "library": "declare operations with torch.autograd.Function",
    "optim.SparseAdam": "tensors are dense; write Adam",
    "optim.Muon": "write torch.optim.AdamW",
    "nn.NLLLoss2d": "it is the old name of nn.NLLLoss; write that",
    "nn.Container": "it is the old name of nn.Module; write that",
    **dict.fromkeys(
        ("nn.CTCLoss", "nn.functional.ctc_loss"), "write the sum over alignments in log-space"
    ),
    "nn.AdaptiveLogSoftmaxWithLoss": "write nn.Linear and nn.CrossEntropyLoss",
    "nn.MultiMarginLoss": "write (x - x_target + margin).clamp(min=0) summed over other classes",
    "nn.TripletMarginWithDistanceLoss": "write (margin + d(a, p) - d(a, n)).clamp(min=0).mean()",
    "nn.LPPool2d": "write F.avg_pool2d(x**p, k).mul(k * k) ** (1 / p)",
    "nn.Softmax2d": "write nn.Softmax(dim=-3)",
    "nn.RReLU": "write nn.LeakyReLU",
    "nn.SyncBatchNorm": "there is one process; write nn.BatchNorm2d",
    "optim.Adafactor": "write torch.optim.Adam",
    "optim.swa_utils": "write average.mul_(decay).add_(p, alpha=1 - decay) of a copy's parameters",
    "optim.lr_scheduler.CyclicLR": "write OneCycleLR, or LambdaLR of a triangle",
    "optim.lr_scheduler.MultiplicativeLR": "write LambdaLR, whose function gives the product",
    "optim.lr_scheduler.ChainedScheduler": "call step() of each schedule",
    "utils.data.StackDataset": "write TensorDataset, or a Dataset that returns tuples",
    "nn.FractionalMaxPool2d": "write nn.AdaptiveMaxPool2d, which draws nothing",
    "nn.FractionalMaxPool3d": "write nn.AdaptiveMaxPool3d, which draws nothing",
    "histogramdd": "it has no derivative; write np.histogramdd(x.numpy())",
    "ormqr": "write torch.linalg.qr(A).Q @ other",
    "aminmax": "write torch.amin and torch.amax",
    "chain_matmul": "write a @ b @ c",
    "float_power": "write x.double() ** y",
    "linalg.cond": "write s = torch.linalg.svdvals(A), and s[..., 0] / s[..., -1]",
    "linalg.inv_ex": "write torch.linalg.inv, which raises where there is no inverse",
    "linalg.solve_ex": "write torch.linalg.solve, which raises where there is no solution",
    "pca_lowrank": "write torch.linalg.svd of A - A.mean(-2, keepdim=True)",
    "svd_lowrank": "write torch.linalg.svd, and keep the first columns",
    "slice_scatter": "write y = x.clone(), and write to a part of y",
    "select_scatter": "write y = x.clone(), and write to a part of y",
    "diagonal_scatter": "write y = x.clone(), and write to y.diagonal()",
    "symeig": "it is gone from PyTorch; write torch.linalg.eigh(A, UPLO='U')",
    "eig": "it is gone from PyTorch; write torch.linalg.eig(A)",
    "solve": "it is gone from PyTorch; write torch.linalg.solve(A, B)",
    "lstsq": "it is gone from PyTorch; write torch.linalg.lstsq(A, B)",
    "matrix_rank": "it is gone from PyTorch; write torch.linalg.matrix_rank(A)",
    "signal": "write torch.from_numpy(scipy.signal.windows.hann(n)), or torch.hann_window(n)",
    "testing.make_tensor": "write torch.rand or randint",
    "autograd.graph.GradientEdge": "name the tensor itself",
    "autograd.graph.get_gradient_edge": "name the tensor itself",
    "autograd.graph.register_multi_grad_hook": "write x.register_hook(hook) for each tensor",
    "autograd.graph.allow_mutation_on_saved_tensors": "write x.clone() before the write",
}
_DISTRIBUTIONS = """
    AffineTransform Binomial Cauchy Chi2 ContinuousBernoulli Dirichlet Exponential
    ExponentialFamily FisherSnedecor GeneralizedPareto Geometric Gumbel Independent InverseGamma
    Kumaraswamy LogisticNormal LowRankMultivariateNormal MixtureSameFamily Multinomial
    OneHotCategorical OneHotCategoricalStraightThrough Pareto RelaxedBernoulli
    RelaxedOneHotCategorical VonMises Weibull Wishart transforms
"""
_REASONS |= {
    f"distributions.{name}": "write its log-density with torch's functions, draw with torch.rand"
    for name in _DISTRIBUTIONS.split()
}
#: The polynomials of torch.special, and what SciPy calls them.
_POLYNOMIALS = {
    "chebyshev_polynomial_t": "eval_chebyt", "chebyshev_polynomial_u": "eval_chebyu",
    "chebyshev_polynomial_v": "eval_jacobi", "chebyshev_polynomial_w": "eval_jacobi",
    "hermite_polynomial_h": "eval_hermite", "hermite_polynomial_he": "eval_hermitenorm",
    "laguerre_polynomial_l": "eval_laguerre", "legendre_polynomial_p": "eval_legendre",
    "shifted_chebyshev_polynomial_t": "eval_sh_chebyt",
    "shifted_chebyshev_polynomial_u": "eval_sh_chebyu",
    "shifted_chebyshev_polynomial_v": "eval_sh_jacobi",
    "shifted_chebyshev_polynomial_w": "eval_sh_jacobi",
}  # fmt: skip
_REASONS |= {
    f"special.{name}": f"it has no derivative; write scipy.special.{values} of x.numpy()"
    for name, values in _POLYNOMIALS.items()
}
#: Names without a derivative, and what to write instead.
_REASONS |= {
    name: f"it has no derivative; write {instead}"
    for name, instead in {
        "range": "torch.arange(start, end + step, step)",
        "scalar_tensor": "torch.tensor(x)",
        "empty_strided": "torch.empty(shape).permute(order)",
        "empty_permuted": "torch.empty(shape).permute(order)",
        "binomial": "torch.from_numpy(np.random.default_rng().binomial(n, p))",
        "poisson": "torch.from_numpy(np.random.default_rng().poisson(x.numpy()))",
        "is_nonzero": "bool(x)",
        "unravel_index": "np.unravel_index(x.numpy(), shape)",
        "set_default_tensor_type": "torch.set_default_dtype(dtype)",
        "is_storage": "isinstance",
        "Tensor.new_empty_strided": "x.new_empty(shape).permute(order)",
        "Tensor.apply_": "x.copy_(torch.tensor([f(v) for v in x.tolist()]))",
        "Tensor.map_": "x.copy_(f(x, y))",
        "Tensor.set_": "x.data = y",
        "Tensor.resize_": "x.reshape(shape), or torch.empty(shape)",
        "Tensor.resize_as_": "x.reshape(y.shape), or torch.empty(y.shape)",
        "Tensor.dim_order": "x.stride()",
        "Tensor.is_set_to": "x.data_ptr() == y.data_ptr() and x.stride() == y.stride()",
        "Tensor.cauchy_": "x.uniform_().sub_(0.5).mul_(torch.pi).tan_()",
        "Tensor.log_normal_": "x.normal_(mean, std).exp_()",
        "Tensor.geometric_": "x.uniform_().log_().div_(math.log1p(-p)).ceil_()",
    }.items()
}
#: What is said where a program asks for one of these names, or for one below it.
ABSENT = {name: f"torch.{name} is not offered: {why}" for name, why in _REASONS.items()}
