"""`python -m benchmarks.gate.ranges_page`: writes docs/ranges-benchmark.md from the results of ranges, recall and drift."""

from __future__ import annotations

# ruff: noqa: E501 - sentences of a page
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.gate import drift, feed_recall, ranges, recall, year

PAGE = Path(__file__).parents[2] / "docs" / "ranges-benchmark.md"
BEFORE = Path(__file__).parent / "results" / "before"
"""Results of the same benchmarks with the package of commit 25841ad, before decisions 0033 and 0034."""
Row = dict[str, Any]


def write_page() -> None:
    PAGE.write_text("\n".join(make_page()) + "\n", encoding="utf-8")


def make_page() -> Iterator[str]:
    yield "# Ranges, memory and drift, measured"
    yield ""
    yield "Every figure is from a gate as a user has it: values hidden, all learners, a budget of 1%. `make bench-basics` measures them again and writes this page."
    yield "What is held of basic faults and of good batches is in [the basics](basics-benchmark.md)."
    yield from _write_ranges(_read(ranges.RESULTS))
    yield from _write_recall()
    yield from _write_feed_recall()
    yield from _write_drift(_read(drift.RESULTS))
    yield from _write_memory(_read(year.RESULTS))


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _write_ranges(rows: list[Row]) -> Iterator[str]:
    accepted = sum(not row["wrong"] for row in rows)
    yield ""
    yield "## Ranges that a reader believes"
    yield ""
    yield f"Of 17 real feeds all learned ranges are looked at after {', '.join(map(str, ranges.LOOKED_AT))} runs. A reader accepts a range that is possible (no share above 1, nothing below 0 that never was), whole where values are whole, and not wider than {ranges.MOST_RANGES:.0f} times what the runs lay within, unless there are fewer than {ranges.FEW_RUNS} runs or {ranges.FEW_ROWS} rows."
    yield f"**{accepted:,} of {len(rows):,} ranges ({accepted / len(rows):.2%}) are accepted.**"
    yield ""
    yield ranges.tabulate(rows)
    yield ""
    yield "The 20 widest, one for each metric of a feed, in past ranges:"
    yield ""
    yield "| feed | after | the runs lay within | range | past ranges |"
    yield "|---|---:|---|---|---:|"
    for row in ranges.list_widest(rows):
        low, high = (f"{each:,.6g}" for each in row["past"])
        yield f"| {row['feed']} | {row['runs']} | {low} to {high} | {_escape(row['range'])} | {row['ranges']} |"


def _write_recall() -> Iterator[str]:
    yield ""
    yield "## Faults in simulated tables"
    yield ""
    yield f"A table with a key, a timestamp, prices, amounts, whole numbers, a category and a text, {recall.SEEDS} times for each number of rows. A cell has how many of {recall.SEEDS} broken batches are held after {', '.join(map(str, recall.RUNS))} runs."
    yield ""
    yield recall.tabulate(_read(recall.RESULTS))
    yield ""
    yield "The same with the package before ranges knew the number of rows (commit 25841ad):"
    yield ""
    yield recall.tabulate(_read(BEFORE / recall.RESULTS.name))
    yield ""
    yield "Prices differ by a sixth from row to row, so 20 of them hardly show a factor of 1.3. One amount that is too large among thousands, and a new category in 2% of the rows, move no metric far: a rule about the largest value or about the values of the column sees them ([constraints](constraints.md))."


def _write_feed_recall() -> Iterator[str]:
    yield ""
    yield "## The same faults in real feeds"
    yield ""
    yield "Broken copies of the batches after some runs of each of 17 feeds. The column is drawn at random among those that the fault fits. Held of judged, by runs of history, and by rows of the batch:"
    yield ""
    yield feed_recall.tabulate(_read(feed_recall.RESULTS))
    yield ""
    yield "Before (commit 25841ad):"
    yield ""
    yield feed_recall.tabulate(_read(BEFORE / feed_recall.RESULTS.name))


def _write_drift(rows: list[Row]) -> Iterator[str]:
    yield ""
    yield "## Slow drift"
    yield ""
    yield f"After {drift.GOOD_DAYS} good days of a simulated table of {drift.ROWS} rows, something moves a little every day for {drift.DRIFT_DAYS} days. Each of {drift.SEEDS} tables has its own day. A batch that is held is accepted."
    yield ""
    yield drift.tabulate(rows)
    yield ""
    yield "Drift is told once for each doubling or 10 points, and holds a batch beyond 10 times or 50 points ([drift](gate.md#drift)). A price that rises by a twentieth a day has doubled after fifteen days. Rows that fall to 0.30 stay within the limit of ten times."


def _write_memory(found: dict[str, list[Row]]) -> Iterator[str]:
    yield ""
    yield "## Accepted and held again"
    yield ""
    yield "The simulated year of [the basics](basics-benchmark.md#a-simulated-year) has ten holidays and twelve ends of a month, and grows by half. A good batch that is held is accepted. Held again counts those held by a metric by which an earlier good batch was held and accepted."
    yield ""
    yield "| budget | good batches held | held again |"
    yield "|---|---:|---|"
    for budget, rows in found.items():
        good = [row for row in rows if not row["incident"]]
        again = ", ".join(row["day"] for row in year.list_held_again(rows)) or "none"
        yield f"| {float(budget):.0%} | {sum(row['held'] for row in good)} of {len(good)} | {again} |"


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    write_page()
