"""Reads and writes checks in YAML: the `checks:` section of a configuration."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from headgate.checks.build_rule import MODIFIERS, build_rule, parse_level
from headgate.checks.constraint import Constraint, constraints
from headgate.checks.rule import Rule
from headgate.checks.thresholds import predicate_of, threshold
from headgate.checks.yaml_nodes import BadCheckFile, Node, YamlEntry, entries, kind_of, line_of, nodes_of, value_of
from headgate.checks.yaml_text import dump_items, item_of
from headgate.metrics.base.registry import from_key
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.key import MetricKey

__all__ = ["BadCheckFile", "read_nodes", "read_rules", "write_yaml"]

_MODIFIERS = tuple(word for word in MODIFIERS if word != "holds")  # a function is not data
_PREDICATES = frozenset({"predicate", "condition", "where"})  # parameters that are SQL
_KEYS = frozenset({"key", "metric"})  # parameters that are keys of metrics, in which there may be SQL
_EXAMPLE = "Write - is_complete: [order_id, customer_id]."


def read_rules(text: str) -> list[Rule]:
    """The rules of a YAML text: a list of them, or a mapping with the one key `checks`. Nothing in it runs as code.

    >>> [str(rule) for rule in read_rules("[{is_complete: [id, day]}, {metric: mean(price), between: [5, 500]}]")]
    ['is_complete(id, day)', 'metric(mean(price))']
    """
    root = nodes_of(text)
    if not isinstance(root, yaml.MappingNode):
        return read_nodes(root)
    found = {entry.key: entry for entry in entries(root)}
    for entry in found.values():
        if entry.key != "checks":
            raise BadCheckFile(
                line_of(entry.at), f"the key {entry.key!r} is not known;", did_you_mean(entry.key, ["checks"])
            )
    if not found:
        raise BadCheckFile(line_of(root), "there are no checks.", "Write checks: and a list of rules under it.")
    return read_nodes(found["checks"].value)


def read_nodes(node: Node) -> list[Rule]:
    """The rules of the node under `checks:` in a larger file. Errors name the lines of that file."""
    if not isinstance(node, yaml.SequenceNode):
        raise BadCheckFile(line_of(node), f"checks are a list, not {kind_of(node)}.", _EXAMPLE)
    known = constraints()
    return [_Item(item, known).to_rule() for item in node.value]


def write_yaml(rules: Iterable[Rule]) -> str:
    """The `checks:` section that reads back to equal rules, with predicates as the guard writes them.

    >>> print(write_yaml(read_rules("[{is_unique: id}, {has_mean: price, between: [5, 500], level: warn}]")), end="")
    checks:
      - is_unique: id
      - has_mean: price
        between: [5, 500]
        level: warn
    """
    return dump_items([item_of(rule, _guard_value) for rule in rules])


class _Item:
    """One rule of a file: the constraint's key, and the keys beside it."""

    def __init__(self, node: Node, known: Mapping[str, Constraint]) -> None:
        self.line = line_of(node)
        if isinstance(node, yaml.ScalarNode) and isinstance(value_of(node), str):
            nothing = yaml.ScalarNode("tag:yaml.org,2002:null", "", node.start_mark, node.end_mark)
            listed = [YamlEntry(node.value, node, nothing)]
        elif isinstance(node, yaml.MappingNode):
            listed = entries(node)
        else:
            raise BadCheckFile(
                self.line, f"a rule is a constraint's name with its columns, not {kind_of(node)}.", _EXAMPLE
            )
        self.head = _find_head(listed, known, self.line)
        self.found = known[self.head.key]
        self.beside = [entry for entry in listed if entry is not self.head]
        if isinstance(self.head.value, yaml.MappingNode):  # the other keys are nested under the constraint's key
            self.beside = _merge_entries(self.beside, entries(self.head.value))

    def to_rule(self) -> Rule:
        arguments, named = self.read_first(), self.read_named()
        self.check_complete(arguments, named)
        try:
            return build_rule(self.found.name, arguments, named)
        except (MisuseError, OverflowError) as error:
            raise _translate_error(error, self.find_error_line()) from None

    def read_first(self) -> list[Any]:
        """The arguments in the value of the constraint's key: its first parameter."""
        node = self.head.value
        if isinstance(node, yaml.MappingNode) or (isinstance(node, yaml.ScalarNode) and value_of(node) is None):
            return []
        if not self.found.parameters:
            hint = f"Write - {self.found.name}: and what is expected under it, at_least: 1000."
            raise BadCheckFile(line_of(node), f"{self.found.name} takes no value.", hint)
        parameter = self.found.parameters[0]
        value = _argument(self.found, parameter, node)
        if parameter.kind is parameter.VAR_POSITIONAL:
            return value if isinstance(value, list) else [value]
        if parameter.kind is parameter.KEYWORD_ONLY:
            twin = YamlEntry(parameter.name, self.head.at, node)
            self.beside = _merge_entries([twin], self.beside)
            return []
        return [value]

    def read_named(self) -> dict[str, Any]:
        """The arguments in the other keys: parameters and modifiers."""
        parameters = {each.name: each for each in self.found.parameters}
        values = {}
        for entry in self.beside:
            if entry.key in _MODIFIERS:
                values[entry.key] = _modifier(entry)
            elif entry.key in parameters and parameters[entry.key].kind is not inspect.Parameter.VAR_POSITIONAL:
                values[entry.key] = _argument(self.found, parameters[entry.key], entry.value)
            else:
                raise _unknown(self.found, entry, [*parameters, *_MODIFIERS])
        return values

    def check_complete(self, arguments: Sequence[Any], named: dict[str, Any]) -> None:
        """Raise if a parameter is missing, or is given twice, by the constraint's key and by its own."""
        for index, parameter in enumerate(self.found.parameters):
            columns = parameter.kind is parameter.VAR_POSITIONAL
            if arguments and index == 0 and parameter.name in named:
                raise BadCheckFile(
                    self.line, f"{self.found.name} says {parameter.name} twice.", "Leave one of them out."
                )
            given = (arguments and index == 0) or parameter.name in named
            needed = not self.found.needs_context if columns else parameter.default is parameter.empty
            if needed and not given:
                what = "columns" if columns else parameter.name
                raise BadCheckFile(
                    line_of(self.head.at), f"{self.found.name} needs {what}.", f"Write {_format_example(self.found)}."
                )

    def find_error_line(self) -> int:
        """The line of the threshold that is invalid by itself, else the line of the constraint."""
        for entry in self.beside:
            try:
                value = value_of(entry.value)
                threshold(value) if entry.key in ("warn", "error") else predicate_of({entry.key: value})
                parse_level(value) if entry.key == "level" else None
            except (MisuseError, OverflowError):
                return line_of(entry.value)
        return line_of(self.head.at)


def _find_head(listed: Sequence[YamlEntry], known: Mapping[str, Constraint], line: int) -> YamlEntry:
    """The entry that names the constraint."""
    heads = [entry for entry in listed if entry.key in known]
    if len(heads) == 1:
        return heads[0]
    if heads:
        first, second = heads[:2]
        hint = f"One rule has one; begin a new rule with - {second.key}:."
        raise BadCheckFile(line_of(second.at), f"{first.key} and {second.key} stand in one rule.", hint)
    unknown = next((entry for entry in listed if entry.key not in _MODIFIERS), None)
    if unknown is None:
        raise BadCheckFile(line, "the rule names no constraint.", _EXAMPLE)
    raise BadCheckFile(
        line_of(unknown.at), f"no constraint is named {unknown.key!r};", did_you_mean(unknown.key, known)
    )


def _merge_entries(one: Sequence[YamlEntry], two: Sequence[YamlEntry]) -> list[YamlEntry]:
    known = {entry.key for entry in one}
    for entry in two:
        if entry.key in known:
            raise BadCheckFile(line_of(entry.at), f"{entry.key!r} is said twice.", "Leave one of them out.")
    return [*one, *two]


def _argument(found: Constraint, parameter: inspect.Parameter, node: Node) -> Any:
    """The value of a parameter, checked for its type. SQL in it has passed the guard."""
    value, kind = value_of(node), _annotation(found, parameter)
    what = f"{found.name}: {parameter.name}"
    if kind is str or kind in (Sequence[str], tuple[str, ...]):
        several = kind is not str or parameter.kind is parameter.VAR_POSITIONAL
        if several and value == []:
            raise BadCheckFile(line_of(node), f"{what} is an empty list.", f"Write {_format_example(found)}.")
        for each in node.value if several and isinstance(value, list) else [node]:
            if not isinstance(value_of(each), str):
                hint = "Put a name in quotes to make it text."
                raise BadCheckFile(line_of(each), f"{what} is text, not {_describe_node(each)}.", hint)
    elif needs := _find_type_error(kind, value, parameter):
        raise BadCheckFile(line_of(node), f"{what} is {needs}, not {_describe_node(node)}.")
    return _guard_at(node, parameter.name, value)


def _find_type_error(kind: Any, value: Any, parameter: inspect.Parameter) -> str:
    """The type that a parameter takes, if the value does not have it; else empty."""
    if kind in (int, float):
        number = isinstance(value, int | float if kind is float else int) and not isinstance(value, bool)
        return "" if number else "a number"
    if typing.get_origin(kind) is Sequence:
        plain = isinstance(value, list) and not any(isinstance(each, list | dict | None) for each in value)
        return "" if plain else f"a list such as {parameter.name}: [a, b]"
    return "a value" if isinstance(value, list | dict) or (value is None and parameter.default is not None) else ""


def _annotation(found: Constraint, parameter: inspect.Parameter) -> Any:
    if not isinstance(parameter.annotation, str):
        return parameter.annotation
    return typing.get_type_hints(found.function).get(parameter.name)


def _modifier(entry: YamlEntry) -> Any:
    value = value_of(entry.value)
    if value is None:
        raise BadCheckFile(line_of(entry.at), f"{entry.key} says nothing.", "Write a value behind it, or leave it out.")
    words = value if entry.key == "by" and isinstance(value, list) else [value]
    if entry.key in ("where", "by", "level") and not all(isinstance(each, str) for each in words):
        raise BadCheckFile(
            line_of(entry.value), f"{entry.key} is text, not {_describe_node(entry.value)}.", "Put it in quotes."
        )
    return _guard_at(entry.value, entry.key, value)


def _guard_at(node: Node, name: str, value: Any) -> Any:
    try:
        return _guard_value(name, value)
    except MisuseError as error:
        raise BadCheckFile(line_of(node), str(error).removesuffix(error.hint).strip(), error.hint) from None


def _guard_value(name: str, value: Any) -> Any:
    """The value of a parameter of this name, with any SQL in it replaced by what the guard writes."""
    from headgate.checks.guard import guard_key, guard_predicate  # loads the SQL parser, which most checks do not need

    if name in _PREDICATES:
        return guard_predicate(value)
    if name == "detector":
        MetricKey.parse(value)
    if name not in _KEYS:
        return value
    key = MetricKey.parse(value)
    from_key(key)  # raises if there is no such metric
    safe = guard_key(key)
    return value if safe == key else str(safe)


def _unknown(found: Constraint, entry: YamlEntry, known: Sequence[str]) -> BadCheckFile:
    return BadCheckFile(
        line_of(entry.at), f"{found.name} takes no {entry.key!r};", did_you_mean(entry.key, known, most=len(known))
    )


def _translate_error(error: Exception, line: int) -> BadCheckFile:
    """An error about Python arguments, rewritten in the syntax of YAML."""
    hint = getattr(error, "hint", "")
    message = str(error).removesuffix(hint).strip()
    hint = re.sub(r"(\w+)=\((.*?)\)", r"\1: [\2]", hint)
    hint = re.sub(r"(\w+)=", r"\1: ", hint).replace(": ,", ":,").replace(" or a function", "")
    return BadCheckFile(line, message, hint.replace('{"at_least": 0.9}', "{at_least: 0.9}").replace("  ", " "))


def _describe_node(node: Node) -> str:
    return node.value or "nothing" if isinstance(node, yaml.ScalarNode) else kind_of(node)


def _format_example(found: Constraint) -> str:
    """How a rule of this constraint begins."""
    return ", ".join(_parts(found))


def _parts(found: Constraint) -> Iterator[str]:
    for index, parameter in enumerate(found.parameters):
        shown = f"[{parameter.name}]" if parameter.kind is parameter.VAR_POSITIONAL else parameter.name
        if index == 0:
            yield f"- {found.name}: {shown}"
        elif parameter.default is parameter.empty:
            yield f"{parameter.name}: ... under it"
