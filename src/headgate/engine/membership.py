"""Whether the rows of a batch stand in another table, without a JVM: by the hashes of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.metrics.base.arrow import to_plain
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.hashing import Hashes, combine
from headgate.metrics.base.metric import Membership
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.schema import Kind, Schema

_NUMBERS = {Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL}


def kinds_of(test: Membership, own: Schema, other: Schema | None, given: Sequence[str]) -> tuple[Kind, ...]:
    """The kinds in which the columns are compared; an error that says why they cannot be.

    Whole numbers and fractions are compared as doubles: pandas has whole numbers with gaps as such.
    """
    if other is None and test.table in given:
        raise MisuseError(
            f"the table {test.table!r} is not of the batch's kind.",
            hint="Pass a Spark DataFrame beside a Spark DataFrame, else an Arrow, pandas or polars table.",
        )
    if other is None:
        raise MisuseError(
            f"the table {test.table!r} was not given; {did_you_mean(test.table, given)}",
            hint=f"Pass tables={{{test.table!r}: ...}}.",
        )
    places, theirs = own.positions(), other.positions()
    kinds = []
    for mine, its in zip(test.columns, test.of, strict=True):
        if its not in theirs:
            raise MisuseError(f"the table {test.table!r} has no column {its!r}; {did_you_mean(its, other.labels)}")
        kind, found = own.columns[places[mine]].kind, other.columns[theirs[its]].kind
        if kind is not found and not {kind, found} <= _NUMBERS:
            raise MisuseError(f"{mine!r} is {kind} and {its!r} of {test.table} is {found}: nothing can be equal.")
        kinds.append(kind if kind is found else Kind.FLOAT)
    return tuple(kinds)


class LocalMembership:
    """One look-up over the batches of one scan. `read` gives the other table's columns, some rows at a time."""

    def __init__(self, test: Membership, kinds: Sequence[Kind], chunks: Sequence[Sequence[Any]]) -> None:
        self.test = test
        self.columns = frozenset(test.columns)
        self._kinds = kinds
        self._chunks = chunks
        self._known: Hashes | None = None

    def of(self, rows: Mapping[str, Any], count: int) -> pa.Array:
        """True for every row that is there, null for the others."""
        mine = [to_plain(rows[name]) for name in self.test.columns]
        if self._known is None:
            self._known = self._hash_other_table([array.type for array in mine])
        first, second = self._hash_rows(mine)
        known, seconds = self._known
        if not len(known):
            return pa.nulls(count, pa.bool_())
        at = np.minimum(np.searchsorted(known, first), len(known) - 1)
        found = (known[at] == first) & (seconds[at] == second)
        return pa.array(found, mask=~found)

    def _hash_other_table(self, types: Sequence[pa.DataType]) -> Hashes:
        """The hashes of the other table's rows in order, its values in the types of the batch."""
        every = [
            self._hash_rows([_fit_scale(to_plain(column), kind) for column, kind in zip(chunk, types, strict=True)])
            for chunk in self._chunks
        ]
        if not every:
            return np.empty(0, np.uint64), np.empty(0, np.uint64)
        first, second = (np.concatenate(side) for side in zip(*every, strict=True))
        order = np.argsort(first)
        return first[order], second[order]

    def _hash_rows(self, arrays: Sequence[pa.Array]) -> Hashes:
        pairs = zip(arrays, self._kinds, strict=True)
        return combine([ColumnBatch(_as_kind(array, kind), kind).hashes for array, kind in pairs])


def _as_kind(array: pa.Array, kind: Kind) -> pa.Array:
    return array.cast(pa.float64(), safe=False) if kind is Kind.FLOAT else array


def _fit_scale(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Decimals in the batch's scale: of all other kinds, equal values have equal hashes in any width."""
    return array.cast(kind) if pa.types.is_decimal(array.type) and pa.types.is_decimal(kind) else array
