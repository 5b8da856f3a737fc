"""What two runs of a program print: the same words, and the same numbers up to rounding."""

from __future__ import annotations

import re

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\binf\b|\bnan\b)")


def parts(text: str) -> tuple[list[str], list[float]]:
    """Return the words of a text, and its numbers."""
    words = " # ".join(NUMBER.split(text))
    return words.replace("[", " [ ").split(), [float(n) for n in NUMBER.findall(text)]


def assert_same_output(got: str, expected: str, tolerance: float = 2e-6) -> None:
    """Assert that two texts have the same words, and numbers that differ by rounding only."""
    mine, theirs = parts(got), parts(expected)
    assert mine[0] == theirs[0], f"got:\n{got}\nexpected:\n{expected}"
    scale = max([1.0, *map(abs, theirs[1])])
    for a, b in zip(mine[1], theirs[1], strict=True):
        same = a == b or (a != a and b != b) or abs(a - b) <= tolerance * max(abs(b), 1e-2 * scale)
        assert same, f"{a} is not {b}; got:\n{got}\nexpected:\n{expected}"
