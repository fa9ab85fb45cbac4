"""Some of a column's texts, for learners that must look at values. A gate lets them go before it records a run."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import ColumnMetric
from headgate.metrics.base.registry import metric
from headgate.metrics.states.sample import Sample
from headgate.values.outcome import Measured, Outcome
from headgate.values.schema import TEXT

MOST = 200


@metric
class ValueSample(ColumnMetric[Sample], frozen=True):
    """|kept|, of at most 200 different values: those with the smallest hashes, whatever the order of the rows."""

    name: ClassVar = "value_sample"
    state: ClassVar = Sample
    folded: ClassVar = "value_sample"
    accepts: ClassVar = TEXT
    additive: ClassVar = True

    def fold(self, batch: ColumnBatch) -> Sample:
        return Sample.of(batch.tally, MOST)

    def measure(self, state: Sample) -> Outcome:
        return Measured(float(len(state.values)))
