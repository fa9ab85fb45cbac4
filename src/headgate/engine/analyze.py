"""One call for every kind of batch: `analyze`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, overload

from headgate.engine.analysis import Analysis
from headgate.engine.batch import Batch, open_batch
from headgate.engine.part import Part
from headgate.engine.parted_scan import ScanResult
from headgate.engine.parts import Parts
from headgate.engine.plan import Plan, make_plan
from headgate.engine.progress import Progress
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import default_metrics
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed
from headgate.values.state import State


@overload
def analyze(
    data: Any,
    metrics: Iterable[Metric[Any] | MetricKey | str] | None = None,
    *,
    by: None = None,
    keep: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    tables: Mapping[str, Any] | None = None,
) -> Analysis: ...


@overload
def analyze(
    data: Any,
    metrics: Iterable[Metric[Any] | MetricKey | str] | None = None,
    *,
    by: str | Sequence[str],
    keep: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    tables: Mapping[str, Any] | None = None,
) -> Parts: ...


def analyze(
    data: Any,
    metrics: Iterable[Metric[Any] | MetricKey | str] | None = None,
    *,
    by: str | Sequence[str] | None = None,
    keep: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    tables: Mapping[str, Any] | None = None,
) -> Analysis | Parts:
    """Scan a batch once and measure it. An error of one metric or column is that metric's outcome, not an exception.

    >>> import pyarrow as pa
    >>> table = pa.table({"price": [1.0, 3.0, 8.0], "day": ["mon", "mon", "tue"]})
    >>> analyze(table, ["mean(price)"]).value("mean(price)")
    4.0
    >>> analyze(table, ["mean(price)"], by="day").view(day="mon").value("mean(price)")
    2.0

    Args:
        data: A Spark DataFrame (classic or Connect), a pyarrow Table, RecordBatch, Dataset or RecordBatchReader, or a
            pandas or polars frame.
        metrics: Metrics or their text form, `[hg.Mean("price"), "completeness(price)"]`. By default every column gets
            the default metrics of its type.
        by: Columns. Rows with the same values in them form a part, and each part is measured separately, in the same
            scan. `Parts.view` merges any of them again.
        keep: A folder that Spark can write to. Frequency tables of exact groupings that are too large for the driver
            are written there as Parquet, so that they can be merged later (`Analysis.resolve`).
        progress: A function that is called with a `Progress` while the scan runs.
        tables: Other tables by name, of the same kind of data, for metrics that look rows up in them.
    """
    if isinstance(metrics, (str, Metric, MetricKey)):
        metrics = [metrics]
    batch = open_batch(data, tables)
    if by is not None and not by:
        raise MisuseError("by names no column.", hint='Write by=["day"], or leave it out.')
    keys = [by] if isinstance(by, str) else list(by or ())
    return measure_batch(
        batch, default_metrics(batch.schema) if metrics is None else metrics, keys, progress, keep or ""
    )


def measure_batch(
    batch: Batch,
    metrics: Iterable[Metric[Any] | MetricKey | str],
    by: Sequence[str] = (),
    progress: Callable[[Progress], None] | None = None,
    keep: str = "",
    finish: bool = True,
) -> Analysis | Parts:
    """One scan of an opened batch: an analysis of the whole, or of the parts given by the columns in `by`.

    Args:
        batch: The opened batch.
        metrics: What is measured.
        by: The columns by which it is cut into parts.
        progress: Called while the scan runs.
        keep: The folder for large groups.
        finish: Whether the states are finished. Those that are merged with others are finished after that.
    """
    plan = make_plan(batch.schema, metrics, by=by, keep=keep)
    return _build_result(plan, batch.run(plan, progress), finish)


def measure_parts(
    batch: Batch,
    of_parts: Sequence[Metric[Any]],
    of_whole: Sequence[Metric[Any]],
    by: Sequence[str],
    progress: Callable[[Progress], None] | None = None,
    finish: bool = True,
) -> tuple[Parts, Analysis]:
    """One scan in this process of a batch that is cut into parts: of each part some metrics, of the whole others.

    Args:
        batch: The opened batch; Spark does not run it.
        of_parts: The metrics of each part.
        of_whole: The metrics of the whole batch; none reads a state of `of_parts`.
        by: The columns that tell the parts apart.
        progress: A function that is called with a `Progress` while the scan runs.
        finish: Whether the states are finished.
    """
    plan = make_plan(
        batch.schema, [*of_parts, *of_whole], by=by, whole=frozenset(metric.state_key for metric in of_whole)
    )
    scanned = batch.run(plan, progress)
    parts: dict[Part, dict[MetricKey, State]] = {part: states for part, states in scanned.states.items() if part}
    whole: dict[Part, dict[MetricKey, State]] = {(): scanned.states[()]}
    of_each = _build_result(plan.of(of_parts), ScanResult(parts, _failed_of(of_parts, scanned)), finish)
    of_all = _build_result(make_plan(batch.schema, of_whole), ScanResult(whole, _failed_of(of_whole, scanned)), finish)
    assert isinstance(of_each, Parts)
    assert isinstance(of_all, Analysis)
    return of_each, of_all


def _failed_of(metrics: Iterable[Metric[Any]], scanned: ScanResult) -> dict[MetricKey, Failed]:
    return {metric.key: scanned.failed[metric.key] for metric in metrics if metric.key in scanned.failed}


def _build_result(plan: Plan, scanned: ScanResult, finish: bool) -> Analysis | Parts:
    """The result: its states without those that only failed metrics read, since they may lack rows."""
    sound = {metric.state_key for metric in plan.metrics if metric.key not in scanned.failed}
    states = {
        part: {key: state.finish() if finish else state for key, state in part_states.items() if key in sound}
        for part, part_states in scanned.states.items()
    }
    if not plan.by:
        return Analysis(plan.schema, plan.metrics, states[()], scanned.failed)
    labels = tuple(plan.schema.columns[position].label for position in plan.by)
    return Parts(labels, plan.schema, plan.metrics, states, scanned.failed)
