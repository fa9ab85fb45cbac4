"""A profile against plain references, and how it prints."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings

from headgate.learn.rules.column import QUANTILES, SHARES
from headgate.learn.rules.profile import profile
from headgate.values.errors import MisuseError
from headgate.values.schema import Kind
from tests.pages import HOSTILE, Seen, assert_harmless, terminal
from tests.strategies import tables

PRICES = [9.5, 3.0, None, 12.25, 3.0]
ORDERS = pa.table(
    {
        "price": PRICES,
        "text_price": [None if each is None else f" {each} " for each in PRICES],
        "region": ["EU", "US", "EU", "", "EU"],
        "day": [datetime.date(2026, 11, at) for at in range(1, 6)],
        "flag": [True, False, None, True, True],
        "tags": [["a"], None, [], ["b"], ["c"]],
    }
)


def test_numbers_are_summarised_whether_typed_or_written_in_texts() -> None:
    found = profile(ORDERS)
    expected = pd.Series(PRICES)
    for name in ("price", "text_price"):
        numbers = found[name].numbers
        assert numbers is not None
        assert (numbers.count, numbers.low, numbers.high) == (4, 3.0, 12.25)
        assert numbers.mean == pytest.approx(expected.mean())
        assert numbers.stddev == pytest.approx(expected.std(ddof=0))
        assert numbers.quantiles[2] == 3.0
    assert found["text_price"].looks_like == "fractional"
    assert found["price"].looks_like == "float"


def test_quantiles_are_within_the_sketchs_error_of_rank() -> None:
    values = np.random.default_rng(0).normal(size=20_000)
    numbers = profile(pa.table({"x": values}))["x"].numbers
    assert numbers is not None
    for q, found in zip(QUANTILES, numbers.quantiles, strict=True):
        assert abs((values <= found).mean() - q) < 0.02


def test_presence_values_patterns_and_lengths_are_counted() -> None:
    found = profile(ORDERS)
    region = found["region"]
    assert (region.rows, region.present, region.completeness, region.unique_ratio) == (5, 5, 1.0, 0.6)
    assert region.values is not None
    assert region.values.counts == {"EU": 3, "": 1, "US": 1}
    assert region.patterns is not None
    assert region.patterns.counts == {"A": 4, "": 1}
    assert region.lengths is not None
    assert (region.lengths.low, region.lengths.high, region.lengths.mean) == (0, 2, 1.6)
    assert found["tags"].kind is Kind.OTHER
    assert found["tags"].present == 4


def test_more_values_than_are_counted_say_how_far_off_they_may_be() -> None:
    values = [*(f"v{at}" for at in range(5_000)), *["often"] * 1_000]
    found = profile(pa.table({"c": values}))["c"].values
    assert found is not None
    assert 0 < found.error <= 6_000 / 100
    assert abs(found.counts["often"] - 1_000) <= found.error


def test_days_print_as_days() -> None:
    shown = repr(profile(ORDERS)["day"])
    assert "2026-11-01" in shown
    assert "2026-11-03" in shown


def test_texts_that_are_mostly_words_show_no_numbers() -> None:
    words = profile(pa.table({"c": ["a", "b", "12"]}))
    assert "12" not in repr(words).replace("12 33.3%", "")
    assert "mean" not in repr(words["c"]).replace("mean 1.33", "")


def test_only_the_columns_named_are_looked_at() -> None:
    assert list(profile(ORDERS, ["region", "price"])) == ["region", "price"]
    with pytest.raises(MisuseError, match=r"no column 'prise'.*Did you mean 'price'"):
        profile(ORDERS, ["prise"])


def test_a_column_that_is_not_there_is_named_in_the_error() -> None:
    with pytest.raises(KeyError, match="no column 'prise'"):
        profile(ORDERS)["prise"]


def test_it_prints_a_line_for_each_column_and_a_cell_for_notebooks() -> None:
    found = profile(ORDERS)
    lines = repr(found).splitlines()
    assert lines[0] == "5 rows, 8 columns"  # with tags.size() and tags[]
    assert len(lines) == 2 + 2 + 8
    assert "string: fractional" in repr(found)
    assert "EU 60.0%" in repr(found)
    assert found._repr_html_().count("<tr>") == 9
    assert Seen(found["price"]._repr_html_()).tags.count("table") == 2


WHOLE = pa.table(
    {"n": [1, 1, 2, 4], "x": [0.0, 1.0, 1.0, 12.0], "same": [7, 7, 7, 7], "big": [-1e308, 0.0, 1.0, 1e308]}
)


@pytest.mark.parametrize(("column", "picture"), [("n", "█▅▁▅"), ("x", "▅█▁▁▁▁▁▁▁▁▁▅"), ("same", ""), ("big", "")])
def test_how_numbers_lie_is_drawn(column: str, picture: str) -> None:
    """Whole numbers have a part each; a single value, or more room than a float has, has none."""
    found = profile(WHOLE)
    assert found[column].picture == picture
    if picture:
        assert picture in terminal(found, 150)
        assert picture in Seen(found._repr_html_()).said
        assert picture in terminal(found[column])
        assert picture not in repr(found) + repr(found[column])


def test_days_are_drawn_with_as_many_in_each_part() -> None:
    days = [datetime.date(2026, 11, 1) + datetime.timedelta(days=at) for at in range(28)]
    numbers = profile(pa.table({"day": days}))["day"].numbers
    assert numbers is not None
    assert numbers.shares == pytest.approx([3 / 28] * 9 + [1 / 28])


def test_numbers_written_in_texts_are_drawn_too_and_words_are_not() -> None:
    found = profile(pa.table({"t": ["1.5", "2", "9"], "w": ["a", "b", "3"]}))
    assert len(found["t"].picture) == SHARES
    assert found["w"].picture == ""


REGION = """\
          region
───────────────────────────────
type      string
rows      5
present   5 (100%)
distinct  3 (60.0%)
length    0 to 2, mean 1.6

value  count  share
────────────────────────────
EU         3  60.0%  ██████
""         1  20.0%  ██
US         1  20.0%  ██

pattern  count  share
────────────────────────────────
A            4  80.0%  ████████
""           1  20.0%  ██
"""


def test_a_column_in_a_terminal() -> None:
    shown = [line.strip("─").rstrip() for line in terminal(profile(ORDERS)["region"]).split("\n")]
    assert shown == [line.strip("─").rstrip() for line in REGION.split("\n")]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_values_are_only_text_wherever_they_are_shown(name: str) -> None:
    found = profile(pa.table({name: [name, name, None], "n": [1, 2, 3]}))
    assert_harmless(found)
    assert_harmless(found[name])


def test_more_columns_than_a_terminal_shows_are_announced() -> None:
    found = profile(pa.table({f"c{at}": [at] for at in range(130)}))
    assert repr(found).endswith("... and 30 more; profile.table().text() has them all")
    assert len(found.table().rows) == 130


def test_of_no_rows_nothing_is_known_and_nothing_breaks() -> None:
    found = profile(ORDERS.slice(0, 0))
    assert found.rows == 0
    assert found["price"].completeness is found["price"].unique_ratio is found["price"].numbers is None
    assert "—" in repr(found)
    assert repr(found["price"])


@settings(max_examples=50, deadline=None)
@given(tables())
def test_any_table_has_a_profile_that_prints_and_is_plain_data(table: pa.Table) -> None:
    found = profile(table)
    assert len(found) >= table.num_columns  # and the places inside nested ones
    assert repr(found)
    assert all(map(repr, found.values()))
    assert json.loads(json.dumps(found.to_dict()))["rows"] == table.num_rows


def test_frames_of_pandas_and_arrow_agree() -> None:
    frame = ORDERS.drop_columns(["tags", "flag", "day"])
    there, here = profile(frame.to_pandas()), profile(frame)
    assert {name: there[name].to_dict() | {"type": ""} for name in there} == {
        name: here[name].to_dict() | {"type": ""} for name in here
    }


def test_numbers_that_are_not_finite_are_counted_beside_the_others() -> None:
    table = pa.table({"x": [1.0, float("nan"), float("inf"), None, 3.0], "y": [1.0, 2.0, 3.0, 4.0, 5.0]})
    found = profile(table)
    assert found["x"].numbers is not None
    assert (found["x"].not_finite, found["x"].numbers.count, found["x"].numbers.high) == (2, 2, 3.0)
    assert "not finite  2 (50.0%)" in str(found["x"])
    assert "not finite" not in str(found["y"])
