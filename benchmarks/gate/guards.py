"""`python -m benchmarks.gate.guards`: which basic faults the gate holds on every feed, from its second run on.

Each feed is judged at a budget of 1%. Of each feed 31 good batches are taken; holds of good batches are accepted.
Before the batches of a few days are judged, broken copies of them are, and rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import headgate as hg
from benchmarks.gate.good_batches import (
    Row,
    judge_and_accept,
    list_good_batches,
    make_gate,
    measure_feeds,
)
from benchmarks.history.cases import random
from benchmarks.history.feeds import Feed

RESULTS = Path(__file__).parent / "results" / "guards.json"
BUDGET, RUNS = 0.01, 31
YOUNG, GROWN = (1, 3, 6, 10, 14), (15, 22, 30)  # runs before the batch
MIN_COMPLETE_ROWS = 34  # rows of which 3% are at least one
Fault = Callable[[pa.Table, pa.Table, np.random.Generator], pa.Table | None]


def _keep(share: float, table: pa.Table, _: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    kept = np.flatnonzero(chance.permutation(len(table)) < round(share * len(table)))
    return table.take(kept) if 0 < len(kept) < len(table) else None


def _empty(share: float, table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    """The batch with nulls in a column that had none; None if there is no such column."""
    names = [name for name in table.column_names if not table[name].null_count and name in before.column_names]
    names = [name for name in names if not before[name].null_count and len(table) >= MIN_COMPLETE_ROWS]
    if not names:
        return None
    name = str(chance.choice(names))
    mask = np.zeros(len(table), bool)
    mask[chance.permutation(len(table))[: round(share * len(table))]] = True
    column = pa.compute.if_else(pa.array(mask), pa.scalar(None, table[name].type), table[name])
    return table.set_column(table.column_names.index(name), name, column)


def _double(table: pa.Table, *_: Any) -> pa.Table:
    return pa.concat_tables([table, table])


def _repeat(table: pa.Table, before: pa.Table, *_: Any) -> pa.Table | None:
    """The batch before once more; None if they are equal."""
    return None if table.equals(before) else before


COARSE: dict[str, Fault] = {
    "a twentieth of the rows": partial(_keep, 0.05),
    "all null": partial(_empty, 1.0),
    "double load": _double,
    "stale copy": _repeat,
}
FINE: dict[str, Fault] = {
    "half the rows": partial(_keep, 0.5),
    "two thirds of the rows": partial(_keep, 2 / 3),
    "3% null": partial(_empty, 0.03),
}
FAULTS = FINE | COARSE


def judge_feed(feed: Feed, false_alarms: float) -> list[Row]:
    """Every broken batch of a feed, and every good one, and whether it is held."""
    gate = make_gate(feed, false_alarms)
    rows: list[Row] = []
    before: pa.Table | None = None
    for number, (partition, table) in enumerate(list_good_batches(feed, RUNS)):
        about = {"feed": feed.title, "partition": partition, "runs": number, "rows": len(table)}
        if before is not None and number in (*YOUNG, *GROWN):
            rows += [
                {**about, "fault": name, **told} for name, told in _judge_faults(gate, feed, partition, table, before)
            ]
        verdict = judge_and_accept(gate, partition, table)
        rows.append(
            {**about, "fault": "", "held": not verdict.passed, "causes": [each.title for each in verdict.causes]}
        )
        before = table
    print(feed.title, flush=True)
    return rows


def _judge_faults(
    gate: hg.Gate, feed: Feed, partition: str, table: pa.Table, before: pa.Table
) -> Iterator[tuple[str, Row]]:
    for name, fault in FAULTS.items():
        broken = fault(table, before, random(feed.title, partition, name))
        if broken is not None:
            verdict = gate.judge(broken, partition)
            gate.reject(partition, number=verdict.revision.number)
            yield name, {"held": not verdict.passed, "causes": [each.title for each in verdict.causes[:3]]}


def tabulate(rows: list[Row]) -> str:
    """Held of judged: the fine faults from run 15 on, the coarse ones before and from then on."""
    shown = [(name, GROWN) for name in FAULTS] + [(name, YOUNG) for name in COARSE]
    lines = ["| feed | rows | " + " | ".join(f"{name}, {runs[0] + 1} to {runs[-1] + 1}" for name, runs in shown) + " |"]
    lines.append("|---|---:|" + "---:|" * len(shown))
    for title in [*sorted({row["feed"] for row in rows}), "all"]:
        mine = [row for row in rows if title in ("all", row["feed"])]
        cells = []
        for name, runs in shown:
            found = [row["held"] for row in mine if row["fault"] == name and row["runs"] in runs]
            cells.append(f"{sum(found)}/{len(found)}" if found else "-")
        typical = int(np.median([row["rows"] for row in mine]))
        lines.append(f"| {title} | {typical:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    measure_feeds(__doc__, judge_feed, BUDGET, RESULTS, tabulate)
