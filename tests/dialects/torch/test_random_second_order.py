"""Random programs of views, indices and writes in place: derivatives of derivatives."""

from __future__ import annotations

import pytest

from tests.dialects.torch.parity import compare
from tests.dialects.torch.random_programs import program

pytestmark = pytest.mark.parity


@pytest.mark.parametrize("block", range(5))
def test_random_programs_of_second_order(block: int) -> None:
    for seed in range(5000 + 100 * block, 5100 + 100 * block):
        try:
            compare(program(seed, second=True), rtol=1e-8)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
