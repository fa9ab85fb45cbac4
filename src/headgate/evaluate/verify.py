"""Judge a batch by checks, once: one scan, one verdict, nothing recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from headgate.checks.check import Check
from headgate.engine.batch import open_batch, rereadable
from headgate.engine.progress import Progress
from headgate.evaluate.context import BatchContext
from headgate.evaluate.evaluation import Evaluation, as_checks
from headgate.evaluate.row_rules import RowFinder
from headgate.evaluate.verification import Verification
from headgate.store.port import HistoryStore


def verify(
    data: Any,
    checks: Check | Iterable[Check],
    *,
    tables: Mapping[str, Any] | None = None,
    store: HistoryStore | None = None,
    dataset: str | None = None,
    partition: str | None = None,
    now: datetime | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Verification:
    """Judge a batch by checks in one scan.

    Args:
        data: What `hg.analyze` takes: a Spark DataFrame, a pyarrow Table, a pandas or polars frame.
        checks: One check, or several.
        tables: Other tables that checks name, by name.
        store: Where the history of the dataset is kept. Only `has_no_anomalies` needs it, with the next two.
        dataset: The name of the dataset in the store.
        partition: The partition of this batch; the runs before it are the history.
        now: The time that freshness is measured against; the clock's time if it is left out.
        progress: Called while the scan runs.

    >>> import pyarrow as pa
    >>> orders = pa.table({"id": [1, 2, 2], "price": [9.5, 3.0, None]})
    >>> verdict = verify(orders, Check("orders").is_unique("id").has_mean("price", between=(5, 500)))
    >>> print(verdict.explain())
    FAIL: of 2 expectations 1 not met, 1 met
    ✗ error  is_unique(id): uniqueness(id) is 0.333333, expected 1 (2 of 3 rows)
    """
    others = rereadable(tables)
    batch = open_batch(data, others)
    evaluation = Evaluation.of(as_checks(checks), BatchContext(batch.schema, others, store, dataset, partition, now))
    measurements = evaluation.measure(batch, progress=progress)
    return Verification(RowFinder(evaluation.judge(measurements), measurements, others))
