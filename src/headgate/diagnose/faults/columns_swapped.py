"""Columns hold the values of others: two are swapped, or several are shifted by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from headgate.diagnose.column_pair import ColumnPair
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.table_pair import TablePair
from headgate.values.schema import Kind

_MAX_COLUMNS = 24  # that are compared with each other
_LIKE = 0.35  # of its difference, that a column may keep beside the other one
_LEAST = 0.05
_MOST_MISSED = 0.5  # of the columns between the first and the last, that do not hold those of another
_END = 4  # of the quantiles that are compared, which are at the ends


@fault
class ColumnsSwapped(KnownFault):
    """Each of two columns holds what the other one held."""

    name: ClassVar = "columns_swapped"
    repairs: ClassVar = True

    def fit_table(self, table: TablePair) -> Iterator[Fit]:
        among = {label for label in table.moved[:_MAX_COLUMNS] if table.pairs[label].total > _LEAST}
        moved = [label for label in table.new_columns if label in among]
        for at, one in enumerate(moved):
            for two in moved[at + 1 :]:
                left = _measure_exchange(table, one, two)
                if left is not None and left < _LIKE:
                    yield Fit(self.name, "are swapped", left, (one, two))


@fault
class ColumnsShifted(KnownFault):
    """Columns that stand one after the other hold what the one before them, or after them, held."""

    name: ClassVar = "columns_shifted"

    def fit_table(self, table: TablePair) -> Iterator[Fit]:
        labels = [label for label in table.old_columns if label in table.new_columns]
        for by in (1, -1):
            places = [at for at in range(len(labels)) if self._holds_other(table, labels, at, by)]
            if len(places) < 2:
                continue
            first, last = min(places) - (by == 1), max(places) + (by == -1)  # the one that was left holds nothing
            is_left = _is_emptied(table, labels, first if by == 1 else last)
            if not is_left and _is_emptied(table, labels, end := first - 1 if by == 1 else last + 1):
                first, last, is_left = min(first, end), max(last, end), True
            columns = tuple(label for label in labels[max(0, first) : last + 1] if label in table.moved_or_failed)
            where = "before" if by == 1 else "after"
            missed = 1 - len(places) / max(1, len(columns) - 1)
            if missed > _MOST_MISSED:
                continue
            what = f"hold the values of the column {where} them"
            yield Fit(self.name, what, 0.3 * max(0.0, missed), columns, {"by": float(by)}, cost=0.05 * (not is_left))

    def _holds_other(self, table: TablePair, labels: Sequence[str], at: int, by: int) -> bool:
        if not 0 <= at - by < len(labels):
            return False
        label, other = labels[at], labels[at - by]
        left = _measure_other(table, label, other)
        if left is None:
            return _holds_values(table, label, other)
        return left < _LIKE


def _is_emptied(table: TablePair, labels: Sequence[str], at: int) -> bool:
    """Whether a column that had values has none."""
    if not 0 <= at < len(labels):
        return False
    pair = table.pairs[labels[at]]
    return pair.before.complete > 0.5 and pair.now.complete < 0.05


def _measure_exchange(table: TablePair, one: str, two: str) -> float | None:
    """What is left of the differences of two columns, if each is compared with the other one of the past."""
    first = _measure_other(table, one, two)
    if first is None or first >= _LIKE:
        return None
    second = _measure_other(table, two, one)
    return None if second is None else max(first, second)


def _measure_other(table: TablePair, label: str, old: str) -> float | None:
    """What is left of the difference of a column, if it is compared with another one of the past."""
    own = table.pairs[label]
    if table.old_columns[old].kind is not table.new_columns[label].kind or old == label or own.total <= _LEAST:
        return None
    other = table.pair(label, old)
    return other.total / own.total if _may_be_alike(other) else 1.0


def _may_be_alike(pair: ColumnPair) -> bool:
    """Whether numbers may be those of another column, by their middle alone, which is soon told."""
    if not pair.is_numeric:
        return True
    usual, middle = pair.before.points, float(np.median(pair.now.points))
    return bool(usual[_END] <= middle <= usual[-1 - _END])


def _holds_values(table: TablePair, label: str, old: str) -> bool:
    """Whether a column of texts has the values that another one, of another type, had."""
    own = table.pairs[label]
    if table.new_columns[label].kind is not Kind.STRING or own.now.listed < 0.5:
        return False
    other = table.pair(label, old)
    known = sum(share for text, share in own.now.values.items() if other.knows_value(text))
    return known > 0.8 * own.now.listed and sum(map(own.knows_value, own.now.values)) < 0.5 * len(own.now.values)
