"""`headgate init`: what it prints, the demo, and that it overwrites nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pyarrow.parquet as pq
import pytest

from headgate.cli.init import demo
from headgate.cli.output import schema_text
from headgate.project.project import Project
from tests.cli.init.files import list_files, run_headgate, write_csv, write_lake


def test_the_demo_is_sixty_days_and_a_configuration_that_is_right() -> None:
    said = run_headgate("init", "--demo").output
    assert "Some of the days are broken" in said
    assert said.rstrip().endswith("headgate run")
    with Project.open() as project:
        dataset = project.dataset("flights")
        assert len(dataset.partitions()) == 60
        assert dataset.engine == "local"
        assert len(dataset.settings.checks.rules) == 3
        assert len(dataset.read("2013-02-08").schema.names) == 10


def test_the_demo_does_not_tell_which_days_are_broken() -> None:
    said = run_headgate("init", "--demo").output + Path("headgate.yml").read_text(encoding="utf-8")
    assert not any(day in said for day in (*demo.INCIDENTS, *demo.BLIZZARD))


def test_only_the_incidents_differ_from_the_real_days() -> None:
    pairs = zip(demo.read_days(), demo.read_broken_days(), strict=True)
    assert [name for (name, day), (_, broken) in pairs if not day.equals(broken)] == sorted(demo.INCIDENTS)


def test_the_demo_in_another_folder_says_how_to_get_there() -> None:
    assert "cd 'my demo' && headgate run" in run_headgate("init", "--demo", "my demo").output
    assert Path("my demo/headgate.yml").is_file()
    assert Path("my demo/lake/flights/day=2013-03-01").is_dir()


@pytest.mark.parametrize("there", ["headgate.yml", "lake/flights/mine.txt"])
def test_the_demo_writes_over_nothing(there: str) -> None:
    write_csv(there, "mine")
    before = list_files()
    assert "already" in run_headgate("init", "--demo", code=2).stderr
    assert list_files() == before


def test_the_demo_lies_beside_its_lake_whatever_the_configuration_is_called(tmp_path: Path) -> None:
    said = run_headgate("init", "--demo", "there", "--config", f"{tmp_path}/elsewhere/other.yml").output
    assert "cd there && headgate run --config other.yml" in said
    with Project.open("there/other.yml") as project:
        assert len(project.dataset("flights").partitions()) == 60


def test_half_a_demo_is_not_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    assert "No space left" in run_headgate("init", "--demo", code=2).stderr
    assert list_files() == {}


def test_the_demo_goes_into_one_folder() -> None:
    assert "headgate init --demo FOLDER" in run_headgate("init", "--demo", "a", "b", code=2).stderr


def test_without_data_an_example_is_written_that_is_right() -> None:
    assert "put your own table there" in run_headgate("init").output
    with Project.open() as project:
        assert project.names == ("orders",)


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_that_was_named_must_hold_batches(there: bool) -> None:
    if there:
        write_csv("lake/notes.txt")
    said = run_headgate("init", "lake", code=2).stderr
    assert ("day=2026-11-14" if there else "there is no lake") in said
    assert not Path("headgate.yml").exists()


@pytest.mark.parametrize("there", ["file", "link"])
def test_a_configuration_is_never_written_over(there: str) -> None:
    if there == "file":
        write_csv("headgate.yml", "mine")
    else:
        os.symlink("nowhere.yml", "headgate.yml")
    write_lake("hive")
    before = list_files()
    said = run_headgate("init", "lake/orders", code=2).stderr
    assert "left as it is" in said
    assert "--config other.yml" in said
    assert list_files() == before


@pytest.mark.parametrize("words", [["--demo"], ["lake/orders"], []])
def test_the_json_document_is_as_its_schema_says(words: list[str]) -> None:
    if words != ["--demo"]:
        write_lake("hive")
    told = json.loads(run_headgate("init", *words, "--output-json", "-").stdout)
    jsonschema.validate(told, json.loads(schema_text()))
    assert told["next"] == "headgate run"
    assert told["datasets"][0]["partitions"] in (3, 60)


def test_a_folder_that_may_not_be_written_to_is_said() -> None:
    Path("file").write_text("", encoding="utf-8")
    assert "could not be written" in run_headgate("init", "--config", "file/headgate.yml", code=2).stderr
