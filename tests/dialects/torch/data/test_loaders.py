"""Batches of a DataLoader: PyTorch's, in PyTorch's order, with the generator where it leaves it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.dialects.torch.data.test_datasets import squares, stream
from tests.dialects.torch.parity import compare, compare_program

pytestmark = [
    pytest.mark.parity,
    # of Python's 3.12 and later, where NumPy or the tests' runner has threads
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),  # of JAX
]

OPTIONS = {
    "one by one": "",
    "batches": "batch_size=4",
    "whole batches": "batch_size=4, drop_last=True",
    "no batches": "batch_size=None",
    "shuffled": "batch_size=3, shuffle=True",
    "shuffled, whole batches": "batch_size=4, shuffle=True, drop_last=True",
    "shuffled, no batches": "batch_size=None, shuffle=True",
    "by a generator": "batch_size=3, shuffle=True, generator=g",
    "by a sampler": "batch_size=2, sampler=d.WeightedRandomSampler([1.0] * 10, 7)",
    "by numbers": "batch_size=2, sampler=[5, 3, 1]",
    "by numbers of batches": "batch_sampler=[[1, 2], [3], []][:2]",
    "by batches": "batch_sampler=d.BatchSampler(d.RandomSampler(data), 4, True)",
    "another batch": "batch_size=4, collate_fn=lambda rows: sum(k for k, _ in rows)",
    "another sample": "batch_size=None, collate_fn=lambda row: row[1] * 2",
    "pinned": "batch_size=4, pin_memory=True",
    "with a time": "timeout=3",
    "shuffled by a sampler": "shuffle=True, sampler=[1]",
    "both samplers": "batch_sampler=[[1]], batch_size=2",
    "no batch to leave away": "batch_size=None, drop_last=True",
    "a negative count": "num_workers=-1",
    "processes that are not there": "persistent_workers=True",
    "batches ahead of nobody": "prefetch_factor=2",
    "no processes to start": "multiprocessing_context='fork'",
    "no size": "batch_size=0",
}
STREAMS = {
    "one by one": "",
    "batches": "batch_size=3",
    "whole batches": "batch_size=3, drop_last=True",
    "no batches": "batch_size=None",
    "shuffled": "shuffle=True",
    "by a sampler": "sampler=[1]",
    "by batches": "batch_sampler=[[1]]",
}
#: Those that processes do as well.
LOADED = [*OPTIONS][:15]


def rounds(torch: Any, data: Any, options: str, **further: Any) -> Any:
    """Return the batches of two rounds, the lengths, and what the generators give then."""
    d, g = torch.utils.data, torch.Generator().manual_seed(5)
    torch.manual_seed(3)
    names = {"d": d, "g": g, "data": data, "further": further}
    loader = eval(f"d.DataLoader(data, **further, {options})", names)
    found = [list(loader), torch.rand(1), list(loader), len(loader)]
    return found, torch.rand(2), torch.rand(2, generator=g), loader.batch_size, loader.drop_last


@pytest.mark.parametrize("options", OPTIONS.values(), ids=[*OPTIONS])
def test_options(options: str) -> None:
    compare(lambda torch: rounds(torch, squares(torch)(10), options))


@pytest.mark.parametrize("name", LOADED)
@pytest.mark.parametrize("workers", [1, 2])
def test_options_with_processes(name: str, workers: int) -> None:
    further = {"num_workers": workers}
    compare(lambda torch: rounds(torch, squares(torch)(10), OPTIONS[name], **further))


@pytest.mark.parametrize("further", [{}, {"num_workers": 2}], ids=["here", "processes"])
@pytest.mark.parametrize("options", STREAMS.values(), ids=[*STREAMS])
def test_streams(options: str, further: dict[str, Any]) -> None:
    compare(lambda torch: rounds(torch, stream(torch)(*range(7)), options, **further))


TENSORS = {
    "rows": "d.TensorDataset(t, t[:, 0], t > 4)",
    "of a subset": "d.Subset(d.Subset(d.TensorDataset(t, t), [5, 1, 2, 7, 0]), [2, 0, -1])",
    "of other strides": "d.TensorDataset(t.reshape(2, 5, 2).permute(1, 2, 0), t[:10:2].t().t())",
    "that require gradients": "d.TensorDataset(t.clone().requires_grad_(), t * 2)",
    "that are parameters": "d.TensorDataset(torch.nn.Parameter(t), t.unsqueeze(-1))",
    "computed by a worker": "d.TensorDataset(t.clone().requires_grad_()), num_workers=1",
    "leaves of a worker": "[torch.nn.Parameter(t)] * 2, collate_fn=tuple, num_workers=1",
    "of a class of its own": "type('Mine', (d.TensorDataset,), {'__getitem__': lambda s, k: k})(t)",
}
ORDERS = ["batch_size=2", "batch_size=2, shuffle=True", "batch_sampler=[(0, 1), (1, 0, 2)]"]


@pytest.mark.parametrize("order", [*ORDERS, "batch_sampler=[[]]", "batch_sampler=[[0, 99]]"])
@pytest.mark.parametrize("data", TENSORS.values(), ids=[*TENSORS])
def test_rows_of_tensors(data: str, order: str) -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(2)
        names = {"d": torch.utils.data, "t": torch.arange(20.0).reshape(10, 2), "torch": torch}
        found = list(eval(f"d.DataLoader({data}, {order})", names))
        parts = [part for batch in found for part in (batch if type(batch) is list else [batch])]
        return found, [part.stride() for part in parts], [str(part.grad_fn)[:6] for part in parts]

    compare(program)


@pytest.mark.parametrize("ahead", [1, 5])
def test_processes_that_stay(ahead: int) -> None:
    options = f"batch_size=3, shuffle=True, num_workers=2, prefetch_factor={ahead}"
    options += ", persistent_workers=True"
    compare(lambda torch: rounds(torch, squares(torch)(11), options))


def test_a_round_that_is_left_and_begun_anew() -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(0)
        loader = torch.utils.data.DataLoader(
            range(20), batch_size=2, shuffle=True, num_workers=2, persistent_workers=True
        )
        first = next(iter(loader))
        return first, list(loader), torch.rand(1)

    compare(program)


class Shares:
    """Samples of a stream for each of several workers, and what random numbers they draw."""

    def __new__(cls, torch: Any) -> Any:
        class Dealt(torch.utils.data.IterableDataset):
            def __iter__(self) -> Any:
                info = torch.utils.data.get_worker_info()
                for k in range(info.id, 9, info.num_workers):
                    drawn = torch.rand(1).item(), np.random.rand(), random.random()
                    yield k, info.id, info.seed % 1000, drawn

        return Dealt()


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_know_what_they_are_and_have_seeds(workers: int) -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(7)
        d = torch.utils.data
        loader = d.DataLoader(Shares(torch), num_workers=workers, batch_size=2, prefetch_factor=1)
        return list(loader), d.get_worker_info()

    compare(program)


def test_workers_are_set_up() -> None:
    def program(torch: Any) -> Any:
        d = torch.utils.data

        def set_up(number: int) -> None:
            info = d.get_worker_info()
            info.dataset.values = [10 * number + k for k in info.dataset.values]

        loader = d.DataLoader(stream(torch)(1, 2, 3), num_workers=2, worker_init_fn=set_up)
        return list(loader)

    compare(program)


def test_what_is_fixed() -> None:
    def program(torch: Any) -> Any:
        loader = torch.utils.data.DataLoader([1, 2])
        loader.num_workers = 0
        loader.batch_size = 3

    compare(program)


def test_a_network_learns_the_same() -> None:
    def program(torch: Any) -> Any:
        d, nn = torch.utils.data, torch.nn
        x = torch.randn(60, 3)
        y = (x @ torch.tensor([[1.0], [-2.0], [0.5]])).tanh()
        train, test = d.random_split(d.TensorDataset(x, y), [0.8, 0.2])
        model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        for _ in range(3):
            for inputs, targets in d.DataLoader(train, batch_size=16, shuffle=True):
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(inputs), targets)
                loss.backward()
                optimizer.step()
            print(f"{loss.item():.4f}")
        with torch.no_grad():
            return sum(((model(a) - b) ** 2).sum() for a, b in d.DataLoader(test, batch_size=5))

    compare_program(program)
