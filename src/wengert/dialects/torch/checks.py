"""gradcheck and gradgradcheck: derivatives against differences of values.

Complex numbers are pairs of real ones here, so Jacobians are real: a row for each real number of
the result, a column for each of the argument.
"""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.torch.gradients import grad
from wengert.dialects.torch.strides import is_expanded
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Tensor, made, outward
from wengert.transforms.forward import jvp


class GradcheckError(RuntimeError):
    """Derivatives are not what differences of values say."""


def _listed(values: Any) -> list[Any]:
    return [values] if isinstance(values, Tensor) else list(values)


def _floating(outputs: Any) -> list[Tensor]:
    """Return the tensors of floating or complex numbers among results."""
    parts = _listed(outputs)
    return [p for p in parts if isinstance(p, Tensor) and backends.is_inexact(p._raw.dtype)]


def _reals(raw: Any) -> np.ndarray:
    """Return numbers as a row of real ones."""
    flat = np.ascontiguousarray(raw).reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    return flat


def _size(tensor: Tensor) -> int:
    return _reals(tensor._raw).size


def _unit(like: np.ndarray, row: np.ndarray) -> Tensor:
    """Return a tensor in the shape of an array from a row of real numbers."""
    flat = np.ascontiguousarray(row.astype(_reals(like[:0] if like.ndim else like).dtype))
    return made(flat.view(like.dtype).reshape(like.shape))


def _positions_to_check(inputs: list[Any]) -> list[int]:
    """Return the positions of the arguments that require gradients, or raise."""
    chosen = []
    for position, value in enumerate(inputs):
        if not isinstance(value, Tensor) or not value.requires_grad:
            continue
        if value._raw.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"gradcheck: input {position} has single precision or less, where differences "
                "are mostly rounding errors; write x.double()",
                stacklevel=4,
            )
        if is_expanded(value._raw):
            raise RuntimeError(
                f"gradcheck: input {position} was expanded, so that several elements share "
                "memory and cannot be changed one by one; write x.contiguous() before gradcheck"
            )
        chosen.append(position)
    if not chosen:
        raise ValueError(
            "gradcheck: no input requires a gradient, so there is nothing to check; write "
            "x.requires_grad_() for one of them"
        )
    return chosen


class _Check:
    """A function at some arguments, with its Jacobians by differences and by rules."""

    def __init__(
        self, function: Callable[..., Any], inputs: Any, eps: float,
        tolerances: tuple[float, float], dtypes: bool, fast: bool,
    ) -> None:  # fmt: skip
        self.function, self.inputs = function, _listed(inputs)
        self.eps, self.tolerances, self.dtypes = eps, tolerances, dtypes
        self.draw = np.random.default_rng(0) if fast else None
        self.positions = _positions_to_check(self.inputs)
        self.chosen = [self.inputs[p] for p in self.positions]
        #: for each of these arguments, directions, and the derivatives of all results along them
        self.directions = [self.basis(value) for value in self.chosen]
        self.numeric = [
            self.differences(value, directions)
            for value, directions in zip(self.chosen, self.directions, strict=True)
        ]

    def basis(self, tensor: Tensor) -> np.ndarray:
        """Return rows to compare along: a standard basis, or in fast mode one at random."""
        if self.draw is None:
            return np.eye(_size(tensor))
        row = self.draw.random((1, _size(tensor)))
        return row / (np.linalg.norm(row) or 1.0)

    def results(self) -> list[Tensor]:
        """Return the floating results of a call."""
        return _floating(self.function(*self.inputs))

    def differences(self, value: Tensor, directions: np.ndarray) -> list[np.ndarray]:
        """Return the derivatives of each result along directions of an argument, as columns."""
        raw = value._raw
        before = raw.copy()
        columns = []
        try:
            for direction in directions:
                step = _unit(before, direction * self.eps)._raw
                raw[...] = before + step
                up = [_reals(r._raw).copy() for r in self.results()]
                raw[...] = before - step
                down = [_reals(r._raw) for r in self.results()]
                columns.append([(a - b) / (2 * self.eps) for a, b in zip(up, down, strict=True)])
        finally:
            raw[...] = before
        if not columns:
            return [np.zeros((_size(r), 0)) for r in self.results()]
        return [np.stack(parts, 1) for parts in zip(*columns, strict=True)]

    def pulled(self, output: Tensor, weights: np.ndarray, **options: Any) -> list[Any]:
        """Return the gradients of a weighted sum of a result's real numbers, or None."""
        seeds = [_unit(output._raw, row)._raw for row in np.atleast_2d(weights)]
        seed = made(np.stack(seeds) if weights.ndim == 2 else seeds[0])
        return list(
            grad(output, self.chosen, seed, retain_graph=True, allow_unused=True, **options)
        )

    def rows(self, output: Tensor, weights: np.ndarray) -> list[np.ndarray]:
        """Return the products of weights with a result's Jacobians, by backward."""
        products = [np.zeros((len(weights), _size(value))) for value in self.chosen]
        for k, row in enumerate(weights):
            for value, matrix, g in zip(
                self.chosen, products, self.pulled(output, row), strict=True
            ):
                if g is None:
                    continue
                matrix[k] = _reals(g._raw)
                if self.dtypes and g._raw.dtype != value._raw.dtype:
                    raise GradcheckError(
                        f"a gradient has dtype {g.dtype}, and its argument {value.dtype}"
                    )
        return products

    def compare(self, analytic: Any, numeric: Any, output: int, i: int, what: str = "") -> None:
        """Raise unless numbers are close."""
        if not np.allclose(analytic, numeric, *self.tolerances):
            raise GradcheckError(
                f"{what}the derivatives of output {output} by input {self.positions[i]} differ,\n"
                f"from differences: {np.asarray(numeric).T}\nfrom rules: {np.asarray(analytic).T}"
            )

    def check_constant(self) -> None:
        """Raise if values depend on the arguments, where no result requires a gradient."""
        for position, numeric in zip(self.positions, self.numeric, strict=True):
            for k, matrix in enumerate(numeric):
                if np.any(matrix != 0):
                    raise GradcheckError(
                        f"output {k} does not require grad, and yet its values depend on input "
                        f"{position}"
                    )

    def check_backward(self, tolerance: float) -> None:
        """Raise if gradients are not what differences say, or others the second time."""
        for k, (output, other) in enumerate(zip(self.results(), self.results(), strict=True)):
            if not output.requires_grad:
                continue
            weights = self.basis(output)
            both = zip(self.rows(output, weights), self.rows(other, weights), strict=True)
            for i, (matrix, repeat) in enumerate(both):
                if matrix.size and np.max(np.abs(matrix - repeat)) > tolerance:
                    raise GradcheckError(
                        "gradcheck: two backward passes with the same gradients gave results that "
                        f"differ by more than nondet_tol={tolerance}, though both agree with the "
                        "differences; make backward deterministic, or raise nondet_tol"
                    )
                self.compare(matrix @ self.directions[i].T, weights @ self.numeric[i][k], k, i)

    def check_zero(self) -> None:
        """Raise if the gradient of nothing is something."""
        for output in self.results():
            slopes = self.pulled(output, np.zeros(_size(output))) if output.requires_grad else []
            if any(g is not None and np.any(g._raw != 0) for g in slopes):
                raise GradcheckError(
                    "backward returns gradients other than zero where it is given zeros or "
                    "None; let it treat None as zero"
                )

    def check_batched(self) -> None:
        """Raise if many gradients at once are not those that there are one by one."""
        for output in self.results():
            weights = np.eye(_size(output))[:5]
            if not output.requires_grad or not weights.size:
                continue
            many = self.pulled(output, weights, is_grads_batched=True)
            for k, row in enumerate(weights):
                for g, one in zip(many, self.pulled(output, row), strict=True):
                    if g is not None and not np.allclose(g._raw[k], one._raw):
                        raise GradcheckError("gradients with is_grads_batched=True are others")

    def check_forward(self) -> None:
        """Raise if tangents are not what differences of values say."""

        def of_chosen(*values: Any) -> Any:
            args = list(self.inputs)
            for position, value in zip(self.positions, values, strict=True):
                args[position] = outward(value)
            return [r.__wengert_tensor__() for r in _floating(self.function(*args))]

        live = [k for k, result in enumerate(self.results()) if result.requires_grad]
        primals = [made(v._raw).__wengert_tensor__() for v in self.chosen]
        for i, directions in enumerate(self.directions):
            for column, direction in enumerate(directions):
                tangents = [
                    _unit(v._raw, direction if j == i else np.zeros(_size(v))).__wengert_tensor__()
                    for j, v in enumerate(self.chosen)
                ]
                _, moved = jvp(of_chosen, primals, tangents)
                for k in live:
                    tangent, numeric = _reals(np.asarray(moved[k]._raw)), self.numeric[i][k]
                    self.compare(tangent, numeric[:, column], k, i, "Forward AD ")


def gradcheck(
    func: Callable[..., Any], inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5,
    rtol: float = 1e-3, raise_exception: bool = True, nondet_tol: float = 0.0,
    check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
    check_batched_grad: bool = False, check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False, check_backward_ad: bool = True, fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:  # fmt: skip
    """Return whether gradients are what differences of values say; if not, raise by default."""
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "gradcheck: check_forward_ad and check_backward_ad are both False; set one of them"
        )
    try:
        check = _Check(func, inputs, eps, (rtol, atol), check_grad_dtypes, fast_mode)
        if not any(r.requires_grad for r in check.results()):
            check.check_constant()
            return True
        if check_backward_ad:
            check.check_backward(nondet_tol)
            if check_undefined_grad:
                check.check_zero()
            if check_batched_grad:
                check.check_batched()
        if check_forward_ad:
            check.check_forward()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *,
    gen_non_contig_grad_outputs: bool = False, check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True, **options: Any,
) -> bool:  # fmt: skip
    """Return whether gradients of gradients are what differences of gradients say.

    The other options are those of `gradcheck`.
    """
    values, draw = _listed(inputs), np.random.default_rng(0)
    if grad_outputs is None:
        live = [r for r in _floating(func(*values)) if r.requires_grad]
        units = [_unit(r._raw, draw.standard_normal(_size(r))) for r in live]
        grad_outputs = [unit.requires_grad_() for unit in units]
    seeds = _listed(grad_outputs)
    count = len(values)

    def gradients_of(*args: Any) -> Any:
        outputs = [r for r in _floating(func(*args[:count])) if r.requires_grad]
        wanted = [a for a in args[:count] if isinstance(a, Tensor) and a.requires_grad]
        slopes = grad(outputs, wanted, args[count:], create_graph=True, allow_unused=True)
        return tuple(g for g in slopes if g is not None)

    return gradcheck(
        gradients_of, [*values, *seeds], check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, **options,
    )  # fmt: skip


class _Module(types.ModuleType):
    """`torch.autograd.gradcheck` is a function, and a module with that function in it."""

    def __call__(self, *args: Any, **options: Any) -> bool:
        return gradcheck(*args, **options)


_module = _Module("wengert.torch.autograd.gradcheck", gradcheck.__doc__)
_module.__path__ = []
vars(_module).update(
    gradcheck=gradcheck, gradgradcheck=gradgradcheck, GradcheckError=GradcheckError
)
sys.modules[_module.__name__] = _module
put(("autograd.gradcheck",), _module)
put(("autograd.gradgradcheck",), gradgradcheck)
