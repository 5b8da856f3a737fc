"""Tables as text and as HTML."""

import pytest

from wengert.explain.tables import Bytes, Table


def test_numbers_are_aligned_to_the_right_and_texts_to_the_left():
    table = Table("title", ("name", "count", "size"), [("a", 5, Bytes(2048)), ("bcd", 1500, 10)])
    assert table.text().split("\n") == [
        "title",
        "name  count     size",
        "a         5  2.0 KiB",
        "bcd   1,500       10",
    ]


@pytest.mark.parametrize("width", [60, 100])
def test_a_long_text_loses_its_middle(width):
    line = "/home/somebody/" + "folder/" * 30 + "train.py:123"
    text = Table("", ("operation", "line"), [("exp", line), ("x" * 150, line)]).text(width)
    assert max(map(len, text.split("\n"))) <= width
    assert all(row.endswith("train.py:123") for row in text.split("\n")[1:])


def test_html_has_everything_and_no_tags_of_a_name():
    text = Table("<t>", ("name",), [("<lambda>",), ("y" * 200,)]).html()
    assert "&lt;lambda&gt;" in text and "y" * 200 in text and "&lt;t&gt;" in text
    assert text.count("<tr>") == 3


def test_a_table_without_rows_is_its_title():
    assert Table("nothing", ("a",), []).text() == "nothing"
    assert Table("nothing", ("a",), []).html() == "<table><caption>nothing</caption></table>"
