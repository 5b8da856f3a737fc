"""Printed text, with numbers that may differ in their last place.

The last digit of a sine or of a product of matrices depends on the processor and on the library
that computed it, and so does what a document shows.
"""

from __future__ import annotations

import doctest
import re

# A number that is written with a point or an exponent; an integer is compared as text.
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+)(?![\w.])")
_DIGITS = 7  # fewer than these are rounded far from the last place: they must be the same


def _last_place(text: str) -> float:
    """Return the size of the last digit of a number as it is written."""
    digits, _, exponent = text.partition("e")
    return 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))


def _close(got: str, want: str) -> bool:
    if got == want:
        return True
    if len(re.sub(r"e.*|\D", "", want).lstrip("0")) < _DIGITS:
        return False
    off = abs(float(got) - float(want))
    return off <= max(1.01 * _last_place(want), 4 * 2.0**-52 * abs(float(want)))


def same(got: str, want: str) -> bool:
    """Return whether two texts are equal but for white space and the last places of numbers."""
    if " ".join(_NUMBER.sub("#", got).split()) != " ".join(_NUMBER.sub("#", want).split()):
        return False
    return all(map(_close, _NUMBER.findall(got), _NUMBER.findall(want)))


class Checker(doctest.OutputChecker):
    """Takes an answer of a session that differs from what is shown in a last place only."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(want, got, optionflags) or same(got, want)
