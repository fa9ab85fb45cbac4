"""One call for every kind of batch: `analyze`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

from headgate.analyzers.base.metric import Metric
from headgate.analyzers.base.registry import default_metrics
from headgate.engine.analysis import Analysis
from headgate.engine.local import open_local, run_local
from headgate.engine.parted_scan import Found
from headgate.engine.parts import Parts
from headgate.engine.plan import Plan, make_plan
from headgate.engine.progress import Progress
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.schema import Schema


@overload
def analyze(
    data: Any,
    metrics: Iterable[Metric[Any] | MetricKey | str] | None = None,
    *,
    by: None = None,
    keep: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Analysis: ...


@overload
def analyze(
    data: Any,
    metrics: Iterable[Metric[Any] | MetricKey | str] | None = None,
    *,
    by: str | Sequence[str],
    keep: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Parts: ...


def analyze(
    data: Any,
    metrics: Iterable[Metric[Any] | MetricKey | str] | None = None,
    *,
    by: str | Sequence[str] | None = None,
    keep: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Analysis | Parts:
    """Scan a batch once and measure it.

    `data` is a Spark DataFrame (classic or Connect), a pyarrow Table, RecordBatch, Dataset or RecordBatchReader, or a
    pandas or polars frame. `metrics` are metrics or their text form, `[hg.Mean("price"), "completeness(price)"]`;
    without them every column gets the default metrics of its type. With `by`, the names of columns, the rows that agree
    in them are measured apart, still in one scan; `Parts.view` puts any of them together again. With `keep`, a folder
    that Spark can write to, the frequency tables of exact groupings that are too large for the driver are kept there
    as Parquet, so that they too can be merged (`Analysis.resolved`). Whatever goes wrong with one metric or column is
    that metric's outcome.

    >>> import pyarrow as pa
    >>> table = pa.table({"price": [1.0, 3.0, 8.0], "day": ["mon", "mon", "tue"]})
    >>> analyze(table, ["mean(price)"]).value("mean(price)")
    4.0
    >>> analyze(table, ["mean(price)"], by="day").view(day="mon").value("mean(price)")
    2.0
    """
    if isinstance(metrics, (str, Metric, MetricKey)):
        metrics = [metrics]
    local = open_local(data)
    if local is not None:
        plan = _plan(local.schema, metrics, by, keep)
        return _result(plan, run_local(local, plan))
    if type(data).__module__.startswith("pyspark.") and hasattr(data, "mapInArrow"):
        from headgate.engine.spark import open_spark, run_spark

        plan = _plan(open_spark(data), metrics, by, keep)
        return _result(plan, run_spark(data, plan, progress))
    raise MisuseError(
        f"{type(data).__module__}.{type(data).__name__} is not a batch.",
        hint="Pass a Spark DataFrame, a pyarrow Table, Dataset or RecordBatchReader, or a pandas or polars frame.",
    )


def _plan(schema: Schema, metrics: Iterable[Any] | None, by: str | Sequence[str] | None, keep: str | None) -> Plan:
    if by is not None and not by:
        raise MisuseError("by names no column.", hint='Write by=["day"], or leave it out.')
    keys = [by] if isinstance(by, str) else list(by or ())
    return make_plan(schema, default_metrics(schema) if metrics is None else metrics, by=keys, keep=keep or "")


def _result(plan: Plan, found: Found) -> Analysis | Parts:
    """The result, with no state that only failed metrics would read: its rows may be incomplete."""
    sound = {metric.state_key for metric in plan.metrics if metric.key not in found.failed}
    states = {part: {key: held[key] for key in held if key in sound} for part, held in found.states.items()}
    if not plan.by:
        return Analysis(plan.schema, plan.metrics, states[()], found.failed)
    labels = tuple(plan.schema.columns[at].label for at in plan.by)
    return Parts(labels, plan.schema, plan.metrics, states, found.failed)
