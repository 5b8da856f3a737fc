"""Initialisation of parameters."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.nn.module_cases import raising
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


INITS: dict[str, Any] = {
    "uniform": lambda i, t: i.uniform_(t, -1, 2),
    "normal": lambda i, t: i.normal_(t, 1.0, 0.5),
    "trunc_normal": lambda i, t: i.trunc_normal_(t, 0.1, 0.5, -0.4, 1.0),
    "constant": lambda i, t: i.constant_(t, 0.3),
    "ones": lambda i, t: i.ones_(t),
    "zeros": lambda i, t: i.zeros_(t),
    "xavier_uniform": lambda i, t: i.xavier_uniform_(t, gain=2.0),
    "xavier_normal": lambda i, t: i.xavier_normal_(t),
    "kaiming_uniform": lambda i, t: i.kaiming_uniform_(t, mode="fan_out", nonlinearity="relu"),
    "kaiming_uniform_leaky": lambda i, t: i.kaiming_uniform_(t, a=0.3),
    "kaiming_normal": lambda i, t: i.kaiming_normal_(t, nonlinearity="tanh"),
    "orthogonal": lambda i, t: i.orthogonal_(t, gain=1.5),
    "kaiming_old": lambda i, t: i.kaiming_normal(t),
    "xavier_old": lambda i, t: i.xavier_uniform(t),
}


@pytest.mark.parametrize("shape", [(6, 8), (8, 3), (5, 4, 3)], ids=str)
@pytest.mark.parametrize("name", INITS)
def test_init(name: str, shape: tuple[int, ...]) -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(7)
        tensor = torch.nn.Parameter(torch.empty(shape))
        answer = INITS[name](torch.nn.init, tensor)
        return [tensor, answer is tensor]

    compare(program)


@program
def inits_of_matrices(torch: Any) -> Any:
    init = torch.nn.init
    torch.manual_seed(0)
    return [
        init.eye_(torch.empty(3, 4)),
        init.orthogonal_(torch.empty(3, 3, dtype=torch.float64)),
        init.uniform_(torch.empty(3), generator=torch.Generator().manual_seed(1)),
    ]


@program
def inits_wrong(torch: Any) -> Any:
    init = torch.nn.init
    line, flat = torch.empty(3), torch.empty(3, 4)
    return [
        raising(lambda: init.eye_(line)),
        raising(lambda: init.xavier_uniform_(line)),
        raising(lambda: init.kaiming_normal_(line)),
        raising(lambda: init.kaiming_normal_(flat, mode="fan")),
        raising(lambda: init.kaiming_normal_(flat, nonlinearity="mish")),
        raising(lambda: init.orthogonal_(line)),
        raising(lambda: init.uniform_(flat, 2, 1)),
        raising(lambda: init.calculate_gain("gelu")),
        raising(lambda: init.calculate_gain("leaky_relu", "a")),
        [
            init.calculate_gain(n)
            for n in ("linear", "conv2d", "sigmoid", "tanh", "relu", "selu", "leaky_relu")
        ],
        init.calculate_gain("leaky_relu", 0.2),
        init._calculate_fan_in_and_fan_out(torch.empty(3, 4, 5)),
        init.kaiming_uniform_(torch.empty(0, 3)),
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
