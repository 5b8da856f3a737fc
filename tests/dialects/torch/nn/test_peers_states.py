"""States of modules travel from PyTorch itself to Wengert: needs the real library's objects."""

from __future__ import annotations

from typing import Any

import pytest

import wengert.torch as ours
from tests.dialects.torch.nn.module_cases import everything, net, numbers
from tests.dialects.torch.parity import assert_same

pytestmark = pytest.mark.peers


def alike(theirs: Any, mine: Any) -> None:
    """Copy the state of PyTorch's module to ours."""
    mine.load_state_dict({k: ours.tensor(v.numpy()) for k, v in theirs.state_dict().items()})


def test_states_travel_between_the_libraries() -> None:
    import torch as theirs

    mine, real = net(ours, 0), net(theirs, 1)
    alike(real, mine)
    results = [model(numbers(t, 4, 3)) for t, model in ((ours, mine), (theirs, real))]
    for result in results:
        result.sum().backward()
    assert_same([results[0], everything(mine)], [results[1], everything(real)])
