"""Recorded runs: their summaries, and the series of one metric as a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.cli.recorded_runs import MetricPoint, read_runs, read_series, series_page, verdict_of
from headgate.project.project import Project
from headgate.values.errors import MisuseError
from tests.cli.lake import BROKEN, GOOD


def point(
    day: int, value: float | None, status: str = "pass", run: str = "published", expected: str = ""
) -> MetricPoint:
    return MetricPoint(f"2026-11-{day:02}", value, expected, None, None, status, run)


@pytest.mark.parametrize(
    ("status", "run", "sign"),
    [
        ("pass", "published", " "),
        ("", "accepted", " "),
        ("pass", "held", "x"),
        ("fail", "published", "!"),
        ("error", "held", "!"),
    ],
)
def test_the_sign_of_a_point_says_whether_the_metric_or_the_batch_failed(status: str, run: str, sign: str) -> None:
    assert point(1, 1.0, status, run).sign == sign


def test_a_series_is_drawn_in_lines_of_the_width_with_the_signs_below() -> None:
    points = [point(1, 1.0), point(2, None), point(3, 8.0, "fail"), point(4, 4.0, run="held")]
    lines = str(series_page("mean(price)", points, width=2)).splitlines()
    assert lines[0] == "mean(price) in 4 runs, 1 to 8"
    assert [line.rstrip() for line in lines[1:4]] == ["▁", "█▄", "!x"]
    assert lines[4] == "! the metric failed; x the batch did not pass, for another reason"


def test_columns_without_any_value_are_left_out_of_the_table() -> None:
    plain = str(series_page("size()", [point(1, 1.0), point(2, 2.0)]))
    assert "expected" not in plain
    assert "expected" in str(series_page("size()", [point(1, 1.0, expected="at least 1")]))


def test_a_series_without_numbers_says_so() -> None:
    assert str(series_page("mean(price)", [point(1, None)])) == "mean(price): no run has a number."


def test_an_infinity_is_drawn_beyond_the_finite_numbers_and_told_in_words() -> None:
    points = [point(1, 1.0), point(2, 8.0), point(3, float("inf"), "fail"), point(4, float("-inf"))]
    lines = str(series_page("max(price)", points)).splitlines()
    assert lines[:3] == ["max(price) in 4 runs, -infinity to infinity", "▁██▁", "  !"]
    assert [line.split()[1] for line in lines[-4:]] == ["1", "8", "infinity", "-infinity"]
    assert str(series_page("max(price)", points[2:3])).startswith("max(price) in 1 runs, infinity to infinity")


def test_a_metric_may_be_named_without_its_parentheses(judged: Path) -> None:
    with Project.open() as project:
        gate = project.dataset("orders").gate
        series = read_series(gate, read_runs(gate, 3), "size")
    assert [each.partition for each in series][-2:] == [BROKEN, GOOD]
    assert all(each.value is not None and each.value > 100 for each in series)


def test_the_summary_of_a_run_is_the_note_of_a_person_then_the_first_cause(judged: Path) -> None:
    with Project.open() as project:
        gate = project.dataset("orders").gate
        before = {run.verdict.partition: run.summary for run in read_runs(gate, 2)}
        gate.accept(BROKEN, note="a new market", who="ann")
        after = {run.verdict.partition: run.summary for run in read_runs(gate, 2)}
    assert before[GOOD] == ""
    assert before[BROKEN]
    assert after[BROKEN] == f"ann: a new market; {before[BROKEN]}"


def test_a_revision_that_is_not_there_says_how_many_there_are(judged: Path) -> None:
    with Project.open() as project, pytest.raises(MisuseError, match=r"revision 7.* It has 1\."):
        verdict_of(project.dataset("orders"), BROKEN, 7)
