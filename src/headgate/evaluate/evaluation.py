"""The one way in which checks meet a batch: plan what is expected, measure it in one scan, judge it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from headgate.checks.check import Check
from headgate.checks.constraint import expectations
from headgate.engine.analysis import Analysis
from headgate.engine.batch import Batch, open_batch
from headgate.engine.plan import part_keys
from headgate.engine.progress import Progress
from headgate.engine.spark_faults import raise_faults
from headgate.evaluate.context import BatchContext
from headgate.evaluate.measurements import By, Measurements, measure
from headgate.evaluate.row_rules import JudgedExpectation
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import from_key
from headgate.values.errors import MisuseError
from headgate.values.expectation import Expectation
from headgate.values.outcome import Failed, Undefined
from headgate.values.schema import TEMPORAL, Schema
from headgate.values.verdict import judge

MOST_SEGMENTS = 10_000
"""Segments that a rule is judged for; each has a judgement in the verdict, in the history and in reports."""


class PlannedExpectation(NamedTuple):
    """An expectation of a check, for the whole batch or for each of its segments.

    `unmeasurable` says why this batch cannot be held against it, where that is known before the batch is scanned.
    """

    check: str
    rule: int
    by: By
    expectation: Expectation
    metric: Metric[Any]
    unmeasurable: Failed | None = None


class Evaluation:
    """Every expectation of some checks about one batch, each with its metric and its segments.

    >>> import pyarrow as pa
    >>> batch = open_input(pa.table({"price": [9.5, 3.0, None]}))
    >>> checks = as_checks(Check("orders").is_complete("price"))
    >>> evaluation = Evaluation.of(checks, BatchContext(batch.schema))
    >>> [judged.judgement.status.value for judged in evaluation.judge(evaluation.measure(batch))]
    ['fail']
    """

    def __init__(self, planned: Iterable[PlannedExpectation]) -> None:
        self.planned = tuple(planned)

    @classmethod
    def of(cls, checks: Iterable[Check], context: BatchContext) -> Evaluation:
        """Plan what these checks expect of the batch that the context describes."""
        rules = ((check, rule) for check in checks for rule in check.rules)
        return cls(
            _plan_expectation(check.name, number, rule.by, expectation, context.schema)
            for number, (check, rule) in enumerate(rules)
            for expectation in expectations(rule, context)
        )

    @property
    def metrics(self) -> list[tuple[By, Metric[Any]]]:
        """What a scan must measure; an expectation that this batch cannot meet needs nothing measured."""
        return [(each.by, each.metric) for each in self.planned if each.unmeasurable is None]

    def measure(
        self,
        batch: Batch | Analysis | Measurements,
        *,
        also: Iterable[Metric[Any]] = (),
        by_segment: Iterable[tuple[By, Metric[Any]]] = (),
        progress: Callable[[Progress], None] | None = None,
    ) -> Measurements:
        """Measure the batch in one scan, with more metrics of the whole batch and of segments.

        What was measured is not scanned.
        """
        if isinstance(batch, Measurements):
            return batch
        if isinstance(batch, Analysis):
            self._refuse_segments()
            return Measurements({(): batch})
        return measure(batch, [*self.metrics, *(((), metric) for metric in also), *by_segment], progress)

    def judge(self, measurements: Measurements) -> list[JudgedExpectation]:
        """Judge each expectation by what was measured, for every segment."""
        return [judged for planned in self.planned for judged in _judge_segments(planned, measurements)]

    def _refuse_segments(self) -> None:
        segmented = next((each for each in self.planned if each.by), None)
        if segmented is not None:
            raise MisuseError(
                f"{segmented.expectation} is asked by segment, and an analysis is of the whole batch.",
                hint="Give the batch itself.",
            )


def as_checks(checks: Check | Iterable[Check]) -> list[Check]:
    """One check or many as a list of them."""
    given = [checks] if isinstance(checks, Check) else list(checks)
    for check in given:
        if not isinstance(check, Check):
            raise MisuseError(
                f"{check!r} is not a check.", hint='Pass hg.Check("orders").is_complete("id") or a list of such.'
            )
    return given


def open_input(data: Any, tables: Mapping[str, Any] | None = None) -> Batch | Analysis | Measurements:
    """What a caller gave, opened: data, an analysis or measurements of it, or a function that reads one of these."""
    data = read_input(data)
    return data if isinstance(data, (Analysis, Measurements)) else open_batch(data, tables)


def read_input(data: Any) -> Any:
    """What a caller gave; what a function gives, if it is one."""
    if not callable(data):
        return data
    with raise_faults():
        return data()


def can_read_again(data: Any) -> bool:
    """Whether what a caller gave, after `read_input`, has rows that can be read once more."""
    return not isinstance(data, (Analysis, Measurements, pa.RecordBatchReader))


def _plan_expectation(check: str, number: int, by: By, expectation: Expectation, schema: Schema) -> PlannedExpectation:
    planned = PlannedExpectation(check, number, by, expectation, from_key(expectation.metric))
    return planned._replace(unmeasurable=_find_obstacle(planned, schema))


def _find_obstacle(planned: PlannedExpectation, schema: Schema) -> Failed | None:
    """Why a batch of this schema cannot be held against an expectation."""
    try:
        part_keys(schema, planned.by)  # a column may have gone away overnight
    except MisuseError as error:
        return Failed(str(error))
    if not planned.expectation.predicate.moments:
        return None
    columns = {column.label: column for column in schema.columns}
    named = [columns[name] for name in planned.metric.inputs if name in columns]
    timeless = next((column for column in named if column.kind not in TEMPORAL), None)
    if timeless is None:
        return None
    return Failed(f"{timeless.label!r} is a {timeless.type} column, which no date can be held against")


def _judge_segments(planned: PlannedExpectation, measurements: Measurements) -> Iterator[JudgedExpectation]:
    check, rule, by, expectation, metric, unmeasurable = planned
    if unmeasurable is not None:
        yield JudgedExpectation(check, rule, metric, expectation.judge(unmeasurable))
        return
    segments = measurements.segments(by)
    if not segments:
        yield JudgedExpectation(check, rule, metric, expectation.judge(Undefined("there is no segment")))
    if len(segments) > MOST_SEGMENTS:
        why = (
            f"by {', '.join(by)} there are {len(segments):,} segments, and at most {MOST_SEGMENTS:,} are judged; "
            "choose columns with fewer different values, or a coarser one such as a region or a month"
        )
        yield JudgedExpectation(check, rule, metric, expectation.judge(Failed(why)))
        return
    for part, analysis in segments.items():
        segment = tuple(zip(by, part, strict=True))
        for judgement in judge([expectation], analysis.outcomes, segment).judgements:
            yield JudgedExpectation(check, rule, metric, judgement)
