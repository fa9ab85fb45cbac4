"""Columns are gone, renamed, or new."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.table_pair import TablePair

_ALIKE = 0.15  # of difference, beyond what is usual, that a column may have from the one it was
_ALIKE_NAMED = 0.4  # the same, if one name begins with the other
_MOST_LEFT = 0.3  # that counts as unexplained of a column whose name tells which one it was
_SHORTEST = 3  # characters of a name that another one begins with


@fault
class ColumnRenamed(KnownFault):
    """A column has another name."""

    name: ClassVar = "column_renamed"
    repairs: ClassVar = True

    def fit_table(self, table: TablePair) -> Iterator[Fit]:
        for old, new, left in match_columns(table):
            yield Fit(self.name, f"is now named {new}", left, (old,), {"name": new})


@fault
class ColumnMissing(KnownFault):
    """A column is gone."""

    name: ClassVar = "column_missing"

    def fit_table(self, table: TablePair) -> Iterator[Fit]:
        renamed = {old for old, _, _ in match_columns(table)}
        gone = tuple(label for label in table.gone if label not in renamed)
        if gone:
            yield Fit(self.name, "is gone" if len(gone) == 1 else "are gone", 0.05, gone)


@fault
class ColumnAdded(KnownFault):
    """A column is new."""

    name: ClassVar = "column_added"

    def fit_table(self, table: TablePair) -> Iterator[Fit]:
        renamed = {new for _, new, _ in match_columns(table)}
        added = tuple(label for label in table.added if label not in renamed)
        if added:
            yield Fit(self.name, "is new" if len(added) == 1 else "are new", 0.05, added)


def match_columns(table: TablePair) -> list[tuple[str, str, float]]:
    """Columns that are gone, each with a new one that holds the like, and how far they lie apart."""
    found, taken = [], set[str]()
    for old in table.gone:
        candidates = []
        for new in table.added:
            if new in taken or table.new_columns[new].kind is not table.old_columns[old].kind:
                continue
            pair = table.pair(new, old)
            limit = _ALIKE_NAMED if _begins_with_other(old, new) else _ALIKE
            is_alike = pair.total <= limit and _has_common_values(table, old, new)
            if is_alike or _fold_name(old) == _fold_name(new) != "":
                place = abs(list(table.old_columns).index(old) - list(table.new_columns).index(new))
                candidates.append((pair.total + 0.001 * place, new, pair.total))
        if candidates:
            _, new, total = min(candidates)
            taken.add(new)
            found.append((old, new, min(total, _MOST_LEFT)))
    return found


def _fold_name(label: str) -> str:
    """A name without case, blanks and marks.

    >>> _fold_name("Case-Fatality_Ratio") == _fold_name("case fatality ratio")
    True
    """
    return re.sub(r"[\W_]+", "", label).casefold()


def _begins_with_other(old: str, new: str) -> bool:
    """Whether one of two names begins with the other.

    >>> _begins_with_other("lat", "latitudine"), _begins_with_other("id", "idle_hours")
    (True, False)
    """
    short, long = sorted((_fold_name(old), _fold_name(new)), key=len)
    return len(short) >= _SHORTEST and long.startswith(short)


def _has_common_values(table: TablePair, old: str, new: str) -> bool:
    """Whether some values of a new column were values of an old one; true of numbers, which may all differ."""
    pair = table.pair(new, old)
    if not pair.is_text or pair.before.distinct > 0.9 * pair.before.present:
        return True
    return pair.now.count_shared(pair.before) > 0.2 * min(pair.now.distinct, pair.before.distinct)
