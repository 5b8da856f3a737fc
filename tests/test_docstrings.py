"""Every public callable of the native namespaces says what it returns, with an example that runs.

An example is a session with ``>>>``, or a call and its value in one sentence: "`wg.exp(0.0)` is
`1.0`." Numbers agree to four digits.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests import printed

NAMESPACES = ["", ".dask", ".fft", ".linalg", ".nn", ".optim", ".random", ".sparse", ".special"]
#: What cannot run where tests do: it needs IPOPT.
WITHOUT_EXAMPLE = ["wg.optim.minimize_ipopt"]
PAIR = re.compile(r"`([^`]*\bwg\.[^`]*)` is\s+`([^`]+)`")


def callables() -> Iterator[tuple[str, Any]]:
    """Return the name and the object of each; an exception's sentence is all there is to say."""
    for namespace in NAMESPACES:
        module = importlib.import_module(f"wengert{namespace}")
        for name in module.__all__:
            value = getattr(module, name)
            is_error = isinstance(value, type) and issubclass(value, Exception)
            if callable(value) and not is_error:
                yield f"wg{namespace}.{name}", value


def pairs(text: str) -> list[tuple[str, str]]:
    """Return the calls of a docstring, each with its value."""
    return [(" ".join(call.split()), " ".join(value.split())) for call, value in PAIR.findall(text)]


DOCUMENTED = {name: inspect.getdoc(value) or "" for name, value in callables()}


def check(call: str, value: str) -> None:
    """Raise unless a call has a value."""
    got, expected = (eval(text, {"wg": wg, "np": np}) for text in (call, value))
    if isinstance(expected, (str, bool, dict)):
        assert got == expected, f"{call} is {got!r}, not {value}"
    elif isinstance(expected, tuple):
        assert len(got) == len(expected), call
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-12, err_msg=call)
    else:
        assert np.shape(got) == np.shape(expected), f"{call} has the shape {np.shape(got)}"
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-12, err_msg=call)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_it_says_what_it_returns(name):
    first = DOCUMENTED[name].partition("\n")[0]
    assert len(first) > 10 and re.search(r"[.`]$", first), first


def test_examples_are_there():
    missing = [n for n, text in DOCUMENTED.items() if not (">>>" in text or pairs(text))]
    assert missing == WITHOUT_EXAMPLE


@pytest.mark.parametrize("name", [n for n, text in DOCUMENTED.items() if pairs(text)])
def test_calls_have_the_values_they_say(name):
    last = name.rpartition(".")[2]
    found = pairs(DOCUMENTED[name])
    assert any(re.search(rf"\b{last}\b", call) for call, _ in found), f"no example calls {name}"
    for call, value in found:
        check(call, value)


@pytest.mark.parametrize("name", [n for n, text in DOCUMENTED.items() if ">>>" in text])
def test_sessions_run(name):
    test = doctest.DocTestParser().get_doctest(
        DOCUMENTED[name], {"wg": wg, "np": np}, name, None, None
    )
    complaints: list[str] = []
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    doctest.DocTestRunner(printed.Checker(), optionflags=options, verbose=False).run(
        test, out=complaints.append
    )
    assert not complaints, "".join(complaints)


def test_a_wrong_value_is_found():
    for call, value in [("wg.exp(0.0)", "1.1"), ("wg.exp([0.0])", "1.0"), ("(1, 2)", "(1, 3)")]:
        with pytest.raises(AssertionError):
            check(call, value)
