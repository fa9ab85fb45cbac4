"""Rows of another time in the batch."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest

from headgate.gate.gate import Gate
from headgate.store.memory import MemoryStore
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


DATES = [f"2026-03-{day + 1:02}" for day in range(12)]


def make_dated(day: int, rows: int = 300) -> pa.Table:
    """A batch with its day as text in each row."""
    random = np.random.default_rng(day)
    return pa.table({"day": [DATES[day]] * rows, "price": np.round(random.lognormal(3.0, 0.4, rows), 2)})


@BOTH
@pytest.mark.parametrize("is_added", [True, False])
def test_rows_of_another_batch_are_told_by_a_column_of_texts(hide: bool, is_added: bool) -> None:
    gate = Gate("shop", store=MemoryStore(hide=hide), false_alarms=0.05)
    for day in range(11):
        gate.judge(make_dated(day), DATES[day])
    rows = 300 if is_added else 200
    verdict = gate.judge(pa.concat_tables([make_dated(11, rows), make_dated(4, 100)]), DATES[11])
    found = verdict.diagnoses[0]
    assert (found.fault, found.columns) == ("other_partition", ("day",))
    assert found.share == pytest.approx(100 / (rows + 100), abs=1e-4)
    assert found.sentence.endswith("of the rows are of another batch, by day")


def test_texts_that_are_written_in_another_way_are_of_no_other_batch() -> None:
    gate = Gate("shop", store=MemoryStore(), false_alarms=0.05)
    for day in range(11):
        gate.judge(make_dated(day), DATES[day])
    batch = make_dated(11)
    texts = [text.replace("-", "/") if row % 2 else text for row, text in enumerate(batch["day"].to_pylist())]
    verdict = gate.judge(batch.set_column(0, "day", pa.array(texts)), DATES[11])
    assert "other_partition" not in [each.fault for each in verdict.diagnoses]
