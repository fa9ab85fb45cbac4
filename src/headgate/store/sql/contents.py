"""The numbers and states of runs, stored under the keys of their dataset."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection, select

from headgate.store.fault_points import fault_point
from headgate.store.port import Series
from headgate.store.record import Record
from headgate.store.sql import reading, sealed, values
from headgate.store.sql.dictionary import Dictionary
from headgate.store.sql.tables import runs, series, state_keys
from headgate.values.errors import UnknownRun
from headgate.values.key import MetricKey
from headgate.values.run import Revision

_CONTENTS = "headgate_contents"


class Contents:
    """Writes and reads the contents of runs, and caches the keys of each dataset."""

    def __init__(self) -> None:
        self._metrics = Dictionary(series)
        self._states = Dictionary(state_keys)

    def write(self, connection: Connection, dataset: int, sequence: int, record: Record) -> None:
        """Write the contents of a run. The caller must hold the lock of the dataset."""
        positions = self._metrics.with_new(connection, dataset, record.numbers).positions
        values.write_numbers(
            connection, dataset, sequence, {positions[key]: value for key, value in record.numbers.items()}
        )
        fault_point("sql.values_written")
        positions = self._states.with_new(connection, dataset, record.states).positions
        sealed.write_states(
            connection, dataset, sequence, {positions[key]: data for key, data in record.states.items()}
        )
        fault_point("sql.states_written")

    def series(self, connection: Connection, revisions: Sequence[Revision], wanted: list[str] | None) -> Series:
        """The numbers of runs of one dataset; without `wanted`, of all metrics that any of them has, sorted."""
        dataset, _ = reading.find_dataset(connection, revisions[0].dataset)
        keys = self._metrics.keys(connection, dataset)
        sequences = [each.sequence for each in revisions]
        if wanted is None:
            table = values.read_numbers(connection, dataset, sequences, keys.order)
            present = ~np.all(np.isnan(table), axis=0)
            chosen = [
                keys.metric_keys[index] for index, is_present in zip(keys.order, present, strict=True) if is_present
            ]
            return Series(tuple(revisions), tuple(chosen), table if present.all() else table[:, present])
        table = np.full((len(revisions), len(wanted)), np.nan)
        columns = [index for index, key in enumerate(wanted) if key in keys.positions]
        positions = [keys.positions[wanted[index]] for index in columns]
        table[:, columns] = values.read_numbers(connection, dataset, sequences, positions)
        return Series(tuple(revisions), tuple(map(MetricKey.parse, wanted)), table)

    def states(
        self, connection: Connection, revisions: Sequence[Revision], wanted: list[str] | None
    ) -> list[dict[str, bytes]]:
        """The envelopes of runs of one dataset, by key."""
        dataset, _ = reading.find_dataset(connection, revisions[0].dataset)
        keys = self._states.keys(connection, dataset)
        positions = None if wanted is None else [keys.positions[key] for key in wanted if key in keys.positions]
        envelopes = sealed.read_states(connection, dataset, [each.sequence for each in revisions], positions)
        return [
            {keys.texts[position]: data for position, data in envelopes.get(each.sequence, {}).items()}
            for each in revisions
        ]

    def record(self, connection: Connection, revision: Revision) -> Record:
        """The whole record of one run."""
        dataset, _ = reading.find_dataset(connection, revision.dataset)
        details = connection.execute(
            select(runs.c.details).where(runs.c.dataset_id == dataset, runs.c.sequence == revision.sequence)
        ).scalar()
        if details is None:
            raise UnknownRun(revision.dataset, revision.partition, revision.number)
        series = self.series(connection, [revision], None)
        numbers = {str(key): value for key, value in zip(series.metrics, series.values[0].tolist(), strict=True)}
        return Record(numbers, details, self.states(connection, [revision], None)[0])


def contents_of(connection: Connection) -> Contents:
    """The contents that a connection reads. The cached keys live as long as it does: another may lead elsewhere."""
    contents: Contents = connection.info.setdefault(_CONTENTS, Contents())
    return contents
