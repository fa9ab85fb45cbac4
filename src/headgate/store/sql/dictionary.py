"""The keys of a dataset, each with the position it got when first stored. They never change, so they are cached."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from sqlalchemy import Connection, Table, select

from headgate.store.sql.names import encode_name
from headgate.values.key import MetricKey


class Keys:
    """The keys of a dataset by position."""

    def __init__(self, texts: tuple[str, ...] = ()) -> None:
        self.texts = texts

    @cached_property
    def positions(self) -> dict[str, int]:
        return {text: at for at, text in enumerate(self.texts)}

    @cached_property
    def metric_keys(self) -> tuple[MetricKey, ...]:
        return tuple(map(MetricKey.parse, self.texts))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Positions in the order of their keys."""
        return tuple(sorted(range(len(self.texts)), key=self.texts.__getitem__))


class Dictionary:
    """The keys of every dataset in one table. Only new keys are read from the database."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._known: dict[int, Keys] = {}

    def keys(self, connection: Connection, dataset: int) -> Keys:
        known = self._known.get(dataset, Keys())
        rows = self._read_from(connection, dataset, max(0, len(known.texts) - 1))
        if known.texts and (not rows or rows[0] != known.texts[-1]):  # the database was restored from a backup
            known, rows = Keys(), self._read_from(connection, dataset, 0)
        elif known.texts:
            rows = rows[1:]
        if rows or not known.texts:
            known = self._known[dataset] = Keys((*known.texts, *rows))
        return known

    def with_new(self, connection: Connection, dataset: int, wanted: Iterable[str]) -> Keys:
        """The keys of a dataset, after adding those of `wanted` that are new. The caller must hold its lock."""
        wanted = list(wanted)
        if not wanted:
            return Keys()
        keys = self.keys(connection, dataset)
        new = [each for each in wanted if each not in keys.positions]
        if not new:
            return keys
        first = len(keys.texts)
        rows = [
            {"dataset_id": dataset, "position": first + index, "key": encode_name(key)} for index, key in enumerate(new)
        ]
        connection.execute(self._table.insert(), rows)
        return Keys((*keys.texts, *new))

    def _read_from(self, connection: Connection, dataset: int, position: int) -> list[str]:
        columns = self._table.c
        query = select(columns.key).where(columns.dataset_id == dataset, columns.position >= position)
        return list(connection.execute(query.order_by(columns.position)).scalars())
