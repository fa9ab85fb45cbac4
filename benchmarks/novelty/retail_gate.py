"""The gate with all learners on, on days of Online Retail broken in the paper's six ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import headgate as hg
from benchmarks.history.evidence import tails_for
from benchmarks.novelty.data import RETAIL, daily
from benchmarks.novelty.errors import ERRORS, MAGNITUDES, overwritten
from benchmarks.novelty.gates import BUDGETS
from benchmarks.novelty.grid import damaged
from benchmarks.novelty.protocol import Confusion
from benchmarks.values_mode import open_memory
from headgate.engine.analysis import Analysis
from headgate.gate.batch_judge import HAS_ROWS
from headgate.gate.gate import Gate
from headgate.learn import text_rules
from headgate.learn.learned import Learned, Learner, ProposalPool
from headgate.learn.pooled_rates import PooledRates
from headgate.metrics.base.registry import default_metrics, from_key
from headgate.store.port import HistoryStore
from headgate.values.expectation import Status
from headgate.values.run import TRUSTED, Run
from headgate.values.verdict import Verdict, judge

RUNS = 30
SPOTS = 16
DATASET = "retail"


class Judged(NamedTuple):
    """One broken day, what was done to it, and whether it and the day as it was were flagged, by budget."""

    error: str
    magnitude: float
    flags: tuple[tuple[bool, bool], ...]


def retail_gate() -> dict[str, Any]:
    """What the gate finds of each error at each magnitude, at each budget, on days spread over the year."""
    days = list(daily(RETAIL).batches())
    store = _recorded(days)
    tails = tails_for(daily(RETAIL).folder)
    places = np.unique(np.linspace(RUNS, len(days) - 1, SPOTS).astype(int)).tolist()
    found = [row for at in places for row in _spot(days[at], store, tails)]
    return {
        "days": len(places),
        "runs": RUNS,
        "magnitudes": MAGNITUDES,
        "budgets": {f"{budget:g}": _told(found, at) for at, budget in enumerate(BUDGETS)},
    }


def _recorded(days: Sequence[tuple[str, pa.Table]]) -> HistoryStore:
    """Every day as an accepted run, with the shapes of values that the gate records; nothing else is learned here."""
    store = open_memory()
    gate = Gate(DATASET, store=store, learn=[Learner.PATTERNS], mode="observe", runs=RUNS)
    for partition, table in days:
        gate.judge(table, partition)
        gate.accept(partition)
    return store


def _spot(day: tuple[str, pa.Table], store: HistoryStore, tails: PooledRates) -> Iterator[Judged]:
    partition, table = day
    revisions = store.last(DATASET, RUNS, before=partition, only=TRUSTED)
    runs = [store.run(each) for each in revisions]
    lessons = _lessons(runs, store, tails)
    clean = _flags(table, lessons)
    for error in ERRORS.values():
        for magnitude, made in damaged(RETAIL, partition, table, error):
            flags = _flags(overwritten(table, made), lessons)
            yield Judged(error.name, magnitude, tuple(zip(clean, flags, strict=True)))
    print(partition, clean, flush=True)


def _lessons(runs: Sequence[Run], store: HistoryStore, tails: PooledRates) -> list[Learned]:
    found = ProposalPool.of(runs, store.secret, tuple(Learner), pooled_rates=tails)
    return [found.spend_budget(budget) for budget in BUDGETS]


def _flags(table: pa.Table, lessons: Sequence[Learned]) -> list[bool]:
    """Whether each lesson holds the batch: as the gate does, from one scan."""
    batch = _measured(table, lessons[0])
    outcomes = lessons[0].extend_outcomes(batch.schema, batch.outcomes, batch.states)
    own = judge([HAS_ROWS], outcomes).judgements
    verdicts = [Verdict((*own, *each.program.verdict(outcomes, batch.schema).judgements)) for each in lessons]
    return [each.status is not Status.PASS for each in verdicts]


def _measured(table: pa.Table, lesson: Learned) -> Analysis:
    schema = hg.analyze(table.slice(0, 0), [hg.Size()]).schema
    asked = map(from_key, text_rules.applicable(lesson.text_rules, schema))
    return hg.analyze(table, [hg.Size(), *default_metrics(schema), *asked])


def _told(found: Sequence[Judged], budget: int) -> dict[str, Any]:
    told: dict[str, Any] = {"all": Confusion.of(each.flags[budget] for each in found).told()}
    for error in ERRORS:
        own = [each for each in found if each.error == error]
        told[error] = [
            Confusion.of(each.flags[budget] for each in own if each.magnitude == magnitude).told()
            for magnitude in MAGNITUDES
        ]
    return told
