"""A page says the same as text, in a terminal and in a notebook, whatever the data say."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.display.blocks import LONGEST, Command, Commands, Fact, Facts, Grid, Mark, Note, Point, Points, Tone
from headgate.display.html import _COLOURS
from headgate.display.page import Page, Paged
from headgate.display.sparkline import draw_bar, sparkline
from headgate.display.table import Table
from headgate.display.text import clean
from tests.pages import HOSTILE, Seen, assert_harmless, terminal

TABLE = Table(("", "metric", "value"), (("✗", "mean(price)", "7"), ("✓", "size()", "1,000")), frozenset({2}))
MARKS = (Mark(Tone.BAD, "fail"), Mark(Tone.GOOD, "pass"))
PAGE = Page(
    "FAIL: one thing is wrong.",
    Tone.BAD,
    "FAIL",
    (
        Points((Point("the mean is 7", ("expected 5", "declared"), "1."),), "... and 2 more"),
        Points((Point("no owner", mark="warning:", tone=Tone.UNSURE),)),
        Facts((Fact("Budget", "1%"), Fact("What changed", "nothing"))),
        Commands((Command("gate.accept('d',", 'note="why")', "teaches"), Command("gate.reject('d')"))),
        Grid(TABLE, "All of it", marks=MARKS, pictures=("▁█", "█▁"), pictured=2, picture="shape"),
        Note("Two of them."),
        Note("The end.", apart=True),
        Grid(Table(("hidden",), (("row",),)), folded="One more"),
    ),
)

TEXT = """\
FAIL: one thing is wrong.
  1. the mean is 7
     expected 5
     declared
  ... and 2 more
  warning: no owner
  Budget: 1%
  What changed: nothing
  Then: gate.accept('d', note="why")   # teaches
        gate.reject('d')

All of it
   metric       value
─  ───────────  ─────
✗  mean(price)      7
✓  size()       1,000
Two of them.

The end."""

SCREEN = """\
 FAIL  one thing is wrong.

  1. the mean is 7
     expected 5
     declared
  ... and 2 more

  warning: no owner

  Budget:       1%
  What changed: nothing

  Then:
    gate.accept('d', note="why")
      teaches
    gate.reject('d')

All of it
        metric       shape  value
─────────────────────────────────
✗ fail  mean(price)  ▁█         7
✓ pass  size()       █▁     1,000
Two of them.

The end.
"""


def trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n"))


def test_the_plain_text_of_a_page() -> None:
    assert PAGE.text() == TEXT
    assert str(PAGE) == TEXT


def test_the_same_in_a_terminal() -> None:
    assert trimmed(terminal(PAGE, 70)) == SCREEN


def test_the_same_in_a_notebook() -> None:
    said = [each for each in Seen(PAGE.html()).said if each.strip()]
    assert said[:5] == ["FAIL", "one thing is wrong.", "1.", "the mean is 7", "expected 5"]
    assert " ".join(said).endswith("✓ pass size() █▁ 1,000 Two of them. The end. One more hidden row")


def test_what_a_notebook_folds_is_in_no_terminal() -> None:
    assert "hidden" not in PAGE.text() + terminal(PAGE)
    assert Seen(PAGE.html()).tags.count("details") == 1


def test_colours_stress_words_and_never_stand_for_them() -> None:
    coloured = terminal(PAGE, 70, colours=True)
    assert "\x1b[1;37;41m FAIL \x1b[0m" in coloured
    assert "\x1b[1;31m✗ fail\x1b[0m" in coloured
    assert "\x1b[1;32m✓ pass\x1b[0m" in coloured
    assert trimmed(re.sub(r"\x1b\[[\d;]*m", "", coloured)) == SCREEN


@pytest.mark.parametrize("tone", Tone)
def test_a_badge_reads_on_any_background(tone: Tone) -> None:
    """White on its own colour, at least 4.5 to 1 (WCAG 2, relative luminance)."""
    parts = [int(_COLOURS[tone][at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    luminance = sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    assert 1.05 / (luminance + 0.05) >= 4.5


def test_text_has_the_colour_of_the_notebook_but_on_badges() -> None:
    for style in Seen(PAGE.html()).styles:
        colour = re.search(r"(?<![-\w])color:([^;]+)", style)
        assert colour is None or colour[1] == "inherit" or "background:#" in style


# --- whatever the data say

texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=20))


@st.composite
def pages(draw: st.DrawFn) -> Page:
    one = draw(texts)
    rows = draw(st.lists(st.tuples(texts, texts, texts), max_size=3))
    numeric = frozenset(draw(st.sets(st.integers(0, 2))))
    marks = tuple(Mark(draw(st.sampled_from(Tone)), draw(texts)) for _ in rows)
    blocks = (
        Note(draw(texts)),
        Points((Point(draw(texts), (one,), "1."), Point(one, mark="warning:", tone=Tone.UNSURE))),
        Facts((Fact("Owner", draw(texts)),)),
        Grid(Table((draw(texts), one, ""), tuple(rows), numeric), draw(texts), marks=marks, marked=1),
    )
    return Page(draw(texts), draw(st.sampled_from(Tone)), draw(st.sampled_from(["", "FAIL"])), blocks)


@settings(max_examples=80, deadline=None)
@given(pages())
def test_no_page_has_a_tag_of_the_data_or_moves_a_cursor(page: Page) -> None:
    assert_harmless(page)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_shown_as_it_is(name: str) -> None:
    page = Page("x", blocks=(Points((Point(name, mark="1."),)), Grid(Table(("a",), ((name,),)))))
    shown = clean(name, 190)
    assert "".join(shown.rstrip("…").split()) in "".join(terminal(page, 80).split())
    assert shown.rstrip("…") in Seen(page.html()).text
    assert shown.rstrip("…") in page.text()


def test_a_long_name_is_cut_and_does_not_bury_the_rest() -> None:
    page = Page("x" * 5_000, blocks=(Note("y" * 5_000), Facts((Fact("z", "the rest"),))))
    assert len(page.text()) < 3 * LONGEST
    assert page.text().endswith("y\n  z: the rest")


def test_what_is_said_of_a_long_name_is_not_cut() -> None:
    said = f"{'x' * 5_000} is 33.3% empty"
    page = Page("x", blocks=(Points((Point(said, mark="1."),)), Grid(Table(("a",), ((said,),)))))
    for shown in (page.text().split("\n\n")[0], terminal(page, 200), Seen(page.html()).text):
        assert "is 33.3% empty" in shown
    assert terminal(page, 200).count("33.3% empty") == 2


def test_a_command_is_never_cut() -> None:
    long = f"gate.accept({'p' * 3_000!r})"
    page = Page("x", blocks=(Commands((Command(long),)),))
    assert long in page.text()
    assert long in Seen(page.html()).text
    assert long in "".join(terminal(page, 60).split())


# --- tables


def test_a_table_that_is_too_wide_becomes_paragraphs() -> None:
    table = Table(("column", "present", "mean"), (("price", "100%", "1" * 30), ("", "", "")), frozenset({1, 2}))
    assert trimmed(terminal(table, 40)).split("\n") == ["price", "  present 100%", f"  mean {'1' * 30}", "", ""]
    assert terminal(table, 80).split("\n")[0].split() == ["column", "present", "mean"]


def test_a_paragraph_of_a_number_says_which() -> None:
    table = Table(("budget", "caught", "why"), (("1%", "7", "y" * 18),), frozenset({0, 1}))
    assert trimmed(terminal(table, 25)) == f"budget 1%\n  caught 7\n  why {'y' * 18}\n"


def test_a_table_shows_itself() -> None:
    assert str(TABLE) == TABLE.text()
    assert TABLE._repr_html_() == TABLE.html()
    assert "mean(price)" in terminal(TABLE)


def test_rows_beyond_the_text_are_drawn() -> None:
    page = Page(blocks=(Grid(Table(("", "price"), (("min", "1"),)), beyond=(("shape", "▁█"),)),))
    assert "shape" not in page.text()
    assert "▁█" in terminal(page)
    assert "▁█" in page.html()


# --- small things


def test_a_shell_command_that_is_too_long_goes_on_as_a_shell_reads_it() -> None:
    commands = Commands((Command("printf '%s|'", "'a  b' c", "prints"),), shell=True)
    page = Page("x", blocks=(commands,))
    assert commands.text() == "  Then: printf '%s|' 'a  b' c\n          prints"
    for width in (22, 80):
        lines = terminal(page, width).split("\n")
        code = "\n".join(lines[lines.index("  Then:") + 1 : -2])
        assert (" \\" in code) == (width == 22)
        found = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
        assert found.stdout == "a  b|c|"


def test_sparks_show_what_is_there() -> None:
    assert sparkline([]) == ""
    assert sparkline([0.0, 1e-9, 0.5, 1.0]) == "▁▂▅█"
    assert sparkline([0.0, 0.0]) == "▁▁"


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_longer_bar_is_a_larger_share(one: float, two: float) -> None:
    order = " ▏▎▍▌▋▊▉█"
    drawn = [[order.index(char) for char in draw_bar(each, 4)] for each in sorted([one, two])]
    assert sum(drawn[0]) <= sum(drawn[1]) <= 32


def test_what_says_its_page_shows_itself_everywhere() -> None:
    class Small(Paged):
        def page(self) -> Page:
            return Page("small")

    assert (repr(Small()), str(Small()), terminal(Small())) == ("small", "small", "small\n")
    assert Seen(Small()._repr_html_()).text == "small"


def test_rich_is_not_imported_before_it_is_needed() -> None:
    code = "import sys, headgate.display.page as p; p.Page('x').html(); print('rich' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
