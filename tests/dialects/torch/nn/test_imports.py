"""The forms in which programs import torch.nn."""

from __future__ import annotations


def test_import_statements() -> None:
    code = """
import wengert.torch as torch
import wengert.torch.nn as nn
import wengert.torch.nn.functional as F
from wengert.torch import nn as other, optim
from wengert.torch.nn import Module, Linear
from wengert.torch.nn.modules.loss import _Loss
from wengert.torch.nn.parameter import Parameter
from wengert.torch.nn.utils import clip_grad_norm_
from wengert.torch.nn.utils.parametrizations import weight_norm
import wengert.torch.nn.init as init
assert nn is other and nn.Module is Module and F.relu is nn.functional.relu
assert isinstance(Linear(1, 1).weight, Parameter)
"""
    exec(code, {})
