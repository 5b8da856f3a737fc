"""torch.histogram: bins by number, by edges and within a range, weights and densities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity


def x(torch: Any, kind: str = "float32") -> Any:
    return torch.tensor([1.0, 2.0, 3.0, 3.0], dtype=getattr(torch, kind))


def edges(torch: Any) -> Any:
    return torch.tensor([0.0, 1.5, 3.0])


CASES: dict[str, Callable[[Any], Any]] = {
    "default": lambda torch: torch.histogram(x(torch)),
    "number": lambda torch: torch.histogram(x(torch), 4),
    "method": lambda torch: x(torch).histogram(bins=3),
    "double": lambda torch: torch.histogram(x(torch, "float64"), 7),
    "range": lambda torch: torch.histogram(x(torch), 4, range=(0.0, 4.0)),
    "range_inside": lambda torch: torch.histogram(x(torch), 4, range=(1.5, 2.5)),
    "empty_range": lambda torch: torch.histogram(x(torch), 4, range=(1.0, 1.0)),
    "edges": lambda torch: torch.histogram(x(torch), edges(torch)),
    "edges_by_name": lambda torch: torch.histogram(x(torch), bins=edges(torch)),
    "weight": lambda torch: torch.histogram(x(torch), 4, weight=x(torch)),
    "density": lambda torch: torch.histogram(x(torch), 4, density=True),
    "weighted_density": lambda torch: torch.histogram(
        x(torch), edges(torch), weight=x(torch), density=True
    ),
    "matrix": lambda torch: torch.histogram(x(torch).reshape(2, 2), 4),
    "one_value": lambda torch: torch.histogram(torch.ones(3), 4),
    "no_value": lambda torch: torch.histogram(torch.ones(0), 4),
    "nan_in_range": lambda torch: torch.histogram(
        torch.tensor([1.0, float("nan")]), 4, range=(0.0, 2.0)
    ),
    "fields": lambda torch: torch.histogram(x(torch), 4).bin_edges,
    "nan": lambda torch: torch.histogram(torch.tensor([1.0, float("nan")]), 4),
    "integers": lambda torch: torch.histogram(x(torch, "int64"), 4),
    "half": lambda torch: torch.histogram(x(torch, "float16"), 4),
    "no_bins": lambda torch: torch.histogram(x(torch), 0),
    "edges_and_range": lambda torch: torch.histogram(x(torch), edges(torch), range=(0.0, 1.0)),
    "edges_of_another_dtype": lambda torch: torch.histogram(x(torch, "float64"), edges(torch)),
    "edges_as_matrix": lambda torch: torch.histogram(x(torch), torch.ones(2, 2)),
    "weight_of_another_dtype": lambda torch: torch.histogram(
        x(torch), 4, weight=x(torch, "float64")
    ),
    "weight_of_another_shape": lambda torch: torch.histogram(x(torch), 4, weight=torch.ones(3)),
    "range_backwards": lambda torch: torch.histogram(x(torch), 4, range=(4.0, 0.0)),
}


@pytest.mark.parametrize("name", CASES)
def test_histogram(name: str) -> None:
    compare(CASES[name])
