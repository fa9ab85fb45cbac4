"""Defines the entries of a pattern index: counts for each pattern of a lake, which can be added."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.values.errors import MisuseError

ENTRY = np.dtype(
    [
        ("key", "<u8"),
        ("impurity", "<u8"),
        ("columns", "<u4"),
        ("most", "<u4"),
        ("led", "<u4"),
        ("slipped", "<u4"),
        ("strayed", "<u4"),
        ("failed", "<u4"),
        ("tokens", "u1"),
        ("open", "u1"),
        ("spare", "<u2"),
    ]
)
IMPURITY_ONE = 1 << 32  # an impurity of 1, in fixed point
MAJORITY = 0.5  # share of a column's values with the pattern
STRAYED_SHARE, FAILED_SHARE = 0.05, 0.4  # share of a column's later values without the pattern of the first values

Rows: TypeAlias = npt.NDArray[np.void]
Keys: TypeAlias = npt.NDArray[np.uint64]

_COUNTERS = ("columns", "most", "led", "slipped", "strayed", "failed")
_PROPERTIES = ("tokens", "open", "spare")
_FULL = (1 << 32) - 1
_FULL_IMPURITY = (1 << 64) - 1
_HALF = np.uint64(32)
_LOW = np.uint64(_FULL)


class Entries(msgspec.Struct, frozen=True, eq=False):
    """Rows of `ENTRY`, sorted by key, each key once: a commutative monoid (Auto-Validate, section 2.4).

    `key` is a 64-bit hash of the pattern's tokens. `columns` is the number of columns that have the pattern in some
    value, `most` of those that have it in at least half of their values. `impurity` is the sum over the columns of the
    share of values without the pattern, in units of 2**-32: integers, so that merging is exact in any order.

    `led` is the number of columns whose first values all had the pattern. A rule learned from those first values would
    have been broken by the later ones in `slipped` columns (at least one value without the pattern), in `strayed`
    columns (more than 5% without it) and in `failed` columns (more than 40% without it).

    `tokens` and `open` (1 if no letter or digit is constant) follow from the key. Merging two rows keeps the larger
    `tokens`, `open` and `spare`. Counters saturate at 2**32 - 1 and `impurity` at 2**64 - 1; none wraps.
    """

    rows: Rows

    def __post_init__(self) -> None:
        _demand_entries(self.rows)
        if not bool((self.rows["key"][1:] > self.rows["key"][:-1]).all()):
            raise MisuseError("entries are sorted by key, and each key is there once.", hint="Write Entries.of(rows).")
        read_only = self.rows.view()
        read_only.flags.writeable = False
        msgspec.structs.force_setattr(self, "rows", read_only)

    @classmethod
    def of(cls, rows: Rows) -> Entries:
        """Entries from rows in any order; rows with the same key are added."""
        _demand_entries(rows)
        # numpy's stable sort merges sorted runs, so it takes linear time for the concatenation of two sorted arrays.
        return cls(_sum_rows(rows[np.argsort(rows["key"], kind="stable")]))

    @classmethod
    def empty(cls) -> Entries:
        """No entries: the identity of addition.

        >>> len(Entries.empty())
        0
        """
        return cls(np.empty(0, ENTRY))

    def __add__(self, other: Entries) -> Entries:
        if not len(self) or not len(other):
            return self if len(self) else other
        return Entries.of(np.concatenate([self.rows, other.rows]))

    def at_least(self, columns: int) -> Entries:
        """The entries of patterns that at least this many columns have."""
        return Entries(self.rows[self.rows["columns"] >= columns])

    @property
    def fpr(self) -> npt.NDArray[np.float64]:
        """The mean impurity over the columns that have the pattern: the paper's estimate of its false positive rate."""
        return mean_impurity(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entries) and bool(np.array_equal(self.rows, other.rows))

    def __repr__(self) -> str:
        return f"Entries({len(self):,} patterns)"


def mean_impurity(rows: Rows) -> npt.NDArray[np.float64]:
    """FPR_T of each row (Definition 3); 1 where no column has the pattern, because there is no evidence for it."""
    columns = rows["columns"]
    return np.where(columns > 0, rows["impurity"] / IMPURITY_ONE / np.maximum(columns, 1), 1.0)


def _sum_rows(rows: Rows) -> Rows:
    """Add the rows of each key; the rows are sorted by key."""
    same = rows["key"][1:] == rows["key"][:-1]
    if not bool(same.any()):
        return rows
    begins = np.flatnonzero(np.concatenate([[True], ~same]))
    merged = rows[begins]
    for name in _COUNTERS:
        total = np.add.reduceat(rows[name].astype(np.uint64), begins)
        merged[name] = np.minimum(total, _LOW).astype(np.uint32)
    for name in _PROPERTIES:
        merged[name] = np.maximum.reduceat(rows[name], begins)
    merged["impurity"] = _sum_impurity(rows["impurity"], begins)
    return merged


def _sum_impurity(impurity: Keys, begins: npt.NDArray[np.intp]) -> Keys:
    """Saturating sums of 64-bit numbers: the low and high halves are added separately, so that no sum wraps."""
    low = np.add.reduceat(impurity & _LOW, begins)
    high = np.add.reduceat(impurity >> _HALF, begins) + (low >> _HALF)
    return np.where(high > _LOW, np.uint64(_FULL_IMPURITY), (high << _HALF) | (low & _LOW))


def _demand_entries(rows: Any) -> None:
    if not isinstance(rows, np.ndarray) or rows.dtype != ENTRY or rows.ndim != 1:
        raise MisuseError(
            "entries are made of a one-dimensional array of ENTRY.", hint="Write np.zeros(n, ENTRY) and fill it."
        )
    if not _is_consistent(rows):
        raise MisuseError(
            "an entry has at least one column, failed <= strayed <= slipped <= led <= columns, most <= columns, and an "
            "impurity of at most 1 a column.",
            hint="Count a column in every threshold that it reaches; impurity is in units of 2**-32.",
        )


def _is_consistent(rows: Rows) -> bool:
    """Whether each row can be a sum over columns. Where `columns` is saturated, impurity may exceed 1 a column."""
    columns, impurity = rows["columns"], rows["impurity"]
    nested = rows["most"] <= columns
    for fewer, more in pairwise(("failed", "strayed", "slipped", "led", "columns")):
        nested &= rows[fewer] <= rows[more]
    within = (impurity <= columns.astype(np.uint64) << _HALF) | (columns == _FULL)
    return bool((nested & within & (columns > 0)).all())
