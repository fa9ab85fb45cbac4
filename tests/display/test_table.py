"""A table prints aligned and escapes whatever the data say."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.display.blocks import LONGEST
from headgate.display.table import Table
from headgate.display.text import shorten
from tests.pages import Seen
from tests.strategies import names

cells = st.one_of(
    names(), st.sampled_from(["<script>alert(1)</script>", "<img src=x onerror=y>", "&lt;", "'\"", "-->"])
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    width = draw(st.integers(1, 4))
    row = st.tuples(*[cells] * width)
    return Table(draw(row), tuple(draw(st.lists(row, max_size=4))), frozenset(draw(st.sets(st.integers(0, width - 1)))))


@settings(max_examples=150)
@given(tables(), cells)
def test_html_has_no_tag_of_the_data_and_all_of_its_text(table: Table, caption: str) -> None:
    seen = Seen(table.html(caption))
    assert set(seen.tags) <= {"div", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    cells = [shorten(cell, 300) for row in (table.headers, *table.rows) for cell in row]
    assert seen.said == [text for text in (shorten(caption, LONGEST), *cells) if text]


@settings(max_examples=150)
@given(tables())
def test_text_has_one_line_for_each_row_and_nothing_that_moves_the_cursor(table: Table) -> None:
    lines = table.text().split("\n")
    assert len(lines) == 2 + len(table.rows)
    assert all(character.isprintable() for line in lines for character in line)


def test_long_cells_are_cut_with_an_ellipsis() -> None:
    table = Table(("a", "b"), (("x" * 100, "y" * 100),))
    assert table.text(widest=10, last=20).split("\n")[2] == "x" * 9 + "…  " + "y" * 19 + "…"


def test_numbers_stand_on_the_right_and_text_on_the_left() -> None:
    table = Table(("name", "n"), (("a", "1"), ("long name", "1,000")), frozenset({1}))
    assert table.text() == "name           n\n─────────  ─────\na              1\nlong name  1,000"


def test_wide_and_combining_characters_keep_the_columns_aligned() -> None:
    lines = Table(("a", "b"), (("中文", "x"), ("e\u0301", "x"), ("abcd", "x"))).text().split("\n")
    assert [re.sub(r"[^ x]", "", line).count(" ") for line in lines[2:]] == [2, 5, 2]
