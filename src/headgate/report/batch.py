"""What the page of one batch says, in the order in which a person who was just woken asks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from markupsafe import Markup

from headgate.display.numbers import shown, shown_moment
from headgate.display.table import Table
from headgate.explain.causes import SHOWN as CAUSES
from headgate.explain.causes import Cause
from headgate.explain.verdict_page import python, shell, tone_of
from headgate.explain.wording import place_of, share
from headgate.gate.batch_verdict import BatchVerdict
from headgate.learn.history.program import rarity
from headgate.report.chart import spark, strip
from headgate.report.drawing import Distributions
from headgate.report.panel import panel_of
from headgate.report.run_series import SHOWN, Trail
from headgate.report.words import metric_words, tells, value_words
from headgate.store.port import HistoryStore
from headgate.values.expectation import GRAVEST, Judgement, Source, Status
from headgate.values.key import MetricKey
from headgate.values.run import STOPPED, TRUSTED, Decision
from headgate.values.schema import Column

_COLUMN_FACTS = ("completeness", "approx_count_distinct", "min", "median", "mean", "max")


class ColumnRow(msgspec.Struct, frozen=True):
    """A column in the table of all: its facts, and the metric that moved the most."""

    label: str
    type: str
    facts: tuple[str, ...]
    moved: str
    spark: Markup
    wrong: bool


class Change(msgspec.Struct, frozen=True):
    """A line of the difference between two schemas."""

    what: str
    column: str
    before: str
    now: str


def batch_page(store: HistoryStore, verdict: BatchVerdict, examples: Table | None = None) -> Mapping[str, Any]:
    """What the template asks for."""
    run, earlier = verdict.run, store.last(verdict.dataset, SHOWN, before=verdict.partition)
    now = msgspec.structs.replace(verdict.revision, decision=verdict.decision)
    trail = Trail.read(store, [*earlier, now], run.schema)
    distributions = Distributions(store, run)
    hidden = store.secret is not None
    wrong = {column for cause in verdict.causes for column in cause.columns}
    return {
        "verdict": verdict,
        "judged_at": shown_moment(run.at, whole_days=False),
        "tone": tone_of(verdict).value,
        "state": state(verdict),
        "recovered": _recovered(verdict, trail),
        "rows": _rows(trail),
        "strip": strip(list(zip(trail.partitions, trail.marks, strict=True))),
        "panels": [panel_of(verdict, each, trail, distributions, hidden) for each in verdict.causes[:CAUSES]],
        "more": verdict.causes[CAUSES:],
        "month": _month(store, verdict),
        "rarest": _rarest(verdict.causes),
        "schema_changes": list(_schema_changes(store, verdict)),
        "rulings": _rulings(store, verdict),
        "examples": examples,
        "shell": shell(verdict),
        "python": python(verdict),
        "judgements": [
            _judgement(each, hidden) for each in sorted(verdict.judgements, key=lambda each: GRAVEST.index(each.status))
        ],
        "counts": {each.value: sum(one.status is each for one in verdict.judgements) for each in GRAVEST},
        "columns": [_column(each, trail, each.label in wrong) for each in run.schema.columns],
    }


def state(verdict: BatchVerdict) -> str:
    """What was done with the batch, in a word or two."""
    if verdict.decision is Decision.SPLIT:
        return "rows split"
    if verdict.decision in (Decision.ACCEPTED, Decision.REJECTED, Decision.RELEASED, Decision.DISCARDED):
        return verdict.decision.value
    return "published" if verdict.action == "publish" else "held"


def _recovered(verdict: BatchVerdict, trail: Trail) -> str:
    """How many batches right before this good one were not good."""
    if not verdict.passed:
        return ""
    bad = 0
    for revision in reversed(trail.revisions[:-1]):
        if revision.status not in (Status.FAIL, Status.ERROR) or revision.decision is Decision.ACCEPTED:
            break
        bad += 1
    if not bad:
        return ""
    return "Healthy again: the batch before was not good." if bad == 1 else f"Healthy again after {bad} bad batches."


def _rows(trail: Trail) -> str:
    key = MetricKey("size")
    value = trail.values(key)[-1] if key in trail else np.nan
    return f"{shown(float(value))} {'row' if value == 1 else 'rows'}" if np.isfinite(value) else ""


def _month(store: HistoryStore, verdict: BatchVerdict) -> tuple[int, int]:
    """Runs of the month in which this was judged, and those of them that were held."""
    month = time.gmtime(verdict.run.at)[:2]
    newest = {each.partition: each for each in store.revisions(verdict.dataset) if time.gmtime(each.at)[:2] == month}
    return len(newest), sum(each.decision in STOPPED for each in newest.values())


def _rarest(causes: Sequence[Cause]) -> str:
    rates = [each.false_alarm for each in causes if each.false_alarm]
    return rarity(min(rates)) if rates else ""


def _rulings(store: HistoryStore, verdict: BatchVerdict) -> list[dict[str, str]]:
    """What people decided about this revision; what the gate did is the headline."""
    found = [
        each for each in store.rulings(verdict.dataset, verdict.partition) if each.number == verdict.revision.number
    ]
    return [
        {
            "decision": each.decision.value,
            "who": each.who or "somebody",
            "note": each.note,
            "at": shown_moment(each.at, whole_days=False),
        }
        for each in found
        if each.decision not in (Decision.PUBLISHED, Decision.HELD)
    ]


# --- what changed


def _schema_changes(store: HistoryStore, verdict: BatchVerdict) -> Iterator[Change]:
    """Columns that came, went or changed their type since the newest accepted run."""
    before = store.last(verdict.dataset, 1, before=verdict.partition, only=TRUSTED)
    if not before or not verdict.run.schema.columns:
        return
    were, are = (
        {each.label: each for each in schema.columns}
        for schema in (store.run(before[0], states=False).schema, verdict.run.schema)
    )
    for label in (each for each in were if each not in are):
        yield Change("gone", label, were[label].type, "")
    for label in (each for each in are if each not in were):
        yield Change("new", label, "", are[label].type)
    for label in (each for each in are if each in were and are[each].type != were[each].type):
        yield Change("type", label, were[label].type, are[label].type)


# --- everything


def _judgement(each: Judgement, hidden: bool) -> tuple[str, str, str, str, str, str]:
    expectation = each.expectation
    source = "you" if expectation.source is Source.DECLARED else expectation.source.value
    where = f" {place_of(each.segment, hidden)}" if each.segment else ""
    value = "" if each.value is None else expectation.predicate.shown(each.value)
    said = value or (each.reason if each.status in (Status.ERROR, Status.SKIP) else "")
    return (
        each.status.value,
        source,
        expectation.subject + where,
        said,
        str(expectation.predicate),
        rarity(expectation.false_alarm),
    )


def _column(column: Column, trail: Trail, wrong: bool) -> ColumnRow:
    facts = []
    for name in _COLUMN_FACTS:
        key = MetricKey(name, (column.label,))
        value = trail.values(key)[-1] if key in trail else np.nan
        facts.append(_fact(name, trail, key, float(value)) if np.isfinite(value) else "")
    drawable = (key for key in trail.moved(column.label) if tells(trail.measure(key)) and not _constant(trail, key))
    moved = next(drawable, None)
    words = "" if moved is None else metric_words(trail.measure(moved), moved, bare=True)
    drawn = Markup("") if moved is None else spark(trail.plain(moved), trail.marks)
    return ColumnRow(column.label, column.type, tuple(facts), words, drawn, wrong)


def _fact(name: str, trail: Trail, key: MetricKey, value: float) -> str:
    return share(value) if name == "completeness" else value_words(trail.measure(key), value, digits=5)


def _constant(trail: Trail, key: MetricKey) -> bool:
    values = trail.values(key)
    there = values[np.isfinite(values)]
    return len(there) < 2 or bool(there.min() == there.max())
