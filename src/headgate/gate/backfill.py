"""Judges batches that readers have already. Nothing is held, moved or notified."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from headgate.checks.check import Check
from headgate.engine.batch import open_batch
from headgate.engine.progress import Progress
from headgate.evaluate.context import BatchContext
from headgate.evaluate.evaluation import Evaluation
from headgate.evaluate.measurements import By, Measurements, by_batch, measure
from headgate.gate.batch_judge import BatchJudge, list_metrics
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.history import DatasetHistory
from headgate.learn.learned import Learned
from headgate.metrics.base.metric import Metric
from headgate.store.ledger import partition_order
from headgate.values.errors import NotMeasured
from headgate.values.period import Period, read_period, to_period
from headgate.values.run import Run
from headgate.values.schema import Schema


@dataclass(frozen=True)
class Backfill:
    """The batches of one dataset that came before its gate.

    `history` has the settings of a gate that only observes. `now` is the time that freshness is measured against, if
    the caller says one. `record` commits a run and says that readers have the batch.
    """

    history: DatasetHistory
    checks: Sequence[Check]
    tables: Mapping[str, Any]
    now: datetime | None
    learned: Callable[[], Learned]
    make_judge: Callable[[str, Period | None], BatchJudge]
    record: Callable[[Run], BatchVerdict]

    def judge_parts(
        self,
        data: Any,
        by: str,
        read_time: Callable[[str], date | datetime | str | None] | None,
        progress: Callable[[Progress], None] | None,
    ) -> list[BatchVerdict]:
        """Judge every batch of a table that the history has not, after one scan of all."""
        batch = open_batch(data, self.tables)
        asked = self._list_metrics(batch.schema)
        measured = measure(batch, [(by_batch(by, segment), metric) for segment, metric in asked], progress)
        for key, failed in measured.failed.items():
            raise NotMeasured(
                f"{key} could not be measured of all batches at once: {failed.why.rstrip('.')}.",
                hint="One batch may be the cause. Judge them one by one: gate.backfill_batch(df, partition).",
            )
        batches = measured.split_batches(by, [segment for segment, _ in asked])
        known = {each.partition for each in self.history.store.revisions(self.history.dataset)}
        waiting = sorted((each for each in batches if each and each not in known), key=partition_order)
        verdicts = []
        for partition in waiting:
            time = None if read_time is None else read_time(partition)
            verdicts.append(self._judge_measured(batches[partition], partition, time))
            if progress is not None:
                progress(Progress(len(verdicts), len(waiting), stage="learning", unit="batches"))
        return verdicts

    def judge_batch(self, data: Any, partition: str, time: date | datetime | str | None) -> BatchVerdict | None:
        """Judge one batch; None if the history has it."""
        if self.history.store.revisions(self.history.dataset, partition):
            return None
        batch = open_batch(data, self.tables)
        return self._judge_measured(measure(batch, self._list_metrics(batch.schema)), partition, time)

    def _list_metrics(self, schema: Schema) -> list[tuple[By, Metric[Any]]]:
        """What is measured of each batch."""
        context = self._make_context(schema, "", self.now)
        also = list_metrics(self.history.settings, self.learned(), schema)
        return [*Evaluation.of(self.checks, context).metrics, *(((), each) for each in also)]

    def _judge_measured(
        self, measured: Measurements, partition: str, time: date | datetime | str | None
    ) -> BatchVerdict:
        """Judge a batch as it was at the end of its period, and record it."""
        stated = None if time is None else to_period(time)
        period = stated or read_period(partition)
        now = self.now or (None if period is None else period.end.replace(tzinfo=UTC))
        evaluation = Evaluation.of(self.checks, self._make_context(measured.whole.schema, partition, now))
        judge = self.make_judge(partition, stated)
        run, _ = judge.to_run(evaluation, measured)
        return self.record(judge.name_faults(run))

    def _make_context(self, schema: Schema, partition: str, now: datetime | None) -> BatchContext:
        return BatchContext(schema, self.tables, self.history.store, self.history.dataset, partition, now)
