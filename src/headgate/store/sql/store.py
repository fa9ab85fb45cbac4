"""The history store over SQL. Each operation is one transaction, which is retried if its outcome is unknown."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
from sqlalchemy import URL, Connection, select

from headgate.store.fault_points import fault_point
from headgate.store.port import Series
from headgate.store.record import key_texts, make_record, open_states, restore_run
from headgate.store.sql import reading, retry, upgrade, writing
from headgate.store.sql.connection import begin_write, engine_for, parse_url, redact_url
from headgate.store.sql.contents import contents_of
from headgate.store.sql.database_file import DatabaseFile, LostFile
from headgate.store.sql.names import decode_name
from headgate.store.sql.tables import datasets
from headgate.values.errors import MisuseError, StoreUnavailable
from headgate.values.key import MetricKey
from headgate.values.mute import Mute
from headgate.values.run import Decision, Revision, Ruling, Run
from headgate.values.state import State

_Result = TypeVar("_Result")


class SqlStore:
    """A history in a database. Threads may share it; each process must open its own.

    `patience` is how long a read or a write is retried if the database cannot be reached, in seconds.
    """

    patience = 60.0
    patience_to_open = 10.0

    def __init__(self, url: URL, *, hide: bool = True, secret: bytes | None = None) -> None:
        self.secret: bytes | None = None
        self._url = url
        self._hide = hide
        self._secret_given = secret
        self._engine = engine_for(url)
        self._file = DatabaseFile(url, self._engine) if url.get_backend_name() == "sqlite" else None
        self._is_loaded = False
        self._owner = os.getpid()

    @classmethod
    def open(cls, url: str, *, hide: bool = True, secret: bytes | None = None) -> SqlStore:
        """Open the history in a database; the schema is created or upgraded."""
        store = cls(parse_url(url), hide=hide, secret=secret)
        try:
            store._with_retries(lambda: store._read_once(lambda _: None), cls.patience_to_open)
        except BaseException:
            store.close()
            raise
        return store

    def __repr__(self) -> str:
        return f"SqlStore({redact_url(self._url)!r})"

    def commit(self, run: Run) -> Revision:
        record = make_record(run, self.secret)
        return self._write(lambda connection: writing.commit(connection, run, record))

    def decide(
        self,
        dataset: str,
        partition: str,
        decision: Decision,
        *,
        number: int | None = None,
        who: str = "",
        note: str = "",
        source: str = "",
        only_first: bool = False,
    ) -> Ruling:
        wanted = Ruling(
            dataset=dataset,
            partition=partition,
            number=0,
            sequence=0,
            decision=Decision(decision),
            who=who,
            note=note,
            source=source,
        )
        return self._write(lambda connection: writing.decide(connection, wanted, number, only_first))

    def datasets(self) -> tuple[str, ...]:
        names = self._read(lambda connection: connection.execute(select(datasets.c.name)).scalars().all())
        return tuple(sorted(map(decode_name, names)))

    def head(self, dataset: str) -> int:
        return self._read(lambda connection: reading.find_dataset(connection, dataset)[1])

    def revisions(
        self, dataset: str, partition: str | None = None, *, as_of: int | None = None
    ) -> tuple[Revision, ...]:
        return self._read(lambda connection: reading.read_revisions(connection, dataset, partition, as_of))

    def find_undecided(self, dataset: str) -> tuple[Revision, ...]:
        return self._read(lambda connection: reading.read_undecided(connection, dataset))

    def rulings(self, dataset: str, partition: str | None = None, *, as_of: int | None = None) -> tuple[Ruling, ...]:
        return self._read(lambda connection: reading.read_rulings(connection, dataset, partition, as_of))

    def mute(self, dataset: str, column: str, until: float | None, *, who: str = "", note: str = "") -> Mute:
        wanted = Mute(dataset=dataset, sequence=0, column=column, until=until, who=who, note=note)
        return self._write(lambda connection: writing.mute(connection, wanted))

    def mutes(self, dataset: str, *, as_of: int | None = None) -> tuple[Mute, ...]:
        return self._read(lambda connection: reading.read_mutes(connection, dataset, as_of))

    def last(
        self,
        dataset: str,
        runs: int,
        *,
        as_of: int | None = None,
        before: str | None = None,
        only: Collection[Decision] | None = None,
    ) -> tuple[Revision, ...]:
        return self._read(lambda connection: reading.read_last(connection, dataset, runs, as_of, before, only))

    def first(
        self,
        dataset: str,
        runs: int,
        *,
        after: str,
        as_of: int | None = None,
        only: Collection[Decision] | None = None,
    ) -> tuple[Revision, ...]:
        return self._read(
            lambda connection: reading.read_last(connection, dataset, runs, as_of, after, only, forwards=True)
        )

    def series(self, revisions: Sequence[Revision], metrics: Iterable[MetricKey | str] | None = None) -> Series:
        wanted = key_texts(metrics)
        if not revisions:
            keys = tuple(map(MetricKey.parse, wanted or ()))
            return Series((), keys, np.empty((0, len(keys))))
        _require_one_dataset(revisions)
        return self._read(lambda connection: contents_of(connection).series(connection, revisions, wanted))

    def states(
        self, revisions: Sequence[Revision], keys: Iterable[MetricKey | str] | None = None
    ) -> list[dict[MetricKey, State]]:
        wanted = key_texts(keys)
        if not revisions:
            return []
        _require_one_dataset(revisions)
        sealed = self._read(lambda connection: contents_of(connection).states(connection, revisions, wanted))
        return list(map(open_states, sealed))

    def run(self, revision: Revision, *, states: bool = True) -> Run:
        return restore_run(
            revision, self._read(lambda connection: contents_of(connection).record(connection, revision)), states
        )

    def close(self) -> None:
        self._engine.dispose(close=self._owner == os.getpid())

    def _read(self, work: Callable[[Connection], _Result]) -> _Result:
        return self._with_retries(lambda: self._read_once(work), self.patience)

    def _write(self, work: Callable[[Connection], _Result]) -> _Result:
        return self._with_retries(lambda: self._write_once(work), self.patience)

    def _read_once(self, work: Callable[[Connection], _Result]) -> _Result:
        with self._open_connection() as connection:
            return work(connection)

    def _write_once(self, work: Callable[[Connection], _Result]) -> _Result:
        with self._open_connection() as connection:
            fault_point("sql.before_begin")
            begin_write(connection)
            result = work(connection)
            fault_point("sql.before_commit")
            connection.commit()
            fault_point("sql.after_commit")
            return result

    @contextmanager
    def _open_connection(self) -> Iterator[Connection]:
        """A connection, which is not reused if an error occurred on it, or if its file was deleted or replaced."""
        with self._engine.connect() as connection:
            try:
                self._require_file(connection)
                if not self._is_loaded:
                    self._load(connection)
                yield connection
                self._require_file(connection)
            except LostFile:
                connection.invalidate()
                self._engine.dispose()
                self._is_loaded = False
                raise
            except retry.driver_errors(self._engine):
                connection.invalidate()
                raise

    def _require_file(self, connection: Connection) -> None:
        if self._file is not None:
            self._file.require_unchanged(connection)

    def _load(self, connection: Connection) -> None:
        """Read what the database says of itself. Opening a store creates its schema; later it must be there."""
        if self._file is not None and self._file.must_exist:
            upgrade.require_schema(connection)
        else:
            upgrade.ensure_schema(connection, self._secret_given)
        self.secret = upgrade.secret_of(connection, self._hide, self._secret_given)
        if self._file is not None:
            self._file.must_exist = True
        self._is_loaded = True

    def _with_retries(self, work: Callable[[], _Result], patience: float) -> _Result:
        """Run `work`, and again if the connection is lost. Work that writes must find what an earlier attempt wrote."""
        if self._owner != os.getpid():  # connections do not survive a fork
            self._engine.dispose(close=False)
            self._owner = os.getpid()
        failure: StoreUnavailable | None = None
        for _ in retry.attempts_within(patience):
            try:
                return work()
            except retry.driver_errors(self._engine) as error:
                failure = retry.as_unavailable(error, self._url)
                if not retry.is_transient(error):
                    break
                self._engine.dispose()  # pooled connections are likely lost as well
        assert failure is not None
        raise failure


def _require_one_dataset(revisions: Sequence[Revision]) -> None:
    if len({each.dataset for each in revisions}) > 1:
        raise MisuseError("these revisions are of several datasets.", hint="Ask for each dataset by itself.")
