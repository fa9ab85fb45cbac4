"""What the store in SQL must do beyond the contract: schema, plans, lost connections, and what it never tells."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, event, text

from headgate.store.fault_points import watch
from headgate.store.open import open_store
from headgate.store.sql import SqlStore, reading, upgrade
from headgate.store.sql.names import decode_name, encode_name
from headgate.store.sql.tables import metadata
from headgate.store.sql.values import WIDTH
from headgate.values.errors import MisuseError, NewerFormat, StoreUnavailable
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.run import AlreadyCommitted, Decision, Run
from tests.store import postgres
from tests.store.runs import a_run, a_small_run

LOST: dict[str, Exception] = {
    "sqlite": sqlite3.OperationalError("database is locked"),
    "postgresql": psycopg.OperationalError("server closed the connection unexpectedly"),
}
LOST["sqlite"].sqlite_errorcode = sqlite3.SQLITE_BUSY  # type: ignore[attr-defined]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database of the test's own."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/history.db"
    else:
        address = postgres.server().database()
        yield address
        postgres.server().drop(address)


@pytest.fixture
def opened(url: str) -> Iterator[Callable[..., SqlStore]]:
    stores: list[SqlStore] = []

    def opener(**options: Any) -> SqlStore:
        stores.append(SqlStore.open(url, **options))
        return stores[-1]

    yield opener
    for store in stores:
        store.close()


@pytest.fixture
def database(url: str) -> Iterator[Engine]:
    """A way past the store."""
    engine = create_engine(url)
    yield engine
    engine.dispose()


def rows(database: Engine, query: str, **given: Any) -> list[Any]:
    with database.begin() as connection:
        return list(connection.execute(text(query), given).all())


def at_once(url: str, script: str, processes: int = 4) -> list[str]:
    """What processes say that run a script at the same time; `url` and `mine`, the process's number, are given."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    commands = [[sys.executable, "-c", f"url, mine = {url!r}, {mine}\n{script}"] for mine in range(processes)]
    running = [
        subprocess.Popen(each, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for each in commands
    ]
    said = [each.communicate(timeout=120)[0] for each in running]
    assert [each.returncode for each in running] == [0] * processes, said
    return said


def numbered(partition: str, values: dict[str, float], **given: Any) -> Run:
    outcomes = {MetricKey.parse(key): Measured(value) for key, value in values.items()}
    return msgspec.structs.replace(a_small_run(partition, **given), outcomes=outcomes)


def kind_of(url: str) -> str:
    return url.partition(":")[0].partition("+")[0]


# The schema.


def test_the_migrations_lead_to_the_tables(opened: Callable[..., SqlStore], database: Engine) -> None:
    opened()
    with database.connect() as connection:
        options = {"include_name": lambda name, kind, _: name not in ("metric_values", "headgate_version")}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), metadata) == []
    scripts = ScriptDirectory(str(Path(upgrade.__file__).parent / "migrations"))
    assert [each.revision for each in scripts.walk_revisions()] == list(reversed(upgrade.REVISIONS))


def test_a_store_that_is_up_to_date_opens_without_alembic(url: str, opened: Callable[..., SqlStore]) -> None:
    opened()
    script = "import sys\nfrom headgate.store.open import open_store\nopen_store(url).close()\nprint(*sys.modules)"
    assert "alembic" not in at_once(url, script, 1)[0].split()


def test_a_store_of_an_older_version_is_upgraded_and_keeps_its_history(
    url: str, opened: Callable[..., SqlStore], database: Engine
) -> None:
    store = opened()
    store.commit(a_small_run("p1"))
    store.close()
    with database.begin() as connection:  # as version 0002 left it
        connection.execute(text("DROP TABLE mutes"))
        connection.execute(text("UPDATE headgate_version SET version_num = '0002'"))
    again = opened()
    assert again.mutes("orders") == ()
    muted = again.mute("orders", "price", 1.79e9)
    assert again.mutes("orders") == (muted,)
    assert [each.partition for each in again.revisions("orders")] == ["p1"]


def test_a_newer_schema_is_refused(opened: Callable[..., SqlStore], database: Engine) -> None:
    opened().commit(a_small_run("p1"))
    with database.begin() as connection:
        connection.execute(text("UPDATE headgate_version SET version_num = '9999'"))
    with pytest.raises(NewerFormat, match=r"revision 9999.*Upgrade headgate"):
        opened()


def test_a_newer_format_is_refused(opened: Callable[..., SqlStore], database: Engine) -> None:
    opened()
    with database.begin() as connection:
        connection.execute(text("UPDATE store_info SET format = 2"))
    for hide in (True, False):
        with pytest.raises(NewerFormat, match=r"format 2.*Upgrade headgate"):
            opened(hide=hide)


def test_four_processes_may_make_the_store_at_once(url: str, database: Engine) -> None:
    script = (
        "from headgate.store.open import open_store\nstore = open_store(url)\nprint(store.secret.hex())\nstore.close()"
    )
    assert len(set(at_once(url, script))) == 1
    assert rows(database, "SELECT count(*) FROM store_info") == [(1,)]


def test_sqlite_keeps_what_it_has_acknowledged(tmp_path: Path) -> None:
    store = SqlStore.open(f"sqlite:///{tmp_path}/history.db")
    with store._engine.connect() as connection:
        asked = ["journal_mode", "synchronous", "foreign_keys", "page_size", "busy_timeout"]
        found = [connection.exec_driver_sql(f"PRAGMA {each}").scalar() for each in asked]
    assert found == ["wal", 2, 1, 8192, 30_000]
    store.close()


def test_a_user_who_may_only_read_and_append_is_enough_and_a_schema_of_its_own_is_kept_to() -> None:
    server = postgres.server()
    address = server.database()
    mine = f"{address}?options=-csearch_path%3Ddq"
    with server.connect(address) as connection:
        connection.execute("CREATE SCHEMA dq")
        SqlStore.open(mine).close()
        connection.execute("CREATE ROLE writer LOGIN PASSWORD 'writer'")
        connection.execute("GRANT USAGE ON SCHEMA dq TO writer; GRANT USAGE ON SEQUENCE dq.datasets_id_seq TO writer")
        connection.execute("GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA dq TO writer")
        connection.execute("GRANT UPDATE ON dq.datasets TO writer")
    store = SqlStore.open(mine.replace(f"{postgres.USER}:{postgres.PASSWORD}", "writer:writer"))
    revision = store.commit(a_run())
    store.decide("orders", "2026-11-14", Decision.PUBLISHED)
    assert store.run(revision).partition == "2026-11-14"
    store.close()
    with server.connect(address) as connection:
        connection.execute("DROP OWNED BY writer; DROP ROLE writer")
    server.drop(address)


# Numbers, and the view for people.


def test_metrics_beyond_one_row_and_later_ones_find_their_place(opened: Callable[..., SqlStore]) -> None:
    store = opened()
    many = {f"mean(c{at})": at / 3 for at in range(2 * WIDTH + 5)}
    later = {f"mean(d{at})": -float(at) for at in range(WIDTH)}
    first = store.commit(numbered("p1", many))
    second = opened().commit(numbered("p2", later))
    third = store.commit(numbered("p3", {**many, **later}))
    series = store.series([third, first, second])
    assert len(series.metrics) == len(many) + len(later)
    assert list(map(str, series.metrics)) == sorted({**many, **later})
    for key, value in {**many, **later}.items():
        expected = [value, value if key in many else np.nan, value if key in later else np.nan]
        assert np.array_equal(series.of(key), expected, equal_nan=True)
    assert store.run(second).outcomes == numbered("p2", later).outcomes
    assert store.series([first, first], ["mean(c3)"]).of("mean(c3)").tolist() == [1.0, 1.0]


def test_a_dictionary_that_was_put_back_is_read_anew(opened: Callable[..., SqlStore], database: Engine) -> None:
    store = opened()
    store.commit(numbered("p1", {"mean(a)": 1.0}))
    store.series(store.last("orders", 1))
    with database.begin() as connection:
        connection.execute(text("UPDATE series SET key = 'mean(other)'"))
    assert list(map(str, store.series(store.last("orders", 1)).metrics)) == ["mean(other)"]


def test_nan_is_not_kept(opened: Callable[..., SqlStore]) -> None:
    store = opened()
    with pytest.raises(MisuseError, match="NaN"):
        store.commit(numbered("p1", {"mean(a)": float("nan")}))
    assert store.datasets() == ()


def test_the_view_says_what_the_store_says(opened: Callable[..., SqlStore], database: Engine) -> None:
    store = opened()
    odd = [0.0, -0.0, 1 / 3, 5e-324, 1.7976931348623157e308, 2.0**53 + 2, 7.0, -3.0]
    values = {f"mean(c{at})": odd[at % len(odd)] for at in range(WIDTH + 10)}
    for at in range(3):
        store.commit(numbered(f"p{at}", values, seed=at, at=1_700_000_000.5 + at))
    store.commit(numbered("p1", {"mean(c0)": 42.0}, seed=9))
    store.commit(numbered("p1", {"mean(c0)": 1.0}, dataset="other"))
    store.decide("orders", "p2", Decision.HELD)
    found = rows(database, "SELECT * FROM metric_history WHERE dataset = 'orders' ORDER BY sequence, metric")
    revisions = store.revisions("orders")
    series = store.series(revisions)
    assert len(found) == int(np.isfinite(series.values).sum())
    numbers = {each.sequence: dict(zip(map(str, series.metrics), row, strict=True)) for each, row in zip(
        series.revisions, series.values, strict=True)}  # fmt: skip
    for row in found:
        assert np.float64(row.value).tobytes() == numbers[row.sequence][row.metric].tobytes()
    assert {(row.partition, row.revision, row.decision, bool(row.is_latest)) for row in found} == {
        ("p0", 1, None, True), ("p1", 1, None, False), ("p2", 1, "held", True), ("p1", 2, None, True)
    }  # fmt: skip
    at = found[0].at if isinstance(found[0].at, datetime) else datetime.fromisoformat(found[0].at)
    assert at == datetime.fromtimestamp(1_700_000_000.5, UTC)


# Names.


def test_names_of_any_characters_and_length_are_kept_in_order(opened: Callable[..., SqlStore]) -> None:
    store = opened()
    odd = random.Random(1)
    names = ["a\0b", "a\1b", "a\0\1", "a\1\2", "a", "\1", "1 " * 500, "1 " * 499 + "2"]
    names += ["".join(chr(odd.randrange(0x1F300, 0x1FAFF)) for _ in range(1000)) for _ in range(3)]
    for at, name in enumerate(names):
        store.commit(a_small_run(name, dataset=name, seed=at))
        store.commit(a_small_run(name, seed=at))
    assert [each.partition for each in store.last("orders", 99)] == sorted(names, key=reading.partition_sort_key)
    assert store.datasets() == tuple(sorted([*names, "orders"]))
    assert all(decode_name(encode_name(name)) == name for name in names)


def test_half_a_surrogate_pair_is_misuse(opened: Callable[..., SqlStore]) -> None:
    with pytest.raises(MisuseError, match="surrogate"):
        opened().commit(a_small_run("\ud800"))
    with pytest.raises(MisuseError, match="surrogate"):
        opened().revisions("\udfff")
    with pytest.raises(MisuseError, match="surrogate"):
        opened().commit(numbered("p1", {'mean("\ud800")': 1.0}))


# Plans.


def explained(url: str, database: Engine, query: str) -> str:
    """The plan of a query on a database with statistics, as text."""
    with database.connect() as connection:
        connection.execute(text("ANALYZE"))
        how = "EXPLAIN" if kind_of(url) == "postgresql" else "EXPLAIN QUERY PLAN"
        return "\n".join(str(row[-1]) for row in connection.exec_driver_sql(f"{how} {query.replace('%', '%%')}"))


def many_runs(database: Engine, count: int) -> None:
    """Runs written past the store, and quickly, for plans that differ with size."""
    with database.begin() as connection:
        connection.execute(
            text(
                f"{counting(count)} INSERT INTO runs SELECT 1, 1 + i, 'p' || (1000000 + i), 1, 'p' || (1000000 + i), "
                "'p' || (1000000 + i), 'k' || i, 'f', '', 'pass', 0, 0.0, 'a', :details, '', 0 FROM n"
            ),
            {"details": b""},
        )
        connection.execute(text(f"UPDATE datasets SET head = {count + 1}"))


def counting(count: int) -> str:
    return f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"


def test_the_last_runs_are_read_from_the_index(url: str, opened: Callable[..., SqlStore], database: Engine) -> None:
    store = opened()
    store.commit(a_small_run("p0"))
    many_runs(database, 20_000)
    query = reading.select_in_order(1, 20_001, ("p9", "p9", "p9"), None).limit(180)
    plan = explained(url, database, str(query.compile(database, compile_kwargs={"literal_binds": True})))
    assert "runs_in_order" in plan
    if kind_of(url) == "postgresql":
        assert "Index Scan Backward using runs_in_order" in plan
        assert "Seq Scan on runs" not in plan
        assert "Incremental Sort" in plan
        assert "Presorted Key: runs.standing\n" in plan
    else:
        assert "SCAN" not in plan
        assert "USE TEMP B-TREE FOR ORDER BY" not in plan
    assert [each.partition for each in store.last("orders", 2)] == ["p1019999", "p1020000"]


def test_one_metric_in_the_view_is_read_from_indexes(
    url: str, opened: Callable[..., SqlStore], database: Engine
) -> None:
    store = opened()
    store.commit(numbered("p0", {f"mean(c{at})": float(at) for at in range(24 * WIDTH)}))
    many_runs(database, 400)
    numbers = ", ".join(["i / 3.0"] * WIDTH)
    with database.begin() as connection:
        blocks = "SELECT block FROM metric_values WHERE sequence = 1"
        connection.execute(
            text(
                f"{counting(400)} INSERT INTO metric_values SELECT 1, i + 1, block, {numbers} FROM n, ({blocks}) blocks"
            )
        )
    query = "SELECT at, value FROM metric_history WHERE dataset = 'orders' AND metric = 'mean(c200)' AND is_latest"
    plan = explained(url, database, query)
    assert "metric_values_pkey" in plan or "sqlite_autoindex_metric_values_1" in plan, plan
    assert len(rows(database, query)) == 401


def test_many_named_states_are_one_question(opened: Callable[..., SqlStore]) -> None:
    store = opened()
    revisions = [store.commit(a_run(f"p{at}", seed=at)) for at in range(5)]
    keys = list(store.states(revisions[:1])[0])[:3]
    store.states(revisions, keys)
    asked: list[str] = []
    event.listen(store._engine, "checkout", lambda *_: asked.append("connection"))
    found = store.states(revisions, keys)
    assert [set(each) for each in found] == [set(keys)] * 5
    assert len(asked) == 1


# Writers.


@pytest.mark.parametrize("shared", [True, False], ids=["one dataset", "a dataset each"])
def test_four_processes_write_at_once(url: str, opened: Callable[..., SqlStore], shared: bool) -> None:
    script = f"""
from headgate.store.open import open_store
from tests.store.runs import a_small_run
store = open_store(url)
for at in range(25):
    store.commit(a_small_run(f"{{mine}}-{{at}}", dataset="orders" if {shared} else f"orders {{mine}}", seed=mine))
store.close()
"""
    at_once(url, script)
    store = opened()
    for name in store.datasets():
        found = store.revisions(name)
        assert [each.sequence for each in found] == list(range(1, (100 if shared else 25) + 1))
        assert store.series(found, ["size()"]).of("size()").tolist() == [
            float(each.partition.partition("-")[0]) for each in found
        ]


def test_a_store_may_be_used_after_a_fork(url: str) -> None:
    script = """
import os
from headgate.store.open import open_store
from tests.store.runs import a_small_run
store = open_store(url)
store.commit(a_small_run("before"))
child = os.fork()
store.commit(a_small_run("child" if child == 0 else "parent"))
store.close()
if child:
    assert os.waitpid(child, 0)[1] == 0
    store = open_store(url)
    print(store.head("orders"))
    store.close()
"""
    assert at_once(url, script, 1)[0].strip() == "3"


# Lost connections and full disks.


def failing(name: str, error: Exception, times: int = 1) -> Callable[[str], None]:
    """A watcher under which the connection is lost at a step."""
    left = [times]

    def watcher(step: str) -> None:
        if step == name and left[0]:
            left[0] -= 1
            raise error

    return watcher


STEPS = ["before_begin", "locked", "run_written", "values_written", "states_written", "before_commit", "after_commit"]


@pytest.mark.parametrize("step", STEPS)
def test_a_connection_lost_at_any_step_leaves_one_run(
    url: str, opened: Callable[..., SqlStore], database: Engine, step: str
) -> None:
    store = opened()
    run = a_run()
    with watch(failing(f"sql.{step}", LOST[kind_of(url)])):
        revision = store.commit(run)
    assert rows(database, "SELECT sequence FROM runs") == [(1,)]
    assert rows(database, "SELECT count(*) FROM metric_values") == [(1,)]
    assert store.revisions("orders") == (revision,)


def test_who_lost_the_connection_is_told_that_another_won(url: str, opened: Callable[..., SqlStore]) -> None:
    store, other = opened(), opened()
    winner: list[Any] = []

    def watcher(step: str) -> None:
        if step == "sql.before_begin" and not winner:
            winner.append(None)
            winner[0] = other.commit(a_run())
            raise LOST[kind_of(url)]

    with watch(watcher), pytest.raises(AlreadyCommitted) as conflict:
        store.commit(a_run())
    assert conflict.value.revision == winner[0]


@pytest.mark.parametrize("step", ["before_begin", "locked", "ruling_written", "before_commit", "after_commit"])
def test_a_decision_whose_acknowledgement_was_lost_is_recorded_once(
    url: str, opened: Callable[..., SqlStore], step: str
) -> None:
    store, other = opened(), opened()
    store.commit(a_small_run("p1"))
    gone: list[str] = []

    def watcher(name: str) -> None:
        if name == f"sql.{step}" and not gone:
            gone.append(name)
            if step == "after_commit":
                other.decide("orders", "p1", Decision.ACCEPTED)
            raise LOST[kind_of(url)]

    with watch(watcher):
        ruling = store.decide("orders", "p1", Decision.HELD, who="gate")
    assert [each for each in store.rulings("orders") if each.decision is Decision.HELD] == [ruling]


def test_patience_ends(url: str, opened: Callable[..., SqlStore]) -> None:
    store = opened()
    store.patience = 0.2
    with (
        watch(failing("sql.before_commit", LOST[kind_of(url)], times=1000)),
        pytest.raises(StoreUnavailable, match="Try again") as trouble,
    ):
        store.commit(a_small_run("p1"))
    assert trouble.value.__cause__ is None
    assert store.commit(a_small_run("p1")).sequence == 1


def test_a_restart_of_the_server_is_lived_through() -> None:
    server = postgres.server()
    address = server.database()
    store = SqlStore.open(address)
    store.commit(a_small_run("p1"))
    server.restart("immediate")
    assert store.last("orders", 1)[0].partition == "p1"
    restarted = failing("sql.values_written", RuntimeError())

    def watcher(step: str) -> None:
        try:
            restarted(step)
        except RuntimeError:
            server.restart()

    with watch(watcher):
        assert store.commit(a_small_run("p2")).sequence == 2
    assert [each.partition for each in store.revisions("orders")] == ["p1", "p2"]
    store.close()
    server.drop(address)


def test_a_full_disk_is_told_at_once_and_harms_nothing(tmp_path: Path) -> None:
    store = SqlStore.open(f"sqlite:///{tmp_path}/history.db")
    store.commit(a_run("p1"))
    with store._engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    large = numbered("p2", {f"mean(c{at})": at / 3 for at in range(5_000)})
    with pytest.raises(StoreUnavailable, match="Make room"):
        store.commit(large)
    assert [each.partition for each in store.revisions("orders")] == ["p1"]
    assert store.commit(large).sequence == 2
    store.close()


def test_a_full_disk_of_the_server_is_told_at_once() -> None:
    address = postgres.server().database()
    store = SqlStore.open(address)
    full = psycopg.errors.DiskFull("could not extend file: No space left on device")
    with watch(failing("sql.values_written", full)), pytest.raises(StoreUnavailable, match="Make room"):
        store.commit(a_small_run("p1"))
    assert store.datasets() == ()
    assert store.commit(a_small_run("p1")).sequence == 1
    store.close()
    postgres.server().drop(address)


# What is never told.


def told(error: BaseException) -> str:
    return "".join(traceback.format_exception(error, chain=True)) + repr(error) + str(error)


@pytest.mark.parametrize("where", ["user:{}@", "user@?password={}", "user@?password={}&sslpassword={}"])
def test_a_password_is_in_no_repr_and_no_error(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqlStore, "patience_to_open", 0.1)
    user, _, query = where.format("canary%21", "canary%21").partition("?")
    with pytest.raises(StoreUnavailable) as trouble:
        open_store(f"postgresql+psycopg://{user}127.0.0.1:1/dq?{query}")
    assert "canary" not in told(trouble.value)
    assert "127.0.0.1" in str(trouble.value)


def test_a_wrong_password_is_told_at_once_and_not_repeated() -> None:
    address = postgres.server().url
    wrong = address.replace(postgres.PASSWORD, "canary")
    with pytest.raises(StoreUnavailable, match="password") as trouble:
        open_store(wrong)
    assert "canary" not in told(trouble.value)
    store = open_store(address)
    assert postgres.PASSWORD not in repr(store)
    store.close()


@pytest.mark.parametrize(
    "address",
    [
        "sqlite://",
        "sqlite:///:memory:",
        "postgresql+psycopg2://u:canary@h/d",
        "sqlite+aiosqlite:///x.db",
        "postgresql:x",
    ],
)
def test_an_address_that_cannot_work_is_misuse(address: str) -> None:
    with pytest.raises(MisuseError) as trouble:
        open_store(address)
    assert "canary" not in told(trouble.value)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="Is there such a folder"):
        open_store(f"sqlite:///{tmp_path}/nowhere/history.db")


def test_a_secret_that_was_given_is_not_stored(opened: Callable[..., SqlStore], database: Engine) -> None:
    assert opened(secret=b"mine").secret == b"mine"
    assert rows(database, "SELECT secret FROM store_info") == [(None,)]
    with pytest.raises(MisuseError, match="kept elsewhere"):
        opened()
    assert opened(hide=False).secret is None
