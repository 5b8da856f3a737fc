"""What a notebook shows of tensors, variables, blocks, products, plans and tapes."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import wengert as wg
from wengert.explain import html
from wengert.explain.colours import diverging, shares


class Checked(HTMLParser):
    """A piece of HTML whose tags are closed in order; `rows` has the texts of its cells."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.caption = [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["figcaption"] or self.open[-1:] == ["pre"]:
            self.caption += data
        elif self.open[-1:] in (["td"], ["th"]):
            self.rows[-1][-1] += data


def shown(thing):
    return Checked(thing._repr_html_())


def backgrounds(text):
    return re.findall(r"background:rgb\((\d+),(\d+),(\d+)\)", text)


def test_a_variable_is_a_table_with_its_name_and_no_read():
    w = wg.Variable([[1.0, -2.5]], name="<w>", trainable=False)
    page = shown(w)
    assert page.rows == [["1", "-2.5"]]
    assert page.caption == "Variable '<w>', shape (1, 2), float64, not trainable"
    v = wg.Variable([1.0])
    with wg.GradientTape() as tape:
        v._repr_html_()
    assert tape.watched_variables() == ()
    assert "<pre>" in wg.Variable(np.zeros((30, 30)))._repr_html_()


def test_a_block_is_a_heat_map_of_its_values():
    x = wg.ones((5, 4))
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(x[1:3, 1:3] * np.array([[4.0, -4.0], [0.0, 1.0]]))
    block = tape.gradient(y, x, dense=False)
    page = shown(block)
    assert page.caption == "Block(shape=(5, 4), nonzero=[1:3, 1:3]), 32 bytes"
    assert page.rows == [["4", "-4"], ["0", "1"]]
    red, blue, pale, weak = (tuple(map(int, c)) for c in backgrounds(block._repr_html_()))
    assert red == diverging(1.0) and blue == diverging(-1.0)
    assert pale == diverging(0.0) and weak == diverging(0.25)


def test_text_on_a_cell_has_contrast():
    """By the formula of WCAG: 4.5 to 1 at least, whatever the page's own colours are."""

    def luminance(colour):
        parts = [c / 255 for c in colour]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for share in np.linspace(-1, 1, 101):
        colour = diverging(share)
        ink = re.search(r";color:(#\w+)", html._cell("1", colour, "", ""))[1]
        light, dark = sorted((luminance(colour), {"#000": 0.0, "#fff": 1.0}[ink]), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, share


def test_a_masked_block_shows_zeros_where_the_mask_does_not_hold():
    x = wg.asarray([0.0, 4.0, 9.0])
    with wg.GradientTape() as tape, np.errstate(all="ignore"):
        tape.watch(x)
        y = wg.sum(wg.where(x > 0, wg.sqrt(x), 0.0)[:2])
    block = tape.gradient(y, x, dense=False)
    assert shown(block).rows == [["0", "0.25"]]


def test_a_large_block_has_a_cell_for_each_part():
    values = np.zeros((200, 70))
    values[199, 69] = -3.0
    values[0, 0] = 3.0
    block = wg.Block((200, 70), (range(200), range(70)), values)
    page = block._repr_html_()
    assert [len(row) for row in Checked(page).rows] == [64] * 64
    colours = backgrounds(page)
    assert tuple(map(int, colours[0])) == diverging(1.0)
    assert tuple(map(int, colours[-1])) == diverging(-1.0)
    assert len(set(colours)) == 3


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        (np.zeros((1, 0)), []),
        (np.array([[np.nan, np.inf, 1.0]]), [["nan", "inf", "1"]]),
        (np.array([[3 + 4j, 0]]), [["3+4j", "0+0j"]]),
        (np.float64(2.0).reshape(1, 1), [["2"]]),
    ],
)
def test_blocks_of_unusual_numbers(values, rows):
    block = wg.Block(values.shape, tuple(map(range, values.shape)), values)
    assert shown(block).rows == rows


def test_a_block_of_several_axes_is_text():
    values = np.ones((2, 2, 2))
    block = wg.Block((4, 4, 4), (range(2),) * 3, values)
    assert "<pre>" in block._repr_html_()


def test_gathered_rows_are_shown():
    table = wg.Variable(np.ones((10, 2)))
    with wg.GradientTape() as tape:
        y = wg.sum(wg.take(table, [7, 3, 7], axis=0) * np.array([[1.0], [2.0], [3.0]]))
    block = tape.gradient(y, table, dense=False)
    assert shown(block).rows == [["1", "1"], ["2", "2"], ["3", "3"]]


def test_the_block_of_an_element_of_a_product_is_a_row():
    x, y = np.arange(6.0).reshape(2, 3), np.array([[3.0, 1.0], [-4.0, 2.0], [0.5, 0.0]])
    x = wg.asarray(x)
    with wg.GradientTape() as tape:
        tape.watch(x)
        z = x @ y
    page = shown(tape.gradient(z.at[0, 0], x, dense=False))
    assert page.caption == "Block(shape=(2, 3), nonzero=[0, 0:3]), 24 bytes"
    assert page.rows == [["3", "-4", "0.5"]]  # the first column of y


@pytest.mark.parametrize("library", ["tensors", "arrays"])
def test_a_product_is_its_factors_side_by_side(library):
    w = wg.Variable(np.ones((3, 40)))
    x, c = np.array([[1.0, -2.0, 4.0]]), np.linspace(-1.0, 1.0, 40)
    with wg.GradientTape() as tape:
        loss = wg.sum(x @ w * c)
    found = tape.gradient(loss, w, dense=False)
    assert type(found) is wg.Factored
    if library == "arrays":
        found = wg.Factored(np.asarray(found.left), np.asarray(found.right))
    page = shown(found)
    assert page.caption == "Factored(shape=(3, 40), terms=1), 344 bytesleftright"
    left, right = page.rows[:3], page.rows[3:]
    assert left == [["1"], ["-2"], ["4"]]
    assert right == [[f"{v:.3g}" for v in c]]
    large = wg.Factored(np.ones((4096, 2)), np.ones((2, 300)))
    assert [len(row) for row in shown(large).rows] == [2] * 64 + [64] * 2


def test_a_plan_is_its_pattern():
    plan = wg.sparse.jacobian(lambda x: x[1:] * x[:-1], np.ones(4))
    page = plan._repr_html_()
    assert Checked(page).caption == "sparse.jacobian of <lambda>: 3 x 4, 6 elements (50.00%), " \
        "1 sweep (reverse)"  # fmt: skip
    strength = np.array(re.findall(r"rgba\(90,110,220,([\d.]+)\)", page), float).reshape(3, 4)
    assert (strength == plan.pattern.toarray()).all()
    large = wg.sparse.jacobian(lambda x: x[1:] * x[:-1], np.ones(1000))
    assert [len(row) for row in shown(large).rows] == [64] * 64
    nothing = wg.sparse.jacobian(lambda x: x[:0], np.ones(3))
    assert shown(nothing).rows == []


def test_a_tape_says_what_it_does_and_watches():
    w = wg.Variable(np.ones((2, 3)), name="w")
    tape = wg.GradientTape()
    assert "closed" in shown(tape).caption
    with tape:
        y = wg.sum(w**2)
        assert shown(tape).caption == "GradientTape, recording"
        with tape.stop_recording():
            assert "paused" in shown(tape).caption
    assert shown(tape).rows == [
        ["variable", "shape", "dtype", "elements"],
        ["w", "(2, 3)", "float64", "6"],
    ]
    tape.gradient(y, w)
    assert re.search(r"asked once, at .*test_html\.py:\d+", shown(tape).caption)
    assert "persistent" in shown(wg.GradientTape(persistent=True)).caption


def test_shares_of_zeros_and_of_what_is_not_finite():
    assert shares(np.zeros(2)).tolist() == [0.0, 0.0]
    assert np.isnan(shares([np.nan, 1.0])[0])
    assert shares([np.inf, 2.0]).tolist() == [np.inf, 1.0]
    assert shares([]).tolist() == []
