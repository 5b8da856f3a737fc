"""What tensors print."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.dialects.torch.parity import compare, printed

pytestmark = pytest.mark.parity


def array(rng: np.random.Generator) -> np.ndarray:
    """Return an array of a random shape, dtype and habit."""
    if rng.random() < 0.8:
        shape = tuple(int(n) for n in rng.integers(rng.random() < 0.9, 9, rng.integers(0, 5)))
    else:
        shape = tuple(int(n) for n in rng.integers(5, 60, rng.integers(1, 3)))
    value = rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 9)
    chosen = rng.random(shape)
    value = [
        value,
        np.round(value),
        np.where(chosen < 0.2, np.nan, value),
        np.where(chosen < 0.2, np.inf, np.round(value)),
        np.where(chosen < 0.2, -np.inf, chosen),
        np.zeros(shape),
        np.full(shape, -0.0),
        rng.integers(-5, 2000, shape).astype(float),
        np.where(chosen < 0.5, 0, value),
    ][rng.integers(9)]
    kind = np.dtype(
        str(rng.choice(["f4", "f8", "i8", "i4", "?", "c8", "f2", "u1", "c16"])),
    )
    with np.errstate(all="ignore"):
        if kind.kind == "c":
            value = value + 1j * np.roll(value, 1) * rng.choice([1, 0.001, 0])
        if kind.kind in "iub":
            value = np.nan_to_num(value, posinf=3, neginf=-3)
        return np.asarray(value).astype(kind).reshape(shape)


@pytest.mark.parametrize("seed", range(20))
def test_random_tensors_are_printed_alike(seed: int) -> None:
    def program(torch: Any) -> list[str]:
        rng = np.random.default_rng(seed)
        texts = []
        for k in range(20):
            value = array(rng)
            options: dict[str, Any] = {"profile": "default"}
            if k % 3 == 0:
                options = {
                    "precision": int(rng.integers(0, 7)), "threshold": int(rng.integers(5, 1000)),
                    "edgeitems": int(rng.integers(1, 4)), "linewidth": int(rng.integers(30, 120)),
                    "sci_mode": [None, True, False][rng.integers(3)],
                }  # fmt: skip
            torch.set_printoptions(**options)
            t = torch.from_numpy(value)
            if k % 4 == 0 and value.dtype.kind in "fc":
                t = t.requires_grad_()
                t = t * 2 if k % 8 == 0 else t
            texts.append(repr(t))
        torch.set_printoptions(profile="default")
        return texts

    compare(program)


SHOWN = {
    "results": lambda torch: [
        print(f(torch.tensor([[1.0, 2.0]], requires_grad=True)))
        for f in (
            lambda x: x + 1, lambda x: x.sum(), lambda x: x * x, lambda x: x[0], lambda x: x.exp(),
            lambda x: x.t(), lambda x: -x, lambda x: x / 3, lambda x: x - 1, lambda x: x.double(),
            lambda x: x.detach(), lambda x: x > 1, lambda x: x.reshape(-1), lambda x: x.clone(),
        )
    ],
    "leaves": lambda torch: print(
        torch.ones(2, requires_grad=True), torch.tensor(3), torch.tensor([True]), torch.tensor(1.5)
    ),
    "lists": lambda torch: print([torch.ones(2), torch.zeros(1)], {"a": torch.tensor(1.0)}),
    "empty": lambda torch: print(
        torch.zeros(0), torch.zeros(0, 3), torch.zeros(2, 0, dtype=torch.int64), torch.tensor([])
    ),
    "large": lambda torch: print(torch.arange(2000), torch.zeros(100, 100), torch.ones(3, 20, 40)),
    "long lines": lambda torch: print(torch.arange(60.0), torch.arange(30) * 1000),
    "long notes": lambda torch: print(
        torch.ones(2, 9, dtype=torch.float64, requires_grad=True) * 1.2345
    ),
    "gradients": lambda torch: (
        lambda x: ((x**2).sum().backward(), print(x.grad, x))
    )(torch.arange(3.0, requires_grad=True)),
    "profiles": lambda torch: [
        (torch.set_printoptions(profile=p), print(torch.rand(2) * 0 + 1.23456789))
        for p in ("short", "full", "default")
    ],
    "precision": lambda torch: (
        torch.set_printoptions(precision=8), print(torch.tensor([1 / 3])),
        torch.set_printoptions(precision=4),
    ),
    "other dtypes": lambda torch: print(
        torch.zeros(1, dtype=torch.float16), torch.zeros(1, dtype=torch.int8), torch.tensor([1j])
    ),
    "types": lambda torch: print(torch.float32, torch.device("cpu"), torch.Size([1]),
    torch.strided),
    "limits": lambda torch: print(torch.finfo(torch.float32), torch.iinfo(torch.int16)),
}  # fmt: skip


@pytest.mark.parametrize("program", SHOWN.values(), ids=SHOWN)
def test_programs_print_alike(program: Any) -> None:
    compare(printed(program))
