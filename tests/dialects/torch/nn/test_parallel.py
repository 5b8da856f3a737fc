"""DataParallel and DistributedDataParallel of one process: the module itself, and a word."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import wengert.torch as torch
from tests.dialects.torch.nn.module_cases import everything, net, numbers
from tests.dialects.torch.parity import compare
from wengert.dialects.torch.nn.layers import parallel

nn = torch.nn


@pytest.fixture(autouse=True)
def nobody_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_warned", set())


@pytest.mark.parity
def test_data_parallel_is_the_module() -> None:
    def program(torch: Any) -> Any:
        model = torch.nn.DataParallel(net(torch).double())
        x = numbers(torch, 4, 3, grad=True, dtype="float64")
        model(x).pow(2).sum().backward()
        found = [everything(model, x), repr(model), model.device_ids, model.module.scale]
        other = torch.nn.parallel.DataParallel(net(torch, 1).double())
        other.load_state_dict(model.state_dict())
        return [*found, other.eval()(x), isinstance(other, torch.nn.DataParallel)]

    compare(program)


def test_distributed_data_parallel_is_the_module() -> None:
    plain, x = net(torch), numbers(torch, 4, 3)
    with pytest.warns(UserWarning, match="DistributedDataParallel: there is one process"):
        model = nn.parallel.DistributedDataParallel(net(torch), device_ids=None, bucket_cap_mb=5)
    for module in (plain, model):
        module(x).pow(2).sum().backward()
    with model.no_sync():
        assert torch.equal(model(x), plain(x))
    for (name, p), q in zip(model.named_parameters(), plain.parameters(), strict=True):
        assert name.startswith("module.")
        assert torch.equal(p.grad, q.grad)
    with pytest.raises(RuntimeError, match="no parameter requires a gradient"):
        nn.parallel.DistributedDataParallel(nn.Tanh())


def test_it_is_said_once() -> None:
    with pytest.warns(UserWarning, match="DataParallel: there is one process on one device"):
        nn.DataParallel(nn.Linear(1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.DataParallel(nn.Linear(1, 1))


def test_scatter_is_there_for_packages_that_import_it() -> None:
    from wengert.torch.nn.parallel.scatter_gather import scatter

    assert scatter is nn.parallel.scatter
    with pytest.raises(AssertionError, match="there is no CUDA here"):
        scatter(torch.ones(2), [0, 1])
