"""torch.utils.benchmark: how long a statement takes."""

from __future__ import annotations

import importlib
import statistics
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert.dialects.torch.table import plain

_UNITS = ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s"))


@plain("utils.benchmark.Measurement")
@dataclass(repr=False)
class Measurement:
    """The seconds that a statement took, several times."""

    number_per_run: int
    #: of each measurement, for all of its runs together
    raw_times: list[float]
    title: str = ""
    num_threads: int = 1
    stmt: str = ""
    setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    metadata: Any = None

    @property
    def times(self) -> list[float]:
        """The seconds of one run, by each measurement."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """The median of the seconds of one run."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """The mean of the seconds of one run."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """How far the quartiles of the seconds of one run are apart."""
        low, high = np.quantile(self.times, [0.25, 0.75])
        return float(high - low)

    def __repr__(self) -> str:
        median, count = self.median, len(self.raw_times)
        scale, unit = next(((s, u) for s, u in reversed(_UNITS) if median >= s), _UNITS[0])
        lines = [object.__repr__(self), self.title]
        lines += [f"  {'Median: ' if count > 1 else ''}{median / scale:.2f} {unit}"]
        if count > 3:
            low, high = np.quantile(self.times, [0.25, 0.75]) / scale
            lines += [f"  IQR:    {high - low:.2f} {unit} ({low:.2f} to {high:.2f})"]
        several = "s" if count > 1 else ""
        runs = f"{self.number_per_run} runs {'per measurement,' if several else ','}"
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        return "\n".join([*lines, f"  {count} measurement{several}, {runs} {threads}"])


@plain("utils.benchmark.Timer", differs="num_threads is noted; how many NumPy has is up to it")
class Timer:
    """What measures how long a statement of Python's takes, once it has run."""

    def __init__(
        self, stmt: str = "pass", setup: str = "pass", global_setup: str = "",
        timer: Callable[[], float] = timeit.default_timer, globals: dict[str, Any] | None = None,
        label: str | None = None, sub_label: str | None = None, description: str | None = None,
        env: str | None = None, num_threads: int = 1, language: Any = "python",
    ) -> None:  # fmt: skip
        if str(language).lower() not in ("python", "py", "language.python"):
            raise ValueError(f"Timer: language is {language}; only Python's statements are timed")
        if global_setup:
            raise ValueError("Timer: global_setup is for C++; write setup")
        names = {"torch": importlib.import_module("wengert.torch"), **(globals or {})}
        self._timer = timeit.Timer(stmt, setup, timer, names)
        title = label or (stmt if "\n" not in stmt else "stmt:\n" + stmt)
        title += f": {sub_label}" if label and sub_label else ""
        title += f"\n{description}" if description else ""
        if setup != "pass":
            title += f"\nsetup: {setup}"
        self._about: dict[str, Any] = {
            "title": title, "num_threads": num_threads, "stmt": stmt, "setup": setup,
            "label": label, "sub_label": sub_label, "description": description, "env": env,
        }  # fmt: skip

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Return one measurement of so many runs."""
        self._timer.timeit(max(number // 100, 2))
        return Measurement(number, [self._timer.timeit(number)], **self._about)

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Return measurements for so many seconds, each of runs that outweigh the timer's call."""
        number = self._number(min_run_time / 1000)
        times: list[float] = []
        while not times or sum(times) < min_run_time:
            times.append(self._timer.timeit(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, **self._about)

    def _number(self, least: float) -> int:
        """Return how many runs take at least so many seconds, and a thousand calls of the timer."""
        empty = min(timeit.Timer("pass").timeit(0) for _ in range(10))
        number = 1
        while self._timer.timeit(number) < max(least, 1000 * empty) and number < 10**9:
            number *= 10
        return number
