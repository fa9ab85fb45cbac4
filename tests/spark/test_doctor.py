"""`headgate doctor` with Spark: a session that answers, and sources that only Spark reads."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.lake import document, write_lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_session_that_answers_is_well_and_reads_the_sources(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write_lake(tmp_path))
    found = document("doctor", "--spark", "--set", "datasets.orders.engine=spark")
    assert found["exit_code"] == 0
    said = {each["name"]: each for each in found["findings"]}
    assert said["Spark"]["status"] == "ok"
    assert "started and counted" in said["Spark"]["says"]
    assert (said["Spark workers"]["status"], said["Spark workers"]["says"]) == ("ok", _describe_python())
    assert "the newest is" in said["orders"]["says"]


def _describe_python() -> str:
    return f"{sys.executable}, Python {platform.python_version()}"


def test_a_table_that_is_not_there_is_a_problem(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = "{table: not_there, where: \"day = '{partition}'\"}"
    text = f"store: file:history\ndatasets:\n  stock:\n    source: {source}\n"
    Path("headgate.yml").write_text(text, encoding="utf-8")
    found = document("doctor", "--spark")
    assert found["exit_code"] == 3
    assert [each["name"] for each in found["findings"] if each["status"] == "problem"] == ["stock"]
