"""One cause of a failure, and the order of causes and of their judgements.

Tested by `tests/explain/test_causes.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import msgspec

from headgate.explain.wording import CauseKind, is_telling
from headgate.learn.history.coarse_bands import COARSE_NOTE
from headgate.learn.history.program import format_rarity
from headgate.learn.metric_traits import is_known, traits_of
from headgate.values.account import Account, MetricChange, ValueChange
from headgate.values.diagnosis import Diagnosis
from headgate.values.expectation import Judgement, Source

_COMPLETENESS = "completeness"
_NO_RANK = 100  # of a metric without a label, which people know least


class Cause(msgspec.Struct, frozen=True):
    """One thing that went wrong, with all expectations that it broke.

    `columns` are the columns it shows in; empty for the table as a whole. `found` says in sentences how those columns
    changed. `false_alarm` is the stated rate of the rarest broken expectation, None where a person declared it.
    `held_before` are the batches directly before this one that were held for the same reason, oldest first.
    `title_metric` is the metric that the title speaks of, `value_change` the change of values that it speaks of
    instead. `factor` is how many times as large the columns are, if the title says so. `metric_changes` are the metrics
    whose values in the runs before are known. `diagnosis` is the fault that explains it; its sentence is the title.
    """

    kind: CauseKind
    title: str
    columns: tuple[str, ...]
    judgements: tuple[Judgement, ...]
    found: tuple[str, ...] = ()
    held_before: tuple[str, ...] = ()
    title_metric: str = ""
    value_change: ValueChange | None = None
    factor: float | None = None
    metric_changes: dict[str, MetricChange] = {}
    diagnosis: Diagnosis | None = None

    @property
    def false_alarm(self) -> float | None:
        if self.is_declared:
            return None
        rates = [each.expectation.false_alarm for each in self.judgements if each.expectation.false_alarm is not None]
        return min(rates, default=None)

    @property
    def is_declared(self) -> bool:
        """Whether it breaks a check that a person wrote."""
        return any(each.expectation.source is Source.DECLARED for each in self.judgements)

    @property
    def rarity(self) -> str:
        """How rarely a good batch looks like this, in words."""
        if self.kind is CauseKind.UNREAD:
            return ""
        if self.is_declared:
            return "declared"
        return format_rarity(self.false_alarm) or "no accepted run did this"

    @property
    def lead(self) -> Judgement:
        """The judgement that represents the cause: the first of the ranked ones."""
        return self.judgements[0]

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind.name.lower(),
            "title": self.title,
            "columns": list(self.columns),
            "found": list(self.found),
            "rarity": self.rarity,
            "false_alarm": self.false_alarm,
            "expectations": [str(each.expectation.metric) for each in self.judgements],
            "held_before": list(self.held_before),
            "diagnosis": None if self.diagnosis is None else msgspec.to_builtins(self.diagnosis),
        }


def rank_cause(cause: Cause) -> tuple[int, float, int]:
    """Sorts causes: the most important kind first, then the rarest, then the one that breaks the most."""
    return cause.kind, cause.false_alarm or 0.0, -len(cause.judgements)


def rank_judgements(judgements: Iterable[Judgement], account: Account) -> tuple[Judgement, ...]:
    """The judgements of one cause: the rarest first, of equal ones the metric that people know best.

    Of one metric in several segments the worst comes first.

    That a column is empty explains what else it breaks. A distance that needs an explanation says less than other
    metrics, and a coarse limit less than a range.
    """

    def rank(judgement: Judgement) -> tuple[bool, bool, bool, float, int, str, float]:
        rate, metric = judgement.expectation.false_alarm, judgement.expectation.metric
        is_empty = metric.name == _COMPLETENESS and judgement.value == 0.0
        is_coarse = account.notes.get(str(metric), "").startswith(COARSE_NOTE)
        return (
            not is_empty,
            not is_telling(judgement, account.metric_changes),
            is_coarse,
            rate or 0.0,
            traits_of(metric).label.rank if is_known(metric) else _NO_RANK,
            str(metric),
            -_distance_outside(judgement),
        )

    return tuple(sorted(judgements, key=rank))


def _distance_outside(judgement: Judgement) -> float:
    """How far a value lies outside the expected range."""
    value, predicate = judgement.value, judgement.expectation.predicate
    if value is None or math.isnan(value):
        return 0.0
    below = 0.0 if predicate.floor is None else predicate.floor - value
    above = 0.0 if predicate.ceiling is None else value - predicate.ceiling
    return max(below, above, 0.0)
