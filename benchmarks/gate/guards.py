"""`python -m benchmarks.gate.guards`: which basic faults the gate holds on every feed, from its second run on.

Each feed is judged by a gate as a user has it: values hidden, a budget of 1%, all learners. Only the pooled rates are
those of the other datasets. Of each feed 31 good batches are taken, from a third of its length on; holds of good
batches are accepted. Before the batches of a few days are judged, broken copies of them are, and rejected.
`HEADGATE_VALUES=plain` judges with plain values and only prints.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import headgate as hg
from benchmarks.history.cases import random
from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.incidents import is_incident
from benchmarks.history.tables import tails_for
from benchmarks.values_mode import VALUES, open_memory

RESULTS = Path(__file__).parent / "results" / "guards.json"
RUNS = 31
YOUNG, GROWN = (1, 3, 6, 10, 14), (15, 22, 30)  # runs before the batch
MIN_COMPLETE_ROWS = 34  # rows of which 3% are at least one
Row = dict[str, Any]
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


def judged(workers: int, false_alarms: float) -> list[Row]:
    """Every broken batch of every feed, and whether it is held."""
    largest_first = sorted(feeds(), key=lambda feed: -feed.path.stat().st_size)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        return [row for rows in pool.map(partial(judge_feed, false_alarms=false_alarms), largest_first) for row in rows]


def judge_feed(feed: Feed, false_alarms: float) -> list[Row]:
    gate = hg.Gate("feed", store=open_memory(), false_alarms=false_alarms)
    gate.history.pooled_rates = tails_for(feed.folder)
    rows: list[Row] = []
    before: pa.Table | None = None
    for number, (partition, table) in enumerate(_batches(feed)):
        about = {"feed": feed.title, "partition": partition, "runs": number, "rows": len(table)}
        if before is not None and number in (*YOUNG, *GROWN):
            rows += [
                {**about, "fault": name, **told} for name, told in _judge_faults(gate, feed, partition, table, before)
            ]
        verdict = gate.judge(table, partition)
        rows.append(
            {**about, "fault": "", "held": not verdict.passed, "causes": [each.title for each in verdict.causes]}
        )
        if not verdict.passed:
            gate.accept(partition, number=verdict.revision.number)
        before = table
    print(f"{feed.title}: {number + 1} batches", flush=True)
    return rows


def _batches(feed: Feed) -> Iterator[tuple[str, pa.Table]]:
    """Good batches from a third of the feed on."""
    good = [each for each in feed.batches() if not is_incident(feed.title, each[0])]
    return islice(good, len(good) // 3, len(good) // 3 + RUNS)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--false-alarms", type=float, default=0.01)
    arguments = parser.parse_args()
    rows = judged(arguments.workers, arguments.false_alarms)
    if arguments.false_alarms == 0.01 and VALUES == "hidden":
        RESULTS.write_text(json.dumps(rows, indent=0) + "\n", encoding="utf-8")
    print(tabulate(rows))
    good = [row for row in rows if not row["fault"] and row["runs"]]
    print(f"{sum(row['held'] for row in good)} of {len(good)} good batches held")


if __name__ == "__main__":
    main()
