"""YAML as plain data with line numbers. Nothing in it runs, and constructs that people rarely intend are errors."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple, TypeAlias

import yaml

from headgate.values.errors import MisuseError

Node: TypeAlias = yaml.Node
MOST_CHARACTERS = 1_000_000
MOST_NODES = 50_000
DEEPEST = 50

_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_SPECIAL = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}
_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?\s?([Zz]|[+-]\d\d:\d\d)?")


class BadCheckFile(MisuseError):
    """A check file is invalid; the message begins with the line."""

    def __init__(self, line: int, message: str, hint: str = "") -> None:
        super().__init__(f"line {line}: {message}", hint)
        self.line = line


class YamlEntry(NamedTuple):
    """One key of a mapping, with its node and that of its value."""

    key: str
    at: Node
    value: Node


def line_of(node: Node) -> int:
    return int(node.start_mark.line) + 1


def nodes_of(text: str) -> Node:
    """The root of a YAML text that holds one document of bounded size, without tags and aliases."""
    if len(text) > MOST_CHARACTERS:
        raise BadCheckFile(1, f"the file has {len(text):,} characters; {MOST_CHARACTERS:,} are the most.")
    try:
        _refuse_harmful(text)
        root: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise BadCheckFile(line, "there is a character that YAML does not allow.", 'Write it like "\\u0001".') from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise BadCheckFile(line, f"this is not YAML: {error.problem or error.context}.") from None
    if root is None:
        raise BadCheckFile(1, "the file is empty.", "Write checks: and a list of rules under it.")
    return root


def entries(node: Node) -> list[YamlEntry]:
    """The entries of a mapping; raises if a key is no text or occurs twice."""
    if not isinstance(node, yaml.MappingNode):
        raise BadCheckFile(line_of(node), f"there should be a mapping, not {kind_of(node)}.")
    by_key: dict[str, YamlEntry] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise BadCheckFile(line_of(key), f"a key is a word, not {kind_of(key)}.")
        if key.value in by_key:
            first = line_of(by_key[key.value].at)
            raise BadCheckFile(
                line_of(key), f"{key.value!r} is said twice; first in line {first}.", "Leave one of them out."
            )
        by_key[key.value] = YamlEntry(key.value, key, value)
    return list(by_key.values())


def value_of(node: Node) -> Any:
    """A node as text, number, boolean, date, datetime, None, list or dict."""
    if isinstance(node, yaml.SequenceNode):
        return [value_of(each) for each in node.value]
    if isinstance(node, yaml.MappingNode):
        return {entry.key: value_of(entry.value) for entry in entries(node)}
    quoted = isinstance(node, yaml.ScalarNode) and node.style is not None
    return node.value if quoted else _scalar(node.value, line_of(node))


def parse_word(text: str) -> Any:
    """The value of a word without quotes. Only true and false are booleans (NO is Norway), and 1e-3 is a number.

    >>> parse_word("NO"), parse_word("1e-3"), parse_word("1:30"), parse_word("2026-01-31")
    ('NO', 0.001, '1:30', datetime.date(2026, 1, 31))
    """
    if text in _NULL:
        return None
    if text in _TRUTH:
        return _TRUTH[text]
    if text.lower() in _SPECIAL:
        return _SPECIAL[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _DATE.fullmatch(text):
        return date.fromisoformat(text)
    return datetime.fromisoformat(text.upper().replace(" Z", "Z")) if _MOMENT.fullmatch(text) else text


def kind_of(node: Node) -> str:
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    return "a mapping" if isinstance(node, yaml.MappingNode) else repr(node.value)


def _scalar(text: str, line: int) -> Any:
    try:
        value = parse_word(text)
        if isinstance(value, (int, float)) and math.isinf(value) and text.lower() not in _SPECIAL:
            raise OverflowError
    except (ValueError, OverflowError):
        what = "date" if text[4:5] == "-" else "number"
        shown = text if len(text) <= 40 else text[:40] + "..."
        raise BadCheckFile(line, f"{shown} is no {what} that can be had.", "Put it in quotes if it is text.") from None
    return value


def _refuse_harmful(text: str) -> None:
    """Raise on what could exhaust memory or construct objects, before anything is built."""
    nodes = depth = documents = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = 1 if event.start_mark is None else event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise BadCheckFile(line, f"the alias *{event.anchor} is not understood.", "Write it out.")
        if tag := getattr(event, "tag", None):
            raise BadCheckFile(line, f"the tag {tag} is not understood.", "Leave it out; quotes make text.")
        nodes += isinstance(event, yaml.NodeEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        _check_limits(line, nodes=nodes, depth=depth, documents=documents)


def _check_limits(line: int, *, nodes: int, depth: int, documents: int) -> None:
    limits: Sequence[tuple[int, int, str]] = (
        (nodes, MOST_NODES, "values"), (depth, DEEPEST, "levels of nesting"), (documents, 1, "documents"),
    )  # fmt: skip
    for count, most, what in limits:
        if count > most:
            raise BadCheckFile(line, f"the file has more than {most:,} {what}.", "Split it.")
