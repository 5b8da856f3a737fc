"""torch.distributions: samples, log-densities and their derivatives, as PyTorch has them."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from tests.dialects.torch.parity import compare
from wengert import torch as ours

pytestmark = pytest.mark.parity


def _categorical(torch: Any, name: str, **options: Any) -> Any:
    x = torch.tensor([[0.2, 1.5, 0.1], [2.0, 0.0, 0.4]], dtype=torch.float64, requires_grad=True)
    return torch.distributions.Categorical(**{name: x}, **options), [x]


def _derivatives(torch: Any, value: Any, parameters: list[Any]) -> Any:
    """Return a value with its derivatives of both orders."""
    first = torch.autograd.grad(value.pow(2).sum(), parameters, create_graph=True)
    second = torch.autograd.grad(sum(f.pow(2).sum() for f in first), parameters)
    return value, first, second


def _shapes(made: Any) -> Any:
    return made.batch_shape, made.event_shape, made.has_rsample


def _samples(torch: Any, made: Any) -> Any:
    torch.manual_seed(3)
    return made.sample(), made.sample((4,)), made.sample(torch.Size([2, 3])), made.sample((30,))


CATEGORICAL = {
    "log_prob": lambda torch, d: d.log_prob(torch.tensor([[1, 0], [0, 2], [2, 2]])),
    "of one": lambda torch, d: d.log_prob(torch.tensor(0)),
    "entropy": lambda torch, d: d.entropy(),
    "probs": lambda torch, d: d.probs,
    "logits": lambda torch, d: d.logits,
}


@pytest.mark.parametrize("given", ["probs", "logits"])
@pytest.mark.parametrize("name", CATEGORICAL)
def test_categorical(given: str, name: str) -> None:
    def program(torch: Any) -> Any:
        made, parameters = _categorical(torch, given)
        return _derivatives(torch, CATEGORICAL[name](torch, made), parameters)

    compare(program)


@pytest.mark.parametrize("given", ["probs", "logits"])
def test_samples_of_the_categorical_one(given: str) -> None:
    compare(lambda torch: _samples(torch, _categorical(torch, given)[0]))
    compare(lambda torch: _shapes(_categorical(torch, given)[0]))
    compare(lambda torch: _samples(torch, torch.distributions.Categorical(torch.ones(5))))


MISTAKES = {
    "both": lambda torch, d: d.Categorical(torch.ones(2), torch.ones(2)),
    "none": lambda torch, d: d.Categorical(),
    "no axis": lambda torch, d: d.Categorical(torch.tensor(1.0)),
    "negative": lambda torch, d: d.Categorical(torch.tensor([-1.0, 2.0])),
    "nan": lambda torch, d: d.Categorical(logits=torch.tensor([float("nan"), 2.0])),
    "outside": lambda torch, d: d.Categorical(torch.ones(2)).log_prob(torch.tensor(2)),
    "number": lambda torch, d: d.Categorical(torch.ones(2)).log_prob(1),
    "shape": lambda torch, d: d.Categorical(torch.ones(2, 3)).log_prob(torch.zeros(3)),
    "text": lambda torch, d: repr(d.Categorical(torch.ones(2, 3))),
    "no scale": lambda torch, d: d.Normal(torch.zeros(2), torch.tensor([1.0, 0.0])),
    "unchecked": lambda torch, d: d.Normal(torch.zeros(2), -1.0, validate_args=False).scale,
    "nan mean": lambda torch, d: d.Normal(float("nan"), 1.0),
    "a number's density": lambda torch, d: d.Normal(0.0, 1.0).log_prob(1.0),
    "no divergence": lambda torch, d: d.kl_divergence(
        d.Normal(0.0, 1.0), d.Categorical(torch.ones(2))
    ),
    "fraction": lambda torch, d: d.Categorical(torch.ones(2)).log_prob(torch.tensor(0.5)),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    def program(torch: Any) -> Any:
        if torch is not ours:  # where its compiler may have switched the checks off
            torch.distributions.Distribution.set_default_validate_args(True)
        return MISTAKES[name](torch, torch.distributions)

    compare(program)


def test_a_score_function_gradient() -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(0)
        weight = torch.zeros(4, 3, requires_grad=True)
        policy = torch.distributions.Categorical(logits=torch.randn(20, 4) @ weight)
        action = policy.sample()
        (-policy.log_prob(action) * action).sum().backward()
        return action, weight.grad

    compare(program)


def _normal(torch: Any, **options: Any) -> Any:
    loc = torch.tensor([[0.5, -1.0, 2.0]], dtype=torch.float64, requires_grad=True)
    scale = torch.tensor([[0.5], [2.0]], dtype=torch.float64, requires_grad=True)
    return torch.distributions.Normal(loc, scale, **options), [loc, scale]


NORMAL = {
    "log_prob": lambda torch, d: d.log_prob(torch.tensor([1.0, 2.0, -3.0], dtype=torch.float64)),
    "entropy": lambda torch, d: d.entropy() + 0 * d.loc,
    "moments": lambda torch, d: d.mean + d.stddev + d.variance,
    "divergence": lambda torch, d: torch.distributions.kl_divergence(
        d, torch.distributions.Normal(torch.zeros(3, dtype=torch.float64), 2.0)
    ),
    "drawn": lambda torch, d: (torch.manual_seed(4), d.rsample((2,)))[1],
}


@pytest.mark.parametrize("name", NORMAL)
def test_normal(name: str) -> None:
    def program(torch: Any) -> Any:
        made, parameters = _normal(torch)
        return _derivatives(torch, NORMAL[name](torch, made), parameters)

    compare(program)


def test_samples_of_the_normal_one() -> None:
    compare(lambda torch: _samples(torch, _normal(torch)[0]))
    compare(lambda torch: _shapes(_normal(torch)[0]))
    compare(lambda torch: _samples(torch, torch.distributions.Normal(0, 2)))
    compare(lambda torch: repr(_normal(torch)[0]))


def test_classes_and_divergences_of_a_program() -> None:
    def program(torch: Any) -> Any:
        d = torch.distributions

        class Shifted(d.Normal):
            arg_constraints: ClassVar = {"loc": d.constraints.real}

            @d.utils.lazy_property
            def twice(self) -> Any:
                return self.loc * 2

        class Other(d.MultivariateNormal):
            def __init__(self, loc: Any) -> None:
                self.loc = loc
                super(d.MultivariateNormal, self).__init__(loc.shape[:-1], loc.shape[-1:])

        d.register_kl(Shifted, d.Normal)(lambda p, q: p.loc - q.loc)
        plain, made = d.Normal(1.0, 2.0), Shifted(torch.ones(2), 1.0)
        other = Other(torch.ones(3, 2))
        return (
            d.kl_divergence(made, plain), d.kl.kl_divergence(plain, made), made.twice,
            other.batch_shape, other.event_shape, isinstance(other, d.Distribution),
        )  # fmt: skip

    compare(program)


def test_other_distributions_are_names_only() -> None:
    with pytest.raises(NotImplementedError, match="Poisson: only the name of this distribution"):
        ours.distributions.Poisson(ours.ones(2))
    with pytest.raises(AttributeError, match=r"distributions.Weibull is not offered: write its"):
        ours.distributions.Weibull  # noqa: B018
