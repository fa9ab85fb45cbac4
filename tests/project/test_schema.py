"""The JSON schema and the reference: what the models say, and what the reader takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from docs.config import config_page
from headgate.checks.constraint import constraints
from headgate.checks.yaml_nodes import nodes_of, value_of
from headgate.project.config import Config
from headgate.project.config_errors import fields_of, list_sections
from headgate.project.error_text import format_yaml
from headgate.project.project import Project
from headgate.project.schema import make_schema
from tests.project.files import PLAIN, written
from tests.project.mistakes import CHOICES, KEYS, TYPES, Case
from tests.project.test_project import WHOLE

ROOT = Path(__file__).resolve().parents[2]
FIELDS = [(path, name, field) for path, section in list_sections() for name, field in fields_of(section).items()]
SCHEMA = make_schema()


def checked(text: str) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(value_of(nodes_of(text)))]


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert Project.schema() == SCHEMA


@pytest.mark.parametrize("text", [PLAIN, WHOLE])
def test_what_the_reader_takes_fits_the_schema(text: str, tmp_path: Path) -> None:
    Project.open(written(tmp_path, text))
    assert checked(text) == []


def test_the_example_of_the_guide_fits_the_schema_and_is_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "headgate-yml.md").read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in page.split("```yaml\n")[1:]]
    assert len(blocks) == 3
    for block in blocks:
        assert checked(block) == []
        Project.open(written(tmp_path, block))


WRONG = {name: case for name, case in {**KEYS, **TYPES, **CHOICES}.items() if "nan" not in case.text}


@pytest.mark.parametrize("case", WRONG.values(), ids=list(WRONG))
def test_what_the_reader_refuses_does_not_fit_the_schema(case: Case) -> None:
    assert checked(case.text)


@pytest.mark.parametrize(("rule", "fits"), [("is_unique: a", True), ("is_uniqe: a", False), ("between: [1, 2]", False)])
def test_rules_are_checked_by_the_names_of_constraints(rule: str, fits: bool) -> None:
    assert (checked(f"{PLAIN}    checks: [{{{rule}}}]\n") == []) is fits


def test_every_constraint_is_known_to_editors() -> None:
    named = SCHEMA["$defs"]["Rule"]["anyOf"][1]["properties"]
    assert set(constraints()) <= set(named)
    assert all(named[name]["description"] for name in constraints())


@pytest.mark.parametrize(("path", "name", "field"), FIELDS, ids=[f"{path}.{name}" for path, name, _ in FIELDS])
def test_every_key_has_a_sentence_and_an_example(path: str, name: str, field: Any) -> None:
    assert field.description
    assert field.description.endswith(".")
    assert field.examples
    assert f"| `{name}` |" in config_page()
    for example in field.examples:
        assert yaml.safe_load(format_yaml(example)) == example


@pytest.mark.parametrize(("path", "name", "field"), FIELDS, ids=[f"{path}.{name}" for path, name, _ in FIELDS])
def test_every_example_is_taken(path: str, name: str, field: Any) -> None:
    for example in field.examples:
        Config.model_validate(_with(path, name, example))


def _with(path: str, name: str, example: Any) -> dict[str, Any]:
    """A configuration in which this key has this example."""
    source = {"path": "x"}
    if path.endswith("source"):
        source = {name: example} if name in ("table", "elsewhere") else {**source, name: example}
    orders: dict[str, Any] = {"source": source} | ({name: example} if path == "datasets.<name>" else {})
    if path.endswith("learn"):
        orders["learn"] = {name: example}
    if path.endswith("publish"):
        homes = {"path": "folders", "staging": "delta", "retained_days": "iceberg", "quarantine": "iceberg"}
        orders["publish"] = {"to": homes.get(name), name: example}
    if isinstance(published := orders.get("publish"), dict) and published["to"] != "folders":
        orders["source"] = {"table": "lake.shop.orders", "where": "day = '{partition}'"}
    whole: dict[str, Any] = {"store": "memory:", "datasets": {"orders": orders}}
    if path == "alerts[]":
        whole["alerts"] = [{**({} if name in ("webhook", "slack") else {"webhook": "x"}), name: example}]
    elif path == "results":
        whole["results"] = {"to": "delta", "tables": "dq", name: example}
    elif path == "spark":
        whole["spark"] = {name: example}
    elif path == "":
        whole[name] = example
    return whole


def test_the_committed_schema_and_reference_are_what_the_code_says() -> None:
    assert json.loads((ROOT / "docs" / "headgate.schema.json").read_text(encoding="utf-8")) == SCHEMA
    assert (ROOT / "docs" / "reference" / "config.md").read_text(encoding="utf-8") == config_page()
