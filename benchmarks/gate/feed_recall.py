"""`python -m benchmarks.gate.feed_recall`: which faults the gate holds on every feed, by runs of history, at 1%.

The faults are those of `recall.py`. A good batch that is held is accepted, a broken one rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa

import headgate as hg
from benchmarks.gate.faults import SMALL_FAULTS, Fault
from benchmarks.gate.good_batches import (
    Row,
    judge_and_accept,
    list_good_batches,
    make_gate,
    measure_feeds,
)
from benchmarks.history.cases import random
from benchmarks.history.feeds import Feed

RESULTS = Path(__file__).parent / "results" / "feed_recall.json"
BUDGET, RUNS = 0.01, (7, 14, 30, 90)
SIZES = {"under 200 rows": (0, 200), "200 to 2,000": (200, 2_000), "more": (2_000, 10**9)}


def judge_feed(feed: Feed, false_alarms: float, faults: Mapping[str, Fault] = SMALL_FAULTS) -> list[Row]:
    """All good batches of a feed, and broken copies of some of them."""
    return list(_judge_feed(feed, make_gate(feed, false_alarms), faults))


def _judge_feed(feed: Feed, gate: hg.Gate, faults: Mapping[str, Fault]) -> Iterator[Row]:
    before: pa.Table | None = None
    for number, (partition, table) in enumerate(list_good_batches(feed, max(RUNS) + 1)):
        about = {"feed": feed.title, "partition": partition, "runs": number, "rows": len(table)}
        for name, fault in faults.items() if number in RUNS and before is not None else ():
            broken = fault(table, before, random(feed.title, partition, name))
            if broken is not None and not broken.equals(table):
                verdict = gate.judge(broken, partition)
                gate.reject(partition, number=verdict.revision.number)
                yield {**about, "fault": name, **_describe(verdict)}
        yield {**about, "fault": "", **_describe(judge_and_accept(gate, partition, table))}
        before = table
    print(feed.title, flush=True)


def _describe(verdict: hg.BatchVerdict) -> Row:
    return {"held": not verdict.passed, "causes": [each.title for each in verdict.causes[:3]]}


def tabulate(rows: list[Row], faults: Iterable[str] = SMALL_FAULTS) -> str:
    """Held of judged broken batches by runs of history, then by rows of the batch; last the good batches."""
    lines = ["| fault | " + " | ".join([*(f"after {runs} runs" for runs in RUNS), *SIZES]) + " | all |"]
    lines.append("|---|" + "---:|" * (len(RUNS) + len(SIZES) + 1))
    for name in [*faults, ""]:
        mine = [row for row in rows if row["fault"] == name and row["runs"]]
        by_runs = [[row for row in mine if row["runs"] == runs] for runs in RUNS]
        by_rows = [[row for row in mine if low <= row["rows"] < high] for low, high in SIZES.values()]
        cells = [f"{sum(row['held'] for row in each)}/{len(each)}" for each in [*by_runs, *by_rows, mine]]
        lines.append(f"| {name or 'good batches'} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    measure_feeds(__doc__, judge_feed, BUDGET, RESULTS, tabulate)
