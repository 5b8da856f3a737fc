"""Habits of other libraries: each works, or is answered with what to write."""

import functools
import inspect
import pickle
import re

import numpy as np
import pytest

import wengert as wg
from wengert.other_names import ARGUMENTS, ATTRIBUTES

X = wg.asarray([[1.0, 2.0], [3.0, 4.0]])


# -- arguments -----------------------------------------------------------------------------------

REDUCTIONS = [
    "all", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "median", "min", "prod",
    "std", "sum", "var",
]  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_answer_for_dim_and_keepdim(name):
    function = getattr(wg, name)
    with pytest.raises(TypeError, match=rf"^{name}: got dim=1; write axis=1$"):
        function(X, dim=1)
    with pytest.raises(TypeError, match=rf"^{name}: got keepdim=True; write keepdims=True$"):
        function(X, axis=0, keepdim=True)
    with pytest.raises(TypeError, match=rf"^{name}: got nothing_like_this=3; it takes axis, "):
        function(X, nothing_like_this=3)
    # the first argument of several that has an answer
    with pytest.raises(TypeError, match="write axis=0"):
        function(X, else_=3, dim=0)


def test_every_public_reduction_answers():
    found = {
        name
        for name in wg.__all__
        if callable(f := getattr(wg, name)) and not isinstance(f, type)
        if "keepdims" in _parameters(f) and "q" not in _parameters(f)
    }
    assert found == set(REDUCTIONS)


def _parameters(function):
    try:
        return inspect.signature(function).parameters
    except ValueError:
        return {}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_their_signatures_are_the_standards(name):
    parameters = inspect.signature(getattr(wg, name)).parameters.values()
    assert not [p for p in parameters if p.kind is p.VAR_KEYWORD]


@pytest.mark.parametrize(
    "call",
    [
        lambda: wg.quantile(X, 0.5, dim=1),
        lambda: wg.percentile(X, 50, dim=1),
        lambda: wg.concat([X, X], dim=1),
        lambda: wg.stack([X, X], dim=1),
        lambda: wg.nn.softmax(X, dim=1),
        lambda: wg.nn.log_softmax(X, dim=1),
        lambda: wg.special.logsumexp(X, dim=1),
        lambda: wg.linalg.norm(X, dim=1),
        lambda: X.sum(dim=1),
        lambda: X.max(dim=1),
    ],
)
def test_other_functions_and_methods_answer_for_dim(call):
    with pytest.raises(TypeError, match=r"^\w+: got dim=1; (write axis=1|it takes axis)"):
        call()


def test_moments_answer_for_their_correction():
    with pytest.raises(TypeError, match="unbiased=True; write correction=1 or correction=0"):
        wg.var(X, unbiased=True)
    with pytest.raises(TypeError, match="ddof=1; write correction=1"):
        wg.std(X, ddof=1)
    with pytest.raises(TypeError, match="ddof=1; it takes axis"):
        wg.mean(X, ddof=1)
    assert X.std(ddof=1) == pytest.approx(np.std(X.numpy(), ddof=1))  # NumPy's own method has it


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_optimisers_answer_for_lr(name):
    make = getattr(wg.optim, name)
    with pytest.raises(TypeError, match=rf"^{name}: got lr=0.1; write learning_rate=0.1$"):
        make(lr=0.1)
    with pytest.raises(TypeError, match=rf"^{name}: got params=3; it takes learning_rate, "):
        make(learning_rate=0.1, params=3)
    assert make(learning_rate=0.1) == make(0.1) == pickle.loads(pickle.dumps(make(0.1)))


def test_adam_answers_for_the_names_of_its_averages():
    with pytest.raises(TypeError, match=r"betas=\(0.9, 0.99\); write beta1= and beta2="):
        wg.optim.Adam(betas=(0.9, 0.99))
    with pytest.raises(TypeError, match="beta_1=0.5; write beta1=0.5"):
        wg.optim.Adam(beta_1=0.5)
    with pytest.raises(TypeError, match="rho=0.5; write decay=0.5"):
        wg.optim.RMSprop(rho=0.5)


def test_the_arguments_that_are_named_exist_somewhere():
    functions = [getattr(wg, name) for name in REDUCTIONS]
    functions += [getattr(wg.optim, name) for name in ("Adam", "RMSprop")]
    known = {name for f in functions for name in inspect.signature(f).parameters}
    assert {n for text in ARGUMENTS.values() for n in re.findall(r"\w+(?==)|^\w+$", text)} <= known
    assert not ARGUMENTS.keys() & known


# -- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("no_grad", "tape.stop_recording()"),
        ("jacrev", "wg.jacobian(f, mode='reverse')"),
        ("jacfwd", "wg.jacobian(f, mode='forward')"),
        ("Parameter", "wg.Variable"),
    ],
)
def test_names_of_the_namespace(name, instead):
    with pytest.raises(AttributeError, match=re.escape(instead)):
        getattr(wg, name)


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_of_tensors(name):
    for owner in (X, wg.Variable(X), wg.Tensor):
        assert not hasattr(owner, name)
        with pytest.raises(AttributeError, match=re.escape(ATTRIBUTES[name])) as error:
            getattr(owner, name)
        assert error.value.name == name
    assert getattr(X, name, None) is None
    assert name not in dir(X)
    for known in re.findall(r"wg\.([\w.]+)", ATTRIBUTES[name]):
        assert functools.reduce(getattr, known.split("."), wg)
    for known in re.findall(r"\bx\.(\w+)", ATTRIBUTES[name]):
        assert hasattr(X, known)
    for known in re.findall(r"\btape\.(\w+)", ATTRIBUTES[name]):
        assert hasattr(wg.GradientTape, known)


def test_what_tensors_have_stays():
    assert {"numpy", "item", "tolist", "sum", "reshape", "shape", "T", "at"} <= {*dir(X)}
    assert X.numpy().tolist() == [[1, 2], [3, 4]] and X[0, 0].item() == 1.0
    with pytest.raises(AttributeError, match="no attribute 'nothing_like_this'$"):
        X.nothing_like_this  # noqa: B018


def test_the_answers_do_what_was_wanted():
    x = wg.asarray([1.0, 2.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            c = wg.exp(x)
        y = wg.sum(x * c + wg.stop_gradient(x))
    np.testing.assert_allclose(tape.gradient(y, x), np.exp([1.0, 2.0]))


# -- transforms ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "jacobian", "hessian"])
@pytest.mark.parametrize("given", [X, np.ones(3), 1.0, (0, X), None, "x"], ids=type)
def test_an_array_where_a_position_belongs(name, given):
    with pytest.raises(TypeError, match=rf"(?s){name}: argnums=.*write wg.{name}\(f\)\(x\)$"):
        getattr(wg, name)(wg.sum, given)


def test_positions_are_still_taken():
    def product(x, y):
        return wg.sum(x * y)

    assert wg.grad(product, 1)(2.0, 3.0) == 2.0
    assert wg.grad(product, [0, 1])(2.0, 3.0) == wg.grad(product, range(2))(2.0, 3.0) == (3.0, 2.0)


# -- formats -------------------------------------------------------------------------------------


def test_a_vector_takes_a_format():
    assert f"{wg.asarray([1.0, 2.25]):.2f}" == "[1.00, 2.25]"
    assert f"{X:.1e}" == "[[1.0e+00, 2.0e+00],\n [3.0e+00, 4.0e+00]]"
    assert f"{wg.asarray([1, 20]):4d}" == "[   1,   20]"
    assert f"{wg.Variable([0.5, 1.0]):.1%}" == "[50.0%, 100.0%]"
    assert f"{wg.asarray(2.0):.3f}" == f"{wg.asarray([2.0]):.3f}" == "2.000"
    assert f"{X}" == str(X)
    assert f"{wg.zeros(1000):.0f}".count(",") < 20  # as str does
    with pytest.raises(ValueError, match="format code 'd'"):
        f"{X:d}"


# -- variables -----------------------------------------------------------------------------------


def test_operators_that_assign_change_the_variable():
    v = same = wg.Variable([1.0, 2.0], name="v")
    v -= 0.5
    v += wg.asarray([1.0, 1.0])
    v *= np.array([2.0, 3.0])
    v /= 2
    v **= 2
    assert v is same and v.numpy().tolist() == [2.25, 14.0625]
    v //= 1
    v %= 5
    assert v.numpy().tolist() == [2.0, 4.0]
    m = wg.Variable(np.eye(2))
    m @= np.array([[0.0, 1.0], [1.0, 0.0]])
    assert m.numpy().tolist() == [[0, 1], [1, 0]]
    n = wg.Variable([6])
    n |= 1
    n &= 5
    n ^= 1
    n <<= 2
    n >>= 1
    assert n.numpy().tolist() == [8]


def test_descent_with_an_operator_that_assigns():
    w = wg.Variable([1.0, -2.0])
    for _ in range(100):
        with wg.GradientTape() as tape:
            loss = wg.sum((w - 3.0) ** 2)
        w -= 0.1 * tape.gradient(loss, w)
    np.testing.assert_allclose(w.numpy(), [3.0, 3.0], atol=1e-6)


def test_a_tape_that_would_lose_the_history_refuses():
    v = wg.Variable([1.0, 2.0], name="weights")
    with wg.GradientTape() as tape, pytest.raises(wg.TapeError, match=r"'weights'.*v.assign\(v \+"):
        v += 1.0
    assert v.numpy().tolist() == [1.0, 2.0]
    with wg.GradientTape() as tape:
        y = v + 1.0  # what it says to write
        z = wg.sum(y * y)
    assert tape.gradient(z, v).tolist() == [4.0, 6.0]

    def loss(x):
        total = v
        total += x
        return wg.sum(total)

    with pytest.raises(wg.TapeError, match=r"y = v \+ "):
        wg.grad(loss)(np.ones(2))


def test_a_counter_counts_under_a_tape():
    count = wg.Variable(0)
    with wg.GradientTape():
        count += 1
    assert count.numpy() == 1


def test_shapes_and_dtypes_of_a_variable_stay():
    v = wg.Variable([1.0, 2.0])
    with pytest.raises(wg.ShapeError, match="assign"):
        v += np.ones((3, 2))
    with pytest.raises(TypeError):
        v += "text"
    n = wg.Variable([1, 2])
    with pytest.raises(wg.DtypeError):
        n += 0.5


def test_a_dialects_variable_does_what_its_library_does():
    v = wg.tensorflow.Variable([7.0])
    before = v
    v //= 2
    assert v is not before and before.numpy().tolist() == [7.0] and v.numpy().tolist() == [3.0]
