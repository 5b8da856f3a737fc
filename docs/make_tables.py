"""Write the table of operations into reference.md, from the registry.

python docs/make_tables.py            rewrite the table
python docs/make_tables.py --check    fail if the table is not up to date
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
from pathlib import Path
from typing import Any

import wengert as wg
import wengert.ops
from wengert.engine.node import Op
from wengert.extend import REGISTRY

REFERENCE = Path(__file__).parent / "reference.md"
BEGIN, END = "<!-- operations -->", "<!-- end of operations -->"
HEADER = """\
| operation | family | arguments | keeps in memory | complex | a Block goes through |
|---|---|---|---|---|---|
"""


def table() -> str:
    """Return the table, a row for each operation in the order of names."""
    for module in pkgutil.walk_packages(wengert.ops.__path__, "wengert.ops."):
        importlib.import_module(module.name)
    return HEADER + "".join(_row(REGISTRY[name]) for name in sorted(REGISTRY))


def _row(entry: Any) -> str:
    name = f"`{entry.name}`" if _is_public(entry.name) else f"*{entry.name}*"
    complex_too = "yes" if "c" in entry.kinds else "no"
    cells = (
        name,
        entry.family,
        _arguments(entry.op),
        _kept(entry.op),
        complex_too,
        _block(entry.op),
    )
    return f"| {' | '.join(cells)} |\n"


def _is_public(name: str) -> bool:
    module, _, function = name.rpartition(".")
    place = functools.reduce(getattr, module.split("."), wg) if module else wg
    return function in place.__all__


def _arguments(op: Op | None) -> str:
    if op is None:
        return "see its signature"
    arrays = ["any number of arrays"] if op.variadic else list(op.args)
    return ", ".join(arrays) + ("; " + ", ".join(op.params) if op.params else "")


def _kept(op: Op | None) -> str:
    """Return the arrays that a recorded call keeps, for each argument that is followed."""
    if op is None:
        return "what its parts keep"
    arrays = ("y", "arrays", *op.args)
    kept = {
        argument: [name for name in dict.fromkeys(reads) if name in arrays]
        for argument, reads in zip(op.args, op.reads, strict=True)
        if reads is not None
    }
    if not kept:
        return "nothing is recorded"
    if not any(kept.values()):
        return "nothing"
    if len(kept) == len(op.args) and len({frozenset(names) for names in kept.values()}) == 1:
        return ", ".join(kept[op.args[0]])
    return "; ".join(f"for {argument}: {', '.join(n) or 'nothing'}" for argument, n in kept.items())


def _block(op: Op | None) -> str:
    """Return what the family, or the operation itself, makes of a Block."""
    if op is None:
        return "as through its parts"
    if all(rule is None for rule in op.rules):
        return "-"
    ways = {
        "elementwise": "same region",
        "reduction": "reduced axes become whole",
        "contraction": "summed axes become whole",
        "linewise": "becomes whole along its axes",
    }
    if op.family in ways:
        return ways[op.family]
    has_rule = getattr(op, "block", None) is not None or "pull_block" in vars(op)
    return "stays a block" if has_rule else "becomes dense"


def rewritten(text: str) -> str:
    """Return the reference with the table between its markers."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{REFERENCE.name} has no markers {BEGIN} and {END}")
    return f"{before}{begin}\n\n{table()}\n{end}{after}"


def main() -> None:
    """Rewrite the reference, or check it."""
    old = REFERENCE.read_text(encoding="utf-8")
    new = rewritten(old)
    if sys.argv[1:] != ["--check"]:
        REFERENCE.write_text(new, encoding="utf-8")
    elif new != old:
        raise SystemExit("reference.md is out of date; run: python docs/make_tables.py")


if __name__ == "__main__":
    main()
