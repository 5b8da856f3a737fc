"""The page: one file of HTML with its style and its script, for the server and for exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def rendered(nonce: str = "", embedded: Any = None) -> str:
    """Return the page; with `embedded` answers, one that needs no server."""
    text = (_HERE / "page.html").read_text("utf-8")
    data = json.dumps(embedded).replace("</", "<\\/")
    parts = {
        "/*style*/": (_HERE / "page.css").read_text("utf-8"),
        "/*script*/": (_HERE / "page.js").read_text("utf-8"),
        "/*embedded*/": f"const EMBEDDED = {data};",
        "NONCE": nonce,
    }
    for mark, part in parts.items():
        text = text.replace(mark, part, 2 if mark == "NONCE" else 1)
    return text
