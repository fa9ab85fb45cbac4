"""Looks rows of a batch up in another table, by the hashes of their values, without a JVM."""

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
    """The kinds in which the columns are compared; raises with the reason if they cannot be compared.

    Integers and floats are compared as doubles, because pandas stores integers with nulls as doubles.
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
    own_positions, other_positions = own.positions(), other.positions()
    kinds = []
    for column, other_column in zip(test.columns, test.of, strict=True):
        if other_column not in other_positions:
            raise MisuseError(
                f"the table {test.table!r} has no column {other_column!r}; {did_you_mean(other_column, other.labels)}"
            )
        if other.columns[other_positions[other_column]].repeated:
            raise MisuseError(f"{other_column!r} of {test.table} has any number of values in a row.")
        kind, other_kind = own.columns[own_positions[column]].kind, other.columns[other_positions[other_column]].kind
        if kind is not other_kind and not {kind, other_kind} <= _NUMBERS:
            raise MisuseError(
                f"{column!r} is {kind} and {other_column!r} of {test.table} is {other_kind}: nothing can be equal."
            )
        kinds.append(kind if kind is other_kind else Kind.FLOAT)
    return tuple(kinds)


class LocalMembership:
    """One look-up over the batches of one scan. `chunks` are the columns of the other table, some rows at a time."""

    def __init__(self, test: Membership, kinds: Sequence[Kind], chunks: Sequence[Sequence[Any]]) -> None:
        self.test = test
        self.columns = frozenset(test.columns)
        self._kinds = kinds
        self._chunks = chunks
        self._known: Hashes | None = None

    def of(self, rows: Mapping[str, Any], count: int) -> pa.Array:
        """True for every row that is in the other table, null for the others."""
        columns = [to_plain(rows[name]) for name in self.test.columns]
        if self._known is None:
            self._known = self._hash_other_table([array.type for array in columns])
        first, second = self._hash_rows(columns)
        known, seconds = self._known
        if not len(known):
            return pa.nulls(count, pa.bool_())
        nearest = np.minimum(np.searchsorted(known, first), len(known) - 1)
        found = (known[nearest] == first) & (seconds[nearest] == second)
        return pa.array(found, mask=~found)

    def _hash_other_table(self, types: Sequence[pa.DataType]) -> Hashes:
        """The hashes of the rows of the other table, sorted, with its values cast to the types of the batch."""
        chunks = [
            self._hash_rows([_fit_scale(to_plain(column), kind) for column, kind in zip(chunk, types, strict=True)])
            for chunk in self._chunks
        ]
        if not chunks:
            return np.empty(0, np.uint64), np.empty(0, np.uint64)
        first, second = (np.concatenate(side) for side in zip(*chunks, strict=True))
        order = np.argsort(first)
        return first[order], second[order]

    def _hash_rows(self, arrays: Sequence[pa.Array]) -> Hashes:
        pairs = zip(arrays, self._kinds, strict=True)
        return combine([ColumnBatch(_as_kind(array, kind), kind).hashes for array, kind in pairs])


def _as_kind(array: pa.Array, kind: Kind) -> pa.Array:
    return array.cast(pa.float64(), safe=False) if kind is Kind.FLOAT else array


def _fit_scale(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Decimals in the scale of the batch. In all other kinds, equal values have equal hashes whatever their width."""
    return array.cast(kind) if pa.types.is_decimal(array.type) and pa.types.is_decimal(kind) else array
