"""Programs of functions of one tensor: results, derivatives of both orders, dtypes, labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.torch.parity import compare


def data(torch: Any, shape: Any = (2, 3, 4), dtype: Any = None) -> Any:
    """Return a tensor of some numbers, the same in all libraries."""
    count = int(np.prod(shape))
    values = torch.tensor([((7 * k) % 11 - 5.3) / 3 for k in range(count)], dtype=torch.float64)
    made = values.reshape(shape)
    if dtype is not None and dtype.is_complex:
        return torch.complex(made, made.flip(0) * 0.7).to(dtype)
    return made if dtype is None else made.to(dtype)


def differentiated(torch: Any, function: Callable[[Any, Any], Any], shape: Any) -> Any:
    """Return results of a function of a tensor, its first and second derivatives."""
    x = data(torch, shape).requires_grad_()
    found = function(torch, x)
    results = list(found) if isinstance(found, (tuple, list)) else [found]
    turned = function(torch, torch.zeros(shape[::-1]).permute(*reversed(range(len(shape)))))
    turned = list(turned) if isinstance(turned, (tuple, list)) else [turned]
    in_order = [r.is_contiguous() for r in [*results, *turned]]
    if not any(r.requires_grad for r in results):
        return found
    weights = [torch.cos(torch.arange(1.0, r.numel() + 1).reshape(r.shape)) for r in results]
    total = sum((w.to(r.dtype) * r * r).sum() for w, r in zip(weights, results, strict=True))
    (first,) = torch.autograd.grad(total, x, create_graph=True)
    again = (first * first * 0.3).sum()
    second = torch.autograd.grad(again, x)[0] if again.requires_grad else None
    total.backward(retain_graph=True)
    return found, first, second, x.grad, in_order, [_label(r) for r in results]


def _label(result: Any) -> str | None:
    if result.grad_fn is None:
        return None
    return str(result.grad_fn.name()).rpartition(":")[2]


def _case(given: Any) -> tuple[Callable[[Any, Any], Any], Any]:
    return given if isinstance(given, tuple) else (given, (2, 3, 4))


def check_function(given: Any, labels: bool) -> None:
    """Compare results and derivatives of a function of (torch, x), and perhaps its nodes' names.

    The tensor has shape (2, 3, 4), or the shape that is given beside the function.
    """
    function, shape = _case(given)

    def program(torch: Any) -> Any:
        found = differentiated(torch, function, shape)
        return found if labels or not isinstance(found, tuple) else found[:5]

    compare(program)


def check_dtype(given: Any, kind: str) -> None:
    """Compare results of a function of (torch, x) for numbers of a dtype."""
    function, shape = _case(given)
    compare(lambda torch: function(torch, data(torch, shape, getattr(torch, kind))))


def check_second_sweep(given: Any) -> None:
    """Compare what a function of (torch, x) does in a second sweep."""
    function, shape = _case(given)

    def program(torch: Any) -> Any:
        x = data(torch, shape).requires_grad_()
        found = function(torch, x)
        found = found[0] if isinstance(found, (tuple, list)) else found
        y = found.sum()
        y.backward()
        y.backward()
        return x.grad

    compare(program)


def checks_of(functions: dict[str, Any], labels_differ: set[str]) -> tuple[Any, Any, Any]:
    """Return three tests of a file's functions: results and names, dtypes, and a second sweep."""

    @pytest.mark.parametrize("name", functions)
    def test_function(name: str) -> None:
        check_function(functions[name], name not in labels_differ)

    @pytest.mark.parametrize("name", functions)
    @pytest.mark.parametrize("kind", ["int64", "bool", "complex64", "float32"])
    def test_dtypes(name: str, kind: str) -> None:
        if name == "views of views" or (kind == "bool" and "scatter" in name):
            pytest.skip("multiplies truth values, or is no function of one dtype")
        check_dtype(functions[name], kind)

    @pytest.mark.parametrize("name", functions)
    def test_second_sweep(name: str) -> None:
        if "*" in name or any(word in name for word in ("scatter", "cat", "repeat_interleave")):
            pytest.skip("what a composite keeps is its own affair")
        check_second_sweep(functions[name])

    return test_function, test_dtypes, test_second_sweep
