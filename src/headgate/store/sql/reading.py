"""Queries for revisions, rulings and mutes, each served by an index."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, select, tuple_

from headgate.store.sql.names import LONGEST_INDEXED, decode_name, encode_name, hash_name
from headgate.store.sql.tables import datasets, mutes, rulings, runs
from headgate.values.expectation import Status
from headgate.values.mute import Mute
from headgate.values.run import Decision, Revision, Ruling, partition_sort_key

_REVISION_COLUMNS = [column for column in runs.c if column.name != "details"]
_LARGEST_PAGE = 5_000


def find_dataset(connection: Connection, name: str) -> tuple[int, int]:
    """The id and the head of a dataset; zeros if it has no commits."""
    row = connection.execute(select(datasets.c.id, datasets.c.head).where(datasets.c.digest == hash_name(name))).first()
    return (row.id, row.head) if row is not None else (0, 0)


def indexed_order(partition: str) -> str:
    """The start of a partition's sort key, short enough for an index. It is stored in the column `standing`."""
    return encode_name(partition_sort_key(partition))[:LONGEST_INDEXED]


def read_revisions(connection: Connection, name: str, partition: str | None, as_of: int | None) -> tuple[Revision, ...]:
    number, head = find_dataset(connection, name)
    commit = head if as_of is None else as_of
    query = select(*_REVISION_COLUMNS, _select_decision(commit).label("decision")).where(
        runs.c.dataset_id == number, runs.c.sequence <= commit
    )
    if partition is not None:
        query = query.where(*match_partition(partition))
    return tuple(make_revision(name, each) for each in connection.execute(query.order_by(runs.c.sequence)))


def read_undecided(connection: Connection, name: str) -> tuple[Revision, ...]:
    number, _ = find_dataset(connection, name)
    query = select(*_REVISION_COLUMNS).where(*match_undecided(number))
    return tuple(make_revision(name, each) for each in connection.execute(query.order_by(runs.c.sequence)))


def match_undecided(number: int) -> tuple[ColumnElement[bool], ...]:
    """The runs of a dataset that a gate still has to decide about."""
    known = datasets.alias()  # of its own, as the statement around it may update the same table
    settled = select(known.c.settled).where(known.c.id == number).scalar_subquery()
    about = (rulings.c.dataset_id == runs.c.dataset_id) & (rulings.c.run == runs.c.sequence)
    return (
        runs.c.dataset_id == number,
        runs.c.sequence > settled,
        runs.c.awaits_decision == 1,
        ~select(rulings.c.sequence).where(about).exists(),
    )


def match_partition(partition: str) -> tuple[ColumnElement[bool], ...]:
    return runs.c.standing == indexed_order(partition), runs.c.partition == encode_name(partition)


def find_by_key(connection: Connection, name: str, number: int, key: str) -> Revision | None:
    row = connection.execute(
        select(*_REVISION_COLUMNS).where(runs.c.dataset_id == number, runs.c.run_key == key)
    ).first()
    return None if row is None else make_revision(name, row)


def read_rulings(connection: Connection, name: str, partition: str | None, as_of: int | None) -> tuple[Ruling, ...]:
    number, head = find_dataset(connection, name)
    query = select_rulings(number).where(rulings.c.sequence <= (head if as_of is None else as_of))
    if partition is not None:
        query = query.where(*match_partition(partition))
    return tuple(make_ruling(name, each) for each in connection.execute(query))


def read_mutes(connection: Connection, name: str, as_of: int | None) -> tuple[Mute, ...]:
    number, head = find_dataset(connection, name)
    query = select(mutes).where(mutes.c.dataset_id == number, mutes.c.sequence <= (head if as_of is None else as_of))
    return tuple(_make_mute(name, each) for each in connection.execute(query.order_by(mutes.c.sequence)))


def select_rulings(number: int) -> Select[Any]:
    """A query for all rulings of a dataset, each with the partition and number of its run."""
    about = (runs.c.dataset_id == rulings.c.dataset_id) & (runs.c.sequence == rulings.c.run)
    return (
        select(rulings, runs.c.partition, runs.c.number)
        .join_from(rulings, runs, about)
        .where(rulings.c.dataset_id == number)
        .order_by(rulings.c.sequence)
    )


def read_last(
    connection: Connection,
    name: str,
    wanted: int,
    as_of: int | None,
    end: str | None,
    only: Collection[Decision] | None,
    *,
    forwards: bool = False,
) -> tuple[Revision, ...]:
    """The newest revisions of the last partitions before one, or forwards of the first after one (see `HistoryStore`).

    The index is read a page at a time. The first row of each partition is its newest revision.
    """
    number, head = find_dataset(connection, name)
    commit = head if as_of is None else min(as_of, head)  # later commits are not seen, so that all pages agree
    chosen: dict[str, Revision] = {}
    bound = None if end is None else (indexed_order(end), encode_name(partition_sort_key(end)), encode_name(end))
    page = min(max(2 * wanted, 64), _LARGEST_PAGE)
    while number and len(chosen) < wanted:
        rows = connection.execute(select_in_order(number, commit, bound, only, forwards).limit(page)).all()
        for row in rows:
            chosen.setdefault(row.partition, make_revision(name, row))
        if len(rows) < page:
            break
        bound = rows[-1].standing, rows[-1].place, rows[-1].partition
    found = list(chosen.values())[: max(0, wanted)]
    return tuple(found if forwards else reversed(found))


def select_in_order(
    number: int,
    commit: int,
    bound: tuple[str, str, str] | None,
    only: Collection[Decision] | None,
    forwards: bool = False,
) -> Select[Any]:
    """A query for revisions in descending or ascending partition order, the newest of each partition first."""
    decision = _select_decision(commit)
    query = select(*_REVISION_COLUMNS, decision.label("decision")).where(
        runs.c.dataset_id == number, runs.c.sequence <= commit
    )
    if bound is not None:
        # `standing` is indexed but cut short, so the full sort key decides among rows that share it
        prefix, *exact = bound
        place = tuple_(runs.c.place, runs.c.partition)
        if forwards:
            query = query.where(runs.c.standing >= prefix, place > tuple_(*exact))
        else:
            query = query.where(runs.c.standing <= prefix, place < tuple_(*exact))
    if only is not None:
        query = query.where(decision.in_([each.value for each in only]))
    order = [runs.c.standing, runs.c.place, runs.c.partition]
    return query.order_by(*(each if forwards else each.desc() for each in order), runs.c.sequence.desc())


def make_revision(name: str, row: Any) -> Revision:
    decision = row._mapping.get("decision")
    return Revision(
        dataset=name,
        partition=decode_name(row.partition),
        number=row.number,
        sequence=row.sequence,
        fingerprint=decode_name(row.fingerprint),
        suite=decode_name(row.suite),
        status=Status(row.status),
        basis=row.basis,
        at=row.at,
        attempt=decode_name(row.attempt),
        decision=None if decision is None else Decision(decision),
        source=decode_name(row.source),
        awaits_decision=bool(row.awaits_decision) and decision is None,
    )


def make_ruling(name: str, row: Any) -> Ruling:
    return Ruling(
        dataset=name,
        partition=decode_name(row.partition),
        number=row.number,
        sequence=row.sequence,
        decision=Decision(row.decision),
        who=decode_name(row.who),
        note=decode_name(row.note),
        at=row.at,
        source=decode_name(row.source),
    )


def _make_mute(name: str, row: Any) -> Mute:
    return Mute(
        dataset=name,
        sequence=row.sequence,
        column=decode_name(row.label),
        until=row.until,
        who=decode_name(row.who),
        note=decode_name(row.note),
        at=row.at,
    )


def _select_decision(commit: int) -> ColumnElement[str | None]:
    """A subquery for the current decision about a run as of a commit."""
    return (
        select(rulings.c.decision)
        .where(
            rulings.c.dataset_id == runs.c.dataset_id, rulings.c.run == runs.c.sequence, rulings.c.sequence <= commit
        )
        .order_by(rulings.c.sequence.desc())
        .limit(1)
        .scalar_subquery()
    )
