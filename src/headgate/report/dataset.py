"""The content of the page of a dataset: its state, its last runs, and the series of every column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from markupsafe import Markup

from headgate.display.numbers import format_moment, format_share
from headgate.explain.batches_alike import describe_batches, describe_waiting, find_batches_alike
from headgate.explain.metric_names import tells_missing
from headgate.explain.run_stretches import DENSE, MOST_A_DAY, RunStretch, count_runs_a_day, group_runs
from headgate.explain.verdict_page import choose_tone
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.learn.metric_traits import MetricTraits
from headgate.report.batch import describe_state
from headgate.report.chart import draw_sparkline, draw_strip
from headgate.report.drawing import chart_of
from headgate.report.hours import draw_hours
from headgate.report.run_series import MARK_WORDS, RunMark, RunSeries
from headgate.report.words import describe_metric, describe_value, is_self_explanatory
from headgate.values.expectation import Status
from headgate.values.key import MetricKey
from headgate.values.run import BY_GATE, TRUSTED, Decision, Revision, Ruling
from headgate.values.schema import Schema

CHARTED_RUNS = 90
LISTED_RUNS = 30  # runs in the table, or stretches of runs
_EXPLAINED_RUNS = 10  # failed runs whose causes are shown; each costs one read of the store
_DAYS_OF_HOURS = 7  # days whose hours are drawn, where several runs come in a day
_LISTED_DAYS = 2
_NOT_EXPLAINED = "its own page tells"
_SIZE = MetricKey("size")


class RunRow(msgspec.Struct, frozen=True):
    """A row of the table of the last runs: one run, or several one after another that had the same outcome."""

    partition: str
    count: int
    number: int
    status: str
    mark: RunMark
    state: str
    by: str
    rows: str
    causes: tuple[str, ...]
    link: str


class SeriesRow(msgspec.Struct, frozen=True):
    """A metric over the runs: its current, smallest and largest value, and a sparkline."""

    name: str
    now: str
    low: str
    high: str
    sparkline: Markup


class ColumnSeries(msgspec.Struct, frozen=True):
    """All series of a column ("" for the table). Series that never changed are only listed in `constant`."""

    label: str
    type: str
    rows: tuple[SeriesRow, ...]
    constant: str


def dataset_page(gate: Gate, link: Callable[[str], str]) -> Mapping[str, Any]:
    """The variables of the template `dataset.html`. `link` gives the address of a partition's page, or ""."""
    revisions = gate.store.last(gate.dataset, CHARTED_RUNS)
    if not revisions:
        return {"gate": gate, "runs": []}
    lately = _read_lately(gate, revisions)
    revisions = lately.charted
    newest = gate.read_verdict(revisions[-1])
    schema = _find_schema(gate, newest)
    runs = RunSeries.read(gate.store, revisions, schema)
    rulings = {(each.partition, each.number): each for each in gate.store.rulings(gate.dataset)}
    return {
        "gate": gate,
        "newest": newest,
        "tone": choose_tone(newest).value,
        "state": describe_state(newest),
        "newest_link": link(newest.partition),
        "alike": _describe_alike(newest, revisions),
        "waiting": describe_waiting([each.partition for each in gate.history.find_waiting()]),
        "count": len(gate.store.revisions(gate.dataset)),
        "strip": draw_strip(list(zip(runs.partitions, runs.marks, strict=True))[-45:]),
        "held": sum(mark is RunMark.HELD for mark in runs.marks),
        "failed": sum(mark is RunMark.OPEN for mark in runs.marks),
        "shown": len(runs),
        "hours": draw_hours(lately.days),
        "runs": _make_run_rows(gate, lately.stretches, newest, rulings, link),
        "charts": [chart_of(runs, key) for key in _pick_charts(runs)],
        "columns": [_make_column_series(runs, label, kind) for label, kind in _list_columns(runs, schema)],
        "updated": format_moment(max(each.at for each in revisions), whole_days=False),
    }


def _describe_alike(newest: BatchVerdict, revisions: Sequence[Revision]) -> str:
    """Which batches are held for the same causes as the newest; empty if there is no other."""
    alike = find_batches_alike(newest, {each.partition for each in revisions if each.decision is Decision.HELD})
    return describe_batches(alike) if alike else ""


def _pick_charts(runs: RunSeries) -> list[MetricKey]:
    """The metrics that get a large chart: the row count, and the metric that moved the most in the newest run."""
    if len(runs) < 2:
        return []
    candidates = [
        key
        for label in runs.columns
        if label
        for key in runs.rank_metrics(label)
        if is_self_explanatory(runs.traits(key))
    ]
    rows = [_SIZE] if _SIZE in runs else []
    return rows + sorted(candidates, key=runs.rank)[:1]


class _Lately(msgspec.Struct, frozen=True):
    """The runs whose values are drawn, the runs that are listed, newest first, and the runs whose hours are drawn."""

    charted: tuple[Revision, ...]
    stretches: list[RunStretch]
    days: tuple[Revision, ...] = ()


def _read_lately(gate: Gate, newest: tuple[Revision, ...]) -> _Lately:
    """Where several runs come in a day, the runs of whole days, of which those with the same outcome are listed as one.

    Args:
        gate: The gate of the dataset.
        newest: Its newest runs.
    """
    per_day = min(count_runs_a_day([each.partition for each in newest]), MOST_A_DAY)
    if per_day < DENSE:
        return _Lately(newest, [RunStretch((each,)) for each in newest[-LISTED_RUNS:][::-1]])
    days = gate.store.last(gate.dataset, _DAYS_OF_HOURS * per_day)
    stretches = group_runs(days[-_LISTED_DAYS * per_day :])[-LISTED_RUNS:]
    return _Lately(days[-max(per_day, CHARTED_RUNS) :], stretches[::-1], days)


def _make_run_rows(
    gate: Gate,
    stretches: Sequence[RunStretch],
    newest: BatchVerdict,
    rulings: Mapping[tuple[str, int], Ruling],
    link: Callable[[str], str],
) -> list[RunRow]:
    sizes = _read_sizes(gate, [revision for each in stretches for revision in each.revisions])
    causes = _list_causes(gate, stretches, newest)
    return [
        RunRow(
            stretch.name,
            len(stretch.revisions),
            (revision := stretch.last).number,
            revision.status.value,
            (mark := RunMark.of(revision)),
            _describe_decision(revision, mark),
            _describe_ruling(rulings.get((revision.partition, revision.number))),
            _format_sizes([sizes[each.sequence] for each in stretch.revisions]),
            causes.get(revision.sequence, ()),
            link(revision.partition),
        )
        for stretch in stretches
    ]


def _read_sizes(gate: Gate, revisions: Sequence[Revision]) -> dict[int, float]:
    values = gate.store.series(revisions, [_SIZE]).of(_SIZE)
    return {each.sequence: float(size) for each, size in zip(revisions, values, strict=True)}


def _format_sizes(sizes: Sequence[float]) -> str:
    """The numbers of rows of a stretch of runs: the least and the largest.

    >>> _format_sizes([1_200.0]), _format_sizes([208.0, float("nan"), 1_404.0]), _format_sizes([float("nan")])
    ('1,200', '208 to 1,404', '')
    """
    finite = [each for each in sizes if np.isfinite(each)]
    ends = dict.fromkeys(f"{each:,.0f}" for each in (min(finite), max(finite))) if finite else {}
    return " to ".join(ends)


def _list_causes(gate: Gate, stretches: Sequence[RunStretch], newest: BatchVerdict) -> dict[int, tuple[str, ...]]:
    """The causes of the stretches that did not pass, by the sequence of their last run, whose causes they are.

    The verdict of the newest run has already been read.
    """
    bad = [each.last for each in stretches if each.last.status in (Status.FAIL, Status.ERROR)]
    causes: dict[int, tuple[str, ...]] = {each.sequence: (_NOT_EXPLAINED,) for each in bad[_EXPLAINED_RUNS:]}
    for revision in bad[:_EXPLAINED_RUNS]:
        verdict = newest if revision.sequence == newest.revision.sequence else gate.read_verdict(revision)
        causes[revision.sequence] = tuple(cause.title for cause in verdict.causes[:3])
    return causes


def _describe_decision(revision: Revision, mark: RunMark) -> str:
    if revision.decision is not None:
        return revision.decision.value
    return "not decided" if mark is RunMark.GOOD else MARK_WORDS[mark]


def _describe_ruling(ruling: Ruling | None) -> str:
    if ruling is None or ruling.decision in BY_GATE:
        return ""
    return " ".join(filter(None, [ruling.who and f"by {ruling.who}", ruling.note and f"({ruling.note})"]))


def _find_schema(gate: Gate, newest: BatchVerdict) -> Schema:
    """The schema of the newest run, or of the newest trusted run if the newest could not be read."""
    if newest.run.schema.columns:
        return newest.run.schema
    good = gate.store.last(gate.dataset, 1, only=TRUSTED)
    return gate.store.run(good[0], states=False).schema if good else Schema()


def _list_columns(runs: RunSeries, schema: Schema) -> list[tuple[str, str]]:
    types = {each.label: each.type for each in schema.columns}
    removed = [label for label in runs.columns if label and label not in types]
    return [("", ""), *types.items(), *((label, "gone") for label in removed)]


def _make_column_series(runs: RunSeries, label: str, type_name: str) -> ColumnSeries:
    rows, constant = [], []
    for key in runs.columns.get(label, ()):
        values, traits = runs.plain_values(key), runs.traits(key)
        finite = values[np.isfinite(values)]
        if not len(finite):
            continue
        name = describe_metric(traits, key, bare=True)
        low, high = _format_value(traits, float(finite.min())), _format_value(traits, float(finite.max()))
        if finite.min() == finite.max():
            constant.append(f"{name} {low}")
            continue
        now = _format_value(traits, float(values[-1])) if np.isfinite(values[-1]) else ""
        rows.append(SeriesRow(name, now, low, high, draw_sparkline(values, runs.marks)))
    return ColumnSeries(label, type_name, tuple(rows), "; ".join(constant))


def _format_value(traits: MetricTraits | None, value: float) -> str:
    if tells_missing(traits):
        return format_share(value)
    return describe_value(traits, value, digits=4)
