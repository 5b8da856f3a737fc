"""Run the notebooks of this folder without a browser, and keep them without outputs.

    python -m examples.run                         run all of them
    python -m examples.run eigenvalue four_ways    run some
    python -m examples.run --thumbnails            also write their pictures to docs/gallery
    python -m examples.run --save folder           also keep them there, with their outputs
    python -m examples.run --strip                 run none; remove the outputs that Jupyter left

A notebook fails if a cell raises or writes to the standard error, as warnings do. Running needs
the extra `gallery`; stripping needs nothing.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
THUMBNAILS = HERE.parent / "docs" / "gallery"
#: The most bytes that the picture of a notebook may have, and the widths in pixels to try.
LIMIT, WIDTHS = 30_000, range(640, 300, -20)
KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebooks(names: list[str] | None = None) -> list[Path]:
    """Return the notebooks with these names, or all of them."""
    found = {path.stem: path for path in sorted(HERE.glob("*.ipynb"))}
    unknown = [name for name in names or [] if name not in found]
    if unknown:
        raise SystemExit(f"no notebook {', '.join(unknown)}; there are {', '.join(found)}")
    return [found[name] for name in names or found]


def stripped(text: str) -> str:
    """Return the text of a notebook without outputs, in the one form in which it is kept."""
    cells = []
    for cell in json.loads(text)["cells"]:
        tags = cell["metadata"].get("tags")
        kept = {"cell_type": cell["cell_type"], "id": cell["id"]}
        kept["metadata"] = {"tags": tags} if tags else {}
        if cell["cell_type"] == "code":
            kept |= {"execution_count": None, "outputs": []}
        kept["source"] = "".join(cell["source"]).rstrip().splitlines(keepends=True)
        cells.append(dict(sorted(kept.items())))
    whole = {"cells": cells, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def executed(path: Path) -> Any:
    """Return a notebook with its outputs; an error says which cell did what."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=300, extra_arguments=["--log-level=ERROR"])
    client.resources = {"metadata": {"path": str(HERE)}}
    client.execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.get("name") == "stderr":
                raise RuntimeError(f"cell {cell.id} wrote to the standard error: {output.text}")
    return notebook


def thumbnail(notebook: Any) -> bytes:
    """Return the picture of the cell that is tagged as such, small, as PNG."""
    from PIL import Image

    (cell,) = (c for c in notebook.cells if "thumbnail" in c.metadata.get("tags", ()))
    data = next(o.data["image/png"] for o in cell.outputs if "image/png" in o.get("data", {}))
    picture = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
    for width in WIDTHS:
        shape = (width, round(width * picture.height / picture.width))
        small = picture.resize(shape, Image.Resampling.LANCZOS).quantize(256)
        file = io.BytesIO()
        small.save(file, "PNG", optimize=True)
        if file.tell() <= LIMIT:
            return file.getvalue()
    raise RuntimeError(f"its picture takes more than {LIMIT} bytes; let it show less")


def main() -> int:
    """Run or strip notebooks, and return how many failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="names of notebooks; none for all of them")
    parser.add_argument("--strip", action="store_true", help="remove outputs, and run nothing")
    parser.add_argument("--thumbnails", action="store_true", help="write docs/gallery/*.png")
    parser.add_argument("--save", type=Path, help="a folder for the notebooks with their outputs")
    given = parser.parse_args()
    if given.strip:
        for path in notebooks(given.names):
            path.write_text(stripped(path.read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    # Threads of BLAS wait for each other where cores are busy; these matrices are small.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    failed = 0
    for path in notebooks(given.names):
        start = time.perf_counter()
        try:
            notebook = executed(path)
            if given.thumbnails:
                THUMBNAILS.mkdir(exist_ok=True)
                (THUMBNAILS / f"{path.stem}.png").write_bytes(thumbnail(notebook))
        except Exception as error:
            failed += 1
            print(f"{path.stem:25} failed\n{error}", flush=True)
            continue
        print(f"{path.stem:25} {time.perf_counter() - start:5.1f} s", flush=True)
        if given.save:
            given.save.mkdir(parents=True, exist_ok=True)
            (given.save / path.name).write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    return failed


if __name__ == "__main__":
    sys.exit(main())
