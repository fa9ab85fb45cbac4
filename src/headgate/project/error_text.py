"""Keys and values of a configuration as an error says them: short, and nothing that may be a secret."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import yaml

_MAX_LENGTH = 60
_SECRET = re.compile(r"://|:[^\s/]+@|(passw\w*|secret|token|credentials?|key)\s*[=:]|^bearer ", re.IGNORECASE)


def format_value(value: Any) -> str:
    """A value in an error.

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
    """The keys that lead to a value.

    >>> key_path(("alerts", 0, "on")), key_path(("datasets", "shop orders", "runs"))
    ('alerts[0].on', "datasets.'shop orders'.runs")
    """
    found = ""
    for step in path:
        if isinstance(step, int):
            found += f"[{step}]"
        else:
            plain = re.fullmatch(r"[\w-]{1,60}", step)
            found += f"{'.' if found else ''}{step if plain else format_value(step)}"
    return found


def format_yaml(value: Any) -> str:
    """A value as YAML in one line.

    >>> format_yaml({"path": "lake/day={partition}"}), format_yaml(0.01), format_yaml(["a", True])
    ("{path: 'lake/day={partition}'}", '0.01', '[a, true]')
    """
    text: str = yaml.safe_dump(value, default_flow_style=True, width=float("inf"), sort_keys=False, allow_unicode=True)
    return text.removesuffix("...\n").strip()
