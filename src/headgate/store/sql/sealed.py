"""The table of states: one envelope in each row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from headgate.store.sql import binary
from headgate.store.sql.values import cursor_of


def write_states(connection: Connection, dataset: int, sequence: int, states: Mapping[int, bytes]) -> None:
    """Write the states of one run, given by position in the dataset's dictionary."""
    if not states:
        return
    cursor = cursor_of(connection)
    if connection.dialect.name == "postgresql":
        binary.write_states(cursor, dataset, sequence, states)
    else:
        rows = [(dataset, sequence, position, data) for position, data in states.items()]
        cursor.executemany("INSERT INTO states (dataset_id, sequence, position, data) VALUES (?, ?, ?, ?)", rows)


def read_states(
    connection: Connection, dataset: int, sequences: Sequence[int], positions: Sequence[int] | None
) -> dict[int, dict[int, bytes]]:
    """States by sequence and position; all positions if `positions` is None."""
    cursor = cursor_of(connection)
    parameters: tuple[Any, Any]
    if connection.dialect.name == "postgresql":
        within, parameters = "= ANY(%s)", (list(sequences), list(positions or ()))
    else:
        within, parameters = (
            "IN (SELECT value FROM json_each(?))",
            (json.dumps(list(sequences)), json.dumps(list(positions or ()))),
        )
    query = f"SELECT sequence, position, data FROM states WHERE dataset_id = {dataset:d} AND sequence {within}"
    if positions is None:
        cursor.execute(f"{query} ORDER BY position", parameters[:1])
    else:
        cursor.execute(f"{query} AND position {within} ORDER BY position", parameters)
    states: dict[int, dict[int, bytes]] = {}
    for sequence, position, data in cursor:
        states.setdefault(sequence, {})[position] = data
    return states
