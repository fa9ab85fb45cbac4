"""`python -m benchmarks.gate.gaps`: of the 30 good batches after a held or missing one, how many the gate holds.

Each feed is judged at a budget of 1%. After 25 good batches, whose holds are accepted, comes one more: as it is
("none"), with an empty column ("held"), or not at all ("missing"). Nobody answers from then on: a batch that is held
stays held, and the next is judged without it.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import headgate as hg
from benchmarks.gate.good_batches import (
    Row,
    judge_and_accept,
    list_good_batches,
    make_gate,
    measure_feeds,
)
from benchmarks.history.feeds import Feed
from benchmarks.values_mode import VALUES
from headgate.store.memory import MemoryStore
from headgate.values.run import Decision

RESULTS = Path(__file__).parent / "results" / "gaps.json"
BUDGET, BEFORE, AFTER = 0.01, 25, 30
SCENARIOS = ("none", "held", "missing")


def judge_feed(feed: Feed, false_alarms: float) -> list[Row]:
    """For each scenario, the batches that are held after it."""
    batches = list_good_batches(feed, BEFORE + AFTER + 1)
    first = make_gate(feed, false_alarms)
    for partition, table in batches[:BEFORE]:
        judge_and_accept(first, partition, table)
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


def _copy_gate(first: hg.Gate, feed: Feed, false_alarms: float) -> hg.Gate:
    """A gate with the same accepted runs."""
    gate = make_gate(feed, false_alarms, MemoryStore(hide=VALUES == "hidden", secret=first.store.secret))
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


if __name__ == "__main__":
    measure_feeds(__doc__, judge_feed, BUDGET, RESULTS, tabulate)
