"""Chooses the runs that a batch is compared with. Usually these are the runs of the partitions before it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from headgate.store.port import HistoryStore
from headgate.values.run import Decision, Revision, partition_sort_key

_DIGITS = re.compile(r"[0-9]+")


class ReferenceRuns(NamedTuple):
    """Runs in the order of their partitions, and why they are not those before the batch; empty if they are."""

    revisions: tuple[Revision, ...]
    note: str = ""


def find_reference_runs(
    store: HistoryStore,
    dataset: str,
    runs: int,
    *,
    partition: str | None = None,
    as_of: int | None = None,
    only: Collection[Decision] | None = None,
) -> ReferenceRuns:
    """The runs before a partition; if there are none, the nearest ones.

    The order of partitions is that of their names. A name of another form than all others has no place in it: such a
    batch is compared with the newest runs.

    Args:
        store: The history.
        dataset: The name of the dataset.
        runs: How many runs, at most.
        partition: The batch; None for one that comes after all others.
        as_of: The commit as of which to read; the last one by default.
        only: Decisions. Only runs whose current decision is one of them are considered.
    """
    newest = store.last(dataset, runs, as_of=as_of, only=only)
    if not newest or partition is None:
        return ReferenceRuns(newest)
    forms = {form_of(each.partition): each.partition for each in newest}
    if form_of(partition) not in forms:
        example = newest[-1].partition
        return ReferenceRuns(
            newest, f"{partition!r} is not named like {example!r}, so the newest runs stand in for those before it"
        )
    if _order(newest[-1].partition) < _order(partition):
        return ReferenceRuns(newest)
    before = store.last(dataset, runs, before=partition, as_of=as_of, only=only)
    if before:
        return ReferenceRuns(before)
    following = store.first(dataset, runs, after=partition, as_of=as_of, only=only)
    return ReferenceRuns(following, "no run lies before it, so the first ones after it are taken" if following else "")


def form_of(partition: str) -> str:
    """A name in which every number is a 9.

    >>> form_of("2026-11-14"), form_of("31.10.2026"), form_of("day=7")
    ('9-9-9', '9.9.9', 'day=9')
    """
    return _DIGITS.sub("9", partition)


def _order(partition: str) -> tuple[str, str]:
    return partition_sort_key(partition), partition
