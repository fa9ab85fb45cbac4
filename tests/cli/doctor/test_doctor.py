"""`headgate doctor`: its findings, its exit codes and its output; nothing is left behind."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from headgate.cli.app import app
from headgate.cli.doctor.doctor import FindingTable
from headgate.cli.doctor.machine import Finding
from headgate.cli.output import schema_text
from tests.cli.doctor.configured import configure, files, run_doctor


def test_without_a_configuration_it_says_how_to_get_one() -> None:
    assert "headgate init --demo" in run_doctor().output


def test_what_is_right_is_said_to_be_and_nothing_is_left_behind() -> None:
    configure(more="reports: reports/pages")
    before = files()
    said = run_doctor().output
    assert "All is well." in said
    assert "1 batch, the newest is 2026-11-14 with 2 columns" in said
    assert "history will be made" in said
    assert files() == before


def test_a_history_that_is_there_is_looked_into_and_left_as_it_is() -> None:
    configure()
    assert CliRunner().invoke(app, ["run"]).exit_code == 0
    before = {name: Path(name).read_bytes() for name in files() if Path(name).is_file()}
    assert "1 dataset, 2 commits" in run_doctor().output
    assert {name: Path(name).read_bytes() for name in files() if Path(name).is_file()} == before


def test_a_wrong_configuration_ends_with_2_and_names_the_lines() -> None:
    configure(more="stroe: x\nreports: 3")
    said = run_doctor(code=2).output
    assert "headgate.yml:2" in said
    assert "headgate.yml:3" in said


def test_a_configuration_that_was_named_must_be_there() -> None:
    assert "other.yml" in run_doctor("--config", "other.yml", code=2).output


def test_quiet_says_only_what_is_not_right() -> None:
    configure(store="'memory:'")
    said = run_doctor("--quiet").output
    assert "memory: forgets everything" in said
    assert "Python" not in said


@pytest.mark.parametrize("store", ["file:history", "${env:HG_NOT_SET}"])
def test_the_json_document_is_as_its_schema_says(store: str) -> None:
    configure(store)
    told = json.loads(run_doctor("--output-json", "-", code=0 if store.startswith("file") else 3).stdout)
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
