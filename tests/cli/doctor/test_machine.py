"""Checks of this machine: Python, Java, Spark, folders and disk space."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from headgate.cli.doctor import machine
from headgate.cli.doctor.machine import check_disk_space, check_java, check_pandas, check_python, check_spark
from tests.cli.doctor.configured import configure, levels, run_doctor, without


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
    assert 'pip install "headgate[spark]"' in run_doctor(code=3).output


def test_spark_that_is_not_needed_may_be_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    configure()
    without(monkeypatch, "pyspark", "pyspark-client")
    assert "without Spark" in run_doctor().output


@pytest.mark.parametrize(("free", "level"), [(50 << 20, "problem"), (500 << 20, "warning"), (5 << 30, "ok")])
def test_room_on_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, level: str) -> None:
    usage = msgspec.defstruct("Usage", [("free", int)])
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _: usage(free))
    assert check_disk_space("disk", tmp_path / "not" / "yet").level == level


def test_a_folder_that_cannot_be_written_to_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    line = machine.check_folder("reports", tmp_path)
    assert (line.level, "Permission denied" in line.message) == ("problem", True)
