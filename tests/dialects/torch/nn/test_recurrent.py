"""Recurrent layers, cells and packed sequences: values, derivatives of two orders, errors."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import wengert.torch as torch
from tests.dialects.parity import Programs
from tests.dialects.torch.nn.module_cases import everything, numbers, raising
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


def weighted(torch: Any, *results: Any) -> Any:
    """Return a number that depends on all results in ways of their own."""
    places = [torch.arange(y.numel(), dtype=y.dtype).reshape(y.shape) for y in results]
    return sum((y * y * torch.cos(at)).sum() for y, at in zip(results, places, strict=True))


def flat(torch: Any, found: Any) -> list[Any]:
    """Return the tensors in nested tuples."""
    if isinstance(found, torch.Tensor):
        return [found]
    return [] if found is None else [t for part in found for t in flat(torch, part)]


def two_orders(torch: Any, results: Any, leaves: list[Any]) -> list[Any]:
    """Return the results, gradients of a number made of them, and gradients of these."""
    results = [y for y in flat(torch, results) if y.requires_grad]
    first = torch.autograd.grad(weighted(torch, *results), leaves, create_graph=True)
    second = torch.autograd.grad(weighted(torch, *first), leaves)
    return [[y.detach() for y in part] for part in (results, first, second)]


#: How layers are made.
LAYERS: dict[str, Any] = {
    "lstm": lambda nn: nn.LSTM(3, 4),
    "lstm_all": lambda nn: nn.LSTM(3, 4, 2, batch_first=True, dropout=0.4, bidirectional=True),
    "lstm_no_bias": lambda nn: nn.LSTM(3, 4, 2, bias=False),
    "lstm_projected": lambda nn: nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2),
    "gru": lambda nn: nn.GRU(3, 4, num_layers=3, dropout=0.2),
    "gru_both_ways": lambda nn: nn.GRU(3, 4, bidirectional=True, batch_first=True),
    "gru_no_bias": lambda nn: nn.GRU(3, 4, 2, bias=False, bidirectional=True),
    "rnn": lambda nn: nn.RNN(3, 4, 2, bidirectional=True),
    "rnn_relu": lambda nn: nn.RNN(3, 4, 2, "relu", False, True),
}


def state_for(torch: Any, layer: Any, batch: int | None) -> Any:
    ways = (2 if layer.bidirectional else 1) * layer.num_layers
    lead = (ways,) if batch is None else (ways, batch)
    options: Any = {"dtype": "float64", "grad": True}
    h = numbers(torch, *lead, layer.proj_size or layer.hidden_size, seed=8, **options)
    if layer.mode != "LSTM":
        return h
    return h, numbers(torch, *lead, layer.hidden_size, seed=9, **options)


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name: str) -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(3)
        layer = LAYERS[name](torch.nn)
        found = [repr(layer), dict(layer.named_parameters()), torch.rand(2)]
        layer.double()
        x = numbers(torch, 5, 2, 3, grad=True, dtype="float64")
        found.append(two_orders(torch, layer(x), [x, *layer.parameters()]))
        states = state_for(torch, layer, 5 if layer.batch_first else 2)
        leaves = [x, *flat(torch, states), *layer.parameters()]
        found.append(two_orders(torch, layer(x, states), leaves))
        layer.eval()
        alone = numbers(torch, 5, 3, grad=True, dtype="float64")
        found.append(two_orders(torch, layer(alone), [alone]))
        found.append(layer(alone, state_for(torch, layer, None)))
        found.append([[w.shape for w in part] for part in layer.all_weights])
        layer.flatten_parameters()
        return found

    compare(program, rtol=1e-10)


@pytest.mark.parametrize("name", LAYERS)
def test_layer_of_packed_sequences(name: str) -> None:
    def program(torch: Any) -> Any:
        rnn = torch.nn.utils.rnn
        torch.manual_seed(4)
        layer = LAYERS[name](torch.nn).double()
        x = numbers(torch, 5, 4, 3, grad=True, dtype="float64")
        packed = rnn.pack_padded_sequence(x, [2, 5, 1, 5], enforce_sorted=False)
        states = state_for(torch, layer, 4)
        found = []
        for given in (None, states):
            output, last = layer(packed, given)
            padded, lengths = rnn.pad_packed_sequence(output, total_length=6)
            leaves = [x, *flat(torch, given), *layer.parameters()]
            found += [list(output), lengths, two_orders(torch, (padded, last), leaves)]
        return found

    compare(program, rtol=1e-10)


CELLS: dict[str, Any] = {
    "lstm": lambda nn: nn.LSTMCell(3, 4),
    "lstm_no_bias": lambda nn: nn.LSTMCell(3, 4, False),
    "gru": lambda nn: nn.GRUCell(3, 4),
    "gru_no_bias": lambda nn: nn.GRUCell(3, 4, bias=False),
    "rnn": lambda nn: nn.RNNCell(3, 4),
    "rnn_relu": lambda nn: nn.RNNCell(3, 4, False, "relu"),
}


@pytest.mark.parametrize("name", CELLS)
def test_cell(name: str) -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(5)
        cell = CELLS[name](torch.nn)
        found = [repr(cell), dict(cell.named_parameters()), cell.bias_ih is None]
        cell.double()
        x = numbers(torch, 3, 2, 3, grad=True, dtype="float64")
        state = None
        for row in x:
            state = cell(row, state)
        found.append(two_orders(torch, state, [x, *cell.parameters()]))
        return [*found, cell(x[0, 0]), cell(x[0, 0], state_of_one(torch, state))]

    compare(program, rtol=1e-10)


def state_of_one(torch: Any, state: Any) -> Any:
    return state[0] if isinstance(state, torch.Tensor) else (state[0][0], state[1][0])


# -- sequences -------------------------------------------------------------------------------------


@program
def packing(torch: Any) -> Any:
    rnn = torch.nn.utils.rnn
    x = numbers(torch, 4, 3, 2, grad=True)
    found = []
    for options in ({}, {"batch_first": True}):
        lengths = [4, 2, 1] if not options else [3, 3, 2, 1]
        packed = rnn.pack_padded_sequence(x, torch.tensor(lengths), **options)
        padded = rnn.pad_packed_sequence(packed, padding_value=-1.0, **options)
        found += [list(packed), padded]
        (padded[0] ** 2).sum().backward()
    found.append(x.grad)
    parts = [numbers(torch, n, 2, seed=n, grad=True) for n in (1, 3, 2)]
    packed = rnn.pack_sequence(parts, enforce_sorted=False)
    (packed.data**3).sum().backward()
    found += [list(packed), rnn.unpack_sequence(packed), [p.grad for p in parts]]
    whole = rnn.pack_sequence([torch.tensor([5, 6, 7]), torch.tensor([8])])
    found += [list(whole), rnn.pad_packed_sequence(whole, True, 9)]
    double = packed.to(torch.float64)
    found += [double.data.dtype, packed.cpu() is packed, isinstance(packed, tuple)]
    found.append(rnn.invert_permutation(torch.tensor([2, 0, 1])))
    again = rnn.PackedSequence(packed.data, packed.batch_sizes, packed.sorted_indices)
    found += [again.unsorted_indices, list(rnn.PackedSequence((torch.ones(2), torch.tensor([2]))))]
    return found


@program
def packing_errors(torch: Any) -> Any:
    rnn = torch.nn.utils.rnn
    x = torch.ones(4, 3, 2)
    return [
        raising(lambda: rnn.pack_padded_sequence(x, [2, 4, 1])),
        raising(lambda: rnn.pack_padded_sequence(x, [2, 1])),
        raising(lambda: rnn.pack_padded_sequence(x, [2, 1, 0])),
        raising(lambda: rnn.pack_padded_sequence(x[:0], [2, 1, 1])),
        raising(
            lambda: rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, [4, 1, 1]), False, 0, 2)
        ),
        raising(lambda: rnn.pack_sequence([x[0, :1], x[1]])),
    ]


# -- misuse, and what else programs do -------------------------------------------------------------


@program
def errors_of_layers(torch: Any) -> Any:
    nn = torch.nn
    lstm, gru, x = nn.LSTM(3, 4), nn.GRU(3, 4, batch_first=True), torch.ones(2, 5, 3)
    h = torch.zeros(1, 5, 4)
    calls = [
        lambda: lstm(torch.ones(2, 5, 4)),
        lambda: lstm(torch.ones(3)),
        lambda: gru(torch.ones(1, 1, 1, 3)),
        lambda: lstm(x.double()),
        lambda: lstm(x, (h, h[:, :4])),
        lambda: lstm(x, (h[0], h[0])),
        lambda: lstm(x[0], (h, h)),
        lambda: gru(x, h),
        lambda: gru(x, h[0]),
        lambda: lstm(x[:0]),
        lambda: lstm(x, (h.double(), h.double())),
        lambda: nn.GRU(3, 4)(x, h.double()),
        lambda: gru(x, (torch.zeros(1, 2, 4),) * 2),
        lambda: nn.GRUCell(3, 4)(x[0], h[0].double()),
        lambda: nn.LSTM(0, 4),
        lambda: nn.LSTM(3, 0),
        lambda: nn.LSTM(3, 4, 0),
        lambda: nn.LSTM(3, 4, dropout=1.5),
        lambda: nn.LSTM(3, 4, dropout=True),
        lambda: nn.LSTM(3, 4, bias=1),
        lambda: nn.LSTM(3.0, 4),
        lambda: nn.LSTM(3, 4, proj_size=4),
        lambda: nn.LSTM(3, 4, proj_size=-1),
        lambda: nn.RNN(3, 4, nonlinearity="sin"),
        lambda: nn.RNNBase("RN", 3, 4),
        lambda: nn.LSTMCell(3, 4)(x),
        lambda: nn.LSTMCell(3, 4)(torch.ones(2, 4)),
        lambda: nn.GRUCell(3, 4)(torch.ones(2, 3), torch.ones(3, 4)),
        lambda: nn.RNNCell(3, 4)(torch.ones(2, 3), torch.ones(2, 3)),
        lambda: nn.RNNCell(3, 4)(torch.ones(2, 3, 1)),
        lambda: nn.RNNCell(3, 4, nonlinearity="sin")(torch.ones(2, 3)),
    ]
    return [raising(call) for call in calls]


@program
def training(torch: Any) -> Any:
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(7, 5)
            self.layer = nn.LSTM(5, 6, 2, batch_first=True, dropout=0.3)
            self.head = nn.Linear(6, 7)

        def forward(self, x: Any) -> Any:
            return self.head(self.layer(self.table(x))[0])

    torch.manual_seed(1)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    x, losses = torch.randint(0, 7, (4, 6)), []
    for _ in range(5):
        optimizer.zero_grad()
        logits = model(x[:, :-1])
        loss = nn.functional.cross_entropy(logits.reshape(-1, 7), x[:, 1:].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    return [losses, everything(model), repr(model)]


@program
def copies_and_states(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(2)
    layer = nn.GRU(2, 3, 2)
    x = numbers(torch, 4, 1, 2)
    other = nn.GRU(2, 3, 2)
    other.load_state_dict(layer.state_dict())
    twins = [copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), other]
    expected = layer(x)[0]
    found = [bool((twin(x)[0] == expected).all()) for twin in twins]
    changed = {k: v * 0 for k, v in layer.named_parameters()}
    found.append(torch.func.functional_call(layer, changed, (x,))[0].abs().sum())
    layer.weight_hh_l1 = nn.Parameter(layer.weight_hh_l1 * 0)
    for name, p in layer.named_parameters():
        if name.startswith("bias"):
            nn.init.zeros_(p)
    return [*found, layer(x), isinstance(layer, nn.RNNBase), len(layer._flat_weights)]


@program
def results_that_are_written_to(torch: Any) -> Any:
    torch.manual_seed(2)
    found = []
    for kind in ("LSTM", "GRU", "RNN"):
        layer = getattr(torch.nn, kind)(2, 3).double()
        y, _ = layer(numbers(torch, 4, 1, 2, dtype="float64"))
        y.mul_(2)
        y[0] = 0.0
        y.pow(2).sum().backward()
        found.append(everything(layer))
    cell = torch.nn.LSTMCell(2, 3).double()
    h, c = cell(numbers(torch, 1, 2, dtype="float64"))
    h.mul_(2)
    c.add_(1)
    h, c = cell(numbers(torch, 1, 2, dtype="float64", seed=1), (h, c))
    (h * c).sum().backward()
    return [*found, everything(cell)]


@program
def dropout_draws_as_elements_lie_in_memory(torch: Any) -> Any:
    F = torch.nn.functional
    torch.manual_seed(2)
    x = torch.ones(2, 3, 4)
    return [
        F.dropout(x.transpose(0, 1), 0.5),
        F.dropout(x.permute(2, 0, 1), 0.3),
        F.dropout(x[:, :, ::2], 0.5),
        F.dropout(x[:, :1].expand(2, 3, 4), 0.5),
        F.dropout(x.transpose(1, 2) * 2, 0.5),
    ]


@program
def detached_states(torch: Any) -> Any:
    torch.manual_seed(2)
    layer, x, state = torch.nn.LSTM(2, 3), numbers(torch, 6, 2, 2), None
    found = []
    for part in x.split(2):
        y, state = layer(part, state)
        y.sum().backward()
        state = tuple(s.detach() for s in state)
        found.append(layer.weight_hh_l0.grad.clone())
    return [found, state]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])


def test_gradients_of_each_example_which_pytorch_refuses() -> None:
    torch.manual_seed(2)
    layer, x = torch.nn.GRU(2, 3), numbers(torch, 5, 4, 2)
    params = {k: p.detach() for k, p in layer.named_parameters()}

    def loss(params: Any, x: Any) -> Any:
        return (torch.func.functional_call(layer, params, (x,))[0] ** 2).sum()

    each = torch.func.vmap(torch.func.grad(loss), (None, 0))(params, x)
    for k, example in enumerate(x):
        for name, g in torch.func.grad(loss)(params, example).items():
            torch.testing.assert_close(each[name][k], g)
