"""Finds the failing rows of a batch that was judged before: a verdict that was read from the history has none.

Tested by `tests/cli/test_failing_rows.py` and `tests/integrations/tables/test_quarantine.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from headgate.checks.guard import guard_key
from headgate.engine.analyze import analyze
from headgate.evaluate.row_rules import JudgedExpectation, RowFinder, find_failing_rows
from headgate.evaluate.verify import verify
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.learn.unseen_values import find_unseen_rows
from headgate.metrics.base.metric import FailingRows, Metric
from headgate.metrics.base.registry import from_key, metrics
from headgate.metrics.distances.new_values import NewValues
from headgate.metrics.value_distribution import ValueDistribution
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
    unseen = _find_unseen_rows(gate, partition, data, [each.expectation.metric for each in learned])
    for number, judgement in enumerate(learned, len(judged)):
        key = judgement.expectation.metric
        judged.append(JudgedExpectation("learned", number, _open_metric(key), judgement, unseen.get(key)))
    return RowFinder(judged)


def _find_unseen_rows(
    gate: Gate, partition: str, data: Any, failed: Sequence[MetricKey]
) -> dict[MetricKey, FailingRows]:
    """The rows with values that no run before the partition had, by what failed for them. The values are read again."""
    of_values = [key for key in failed if key.name == NewValues.name]
    if not of_values:
        return {}
    past = gate.learned(before=partition).past
    states = analyze(data, [ValueDistribution(key.columns[0]) for key in of_values]).states
    found = {key: find_unseen_rows(past, key, states) for key in of_values}
    return {key: rows for key, rows in found.items() if rows is not None}


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
