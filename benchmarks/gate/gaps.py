"""`python -m benchmarks.gate.gaps`: of the 30 good batches after a held or missing one, how many the gate holds.

Each feed is judged by a gate as a user has it, with the pooled rates of the other datasets. After 25 good batches,
whose holds are accepted, comes one more: as it is ("none"), with an empty column ("held"), or not at all ("missing").
Nobody answers from then on: a batch that is held stays held, and the next is judged without it.
`HEADGATE_VALUES=plain` judges with plain values and only prints.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import headgate as hg
from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.incidents import is_incident
from benchmarks.history.tables import tails_for
from benchmarks.values_mode import VALUES, open_memory
from headgate.store.memory import MemoryStore
from headgate.values.run import Decision

RESULTS = Path(__file__).parent / "results" / "gaps.json"
BEFORE, AFTER = 25, 30
SCENARIOS = ("none", "held", "missing")
Row = dict[str, Any]
Batches = Sequence[tuple[str, pa.Table]]


def judged(workers: int, false_alarms: float) -> list[Row]:
    largest_first = sorted(feeds(), key=lambda feed: -feed.path.stat().st_size)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        return [row for rows in pool.map(partial(judge_feed, false_alarms=false_alarms), largest_first) for row in rows]


def judge_feed(feed: Feed, false_alarms: float) -> list[Row]:
    """For each scenario, the batches that are held after it."""
    good = [each for each in feed.batches() if not is_incident(feed.title, each[0])]
    start = max(0, min(len(good) // 3, len(good) - BEFORE - AFTER - 1))
    batches = good[start : start + BEFORE + AFTER + 1]
    first = _make_gate(feed, false_alarms)
    for partition, table in batches[:BEFORE]:
        verdict = first.judge(table, partition)
        if not verdict.passed:
            first.accept(partition, number=verdict.revision.number)
    has_times = any(pa.types.is_temporal(field.type) for field in batches[-1][1].schema)
    rows = []
    for scenario in SCENARIOS:
        gate = _copy_gate(first, feed, false_alarms)
        was_held = _judge_odd_batch(gate, scenario, *batches[BEFORE])
        held = [
            {"partition": partition, "causes": [each.title for each in verdict.causes[:3]]}
            for partition, table in batches[BEFORE + 1 :]
            if not (verdict := gate.judge(table, partition)).passed
        ]
        about = {"feed": feed.title, "times": has_times, "scenario": scenario, "after": len(batches) - BEFORE - 1}
        rows.append({**about, "odd batch held": was_held, "held": held})
    print(f"{feed.title}: {[len(row['held']) for row in rows]}", flush=True)
    return rows


def _make_gate(feed: Feed, false_alarms: float) -> hg.Gate:
    gate = hg.Gate("feed", store=open_memory(), false_alarms=false_alarms)
    gate.history.pooled_rates = tails_for(feed.folder)
    return gate


def _copy_gate(first: hg.Gate, feed: Feed, false_alarms: float) -> hg.Gate:
    """A gate with the same accepted runs."""
    gate = hg.Gate(
        "feed", store=MemoryStore(hide=VALUES == "hidden", secret=first.store.secret), false_alarms=false_alarms
    )
    gate.history.pooled_rates = tails_for(feed.folder)
    for revision in first.store.last("feed", BEFORE):
        gate.store.commit(first.store.run(revision))
        gate.store.decide("feed", revision.partition, Decision.ACCEPTED, who="benchmark")
    return gate


def _judge_odd_batch(gate: hg.Gate, scenario: str, partition: str, table: pa.Table) -> bool:
    """Whether the batch of the scenario is held; a missing one is not judged."""
    if scenario == "missing":
        return False
    if scenario == "held":
        filled = [name for name in table.column_names if table[name].null_count < len(table) / 2]
        name = filled[len(filled) // 2]
        empty = pa.nulls(len(table), table[name].type)
        table = table.set_column(table.column_names.index(name), name, empty)
    return not gate.judge(table, partition).passed


def tabulate(rows: list[Row]) -> str:
    """Held of judged for each feed and scenario."""
    lines = ["| feed | has times | " + " | ".join(SCENARIOS) + " |", "|---|---|" + "---:|" * len(SCENARIOS)]
    for title in sorted({row["feed"] for row in rows}):
        mine = {row["scenario"]: row for row in rows if row["feed"] == title}
        cells = [f"{len(mine[each]['held'])}/{mine[each]['after']}" for each in SCENARIOS]
        lines.append(f"| {title} | {'yes' if mine['none']['times'] else ''} | " + " | ".join(cells) + " |")
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
    for scenario in SCENARIOS:
        mine = [row for row in rows if row["scenario"] == scenario]
        shares = [len(row["held"]) / row["after"] for row in mine if row["after"]]
        print(f"{scenario}: {sum(len(row['held']) for row in mine)} held, {np.mean(shares):.2%} of a feed on average")


if __name__ == "__main__":
    main()
