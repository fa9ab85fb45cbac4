"""Says before batches are accepted what that will change in the ranges of the next batch. Nothing is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headgate.gate.history import DatasetHistory
from headgate.learn.copies import COPIES
from headgate.learn.history.program import SCHEMA_METRICS
from headgate.learn.history.rarity import is_rarity
from headgate.learn.history.usual_ranges import UsualRanges
from headgate.learn.learned import Learned
from headgate.learn.past import calendar_of, numeric_values
from headgate.learn.surprises import find_surprises
from headgate.store.ledger import partition_order
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.mute import Mute
from headgate.values.range_change import RangeChange
from headgate.values.run import Revision, Run

_MEAN = "mean"  # of a column that failed in other metrics, it tells people most
_NEXT = "the next batch"  # stands for its name, where its period is known


def preview_range_changes(
    history: DatasetHistory, revisions: Sequence[Revision], mutes: Sequence[Mute] = ()
) -> tuple[RangeChange, ...]:
    """What is expected of the next batch now, and if these batches were accepted, of what failed in them.

    Both are about the same batch: the one after the newest of the accepted runs and these. The mean of a column that
    failed is told too, if it moved.

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
    for metric in failed:
        first, second = before.find_range(metric), after.find_range(metric)
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
        )
        changes.append(change)
    return tuple(changes)


@dataclass(frozen=True)
class _NextRanges:
    """The ranges that the next batch is judged by."""

    learned: Learned

    def find_range(self, metric: MetricKey) -> Expectation | None:
        """The range of a metric: that of a clause, else the one that is usual."""
        clause = next((each for each in self.learned.program.clauses if each.metric == metric), None)
        if clause is not None:
            return clause.expectation
        usual = None if self.learned.rarities is None else UsualRanges(self.learned.rarities).find(metric)
        return None if usual is None else usual.expectation


def _find_failed_ranges(runs: Sequence[Run]) -> list[MetricKey]:
    """The metrics of runs that left their learned ranges, and the means of their columns."""
    surprising = [metric for run in runs for metric in _find_surprising_ranges(run)]
    means = {metric: MetricKey(_MEAN, metric.columns[:1]) for metric in surprising if metric.columns}
    return list(dict.fromkeys(each for metric in surprising for each in (metric, means.get(metric, metric))))


def _find_surprising_ranges(run: Run) -> dict[MetricKey, Expectation]:
    surprises = find_surprises(run)
    return {
        each.expectation.metric: each.expectation
        for each in run.verdict.judgements
        if each.expectation.metric in surprises
        and not is_rarity(each.expectation.metric)
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
    before, after = (_NextRanges(history.spend_budget(pool, mutes=mutes)) for pool in pools)
    return before, after


def _join_revisions(known: Sequence[Revision], added: Sequence[Revision]) -> list[Revision]:
    """The newest revision of each partition, in the order of the partitions."""
    newest: dict[str, Revision] = {}
    for revision in sorted((*known, *added), key=lambda each: each.number):
        newest[revision.partition] = revision
    return sorted(newest.values(), key=lambda each: partition_order(each.partition))
