"""What a scan will cost, before it runs: `explain_cost`. It reads the schema, and of a Spark DataFrame the plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pyarrow as pa

from headgate.engine.batch import is_spark, refuse_data
from headgate.engine.cost_estimate import CostEstimate
from headgate.engine.fold_costs import FEW_TEXTS, MANY_TEXTS, NUMBERS, FoldCosts, load_fold_costs, name_kind
from headgate.engine.local import limit_rows, open_local
from headgate.engine.plan import Plan, make_plan
from headgate.engine.plan_pricing import PlanPricing, Reading
from headgate.engine.spark_faults import raise_faults
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import default_metrics
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.schema import Schema

ASSUMED_ROWS = 1_000_000
TEXT_BYTES = 24
_FIRST_ROWS = 1_000  # of a pandas frame, from which the types of its objects are known
_WAYS = {
    "memory": "the rows are in memory",
    "pandas": "the pandas frame is converted to Arrow",
    "polars": "the Polars frame is converted to Arrow",
    "parquet": "this process reads Parquet files",
    "csv": "this process reads CSV files",
}
_UNMEASURED = "this process reads the rows; what that costs was not measured and is not counted"


class _Source(NamedTuple):
    """A batch as far as it is known without reading it: the schema, how many rows there are, how they are read."""

    schema: Schema
    rows: int | None
    describe_reading: Callable[[Plan], tuple[Reading, str]]


def explain_cost(
    data: Any,
    metrics: Iterable[Metric[Any] | MetricKey | str] | None = None,
    rows: int | None = None,
    *,
    text_bytes: float = TEXT_BYTES,
) -> CostEstimate:
    """Estimate what `hg.analyze` with the same arguments would cost, by column and state.

    It reads the schema, of a pandas frame the types of its first rows, and of a Spark DataFrame the plan: no job runs.
    The estimate is made from constants that were measured on one machine, and says so when it is printed.

    >>> import pyarrow as pa
    >>> estimate = explain_cost(pa.table({"price": [1.0, 3.0], "note": ["a", "b"]}), rows=1_000_000)
    >>> list(estimate.by_column())
    ['note', 'price']
    >>> 0.01 < estimate.seconds < 10
    True

    Args:
        data: Anything that `hg.analyze` takes.
        metrics: Metrics or their text form. By default every column gets the default metrics of its type.
        rows: The number of rows. By default that of the data if it is known without a scan, else a million.
        text_bytes: How many bytes a text is taken to have.
    """
    if isinstance(metrics, (str, Metric, MetricKey)):
        metrics = [metrics]
    if rows is not None and rows < 0:
        raise MisuseError(f"rows is {rows}, and no batch has less than 0.")
    source, costs = _open_source(data), load_fold_costs()
    plan = make_plan(source.schema, default_metrics(source.schema) if metrics is None else metrics)
    reading, words = source.describe_reading(plan)
    known = source.rows if rows is None else rows
    kinds = [name_kind(source.schema.columns[at]) for at in plan.columns]
    pricing = PlanPricing(plan, costs, kinds, ASSUMED_ROWS if known is None else known, reading, text_bytes)
    return CostEstimate(
        rows=pricing.rows,
        knows_rows=known is not None,
        items=pricing.items,
        reading=words + _describe_prices(costs, reading.way, text_bytes),
        text_bytes=text_bytes,
        seconds_if_few=_price_few(pricing) if MANY_TEXTS in kinds else None,
        saving=pricing.find_saving(),
        failed={str(key): failed.why for key, failed in plan.failed.items()},
        basis=_describe_basis(costs),
    )


def _price_few(pricing: PlanPricing) -> float:
    """CPU seconds if few texts of each column differ."""
    kinds = [FEW_TEXTS if kind == MANY_TEXTS else kind for kind in pricing.kinds]
    few = PlanPricing(pricing.plan, pricing.costs, kinds, pricing.rows, pricing.reading, pricing.text_bytes)
    return sum(item.seconds for item in few.items)


def _describe_prices(costs: FoldCosts, way: str, text_bytes: float) -> str:
    """What reading a value costs; if Spark reads the rows, also what it would cost if tasks read files."""
    if way not in costs.reading:
        return ""
    found = f": {_format_prices(costs, way, text_bytes)}"
    return f"{found}; tasks that read files: {_format_prices(costs, 'tasks', text_bytes)}" if way == "spark" else found


def _format_prices(costs: FoldCosts, way: str, text_bytes: float) -> str:
    number, text = (costs.reading[way][kind].price(text_bytes) for kind in (NUMBERS, MANY_TEXTS))
    return f"{number:.0f} ns a number, {text:.0f} ns a text"


def _describe_basis(costs: FoldCosts) -> str:
    names = ("python", "pyarrow", "pyspark")
    listed = ", ".join(f"{name} {costs.versions[name]}" for name in names if name in costs.versions)
    return f"{costs.machine} ({listed})"


# --- sources


def _open_source(data: Any) -> _Source:
    if is_spark(data):
        return _open_spark(data)
    match type(data).__module__.partition(".")[0]:
        case "pandas" if hasattr(data, "columns"):
            return _open_local(data.head(_FIRST_ROWS), len(data), "pandas")
        case "polars" if hasattr(data, "lazy"):
            is_lazy = hasattr(data, "collect")
            return _open_local(data.clear(), None if is_lazy else len(data), "polars")
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        return _open_local(data, data.num_rows, "memory")
    form = getattr(getattr(data, "format", None), "default_extname", "")  # of a dataset of files
    return _open_local(data, None, form)


def _open_local(data: Any, rows: int | None, way: str) -> _Source:
    """A batch that this process reads. The footers of Parquet files say how many rows they have."""
    batch = open_local(data)
    if batch is None:
        raise refuse_data(data)
    count = batch.count_rows() or None if rows is None and way == "parquet" else rows
    words = _WAYS.get(way, _UNMEASURED)
    return _Source(batch.schema, count, lambda plan: (Reading(way, limit_rows(len(plan.columns))), words))


def _open_spark(data: Any) -> _Source:
    from headgate.engine.spark_files import plan_reading
    from headgate.engine.spark_frame import open_spark

    def describe_reading(plan: Plan) -> tuple[Reading, str]:
        found = plan_reading(data, plan)
        if found.files is not None:
            count = found.files.count
            words = f"tasks read {count:,} file{'s' * (count != 1)}"
            return Reading("tasks", limit_rows(len(plan.columns))), words
        return Reading("spark", limit_rows(len(plan.columns))), f"rows from Spark, because {found.why_not}"

    with raise_faults():
        return _Source(open_spark(data), None, describe_reading)
