"""F6 and F7: what was read as of a commit reads so for ever; order is by partition and commit, whatever comes when."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from headgate.store.port import HistoryStore
from headgate.values.run import TRUSTED, Decision, Revision, partition_sort_key
from tests.faults.table import Row
from tests.store.runs import a_small_run


class Seen(NamedTuple):
    """What a gate would have decided on after one commit."""

    sequence: int
    last: tuple[Revision, ...]
    trusted: tuple[Revision, ...]
    values: list[float]


def seen(store: HistoryStore, dataset: str, as_of: int | None = None) -> Seen:
    window = store.last(dataset, 7, as_of=as_of)
    values = store.series(window, ["size()"]).of("size()")
    assert not np.isnan(values).any()
    trusted = store.last(dataset, 7, as_of=as_of, only=TRUSTED)
    return Seen(as_of or store.head(dataset), window, trusted, values.tolist())


def replayed(reopen: Callable[[], HistoryStore], dataset: str, commits: int, seed: int) -> int:
    """Commits of new and old partitions with new input, and decisions; after each, what is seen is noted. At the end
    every note is compared with what another reader sees as of then. Says how many were wrong."""
    chance, store, notes = random.Random(seed), reopen(), []
    for at in range(commits):
        partition = f"2026-11-{chance.randint(1, 12)}"
        if at and chance.random() < 0.4:
            about = chance.choice(store.revisions(dataset))
            store.decide(dataset, about.partition, chance.choice(list(Decision)), number=about.number)
        else:
            store.commit(a_small_run(partition, dataset=dataset, seed=at, basis=store.head(dataset)))
        notes.append(seen(store, dataset))
    other = reopen()
    return sum(seen(other, dataset, note.sequence) != note for note in notes)


def arrived_anyhow(store: HistoryStore, dataset: str, seed: int) -> int:
    """Partitions late, replayed and backfilled, under a clock that is off by up to a day either way. Says how many
    stand in the wrong place."""
    chance = random.Random(seed)
    days = [f"2026-{month}-{day}" for month in (9, 10, 11) for day in (1, 2, 9, 10, 30)]
    arrivals = [*chance.sample(days, len(days)), *chance.sample(days, 5)]
    for at, day in enumerate(arrivals):
        clock = 1.8e9 + at * 3600 + chance.uniform(-86_400, 86_400)
        store.commit(a_small_run(day, dataset=dataset, seed=at, at=clock))
    newest = {day: at for at, day in enumerate(arrivals)}
    wanted = [(day, f"input {newest[day]}") for day in sorted(days, key=partition_sort_key)]
    found = [(each.partition, each.fingerprint) for each in store.last(dataset, 99)]
    commits = [(each.partition, each.sequence) for each in store.revisions(dataset)]
    wrong = sum(one != other for one, other in zip(found, wanted, strict=True))
    return wrong + sum(
        one != other for one, other in zip(commits, zip(arrivals, range(1, 99), strict=False), strict=True)
    )


def replay_row(backend: str, reopen: Callable[[], HistoryStore], dataset: str, commits: int, seed: int) -> Row:
    row, begun = Row("F6 as-of replay", backend, commits), time.monotonic()
    row.lost = replayed(reopen, dataset, commits, seed)
    row.seconds = time.monotonic() - begun
    return row


def order_row(backend: str, reopen: Callable[[], HistoryStore], dataset: str, seed: int) -> Row:
    row, begun = Row("F7 late, replayed, wrong clock", backend, 20), time.monotonic()
    row.lost = arrived_anyhow(reopen(), dataset, seed)
    row.seconds = time.monotonic() - begun
    return row
