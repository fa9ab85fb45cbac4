"""What was inferred for a column: a pattern or a few, one regular expression, and the test on the next batch."""

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
from headgate.learn.patterns.segments import Segment
from headgate.metrics.pattern_match import PatternMatch
from headgate.stats.hypothesis import least_rejected
from headgate.values.errors import MisuseError
from headgate.values.expectation import Expectation, Level, Source
from headgate.values.predicate import Between

SIGNIFICANCE = 0.01


class Branch(msgspec.Struct, frozen=True):
    """One way in which values are built, and the share of the training values that it was learned from."""

    segments: tuple[Segment, ...]
    share: float = 1.0

    def __str__(self) -> str:
        return "".join(map(str, self.segments))

    @property
    def body(self) -> str:
        return "".join(segment.body for segment in self.segments)


class PatternRule(Paged, msgspec.Struct, frozen=True):
    """The pattern that the next values of a column should follow. `str()` is the pattern, in the notation of the paper.

    `outside` of the `seen` training values do not follow it. `alarm` is the expected rate of false alarms, by the
    measure of the method; `miss` the share of the lake's columns that would pass in this one's stead (0 where the
    method does not tell). `test` says what breaks it: any value outside, or significantly more than in training and
    more than the share `tolerated`, without which columns like this one would alarm too often.
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

    __repr__ = msgspec.Struct.__repr__  # all of it: the pattern alone is str()

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
        """For RE2, Java (through Headgate) and `re.fullmatch`; Python's `$` by itself lets a line end through."""
        if len(self.branches) == 1:
            return f"^{self.branches[0].body}$"
        return f"^(?:{'|'.join(branch.body for branch in self.branches)})$"

    @property
    def fpr(self) -> float:
        """The average impurity of the lake's columns, summed over segments and weighted over branches (Equation 8)."""
        return sum(branch.share * sum(segment.fpr for segment in branch.segments) for branch in self.branches)

    @property
    def coverage(self) -> int:
        """Columns of the lake that speak for the segment with the fewest of them."""
        spoken = [segment.columns for branch in self.branches for segment in branch.segments if segment.columns]
        return min(spoken, default=0)

    @property
    def literal_text(self) -> str:
        """The letters and digits of the data that it spells; the rest says only how values are arranged."""
        atoms = (atom for branch in self.branches for segment in branch.segments for atom in segment.pattern.atoms)
        return "".join(char for atom in atoms for char in atom.text if char.isalnum())

    def matches(self, values: Iterable[Any] | pa.Array | pa.ChunkedArray) -> npt.NDArray[np.bool_]:
        """Which values follow the pattern; a null does not."""
        array = as_text_array(values)
        found = pc.fill_null(pc.match_substring_regex(array, self.regex), False)
        return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)

    def most_outside(self, rows: int) -> int:
        """How many values of a batch of so many may be outside."""
        if self.test == "any":
            return 0
        return max(least_rejected(self.outside, self.seen, rows, self.significance) - 1, int(self.tolerated * rows))

    def holds(self, values: Iterable[Any] | pa.Array | pa.ChunkedArray) -> bool:
        """Whether a batch follows the rule; nulls are not counted."""
        array = as_text_array(values).drop_null()
        return int((~self.matches(array)).sum()) <= self.most_outside(len(array))

    def least_share(self, rows: int | None = None) -> float:
        """The least share of a batch's values that must follow the pattern.

        Fisher's test allows a batch of few values more than one of many; if `rows`, how many values the batch has that
        are not null, is not given, the batch is taken to be as large as the one that trained the rule.
        """
        if rows is not None and rows < 1:
            raise MisuseError(f"a batch of {rows} rows cannot be judged.", hint="Give the number of rows, or None.")
        size = self.seen if rows is None else rows
        return (size - self.most_outside(size)) / size

    def expectation(self, column: str, rows: int | None = None, level: Level = Level.ERROR) -> Expectation:
        """The rule for the judge: at least so large a share of the values present must match, see `least_share`."""
        metric = PatternMatch(column, self.regex).key
        words = f"has_pattern({column}, {self.pattern})"
        return Expectation(
            metric, Between(low=self.least_share(rows)), Source.PATTERNS, level, min(self.alarm, 1.0), words
        )


def as_text_array(values: Iterable[Any] | pa.Array | pa.ChunkedArray) -> pa.Array:
    """Values as one Arrow array of text."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise MisuseError(f"{type(values).__name__} is no column.", hint='Give many values: ["a-1", "b-2"].')
    try:
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        array = values if isinstance(values, pa.Array) else pa.array(values, pa.string(), from_pandas=True)
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        return array if pa.types.is_string(array.type) else array.cast(pa.string())
    except (pa.ArrowException, TypeError, UnicodeError, AttributeError) as trouble:
        raise MisuseError(f"these values are no texts: {trouble}.", hint="Give texts, and None for null.") from None
