"""Finds what a failed batch has in common with the held batches directly before it: a new level, not a new fault."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from headgate.explain.cause import Cause
from headgate.explain.causes import find_causes
from headgate.explain.wording import CauseKind
from headgate.learn.calendar import Cadence
from headgate.learn.copies import COPIES
from headgate.learn.metric_traits import is_distance
from headgate.learn.past import Past
from headgate.values.account import HeldLevel, HeldSequence
from headgate.values.expectation import Judgement, Source, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.period import parse_period, read_period
from headgate.values.run import Revision, Run

MAX_HELD = 10
"""Held batches that are looked at before a batch."""

MAX_SPREAD = 0.25
"""How far values that agree lie apart, at most, as a share of the distance of the nearest one from what is expected."""

_STEPS = {
    Cadence.YEARLY: "year",
    Cadence.QUARTERLY: "quarter",
    Cadence.MONTHLY: "month",
    Cadence.WEEKLY: "week",
    Cadence.BUSINESS_DAYS: "day",
    Cadence.DAILY: "day",
    Cadence.HOURLY: "hour",
}
_LEARNED = frozenset({Source.HISTORY, Source.PATTERNS, Source.ANOMALY})
_SIZE = MetricKey("size")
_WHOLE_TABLE = frozenset({CauseKind.VOLUME, CauseKind.SHAPE})


class _Candidate(NamedTuple):
    """A metric that may agree: its range before, and its values, this run's last. A typical one is enough by itself."""

    key: MetricKey
    low: float | None
    high: float | None
    values: tuple[float, ...]
    is_typical: bool = False
    moves_along: bool = False  # a timestamp, which moves along with the runs

    def to_level(self) -> HeldLevel:
        low, high = (None, None) if self.moves_along else (self.low, self.high)
        return HeldLevel(str(self.key), self.values, low, high)


class _HeldRun(NamedTuple):
    revision: Revision
    run: Run
    causes: tuple[Cause, ...]


def find_held_sequence(run: Run, before: Sequence[tuple[Revision, Run]], past: Past | None = None) -> HeldSequence:
    """What agrees in a run that failed and in the held runs directly before it, oldest first.

    `past` are the accepted runs that it was judged by. A cause agrees with a held run if that run has a cause in the
    same column, and if there at least half of the metrics that failed have values that agree, or the mean has: of a
    change of the rows, their number. A distance counts only if no other metric failed. A schema agrees as a whole.
    """
    causes = find_causes(run.verdict.judgements, run.account)
    earlier = [_HeldRun(*each, find_causes(each[1].verdict.judgements, each[1].account)) for each in before[-MAX_HELD:]]
    levels = [_find_levels(cause, run, earlier, past) for cause in causes]
    count = max((len(each.values) - 1 for found in levels for each in found), default=0)
    if not count:
        return HeldSequence()
    calendar = None if past is None else past.calendar
    return HeldSequence(
        partitions=tuple(held.run.partition for held in earlier[-count:]),
        levels=tuple(level for found in levels for level in found),
        alike=_count_alike(causes, levels, earlier),
        step="batch" if calendar is None else _STEPS.get(calendar.cadence, "batch"),
    )


def values_agree(values: Sequence[float], low: float | None, high: float | None) -> bool:
    """Whether values lie on the same side of a range, and at least four times nearer to each other than to it.

    >>> values_agree([121, 119, 120], 20, 30), values_agree([50, 80, 110], 20, 30)
    (True, False)
    """
    if not all(map(math.isfinite, values)):
        return False
    below = 0.0 if low is None else min(low - value for value in values)
    above = 0.0 if high is None else min(value - high for value in values)
    nearest = max(below, above)
    return nearest > 0 and max(values) - min(values) <= MAX_SPREAD * nearest


def _find_levels(cause: Cause, run: Run, earlier: Sequence[_HeldRun], past: Past | None) -> list[HeldLevel]:
    """The metrics of a cause that agree with the held runs, each with its values, in as many runs as the cause does."""
    failed = [_make_candidate(each, past) for each in _choose_metrics(cause)]
    needed = len(failed) if cause.kind is CauseKind.SHAPE else max(1, (len(failed) + 1) // 2)
    typical = _find_typical(cause, run, past) if failed or cause.kind is CauseKind.WHOLE else []
    # a distance says how far, not where to: if the mean moved, only that counts
    agreeing = typical if typical and all(is_distance(each.key) for each in failed) else [*failed, *typical]
    for held in reversed(earlier):
        if not any(_is_same_subject(cause, each) for each in held.causes):
            break
        longer = [each for candidate in agreeing for each in _extend(candidate, run, held.run)]
        if not any(each.is_typical for each in longer) and len(longer) < needed:
            break
        agreeing = longer
    return [each.to_level() for each in agreeing if len(each.values) > 1]


def _choose_metrics(cause: Cause) -> list[Judgement]:
    """The failed metrics of a cause that show its level: learned ones, and no distances if there are others."""
    learned = [
        each
        for each in cause.judgements
        if each.status is Status.FAIL
        and each.expectation.source in _LEARNED
        and each.expectation.metric != COPIES
        and each.value is not None
        and not each.segment
    ]
    return [each for each in learned if not is_distance(each.expectation.metric)] or learned


def _make_candidate(judgement: Judgement, past: Past | None) -> _Candidate:
    """A metric that failed. Its range before is what was expected, without what no accepted run had: what is expected
    widens with every day that is not accepted."""
    key, predicate = judgement.expectation.metric, judgement.expectation.predicate
    low, high = predicate.floor, predicate.ceiling
    if accepted := _list_accepted(past, key):
        low = None if low is None else max(low, min(accepted))
        high = None if high is None else min(high, max(accepted))
    return _Candidate(key, low, high, (judgement.value or 0.0,), moves_along=predicate.moments)


def _find_typical(cause: Cause, run: Run, past: Past | None) -> list[_Candidate]:
    """The mean of a column or the number of rows, if no accepted run had such a value; it need not have failed."""
    if cause.kind not in (CauseKind.COLUMN, CauseKind.VOLUME, CauseKind.WHOLE) or past is None:
        return []
    key = _SIZE if cause.kind is CauseKind.VOLUME else MetricKey("mean", cause.columns[:1])
    value, accepted = _read_value(run, key), _list_accepted(past, key)
    is_timestamp = any(each.key == key and each.is_timestamp for each in past.metrics)
    if value is None or not accepted or is_timestamp or min(accepted) <= value <= max(accepted):
        return []
    return [_Candidate(key, min(accepted), max(accepted), (value,), is_typical=True)]


def _list_accepted(past: Past | None, key: MetricKey) -> list[float]:
    if past is None or not any(each.key == key for each in past.metrics):
        return []
    return [float(value) for value in past.series(key) if math.isfinite(value)]


def _extend(candidate: _Candidate, run: Run, held: Run) -> list[_Candidate]:
    """The candidate with its value in a held run before the others; nothing if it has none, or if it does not agree."""
    value = _read_value(held, candidate.key)
    if value is None:
        return []
    if candidate.moves_along:
        value += _seconds_between(held, run)
    values = (value, *candidate.values)
    return [candidate._replace(values=values)] if values_agree(values, candidate.low, candidate.high) else []


def _read_value(run: Run, key: MetricKey) -> float | None:
    """The value of a metric in a run, whether or not it was judged there."""
    outcome = run.outcomes.get(key)
    if isinstance(outcome, Measured) and isinstance(outcome.value, float):
        return outcome.value
    # that of a schema is judged, and not recorded as an outcome
    return next((each.value for each in run.verdict.judgements if each.expectation.metric == key), None)


def _seconds_between(held: Run, run: Run) -> float:
    """The time from the period of one run to that of another; 0 if one of them is not known."""
    first, last = (
        parse_period(each.account.time if each.account else "") or read_period(each.partition) for each in (held, run)
    )
    return 0.0 if first is None or last is None else last.seconds - first.seconds


def _is_same_subject(cause: Cause, other: Cause) -> bool:
    """Whether two causes are about the same columns, or both about the rows or the schema of the table."""
    if cause.kind in _WHOLE_TABLE or other.kind in _WHOLE_TABLE:
        return cause.kind is other.kind
    return bool(set(cause.columns) & set(other.columns))


def _count_alike(causes: Sequence[Cause], levels: Sequence[Sequence[HeldLevel]], earlier: Sequence[_HeldRun]) -> int:
    """How many of the last held runs failed for the same causes and for no other.

    A run with several revisions is not among them: a person has to say which one is meant.
    """
    most = min(len(found[0].values) - 1 if found else 0 for found in levels)
    for count in range(most):
        held = earlier[-1 - count]
        is_alike = all(any(_is_same_subject(own, each) for own in causes) for each in held.causes)
        if not is_alike or held.revision.number > 1:
            return count
    return most
