"""Rows were loaded more than once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd
from typing import ClassVar

from headgate.diagnose.column_pair import ColumnPair
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.table_pair import TablePair
from headgate.display.numbers import format_share
from headgate.learn.metric_traits import OUTSIDE_PERIOD

_KEY = 0.97  # of its values, that are different in a column that tells rows apart
_FEWEST = 0.01
_MOST_COPIES = 12
_FEWEST_KEYS = 2
_EXACT = 400  # values, of which the number of different ones is known exactly
_ESTIMATE_ERROR = 0.035
_OTHER_TIME_COST = 0.2


@fault
class RowsDuplicated(KnownFault):
    """All rows several times, or a part of them twice."""

    name: ClassVar = "rows_duplicated"
    repairs: ClassVar = True

    def fit_table(self, table: TablePair) -> Iterator[Fit]:
        if table.rows < 2 or not table.usual_rows:
            return
        copies = _find_copies(table)
        if copies > 1:
            times = "twice" if copies == 2 else f"{copies} times"
            yield Fit(self.name, f"every row is there {times}", 0.02, (), {"copies": float(copies)}, 1 - 1 / copies)
            return
        keys = [pair for pair in table.pairs.values() if _was_key(pair) and pair.now.present > 0.5 * pair.now.rows]
        repeated, grown = _measure_repeated(keys), table.rows / table.usual_rows - 1
        if repeated > _FEWEST:
            twice = repeated / (1 - repeated)  # of the rows without the copies
            what = f"{format_share(twice)} of the rows are there twice"
            # as many rows more as are there twice, or else they came in the place of others
            near = abs(grown - twice) <= 0.5 * repeated + 0.05
            if not near and len(keys) < _FEWEST_KEYS:  # then it is the values of that column that repeat
                return
            is_other = any(key.name == OUTSIDE_PERIOD for key in table.failed)  # copies have the times of the batch
            cost = _OTHER_TIME_COST * is_other
            yield Fit(self.name, what, 0.1 if near else 0.25, (), {"share": round(twice, 6)}, repeated, cost)


def _find_copies(table: TablePair) -> int:
    """How often each row is there: what divides the counts of all values, and about what the rows grew by."""
    divisor = round(table.rows)
    pairs = list(table.pairs.values())
    counted = [pair for pair in pairs if pair.now.counts]
    for pair in counted:
        for count in pair.now.counts.values():
            divisor = gcd(divisor, count)
        divisor = gcd(divisor, pair.now.rows - pair.now.present)
        if divisor == 1:
            return 1
    if not counted or divisor > _MOST_COPIES:
        return 1
    if any(_measure_key(pair) > 1.5 / divisor for pair in pairs):
        return 1
    if len(counted) == len(pairs) or any(_was_key(pair) for pair in pairs):
        return divisor
    grown = table.rows / table.usual_rows
    return divisor if grown > 0.6 * divisor else 1


def _measure_key(pair: ColumnPair) -> float:
    return pair.now.distinct / pair.now.present if pair.now.present else 0.0


def _was_key(pair: ColumnPair) -> bool:
    return pair.before.present > 1 and pair.before.distinct >= _KEY * pair.before.present


def _measure_repeated(keys: Sequence[ColumnPair]) -> float:
    """The part of the rows that are copies, by the columns that had a value of its own in nearly each row."""
    shares = [1 - min(1.0, pair.now.distinct / pair.now.present / _measure_usual_key(pair)) for pair in keys]
    if not shares:
        return 0.0
    least = min(shares)
    return least if least > _ESTIMATE_ERROR or all(pair.now.present < _EXACT for pair in keys) else 0.0


def _measure_usual_key(pair: ColumnPair) -> float:
    """The share of different values among the usual ones; 1 where that is only estimated."""
    return min(1.0, pair.before.distinct / pair.before.present) if pair.before.present < _EXACT else 1.0
