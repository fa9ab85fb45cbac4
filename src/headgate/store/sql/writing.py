"""The transactions that change a history: committing a run, recording a decision, muting a column.

Each first takes the lock of the dataset by incrementing its head, so that commits become visible in the order of their
sequences. Each can be repeated after an unknown outcome: work that is already done is left as it is.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Connection, func, insert, select, text, update

from headgate.store.fault_points import fault_point
from headgate.store.record import Record
from headgate.store.sql import reading
from headgate.store.sql.contents import contents_of
from headgate.store.sql.names import encode_name, hash_name
from headgate.store.sql.tables import datasets, mutes, rulings, runs
from headgate.values.errors import UnknownRun
from headgate.values.mute import Mute, find_same, refuse_mute
from headgate.values.run import AlreadyCommitted, Revision, Ruling, Run, partition_sort_key


def commit(connection: Connection, run: Run, record: Record) -> Revision:
    """Write a run. It is visible once the transaction is committed."""
    dataset, sequence = _lock_dataset(connection, run.dataset) or _create_dataset(connection, run.dataset)
    fault_point("sql.locked")
    known = reading.find_by_key(connection, run.dataset, dataset, run.key)
    if known is not None:
        connection.rollback()
        if known.attempt == run.attempt:
            return known
        raise AlreadyCommitted(known)
    number = max(run.after, _newest_number(connection, dataset, run.partition)) + 1
    revision = Revision.of(run, number=number, sequence=sequence)
    connection.execute(insert(runs), _run_row(dataset, run, revision, record.details))
    fault_point("sql.run_written")
    contents_of(connection).write(connection, dataset, sequence, record)
    return revision


def decide(connection: Connection, wanted: Ruling, number: int | None, only_first: bool) -> Ruling:
    """Record a decision about revision `number`, or the newest. `wanted` is the ruling without number and sequence."""
    dataset, sequence = _lock_dataset(connection, wanted.dataset) or (0, 0)
    fault_point("sql.locked")
    run = _find_run(connection, dataset, wanted.partition, number)
    if run is None:
        raise UnknownRun(wanted.dataset, wanted.partition, number)
    known = _find_same_ruling(connection, dataset, wanted, run.number, only_first)
    if known is not None:
        connection.rollback()
        return known
    ruling = msgspec.structs.replace(wanted, number=run.number, sequence=sequence)
    connection.execute(insert(rulings), _ruling_row(dataset, run.sequence, ruling))
    _settle_runs(connection, dataset)
    fault_point("sql.ruling_written")
    return ruling


def mute(connection: Connection, wanted: Mute) -> Mute:
    """Record a mute; `wanted` is without its sequence. If the newest one of the column says the same, it stands."""
    locked = _lock_dataset(connection, wanted.dataset)
    fault_point("sql.locked")
    if locked is None:
        raise refuse_mute(wanted.dataset)
    known = find_same(reading.read_mutes(connection, wanted.dataset, None), wanted)
    if known is not None:
        connection.rollback()
        return known
    dataset, sequence = locked
    recorded = msgspec.structs.replace(wanted, sequence=sequence)
    connection.execute(insert(mutes), _mute_row(dataset, recorded))
    fault_point("sql.mute_written")
    return recorded


def _lock_dataset(connection: Connection, name: str) -> tuple[int, int] | None:
    """Lock a dataset against other writers; its id and next sequence, or None if there is no such dataset."""
    row = connection.execute(
        update(datasets)
        .where(datasets.c.digest == hash_name(name))
        .values(head=datasets.c.head + 1)
        .returning(datasets.c.id, datasets.c.head)
    ).first()
    return None if row is None else (row.id, row.head)


def _create_dataset(connection: Connection, name: str) -> tuple[int, int]:
    """Create a dataset and lock it. If two writers create it at once, one waits for the other and then finds it."""
    connection.execute(
        text("INSERT INTO datasets (digest, name, head) VALUES (:digest, :name, 0) ON CONFLICT (digest) DO NOTHING"),
        {"digest": hash_name(name), "name": encode_name(name)},
    )
    locked = _lock_dataset(connection, name)
    assert locked is not None
    return locked


def _settle_runs(connection: Connection, dataset: int) -> None:
    """Note up to which commit every run is decided about, so that those that are not are found at once."""
    first = select(func.min(runs.c.sequence)).where(*reading.match_undecided(dataset)).scalar_subquery()
    settled = func.coalesce(first - 1, datasets.c.head)
    connection.execute(update(datasets).where(datasets.c.id == dataset).values(settled=settled))


def _newest_number(connection: Connection, dataset: int, partition: str) -> int:
    query = select(func.max(runs.c.number)).where(runs.c.dataset_id == dataset, *reading.match_partition(partition))
    return connection.execute(query).scalar() or 0


def _run_row(dataset: int, run: Run, revision: Revision, details: bytes) -> dict[str, Any]:
    return {
        "dataset_id": dataset,
        "sequence": revision.sequence,
        "partition": encode_name(run.partition),
        "number": revision.number,
        "place": encode_name(partition_sort_key(run.partition)),
        "standing": reading.indexed_order(run.partition),
        "run_key": run.key,
        "fingerprint": encode_name(run.fingerprint),
        "suite": encode_name(run.suite),
        "status": revision.status.value,
        "basis": run.basis,
        "at": run.at,
        "attempt": encode_name(run.attempt),
        "details": details,
        "source": encode_name(run.source),
        "awaits_decision": int(run.awaits_decision),
    }


def _find_run(connection: Connection, dataset: int, partition: str, number: int | None) -> Any:
    query = select(runs.c.sequence, runs.c.number).where(
        runs.c.dataset_id == dataset, *reading.match_partition(partition)
    )
    if number is not None:
        query = query.where(runs.c.number == number)
    return connection.execute(query.order_by(runs.c.number.desc()).limit(1)).first()


def _find_same_ruling(
    connection: Connection, dataset: int, wanted: Ruling, number: int, only_first: bool
) -> Ruling | None:
    """The same ruling, if an earlier attempt recorded it and its response was lost; or the current ruling, if its
    decision is the same, or stands.
    """
    current = None
    query = reading.select_rulings(dataset).where(*reading.match_partition(wanted.partition))
    for row in connection.execute(query):
        ruling = reading.make_ruling(wanted.dataset, row)
        if (ruling.at, ruling.decision, ruling.who, ruling.note) == (
            wanted.at,
            wanted.decision,
            wanted.who,
            wanted.note,
        ):
            return ruling
        current = ruling if ruling.number == number else current
    if current is None or only_first:
        return current
    return current if (current.decision, current.source) == (wanted.decision, wanted.source) else None


def _ruling_row(dataset: int, run: int, ruling: Ruling) -> dict[str, Any]:
    return {
        "dataset_id": dataset,
        "sequence": ruling.sequence,
        "run": run,
        "decision": ruling.decision.value,
        "who": encode_name(ruling.who),
        "note": encode_name(ruling.note),
        "at": ruling.at,
        "source": encode_name(ruling.source),
    }


def _mute_row(dataset: int, mute: Mute) -> dict[str, Any]:
    return {
        "dataset_id": dataset,
        "sequence": mute.sequence,
        "label": encode_name(mute.column),
        "until": mute.until,
        "who": encode_name(mute.who),
        "note": encode_name(mute.note),
        "at": mute.at,
    }
