"""What is counted to find the rows of a fault: the columns that divide the rows, and the bins that a fault changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headgate.diagnose.locate import locate_faults
from headgate.diagnose.number_queries import choose_edges
from headgate.diagnose.segment_queries import MOST_COLUMNS, MOST_TARGETS, choose_segment_columns, plan_scan
from headgate.diagnose.segment_wording import describe_rows
from headgate.diagnose.table_pair import TablePair
from headgate.diagnose.value_queries import write_regex
from headgate.engine.analysis import Analysis
from headgate.engine.analyze import analyze
from headgate.engine.segment_plan import SegmentColumn, Target
from headgate.learn.past import Past
from headgate.metrics.base.codes import pattern_label
from headgate.metrics.base.registry import default_metrics
from headgate.metrics.base.text import Texts
from headgate.metrics.size import Size
from headgate.metrics.states.quantiles import Quantiles
from headgate.values.diagnosis import Diagnosis

ROWS = 2_000


def measure(table: pa.Table) -> Analysis:
    return analyze(table, [Size(), *default_metrics(analyze(table, [Size()]).schema)])


def compare(table: pa.Table, *past: pa.Table) -> TablePair:
    """A batch beside good ones."""
    batch = measure(table)
    return TablePair(Past.of(list(map(measure, past))), batch.schema, batch.states, batch.outcomes)


def make_table(seed: int = 1, **columns: Any) -> pa.Table:
    random = np.random.default_rng(seed)
    seconds = random.integers(0, 86_400, ROWS)
    table = {
        "id": pa.array(np.arange(ROWS)),
        "carrier": pa.array(random.choice(["AA", "DL", "EV"], ROWS)),
        "weekday": pa.array(random.integers(0, 7, ROWS)),
        "late": pa.array(random.random(ROWS) < 0.5),
        "price": pa.array(np.round(random.lognormal(3.0, 0.5, ROWS), 2)),
        "whole": pa.array(random.choice([1.0, 2.0], ROWS)),
        "city": pa.array(random.choice(["Boston", "New York"], ROWS)),
        "at": pa.array(np.datetime64("2026-03-01", "us") + seconds.astype("timedelta64[s]")),
        "tags": pa.array([["a"]] * ROWS),
        "one": pa.array(["same"] * ROWS),
    }
    return pa.table({**table, **columns})


def plan(diagnosis: Diagnosis, **columns: Any) -> Any:
    return plan_scan([diagnosis], compare(make_table(2, **columns), make_table()))


def test_columns_of_few_values_and_the_hours_of_timestamps_divide_the_rows() -> None:
    table = compare(make_table(2), make_table())
    names = ["carrier", "weekday", "late", "whole", "city"]
    assert choose_segment_columns(table) == [*map(SegmentColumn, names), SegmentColumn("at", "hour")]
    assert SegmentColumn("carrier") not in choose_segment_columns(table, ["carrier"])
    assert SegmentColumn("at", "hour") not in choose_segment_columns(table, ["at"])


def test_a_column_with_nulls_divides_the_rows_though_it_has_one_value() -> None:
    half = pa.array([None if at % 2 else "x" for at in range(ROWS)])
    assert SegmentColumn("one") in choose_segment_columns(compare(make_table(2, one=half), make_table()))


def test_of_many_columns_those_with_the_fewest_values_are_chosen() -> None:
    random = np.random.default_rng(3)
    wide = {f"c{count:02}": pa.array(random.integers(0, count, ROWS)) for count in range(2, 60)}
    table = compare(pa.table(wide), pa.table(wide))
    chosen = [each.column for each in choose_segment_columns(table)]
    assert chosen == [f"c{count:02}" for count in range(2, 2 + MOST_COLUMNS)]


def test_a_fault_of_all_rows_is_not_asked_for() -> None:
    assert plan(Diagnosis("scaled", "", ("price",), {"factor": 100.0})) is None
    assert plan(Diagnosis("nulls", "", ("price",), {"share": 1.0})) is None


def test_a_fault_without_bins_is_not_asked_for() -> None:
    for fault in ("columns_swapped", "type_changed", "stale_copy", "rows_missing"):
        assert plan(Diagnosis(fault, "", ("city",), share=0.3)) is None
    assert plan(Diagnosis("nulls", "", ("tags",), share=0.3)) is None
    assert plan(Diagnosis("nulls", "", ("gone",), share=0.3)) is None


def test_the_number_of_targets_is_limited() -> None:
    columns = {f"p{at}": pa.array(np.random.default_rng(at).normal(0, 1, ROWS)) for at in range(30)}
    table = compare(make_table(2, **columns), make_table(1, **columns))
    diagnoses = [Diagnosis("nulls", "", (name,), share=0.3) for name in columns]
    scan = plan_scan(diagnoses, table)
    assert scan is not None
    assert len(scan.targets) == MOST_TARGETS
    assert sorted(scan.candidates) == list(range(MOST_TARGETS))


def test_columns_of_which_some_rows_are_changed_do_not_divide_the_rows() -> None:
    scan = plan(Diagnosis("nulls", "", ("city",), share=0.3))
    assert SegmentColumn("city") not in scan.columns
    assert all(SegmentColumn("city") not in pair for pair in scan.pairs)


def test_all_columns_of_a_diagnosis_are_asked_for() -> None:
    scan = plan(Diagnosis("nulls", "", ("city", "price"), share=0.3))
    [candidate] = scan.candidates[0]
    assert [scan.targets[query.target].column for query in candidate.queries] == ["city", "price"]


def test_edges_are_no_numbers_that_occur() -> None:
    numbers = np.random.default_rng(1).integers(0, 50, 5_000).astype(float)
    edges = choose_edges(Quantiles.of(numbers))
    assert not set(edges) & set(numbers)
    assert (np.diff(edges) > 0).all()
    shares = np.diff(Quantiles.of(numbers).share_below(edges))
    assert shares.sum() == pytest.approx(1.0)
    assert shares.max() < 0.06
    wide = np.random.default_rng(2).normal(0, 1, 50_000)
    assert np.diff(Quantiles.of(wide).share_below(choose_edges(Quantiles.of(wide)))).max() < 0.06
    assert choose_edges(Quantiles.of(np.array([3.0, 3.0]))).tolist() == [0.0, 6.0]


@pytest.mark.parametrize("text", ["2026-11-15", "AB-12 cd", "Ünder_é9", "a.b*c", "x  y", "N/A", "tab\there"])
def test_a_regular_expression_of_a_pattern_finds_its_texts(text: str) -> None:
    label = pattern_label(Texts(pa.array([text])).patterns()[0][0].as_py())
    assert re.search(write_regex(label).replace(r"\x{80}-\x{10FFFF}", "\x80-\U0010ffff"), text)
    assert not re.search(write_regex("9:9"), text)


CASES: dict[str, tuple[str, Callable[[str], str], dict[str, Any]]] = {
    "casing": ("city", str.upper, {"case": "upper"}),
    "padding": ("city", lambda text: f" {text}", {}),
    "encoding": ("town", lambda text: text.encode().decode("latin-1"), {"encoding": "Latin-1"}),
    "date_format": ("day", lambda text: f"{text[8:]}/{text[5:7]}/{text[:4]}", {}),
    "truncated": ("city", lambda text: text[:5], {"characters": 5.0}),
    "category_split": ("city", lambda text: text.replace("Boston", "Beantown"), {}),
}


@pytest.mark.parametrize("name", CASES)
def test_texts_in_another_form_are_found_where_they_are(name: str) -> None:
    column, write, parameters = CASES[name]
    more = {
        "town": pa.array(np.random.default_rng(5).choice(["Köln", "München", "Berlin"], ROWS)),
        "day": pa.array(["2026-03-01"] * ROWS),
    }
    good, batch = make_table(1, **more), make_table(2, **more)
    inside = [each == "EV" for each in batch["carrier"].to_pylist()]
    texts = [write(text) if hit else text for text, hit in zip(batch[column].to_pylist(), inside, strict=True)]
    batch = batch.set_column(batch.column_names.index(column), column, pa.array(texts))
    diagnosis = Diagnosis(name, f"{column} is wrong", (column,), parameters, share=0.3)
    [found] = locate_faults([diagnosis], compare(batch, good), batch)
    assert found.segment == (("carrier", "EV"),)
    assert found.sentence == f"{column} is wrong in all rows where carrier is EV"


def test_dates_with_day_and_month_swapped_are_found_where_they_are() -> None:
    def make_days(seed: int) -> pa.Array:
        days = np.random.default_rng(seed).integers(4, 13, ROWS)
        return pa.array((np.datetime64("2026-03-01") + (days - 1).astype("timedelta64[D]")).astype("datetime64[D]"))

    good, batch = make_table(1, day=make_days(1)), make_table(2, day=make_days(2))
    inside = [each == "EV" for each in batch["carrier"].to_pylist()]
    days = [
        day.replace(day=day.month, month=day.day) if hit else day
        for day, hit in zip(batch["day"].to_pylist(), inside, strict=True)
    ]
    batch = batch.set_column(batch.column_names.index("day"), "day", pa.array(days))
    diagnosis = Diagnosis("day_month_swapped", "day has day and month swapped", ("day",), share=0.3)
    [found] = locate_faults([diagnosis], compare(batch, good), batch)
    assert found.segment == (("carrier", "EV"),)


def test_nothing_is_read_if_there_is_nothing_to_find() -> None:
    diagnosis = Diagnosis("type_changed", "", ("city",))
    assert locate_faults([diagnosis], compare(make_table(2), make_table()), data=None) == (diagnosis,)


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        (SegmentColumn("carrier"), ["EV"], "where carrier is EV"),
        (SegmentColumn("carrier"), ["EV", "AA", None], "where carrier is EV, AA or null"),
        (SegmentColumn("carrier"), ["", " x"], 'where carrier is "" or " x"'),
        (SegmentColumn("at", "hour"), ["2026-03-01 03:00"], "with at from 2026-03-01 03:00 to 2026-03-01 04:00"),
        (SegmentColumn("at", "hour"), ["2026-03-01 22:00", "2026-03-01 23:00"], "with at since 2026-03-01 22:00"),
        (
            SegmentColumn("at", "hour"),
            ["2026-03-01 02:00", "2026-03-01 05:00"],
            "with at in the hours from 2026-03-01 02:00 and 2026-03-01 05:00",
        ),
        (SegmentColumn("at", "hour"), [None], "with at null"),
        (SegmentColumn(kind="file"), ["file:/a/part-3.parquet"], "of the source file part-3.parquet"),
        (SegmentColumn(kind="task"), ["3", "4"], "of the Spark partitions 3 and 4"),
    ],
)
def test_rows_in_words(column: SegmentColumn, values: list[str | None], words: str) -> None:
    every = [f"2026-03-01 {hour:02}:00" for hour in range(24)]
    assert describe_rows(column, values, every) == words


def test_hidden_values_are_named_by_the_start_of_their_hash() -> None:
    assert describe_rows(SegmentColumn("carrier"), ["f19c2c9678766c6d"], hidden=True) == (
        "where carrier is (hidden: f19c2c96)"
    )


def test_targets_are_shared_by_faults_of_one_column() -> None:
    table = compare(make_table(2), make_table())
    two = [Diagnosis("nulls", "", ("city",), share=0.3), Diagnosis("nulls", "", ("city",), share=0.4)]
    scan = plan_scan(two, table)
    assert scan is not None
    assert scan.targets == (Target("city", of="length"),)


def test_a_value_with_many_rows_is_a_segment_beside_values_of_one_row_each() -> None:
    tests = pa.array([0] * 300 + list(range(1, ROWS - 299)))
    labels = [each.column for each in choose_segment_columns(compare(make_table(tests=tests), make_table(2)))]
    assert "tests" not in labels  # there are more values than a segment column has
    few = make_table(tests=tests).take(pa.array(range(290, 340)))
    labels = [each.column for each in choose_segment_columns(compare(few, make_table(2, tests=tests)))]
    assert "tests" in labels
    assert "id" not in labels
