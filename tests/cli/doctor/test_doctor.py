"""`headgate doctor`: each thing that can be wrong is seen, and said with what to do; nothing is left behind."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import jsonschema
import msgspec
import pytest
from click.testing import Result
from typer.testing import CliRunner

from headgate.cli.app import app
from headgate.cli.doctor import machine, project
from headgate.cli.doctor.doctor import FindingTable
from headgate.cli.doctor.machine import Finding, check_disk_space, check_java, check_pandas, check_python, check_spark
from headgate.cli.doctor.project import check_connect, check_jar
from headgate.cli.doctor.store import check_store
from headgate.cli.output import schema_text
from headgate.store.files import places
from headgate.store.files.identity import Identity
from headgate.store.open import open_store
from headgate.values.codec import Head, seal
from tests.store import postgres
from tests.store.backends import s3_server
from tests.store.s3 import BUCKET

CANARY = "c4n4ry-s3cret"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def typed(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["doctor", *words])
    assert result.exit_code == code, result.output
    return result


def configure(store: str = "file:history", more: str = "", dataset: str = "") -> None:
    Path("lake/orders/day=2026-11-14").mkdir(parents=True, exist_ok=True)
    Path("lake/orders/day=2026-11-14/x.csv").write_text("id,price\n1,2.5\n", encoding="utf-8")
    source = '{format: csv, path: "lake/orders/day={partition}"}'
    text = f"store: {store}\n{more}\ndatasets:\n  orders:\n    source: {source}\n{dataset}\n"
    Path("headgate.yml").write_text(text, encoding="utf-8")


def files() -> list[str]:
    return sorted(map(str, Path().rglob("*")))


def without(monkeypatch: pytest.MonkeyPatch, *absent: str) -> None:
    """As if these packages were not installed."""
    real = machine.find_version
    for module in (machine, project):
        monkeypatch.setattr(module, "find_version", lambda name: None if name in absent else real(name))


def levels(lines: list[Finding]) -> list[str]:
    return [line.level for line in lines]


# The whole.


def test_without_a_configuration_it_says_how_to_get_one() -> None:
    assert "headgate init --demo" in typed().output


def test_what_is_right_is_said_to_be_and_nothing_is_left_behind() -> None:
    configure(more="reports: reports/pages")
    before = files()
    said = typed().output
    assert "All is well." in said
    assert "1 batch, the newest is 2026-11-14 with 2 columns" in said
    assert "history will be made" in said
    assert files() == before


def test_a_history_that_is_there_is_looked_into_and_left_as_it_is() -> None:
    configure()
    assert CliRunner().invoke(app, ["run"]).exit_code == 0
    before = {name: Path(name).read_bytes() for name in files() if Path(name).is_file()}
    assert "1 dataset, 2 commits" in typed().output
    assert {name: Path(name).read_bytes() for name in files() if Path(name).is_file()} == before


def test_a_wrong_configuration_ends_with_2_and_names_the_lines() -> None:
    configure(more="stroe: x\nreports: 3")
    said = typed(code=2).output
    assert "headgate.yml:2" in said
    assert "headgate.yml:3" in said


def test_a_configuration_that_was_named_must_be_there() -> None:
    assert "other.yml" in typed("--config", "other.yml", code=2).output


def test_quiet_says_only_what_is_not_right() -> None:
    configure(store="'memory:'")
    said = typed("--quiet").output
    assert "memory: forgets everything" in said
    assert "Python" not in said


@pytest.mark.parametrize("store", ["file:history", "${env:HG_NOT_SET}"])
def test_the_json_document_is_as_its_schema_says(store: str) -> None:
    configure(store)
    told = json.loads(typed("--output-json", "-", code=0 if store.startswith("file") else 3).stdout)
    jsonschema.validate(told, json.loads(schema_text()))
    assert {each["status"] for each in told["findings"]} <= {"ok", "warning", "problem"}


def test_a_terminal_gets_the_same_words_in_colours() -> None:
    from rich.console import Console

    found = FindingTable([Finding("ok", "Python", "3.11"), Finding("problem", "store", "gone [b]", "Bring it back.")])
    console = Console(force_terminal=True, width=60, color_system="standard")
    with console.capture() as caught:
        console.print(found)
    assert "\x1b[" in caught.get()
    assert all(word in caught.get() for word in ("gone [b]", "-> Bring it back."))
    assert str(found).splitlines()[1] == "problem  store   gone [b]"


# This machine.


def test_python_is_new_enough_or_not() -> None:
    assert check_python((3, 11, 0)).level == "ok"
    assert check_python((3, 10, 9)).level == "problem"


@pytest.mark.parametrize(
    ("java", "spark", "level"),
    [
        ("17.0.9", "4.3.0", "ok"),
        ("21.0.1", "4.3.0", "ok"),
        ("11.0.2", "4.0.0", "problem"),
        ("1.8.0_392", "3.5.9", "ok"),
        ("21.0.1", "3.5.9", "warning"),
        (None, "4.3.0", "problem"),
        ("", "4.3.0", "problem"),
    ],
)
def test_java_fits_spark_or_not(java: str | None, spark: str, level: str) -> None:
    line = check_java(java, spark, needs_spark=True)
    assert line.level == level
    assert bool(line.hint) == (level != "ok")
    assert check_java(java, spark, needs_spark=False).level != "problem"


def test_a_java_home_without_java_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert machine.find_java_version() is None
    assert "JAVA_HOME" in check_java(None, "4.3.0", needs_spark=True).message


def test_the_version_that_java_tells_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'openjdk version \"17.0.9\" 2023-10-17' >&2\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert machine.find_java_version() == "17.0.9"


def test_versions_of_spark_and_pandas() -> None:
    assert [check_spark(each).level for each in ("3.4.4", "3.5.0", "4.3.1", "4.4.0")] == [
        "problem",
        "ok",
        "ok",
        "warning",
    ]
    assert levels([*check_pandas("3.0.1", True), *check_pandas("2.3.0", True), *check_pandas(None, True)]) == [
        "problem"
    ]


def test_spark_that_is_needed_and_not_installed_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    configure(dataset="    engine: spark\n")
    without(monkeypatch, "pyspark", "pyspark-client")
    assert 'pip install "headgate[spark]"' in typed(code=3).output


def test_spark_that_is_not_needed_may_be_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    configure()
    without(monkeypatch, "pyspark", "pyspark-client")
    assert "without Spark" in typed().output


@pytest.mark.parametrize(("free", "level"), [(50 << 20, "problem"), (500 << 20, "warning"), (5 << 30, "ok")])
def test_room_on_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, level: str) -> None:
    usage = msgspec.defstruct("Usage", [("free", int)])
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _: usage(free))
    assert check_disk_space("disk", tmp_path / "not" / "yet").level == level


# The store.


def test_a_store_under_a_file_is_a_problem() -> None:
    configure(store="file:headgate.yml/history")
    assert "is not a folder" in typed(code=3).output


def test_a_folder_that_cannot_be_written_to_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    line = machine.check_folder("reports", tmp_path)
    assert (line.level, "Permission denied" in line.message) == ("problem", True)


def test_a_newer_format_is_a_problem(tmp_path: Path) -> None:
    identity = msgspec.msgpack.encode(Identity(99, b"", b""))
    (tmp_path / places.STORE).write_bytes(seal(identity, Head("store", "")))
    *_, last = check_store(f"file://{tmp_path}")
    assert (last.level, last.hint) == ("problem", "Upgrade headgate.")


def test_a_variable_that_is_not_set_is_named() -> None:
    configure(store="${env:HG_NOT_SET}")
    assert "HG_NOT_SET is not set" in typed(code=3).output


def test_an_unknown_kind_of_store_is_a_mistake_in_the_configuration() -> None:
    configure(store=f"mysql://ann:{CANARY}@host/db")
    said = typed("-vv", code=2).output
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
    assert "revision 0001" in found[2].message
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
    assert "it cannot be used" in typed(code=3).output


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
    assert f'pip install "headgate[{extra}]"' in typed(code=3).output


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
    monkeypatch.setenv("HG_STORE", f"postgresql+psycopg://ann:{CANARY}@127.0.0.1:{_free_port()}/dq")
    configure(store="${env:HG_STORE}")
    result = typed("-vv", code=3)
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


# What else the configuration names.


def test_a_source_without_batches_is_a_warning_that_says_what_is_there() -> None:
    configure()
    Path("lake/orders/day=2026-11-14/x.csv").unlink()
    said = typed().output
    assert "nothing is at lake/orders/day={partition}" in said
    assert "1 warning." in said


def test_a_batch_that_cannot_be_read_is_a_problem() -> None:
    configure()
    Path("headgate.yml").write_text(Path("headgate.yml").read_text(encoding="utf-8").replace("csv", "parquet"), "utf-8")
    assert "cannot be read" in typed(code=3).output


def test_an_index_that_is_not_there_is_a_problem() -> None:
    configure(dataset="    index: lake.hgi\n")
    assert "headgate index build" in typed(code=3).output


def test_variables_of_alerts_are_named_and_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    configure(more="alerts:\n  - slack: ${env:HG_SLACK}\n  - webhook: ${env:HG_HOOK}\n")
    monkeypatch.setenv("HG_SLACK", f"https://example.org/{CANARY}")
    said = typed("-vv", code=3).output
    assert "HG_SLACK is set" in said
    assert "HG_HOOK is not set" in said
    assert CANARY not in said


def test_an_address_in_the_file_is_a_warning_and_never_told() -> None:
    configure(more=f"alerts:\n  - webhook: https://example.org/{CANARY}\n")
    said = typed("-vv").output
    assert "its address stands in the file" in said
    assert CANARY not in said


def test_alerts_need_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    configure(more=f"alerts:\n  - webhook: https://example.org/{CANARY}\n")
    without(monkeypatch, "httpx")
    assert 'pip install "headgate[alerts]"' in typed(code=3).output


# Spark.


@pytest.mark.parametrize(
    ("packages", "beside", "level"),
    [
        ([], False, "problem"),
        ([], True, "ok"),
        (["io.delta:delta-spark_2.13:4.0.0"], False, "ok"),
        (["io.delta:delta-spark_2.12:3.2.0"], False, "problem"),
    ],
)
def test_a_jar_for_delta_is_named_or_not(packages: list[str], beside: bool, level: str) -> None:
    assert check_jar("delta", packages, "4.1.0", beside).level == level


def test_a_dataset_of_delta_without_its_jar_is_a_problem() -> None:
    configure(dataset="  stock:\n    source: {format: delta, path: lake/stock, where: \"day = '{partition}'\"}\n")
    said = typed(code=3).output
    assert "no jar for it is named" in said
    assert "headgate doctor --spark" in said


def test_a_connect_server_answers_or_does_not_and_its_token_is_not_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert check_connect(f"sc://127.0.0.1:{port}/;token={CANARY}").level == "ok"
    line = check_connect(f"sc://127.0.0.1:{port}/;token={CANARY}")
    assert line.level == "problem"
    assert CANARY not in str(line)
    assert check_connect(f"http://{CANARY}").configured
    assert CANARY not in str(check_connect(f"http://{CANARY}"))


def test_a_remote_that_does_not_answer_is_a_problem() -> None:
    configure(more=f"spark:\n  remote: sc://127.0.0.1:{_free_port()}")
    assert "does not answer" in typed(code=3).output


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
