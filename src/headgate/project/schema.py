"""Makes the JSON schema of `headgate.yml` for editors, from the models and the constraints of checks."""

from __future__ import annotations

from typing import Any

from headgate.checks.build_rule import MODIFIERS
from headgate.checks.constraint import Constraint, constraints
from headgate.project.config import Config

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ANYTHING: dict[str, Any] = {}
_MODIFIERS: dict[str, Any] = {
    "between": {
        "type": "array",
        "minItems": 2,
        "maxItems": 2,
        "description": "The two ends that a value lies between.",
    },
    "at_least": {"description": "The least that a value may be."},
    "at_most": {"description": "The most that a value may be."},
    "equals": {"description": "What a value must be."},
    "one_of": {"type": "array", "description": "The values that are allowed."},
    "warn": {"type": "object", "description": "What a value must meet, or it is a warning."},
    "error": {"type": "object", "description": "What a value must meet, or it is an error."},
    "level": {"enum": ["warn", "error"], "description": "How much a failure weighs."},
    "where": {"type": "string", "description": "Which rows are looked at, as a predicate."},
    "by": {"type": ["string", "array"], "description": "Columns; each of their segments is judged by itself."},
}

_RANGE: dict[str, Any] = {
    "type": "array",
    "minItems": 2,
    "maxItems": 2,
    "items": {"type": ["number", "null"]},
    "description": "The lowest and the highest value; null for no limit.",
}


def make_schema() -> dict[str, Any]:
    """The schema, in draft 2020-12."""
    schema: dict[str, Any] = _simplify_node(Config.model_json_schema())
    schema["$defs"]["DatasetConfig"]["properties"]["checks"]["items"] = {"$ref": "#/$defs/Rule"}
    schema["$defs"]["Rule"] = _rule_schema()
    learn = schema["$defs"]["DatasetConfig"]["properties"]["learn"]
    learn["anyOf"] = [*schema["$defs"]["LearnConfig"]["properties"]["from"]["anyOf"], {"$ref": learn.pop("$ref")}]
    publish = schema["$defs"]["DatasetConfig"]["properties"]["publish"]
    publish["anyOf"] = [{"type": "string", "minLength": 1}, {"$ref": publish.pop("$ref")}]
    schema["$defs"]["DatasetConfig"]["properties"]["pin"]["additionalProperties"] = {
        "anyOf": [_RANGE, {"type": "object", "additionalProperties": _RANGE}]
    }
    return {"$schema": DIALECT, **schema, "title": "headgate.yml"}


def _simplify_node(node: Any) -> Any:
    """The schema as the reader works: no null, a string for a list of one; without the titles, which repeat names."""
    if isinstance(node, list):
        return [_simplify_node(each) for each in node]
    if not isinstance(node, dict):
        return node
    node = {name: _simplify_node(value) for name, value in node.items() if (name, value) != ("default", None)}
    if isinstance(node.get("title"), str):
        del node["title"]
    choices = [each for each in node.get("anyOf", ()) if each != {"type": "null"}]
    if len(choices) == 1:
        del node["anyOf"]
        node = {**choices[0], **node}
    if node.get("type") == "array" and node.get("items", {}).get("type") == "string":
        array = {name: node.pop(name) for name in ("type", "items")}
        node["anyOf"] = [array, array["items"]]
    return node


def _rule_schema() -> dict[str, Any]:
    known = constraints()
    parameters = {each.name for constraint in known.values() for each in constraint.parameters}
    modifiers = {name: _MODIFIERS.get(name, _ANYTHING) for name in MODIFIERS if name != "holds"}
    properties = {
        **dict.fromkeys(sorted(parameters), _ANYTHING),
        **modifiers,
        **{name: {"description": _describe_constraint(constraint)} for name, constraint in known.items()},
    }
    rule = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "anyOf": [{"required": [name]} for name in known],
    }
    return {
        "description": "The name of a constraint with its columns, and what is expected beside it.",
        "anyOf": [{"enum": list(known)}, rule],
    }


def _describe_constraint(constraint: Constraint) -> str:
    return f"{constraint.name}{constraint.signature()}: {constraint.says}"
