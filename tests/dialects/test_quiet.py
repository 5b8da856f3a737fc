"""NumPy's warnings: a dialect gives none, and leaves those of the program as they are."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import wengert as wg
import wengert.torch as torch
from wengert.dialects import quiet

_IMPORT = """
import warnings
import numpy as np
before = list(warnings.filters), np.geterr()
import wengert.torch
assert (list(warnings.filters), np.geterr()) == before
"""


def test_an_import_changes_no_filter_and_no_setting_of_numpy():
    subprocess.run([sys.executable, "-c", _IMPORT], check=True)


def test_native_operations_warn_beside_a_dialect():
    assert torch.log(torch.zeros(1)).item() == -np.inf
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        wg.log(wg.zeros(1))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.log(np.zeros(1))


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: torch.log(x),
        lambda x: x.log(),
        lambda x: 1 / x,
        lambda x: x / x,
        lambda x: x.clone().log_(),
        lambda x: (x - 1e308) * 10,
        lambda x: torch.sum(torch.stack([x / 0, 1 / x])),
        lambda x: (1 / x + 1e308).prod(),
        lambda x: torch.log_softmax(1 / x, 0),
        lambda x: (1 / x).reshape(1, -1) @ x.reshape(-1, 1),
        lambda x: (1 / x).std(),
        lambda x: torch.nn.functional.normalize(1 / x, dim=0),
        lambda x: torch.func.vmap(torch.log)(x),
        lambda x: torch.func.grad(lambda v: v.log().sum())(x.detach()),
        lambda x: torch.pow(x, -1),
    ],
)
def test_a_dialect_does_not_warn(compute):
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    result = compute(x)
    if result.requires_grad:
        result.sum().backward()
        assert x.grad is not None
    assert not result.isfinite().all()


def test_steps_of_an_optimizer_do_not_warn():
    x = torch.tensor([3e38], requires_grad=True)
    optimizer = torch.optim.SGD([x], lr=1e30)
    x.grad = torch.tensor([-1e30])
    optimizer.step()
    assert x.item() == np.inf


def test_what_a_program_computes_in_functions_of_its_own_warns():
    def log_of_zero(*_):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            np.log(np.zeros(1))

    class Logarithm(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            log_of_zero()
            return x * 2

        @staticmethod
        def backward(ctx, g):
            log_of_zero()
            return g * 2

    x = torch.ones(1, requires_grad=True)
    y = Logarithm.apply(x)
    y.register_hook(log_of_zero)
    y.backward()
    torch.func.grad(lambda v: (log_of_zero(), v.sum())[1])(torch.ones(2))
    torch.func.vmap(lambda v: (log_of_zero(), v.sum())[1])(torch.ones(2, 2))
    assert x.grad.item() == 2


def test_a_program_that_asks_for_errors_gets_them():
    zero = torch.zeros(2)
    for settings in ({"all": "raise"}, {"divide": "raise"}):
        with np.errstate(**settings):
            with pytest.raises(FloatingPointError):
                torch.log(zero)
            with pytest.raises(FloatingPointError):
                torch.nn.functional.normalize(1 / zero)
    with np.errstate(divide="raise"):  # and nothing is said of what else there is
        assert (zero / zero).isnan().all()
        assert quiet.aloud(np.geterr)["invalid"] == "warn"
        with quiet.Quiet():
            assert np.geterr()["invalid"] == "ignore"
            assert quiet.aloud(np.geterr)["invalid"] == "warn"
            with quiet.Quiet():
                assert quiet.aloud(np.geterr)["invalid"] == "warn"
        assert np.geterr()["invalid"] == "warn"


def test_threads_compute_at_the_same_time():
    one = torch.zeros(1_000_000)
    found = []

    def compute():
        for _ in range(20):
            found.append(torch.log(one)[0].item())

    started = [threading.Thread(target=compute) for _ in range(4)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert found == [-np.inf] * 80


def test_a_function_that_is_called_within_another_does_not_warn():
    run, slowly = quiet.QUIETLY.run, quiet.QUIETLY.slowly
    with pytest.raises(RuntimeError):
        run(run, np.log, np.zeros(1))  # a context is entered once
    assert run(slowly, np.log, np.zeros(1)) == -np.inf
    assert run(lambda: torch.log(torch.zeros(1))).item() == -np.inf
