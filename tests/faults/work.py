"""What child processes do to a store while faults are tried on it, and how they tell the parent of each answer."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from headgate.metrics.states.counts import MatchCount
from headgate.store.fault_points import watch
from headgate.store.files import log
from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from headgate.values.expectation import Expectation
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed, Measured, Outcome
from headgate.values.predicate import Between
from headgate.values.run import AlreadyCommitted, Decision, Run
from headgate.values.verdict import judge
from tests.strategies import frequencies

# Children are forked from a process that has imported everything and has no thread, connection or runtime of its own.
_context = get_context("forkserver")
_context.set_forkserver_preload(["tests.faults.preload"])

_COUNTS = np.array([3, 4])
_PATIENCE = 120.0  # seconds that a child may take to end after its last word


@dataclass(frozen=True)
class Item:
    """A run to commit and what is then decided about it."""

    dataset: str
    partition: str
    seed: int
    decision: Decision | None = None

    def run(self) -> Run:
        """A new attempt at this run: numbers, states, a metric that failed, a verdict."""
        mean = MetricKey("mean", ("price",))
        outcomes: dict[MetricKey, Outcome] = {MetricKey("mean", (f"c{at}",)): Measured(float(at)) for at in range(5)}
        outcomes |= {mean: Measured(self.seed / 7), MetricKey("mean", ("absent",)): Failed("there is no such column.")}
        return Run(
            dataset=self.dataset,
            partition=self.partition,
            fingerprint=f"input {self.seed}",
            suite="suite",
            outcomes=outcomes,
            states={
                MetricKey("completeness", ("price",)): MatchCount(matched=self.seed, seen=100),
                MetricKey("value_distribution", ("name",)): frequencies({"a": 3, "b": 4}),
            },
            verdict=judge([Expectation(mean, Between(0, 100))], outcomes),
        )


@dataclass(frozen=True)
class Answer:
    """What a child heard from the store: `own` if it was its own commit, else another's that stands."""

    item: Item
    kind: str
    sequence: int
    attempt: str
    own: bool


@dataclass(frozen=True)
class Doom:
    """The child kills itself when it comes to this step for the so-manieth time."""

    step: str
    times: int


def do(store: HistoryStore, items: list[Item], tell: Callable[[Answer], None]) -> None:
    """Commit and decide everything; what is there already is fine."""
    for item in items:
        run = item.run()
        try:
            revision, own = store.commit(run), True
        except AlreadyCommitted as conflict:
            revision, own = conflict.revision, False
        tell(Answer(item, "run", revision.sequence, revision.attempt, own))
        if item.decision is not None:
            ruling = store.decide(item.dataset, item.partition, item.decision, number=revision.number)
            tell(Answer(item, "ruling", ruling.sequence, "", True))


def child(
    url: str, environment: dict[str, str], items: list[Item], doom: Doom | None, often: int, pipe: Connection
) -> None:
    """The whole life of a child. The last thing it sends, if it comes so far, is how often it came to each step."""
    os.environ.update(environment)
    log.CHECKPOINT_AFTER = often
    seen: Counter[str] = Counter()

    def watcher(name: str) -> None:
        seen[name] += 1
        if doom is not None and (name, seen[name]) == (doom.step, doom.times):
            os.kill(os.getpid(), signal.SIGKILL)

    with watch(watcher):
        pipe.send("begun")
        store = open_store(url)
        do(store, items, pipe.send)
        store.close()
    pipe.send(seen)


@contextmanager
def started(target: Callable[..., None], *arguments: Any) -> Iterator[tuple[Any, Connection]]:
    """A child and the end of the pipe that it talks into."""
    ours, theirs = _context.Pipe(duplex=False)
    process = _context.Process(target=target, args=(*arguments, theirs))
    process.start()
    theirs.close()
    try:
        yield process, ours
    finally:
        ours.close()  # a child that still says something fails then, and does not wait for a listener
        process.join(_PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()
        process.close()


def heard(pipe: Connection) -> Iterator[Any]:
    """All that a child says until it ends, however it ends."""
    while True:
        try:
            yield pipe.recv()
        except (EOFError, ConnectionResetError):
            return
