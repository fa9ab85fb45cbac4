"""Propose limits on the novelty of a batch, each with its false alarm rate and the issues that it catches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from headgate.learn.issue_effects import SEVERITIES, AppliedEffect
from headgate.learn.novelty.model import NOVELTY, Novelty
from headgate.learn.novelty.neighbours import PairwiseGaps, aggregate_nearest, square_gaps
from headgate.learn.past import Past, latest_values
from headgate.learn.pooled_rates import HISTORY_LENGTHS, PooledRates, make_curve_key
from headgate.values.expectation import Expectation, Source
from headgate.values.outcome import Undefined
from headgate.values.predicate import Between
from headgate.values.proposal import IssueId, Proposal

Floats = npt.NDArray[np.float64]

WIDESPREAD_SEVERITIES = (0.1, 0.03)
"""Severities of an issue that affects all columns at once, so mild that no single metric shows it."""
MAX_WIDESPREAD_COLUMNS = 4  # columns for which such an issue counts, so that it does not outweigh all others
RATIO_STEP = 0.1  # the ratio that one unit of surprise stands for: so the grid has many limits between 1 and 2
TAIL_EXPONENT = 2.5  # the tail of distances is assumed to fall at least as fast as this power (docs/methods/novelty.md)


def propose_novelty(
    novelty: Novelty, past: Past, effects: Sequence[AppliedEffect], pooled_rates: PooledRates
) -> list[Proposal]:
    """For each set of issues that some limit on the novelty catches, the highest such limit.

    No limit is below the ratio of the newest run itself: issues are injected into that run, and below its own ratio it
    would be held without any issue.
    """
    latest_run = _LatestRun(novelty, past)
    issue_ratios = list(latest_run.ratios_after_issues(effects))
    sorted_ratios = np.sort([ratio for _, ratio in issue_ratios])
    note = f"{len(novelty.points)} runs, {len(novelty.features.indices)} metrics"
    proposals, most_caught = [], 0
    rates = novelty_rates(novelty, pooled_rates).tolist()
    for reach, rate in sorted(zip(pooled_rates.grid, rates, strict=True), reverse=True):  # the highest limit first
        high = ratio_limit(reach)
        count = len(sorted_ratios) - int(np.searchsorted(sorted_ratios, high, side="right"))
        if count > most_caught and rate < 1 and latest_run.ratio <= high:
            most_caught = count
            issues = frozenset(issue for issue, ratio in issue_ratios if ratio > high)
            expectation = Expectation(NOVELTY, Between(high=high), Source.NOVELTY, false_alarm=rate)
            proposals.append(Proposal(expectation, issues, note))
    return proposals


def ratio_limit(reach: float) -> float:
    """The ratio at a reach of the grid, rounded upwards.

    >>> ratio_limit(10.0), ratio_limit(1e-6)
    (2.0, 1.01)
    """
    return math.ceil(round(100 * (1 + RATIO_STEP * reach), 6)) / 100


def novelty_surprises(past: Past, rows: Floats) -> Floats:
    """The surprise of the novelty of next batches, given as rows with a value for each metric of the past.

    NaN if the past is too short. The pooled rates of novelty are computed from it.
    """
    novelty = Novelty.learn(past)
    if isinstance(novelty, Undefined):
        return np.full(len(rows), np.nan)
    return ratio_surprise(novelty.scores_of(novelty.features.scale_rows(rows)) / novelty.usual)


def ratio_surprise(ratios: Floats) -> Floats:
    """Ratios as surprises, on the grid of the pooled rates: 0 up to a ratio of 1, then 1 for each `RATIO_STEP`.

    >>> ratio_surprise(np.array([0.5, 1.0, 2.0])).tolist()
    [0.0, 0.0, 10.0]
    """
    surprises: Floats = np.fmax(ratios - 1, 0.0) / RATIO_STEP
    return surprises


def novelty_rates(novelty: Novelty, pooled_rates: PooledRates) -> Floats:
    """The false alarm rate at each reach of the grid: the largest of a theoretical bound and two pooled rates.

    Of K + 1 exchangeable runs, the last lies farther out than the j-th farthest of the others with probability
    j / (K + 1). It lies r times as far with r^-2.5 of that, if the tail of distances falls at least as fast as x^-2.5.
    The pooled rates are those of novelty alone, and those that `exceedance_rates` shrinks towards all metrics.
    """
    runs = len(novelty.points)
    length = max(each for each in HISTORY_LENGTHS if each <= max(runs, HISTORY_LENGTHS[0]))
    curve = pooled_rates.curves.get(make_curve_key(NOVELTY.name, False, length))
    pooled = pooled_rates.exceedance_rates(NOVELTY.name, False, runs)
    if curve is not None:
        pooled = np.fmax(pooled, (np.array(curve.shares) * curve.seen + 0.5) / (curve.seen + 1.0))
    ratios = 1 + RATIO_STEP * np.array(pooled_rates.grid)
    return np.fmax(pooled, ratios**-TAIL_EXPONENT * novelty.runs_beyond_usual / (runs + 1))


class _LatestRun:
    """The newest run among the others, prepared to be scored again quickly with a few features changed."""

    def __init__(self, novelty: Novelty, past: Past) -> None:
        self.novelty = novelty
        self.values = latest_values(past.values)
        self.feature_of_metric = np.full(len(past.metrics), -1, np.intp)
        self.feature_of_metric[novelty.features.indices] = np.arange(len(novelty.features.indices))
        self.others = novelty.points[:-1]  # a run is not its own neighbour
        squares = square_gaps(novelty.points[-1], self.others, novelty.cap)
        self.present = np.isfinite(squares)
        self.squares = np.where(self.present, squares, 0.0)
        self.sums, self.shared = self.squares.sum(axis=1), self.present.sum(axis=1).astype(np.float64)

    @property
    def ratio(self) -> float:
        """The ratio of the run without any issue."""
        return float(self._ratios_with(np.zeros(0, np.intp), np.zeros((1, 0)))[0])

    def ratios_after_issues(self, effects: Sequence[AppliedEffect]) -> Iterator[tuple[IssueId, float]]:
        """The issues at all severities, and the ratio after each."""
        for effect in effects:
            is_feature = self.feature_of_metric[effect.metric_indices] >= 0
            metric_indices = effect.metric_indices[is_feature]
            before, after = self.values[metric_indices], effect.values[:, is_feature]
            values = np.concatenate([before + severity * (after - before) for severity in SEVERITIES])
            ratios = self._ratios_with(self.feature_of_metric[metric_indices], values).tolist()
            ids_by_issue = [issue_ids for severity in SEVERITIES for issue_ids in effect.issue_ids_at(severity)]
            for issue_ids, ratio in zip(ids_by_issue, ratios, strict=True):
                yield from ((issue, ratio) for issue in issue_ids)
        yield from self._ratios_after_widespread(effects)

    def _ratios_after_widespread(self, effects: Sequence[AppliedEffect]) -> Iterator[tuple[IssueId, float]]:
        """The same for issues that affect all columns at once, each too mild to show in one column alone."""
        parts_by_issue: dict[str, list[tuple[npt.NDArray[np.intp], Floats]]] = {}
        for effect in effects:
            is_feature = self.feature_of_metric[effect.metric_indices] >= 0
            for issue, after in zip(effect.issues, effect.values[:, is_feature], strict=True):
                parts_by_issue.setdefault(issue, []).append((effect.metric_indices[is_feature], after))
        columns = tuple(dict.fromkeys(each.column for each in effects if each.column))[:MAX_WIDESPREAD_COLUMNS]
        for issue, parts in parts_by_issue.items():
            if len(parts) < 2:
                continue
            metric_indices, after = (np.concatenate(each) for each in zip(*parts, strict=True))
            before = self.values[metric_indices]
            values = np.array([before + severity * (after - before) for severity in WIDESPREAD_SEVERITIES])
            ratios = self._ratios_with(self.feature_of_metric[metric_indices], values).tolist()
            for severity, ratio in zip(WIDESPREAD_SEVERITIES, ratios, strict=True):
                yield from (((column, f"{severity:g} x {issue} everywhere"), ratio) for column in columns)

    def _ratios_with(self, indices: npt.NDArray[np.intp], values: Floats) -> Floats:
        """The ratios of the run if the features at `indices` had these values (a row for each issue).

        Only the gaps of these features are computed again: they replace their part in the sums of the whole run.
        """
        model = self.novelty
        with np.errstate(over="ignore"):
            scaled = (values - model.features.low[indices]) / model.features.width[indices]
        scaled = np.where(np.isfinite(scaled), scaled, np.nan)
        new_squares = square_gaps(scaled[:, None], self.others[:, indices], model.cap)
        present = np.isfinite(new_squares)
        sums = self.sums - self.squares[:, indices].sum(axis=1) + np.where(present, new_squares, 0.0).sum(axis=2)
        shared = self.shared - self.present[:, indices].sum(axis=1) + present.sum(axis=2)
        distances = PairwiseGaps(sums, shared, len(model.features.indices)).distances
        ratios = aggregate_nearest(distances, model.neighbours, model.aggregate) / model.usual
        return np.where(np.isfinite(ratios), ratios, 0.0)
