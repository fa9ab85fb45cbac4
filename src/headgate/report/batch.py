"""The content of the page of one batch, the most urgent facts first."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from markupsafe import Markup

from headgate.display.numbers import format_moment, format_number, format_share
from headgate.display.table import Table
from headgate.explain.cause import Cause
from headgate.explain.causes import MAX_CAUSES as CAUSES
from headgate.explain.metric_names import tells_missing
from headgate.explain.verdict_page import choose_tone, python_steps, shell_steps
from headgate.explain.wording import format_segment
from headgate.gate.batch_verdict import BatchVerdict
from headgate.learn.history.program import format_rarity
from headgate.report.chart import draw_sparkline, draw_strip
from headgate.report.drawing import Distributions
from headgate.report.panel import panel_of
from headgate.report.run_series import SHOWN_RUNS, RunSeries
from headgate.report.words import describe_metric, describe_value, is_self_explanatory
from headgate.store.port import HistoryStore
from headgate.values.expectation import GRAVEST, Judgement, Source, Status
from headgate.values.key import MetricKey
from headgate.values.run import BY_GATE, STOPPED, TRUSTED, Decision
from headgate.values.schema import Column

_COLUMN_FACTS = ("completeness", "approx_count_distinct", "min", "median", "mean", "max")


class ColumnRow(msgspec.Struct, frozen=True):
    """A row of the table of columns: the column's facts, and the metric that moved the most."""

    label: str
    type: str
    facts: tuple[str, ...]
    moved: str
    sparkline: Markup
    wrong: bool


class Change(msgspec.Struct, frozen=True):
    """One difference between two schemas."""

    what: str
    column: str
    before: str
    now: str


def batch_page(store: HistoryStore, verdict: BatchVerdict, examples: Table | None = None) -> Mapping[str, Any]:
    """The variables of the template `batch.html`."""
    run, earlier = verdict.run, store.last(verdict.dataset, SHOWN_RUNS, before=verdict.partition)
    now = msgspec.structs.replace(verdict.revision, decision=verdict.decision)
    runs = RunSeries.read(store, [*earlier, now], run.schema)
    distributions = Distributions(store, run)
    hidden = store.secret is not None
    wrong = {column for cause in verdict.causes for column in cause.columns}
    return {
        "verdict": verdict,
        "judged_at": format_moment(run.at, whole_days=False),
        "tone": choose_tone(verdict).value,
        "state": describe_state(verdict),
        "recovered": _describe_recovery(verdict, runs),
        "rows": _format_rows(runs),
        "strip": draw_strip(list(zip(runs.partitions, runs.marks, strict=True))),
        "panels": [panel_of(verdict, each, runs, distributions, hidden) for each in verdict.causes[:CAUSES]],
        "more": verdict.causes[CAUSES:],
        "month": _count_month(store, verdict),
        "rarest": _format_rarest(verdict.causes),
        "schema_changes": list(_find_schema_changes(store, verdict)),
        "rulings": _list_rulings(store, verdict),
        "examples": examples,
        "shell": shell_steps(verdict),
        "python": python_steps(verdict),
        "judgements": [
            _make_judgement_row(each, hidden)
            for each in sorted(verdict.judgements, key=lambda each: GRAVEST.index(each.status))
        ],
        "counts": {each.value: sum(one.status is each for one in verdict.judgements) for each in GRAVEST},
        "columns": [_make_column_row(each, runs, each.label in wrong) for each in run.schema.columns],
    }


def describe_state(verdict: BatchVerdict) -> str:
    """What was done with the batch, as a short label."""
    if verdict.decision is Decision.SPLIT:
        return "rows split"
    if verdict.decision is not None and verdict.decision not in (Decision.PUBLISHED, Decision.HELD, Decision.OBSERVED):
        return verdict.decision.value
    return "published" if verdict.action == "publish" else "held"


def _describe_recovery(verdict: BatchVerdict, runs: RunSeries) -> str:
    """A sentence that counts the bad batches right before this good one; empty if there are none."""
    if not verdict.passed:
        return ""
    bad = 0
    for revision in reversed(runs.revisions[:-1]):
        if revision.status not in (Status.FAIL, Status.ERROR) or revision.decision is Decision.ACCEPTED:
            break
        bad += 1
    if not bad:
        return ""
    return "Healthy again: the batch before was not good." if bad == 1 else f"Healthy again after {bad} bad batches."


def _format_rows(runs: RunSeries) -> str:
    key = MetricKey("size")
    value = runs.values(key)[-1] if key in runs else np.nan
    return f"{format_number(float(value))} {'row' if value == 1 else 'rows'}" if np.isfinite(value) else ""


def _count_month(store: HistoryStore, verdict: BatchVerdict) -> tuple[int, int]:
    """The number of runs in the month of this verdict, and how many of them were held."""
    month = time.gmtime(verdict.run.at)[:2]
    newest = {each.partition: each for each in store.revisions(verdict.dataset) if time.gmtime(each.at)[:2] == month}
    return len(newest), sum(each.decision in STOPPED for each in newest.values())


def _format_rarest(causes: Sequence[Cause]) -> str:
    rates = [each.false_alarm for each in causes if each.false_alarm]
    return format_rarity(min(rates)) if rates else ""


def _list_rulings(store: HistoryStore, verdict: BatchVerdict) -> list[dict[str, str]]:
    """The decisions of people about this revision. The gate's own decision is in the headline."""
    rulings = [
        each for each in store.rulings(verdict.dataset, verdict.partition) if each.number == verdict.revision.number
    ]
    return [
        {
            "decision": each.decision.value,
            "who": each.who or "somebody",
            "note": each.note,
            "at": format_moment(each.at, whole_days=False),
        }
        for each in rulings
        if each.decision not in BY_GATE
    ]


# --- schema changes


def _find_schema_changes(store: HistoryStore, verdict: BatchVerdict) -> Iterator[Change]:
    """Columns that were added, removed or changed type since the newest accepted run."""
    before = store.last(verdict.dataset, 1, before=verdict.partition, only=TRUSTED)
    if not before or not verdict.run.schema.columns:
        return
    old, new = (
        {each.label: each for each in schema.columns}
        for schema in (store.run(before[0], states=False).schema, verdict.run.schema)
    )
    for label in (each for each in old if each not in new):
        yield Change("gone", label, old[label].type, "")
    for label in (each for each in new if each not in old):
        yield Change("new", label, "", new[label].type)
    for label in (each for each in new if each in old and new[each].type != old[each].type):
        yield Change("type", label, old[label].type, new[label].type)


# --- the tables of all expectations and columns


def _make_judgement_row(judgement: Judgement, hidden: bool) -> tuple[str, str, str, str, str, str]:
    expectation = judgement.expectation
    source = "you" if expectation.source is Source.DECLARED else expectation.source.value
    where = f" {format_segment(judgement.segment, hidden)}" if judgement.segment else ""
    value = "" if judgement.value is None else expectation.predicate.format_value(judgement.value)
    shown = value or (judgement.reason if judgement.status in (Status.ERROR, Status.SKIP) else "")
    return (
        judgement.status.value,
        source,
        expectation.subject + where,
        shown,
        str(expectation.predicate),
        format_rarity(expectation.false_alarm),
    )


def _make_column_row(column: Column, runs: RunSeries, wrong: bool) -> ColumnRow:
    facts = []
    for name in _COLUMN_FACTS:
        key = MetricKey(name, (column.label,))
        value = runs.values(key)[-1] if key in runs else np.nan
        facts.append(_format_fact(runs, key, float(value)) if np.isfinite(value) else "")
    drawable = (
        key
        for key in runs.rank_metrics(column.label)
        if is_self_explanatory(runs.traits(key)) and not _is_constant(runs, key)
    )
    moved = next(drawable, None)
    moved_label = "" if moved is None else describe_metric(runs.traits(moved), moved, bare=True)
    sparkline = Markup("") if moved is None else draw_sparkline(runs.plain_values(moved), runs.marks)
    return ColumnRow(column.label, column.type, tuple(facts), moved_label, sparkline, wrong)


def _format_fact(runs: RunSeries, key: MetricKey, value: float) -> str:
    traits = runs.traits(key)
    return format_share(value) if tells_missing(traits) else describe_value(traits, value, digits=5)


def _is_constant(runs: RunSeries, key: MetricKey) -> bool:
    values = runs.values(key)
    finite = values[np.isfinite(values)]
    return len(finite) < 2 or bool(finite.min() == finite.max())
