"""Writes docs/reference/output-json.md from the JSON schema of what `--output-json` writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).resolve().parents[1] / "src" / "headgate" / "cli" / "output.schema.json"

HEAD = """# Output JSON

Written by `make docs` from `src/headgate/cli/output.schema.json`; do not edit.

`headgate COMMAND --output-json FILE` writes one document for each call; `headgate --json-schema` prints its JSON schema
(draft 2020-12). Members may be added in later versions; none is renamed or removed while `format` is 1. NaN and
infinities do not appear. A member marked with `?` may be missing.
"""

Schema = Mapping[str, Any]


def output_page() -> str:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    parts = [HEAD, "## Every document", "", *_table(schema), "", "## By command", ""]
    for each in schema["allOf"]:
        parts += [f"### {each['if']['properties']['command']['const']}", "", *_table(each["then"]), ""]
    parts += ["## What they are made of", ""]
    for name, each in schema["$defs"].items():
        parts += [
            f"### {_title(name)}",
            "",
            *([each["description"], ""] if "description" in each else []),
            *_table(each),
            "",
        ]
    return "\n".join(parts)


def _title(name: str) -> str:
    """A heading of its own: some parts are called like a command."""
    return f"The {name} object"


def _table(schema: Schema) -> list[str]:
    return ["| member | type | |", "|---|---|---|", *_rows(schema, "")]


def _rows(schema: Schema, inside: str) -> Iterator[str]:
    needed = schema.get("required", ())
    for name, each in schema.get("properties", {}).items():
        full = f"{inside}{name}"
        yield f"| `{full}`{'' if name in needed else '?'} | {_type(each)} | {_escaped(each.get('description', ''))} |"
        if "properties" in each:
            yield from _rows(each, f"{full}.")
        elif "properties" in (items := each.get("items", {})):
            yield from _rows(items, f"{full}[].")


def _type(schema: Schema) -> str:
    match schema:
        case {"$ref": str(place)}:
            name = place.rpartition("/")[2]
            return f"[{name}](#the-{name}-object)"
        case {"enum": values}:
            return ", ".join(f"`{json.dumps(value)}`" for value in values)
        case {"const": value}:
            return f"`{json.dumps(value)}`"
        case {"anyOf": choices}:
            return " or ".join(_type(each) for each in choices)
        case {"type": "array", "items": items}:
            return f"array of {_type(items)}"
        case {"type": "object", "additionalProperties": dict(of)}:
            return f"object of {_type(of)}"
        case {"type": str(kind)}:
            return kind
        case {"type": kinds}:
            return " or ".join(kinds)
    return "any"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")
