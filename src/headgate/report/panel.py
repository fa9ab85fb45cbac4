"""The panel of one cause on the page of a batch: the facts, and charts over the last runs."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
from markupsafe import Markup

from headgate.explain.causes import Cause
from headgate.explain.level_wording import describe_held
from headgate.explain.verdict_page import describe_failing_rows, describe_in_segment, describe_origin, other_failures
from headgate.explain.wording import CauseKind, format_segment
from headgate.gate.batch_verdict import BatchVerdict
from headgate.learn.history.program import SCHEMA_METRICS
from headgate.report.compare import Bar
from headgate.report.drawing import Chart, Distributions, chart_of
from headgate.report.run_series import RunSeries
from headgate.report.words import describe_predicate, describe_subject, describe_value, is_self_explanatory
from headgate.values.expectation import Judgement
from headgate.values.key import MetricKey
from headgate.values.schema import TEXT, Column, Schema

CHARTS = 2  # charts of a cause
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
    bars: tuple[Bar, ...]
    bars_title: str
    segments: tuple[str, ...]


def panel_of(verdict: BatchVerdict, cause: Cause, runs: RunSeries, distributions: Distributions, hidden: bool) -> Panel:
    """The panel of a cause. `hidden` says that the store hides values of the data, including those of segments."""
    column = _find_column(verdict.run.schema, cause.columns[0]) if len(cause.columns) == 1 else None
    bars, bars_title = (
        _pick_bars(column, distributions) if column is not None and cause.kind is not CauseKind.SHAPE else ((), "")
    )
    histogram = Markup("")
    if column is not None and cause.kind is not CauseKind.SHAPE:
        histogram = distributions.histogram(column, runs.traits(MetricKey("median", (column.label,))))
    worst = [each for each in cause.judgements if each.segment][:SEGMENTS]
    return Panel(
        title=cause.title,
        changes=tuple(each for each in cause.found if each not in cause.title),
        facts=tuple(_list_facts(verdict, cause, runs, hidden)),
        other_failures=tuple(other_failures(cause, hidden, worst)),
        charts=tuple(chart_of(runs, key, _find_judgement(cause, key)) for key in _pick_metrics(cause, runs)),
        histogram=histogram,
        bars=bars,
        bars_title=bars_title,
        segments=tuple(describe_in_segment(each, hidden) for each in worst),
    )


def _pick_metrics(cause: Cause, runs: RunSeries) -> list[MetricKey]:
    """The metrics to draw for a cause: the one that failed, then the metric of the column that moved the most."""
    if cause.kind in (CauseKind.SHAPE, CauseKind.UNREAD):
        return []
    failed = [each.expectation.metric for each in cause.judgements if not each.segment]
    column = cause.columns[0] if cause.columns else "" if cause.kind is CauseKind.VOLUME else None
    readable = sorted(
        (key for key in failed if is_self_explanatory(runs.traits(key))), key=lambda key: key.name != "size"
    )
    if cause.kind is CauseKind.WHOLE:
        wanted = failed
    else:
        moved = [] if column is None else runs.rank_metrics(column)
        plain = [
            key
            for key in moved
            if is_self_explanatory(runs.traits(key)) and key not in readable and runs.move_of(key) > _FAR
        ]
        wanted = [*readable[:1], *plain[:1], *readable[1:], *failed]
    drawable = [
        key
        for key in dict.fromkeys(wanted)
        if key in runs and key.name not in SCHEMA_METRICS and np.isfinite(runs.values(key)).sum() > 1
    ]
    return drawable[:CHARTS]


def _find_judgement(cause: Cause, key: MetricKey) -> Judgement | None:
    return next((each for each in cause.judgements if each.expectation.metric == key and not each.segment), None)


def _pick_judgement(cause: Cause, runs: RunSeries) -> Judgement:
    """The judgement whose value is shown: the row count for a volume change, else the first with a plain name."""
    rows = [
        each for each in cause.judgements if cause.kind is CauseKind.VOLUME and each.expectation.metric.name == "size"
    ]
    plain = (each for each in cause.judgements if is_self_explanatory(runs.traits(each.expectation.metric)))
    return rows[0] if rows else next(plain, cause.lead)


def _list_facts(verdict: BatchVerdict, cause: Cause, runs: RunSeries, hidden: bool) -> Iterator[tuple[str, str]]:
    lead = _pick_judgement(cause, runs)
    key, predicate = lead.expectation.metric, lead.expectation.predicate
    if cause.kind is CauseKind.UNREAD:
        yield "Not evaluated", "an error is not a failure: the data may be good"
        return
    if lead.value is not None and cause.kind is not CauseKind.SHAPE:
        traits = runs.traits(key)
        where = f" in {format_segment(lead.segment, hidden)}" if lead.segment else ""
        yield (
            "Now",
            f"{describe_subject(traits, lead.expectation)} {describe_value(traits, lead.value, predicate)}{where}",
        )
        yield "Expected", describe_predicate(traits, predicate)
        if not lead.segment and key in runs and (good := runs.last_good(key)) is not None:
            yield "Last good", f"{describe_value(traits, good[1], predicate)} in {good[0]}"
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
