"""FBPosts, the paper's own data with real errors: every method on every week (its Tables 3 and 4, its Figure 2)."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import headgate as hg
from benchmarks.novelty.candidates import CANDIDATES, labels
from benchmarks.novelty.data import START, Week, judged_weeks, weeks
from benchmarks.novelty.gates import BUDGETS, Pair, gated
from benchmarks.novelty.protocol import Confusion
from benchmarks.novelty.rules import LEARNERS, MODES, joined
from benchmarks.novelty.vectors import Vectors, profile
from benchmarks.values_mode import hide_analysis
from headgate.engine.analysis import Analysis
from headgate.learn.learned import Learner
from headgate.learn.novelty.features import PAPER_FEATURES
from headgate.learn.novelty.model import Novelty
from headgate.learn.past import DEFAULT_DISTANCES, Past
from headgate.values.outcome import Undefined

RUNS = 60  # of the gate: all weeks before
KEYS = ("week", "line", "id")  # columns that tell where a row comes from, not what it says
NUMBERS = frozenset({"min", "max", "mean", "stddev"})
RELEASED = tuple(name for name in PAPER_FEATURES if name not in NUMBERS)
"""What the authors' released profiler computes: its look-up of numeric types never matches."""

Labels = dict[str, tuple[bool, bool]]


def fbposts() -> dict[str, Any]:
    """Every method but the gate: the weeks by week, counted, and the seconds of a batch."""
    found = {name: _told(*judge()) for name, judge in _neighbours().items()}
    found |= {f"{name}, {mode}": _told(*_ruled(name, mode)) for name in LEARNERS for mode in MODES}
    keyless = {f"{name}, {mode}": _told(*_ruled(name, mode, KEYS)) for name in LEARNERS for mode in MODES}
    return {
        "weeks": len(judged_weeks()),
        "methods": found,
        "without_keys": keyless,
        "candidates": _candidates(),
        "unequal": _unequal(),
    }


def _told(labels: Labels, spent: Sequence[float]) -> dict[str, Any]:
    confusion = Confusion.of(labels.values()).told()
    print(confusion, f"{statistics.mean(spent):.4f} s", flush=True)
    return confusion | {
        "seconds": round(statistics.mean(spent), 5),
        "deviation": round(statistics.stdev(spent), 5),
        "missed_weeks": [week for week, (_, broken) in labels.items() if not broken],
        "flagged_weeks": [week for week, (clean, _) in labels.items() if clean],
    }


# --- neighbours


def _neighbours() -> dict[str, Callable[[], tuple[Labels, list[float]]]]:
    return {
        "average kNN, the paper's statistics": lambda: _novelty(profile, "paper", PAPER_FEATURES),
        "average kNN, the released code's statistics": lambda: _novelty(profile, "paper", RELEASED),
        "average kNN, only contenttype and text": lambda: _novelty(_two_columns, "paper", PAPER_FEATURES),
        "Headgate's novelty alone": lambda: _novelty(hg.analyze, "headgate", None),
    }


def _two_columns(table: pa.Table) -> Analysis:
    return profile(table.select(["contenttype", "text"]))


def _novelty(
    measured: Callable[[pa.Table], Analysis], form: Any, features: Collection[str] | None
) -> tuple[Labels, list[float]]:
    """Label a batch as an outlier where its score is beyond the threshold; timed from the batch to the label."""
    clean = [hide_analysis(measured(week.clean)) for week in weeks()]
    found: Labels = {}
    spent: list[float] = []
    for week in judged_weeks():
        past = Past.of(clean[: week.number - 1], distances=() if form == "paper" else DEFAULT_DISTANCES)
        flags = []
        for table in (week.clean, week.dirty):
            began = time.perf_counter()
            batch = hide_analysis(measured(table))
            model = Novelty.learn(past, features=features, form=form)
            assert not isinstance(model, Undefined)
            flags.append(model.score(past.outcomes(batch)) > model.threshold)
            spent.append(time.perf_counter() - began)
        found[week.partition] = (flags[0], flags[1])
    return found, spent


def _candidates() -> dict[str, Any]:
    """The detectors of Table 1 on the paper's statistics of the posts."""
    clean, dirty = _vectors()
    told = {}
    for name, detector in CANDIDATES.items():
        pairs = [labels(detector, clean[:at], np.vstack([clean[at], dirty[at]])) for at in range(START, len(clean))]
        told[name] = Confusion.of((bool(one), bool(two)) for one, two in pairs).told()
    return told


def _vectors() -> tuple[Any, Any]:
    both = {f"{week.number} {name}": profile(getattr(week, name)) for week in weeks() for name in ("clean", "dirty")}
    values = Vectors.of(both).values
    return values[0::2], values[1::2]


def _unequal() -> int:
    """How many labels of the learner's paper form differ from those of the plain reference over a ball tree."""
    clean, dirty = _vectors()
    learned, _ = _novelty(profile, "paper", PAPER_FEATURES)
    plain = [
        labels(CANDIDATES["average kNN"], clean[:at], np.vstack([clean[at], dirty[at]]))
        for at in range(START, len(clean))
    ]
    return sum(one != tuple(map(bool, two)) for one, two in zip(learned.values(), plain, strict=True))


# --- rules and tests


def _ruled(name: str, mode: str, without: Collection[str] = ()) -> tuple[Labels, list[float]]:
    """Timed as the paper does: learn from the batches before, then judge."""
    found: Labels = {}
    spent: list[float] = []
    for week in judged_weeks():
        history = joined([_less(each.clean, without) for each in weeks()[: week.number - 1]], mode)
        began = time.perf_counter()
        judge = LEARNERS[name](history)
        learned = time.perf_counter() - began
        flags = []
        for table in (week.clean, week.dirty):
            began = time.perf_counter()
            flags.append(judge(_less(table, without)))
            spent.append(learned + time.perf_counter() - began)
        found[week.partition] = (flags[0], flags[1])
    return found, spent


def _less(table: pa.Table, without: Collection[str]) -> pa.Table:
    return table.drop_columns(list(without)) if without else table


# --- the gate


def fbposts_gate() -> dict[str, Any]:
    """The gate at each budget, with all learners and without novelty."""
    whole = {f"gate, budget {budget:g}": _gate(budget) for budget in BUDGETS}
    less = (Learner.HISTORY, Learner.PATTERNS)
    return {"methods": whole | {f"gate, budget {budget:g}, without novelty": _gate(budget, less) for budget in BUDGETS}}


def _gate(budget: float, learn: Sequence[str] = tuple(Learner)) -> dict[str, Any]:
    found = gated(map(_pair, weeks()), budget, RUNS, learn)
    return _told(found.labels, found.seconds) | {"budget": budget, "faults": found.faults}


def _pair(week: Week) -> Pair:
    return Pair(week.partition, week.clean, week.dirty if week.number > START else None)
