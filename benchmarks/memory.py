"""Peak memory of the thirty elementwise passes, each competitor in a process of its own.

``python -m benchmarks.memory NAME SIZE BLOCKS`` is that process: it prints by how many
bytes its resident memory grew at most, over what it was with everything imported, inputs
made and a small run done.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.elementwise import COMPETITORS
from benchmarks.harness import Case, Effort, Sampler

_ROOT = Path(__file__).parents[1]
_STATUS = Path("/proc/self/status")


def _status(field: str) -> int | None:
    """Return a line of this process's status in bytes; None where there is no /proc."""
    if not _STATUS.exists():
        return None
    for line in _STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return None


def _highest() -> int:
    """Return the most memory that this process held since the mark was last reset."""
    known = _status("VmHWM")
    if known is not None:
        return known
    import resource  # not on Windows, where there is nothing to read the mark from

    # Without /proc the mark cannot be reset and includes the imports, so that the growth
    # over it is a lower bound.
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


def peak(name: str, size: int, blocks: int) -> int:
    """Return by how many bytes this process grows at most while a competitor runs once."""
    COMPETITORS[name](size=1000, blocks=blocks)()  # loads code and starts threads
    run = COMPETITORS[name](size=size, blocks=blocks)
    if _STATUS.exists():
        Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts again
    before = _status("VmRSS") or _highest()
    kept = run()
    growth = _highest() - before
    del kept
    return growth


def in_processes(case: Case, names: Iterable[str], effort: Effort) -> dict[str, Sampler]:
    """Return samplers that each start a process and read the peak it prints."""
    arguments = [str(case.sizes["size"]), str(case.sizes["blocks"])]

    def sampler(name: str) -> Sampler:
        command = [sys.executable, "-m", "benchmarks.memory", name, *arguments]

        def sample() -> float:
            done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=True)
            return float(done.stdout.split()[-1])

        return sample

    return {name: sampler(name) for name in names}


CASES = [
    Case(
        name="elementwise-30-memory",
        about="peak memory of 30 elementwise operations on 2e6 float32, forward and gradient",
        # Not jax.jit: it compiles for each size, so the compiler's memory would count.
        competitors={k: v for k, v in COMPETITORS.items() if k != "jax jit"},
        must={"torch": 1.05},
        sizes={"size": 2_000_000, "blocks": 3},
        small={"size": 1000, "blocks": 3},
        unit="B",
        verdict="minimum",  # what disturbs a process only ever adds to its memory
        samplers=in_processes,
    )
]

if __name__ == "__main__":
    print(peak(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
