"""F4: many processes commit at once, to one key and to many."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from multiprocessing.connection import Connection

from headgate.store.open import open_store
from tests.faults.backends import Backend, unique
from tests.faults.table import Row
from tests.faults.work import Answer, Item, do, heard, started


def racer(url: str, environment: dict[str, str], items: list[Item], start: float, pipe: Connection) -> None:
    """One of many: opens the store, waits for the start, commits its list."""
    os.environ.update(environment)
    store = open_store(url)
    time.sleep(max(0.0, start - time.time()))
    answers: list[Answer] = []
    do(store, items, answers.append)
    store.close()
    pipe.send(answers)


def raced_for_one_key(backend: Backend, processes: int, commits: int) -> Row:
    """All want the same run: one wins, all others are told who."""
    row, begun, dataset = Row("F4 one key", backend.name, processes * commits), time.monotonic(), unique("orders")
    answers = _raced(backend.url(), backend, [[Item(dataset, "p", 1)] * commits] * processes)
    row.lost = processes * commits - len(answers)
    winners = {(each.sequence, each.attempt) for each in answers}
    own = [each for each in answers if each.own]
    row.doubled = len(winners) - 1 + len(own) - 1
    row.seconds = time.monotonic() - begun
    row.notes = f"1 winner, {len(answers) - len(own)} told so; {len(answers) / row.seconds:.0f} answers/s"
    return row


def raced_for_many_keys(backend: Backend, processes: int, commits: int) -> Row:
    """All want runs of their own in one dataset: all are kept, in one sequence without holes."""
    row, begun, dataset = Row("F4 distinct keys", backend.name, processes * commits), time.monotonic(), unique("orders")
    url = backend.url()
    lists = [[Item(dataset, f"{mine}-{at}", at) for at in range(commits)] for mine in range(processes)]
    answers = _raced(url, backend, lists)
    row.seconds = time.monotonic() - begun
    store = open_store(url)
    revisions = store.revisions(dataset)
    store.close()
    kept = {(each.partition, each.sequence, each.attempt) for each in revisions}
    row.lost = processes * commits - len(
        kept & {(each.item.partition, each.sequence, each.attempt) for each in answers}
    )
    row.doubled = len(revisions) - len({each.partition for each in revisions})
    assert [each.sequence for each in revisions] == list(range(1, processes * commits + 1)), "holes or repeats"
    row.notes = f"{len(revisions) / row.seconds:.0f} commits/s"
    return row


def _raced(url: str, backend: Backend, lists: list[list[Item]]) -> list[Answer]:
    open_store(url).close()
    answers: list[Answer] = []
    start = time.time() + 0.5
    with ExitStack() as stack:
        children = [stack.enter_context(started(racer, url, backend.environment, items, start)) for items in lists]
        for _, pipe in children:
            answers += [answer for said in heard(pipe) for answer in said]
    return answers
