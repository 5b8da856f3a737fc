"""Printed numbers may differ in the last place, and in nothing else."""

import pytest

from tests.printed import Checker, same


@pytest.mark.parametrize(
    ("got", "want"),
    [
        ("np.float64(0.6931471805599454)", "np.float64(0.6931471805599453)"),
        ("{'a': 1105.1709180756475, 'b': 2}", "{'a': 1105.1709180756477, 'b': 2}"),
        ("array([ 0.84147099, -1.        ])", "array([ 0.84147098, -1.        ])"),
        ("1.1051709180756475e-12", "1.1051709180756477e-12"),
        ("0.1  \n 0.2", "0.1\n0.2"),
    ],
)
def test_the_last_place_may_differ(got: str, want: str) -> None:
    assert same(got, want) and same(want, got)
    assert Checker().check_output(want, got, 0)


@pytest.mark.parametrize(
    ("got", "want"),
    [
        ("0.6931471805599465", "0.6931471805599453"),
        ("0.84147101", "0.84147098"),
        ("-0.84147098", "0.84147098"),
        ("0.5", "0.6"),  # few digits: rounded far from the last place
        ("1.000", "1.001"),
        ("1", "2"),
        ("[0.6931471805599453, 1.]", "[0.6931471805599453]"),
        ("float32(0.6931472)", "float64(0.6931472)"),
        ("nan", "0.6931471805599453"),
    ],
)
def test_nothing_else_may(got: str, want: str) -> None:
    assert not same(got, want)
    assert not Checker().check_output(want, got, 0)
