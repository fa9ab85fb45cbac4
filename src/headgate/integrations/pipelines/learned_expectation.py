"""What a table as a whole must be like, by checks and by its history, inside the query that makes it.

The rows are measured by a function of Arrow arrays, and judged by a function of the states of all tasks. Its answer is
a scalar subquery in the filter of the query: Spark knows it before it reads a row for the table. So nothing is run or
analysed by the query function, which a declarative pipeline does not allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce, wraps
from importlib import import_module
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec

import pyarrow as pa

from headgate.checks.check import Check
from headgate.engine.analysis import Analysis
from headgate.engine.batch import open_batch
from headgate.engine.parts import Parts
from headgate.engine.spark_workers import is_connect
from headgate.evaluate.context import BatchContext
from headgate.evaluate.evaluation import Evaluation
from headgate.evaluate.measurements import By, Measurements, measure
from headgate.gate.batch_judge import list_metrics
from headgate.gate.gate import Gate
from headgate.gate.settings import Settings
from headgate.learn.learned import Learned, nothing_learned
from headgate.metrics.base.metric import Metric
from headgate.values.account import Action
from headgate.values.errors import BatchHeld, EngineUnavailable, MisuseError
from headgate.values.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

P = ParamSpec("P")
_ROWS = 1 << 18  # that are measured at once
_STATES = "headgate_states"


def expect_learned(
    open_gate: Callable[[], Gate], partition: str = ""
) -> Callable[[Callable[P, DataFrame]], Callable[P, DataFrame]]:
    """Judge what a query gives, by the checks of a gate and by what it has learned, record and tell the verdict.

    A decorator of the query function of a materialized view. The rows go on whatever the verdict is.

    Args:
        open_gate: Makes the gate. It is called in the pipeline's Python and on Spark's workers, so its store has to be
            one that both can reach.
        partition: The key of this update in the dataset; the day, in UTC, if it is left out. The same rows under the
            same key have one verdict.
    """
    return _decorate(open_gate, partition, fails=False)


def expect_learned_or_fail(
    open_gate: Callable[[], Gate], partition: str = ""
) -> Callable[[Callable[P, DataFrame]], Callable[P, DataFrame]]:
    """As `expect_learned`; if the gate holds the batch, the query fails before it writes a row.

    A person's `accept` or `release` of the batch lets the same rows pass.

    The arguments are those of `expect_learned`.
    """
    return _decorate(open_gate, partition, fails=True)


def _decorate(
    open_gate: Callable[[], Gate], partition: str, fails: bool
) -> Callable[[Callable[P, DataFrame]], Callable[P, DataFrame]]:
    given: Any = open_gate
    if isinstance(given, Gate) or not callable(given):
        raise MisuseError(
            "the gate is made on Spark's workers.", hint="Pass a function that makes it: lambda: hg.Gate(...)."
        )

    def decorate(query: Callable[P, DataFrame]) -> Callable[P, DataFrame]:
        @wraps(query)
        def select_judged(*args: P.args, **kwargs: P.kwargs) -> DataFrame:
            return gate_rows(query(*args, **kwargs), open_gate, partition, fails=fails)

        return select_judged

    return decorate


def gate_rows(df: DataFrame, open_gate: Callable[[], Gate], partition: str = "", *, fails: bool) -> DataFrame:
    """The rows of a query, which are measured and judged before the first of them is given.

    Args:
        df: The query. It is read twice.
        open_gate: Makes the gate.
        partition: The key of this update in the dataset; the day, in UTC, if it is left out.
        fails: Whether the query fails if the gate holds the batch.
    """
    from pyspark.sql.types import BinaryType, BooleanType

    functions = import_module(
        "pyspark.sql.connect.functions" if is_connect(df.sparkSession) else "pyspark.sql.functions"
    )
    arrow_udf = getattr(functions, "arrow_udf", None)
    if arrow_udf is None:
        raise EngineUnavailable("expect_learned needs Spark 4.1 or later.", hint="Use hg.Gate on older versions.")
    gate = open_gate()
    if gate.publisher is not None:
        raise MisuseError("the gate of a query has a publisher.", hint="The pipeline writes the rows; leave it out.")
    key = partition or datetime.now(UTC).strftime("%Y-%m-%d")
    fold = arrow_udf(make_fold(ScanRequest.of(gate)), BinaryType())
    judge = functions.udf(make_judge(open_gate, key, fails=fails), BooleanType(), useArrow=False)
    states = df.select(fold(functions.struct("*")).alias(_STATES)).agg(functions.collect_list(_STATES).alias(_STATES))
    return df.where(states.select(judge(_STATES)).scalar())


class ScanRequest(NamedTuple):
    """What is measured of rows, whatever their columns."""

    checks: tuple[Check, ...]
    settings: Settings
    learned: Learned

    @classmethod
    def of(cls, gate: Gate) -> ScanRequest:
        """What a gate has to know of the next batch. It has no more of what was learned than tasks need."""
        learned = gate.learned()
        small = replace(nothing_learned((), learned.scope), text_rules=learned.text_rules)
        return cls(tuple(gate.checks), gate.settings, small)

    def list_metrics(self, schema: Schema) -> list[tuple[By, Metric[Any]]]:
        evaluation = Evaluation.of(self.checks, BatchContext(schema))
        return [*evaluation.metrics, *(((), each) for each in list_metrics(self.settings, self.learned, schema))]

    def measure(self, batches: Sequence[pa.RecordBatch], before: Measurements | None) -> Measurements:
        """The measurements of some rows, together with those of the rows before them."""
        batch = open_batch(pa.Table.from_batches(batches))
        found = measure(batch, self.list_metrics(batch.schema), finish=False)
        return found if before is None else before + found

    def measure_nothing(self, schema: Schema) -> Measurements:
        """The measurements of a batch without rows."""
        asked = self.list_metrics(schema)
        results: dict[By, Analysis | Parts] = {}
        for by in dict.fromkeys(each for each, _ in asked):
            metrics = tuple(metric for each, metric in asked if each == by)
            results[by] = Parts(by, schema, metrics, {}, {}) if by else Analysis(schema, metrics, {}, {})
        return Measurements(results)


def make_fold(request: ScanRequest) -> Callable[[Iterator[pa.Array]], Iterator[pa.Array]]:
    """A function of the rows of a task, as arrays of structs. The last array that it gives has the states, the others
    have nothing."""

    def fold_rows(arrays: Iterator[pa.Array]) -> Iterator[pa.Array]:
        measured: Measurements | None = None
        waiting: list[pa.RecordBatch] = []
        length = 0
        for array in arrays:
            if length:
                yield pa.nulls(length, pa.binary())
            if length := len(array):
                waiting.append(pa.RecordBatch.from_struct_array(array))
            if sum(each.num_rows for each in waiting) >= _ROWS:
                measured, waiting = request.measure(waiting, measured), []
        if waiting:
            measured = request.measure(waiting, measured)
        if length and measured is not None:
            yield pa.array([measured.to_bytes()] + [None] * (length - 1), pa.binary())

    return fold_rows


def make_judge(open_gate: Callable[[], Gate], partition: str, *, fails: bool) -> Callable[[Sequence[bytes]], bool]:
    """A function of the states of all tasks, which judges the batch. It gives true, or raises that the batch is held.

    Args:
        open_gate: Makes the gate.
        partition: The key of the batch.
        fails: Whether a batch that does not pass is held, and not only observed.
    """

    def judge_states(states: Sequence[bytes]) -> bool:
        gate = open_gate() if fails else open_gate().observe()
        parts = [Measurements.from_bytes(bytes(each)) for each in states]
        measured = reduce(add, parts) if parts else _measure_nothing(gate)
        verdict = gate.judge(measured.finish(), partition)
        if fails and verdict.action is Action.HOLD:
            causes = "; ".join(each.title for each in verdict.causes)
            raise BatchHeld(
                f"{gate.dataset} {partition} is held: {causes}.",
                hint=f"Look: headgate explain '{gate.dataset}' '{partition}'. If it is right, accept it, and run the "
                "pipeline again.",
            )
        return True

    return judge_states


def _measure_nothing(gate: Gate) -> Measurements:
    """What is measured of no rows. Which columns they would have is known from the last batch alone."""
    last = gate.store.last(gate.dataset, 1)
    if not last:
        raise BatchHeld(f"{gate.dataset} has no rows, and there was no batch before.", hint="Look at the query.")
    return ScanRequest.of(gate).measure_nothing(gate.store.run(last[-1], states=False).schema)
