"""`headgate calibrate`: what it writes, and what it says when it writes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import headgate.gate.calibration as calibration
from headgate.learn.evidence import Evidence
from tests.cli.lake import called


def test_too_few_batches_write_nothing(judged: Path) -> None:
    result = called("calibrate")
    assert result.exit_code == 0
    assert "it has too few good batches; from 50 on it counts" in result.stdout
    assert not Path("evidence.json").exists()


def test_evidence_is_written_and_told_how_to_use(judged: Path, few: None) -> None:
    result = called("calibrate", "orders", "--output-json", "-")
    found = json.loads(result.stdout)
    assert found["written"].endswith("evidence.json")
    assert found["calibration"]["evidence_tables"] == 1
    assert "write evidence: evidence.json in headgate.yml" in called("calibrate", "orders").stdout
    assert len(Evidence.parse(Path("evidence.json").read_bytes()).tables) == 1


def test_evidence_of_another_store_is_merged_and_kept(judged: Path, few: None) -> None:
    called("calibrate", "orders", "--output", "mine.json")
    mine = Evidence.parse(Path("mine.json").read_bytes())
    (table,) = mine.tables.values()
    Path("other.json").write_bytes(Evidence(levels=mine.levels, tables={"other": table}).encode())
    called("calibrate", "orders", "--merge", "other.json")
    assert sorted(Evidence.parse(Path("evidence.json").read_bytes()).tables) == sorted([*mine.tables, "other"])


def test_a_table_without_a_batch_is_no_mistake_unless_it_is_named(judged: Path, few: None) -> None:
    config = Path("headgate.yml").read_text(encoding="utf-8")
    Path("headgate.yml").write_text(
        f'{config}  fresh: {{source: {{path: "lake/fresh/{{partition}}"}}}}\n', encoding="utf-8"
    )
    assert called("calibrate").exit_code == 0
    result = called("calibrate", "fresh")
    assert result.exit_code == 2
    assert "the store has no batch of 'fresh'" in result.stderr


def test_the_file_that_the_configuration_names_need_not_be_there_yet(judged: Path, few: None) -> None:
    config = Path("headgate.yml").read_text(encoding="utf-8")
    Path("headgate.yml").write_text(f"evidence: mine.json\n{config}", encoding="utf-8")
    assert "mine.json" in called("history", "orders").stderr
    result = called("calibrate", "orders")
    assert result.exit_code == 0, result.output
    assert "To use it" not in result.stdout
    assert Path("mine.json").exists()
    assert called("history", "orders").exit_code == 0


def test_a_file_of_another_version_is_replaced(judged: Path, few: None) -> None:
    Path("evidence.json").write_bytes(Evidence(levels={"columns, 28 runs": 1.0}, tables={"other": {}}).encode())
    result = called("calibrate", "orders")
    assert "evidence.json is of another version of the package" in result.stdout
    assert "other" not in Evidence.parse(Path("evidence.json").read_bytes()).tables


def test_a_file_that_is_something_else_is_not_written_over(judged: Path, few: None) -> None:
    Path("orders.csv").write_text("id,price\n", encoding="utf-8")
    result = called("calibrate", "orders", "--output", "orders.csv")
    assert result.exit_code == 2
    assert "give another file with --output" in result.stderr
    assert Path("orders.csv").read_text(encoding="utf-8") == "id,price\n"


def test_a_folder_that_is_not_there_is_told_before_anything_is_replayed(judged: Path) -> None:
    result = called("calibrate", "orders", "--output", "nowhere/evidence.json")
    assert result.exit_code == 2
    assert "there is no folder nowhere" in result.stderr


def test_evidence_of_another_version_is_not_merged(judged: Path, few: None) -> None:
    Path("old.json").write_bytes(Evidence(levels={"columns, 28 runs": 1.0}, tables={"other": {}}).encode())
    result = called("calibrate", "orders", "--merge", "old.json")
    assert result.exit_code == 2
    assert "old.json was gathered with another version of the package" in result.stderr


def test_the_file_is_named_as_the_configuration_would_name_it(judged: Path, few: None) -> None:
    Path("out").mkdir()
    assert "write evidence: out/mine.json in" in called("calibrate", "orders", "--output", "out/mine.json").stdout


def test_a_file_that_is_no_evidence_is_named(judged: Path) -> None:
    Path("other.json").write_text("{]", encoding="utf-8")
    result = called("calibrate", "--merge", "other.json")
    assert result.exit_code == 2
    assert "other.json is no evidence" in result.stderr


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lake has ten batches: let one after seven others be enough."""
    monkeypatch.setattr(calibration, "MIN_BATCHES", 1)
    monkeypatch.setattr(calibration, "RUNS_OF_LENGTH", {calibration.LONGEST: 0})
    monkeypatch.setattr("headgate.learn.evidence.RUNS_OF_LENGTH", {7: 7, 14: 7, 28: 7})
