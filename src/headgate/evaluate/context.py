"""What the rules of checks may ask about a batch: its schema, the time, other tables, the history of its dataset.

Tested by `tests/evaluate/test_verify.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from headgate.engine.analyze import analyze
from headgate.learn.anomaly.detector import detector_from_key
from headgate.metrics.size import Size
from headgate.store.port import HistoryStore
from headgate.store.reference_runs import find_reference_runs
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.key import MetricKey
from headgate.values.outcome import Undefined
from headgate.values.predicate import Pending, Predicate
from headgate.values.run import TRUSTED, Revision
from headgate.values.schema import Schema

DETECTOR_RUNS = 400  # runs of the past that a detector is given


class BatchContext:
    """Answers from what the caller gave; what it cannot answer is the caller's mistake and raises `MisuseError`."""

    def __init__(
        self,
        schema: Schema,
        tables: Mapping[str, Any] | None = None,
        store: HistoryStore | None = None,
        dataset: str | None = None,
        partition: str | None = None,
        now: datetime | None = None,
    ) -> None:
        self.schema = schema
        self.now = now or datetime.now(UTC)
        self._tables = tables or {}
        self._store = store
        self._dataset = dataset
        self._partition = partition
        self._sizes: dict[str, int] = {}

    def rows_of(self, table: str) -> int:
        if table not in self._tables:
            raise MisuseError(
                f"the table {table!r} was not given; {did_you_mean(table, self._tables)}",
                hint=f"Pass tables={{{table!r}: ...}}.",
            )
        if table not in self._sizes:
            self._sizes[table] = int(analyze(self._tables[table], [Size()]).value(Size()))  # type: ignore[arg-type]
        return self._sizes[table]

    def band(self, metric: MetricKey, detector: MetricKey) -> Predicate:
        past = self._require_store.series(self._past_runs, [metric])
        band = detector_from_key(detector).band(past.of(metric))
        return Pending(band.why) if isinstance(band, Undefined) else band

    @property
    def _require_store(self) -> HistoryStore:
        if self._store is None or self._dataset is None or self._partition is None:
            raise MisuseError(
                "has_no_anomalies needs the past of the dataset, and to know which partition this is.",
                hint='Pass them: hg.verify(df, checks, store=store, dataset="orders", partition="2026-11-15").',
            )
        return self._store

    @cached_property
    def _past_runs(self) -> list[Revision]:
        """The runs before this one, less those that were held or rejected. The batch that is judged is never one."""
        assert self._dataset is not None
        runs = find_reference_runs(self._require_store, self._dataset, DETECTOR_RUNS, partition=self._partition)
        return [each for each in runs.revisions if each.decision is None or each.decision in TRUSTED]
