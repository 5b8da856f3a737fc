"""Derivatives that are right here and wrong in TensorFlow, which is not followed there."""

import numpy as np
import pytest

import wengert.tensorflow as ours


@pytest.mark.parametrize("of", ["custom_gradient", "recompute_grad"])
def test_a_variable_within_an_accumulator_has_its_gradient(of: str) -> None:
    """TensorFlow's is None if the variable itself is the argument, and not if its value is."""
    v = ours.Variable(0.5)
    rules = {
        "custom_gradient": lambda a: (ours.exp(a), lambda d: 3.0 * d * ours.exp(a)),
        "recompute_grad": lambda a: 3.0 * ours.exp(a),
    }
    with ours.GradientTape() as tape, ours.autodiff.ForwardAccumulator(v, 1.0) as forward:
        y = getattr(ours, of)(rules[of])(v)
    np.testing.assert_allclose(tape.gradient(y, v), 3.0 * np.exp(0.5), rtol=1e-6)
    np.testing.assert_allclose(forward.jvp(y), 3.0 * np.exp(0.5), rtol=1e-6)


@pytest.mark.parametrize("name", ["reduce_prod", "cumprod"])
def test_second_derivatives_of_complex_products(name: str) -> None:
    """TensorFlow's are others than those of the same product written out, and of differences."""
    found = []
    for written_out in (False, True):
        x = ours.constant([0.559, 0.287, -0.905], ours.float64)
        with ours.GradientTape() as outer:
            outer.watch(x)
            with ours.GradientTape() as tape:
                tape.watch(x)
                a = ours.complex(x, x * x * [0.3, -0.7, 1.1])
                product = a[0] * a[1] * a[2] if written_out else getattr(ours.math, name)(a)
                if name == "cumprod":
                    product = product + a[0] + a[0] * a[1] if written_out else sum(product)
                y = ours.math.real(product) + 2.0 * ours.math.imag(product)
            first = tape.gradient(y, x)
            total = ours.reduce_sum(ours.sin(first))
        found.append((first, outer.gradient(total, x)))
    np.testing.assert_allclose(*found, rtol=1e-12)


def test_a_variable_assigned_after_a_function_that_is_computed_again() -> None:
    """TensorFlow computes again from the new value, so that its gradient is of another point."""
    v = ours.Variable(0.5)
    with ours.GradientTape() as tape:
        y = ours.recompute_grad(lambda a: ours.sin(a) * a)(v)
        v.assign(2.0)
    np.testing.assert_allclose(tape.gradient(y, v), np.sin(0.5) + 0.5 * np.cos(0.5), rtol=1e-6)
