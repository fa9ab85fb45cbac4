"""The first sentence about each real incident, with and without diagnoses, and whether it names the cause.

An incident gets the good batches before it as its history, hidden and at 1%. What a batch of another incident became
(`benchmarks/gate`) decides whether that batch, its correction or nothing is in the history.
`incident_words.csv` says which words name the cause that the list of incidents gives.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from msgspec.structs import replace

from benchmarks.diagnosis.protocol import BUDGET, HISTORY, describe_verdict, open_gate
from benchmarks.gate.good_batches import judge_and_accept
from benchmarks.gate.page import ENOUGH
from benchmarks.gate.summary import notes
from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.incidents import SHORTEST, Incident, batch_of, corrected, incidents
from headgate.explain.causes import find_causes

Row = dict[str, Any]
WORDS = Path(__file__).with_name("incident_words.csv")
REPLAY = Path(__file__).parents[1] / "gate" / "results" / "replay.json"


class Words(NamedTuple):
    """What names the cause of an incident: a pattern, and why it does."""

    pattern: re.Pattern[str]
    note: str


def judge_incidents(workers: int = 2, packaged_rates: bool = False) -> list[Row]:
    """A row for each batch of an incident that is held or not, in the order of the list."""
    titles = list(dict.fromkeys(each.title for each in incidents()))
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        judge = partial(judge_feed_incidents, packaged_rates=packaged_rates)
        rows = [row for found in pool.map(judge, titles) for row in found]
    return sorted(rows, key=lambda row: (row["row"], row["partition"]))


def judge_feed_incidents(title: str, packaged_rates: bool = False) -> list[Row]:
    """The rows of the incidents of one feed."""
    feed = next((each for each in feeds(SHORTEST) if each.title == title), None)
    if feed is None:
        return []
    found = [
        _judge_incident(feed, incident, partition, packaged_rates)
        for incident in incidents()
        if incident.title == title
        for partition in incident.partitions
    ]
    return [row for row in found if row is not None]


def _judge_incident(feed: Feed, incident: Incident, partition: str, packaged_rates: bool) -> Row | None:
    table = batch_of(incident, partition)
    if table is None:
        return None
    gate = open_gate(feed, BUDGET, packaged_rates)
    history = list(_list_history(feed, partition))
    for name, batch in history:
        judge_and_accept(gate, name, batch)
    verdict = gate.judge(table, partition)
    without = find_causes(verdict.judgements, replace(verdict.account, diagnoses=()))
    return {
        "row": incident.row,
        "feed": feed.title,
        "partition": partition,
        "type": incident.type,
        "description": incident.description,
        "runs": len(history),
        **describe_verdict(verdict),
        "before": without[0].title if without and not verdict.passed else "",
        "after": verdict.causes[0].title if verdict.causes and not verdict.passed else "",
    }


def _list_history(feed: Feed, partition: str) -> Iterator[tuple[str, pa.Table]]:
    """The good batches directly before a partition, oldest first."""
    settled = _read_settled()
    listed = {
        each: incident for incident in incidents() if incident.title == feed.title for each in incident.partitions
    }
    earlier = [each for each in feed.readers() if each[0] < partition]
    wanted = [each for each in earlier if not settled.get((feed.title, each[0]), "").startswith("rejected: ")]
    for name, read in wanted[-HISTORY:]:
        became = settled.get((feed.title, name), "")
        if became.startswith("rejected"):
            right = corrected(listed[name], name)
            if right is not None:
                yield name, right
        else:
            yield name, read()


@cache
def _read_settled() -> Mapping[tuple[str, str], str]:
    """What became of the batches of incidents, in words."""
    rows = json.loads(REPLAY.read_text(encoding="utf-8"))["rows"]
    return {(row["feed"], row["partition"]): row["settled"] for row in rows if row["what"] == "incident"}


@cache
def read_words() -> Mapping[int, Words]:
    """What names the cause of each incident, by its number in the list."""
    with WORDS.open(encoding="utf-8", newline="") as file:
        return {
            int(line["row"]): Words(re.compile(line["pattern"], re.IGNORECASE), line["note"])
            for line in csv.DictReader(file)
        }


def is_revealable(row: Row) -> bool:
    """Whether a batch and its history can tell that something is wrong."""
    return bool(row["runs"] >= ENOUGH and notes().get((row["row"], row["partition"]), (True, ""))[0])


def names_cause(row: Row, sentence: str) -> bool:
    """Whether a sentence names the cause of an incident; an empty one names none."""
    return bool(sentence and read_words()[row["row"]].pattern.search(sentence))


def count_named(rows: Sequence[Row], which: str) -> tuple[int, int]:
    """How many incidents that can be revealed have their cause in the sentence `before` or `after`, and how many are.

    An incident of several batches is named if the first of them that can be revealed is.
    """
    first: dict[int, Row] = {}
    for row in rows:
        if is_revealable(row):
            first.setdefault(row["row"], row)
    return sum(names_cause(row, row[which]) for row in first.values()), len(first)


def format_incidents(rows: Sequence[Row]) -> str:
    """What each sentence says, for a terminal."""
    lines = []
    for row in rows:
        marks = "".join("+" if names_cause(row, row[which]) else "-" for which in ("before", "after"))
        told = "" if is_revealable(row) else " (cannot be revealed)"
        lines.append(f"{marks} {row['row']} {row['feed']} {row['partition']}: {row['description']}{told}")
        lines += [f"     before: {row['before']}", f"     after:  {row['after']}"]
    for which in ("before", "after"):
        named, able = count_named(rows, which)
        lines.append(f"{which}: {named} of {able} incidents that can be revealed are named")
    return "\n".join(lines)
