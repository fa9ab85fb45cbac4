"""The novelty of a batch as proposals for the one selection: a limit, its rate of false alarms, what it catches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from headgate.learn.issue_effects import MILDER, Damaged
from headgate.learn.novelty.model import NOVELTY, Novelty
from headgate.learn.novelty.neighbours import Apart, nearest, squared_gaps
from headgate.learn.past import Past, newest
from headgate.learn.pooled_rates import LENGTHS, Tails, curve_key
from headgate.values.expectation import Expectation, Source
from headgate.values.outcome import Undefined
from headgate.values.predicate import Between
from headgate.values.proposal import IssueId, Proposal

Floats = npt.NDArray[np.float64]

MILDEST = (0.1, 0.03)
"""How severe an issue is that befalls all columns at once: such as single metrics do not see."""
MANY = 4  # columns that such an issue counts for, which is weight enough
STEP = 0.1  # of a ratio, the unit of surprise: limits are wanted between 1 and 2 more than anywhere
TAIL = 2.5  # the power with which the heaviest tail that is reckoned with falls (docs/methods/novelty.md)


def propose_novelty(novelty: Novelty, past: Past, damage: Sequence[Damaged], tails: Tails) -> list[Proposal]:
    """For each set of issues that some limit on the novelty catches, the cheapest such limit.

    None is so low that it would hold the newest run as it is: that run tells nothing about issues there.
    """
    newest_run = _Newest(novelty, past)
    caught = list(newest_run.damaged(damage))
    beyond = np.sort([ratio for _, ratio in caught])
    note = f"{len(novelty.points)} runs, {len(novelty.features.places)} metrics"
    found, last = [], 0
    for reach, rate in sorted(zip(tails.grid, rates(novelty, tails).tolist(), strict=True), reverse=True):
        high = limit(reach)
        count = len(beyond) - int(np.searchsorted(beyond, high, side="right"))
        if count > last and rate < 1 and newest_run.ratio <= high:
            last = count
            issues = frozenset(issue for issue, ratio in caught if ratio > high)
            expectation = Expectation(NOVELTY, Between(high=high), Source.NOVELTY, false_alarm=rate)
            found.append(Proposal(expectation, issues, note))
    return found


def limit(reach: float) -> float:
    """The ratio at a reach of the grid, rounded upwards.

    >>> limit(10.0), limit(1e-6)
    (2.0, 1.01)
    """
    return math.ceil(round(100 * (1 + STEP * reach), 6)) / 100


def surprises(past: Past, rows: Floats) -> Floats:
    """How surprising the values of next batches (rows, in the order of the past's measures) are, on the grid of tails.

    NaN for all where the past is too short. This is what evidence about novelty counts.
    """
    novelty = Novelty.learn(past)
    if isinstance(novelty, Undefined):
        return np.full(len(rows), np.nan)
    return surprise(novelty.scores_of(novelty.features.scaled(rows)) / novelty.usual)


def surprise(ratios: Floats) -> Floats:
    """Ratios as reaches of the grid: 0 up to a ratio of 1, then a tenth for each unit.

    >>> surprise(np.array([0.5, 1.0, 2.0])).tolist()
    [0.0, 0.0, 10.0]
    """
    found: Floats = np.fmax(ratios - 1, 0.0) / STEP
    return found


def rates(novelty: Novelty, tails: Tails) -> Floats:
    """The stated rate of false alarms at each reach of the grid: what theory bounds, or what was seen, if that is more.

    Among K + 1 exchangeable runs the last lies farther out than the j-th farthest of the others in j of K + 1 cases; r
    times as far, if the tail of distances falls at least as fast as x^-2.5, in r^-2.5 as many. What was seen is taken
    as it is, and as `tails` sees it beside all metrics, whichever is more.
    """
    runs = len(novelty.points)
    length = max(each for each in LENGTHS if each <= max(runs, LENGTHS[0]))
    curve = tails.curves.get(curve_key(NOVELTY.name, False, length))
    seen = tails.of(NOVELTY.name, False, runs)
    if curve is not None:
        seen = np.fmax(seen, (np.array(curve.shares) * curve.seen + 0.5) / (curve.seen + 1.0))
    farther = 1 + STEP * np.array(tails.grid)
    return np.fmax(seen, farther**-TAIL * novelty.rarer / (runs + 1))


def _milder(share: float, befallen: tuple[IssueId, ...]) -> tuple[IssueId, ...]:
    return befallen if share == 1 else tuple((column, f"{share:g} x {issue}") for column, issue in befallen)


class _Newest:
    """The newest run against the others, ready to be scored again with a few features changed."""

    def __init__(self, novelty: Novelty, past: Past) -> None:
        self.novelty = novelty
        self.values = newest(past.values)
        self.feature = np.full(len(past.measures), -1, np.intp)
        self.feature[novelty.features.places] = np.arange(len(novelty.features.places))
        self.others = novelty.points[:-1]  # a run is no neighbour of its own
        squares = squared_gaps(novelty.points[-1], self.others, novelty.cap)
        self.there = np.isfinite(squares)
        self.squares = np.where(self.there, squares, 0.0)
        self.sums, self.shared = self.squares.sum(axis=1), self.there.sum(axis=1).astype(np.float64)

    @property
    def ratio(self) -> float:
        """As it is."""
        return float(self._ratios(np.zeros(0, np.intp), np.zeros((1, 0)))[0])

    def damaged(self, damage: Sequence[Damaged]) -> Iterator[tuple[IssueId, float]]:
        """The issues, and the ratio after each."""
        for each in damage:
            told = self.feature[each.places] >= 0
            before, places = self.values[each.places[told]], self.feature[each.places[told]]
            values = np.concatenate([before + share * (each.values[:, told] - before) for share in MILDER])
            whole = each.ids
            ids = [_milder(share, befallen) for share in MILDER for befallen in whole]
            for befallen, ratio in zip(ids, self._ratios(places, values).tolist(), strict=True):
                yield from ((issue, ratio) for issue in befallen)
        yield from self._everywhere(damage)

    def _everywhere(self, damage: Sequence[Damaged]) -> Iterator[tuple[IssueId, float]]:
        """Issues that befall all columns at once, each too mild to be seen in one of them alone."""
        parts: dict[str, list[tuple[npt.NDArray[np.intp], Floats]]] = {}
        for each in damage:
            told = self.feature[each.places] >= 0
            for issue, after in zip(each.issues, each.values[:, told], strict=True):
                parts.setdefault(issue, []).append((each.places[told], after))
        columns = tuple(dict.fromkeys(each.column for each in damage if each.column))[:MANY]
        for issue, held in parts.items():
            if len(held) < 2:
                continue
            places, after = (np.concatenate(each) for each in zip(*held, strict=True))
            before = self.values[places]
            values = np.array([before + share * (after - before) for share in MILDEST])
            for share, ratio in zip(MILDEST, self._ratios(self.feature[places], values).tolist(), strict=True):
                yield from (((column, f"{share:g} x {issue} everywhere"), ratio) for column in columns)

    def _ratios(self, places: npt.NDArray[np.intp], values: Floats) -> Floats:
        """With these features of these values (a row for each issue): only their gaps are reckoned anew."""
        model = self.novelty
        with np.errstate(over="ignore"):
            scaled = (values - model.features.low[places]) / model.features.width[places]
        scaled = np.where(np.isfinite(scaled), scaled, np.nan)
        new = squared_gaps(scaled[:, None], self.others[:, places], model.cap)
        there = np.isfinite(new)
        sums = self.sums - self.squares[:, places].sum(axis=1) + np.where(there, new, 0.0).sum(axis=2)
        shared = self.shared - self.there[:, places].sum(axis=1) + there.sum(axis=2)
        distances = Apart(sums, shared, len(model.features.places)).distances
        found = nearest(distances, model.neighbours, model.how) / model.usual
        return np.where(np.isfinite(found), found, 0.0)
