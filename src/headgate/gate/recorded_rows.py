"""Finds the failing rows of a batch that was judged before: a verdict that was read from the history has none.

Tested by `tests/cli/test_failing_rows.py` and `tests/integrations/tables/test_quarantine.py`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from headgate.checks.guard import guard_key
from headgate.evaluate.row_rules import JudgedExpectation, RowFinder, find_failing_rows
from headgate.evaluate.verify import verify
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import from_key, metrics
from headgate.values.errors import BadPredicate
from headgate.values.expectation import Level, Source, Status
from headgate.values.key import MetricKey


def find_recorded_rows(gate: Gate, partition: str, data: Any, verdict: BatchVerdict | None) -> RowFinder:
    """What finds the failing rows of a batch.

    The declared checks are evaluated on the data again, and the learned expectations that failed in the verdict are
    added.

    Args:
        gate: The gate of the dataset.
        partition: The name of the batch.
        data: The rows that were judged.
        verdict: The verdict on them; None if there is none yet.
    """
    judged: list[JudgedExpectation] = []
    if gate.checks:
        verification = verify(data, gate.checks, store=gate.store, dataset=gate.dataset, partition=partition)
        judged += verification.judged
    failures = () if verdict is None else verdict.failures
    learned = [each for each in failures if each.expectation.source is not Source.DECLARED]
    for number, judgement in enumerate(learned, len(judged)):
        judged.append(JudgedExpectation("learned", number, _open_metric(judgement.expectation.metric), judgement))
    return RowFinder(judged)


def come_from_rows(verdict: BatchVerdict, finder: RowFinder) -> bool:
    """Whether single rows are to blame for all that failed in a verdict, by what finds its rows now.

    A check that was there when the batch was judged, and is not there now, is none that rows were found for.
    """
    found = {str(each.judgement.expectation) for each in finder.judged if find_failing_rows(each) is not None}
    failed = [each.expectation for each in verdict.failures if each.expectation.level is Level.ERROR]
    has_failed = verdict.status is Status.FAIL and bool(failed)
    return has_failed and finder.explains_all and all(str(each) in found for each in failed)


def _open_metric(key: MetricKey) -> Metric[Any] | None:
    """The metric of a key; None if it is of no single rows, as a distance between batches."""
    if key.name in metrics():
        with suppress(BadPredicate):  # SQL of the history must pass the guard before it runs
            return from_key(guard_key(key))
    return None
