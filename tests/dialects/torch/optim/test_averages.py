"""Averages of models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.parity import Program, Programs
from tests.dialects.torch.optim.trainings import scheduled
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


def small(torch: Any) -> Any:
    """Return a model of one parameter and one buffer."""

    class Small(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
            self.register_buffer("seen", torch.zeros(1))

        def forward(self, x: Any) -> Any:
            return x * self.w

    return Small()


def averaged(options: Callable[[Any], dict[str, Any]]) -> Program:
    """Return a program with averages of a model's parameters."""

    def run(torch: Any) -> Any:
        net = small(torch)
        mean = torch.optim.swa_utils.AveragedModel(net, **options(torch.optim.swa_utils))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        found = []
        for _ in range(4):
            opt.zero_grad()
            (net(torch.tensor([1.0, 3.0])) ** 2).sum().backward()
            opt.step()
            net.seen += 1
            mean.update_parameters(net)
            found.append(mean.module.w.detach().clone())
        return found, mean.n_averaged, mean.module.seen, mean(torch.ones(2)), net.w

    return run


PROGRAMS["averaged_model"] = averaged(lambda s: {})
PROGRAMS["averaged_model_buffers"] = averaged(lambda s: {"use_buffers": True})
PROGRAMS["averaged_model_ema"] = averaged(lambda s: {"avg_fn": s.get_ema_avg_fn(0.9)})
PROGRAMS["averaged_model_ema_lists"] = averaged(
    lambda s: {"multi_avg_fn": s.get_ema_multi_avg_fn(0.9)}
)
PROGRAMS["averaged_model_own"] = averaged(lambda s: {"avg_fn": lambda a, b, n: 0.5 * a + 0.5 * b})
PROGRAMS["averaged_model_both"] = averaged(
    lambda s: {"avg_fn": s.get_ema_avg_fn(), "multi_avg_fn": s.get_ema_multi_avg_fn()}
)


@program
def statistics_computed_anew(torch: Any) -> Any:
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.InstanceNorm1d(2))
    x = torch.arange(24.0).reshape(3, 2, 4)
    net(x * 5)
    net.eval()
    torch.optim.swa_utils.update_bn([x, (x * 2, 1)], net)
    return net[0].running_mean, net[0].running_var, net[0].momentum, net.training


for _strategy in ("cos", "linear"):
    for _epochs in (0, 4):
        PROGRAMS[f"swalr_{_strategy}_{_epochs}"] = (
            lambda torch, strategy=_strategy, epochs=_epochs: scheduled(
                lambda s, o: torch.optim.swa_utils.SWALR(o, 0.01, epochs, strategy)
            )(torch)[:2]
        )


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name], None if "float32" in name else 1e-6)
