"""How the columns that broke an expectation look now, beside the runs before."""

from __future__ import annotations

import pyarrow as pa

import headgate as hg
from headgate.explain.column_changes import find_column_changes
from headgate.learn.past import Past
from tests.gate.orders import dearer, elsewhere, emptied, named, orders, replaced

RUNS = 8


def past_of(*tables: pa.Table) -> Past:
    return Past.of([hg.analyze(each) for each in tables], partitions=[named(day) for day in range(len(tables))])


def found(table: pa.Table, *columns: str) -> tuple[dict[str, tuple[str, ...]], bool]:
    past, now = past_of(*(orders(day) for day in range(RUNS))), hg.analyze(table)
    findings = find_column_changes(past, past.outcomes(now), columns)
    return dict(findings.sentences), findings.fewer_rows


def test_a_column_that_moved_is_told_with_what_it_was() -> None:
    told, short = found(dearer(orders(RUNS)), "price")
    assert told.keys() == {"price"}
    assert any(each.startswith("mean 2,") and each.endswith("in 8 runs)") for each in told["price"])
    assert len(told["price"]) <= 3
    assert not short


def test_emptiness_is_told_as_a_share_of_nothing() -> None:
    told, _ = found(emptied(orders(RUNS), "price", 0.5), "price")
    assert any(each.startswith("50") and "% empty" in each and "(0.0% in 8 runs)" in each for each in told["price"])


def test_columns_that_nobody_asked_about_are_not_told() -> None:
    told, _ = found(dearer(elsewhere(orders(RUNS))), "country")
    assert told.keys() == {"country"}


def test_fewer_rows_are_told_and_are_why() -> None:
    told, short = found(orders(RUNS).slice(0, 10), "price")
    assert told[""][0].startswith("10 rows (1")
    assert short


def test_a_batch_like_the_others_has_no_findings() -> None:
    assert found(orders(RUNS), "price", "country", "code") == ({}, False)


def test_one_run_is_too_few_to_find_anything() -> None:
    now = hg.analyze(dearer(orders(1)))
    assert find_column_changes(past_of(orders(0)), now.outcomes, ["price"]).sentences == {}
    assert find_column_changes(None, now.outcomes, ["price"]).sentences == {}


def test_moments_are_told_as_dates() -> None:
    days = [
        pa.table({"day": pa.array([20_000 + at - row % 2 for row in range(30)], pa.date32())}) for at in range(RUNS)
    ]
    past, now = past_of(*days), hg.analyze(replaced(days[-1], "day", pa.array([2] * 30, pa.date32())))
    told = find_column_changes(past, past.outcomes(now), ["day"]).sentences["day"]
    assert any("1970-01-03 (2024-10-11 by the times of 8 runs)" in each for each in told)
