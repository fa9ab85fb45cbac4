"""One call for every kind of batch: `analyze`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from headgate.analyzers.base.metric import Metric
from headgate.analyzers.base.registry import default_metrics
from headgate.engine.analysis import Analysis
from headgate.engine.local import open_local, run_local
from headgate.engine.plan import Plan, make_plan
from headgate.engine.progress import Progress
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed
from headgate.values.state import State


def analyze(
    data: Any,
    metrics: Iterable[Metric[Any] | MetricKey | str] | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> Analysis:
    """Scan a batch once and measure it.

    `data` is a Spark DataFrame (classic or Connect), a pyarrow Table, RecordBatch, Dataset or RecordBatchReader, or a
    pandas or polars frame. `metrics` are metrics or their text form, `[hg.Mean("price"), "completeness(price)"]`;
    without them every column gets the default metrics of its type. Whatever goes wrong with one metric or column is
    that metric's outcome.

    >>> import pyarrow as pa
    >>> analyze(pa.table({"price": [1.0, 3.0, None]}), ["mean(price)"]).value("mean(price)")
    2.0
    """
    if isinstance(metrics, (str, Metric, MetricKey)):
        metrics = [metrics]
    local = open_local(data)
    if local is not None:
        plan = make_plan(local.schema, default_metrics(local.schema) if metrics is None else metrics)
        return _analysis(plan, *run_local(local, plan))
    if type(data).__module__.startswith("pyspark.") and hasattr(data, "mapInArrow"):
        from headgate.engine.spark import open_spark, run_spark

        schema = open_spark(data)
        plan = make_plan(schema, default_metrics(schema) if metrics is None else metrics)
        return _analysis(plan, *run_spark(data, plan, progress))
    raise MisuseError(
        f"{type(data).__module__}.{type(data).__name__} is not a batch.",
        hint="Pass a Spark DataFrame, a pyarrow Table, Dataset or RecordBatchReader, or a pandas or polars frame.",
    )


def _analysis(plan: Plan, states: dict[MetricKey, State], failed: dict[MetricKey, Failed]) -> Analysis:
    """The result, with no state that only failed metrics would read: its rows may be incomplete."""
    sound = {metric.state_key for metric in plan.metrics if metric.key not in failed}
    return Analysis(plan.schema, plan.metrics, {key: states[key] for key in states if key in sound}, failed)
