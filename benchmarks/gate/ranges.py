"""`python -m benchmarks.gate.ranges`: how many of the ranges that the gate learns a simple reader's test accepts.

Of each feed 45 good batches are judged at a budget of 1%, and at some of them all learned ranges are looked at. A
reader accepts a range that

- lies within what is possible: shares between 0 and 1, counts and lengths not below 0, and nothing below 0 of a column
  that never was,
- has whole ends where values are whole,
- is not wider than ten times what the runs lay within, unless there are fewer than 10 runs or 30 rows. What the runs
  lay within counts as a hundredth of the typical value or of the deviation of the column at least, and for whole
  numbers as 1. A range with one end is as wide as that end is away from the farthest value of the runs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.gate.good_batches import (
    Row,
    judge_and_accept,
    judge_feeds,
    list_good_batches,
    make_gate,
    parse_arguments,
    write_results,
)
from benchmarks.history.feeds import Feed
from headgate.learn.history.usual_ranges import UsualRanges
from headgate.learn.learned import Learned
from headgate.learn.metric_traits import MetricTraits, Scale
from headgate.learn.past import Past
from headgate.values.expectation import Expectation, Source
from headgate.values.predicate import Between, OneOf, Predicate

Floats = npt.NDArray[np.float64]
RESULTS = Path(__file__).parent / "results" / "ranges.json"
BUDGET, RUNS, LOOKED_AT = 0.01, 45, (8, 12, 20, 30, 44)
FEW_RUNS, FEW_ROWS, MOST_RANGES, RESOLUTION = 10, 30, 10.0, 0.01


def look_at_feed(feed: Feed, false_alarms: float) -> list[Row]:
    """Every range that is learned after some runs of a feed, and what is wrong with it."""
    gate = make_gate(feed, false_alarms)
    rows: list[Row] = []
    for number, (partition, table) in enumerate(list_good_batches(feed, RUNS)):
        if number in LOOKED_AT:
            learned = gate.learned(before=partition)
            if learned.past is not None:
                about = {"feed": feed.title, "partition": partition, "runs": number, "rows": len(table)}
                rows += [{**about, **row} for row in look_at_ranges(list_ranges(learned), learned.past)]
        judge_and_accept(gate, partition, table)
    print(feed.title, sum(not row["wrong"] for row in rows), "of", len(rows), flush=True)
    return rows


def list_ranges(learned: Learned) -> Iterator[tuple[Expectation, str]]:
    """The ranges of the program, and the usual ones of the metrics of each column, which verdicts and reports show."""
    for clause in learned.program.clauses:
        yield clause.expectation, clause.note
    if learned.rarities is not None:
        usual = UsualRanges(learned.rarities)
        for indices in learned.rarities.columns.values():
            ranges = (usual.find_at(int(index)) for index in indices)
            yield from ((each.expectation, each.note) for each in ranges if each is not None)


def look_at_ranges(ranges_learned: Iterable[tuple[Expectation, str]], past: Past) -> Iterator[Row]:
    traits = {each.key: (index, each) for index, each in enumerate(past.metrics)}
    of_column = {
        (each.key.name, each.column): past.values[:, index] for index, each in traits.values() if each.is_plain
    }
    rows = float(np.nanmedian(of_column["size", ""])) if ("size", "") in of_column else 0.0
    for expectation, note in ranges_learned:
        if expectation.source is not Source.HISTORY or expectation.metric not in traits:
            continue
        index, metric = traits[expectation.metric]
        series = past.values[:, index]
        series = series[np.isfinite(series)]
        if not len(series) or metric.is_timestamp or not isinstance(expectation.predicate, Between | OneOf):
            continue
        low, high = _find_ends(expectation.predicate, series)
        past_range, resolution = float(np.ptp(series)), _find_resolution(metric, series, of_column)
        ranges = (high - low) / max(past_range, resolution)
        wrong = _find_impossible(expectation.predicate, metric, of_column)
        if ranges > MOST_RANGES and len(series) >= FEW_RUNS and rows >= FEW_ROWS:
            wrong.append("wide")
        yield {
            "range": str(expectation),
            "note": note,
            "past": [float(series.min()), float(series.max())],
            "ranges": round(min(ranges, 1e6), 2),
            "wrong": wrong,
        }


def _find_ends(predicate: Predicate, series: Floats) -> tuple[float, float]:
    low = float(series.min()) if predicate.floor is None else predicate.floor
    high = float(series.max()) if predicate.ceiling is None else predicate.ceiling
    return min(low, high), max(low, high)


def _find_resolution(metric: MetricTraits, series: Floats, of_column: dict[tuple[str, str], Floats]) -> float:
    if metric.share or (metric.is_distance and metric.scale is Scale.SHARE):
        return RESOLUTION
    size = float(np.abs(series).max())
    if metric.scale is Scale.SPREAD and ("stddev", metric.column) in of_column:
        deviations = of_column["stddev", metric.column]
        size = max(size, float(np.nanmax(deviations)) if np.isfinite(deviations).any() else 0.0)
    return max(RESOLUTION * size, 1.0 if metric.whole else 1e-12)


def _find_impossible(predicate: Predicate, metric: MetricTraits, of_column: dict[tuple[str, str], Floats]) -> list[str]:
    ends = [end for end in (predicate.floor, predicate.ceiling) if end is not None]
    wrong = []
    least = 0.0 if not metric.signed or _was_never_negative(metric, of_column) else -np.inf
    if any(end < least or end > metric.max_value for end in ends):
        wrong.append("impossible")
    if metric.whole and any(end != round(end) for end in ends):
        wrong.append("not whole")
    return wrong


def _was_never_negative(metric: MetricTraits, of_column: dict[tuple[str, str], Floats]) -> bool:
    smallest = of_column.get(("min", metric.column))
    return smallest is not None and bool(np.isfinite(smallest).any()) and float(np.nanmin(smallest)) >= 0


def tabulate(rows: list[Row]) -> str:
    lines = ["| feed | ranges | accepted | wide | not whole | impossible |", "|---|---:|---:|---:|---:|---:|"]
    for title in [*sorted({row["feed"] for row in rows}), "all"]:
        mine = [row for row in rows if title in ("all", row["feed"])]
        accepted = sum(not row["wrong"] for row in mine) / len(mine)
        wrong = Counter(each for row in mine for each in row["wrong"])
        cells = " | ".join(f"{wrong[each]:,}" for each in ("wide", "not whole", "impossible"))
        lines.append(f"| {title} | {len(mine):,} | {accepted:.1%} | {cells} |")
    return "\n".join(lines)


def list_widest(rows: list[Row], count: int = 20) -> list[Row]:
    """The widest ranges of at least 10 runs and 30 rows, one for each metric of a feed."""
    widest: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=lambda row: -row["ranges"]):
        if row["runs"] >= FEW_RUNS and row["rows"] >= FEW_ROWS:
            widest.setdefault((row["feed"], row["range"].split(" ")[0]), row)
    return list(widest.values())[:count]


def main() -> None:
    rows = judge_feeds(look_at_feed, parse_arguments(__doc__).workers, BUDGET)
    write_results(RESULTS, rows)
    print(tabulate(rows))
    for row in list_widest(rows):
        print(json.dumps(row))


if __name__ == "__main__":
    main()
