"""Counts by segment against a plain count, for every kind of column and target."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headgate.engine.segment_counts import count_segments
from headgate.engine.segment_fold import MOST_VALUES
from headgate.engine.segment_plan import SegmentColumn, SegmentCounts, SegmentTable, Target
from headgate.values.errors import MisuseError

START = datetime(2026, 11, 14, tzinfo=UTC)
HOUR = SegmentColumn("at", "hour")


def a_table(rows: int = 500, seed: int = 3) -> pa.Table:
    chance = np.random.default_rng(seed)
    some = chance.random(rows)
    distance = [None if each < 0.1 else float("nan") if each < 0.15 else round(100 * each) for each in some]
    return pa.table(
        {
            "carrier": pa.array([["EV", "AA", "", None][at] for at in chance.integers(0, 4, rows)]),
            "gate": pa.array(chance.integers(1, 4, rows)),
            "late": pa.array(chance.random(rows) < 0.5, mask=chance.random(rows) < 0.1),
            "day": pa.array([date(2026, 11, 14 + int(at)) for at in chance.integers(0, 2, rows)]),
            "at": pa.array([START + timedelta(minutes=int(at)) for at in chance.integers(0, 300, rows)]),
            "distance": pa.array(distance, pa.float64()),
            "fare": pa.array([Decimal(int(at)) / 100 for at in chance.integers(0, 900, rows)], pa.decimal128(9, 2)),
            "page": pa.array([["Home", "HOME", "Cärt", None][at] for at in chance.integers(0, 4, rows)]),
        }
    )


def counts_of(counts: SegmentCounts, *columns: str | SegmentColumn) -> SegmentTable:
    wanted = tuple(SegmentColumn(each) if isinstance(each, str) else each for each in columns)
    return next(table for table in counts.tables if table.columns == wanted)


def as_counter(table: SegmentTable, target: int = 0) -> Counter[Any]:
    counts = table.counts[target]
    return Counter(
        {
            (*names, place): int(counts[at, place])
            for at, names in enumerate(table.values)
            for place in range(counts.shape[1])
            if counts[at, place]
        }
    )


def bin_of(value: float | None) -> int:
    """The bin of a number for the edges 20 and 50."""
    if value is None:
        return 3
    return 4 if np.isnan(value) else int(value >= 20) + int(value >= 50)


def test_numbers_nulls_and_nan_are_counted_by_value() -> None:
    table = a_table()
    counts = count_segments(table, [Target("distance", edges=(20.0, 50.0))], ["carrier", "gate"])
    plain = Counter((row["carrier"], bin_of(row["distance"])) for row in table.to_pylist())
    assert as_counter(counts_of(counts, "carrier")) == plain
    assert counts_of(counts, "gate").values == (("1",), ("2",), ("3",))
    assert counts_of(counts, "carrier").values == ((None,), ("",), ("AA",), ("EV",))
    assert counts.rows == 500


def test_pairs_are_counted_by_both_values() -> None:
    table = a_table()
    target = Target("distance", edges=(20.0, 50.0))
    counts = count_segments(table, [target], ["carrier"], pairs=[("carrier", "late")])
    texts = {True: "true", False: "false", None: None}
    plain = Counter((row["carrier"], texts[row["late"]], bin_of(row["distance"])) for row in table.to_pylist())
    assert as_counter(counts_of(counts, "carrier", "late")) == plain


def test_hours_are_in_utc_whatever_the_zone() -> None:
    table = a_table()
    plain = Counter((row["at"].strftime("%Y-%m-%d %H:00"), 0) for row in table.to_pylist())
    at = table.schema.get_field_index("at")
    for kind in (pa.timestamp("us", "Asia/Kolkata"), pa.timestamp("ms", "UTC"), pa.timestamp("ns")):
        moved = table.set_column(at, "at", table["at"].cast(kind))
        assert as_counter(counts_of(count_segments(moved, [Target()], [HOUR]), HOUR)) == plain


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param(Target("page", labels=("HOME", "Home")), {"HOME": 0, "Home": 1, "Cärt": 2, None: 3}, id="labels"),
        pytest.param(Target("page", patterns=("[a-z]",)), {"HOME": 1, "Home": 0, "Cärt": 0, None: 2}, id="patterns"),
        pytest.param(
            Target("page", edges=(4.5,), of="length"), {"HOME": 0, "Cärt": 0, "Home": 0, None: 2}, id="length"
        ),
    ],
)
def test_texts_are_counted(target: Target, expected: dict[str | None, int]) -> None:
    table = a_table()
    plain = Counter((expected[text],) for text in table["page"].to_pylist())
    whole = count_segments(table, [target], ["carrier"]).tables[0]
    assert as_counter(whole) == plain
    assert whole.counts[0].shape == (1, target.bins)


@pytest.mark.parametrize(
    ("column", "edge", "below"),
    [
        pytest.param("late", 0.5, lambda value: not value, id="boolean"),
        pytest.param("fare", 4.5, lambda value: value < Decimal("4.5"), id="decimal"),
        pytest.param("day", 86_400.0 * 20_772, lambda value: value < date(2026, 11, 15), id="date"),
        pytest.param(
            "at", START.timestamp() + 600, lambda value: value < START + timedelta(minutes=10), id="timestamp"
        ),
    ],
)
def test_every_ordered_column_has_bins(column: str, edge: float, below: Any) -> None:
    table = a_table()
    plain = Counter((2 if value is None else 0 if below(value) else 1,) for value in table[column].to_pylist())
    assert as_counter(count_segments(table, [Target(column, edges=(edge,))], ["carrier"]).tables[0]) == plain


def test_counts_do_not_depend_on_batches_or_the_kind_of_data() -> None:
    table = a_table()
    targets = [Target("distance", edges=(20.0, 50.0)), Target("page", labels=("Home",))]
    by, pairs = ["carrier", "late", HOUR], [("carrier", "gate")]
    whole = count_segments(table, targets, by, pairs=pairs)
    cut = pa.Table.from_batches([batch for at in range(0, 500, 7) for batch in table.slice(at, 7).to_batches()])
    encoded = table.set_column(0, "carrier", table["carrier"].dictionary_encode())
    for other in (cut.to_reader(), encoded, table.to_batches()[0]):
        assert_equal(count_segments(other, targets, by, pairs=pairs), whole)


def assert_equal(one: SegmentCounts, other: SegmentCounts) -> None:
    assert one.targets == other.targets
    assert one.dropped == other.dropped
    for mine, theirs in zip(one.tables, other.tables, strict=True):
        assert (mine.columns, mine.values) == (theirs.columns, theirs.values)
        for counts, wanted in zip(mine.counts, theirs.counts, strict=True):
            assert counts.tolist() == wanted.tolist()


def test_a_column_with_too_many_values_is_dropped() -> None:
    numbers = pa.array(range(MOST_VALUES + 1))
    table = pa.table({"id": numbers, "kind": pa.array([at % 2 for at in range(MOST_VALUES + 1)])})
    counts = count_segments(table, [Target()], ["id", "kind"], pairs=[("id", "kind")])
    assert [columns[0].column for columns in counts.dropped] == ["id", "id"]
    assert len(counts.tables) == 2
    assert count_segments(table.slice(1), [Target()], ["id"]).dropped == ()


def test_an_empty_batch_has_no_segments() -> None:
    counts = count_segments(a_table().slice(0, 0), [Target("distance", edges=(1.0,))], ["carrier"])
    assert counts.rows == 0
    assert counts_of(counts, "carrier").values == ()


def test_a_column_of_a_type_without_values_has_nulls_and_no_segments() -> None:
    table = pa.table({"none": pa.nulls(3), "kind": ["a", "b", "b"]})
    counts = count_segments(table, [Target("none", edges=(1.0,))], ["kind", "none"])
    assert counts_of(counts, "kind").counts[0].tolist() == [[0, 0, 1, 0], [0, 0, 2, 0]]
    assert counts.dropped == ((SegmentColumn("none"),),)


def test_misuse_says_what_to_do() -> None:
    with pytest.raises(MisuseError, match="carier"):
        count_segments(a_table(), [Target()], ["carier"])
    with pytest.raises(MisuseError, match="page"):
        count_segments(a_table(), [Target("page", edges=(1.0,))], ["carrier"])
