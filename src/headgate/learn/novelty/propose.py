"""The novelty of a batch as proposals for the one selection: a limit, its rate of false alarms, what it catches."""

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
"""How severe an issue is that befalls all columns at once: such as single metrics do not see."""
MAX_WIDESPREAD_COLUMNS = 4  # columns that such an issue counts for, which is weight enough
RATIO_STEP = 0.1  # of a ratio, the unit of surprise: limits are wanted between 1 and 2 more than anywhere
TAIL_EXPONENT = 2.5  # the power with which the heaviest tail that is reckoned with falls (docs/methods/novelty.md)


def propose_novelty(
    novelty: Novelty, past: Past, effects: Sequence[AppliedEffect], pooled_rates: PooledRates
) -> list[Proposal]:
    """For each set of issues that some limit on the novelty catches, the cheapest such limit.

    None is so low that it would hold the newest run as it is: that run tells nothing about issues there.
    """
    latest_run = _LatestRun(novelty, past)
    issue_ratios = list(latest_run.ratios_after_issues(effects))
    sorted_ratios = np.sort([ratio for _, ratio in issue_ratios])
    note = f"{len(novelty.points)} runs, {len(novelty.features.indices)} metrics"
    proposals, most_caught = [], 0
    for reach, rate in sorted(
        zip(pooled_rates.grid, novelty_rates(novelty, pooled_rates).tolist(), strict=True), reverse=True
    ):
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
    """How surprising the values of next batches (rows, in the order of the past's measures) are, on the grid of tails.

    NaN for all where the past is too short. This is what evidence about novelty counts.
    """
    novelty = Novelty.learn(past)
    if isinstance(novelty, Undefined):
        return np.full(len(rows), np.nan)
    return ratio_surprise(novelty.scores_of(novelty.features.scale_rows(rows)) / novelty.usual)


def ratio_surprise(ratios: Floats) -> Floats:
    """Ratios as reaches of the grid: 0 up to a ratio of 1, then a tenth for each unit.

    >>> ratio_surprise(np.array([0.5, 1.0, 2.0])).tolist()
    [0.0, 0.0, 10.0]
    """
    found: Floats = np.fmax(ratios - 1, 0.0) / RATIO_STEP
    return found


def novelty_rates(novelty: Novelty, pooled_rates: PooledRates) -> Floats:
    """The stated rate of false alarms at each reach of the grid: what theory bounds, or what was seen, if that is more.

    Among K + 1 exchangeable runs the last lies farther out than the j-th farthest of the others in j of K + 1 cases; r
    times as far, if the tail of distances falls at least as fast as x^-2.5, in r^-2.5 as many. What was seen is taken
    as it is, and as `tails` sees it beside all metrics, whichever is more.
    """
    runs = len(novelty.points)
    length = max(each for each in HISTORY_LENGTHS if each <= max(runs, HISTORY_LENGTHS[0]))
    curve = pooled_rates.curves.get(make_curve_key(NOVELTY.name, False, length))
    pooled = pooled_rates.exceedance_rates(NOVELTY.name, False, runs)
    if curve is not None:
        pooled = np.fmax(pooled, (np.array(curve.shares) * curve.seen + 0.5) / (curve.seen + 1.0))
    ratios = 1 + RATIO_STEP * np.array(pooled_rates.grid)
    return np.fmax(pooled, ratios**-TAIL_EXPONENT * novelty.runs_beyond_usual / (runs + 1))


def _milder_issue_ids(severity: float, issue_ids: tuple[IssueId, ...]) -> tuple[IssueId, ...]:
    return issue_ids if severity == 1 else tuple((column, f"{severity:g} x {issue}") for column, issue in issue_ids)


class _LatestRun:
    """The newest run against the others, ready to be scored again with a few features changed."""

    def __init__(self, novelty: Novelty, past: Past) -> None:
        self.novelty = novelty
        self.values = latest_values(past.values)
        self.feature_of_metric = np.full(len(past.metrics), -1, np.intp)
        self.feature_of_metric[novelty.features.indices] = np.arange(len(novelty.features.indices))
        self.others = novelty.points[:-1]  # a run is no neighbour of its own
        squares = square_gaps(novelty.points[-1], self.others, novelty.cap)
        self.present = np.isfinite(squares)
        self.squares = np.where(self.present, squares, 0.0)
        self.sums, self.shared = self.squares.sum(axis=1), self.present.sum(axis=1).astype(np.float64)

    @property
    def ratio(self) -> float:
        """As it is."""
        return float(self._ratios_with(np.zeros(0, np.intp), np.zeros((1, 0)))[0])

    def ratios_after_issues(self, effects: Sequence[AppliedEffect]) -> Iterator[tuple[IssueId, float]]:
        """The issues, and the ratio after each."""
        for each in effects:
            is_feature = self.feature_of_metric[each.metric_indices] >= 0
            before, indices = (
                self.values[each.metric_indices[is_feature]],
                self.feature_of_metric[each.metric_indices[is_feature]],
            )
            values = np.concatenate([before + share * (each.values[:, is_feature] - before) for share in SEVERITIES])
            full_ids = each.issue_ids
            issue_ids = [_milder_issue_ids(share, befallen) for share in SEVERITIES for befallen in full_ids]
            for befallen, ratio in zip(issue_ids, self._ratios_with(indices, values).tolist(), strict=True):
                yield from ((issue, ratio) for issue in befallen)
        yield from self._ratios_after_widespread(effects)

    def _ratios_after_widespread(self, effects: Sequence[AppliedEffect]) -> Iterator[tuple[IssueId, float]]:
        """Issues that befall all columns at once, each too mild to be seen in one of them alone."""
        parts_by_issue: dict[str, list[tuple[npt.NDArray[np.intp], Floats]]] = {}
        for each in effects:
            is_feature = self.feature_of_metric[each.metric_indices] >= 0
            for issue, after in zip(each.issues, each.values[:, is_feature], strict=True):
                parts_by_issue.setdefault(issue, []).append((each.metric_indices[is_feature], after))
        columns = tuple(dict.fromkeys(each.column for each in effects if each.column))[:MAX_WIDESPREAD_COLUMNS]
        for issue, held in parts_by_issue.items():
            if len(held) < 2:
                continue
            metric_indices, after = (np.concatenate(each) for each in zip(*held, strict=True))
            before = self.values[metric_indices]
            values = np.array([before + share * (after - before) for share in WIDESPREAD_SEVERITIES])
            for share, ratio in zip(
                WIDESPREAD_SEVERITIES,
                self._ratios_with(self.feature_of_metric[metric_indices], values).tolist(),
                strict=True,
            ):
                yield from (((column, f"{share:g} x {issue} everywhere"), ratio) for column in columns)

    def _ratios_with(self, indices: npt.NDArray[np.intp], values: Floats) -> Floats:
        """With these features of these values (a row for each issue): only their gaps are reckoned anew."""
        model = self.novelty
        with np.errstate(over="ignore"):
            scaled = (values - model.features.low[indices]) / model.features.width[indices]
        scaled = np.where(np.isfinite(scaled), scaled, np.nan)
        new_squares = square_gaps(scaled[:, None], self.others[:, indices], model.cap)
        present = np.isfinite(new_squares)
        sums = self.sums - self.squares[:, indices].sum(axis=1) + np.where(present, new_squares, 0.0).sum(axis=2)
        shared = self.shared - self.present[:, indices].sum(axis=1) + present.sum(axis=2)
        distances = PairwiseGaps(sums, shared, len(model.features.indices)).distances
        found = aggregate_nearest(distances, model.neighbours, model.aggregate) / model.usual
        return np.where(np.isfinite(found), found, 0.0)
