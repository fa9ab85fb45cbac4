"""From the runs of a dataset to the charts of a page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
from markupsafe import Markup

from headgate.explain.wording import share
from headgate.learn.metric_traits import Measure
from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.states.quantiles import Quantiles
from headgate.report.chart import Band, Line, trend
from headgate.report.compare import BEFORE, Bar, bars_of, histogram
from headgate.report.run_series import Trail
from headgate.report.words import expected_words, judged_words, metric_words, value_words
from headgate.store.port import HistoryStore
from headgate.values.expectation import Judgement
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, OneOf, Predicate
from headgate.values.run import TRUSTED, Revision, Run
from headgate.values.schema import TEMPORAL, Column


class Chart(msgspec.Struct, frozen=True):
    """A drawn metric, with what it is and what was expected of it in words."""

    title: str
    expected: str
    drawn: Markup


def chart_of(trail: Trail, key: MetricKey, judgement: Judgement | None = None) -> Chart:
    """A metric over the runs; with a judgement of it, what was expected of the last."""
    predicate = None if judgement is None else judgement.expectation.predicate
    band = _band(predicate)
    expected = "" if predicate is None else expected_words(trail.measure(key), predicate)
    say: Callable[[float], str] = partial(value_words, trail.measure(key), predicate=predicate, digits=4)
    if key.name == "completeness":  # people ask how much is missing
        say = share
        band = band and Band(_complement(band.high), _complement(band.low))
    measure = trail.measure(key)
    title = metric_words(measure, key) if judgement is None else judged_words(measure, judgement.expectation)
    line = Line(title, trail.partitions, trail.plain(key), trail.marks, say, band, expected)
    return Chart(title, expected, trend(line))


def _complement(end: float | None) -> float | None:
    return None if end is None else 1 - end


def _band(predicate: Predicate | None) -> Band | None:
    return Band(predicate.floor, predicate.ceiling) if isinstance(predicate, Between | OneOf) else None


class Distributions:
    """The states of a run beside those of the accepted runs before it."""

    def __init__(self, store: HistoryStore, run: Run) -> None:
        self._now = run.states
        self._store = store
        self._before: tuple[Revision, ...] = store.last(run.dataset, BEFORE, before=run.partition, only=TRUSTED)

    def histogram(self, column: Column, measure: Measure | None) -> Markup:
        """The numbers of a column; empty for one without."""
        key = MetricKey("quantiles", (column.label,))
        now = self._now.get(key)
        if not isinstance(now, Quantiles):
            return Markup("")
        before = [each for each in self._earlier(key) if isinstance(each, Quantiles)]
        moments = column.kind in TEMPORAL
        return histogram(now, before, column.label, partial(value_words, measure), moments)

    def bars(self, column: Column, kind: str) -> list[Bar]:
        """The frequent values (`frequent_values`) or patterns (`frequent_patterns`) of a column."""
        key = MetricKey(kind, (column.label,))
        now = self._now.get(key)
        if not isinstance(now, Frequencies):
            return []
        return bars_of(now, [each for each in self._earlier(key) if isinstance(each, Frequencies)])

    def _earlier(self, key: MetricKey) -> list[object]:
        return [found[key] for found in self._store.states(self._before, [key]) if key in found]
