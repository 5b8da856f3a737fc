"""Random programs of views, indices and writes in place: values and gradients."""

from __future__ import annotations

import pytest

from tests.dialects.torch.parity import compare
from tests.dialects.torch.random_programs import program

pytestmark = pytest.mark.parity


@pytest.mark.parametrize("block", range(10))
def test_random_programs(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        try:
            compare(program(seed))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
