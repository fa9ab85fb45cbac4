"""What the page of a dataset says: how it fares, its last runs, and every series of every column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from markupsafe import Markup

from headgate.display.numbers import shown_moment
from headgate.explain.verdict_page import tone_of
from headgate.explain.wording import share
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.learn.metric_traits import Measure
from headgate.report.batch import state
from headgate.report.chart import spark, strip
from headgate.report.drawing import chart_of
from headgate.report.run_series import WORDS, Mark, Trail
from headgate.report.words import metric_words, tells, value_words
from headgate.values.expectation import Status
from headgate.values.key import MetricKey
from headgate.values.run import TRUSTED, Decision, Revision, Ruling
from headgate.values.schema import Schema

RUNS = 90
LISTED = 30  # runs in the table
_TOLD = 10  # runs whose causes are read again, each from the store
_UNTOLD = "its own page tells"
_SIZE = MetricKey("size")


class RunRow(msgspec.Struct, frozen=True):
    """A run in the table of the last ones."""

    partition: str
    number: int
    status: str
    mark: Mark
    state: str
    by: str
    rows: str
    causes: tuple[str, ...]
    link: str


class SeriesRow(msgspec.Struct, frozen=True):
    """A metric over the runs: what it is now, its least and largest, its line."""

    name: str
    now: str
    low: str
    high: str
    spark: Markup


class ColumnSeries(msgspec.Struct, frozen=True):
    """All series of a column ("" for the table); those that never changed are only named."""

    label: str
    type: str
    rows: tuple[SeriesRow, ...]
    constant: str


def dataset_page(gate: Gate, link: Callable[[str], str]) -> Mapping[str, Any]:
    """What the template asks for. `link` gives the address of a partition's page, or nothing."""
    revisions = gate.store.last(gate.dataset, RUNS)
    if not revisions:
        return {"gate": gate, "runs": []}
    newest = gate.recorded(revisions[-1])
    schema = _schema(gate, newest)
    trail = Trail.read(gate.store, revisions, schema)
    rulings = {(each.partition, each.number): each for each in gate.store.rulings(gate.dataset)}
    return {
        "gate": gate,
        "newest": newest,
        "tone": tone_of(newest).value,
        "state": state(newest),
        "newest_link": link(newest.partition),
        "count": len(gate.store.revisions(gate.dataset)),
        "strip": strip(list(zip(trail.partitions, trail.marks, strict=True))[-45:]),
        "held": sum(mark is Mark.HELD for mark in trail.marks),
        "shown": len(trail),
        "runs": _runs(gate, trail, newest, rulings, link),
        "charts": [chart_of(trail, key) for key in _telling(trail)],
        "columns": [_column(trail, label, kind) for label, kind in _labels(trail, schema)],
        "updated": shown_moment(max(each.at for each in revisions), whole_days=False),
    }


def _telling(trail: Trail) -> list[MetricKey]:
    """What is drawn large: the rows, and what moved the most in the newest run."""
    if len(trail) < 2:
        return []
    most = [key for label in trail.columns if label for key in trail.moved(label) if tells(trail.measure(key))]
    rows = [_SIZE] if _SIZE in trail else []
    return rows + sorted(most, key=trail.rank)[:1]


def _runs(
    gate: Gate,
    trail: Trail,
    newest: BatchVerdict,
    rulings: Mapping[tuple[str, int], Ruling],
    link: Callable[[str], str],
) -> list[RunRow]:
    sizes = trail.values(_SIZE) if _SIZE in trail else np.full(len(trail), np.nan)
    listed = range(max(0, len(trail) - LISTED), len(trail))[::-1]
    causes = _causes(gate, [trail.revisions[at] for at in listed], newest)
    return [
        RunRow(
            (revision := trail.revisions[at]).partition,
            revision.number,
            revision.status.value,
            trail.marks[at],
            _state(revision, trail.marks[at]),
            _by(rulings.get((revision.partition, revision.number))),
            f"{sizes[at]:,.0f}" if np.isfinite(sizes[at]) else "",
            causes.get(revision.sequence, ()),
            link(revision.partition),
        )
        for at in listed
    ]


def _causes(gate: Gate, revisions: Sequence[Revision], newest: BatchVerdict) -> dict[int, tuple[str, ...]]:
    """What was wrong with the runs that did not pass, by their sequence; the newest one was read already."""
    bad = [each for each in revisions if each.status in (Status.FAIL, Status.ERROR)]
    found: dict[int, tuple[str, ...]] = {each.sequence: (_UNTOLD,) for each in bad[_TOLD:]}
    for each in bad[:_TOLD]:
        verdict = newest if each.sequence == newest.revision.sequence else gate.recorded(each)
        found[each.sequence] = tuple(cause.title for cause in verdict.causes[:3])
    return found


def _state(revision: Revision, mark: Mark) -> str:
    if revision.decision is not None:
        return revision.decision.value
    return "not decided" if mark is Mark.GOOD else WORDS[mark]


def _by(ruling: Ruling | None) -> str:
    if ruling is None or ruling.decision in (Decision.PUBLISHED, Decision.HELD):
        return ""
    return " ".join(filter(None, [ruling.who and f"by {ruling.who}", ruling.note and f"({ruling.note})"]))


def _schema(gate: Gate, newest: BatchVerdict) -> Schema:
    """The columns of the newest run, or of the newest good one where that could not be read."""
    if newest.run.schema.columns:
        return newest.run.schema
    good = gate.store.last(gate.dataset, 1, only=TRUSTED)
    return gate.store.run(good[0], states=False).schema if good else Schema()


def _labels(trail: Trail, schema: Schema) -> list[tuple[str, str]]:
    types = {each.label: each.type for each in schema.columns}
    gone = [label for label in trail.columns if label and label not in types]
    return [("", ""), *types.items(), *((label, "gone") for label in gone)]


def _column(trail: Trail, label: str, kind: str) -> ColumnSeries:
    rows, constant = [], []
    for key in trail.columns.get(label, ()):
        values, measure = trail.plain(key), trail.measure(key)
        there = values[np.isfinite(values)]
        if not len(there):
            continue
        name = metric_words(measure, key, bare=True)
        low, high = _said(measure, float(there.min())), _said(measure, float(there.max()))
        if there.min() == there.max():
            constant.append(f"{name} {low}")
            continue
        now = _said(measure, float(values[-1])) if np.isfinite(values[-1]) else ""
        rows.append(SeriesRow(name, now, low, high, spark(values, trail.marks)))
    return ColumnSeries(label, kind, tuple(rows), "; ".join(constant))


def _said(measure: Measure | None, value: float) -> str:
    if measure is not None and measure.key.name == "completeness":
        return share(value)
    return value_words(measure, value, digits=4)
