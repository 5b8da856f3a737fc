"""Attributions by gradients of a small network, with the package captum."""

import torch
from captum import attr
from torch import nn

torch.manual_seed(0)


class Network(nn.Module):
    """Two convolutions, pooling and two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3)
        self.relu1 = nn.ReLU()
        self.pool = nn.MaxPool2d(2)
        self.conv2 = nn.Conv2d(4, 6, 3)
        self.relu2 = nn.ReLU()
        self.linear1 = nn.Linear(6 * 4 * 4, 10)
        self.relu3 = nn.ReLU()
        self.linear2 = nn.Linear(10, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return three scores for each picture."""
        x = self.pool(self.relu1(self.conv1(x)))
        x = self.relu2(self.conv2(x)).flatten(1)
        return self.linear2(self.relu3(self.linear1(x)))


network = Network().eval()
x = torch.randn(2, 1, 14, 14, requires_grad=True)
base = torch.zeros(2, 1, 14, 14)
target = torch.tensor([0, 2])


def show(name: str, found: torch.Tensor) -> None:
    """Print what tells one answer from another."""
    print(name, tuple(found.shape), found.sum().item(), found.abs().max().item())


gradient = attr.IntegratedGradients(network)
found, delta = gradient.attribute(x, base, target=target, n_steps=20, return_convergence_delta=True)
show("integrated gradients", found)
show("its error", delta)
for method in ("riemann_trapezoid", "riemann_left", "gausslegendre"):
    show(method, gradient.attribute(x, target=1, n_steps=8, method=method, internal_batch_size=4))
show("saliency", attr.Saliency(network).attribute(x, target=target))
show("signed saliency", attr.Saliency(network).attribute(x, target=1, abs=False))
show("input times gradient", attr.InputXGradient(network).attribute(x, target=target))
show("deconvolution", attr.Deconvolution(network).attribute(x, target=target))
show("guided backpropagation", attr.GuidedBackprop(network).attribute(x, target=target))
show("guided GradCAM", attr.GuidedGradCam(network, network.conv2).attribute(x, target=target))
found, delta = attr.DeepLift(network).attribute(
    x, base, target=target, return_convergence_delta=True
)
show("DeepLift", found)
show("its error", delta)
several = torch.randn(5, 1, 14, 14)
show("DeepLiftShap", attr.DeepLiftShap(network).attribute(x, several, target=target))
torch.manual_seed(1)
show("GradientShap", attr.GradientShap(network).attribute(x, several, n_samples=6, target=target))
torch.manual_seed(2)
tunnel = attr.NoiseTunnel(attr.Saliency(network))
show("noise tunnel", tunnel.attribute(x, nt_samples=4, nt_type="smoothgrad_sq", target=target))
show("LRP", attr.LRP(network).attribute(x, target=target))
show("layer activation", attr.LayerActivation(network, network.conv1).attribute(x))
show("GradCAM", attr.LayerGradCam(network, network.conv2).attribute(x, target=target))
show(
    "layer conductance",
    attr.LayerConductance(network, network.conv2).attribute(x, base, target=target, n_steps=10),
)
show(
    "layer integrated gradients",
    attr.LayerIntegratedGradients(network, network.linear1).attribute(
        x, base, target=target, n_steps=10
    ),
)
show(
    "layer gradient times activation",
    attr.LayerGradientXActivation(network, network.linear1).attribute(x, target=target),
)
show("neuron gradient", attr.NeuronGradient(network, network.linear1).attribute(x, (3,)))
show(
    "internal influence",
    attr.InternalInfluence(network, network.conv2).attribute(x, base, target=target, n_steps=10),
)
show("occlusion", attr.Occlusion(network).attribute(x, (1, 7, 7), strides=7, target=target))
show("feature ablation", attr.FeatureAblation(network).attribute(x[:1, :, :, :], target=1))
