"""Says before batches are accepted what that will change in the ranges of the next batch. Nothing is recorded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from headgate.gate.history import DatasetHistory
from headgate.learn.copies import COPIES
from headgate.learn.history.program import SCHEMA_METRICS
from headgate.learn.past import calendar_of, numeric_values
from headgate.learn.surprises import find_surprises
from headgate.store.ledger import partition_order
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.mute import Mute
from headgate.values.proposal import Proposal
from headgate.values.range_change import RangeChange
from headgate.values.run import Revision, Run

_MEAN = "mean"  # of a column that failed in other metrics, it tells people most
_SMALLEST_RATE = 1e-9  # of a range that costs nothing, so that it has a logarithm
_NEXT = "the next batch"  # stands for its name, where its period is known


def preview_range_changes(
    history: DatasetHistory, revisions: Sequence[Revision], mutes: Sequence[Mute] = ()
) -> tuple[RangeChange, ...]:
    """What is expected of the next batch now, and if these batches were accepted, of what failed in them.

    Both are about the same batch: the one after the newest of the accepted runs and these. The mean of a column that
    failed is told too, if it moved. Where the budget chooses no range of a metric for the next batch, that is marked,
    and the range is a proposed one.

    Args:
        history: The history of the dataset.
        revisions: The batches that may be accepted.
        mutes: The columns that are muted.
    """
    runs = [history.read(each) for each in revisions]
    failed = _find_failed_ranges(runs)
    if not failed:
        return ()
    before, after = _learn_both(history, revisions, mutes)
    kinds = {column.label: column.kind for run in runs for column in run.schema.columns}
    changes = []
    for metric, rate in failed.items():
        first, second = choose_comparable_pair(before.find_ranges(metric), after.find_ranges(metric), rate)
        values = _find_values(runs, metric)
        moved = any(each is not None and not all(map(each.predicate.holds, values)) for each in (first, second))
        if metric.name == _MEAN and not moved:
            continue
        change = RangeChange(
            metric,
            None if first is None else first.predicate,
            None if second is None else second.predicate,
            values,
            kinds.get("".join(metric.columns[:1])),
            before.has_chosen(metric),
            after.has_chosen(metric),
        )
        changes.append(change)
    return tuple(changes)


@dataclass(frozen=True)
class _NextRanges:
    """The ranges that the next batch is judged by, and the others that are proposed for it."""

    chosen: Mapping[MetricKey, Expectation]
    proposals: Sequence[Proposal]

    def has_chosen(self, metric: MetricKey) -> bool:
        return metric in self.chosen

    def find_ranges(self, metric: MetricKey) -> list[Expectation]:
        """The range of a metric that is chosen; else all that are proposed, which differ in their false alarm rate."""
        if metric in self.chosen:
            return [self.chosen[metric]]
        return [each.expectation for each in self.proposals if each.expectation.metric == metric]


def choose_comparable_pair(
    before: Sequence[Expectation], after: Sequence[Expectation], rate: float
) -> tuple[Expectation | None, Expectation | None]:
    """The two ranges whose false alarm rates are nearest to each other, so that they can be compared; then to `rate`.

    One is None if there is none.
    """

    def compare_rates(pair: tuple[Expectation | None, Expectation | None]) -> tuple[float, float]:
        rates = [_log_rate(each.false_alarm) for each in pair if each is not None]
        return max(rates) - min(rates), abs(rates[0] - _log_rate(rate))

    if not before and not after:
        return None, None
    firsts: Sequence[Expectation | None] = before or (None,)
    seconds: Sequence[Expectation | None] = after or (None,)
    return min(product(firsts, seconds), key=compare_rates)


def _log_rate(rate: float | None) -> float:
    return math.log(max(rate or 0.0, _SMALLEST_RATE))


def _find_failed_ranges(runs: Sequence[Run]) -> dict[MetricKey, float]:
    """The metrics of runs that left their learned ranges, and the means of their columns, with false alarm rates."""
    failed: dict[MetricKey, float] = {}
    for run in runs:
        for metric, expectation in _find_surprising_ranges(run).items():
            rate = expectation.false_alarm or 0.0
            failed.setdefault(metric, rate)
            if metric.columns:
                failed.setdefault(MetricKey(_MEAN, metric.columns[:1]), rate)
    return failed


def _find_surprising_ranges(run: Run) -> dict[MetricKey, Expectation]:
    surprises = find_surprises(run)
    return {
        each.expectation.metric: each.expectation
        for each in run.verdict.judgements
        if each.expectation.metric in surprises
        and each.expectation.source is Source.HISTORY
        and each.expectation.metric.name not in (*SCHEMA_METRICS, COPIES.name)
    }


def _find_values(runs: Sequence[Run], metric: MetricKey) -> tuple[float, ...]:
    """The values of a metric in the runs that were surprising, where it is known."""
    measured = (numeric_values(each.outcomes).get(metric) for each in runs if _find_surprising_ranges(each))
    return tuple(each for each in measured if each is not None)


def _learn_both(
    history: DatasetHistory, revisions: Sequence[Revision], mutes: Sequence[Mute]
) -> tuple[_NextRanges, _NextRanges]:
    """The ranges of the next batch by the history as it is, and with these batches accepted."""
    trusted, accepted = history.find_reference_runs().revisions, history.find_accepted()
    joined = _join_revisions(trusted, revisions)[-history.settings.runs :]
    runs_before, runs_after = ([history.read(each) for each in chosen] for chosen in (trusted, joined))
    period = calendar_of(runs_after).periods[-1]
    following = None if period is None else _NEXT
    pools = (
        history.make_pool(runs_before, accepted, following, period, mutes=mutes),
        history.make_pool(runs_after, _join_revisions(accepted, revisions), following, period, mutes=mutes),
    )
    before, after = (
        _NextRanges(
            {each.metric: each.expectation for each in history.spend_budget(pool, mutes=mutes).program.clauses},
            () if pool is None else pool.proposal_set.proposals,
        )
        for pool in pools
    )
    return before, after


def _join_revisions(known: Sequence[Revision], added: Sequence[Revision]) -> list[Revision]:
    """The newest revision of each partition, in the order of the partitions."""
    newest: dict[str, Revision] = {}
    for revision in sorted((*known, *added), key=lambda each: each.number):
        newest[revision.partition] = revision
    return sorted(newest.values(), key=lambda each: partition_order(each.partition))
