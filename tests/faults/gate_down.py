"""A store that goes away at a chosen call, and what a gate makes of it."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Any

from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from headgate.values.account import Action
from headgate.values.errors import StoreUnavailable
from headgate.values.expectation import Status
from headgate.values.run import Decision
from tests.faults.backends import Backend, unique
from tests.faults.gate_checks import World
from tests.faults.gate_work import Batch, Lake, judged
from tests.faults.table import Row

_MOST = 60  # calls of one judgement


class Dying:
    """A store of which call number `at` fails, and all after it. A write may be `done` first: then only its answer is
    lost."""

    def __init__(self, store: HistoryStore, at: int, *, done: bool = False) -> None:
        self._store, self._at, self._done = store, at, done
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not callable(found):
            return found

        def call(*arguments: Any, **options: Any) -> Any:
            self.calls.append(name)
            if len(self.calls) < self._at:
                return found(*arguments, **options)
            if self._done and name in ("commit", "decide"):
                found(*arguments, **options)
            raise StoreUnavailable("the store went away.")

        return call


def died_at_every_call(backend: Backend, folder: Path) -> Row:
    """One judgement after the other, each with a store that goes away one call later, until none fails."""
    row, begun, name = Row("store gone, at each call", backend.name), time.monotonic(), unique("orders")
    lake = Lake(backend.url(), name, folder / name.replace(" ", "-"), environment=backend.environment)
    lake.judge(Batch("!", 0))
    for flaw in ("", "nulls"):
        for done in (False, True):
            for at in range(1, _MOST):
                if not _one_death(lake, Batch(f"{flaw} {done} {at}", at, flaw), at, done, row):
                    break
            assert 5 < at < _MOST - 1, "a judgement has more calls than a few"
    row.seconds = time.monotonic() - begun
    return row


def _one_death(lake: Lake, batch: Batch, at: int, done: bool, row: Row) -> bool:
    """Whether the judgement was interrupted. Then the store comes back, and it is made again."""
    lake.stage(batch)
    with closing(open_store(lake.url)) as store:
        dying = Dying(store, at, done=done)
        try:
            verdict = judged(lake.gate(dying), batch)
        except StoreUnavailable:
            row.trials += 1
            row.points[f"no answer to {dying.calls[-1]}"] += 1
            _look(lake, store, batch, row)
            verdict = judged(lake.gate(store), batch)
        assert verdict.passed != bool(batch.flaw)
        assert verdict.action is (Action.HOLD if batch.flaw else Action.PUBLISH)
        _look(lake, store, batch, row)
        (made,) = store.revisions(lake.dataset, batch.partition)
        row.lost += made.decision is not (Decision.HELD if batch.flaw else Decision.PUBLISHED)
        row.doubled += len(store.rulings(lake.dataset, batch.partition)) - 1
        return len(dying.calls) >= at


def _look(lake: Lake, store: HistoryStore, batch: Batch, row: Row) -> None:
    seen = lake.seen().get(batch.partition)
    world = World(lake, {batch.text: batch.fingerprint or ""})
    row.leaked += seen is not None and not world.is_allowed(store, seen)
    made = store.revisions(lake.dataset, batch.partition)
    row.leaked += any(each.decision == "published" and each.status is not Status.PASS for each in made)
