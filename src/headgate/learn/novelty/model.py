"""How novel a batch is: its distance from the nearest runs of its table, and which metrics make it so far."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from headgate.learn.metric_traits import Measure
from headgate.learn.novelty.features import FEWEST, GRAIN, PAPER, Features, left_out_widths
from headgate.learn.novelty.neighbours import ENDLESS, Aggregate, apart, leave_one_out, nearest, squared_gaps
from headgate.learn.past import Past, numbers
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome, Undefined

Floats = npt.NDArray[np.float64]
Form = Literal["headgate", "paper"]

NOVELTY = MetricKey("novelty")
NEIGHBOURS = 5
CONTAMINATION = 0.01
CAP = 5.0  # widths of its past: however far one feature goes, it counts for no more
USUAL = 0.9  # the share of runs that lie no farther from their neighbours than is called usual
FLOOR = 4.0  # what is called usual at least, where hardly anything ever varied


@dataclass(frozen=True, slots=True, eq=False)
class Novelty:
    """The runs of a table as points, and how far each lies from its nearest neighbours (Redyuk et al. 2021).

    `scores` are those distances, each run against the others, which also set the scale that it is measured on.
    `threshold` is their (1 - contamination) percentile, as in the paper's Algorithm 1. `usual` is the score that nine
    runs in ten do not exceed: the unit of `ratio`. `rarer` is how many runs do, that one included.
    """

    measures: tuple[Measure, ...]
    features: Features
    points: Floats
    scores: Floats
    neighbours: int
    how: Aggregate
    cap: float
    usual: float
    rarer: int
    contamination: float

    @classmethod
    def learn(
        cls,
        past: Past,
        *,
        neighbours: int = NEIGHBOURS,
        features: Collection[str] | None = None,
        contamination: float = CONTAMINATION,
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
        how = _checked(neighbours, contamination, form, aggregate)
        plain = form == "paper"
        names = PAPER if features is None and plain else features
        if len(past) < FEWEST:
            return Undefined(f"{len(past)} accepted runs of {FEWEST} that it takes")
        chosen = Features.of(past.values, past.measures, names, 0.0 if plain else GRAIN)
        if not len(chosen.places):
            return Undefined("no metric is in all of the newest runs")
        points = chosen.scaled(past.values)
        points = points[np.isfinite(points).mean(axis=1) >= 0.5]  # what is nearly empty is near to everything
        cap = ENDLESS if plain else CAP
        widths = None if plain else left_out_widths(points, chosen.grain)
        scores = leave_one_out(points, neighbours, how, cap, widths)
        rank = math.ceil(USUAL * len(scores))
        usual = max(float(np.sort(scores)[rank - 1]), np.finfo(float).tiny if plain else FLOOR)
        share = contamination if plain else adapted(contamination, len(scores))
        rarer = len(scores) + 1 - rank
        return cls(past.measures, chosen, points, scores, neighbours, how, cap, usual, rarer, share)

    @property
    def keys(self) -> tuple[MetricKey, ...]:
        """The metrics that are compared."""
        return tuple(self.measures[place].key for place in self.features.places)

    @property
    def threshold(self) -> float:
        """The score beyond which the paper calls a batch an outlier."""
        return float(np.percentile(self.scores, 100 * (1 - self.contamination)))

    def point(self, outcomes: Mapping[MetricKey, Outcome]) -> Floats:
        """A batch among the runs; NaN where it has no value."""
        found = numbers({key: outcomes[key] for key in self.keys if key in outcomes})
        row = np.full(len(self.measures), np.nan)
        row[self.features.places] = [found.get(key, np.nan) for key in self.keys]
        return self.features.scaled(row)

    def score(self, outcomes: Mapping[MetricKey, Outcome]) -> float:
        """The average distance of a batch to its nearest runs; 0 if it has none of the metrics."""
        return float(self.scores_of(self.point(outcomes)[None])[0])

    def scores_of(self, points: Floats) -> Floats:
        """The scores of several batches, given as points."""
        found = nearest(apart(points, self.points, self.cap).distances, self.neighbours, self.how)
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
        distances = apart(point[None], self.points, self.cap).distances[0]
        near = self.points[np.argsort(distances, kind="stable")[: self.neighbours]]
        parts = np.nan_to_num(squared_gaps(point, near, self.cap)).sum(axis=0)
        if not parts.sum() > 0:
            return ()
        shares = parts / parts.sum()
        order = np.argsort(-shares, kind="stable")
        return tuple((self.keys[at], float(shares[at])) for at in order.tolist() if shares[at] > 0)

    def columns(self, outcomes: Mapping[MetricKey, Outcome]) -> tuple[tuple[str, float], ...]:
        """The same by column, largest first; "" is the table as a whole."""
        found: dict[str, float] = {}
        for key, share in self.contributions(outcomes):
            label = key.columns[0] if key.columns else ""
            found[label] = found.get(label, 0.0) + share
        return tuple(sorted(found.items(), key=lambda each: -each[1]))


def adapted(contamination: float, runs: int) -> float:
    """The contamination that so many runs can tell: of K + 1 runs that are alike, one is the farthest.

    >>> adapted(0.01, 9), adapted(0.01, 400)
    (0.1, 0.01)
    """
    return max(contamination, 1 / (runs + 1))


def _checked(neighbours: int, contamination: float, form: str, aggregate: str) -> Aggregate:
    if neighbours < 1:
        raise MisuseError(f"a batch has {neighbours} neighbours.", hint="Write neighbours=5.")
    if not 0 <= contamination < 1:
        raise MisuseError(f"contamination is a share of runs, not {contamination}.", hint="Write contamination=0.01.")
    if form not in ("headgate", "paper"):
        raise MisuseError(f"there is no form {form!r}.", hint='Write form="headgate" or form="paper".')
    if aggregate not in list(Aggregate):
        raise MisuseError(f"there is no aggregate {aggregate!r}.", hint=f"There are {', '.join(Aggregate)}.")
    return Aggregate(aggregate)
