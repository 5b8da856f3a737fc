"""Common dtypes of all pairs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity


def test_common_dtypes_of_all_pairs_agree() -> None:
    kinds = [
        "float16",
        "float32",
        "float64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "complex64",
        "complex128",
        "bool",
    ]

    def program(torch: Any) -> Any:
        found = []
        for first in kinds:
            for second in kinds:
                a, b = getattr(torch, first), getattr(torch, second)
                found.append(torch.promote_types(a, b))
                for shapes in (((), ()), ((), (2,)), ((2,), ()), ((2,), (2,))):
                    one, two = torch.zeros(shapes[0], dtype=a), torch.zeros(shapes[1], dtype=b)
                    kind = str(torch.result_type(one, two))
                    found.append(kind.replace("complex32", "complex64"))  # NumPy has no such
            for number in (True, 1, 1.0, 1j):
                kind = str(torch.result_type(torch.zeros(2, dtype=getattr(torch, first)), number))
                found.append(kind.replace("complex32", "complex64"))
        return [str(f) for f in found]

    compare(program)
