"""Checks the good rows of a batch that is split before they are published.

Tested by `tests/gate/test_gate.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.checks.check import Check
from headgate.evaluate.context import BatchContext
from headgate.evaluate.evaluation import Evaluation, open_input
from headgate.metrics.size import Size
from headgate.store.port import HistoryStore
from headgate.values.errors import MisuseError
from headgate.values.expectation import Level, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome
from headgate.values.run import Run

_HINT = "Stage the first part of verdict.split(df) as the good rows."


def require_good_rows(good: Any, run: Run, checks: Sequence[Check], store: HistoryStore) -> None:
    """Refuse rows that do not meet the checks, or are not fewer than those of the batch.

    Args:
        good: The good rows, or a function that reads them.
        run: The run of the whole batch.
        checks: What is expected of it.
        store: The history, for checks that look back.
    """
    batch = open_input(good)
    context = BatchContext(batch.schema, {}, store, run.dataset, run.partition, None)
    evaluation = Evaluation.of(checks, context)
    measurements = evaluation.measure(batch, also=[Size()])
    for judged in evaluation.judge(measurements):
        each = judged.judgement
        if each.expectation.level is Level.ERROR and each.status in (Status.FAIL, Status.ERROR):
            raise MisuseError(
                f"the good rows of {run.partition} do not meet {each.expectation}: {each.reason}.", hint=_HINT
            )
    rows, whole = _count_rows(measurements.whole.outcomes), _count_rows(run.outcomes)
    if not rows:
        raise MisuseError(f"{run.partition} has no good rows.", hint="Repair the batch, or discard it.")
    if rows >= whole:
        raise MisuseError(
            f"{rows:,} rows are staged as the good ones of {run.partition}, which has {whole:,} in all.", hint=_HINT
        )


def _count_rows(outcomes: Mapping[MetricKey, Outcome]) -> int:
    outcome = outcomes.get(Size().key)
    return int(outcome.value) if isinstance(outcome, Measured) and isinstance(outcome.value, float) else 0
