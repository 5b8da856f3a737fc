"""The site, built by mkdocs and opened in Chromium.

It needs the extras `docs` and `browser`, and Chromium: the system's, or Playwright's own
(``playwright install chromium``).
"""

import functools
import html.parser
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.parse
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Return the folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def address(built):
    """Return the address of the site, served on loopback."""
    handler = functools.partial(Quiet, directory=str(built))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright

    options = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    with sync_playwright() as playwright:
        found = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=found, args=options)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, address):
    """Return a function that opens a page of the site, and fails if it asks for anything else."""
    contexts = []

    def opened(page="", scheme="light"):
        context = chromium.new_context(
            color_scheme=scheme,
            viewport={"width": 1280, "height": 900},
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        tab = context.new_page()
        asked = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(address + page, wait_until="networkidle")
        elsewhere = [url for url in asked if not url.startswith((address, "data:", "blob:"))]
        assert elsewhere == []
        return tab

    yield opened
    for context in contexts:
        context.close()


# -- links ------------------------------------------------------------------------------------


class References(html.parser.HTMLParser):
    """The anchors of a page, and what it refers to."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.targets = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value is not None:
                self.targets.add(value)


def test_every_reference_within_the_site_leads_somewhere(built):
    pages = {path: References(path.read_text(encoding="utf-8")) for path in built.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":  # whose links are from wherever it is shown
            continue
        for target in page.targets:
            url = urllib.parse.urlsplit(target)
            if url.scheme or url.netloc:
                continue
            file = urllib.parse.unquote(url.path)
            other = (path.parent / file).resolve() if file else path
            if other.is_dir():
                other /= "index.html"
            anchor = urllib.parse.unquote(url.fragment)
            known = pages[other].anchors if other in pages else {anchor}
            if not other.is_file() or (anchor and anchor not in known):
                broken.append((path.relative_to(built).as_posix(), target))
    assert broken == []
    assert len(pages) > 40


def test_no_program_is_published(built):
    assert list(built.rglob("*.py")) == []


# -- in a browser -----------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["", "gallery/", "how-to/tapes/", "api/tape/", "reference/"])
def test_there_is_no_serious_accessibility_problem(opened, page, scheme):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(opened(page, scheme)).response["violations"]
    serious = [
        f"{each['id']}: {each['help']}: {node['html'][:120]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"][:3]
    ]
    assert serious == []


@pytest.mark.parametrize(("scheme", "shown"), [("light", "default"), ("dark", "slate")])
def test_colours_follow_the_system_until_one_is_chosen(opened, scheme, shown):
    tab = opened("", scheme)
    body = tab.locator("body")
    assert body.get_attribute("data-md-color-scheme") == shown
    picture = tab.locator(".picture img:visible")
    assert picture.count() == 1
    assert re.search(rf"element-{scheme}\.svg", picture.get_attribute("src"))
    seen = []
    for _ in range(3):  # light, dark, and the system's again
        tab.locator("form[data-md-component=palette] label:visible").click()
        seen.append(body.get_attribute("data-md-color-scheme"))
    assert seen == ["default", "slate", shown]


def test_search_finds_a_page(opened):
    tab = opened()
    tab.keyboard.press("/")
    tab.keyboard.type("CutPathError")
    first = tab.locator(".md-search-result__link").first
    first.wait_for()
    assert "missing-gradients" in " ".join(
        link.get_attribute("href") for link in tab.locator(".md-search-result__link").all()
    )


def test_a_copied_session_is_a_program(opened):
    tab = opened("tutorial/")
    block = tab.locator(".highlight", has_text="tape.gradient(y, x)").first
    block.hover()
    block.locator("[data-clipboard-target], .md-code__button").first.click()
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert ">>>" not in copied and "Tensor(" not in copied
    assert copied.strip().endswith("tape.gradient(y, x)")
    compile(copied, "copied", "exec")


def test_the_reference_shows_sources(opened):
    tab = opened("api/transforms/")
    assert tab.locator("details", has_text="Source code in").count() > 20
