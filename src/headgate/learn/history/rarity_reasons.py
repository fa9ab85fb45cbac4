"""Tell why a column is too rare: the metrics that make it so, unless fewer rows or more nulls explain it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.learn.column_kinds import count_key
from headgate.learn.history.rarity import NOTABLE, RANKS, Rarities, is_rarity
from headgate.learn.history.usual_ranges import UsualRanges
from headgate.metrics.distances.registry import distances
from headgate.values.expectation import Expectation, Judgement, Level, Source, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome
from headgate.values.verdict import Verdict

Floats = npt.NDArray[np.float64]

_SIZE, _COMPLETENESS, _DISTINCT = "size", "completeness", "approx_count_distinct"
_FAR_FEWER = 3.0  # times fewer rows, which are unlike others by chance
_FEW_VALUES = 0.2  # different values for each row, below which the number of rows does not change theirs
_ROWS_MARGIN = 1.5  # how much farther than the number of rows, as a factor, a metric moves that it explains


def tell_reasons(
    rarities: Rarities, verdict: Verdict, outcomes: Mapping[MetricKey, Outcome], *, skips_explained: bool = True
) -> Verdict:
    """The verdict in which a column that is too rare fails for the metrics that make it so.

    If the number of rows fails or the column is empty in part, and that explains the rest, it is skipped.

    Args:
        rarities: How rare values are.
        verdict: The verdict.
        outcomes: What was measured of the batch.
        skips_explained: False if every such column fails for its own metrics.
    """
    if not any(_is_too_rare(each) for each in verdict.judgements):
        return verdict
    failed = frozenset(each.expectation.metric for each in verdict.failures if each.expectation.level is Level.ERROR)
    reasons = _Reasons(rarities, rarities.arrange(outcomes), failed, outcomes, skips_explained)
    told = [reasons.explain(each) if _is_too_rare(each) else [each] for each in verdict.judgements]
    return Verdict(tuple(each for some in told for each in some))


def _is_too_rare(judgement: Judgement) -> bool:
    is_learned = judgement.expectation.source is Source.HISTORY
    return is_learned and judgement.status is Status.FAIL and is_rarity(judgement.expectation.metric)


@dataclass(frozen=True)
class _Reasons:
    """A batch, its values in the order of the metrics, and the metrics that failed."""

    rarities: Rarities
    values: Floats
    failed: frozenset[MetricKey]
    outcomes: Mapping[MetricKey, Outcome]
    skips_explained: bool = True

    def explain(self, judgement: Judgement) -> list[Judgement]:
        """The judgements of the metrics that make a column rare, besides those that failed."""
        causes = self._find_causes(judgement.expectation.metric.columns[0]) if self.skips_explained else []
        if causes and self._is_explained(judgement.expectation, causes):
            named = " and ".join(str(self.rarities.past.metrics[at].key) for at in causes)
            why = f"{judgement.reason}; {named} explains it"
            return [msgspec.structs.replace(judgement, status=Status.SKIP, reason=why)]
        reasons = list(self._judge_metrics(judgement.expectation))
        return [each for each in reasons if each.expectation.metric not in self.failed] if reasons else [judgement]

    def _find_causes(self, column: str) -> list[int]:
        """The row count and the nulls of a column, if they failed."""
        keys = {MetricKey(_SIZE), MetricKey(_COMPLETENESS, (column,))} & self.failed
        return [at for at, each in enumerate(self.rarities.past.metrics) if each.key in keys]

    def _is_explained(self, limit: Expectation, causes: Sequence[int]) -> bool:
        """Whether the column is not too rare without what another number of rows with a value explains."""
        farthest = max(map(self._find_move, causes))
        is_far_fewer = any(self._has_far_fewer_rows(at) for at in causes)
        indices = map(int, self.rarities.columns[limit.metric.columns[0]])
        steady = [at for at in indices if at not in causes and not self._is_consequence(at, farthest, is_far_fewer)]
        rarities = self.rarities.measure(self._reduce_noise(causes))
        return limit.predicate.holds(float(self.rarities.add_up(rarities[steady])))

    def _judge_metrics(self, limit: Expectation) -> Iterator[Judgement]:
        """The judgements of the metrics that make a column rare, the rarest first.

        A false alarm is as frequent as of the limit, which decides.
        """
        rarities, ranges = self.rarities.measure(self.values), UsualRanges(self.rarities)
        rarest = sorted(self.rarities.columns[limit.metric.columns[0]], key=lambda at: -rarities[at])[: len(RANKS)]
        for index in rarest:
            found = ranges.find_at(int(index), float(self.values[index])) if rarities[index] > NOTABLE else None
            if found is not None:
                expectation = msgspec.structs.replace(found.expectation, false_alarm=limit.false_alarm)
                yield expectation.judge(self.outcomes[expectation.metric])

    def _reduce_noise(self, causes: Sequence[int]) -> Floats:
        """The values nearer to their forecasts, as far as fewer rows are noisier than as many as usual."""
        centres = self.rarities.forecast.centre.mean(axis=0)
        shares = [float(self.values[at] / centres[at]) for at in causes if centres[at]]
        reduced: Floats = centres + (self.values - centres) * math.sqrt(max(min([1.0, *shares]), 0.0))
        return reduced

    def _has_far_fewer_rows(self, index: int) -> bool:
        """Whether it is the number of rows, and so small that rows are unlike others by chance."""
        is_size = not self.rarities.past.metrics[index].column
        return is_size and _FAR_FEWER * float(self.values[index]) < self._find_centre(index)

    def _is_consequence(self, index: int, farthest: float, is_far_fewer: bool) -> bool:
        """Whether another number of rows with a value, which moved so far, explains the value of a metric.

        Far fewer rows are farther from those of the run before by chance. They do not explain that one of a few values
        is gone, or that one is new.
        """
        traits = self.rarities.past.metrics[index]
        if traits.is_distance:
            return is_far_fewer and not distances()[traits.key.name].of_all
        if traits.key.name == _DISTINCT and self._find_centre(index) < _FEW_VALUES * self._find_rows(traits.column):
            return False
        return traits.moves_with_rows and self._find_move(index) <= farthest + math.log(_ROWS_MARGIN)

    def _find_rows(self, column: str) -> float:
        """How many values a column could have."""
        index_of_key = {each.key: at for at, each in enumerate(self.rarities.past.metrics)}
        size = index_of_key.get(count_key(column), index_of_key.get(MetricKey(_SIZE)))
        return 0.0 if size is None else self._find_centre(size)

    def _find_centre(self, index: int) -> float:
        """The value that is expected of a metric."""
        return float(self.rarities.forecast.centre[:, index].mean())

    def _find_move(self, index: int) -> float:
        """How far a value lies from its forecast, as the logarithm of a factor; infinitely far from or at 0."""
        centre = self._find_centre(index)
        ratio = float(self.values[index]) / centre if centre else 0.0
        return abs(math.log(ratio)) if 0 < ratio < math.inf else math.inf
