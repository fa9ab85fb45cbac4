"""Pages of a table with many runs a day: hours as a picture, and stretches of runs as lines."""

from __future__ import annotations

import datetime
import re
from functools import cache

import pyarrow as pa

import headgate as hg
from headgate.report.hours import count_hours, draw_hours
from headgate.report.html import dataset_report
from headgate.report.run_series import RunMark

WINDOWS = 60  # of half an hour
BAD = range(20, 24)


@cache
def make_gate(minutes: int = 30) -> hg.Gate:
    """A gate that has judged windows of a stream, some of which failed."""
    check = hg.Check("clicks").is_non_negative("price")
    gate = hg.Gate("clicks", store=hg.open_store("memory:"), checks=check, learn=[], mode="observe")
    for at in range(WINDOWS):
        start = datetime.datetime(2026, 11, 17, 8) + at * datetime.timedelta(minutes=minutes)
        rows = pa.table({"price": [-1.0 if at in BAD else 1.0] * (100 + at)})
        gate.judge(rows, start.strftime("%Y-%m-%dT%H:%M"))
    return gate


def read_lines(page: str) -> list[str]:
    """The lines of the table of runs, without tags."""
    table = page[page.index('<table class="runs">') : page.index("</table>")]
    return [" ".join(re.sub(r"<[^>]+>", " ", line).split()) for line in table.split("<tr")[2:]]


def test_runs_one_after_another_with_one_outcome_are_a_line() -> None:
    wrong = "is_non_negative(price): 100.0% of the rows break it, expected none"
    assert [line.partition("> ")[2] for line in read_lines(dataset_report(make_gate()).html)] == [
        "2026-11-17T20:00 to 2026-11-18T13:30 36 runs pass, published 124 to 159",
        f"2026-11-17T18:00 to 19:30 4 runs fail, observed {wrong} 120 to 123",
        "2026-11-17T08:00 to 17:30 20 runs pass, published 100 to 119",
    ]


def test_hours_have_the_worst_outcome_of_their_runs() -> None:
    gate = make_gate()
    hours = count_hours(gate.store.last("clicks", 100))
    assert len(hours) == WINDOWS // 2
    assert {key for key, counts in hours.items() if counts[RunMark.OPEN]} == {("2026-11-17", 18), ("2026-11-17", 19)}
    picture = draw_hours(gate.store.last("clicks", 100))
    assert picture.count("<rect") == 48
    assert picture.count('class="open"') == 2
    assert picture.count('class="none"') == 48 - WINDOWS // 2
    assert "2026-11-17 18:00: 2 runs, 2 failed, not held" in picture
    assert "2 of 30 hours have a run that was not good" in picture
    assert picture in dataset_report(gate).html


def test_a_table_with_one_run_a_day_has_no_hours() -> None:
    page = dataset_report(make_gate(minutes=1440)).html
    assert "By hour" not in page
    assert len(read_lines(page)) == 30


def test_names_that_tell_no_time_have_no_hours() -> None:
    assert draw_hours([]) == ""
