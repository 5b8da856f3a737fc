"""Recurrent layers and cells: torch.nn.RNN, LSTM, GRU, RNNCell, LSTMCell, GRUCell."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from wengert.dialects.kernel.functions import warn
from wengert.dialects.torch.kinds import Input, TensorList
from wengert.dialects.torch.nn import init
from wengert.dialects.torch.nn.functional import dropped
from wengert.dialects.torch.nn.layers.calls import Call, offer, parameter
from wengert.dialects.torch.nn.sequences import PackedSequence
from wengert.dialects.torch.table import NAMES, guarded
from wengert.dialects.torch.tensors import ns
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops.neural import recurrent

#: What computes a layer in one direction, its gates, and its options, by PyTorch's mode.
_MODES: dict[str, tuple[Callable[..., Any], int, dict[str, str]]] = {
    "LSTM": (recurrent.lstm_rows, 4, {}),
    "GRU": (recurrent.gru_rows, 3, {}),
    "RNN_TANH": (recurrent.rnn_rows, 1, {"activation": "tanh"}),
    "RNN_RELU": (recurrent.rnn_rows, 1, {"activation": "relu"}),
}


def _weights(mode: str, given: list[Native], has_bias: bool) -> dict[str, Any]:
    """Return PyTorch's weights of a layer in one direction as Wengert names them."""
    weight_x, weight_h, *others = given
    bias_x, bias_h = others[:2] if has_bias else (None, None)
    found: dict[str, Any] = {"bias_x": bias_x, "bias_h": bias_h, **_MODES[mode][2]}
    if len(others) % 2:
        found["projection"] = ns.matrix_transpose(others[-1])
    turned = {"weight_x": ns.matrix_transpose(weight_x), "weight_h": ns.matrix_transpose(weight_h)}
    return found | turned


def _owned(x: Native) -> Native:
    """Return a result in memory of its own: programs may write to it, and derivatives read ours."""
    return wrap_native(x._raw.copy(), x._node) if type(x._raw) is np.ndarray else x


def _layers(
    input: Input, hidden: TensorList, weights: TensorList, mode: Any, has_bias: Any, count: Any,
    directions: Any, dropout: Any, sizes: Any,
) -> tuple[Native, ...]:  # fmt: skip
    """Return the hidden states of the last layer, and the last states of all layers."""
    rows, each = input, len(weights) // count
    if sizes is None:
        time, batch, width = input.shape
        rows, sizes = ns.reshape(input, (time * batch, width)), (batch,) * time
    parts = [_weights(mode, weights[k * each : (k + 1) * each], has_bias) for k in range(count)]
    rows, *ends = recurrent.stacked_rows(
        _MODES[mode][0], rows, hidden, parts, sizes=sizes, directions=directions,
        between=(lambda x: dropped(x, dropout)) if dropout else None,
    )  # fmt: skip
    if input.ndim == 3:
        rows = ns.reshape(rows, (time, batch, rows.shape[1]))
    return _owned(rows), *ends


def _step(
    input: Input, hidden: TensorList, weights: TensorList, mode: Any, has_bias: Any
) -> tuple[Native, ...]:
    """Return the states after one step."""
    given = _weights(mode, weights, has_bias)
    return tuple(map(_owned, _MODES[mode][0](input, hidden, **given, sizes=input.shape[:1])[1]))


_run_layers = guarded(_layers, "StackBackward0")
_run_step = guarded(_step, "AddBackward0")


class _Recurrent(Call):
    """What layers and cells share: a number of states, and how weights begin."""

    #: "h", and for LSTM "c" as well
    _states: ClassVar[int] = 1

    def reset_parameters(self) -> None:
        """Draw all parameters."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        """Return the sizes, and the options that are not the usual ones."""
        texts = [f"{self.input_size}, {self.hidden_size}"]
        for name, usual in self._usually.items():
            if getattr(self, name, usual) != usual:
                texts.append(f"{name}={getattr(self, name)}")
        return ", ".join(texts)

    _usually: ClassVar[dict[str, Any]] = {}

    def _as_given(self, states: list[Any]) -> Any:
        """Return the states as programs give and get them: for LSTM a pair."""
        return states[0] if self._states == 1 else tuple(states)

    def _read_states(self, hx: Any) -> list[Any]:
        if self._states == 1:
            if isinstance(hx, (tuple, list)):
                raise AttributeError("hx is a pair; give one tensor, as only LSTM has a cell")
            return [hx]
        if not isinstance(hx, (tuple, list)) or len(hx) != self._states:
            raise RuntimeError(f"hx is a {type(hx).__name__}; give a pair of tensors (h, c)")
        return list(hx)

    def _begin(self, hx: Any, input: Any, shapes: list[tuple[int, ...]]) -> list[Any]:
        """Return the states that are given, which must have some shapes, or zeros."""
        if hx is None:
            like: Any = {"dtype": input.dtype, "device": input.device}
            return [NAMES["zeros"](shape, **like) for shape in shapes]
        name, states = type(self).__name__, self._read_states(hx)
        for state, shape in zip(states, shapes, strict=True):
            if tuple(state.shape) != shape:
                raise RuntimeError(f"{name}: hx is {list(state.shape)}; give {list(shape)}")
            if state.dtype != input.dtype:
                raise RuntimeError(f"{name}: hx is {state.dtype} and the input {input.dtype}")
        return states


# -- layers ----------------------------------------------------------------------------------------

_OPTIONS = "num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False"
_LIKE = "device=None, dtype=None"


class RNNBase(_Recurrent, takes=f"mode, input_size, hidden_size, {_OPTIONS}, proj_size=0, {_LIKE}"):
    """What recurrent layers share: their parameters and their call."""

    _usually: ClassVar = {
        "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0,
        "bidirectional": False,
    }  # fmt: skip

    def _init_with(self, **options: Any) -> None:
        like = {"device": options.pop("device"), "dtype": options.pop("dtype")}
        options = {"proj_size": 0} | options
        if options["mode"] not in _MODES:
            raise ValueError(f"mode is {options['mode']!r}; give one of {', '.join(_MODES)}")
        _check_options(**options)
        super()._init_with(**options | {"dropout": float(options["dropout"])})
        gates, ways = _MODES[self.mode][1] * self.hidden_size, 2 if self.bidirectional else 1
        state = self.proj_size or self.hidden_size
        self._all_weights: list[list[str]] = []
        for k in range(self.num_layers * ways):
            inputs = self.input_size if k < ways else state * ways
            shapes: dict[str, tuple[int, ...]]
            shapes = {"weight_ih": (gates, inputs), "weight_hh": (gates, state)}
            if self.bias:
                shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
            if self.proj_size:
                shapes["weight_hr"] = (self.proj_size, self.hidden_size)
            suffix = f"_l{k // ways}{'_reverse' if k % ways else ''}"
            for name, shape in shapes.items():
                setattr(self, name + suffix, parameter(*shape, **like))
            self._all_weights.append([name + suffix for name in shapes])
        self.reset_parameters()

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Do nothing: it is for the memory of other devices."""

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return the hidden states of the last layer at all times, and the last states of all."""
        if isinstance(input, PackedSequence):
            data, sizes, order, back = input
            given = hx
            if hx is not None and order is not None:
                given = self._as_given([s.index_select(1, order) for s in self._read_states(hx)])
            found, *ends = self._run(data, given, tuple(sizes.tolist()))
            if back is not None:
                ends = [s.index_select(1, back) for s in ends]
            return PackedSequence(found, sizes, order, back), self._as_given(ends)
        if input.ndim not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: the input has {input.ndim} axes; give 3: time, batch, "
                "features, or 2 without a batch"
            )
        alone, axis = input.ndim == 2, 0 if self.batch_first else 1
        if hx is not None:
            states = self._read_states(hx)
            if any(s.ndim != input.ndim for s in states):
                raise RuntimeError(
                    f"{type(self).__name__}: the input has {input.ndim} axes, and hx "
                    f"{[s.ndim for s in states]}; give them as many"
                )
            hx = self._as_given([s.unsqueeze(1) for s in states]) if alone else hx
        x = input.unsqueeze(axis) if alone else input
        found, *ends = self._run(x.transpose(0, 1) if self.batch_first else x, hx, None)
        found = found.transpose(0, 1) if self.batch_first else found
        if alone:
            found, ends = found.squeeze(axis), [s.squeeze(1) for s in ends]
        return found, self._as_given(ends)

    def _run(self, input: Any, hx: Any, sizes: Any) -> Any:
        """Return the results for time, batch and features, or for packed rows."""
        weights, name = self._flat_weights, type(self).__name__
        if input.dtype != weights[0].dtype:
            raise ValueError(
                f"{name}: the input is {input.dtype} and the weights are {weights[0].dtype}; "
                f"write input.to({weights[0].dtype})"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"{name}: the input has {input.shape[-1]} features; it was made for "
                f"input_size={self.input_size}"
            )
        if not input.shape[0]:
            raise RuntimeError(f"{name}: the input has no steps; give one at least")
        count = len(self._all_weights)
        batch = input.shape[1] if sizes is None else sizes[0]
        widths = (self.proj_size or self.hidden_size, self.hidden_size)[: self._states]
        states = self._begin(hx, input, [(count, batch, n) for n in widths])
        chance = self.dropout if self.training else 0.0
        options = (self.mode, self.bias, count, count // self.num_layers, chance, sizes)
        return _run_layers(input, states, weights, *options)


_KINDS = {"bias": bool, "batch_first": bool, "input_size": int, "hidden_size": int}


def _check_options(dropout: Any, proj_size: Any, **options: Any) -> None:
    if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
        raise ValueError(f"dropout is {dropout!r}; give a probability from 0 to 1")
    if dropout and options["num_layers"] == 1:
        warn(f"dropout={dropout} is between layers, and there is one; it does nothing")
    for name, kind in _KINDS.items():
        if not isinstance(options[name], kind):
            given = type(options[name]).__name__
            raise TypeError(f"{name} is a {given}; give a {kind.__name__}")
    for name in ("input_size", "hidden_size", "num_layers"):
        if options[name] <= 0:
            raise ValueError(f"{name} is {options[name]}; give a number above 0")
    if not 0 <= proj_size < options["hidden_size"]:
        raise ValueError(f"proj_size is {proj_size}; give 0 or more, below hidden_size")


class RNN(
    RNNBase,
    takes=(
        "input_size, hidden_size, num_layers=1, nonlinearity='tanh', bias=True, "
        f"batch_first=False, dropout=0.0, bidirectional=False, {_LIKE}"
    ),
):
    """Layers of h = tanh(x @ W.T + b + h @ V.T + c), or relu of that."""

    def _init_with(self, **options: Any) -> None:
        super()._init_with(mode=_mode_of(options["nonlinearity"]), **options)


def _mode_of(nonlinearity: Any, error: type[Exception] = ValueError) -> str:
    if nonlinearity not in ("tanh", "relu"):
        raise error(f"nonlinearity is {nonlinearity!r}; give 'tanh' or 'relu'")
    return f"RNN_{nonlinearity.upper()}"


class LSTM(RNNBase, takes=f"input_size, hidden_size, {_OPTIONS}, proj_size=0, {_LIKE}"):
    """Layers with a hidden state and a cell that gates open and shut."""

    _states = 2

    def _init_with(self, **options: Any) -> None:
        super()._init_with(mode="LSTM", **options)


class GRU(RNNBase, takes=f"input_size, hidden_size, {_OPTIONS}, {_LIKE}"):
    """Layers with a hidden state that gates reset and update."""

    def _init_with(self, **options: Any) -> None:
        super()._init_with(mode="GRU", **options)


# -- cells -----------------------------------------------------------------------------------------


class RNNCellBase(_Recurrent, takes=f"input_size, hidden_size, bias, num_chunks, {_LIKE}"):
    """What cells share: their parameters and their call."""

    _usually: ClassVar = {"bias": True, "nonlinearity": "tanh"}
    _mode = ""

    def _init_with(self, **options: Any) -> None:
        like = {"device": options.pop("device"), "dtype": options.pop("dtype")}
        gates = options.pop("num_chunks") * options["hidden_size"]
        super()._init_with(**options)
        self.weight_ih = parameter(gates, self.input_size, **like)
        self.weight_hh = parameter(gates, self.hidden_size, **like)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, parameter(gates, **like) if self.bias else None)
        self.reset_parameters()

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return the state, or the states, after one step."""
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(f"{name}: the input has {input.ndim} axes; give 2: batch, features")
        alone = input.ndim == 1
        x = input.unsqueeze(0) if alone else input
        if x.shape[1] != self.input_size:
            raise RuntimeError(
                f"{name}: the input has {x.shape[1]} features; it was made for {self.input_size}"
            )
        if hx is not None:
            states = self._read_states(hx)
            if any(s.ndim not in (1, 2) for s in states):
                raise ValueError(f"{name}: hx has {[s.ndim for s in states]} axes; give 1 or 2")
            hx = self._as_given([s.unsqueeze(0) if alone else s for s in states])
        states = self._begin(hx, x, [(x.shape[0], self.hidden_size)] * self._states)
        weights = [self.weight_ih, self.weight_hh]
        if self.bias:
            weights += [self.bias_ih, self.bias_hh]
        if any(w.dtype != x.dtype for w in weights):
            raise RuntimeError(f"{name}: the input is {x.dtype} and the weights are not")
        mode = self._mode or _mode_of(self.nonlinearity, RuntimeError)
        found = _run_step(x, states, weights, mode, self.bias)
        return self._as_given([s.squeeze(0) for s in found] if alone else list(found))


_CELL = "input_size, hidden_size, bias=True"


class RNNCell(RNNCellBase, takes=f"{_CELL}, nonlinearity='tanh', {_LIKE}"):
    """One step of RNN."""

    def _init_with(self, **options: Any) -> None:
        super()._init_with(num_chunks=1, **options)


class LSTMCell(RNNCellBase, takes=f"{_CELL}, {_LIKE}"):
    """One step of LSTM."""

    _states, _mode = 2, "LSTM"

    def _init_with(self, **options: Any) -> None:
        super()._init_with(num_chunks=4, **options)


class GRUCell(RNNCellBase, takes=f"{_CELL}, {_LIKE}"):
    """One step of GRU."""

    _mode = "GRU"

    def _init_with(self, **options: Any) -> None:
        super()._init_with(num_chunks=3, **options)


offer("rnn", RNN, LSTM, GRU, RNNBase, RNNCellBase, RNNCell, LSTMCell, GRUCell)
