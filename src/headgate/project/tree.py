"""A configuration as plain data, with the place of every key: a line of the file, or a setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import yaml

from headgate.checks.check import Check
from headgate.checks.yaml_form import read_nodes
from headgate.checks.yaml_nodes import BadCheckFile, Node, kind_of, line_of, nodes_of, value_of
from headgate.project.error_text import format_value, key_path
from headgate.values.errors import Mistake

KeyPath: TypeAlias = tuple[str | int, ...]

_EMPTY_HINT = "Write store: and datasets:, or let headgate init write the file."
_NULL = "tag:yaml.org,2002:null"
_SYNTAX_HINTS = {
    "\\t": "Indent with spaces, not with tabs.",
    "mapping values": "Put a text with a colon in quotes, and keys of one level in one column.",
    "expected ':'": "Write key: value, with a space behind the colon.",
    "expected <block end>": "Keys of one level stand in one column; look at the indentation.",
    "cannot start any token": "Put a text that begins with @, `, % or * in quotes.",
    "end of stream": "Close the quotes or the bracket.",
    "',' or": "Close the bracket, and put commas between.",
    "document": "Put the value in quotes.",
}


class Tree:
    """The parsed configuration: its `data` for the models, the `places` of its keys, and the `mistakes` of parsing."""

    def __init__(
        self, file: str, text: str, settings: Mapping[str, str], example_hint: Callable[[KeyPath], str] = lambda _: ""
    ) -> None:
        self.data: dict[str, Any] = {}
        self.places: dict[KeyPath, str] = {}
        self.mistakes: list[Mistake] = []
        self._file = file
        self._example_hint = example_hint
        # Nodes of settings by id, with the place of each. The nodes are kept so that no id is used again.
        self._from_settings: dict[int, tuple[Node, str]] = {}
        root = self._read_root(text)
        if root is None:
            return
        for name, value in settings.items():
            self._apply_setting(root, name, value)
        self.data = self._read_mapping(root, (), "")

    def __repr__(self) -> str:
        return f"Tree({self._file})"

    def find_place(self, path: KeyPath) -> str:
        """The place of a key, or of the nearest key around it."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, f"{self._file}:1")

    def _read_root(self, text: str) -> yaml.MappingNode | None:
        try:
            root = nodes_of(text)
        except BadCheckFile as error:
            self._add_mistake(f"{self._file}:{error.line}", (), *_explain_syntax(error))
            return None
        if not isinstance(root, yaml.MappingNode):
            self._add_mistake(
                f"{self._file}:{line_of(root)}",
                (),
                f"the file is a mapping of keys, not {_describe_node(root)}.",
                _EMPTY_HINT,
            )
            return None
        return root

    def _add_mistake(self, where: str, path: KeyPath, message: str, hint: str) -> None:
        self.mistakes.append(Mistake(where, key_path(path), message, hint))

    # --- settings: their nodes replace those of the file

    def _apply_setting(self, root: yaml.MappingNode, name: str, text: str) -> None:
        where = f"--set {format_setting(name)}"
        try:
            value = nodes_of(text) if text.strip() else yaml.ScalarNode(_NULL, "", *_marks_of(root))
            if isinstance(value, yaml.CollectionNode) and not value.flow_style:
                # "memory:" is a string here, though YAML reads a mapping; a mapping of a setting has braces.
                value = yaml.ScalarNode("tag:yaml.org,2002:str", text, *_marks_of(root), style='"')
        except BadCheckFile as error:
            return self._add_mistake(where, (), *_explain_syntax(error))
        node: Node = root
        steps = _split_setting(root, name)
        for index, step in enumerate(steps):
            is_last = index + 1 == len(steps)
            inner = self._step_into(node, step, value if is_last else None, where)
            if inner is None:
                path = key_path(tuple(steps[:index]))
                return self._add_mistake(
                    where, (), f"{path or name} has no {step!r}.", "Name keys as the file nests them."
                )
            node = inner
        return None

    def _step_into(self, node: Node, step: str, value: Node | None, where: str) -> Node | None:
        """The node under a key: `value` if it is given, else the existing node or a new mapping; None if impossible."""
        if isinstance(node, yaml.SequenceNode):
            if not step.isdecimal() or int(step) >= len(node.value):
                return None
            index = int(step)
            if value is not None:
                node.value[index] = self._mark_as_setting(value, where)
            return node.value[index]  # type: ignore[no-any-return]
        if not isinstance(node, yaml.MappingNode):
            return None
        existing = [index for index, (key, _) in enumerate(node.value) if getattr(key, "value", None) == step]
        if existing and value is None:
            return node.value[existing[0]][1]  # type: ignore[no-any-return]
        key = yaml.ScalarNode("tag:yaml.org,2002:str", step, *_marks_of(node), style='"')
        inner = self._mark_as_setting(value or yaml.MappingNode("tag:yaml.org,2002:map", [], *_marks_of(node)), where)
        for index in reversed(existing):
            del node.value[index]
        node.value.insert(existing[0] if existing else len(node.value), (self._mark_as_setting(key, where), inner))
        return inner

    def _mark_as_setting(self, node: Node, where: str) -> Node:
        self._from_settings[id(node)] = node, where
        return node

    # --- from nodes to data

    def _locate_node(self, node: Node, inherited: str) -> str:
        setting = self._from_settings.get(id(node))
        return setting[1] if setting else inherited or f"{self._file}:{line_of(node)}"

    def _read_value(self, node: Node, path: KeyPath, inherited: str) -> Any:
        inherited = self._from_settings[id(node)][1] if id(node) in self._from_settings else inherited
        if len(path) == 3 and path[0] == "datasets" and path[2] == "checks" and not _is_null(node):
            return self._read_checks(node, path, inherited)
        if isinstance(node, yaml.MappingNode):
            return self._read_mapping(node, path, inherited)
        if isinstance(node, yaml.SequenceNode):
            items = []
            for index, item in enumerate(node.value):
                self.places[(*path, index)] = self._locate_node(item, inherited)
                items.append(self._read_value(item, (*path, index), inherited))
            return items
        if _is_null(node) and _is_end_of_pin(path):
            return None
        if _is_null(node):
            hint = self._example_hint(path).removesuffix(".") or "Write a value behind it"
            self._add_mistake(self._locate_node(node, inherited), path, "it says nothing.", f"{hint}, or leave it out.")
            return None
        try:
            return value_of(node)
        except BadCheckFile as error:
            self._add_mistake(self._locate_node(node, inherited), path, *_split_error(error))
            return None

    def _read_mapping(self, node: yaml.MappingNode, path: KeyPath, inherited: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in node.value:
            where = self._locate_node(key, inherited)
            if not isinstance(key, yaml.ScalarNode):
                self._add_mistake(where, path, f"a key is a word, not {kind_of(key)}.", "Write key: value.")
            elif key.value in values:
                first = self.places[(*path, key.value)]
                hint = "Leave one of them out."
                self._add_mistake(where, (*path, key.value), f"it is said twice; first at {first}.", hint)
            else:
                inner = (*path, key.value)
                self.places[inner] = where
                values[key.value] = self._read_value(value, inner, inherited)
        return values

    def _read_checks(self, node: Node, path: KeyPath, inherited: str) -> Check:
        """Read the checks of a dataset one by one, so that the mistakes of all of them are reported."""
        name = str(path[1])
        items = node.value if isinstance(node, yaml.SequenceNode) else [node]
        good = []
        for index, item in enumerate(items):
            single = yaml.SequenceNode("tag:yaml.org,2002:seq", [item], *_marks_of(item)) if item is not node else node
            try:
                read_nodes(single)
                good.append(item)
            except BadCheckFile as error:
                item_path = (*path, index) if item is not node else path
                where = inherited or f"{self._file}:{error.line}"
                message, hint = _split_error(error)
                self._add_mistake(where, item_path, message, hint or "docs/constraints.md lists what there is.")
        return Check(name).with_rules(read_nodes(yaml.SequenceNode("tag:yaml.org,2002:seq", good, *_marks_of(node))))


def check_of(items: Any, name: str = "checks") -> Check:
    """A check from plain lists and mappings, for a model that is made in Python."""
    return Check(name).with_rules(read_nodes(nodes_of(yaml.safe_dump(list(items), allow_unicode=True))))


def format_setting(name: str) -> str:
    """The name of a setting as an error shows it."""
    return format_value(name).strip("'")


def _split_setting(root: Node, name: str) -> list[str]:
    """The keys of a dotted name; a key that contains dots is recognized from the file.

    >>> _split_setting(nodes_of("datasets: {shop.orders: {runs: 3}}"), "datasets.shop.orders.runs")
    ['datasets', 'shop.orders', 'runs']
    """
    steps: list[str] = []
    node: Node | None = root
    while True:
        known = {key.value: value for key, value in node.value} if isinstance(node, yaml.MappingNode) else {}
        fitting = [key for key in known if name == key or name.startswith(f"{key}.")]
        step = max(fitting, key=len) if fitting else name.partition(".")[0]
        steps.append(step)
        if len(name) <= len(step):
            return steps
        is_list = isinstance(node, yaml.SequenceNode) and step.isdecimal() and int(step) < len(node.value)
        node = node.value[int(step)] if is_list and node is not None else known.get(step)
        name = name[len(step) + 1 :]


def _marks_of(node: Node) -> tuple[Any, Any]:
    return node.start_mark, node.end_mark


def _is_null(node: Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.style is None and node.value in ("", "~", "null", "Null", "NULL")


def _is_end_of_pin(path: KeyPath) -> bool:
    """Whether a value is an end of a pinned range, which may be open."""
    return len(path) > 4 and path[0] == "datasets" and path[2] == "pin" and isinstance(path[-1], int)


def _describe_node(node: Node) -> str:
    return format_value(node.value) if isinstance(node, yaml.ScalarNode) else kind_of(node)


def _split_error(error: BadCheckFile) -> tuple[str, str]:
    message = str(error).removesuffix(error.hint).strip().removeprefix(f"line {error.line}: ")
    return message, error.hint


def _explain_syntax(error: BadCheckFile) -> tuple[str, str]:
    """The message of the parser, with a hint."""
    message, hint = _split_error(error)
    if "empty" in message:
        return message, _EMPTY_HINT
    if "characters; " in message or "more than" in message:
        return message, "Split the project into several files."
    known_hint = next((text for part, text in _SYNTAX_HINTS.items() if part in message), "")
    return message, hint or known_hint or "Put texts with special characters in quotes, and indent with two spaces."
