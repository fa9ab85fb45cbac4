"""One micro-batch: its rows marked, measured by window in one scan, and split into those to write and those to keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headgate.checks.check import Check
from headgate.engine.batch import open_batch
from headgate.engine.row_rule import REASONS, RowRule
from headgate.engine.spark_frame import open_spark
from headgate.engine.spark_rows import spark_mark, write_seconds
from headgate.evaluate.context import BatchContext
from headgate.evaluate.evaluation import Evaluation, PlannedExpectation
from headgate.evaluate.measurements import By, Measurements, by_batch, measure
from headgate.evaluate.row_rules import count_failing_rows, find_strict_rule
from headgate.integrations.streaming.windows import WindowSize
from headgate.learn.learned import Learned
from headgate.metrics.base.metric import FailingRows, Metric, SchemaMetric
from headgate.metrics.base.registry import from_key
from headgate.metrics.base.sql import quote_name
from headgate.metrics.column_type import ColumnType
from headgate.metrics.has_column import HasColumn
from headgate.metrics.max import Max
from headgate.metrics.size import Size
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.expectation import Expectation, Level, Status
from headgate.values.outcome import Measured
from headgate.values.predicate import Pending
from headgate.values.schema import TEMPORAL, Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WINDOW = "headgate_window"
"""The column by which rows are measured: the start of the window, null for a row that counts to none."""
_OF_SCHEMA = (HasColumn.name, ColumnType.name)


@dataclass(frozen=True)
class MicroBatchPlan:
    """What is expected of single rows and of the schema of micro-batches, and what is measured of their windows.

    `rules` are those that a row breaks by itself. `broken` says in words what is wrong with the micro-batch as a whole.
    """

    schema: Schema
    time: str
    size: WindowSize
    evaluation: Evaluation
    row_expectations: tuple[PlannedExpectation, ...]
    rules: tuple[RowRule, ...]
    broken: tuple[str, ...]
    metrics: tuple[Metric[Any], ...]

    @classmethod
    def of(
        cls,
        schema: Schema,
        time: str,
        size: WindowSize,
        checks: Sequence[Check],
        learned: Learned,
        metrics: Sequence[Metric[Any]],
        limit: float,
    ) -> MicroBatchPlan:
        """The plan for micro-batches with these columns.

        Args:
            schema: The columns.
            time: The column of the event time.
            size: The length of the windows.
            checks: What a person expects.
            learned: What was learned from the windows so far.
            metrics: What is measured of windows besides what checks ask for.
            limit: The highest event time that is believed, in seconds since 1970.
        """
        _require_time(schema, time)
        evaluation = Evaluation.of(checks, BatchContext(schema, now=None))
        strict = [
            (planned, rule)
            for planned in evaluation.planned
            if planned.expectation.level is Level.ERROR and not isinstance(planned.expectation.predicate, Pending)
            if (rule := find_strict_rule(planned.metric, planned.expectation)) is not None
        ]
        known = set(schema.labels)
        usable = [(planned, rule) for planned, rule in strict if known.issuperset(planned.metric.inputs)]
        return cls(
            schema,
            time,
            size,
            evaluation,
            tuple(planned._replace(by=()) for planned, _ in usable),
            (*_expect_time(time, limit), *dict.fromkeys(rule for _, rule in usable)),
            (
                *(
                    f"{planned.expectation}: there is no column {', '.join(set(planned.metric.inputs) - known)}"
                    for planned, _ in strict
                    if not known.issuperset(planned.metric.inputs)
                ),
                *_judge_schema(evaluation, learned, schema),
            ),
            tuple(dict.fromkeys((Size(), Max(time), *metrics))),
        )

    @property
    def asked(self) -> list[tuple[By, Metric[Any]]]:
        """What one scan measures: of each window, and of the micro-batch as a whole."""
        of_windows = [*self.evaluation.metrics, *(((), metric) for metric in self.metrics)]
        return [
            *((by_batch(WINDOW, by), metric) for by, metric in of_windows),
            *(((), planned.metric) for planned in self.row_expectations if planned.unmeasurable is None),
            ((), Size()),
        ]

    @property
    def segmentations(self) -> list[By]:
        return [by for by, _ in self.evaluation.metrics]


@dataclass(frozen=True)
class MeasuredMicroBatch:
    """What was measured of a micro-batch. `failures` says in words which rules rows break, and how many rows."""

    windows: Mapping[int, Measurements]
    rows: int
    good_rows: int
    latest: float | None
    failures: tuple[str, ...]

    @property
    def bad_rows(self) -> int:
        return self.rows - self.good_rows

    def count_rows(self, start: int) -> int:
        """How many rows count to a window."""
        return _count_rows(self.windows[start])


class MicroBatch:
    """The rows of one micro-batch, with the reasons of those that break a rule, read from the source once.

    Args:
        df: The rows.
        plan: What is expected and measured.
        tables: Other tables that checks name.
        counts_all: Whether rows that break a rule count to their window.
        hides_values: Whether the reasons lack the values that fail.
    """

    def __init__(
        self, df: DataFrame, plan: MicroBatchPlan, tables: Mapping[str, Any], *, counts_all: bool, hides_values: bool
    ) -> None:
        self.plan, self.tables = plan, tables
        self._names = df.columns
        marked = spark_mark(df, plan.rules, tables, "hidden" if hides_values else "plain")
        time = quote_name(plan.time)
        limit = plan.rules[1].failing_rows.high
        is_timely = f"{time} IS NOT NULL AND {write_seconds(plan.schema, plan.time)} <= {limit!r}D"
        counts = is_timely if counts_all else f"size({REASONS}) = 0"
        seconds = plan.size.seconds
        start = (
            f"CAST(CAST(floor({write_seconds(plan.schema, plan.time)} / {seconds}) AS BIGINT) * {seconds} AS STRING)"
        )
        self._marked = marked.selectExpr("*", f"CASE WHEN {counts} THEN {start} END AS {WINDOW}")

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep the rows in Spark inside the block, so that measuring and writing read the source once."""
        try:
            self._marked = self._marked.persist()
        except Exception:  # serverless Spark keeps nothing; then the source is read again
            yield
            return
        try:
            yield
        finally:
            self._marked.unpersist()

    def measure(self) -> MeasuredMicroBatch:
        """Measure the rows of each window, and count those that break a rule, in one scan."""
        batch = open_batch(self._marked.drop(REASONS), self.tables)
        measured = measure(batch, self.plan.asked, finish=False)
        split = measured.split_batches(WINDOW, self.plan.segmentations)
        windows = {int(start): each.with_schema(self.plan.schema) for start, each in split.items()}
        latest = [value for each in windows.values() if (value := _read_number(each, Max(self.plan.time))) is not None]
        rows = _count_rows(measured)
        good = sum(_count_rows(each) for each in windows.values())
        return MeasuredMicroBatch(
            windows, rows, good, max(latest, default=None), tuple(self._describe_failures(measured, rows - good))
        )

    def _describe_failures(self, measured: Measurements, bad: int) -> Iterator[str]:
        explained = 0
        for judged in Evaluation(self.plan.row_expectations).judge(measured):
            if judged.judgement.status is Status.FAIL and judged.metric is not None:
                state = measured.whole.states.get(judged.metric.state_key)
                counted = count_failing_rows(judged, state)
                explained += 1
                yield f"{judged.judgement.expectation}{f' ({counted})' if counted else ''}"
        if bad and not explained:
            yield f"{self.plan.time} is null or in the future ({bad:,} rows)"

    @property
    def all_rows(self) -> DataFrame:
        return self._marked.select(*map(quote_name, self._names))

    @property
    def good(self) -> DataFrame:
        """The rows that break no rule."""
        return self._marked.where(f"size({REASONS}) = 0").drop(REASONS, WINDOW)

    @property
    def bad(self) -> DataFrame:
        """The rows that break a rule, with their reasons."""
        return self._marked.where(f"size({REASONS}) > 0").drop(WINDOW)

    @property
    def all_with_reasons(self) -> DataFrame:
        return self._marked.drop(WINDOW)


def read_micro_schema(df: DataFrame) -> Schema:
    """The columns of a micro-batch."""
    taken = {WINDOW, REASONS} & {each.lower() for each in df.columns}
    if taken:
        raise MisuseError(f"the stream has a column {min(taken)}.", hint="Rename it.")
    return open_spark(df)


def _require_time(schema: Schema, time: str) -> None:
    kinds = {each.label: each for each in schema.columns}
    if time not in kinds:
        raise MisuseError(f"the stream has no column {time!r};", hint=did_you_mean(time, kinds))
    if kinds[time].kind not in TEMPORAL:
        raise MisuseError(
            f"{time} is a {kinds[time].type} column, which has no time.", hint="Cast it to a timestamp in the stream."
        )


def _expect_time(time: str, limit: float) -> tuple[RowRule, RowRule]:
    """Without a time a row has no window; one far in the future would close all windows."""
    missing = FailingRows((time,), form="{} IS NULL", message=f"{time} is null")
    ahead = FailingRows((time,), high=limit, message=f"{time} is in the future")
    return RowRule(f"is_complete({time})", "error", missing, missing.message), RowRule(
        f"is_not_in_future({time})", "error", ahead, ahead.message
    )


def _judge_schema(evaluation: Evaluation, learned: Learned, schema: Schema) -> Iterator[str]:
    """What is wrong with the columns: a check of them fails, or one that was always there is gone or another type."""
    declared = [each.expectation for each in evaluation.planned if isinstance(each.metric, SchemaMetric)]
    of_history = [each.expectation for each in learned.program.clauses if each.expectation.metric.name in _OF_SCHEMA]
    for expectation in (*declared, *of_history):
        if _fails(expectation, schema):
            yield str(expectation)


def _fails(expectation: Expectation, schema: Schema) -> bool:
    metric = from_key(expectation.metric)
    if expectation.level is not Level.ERROR or not isinstance(metric, SchemaMetric):
        return False
    return expectation.judge(metric.of(schema)).status in (Status.FAIL, Status.ERROR)


def _count_rows(measured: Measurements) -> int:
    return int(_read_number(measured, Size()) or 0)


def _read_number(measured: Measurements, metric: Metric[Any]) -> float | None:
    outcome = measured.whole.outcomes.get(metric.key)
    return float(outcome.value) if isinstance(outcome, Measured) and isinstance(outcome.value, float) else None
