"""Judges the batches of a dataset in order; a batch that is held or cannot be read does not end the run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from headgate.cli import errors, exit_codes
from headgate.cli.options import FailOn

if TYPE_CHECKING:
    from headgate.cli.context import CommandContext
    from headgate.gate.batch_verdict import BatchVerdict
    from headgate.project.dataset import Dataset


class BatchResult(NamedTuple):
    """The result of judging one batch: its verdict, or the error that prevented one."""

    dataset: Dataset
    partition: str
    verdict: BatchVerdict | None = None
    error: Exception | None = None
    seconds: float = 0.0
    judged_before: bool = False  # whether an earlier run has judged it, and this one only published or held it
    width: int = 0  # of the longest partition name in its run
    alone: bool = True  # whether its run has no other batch

    @property
    def was_withdrawn(self) -> bool:
        """Whether its input was gone or replaced before it could be published or held."""
        from headgate.values.run import Decision

        return self.verdict is not None and self.verdict.decision is Decision.WITHDRAWN

    @property
    def row_count(self) -> int | None:
        return None if self.verdict is None else row_count_of(self.verdict)

    @property
    def alert_failure(self) -> str:
        """Why the alert was not delivered; empty if it was, or if none was due."""
        from headgate.values.outcome import Failed

        notified = None if self.verdict is None else self.verdict.notified
        deliveries = notified if isinstance(notified, list | tuple) else [notified]
        return "; ".join(each.why for each in deliveries if isinstance(each, Failed))

    def exit_code(self, fail_on: FailOn) -> int:
        """The exit code of a run of this batch alone."""
        if self.verdict is None:
            assert self.error is not None
            return exit_codes.worst_code([errors.exit_code_of(self.error)])
        delivery_code = exit_codes.UNDELIVERED if self.alert_failure else exit_codes.PASSED
        return exit_codes.worst_code([code_of(self.verdict, fail_on), delivery_code])

    def to_dict(self, fail_on: FailOn, secrets: tuple[str, ...] = ()) -> dict[str, Any]:
        """The batch as it is in the JSON document."""
        return {
            "dataset": self.dataset.name,
            "partition": self.partition,
            "exit_code": self.exit_code(fail_on),
            "judged_before": self.judged_before,
            "seconds": round(self.seconds, 3),
            "rows": self.row_count,
            "verdict": None if self.verdict is None else self.verdict.to_dict(),
            "error": None if self.error is None else errors.error_to_dict(self.error, secrets),
            "undelivered": errors.redact_secrets(self.alert_failure, secrets) or None,
        }


def row_count_of(verdict: BatchVerdict) -> int | None:
    """The number of rows that the run measured; None if it could not."""
    from headgate.values.key import MetricKey
    from headgate.values.outcome import Measured

    match verdict.run.outcomes.get(MetricKey("size")):
        case Measured(float(rows)):
            return int(rows)
    return None


def code_of(verdict: BatchVerdict, fail_on: FailOn) -> int:
    """The exit code of a verdict: a published batch passed, a held one failed or could not be evaluated."""
    from headgate.values.account import Action
    from headgate.values.expectation import Status
    from headgate.values.run import Decision

    if verdict.decision is Decision.WITHDRAWN:
        return exit_codes.UNKNOWN
    if verdict.action is Action.HOLD:
        if verdict.status in (Status.ERROR, Status.SKIP):
            return exit_codes.UNKNOWN
        return exit_codes.PASSED if fail_on is FailOn.NEVER else exit_codes.FAILED
    return (
        exit_codes.FAILED if fail_on is FailOn.WARN and (verdict.failures or not verdict.passed) else exit_codes.PASSED
    )


def finish_batches(dataset: Dataset, *, judges_next: bool = False) -> Iterator[BatchResult]:
    """Publish or hold what an interrupted run has judged, and carry out what people have decided.

    A batch whose input is gone is withdrawn. With `judges_next`, one that is staged again is left to the next step.
    """
    try:
        for revision in dataset.gate.find_undecided():
            started, partition = time.monotonic(), revision.partition
            try:
                if judges_next and dataset.gate.mover.is_gone(revision) and partition in dataset.partitions():
                    continue
                verdict = dataset.gate.finish(revision)
            except Exception as error:
                yield BatchResult(dataset, partition, error=error, judged_before=True)
            else:
                result = BatchResult(
                    dataset, partition, verdict, seconds=time.monotonic() - started, judged_before=True
                )
                if not result.was_withdrawn or dataset.gate.history.find(partition).number == revision.number:
                    yield result  # of one that a newer revision has replaced, there is nothing to tell
        dataset.gate.finish_rulings()
    except Exception as error:
        yield BatchResult(dataset, "", error=error, judged_before=True)


def judge_datasets(
    context: CommandContext, datasets: Iterable[Dataset], partition: str | None
) -> Iterator[BatchResult]:
    """Judge batches of several datasets. A Spark that cannot be used is not tried again for the next dataset."""
    from headgate.values.errors import EngineUnavailable, SourceUnavailable

    unavailable: Exception | None = None
    for dataset in datasets:
        if unavailable is not None and dataset.engine == "spark":
            yield BatchResult(dataset, partition or "", error=unavailable)
            continue
        for result in judge_batches(context, dataset, partition):
            yield result
            if isinstance(result.error, EngineUnavailable) and not isinstance(result.error, SourceUnavailable):
                unavailable = result.error


def judge_batches(context: CommandContext, dataset: Dataset, partition: str | None) -> Iterator[BatchResult]:
    """Finish what an interrupted run has left, then judge one batch of a dataset, or all that wait, in order.

    Only an unavailable store or Spark ends the run early: the next batch would fail too.
    """
    from headgate.values.errors import EngineUnavailable, PublishError, StoredDataError, StoreError

    finished = []
    for result in finish_batches(dataset, judges_next=True):
        yield result
        if isinstance(result.error, Exception) and not isinstance(result.error, PublishError):
            return  # the dataset, its store or its engine cannot be used
        finished.append(result.partition)
    try:
        partitions = dataset.waiting() if partition is None or partition in finished else (partition,)
    except Exception as error:
        yield BatchResult(dataset, partition or "", error=error)
        return
    if partition is not None:
        partitions = tuple(each for each in partitions if each == partition)
    width = max(map(len, partitions), default=0)
    alone = len(partitions) == 1
    for number, name in enumerate(partitions, 1):
        count = "" if alone else f" ({number} of {len(partitions)})"
        started = time.monotonic()
        try:
            with context.show_progress(f"{dataset.name} {name}{count}", "learning") as report:
                verdict = dataset.judge(name, progress=report)
        except Exception as error:
            yield BatchResult(dataset, name, error=error, seconds=time.monotonic() - started)
            if isinstance(error, EngineUnavailable | StoreError | StoredDataError):
                return
        else:
            seconds = time.monotonic() - started
            yield BatchResult(dataset, name, verdict, seconds=seconds, width=width, alone=alone)
