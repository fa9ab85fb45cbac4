"""Dates are written in another format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from headgate.diagnose.column_pair import DISTINCT, LENGTHS, PATTERNS, VALUES, ColumnPair
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.display.numbers import format_share
from headgate.values.schema import TEMPORAL, Kind

_DATE_PATTERN = re.compile(
    r"^9([-/. ])(9|Aa|A|a)\1,?\s?9([TA ,]+9:9(:9(\.9)?)?)?( ?[AaPp][Mm]?| ?[A-Z])?([-+]9:?9?)?Z?$|^Aa? 9, 9$|^9$"
    r"|^9([-/.])9\8X:9(:9(\.9)?)?Z?$"  # as in 2026-11-14T08:30:00
)
_DIGITS = frozenset({8, 10, 12, 13, 14})  # of dates and times without marks, as in 20261114 or 1794614400
_MIN_SHARE = 0.02


@fault
class DateFormat(KnownFault):
    """Texts of dates or times, written in another way than before."""

    name: ClassVar = "date_format"

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        if pair.now.kind is not Kind.STRING:
            return
        new = {
            pattern: share
            for pattern, share in pair.now.patterns.items()
            if share > pair.before.patterns.get(pattern, 0.0) + _MIN_SHARE
        }
        if not new or not all(_DATE_PATTERN.match(pattern) for pattern in new):
            return
        if set(new) == {"9"} and not _has_digits_of_date(pair):
            return
        moved = sum(share - pair.before.patterns.get(pattern, 0.0) for pattern, share in new.items())
        if pair.before.kind in TEMPORAL:
            yield Fit(self.name, "is a date written in another way, which is read as text", 0.05, (pair.label,))
            return
        usual = sum(share for pattern, share in pair.before.patterns.items() if _DATE_PATTERN.match(pattern))
        if usual < 0.5 * moved:
            return
        left = {PATTERNS: 0.0, LENGTHS: 0.0, VALUES: 0.0, DISTINCT: 0.0}
        part = "" if moved > 0.97 else f" in {format_share(moved)} of its values"
        unexplained = pair.measure_unexplained(**left)
        yield Fit(self.name, f"has dates written in another way{part}", unexplained, (pair.label,), {}, min(1.0, moved))


def _has_digits_of_date(pair: ColumnPair) -> bool:
    """Whether texts of digits alone are dates: as long as those, where dates were before."""
    lengths = pair.now.lengths
    return pair.before.kind in TEMPORAL and lengths is not None and lengths.low == lengths.high in _DIGITS
