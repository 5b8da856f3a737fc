"""Datasets, samplers and how samples become batches, as PyTorch has them."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

Point = collections.namedtuple("Point", "x y")


def squares(torch: Any) -> Any:
    """Return a dataset of a class of its own."""

    class Squares(torch.utils.data.Dataset):
        def __init__(self, count: int) -> None:
            self.count = count

        def __getitem__(self, index: int) -> Any:
            if index >= self.count:
                raise IndexError(index)
            return index, torch.tensor([float(index) ** 2])

        def __len__(self) -> int:
            return self.count

    return Squares


def stream(torch: Any) -> Any:
    """Return a class of datasets that are iterated over."""

    class Stream(torch.utils.data.IterableDataset):
        def __init__(self, *values: int) -> None:
            self.values = values

        def __iter__(self) -> Any:
            return iter(self.values)

        def __len__(self) -> int:
            return len(self.values)

    return Stream


DATASETS = {
    "tensors": "[d.TensorDataset(t, t[:, 0])[k] for k in (0, 2, -1)]",
    "tensors by slice": "d.TensorDataset(t)[1:], len(d.TensorDataset(t))",
    "tensors by list": "d.TensorDataset(t, t)[[2, 0]]",
    "tensors of two lengths": "d.TensorDataset(t, t[1:])",
    "one's own": "[S(4)[k] for k in range(4)], list(S(2))",
    "without samples": "d.Dataset()[0]",
    "joined": "j = S(2) + S(3); [j[k] for k in (0, 1, 2, 4, -1, -5)], len(j), j.cumulative_sizes",
    "joined, too far": "(S(2) + S(3))[5]",
    "joined, too far back": "(S(2) + S(3))[-6]",
    "joined of none": "d.ConcatDataset([])",
    "joined of streams": "d.ConcatDataset([I(1)])",
    "subset": "s = d.Subset(S(5), [4, 1]); s[0], s[-1], len(s), s.__getitems__([1, 0])",
    "subset of a subset": "d.Subset(d.Subset(S(5), [4, 1, 2]), [2, 0]).__getitems__([0, 1])",
    "subset by list": "d.Subset(d.TensorDataset(t), [2, 1])[[0, 1]]",
    "split": "[(list(p.indices), len(p)) for p in d.random_split(S(10), [7, 3])]",
    "split by fractions": "[list(p.indices) for p in d.random_split(S(11), [0.5, 0.3, 0.2])]",
    "split by a generator": "[list(p.indices) for p in d.random_split(range(9), [4, 5], g)]",
    "split of another sum": "d.random_split(S(10), [7, 4])",
    "split by a negative fraction": "d.random_split(S(10), [1.5, -0.5])",
    "split with an empty part": "[len(p) for p in d.random_split(S(2), [0.9, 0.05, 0.05])]",
}
SAMPLERS = {
    "in order": "list(d.SequentialSampler(S(4))), len(d.SequentialSampler(S(4)))",
    "random": "s = d.RandomSampler(S(7)); list(s), list(s), len(s)",
    "random, by a generator": "s = d.RandomSampler(S(7), generator=g); list(s), list(s)",
    "random, more": "list(d.RandomSampler(S(7), num_samples=17, generator=g))",
    "random, fewer": "list(d.RandomSampler(S(7), num_samples=3))",
    "with replacement": "s = d.RandomSampler(S(7), True, 70); list(s), len(s)",
    "with replacement, by a generator": "list(d.RandomSampler(S(50), True, 64, g))",
    "hardly ending": "list(zip(range(70), d.RandomSampler(S(9), True, 10**10)))",
    "random of none": "d.RandomSampler(S(0))",
    "no truth value": "d.RandomSampler(S(3), replacement=1)",
    "of numbers": "s = d.SubsetRandomSampler([5, 9, 2, 4]); list(s), list(s), len(s)",
    "of numbers, by a generator": "list(d.SubsetRandomSampler(range(6), g))",
    "weighted": "s = d.WeightedRandomSampler([0.1, 3.0, 0.4, 1.0], 9); list(s), len(s)",
    "weighted, each once": "list(d.WeightedRandomSampler(torch.arange(1.0, 7.0), 5, False, g))",
    "weighted on two axes": "d.WeightedRandomSampler([[1.0]], 1)",
    "weighted of none": "d.WeightedRandomSampler([1.0], 0)",
    "batches": "b = d.BatchSampler(d.SequentialSampler(S(7)), 3, False); list(b), len(b)",
    "whole batches": "b = d.BatchSampler(d.RandomSampler(S(7)), 3, True); list(b), len(b)",
    "batches of none": "d.BatchSampler([1, 2], 0, False)",
    "batches of a truth value": "d.BatchSampler([1, 2], True, False)",
    "no order": "list(d.Sampler())",
}
BATCHES = {
    "tensors": "c([t[0], t[1]])",
    "tensors that require gradients": "c([t[0].requires_grad_(), t[1]])",
    "tensors of two shapes": "c([t[0], t])",
    "arrays": "c([np.arange(3), np.arange(3)]), c([np.ones(2, np.float32)] * 2)",
    "arrays without axes": "c([np.array(1.5), np.array(2)])",
    "arrays of texts": "c([np.array(['a']), np.array(['b'])])",
    "numbers of NumPy": "c([np.float32(1), np.float32(2)]), c([np.int16(1)]), c([np.bool_(True)])",
    "numbers": "c([1, 2]), c([1.5, 2]), c([True, False]), c([1.5, 2.5])",
    "texts": "c(['a', 'b']), c([b'a', b'b'])",
    "dicts": "c([{'a': 1, 'b': t[0]}, {'a': 2, 'b': t[1]}])",
    "ordered dicts": "c([collections.OrderedDict(z=1, a=2.5)] * 2)",
    "named tuples": "c([Point(1, 2.5), Point(3, 4.5)])",
    "tuples": "c([(1, 'a', t[0]), (2, 'b', t[1])])",
    "lists": "c([[1, 2.5], [3, 4.5]]), c([range(2), range(2)])",
    "nests": "c([{'a': (1, [2.5, {'b': 'x'}])}] * 3)",
    "lists of two lengths": "c([[1, 2], [3]])",
    "nothing": "c([None, None])",
    "objects": "c([object()])",
    "converted": "v(np.ones(2)), v(np.float64(2)), v((1, np.ones(1))), v([np.zeros(1), 'a'])",
    "converted nests": "v({'a': np.ones(1), 'b': None}), v(Point(1, np.ones(1))), v(t), v('a')",
    "arrays that are no numbers": "v(np.array(['a'])).tolist(), v(range(2))",
}


def evaluated(code: str) -> Any:
    """Return a program that runs some lines with a seed, and returns the last one's value."""

    def run(torch: Any) -> Any:
        data = torch.utils.data
        names = {
            "torch": torch, "d": data, "t": torch.arange(6.0).reshape(3, 2), "np": np,
            "S": squares(torch), "I": stream(torch), "g": torch.Generator().manual_seed(5),
            "c": data.default_collate, "v": data.default_convert, "Point": Point,
            "collections": collections,
        }  # fmt: skip
        torch.manual_seed(1)
        *lines, last = code.split("; ")
        for line in lines:
            exec(line, names)
        found = eval(last, names)
        return found, torch.rand(2), torch.rand(2, generator=names["g"])

    return run


@pytest.mark.parametrize("code", DATASETS.values(), ids=[*DATASETS])
def test_datasets(code: str) -> None:
    compare(evaluated(code))


@pytest.mark.parametrize("code", SAMPLERS.values(), ids=[*SAMPLERS])
def test_samplers(code: str) -> None:
    compare(evaluated(code))


@pytest.mark.parametrize("code", BATCHES.values(), ids=[*BATCHES])
def test_batches(code: str) -> None:
    compare(evaluated(code))


def test_a_subset_that_counts_by_itself_is_asked_for_many() -> None:
    def program(torch: Any) -> Any:
        class Doubled(torch.utils.data.Subset):
            def __getitem__(self, idx: Any) -> Any:
                return 2 * super().__getitem__(idx)

        return Doubled([1, 2], [0])

    compare(program)
