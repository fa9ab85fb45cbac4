"""The reference of `headgate.yml` and its JSON schema, written from the models."""

from __future__ import annotations

import json
import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from headgate.checks.check import Check
from headgate.project.config import LearnConfig
from headgate.project.config_errors import fields_of, list_sections
from headgate.project.config_types import Option, Secret, Section
from headgate.project.error_text import format_yaml
from headgate.project.schema import make_schema
from headgate.project.source_config import PublishConfig
from headgate.values.hidden import Hidden

HEAD = """# headgate.yml: every key

Written by `make docs` from the code; do not edit. How to use them: [headgate-yml.md](../headgate-yml.md).

Keys that are not here are errors. Relative paths are relative to the folder of the file. A *secret* is a text that is
never shown; `${env:NAME}` in it stands for a variable of the environment, read when it is used. The same as a JSON
schema, for editors: [headgate.schema.json](../headgate.schema.json).
"""
TITLES = {
    "": "The top of the file",
    "budget[]": "`budget`, each",
    "spark": "`spark`",
    "results": "`results`",
    "datasets.<name>": "`datasets.<name>`",
    "datasets.<name>.source": "`datasets.<name>.source`",
    "datasets.<name>.learn": "`datasets.<name>.learn`",
    "datasets.<name>.publish": "`datasets.<name>.publish`",
    "alerts[]": "`alerts`, each",
}
KINDS: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Check: "list of rules",
    LearnConfig: "list, or mapping, below",
    PublishConfig: "text, or mapping, below",
    Any: "ranges",
    Hidden: "secret",
}


def config_page() -> str:
    return "\n".join([HEAD, *(_section(path, section) for path, section in list_sections())])


def schema_text() -> str:
    return json.dumps(make_schema(), indent=1, ensure_ascii=False) + "\n"


def _section(path: str, section: type[Section]) -> str:
    lines = [f"## {TITLES[path]}", "", (section.__doc__ or "").strip(), ""]
    lines += ["| key | type | default | meaning | example |", "|---|---|---|---|---|"]
    lines += [_row(name, field) for name, field in fields_of(section).items()]
    return "\n".join([*lines, ""])


def _row(name: str, field: FieldInfo) -> str:
    examples = "<br>".join(f"`{_escaped(f'{name}: {format_yaml(each)}')}`" for each in field.examples or ())
    cells = [f"`{name}`", _kind(field.annotation), _default(field), _escaped(field.description or ""), examples]
    return f"| {' | '.join(cells)} |"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**must be said**"
    value = field.default
    if value is None or value is PydanticUndefined or value in ((), {}):
        return ""
    return f"`{format_yaml(list(value) if isinstance(value, tuple) else value)}`"


def _kind(kind: Any) -> str:
    return " or ".join(dict.fromkeys(_kinds(kind)))


def _kinds(kind: Any) -> Iterator[str]:
    if kind in (Secret, Option):
        yield "secret" if kind == Secret else "text, number or truth"
    elif get_origin(kind) in (Union, types.UnionType):
        for each in get_args(kind):
            if each is not type(None):
                yield from _kinds(each)
    elif get_origin(kind) is Annotated:
        yield from _kinds(get_args(kind)[0])
    elif get_origin(kind) is Literal:
        yield " \\| ".join(f"`{each}`" for each in get_args(kind))
    elif get_origin(kind) is dict:
        yield f"mapping of names to {_kind(get_args(kind)[1])}"
    elif get_origin(kind) is tuple:
        yield f"list of {_kind(get_args(kind)[0])}"
    else:
        yield KINDS.get(kind) or "mapping, below"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
