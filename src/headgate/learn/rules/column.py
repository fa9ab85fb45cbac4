"""Defines the profile of a column, from which suggestions are made. Tested by `tests/learn/rules/test_profile.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from headgate.display.blocks import Grid
from headgate.display.numbers import format_moment, format_number
from headgate.display.page import Page, Paged
from headgate.display.sparkline import draw_bar, sparkline
from headgate.display.table import Table
from headgate.values.outcome import Distribution
from headgate.values.schema import NUMERIC, TEMPORAL, Kind

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SHARES = 12  # parts of a histogram
_NUMBERS = ("integral", "fractional")
_EXACT_DISTINCT = 384  # the sketch counts up to this many distinct values exactly
_TOP = 10  # frequent values and patterns that are listed


class Numbers(msgspec.Struct, frozen=True):
    """A summary of finite numbers; dates and timestamps are seconds since 1970.

    Quantiles are exact to 1,024 different numbers. The other numbers are exact up to rounding.
    """

    count: int
    low: float
    high: float
    mean: float
    stddev: float
    quantiles: tuple[float, ...] = ()  # at QUANTILES
    shares: tuple[float, ...] = ()  # a histogram: shares of the values in at most SHARES parts of equal width


class Lengths(msgspec.Struct, frozen=True):
    """The lengths of values in characters, in bytes for binary."""

    low: int
    high: int
    mean: float


class ColumnProfile(Paged, msgspec.Struct, frozen=True):
    """The profile of one column: row and value counts, types, numbers, lengths, and frequent values and patterns.

    `distinct` is an estimate that is exact up to 384 values. `values` is exact up to 512 distinct values and `patterns`
    up to 128; beyond that, a count is too low by at most their `error`. `looks` counts the strings that look like each
    type. `numbers` summarises the values of a numeric or temporal column, or the numbers in a string column.
    """

    label: str
    kind: Kind
    type: str
    rows: int = 0
    present: int = 0
    distinct: float = 0.0
    looks: dict[str, int] = {}
    numbers: Numbers | None = None
    lengths: Lengths | None = None
    values: Distribution | None = None
    patterns: Distribution | None = None
    failed: tuple[str, ...] = ()  # the metrics that could not be computed, and why

    @property
    def completeness(self) -> float | None:
        return self.present / self.rows if self.rows else None

    @property
    def unique_ratio(self) -> float | None:
        """The approximate number of distinct values per value."""
        return min(1.0, self.distinct / self.present) if self.present else None

    @property
    def not_finite(self) -> int:
        """How many values of a column of floats are NaN or infinite."""
        if self.kind is not Kind.FLOAT or self.failed:
            return 0
        return self.present - (0 if self.numbers is None else self.numbers.count)

    @property
    def looks_like(self) -> str:
        """The type that most strings of a string column look like; for other columns their kind."""
        return likely_type(self.looks)[0] if self.looks else str(self.kind)

    @property
    def has_numbers(self) -> bool:
        """Whether the column is numeric or temporal, or most of its strings are numbers."""
        return self.numbers is not None and (not self.looks or self.looks_like in _NUMBERS)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = msgspec.to_builtins(self)
        plain |= {"completeness": self.completeness, "unique_ratio": self.unique_ratio, "looks_like": self.looks_like}
        if self.numbers is not None:
            plain["numbers"]["quantiles"] = dict(zip(map(str, QUANTILES), self.numbers.quantiles, strict=False))
        return dict(plain)

    # --- for people

    def number(self, value: float) -> str:
        """One of the column's numbers as text; dates and timestamps as such."""
        if self.kind in TEMPORAL:
            return format_moment(value, whole_days=self.kind is Kind.DATE)
        return format_number(float(f"{value:.6g}") if value % 1 else value)

    def facts(self) -> Table:
        """The profile as a table of one line for each fact, without the frequent values and patterns."""
        looks = "" if self.looks_like in (self.type, self.kind) else f", {_describe_looks(self.looks)}"
        distinct_share = _format_share(min(self.distinct, self.present), self.present)
        lines = [
            ("type", f"{self.type}{looks}"),
            ("rows", f"{self.rows:,}"),
            ("present", f"{self.present:,}{_format_share(self.present, self.rows)}"),
            ("distinct", f"{format_distinct(self.distinct)}{distinct_share}"),
        ]
        if self.not_finite:
            lines.append(("not finite", f"{self.not_finite:,}{_format_share(self.not_finite, self.present)}"))
        if self.numbers is not None and self.has_numbers:
            lines += self._number_lines(self.numbers)
        if self.lengths is not None:
            ends = f"{self.lengths.low:,} to {self.lengths.high:,}, mean {format_number(self.lengths.mean)}"
            lines.append(("length", f"{self.lengths.low:,}" if self.lengths.low == self.lengths.high else ends))
        lines += [("failed", why) for why in self.failed]
        return Table(("", self.label), tuple(lines))

    def _number_lines(self, numbers: Numbers) -> list[tuple[str, str]]:
        quantiles = zip(QUANTILES, numbers.quantiles, strict=False)
        seconds = self.kind in TEMPORAL
        return [
            ("min", self.number(numbers.low)),
            *((f"{q:.0%}", self.number(value)) for q, value in quantiles),
            ("max", self.number(numbers.high)),
            ("mean", self.number(numbers.mean)),
            ("stddev", f"{numbers.stddev / 86_400:,.6g} days" if seconds else self.number(numbers.stddev)),
        ]

    def tops(self) -> list[Table]:
        """Tables of the most frequent values and patterns."""
        tables = []
        for name, counts in self._list_counts():
            rows = [
                (quote_blank(label), f"{count:,}", format_percent(count, counts.total))
                for label, count in counts.counts.items()
            ]
            more = len(rows) - _TOP
            bound = f", each at most {counts.error:,} more often" if counts.error else ""
            note = [(f"… {more:,} more", "", "")] if more > 0 else []
            head = (f"{name}{bound}", "count", "share")
            tables.append(Table(head, (*rows[:_TOP], *note), numeric=frozenset({1, 2})))
        return tables

    def _list_counts(self) -> list[tuple[str, Distribution]]:
        both = (("value", self.values), ("pattern", self.patterns))
        return [(name, counts) for name, counts in both if counts is not None and counts.counts]

    @property
    def picture(self) -> str:
        """The histogram of the numbers between minimum and maximum, in block characters."""
        if self.numbers is None or not self.has_numbers or not self.numbers.shares:
            return ""
        least, (first, *rest, last) = 1 / self.numbers.count, self.numbers.shares
        # The sketch may have dropped the minimum and maximum, so the first and last part have at least one value.
        return sparkline([max(first, least), *rest, max(last, least)])

    def page(self) -> Page:
        return Page(blocks=tuple(self._make_grids()))

    def _make_grids(self) -> Iterator[Grid]:
        yield Grid(self.facts(), last=80, beyond=(("shape", self.picture),) if self.picture else ())
        for table, (_, counts) in zip(self.tops(), self._list_counts(), strict=True):
            bars = [draw_bar(count / counts.total) for count in list(counts.counts.values())[:_TOP]]
            pictures = (*bars, *[""] * (len(table.rows) - len(bars)))
            yield Grid(table, last=80, pictures=pictures, pictured=3)


def likely_type(looks: dict[str, int]) -> tuple[str, int]:
    """The type that most strings look like, and how many do. Integers among fractional numbers count as fractional.

    >>> likely_type({"integral": 8, "fractional": 2, "string": 1})
    ('fractional', 10)
    >>> likely_type({"string": 5, "integral": 3})
    ('string', 5)
    """
    numbers = sum(looks.get(name, 0) for name in _NUMBERS)
    counts = {name: count for name, count in looks.items() if name not in _NUMBERS}
    counts["fractional" if looks.get("fractional") else "integral"] = numbers
    total = sum(looks.values())
    name, count = max(counts.items(), key=lambda each: (each[1], each[0]))
    return (name, count) if 2 * count > total else ("string", looks.get("string", 0))


def is_numeric(kind: Kind) -> bool:
    """Whether values of the kind are numbers; booleans are not."""
    return kind in NUMERIC and kind is not Kind.BOOLEAN


def format_distinct(distinct: float) -> str:
    """A number of distinct values as text, with `~` if it is an estimate."""
    return f"{distinct:,.0f}" if distinct <= _EXACT_DISTINCT else f"~{distinct:,.0f}"


def quote_blank(label: str) -> str:
    """A value or a pattern for display; empty and blank text is quoted, because it would be invisible."""
    return label if label.strip() else f'"{label}"'


def format_percent(part: float, whole: float) -> str:
    """A share in percent; less than all is never shown as 100%, and more than nothing never as 0%.

    >>> format_percent(1, 3), format_percent(99_999, 100_000), format_percent(1, 100_000), format_percent(3, 3)
    ('33.3%', '>99.9%', '<0.1%', '100%')
    """
    if not 0 < part < whole:
        return "100%" if part and part == whole else "0%"
    share = part / whole
    return ">99.9%" if share >= 0.9995 else "<0.1%" if share < 0.0005 else f"{share:.1%}"


def _format_share(part: float, whole: float) -> str:
    return f" ({format_percent(part, whole)})" if whole else ""


def _describe_looks(looks: dict[str, int]) -> str:
    name, count = likely_type(looks)
    total = sum(looks.values())
    return f"looks {name}" if count == total else f"{format_percent(count, total)} look {name}"
