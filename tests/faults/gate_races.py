"""F4 through the gate: many processes judge at once, the same batch and batches of their own."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, closing
from multiprocessing.connection import Connection
from pathlib import Path

from headgate.store.open import open_store
from headgate.values.run import Decision
from tests.faults.backends import Backend, unique
from tests.faults.gate_checks import World
from tests.faults.gate_work import Batch, Lake, Told, judged, summed
from tests.faults.table import Row
from tests.faults.work import heard, started

_FLAWS = ("", "nulls", "", "gone")


def racer(lake: Lake, batches: list[Batch], start: float, pipe: Connection) -> None:
    """One of many: makes its gate, waits for the start, judges its list."""
    os.environ.update(lake.environment)
    with closing(open_store(lake.url)) as store:
        gate = lake.gate(store)
        time.sleep(max(0.0, start - time.time()))
        for batch in batches:
            verdict = judged(gate, batch)
            pipe.send((Told.of(batch, verdict), verdict.run.fingerprint, summed(verdict.verdict)))


def raced_for_one_batch(backend: Backend, folder: Path, processes: int, rounds: int) -> Row:
    """All judge the same input of the same partition: one revision, one decision, one verdict for all."""
    row = Row("F4 gate, one batch", backend.name, processes * rounds)
    lake, begun = _lake(backend, folder), time.monotonic()
    batches = [_batch(f"day {at}", at) for at in range(1, rounds + 1)]
    answers = _raced(lake, [batches] * processes, row)
    for batch in batches:
        mine = [each for each in answers if each[0].batch == batch]
        row.lost += processes - len(mine)
        row.doubled += len({repr(each) for each in mine}) - 1
    _one_revision_each(lake, batches, row)
    row.seconds = time.monotonic() - begun
    row.notes = f"{processes} x {rounds}; {len(answers) / row.seconds:.0f} verdicts/s"
    return row


def raced_for_many_batches(backend: Backend, folder: Path, processes: int, batches: int) -> Row:
    """Each has partitions of its own: all are kept."""
    row = Row("F4 gate, distinct batches", backend.name, processes * batches)
    lake, begun = _lake(backend, folder), time.monotonic()
    lists = [[_batch(f"{mine}-{at}", mine * batches + at) for at in range(batches)] for mine in range(processes)]
    answers = _raced(lake, lists, row)
    row.lost += processes * batches - len(answers)
    _one_revision_each(lake, [batch for each in lists for batch in each], row)
    row.seconds = time.monotonic() - begun
    row.notes = f"{processes} x {batches}; {len(answers) / row.seconds:.0f} verdicts/s"
    return row


def _lake(backend: Backend, folder: Path) -> Lake:
    """With one good batch, so that there is something to learn from."""
    name = unique("orders")
    lake = Lake(backend.url(), name, folder / name.replace(" ", "-"), environment=backend.environment)
    assert lake.judge(Batch("!", 0)).passed  # before any other partition
    return lake


def _batch(partition: str, seed: int) -> Batch:
    flaw = _FLAWS[seed % len(_FLAWS)]
    return Batch(partition, 1 + seed, flaw, named=seed % 3 == 0)


def _raced(lake: Lake, lists: list[list[Batch]], row: Row) -> list[tuple[Told, str, list[tuple[object, ...]]]]:
    for batch in {batch for batches in lists for batch in batches}:
        lake.stage(batch)
    start, answers = time.time() + 0.5, []
    with ExitStack() as stack:
        children = [stack.enter_context(started(racer, lake, batches, start)) for batches in lists]
        for _, pipe in children:
            answers += list(heard(pipe))
    prints = {told.batch.text: fingerprint for told, fingerprint, _ in answers}
    World(lake, {"!|0|": "input 0 ", **prints}).look(row, [told for told, _, _ in answers])
    return answers


def _one_revision_each(lake: Lake, batches: list[Batch], row: Row) -> None:
    """Every partition has one run, with the one decision that it should have, and what passed is seen."""
    with closing(open_store(lake.url)) as store:
        made = store.revisions(lake.dataset)
        rulings = store.rulings(lake.dataset)
    row.doubled += len(made) - len({each.partition for each in made}) + len(rulings) - len(made)
    found, seen = {each.partition: each for each in made}, lake.seen()
    for batch in batches:
        wanted = Decision.HELD if batch.flaw else Decision.PUBLISHED
        row.lost += batch.partition not in found or found[batch.partition].decision is not wanted
        row.leaked += bool(batch.flaw) and batch.partition in seen
