"""The days of a feed as the gate meets them: what arrives, what of it joins the history afterwards, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import headgate as hg
from benchmarks.history.feeds import Feed
from benchmarks.history.incidents import Incident, batch_of, corrected, incidents, is_incident
from benchmarks.history.series import Batch, analysed
from headgate.learn.past import numeric_values

_MOVED = 0.05  # of its own size: what a metric must have moved by to tell whether a change stayed


class Arrival(NamedTuple):
    """One batch as it was published. `table` is None where the states of a usual day say all that is needed.

    `joins` is what the history gets once the publisher's later files have told what it was: the batch itself where it
    was right or the change stayed, the corrected one, or nothing.
    """

    at: int  # among the batches of the feed; of one that could not be read, that of the next
    partition: str
    incident: Incident | None
    table: pa.Table | None
    joins: hg.Analysis | None
    why: str


def arrivals(feed: Feed) -> Iterator[Arrival]:
    """Every day of a feed in order, incidents as first published."""
    batches = analysed(feed)
    listed = _listed(feed)
    known = {batch.partition: at for at, batch in enumerate(batches)}
    for partition in sorted({*known, *listed}):
        at = known.get(partition)
        place = (
            at
            if at is not None
            else next((known[each] for each in sorted(known) if each > partition), len(batches) - 1)
        )
        if partition not in listed:
            yield Arrival(place, partition, None, None, batches[place].analysis, "usual")
            continue
        incident = listed[partition]
        table = batch_of(incident, partition)
        joins, why = _settled(feed, incident, partition, at, batches)
        if table is not None:
            yield Arrival(place, partition, incident, table, joins, why)


def _listed(feed: Feed) -> dict[str, Incident]:
    found: dict[str, Incident] = {}
    for incident in incidents():
        if incident.title == feed.title:
            for partition in incident.partitions:
                found.setdefault(partition, incident)
    return found


def _settled(
    feed: Feed, incident: Incident, partition: str, at: int | None, batches: list[Batch]
) -> tuple[hg.Analysis | None, str]:
    """What a person who sees the publisher's later files would decide."""
    right = corrected(incident, partition)
    if right is not None:
        return hg.analyze(right), "rejected; the corrected batch is judged instead"
    if at is None:
        return None, "rejected: it could not be read as this feed"
    return (batches[at].analysis, "accepted: the change stayed") if _stayed(feed, at, batches) else (None, "rejected")


def _stayed(feed: Feed, at: int, batches: list[Batch]) -> bool:
    """Whether the next usual day is more like this one than like the usual day before it."""
    usual = [each for each in range(len(batches)) if not is_incident(feed.title, batches[each].partition)]
    before, after = [each for each in usual if each < at], [each for each in usual if each > at]
    if not before or not after:
        return True
    was, now, then = (batches[each].analysis for each in (before[-1], at, after[0]))
    if was.schema.labels != now.schema.labels:
        return then.schema.labels != was.schema.labels
    one, two, three = (numeric_values(each.outcomes) for each in (was, now, then))
    moved = [key for key in one if key in two and key in three and _far(one[key], two[key])]
    nearer = [abs(three[key] - two[key]) < abs(three[key] - one[key]) for key in moved]
    return bool(nearer) and float(np.mean(nearer)) > 0.5


def _far(one: float, other: float) -> bool:
    return abs(one - other) > _MOVED * max(abs(one), abs(other), 1e-9)
