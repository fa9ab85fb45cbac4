"""The panel of one cause on the page of a batch: the facts, and charts over the last runs."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
import pyarrow as pa
from markupsafe import Markup

from headgate.diagnose.fault import faults
from headgate.display.numbers import format_share
from headgate.explain.cause import Cause
from headgate.explain.change_wording import describe_expected, describe_past, is_beside_past
from headgate.explain.level_wording import describe_held
from headgate.explain.metric_names import format_allowed
from headgate.explain.value_changes import list_values
from headgate.explain.verdict_page import (
    describe_failing_rows,
    describe_in_segment,
    describe_origin,
    list_further_changes,
    list_other_judgements,
)
from headgate.explain.wording import CauseKind, format_segment
from headgate.gate.batch_verdict import BatchVerdict, describe_repairs
from headgate.learn.history.program import SCHEMA_METRICS
from headgate.report.compare import Bar, Undo
from headgate.report.drawing import Chart, Distributions, chart_of
from headgate.report.run_series import RunSeries
from headgate.report.segment_tree import draw_segment_tree
from headgate.report.words import describe_metric, describe_subject, describe_value, is_self_explanatory
from headgate.values.account import ValueChange
from headgate.values.diagnosis import Diagnosis
from headgate.values.expectation import Judgement
from headgate.values.key import MetricKey
from headgate.values.schema import NUMERIC, TEXT, Column, Schema

CHARTS = 2  # charts of a cause
_SIZE = MetricKey("size")
SEGMENTS = 3  # segments that a panel lists
_FAR = 3.0  # standard deviations that a metric must have moved to be drawn beside the failed one


class Panel(msgspec.Struct, frozen=True):
    """One cause: its title, facts, charts, and the expectations that failed with it."""

    title: str
    changes: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    other_failures: tuple[str, ...]
    charts: tuple[Chart, ...]
    histogram: Markup
    is_repaired: bool
    rows: Markup
    bars: tuple[Bar, ...]
    bars_title: str
    segments: tuple[str, ...]


def panel_of(verdict: BatchVerdict, cause: Cause, runs: RunSeries, distributions: Distributions, hidden: bool) -> Panel:
    """The panel of a cause. `hidden` says that the store hides values of the data, including those of segments."""
    column = _find_column(verdict.run.schema, cause.columns[0]) if len(cause.columns) == 1 else None
    bars, bars_title = (
        _pick_bars(column, distributions) if column is not None and cause.kind is not CauseKind.SHAPE else ((), "")
    )
    histogram, undo = Markup(""), None
    if column is not None and cause.kind is not CauseKind.SHAPE:
        undo = _find_undo(cause.diagnosis, column)
        histogram = distributions.histogram(column, runs.traits(MetricKey("median", (column.label,))), undo)
    worst = [each for each in cause.judgements if each.segment][:SEGMENTS]
    return Panel(
        title=cause.title,
        changes=tuple(list_further_changes(cause)),
        facts=tuple(_list_facts(verdict, cause, runs, hidden)),
        other_failures=tuple(describe_in_segment(each, hidden, cause) for each in list_other_judgements(cause, worst)),
        charts=tuple(chart_of(runs, key, _find_judgement(cause, key)) for key in _pick_metrics(cause, runs)),
        histogram=histogram,
        is_repaired=undo is not None,
        rows=_draw_rows(cause.diagnosis, hidden),
        bars=bars,
        bars_title=bars_title,
        segments=tuple(describe_in_segment(each, hidden, cause) for each in worst),
    )


def _pick_metrics(cause: Cause, runs: RunSeries) -> list[MetricKey]:
    """The metrics to draw for a cause: that of the title, then the metric of the column that moved the most."""
    if cause.kind in (CauseKind.SHAPE, CauseKind.UNREAD):
        return []
    failed = [each.expectation.metric for each in cause.judgements if not each.segment]
    spoken_of = [MetricKey.parse(cause.title_metric)] if cause.title_metric and not cause.lead.segment else []
    column = cause.columns[0] if cause.columns else "" if cause.kind is CauseKind.VOLUME else None
    readable = sorted(
        (key for key in failed if is_self_explanatory(runs.traits(key))), key=lambda key: key.name != "size"
    )
    if cause.kind is CauseKind.WHOLE:
        wanted = failed
    elif len(cause.columns) > 1:
        wanted = [*spoken_of, *readable, *failed]  # the first of each column come first
    else:
        moved = [] if column is None else runs.rank_metrics(column)
        plain = [
            key
            for key in moved
            if is_self_explanatory(runs.traits(key)) and key not in readable and runs.move_of(key) > _FAR
        ]
        wanted = [*spoken_of, *readable[:1], *plain[:1], *readable[1:], *failed]
    drawable = [
        key
        for key in dict.fromkeys(wanted)
        if key in runs and key.name not in SCHEMA_METRICS and np.isfinite(runs.values(key)).sum() > 1
    ]
    return drawable[:CHARTS]


def _find_judgement(cause: Cause, key: MetricKey) -> Judgement | None:
    return next((each for each in cause.judgements if each.expectation.metric == key and not each.segment), None)


def _list_facts(verdict: BatchVerdict, cause: Cause, runs: RunSeries, hidden: bool) -> Iterator[tuple[str, str]]:
    if cause.kind is CauseKind.UNREAD:
        yield "Not evaluated", "an error is not a failure: the data may be good"
        return
    if cause.diagnosis is not None:
        yield from _list_fault_facts(verdict, cause.diagnosis)
    if cause.value_change is not None:
        yield from _list_value_facts(verdict, cause.value_change, runs)
    elif cause.kind is not CauseKind.SHAPE:
        yield from _list_metric_facts(cause, runs, hidden)
    lead = cause.lead
    if cause.held_before:
        yield "Before", describe_held(cause.held_before)
    if source := describe_origin(verdict, lead):
        yield "Where from", source
    if cause.rarity and cause.rarity != "declared":
        yield (
            "How rare",
            cause.rarity if cause.rarity.startswith("no ") else f"a good batch looks like this {cause.rarity}",
        )
    if rows := describe_failing_rows(verdict, lead, hidden):
        yield "Rows", rows


def _list_fault_facts(verdict: BatchVerdict, diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    """How sure the fault is, what else it may be, the rows that it is in, and whether it can be undone."""
    others = " or ".join(each.replace("_", " ") for each in diagnosis.others)
    yield "How sure", f"{format_share(diagnosis.confidence, 0)}{f'; it may also be {others}' if others else ''}"
    if diagnosis.share < 1:
        yield "Share of rows", format_share(diagnosis.share)
    for repair in describe_repairs([diagnosis], verdict.run.schema, verdict.hides_values):
        yield "Repair", repair


def _find_undo(diagnosis: Diagnosis | None, column: Column) -> Undo | None:
    """What undoes a fault of all numbers of a column; None if it cannot be undone, or only in some rows."""
    if diagnosis is None or not diagnosis.repairable or diagnosis.share < 1 or diagnosis.columns != (column.label,):
        return None
    if column.kind not in NUMERIC:
        return None
    undo = faults()[diagnosis.fault].undo
    return lambda numbers: np.asarray(undo(pa.array(numbers, pa.float64()), diagnosis.parameters), np.float64)


def _draw_rows(diagnosis: Diagnosis | None, hidden: bool) -> Markup:
    if diagnosis is None or diagnosis.located is None:
        return Markup("")
    return draw_segment_tree(diagnosis.located, format_segment(diagnosis.segment, hidden))


def _list_metric_facts(cause: Cause, runs: RunSeries, hidden: bool) -> Iterator[tuple[str, str]]:
    """The metric that the title speaks of: its value now, what was expected, and its last good value."""
    judgement = _find_title_judgement(cause)
    key = MetricKey.parse(cause.title_metric) if judgement is None else judgement.expectation.metric
    predicate = None if judgement is None else judgement.expectation.predicate
    traits, change = runs.traits(key), cause.metric_changes.get(str(key))
    value = judgement.value if judgement is not None else float(runs.values(key)[-1]) if key in runs else None
    if value is None or np.isnan(value):
        return
    segment = "" if judgement is None or not judgement.segment else f" in {format_segment(judgement.segment, hidden)}"
    subject = describe_metric(traits, key) if judgement is None else describe_subject(traits, judgement.expectation)
    yield "Now", f"{subject} {describe_value(traits, value, predicate)}{segment}"
    if judgement is not None and is_beside_past(judgement, cause.metric_changes):
        yield "Expected", describe_expected(judgement.expectation, change)
    elif predicate is not None:
        yield "Expected", format_allowed(traits, predicate)
    elif change is not None:
        yield "Expected", describe_past(key, change)
    if not segment and key in runs and (good := runs.last_good(key)) is not None:
        yield "Last good", f"{describe_value(traits, good[1], predicate)} in {good[0]}"


def _find_title_judgement(cause: Cause) -> Judgement | None:
    """The judgement that the title speaks of; None if it speaks of a metric that did not fail."""
    if not cause.title_metric:
        return cause.lead
    return next((each for each in cause.judgements if str(each.expectation.metric) == cause.title_metric), None)


def _list_value_facts(verdict: BatchVerdict, change: ValueChange, runs: RunSeries) -> Iterator[tuple[str, str]]:
    """The values that the title speaks of: their share now, before, and in the last good run."""
    count = verdict.account.runs
    yield "Now", f"{list_values(change, written=True)} {format_share(change.now)}"
    yield "Expected", f"{list_values(change)} {format_share(change.before)}, as in {count} run{'s' * (count != 1)}"
    if (good := runs.last_good(_SIZE)) is not None:
        yield "Last good", f"{format_share(change.newest)} in {good[0]}"


def _pick_bars(column: Column, distributions: Distributions) -> tuple[tuple[Bar, ...], str]:
    """The frequent values of a text column, or its frequent patterns if values are hidden, and the table's title."""
    if column.kind not in TEXT:
        return (), ""
    values, patterns = (distributions.bars(column, kind) for kind in ("frequent_values", "frequent_patterns"))
    if values and (values[0].name is not None or not patterns):
        return tuple(values), "values"
    return tuple(patterns), "ways of writing"


def _find_column(schema: Schema, label: str) -> Column | None:
    return next((each for each in schema.columns if each.label == label), None)
