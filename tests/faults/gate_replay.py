"""F6 through the gate: a replay reaches the learned verdict of then, whatever was committed and decided since."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import closing

from headgate.gate.gate import Gate
from headgate.learn.learned import Learner
from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from headgate.values.expectation import Source
from headgate.values.run import Decision
from headgate.values.verdict import Verdict
from tests.faults.backends import Backend, unique
from tests.faults.gate_work import CHECK, WORDS, Batch, judged, summed
from tests.faults.table import Row

LEARNED = frozenset(Source(each.value) for each in Learner)
_WORDS = (Decision.ACCEPTED, Decision.REJECTED, Decision.RELEASED, Decision.DISCARDED)

Said = list[tuple[object, ...]]
Then = dict[tuple[str, int], Said]


def gate_of(store: HistoryStore, dataset: str) -> Gate:
    """With every learner, and a budget that buys something."""
    return Gate(dataset, store=store, checks=CHECK, false_alarms=0.05)


def learned(verdict: Verdict) -> Said:
    return summed(Verdict(tuple(each for each in verdict.judgements if each.expectation.source in LEARNED)))


def lived(gate: Gate, days: int, seed: int) -> Then:
    """Some days of batches: some late, some with new input, and people who accept and reject as they like. What was
    learned of each is noted."""
    chance, then = random.Random(seed), dict[tuple[str, int], Said]()
    for at in range(days):
        day = at + 1 if chance.random() < 0.8 else chance.randint(1, at + 1)
        batch = Batch(f"day {day}", 100 * seed + at, "gone" if chance.random() < 0.1 else "", chance.random() < 0.5)
        verdict = judged(gate, batch)
        then[batch.partition, verdict.revision.number] = learned(verdict.verdict)
        if chance.random() < 0.3:
            partition, number = chance.choice(sorted(then))
            WORDS[chance.choice(_WORDS)](gate, partition, number=number, who="ann")
    return then


def differing(then: Then, replayed: Callable[[str, int], Verdict], chance: random.Random) -> int:
    """How many replays, in any order, say something else than was said then."""
    return sum(
        learned(replayed(partition, number)) != then[partition, number]
        for partition, number in chance.sample(sorted(then), len(then))
    )


def replay_row(backend: Backend, days: int, seed: int) -> Row:
    """By the gate that judged, by one that opens the history later, and by a new one for each."""
    row, begun, chance = Row("F6 gate, replay", backend.name), time.monotonic(), random.Random(seed)
    url, dataset = backend.url(), unique("orders")
    with closing(open_store(url)) as store:
        gate = gate_of(store, dataset)
        then = lived(gate, days, seed)
        row.lost += differing(then, gate.replay, chance)
        with closing(open_store(url)) as other:
            row.lost += differing(then, gate_of(other, dataset).replay, chance)
            row.lost += differing(then, lambda *which: gate_of(other, dataset).replay(*which), chance)
    row.trials = 3 * len(then)
    row.notes = f"{len(then)} verdicts, {sum(map(len, then.values()))} learned judgements"
    row.seconds = time.monotonic() - begun
    return row
