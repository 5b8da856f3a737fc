"""Files between PyTorch itself and Wengert: needs the real library's reader and writer."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import wengert.torch as ours
from tests.dialects.torch.saved_cases import CASES, bits, saved
from tests.dialects.torch.test_pickled import check_mutations

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("name", CASES)
def test_files_of_ours_load_in_pytorch(name: str) -> None:
    import torch as theirs

    value = CASES[name](ours)
    found = theirs.load(io.BytesIO(saved(value)), weights_only=True)
    assert bits(found) == bits(value)


@pytest.mark.parametrize("name", ["dtypes", "views", "a_checkpoint"])
def test_files_of_ours_can_be_mapped(name: str, tmp_path: Path) -> None:
    import torch as theirs

    value = CASES[name](ours)
    ours.save(value, tmp_path / "file.pt")
    found = theirs.load(str(tmp_path / "file.pt"), weights_only=True, mmap=True)
    assert bits(found) == bits(value)


def test_files_of_pytorch_by_name(tmp_path: Path) -> None:
    import torch as theirs

    theirs.save({"x": theirs.arange(3)}, tmp_path / "model \u00e9.pt")
    assert ours.load(tmp_path / "model \u00e9.pt")["x"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("drawn", [0, 1, 5, 623, 624, 625, 1300])
def test_states_of_generators_are_each_others(drawn: int) -> None:
    import torch as theirs

    def state(torch: Any) -> Any:
        rng = torch.Generator().manual_seed(2**33 + 9)
        torch.rand(drawn, generator=rng)
        return rng.get_state()

    assert state(ours).numpy().tobytes() == state(theirs).numpy().tobytes()
    for here, there in ((ours, theirs), (theirs, ours)):
        rng = here.Generator()
        rng.set_state(here.from_numpy(state(there).numpy().copy()))
        other = there.Generator()
        other.set_state(state(there))
        drawn_here, drawn_there = (
            t.rand(700, generator=g) for t, g in ((here, rng), (there, other))
        )
        assert drawn_here.tolist() == drawn_there.tolist()


@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_damaged_files_of_pytorch_are_errors(part: int) -> None:
    import torch as theirs

    cases = ["a_checkpoint", "views", "containers", "parameters", "dtypes"]
    value = CASES[cases[part % 5]](theirs)
    assert check_mutations(saved(value, theirs), 10_000 + 1000 * part, 1000) > 600
