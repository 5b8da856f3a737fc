"""gradcheck and gradgradcheck: derivatives against differences of values.

Complex numbers are pairs of real ones here, so Jacobians are real: a row for each real number of
the result, a column for each of the argument.
"""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.dialects.torch.gradients import grad
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Tensor, made, outward


class GradcheckError(RuntimeError):
    """Derivatives are not what differences of values say."""


def _listed(values: Any) -> list[Any]:
    return [values] if isinstance(values, Tensor) else list(values)


def _differentiable(outputs: Any) -> list[Tensor]:
    parts = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    return [o for o in parts if isinstance(o, Tensor) and o.requires_grad]


def _reals(raw: Any) -> np.ndarray:
    """Return numbers as a row of real ones."""
    flat = np.ascontiguousarray(raw).reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    return flat


def _unit(like: np.ndarray, row: np.ndarray) -> Tensor:
    """Return a tensor in the shape of an array from a row of real numbers."""
    flat = np.ascontiguousarray(row.astype(_reals(like[:0] if like.ndim else like).dtype))
    return made(flat.view(like.dtype).reshape(like.shape))


def _checked_inputs(inputs: list[Any]) -> list[int]:
    """Return the positions of the arguments to check, or raise."""
    chosen = []
    for position, value in enumerate(inputs):
        if not isinstance(value, Tensor) or not value.requires_grad:
            continue
        if value._raw.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"gradcheck: input {position} has single precision or less, where differences "
                "are mostly rounding errors; write x.double()",
                stacklevel=3,
            )
        if any(n > 1 and not s for n, s in zip(value._raw.shape, value._raw.strides, strict=True)):
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


class _Differences:
    """Differences of a function's values in the elements of its arguments."""

    def __init__(self, function: Callable[..., Any], inputs: list[Any], eps: float) -> None:
        self.function, self.inputs, self.eps = function, inputs, eps

    def values(self) -> list[np.ndarray]:
        """Return the results as rows of real numbers."""
        found = self.function(*self.inputs)
        parts = [found] if isinstance(found, Tensor) else list(found)
        return [
            _reals(p._raw).copy()
            for p in parts
            if isinstance(p, Tensor) and p._raw.dtype.kind in "fc"
        ]

    def along(self, position: int, direction: np.ndarray) -> list[np.ndarray]:
        """Return the derivatives of all results along a direction of an argument."""
        raw = self.inputs[position]._raw
        before = raw.copy()
        step = (direction * self.eps).astype(_reals(before).dtype).view(before.dtype)
        step = step.reshape(before.shape)
        try:
            raw[...] = before + step
            up = self.values()
            raw[...] = before - step
            down = self.values()
        finally:
            raw[...] = before
        return [(a - b) / (2 * self.eps) for a, b in zip(up, down, strict=True)]

    def jacobians(self, position: int) -> list[np.ndarray]:
        """Return the Jacobian of each result with respect to an argument."""
        size = _reals(self.inputs[position]._raw).size
        columns = [self.along(position, np.eye(size)[k]) for k in range(size)]
        if not columns:
            return [np.zeros((v.size, 0)) for v in self.values()]
        return [np.stack(parts, 1) for parts in zip(*columns, strict=True)]


def _pulled(output: Tensor, inputs: list[Tensor], weights: np.ndarray) -> list[Any]:
    """Return the gradients of a weighted sum of a result's real numbers, or None."""
    seed = _unit(output._raw, weights)
    return list(grad(output, inputs, seed, retain_graph=True, allow_unused=True))


def _analytic(output: Tensor, inputs: list[Tensor]) -> list[np.ndarray]:
    """Return the Jacobian of a result with respect to each argument, by backward."""
    size = _reals(output._raw).size
    found = [np.zeros((size, _reals(i._raw).size)) for i in inputs]
    for row in range(size):
        for matrix, g in zip(found, _pulled(output, inputs, np.eye(size)[row]), strict=True):
            if g is not None:
                matrix[row] = _reals(g._raw)
    return found


class _Check:
    """One check: what to compare, and how far apart numbers may be."""

    def __init__(
        self, function: Callable[..., Any], inputs: Any, eps: float, atol: float, rtol: float
    ) -> None:
        self.inputs = _listed(inputs)
        self.places = _checked_inputs(self.inputs)
        self.chosen = [self.inputs[p] for p in self.places]
        self.function, self.atol, self.rtol = function, atol, rtol
        self.numeric = _Differences(function, self.inputs, eps)

    def outputs(self) -> list[Tensor]:
        """Return the results of a call that have derivatives."""
        return _differentiable(self.function(*self.inputs))

    def compare(self, analytic: Any, numeric: Any, output: int, place: int, what: str = "") -> None:
        """Raise unless numbers are close."""
        if not np.allclose(analytic, numeric, self.rtol, self.atol):
            raise GradcheckError(
                f"{what}the derivatives of output {output} by input {place} differ,\nfrom "
                f"differences: {np.asarray(numeric).T}\nfrom rules: {np.asarray(analytic).T}"
            )

    def no_outputs(self) -> bool:
        """Return True if values do not depend on the arguments, as results without nodes say."""
        for place in self.places:
            for k, matrix in enumerate(self.numeric.jacobians(place)):
                if np.any(matrix != 0):
                    raise GradcheckError(
                        f"output {k} does not require grad, and yet its values depend on input "
                        f"{place}"
                    )
        return True

    def slow(self, nondet_tol: float, dtypes: bool) -> None:
        """Compare all elements of the Jacobians."""
        outputs = self.outputs()
        again = self.outputs()
        kept = _positions(self.function(*self.inputs))
        numeric = [self.numeric.jacobians(place) for place in self.places]
        for k, (output, other) in enumerate(zip(outputs, again, strict=True)):
            found = _analytic(output, self.chosen)
            if dtypes:
                self.check_dtypes(output)
            for place, matrix, repeat, expected in zip(
                self.places, found, _analytic(other, self.chosen), numeric, strict=True
            ):
                self.check_repeatable(matrix, repeat, nondet_tol)
                self.compare(matrix, expected[kept[k]], k, place)

    def fast(self, nondet_tol: float, dtypes: bool) -> None:
        """Compare a random combination of rows and columns of each Jacobian."""
        draw = np.random.default_rng(0)
        kept = _positions(self.function(*self.inputs))
        for place, value in zip(self.places, self.chosen, strict=True):
            direction = draw.random(_reals(value._raw).size)
            direction /= np.linalg.norm(direction) or 1.0
            moved = self.numeric.along(place, direction)
            for k, output in enumerate(self.outputs()):
                weights = draw.random(_reals(output._raw).size)
                weights /= np.linalg.norm(weights) or 1.0
                g = _pulled(output, [value], weights)[0]
                again = _pulled(self.outputs()[k], [value], weights)[0]
                if dtypes:
                    self.check_dtypes(output)
                row, repeat = (
                    np.zeros(direction.size) if x is None else _reals(x._raw) for x in (g, again)
                )
                self.check_repeatable(row, repeat, nondet_tol)
                self.compare(row @ direction, weights @ moved[kept[k]], k, place)

    def check_repeatable(self, first: np.ndarray, second: np.ndarray, tolerance: float) -> None:
        """Raise if the same question has another answer."""
        if first.size and np.max(np.abs(first - second)) > tolerance:
            raise GradcheckError(
                "gradcheck: two backward passes with the same gradients gave results that "
                f"differ by more than nondet_tol={tolerance}, though both agree with the "
                "differences; make backward deterministic, or raise nondet_tol"
            )

    def check_dtypes(self, output: Tensor) -> None:
        """Raise if a gradient has another dtype than its argument."""
        size = _reals(output._raw).size
        for value, g in zip(self.chosen, _pulled(output, self.chosen, np.ones(size)), strict=True):
            if g is not None and g._raw.dtype != value._raw.dtype:
                raise GradcheckError(
                    f"a gradient has dtype {g.dtype}, and its argument {value.dtype}"
                )

    def check_zero(self) -> None:
        """Raise if the gradient of nothing is something."""
        for output in self.outputs():
            for g in _pulled(output, self.chosen, np.zeros(_reals(output._raw).size)):
                if g is not None and np.any(g._raw != 0):
                    raise GradcheckError(
                        "backward returns gradients other than zero where it is given zeros or "
                        "None; let it treat None as zero"
                    )

    def check_batched(self) -> None:
        """Raise if many gradients at once are not those that there are one by one."""
        for output in self.outputs():
            size = _reals(output._raw).size
            rows = [np.eye(size)[k] for k in range(min(size, 5))]
            if not rows:
                continue
            seeds = made(np.stack([_unit(output._raw, row)._raw for row in rows]))
            many = grad(
                output, self.chosen, seeds, retain_graph=True, allow_unused=True,
                is_grads_batched=True,
            )  # fmt: skip
            for k, row in enumerate(rows):
                for g, one in zip(many, _pulled(output, self.chosen, row), strict=True):
                    if g is not None and not np.allclose(g._raw[k], one._raw):
                        raise GradcheckError("gradients with is_grads_batched=True are others")

    def check_forward(self) -> None:
        """Raise if tangents are not what differences of values say."""
        from wengert.transforms.forward import jvp

        kept = _positions(self.function(*self.inputs))

        def of_chosen(*values: Any) -> Any:
            args = list(self.inputs)
            for place, value in zip(self.places, values, strict=True):
                args[place] = outward(value)
            found = self.function(*args)
            parts = [found] if isinstance(found, Tensor) else list(found)
            return [p.__wengert_tensor__() for p in parts if isinstance(p, Tensor)]

        primals = [made(v._raw).__wengert_tensor__() for v in self.chosen]
        for i, place in enumerate(self.places):
            size = _reals(self.chosen[i]._raw).size
            expected = self.numeric.jacobians(place)
            for column in range(size):
                tangents = [
                    _unit(v._raw, np.eye(size)[column] if j == i else np.zeros(_reals(v._raw).size))
                    for j, v in enumerate(self.chosen)
                ]
                _, moved = jvp(of_chosen, primals, [t.__wengert_tensor__() for t in tangents])
                for k, position in enumerate(kept):
                    found = _reals(np.asarray(moved[position]._raw))
                    self.compare(found, expected[position][:, column], k, place, "Forward AD ")


def _positions(outputs: Any) -> list[int]:
    """Return which of the floating results have derivatives."""
    parts = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    floats = [p for p in parts if isinstance(p, Tensor) and p._raw.dtype.kind in "fc"]
    return [k for k, p in enumerate(floats) if p.requires_grad]


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Return whether gradients are what differences of values say; if not, raise by default."""
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "gradcheck: check_forward_ad and check_backward_ad are both False; set one of them"
        )
    try:
        check = _Check(func, inputs, eps, atol, rtol)
        if not check.outputs():
            return check.no_outputs()
        if check_backward_ad:
            (check.fast if fast_mode else check.slow)(nondet_tol, check_grad_dtypes)
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
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Return True if gradients of gradients are what differences of gradients say."""
    values = _listed(inputs)
    outputs = _differentiable(func(*values))
    seeds = _drawn(outputs) if grad_outputs is None else _listed(grad_outputs)
    count = len(seeds)

    def gradients_of(*args: Any) -> Any:
        given: Sequence[Any] = args[: len(args) - count]
        found = _differentiable(func(*given))
        wanted = [a for a in given if isinstance(a, Tensor) and a.requires_grad]
        answers = grad(
            found, wanted, args[len(args) - count :], create_graph=True, allow_unused=True
        )
        return tuple(a for a in answers if a is not None)

    return gradcheck(
        gradients_of, [*values, *seeds], eps=eps, atol=atol, rtol=rtol,
        raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, fast_mode=fast_mode,
    )  # fmt: skip


def _drawn(outputs: list[Tensor]) -> list[Tensor]:
    """Return random gradients of results."""
    draw = np.random.default_rng(0)
    found = []
    for output in outputs:
        size = _reals(output._raw).size
        found.append(_unit(output._raw, draw.standard_normal(size)).requires_grad_())
    return found


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
