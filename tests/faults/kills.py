"""F1: kill -9 at every named step, and at random moments, over and over; then look at what is left."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress

from headgate.store.open import open_store
from headgate.values.run import Decision
from tests.faults.backends import Backend, unique
from tests.faults.checks import examined
from tests.faults.table import Row
from tests.faults.work import Answer, Doom, Item, child, heard, started

_OFTEN = 5  # entries between checkpoints, so that short histories have them
_MOST = 12  # kills of one history


def killed(backend: Backend, kills: int, seed: int) -> Row:
    """So many kills, spread over new histories, each of which is worked on until all its work is done."""
    row = Row("F1 kill -9", backend.name)
    chance, begun = random.Random(f"{seed} {backend.name}"), time.monotonic()
    steps = _steps(backend)
    while row.kills < kills:
        _one_history(backend, row, steps, chance, min(_MOST, kills - row.kills))
        row.trials += 1
    row.seconds = time.monotonic() - begun
    row.notes = f"{row.kills / row.seconds:.0f} kills/s; {row.trials} histories converged"
    return row


def _one_history(backend: Backend, row: Row, steps: Counter[str], chance: random.Random, most: int) -> None:
    url, items = backend.url(), _items(chance)
    answers: list[Answer] = []
    for at in range(3 * most):
        last = at >= most or at == 3 * most - 1
        point, answered, finished = _one_child(backend, url, items, None if last else _doom(steps, chance), chance)
        answers += answered
        if not finished:
            row.kills += 1
            row.points[point] += 1
        _examine(url, items, answers, row)
        if last or finished:
            break
    assert finished, "a rerun does not converge"
    _assert_done(url, items)


def _doom(steps: Counter[str], chance: random.Random) -> Doom | float:
    """A step and how many times it may be passed; now and then a moment instead."""
    if chance.random() < 0.15:
        return chance.uniform(0, 0.08)
    name = chance.choice(sorted(steps))
    return Doom(name, chance.randint(1, max(1, min(3, steps[name]))))


def _one_child(
    backend: Backend, url: str, items: list[Item], fate: Doom | float | None, chance: random.Random
) -> tuple[str, list[Answer], bool]:
    doom = fate if isinstance(fate, Doom) else None
    answers, finished = [], False
    with started(child, url, backend.environment, items, doom, _OFTEN) as (process, pipe):
        for said in heard(pipe):
            if said == "begun" and isinstance(fate, float):
                time.sleep(fate)
                with suppress(ProcessLookupError):  # it may have finished
                    os.kill(process.pid, signal.SIGKILL)
            elif isinstance(said, Answer):
                answers.append(said)
            elif isinstance(said, Counter):
                finished = True
        process.join()
        # A child that was told everything but its last word is not counted as finished: it was killed saying it.
        assert finished or process.exitcode == -signal.SIGKILL, f"a child failed with {process.exitcode}"
    return doom.step if doom else "at a random moment", answers, finished


def _examine(url: str, items: list[Item], answers: list[Answer], row: Row) -> None:
    store = open_store(url)
    try:
        found = examined(store, {item.dataset for item in items}, answers)
    finally:
        store.close()
    row.lost += found.lost
    row.doubled += found.doubled


def _assert_done(url: str, items: list[Item]) -> None:
    store = open_store(url)
    try:
        for dataset in {item.dataset for item in items}:
            wanted = [item for item in items if item.dataset == dataset]
            assert {(each.partition, each.fingerprint) for each in store.revisions(dataset)} == {
                (item.partition, f"input {item.seed}") for item in wanted
            }
            assert len(store.rulings(dataset)) == sum(item.decision is not None for item in wanted)
    finally:
        store.close()


def _items(chance: random.Random) -> list[Item]:
    """Runs of two datasets, some partitions twice with new input, some with decisions."""
    names = [unique("orders"), unique("../Orders")]
    choices = [None, *Decision]
    return [Item(names[at % 2], f"2026-11-{1 + at // 3:02}", at, chance.choice(choices)) for at in range(10)]


def _steps(backend: Backend) -> Counter[str]:
    """The steps that a child takes when nobody kills it."""
    seen: Counter[str] = Counter()
    with started(child, backend.url(), backend.environment, _items(random.Random(0)), None, _OFTEN) as (_, pipe):
        for said in heard(pipe):
            if isinstance(said, Counter):
                seen = said
    assert seen, "a child that nobody kills must finish"
    return seen
