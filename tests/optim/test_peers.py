"""Twenty steps of each optimiser, with every option, beside PyTorch's; and clipping."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert import optim

pytestmark = pytest.mark.peers

STEPS = 20
TOLERANCE = {
    "float32": 1e-5,
    "float64": 1e-12,
    "complex64": 1e-5,
    "complex128": 1e-12,
}

#: For each class, by its name in both: the names of an option, ours and theirs, and values.
TABLE: dict[str, dict[tuple[str, str], list[Any]]] = {
    "SGD": {
        ("learning_rate", "lr"): [0.05],
        ("momentum", "momentum"): [0.0, 0.9],
        ("dampening", "dampening"): [0.0, 0.3],
        ("nesterov", "nesterov"): [False, True],
        ("weight_decay", "weight_decay"): [0.0, 0.1],
        ("maximize", "maximize"): [False, True],
    },
    "Adam": {
        ("learning_rate", "lr"): [0.05],
        ("beta1,beta2", "betas"): [(0.9, 0.999), (0.5, 0.8), (0.0, 0.9)],
        ("eps", "eps"): [1e-8, 1e-2],
        ("weight_decay", "weight_decay"): [0.0, 0.1],
        ("amsgrad", "amsgrad"): [False, True],
        ("maximize", "maximize"): [False, True],
    },
    "AdamW": {
        ("learning_rate", "lr"): [0.05],
        ("beta1,beta2", "betas"): [(0.9, 0.999), (0.5, 0.8)],
        ("eps", "eps"): [1e-8, 1e-2],
        ("weight_decay", "weight_decay"): [0.0, 0.01, 0.1],
        ("amsgrad", "amsgrad"): [False, True],
        ("maximize", "maximize"): [False, True],
    },
    "RMSprop": {
        ("learning_rate", "lr"): [0.02],
        ("decay", "alpha"): [0.99, 0.7],
        ("eps", "eps"): [1e-8, 1e-2],
        ("momentum", "momentum"): [0.0, 0.8],
        ("centered", "centered"): [False, True],
        ("weight_decay", "weight_decay"): [0.0, 0.1],
        ("maximize", "maximize"): [False, True],
    },
    "Adagrad": {
        ("learning_rate", "lr"): [0.1],
        ("lr_decay", "lr_decay"): [0.0, 0.2],
        ("initial_accumulator", "initial_accumulator_value"): [0.0, 0.5],
        ("eps", "eps"): [1e-10, 1e-2],
        ("weight_decay", "weight_decay"): [0.0, 0.1],
        ("maximize", "maximize"): [False, True],
    },
}


def settings(name: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    options = TABLE[name]
    found = []
    for values in itertools.product(*options.values()):
        mine: dict[str, Any] = {}
        other: dict[str, Any] = {}
        for (left, right), value in zip(options, values, strict=True):
            mine.update(
                zip(left.split(","), value, strict=True) if "," in left else [(left, value)]
            )
            other[right] = value
        if mine.get("nesterov") and (not mine["momentum"] or mine["dampening"]):
            continue  # refused by both
        found.append((name, mine, other))
    return found


CASES = [case for name in TABLE for case in settings(name)]


def gradient_at(parameter: np.ndarray, step: int) -> np.ndarray:
    """Some gradient that depends on the parameter and changes its sign."""
    wave = np.sin(np.arange(parameter.size).reshape(parameter.shape) + 0.7 * step)
    wave = wave * (1 + 1j) if parameter.dtype.kind == "c" else wave
    return (0.5 * parameter + wave).astype(parameter.dtype)


def start(dtype: str) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    parts = {name: random.standard_normal((2, *shape)) for name, shape in SHAPES.items()}
    return {n: (p[0] + 1j * p[1] if "c" in dtype else p[0]).astype(dtype) for n, p in parts.items()}


SHAPES = {"w": (3, 2), "b": (2,), "s": ()}


def their_steps(name: str, options: dict[str, Any], dtype: str, absent: set[Any]) -> Any:
    import torch  # here, because collecting the tests must not take seconds

    params = {n: torch.tensor(p, requires_grad=True) for n, p in start(dtype).items()}
    optimizer = getattr(torch.optim, name)(params.values(), **options)
    for step in range(STEPS):
        for name, p in params.items():
            raw = p.detach().numpy()
            missing = (name, step) in absent
            p.grad = None if missing else torch.tensor(gradient_at(raw, step))
        optimizer.step()
    return {n: p.detach().numpy() for n, p in params.items()}


def our_steps(name: str, options: dict[str, Any], dtype: str, absent: set[Any]) -> Any:
    optimizer = getattr(optim, name)(**options)
    params = start(dtype)
    state = optimizer.init(params)
    for step in range(STEPS):
        gradients = {
            n: None if (n, step) in absent else gradient_at(p, step) for n, p in params.items()
        }
        params, state = optimizer.step(params, gradients, state)
    return params


def assert_close(ours: Any, theirs: Any, dtype: str) -> None:
    for name, expected in theirs.items():
        assert ours[name].dtype == expected.dtype == dtype
        error = np.max(np.abs(ours[name] - expected) / (1 + np.abs(expected)))
        assert error < TOLERANCE[dtype], (name, error)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "mine", "other"), CASES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_twenty_steps(name: str, mine: Any, other: Any, dtype: str) -> None:
    got = our_steps(name, mine, dtype, set())
    assert_close(got, their_steps(name, other, dtype, set()), dtype)


def one_of_each() -> list[Any]:
    """The settings of each class with most switched on."""
    cases = []
    for name in TABLE:
        rows = settings(name)
        cases.append(max(rows, key=lambda row: sum(map(bool, row[1].values()))))
    return cases


@pytest.mark.parametrize(("name", "mine", "other"), one_of_each())
def test_absent_gradients(name: str, mine: Any, other: Any) -> None:
    absent = {("w", 0), ("w", 1), ("b", 5), ("s", 19), ("w", 10)}
    got = our_steps(name, mine, "float64", absent)
    assert_close(got, their_steps(name, other, "float64", absent), "float64")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize(("name", "mine", "other"), one_of_each())
def test_complex_parameters(name: str, mine: Any, other: Any, dtype: str) -> None:
    got = our_steps(name, mine, dtype, set())
    assert_close(got, their_steps(name, other, dtype, set()), dtype)


@pytest.mark.parametrize("name", TABLE)
def test_defaults_are_the_same(name: str) -> None:
    import torch

    needed = [1e-3] if name == "SGD" else []
    theirs = getattr(torch.optim, name)([torch.nn.Parameter(torch.zeros(1))], *needed).defaults
    ours = getattr(optim, name)(*needed)
    for left, right in TABLE[name]:
        values = tuple(getattr(ours, part) for part in left.split(","))
        assert (values if len(values) > 1 else values[0]) == theirs[right], left


@pytest.mark.parametrize("scale", [0.1, 1.0, 100.0])
def test_clipping(scale: float) -> None:
    import torch

    raws = [scale * p for p in start("float64").values()]
    parameters = [torch.zeros(r.shape, dtype=torch.float64, requires_grad=True) for r in raws]

    def fill() -> None:
        for p, r in zip(parameters, raws, strict=True):
            p.grad = torch.tensor(r)

    fill()
    norm = torch.nn.utils.clip_grad_norm_(parameters, 2.0)
    clipped, our_norm = optim.clip_by_global_norm(raws, 2.0)
    assert our_norm == pytest.approx(norm.item(), rel=1e-12)
    for p, c in zip(parameters, clipped, strict=True):
        assert p.grad is not None
        np.testing.assert_allclose(p.grad.numpy(), c, rtol=1e-5)  # PyTorch adds 1e-6 to the norm
    fill()
    torch.nn.utils.clip_grad_value_(parameters, 0.7)
    for p, c in zip(parameters, optim.clip_by_value(raws, 0.7), strict=True):
        assert p.grad is not None
        np.testing.assert_array_equal(p.grad.numpy(), c)


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop, optim.Adagrad])
def test_steps_of_torch_arrays(kind: Any) -> None:
    import torch

    optimizer = kind(0.1)
    arrays = {name: torch.tensor(p) for name, p in start("float32").items()}
    numpy = start("float32")
    states = optimizer.init(arrays), optimizer.init(numpy)
    for step in range(3):
        gradients = {n: gradient_at(p, step) for n, p in numpy.items()}
        theirs = {n: torch.tensor(g) for n, g in gradients.items()}
        arrays, first = optimizer.step(arrays, theirs, states[0])
        numpy, second = optimizer.step(numpy, gradients, states[1])
        states = first, second
    for name, p in arrays.items():
        assert type(p) is torch.Tensor
        np.testing.assert_allclose(p.numpy(), numpy[name], rtol=1e-6)
    with pytest.raises(wg.BackendError, match=r"params\['b'\]: the gradient is an array of numpy"):
        optimizer.step(arrays, gradients, states[0])


def test_minimize_of_torch_arrays() -> None:
    import torch

    x0 = {"a": torch.zeros(2, dtype=torch.float64), "b": torch.tensor(0.0)}
    found = optim.minimize(
        lambda x: wg.sum((x["a"] - 3.0) ** 2) + wg.astype((x["b"] + 1.0) ** 2, wg.float64), x0
    )
    assert type(found.x["a"]) is torch.Tensor and found.x["b"].dtype == torch.float32
    np.testing.assert_allclose(found.x["a"].numpy(), 3.0, atol=1e-5)
    np.testing.assert_allclose(found.x["b"].numpy(), -1.0, atol=1e-3)
