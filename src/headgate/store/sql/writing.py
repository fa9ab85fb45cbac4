"""The two transactions that change a history: a run is committed, a decision is recorded.

Each first takes the dataset's lock by counting its head up, so that commits become visible in the order of their
sequences. Each may be run again after an unknown outcome: what it finds done, it leaves as it is.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Connection, func, insert, select, text, update

from headgate.store.fault_points import step
from headgate.store.record import Record
from headgate.store.sql import reading
from headgate.store.sql.contents import Contents
from headgate.store.sql.names import digest, kept
from headgate.store.sql.tables import datasets, rulings, runs
from headgate.values.errors import UnknownRun
from headgate.values.run import AlreadyCommitted, Revision, Ruling, Run, place


def commit(connection: Connection, run: Run, record: Record, contents: Contents) -> Revision:
    """Write a run. Nothing of it is there until the transaction is committed."""
    dataset, sequence = _counted_up(connection, run.dataset) or _made(connection, run.dataset)
    step("sql.locked")
    held = reading.by_key(connection, run.dataset, dataset, run.key)
    if held is not None:
        connection.rollback()
        if held.attempt == run.attempt:
            return held
        raise AlreadyCommitted(held)
    number = _next_number(connection, dataset, run.partition)
    revision = Revision.of(run, number=number, sequence=sequence)
    connection.execute(insert(runs), _run_row(dataset, run, revision, record.details))
    step("sql.run_written")
    contents.write(connection, dataset, sequence, record)
    return revision


def decide(connection: Connection, wanted: Ruling, number: int | None) -> Ruling:
    """Record a decision about revision `number`, or the newest. `wanted` is the ruling, but for number and sequence."""
    dataset, sequence = _counted_up(connection, wanted.dataset) or (0, 0)
    step("sql.locked")
    about = _run_of(connection, dataset, wanted.partition, number)
    if about is None:
        raise UnknownRun(wanted.dataset, wanted.partition, number)
    done = _already(connection, dataset, wanted, about.number)
    if done is not None:
        connection.rollback()
        return done
    ruling = msgspec.structs.replace(wanted, number=about.number, sequence=sequence)
    connection.execute(insert(rulings), _ruling_row(dataset, about.sequence, ruling))
    step("sql.ruling_written")
    return ruling


def _counted_up(connection: Connection, name: str) -> tuple[int, int] | None:
    """The id of a dataset and its next sequence, with the lock that keeps other writers of it waiting."""
    found = connection.execute(
        update(datasets)
        .where(datasets.c.digest == digest(name))
        .values(head=datasets.c.head + 1)
        .returning(datasets.c.id, datasets.c.head)
    ).first()
    return None if found is None else (found.id, found.head)


def _made(connection: Connection, name: str) -> tuple[int, int]:
    """A dataset's first commit. If two make it at once, one waits for the other and then finds it made."""
    connection.execute(
        text("INSERT INTO datasets (digest, name, head) VALUES (:digest, :name, 0) ON CONFLICT (digest) DO NOTHING"),
        {"digest": digest(name), "name": kept(name)},
    )
    counted = _counted_up(connection, name)
    assert counted is not None
    return counted


def _next_number(connection: Connection, dataset: int, partition: str) -> int:
    found = select(func.max(runs.c.number)).where(runs.c.dataset_id == dataset, *reading.of_partition(partition))
    return (connection.execute(found).scalar() or 0) + 1


def _run_row(dataset: int, run: Run, revision: Revision, details: bytes) -> dict[str, Any]:
    return {
        "dataset_id": dataset,
        "sequence": revision.sequence,
        "partition": kept(run.partition),
        "number": revision.number,
        "place": kept(place(run.partition)),
        "standing": reading.standing(run.partition),
        "run_key": run.key,
        "fingerprint": kept(run.fingerprint),
        "suite": kept(run.suite),
        "status": revision.status.value,
        "basis": run.basis,
        "at": run.at,
        "attempt": kept(run.attempt),
        "details": details,
    }


def _run_of(connection: Connection, dataset: int, partition: str, number: int | None) -> Any:
    found = select(runs.c.sequence, runs.c.number).where(runs.c.dataset_id == dataset, *reading.of_partition(partition))
    if number is not None:
        found = found.where(runs.c.number == number)
    return connection.execute(found.order_by(runs.c.number.desc()).limit(1)).first()


def _already(connection: Connection, dataset: int, wanted: Ruling, number: int) -> Ruling | None:
    """This very ruling, recorded before its acknowledgement was lost; or the one that stands, if it says the same."""
    standing = None
    said = reading.rulings_of(dataset).where(*reading.of_partition(wanted.partition))
    for row in connection.execute(said):
        each = reading.ruling(wanted.dataset, row)
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
        "who": kept(ruling.who),
        "note": kept(ruling.note),
        "at": ruling.at,
    }
