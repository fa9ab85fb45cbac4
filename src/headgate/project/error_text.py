"""Formats keys and values of a configuration for errors: short, and without anything that may be a secret."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import yaml

_MAX_LENGTH = 60
_SECRET = re.compile(r"://|:[^\s/]+@|(passw\w*|secret|token|credentials?|key)\s*[=:]|^bearer ", re.IGNORECASE)


def format_value(value: Any) -> str:
    """A value as an error shows it.

    >>> format_value("lots"), format_value([1]), format_value({}), format_value(True), format_value("postgresql://me:hunter2@db/dq")
    ("'lots'", 'a list', 'a mapping', 'true', 'a text that may be secret')
    """
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "nothing"
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case str() if _SECRET.search(value):
            return "a text that may be secret"
        case str():
            return repr(value if len(value) <= _MAX_LENGTH else f"{value[:_MAX_LENGTH]}...")
    return str(value)[:_MAX_LENGTH]


def key_path(path: Sequence[str | int]) -> str:
    """The path of a value as dotted keys.

    >>> key_path(("alerts", 0, "on")), key_path(("datasets", "shop orders", "runs"))
    ('alerts[0].on', "datasets.'shop orders'.runs")
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            plain = re.fullmatch(r"[\w-]{1,60}", step)
            text += f"{'.' if text else ''}{step if plain else format_value(step)}"
    return text


def format_yaml(value: Any) -> str:
    """A value as one line of YAML.

    >>> format_yaml({"path": "lake/day={partition}"}), format_yaml(0.01), format_yaml(["a", True])
    ("{path: 'lake/day={partition}'}", '0.01', '[a, true]')
    """
    text: str = yaml.safe_dump(value, default_flow_style=True, width=float("inf"), sort_keys=False, allow_unicode=True)
    return text.removesuffix("...\n").strip()
