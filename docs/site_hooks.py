"""What mkdocs does beside building docs/: pages of the root's documents, and sessions as such.

Documents link to each other as they do in the repository. On the site the documents of the root
are pages too, so links to them, and theirs into docs/, are written anew.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
#: Documents of the root, and where they are on the site.
PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents of the root."""
    for name, page in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return a page with links to where documents are, and sessions marked for highlighting."""
    folder = posixpath.dirname(page.file.src_uri)
    for name, target in PAGES.items():
        there = posixpath.relpath(target, folder or ".")
        markdown = re.sub(rf"\]\((\.\./)+{re.escape(name)}", f"]({there}", markdown)
    return markdown.replace("```python\n>>>", "```pycon\n>>>")
