"""Tracers and classes that programs write themselves: the same results as HIPS autograd's."""

from __future__ import annotations

import threading
from typing import Any

import numpy as onp
import pytest
import wengert.autograd.numpy as np
from wengert.autograd.core import BoxedCall
from wengert.autograd.tracer import Node, getval, isbox, new_box, trace

import wengert as wg
import wengert.autograd as ag
from tests.dialects.autograd.parity import SPD, Library, M, X, compare
from tests.dialects.parity import Programs

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


def calls_of(L: Library, fun: Any, x: Any) -> Any:
    """Return a function's value, and each call it makes: name, value and positions of parents."""
    tracer, seen = L.module("tracer"), []

    class Seen(tracer.Node):
        def __init__(
            self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
        ) -> None:
            plain = onp.asarray(tracer.getval(value))
            seen.append((fun.__name__, plain, [float(n) for n in parent_argnums]))

        def initialize_root(self) -> None:
            seen.append(("start", 0.0, []))

    value, _ = tracer.trace(Seen.new_root(), fun, x)
    return value, seen


@program
def calls(L: Library) -> Any:
    np = L.np
    return [
        calls_of(L, lambda x: (np.sin(x) + np.exp(x) - 0.5) * x, 1.0),
        calls_of(L, lambda x: 2.0 / (1.0 - x**2) + X, X),
        calls_of(L, lambda x: np.sum(x[1:] * X[:2]), X),
        calls_of(L, lambda m: np.dot(np.linalg.inv(m.T), X), M),
        calls_of(L, lambda m: m.reshape(9).sum() + np.reshape(m, (9,))[2], M),
        calls_of(L, lambda x: onp.sin(x) * onp.float64(2.0), X),
        calls_of(L, lambda x: x * len(x) + x.ndim + np.shape(x)[0], X),
    ]


@program
def values_of_traces_of_derivatives(L: Library) -> Any:
    np = L.np

    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * x[0] + np.dot(M, x) ** 2)

    return [
        calls_of(L, operator(f), X)[0]
        for operator in (L.grad, L.jacobian, L.hessian, lambda f: L.grad(lambda x: L.grad(f)(x)[1]))
    ]


@program
def derivatives_through_boxes(L: Library) -> Any:
    """A trace around makes derivatives inside go by boxes, of any operator."""
    np = L.np

    def both(p: Any) -> Any:
        return np.sum(p["a"] ** 3) * p["b"][0] + np.concatenate([p["a"], X])[4]

    nest = {"a": X, "b": [2.0, SPD]}
    flatten = L.module("misc").flatten
    return [
        calls_of(L, lambda s: flatten(L.grad(both)(nest))[0] * s, 1.5)[0],
        calls_of(L, lambda s: L.make_jvp(lambda x: np.sin(x) * s)(X)(X)[1], 1.5)[0],
        calls_of(L, lambda s: L.value_and_grad(lambda x: np.sum(x**2 * s))(X)[1], 1.5)[0],
        calls_of(L, lambda s: L.grad(lambda z: np.real(z * np.conj(z) * s))(1 + 2j), 1.5)[0],
        calls_of(L, lambda s: L.elementwise_grad(lambda x: np.tanh(x * s))(X), 1.5)[0],
        L.grad(lambda x: calls_of(L, lambda y: np.sum(y * x**2), X)[0])(X),
        L.grad(lambda x: calls_of(L, lambda y: L.grad(lambda z: z**3 * x)(y), 2.0)[0])(3.0),
    ]


@program
def a_class_of_ones_own(L: Library) -> Any:
    extend = L.module("extend")

    class Polynomial:
        def __init__(self, terms: dict[int, Any]) -> None:
            self.terms = terms

        @extend.primitive
        def __call__(self, x: Any) -> Any:
            return sum(a * x**n for n, a in self.terms.items())

    extend.defvjp(
        Polynomial.__call__,
        lambda ans, p, x: lambda g: Polynomial({n: g * x**n for n in range(3)}),
    )

    class PolynomialBox(extend.Box, Polynomial):
        pass

    class PolynomialSpace(extend.VSpace):
        def zeros(self) -> Any:
            return Polynomial(dict.fromkeys(range(3), 0.0))

        def _add(self, p: Any, q: Any) -> Any:
            return Polynomial({n: p.terms[n] + q.terms[n] for n in range(3)})

        def _mut_add(self, p: Any, q: Any) -> Any:
            return self._add(p, q)

    PolynomialBox.register(Polynomial)
    PolynomialSpace.register(Polynomial)
    p = Polynomial({0: 1.0, 1: -2.0, 2: 0.5})
    gradient = L.grad(lambda p: L.np.sin(p(2.0)) * p(-1.0) + p(0.5) ** 2)(p)
    return type(gradient) is Polynomial, [gradient.terms[n] for n in range(3)]


class Named(Node):
    """A node that knows its function's name."""

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        self.name = fun.__name__

    def initialize_root(self) -> None:
        self.name = "start"


def test_what_does_not_depend_on_its_argument_is_said() -> None:
    with pytest.warns(wg.UnconnectedWarning):
        assert trace(Named.new_root(), lambda x: 3.0, 1.0) == (3.0, None)


def test_nodes_and_boxes_that_lack_something_say_what_to_write() -> None:
    with pytest.raises(NotImplementedError, match="initialize_root; write one"):
        Node.new_root()
    with pytest.raises(TypeError, match=r"MyBox\.register\(set\)"):
        new_box(set(), 0, Named.new_root())
    lacking = ag.extend.primitive(lambda x: x)
    with pytest.raises(NotImplementedError, match="write defvjp"):
        trace(Named.new_root(), ag.grad(lacking), 1.0)


def test_a_box_is_no_number() -> None:
    for convert in (float, int, onp.asarray):
        with pytest.raises(TypeError):
            trace(Named.new_root(), lambda x, convert=convert: convert(x) * x, 1.0)


def test_boxes_know_their_values() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.extend([isbox(x), getval(x), ag.isinstance(x, float), x > 0, x.shape, x.dtype])
        return x + 1

    assert trace(Named.new_root(), f, 2.0)[0] == 3.0
    assert seen == [True, 2.0, True, True, (), onp.float64]


def test_several_results_and_lists_of_boxes() -> None:
    value, node = trace(Named.new_root(), lambda x: (np.stack([x, x]), [x[0]]), X)
    assert value[0].shape == (2, 3) and value[1] == [0.3] and node.name == "container"


def test_a_trace_ends_with_an_error_too() -> None:
    with pytest.raises(ZeroDivisionError):
        trace(Named.new_root(), lambda x: 1 / 0, 1.0)
    assert type(ag.grad(lambda x: x**2)(2.0)) is onp.float64
    assert not isinstance(ag.make_vjp(np.sin)(1.0)[0].__self__, BoxedCall)


def test_traces_in_threads_do_not_meet() -> None:
    found: dict[int, Any] = {}

    def work(n: int) -> None:
        for _ in range(50):
            found[n] = trace(Named.new_root(), ag.grad(lambda x: np.sin(x) * n), 1.0)[0]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[n] for n in range(4)] == [n * onp.cos(1.0) for n in range(4)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
