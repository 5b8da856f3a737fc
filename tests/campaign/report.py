"""What a campaign has found, as Markdown."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.campaign.checks import Failure, script
from tests.campaign.programs import Program
from wengert.explain.progress import progress


def numbered(
    programs: int | None, minutes: float | None, worker: int = 0, workers: int = 1
) -> Iterable[int]:
    """Return the numbers of a worker's programs, with a bar that the first worker shows."""
    numbers = range(worker, programs, workers) if programs is not None else None

    def in_time() -> Iterator[int]:
        started = time.monotonic()
        for number in itertools.count(worker, workers) if numbers is None else numbers:
            if minutes is not None and time.monotonic() - started >= 60 * minutes:
                return
            yield number

    total = None if numbers is None else len(numbers)
    return in_time() if worker else progress(in_time(), "programs", total)


@dataclass
class Report:
    """Counts of a campaign, and its failures."""

    seed: int
    programs: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    references: Counter[str] = field(default_factory=Counter)
    discarded: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    #: failures by what failed and in which operations, with how often
    failures: dict[str, tuple[str, int]] = field(default_factory=dict)
    broken: Counter[str] = field(default_factory=Counter)

    @property
    def comparisons(self) -> int:
        """How many arrays were compared."""
        return sum(self.counts.values())

    def take(self, counts: Counter[str], program: Program) -> None:
        """Add what was compared for a program."""
        self.programs += 1
        self.operations.update(program.operations)
        self.lengths[len(program.operations)] += 1
        for kind, n in counts.items():
            if kind.startswith("reference: "):
                self.references[kind.removeprefix("reference: ")] += n
            elif kind.startswith("refused"):
                self.discarded[kind] += n
            else:
                self.counts[kind] += n

    def fail(self, name: str, text: str) -> None:
        """Add a failure."""
        kept, times = self.failures.get(name, (text, 0))
        shorter = text if len(text) < len(kept) else kept
        self.failures[name] = (shorter, times + 1)

    def merge(self, other: Report) -> None:
        """Add what another report has."""
        self.programs += other.programs
        for name in ("counts", "references", "discarded", "operations", "lengths", "broken"):
            getattr(self, name).update(getattr(other, name))
        for name, (text, times) in other.failures.items():
            kept, before = self.failures.get(name, (text, 0))
            self.failures[name] = (min(kept, text, key=len), before + times)

    def markdown(self) -> str:
        """Return the report."""
        speed = self.comparisons / max(self.seconds, 1e-9)
        lines = [
            "# A campaign of random programs",
            "",
            f"Seed {self.seed}: {self.programs:,} programs, {self.comparisons:,} comparisons in "
            f"{self.seconds:,.0f} s ({speed:,.0f} a second), {len(self.failures)} failures.",
            "",
            *_table("compared with", self.references, "programs"),
            *_table("what was compared", self.counts, "arrays"),
            *_table("discarded", self.discarded, "programs"),
        ]
        if self.broken:
            lines += _table("errors of the references", self.broken, "programs")
        lengths = Counter({f"{n} operations": k for n, k in sorted(self.lengths.items())})
        lines += _table("length", lengths, "programs", ordered=False)
        lines += [
            f"{len(self.operations)} operations were in programs, from "
            f"{min(self.operations.values(), default=0)} to "
            f"{max(self.operations.values(), default=0)} times each.",
            "",
        ]
        lines += ["## Failures", ""] if self.failures else ["No failures.", ""]
        for name, (text, times) in self.failures.items():
            lines += [f"### {name} ({times} programs)", "", "```python", text, "```", ""]
        return "\n".join(lines)


def _table(title: str, counts: Counter[str], unit: str, ordered: bool = True) -> list[str]:
    rows = counts.most_common() if ordered else list(counts.items())
    lines = [f"| {title} | {unit} |", "|---|---|"]
    return [*lines, *(f"| {name.replace('|', '/')} | {n:,} |" for name, n in rows), ""]


def name_of(failure: Failure) -> str:
    """Return what a failure is called: what was asked, of which operations."""
    operations = ", ".join(dict.fromkeys(failure.program.operations)) or "no operation"
    what = failure.kind
    if isinstance(failure.got, Exception):
        what = f"{type(failure.got).__name__} for {what}"
    return f"{what}: {operations}"


def text_of(failure: Failure) -> str:
    """Return the failure as a program."""
    return script(failure)
