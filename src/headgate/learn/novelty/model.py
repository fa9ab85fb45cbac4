"""How novel a batch is: its distance from the nearest runs of its table, and which metrics make it so far."""

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
FEATURE_CAP = 5.0  # widths of its past: however far one feature goes, it counts for no more
USUAL_QUANTILE = 0.9  # the share of runs that lie no farther from their neighbours than is called usual
MIN_USUAL_SCORE = 4.0  # what is called usual at least, where hardly anything ever varied


@dataclass(frozen=True, slots=True, eq=False)
class Novelty:
    """The runs of a table as points, and how far each lies from its nearest neighbours (Redyuk et al. 2021).

    `scores` are those distances, each run against the others, which also set the scale that it is measured on.
    `threshold` is their (1 - contamination) percentile, as in the paper's Algorithm 1. `usual` is the score that nine
    runs in ten do not exceed: the unit of `ratio`. `rarer` is how many runs do, that one included.
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
        """From the accepted runs of a table, or why not.

        `features` are names of metrics; without them all that the runs have, in the form of the paper its own.
        `form="paper"` is that: contamination as it is given, one minimum and maximum for all runs, nothing capped.

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
        scaled_features = Features.of(past.values, past.metrics, names, 0.0 if as_in_paper else NOISE_FLOOR)
        if not len(scaled_features.indices):
            return Undefined("no metric is in all of the newest runs")
        points = scaled_features.scale_rows(past.values)
        points = points[np.isfinite(points).mean(axis=1) >= 0.5]  # what is nearly empty is near to everything
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
        """The metrics that are compared."""
        return tuple(self.metrics[place].key for place in self.features.indices)

    @property
    def threshold(self) -> float:
        """The score beyond which the paper calls a batch an outlier."""
        return float(np.percentile(self.scores, 100 * (1 - self.contamination)))

    def point(self, outcomes: Mapping[MetricKey, Outcome]) -> Floats:
        """A batch among the runs; NaN where it has no value."""
        found = numeric_values({key: outcomes[key] for key in self.keys if key in outcomes})
        row = np.full(len(self.metrics), np.nan)
        row[self.features.indices] = [found.get(key, np.nan) for key in self.keys]
        return self.features.scale_rows(row)

    def score(self, outcomes: Mapping[MetricKey, Outcome]) -> float:
        """The average distance of a batch to its nearest runs; 0 if it has none of the metrics."""
        return float(self.scores_of(self.point(outcomes)[None])[0])

    def scores_of(self, points: Floats) -> Floats:
        """The scores of several batches, given as points."""
        found = aggregate_nearest(
            pairwise_gaps(points, self.points, self.cap).distances, self.neighbours, self.aggregate
        )
        return np.where(np.isfinite(found), found, 0.0)

    def ratio(self, outcomes: Mapping[MetricKey, Outcome]) -> float:
        """How many times as far a batch lies from its nearest runs as is usual among them."""
        return self.score(outcomes) / self.usual

    def outcome(self, outcomes: Mapping[MetricKey, Outcome]) -> Outcome:
        """The ratio as the value of the metric `novelty`."""
        if not np.isfinite(self.point(outcomes)).any():
            return Undefined("the batch has none of the metrics that its runs are compared by")
        return Measured(self.ratio(outcomes))

    def contributions(self, outcomes: Mapping[MetricKey, Outcome]) -> tuple[tuple[MetricKey, float], ...]:
        """The share of each metric in the squared distances to the nearest runs, largest first; they add up to 1."""
        point = self.point(outcomes)
        distances = pairwise_gaps(point[None], self.points, self.cap).distances[0]
        near = self.points[np.argsort(distances, kind="stable")[: self.neighbours]]
        squares = np.nan_to_num(square_gaps(point, near, self.cap)).sum(axis=0)
        if not squares.sum() > 0:
            return ()
        shares = squares / squares.sum()
        order = np.argsort(-shares, kind="stable")
        return tuple((self.keys[at], float(shares[at])) for at in order.tolist() if shares[at] > 0)

    def columns(self, outcomes: Mapping[MetricKey, Outcome]) -> tuple[tuple[str, float], ...]:
        """The same by column, largest first; "" is the table as a whole."""
        found: dict[str, float] = {}
        for key, share in self.contributions(outcomes):
            label = key.columns[0] if key.columns else ""
            found[label] = found.get(label, 0.0) + share
        return tuple(sorted(found.items(), key=lambda each: -each[1]))


def adapt_contamination(contamination: float, runs: int) -> float:
    """The contamination that so many runs can tell: of K + 1 runs that are alike, one is the farthest.

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
