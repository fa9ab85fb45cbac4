"""The share of values in which a regular expression is found."""

from __future__ import annotations

import re
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import NO_VALUES, ColumnMetric, FailingRows, too_few
from headgate.metrics.base.regex_cost import refuse_slow_regex
from headgate.metrics.base.registry import metric
from headgate.metrics.states.counts import MatchCount
from headgate.values.errors import BadPredicate, refuse_surrogates
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.predicate import Predicate
from headgate.values.schema import TEXT

_ONE_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")  # Java has no such thing, and failing rows are found by Java


@metric
class PatternMatch(ColumnMetric[MatchCount], frozen=True):
    """|{v : pattern is found in v}| / |{v : v is present}| in RE2 syntax; `^...$` for the whole value.

    A null is not a mismatch: completeness counts nulls, this counts shapes.
    """

    pattern: str
    name: ClassVar = "pattern_match"
    share: ClassVar = True
    state: ClassVar = MatchCount
    accepts: ClassVar = TEXT
    fold_parameters: ClassVar = ("pattern",)

    def __post_init__(self) -> None:
        refuse_surrogates(self.pattern)
        if _ONE_BYTE.search(self.pattern):
            raise BadPredicate(
                f"{self.pattern!r}: \\C, a single byte, is no part of a text.", hint="Write (?s:.) instead."
            )
        try:
            pc.match_substring_regex(pa.array([""]), self.pattern)
        except pa.ArrowInvalid as error:
            raise BadPredicate(
                f"{self.pattern!r} is no regular expression of RE2: {error}.",
                hint="Look-around and back-references cannot be had: they make matching slow.",
            ) from None
        refuse_slow_regex(self.pattern)

    def fold(self, batch: ColumnBatch) -> MatchCount:
        texts, weights = batch.distinct_texts
        found = pc.match_substring_regex(texts.array, self.pattern).to_numpy(zero_copy_only=False)
        matched = np.count_nonzero(found) if weights is None else weights[found].sum()
        return MatchCount(matched=int(matched), seen=batch.present)

    def measure(self, state: MatchCount) -> Outcome:
        return Measured(state.matched / state.seen) if state.seen else Undefined(NO_VALUES)

    def failing_rows(self, predicate: Predicate, value: float) -> FailingRows | None:
        if not too_few(predicate, value):
            return None
        return FailingRows(self.inputs, unlike=self.pattern, message=f"{self.column} does not match {self.pattern}")
