"""Every feed through a gate as a user has it: 30 good batches, then broken copies of each of the next good ones.

Values are hidden, the budget is 1%. A good batch that is held is accepted, and recorded with its diagnoses; a broken
one is rejected. Pooled rates are those of other datasets, or those of the package without the rarities of the dataset
itself: to gather the former takes hours, and a name does not depend on them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import pyarrow as pa

import headgate as hg
from benchmarks.diagnosis.cases import CaseFolder, Evidence, Row, record_evidence, skip_text_rules
from benchmarks.diagnosis.faults.catalog import CASES, INVERTIBLE, break_batch
from benchmarks.diagnosis.faults.fault import BrokenBatch, Part, SourceBatch
from benchmarks.diagnosis.repairs import has_inverse, try_repair
from benchmarks.gate.good_batches import list_good_batches, make_gate
from benchmarks.history.cases import random
from benchmarks.history.feeds import HELD_OUT, Feed
from benchmarks.values_mode import open_memory
from headgate.learn.pooled_rates import PooledRates, load_pooled_rates
from headgate.store.record import hide_segment

BUDGET, HISTORY, BROKEN = 0.01, 30, 6
FEWER_BROKEN = {
    "ourairports/runways": 3,
    "ourairports/airport_frequencies": 4,
    "globalhealth_mpox/latest_linelist": 4,
    "hhs_hospital/reported_hospital_utilization": 3,
    "dotgov_domains/current_full_2025_2026": 4,
    "dotgov_domains/current_full_2023_2024": 4,
}
"""Batches that are broken of feeds whose judgements take long."""
MOST_ROWS = 20_000  # of larger batches, the first


class Plan(NamedTuple):
    """How a feed is judged.

    `cache` is where held cases are kept, if they are. With `packaged_rates`, those that come with the package are
    used, without the rarities of the feed's own dataset: they are there at once, but their curves are not nested.
    """

    history: int = HISTORY
    broken: int | None = None
    cases: tuple[str, ...] = CASES
    cache: Path | None = None
    packaged_rates: bool = False


def judge_feed(feed: Feed, false_alarms: float, plan: Plan) -> list[Row]:
    """The rows of a feed; those of the cache if it has them."""
    folder = None if plan.cache is None else CaseFolder(plan.cache, feed)
    known = None if folder is None else folder.read_rows()
    if known is not None:
        return known
    start = time.perf_counter()
    rows = list(_judge_feed(feed, open_gate(feed, false_alarms, plan.packaged_rates), plan, folder))
    if folder is not None:
        folder.write_rows(rows)
    broken = [row for row in rows if row["fault"]]
    held = sum(row["held"] for row in broken)
    seconds = time.perf_counter() - start
    print(f"{feed.title}: {held} of {len(broken)} broken batches held, {seconds:.0f} s", flush=True)
    return rows


def open_gate(feed: Feed, false_alarms: float, packaged_rates: bool = False) -> hg.Gate:
    """A gate with hidden values, and the pooled rates of other datasets."""
    if not packaged_rates or feed.folder == HELD_OUT:
        return make_gate(feed, false_alarms)
    gate = hg.Gate("feed", store=open_memory(), false_alarms=false_alarms)
    gate.history.pooled_rates = drop_dataset(load_pooled_rates(), feed.folder)
    return gate


def drop_dataset(rates: PooledRates, folder: str) -> PooledRates:
    """Pooled rates without the rarities of the tables of a dataset."""
    tables = {name: table for name, table in rates.tables.items() if name.partition("/")[0] != folder}
    return msgspec.structs.replace(rates, tables=tables)


def _judge_feed(feed: Feed, gate: hg.Gate, plan: Plan, folder: CaseFolder | None) -> Iterator[Row]:
    count = plan.broken or FEWER_BROKEN.get(feed.title, BROKEN)
    earlier: list[tuple[str, pa.Table]] = []
    with record_evidence() as evidence:
        for partition, batch in list_good_batches(feed, plan.history + count):
            table = batch.slice(0, MOST_ROWS)
            about = {"feed": feed.title, "partition": partition, "rows": len(table), "runs": len(earlier)}
            if len(earlier) >= plan.history:
                source = SourceBatch(table, tuple(earlier))
                with skip_text_rules():
                    for broken, row in _judge_broken(gate, about, source, plan.cases):
                        if folder is not None and row["held"] and evidence:
                            _keep_case(folder, row, evidence.pop(), broken, table)
                        evidence.clear()  # a batch that cannot be read leaves none, and is not to get that of another
                        yield row
            verdict, seconds = _judge(gate, partition, table)
            if not verdict.passed:
                gate.accept(partition, number=verdict.revision.number)
            row = {**about, **GOOD, **describe_verdict(verdict), "seconds": seconds}
            if folder is not None and row["held"] and evidence:
                folder.write_case(row, evidence.pop(), None, table)
            evidence.clear()
            yield row
            earlier.append((partition, table))


GOOD: Row = {"case": "", "fault": "", "canonical": "", "columns": [], "parameters": {}, "segment": None, "parts": []}
"""What rows of good batches say of their fault."""


def _judge_broken(
    gate: hg.Gate, about: Mapping[str, object], source: SourceBatch, cases: Iterable[str]
) -> Iterator[tuple[BrokenBatch, Row]]:
    feed, partition = str(about["feed"]), str(about["partition"])
    for case in cases:
        broken = break_batch(case, source, random(feed, partition, case))
        if broken is not None:
            truth = describe_truth(case, broken, gate.store.secret)
            yield broken, {**about, **truth, **_judge_and_reject(gate, partition, broken, source.table)}


def _judge_and_reject(gate: hg.Gate, partition: str, broken: BrokenBatch, original: pa.Table) -> Row:
    """What became of a broken batch, and of its repair if it has one.

    An error of the gate is recorded, and the batch counts as not held.
    """
    try:
        verdict, seconds = _judge(gate, partition, broken.table)
    except Exception as error:
        return {"held": False, "causes": [], "headline": "", "diagnoses": [], "error": repr(error), "seconds": 0.0}
    row = {**describe_verdict(verdict), "seconds": seconds}
    if row["held"] and has_inverse(broken, original):
        row["repair"] = try_repair(gate, partition, broken.table, original)
    gate.reject(partition, number=verdict.revision.number)
    return row


def _judge(gate: hg.Gate, partition: str, table: pa.Table) -> tuple[hg.BatchVerdict, float]:
    """A verdict, and the seconds that it took."""
    start = time.perf_counter()
    verdict = gate.judge(table, partition)
    return verdict, round(time.perf_counter() - start, 3)


def _keep_case(folder: CaseFolder, row: Row, evidence: Evidence, broken: BrokenBatch, original: pa.Table) -> None:
    needed = any(part.segment is not None or part.canonical in INVERTIBLE for part in broken.parts)
    folder.write_case(row, evidence, broken.table if needed else None, original)


def describe_truth(case: str, broken: BrokenBatch, secret: bytes | None = None) -> Row:
    """What a right diagnosis says. A mixture names the faults of both columns; `parts` has each alone.

    Args:
        case: The name of the case.
        broken: The broken batch.
        secret: The key of a store that hides values: its diagnoses name segments by hashes.
    """
    parts = broken.parts
    return {
        "case": case,
        "fault": broken.fault,
        "canonical": " + ".join(part.canonical for part in parts),
        "columns": [name for part in parts for name in part.columns],
        "parameters": dict(parts[0].parameters) if len(parts) == 1 else {},
        "segment": list(parts[0].segment) if len(parts) == 1 and parts[0].segment else None,
        "parts": [_describe_part(part, secret) for part in parts],
    }


def _describe_part(part: Part, secret: bytes | None) -> Row:
    same = list(part.same_rows)
    if secret is not None and part.segment is not None:
        same += hide_segment((part.segment, *part.same_rows), secret)
    return {
        "canonical": part.canonical,
        "columns": list(part.columns),
        "parameters": dict(part.parameters),
        "segment": None if part.segment is None else list(part.segment),
        "same_rows": [list(segment) for segment in same],
    }


def describe_verdict(verdict: hg.BatchVerdict) -> Row:
    """Whether a batch is held, why, and the diagnoses, surest first."""
    return {
        "held": not verdict.passed,
        "causes": [cause.title for cause in verdict.causes],
        "headline": str(verdict.headline),
        "diagnoses": msgspec.json.decode(msgspec.json.encode(getattr(verdict.account, "diagnoses", ()))),
    }


def order_feeds(chosen: Sequence[Feed]) -> list[Feed]:
    """Feeds that parameters were chosen on first, and small ones before large ones."""
    return sorted(chosen, key=lambda feed: (not feed.chosen_on, feed.title in FEWER_BROKEN, feed.title))
