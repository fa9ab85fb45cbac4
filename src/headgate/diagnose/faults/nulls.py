"""Values are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from headgate.diagnose.column_pair import DISTINCT, NULLS, ColumnPair
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.display.numbers import format_share

_LOST = 0.0005
_MOST_OTHER = 0.1  # of difference, for values that are no part of the usual ones


@fault
class Nulls(KnownFault):
    """A part of the values, or all of them, became null."""

    name: ClassVar = "nulls"

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        before, now = pair.before.complete, pair.now.complete
        if not before or now >= before - _LOST or not pair.baseline.get(NULLS):
            return
        if pair.may_be_left(pair.now.rows - pair.now.present, pair.before.rows - pair.before.present):
            return
        share = 1 - now / before
        what = "is empty" if not now else f"lost {format_share(share)} of its values"
        # a column without values has nothing else to compare
        unexplained = _measure_left(pair, share) if now else 0.0
        yield Fit(self.name, what, unexplained, (pair.label,), {"share": round(share, 6)}, share)


def _measure_left(pair: ColumnPair, share: float) -> float:
    """What is left if a share of the values is lost: nothing else, if those that are there may be the rest of them."""
    tolerance = share / (1 - share)
    if not pair.may_be_part(1 - share):
        tolerance = min(_MOST_OTHER, tolerance)
    return pair.measure_unexplained(tolerance, **{NULLS: 0.0, DISTINCT: 0.0})
