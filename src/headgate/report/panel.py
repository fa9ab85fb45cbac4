"""One cause of a held batch as its page tells it: the facts, and how it looks over the last runs."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
from markupsafe import Markup

from headgate.explain.causes import Cause
from headgate.explain.verdict_page import also, origin, placed, rows_to_blame
from headgate.explain.wording import Sort, place_of
from headgate.gate.batch_verdict import BatchVerdict
from headgate.learn.history.program import SHAPE
from headgate.report.compare import Bar
from headgate.report.drawing import Chart, Distributions, chart_of
from headgate.report.run_series import Trail
from headgate.report.words import expected_words, judged_words, tells, value_words
from headgate.values.expectation import Judgement
from headgate.values.key import MetricKey
from headgate.values.schema import TEXT, Column, Schema

CHARTS = 2  # of a cause
SEGMENTS = 3
_FAR = 3.0  # deviations that a metric must have moved for it to be drawn beside what was broken


class Panel(msgspec.Struct, frozen=True):
    """One cause: what it is, the facts, how it looks."""

    title: str
    found: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    also: tuple[str, ...]
    charts: tuple[Chart, ...]
    histogram: Markup
    bars: tuple[Bar, ...]
    bars_of: str
    segments: tuple[str, ...]


def panel_of(verdict: BatchVerdict, cause: Cause, trail: Trail, distributions: Distributions, hidden: bool) -> Panel:
    """`hidden`: the store hides values of the data, segments' names among them."""
    column = _schema_column(verdict.run.schema, cause.columns[0]) if len(cause.columns) == 1 else None
    bars, kind = _bars(column, distributions) if column is not None and cause.sort is not Sort.SHAPE else ((), "")
    numbers = Markup("")
    if column is not None and cause.sort is not Sort.SHAPE:
        numbers = distributions.histogram(column, trail.measure(MetricKey("median", (column.label,))))
    worst = [each for each in cause.judgements if each.segment][:SEGMENTS]
    return Panel(
        title=cause.title,
        found=tuple(each for each in cause.found if each not in cause.title),
        facts=tuple(_facts(verdict, cause, trail, hidden)),
        also=tuple(also(cause, hidden, worst)),
        charts=tuple(chart_of(trail, key, _judged(cause, key)) for key in _keys(cause, trail)),
        histogram=numbers,
        bars=bars,
        bars_of=kind,
        segments=tuple(placed(each, hidden) for each in worst),
    )


def _keys(cause: Cause, trail: Trail) -> list[MetricKey]:
    """What is drawn of a cause: the metric that was broken, then the metrics of the column that moved the most."""
    if cause.sort in (Sort.SHAPE, Sort.UNREAD):
        return []
    broken = [each.expectation.metric for each in cause.judgements if not each.segment]
    column = cause.columns[0] if cause.columns else "" if cause.sort is Sort.VOLUME else None
    speaking = sorted((key for key in broken if tells(trail.measure(key))), key=lambda key: key.name != "size")
    if cause.sort is Sort.WHOLE:
        wanted = broken
    else:
        moved = [] if column is None else trail.moved(column)
        plain = [key for key in moved if tells(trail.measure(key)) and key not in speaking and trail.move(key) > _FAR]
        wanted = [*speaking[:1], *plain[:1], *speaking[1:], *broken]
    drawn = [
        key
        for key in dict.fromkeys(wanted)
        if key in trail and key.name not in SHAPE and np.isfinite(trail.values(key)).sum() > 1
    ]
    return drawn[:CHARTS]


def _judged(cause: Cause, key: MetricKey) -> Judgement | None:
    return next((each for each in cause.judgements if each.expectation.metric == key and not each.segment), None)


def _telling(cause: Cause, trail: Trail) -> Judgement:
    """The judgement whose value a person is shown: of fewer rows the rows, else the rarest that has a plain name."""
    rows = [each for each in cause.judgements if cause.sort is Sort.VOLUME and each.expectation.metric.name == "size"]
    plain = (each for each in cause.judgements if tells(trail.measure(each.expectation.metric)))
    return rows[0] if rows else next(plain, cause.lead)


def _facts(verdict: BatchVerdict, cause: Cause, trail: Trail, hidden: bool) -> Iterator[tuple[str, str]]:
    lead = _telling(cause, trail)
    key, predicate = lead.expectation.metric, lead.expectation.predicate
    if cause.sort is Sort.UNREAD:
        yield "Not evaluated", "an error is not a failure: the data may be good"
        return
    if lead.value is not None and cause.sort is not Sort.SHAPE:
        measure = trail.measure(key)
        where = f" in {place_of(lead.segment, hidden)}" if lead.segment else ""
        yield "Now", f"{judged_words(measure, lead.expectation)} {value_words(measure, lead.value, predicate)}{where}"
        yield "Expected", expected_words(measure, predicate)
        if not lead.segment and key in trail and (good := trail.last_good(key)) is not None:
            yield "Last good", f"{value_words(measure, good[1], predicate)} in {good[0]}"
    if source := origin(verdict, lead):
        yield "Where from", source
    if cause.rarity and cause.rarity != "declared":
        yield (
            "How rare",
            cause.rarity if cause.rarity.startswith("no ") else f"a good batch looks like this {cause.rarity}",
        )
    if rows := rows_to_blame(verdict, lead, hidden):
        yield "Rows", rows


def _bars(column: Column, distributions: Distributions) -> tuple[tuple[Bar, ...], str]:
    """The values of a text column by their shares, or the ways in which it is written where values are hidden."""
    if column.kind not in TEXT:
        return (), ""
    values, patterns = (distributions.bars(column, kind) for kind in ("frequent_values", "frequent_patterns"))
    if values and (values[0].name is not None or not patterns):
        return tuple(values), "values"
    return tuple(patterns), "ways of writing"


def _schema_column(schema: Schema, label: str) -> Column | None:
    return next((each for each in schema.columns if each.label == label), None)
