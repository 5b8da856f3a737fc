"""What mkdocs does with the notebooks: each is a page of the site, below the gallery.

Documents link to notebooks as they do in the repository; on the site these links lead to pages.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

NOTEBOOKS = sorted(Path(__file__).resolve().parent.glob("*.ipynb"))


def page_of(path: Path) -> str:
    """Return a notebook as Markdown, with its picture after the cell that draws it."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    title = cells[0]["source"][0].strip("# \n")
    parts = []
    for cell in cells:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        if "thumbnail" in cell["metadata"].get("tags", ()):
            parts.append(f"![{title}]({path.stem}.png)")
    parts.append(f"This page is the notebook `examples/{path.name}` of the repository.")
    return "\n\n".join(parts) + "\n"


def with_notebooks(entry: Any) -> Any:
    """Return an entry of the navigation, with the notebooks below the gallery."""
    if isinstance(entry, list):
        return [with_notebooks(each) for each in entry]
    if not isinstance(entry, dict):
        return entry
    pages = ["gallery.md", *(f"gallery/{path.stem}.md" for path in NOTEBOOKS)]
    return {
        title: pages if part == "gallery.md" else with_notebooks(part)
        for title, part in entry.items()
    }


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the notebooks into the navigation."""
    config.nav = with_notebooks(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook."""
    for path in NOTEBOOKS:
        uri = f"gallery/{path.stem}.md"
        files.append(File.generated(config, uri, content=page_of(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return a page whose links to notebooks lead to their pages."""
    there = posixpath.relpath("gallery", posixpath.dirname(page.file.src_uri) or ".")
    return re.sub(r"\]\((?:\.\./)+examples/(\w+)\.ipynb", rf"]({there}/\1.md", markdown)
