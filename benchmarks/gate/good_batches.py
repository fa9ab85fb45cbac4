"""Good batches of feeds through a gate as a user has it: values hidden, all learners.

The pooled rates are those of the other datasets, so that no feed is judged by evidence from itself. Held-out feeds are
judged with the rates that come with the package, which know nothing of them.
`HEADGATE_VALUES=plain` judges with plain values; then nothing is written.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa

import headgate as hg
from benchmarks.history.evidence import tails_for
from benchmarks.history.feeds import HELD_OUT, Feed, feeds
from benchmarks.history.incidents import is_incident
from benchmarks.values_mode import VALUES, open_memory
from headgate.store.port import HistoryStore

Row = dict[str, Any]
Batches = Sequence[tuple[str, pa.Table]]


def make_gate(feed: Feed, false_alarms: float, store: HistoryStore | None = None) -> hg.Gate:
    gate = hg.Gate("feed", store=store or open_memory(), false_alarms=false_alarms)
    if feed.folder != HELD_OUT:
        gate.history.pooled_rates = tails_for(feed.folder)
    return gate


def list_good_batches(feed: Feed, count: int) -> Batches:
    """Consecutive batches that are no incidents, from a third of the feed on, or from earlier if too few follow."""
    good = [each for each in feed.readers() if not is_incident(feed.title, each[0])]
    start = max(0, min(len(good) // 3, len(good) - count))
    return [(partition, read()) for partition, read in good[start : start + count]]


def judge_and_accept(gate: hg.Gate, partition: str, batch: pa.Table) -> hg.BatchVerdict:
    """Judge a good batch, and accept it if it is held."""
    verdict = gate.judge(batch, partition)
    if not verdict.passed:
        gate.accept(partition, number=verdict.revision.number)
    return verdict


def judge_feeds(
    judge: Callable[[Feed, float], list[Row]],
    workers: int,
    false_alarms: float,
    chosen: Sequence[Feed] | None = None,
) -> list[Row]:
    """The rows of all feeds, the largest first.

    Args:
        judge: What makes the rows of a feed at a budget.
        workers: How many processes judge.
        false_alarms: The budget.
        chosen: The feeds. Default: all that are not held out.
    """
    largest_first = sorted(feeds() if chosen is None else chosen, key=lambda feed: -feed.path.stat().st_size)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        return [row for rows in pool.map(judge, largest_first, repeat(false_alarms)) for row in rows]


def write_results(file: Path, rows: Sequence[Row]) -> None:
    """Write rows that were measured with hidden values, one on each line."""
    if VALUES == "hidden":
        file.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")


def parse_arguments(description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args()


def measure_feeds(
    description: str | None,
    judge: Callable[[Feed, float], list[Row]],
    false_alarms: float,
    results: Path,
    tabulate: Callable[[list[Row]], str],
) -> None:
    """Judge all feeds, write the rows and print their table: the command of a benchmark.

    Args:
        description: The docstring of its module, for `--help`.
        judge: What makes the rows of a feed at a budget.
        false_alarms: The budget.
        results: The file of the rows.
        tabulate: What makes a table of the rows.
    """
    rows = judge_feeds(judge, parse_arguments(description).workers, false_alarms)
    write_results(results, rows)
    print(tabulate(rows))
