"""Checks of the store: each problem is seen, and nothing is changed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from headgate.cli.doctor.store import check_store
from headgate.store.files import places
from headgate.store.files.identity import Identity
from headgate.store.open import open_store
from headgate.values.codec import Head, seal
from tests.cli.doctor.configured import CANARY, configure, files, free_port, levels, run_doctor, without
from tests.store import postgres
from tests.store.backends import s3_server
from tests.store.s3 import BUCKET


def test_a_store_under_a_file_is_a_problem() -> None:
    configure(store="file:headgate.yml/history")
    assert "is not a folder" in run_doctor(code=3).output


def test_a_newer_format_is_a_problem(tmp_path: Path) -> None:
    identity = msgspec.msgpack.encode(Identity(99, b"", b""))
    (tmp_path / places.STORE).write_bytes(seal(identity, Head("store", "")))
    *_, last = check_store(f"file://{tmp_path}")
    assert (last.level, last.hint) == ("problem", "Upgrade headgate.")


def test_an_unknown_kind_of_store_is_a_mistake_in_the_configuration() -> None:
    configure(store=f"mysql://ann:{CANARY}@host/db")
    said = run_doctor("-vv", code=2).output
    assert "mysql: is not a kind of store" in said
    assert CANARY not in said


def test_sqlite_is_looked_at_and_left_as_it_is(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/history.db"
    assert levels(list(check_store(url))) == ["ok", "ok"]
    assert files() == []
    open_store(url).close()
    before = Path("history.db").read_bytes()
    found = list(check_store(url))
    assert levels(found) == ["ok"] * 4
    assert "revision 0003" in found[2].message
    assert files() == ["history.db"]
    assert Path("history.db").read_bytes() == before


def test_a_newer_schema_is_a_problem(tmp_path: Path) -> None:
    import sqlite3

    url = f"sqlite:///{tmp_path}/history.db"
    open_store(url).close()
    database = sqlite3.connect("history.db")
    database.execute("UPDATE headgate_version SET version_num = '9999'")
    database.commit()
    database.close()
    *_, last = check_store(url)
    assert (last.level, last.hint) == ("problem", "Upgrade headgate.")


def test_what_is_no_database_is_a_problem() -> None:
    Path("history.db").write_text(
        "this is no database, but it is long enough to be taken for one" * 20, encoding="utf-8"
    )
    configure(store="sqlite:///history.db")
    assert "it cannot be used" in run_doctor(code=3).output


@pytest.mark.parametrize(
    ("store", "package", "extra"),
    [
        ("sqlite:///x.db", "sqlalchemy", "sql"),
        ("s3://b/dq", "obstore", "objects"),
        ("postgresql://h/d", "psycopg", "postgresql"),
    ],
)
def test_an_extra_that_the_store_needs_is_named(
    monkeypatch: pytest.MonkeyPatch, store: str, package: str, extra: str
) -> None:
    configure(store)
    without(monkeypatch, package)
    assert f'pip install "headgate[{extra}]"' in run_doctor(code=3).output


def test_postgresql_is_looked_at_without_making_its_tables() -> None:
    url = postgres.server().database()
    try:
        (found,) = check_store(url)
        assert found.message == "there is no history yet; the first run makes it"
        (again,) = check_store(url)
        assert again == found
        open_store(url).close()
        assert levels(list(check_store(url))) == ["ok", "ok"]
    finally:
        postgres.server().drop(url)


def test_a_server_that_is_not_there_is_a_problem_and_its_password_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HG_STORE", f"postgresql+psycopg://ann:{CANARY}@127.0.0.1:{free_port()}/dq")
    configure(store="${env:HG_STORE}")
    result = run_doctor("-vv", code=3)
    assert "it cannot be used" in result.output
    assert CANARY not in result.output + result.stderr


def test_a_bucket_is_written_to_and_left_as_it_was() -> None:
    from headgate.store.files.objects import Objects

    with s3_server().used():
        assert levels(list(check_store(f"s3://{BUCKET}/doctor"))) == ["ok"]
        blobs = Objects.at(f"s3://{BUCKET}/doctor")
        assert blobs.folders() == []
        open_store(f"s3://{BUCKET}/doctor").close()
        assert levels(list(check_store(f"s3://{BUCKET}/doctor"))) == ["ok", "ok"]
        blobs.close()
