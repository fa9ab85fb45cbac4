"""The page of performance: costs and the plan of a fleet are computed from results, and the page says what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.performance.__main__ import read_results
from benchmarks.performance.costs import ScanCost
from benchmarks.performance.fleet import (
    Fleet,
    Measured,
    TableClass,
    commit_hours,
    gigabytes_a_day,
    judge_core_hours,
    scan_core_hours,
)
from benchmarks.performance.page import DOCS, FLEET, format_costs, write_page

MEASURED = Measured(
    local_ns=100,
    spark_ns=200,
    spark_fixed=1.5,
    judge_cpu=0.5,
    judge_columns=50,
    value_bytes=10,
    state_bytes=700,
    commits=100,
    state_commits=20,
    read_ms=80,
    datasets=2_000,
)


def test_a_terabyte_costs_what_its_files_cost() -> None:
    cost = ScanCost("made up", 1_000_000, 10, parquet_bytes=1e9, scan_cpu=1.8, files_cpu=3.6)
    assert cost.core_hours_a_terabyte(cost.files_cpu) == pytest.approx(1.0)
    assert cost.nanoseconds_a_cell(cost.files_cpu) == pytest.approx(360.0)


def test_small_batches_are_judged_without_spark_and_others_with_its_fixed_cost() -> None:
    small, usual = TableClass("small", 3_600, 10_000, 10), TableClass("usual", 3_600, 1_000_000, 10)
    assert scan_core_hours(small, MEASURED) == pytest.approx(0.01)
    assert scan_core_hours(usual, MEASURED) == pytest.approx(1.5 + 2.0)
    assert judge_core_hours(usual, MEASURED) == pytest.approx(0.1)


def test_a_day_of_a_fleet() -> None:
    fleet = Fleet((TableClass("all", 36_000, 10, 10),), 2_000_000_000)
    assert commit_hours(fleet, 20) == pytest.approx(0.5)
    assert gigabytes_a_day(fleet, 10) == pytest.approx(20.0)


def test_the_fleet_of_the_page_is_the_one_that_was_asked_for() -> None:
    assert (FLEET.tables, FLEET.values, FLEET.values_of_a_run) == (150_000, 900_000_000, 6_000)


def test_costs_grow_with_the_price() -> None:
    found = read_results()
    one, two = (
        re.findall(r"\| ([\d.]+) \| [\d.]+ \| ([\d.]+) \|$", format_costs(found, price), re.M) for price in (1, 2)
    )
    assert one
    for (cheap, scan), (dear, dear_scan) in zip(one, two, strict=True):
        assert float(dear) == pytest.approx(2 * float(cheap), abs=0.02)
        assert float(dear_scan) == pytest.approx(2 * float(scan), abs=0.02)


def test_the_page_says_what_the_results_say(tmp_path: Path) -> None:
    write_page(read_results(), tmp_path)
    written = (tmp_path / "performance.md").read_text(encoding="utf-8")
    assert written == (DOCS / "performance.md").read_text(encoding="utf-8")
    drawn = {f"pictures/{path.name}" for path in (tmp_path / "pictures").iterdir()}
    assert drawn == set(re.findall(r"\]\((pictures/[^)]+)\)", written))
