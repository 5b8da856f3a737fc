"""Write the tables of operations, of names and of figures, and type stubs, anew.

python docs/make_tables.py            rewrite the tables
python docs/make_tables.py --check    fail if a table is not up to date
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import make_explanations
from make_stubs import stubs

import wengert as wg
import wengert.ops
from wengert.engine.op import Op
from wengert.extend import REGISTRY

DOCS = Path(__file__).parent
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


def dialect_names(module: str) -> str:
    """Return a table for each module of names, a row for what is offered under some names."""
    facade = importlib.import_module(f"wengert.{module}")._facade
    facade.load_all()
    rows: dict[Any, list[str]] = {}
    for name, value in public(facade.names).items():
        rows.setdefault((id(value), name.rpartition(".")[2]), []).append(name)
    plain = {name: names for names in rows.values() for name in names}
    for names in list(rows.values()):  # a method goes with the function, and what is in place too
        first = names[0].removeprefix("Tensor.")
        without = plain.get(first if first.endswith("__") else first.rstrip("_"))
        if without is not None and without is not names:
            without.extend(names)
            names.clear()
    sections: dict[str, list[list[str]]] = {}
    for names in sorted(filter(None, rows.values()), key=lambda names: min(names).lower()):
        names.sort(key=_first_name)
        sections.setdefault(names[0].rpartition(".")[0], []).append(names)
    differences = importlib.import_module(f"wengert.dialects.{module}.table").DIFFERENCES
    return "\n".join(
        _section(facade.short, part, sections[part], differences) for part in sorted(sections)
    )


def public(names: dict[str, Any]) -> dict[str, Any]:
    """Return the names that programs use; others are for libraries that look into TensorFlow."""
    inside = ("__internal__.", "compiler.tf2xla.", "python.")
    return {name: value for name, value in names.items() if not name.startswith(inside)}


def _first_name(name: str) -> tuple[bool, bool, int, int, str]:
    """Return what names of one thing are ordered by: the shortest function is first."""
    return name.endswith("_"), name.startswith("Tensor."), name.count("."), len(name), name


def _section(short: str, part: str, rows: list[list[str]], differences: dict[str, str]) -> str:
    title = f"## {short}.{part}" if part else f"## {short}"
    lines = [title, "", "| name | also | what differs |", "|---|---|---|"]
    for first, *others in sorted(rows, key=lambda names: names[0].lower()):
        differs = next((differences[n] for n in (first, *others) if n in differences), "")
        cells = _shown(short, first), ", ".join(_shown(short, n) for n in others), differs
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _shown(short: str, name: str) -> str:
    return f"`{name}`" if name.startswith("Tensor.") else f"`{short}.{name}`"


def exemptions() -> str:
    """Return which operations are not computed where a library's arrays are, as tests have it."""
    sys.path.insert(0, str(DOCS.parent))
    return importlib.import_module("tests.ops.exemptions").table()  # type: ignore[no-any-return]


#: Cases of the benchmarks that the front page shows, and what it calls them.
FIGURES = {
    "element-matmul-block": "one element of a 2048 x 2048 product, by its first factor",
    "element-conv": "one pixel after six convolutions, by the 256 x 256 image",
    "element-layers": "one element by one element, through 50 layers of 4096 x 4096",
    "element-embedding": "32 rows of a table of 1,000,000 x 64, with a step of Adam",
    "chain-100": "900 operations on 100 numbers, forward and gradient",
    "mlp": "a perceptron 784-512-512-10, batch 256, loss and gradients",
    "conv2d": "a convolution of 64 channels on 32 x 64 x 56 x 56, and its gradients",
    "layer-norm": "layer norm of 4096 x 1024, and its gradients",
    "import": "the import alone",
}


def figures() -> str:
    """Return the front page's table of measured times, read off the page of benchmarks."""
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    rows = ["| case | Wengert | PyTorch | Wengert / PyTorch |", "|---|---:|---:|---:|"]
    for case, words in FIGURES.items():
        section = text.partition(f"\n## {case}\n")[2].partition("\n## ")[0]
        cells = re.findall(r"^\| (wengert|torch) \| (.*?) \| (.*?) \|", section, flags=re.M)
        (_, ours, _), (_, theirs, ratio) = cells
        rows.append(f"| [{words}](benchmarks.md#{case}) | {ours} | {theirs} | {ratio} |")
    return "\n".join(rows) + "\n"


def rewritten(text: str, name: str, made: str) -> str:
    """Return a document with something made between the markers of a name."""
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, begin, rest = text.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        raise SystemExit(f"no markers {first} and {last}")
    return f"{before}{begin}\n\n{made}\n{end}{after}"


def stubs_of(module: str) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of each type stub of a dialect."""
    facade = importlib.import_module(f"wengert.{module}")._facade
    facade.load_all()
    tensor = importlib.import_module(f"wengert.dialects.{module}.tensors").Tensor
    folder = Path(wengert.__file__).parent / module
    names = public(facade.names) | dict.fromkeys(facade.elsewhere)
    for path, text in stubs(names, f"wengert.{module}", tensor).items():
        yield folder / path, text


def main() -> None:
    """Write the tables of the documents and the type stubs anew, or check them."""
    texts: dict[Path, str] = {}
    for document, name, make in (
        ("arrays.md", "exemptions", exemptions),
        ("none-and-nan.md", "reasons", make_explanations.reasons),
        ("none-and-nan.md", "nonfinite", make_explanations.nonfinite),
        ("index.md", "figures", figures),
        ("reference.md", "operations", table),
        ("tensorflow-names.md", "names", lambda: dialect_names("tensorflow")),
        ("torch-names.md", "names", lambda: dialect_names("torch")),
    ):
        old = texts.get(DOCS / document) or (DOCS / document).read_text(encoding="utf-8")
        texts[DOCS / document] = rewritten(old, name, make())
    for module in ("tensorflow", "torch"):
        texts |= dict(stubs_of(module))
        for path in (Path(wengert.__file__).parent / module).rglob("*.pyi"):
            if path not in texts:
                texts[path] = ""
    for path, text in texts.items():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if sys.argv[1:] == ["--check"]:
            if text != old:
                raise SystemExit(f"{path.name} is out of date; run: python docs/make_tables.py")
        elif text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        else:
            path.unlink()


if __name__ == "__main__":
    main()
