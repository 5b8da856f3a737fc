"""Modules that are made from the signature of a function."""

from __future__ import annotations

import copy
import inspect
import pickle
import traceback
import typing

import pytest

import wengert.torch as torch
from wengert.dialects.torch.nn.layers.calls import Call
from wengert.dialects.torch.table import NAMES

nn = torch.nn


def calls() -> list[type]:
    nn.ReLU  # noqa: B018  which loads them
    return [
        value
        for name, value in NAMES.items()
        if name.startswith("nn.") and name.count(".") == 1
        if isinstance(value, type) and issubclass(value, Call)
    ]


def test_the_constructor_has_the_defaults_of_the_function() -> None:
    assert str(inspect.signature(nn.LeakyReLU)) == (
        "(negative_slope: 'float' = 0.01, inplace: 'bool' = False) -> 'None'"
    )
    assert list(inspect.signature(nn.MaxPool2d).parameters) == [
        "kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode",
    ]  # fmt: skip


def test_arguments_after_a_star_are_given_by_name() -> None:
    kinds = {p.kind for p in inspect.signature(nn.GaussianNLLLoss).parameters.values()}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}
    with pytest.raises(TypeError):
        nn.GaussianNLLLoss(True)


def test_a_lazy_layer_takes_what_its_counterpart_does_but_the_size() -> None:
    for name in ("Linear", "Conv1d", "Conv2d", "ConvTranspose3d", "BatchNorm2d"):
        _, *rest = inspect.signature(getattr(nn, name)).parameters.values()
        assert [*inspect.signature(getattr(nn, f"Lazy{name}")).parameters.values()] == rest


def test_forward_takes_what_the_module_does_not_hold() -> None:
    assert list(inspect.signature(nn.ReLU.forward).parameters) == ["self", "input"]
    assert list(inspect.signature(nn.CosineSimilarity.forward).parameters) == ["self", "x1", "x2"]
    unpool = inspect.signature(nn.MaxUnpool2d.forward)
    assert list(unpool.parameters) == ["self", "input", "indices", "output_size"]
    assert unpool.parameters["output_size"].default is None


def test_every_module_can_be_inspected() -> None:
    assert len(calls()) > 100
    for cls in calls():
        assert cls.__doc__
        typing.get_type_hints(cls.__init__)
        typing.get_type_hints(cls.forward)
        assert cls.__init__.__qualname__.endswith(".__init__")
        assert getattr(torch.nn, cls.__name__) is pickle.loads(pickle.dumps(cls))


def test_arguments_by_position_and_by_name_are_the_same() -> None:
    one, other = nn.MaxPool2d(3, 2, 1), nn.MaxPool2d(padding=1, stride=2, kernel_size=3)
    assert repr(one) == repr(other)
    x = torch.ones(1, 1, 6, 6)
    assert torch.equal(one(x), other(input=x))


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(TypeError, match=r"LeakyReLU\.__init__\(\) got an unexpected .*'slope'"):
        nn.LeakyReLU(slope=0.1)
    with pytest.raises(TypeError, match=r"ReLU\.forward\(\) takes 2 positional"):
        nn.ReLU()(torch.ones(2), True)


def test_copies_are_equal_and_apart() -> None:
    module = nn.CrossEntropyLoss(torch.ones(3), ignore_index=1)
    for twin in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert type(twin) is nn.CrossEntropyLoss
        assert twin.ignore_index == 1
        assert twin.weight is not module.weight
        assert torch.equal(twin.weight, module.weight)


def test_a_subclass_in_a_program_is_an_ordinary_class() -> None:
    class Scaled(nn.LeakyReLU):
        scale: float
        negative_slope: float = 0.5  # not an argument, since a program's class has a constructor

        def __init__(self, scale: float) -> None:
            super().__init__(0.25)
            self.scale = scale

        def forward(self, input: typing.Any) -> typing.Any:
            return super().forward(input) * self.scale

    module = Scaled(2.0)
    assert repr(module) == "Scaled(negative_slope=0.25)"
    assert module(torch.tensor([-4.0])).item() == -2.0


def test_a_mixin_after_a_layer_is_started_too() -> None:
    class Counted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count = 3

    class Both(nn.ReLU, Counted):
        pass

    assert Both(inplace=True).count == 3


def test_attributes_may_be_changed_later() -> None:
    module = nn.LeakyReLU()
    module.negative_slope = 0.5
    assert module(torch.tensor([-4.0])).item() == -2.0
    assert repr(module) == "LeakyReLU(negative_slope=0.5)"


def test_options_with_a_question_mark_are_printed_unless_usual() -> None:
    assert repr(nn.ReLU()) == "ReLU()"
    assert repr(nn.ReLU(True)) == "ReLU(inplace=True)"
    assert repr(nn.Embedding(4, 3, norm_type=1.0)) == "Embedding(4, 3, norm_type=1.0)"


def test_a_traceback_shows_what_was_called() -> None:
    try:
        nn.MSELoss()(torch.ones(2), "target")
    except TypeError as error:
        text = "".join(traceback.format_exception(error))
    assert "return call(input, target, reduction=self.reduction)" in text


def test_old_flags_warn_at_the_line_of_the_program() -> None:
    for make in (
        lambda: nn.L1Loss(size_average=False),
        lambda: nn.HingeEmbeddingLoss(size_average=False),
        lambda: nn.functional.l1_loss(torch.ones(1), torch.ones(1), size_average=False),
    ):
        with pytest.warns(UserWarning, match="reduction='sum'") as caught:
            make()
        assert [warning.filename for warning in caught] == [__file__]
