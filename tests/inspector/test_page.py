"""The page in a browser: `pytest -m browser`, with the extra `browser` and Chromium.

With SCREENSHOTS set to a folder, pictures of each view are written there: those in docs/inspector.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import wengert as wg
from tests.inspector import programs

pytestmark = pytest.mark.browser

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
#: What is asked of the page: an answer to a click, and a long tape to be there.
CLICK_MILLISECONDS, OPEN_SECONDS = 100, 3.0


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def inspected(text, tmp_path, *options):
    """Run `wengert inspect` on a program; yield the process and the page's address."""
    path = tmp_path / "program.py"
    path.write_text(text, "utf-8")
    command = [sys.executable, "-m", "wengert", "inspect", "--no-browser", *options, path.name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        yield process, re.search(r"http\S+", process.stdout.readline())[0]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextlib.contextmanager
def opened(chromium, address, **options):
    """Yield a page that is ready, and check that its script had no error."""
    context = chromium.new_context(viewport={"width": 1180, "height": 860}, **options)
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    page.wait_for_selector("body[data-ready=true]", timeout=60_000)
    yield page
    assert errors == []
    context.close()


@pytest.fixture
def network(chromium, tmp_path):
    with inspected(programs.NETWORK, tmp_path) as (_, address), opened(chromium, address) as page:
        yield page


@pytest.fixture(scope="module")
def truth():
    """The variables of the same program, with a tape that can be asked."""
    names = {}
    exec(programs.NETWORK, names)
    return names


def until(page, expression):
    """Wait until an expression is true; the page's policy lets nothing evaluate it there."""
    end = time.monotonic() + 60
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        time.sleep(0.02)


def screenshot(page, name):
    folder = os.environ.get("SCREENSHOTS")
    image = pytest.importorskip("PIL.Image")
    if folder:
        path = Path(folder) / f"{name}.png"
        page.screenshot(path=str(path))
        with image.open(path) as picture:  # of few colours, to be small
            few = picture.convert("RGB").quantize(96)
        few.save(path, optimize=True)


def canvas(page, name):
    return page.locator(f'figure[data-name="{name}"] canvas.map')


def at(page, name, row, column):
    """Return where on a map an element is drawn, as it is seen now."""
    place = page.evaluate(
        """([name, row, column]) => {
            const figure = [...state.figures.values()].find((f) => f.item.name === name);
            return [(column - figure.seen.left + 0.5) * figure.width + 1,
                    (row - figure.seen.top + 0.5) * figure.height + 1];
        }""",
        [name, int(row), int(column)],
    )
    return {"x": place[0], "y": place[1]}


def click(page, name, row, column, **options):
    page.evaluate("document.getElementById('answered')?.remove()")
    canvas(page, name).click(position=at(page, name, row, column), **options)
    if "modifiers" not in options:
        page.wait_for_selector("#answered")


def influence_read(page, name, row, column):
    """Return the number under the pointer."""
    canvas(page, name).hover(position=at(page, name, row, column))
    text = page.inner_text(f'figure[data-name="{name}"] .readout')
    return float(re.search("influence (.+)$", text)[1])


def test_a_click_shows_what_the_tape_says(network, truth):
    click(network, "smooth", 7, 11)
    tape = truth["tape"]
    of = truth["smooth"].at[7, 11]
    for name in ("image", "kernel", "edges", "bent"):
        expected = tape.gradient(of, truth[name]).numpy()
        rows, columns = np.nonzero(expected)
        for k in {0, len(rows) // 2, len(rows) - 1}:
            found = influence_read(network, name, rows[k], columns[k])
            np.testing.assert_allclose(found, expected[rows[k], columns[k]], rtol=1e-4)
    outside = influence_read(network, "image", rows.min(), max(0, columns.min() - 1))
    assert outside == tape.gradient(of, truth["image"]).numpy()[rows.min(), columns.min() - 1]
    assert "smooth[7, 11]" in network.inner_text("#selected")
    until(network, "document.getElementById('cost').textContent")
    assert "multiply-adds" in network.inner_text("#cost")
    screenshot(network, "influence")


def test_later_tensors_show_what_depends_on_the_selection(network, truth):
    click(network, "image", 9, 14)
    expected = truth["tape"].gradient(truth["score"], truth["image"]).numpy()[9, 14]
    np.testing.assert_allclose(influence_read(network, "score", 0, 0), expected, rtol=1e-4)


def test_a_drag_selects_several_elements(network, truth):
    canvas(network, "smooth").scroll_into_view_if_needed()
    box = canvas(network, "smooth").bounding_box()
    start, end = at(network, "smooth", 3, 4), at(network, "smooth", 6, 9)
    network.mouse.move(box["x"] + start["x"], box["y"] + start["y"])
    network.mouse.down()
    network.mouse.move(box["x"] + end["x"], box["y"] + end["y"], steps=5)
    network.mouse.up()
    network.wait_for_selector("#answered")
    assert "smooth[3:7, 4:10]" in network.inner_text("#selected")
    expected = truth["tape"].gradient(truth["smooth"].at[3:7, 4:10], truth["kernel"]).numpy()
    found = [[influence_read(network, "kernel", i, j) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_a_second_place_gives_the_derivative_and_the_chain(network, truth):
    click(network, "smooth", 7, 11)
    network.uncheck("#crop")
    click(network, "image", 8, 12, modifiers=["Shift"])
    network.wait_for_selector("#derivative-value")
    expected = truth["tape"].gradient(truth["smooth"].at[7, 11], truth["image"].at[8, 12])
    found = float(network.inner_text("#derivative-value"))
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-4)
    assert "tanh" in network.inner_text("#chain")
    screenshot(network, "derivative")


def test_where_there_is_no_path_the_page_says_why(network):
    click(network, "image", 8, 12)
    assert "No path" in network.inner_text('figure[data-name="rounded"] .note')
    click(network, "rounded", 8, 12, modifiers=["Shift"])
    network.wait_for_selector("#derivative pre")
    assert "floor" in network.inner_text("#derivative pre")


def test_it_can_be_used_with_the_keyboard(network, truth):
    canvas(network, "smooth").focus()
    for key in ["ArrowDown"] * 2 + ["ArrowRight"] * 3 + ["Shift+ArrowDown", "Enter"]:
        network.keyboard.press(key)
    network.wait_for_selector("#answered")
    assert "smooth[2:4, 3]" in network.inner_text("#selected")
    expected = truth["tape"].gradient(truth["smooth"].at[2:4, 3], truth["kernel"]).numpy()
    np.testing.assert_allclose(influence_read(network, "kernel", 1, 1), expected[1, 1], rtol=1e-4)
    canvas(network, "smooth").focus()
    network.keyboard.press("Escape")
    assert "Nothing is selected" in network.inner_text("#answer")
    network.locator("#tab-depends").focus()
    network.keyboard.press("ArrowRight")
    assert network.locator("#tape").is_visible()


def test_dark_mode(network):
    assert not network.evaluate("isDark()")
    light = network.evaluate("getComputedStyle(document.body).backgroundColor")
    network.click("#theme")
    assert network.evaluate("getComputedStyle(document.body).backgroundColor") != light
    click(network, "smooth", 7, 11)
    screenshot(network, "dark")
    network.click("#theme")
    assert network.evaluate("getComputedStyle(document.body).backgroundColor") == light


def test_dark_mode_follows_the_system(chromium, tmp_path):
    with (
        inspected(programs.NETWORK, tmp_path) as (_, address),
        opened(chromium, address, color_scheme="dark") as page,
    ):
        assert page.evaluate("isDark()")


def test_the_tape_lists_operations_with_lines_and_values(network, truth):
    network.click("#tab-tape")
    network.wait_for_selector("#nodes tbody tr")
    network.fill("#find-node", "tanh")
    until(network, "document.querySelectorAll('#nodes tbody tr').length === 1")
    row = network.inner_text("#nodes tbody tr")
    assert "bent" in row and "(22, 22)" in row and "program.py:13" in row
    network.click("#nodes tbody tr")
    network.wait_for_selector("#node figure")
    assert "bent = wg.tanh(edges)" in network.inner_text("#node .here")
    figures = network.locator("#node figure")
    assert figures.count() == 2
    cotangent = truth["tape"].gradient(truth["score"], truth["bent"]).numpy()
    high = float(figures.nth(1).locator(".scale span").nth(1).get_attribute("title"))
    np.testing.assert_allclose(high, np.abs(cotangent).max(), rtol=1e-4)
    network.click("#draw-graph")
    network.wait_for_selector("#graph svg")
    network.fill("#find-node", "")
    until(network, "document.querySelectorAll('#nodes tbody tr').length > 9")
    screenshot(network, "tape")


def test_a_node_of_the_graph_is_chosen_by_a_click_and_by_the_keyboard(network, truth):
    network.click("#tab-tape")
    network.wait_for_selector("#nodes tbody tr")
    network.select_option("#tape-target", label="score")
    network.click("#draw-graph")
    network.wait_for_selector("#graph svg g[tabindex]")
    boxes = network.locator("#graph svg g[tabindex]")
    bent = boxes.filter(has_text="tanh")
    bent.click()
    network.wait_for_selector("#node figure")
    assert "bent = wg.tanh(edges)" in network.inner_text("#node .here")
    number = network.inner_text("#node-title").partition(":")[0]
    assert network.get_attribute("#nodes tr.chosen", "data-number") == number
    value = network.locator("#node figure").first.locator(".scale span")
    ends = [float(value.nth(k).get_attribute("title")) for k in (0, 1)]
    expected = truth["bent"].numpy()
    np.testing.assert_allclose(ends, [expected.min(), expected.max()], rtol=1e-4)
    network.click("#theme")
    screenshot(network, "graph-dark")
    network.click("#theme")
    boxes.filter(has_text="kernel").first.focus()
    network.keyboard.press("Enter")
    until(network, "document.getElementById('node-title').textContent.includes('kernel')")


def test_a_nan_is_followed_to_where_it_began(chromium, tmp_path):
    with (
        inspected(programs.NOT_A_NUMBER, tmp_path) as (_, address),
        opened(chromium, address) as page,
    ):
        assert "1 element is NaN" in page.inner_text('figure[data-name="logs"] .note')
        page.click("#tab-tape")
        page.wait_for_selector("#nodes tbody tr.marked")
        assert page.locator("#nodes tbody tr.marked").count() == 3
        page.click("#born")
        page.wait_for_selector("#node-title")
        assert "logs" in page.inner_text("#node-title")
        assert "logs = wg.log(shifted)" in page.inner_text("#node .here")
        assert "log" in page.inner_text("#birth") and "[2]" in page.inner_text("#birth")
        screenshot(page, "nan")


def test_patterns(network):
    network.click("#tab-patterns")
    network.select_option("#pattern-target", label="smooth")
    network.select_option("#pattern-source", label="image")
    network.click("#find-pattern")
    until(network, "document.getElementById('pattern').width > 1")
    plan = wg.sparse.jacobian(_smooth, np.ones((24, 24)))
    text = network.inner_text("#pattern-text").replace(",", "")
    assert f"400 x 576 {plan.pattern.nnz} elements" in text
    screenshot(network, "pattern")
    network.select_option("#pattern-kind", "hessian")
    network.select_option("#pattern-target", label="score")
    network.select_option("#pattern-source", label="kernel")
    network.click("#find-pattern")
    until(network, "document.getElementById('pattern-text').textContent.startsWith('9 x 9')")
    network.select_option("#pattern-target", label="smooth")
    network.click("#find-pattern")
    until(network, "document.getElementById('pattern-text').textContent.includes('one number')")


def _smooth(image):
    """The function that the program computes, to be given an image."""
    text = programs.NETWORK.partition("tape.gradient")[0]
    for line in re.findall(r"\n *(?:image =|tape\.watch).*", text):
        text = text.replace(line, "")
    names = {"image": image}
    exec(text, names)
    return names["smooth"]


def test_training_is_shown_while_the_program_runs_and_can_be_stopped(chromium, tmp_path):
    with inspected(programs.TRAINING, tmp_path) as (_, address):
        context = chromium.new_context(viewport={"width": 1180, "height": 860})
        page = context.new_page()
        page.goto(address)
        page.click("#tab-training")
        until(page, "steps.length > 20")
        first = page.inner_text("#training-text")
        until(page, "steps.length > 60")
        assert page.inner_text("#training-text") != first
        assert "first:" in page.inner_text("#norm-chart") and "second:" in page.inner_text(
            "#norm-chart"
        )
        assert "running" in page.inner_text("#status")
        screenshot(page, "training")
        page.click("#stop")
        page.wait_for_selector("body[data-status=stopped][data-ready=true]", timeout=60_000)
        page.click("#tab-depends")
        click(page, "loss", 0, 0)
        assert np.isfinite(influence_read(page, "second", 3, 0))
        context.close()


def test_an_export_opens_from_a_file(chromium, tmp_path, truth):
    (tmp_path / "net.py").write_text(programs.NETWORK, "utf-8")
    page_file = tmp_path / "page.html"
    command = [sys.executable, "-m", "wengert", "inspect", "--export", str(page_file), "net.py"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    with opened(chromium, page_file.as_uri()) as page:
        click(page, "smooth", 7, 11)
        row, column = map(
            int, re.search(r"smooth\[(\d+), (\d+)\]", page.inner_text("#selected")).groups()
        )
        assert abs(row - 7) <= 2 and abs(column - 11) <= 2
        expected = truth["tape"].gradient(truth["smooth"].at[row, column], truth["kernel"]).numpy()
        np.testing.assert_allclose(influence_read(page, "kernel", 1, 2), expected[1, 2], rtol=1e-4)
        page.click("#tab-tape")
        page.wait_for_selector("#nodes tbody tr")
        page.click("#nodes tbody tr:nth-child(3)")
        page.wait_for_selector("#node figure")


def test_two_browsers_at_once(chromium, tmp_path, truth):
    with inspected(programs.NETWORK, tmp_path) as (_, address):
        pair = opened(chromium, address), opened(chromium, address)
        with pair[0] as one, pair[1] as other:
            click(one, "smooth", 7, 11)
            click(other, "smooth", 2, 3)
            for page, place in ((one, (7, 11)), (other, (2, 3))):
                expected = (
                    truth["tape"].gradient(truth["smooth"].at[place], truth["kernel"]).numpy()
                )
                found = influence_read(page, "kernel", 0, 0)
                np.testing.assert_allclose(found, expected[0, 0], rtol=1e-4)


def test_a_closed_browser_leaves_no_process(chromium, tmp_path):
    with inspected(programs.NETWORK, tmp_path) as (process, address):
        with opened(chromium, address) as page:
            page.reload()
            page.wait_for_selector("body[data-ready=true]")
            assert process.poll() is None
        assert process.wait(timeout=15) == 0


def test_a_page_that_is_left_open_says_that_the_process_has_ended(chromium, tmp_path):
    with (
        inspected(programs.NETWORK, tmp_path) as (process, address),
        opened(chromium, address) as page,
    ):
        process.send_signal(signal.SIGKILL)
        page.wait_for_selector("#unreachable", timeout=15_000)
        assert "has ended" in page.inner_text("#unreachable")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("raise ValueError('broken data')", "ValueError: broken data"),
        ("x = 1", "recorded nothing"),
        (programs.NETWORK + "\n1 / 0", "ZeroDivisionError"),
    ],
)
def test_programs_that_go_wrong(chromium, tmp_path, text, says):
    with inspected(text, tmp_path) as (_, address), opened(chromium, address) as page:
        assert says in page.inner_text("#message")


def test_complex_numbers_and_tensors_without_elements(chromium, tmp_path):
    text = """
import wengert as wg
z = wg.asarray([1 + 2j, 3 - 1j])
e = wg.zeros((0, 3))
with wg.GradientTape() as tape:
    tape.watch([z, e])
    y = z * z
    n = e + 1.0
"""
    with inspected(text, tmp_path) as (_, address), opened(chromium, address) as page:
        assert "magnitudes" in page.inner_text('figure[data-name="y"] .note')
        click(page, "y", 0, 1)
        found = influence_read(page, "z", 0, 1)
        np.testing.assert_allclose(found, 2 * abs(3 - 1j), rtol=1e-5)
        page.click("#choose summary")
        page.check("#tensor-list label:has-text('n (') input")
        page.wait_for_selector('figure[data-name="n"] .note:text("no elements")')


def test_a_click_on_a_large_network_is_answered_at_once(chromium, tmp_path):
    with (
        inspected(programs.SIX_CONVOLUTIONS, tmp_path) as (_, address),
        opened(chromium, address) as page,
    ):
        times = []
        for k in range(6):
            click(page, "y", 100 + k, 60 + 20 * k)
            times.append(
                page.evaluate("Number(document.getElementById('answered').dataset.milliseconds)")
            )
        print("milliseconds:", [round(t) for t in times])
        assert min(times[1:]) <= CLICK_MILLISECONDS
        screenshot(page, "network")


def opening_a_long_tape(chromium, folder):
    """Return the seconds from a program's end to its page, and look around on the page."""
    with inspected(programs.LONG, folder) as (process, address):
        context = chromium.new_context()
        page = context.new_page()
        page.goto(address)
        ended = float(process.stdout.readline().split()[1])
        page.wait_for_selector("body[data-ready=true]", timeout=60_000)
        opening = time.time() - ended
        page.click("#tab-tape")
        page.wait_for_selector("#nodes tbody tr", timeout=60_000)
        assert "100,002" in page.inner_text("#rows-shown")
        page.click("#after")
        until(page, "document.getElementById('rows-shown').textContent.startsWith('51')")
        page.click("#nodes tbody tr:nth-child(2)")
        page.wait_for_selector("#node .here", timeout=60_000)
        context.close()
    return opening


def test_a_tape_of_100_000_nodes_opens_and_is_navigable(chromium, tmp_path):
    times = []
    while not times or (min(times) > OPEN_SECONDS and len(times) < 4):  # others may compute, too
        times.append(opening_a_long_tape(chromium, tmp_path))
    print("seconds:", [round(t, 2) for t in times])
    assert min(times) <= OPEN_SECONDS


def test_nothing_serious_is_wrong_with_its_accessibility(network):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for tab in ("#tab-depends", "#tab-tape", "#tab-patterns", "#tab-training"):
        network.click(tab)
        if tab == "#tab-depends":
            click(network, "smooth", 7, 11)
        for _ in range(2):
            found = axe.run(network).response["violations"]
            serious = [
                (v["id"], v["nodes"][0]["html"])
                for v in found
                if v["impact"] in ("serious", "critical")
            ]
            assert serious == [], tab
            network.click("#theme")
