"""Random programs of views, writes, hooks, functions and transforms, against real PyTorch."""

import pytest

from tests.dialects.torch import program_lines, random_programs
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("block", range(6))
def test_programs_of_lines(block):
    for seed in range(100 * block, 100 * block + 100):
        lines = program_lines.generate(seed, 4 + seed % 12)
        found = random_programs.difference(lines)
        if found:
            short = "\n".join(random_programs.shortened(lines))
            raise AssertionError(f"seed {seed}: {found}\n{short}")


@pytest.mark.parametrize("block", range(4))
def test_programs_in_default_mode(block):
    for seed in range(100 * block, 100 * block + 100):
        compare(random_programs.program(seed))


def test_a_wrong_number_is_found_and_the_program_made_short():
    lines = [
        *program_lines.generate(3, 6),
        "x = a.detach() * (2 if torch.__name__ == 'torch' else 3)",
    ]
    assert random_programs.difference(lines)
    short = random_programs.shortened(lines)
    assert len(short) == 2 and short[-1] == lines[-1]
