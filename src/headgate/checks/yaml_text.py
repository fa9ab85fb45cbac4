"""Writes rules as readable YAML: short lists on one line, quotes only if they are needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import yaml

from headgate.checks.constraint import constraint_named
from headgate.checks.rule import Rule
from headgate.checks.thresholds import threshold_words
from headgate.checks.yaml_nodes import parse_word
from headgate.values.errors import MisuseError

_SHORT = 100  # the most characters of a list on one line


def item_of(rule: Rule, safe: Callable[[str, Any], Any]) -> Any:
    """A rule as its item: a mapping, or the constraint's name alone."""
    if not rule.storable:
        raise MisuseError(
            f"{rule} is held against a Python function, which cannot be written in YAML.",
            hint="Say what is expected with between, at_least, at_most, equals or one_of.",
        )
    given = {name: _plain(safe(name, value)) for name, value in rule.arguments}
    first = next(iter(constraint_named(rule.name).parameters), None)
    head = given.pop(first.name, None) if first else None
    if first and first.kind is first.VAR_POSITIONAL and isinstance(head, list) and len(head) == 1:
        head = head[0]
    item = {rule.name: head, **given, **threshold_words(rule)}
    item |= {"where": safe("where", rule.where)} if rule.where is not None else {}
    item |= {"by": list(rule.by)} if rule.by else {}
    return rule.name if item == {rule.name: None} else item


def dump_items(items: Sequence[Any]) -> str:
    """The `checks:` section with these items."""
    text: str = yaml.dump(
        {"checks": list(items)},
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=math.inf,
        default_flow_style=False,
    )
    return text


def _plain(value: Any) -> Any:
    match value:
        case tuple():
            return [_plain(each) for each in value]
        case Decimal():
            if Decimal(repr(float(value))) != value:
                raise MisuseError(f"{value} has more digits than a number in YAML.", hint="Give it as a double.")
            return float(value)
    return value


class _Dumper(yaml.SafeDumper):
    """A safe dumper that indents lists under their key."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    """A text, quoted if this reader or one for YAML 1.1 would read it as something else."""
    try:
        ambiguous = parse_word(value) != value
    except (ValueError, OverflowError):
        ambiguous = True
    tag = dumper.resolve(yaml.ScalarNode, value, (True, False))  # type: ignore[no-untyped-call]
    ambiguous |= tag != "tag:yaml.org,2002:str"
    style = '"' if ambiguous or not value.isprintable() else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _list(dumper: yaml.SafeDumper, values: list[Any]) -> yaml.Node:
    short = all(not isinstance(each, list | dict) for each in values) and len(str(values)) <= _SHORT
    return dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=short)


def _mapping(dumper: yaml.SafeDumper, values: dict[str, Any]) -> yaml.Node:
    thresholds = values.keys() <= {"between", "at_least", "at_most", "equals", "one_of"}
    return dumper.represent_mapping("tag:yaml.org,2002:map", values.items(), flow_style=thresholds)


def _moment(dumper: yaml.SafeDumper, value: datetime) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:timestamp", value.isoformat())


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)
_Dumper.add_representer(dict, _mapping)
_Dumper.add_representer(datetime, _moment)
_Dumper.add_representer(type(None), lambda dumper, _: dumper.represent_scalar("tag:yaml.org,2002:null", ""))
