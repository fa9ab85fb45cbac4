"""The two transactions that change a history: a run is committed, a decision is recorded.

Each first takes the dataset's lock by counting its head up, so that commits become visible in the order of their
sequences. Each may be run again after an unknown outcome: what it finds done, it leaves as it is.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Connection, func, insert, select, text, update

from headgate.store.fault_points import fault_point
from headgate.store.record import Record
from headgate.store.sql import reading
from headgate.store.sql.contents import Contents
from headgate.store.sql.names import encode_name, hash_name
from headgate.store.sql.tables import datasets, rulings, runs
from headgate.values.errors import UnknownRun
from headgate.values.run import AlreadyCommitted, Revision, Ruling, Run, partition_sort_key


def commit(connection: Connection, run: Run, record: Record, contents: Contents) -> Revision:
    """Write a run. Nothing of it is there until the transaction is committed."""
    dataset, sequence = _lock_dataset(connection, run.dataset) or _create_dataset(connection, run.dataset)
    fault_point("sql.locked")
    held = reading.find_by_key(connection, run.dataset, dataset, run.key)
    if held is not None:
        connection.rollback()
        if held.attempt == run.attempt:
            return held
        raise AlreadyCommitted(held)
    number = _next_number(connection, dataset, run.partition)
    revision = Revision.of(run, number=number, sequence=sequence)
    connection.execute(insert(runs), _run_row(dataset, run, revision, record.details))
    fault_point("sql.run_written")
    contents.write(connection, dataset, sequence, record)
    return revision


def decide(connection: Connection, wanted: Ruling, number: int | None) -> Ruling:
    """Record a decision about revision `number`, or the newest. `wanted` is the ruling, but for number and sequence."""
    dataset, sequence = _lock_dataset(connection, wanted.dataset) or (0, 0)
    fault_point("sql.locked")
    about = _find_run(connection, dataset, wanted.partition, number)
    if about is None:
        raise UnknownRun(wanted.dataset, wanted.partition, number)
    done = _find_same_ruling(connection, dataset, wanted, about.number)
    if done is not None:
        connection.rollback()
        return done
    ruling = msgspec.structs.replace(wanted, number=about.number, sequence=sequence)
    connection.execute(insert(rulings), _ruling_row(dataset, about.sequence, ruling))
    fault_point("sql.ruling_written")
    return ruling


def _lock_dataset(connection: Connection, name: str) -> tuple[int, int] | None:
    """The id of a dataset and its next sequence, with the lock that keeps other writers of it waiting."""
    found = connection.execute(
        update(datasets)
        .where(datasets.c.digest == hash_name(name))
        .values(head=datasets.c.head + 1)
        .returning(datasets.c.id, datasets.c.head)
    ).first()
    return None if found is None else (found.id, found.head)


def _create_dataset(connection: Connection, name: str) -> tuple[int, int]:
    """A dataset's first commit. If two make it at once, one waits for the other and then finds it made."""
    connection.execute(
        text("INSERT INTO datasets (digest, name, head) VALUES (:digest, :name, 0) ON CONFLICT (digest) DO NOTHING"),
        {"digest": hash_name(name), "name": encode_name(name)},
    )
    counted = _lock_dataset(connection, name)
    assert counted is not None
    return counted


def _next_number(connection: Connection, dataset: int, partition: str) -> int:
    found = select(func.max(runs.c.number)).where(runs.c.dataset_id == dataset, *reading.match_partition(partition))
    return (connection.execute(found).scalar() or 0) + 1


def _run_row(dataset: int, run: Run, revision: Revision, details: bytes) -> dict[str, Any]:
    return {
        "dataset_id": dataset,
        "sequence": revision.sequence,
        "partition": encode_name(run.partition),
        "number": revision.number,
        "place": encode_name(partition_sort_key(run.partition)),
        "standing": reading.standing_of(run.partition),
        "run_key": run.key,
        "fingerprint": encode_name(run.fingerprint),
        "suite": encode_name(run.suite),
        "status": revision.status.value,
        "basis": run.basis,
        "at": run.at,
        "attempt": encode_name(run.attempt),
        "details": details,
    }


def _find_run(connection: Connection, dataset: int, partition: str, number: int | None) -> Any:
    found = select(runs.c.sequence, runs.c.number).where(
        runs.c.dataset_id == dataset, *reading.match_partition(partition)
    )
    if number is not None:
        found = found.where(runs.c.number == number)
    return connection.execute(found.order_by(runs.c.number.desc()).limit(1)).first()


def _find_same_ruling(connection: Connection, dataset: int, wanted: Ruling, number: int) -> Ruling | None:
    """This very ruling, recorded before its acknowledgement was lost; or the one that stands, if it says the same."""
    standing = None
    said = reading.select_rulings(dataset).where(*reading.match_partition(wanted.partition))
    for row in connection.execute(said):
        each = reading.make_ruling(wanted.dataset, row)
        if (each.at, each.decision, each.who, each.note) == (wanted.at, wanted.decision, wanted.who, wanted.note):
            return each
        standing = each if each.number == number else standing
    return standing if standing is not None and standing.decision is wanted.decision else None


def _ruling_row(dataset: int, run: int, ruling: Ruling) -> dict[str, Any]:
    return {
        "dataset_id": dataset,
        "sequence": ruling.sequence,
        "run": run,
        "decision": ruling.decision.value,
        "who": encode_name(ruling.who),
        "note": encode_name(ruling.note),
        "at": ruling.at,
    }
