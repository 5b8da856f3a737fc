"""Derivatives that no machine could hold: an error beforehand, with the ways out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.backends import memory
from wengert.transforms import sweeps

MANY = 200_000


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_a_jacobian_larger_than_memory(mode: str) -> None:
    with pytest.raises(
        MemoryError, match=r"200,000 outputs by 200,000 inputs.*wg\.sparse\.jacobian"
    ):
        wg.jacobian(lambda x: 2 * x, mode=mode)(np.ones(MANY))


def test_a_hessian_larger_than_memory() -> None:
    with pytest.raises(MemoryError, match=r"of=\.\.\., wrt=\.\.\..*wg\.hvp"):
        wg.hessian(lambda x: wg.sum(x**3))(np.ones(MANY))


def test_on_a_tape_which_can_then_be_asked_for_less() -> None:
    x = wg.asarray(np.ones(MANY))
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x**2
    with pytest.raises(MemoryError, match=r"tape\.jacobian\(y\.at"):
        tape.jacobian(y, x)
    np.testing.assert_allclose(tape.jacobian(y.at[3:5], x.at[2:5]), [[0, 2, 0], [0, 0, 2]])


def test_a_batch_jacobian_larger_than_memory() -> None:
    x = wg.asarray(np.ones((2, MANY)))
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x**2
    with pytest.raises(MemoryError, match="batch_jacobian"):
        tape.batch_jacobian(y, x)


def test_the_limit_is_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "SMALL", 0)
    x = np.ones(100)
    monkeypatch.setattr(memory, "available", lambda: 100 * 100 * 8)
    assert wg.jacobian(lambda x: 2 * x)(x).shape == (100, 100)
    monkeypatch.setattr(memory, "available", lambda: 100 * 100 * 8 - 1)
    with pytest.raises(MemoryError):
        wg.jacobian(lambda x: 2 * x)(x)
    monkeypatch.setattr(memory, "available", lambda: None)  # a system that does not say
    assert wg.jacobian(lambda x: 2 * x)(x).shape == (100, 100)


def test_what_the_system_says(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "meminfo"
    info.write_text("MemTotal: 100 kB\nMemAvailable: 40 kB\n")
    monkeypatch.setattr(memory, "_INFO", info)
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    assert memory.available() == 40 * 1024
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert memory.available() == 40 * 1024
    (tmp_path / "memory.max").write_text("3000\n")
    assert memory.available() == 2000
