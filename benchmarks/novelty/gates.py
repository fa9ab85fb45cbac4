"""The gate over batches in order: each is judged broken and clean, then the clean one is accepted."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pyarrow as pa

from benchmarks.novelty.protocol import Confusion
from benchmarks.values_mode import open_memory
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.learn.learned import Learner
from headgate.values.expectation import Status

BUDGETS = (0.01, 0.02, 0.05, 0.10)


class Pair(NamedTuple):
    """One partition: as it should be, and as it went wrong; None where it is only learned from."""

    partition: str
    clean: pa.Table
    broken: pa.Table | None


class Judged(NamedTuple):
    """What became of the pairs: labels by partition (clean, broken), what was at fault, and seconds a batch."""

    labels: dict[str, tuple[bool, bool]]
    faults: dict[str, dict[str, int]]
    seconds: list[float]

    @property
    def confusion(self) -> Confusion:
        return Confusion.of(self.labels.values())


def gated(pairs: Iterable[Pair], budget: float, runs: int, learn: Sequence[str] = tuple(Learner)) -> Judged:
    """Judge all pairs by one gate; what it learns from is every clean batch before."""
    gate = Gate("pairs", store=open_memory(), false_alarms=budget, runs=runs, learn=learn)
    found = Judged({}, {}, [])
    faults: dict[str, Counter[str]] = {"clean": Counter(), "broken": Counter()}
    for pair in pairs:
        if pair.broken is not None:
            broken = _timed(gate, pair.broken, pair.partition, found.seconds)
            clean = _timed(gate, pair.clean, pair.partition, found.seconds)
            found.labels[pair.partition] = (not clean.passed, not broken.passed)
            for name, verdict in (("clean", clean), ("broken", broken)):
                faults[name].update(set(_faults(verdict)))
        else:
            clean = gate.judge(pair.clean, pair.partition)
        gate.accept(pair.partition, number=clean.revision.number)
    return found._replace(faults={name: dict(each.most_common(12)) for name, each in faults.items()})


def _faults(verdict: BatchVerdict) -> list[str]:
    bad = [each.expectation.metric for each in verdict.run.verdict.judgements if each.status is not Status.PASS]
    return [f"{key.name}({', '.join(key.columns)})" if key.columns else key.name for key in bad]


def _timed(gate: Gate, table: pa.Table, partition: str, spent: list[float]) -> BatchVerdict:
    began = time.perf_counter()
    found = gate.judge(table, partition)
    spent.append(time.perf_counter() - began)
    return found
