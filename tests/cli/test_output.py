"""`--output-json` of every command is one document that the schema describes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headgate.cli.doctor.machine import Level as FindingLevel
from headgate.cli.exit_codes import MEANINGS
from headgate.cli.output import schema_text, to_json_value
from headgate.explain.wording import CauseKind
from headgate.gate.backtest.replay import KnownQuality
from headgate.values.account import Action, Mode
from headgate.values.expectation import Level, Status
from headgate.values.run import Decision
from tests.cli.lake import BROKEN, GOOD, NEW, called, document, write_day
from tests.cli.test_help import COMMANDS

SCHEMA = json.loads(schema_text())
jsonschema.Draft202012Validator.check_schema(SCHEMA)
VALID = jsonschema.Draft202012Validator(SCHEMA)
FILE = f"lake/orders/day={GOOD}/part-0.parquet"


def checked(*words: str) -> dict[str, Any]:
    """The document of a call, which the schema allows."""
    found = document(*words)
    VALID.validate(found)
    return found


def test_the_program_prints_its_schema() -> None:
    assert json.loads(called("--json-schema").stdout) == SCHEMA


def find_lists(schema: Any, name: str) -> Iterator[list[Any]]:
    """The values that the schema lists for each property of this name."""
    if isinstance(schema, list):
        for each in schema:
            yield from find_lists(each, name)
    elif isinstance(schema, dict):
        for key, each in schema.items():
            if key == "properties" and name in each:
                choices = each[name].get("anyOf", [each[name]])
                yield from (choice["enum"] for choice in choices if "enum" in choice)
            yield from find_lists(each, name)


@pytest.mark.parametrize(
    ("name", "values", "times"),
    [
        ("decision", list(Decision), 4),
        ("action", list(Action), 2),
        ("mode", list(Mode), 1),
        ("level", list(Level), 1),
        ("standing", list(KnownQuality), 1),
        ("kind", [each.name.lower() for each in CauseKind], 1),
        ("exit_code", list(MEANINGS), 1),
    ],
)
def test_the_schema_lists_the_values_that_the_code_has(name: str, values: list[Any], times: int) -> None:
    assert list(find_lists(SCHEMA, name)) == [values] * times


def test_the_schema_lists_every_status() -> None:
    found = list(find_lists(SCHEMA, "status"))
    assert found.count(list(Status)) == 4
    assert found.count(["", *Status]) == 1, "that of a metric of which nothing was expected is empty"
    assert found.count(list(get_args(FindingLevel))) == 1
    assert len(found) == 6


def test_the_schema_has_every_command() -> None:
    names = {" ".join(path) for path in COMMANDS}
    assert set(SCHEMA["properties"]["command"]["enum"]) == names
    assert {each["if"]["properties"]["command"]["const"] for each in SCHEMA["allOf"]} == names


@pytest.mark.parametrize(
    ("words", "code", "member"),
    [
        (("profile", FILE), 0, "profile"),
        (("profile", "orders", "--partition", BROKEN), 0, "profile"),
        (("suggest", FILE), 0, "suggestions"),
        (("check", "orders", "--partition", GOOD), 0, "verdict"),
        (("check", "orders", "--partition", BROKEN), 1, "verdict"),
        (("run",), 0, "batches"),
        (("run", "orders", "--partition", BROKEN), 1, "batches"),
        (("recover",), 0, "batches"),
        (("explain", "orders", BROKEN), 0, "verdict"),
        (("rows", "orders", BROKEN), 0, "rows"),
        (("accept", "orders", BROKEN, "--note", "so it is"), 0, "ruling"),
        (("reject", "orders", BROKEN), 0, "ruling"),
        (("release", "orders", BROKEN), 0, "ruling"),
        (("discard", "orders", BROKEN), 0, "ruling"),
        (("accept", "orders", f"{BROKEN}..{BROKEN}"), 0, "rulings"),
        (("mute", "orders", "price", "--until", "2100-01-01"), 0, "mute"),
        (("history", "orders"), 0, "runs"),
        (("history", "orders", "--metric", "mean(price)"), 0, "series"),
        (("backtest", "orders", "--spots", "0"), 0, "backtest"),
        (("report",), 0, "reports"),
        (("report", "orders", BROKEN), 0, "reports"),
        (("doctor",), 0, "findings"),
        (("index", "build", "lake.hgi", "lake"), 0, "built"),
        (("index", "stats"), 0, "stats"),
        (("index", "infer", FILE), 0, "rules"),
        (("init", "lake/orders", "--config", "new.yml"), 0, "datasets"),
    ],
)
def test_a_document_is_as_the_schema_says(judged: Path, words: tuple[str, ...], code: int, member: str) -> None:
    found = checked(*words)
    assert found["exit_code"] == code
    assert found["command"] == (" ".join(words[:2]) if words[0] == "index" else words[0])
    assert member in found
    assert "error" not in found


def test_merged_indexes_have_a_document_too(judged: Path) -> None:
    assert called("index", "build", "one.hgi", "lake").exit_code == 0
    assert checked("index", "merge", "both.hgi", "one.hgi")["merged"]["columns"] > 0


def test_the_document_of_a_run_has_its_new_batch(judged: Path) -> None:
    write_day(judged, 10)
    [batch] = checked("run")["batches"]
    assert (batch["partition"], batch["verdict"]["status"], batch["error"]) == (NEW, "pass", None)


def test_a_batch_that_is_only_observed_has_a_document(judged: Path) -> None:
    write_day(judged, 10, broken=True)
    [batch] = checked("run", "--set", "datasets.orders.mode=observe")["batches"]
    assert batch["verdict"]["decision"] == "observed"
    assert checked("history", "orders")["runs"][-1]["decision"] == "observed"


def test_a_batch_that_cannot_be_read_is_in_the_document_with_its_error(judged: Path) -> None:
    folder = judged / "lake" / "orders" / f"day={NEW}"
    folder.mkdir()
    (folder / "part-0.parquet").write_bytes(b"PAR1 no PAR1")
    [batch] = checked("run")["batches"]
    assert batch["exit_code"] == 3
    assert (batch["verdict"] is None) == (batch["error"] is not None)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("explain", "orders", "2031-01-01"), 2),
        (("explain", "ordres", BROKEN), 2),
        (("profile", "nowhere.csv"), 2),
        (("run", "--config", "nowhere.yml"), 2),
        (("run", "--set", "datasets.orders.false_alarms=much"), 2),
        (("index", "stats", "headgate.yml"), 3),
    ],
)
def test_a_command_that_cannot_do_its_work_says_so_in_its_document(
    judged: Path, words: tuple[str, ...], code: int
) -> None:
    found = checked(*words)
    assert found["exit_code"] == code
    assert set(found) == {"headgate", "format", "command", "exit_code", "error"}
    assert found["error"]["message"]


def test_a_member_that_nobody_knows_is_refused() -> None:
    with pytest.raises(jsonschema.ValidationError):
        VALID.validate({"headgate": "1", "format": 1, "command": "report", "exit_code": 0, "reports": [], "extra": 1})
    with pytest.raises(jsonschema.ValidationError):
        VALID.validate({"headgate": "1", "format": 1, "command": "report", "exit_code": 0})


def test_numbers_that_are_none_become_null(tmp_path: Path) -> None:
    path = tmp_path / "odd.parquet"
    pq.write_table(pa.table({"x": [float("nan"), float("inf"), -float("inf")], "y": pa.nulls(3, pa.float64())}), path)
    text = called("profile", str(path), "--output-json", "-").stdout
    VALID.validate(json.loads(text))
    assert "NaN" not in text
    assert "Infinity" not in text
    assert to_json_value([float("nan"), {"a": float("inf")}, 1.5]) == [None, {"a": None}, 1.5]


def test_a_file_gets_the_document_and_the_terminal_the_words(judged: Path) -> None:
    result = called("explain", "orders", BROKEN, "--output-json", "out.json")
    assert result.stdout.startswith(f"orders {BROKEN} failed and was held")
    VALID.validate(json.loads(Path("out.json").read_text()))
    assert [each.name for each in judged.iterdir() if each.name.startswith(".out")] == []


def test_a_folder_that_is_not_there_is_told_before_the_work(judged: Path) -> None:
    write_day(judged, 10)
    result = called("run", "--output-json", "nowhere/out.json")
    assert result.exit_code == 2
    assert "--output-json" in result.stderr
    assert "nothing" not in called("run").stdout, "the batch was not judged before"
