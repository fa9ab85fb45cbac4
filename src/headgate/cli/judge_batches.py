"""Batches judged one after the other: one that is held, or that cannot be read, does not end the run of the others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from headgate.cli import errors, exit_codes
from headgate.cli.options import FailOn

if TYPE_CHECKING:
    from headgate.cli.context import CommandContext
    from headgate.gate.batch_verdict import BatchVerdict
    from headgate.project.project import Dataset


class BatchResult(NamedTuple):
    """What became of one batch: its verdict, or the trouble that left it without one."""

    dataset: Dataset
    partition: str
    verdict: BatchVerdict | None = None
    trouble: Exception | None = None
    seconds: float = 0.0
    width: int = 0  # of the longest name among the partitions of its run
    alone: bool = True  # whether it is the only batch of its run

    @property
    def row_count(self) -> int | None:
        return None if self.verdict is None else row_count_of(self.verdict)

    @property
    def alert_failure(self) -> str:
        """Why the alert did not arrive; empty if it did, or none was due."""
        from headgate.values.outcome import Failed

        delivery = None if self.verdict is None else self.verdict.notified
        every = delivery if isinstance(delivery, list | tuple) else [delivery]
        return "; ".join(each.why for each in every if isinstance(each, Failed))

    def exit_code(self, fail_on: FailOn) -> int:
        """How a run of this batch alone would end."""
        if self.verdict is None:
            assert self.trouble is not None
            return exit_codes.worst_code([errors.exit_code_of(self.trouble)])
        delivery_code = exit_codes.UNDELIVERED if self.alert_failure else exit_codes.PASSED
        return exit_codes.worst_code([code_of(self.verdict, fail_on), delivery_code])

    def to_dict(self, fail_on: FailOn, secrets: tuple[str, ...] = ()) -> dict[str, Any]:
        """As data."""
        made: dict[str, Any] = {"dataset": self.dataset.name, "partition": self.partition}
        made |= {"exit_code": self.exit_code(fail_on), "seconds": round(self.seconds, 3), "rows": self.row_count}
        made["verdict"] = None if self.verdict is None else self.verdict.to_dict()
        made["error"] = None if self.trouble is None else errors.error_to_dict(self.trouble, secrets)
        made["undelivered"] = errors.redact_secrets(self.alert_failure, secrets) or None
        return made


def row_count_of(verdict: BatchVerdict) -> int | None:
    from headgate.values.key import MetricKey
    from headgate.values.outcome import Measured

    match verdict.run.outcomes.get(MetricKey("size")):
        case Measured(float(rows)):
            return int(rows)
    return None


def code_of(verdict: BatchVerdict, fail_on: FailOn) -> int:
    """What was let through passed, whoever let it through; what is held failed, or could not be evaluated."""
    from headgate.values.account import Action
    from headgate.values.expectation import Status

    if verdict.action is Action.HOLD:
        if verdict.status in (Status.ERROR, Status.SKIP):
            return exit_codes.UNKNOWN
        return exit_codes.PASSED if fail_on is FailOn.NEVER else exit_codes.FAILED
    return (
        exit_codes.FAILED if fail_on is FailOn.WARN and (verdict.failures or not verdict.passed) else exit_codes.PASSED
    )


def judge_batches(context: CommandContext, dataset: Dataset, partition: str | None) -> Iterator[BatchResult]:
    """Judge one batch of a dataset, or all that wait, in order.

    Only a store that cannot be used, or a Spark that does not start, ends it early: the next batch would meet the same.
    """
    from headgate.values.errors import EngineError, NoSuchBatch, StoredDataError, StoreError

    try:
        partitions = (partition,) if partition is not None else dataset.waiting()
    except Exception as trouble:
        yield BatchResult(dataset, partition or "", trouble=trouble)
        return
    width = max(map(len, partitions), default=0)
    for number, each in enumerate(partitions, 1):
        count = f" ({number} of {len(partitions)})" if len(partitions) > 1 else ""
        started = time.monotonic()
        try:
            with context.show_progress(f"{dataset.name} {each}{count}", "learning") as report:
                verdict = dataset.judge(each, progress=report)
        except Exception as trouble:
            yield BatchResult(dataset, each, trouble=trouble, seconds=time.monotonic() - started)
            unstarted = isinstance(trouble, EngineError) and not isinstance(trouble, NoSuchBatch)
            if unstarted or isinstance(trouble, StoreError | StoredDataError):
                return
        else:
            yield BatchResult(
                dataset, each, verdict, seconds=time.monotonic() - started, width=width, alone=len(partitions) == 1
            )
