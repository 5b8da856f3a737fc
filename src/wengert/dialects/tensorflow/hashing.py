"""Hash values of strings that are the same everywhere: the numbers that TensorFlow's tables hold.

FarmHash's Fingerprint64, as published, in whole numbers of 64 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.kinds import Count
from wengert.dialects.tensorflow.strings import Strings, each
from wengert.dialects.tensorflow.table import offered
from wengert.engine.tensor import Tensor as Native

_ALL = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
_CAT = 0xC6A4A7935BD1E995


def _turn(x: int, by: int) -> int:
    """Return 64 bits, those to the right of `by` in front of the others."""
    x &= _ALL
    return ((x >> by) | (x << (64 - by))) & _ALL


def _fold(x: int) -> int:
    x &= _ALL
    return x ^ (x >> 47)


def _two(u: int, v: int, by: int) -> int:
    """Return the hash value of two numbers."""
    a = _fold((u ^ v) * by)
    return _fold((v ^ a) * by) * by & _ALL


class _Words:
    """The numbers of 8 bytes in a text, by the place of the first byte, from either end."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def __getitem__(self, place: int) -> int:
        place = place if place >= 0 else place + len(self._text)
        return int.from_bytes(self._text[place : place + 8], "little")

    def four(self, place: int, v: int, w: int) -> tuple[int, int]:
        """Return two numbers stirred with the four that follow a place."""
        first, second, third, last = (self[place + step] for step in (0, 8, 16, 24))
        v += first
        w = _turn(w + v + last, 21)
        whole = v + second + third
        return (whole + last) & _ALL, (w + _turn(whole, 44) + v) & _ALL


def fingerprint(text: bytes) -> int:
    """Return FarmHash's Fingerprint64 of a text."""
    n, at = len(text), _Words(text)
    if not n:
        return _K2
    by = _K2 + 2 * n
    if n < 4:
        y, z = text[0] + (text[n >> 1] << 8), n + (text[-1] << 2)
        return _fold(y * _K2 ^ z * _K0) * _K2 & _ALL
    if n < 8:
        first, last = (int.from_bytes(part, "little") for part in (text[:4], text[-4:]))
        return _two(n + (first << 3), last, by)
    if n <= 16:
        a, b = at[0] + _K2, at[-8]
        return _two((_turn(b, 37) * by + a) & _ALL, (_turn(a, 25) + b) * by & _ALL, by)
    if n > 64:
        return _long(n, at)
    a, b = at[0] * (_K1 if n <= 32 else _K2), at[8]
    c, d = at[-8] * by, at[-16] * _K2
    y = (_turn(a + b, 43) + _turn(c, 30) + d) & _ALL
    z = _two(y, (a + _turn(b + _K2, 18) + c) & _ALL, by)
    if n <= 32:
        return z
    e, f, g, h = at[16] * by, at[24], (y + at[-32]) * by, (z + at[-24]) * by
    return _two((_turn(e + f, 43) + _turn(g, 30) + h) & _ALL, (e + _turn(f + a, 18) + g) & _ALL, by)


def _long(n: int, at: _Words) -> int:
    """Return the fingerprint of a text of more than 64 bytes, which are read 64 by 64."""
    x, y = 81 * _K2 + at[0], 81 * _K1 + 113
    z, v, w = _fold(y * _K2 + 113) * _K2, (0, 0), (0, 0)

    def step(s: int, by: int, last: bool = False) -> tuple[Any, ...]:
        nine = 9 if last else 1
        new_x = _turn(x + y + v[0] + at[s + 8], 37) * by & _ALL
        new_y = _turn(y + v[1] + at[s + 48], 42) * by
        new_x ^= w[1] * nine & _ALL
        new_y += v[0] * nine + at[s + 40]
        new_z = _turn(z + w[0], 33) * by
        new_v = at.four(s, v[1] * by, new_x + w[0])
        new_w = at.four(s + 32, new_z + w[1], new_y + at[s + 16])
        return new_z & _ALL, new_y & _ALL, new_x, new_v, new_w

    for s in range(0, (n - 1) // 64 * 64, 64):
        x, y, z, v, w = step(s, _K1)
    by = _K1 + ((z & 0xFF) << 1)
    w = (w[0] + ((n - 1) & 63), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x, y, z, v, w = step(n - 64, by, last=True)
    one = _two(v[0], w[0], by) + _fold(y) * _K0 + z
    return _two(one & _ALL, (_two(v[1], w[1], by) + x) & _ALL, by)


def joined(one: int, other: int) -> int:
    """Return the fingerprint of two fingerprints, in their order."""
    found = (one ^ _CAT ^ _fold(other * _CAT) * _CAT) * _CAT
    return _fold(_fold(found) * _CAT)


@offered("strings.to_hash_bucket_fast", raises=(TypeError, ValueError))
def to_hash_bucket_fast(input: Strings, num_buckets: Count) -> Native:
    """Return the fingerprint of each string, modulo the number of buckets."""
    if num_buckets < 1:
        raise invalid(f"num_buckets is {num_buckets}; give 1 or more")
    return each(lambda text: fingerprint(text) % num_buckets, input, np.int64)
