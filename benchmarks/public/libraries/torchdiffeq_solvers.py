"""Solutions of a linear equation and their gradients, with every solver of torchdiffeq."""

import torch
from torchdiffeq import odeint, odeint_adjoint, odeint_event

torch.manual_seed(0)


class Spiral(torch.nn.Module):
    """A linear field, with its matrix as parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.matrix = torch.nn.Parameter(torch.tensor([[-0.1, 2.0], [-2.0, -0.1]]).double())

    def forward(self, t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Return the field at a place."""
        return torch.tanh(y @ self.matrix) * torch.cos(t)


field = Spiral()
times = torch.linspace(0.0, 2.0, 7).double().requires_grad_()
for method in (
    "dopri8", "dopri5", "bosh3", "fehlberg2", "euler", "midpoint", "heun3", "rk4",
    "explicit_adams", "implicit_adams",
):  # fmt: skip
    for solve in (odeint, odeint_adjoint):
        start = torch.tensor([[2.0, 0.5]]).double().requires_grad_()
        field.zero_grad()
        times.grad = None
        path = solve(field, start, times, method=method)
        path.pow(2).sum().backward()
        print(method, path.sum().item(), start.grad.tolist(), field.matrix.grad.tolist())
        print(times.grad.tolist())


def crossing(t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return what is 0 at the event."""
    return y[0, 0] - 1.5


when, state = odeint_event(
    field, start, torch.tensor(0.0).double(), event_fn=crossing, method="dopri5"
)
print(when.item(), state[-1].tolist())
