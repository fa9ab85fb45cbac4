"""Rows that are missing."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.diagnose.history import BOTH, ROWS, change, diagnose_one, draw_rows, list_names, make_day


@BOTH
@pytest.mark.parametrize("kept", [200, 40])
def test_the_share_of_missing_rows_is_named(kept: int, hide: bool) -> None:
    found = diagnose_one(draw_rows(make_day(), kept), hide)
    assert (found.fault, found.columns) == ("rows_missing", ())
    assert found.parameters["share"] == pytest.approx(1 - kept / ROWS, abs=0.03)
    assert found.sentence.endswith("% of the rows are missing")


@BOTH
def test_a_group_that_is_missing_is_named_by_its_column(hide: bool) -> None:
    kept = make_day().filter(pc.not_equal(make_day()["city"], "München"))
    found = diagnose_one(kept, hide)
    assert (found.fault, found.columns) == ("rows_missing", ("city",))
    assert found.parameters["share"] == pytest.approx(1 - len(kept) / len(make_day()), abs=0.05)


def test_rows_that_are_missing_after_some_time_are_named_by_its_column() -> None:
    found = diagnose_one(make_day().take(pc.sort_indices(make_day()["ordered_at"])).slice(0, 200))
    assert (found.fault, found.columns) == ("rows_missing", ("ordered_at",))
    assert found.sentence.endswith("those at one end of ordered_at")


def test_a_batch_without_rows_is_named() -> None:
    found = diagnose_one(make_day().slice(0, 0))
    assert (found.fault, found.sentence) == ("rows_missing", "no rows came")


def test_a_value_that_is_renamed_is_no_missing_group() -> None:
    broken = change(make_day(), "city", lambda value: "Spree-Athen" if value == "Berlin" else value)
    assert list_names(broken) == ["category_renamed"]


def test_more_rows_are_no_missing_rows() -> None:
    assert "rows_missing" not in list_names(pa.concat_tables([make_day(), make_day()]))
