"""What a case is, how its competitors take turns, and how ratios follow from their samples.

A case is data: a build function for each competitor, and a limit for each peer that
Wengert must keep to. The samples of one round are taken within moments of each other,
so that whatever else the machine does hits all competitors alike; ratios are paired by
round.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks import peers

Run = Callable[[], Any]
Build = Callable[..., Run]
Sampler = Callable[[], float]
Samples = Mapping[str, list[float]]

WENGERT = "wengert"
MINIMUM_ROUNDS = 3
#: A competitor whose median sample is this many times its smallest was disturbed: some wait
#: for other processes far longer than others do, and pairing by round does not cancel that.
NOISY = 1.5


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds, seconds for a case, and seconds for one timed sample."""

    rounds: int
    budget: float
    sample: float


FULL = Effort(rounds=11, budget=30.0, sample=0.05)
QUICK = Effort(rounds=5, budget=10.0, sample=0.02)


def timers(
    case: Case, names: Iterable[str], effort: Effort, clock: Sampler = time.perf_counter
) -> dict[str, Sampler]:
    """Return samplers of the time of one call, having checked that all results agree."""
    runs = {name: case.competitors[name](**case.sizes) for name in names}
    if case.agree:
        check_agreement(case, {name: run() for name, run in runs.items()})
    return {
        name: _timer(run, effort.sample, case.work.get(name, 1), clock)
        for name, run in runs.items()
    }


def processor_timers(case: Case, names: Iterable[str], effort: Effort) -> dict[str, Sampler]:
    """Return samplers of the processor's time of one call, on which other processes hardly tell."""
    return timers(case, names, effort, time.process_time)


@dataclass(frozen=True)
class Case:
    """One question about speed or memory.

    Attributes
    ----------
    about
        What is measured, in a sentence.
    competitors
        Build functions: each takes `sizes` and returns what is run. The first word of a
        name is its library.
    must
        For some competitors, the most that Wengert's measure may be of theirs.
    sizes, small
        The arguments of every build function, for measuring and for a quick test.
    work
        How many units one call does, where competitors do different amounts.
    unit
        "s" or "B": what a sample counts.
    difference
        Whether limits are on Wengert's measure less the peer's, in units; else on the ratio.
    verdict
        "median" of the paired rounds, or "minimum": the ratio of the smallest samples.
    tolerance
        By how much results may differ, relative to the largest element.
    agree
        Whether competitors return the same numbers, so that this is checked.
    samplers
        Returns a function for each competitor that takes one sample.
    """

    name: str
    about: str
    competitors: Mapping[str, Build]
    must: Mapping[str, float]
    sizes: Mapping[str, Any] = field(default_factory=dict)
    small: Mapping[str, Any] = field(default_factory=dict)
    work: Mapping[str, int] = field(default_factory=dict)
    unit: str = "s"
    difference: bool = False
    verdict: str = "median"
    tolerance: float = 1e-4
    agree: bool = True
    samplers: Callable[[Case, Iterable[str], Effort], dict[str, Sampler]] = timers

    def __post_init__(self) -> None:
        unknown = set(self.must) - set(self.competitors)
        if WENGERT not in self.competitors or unknown:
            raise ValueError(
                f"case {self.name!r}: has competitors {', '.join(self.competitors)}; it needs "
                f"{WENGERT!r} and whoever `must` names ({', '.join(sorted(unknown)) or 'nobody'})"
            )


@dataclass(frozen=True)
class Row:
    """One competitor's line of a table; ratios (or differences) are None for Wengert itself."""

    competitor: str
    typical: float
    median: float | None = None
    minimum: float | None = None
    limit: float | None = None
    met: bool | None = None
    noisy: bool = False


@dataclass(frozen=True)
class Outcome:
    """What was measured for a case: its table, the rounds, and the peers that are not here."""

    case: Case
    rows: list[Row]
    rounds: int
    absent: list[str]

    @property
    def missed(self) -> list[Row]:
        """The rows whose limit was not kept."""
        return [row for row in self.rows if row.met is False]

    @property
    def doubtful(self) -> list[Row]:
        """The rows whose limit was kept or not in samples too noisy to tell."""
        return [row for row in self.rows if row.met is not None and row.noisy]


def measure(case: Case, effort: Effort) -> Outcome:
    """Measure a case for every competitor that is installed."""
    names = [name for name in case.competitors if peers.is_installed(name)]
    samplers = case.samplers(case, names, effort)
    # The collector would walk all objects of every library on behalf of whoever runs
    # when it starts. Frozen, they are left out, as if each library had its own process.
    gc.collect()
    gc.freeze()
    try:
        samples = collect(samplers, effort)
    finally:
        gc.unfreeze()
    absent = sorted({peers.library_of(n) for n in case.competitors if n not in names})
    return Outcome(case, compare(case, samples), len(samples[WENGERT]), absent)


def collect(samplers: Mapping[str, Sampler], effort: Effort) -> dict[str, list[float]]:
    """Return samples of each competitor, one in each round, until rounds or time run out."""
    samples: dict[str, list[float]] = {name: [] for name in samplers}
    order = list(samplers)
    shuffle = random.Random(0).shuffle  # or each would always follow the same other one
    deadline = time.perf_counter() + effort.budget
    for done in range(effort.rounds):
        if done >= MINIMUM_ROUNDS and time.perf_counter() > deadline:
            break
        shuffle(order)
        for name in order:
            gc.collect()
            samples[name].append(samplers[name]())
    return samples


def compare(case: Case, samples: Samples) -> list[Row]:
    """Return a row for each competitor, Wengert's first."""
    mine = samples[WENGERT]
    rows = [Row(WENGERT, statistics.median(mine), noisy=_is_noisy(mine))]
    for name, theirs in samples.items():
        if name == WENGERT:
            continue
        if case.difference:
            paired = [a - b for a, b in zip(mine, theirs, strict=True)]
            minimum = min(mine) - min(theirs)
        else:
            paired = [a / b for a, b in zip(mine, theirs, strict=True)]
            minimum = min(mine) / min(theirs)
        median = statistics.median(paired)
        limit = case.must.get(name)
        judged = median if case.verdict == "median" else minimum
        met = None if limit is None else judged <= limit
        noisy = _is_noisy(mine) or _is_noisy(theirs)
        rows.append(Row(name, statistics.median(theirs), median, minimum, limit, met, noisy))
    return rows


def _is_noisy(samples: list[float]) -> bool:
    return statistics.median(samples) > NOISY * min(samples)


def check_agreement(case: Case, results: Mapping[str, Any]) -> None:
    """Raise unless all competitors computed the same numbers."""
    expected = _arrays(results[WENGERT])
    for name, result in results.items():
        given = _arrays(result)
        for mine, theirs in zip(expected, given, strict=True):
            scale = float(np.max(np.abs(mine), initial=1e-30))
            np.testing.assert_allclose(
                theirs,
                mine,
                rtol=case.tolerance,
                atol=case.tolerance * scale,
                err_msg=f"case {case.name!r}: {name} and wengert compute different numbers",
            )


def _arrays(result: Any) -> list[np.ndarray]:
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in _arrays(part)]
    return [np.asarray(result)]


def _timer(run: Run, seconds: float, work: int, clock: Sampler) -> Sampler:
    """Return a sampler of the time per unit of work, over enough calls to fill `seconds`."""
    run()  # the first calls compile, fill caches and start threads
    start = time.perf_counter()
    run()
    once = time.perf_counter() - start
    calls = max(1, round(seconds / max(once, 1e-9)))

    def sample() -> float:
        start = clock()
        for _ in range(calls):
            run()
        return (clock() - start) / (calls * work)

    return sample
