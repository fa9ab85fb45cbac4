"""Measure how novel a batch is: its distance from the nearest runs of its table, and which metrics cause it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from headgate.learn.metric_traits import MetricTraits
from headgate.learn.novelty.features import (
    MIN_NOVELTY_RUNS,
    NOISE_FLOOR,
    PAPER_FEATURES,
    Features,
    leave_one_out_widths,
)
from headgate.learn.novelty.neighbours import (
    NO_CAP,
    Aggregate,
    aggregate_nearest,
    leave_one_out_scores,
    pairwise_gaps,
    square_gaps,
)
from headgate.learn.past import Past, numeric_values
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome, Undefined

Floats = npt.NDArray[np.float64]
Form = Literal["headgate", "paper"]

NOVELTY = MetricKey("novelty")
DEFAULT_NEIGHBOURS = 5
DEFAULT_CONTAMINATION = 0.01
FEATURE_CAP = 5.0  # the largest gap of one feature that counts, in widths of its past
USUAL_QUANTILE = 0.9  # the quantile of the runs' scores that is the usual score
MIN_USUAL_SCORE = 4.0  # the smallest usual score, for tables that hardly vary


@dataclass(frozen=True, slots=True, eq=False)
class Novelty:
    """The runs of a table as points, and how far each lies from its nearest neighbours (Redyuk et al. 2021).

    `scores` are these distances. Each run is compared with the others, and scaled by the others. `threshold` is the
    (1 - contamination) percentile of the scores, as in Algorithm 1 of the paper. `usual` is the score that nine in ten
    runs do not exceed; it is the unit of `ratio`. `runs_beyond_usual` is the number of runs with this score or a higher
    one.
    """

    metrics: tuple[MetricTraits, ...]
    features: Features
    points: Floats
    scores: Floats
    neighbours: int
    aggregate: Aggregate
    cap: float
    usual: float
    runs_beyond_usual: int
    contamination: float

    @classmethod
    def learn(
        cls,
        past: Past,
        *,
        neighbours: int = DEFAULT_NEIGHBOURS,
        features: Collection[str] | None = None,
        contamination: float = DEFAULT_CONTAMINATION,
        form: Form = "headgate",
        aggregate: str = "mean",
    ) -> Novelty | Undefined:
        """Learn from the accepted runs of a table. The result is `Undefined`, with the reason, if that is not possible.

        Args:
            past: The accepted runs; at least 8.
            neighbours: How many of the nearest runs a batch is compared with. Default 5.
            features: The names of the metrics to compare. Default: all, or those of the paper with `form="paper"`.
            contamination: The share of runs that may be outliers, which sets `threshold`. It is at least 1 / (runs + 1)
                unless `form="paper"`. Default 0.01.
            form: `"paper"` scales all runs by one minimum and maximum and caps nothing. `"headgate"` scales each run by
                the others, and caps the gap of a feature.
            aggregate: What the score is of the distances to the neighbours: `"mean"`, `"largest"` or `"median"`.

        >>> import pyarrow as pa, headgate as hg
        >>> runs = [hg.analyze(pa.table({"id": list(range(100 + day % 3))})) for day in range(9)]
        >>> past = Past.of(runs[:8])
        >>> novelty = Novelty.learn(past)
        >>> novelty.ratio(past.outcomes(runs[8])) < 1
        True
        """
        chosen_aggregate = _check_arguments(neighbours, contamination, form, aggregate)
        as_in_paper = form == "paper"
        names = PAPER_FEATURES if features is None and as_in_paper else features
        if len(past) < MIN_NOVELTY_RUNS:
            return Undefined(f"{len(past)} accepted runs of {MIN_NOVELTY_RUNS} that it takes")
        scaled_features = Features.of(
            past.values, past.metrics, names, 0.0 if as_in_paper else NOISE_FLOOR, past.free_ranges
        )
        if not len(scaled_features.indices):
            return Undefined("no metric is in all of the newest runs")
        points = scaled_features.scale_rows(past.values)
        points = points[np.isfinite(points).mean(axis=1) >= 0.5]  # a run with few values would be near every other
        cap = NO_CAP if as_in_paper else FEATURE_CAP
        widths = None if as_in_paper else leave_one_out_widths(points, scaled_features.noise_floor)
        scores = leave_one_out_scores(points, neighbours, chosen_aggregate, cap, widths)
        rank = math.ceil(USUAL_QUANTILE * len(scores))
        usual = max(float(np.sort(scores)[rank - 1]), np.finfo(float).tiny if as_in_paper else MIN_USUAL_SCORE)
        share = contamination if as_in_paper else adapt_contamination(contamination, len(scores))
        runs_beyond_usual = len(scores) + 1 - rank
        return cls(
            past.metrics,
            scaled_features,
            points,
            scores,
            neighbours,
            chosen_aggregate,
            cap,
            usual,
            runs_beyond_usual,
            share,
        )

    @property
    def keys(self) -> tuple[MetricKey, ...]:
        """The metrics by which runs are compared."""
        return tuple(self.metrics[index].key for index in self.features.indices)

    @property
    def threshold(self) -> float:
        """The score beyond which the paper calls a batch an outlier."""
        return float(np.percentile(self.scores, 100 * (1 - self.contamination)))

    def point(self, outcomes: Mapping[MetricKey, Outcome]) -> Floats:
        """A batch as a point of scaled features; NaN where it has no value."""
        values = numeric_values({key: outcomes[key] for key in self.keys if key in outcomes})
        row = np.full(len(self.metrics), np.nan)
        row[self.features.indices] = [values.get(key, np.nan) for key in self.keys]
        return self.features.scale_rows(row)

    def score(self, outcomes: Mapping[MetricKey, Outcome]) -> float:
        """The distance of a batch from its nearest runs (by `aggregate`); 0 if it has none of the metrics."""
        return float(self.scores_of(self.point(outcomes)[None])[0])

    def scores_of(self, points: Floats) -> Floats:
        """The scores of several batches, given as points."""
        distances = pairwise_gaps(points, self.points, self.cap).distances
        scores = aggregate_nearest(distances, self.neighbours, self.aggregate)
        return np.where(np.isfinite(scores), scores, 0.0)

    def ratio(self, outcomes: Mapping[MetricKey, Outcome]) -> float:
        """The score of a batch divided by the usual score of the runs."""
        return self.score(outcomes) / self.usual

    def outcome(self, outcomes: Mapping[MetricKey, Outcome]) -> Outcome:
        """The ratio as the value of the metric `novelty`."""
        if not np.isfinite(self.point(outcomes)).any():
            return Undefined("the batch has none of the metrics that its runs are compared by")
        return Measured(self.ratio(outcomes))

    def contributions(self, outcomes: Mapping[MetricKey, Outcome]) -> tuple[tuple[MetricKey, float], ...]:
        """The share of each metric in the squared distances to the nearest runs, largest first; the sum is 1."""
        point = self.point(outcomes)
        distances = pairwise_gaps(point[None], self.points, self.cap).distances[0]
        nearest = self.points[np.argsort(distances, kind="stable")[: self.neighbours]]
        squares = np.nan_to_num(square_gaps(point, nearest, self.cap)).sum(axis=0)
        if not squares.sum() > 0:
            return ()
        shares = squares / squares.sum()
        order = np.argsort(-shares, kind="stable")
        return tuple((self.keys[index], float(shares[index])) for index in order.tolist() if shares[index] > 0)

    def columns(self, outcomes: Mapping[MetricKey, Outcome]) -> tuple[tuple[str, float], ...]:
        """The contributions added up by column, largest first; "" is the table as a whole."""
        share_of_column: dict[str, float] = {}
        for key, share in self.contributions(outcomes):
            label = key.columns[0] if key.columns else ""
            share_of_column[label] = share_of_column.get(label, 0.0) + share
        return tuple(sorted(share_of_column.items(), key=lambda each: -each[1]))


def adapt_contamination(contamination: float, runs: int) -> float:
    """The contamination, but at least 1 / (runs + 1): of K + 1 similar runs, one is always the farthest.

    >>> adapt_contamination(0.01, 9), adapt_contamination(0.01, 400)
    (0.1, 0.01)
    """
    return max(contamination, 1 / (runs + 1))


def _check_arguments(neighbours: int, contamination: float, form: str, aggregate: str) -> Aggregate:
    if neighbours < 1:
        raise MisuseError(f"a batch has {neighbours} neighbours.", hint="Write neighbours=5.")
    if not 0 <= contamination < 1:
        raise MisuseError(f"contamination is a share of runs, not {contamination}.", hint="Write contamination=0.01.")
    if form not in ("headgate", "paper"):
        raise MisuseError(f"there is no form {form!r}.", hint='Write form="headgate" or form="paper".')
    if aggregate not in list(Aggregate):
        raise MisuseError(f"there is no aggregate {aggregate!r}.", hint=f"There are {', '.join(Aggregate)}.")
    return Aggregate(aggregate)
