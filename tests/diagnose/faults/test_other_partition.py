"""Rows of another time in the batch."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa
import pytest

from tests.diagnose.history import BOTH, DAYS, change, diagnose_one, list_names, make_day


@BOTH
def test_the_share_of_other_rows_is_named(hide: bool) -> None:
    other = make_day(DAYS - 10).slice(0, 80)
    found = diagnose_one(pa.concat_tables([make_day().slice(0, 320), other]), hide)
    assert (found.fault, found.columns) == ("other_partition", ("ordered_at",))
    assert found.parameters["share"] == pytest.approx(0.2)
    assert found.sentence == "20.0% of the rows are of another time, by ordered_at"


def test_times_of_another_zone_are_no_other_rows() -> None:
    broken = change(make_day(), "ordered_at", lambda value: value - timedelta(hours=8))
    assert "other_partition" not in list_names(broken)
