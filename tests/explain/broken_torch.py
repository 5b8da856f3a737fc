"""Programs over PyTorch's names that have no gradient: one that is None, or an error."""

from __future__ import annotations

import numpy as np

import wengert.torch as torch
from tests.explain.program_table import Table
from wengert import Reason

TORCH = Table()
broken = TORCH.put


# -- None ------------------------------------------------------------------------------------------


@broken(Reason.UNRELATED)
def not_used():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y = (x * x).sum()  # here
    return torch.autograd.grad(y, w, allow_unused=True)


@broken(Reason.UNRELATED)
def the_second_of_two():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y = (x * x).sum()  # here
    return torch.autograd.grad(y, [x, w], allow_unused=True)


@broken(Reason.DETACHED)
def one_of_two_is_detached():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    hidden = (w * 2).detach()  # here
    y = (x * hidden).sum()
    return torch.autograd.grad(y, w, allow_unused=True)


@broken(Reason.DETACHED)
def the_data_of_one():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y = (x * w.data).sum()  # here
    return torch.autograd.grad(y, w, allow_unused=True)


@broken(Reason.PAUSED)
def one_of_two_without_grad():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with torch.no_grad():
        hidden = w * 2  # here
    y = (x * hidden).sum()
    return torch.autograd.grad(y, w, allow_unused=True)


@broken(Reason.CONVERTED)
def the_item_of_one():
    x, w = torch.ones(2, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    scale = w.item()  # here
    y = (x * scale).sum()
    return torch.autograd.grad(y, w, allow_unused=True)


@broken(Reason.DETACHED)
def detached_for_numpy():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    values = w.detach().numpy()  # here
    y = (x * torch.tensor(np.exp(values))).sum()
    return torch.autograd.grad(y, w, allow_unused=True)


@broken(Reason.CONVERTED)
def numpy_by_force():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    values = w.numpy(force=True)  # here
    y = (x * torch.tensor(np.exp(values))).sum()
    return torch.autograd.grad(y, w, allow_unused=True)


@broken(Reason.INTEGER)
def one_as_integers():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    steps = w.long()  # here
    y = (x * steps).sum()
    return torch.autograd.grad(y, w, allow_unused=True)


@broken(Reason.ZERO_DERIVATIVE)
def a_mask():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    mask = w > 0  # here
    y = (x * mask).sum()
    return torch.autograd.grad(y, w, allow_unused=True)


@broken(Reason.ZERO_DERIVATIVE)
def an_index():
    x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    best = w.argmax()  # here
    y = x[best] * 2
    return torch.autograd.grad(y, w, allow_unused=True)


@broken(Reason.SWAPPED)
def swapped():
    x = torch.ones(2, requires_grad=True)
    hidden = x * 2
    y = hidden.sum()  # here
    return torch.autograd.grad(hidden, y, torch.ones(2), allow_unused=True)


@broken(Reason.CUSTOM_NONE)
def a_function_whose_backward_answers_none():
    class Silent(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, g):
            return g, None

    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y = Silent.apply(x, w).sum()  # here
    return torch.autograd.grad(y, w, allow_unused=True)


# -- errors ----------------------------------------------------------------------------------------


@broken(Reason.DETACHED)
def backward_of_what_is_detached():
    x = torch.ones(2, requires_grad=True)
    hidden = (x * 2).detach()  # here
    y = hidden.sum()
    y.backward()


@broken(Reason.DETACHED)
def backward_of_data():
    x = torch.ones(2, requires_grad=True)
    y = (x.data * 2).sum()  # here
    y.backward()


@broken(Reason.PAUSED)
def backward_of_what_was_computed_without_grad():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        y = (x * 2).sum()  # here
    y.backward()


@broken(Reason.PAUSED)
def backward_through_a_decorated_function():
    @torch.no_grad()
    def features(p):
        return p * 2  # here

    x = torch.ones(2, requires_grad=True)
    y = features(x).sum()
    y.backward()


@broken(Reason.ZERO_DERIVATIVE)
def backward_of_an_argmax():
    x = torch.ones(3, requires_grad=True)
    best = torch.argmax(x)  # here
    y = best.float() * 2
    y.backward()


@broken(Reason.INTEGER)
def backward_of_integers():
    x = torch.ones(3, requires_grad=True)
    steps = x.int()  # here
    y = steps.float().sum()
    y.backward()


@broken(Reason.ZERO_DERIVATIVE)
def backward_of_an_accuracy():
    logits, labels = torch.ones(3, 2, requires_grad=True), torch.zeros(3)
    right = logits.argmax(1) == labels  # here
    y = right.float().mean()
    y.backward()


@broken(Reason.CONVERTED)
def backward_of_a_number_made_a_tensor():
    x = torch.ones(2, requires_grad=True)
    loss = (x * x).sum().item()  # here
    y = torch.tensor(loss)
    y.backward()


@broken(Reason.CONVERTED)
def backward_through_tolist():
    x = torch.ones(2, requires_grad=True)
    numbers = (x * 2).tolist()  # here
    y = torch.tensor(numbers).sum()
    y.backward()


@broken(Reason.NOT_WATCHED)
def backward_of_plain_tensors():
    x = torch.ones(2)
    y = (x * x).sum()  # here
    y.backward()


@broken(Reason.DETACHED)
def backward_in_a_module():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(2))

        def forward(self, x):
            hidden = x * self.w
            return hidden.detach() * 2  # here

    y = Net()(torch.ones(2)).sum()
    y.backward()


@broken(Reason.ZERO_DERIVATIVE)
def backward_of_a_comparison_in_a_loop():
    x = torch.ones(3, requires_grad=True)
    total = torch.tensor(0.0)
    for i in range(3):
        total = total + (x[i] > 0)  # here
    total.backward()
