"""Defines the rule inferred for a column: its patterns, their regular expression, and the test of the next batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headgate.display.blocks import Fact, Facts
from headgate.display.page import Page, Paged
from headgate.learn.patterns.segments import PatternSegment
from headgate.metrics.pattern_match import PatternMatch
from headgate.stats.hypothesis import least_rejected
from headgate.values.errors import MisuseError
from headgate.values.expectation import Expectation, Level, Source
from headgate.values.predicate import Between

SIGNIFICANCE = 0.01


class Branch(msgspec.Struct, frozen=True):
    """One alternative of a rule, and the share of the training values that follow it."""

    segments: tuple[PatternSegment, ...]
    share: float = 1.0

    def __str__(self) -> str:
        return "".join(map(str, self.segments))

    @property
    def body(self) -> str:
        return "".join(segment.body for segment in self.segments)


class PatternRule(Paged, msgspec.Struct, frozen=True):
    """The pattern that the next values of a column should follow. `str()` is the pattern, in the notation of the paper.

    Of the `seen` training values, `outside` do not follow it. `alarm` is the expected false positive rate, as the
    method estimates it. `miss` is the share of the lake's columns that would pass in place of this one (0 if the
    method does not estimate it). `test` is what breaks the rule: "any" value outside, or ("fisher") significantly more
    values outside than in training. With "fisher", a batch may always have the share `tolerated` outside: without it,
    columns like this one would have too many false positives.
    """

    branches: tuple[Branch, ...]
    seen: int
    outside: int
    alarm: float
    miss: float
    test: Literal["any", "fisher"] = "fisher"
    significance: float = SIGNIFICANCE
    tolerated: float = 0.0

    def __str__(self) -> str:
        return " | ".join(str(branch) or "(empty)" for branch in self.branches)

    __repr__ = msgspec.Struct.__repr__  # all fields; Paged would print the page

    def page(self) -> Page:
        followed = f"{self.seen - self.outside:,} of {self.seen:,} training values follow it"
        few = f"significantly more values outside than in training, at {self.significance:g}"
        facts = [
            Fact("Regex", self.regex),
            Fact("Learned", f"{followed}; {self.coverage:,} columns of the lake speak for it"),
            Fact("Broken by", "any value outside" if self.test == "any" else few),
            Fact("False alarms", f"{self.alarm:.2%} are expected"),
        ]
        return Page(self.pattern, blocks=(Facts(tuple(facts)),))

    @property
    def pattern(self) -> str:
        return str(self)

    @property
    def regex(self) -> str:
        """The regular expression for RE2, Java and `re.fullmatch`; with `re.match`, `$` would allow a final newline."""
        if len(self.branches) == 1:
            return f"^{self.branches[0].body}$"
        return f"^(?:{'|'.join(branch.body for branch in self.branches)})$"

    @property
    def fpr(self) -> float:
        """The mean impurity in the lake, summed over segments and averaged over branches by share (Equation 8)."""
        return sum(branch.share * sum(segment.fpr for segment in branch.segments) for branch in self.branches)

    @property
    def coverage(self) -> int:
        """How many columns of the lake have the segment's pattern, for the segment with the fewest."""
        counts = [segment.columns for branch in self.branches for segment in branch.segments if segment.columns]
        return min(counts, default=0)

    @property
    def literal_text(self) -> str:
        """The letters and digits that the pattern requires literally."""
        atoms = (atom for branch in self.branches for segment in branch.segments for atom in segment.pattern.atoms)
        return "".join(char for atom in atoms for char in atom.text if char.isalnum())

    def matches(self, values: Iterable[Any] | pa.Array | pa.ChunkedArray) -> npt.NDArray[np.bool_]:
        """Which values follow the pattern; a null does not."""
        array = as_text_array(values)
        matched = pc.fill_null(pc.match_substring_regex(array, self.regex), False)
        return np.asarray(matched.to_numpy(zero_copy_only=False), dtype=bool)

    def most_outside(self, rows: int) -> int:
        """The most values that may be outside the pattern in a batch of `rows` values."""
        if self.test == "any":
            return 0
        return max(least_rejected(self.outside, self.seen, rows, self.significance) - 1, int(self.tolerated * rows))

    def holds(self, values: Iterable[Any] | pa.Array | pa.ChunkedArray) -> bool:
        """Whether a batch passes the rule; nulls are not counted."""
        array = as_text_array(values).drop_null()
        return int((~self.matches(array)).sum()) <= self.most_outside(len(array))

    def least_share(self, rows: int | None = None) -> float:
        """The least share of a batch's values that must follow the pattern.

        Fisher's test allows a small batch a larger share outside than a large one. `rows` is the number of values of
        the batch that are not null. Without it, the batch is assumed to be as large as the training batch.
        """
        if rows is not None and rows < 1:
            raise MisuseError(f"a batch of {rows} rows cannot be judged.", hint="Give the number of rows, or None.")
        size = self.seen if rows is None else rows
        return (size - self.most_outside(size)) / size

    def expectation(self, column: str, rows: int | None = None, level: Level = Level.ERROR) -> Expectation:
        """The rule as an expectation: at least `least_share(rows)` of the values that are not null match."""
        metric = PatternMatch(column, self.regex).key
        text = f"has_pattern({column}, {self.pattern})"
        return Expectation(
            metric, Between(low=self.least_share(rows)), Source.PATTERNS, level, min(self.alarm, 1.0), text
        )


def as_text_array(values: Iterable[Any] | pa.Array | pa.ChunkedArray) -> pa.Array:
    """The values as one Arrow array of strings."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise MisuseError(f"{type(values).__name__} is no column.", hint='Give many values: ["a-1", "b-2"].')
    try:
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        array = values if isinstance(values, pa.Array) else pa.array(values, pa.string(), from_pandas=True)
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        return array if pa.types.is_string(array.type) else array.cast(pa.string())
    except (pa.ArrowException, TypeError, UnicodeError, AttributeError) as error:
        raise MisuseError(f"these values are no texts: {error}.", hint="Give texts, and None for null.") from None
