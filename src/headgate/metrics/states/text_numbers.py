"""The numbers that are written in the values of a string column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import ColumnMetric
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.quantiles import KllQuantiles, Quantiles
from headgate.metrics.states.types import NUMBER
from headgate.values.schema import TEXT
from headgate.values.state import State

NO_NUMBERS = "no value looks like a number"


class TextNumbers(State, frozen=True, tag="text_number_bins"):
    """Moments and quantiles of the values that look integral or fractional, as `type_counts` tells them.

    The moments are exact but for rounding.
    """

    moments: Moments = Moments()
    quantiles: Quantiles = Quantiles()

    def __add__(self, other: TextNumbers) -> TextNumbers:
        return TextNumbers(self.moments + other.moments, self.quantiles + other.quantiles)

    def is_sound(self) -> bool:
        return self.moments.is_sound() and self.quantiles.is_sound()

    @classmethod
    def merge_all(cls, states: Sequence[TextNumbers]) -> TextNumbers:
        return cls(
            Moments.merge_all([each.moments for each in states]),
            Quantiles.merge_all([each.quantiles for each in states]),
        )


class KllTextNumbers(State, frozen=True, tag="text_numbers"):
    """How earlier versions stored such numbers. Only read."""

    moments: Moments = Moments()
    quantiles: KllQuantiles = KllQuantiles()

    def is_sound(self) -> bool:
        return self.moments.is_sound() and self.quantiles.is_sound()

    def current(self) -> TextNumbers:
        return TextNumbers(self.moments, self.quantiles.current())


class OfTextNumbers(ColumnMetric[TextNumbers], frozen=True):
    """Reads the numbers that are written in the values; white space around one is let pass."""

    state: ClassVar = TextNumbers
    folded: ClassVar = "text_numbers"
    accepts: ClassVar = TEXT

    def fold(self, batch: ColumnBatch) -> TextNumbers:
        texts, weights = batch.distinct_texts
        looks = pc.match_substring_regex(texts.array, NUMBER)
        found = _parse_numbers(texts.array.filter(looks))
        if weights is not None:
            found = np.repeat(found, weights[looks.to_numpy(zero_copy_only=False)])
        # past the range of a double a text has no number
        ordered = np.sort(found[np.isfinite(found)])
        return TextNumbers(Moments.of(ordered), Quantiles.of(ordered))


def _parse_numbers(texts: pa.Array) -> npt.NDArray[np.float64]:
    # not by a cast: Arrow takes neither a plus sign nor what is past the range of a double
    return np.fromiter(map(float, texts.to_pylist()), np.float64, len(texts)) + 0.0
