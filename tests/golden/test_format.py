"""docs/format.md is true and whole: a reader that knows nothing else reads the golden files."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any, get_origin

import msgspec
import pytest

from headgate.metrics.base.registry import metrics
from headgate.store.files import entry
from headgate.store.files.identity import Identity
from headgate.values.mute import Mute
from headgate.values.run import Revision, Ruling
from headgate.values.state import State, state_types, tag_of
from tests.golden import reader
from tests.golden.examples import own
from tests.golden.history import unfolded
from tests.golden.write import STATES, STORE

PAGE = (Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8")
GOLDEN = sorted(path.stem for path in STATES.glob("*.json"))
WORDS = {
    int: "integer",
    float: "float",
    bytes: "bytes",
    str: "text",
    bool: "boolean",
    float | None: "float or nil",
    dict[str, int]: "map of text to integer",
    dict[int, int]: "map of integer to integer",
}


def golden(name: str) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads((STATES / f"{name}.json").read_text(encoding="utf-8"))
    return kept


def word(kind: Any) -> str:
    if get_origin(kind) is tuple:
        return "array"
    return f"`{tag_of(kind)}`" if isinstance(kind, type) and issubclass(kind, State) else WORDS[kind]


def test_the_page_lists_every_field_of_every_state_and_no_other() -> None:
    metrics()
    listed = dict(re.findall(r"^\| `([a-z_]+\.[a-z_]+)` \| ([^|]+) \|", PAGE, re.MULTILINE))
    there = {
        f"{tag}.{field.encode_name}": word(field.type)
        for tag, kind in own(state_types()).items()
        for field in msgspec.structs.fields(kind)
    }
    assert listed == there


@pytest.mark.parametrize("kind", [Identity, Revision, Ruling, Mute, entry.EntryParts, entry.Entry])
def test_the_page_names_every_field_of_the_store(kind: type[msgspec.Struct]) -> None:
    assert [field for field in kind.__struct_encode_fields__ if f"`{field}`" not in PAGE] == []


def test_the_example_on_the_page_is_the_golden_file() -> None:
    (shown,) = re.findall(r"```\n(48475445.*?)```", PAGE, re.DOTALL)
    digits = "".join(re.match(r"(?:\s*[0-9a-f]+(?= |$))+", line).group() for line in shown.splitlines())  # type: ignore[union-attr]
    assert re.sub(r"\s", "", digits) == golden("row_count-small")["bytes"]


@pytest.mark.parametrize("name", GOLDEN)
def test_the_reader_of_the_page_reads_every_golden_state(name: str) -> None:
    kept = golden(name)
    found = reader.envelope(bytes.fromhex(kept["bytes"]))
    assert found.key == kept["key"]
    assert found.tag == reader.plain(found.body)["type"] == name.partition("-")[0]


def test_the_reader_of_the_page_reads_the_golden_store(tmp_path: Path) -> None:
    kept = json.loads(STORE.read_text(encoding="utf-8"))
    unfolded(kept["objects"], tmp_path)
    logs = reader.Store(tmp_path).logs()
    assert logs.keys() == kept["found"].keys()
    for dataset, entries in logs.items():
        assert told(entries) == kept["found"][dataset]


def told(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """A log as the store tells it: decisions follow from rulings, outcomes are numbers and reasons."""
    runs = [each for each in entries if each["revision"]]
    rulings = [each["ruling"] for each in entries if each["ruling"]]
    last = {(each["partition"], each["number"]): each["decision"] for each in rulings}
    revisions = [each["revision"] for each in runs]
    outcomes = [
        {key: {"type": "measured", "value": value} for key, value in each["numbers"].items()}
        | each["details"]["missing"]
        for each in runs
    ]
    return jsonable(
        {
            "revisions": [each | {"decision": last.get((each["partition"], each["number"]))} for each in revisions],
            "rulings": [[each["partition"], each["number"], each["decision"], each["who"]] for each in rulings],
            "outcomes": [dict(sorted(each.items())) for each in outcomes],
            "states": [each["states"] for each in runs],
            "verdicts": [each["details"]["verdict"] for each in runs],
            "schemas": [each["details"]["schema"] for each in runs],
        }
    )


def jsonable(value: Any) -> Any:
    return json.loads(json.dumps(value, default=lambda data: base64.b64encode(data).decode()))


@pytest.mark.parametrize("at", [3, 5, 12, 30, 60, -1])
def test_the_reader_of_the_page_refuses_what_was_altered(at: int) -> None:
    data = bytearray.fromhex(golden("moments-small")["bytes"])
    data[at] ^= 1
    with pytest.raises(reader.Refused):
        reader.envelope(bytes(data))
