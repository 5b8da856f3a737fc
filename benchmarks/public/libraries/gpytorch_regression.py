"""Exact Gaussian process regression, after gpytorch's first example."""

import math

import gpytorch
import torch

torch.manual_seed(0)
train_x = torch.linspace(0, 1, 60)
train_y = torch.sin(train_x * (2 * math.pi)) + torch.randn(train_x.size()) * math.sqrt(0.04)


class ExactGPModel(gpytorch.models.ExactGP):
    """A constant mean, and a scaled kernel."""

    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        """Return the prior at some places."""
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = ExactGPModel(train_x, train_y, likelihood)
model.train()
likelihood.train()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
for step in range(20):
    optimizer.zero_grad()
    loss = -marginal(model(train_x), train_y)
    loss.backward()
    length = model.covar_module.base_kernel.lengthscale.item()
    print(step, loss.item(), length, model.likelihood.noise.item())
    optimizer.step()
model.eval()
likelihood.eval()
with torch.no_grad(), gpytorch.settings.fast_pred_var():
    observed = likelihood(model(torch.linspace(0, 1, 11)))
    print(observed.mean.tolist())
    print([bound.tolist() for bound in observed.confidence_region()])
