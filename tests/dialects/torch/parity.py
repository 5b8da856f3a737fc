"""The same program on real PyTorch and on Wengert's dialect of it, and what must be equal."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert.torch as ours

#: How far values may be apart, relative to the largest of an array, by dtype.
TOLERANCE = {
    "float16": 2e-3,
    "float32": 2e-5,
    "float64": 1e-11,
    "complex64": 2e-5,
    "complex128": 1e-11,
}


def outcome(program: Callable[[Any], Any], torch: Any) -> Any:
    """Return what a program returns, or the exception that it raises."""
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return program(torch)
    except Exception as error:
        return error


def compare(program: Callable[[Any], Any], rtol: float | None = None) -> None:
    """Run a program on both, and assert that results and exceptions agree.

    Of tensors, values, dtypes, shapes, `requires_grad`, `is_leaf` and gradients must agree.
    """
    import torch as theirs

    expected, got = outcome(program, theirs), outcome(program, ours)
    assert_same(got, expected, rtol)


def printed(program: Callable[[Any], Any]) -> Callable[[Any], str]:
    """Return a program whose result is what another one prints."""

    def run(torch: Any) -> str:
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            program(torch)
        return text.getvalue()

    return run


def assert_same(got: Any, expected: Any, rtol: float | None = None, where: str = "result") -> None:
    """Assert that what our program gave is what PyTorch's gave."""
    if isinstance(expected, Exception) or isinstance(got, Exception):
        kinds = type(got).__name__, type(expected).__name__
        if not (isinstance(expected, Exception) and kinds[0] == kinds[1]):
            raise AssertionError(f"{where}: got {got!r:.500}, expected {expected!r:.500}") from (
                got if isinstance(got, Exception) else None
            )
        return
    if expected is None or got is None:
        assert got is None and expected is None, f"{where}: got {got!r}, expected {expected!r}"
        return
    if hasattr(expected, "requires_grad") and hasattr(expected, "detach"):
        assert isinstance(got, ours.Tensor), f"{where}: got {got!r:.200}, not a tensor"
        assert str(got.dtype) == str(expected.dtype), f"{where}: {got.dtype}, not {expected.dtype}"
        assert tuple(got.shape) == tuple(expected.shape), (
            f"{where}: {got.shape}, not {expected.shape}"
        )
        for flag in ("requires_grad", "is_leaf"):
            mine, theirs = getattr(got, flag), getattr(expected, flag)
            assert mine == theirs, f"{where}.{flag}: {mine}, not {theirs}"
        if expected.is_leaf and expected.requires_grad:
            assert_same(got.grad, expected.grad, rtol, f"{where}.grad")
        mine, theirs = (t.detach().resolve_conj().resolve_neg().numpy() for t in (got, expected))
        _assert_close(mine, theirs, rtol, where)
        return
    if isinstance(expected, (np.ndarray, np.generic)):
        assert np.asarray(got).dtype == expected.dtype, f"{where}: {np.asarray(got).dtype}"
        _assert_close(np.asarray(got), np.asarray(expected), rtol, where)
        return
    if isinstance(expected, dict):
        assert list(got.keys()) == list(expected.keys()), f"{where}: {got!r}"
        for key in expected:
            assert_same(got[key], expected[key], rtol, f"{where}[{key!r}]")
        return
    if isinstance(expected, (list, tuple)):
        assert isinstance(got, (list, tuple)), f"{where}: got {got!r:.200}"
        assert isinstance(got, tuple) == isinstance(expected, tuple), f"{where}: {type(got)}"
        assert len(got) == len(expected), f"{where}: {len(got)} parts, not {len(expected)}"
        for i, (mine, theirs) in enumerate(zip(got, expected, strict=True)):
            assert_same(mine, theirs, rtol, f"{where}[{i}]")
        return
    if isinstance(expected, (float, complex)):
        close = got == expected or abs(got - expected) <= (rtol or 2e-5) * abs(expected)
        assert close or (got != got and expected != expected), f"{where}: {got!r}, not {expected!r}"
        assert type(got) is type(expected), f"{where}: {type(got)}"
        return
    if type(expected).__module__.partition(".")[0] == "torch":  # a dtype, a device…
        assert str(got) == str(expected), f"{where}: {got!r}, not {expected!r}"
        return
    assert got == expected, f"{where}: {got!r}, not {expected!r}"


def _assert_close(got: np.ndarray, expected: np.ndarray, rtol: float | None, where: str) -> None:
    assert got.shape == expected.shape, f"{where}: {got.shape}, not {expected.shape}"
    tolerance = rtol or TOLERANCE.get(expected.dtype.name, 0.0)
    finite = np.abs(expected, where=np.isfinite(expected), out=np.zeros(expected.shape))
    scale = float(finite.max(initial=0.0)) if expected.size else 0.0
    np.testing.assert_allclose(
        got, expected, rtol=tolerance, atol=tolerance * max(scale, 1e-30), err_msg=where
    )
